"""The weight of each class."""

import numpy as np

from posterior._types import Floats, Ints
from posterior.kernels.compiled.jit import CODES, NUMBERS, kernel

LANES = 4


@kernel(f"void({CODES}, {NUMBERS}, float64[::1])")
def add_weights(y: Ints, weight: Floats, out: Floats) -> None:
    """Add the weights of the rows by class, or their number where no weights are given."""
    n = len(y)
    if len(weight) > 0:
        for i in range(n):
            out[y[i]] += weight[i]
        return
    counts = np.zeros((LANES, len(out)), np.int64)  # rows of one class that follow each other do not wait
    whole = n // LANES * LANES
    for i in range(0, whole, LANES):
        counts[0, y[i]] += 1
        counts[1, y[i + 1]] += 1
        counts[2, y[i + 2]] += 1
        counts[3, y[i + 3]] += 1
    for i in range(whole, n):
        counts[0, y[i]] += 1
    for k in range(len(out)):
        for lane in range(LANES):
            out[k] += counts[lane, k]
