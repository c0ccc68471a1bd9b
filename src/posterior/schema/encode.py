"""Columns ready to be read chunk by chunk, as numbers or as codes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeAlias, overload

import numpy as np
from scipy import sparse

from posterior import kernels
from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.schema.cells import Cells, Codes32, Labels, Numbers, outside, positions, time_message
from posterior.schema.columns import Alike, Column, all_places
from posterior.schema.declare import as_numbers, as_texts, count_message
from posterior.schema.kinds import infinity_message, refuse_infinite_level, refuse_other_type
from posterior.schema.sources import ArraySource, Source, SparseSource, in_order, some_rows

AS_IN_TRAINING = "as in training (missing values may be None or NaN)"
# Stored cells up to which most columns of sparse rows are numbered anew once: 16 MiB of numbers.
CHOSEN_CELLS = 1 << 22
DOUBLE = np.dtype(np.float64)


@dataclass(frozen=True)
class Codes:
    """Categories as numbers: −1 is missing, and a code equal to its column's size was not in the schema."""

    array: Codes32
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Mixed:
    """Numbers as they are and categories by their codes, NaN where missing or not in the schema.

    `sizes` are the numbers of categories, 0 for columns of numbers.
    """

    array: Floats
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Coded:
    """A column encoded up front."""

    codes: Codes32
    size: int

    def read(self, rows: slice) -> Codes32:
        """Return the codes of some rows."""
        return self.codes[rows]

    def floats(self, rows: slice) -> Floats:
        """Return the codes as numbers, NaN where missing or unseen."""
        return floats_of_codes(self.read(rows), self.size)


@dataclass(frozen=True)
class Whole:
    """A column of whole numbers that is encoded as it is read: the codes of `low`, `low` + 1, … are given."""

    numbers: Numbers
    low: int
    given: Codes32
    size: int

    @classmethod
    def of(cls, numbers: Numbers, values: Ints, codes: Codes32, size: int) -> "Whole":
        """Return the column whose sorted distinct values have these codes."""
        low = int(values[0]) if len(values) else 0
        # Where codes follow each other as the values do, they are counted from the value of code 0.
        first = low - int(codes[0]) if len(codes) else 0
        if len(codes) and first <= low and (codes == values - first).all():
            return cls(numbers, first, np.arange(values[-1] - first + 1, dtype=np.int32), size)
        given = np.full(int(values[-1]) - low + 1 if len(values) else 0, size, dtype=np.int32)
        given[values - low] = codes
        return cls(numbers, low, given, size)

    @cached_property
    def _codes(self) -> kernels.WholeCodes:
        return kernels.WholeCodes([(self.low, self.given)], [self.size], len(self.numbers.array))

    def read(self, rows: slice) -> Codes32:
        """Return the codes of some rows."""
        return self._codes.of(self.numbers.floats(rows)[:, None])[:, 0]

    def floats(self, rows: slice) -> Floats:
        """Return the codes as numbers, NaN where missing or unseen."""
        return floats_of_codes(self.read(rows), self.size)


Part: TypeAlias = Numbers | Coded | Whole | Labels


class InPlace(Sequence[Numbers]):
    """The columns of an array of numbers that are read where they lie, each made when it is asked for."""

    def __init__(self, source: ArraySource) -> None:
        self._source = source

    def __len__(self) -> int:
        return int(self._source.n_columns)

    @overload
    def __getitem__(self, position: int) -> Numbers: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[Numbers, ...]: ...
    def __getitem__(self, position: int | slice) -> Numbers | tuple[Numbers, ...]:
        if isinstance(position, slice):
            return tuple(self[j] for j in range(len(self))[position])
        cells = self._source.column(range(len(self))[position])
        assert isinstance(cells, Numbers)  # noqa: S101 -- for the type checker
        return cells


