"""Statistics of many parts of a table side by side, which threads work out and one call adds up."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

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

    def run(self, workers: int) -> None:
        """Work out all parts by so many threads."""
        self.sums.run(workers)

    def whole(self) -> S | None:
        """The statistics of all parts; None where cells are missing."""
        found = self.sums.whole()
        return None if found is None else self.made(found)


def sum_of_parts(stack: S, n: int) -> S:
    """The sum of n parts, as `added` has it; all pairs of a level of the tree are added up at once.

    A stack with `added_up` is asked for it first.

    >>> import numpy as np
    >>> class Numbers(np.ndarray):
    ...     def at(self, places):
    ...         return self[places]
    >>> int(sum_of_parts(np.arange(7).view(Numbers), 7))
    21
    """
    whole: S | None = stack.added_up() if hasattr(stack, "added_up") else None
    if whole is not None:
        return whole
    rest: S | None = None  # the last parts, where those of a level are odd in number
    while n > 1:
        if n % 2:
            last = stack.at(n - 1)
            rest = last if rest is None else last + rest
        stack = stack.at(slice(0, n - 1, 2)) + stack.at(slice(1, n, 2))
        n //= 2
    first = stack.at(0)
    return first if rest is None else first + rest
