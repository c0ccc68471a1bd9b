"""The largest absolute value of many numbers, and whether all of them are finite, in one reading."""

from typing import Any

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.jit import EXACT, LINE, NUMBERS, kernel
from posterior.kernels.compiled.sharing import COUNTER, MOST, take_next
from posterior.kernels.compiled.team import share_out

# Numbers side by side, each with those that come so many later.
WIDTH = 64
KINDS = (NUMBERS, "Array(float32, 1, 'C', True)")


@kernel(*(f"float64({each})" for each in KINDS), fastmath=EXACT)  # which keeps 0·∞ what it is
def largest_size(numbers: AnyArray) -> float:
    """Max |x|, NaN where a number is missing or infinite; 0 of nothing."""
    largest, check = np.zeros(WIDTH), np.zeros(WIDTH)
    whole = len(numbers) // WIDTH * WIDTH
    for at in range(0, whole, WIDTH):
        for r in range(WIDTH):
            x = np.float64(numbers[at + r])
            check[r] += 0.0 * x
            largest[r] = abs(x) if abs(x) > largest[r] else largest[r]
    for at in range(whole, len(numbers)):
        x = np.float64(numbers[at])
        check[0] += 0.0 * x
        largest[0] = max(largest[0], abs(x))
    return float(largest.max() + check.sum())


@kernel(*(f"void({each}, {COUNTER}, int64, int64, {LINE})" for each in KINDS))
def find_sizes(numbers: AnyArray, counter: Ints, most: int, part: int, found: Floats) -> None:
    """What `largest_size` gives of the next parts of the numbers."""
    for _ in range(most):
        place = take_next(counter)
        if place >= len(found):
            break
        found[place] = largest_size(numbers[place * part : (place + 1) * part])


class SizesOfParts:
    """The largest absolute value of every so many numbers, which several threads look for."""

    def __init__(self, numbers: AnyArray, part: int) -> None:
        n = max(1, -(-len(numbers) // part))
        self._arguments: tuple[Any, ...] = numbers, np.zeros(1, np.int64), MOST, part, np.zeros(n)

    def run(self, workers: int) -> None:
        """Look at all parts by so many threads."""
        _, counter, _, _, found = self._arguments
        share_out(find_sizes, counter, len(found), lambda: self._arguments, workers)

    def largest(self) -> float:
        """That of all numbers, NaN where one is missing or infinite."""
        return float(self._arguments[-1].max())
