"""Data without arrays, NaN or objects, for JSON; and the same in lines of text."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from posterior._text import aligned, shortened


def plain(value: Any) -> Any:
    """A value as JSON can write it: numbers that are not finite as None, what it does not know in words.

    >>> plain({"mean": np.array([1.0, np.nan]), 3: {"n": np.int64(2)}})
    {'mean': [1.0, None], '3': {'n': 2}}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return str(value)


def setting(value: Any) -> Any:
    """A setting as JSON can write it; infinity, which is a setting like any other, by its name."""
    return str(value) if isinstance(value, float) and not isfinite(value) else plain(value)


def written(label: Any) -> str:
    """A label as a file has it.

    >>> written(True), written(1.0), written("yes")
    ('true', '1.0', 'yes')
    """
    return str(label).lower() if isinstance(label, bool | np.bool_) else str(label)


def listing(rows: Sequence[Sequence[str]], left: int, most: int | None) -> list[str]:
    """Lines of a table, its head first; of many rows the first, and how many more there are."""
    head, *body = rows
    shown = body[:most]
    more = [f"… ({len(body) - len(shown):,} more)"] if len(body) > len(shown) else []
    return [*aligned([head, *shown], left=left), *more]


def some(names: Sequence[Any], most: int) -> str:
    """Names with commas between them; of many the first, and how many more there are.

    >>> some(["a", "b", "c"], 2)
    'a, b, … (1 more)'
    """
    shown = ", ".join(shortened(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names) - most:,} more)"
