"""Files on disk, read by Arrow in fragments: Parquet, Feather, CSV; one, many, or a partitioned folder."""

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from os import PathLike, fspath
from pathlib import Path, PurePath
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow import csv

from posterior._loading import load_module
from posterior._text import listed
from posterior.engines.base import (
    BATCH_ROWS,
    SUM_ROWS,
    Engine,
    Fragment,
    FragmentError,
    FragmentSum,
    Place,
    Work,
    unreadable,
)
from posterior.engines.workers import in_order
from posterior.files.options import USUAL_MISSING
from posterior.stats.adding import added, added_or_none

S = TypeVar("S")

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".csv": "csv",
}
# Neighbouring row groups of a file are one fragment up to so many rows; of fewer fragments than these, each
# batch is a piece of work of its own. Neither depends on the machine, so that sums have the same bits.
FRAGMENT_ROWS, FEW_FRAGMENTS = 1 << 19, 4
# Bytes of a column that are read at a time.
BUFFER = 1 << 16
# The most cells of a row group that is one batch: 48 MiB of doubles for each thread.
GROUP_CELLS = 6 << 20
# The modules whose `files_on_cluster(files, client)` lets a cluster read files, by what a user names it;
# `connected(address)` of each gives such a client.
CLUSTERS = {
    "dask": "posterior.engines.dask",
    "distributed": "posterior.engines.dask",
    "spark": "posterior.engines.spark",
    "pyspark": "posterior.engines.spark",
}


@dataclass(frozen=True)
class FileFragment:
    """Some row groups of a file, or all of it."""

    part: Any
    schema: Any

    @property
    def name(self) -> str:
        """The path of the file."""
        return str(self.part.path)

    def batches(self, columns: Sequence[str], rows: int = BATCH_ROWS) -> Iterator[Any]:
        """Record batches of these columns, one after the other, read by one thread."""
        found: Iterator[Any] = self.part.to_batches(
            schema=self.schema,
            columns=list(columns),
            batch_size=min(rows, BATCH_ROWS),
            use_threads=False,
            batch_readahead=1,
            fragment_readahead=1,
        )
        return found


