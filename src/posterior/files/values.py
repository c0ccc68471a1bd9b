"""Columns of values that have types of their own, as JSON and SQLite give them: their type and texts."""

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from posterior.files.cells import CellType, clean, wider
from posterior.files.options import Reading

_TYPES: dict[type, CellType] = {type(None): "empty", bool: "boolean", int: "integer", float: "number"}


def typed_texts(cells: Sequence[Any], reading: Reading) -> tuple[CellType, Any]:
    """Return the narrowest type of values, and the values as strings; only the words of `missing` are gaps.

    >>> kind, texts = typed_texts([1, 2.5, None], Reading())
    >>> kind, texts.to_pylist()
    ('number', ['1', '2.5', None])
    """
    found: CellType = "empty"
    for kind in set(map(type, cells)):
        found = wider(found, _TYPES.get(kind, "text"))
    written = pa.array(map(_written, cells), pa.string())
    if found == "text" and reading.missing:
        written = clean(written, Reading(missing=reading.missing, usual_missing=False, trim=False))
    if found == "integer" and any(cell is not None and abs(cell) >= 1 << 63 for cell in cells):
        found = "number"
    return found, written


def _written(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    # repr is the fast way, and gives what JSON does but for true, false and what holds other values.
    return repr(value) if type(value) in (int, float) else json.dumps(value, ensure_ascii=False)
