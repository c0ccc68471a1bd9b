"""Tables into files, batch by batch: the formats and packings that are written."""

import bz2
import gzip
import io
import json
import lzma
import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any, BinaryIO, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
import pyarrow.parquet as pq

from posterior.files.formulas import guarded
from posterior.files.options import USUAL_MISSING, WrittenFormat
from posterior.files.signatures import Packing

Put: TypeAlias = Callable[[Any], None]


def put_all(
    file: BinaryIO, tables: Iterator[Any], form: WrittenFormat, packing: Packing | None, *, raw: bool = False
) -> None:
    """Write tables of the same columns one after the other; `raw` keeps formulas in delimited text."""
    first = next(tables, None)
    first = pa.table({}) if first is None else first
    with ExitStack() as stack:
        packed = stack.enter_context(_packed(file, packing))
        delimiter = _DELIMITERS.get(form)
        if delimiter is None:
            put = stack.enter_context(_FORMS[form](packed, first.schema))
        else:
            put = stack.enter_context(_delimited(packed, first.schema, delimiter=delimiter, raw=raw))
        put(first)
        for table in tables:
            put(table.cast(first.schema))


def _packed(file: BinaryIO, packing: Packing | None) -> AbstractContextManager[Any]:
    match packing:
        case None:
            return nullcontext(file)
        case "gz":
            # Neither time nor name inside, so that the same table gives the same bytes.
            return gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)
        case "bz2":
            return bz2.BZ2File(file, "wb")
        case "xz":
            return lzma.LZMAFile(file, "wb")
        case _:
            return _by_arrow(file, packing)


@contextmanager
def _by_arrow(file: BinaryIO, packing: Packing) -> Iterator[Any]:
    # The stream would close what it writes to, which must stay open until it has its name.
    with (
        _KeptOpen(file) as kept,
        pa.CompressedOutputStream(kept, {"zst": "zstd"}.get(packing, packing)) as packed,
    ):
        yield packed


class _KeptOpen(io.RawIOBase):
    """A file that is not closed when this is."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._file.write(data)


@contextmanager
def _delimited(file: Any, schema: Any, *, delimiter: str, raw: bool) -> Iterator[Put]:
    def quote(column: Any) -> Any:
        return _quoted(column if raw else guarded(column), delimiter)

    names = pa.array(schema.names, pa.string())
    file.write((delimiter.join(quote(names).to_pylist()) + "\n").encode())

    def put(table: Any) -> None:
        if not table.num_rows:
            return
        columns = [
            quote(_written(column)) if _is_text(column.type) else _quoted(_written(column), delimiter)
            for column in table.columns
        ]
        gap = "" if len(columns) > 1 else '""'  # a line with nothing in it would be no row
        rows = pc.binary_join_element_wise(*columns, delimiter, null_handling="replace", null_replacement=gap)
        file.write(("\n".join(rows.to_pylist()) + "\n").encode())

    yield put


def _quoted(column: Any, delimiter: str) -> Any:
    """Return strings in quotes where a reader would else take them for something else."""
    risky = pc.match_substring_regex(column, rf'["\r\n{delimiter}]|^\s|\s$|^$')
    risky = pc.or_(risky, pc.is_in(column, pa.array(USUAL_MISSING)))
    doubled = pc.replace_substring(column, '"', '""')
    return pc.if_else(risky, pc.binary_join_element_wise('"', doubled, '"', ""), column)


def _is_text(kind: Any) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _written(column: Any) -> Any:
    """Return a column as strings: numbers with all their digits, and a point where they are no integers."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _written(column.cast(kind.value_type))
    if pa.types.is_nested(kind):
        return pa.array(
            [None if cell is None else json.dumps(cell) for cell in column.to_pylist()], pa.string()
        )
    strings = column.cast(pa.string())
    if pa.types.is_floating(kind):
        whole = pc.match_substring_regex(strings, r"^-?[0-9]+$")
        strings = pc.if_else(whole, pc.binary_join_element_wise(strings, ".0", ""), strings)
        return pc.if_else(pc.is_nan(column), pa.scalar(None, pa.string()), strings)
    return strings


@contextmanager
def _json_lines(file: Any, _: Any) -> Iterator[Put]:
    def put(table: Any) -> None:
        rows = map(_jsonable, table.to_pylist())
        lines = [json.dumps(row, ensure_ascii=False, allow_nan=False, default=str) for row in rows]
        file.write("".join(line + "\n" for line in lines).encode())

    yield put


def _jsonable(value: Any) -> Any:
    """Return a value without the numbers that JSON has no word for."""
    if isinstance(value, dict):
        return {name: _jsonable(cell) for name, cell in value.items()}
    if isinstance(value, list):
        return [_jsonable(cell) for cell in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextmanager
def _parquet(file: Any, schema: Any) -> Iterator[Put]:
    # A dictionary of numbers that are nearly all different only takes time, six times as much as the rest.
    repeated = [field.name for field in schema if not pa.types.is_floating(field.type)]
    with pq.ParquetWriter(file, schema, use_dictionary=repeated) as writer:
        yield writer.write_table


@contextmanager
def _arrow(file: Any, schema: Any) -> Iterator[Put]:
    with pyarrow.ipc.new_file(file, schema) as writer:
        yield writer.write_table


_DELIMITERS: dict[WrittenFormat, str] = {"csv": ",", "tsv": "\t"}
_FORMS: dict[WrittenFormat, Callable[[Any, Any], AbstractContextManager[Put]]] = {
    "jsonl": _json_lines,
    "parquet": _parquet,
    "arrow": _arrow,
}
