"""What the stored cells of sparse rows are, and their sums by class where they are small counts."""

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.jit import kernel
from posterior.kernels.compiled.sums import ROWS

LANES = 64
LOOK = 64 * LANES  # after how many cells it is asked whether all were counts so far
CELLS = "float64(Array({}, 1, 'C', True))"


@kernel(CELLS.format("float64"), CELLS.format("float32"))
def largest_count(cells: AnyArray) -> float:
    """The largest of whole numbers from 0 on; −1 where one is something else, infinite or missing."""
    n = len(cells)
    top, wrong = np.zeros(LANES), np.zeros(LANES)
    for start in range(0, n, LANES):
        some = cells[start : start + LANES]
        if len(some) == LANES:
            for r in range(LANES):
                x = np.float64(some[r])
                # Of an infinite number the fraction is NaN, as of a missing one.
                wrong[r] += x - np.floor(x) + (1.0 if x < 0.0 else 0.0)
                top[r] = x if x > top[r] else top[r]
        else:
            for r in range(len(some)):
                x = np.float64(some[r])
                wrong[r] += x - np.floor(x) + (1.0 if x < 0.0 else 0.0)
                top[r] = x if x > top[r] else top[r]
        if start % LOOK == 0 and wrong.sum() != 0.0:
            return -1.0
    return -1.0 if wrong.sum() != 0.0 else top.max()


LINES, TABLES = "float64[::1], float64[::1], float64[::1]", "float64[:, ::1], float64[:, ::1], float64[::1]"
SUMS = f"float64({ROWS}, int64[::1], {LINES}, {TABLES})"


@kernel(SUMS.format("int32"), SUMS.format("int64"))
def add_count_sums(
    data: Floats,
    indices: AnyArray,
    indptr: AnyArray,
    y: Ints,
    weight: Floats,
    mixture: Floats,
    logs: Floats,
    sums: Floats,
    log_sums: Floats,
    mark: Floats,
) -> float:
    """Add counts, the logarithms that belong to them and marks of columns; returns what all marks share.

    `logs` has one for each count that there is; `mixture` (d,) is what the cells of a row are mixed by.
    """
    weighted, shared = len(weight) > 0, 0.0
    for i in range(len(y)):
        w = weight[i] if weighted else 1.0
        line, log_line = sums[y[i]], log_sums[y[i]]
        # Two sums side by side: an addition waits for the one before it.
        even, odd, start, stop = 0.0, 0.0, indptr[i], indptr[i + 1]
        for c in range(start, stop - 1, 2):
            even += data[np.uint64(c)] * mixture[np.uint64(indices[np.uint64(c)])]
            odd += data[np.uint64(c + 1)] * mixture[np.uint64(indices[np.uint64(c + 1)])]
        if (stop - start) % 2:
            even += data[np.uint64(stop - 1)] * mixture[np.uint64(indices[np.uint64(stop - 1)])]
        mixed = abs(even + odd) + 0.5
        mixed = w * (mixed - np.floor(mixed))
        shared += mixed
        for c in range(start, stop):
            x, j = data[np.uint64(c)], np.uint64(indices[np.uint64(c)])
            line[j] += w * x
            log_line[j] += w * logs[np.uint64(np.int64(x))]  # straight to uint64 is several steps
            mark[j] += mixed * x
    return shared


RENUMBER = "boolean(Array({0}, 1, 'C', True), {0}[::1], {0}[::1])"


@kernel(RENUMBER.format("int32"), RENUMBER.format("int64"))
def renumber(columns: AnyArray, place: AnyArray, out: AnyArray) -> bool:
    """Write the place of the column of each cell; whether all have one, and none is −1."""
    least = 0
    for c in range(len(columns)):
        out[c] = place[np.uint64(columns[c])]
        least = min(least, out[c])
    return least >= 0
