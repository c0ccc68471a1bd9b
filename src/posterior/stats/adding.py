"""Sums added up in a fixed pairwise tree, whoever worked them out and whenever."""

from collections.abc import Iterable
from threading import Lock
from typing import Any, Generic, TypeVar

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
    total = PairwiseSum()
    for part in parts:
        total.add(part)
    found: S = total.whole()
    return found


class PairwiseSum:
    """A sum on its way: the nodes of the tree that are complete so far, with their levels.

    >>> total = PairwiseSum()
    >>> for part in (1, 2, None, 3):
    ...     total.add(part)
    >>> total.stack, total.whole()
    ([(2, 6)], 6)
    """

    def __init__(self, stack: Iterable[tuple[int, Any]] = ()) -> None:
        self.stack = list(stack)

    def add(self, part: Any) -> None:
        """Add the next part; None is no part, and has a place."""
        total, level = part, 0
        while self.stack and self.stack[-1][0] == level:
            total = _plus(self.stack.pop()[1], total)
            level += 1
        self.stack.append((level, total))

    def whole(self) -> Any:
        """The sum of all parts."""
        result = None
        for _, total in reversed(self.stack):
            result = _plus(total, result)
        if result is None:
            raise NoRowsError("the table has no rows that count; a filter upstream may have removed them all")
        return result


class TreeSum(Generic[S]):
    """The same tree, whose parts come from several threads in any order; each adds up what is complete.

    >>> total = TreeSum()
    >>> for place in (2, 0, 1):
    ...     total.put(place, [place])
    >>> total.whole()
    [0, 1, 2]
    """

    def __init__(self) -> None:
        self._nodes: dict[tuple[int, int], S | None] = {}
        self._lock = Lock()

    def put(self, place: int, part: S | None, level: int = 0) -> None:
        """Add the part of a place, and all sums that are complete with it.

        A part of a higher `level` is the sum of all 2^level parts from place · 2^level on.
        """
        node = part
        while True:
            with self._lock:
                if (level, place ^ 1) not in self._nodes:
                    self._nodes[level, place] = node
                    return
                other = self._nodes.pop((level, place ^ 1))
            node = _plus(other, node) if place % 2 else _plus(node, other)
            level, place = level + 1, place // 2

    def whole(self) -> S:
        """The sum of all parts, whose places are the numbers from 0 on."""
        complete = sorted(self._nodes, reverse=True)  # the largest first, which has the first places
        found: S = PairwiseSum((level, self._nodes[level, place]) for level, place in complete).whole()
        return found


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
