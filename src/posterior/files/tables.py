"""Tables out of files: the same types in all rows, however many blocks they come in."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias

import pyarrow as pa

from posterior._text import listed
from posterior.files.cells import (
    ARROW_TYPES,
    CELL_TYPES,
    CellType,
    GivenType,
    as_type,
    at_once,
    columns_by_name,
    misfit_message,
    wider,
)
from posterior.files.columnar import ColumnarTable
from posterior.files.databases import DuckdbTable, SqliteTable
from posterior.files.doubts import tell_doubts, without_last
from posterior.files.errors import FileError
from posterior.files.excel import SheetTable
from posterior.files.lines import JsonLines
from posterior.files.options import Reading
from posterior.files.parts import refuse_part
from posterior.files.signatures import format_of
from posterior.files.sources import AnyPath, ByteSource, opening
from posterior.files.text import CellBlock, TextTable, are_mixed
from posterior.notices import DataWarning, warn

Written: TypeAlias = TextTable | JsonLines | SheetTable | SqliteTable
Typed: TypeAlias = ColumnarTable | DuckdbTable


def read_whole(path: AnyPath, reading: Reading, given: Mapping[str, GivenType]) -> Any:
    """Return the table in a file; a column without a given type gets the narrowest for all its cells."""
    with opening(path) as source:
        reader = _reader(source, reading)
        if isinstance(reader, Typed):
            parts = list(retyped(source.name, reader.tables(), given))
            table = pa.concat_tables(parts).unify_dictionaries()
        else:
            table = _gathered(source.name, reader, reading.decimal, given)
            pa.default_memory_pool().release_unused()  # texts take more room than what they are read as
    table = table.slice(0, max(0, table.num_rows - reading.foot))
    names = table.column_names
    known = set(names)
    absent = next((name for name in given if name not in known), None)
    if absent is not None:
        raise FileError(source.name, f"has no column {absent!r}; it has {listed(names, 12)}")
    if not table.num_rows:
        raise FileError(source.name, f"has columns ({listed(names, 12)}) but no rows")
    tell_doubts(source.name, table, reading, written=isinstance(reader, TextTable | SheetTable))
    return table


def read_batches(
    path: AnyPath, reading: Reading, given: Mapping[str, GivenType] | None, rows: int
) -> Iterator[Any]:
    """Give the table in a file by so many rows; at least one table, which may be without rows.

    Without given types the file is read twice, first for its types.
    """
    with opening(path, once=given is not None) as source:
        reader = _reader(source, reading)
        tables: Iterator[Any]
        if isinstance(reader, Typed):
            tables = retyped(source.name, reader.tables(), given or {})
        elif given is None:
            types = _surveyed(reader, reading.decimal)
            tables = _typed(source.name, reader.blocks(), types, reading.decimal)
        else:
            tables = _as_given(source.name, reader, reading.decimal, given)
        yield from resized(without_last(tables, reading.foot) if reading.foot else tables, rows)


def resized(tables: Iterable[Any], rows: int) -> Iterator[Any]:
    """Give the same rows in tables of `rows` each, the last one shorter.

    >>> [part.num_rows for part in resized([pa.table({"x": [1, 2, 3]}), pa.table({"x": [4, 5]})], 2)]
    [2, 2, 1]
    """
    held: Any = None
    for table in tables:
        some = held is not None and held.num_rows
        # A column without a value in one table takes its type from the other.
        held = pa.concat_tables([held, table], promote_options="default") if some else table
        while held.num_rows > rows:
            yield held.slice(0, rows)
            held = held.slice(rows)
    if held is not None:
        yield held


def retyped(name: str, tables: Iterable[Any], given: Mapping[str, GivenType]) -> Iterator[Any]:
    """Give tables of typed columns with texts as numbers, or numbers as texts, where that is asked for."""
    row = 0
    for table in tables:
        columns = columns_by_name(table)
        for column, cells in columns.items():
            kind = given.get(column, "own")
            if pa.types.is_string(cells.type) and kind != "own":
                columns[column] = _column(name, cells, kind, ".", (row, column))
            elif kind == "text":
                columns[column] = cells.cast(pa.string())
        yield pa.table(columns)
        row += table.num_rows


def _reader(source: ByteSource, reading: Reading) -> Written | Typed:
    form = reading.format or format_of(source.name, source.stream.head, reading.encoding)
    several = _SEVERAL.get(form)
    if several is not None:
        return several(source, reading)
    refuse_part(source.name, source.part)
    if form in {"parquet", "arrow"}:
        return ColumnarTable(source, reading, parquet=form == "parquet")
    return TextTable(source, reading, "\t" if form == "tsv" else None)


# What may hold several tables, of which the user names one.
_SEVERAL: dict[str, Callable[[ByteSource, Reading], Written | Typed]] = {
    "jsonl": JsonLines,
    "excel": SheetTable,
    "sqlite": SqliteTable,
    "duckdb": DuckdbTable,
}


def _surveyed(reader: Written, decimal: str) -> dict[str, CellType]:
    types: dict[str, CellType] = dict.fromkeys(reader.names, "empty")
    for block in reader.blocks():
        for column, kind in block.types(decimal).items():
            types[column] = wider(types.get(column, "empty"), kind)
    return types


def _gathered(name: str, reader: Written, decimal: str, given: Mapping[str, GivenType]) -> Any:
    types: dict[str, CellType] = dict.fromkeys(reader.names, "empty")
    values: dict[str, frozenset[CellType]] = {}

    def looked_at() -> Iterator[CellBlock]:
        for block in reader.blocks():
            for column, kind in block.types(decimal).items():
                wanted = given.get(column, "own")
                types[column] = wider(types.get(column, "empty"), kind if wanted == "own" else wanted)
            for column, kinds in block.values.items():
                values[column] = values.get(column, frozenset()) | kinds
            yield block

    parts = list(_typed(name, looked_at(), types, decimal))
    # What was a number and turns out to be a text must be read again: it may have been written 1.50.
    if any(
        types[field.name] == "text" and not _is_written(field.type) for part in parts for field in part.schema
    ):
        parts = list(_typed(name, reader.blocks(), types, decimal))
    texts = [column for column, kind in types.items() if kind == "text" and column not in given]
    if told := [column for column in texts if are_mixed(values.get(column, ()))]:
        warn(f"{name}: numbers as well as texts in {listed(told)}: all are read as texts", DataWarning)
    return pa.concat_tables([_under(part, types) for part in parts])


def _is_written(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_null(kind))


def _under(table: Any, types: Mapping[str, CellType]) -> Any:
    """Return a table with all columns, in wider types than it was read with."""
    found, columns = columns_by_name(table), {}
    for column, kind in types.items():
        cells, wanted = found.get(column), ARROW_TYPES[kind]
        if cells is None:
            cells = pa.nulls(table.num_rows, wanted)
        columns[column] = cells if cells.type == wanted else cells.cast(wanted)
    return pa.table(columns)


def _as_given(name: str, reader: Written, decimal: str, given: Mapping[str, GivenType]) -> Iterator[Any]:
    """Give tables under types known beforehand; columns that have none stay as they are written."""
    own = {column for column, kind in given.items() if kind == "own"}

    def started(columns: Iterable[str]) -> dict[str, CellType]:
        known = {column: given.get(column, "text") for column in columns}
        return {column: "empty" if kind == "own" else kind for column, kind in known.items()}

    types = started(reader.names)

    def checked() -> Iterator[CellBlock]:
        for i, block in enumerate(reader.blocks()):
            new = [column for column in block.columns if column not in types]
            late = next((column for column in new if i and column in given), None)
            if late is not None:
                raise FileError(
                    name, f"has {late!r} only in later rows; write it in the first row too, as null"
                )
            types.update({} if i else started(new))
            for column in own.intersection(block.columns):
                kind = block.own_type(column)
                both = {types[column], kind} - {"empty"}
                if len(both) > 1 or are_mixed(block.values.get(column, ())):
                    raise FileError(
                        name,
                        f"has numbers as well as texts in column {column!r}; write all of them in one way",
                    )
                types[column] = next(iter(both), "empty")
            yield block

    return _typed(name, checked(), types, decimal)


def _typed(
    name: str, blocks: Iterable[CellBlock], types: Mapping[str, CellType], decimal: str
) -> Iterator[Any]:
    """Give each block as a table under types, which may grow while the blocks come."""
    row = 0
    for block in blocks:
        columns: dict[str, Any] = dict.fromkeys(types)
        for kind in CELL_TYPES:
            names = [column for column, wanted in types.items() if wanted == kind]
            cells = [_taken(block, column) for column in names]
            try:
                found = at_once(partial(as_type, wanted=kind, decimal=decimal), cells)
            except pa.ArrowInvalid:
                found = [
                    _column(name, some, kind, decimal, (row, column))
                    for column, some in zip(names, cells, strict=True)
                ]
            columns.update(zip(names, found, strict=True))
        yield pa.table(columns)
        row += block.n_rows
    if not row:
        yield pa.table({column: pa.nulls(0, ARROW_TYPES[kind]) for column, kind in types.items()})


def _taken(block: CellBlock, column: str) -> Any:
    """Take a column out of a block, so that its texts are not kept beside what they are read as."""
    found = block.columns.pop(column, None)
    return pa.nulls(block.n_rows, pa.string()) if found is None else found


def _column(name: str, cells: Any, kind: CellType, decimal: str, where: tuple[int, str]) -> Any:
    try:
        return as_type(cells, kind, decimal)
    except pa.ArrowInvalid:
        raise FileError(name, misfit_message(cells, kind, decimal, where)) from None
