"""Statistics of many parts of a table side by side, which threads work out and one call adds up."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

from posterior import kernels


class Stack(Protocol):
    """Statistics with an axis for parts in front: those of parts at the same place add up."""

    def at(self, places: Any) -> Self:
        """Those of some parts, or of one."""

    def __add__(self, other: Self, /) -> Self: ...


S = TypeVar("S", bound=Stack)


@dataclass(frozen=True)
class Parts(Generic[S]):
    """Statistics that are `made` of the sums of every part."""

    sums: kernels.SumsOfParts[Any]
    made: Callable[[Any], S]

    def run(self) -> None:
        """Work out parts until none is left, as every thread does."""
        self.sums.run()

    def whole(self) -> S | None:
        """The statistics of all parts; None where cells are missing."""
        found = self.sums.whole()
        return None if found is None else self.made(found)


class Node(NamedTuple, Generic[S]):
    """The sum of the 2^level parts from place · 2^level on."""

    level: int
    place: int
    total: S


def nodes(stack: S, n: int) -> list[Node[S]]:
    """The complete nodes of the tree over n parts; all pairs of a level are added up at once.

    A stack with `add_pairs` is asked to add up all levels in place.

    >>> import numpy as np
    >>> class Numbers(np.ndarray):
    ...     def at(self, places):
    ...         return self[places]
    >>> [(level, place, int(total)) for level, place, total in nodes(np.arange(7).view(Numbers), 7)]
    [(0, 6, 6), (1, 2, 9), (2, 0, 6)]
    """
    found, level = [], 0
    in_place = stack.add_pairs() if hasattr(stack, "add_pairs") else False
    while n > 1:
        if n % 2:
            found.append(Node(level, n - 1, stack.at(n - 1)))
        if not in_place:
            stack = stack.at(slice(0, n - 1, 2)) + stack.at(slice(1, n, 2))
        n, level = n // 2, level + 1
    return [*found, Node(level, 0, stack.at(0))]