@dataclass(frozen=True)
class ParquetFragment:
    """Some row groups of a Parquet file; `keys` are the values that the names of its folders give.

    They are read one after the other without reading ahead, which takes a quarter of the memory of a scanner
    of Arrow. A row group of numbers that is neither small nor large is one batch where that is asked for: in
    parts, it takes Arrow half as long again, since pages leave the cache from one part to the next.
    """

    name: str
    row_groups: tuple[int, ...]
    schema: Any
    keys: tuple[tuple[str, Any], ...] = ()

    def batches(self, columns: Sequence[str], rows: int = BATCH_ROWS) -> Iterator[Any]:
        """Record batches of these columns, one after the other, read by one thread."""
        keys = dict(self.keys)
        stored = [name for name in columns if name not in keys]
        wanted = pa.schema([self.schema.field(name) for name in columns])
        with self._file() as file:
            for batch in self._stored(file, stored, rows):
                fits = batch.schema.equals(wanted)  # as it does in nearly all files
                found = batch if fits else self._agreed(batch, columns, keys)
                del batch  # or it would be kept while the next is read
                yield found
                del found

    def _stored(self, file: Any, columns: list[str], rows: int) -> Iterator[Any]:
        """Row groups as a whole, where each may be one batch; else batches of even size."""
        if self._one_batch_each(file, columns, rows):
            for number in self.row_groups:
                yield from file.read_row_group(number, columns=columns, use_threads=False).to_batches()
            return
        yield from file.iter_batches(
            batch_size=min(rows, BATCH_ROWS),
            row_groups=list(self.row_groups),
            columns=columns,
            use_threads=False,
        )

    def _one_batch_each(self, file: Any, columns: list[str], rows: int) -> bool:
        """Whether row groups hold numbers alone, whose memory is known, and not too many or too few."""
        largest = max((file.metadata.row_group(number).num_rows for number in self.row_groups), default=0)
        most = min(rows, GROUP_CELLS // max(len(columns), 1))
        numbers = all(pa.types.is_primitive(self.schema.field(name).type) for name in columns)
        return bool(columns) and numbers and BATCH_ROWS < largest <= most

    def _file(self) -> Any:
        return pq.ParquetFile(self.name, pre_buffer=False, buffer_size=BUFFER)

    def _agreed(self, batch: Any, columns: Sequence[str], keys: dict[str, Any]) -> Any:
        """The columns in order, numbers with the types that all files agree on."""
        found = []
        for name in columns:
            kind = self.schema.field(name).type
            if name in keys:
                found.append(pa.repeat(pa.scalar(keys[name], kind), batch.num_rows))
                continue
            column = batch.column(name)
            found.append(column if column.type == kind else column.cast(kind, safe=False))
        return pa.RecordBatch.from_arrays(found, names=list(columns))


class FragmentEngine(Engine):
    """Rows in fragments, which threads of this process read and add up."""

    @property
    def fragments(self) -> Sequence[Fragment]:
        """The parts of the table, in order."""
        raise NotImplementedError

    def fold(self, work: Work[S], columns: Sequence[str]) -> S:
        """Add up over fragments by threads or, where these are few, over their batches."""
        one = FragmentSum(work, tuple(columns))
        if len(self.fragments) >= FEW_FRAGMENTS:
            pieces = enumerate(self.fragments)
            total: S = added(in_order(lambda piece: one(piece[1], piece[0]), pieces, ahead=1))
        else:
            # Added up fragment by fragment all the same, as a cluster does it: to the same bits.
            one_batch = batch_work(work)
            pieces_of_work = self._placed(columns)
            parts = in_order(lambda piece: (piece[2].fragment, one_batch(piece)), pieces_of_work, ahead=1)
            by_fragment = groupby(parts, key=itemgetter(0))
            total = added(added_or_none(part for _, part in found) for _, found in by_fragment)
        return total

    def _placed(self, columns: Sequence[str]) -> Iterator[tuple[str, Any, Place]]:
        for number, fragment in enumerate(self.fragments):
            first = 0
            for batch in readable(fragment, columns, SUM_ROWS):  # the batches of `FragmentSum`
                yield fragment.name, batch, Place(number, first)
                first += batch.num_rows

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """All rows in order."""
        for fragment in self.fragments:
            yield from readable(fragment, columns)


def readable(fragment: Fragment, columns: Sequence[str], rows: int = BATCH_ROWS) -> Iterator[Any]:
    """The batches of a fragment; an error that names it where they cannot be read."""
    try:
        yield from fragment.batches(columns, rows)
    except (OSError, pa.ArrowException) as error:
        raise unreadable(fragment.name, error) from error


def batch_work(work: Work[S]) -> Any:
    """Work on a batch as `in_order` hands it out; an error says which rows it is about."""

    def one(piece: tuple[str, Any, Place]) -> S | None:
        name, batch, place = piece
        try:
            return work(batch, place)
        except (ValueError, TypeError, NotImplementedError) as error:
            raise FragmentError(f"{name}, from row {place.first:,} on: {error}") from error

    return one


class FileEngine(FragmentEngine):
    """Files of one kind, read by Arrow."""

    def __init__(self, source: str | PathLike[str] | Sequence[str | PathLike[str]]) -> None:
        self._paths = found_files(source)
        self._given = [str(each) for each in ([source] if isinstance(source, str | PathLike) else source)]
        self.kind = kind_of(self._paths)
        try:
            self._dataset = to_dataset([str(path) for path in self._paths], self.kind)
        except (OSError, pa.ArrowException) as error:
            raise unreadable(self.name, error) from error

    @property
    def name(self) -> str:
        """The files: one or two by themselves, more as they were named."""
        return listed([str(path) for path in self._paths] if len(self._paths) <= 2 else self._given, 2)

    def would_read(self, path: Path) -> bool:
        """Whether a scan of the same folders and patterns would read a file at this path."""
        if path.suffix.lower() not in FORMATS:
            return False
        where = Path(os.path.abspath(path.expanduser()))
        for given in self._given:
            named = Path(os.path.abspath(Path(given).expanduser()))
            if named.exists():
                folders = [named] if named.is_dir() and named in where.parents else []
            elif matches(where.parts, named.parts):
                return True
            else:
                folders = [folder for folder in where.parents if matches(folder.parts, named.parts)]
            if any(is_shown(where.relative_to(folder)) for folder in folders):
                return True
        return False

    @cached_property
    def schema(self) -> Any:
        """The columns of all files, which must agree."""
        return agreed_schema(self._dataset)

    @property
    def paths(self) -> Sequence[str]:
        """The paths of all files."""
        return [fragment.path for fragment in self._dataset.get_fragments()]

    def file_states(self) -> list[list[Any]]:
        """What tells whether files are still the same."""
        found = [(Path(path).resolve(), Path(path).stat()) for path in self.paths]
        return [[str(path), state.st_size, state.st_mtime_ns] for path, state in found]

    @property
    def counted_rows(self) -> int | None:
        """The number of rows that the footers of Parquet files tell; None of other kinds."""
        return self._dataset.count_rows() if self.kind == "parquet" else None

    @cached_property
    def fragments(self) -> Sequence[Fragment]:
        """Row groups of each file, some together; of other kinds than Parquet whole files."""
        found = self._dataset.get_fragments()
        if self.kind != "parquet":
            return [FileFragment(each, self.schema) for each in found]
        return [
            ParquetFragment(each.path, groups, self.schema, partition_keys(each))
            for each in found
            for groups in row_groups(each)
        ]

    def head(self, columns: Sequence[str], n: int) -> Any:
        """The first rows of fragments that lie apart."""
        chosen = _spread(self.fragments, 16)
        share = -(-n // max(len(chosen), 1))
        # By threads: of every column and fragment a whole page is read.
        firsts = in_order(lambda each: _first(readable(each, columns, share)), chosen)
        parts = [batch for found in firsts for batch in found]
        return pa.Table.from_batches(parts) if parts else self.empty(columns)


def opened(source: Any, engine: Any = None, filesystem: Any = None) -> Engine:
    """The engine for files: threads of this process, or the workers of a cluster."""
    given = [source] if isinstance(source, str | PathLike) else list(source)
    stores = load_module("posterior.engines.stores")
    addresses = [stores.is_address(each) and not str(each).startswith("file://") for each in given]
    elsewhere = filesystem is not None or all(addresses)
    if any(addresses) and not elsewhere:
        named = [stores.shown(str(each)) for each in given]
        raise ValueError(f"{listed(named, 2)}: some are in a store and some are not")
    if not elsewhere:
        given = [stores.local_path(each) if stores.is_address(each) else each for each in given]
    if engine is None or engine == "arrow":
        return stores.StoredFiles(given, filesystem) if elsewhere else FileEngine(given)
    package = engine if isinstance(engine, str) else type(engine).__module__.partition(".")[0]
    module = CLUSTERS.get(package)
    if module is None:
        raise ValueError(
            f"engine must be 'arrow', 'dask', 'spark', a client of Dask or a Spark session, found {engine!r}"
        )
    if elsewhere:
        files = stores.StoredFiles(given, filesystem)
    else:
        # Workers are in another folder: what is named from ours must be named from the root.
        files = FileEngine([os.path.abspath(Path(each).expanduser()) for each in given])
    on_cluster: Engine = load_module(module).files_on_cluster(
        files, None if isinstance(engine, str) else engine
    )
    return on_cluster


def _first(batches: Iterable[Any]) -> list[Any]:
    for batch in batches:
        if batch.num_rows:
            return [batch]
    return []


def _spread(fragments: Sequence[Fragment], most: int) -> list[Fragment]:
    step = max(1, -(-len(fragments) // most))
    return list(fragments[::step])


def found_files(source: Any) -> list[Path]:
    """The files that a path, a pattern such as data/*.parquet, a folder or a list of these names, sorted.

    >>> found_files("no/such/*.parquet")
    Traceback (most recent call last):
    FileNotFoundError: no file matches no/such/*.parquet; give files, a pattern ... or a folder of them
    """
    given = [source] if isinstance(source, str | PathLike) else list(source)
    paths: list[Path] = []
    for each in given:
        name = str(Path(fspath(each)).expanduser())
        found = [name] if Path(name).exists() else sorted(glob.glob(name, recursive=True))
        if not found:
            raise FileNotFoundError(
                f"no file matches {name}; give files, a pattern such as 'data/*.parquet', or a folder of them"
            )
        paths += [path for one in found for path in _files_of(Path(one))]
    return paths


def _files_of(path: Path) -> list[Path]:
    """A file, or the files of a folder that can be scanned; hidden ones are none of them."""
    if not path.is_dir():
        return [path]
    inside = [each for each in sorted(path.rglob("*")) if each.suffix.lower() in FORMATS and each.is_file()]
    shown = [each for each in inside if is_shown(each.relative_to(path))]
    if not shown:
        raise ValueError(f"{path} is a folder without {', '.join(FORMATS)} files; name one that has some")
    return shown


def is_shown(path: PurePath) -> bool:
    """Whether no part of a path is hidden, as names are that begin with a dot or an underscore."""
    return not any(part.startswith((".", "_")) for part in path.parts)


def matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether a path is one that `glob` would find by a pattern, part by part.

    >>> [matches(("data", "a.csv"), pattern) for pattern in (("data", "*.csv"), ("**", "*.csv"), ("*.csv",))]
    [True, True, False]
    """
    if not pattern:
        return not parts
    first, rest = pattern[0], pattern[1:]
    if first == "**" and matches(parts, rest):
        return True
    if not parts or (parts[0].startswith(".") and not first.startswith(".")):
        return False
    if first == "**":
        return matches(parts[1:], pattern)
    return fnmatchcase(parts[0], first) and matches(parts[1:], rest)


def kind_of(paths: Sequence[Path]) -> str:
    """The one kind that files are of, by their extensions."""
    kinds = {_kind(path) for path in paths}
    if len(kinds) > 1:
        raise ValueError(f"the files are of several kinds, {listed(sorted(kinds))}; scan those of one kind")
    return kinds.pop()


def _kind(path: Path) -> str:
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise ValueError(
            f"{path}: a file that is scanned must be one of {', '.join(FORMATS)}; read others as a whole by "
            "posterior.files.read_table, or write them as Parquet"
        )
    return kind


def to_dataset(where: Sequence[str], kind: str, filesystem: Any = None) -> Any:
    """The data set of Arrow, which knows the files and the keys of their folders."""
    form: Any = kind
    if kind == "csv":  # gaps are called what they are called in files that are read as a whole
        gaps = csv.ConvertOptions(null_values=list(USUAL_MISSING), strings_can_be_null=True)
        form = ds.CsvFileFormat(convert_options=gaps)
    return ds.dataset(list(where), format=form, partitioning="hive", filesystem=filesystem)


def agreed_schema(dataset: Any) -> Any:
    """The columns of all files; whole numbers in one and fractions in another are fractions.

    Arrow would fill a column that a file lacks with gaps, and other engines round: so all are compared.
    """
    files = [_physical(fragment) for fragment in dataset.get_fragments()]
    if not files:
        raise FragmentError("there is no file with rows")
    keys = [field for field in dataset.schema if all(field.name not in found.names for _, found in files)]
    fields = [_agreed(name, files) for name in files[0][1].names]
    for path, found in files:
        new = [name for name in found.names if name not in files[0][1].names]
        if new:
            raise FragmentError(_named(path, new[0], "is not in", files[0][0]))
    return pa.schema([*fields, *keys])


def _physical(fragment: Any) -> tuple[str, Any]:
    try:
        return fragment.path, fragment.physical_schema
    except (OSError, pa.ArrowException) as error:
        raise unreadable(fragment.path, error) from error


def _agreed(name: str, files: Sequence[tuple[str, Any]]) -> Any:
    """The field of one column in all files."""
    path, first = files[0]
    if all(name in found.names and found.field(name).type == first.field(name).type for _, found in files):
        return pa.field(name, first.field(name).type)
    kind = plain_type(first.field(name).type)
    for other, found in files[1:]:
        if name not in found.names:
            raise FragmentError(_named(other, name, "is missing, and is in", path))
        kind = _common(
            kind,
            plain_type(found.field(name).type),
            lambda o=other, f=found: _disagreement(o, f, path, first, name),
        )
    return pa.field(name, kind)


def _disagreement(other: str, found: Any, path: str, first: Any, name: str) -> str:
    return (
        f"{other}: column {name!r} holds {found.field(name).type}, and {first.field(name).type} in {path}; "
        "write the files with one type, or scan them apart"
    )


def _named(path: str, name: str, how: str, other: str) -> str:
    return f"{path}: column {name!r} {how} {other}; all files must have the same columns"


def plain_type(kind: Any) -> Any:
    """A type without its encoding: a dictionary of strings holds strings."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.string() if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) else kind


def _common(a: Any, b: Any, message: Any) -> Any:
    if a == b or pa.types.is_null(b):
        return a
    if pa.types.is_null(a):
        return b
    numbers = [pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in (a, b)]
    if not all(numbers):
        raise FragmentError(message())
    if pa.types.is_integer(a) and pa.types.is_integer(b):
        return pa.int64()
    return pa.float64()


def partition_keys(fragment: Any) -> tuple[tuple[str, Any], ...]:
    """What the names of folders say of all rows of a file, as in year=2024/month=5."""
    return tuple(ds.get_partition_keys(fragment.partition_expression).items())


def row_groups(fragment: Any) -> list[tuple[int, ...]]:
    """The row groups of a file, neighbours together up to a number of rows."""
    try:
        sizes = [group.num_rows for group in fragment.row_groups]
    except (OSError, pa.ArrowException) as error:
        raise unreadable(fragment.path, error) from error
    if not sizes:
        return []
    groups: list[list[int]] = [[]]
    rows = 0
    for number, size in enumerate(sizes):
        if groups[-1] and rows + size > FRAGMENT_ROWS:
            groups.append([])
            rows = 0
        groups[-1].append(number)
        rows += size
    return [tuple(group) for group in groups]
