"""Sums added up in a fixed pairwise tree, whoever worked them out and whenever."""

from collections.abc import Iterable
from typing import Any, TypeVar

S = TypeVar("S")


class NoRowsError(ValueError):
    """There is nothing to add up."""


def added(parts: Iterable[S | None]) -> S:
    """The sum of parts in their order, as a tree that depends on their places alone; None is no part.

    A long chain of additions would round more, and trees that depended on who is done first would have other
    bits on other machines. Sums of blocks of 2, 4, 8 … parts are nodes of the tree, so that other processes
    may work them out: `added` of them has the same bits.

    >>> added([1, 2, None, 3])
    6
    """
    stack: list[tuple[int, Any]] = []
    for part in parts:
        total, level = part, 0
        while stack and stack[-1][0] == level:
            total = _plus(stack.pop()[1], total)
            level += 1
        stack.append((level, total))
    result: S | None = None
    while stack:
        result = _plus(stack.pop()[1], result)
    if result is None:
        raise NoRowsError("the table has no rows that count; a filter upstream may have removed them all")
    return result


def _plus(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return b if a is None else a
    return a + b


def added_or_none(parts: Iterable[S | None]) -> S | None:
    """The sum of parts as `added` gives it, None where there is no part."""
    try:
        return added(parts)
    except NoRowsError:
        return None
