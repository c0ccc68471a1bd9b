"""Which columns a user means: by name, position, slice, pattern, mask or selector."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias

import narwhals as nw
import numpy as np

from posterior._text import did_you_mean, listed
from posterior._types import SupportsArray
from posterior.schema.sources import FrameSource, Source


class PolarsExpression(Protocol):
    """An expression or selector of polars."""

    @property
    def meta(self) -> Any:
        """What polars tells about the expression."""


ColumnSelection: TypeAlias = (
    str
    | int
    | np.integer[Any]
    | slice
    | re.Pattern[str]
    | Sequence[str | int | np.integer[Any]]
    | SupportsArray
    | Callable[[Any], Any]
    | nw.Expr
    | PolarsExpression
)

SELECTORS = "a function that takes the table and returns names, or a narwhals selector"


def resolve(selection: Any, names: tuple[str, ...], source: Source | None = None) -> tuple[int, ...]:
    """Return the positions of the selected columns.

    >>> resolve(["b", -1], ("a", "b", "c"))
    (1, 2)
    >>> resolve(re.compile("^[ab]"), ("a", "b", "c"))
    (0, 1)
    """
    if isinstance(selection, nw.Expr):
        return _by_selector(selection, source)
    if type(selection).__module__.startswith("polars") and hasattr(selection, "meta"):
        return _by_polars(selection, names, source)
    if callable(selection):
        return _by_callable(selection, names, source)
    found: tuple[int, ...]
    match selection:
        case str():
            found = (_by_name(selection, names),)
        case int() | np.integer() if not isinstance(selection, bool):
            found = (_by_position(int(selection), len(names)),)
        case slice():
            found = _by_slice(selection, names)
        case re.Pattern():
            found = _by_pattern(selection, names)
        case Iterable() if not isinstance(selection, bytes | dict):
            found = _by_sequence(list(selection), names, source)
        case _:
            raise TypeError(
                f"columns cannot be selected by {type(selection).__name__} {listed([selection])}; "
                "use a name, a position, a list of those, a slice, a compiled regular expression, "
                f"a boolean mask, {SELECTORS}"
            )
    return found


def resolve_each(
    selections: Sequence[Any], names: tuple[str, ...], source: Source | None = None
) -> list[tuple[int, ...]]:
    """Return the positions of each of many selections, with one pass over the names for all of them."""
    where = {name: j for j, name in enumerate(names)}
    return [
        (where[each],) if isinstance(each, str) and each in where else resolve(each, names, source)
        for each in selections
    ]


def _by_name(name: str, names: tuple[str, ...]) -> int:
    if name in names:
        return names.index(name)
    hint = did_you_mean(name, names) or f"the columns are {listed(names, 10)}"
    raise ValueError(f"there is no column {name!r}; {hint}")


def _by_position(position: int, n: int) -> int:
    if -n <= position < n:
        return position % n
    raise ValueError(f"there is no column at position {position}; the table has {n} columns, 0 to {n - 1}")


def _by_slice(selection: slice, names: tuple[str, ...]) -> tuple[int, ...]:
    start, stop = selection.start, selection.stop
    if isinstance(start, str):
        start = _by_name(start, names)
    if isinstance(stop, str):
        stop = _by_name(stop, names) + 1  # names include both ends, as in pandas
    return tuple(range(len(names))[slice(start, stop, selection.step)])


def _by_pattern(pattern: re.Pattern[str], names: tuple[str, ...]) -> tuple[int, ...]:
    found = tuple(j for j, name in enumerate(names) if pattern.search(name))
    if not found:
        raise ValueError(f"no column name matches {pattern.pattern!r}; the columns are {listed(names, 10)}")
    return found


def _by_selector(selector: nw.Expr, source: Source | None) -> tuple[int, ...]:
    if not isinstance(source, FrameSource):
        raise TypeError("a narwhals selector needs a data frame; select by name or position here")
    where = {label: j for j, label in enumerate(source.labels)}
    return tuple(where[label] for label in source.frame.select(selector).columns)


def _by_polars(selector: Any, names: tuple[str, ...], source: Source | None) -> tuple[int, ...]:
    """Select as polars does, without importing it."""
    if source is None or source.container != "polars":
        found = "no table" if source is None else f"a {source.container} table"
        raise TypeError(
            f"a polars selector needs a polars frame, found {found}; "
            f"select by name or position, or by {SELECTORS}"
        )
    return resolve(source.native.select(selector).columns, names, source)


def _by_callable(selector: Any, names: tuple[str, ...], source: Source | None) -> tuple[int, ...]:
    if source is None:
        raise TypeError("a callable selector needs the table; select by name or position here")
    found = selector(source.native)
    if callable(found) or isinstance(found, nw.Expr):
        raise TypeError("a callable selector must return names or positions, not another selector")
    return resolve(found, names, source)


def _by_sequence(items: list[Any], names: tuple[str, ...], source: Source | None) -> tuple[int, ...]:
    if items and all(isinstance(item, bool | np.bool_) for item in items):
        if len(items) != len(names):
            raise ValueError(
                f"a boolean mask of {len(items)} values cannot select among {len(names)} columns"
            )
        return tuple(j for j, chosen in enumerate(items) if chosen)
    found = resolve_each(items, names, source)
    return tuple(dict.fromkeys(position for positions in found for position in positions))
