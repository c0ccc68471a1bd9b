"""The five kinds of columns, and how values are stored."""

from collections.abc import Sequence
from math import isinf
from typing import Any, Literal, TypeAlias, get_args

from posterior._text import listed

Kind: TypeAlias = Literal["continuous", "binary", "categorical", "count", "text"]
Storage: TypeAlias = Literal["float", "integer", "boolean", "string", "category", "time", "mixed", "empty"]

KINDS: tuple[Kind, ...] = get_args(Kind)
# What strings may be declared to be besides: numbers and dates, with how they are written.
Written: TypeAlias = Literal["date", "day-first", "month-first", "decimal-comma", "decimal-point"]
WRITTEN: tuple[Written, ...] = get_args(Written)
Declared: TypeAlias = Kind | Written

RULE = (
    "Rule: numbers are continuous, true/false is binary, strings and categories are categorical, "
    "strings of several words are text; a sparse table of non-negative integers holds counts. "
    'Say otherwise with kinds={"column": "count"}.'
)

# Numbers no larger, and columns that vary by no less, have sums of squares that neither overflow nor vanish,
# with weights of rows that are within their own bounds.
LARGEST, SMALLEST = 1e120, 1e-120


def check_kind(kind: object) -> Declared:
    """Return `kind` if it is one of the five, or says how strings are written; say which there are if not."""
    for known in (*KINDS, *WRITTEN):
        if kind == known:
            return known
    words = (
        f"{', '.join(map(repr, KINDS))}; or, of what is written as strings, {', '.join(map(repr, WRITTEN))}"
    )
    raise ValueError(f"unknown kind {kind!r}; choose one of {words}")


def order(value: Any) -> tuple[str, Any]:
    """Sort key that puts numbers before strings, so that mixed categories have one order."""
    return ("number", value) if isinstance(value, int | float) else (type(value).__name__, value)


def refuse_other_type(name: str, levels: Sequence[Any], new: Sequence[Any]) -> None:
    """Refuse numbers in a column of strings, and the other way round."""
    known = {isinstance(level, str) for level in levels}
    found = {isinstance(level, str) for level in new}
    if len(known) == 1 and len(found) == 1 and known != found:
        raise ValueError(
            f"column {name!r}: {_shown(levels)} were expected, found {_shown(new)}; "
            f"convert them to {_type_of(levels)} as in training"
        )


def _type_of(levels: Sequence[Any]) -> str:
    if all(isinstance(level, bool) for level in levels):
        return "true/false values"
    return "strings" if isinstance(levels[0], str) else "numbers"


def _shown(levels: Sequence[Any]) -> str:
    word = _type_of(levels)
    return word if word == "true/false values" else f"{word} such as {listed(levels, 2)}"


def infinity_message(name: str, value: float, row: int | None = None) -> str:
    """Return the message that refuses an infinite value."""
    where = "" if row is None else f" in row {row}"
    return (
        f"column {name!r} contains infinity ({value}){where}; "
        "replace it by a missing value (NaN) or a finite number"
    )


def faint_message(name: str, spread: float, row: int) -> str:
    """Return the message that refuses a column whose numbers differ by too little to be squared."""
    return (
        f"column {name!r} varies by no more than {spread:.1g} (row {row}), which vanishes when squared; "
        "rescale the column, such as by dividing it by its standard deviation"
    )


def overflow_message(name: str, value: float, row: int) -> str:
    """Return the message that refuses a number too large for the arithmetic of a model."""
    return (
        f"column {name!r} holds {value:g} in row {row}, with which the sums of this model overflow; "
        "rescale the column, or make the value missing (NaN)"
    )


def refuse_infinite_level(name: str, levels: Sequence[Any]) -> None:
    """Refuse an infinite number among the categories of a column."""
    for level in levels:
        if isinstance(level, float) and isinf(level):
            raise ValueError(infinity_message(name, level))