@dataclass(frozen=True)
class Encoded:
    """The rows of a table under a schema; `single` if they and those of training are in single precision."""

    n_rows: int
    columns: Sequence[Column]
    parts: Sequence[Part]
    block: AnyArray | None = None
    unseen: dict[str, dict[Any, int]] = field(default_factory=dict)
    single: bool = False

    def cells_per_row(self, dense: int) -> int:
        """Return how many cells a row takes while it is read, `dense` of its columns being read as values."""
        return max(dense, len(self.columns))

    def values(self, rows: slice, columns: tuple[int, ...], *, check: bool = True) -> Floats:
        """Return rows as float64, NaN where missing: a view of a float64 array asked for all its columns."""
        chunk = self._packed(rows, columns)
        if check:
            self._refuse_infinity(chunk, rows, columns)
        return chunk

    def table(self, rows: slice, columns: tuple[int, ...]) -> kernels.NumberTable:
        """Return rows as they lie in memory, or as `values` does; infinity is not looked for."""
        if rows.step in (None, 1):
            table = self._in_place(columns)
            if table is not None:
                return table[rows]
        return self._packed(rows, columns)

    def is_in_place(self, columns: tuple[int, ...]) -> bool:
        """Return whether `table` gives these columns without a copy, in rows or apart from each other."""
        table = self._in_place(columns)
        return isinstance(table, kernels.SeparateColumns) or (table is not None and table.flags.c_contiguous)

    def _in_place(self, columns: tuple[int, ...]) -> kernels.NumberTable | None:
        if self._is_everything(columns):  # to hash one of thousands of places costs more than to score a row
            return self._whole_as_it_lies
        if columns not in self._as_they_lie:
            self._as_they_lie[columns] = self._without_copy(columns)
        return self._as_they_lie[columns]

    @cached_property
    def _whole_as_it_lies(self) -> kernels.NumberTable | None:
        return self._without_copy(self._everything[0])

    @cached_property
    def _as_they_lie(self) -> dict[tuple[int, ...], kernels.NumberTable | None]:
        return {}

    def _without_copy(self, columns: tuple[int, ...]) -> kernels.NumberTable | None:
        block, everything = self.block, self._is_everything(columns)
        if block is not None and everything and isinstance(self.parts, InPlace):
            return kernels.array_as_it_lies(block)
        parts = [self.parts[j] for j in columns]
        numbers = [part.array for part in parts if isinstance(part, Numbers) and part.missing is None]
        if len(numbers) < len(parts):  # codes, or nulls of integers, are no numbers as they lie
            return None
        return (
            kernels.array_as_it_lies(block)
            if block is not None and everything
            else kernels.as_they_lie(numbers)
        )

    def codes(self, rows: slice, columns: tuple[int, ...]) -> Codes:
        """Return rows as codes, for binary and categorical columns."""
        sizes = self._sizes_of(columns)
        if self.block is not None and all(self._is_plain_binary(j) for j in columns):
            return Codes(codes_of_floats(self._packed(rows, columns)), sizes)
        if self.block is not None and all(isinstance(self.parts[j], Whole) for j in columns):
            if columns not in self._whole_codes:
                self._whole_codes[columns] = self._joined(columns)
            return Codes(self._whole_codes[columns].of(self._cells(rows, columns)), sizes)
        array = np.empty((self._length(rows), len(columns)), dtype=np.int32, order="F")
        for k, j in enumerate(columns):
            array[:, k] = self._codes_of(j, rows)
        return Codes(array, sizes)

    def matrix(self, rows: slice, columns: tuple[int, ...], *, check: bool = True) -> Any:
        """Return rows as a sparse matrix where the table is sparse, else as `values` or `table` does."""
        return self.values(rows, columns) if check else self.table(rows, columns)

    def precision(self, columns: tuple[int, ...]) -> "np.dtype[Any]":
        """Return the type of float of all these columns if it is less precise than double, else double."""
        if self.block is not None and self._are_numbers(columns):
            return _precision_of([self.block])
        parts = [self.parts[j] for j in columns]
        numbers = [part.array for part in parts if isinstance(part, Numbers)]
        return _precision_of(numbers) if len(numbers) == len(parts) else DOUBLE

    def texts(self, rows: slice, column: int) -> AnyArray:
        """Return rows of a text column as strings, None where missing."""
        part = self.parts[column]
        if not isinstance(part, Labels):
            raise TypeError(f"column {self.columns[column].name!r} is {self.columns[column].kind}, not text")
        return part.objects(rows)

    def mixed(self, rows: slice, columns: tuple[int, ...]) -> Mixed:
        """Return rows of columns of any kinds but texts."""
        return Mixed(self.values(rows, columns), self._sizes_of(columns))

    def _sizes_of(self, columns: tuple[int, ...]) -> tuple[int, ...]:
        """Return how many categories the columns have, 0 for numbers."""
        if columns not in self._sizes:
            self._sizes[columns] = tuple(self.columns[j].size for j in columns)
        return self._sizes[columns]

    @cached_property
    def _sizes(self) -> dict[tuple[int, ...], tuple[int, ...]]:
        return {}

    @cached_property
    def _whole_codes(self) -> dict[tuple[int, ...], kernels.WholeCodes]:
        return {}

    def _joined(self, columns: tuple[int, ...]) -> kernels.WholeCodes:
        parts = [part for part in (self.parts[j] for j in columns) if isinstance(part, Whole)]
        given, unseen = [(part.low, part.given) for part in parts], [part.size for part in parts]
        return kernels.WholeCodes(given, unseen, self.n_rows * len(columns))

    def _cells(self, rows: slice, columns: tuple[int, ...]) -> AnyArray:
        """Return cells of the array, a view where all columns are asked for."""
        assert self.block is not None  # noqa: S101 -- for the type checker
        part = self.block[rows]
        return part if self._is_everything(columns) else part[:, list(columns)]

    @cached_property
    def _everything(self) -> list[tuple[int, ...]]:
        return [all_places(len(self.columns))]

    def _is_everything(self, columns: tuple[int, ...]) -> bool:
        """Return whether these are all columns in their order; a tuple once seen is not looked at again."""
        known = self._everything
        if any(columns is one for one in known):
            return True
        if len(columns) != len(known[0]) or columns != known[0]:  # tuples are looked through before lengths
            return False
        known[1:] = [columns]
        return True

    def _are_numbers(self, columns: tuple[int, ...]) -> bool:
        return isinstance(self.parts, InPlace) or all(isinstance(self.parts[j], Numbers) for j in columns)

    def _is_plain_binary(self, j: int) -> bool:
        return self.columns[j].kind == "binary" and isinstance(self.parts[j], Numbers)

    def _packed(self, rows: slice, columns: tuple[int, ...]) -> Floats:
        if self.block is not None and self._are_numbers(columns):
            return np.asarray(self._cells(rows, columns), dtype=np.float64)
        if self._length(rows) > len(columns):
            return self._gathered(rows, columns)
        # To gather a table that is wider than long costs more than to use it: it is done once.
        known, places, found = self._wide or (None, None, None)
        if found is None or known != rows or places != columns:
            found = self._gathered(rows, columns)
            self._wide[:] = [rows, columns, found]
        return found

    @cached_property
    def _wide(self) -> list[Any]:
        return []

    def _gathered(self, rows: slice, columns: tuple[int, ...]) -> Floats:
        # Column by column, which is how the cells lie: three times the speed of packing by rows.
        chunk = np.empty((self._length(rows), len(columns)), order="F")
        for k, j in enumerate(columns):
            part_of = self.parts[j]
            if isinstance(part_of, Labels):
                raise TypeError(
                    f"column {self.columns[j].name!r} is text and has no numbers; read it with texts"
                )
            chunk[:, k] = part_of.floats(rows)
        return chunk

    def _codes_of(self, j: int, rows: slice) -> Codes32:
        part, column = self.parts[j], self.columns[j]
        if isinstance(part, Coded | Whole):
            return part.read(rows)
        if column.kind != "binary" or not isinstance(part, Numbers):
            raise TypeError(f"column {column.name!r} is {column.kind} and has no codes")
        return codes_of_floats(part.floats(rows))

    def _length(self, rows: slice) -> int:
        return len(range(*rows.indices(self.n_rows)))

    def _refuse_infinity(self, chunk: Floats, rows: slice, columns: tuple[int, ...]) -> None:
        with np.errstate(invalid="ignore", over="ignore"):
            if np.isfinite(chunk.sum()):  # which no infinity survives
                return
        infinite = np.isinf(chunk)
        if infinite.any():
            i, k = np.argwhere(infinite)[0].tolist()
            row = range(*rows.indices(self.n_rows))[i]
            raise ValueError(infinity_message(self.columns[columns[k]].name, chunk[i, k].item(), row))


