"""The five kinds of columns, how values are stored, and how values are written in messages."""

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias, get_args

Kind: TypeAlias = Literal["continuous", "binary", "categorical", "count", "text"]
Storage: TypeAlias = Literal["float", "integer", "boolean", "string", "category", "mixed", "empty"]

KINDS: tuple[Kind, ...] = get_args(Kind)

RULE = (
    "Rule: numbers are continuous, true/false is binary, strings and categories are categorical, "
    "strings of several words are text; a sparse table of non-negative integers holds counts. "
    'Say otherwise with kinds={"column": "count"}.'
)


def check_kind(kind: object) -> Kind:
    """Return `kind` if it is one of the five, and say which five if not."""
    for known in KINDS:
        if kind == known:
            return known
    raise ValueError(f"unknown kind {kind!r}; choose one of {', '.join(map(repr, KINDS))}")


def listed(values: Iterable[Any], limit: int = 5) -> str:
    """Write a few values for a message: ``'a', 'b', … (12 in all)``.

    >>> listed(["a", "b", "c"], limit=2)
    "'a', 'b', … (3 in all)"
    """
    values = list(values)
    shown = ", ".join(map(shortened, values[:limit]))
    return shown if len(values) <= limit else f"{shown}, … ({len(values)} in all)"


def shortened(value: Any, width: int = 40) -> str:
    """Write a value on one line of at most `width` characters."""
    text = repr(value)
    return text if len(text) <= width else text[: width - 1] + "…"


def order(value: Any) -> tuple[str, Any]:
    """Sort key that puts numbers before strings, so that mixed categories have one order."""
    return ("number", value) if isinstance(value, int | float) else (type(value).__name__, value)
