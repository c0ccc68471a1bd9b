"""The largest absolute value of many numbers, and whether all of them are finite, in one reading."""

import numpy as np

from posterior._types import AnyArray
from posterior.kernels.compiled.jit import EXACT, NUMBERS, kernel

# Numbers side by side, each with those that come so many later.
WIDTH = 64


@kernel(
    f"float64({NUMBERS})", "float64(Array(float32, 1, 'C', True))", fastmath=EXACT
)  # which keeps 0·∞ what it is
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
