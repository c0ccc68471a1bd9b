"""Columns of values that have types of their own, as JSON and SQLite give them: their types and texts."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa

from posterior.files.cells import CellType, wider
from posterior.files.options import Reading
from posterior.files.text import CellBlock

_TYPES: dict[type, CellType] = {type(None): "empty", bool: "boolean", int: "integer", float: "number"}


def types_of_values(cells: Iterable[Any]) -> frozenset[CellType]:
    """Return the types that values have, but for gaps.

    >>> sorted(types_of_values([1, None, "a", "b"]))
    ['integer', 'text']
    """
    return frozenset(_TYPES.get(kind, "text") for kind in set(map(type, cells))) - {"empty"}


def typed_block(n_rows: int, columns: Mapping[str, Sequence[Any]], reading: Reading) -> CellBlock:
    """Return rows of values as cells written as texts, beside their types; only words of `missing` are gaps.

    >>> block = typed_block(3, {"x": [1, 2.5, None]}, Reading())
    >>> block.known, block.columns["x"].to_pylist()
    ({'x': 'number'}, ['1', '2.5', None])
    """
    if reading.missing:
        gaps = frozenset(reading.missing)
        columns = {
            name: [None if isinstance(cell, str) and cell in gaps else cell for cell in cells]
            for name, cells in columns.items()
        }
    values = {name: types_of_values(cells) for name, cells in columns.items()}
    texts, known = {}, {}
    for name, cells in columns.items():
        texts[name], known[name] = _texts(cells, reduce(wider, values[name], "empty"))
    return CellBlock(n_rows, texts, known, values)


def _texts(cells: Sequence[Any], kind: CellType) -> tuple[Any, CellType]:
    """Return values as strings, and the type of them all."""
    written = pa.array(map(_written, cells), pa.string())
    if kind == "integer":
        long = [abs(cell) >= 1 << 63 for cell in cells if cell is not None]
        # Where all are long they are codes, of which a number would lose some digits.
        kind = "text" if all(long) else "number" if any(long) else kind
    return written, kind


def _written(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    # repr is the fast way, and gives what JSON does but for true, false and what holds other values.
    return repr(value) if type(value) in (int, float) else json.dumps(value, ensure_ascii=False)