@dataclass(frozen=True)
class SparseEncoded(Encoded):
    """The rows of a sparse table: `csr` holds all but the categorical columns' codes.

    `largest_count` where all stored cells are known to be whole numbers from 0 on, none above it; else −1.
    """

    csr: Any = None
    largest_count: float = -1.0

    @cached_property
    def _coded(self) -> frozenset[int]:
        if isinstance(self.columns, Alike):
            return frozenset()
        return frozenset(j for j, part in enumerate(self.parts) if isinstance(part, Coded | Whole))

    def cells_per_row(self, dense: int) -> int:
        """Return how many cells a row takes; a stored one counts as two, with its column number."""
        return max(dense, 2 * int(self.csr.nnz) // max(self.n_rows, 1))

    def _sliced(self, rows: slice, columns: tuple[int, ...]) -> Any:
        if self._is_everything(columns):
            return in_order(some_rows(self.csr, rows))
        if self.csr.nnz > CHOSEN_CELLS or 2 * len(columns) <= len(self.columns):
            return kernels.some_columns(in_order(some_rows(self.csr, rows)), columns)
        # Once for all rows: a part at a time in fresh memory took longer than its scores.
        for places, found in self._chosen:
            if places is columns:
                return some_rows(found, rows)
        found = kernels.some_columns(in_order(self.csr), columns)
        self._chosen[:] = [(columns, found)]
        return some_rows(found, rows)

    @cached_property
    def _chosen(self) -> list[tuple[tuple[int, ...], Any]]:
        """The columns that were last asked for, if not all."""
        return []

    def matrix(self, rows: slice, columns: tuple[int, ...], *, check: bool = True) -> Any:
        """Return rows as a float64 CSR array; a stored NaN is a missing value."""
        if self._coded and not self._coded.isdisjoint(columns):
            return sparse.csr_array(self.values(rows, columns))
        part = self._sliced(rows, columns)
        if part.dtype != np.float64:
            part = kernels.with_data(part, part.data)
        if self.largest_count >= 0:
            return kernels.mark_counts(part, self.largest_count)
        with np.errstate(invalid="ignore", over="ignore"):
            if np.isfinite(part.data.sum()):  # which no infinity survives
                return part
        wrong = np.flatnonzero(np.isinf(part.data))
        if len(wrong):
            first = int(wrong[0])
            row = int(np.searchsorted(part.indptr, first, side="right")) - 1
            name = self.columns[columns[part.indices[first]]].name
            row = range(*rows.indices(self.n_rows))[row]
            raise ValueError(infinity_message(name, part.data[first].item(), row))
        return part

    def precision(self, columns: tuple[int, ...]) -> "np.dtype[Any]":
        """Return the type of float of the stored cells if it is less precise than double, else double."""
        return DOUBLE if self._coded and not self._coded.isdisjoint(columns) else _precision_of([self.csr])

    def table(self, rows: slice, columns: tuple[int, ...]) -> kernels.NumberTable:
        """Return rows as `values` does, but for the look for infinity."""
        return self._packed(rows, columns)

    def is_in_place(self, columns: tuple[int, ...]) -> bool:
        """Return whether `table` gives these columns without a copy."""
        return False

    def _packed(self, rows: slice, columns: tuple[int, ...]) -> Floats:
        chunk = np.asarray(self._sliced(rows, columns).toarray(), dtype=np.float64)
        for k, j in enumerate(columns) if self._coded else ():
            part_of = self.parts[j]
            if isinstance(part_of, Coded | Whole):
                chunk[:, k] = part_of.floats(rows)
        return chunk

    def _codes_of(self, j: int, rows: slice) -> Codes32:
        part, column = self.parts[j], self.columns[j]
        if isinstance(part, Coded | Whole):
            return part.read(rows)
        if column.kind != "binary":
            raise TypeError(f"column {column.name!r} is {column.kind} and has no codes")
        return codes_of_floats(self._packed(rows, (j,))[:, 0])


def _precision_of(arrays: Sequence[AnyArray]) -> "np.dtype[Any]":
    """Return the type of float of all arrays if it is less precise than double, else double."""
    kinds = {array.dtype for array in arrays}
    kind = kinds.pop() if len(kinds) == 1 else DOUBLE
    return kind if kind.kind == "f" and kind.itemsize < DOUBLE.itemsize else DOUBLE


def floats_of_codes(codes: Codes32, size: int) -> Floats:
    """Return codes as numbers, NaN where missing or unseen."""
    part = codes.astype(np.float64)
    part[(part < 0) | (part >= size)] = np.nan
    return part


def codes_of_floats(values: Floats) -> Codes32:
    """Return 0.0, 1.0 and NaN as codes 0, 1 and −1."""
    if np.isfinite(values.sum()):
        return values.astype(np.int32)
    return np.where(np.isnan(values), -1.0, values).astype(np.int32)


def encode_table(columns: Sequence[Column], source: Source) -> Encoded:
    """Return the rows of an aligned source under a schema's columns."""
    if isinstance(source, SparseSource):
        return _encode_sparse(columns, source)
    unseen: dict[str, dict[Any, int]] = {}
    alike = isinstance(columns, Alike) and columns.example.kind == "continuous"
    if alike and isinstance(source, ArraySource) and source.block is not None:
        return Encoded(source.n_rows, columns, InPlace(source), source.block, unseen)
    in_place = _in_place(columns, source)
    if isinstance(source, ArraySource):
        source.survey([j for j, c in enumerate(columns) if c.kind == "categorical" and not c.ignored])
    parts: list[Part] = [
        _unread(source)
        if column.ignored
        else source.column(j)
        if j in in_place
        else encode_column(column, source.column(j), unseen)
        for j, column in enumerate(columns)
    ]
    block = source.block if isinstance(source, ArraySource) else None
    return Encoded(source.n_rows, columns, parts, block, unseen)


def _unread(source: Source) -> Coded:
    """Return a column of missing values that takes no memory."""
    return Coded(np.broadcast_to(np.int32(-1), source.n_rows), 0)


def _in_place(columns: Sequence[Column], source: Source) -> set[int]:
    """Return the 0/1 and count columns of an array that can be read where they are."""
    if not isinstance(source, ArraySource):
        return set()
    plain = [j for j, column in enumerate(columns) if column.kind == "binary" and column.categories is None]
    counts = [j for j, column in enumerate(columns) if column.kind == "count"]
    return source.holding("binary", plain) | source.holding("count", counts)


def encode_column(column: Column, cells: Cells, unseen: dict[str, dict[Any, int]]) -> Part:
    """Return one column as its schema reads it, and note the categories that the schema does not know."""
    if column.kind == "text":
        return as_texts(column.name, cells)
    if column.kind in {"continuous", "count"}:
        numbers = as_numbers(column.name, cells, column.kind, AS_IN_TRAINING)
        wrong = numbers.first_outside("count") if column.kind == "count" else None
        if wrong is not None and wrong[1] < 0:  # infinity is refused when the rows are read
            raise ValueError(count_message(column.name, *wrong))
        return numbers
    if column.categories is None and isinstance(cells, Numbers) and cells.first_outside("binary") is None:
        return cells
    if isinstance(cells, Numbers) and cells.whole is not None:
        return _encode_whole(column, cells, cells.whole, unseen)
    labels = cells.labels()
    refuse_infinite_level(column.name, labels.levels)
    levels = column.levels or ()
    if labels.storage == "time" and not all(isinstance(level, str) for level in levels):
        raise ValueError(time_message(column.name, "date"))
    refuse_other_type(column.name, levels, labels.levels)
    codes = labels.lookup(levels, single=column.single or labels.single)
    counts = np.bincount(labels.codes[codes == len(levels)], minlength=len(labels.levels))
    new = {level: int(n) for level, n in zip(labels.levels, counts, strict=True) if n}
    if new:
        unseen[column.name] = new
        codes[codes == len(levels)] = column.size
    return Coded(codes, column.size)


def _encode_whole(column: Column, numbers: Numbers, values: Ints, unseen: dict[str, dict[Any, int]]) -> Whole:
    """Return a column of whole numbers, whose rows are encoded when they are read."""
    found, levels = numbers.only_levels(), column.levels or ()
    refuse_other_type(column.name, levels, found.levels)
    codes = positions(found.levels, levels, single=column.single or found.single)
    new = codes == len(levels)
    if new.any():
        counts = numbers.tally(values[new])
        known = [level for level, is_new in zip(found.levels, new, strict=True) if is_new]
        unseen[column.name] = dict(zip(known, counts, strict=True))
        codes[new] = column.size
    return Whole.of(numbers, values, codes, column.size)


def _encode_sparse(columns: Sequence[Column], source: SparseSource) -> Encoded:
    unseen: dict[str, dict[Any, int]] = {}
    parts: list[Part] = [Numbers("float", np.empty(0))] * len(columns)  # read from `csr`
    if isinstance(columns, Alike):
        counts, plain = (np.full(len(columns), columns.example.kind == kind) for kind in ("count", "binary"))
    else:
        for j, column in enumerate(columns):
            if column.ignored:
                parts[j] = _unread(source)
            elif column.kind == "text" or column.categories is not None:
                parts[j] = encode_column(column, source.column(j), unseen)
        counts = np.array([column.kind == "count" for column in columns])
        plain = np.array([column.kind == "binary" and column.categories is None for column in columns])
    largest = source.largest_count
    negative = None if largest >= 0 else source.first(lambda stored: stored < 0, counts)
    if negative is not None:
        row, j, value = negative
        raise ValueError(count_message(columns[j].name, row, value))
    matrix = _without_foreign(source, columns, plain, unseen)
    largest = largest if matrix is source.matrix else -1.0
    return SparseEncoded(source.n_rows, columns, parts, None, unseen, csr=matrix, largest_count=largest)


def _without_foreign(
    source: SparseSource, columns: Sequence[Column], plain: Bools, unseen: dict[str, Any]
) -> Any:
    """Return the matrix with NaN where a 0/1 column holds something else, which is counted as unseen."""
    if source.first(partial(outside, test="binary"), plain) is None:
        return source.matrix
    matrix = in_order(source.matrix).astype(np.float64, copy=True)
    foreign = np.flatnonzero(outside(matrix.data, "binary") & plain[matrix.indices])
    for k in foreign.tolist():
        counts = unseen.setdefault(columns[matrix.indices[k]].name, {})
        counts[matrix.data[k].item()] = counts.get(matrix.data[k].item(), 0) + 1
    matrix.data[foreign] = np.nan
    return matrix
