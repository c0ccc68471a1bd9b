"""What the stored cells of sparse rows are, and their sums by class where they are small counts."""

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.jit import kernel
from posterior.kernels.compiled.sharing import COUNTER, MOST, take_next
from posterior.kernels.compiled.sums import ROWS
from posterior.kernels.compiled.team import share_out

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


# Cells that a thread looks at at a time.
LOOKED_AT = 1 << 18
LARGEST = f"void(Array({{}}, 1, 'C', True), {COUNTER}, int64, float64[::1])"


@kernel(LARGEST.format("float64"), LARGEST.format("float32"))
def largest_of_parts(cells: AnyArray, counter: Ints, most: int, largest: Floats) -> None:
    """Write the largest count of the next parts of some cells, −1 where one has something else."""
    for _ in range(most):
        p = take_next(counter)
        if p >= len(largest):
            break
        largest[p] = largest_count(cells[p * LOOKED_AT : (p + 1) * LOOKED_AT])
        if largest[p] < 0.0:  # the others need not be looked at
            counter[0] = len(largest)


def largest_by_threads(cells: AnyArray, workers: int) -> float:
    """What `largest_count` gives, by threads."""
    largest, counter = np.zeros(max(1, -(-len(cells) // LOOKED_AT))), np.zeros(1, np.int64)
    arguments = cells, counter, MOST, largest
    share_out(largest_of_parts, counter, len(largest), lambda: arguments, min(workers, len(largest) // 2))
    return -1.0 if largest.min() < 0.0 else float(largest.max())


LINES = "float64[::1], float64[::1], float64[::1]"
PART = f"float64({ROWS}, int64[::1], {LINES}, int64, int64, float64[:, :, ::1])"
SUMS = f"void({ROWS}, int64[::1], {LINES}, {COUNTER}, int64, int64, float64[:, :, :, ::1], float64[::1])"


@kernel(PART.format("int32"), PART.format("int64"), inner=True)
def add_part(
    data: Floats,
    indices: AnyArray,
    indptr: AnyArray,
    y: Ints,
    weight: Floats,
    mixture: Floats,
    logs: Floats,
    first: int,
    last: int,
    sums: Floats,
) -> float:
    """Add up some rows, as `add_count_sums` says."""
    weighted, shared = len(weight) > 0, 0.0
    for i in range(first, last):
        w = weight[i] if weighted else 1.0
        table = sums[y[i]]
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
            line = table[j]
            line[0] += w * x
            line[1] += w * logs[np.uint64(np.int64(x))]  # straight to uint64 is several steps
            line[2] += mixed * x
    return shared


@kernel(SUMS.format("int32"), SUMS.format("int64"))
def add_count_sums(
    data: Floats,
    indices: AnyArray,
    indptr: AnyArray,
    y: Ints,
    weight: Floats,
    mixture: Floats,
    logs: Floats,
    counter: Ints,
    most: int,
    part: int,
    sums: Floats,
    shared: Floats,
) -> None:
    """Add up the next parts of the rows: counts, the logarithms that belong to them and marks of columns.

    Each part has its own sums (P, K, d, 3), those of a cell side by side, and what all of its marks share
    (P,). `logs` has one for each count that there is; `mixture` (d,) is what the cells of a row are mixed by.
    """
    for _ in range(most):
        p = take_next(counter)
        if p >= len(shared):
            break
        first, last = part * p, min(part * (p + 1), len(y))
        shared[p] = add_part(data, indices, indptr, y, weight, mixture, logs, first, last, sums[p])


# Stored cells for each sum from which on rows are summed up in several parts; and parts at most.
CELLS_A_SUM, MOST_PARTS = 12, 2


def count_sums(
    rows: tuple[Floats, AnyArray, AnyArray],
    y: Ints,
    weight: Floats,
    mixture: Floats,
    logs: Floats,
    shape: tuple[int, int],
    workers: int,
) -> tuple[Floats, float]:
    """Sums (K, d, 3) over sparse rows, as `add_count_sums` says, and what all marks share, by threads.

    How many parts there are follows from sizes alone, so that bits are the same for any number of threads.
    """
    n_classes, d = shape
    parts = min(MOST_PARTS, max(1, len(rows[0]) // (CELLS_A_SUM * n_classes * max(d, 1))))
    part = max(1, -(-len(y) // parts))
    sums, shared = np.zeros((parts, n_classes, d, 3)), np.zeros(parts)
    counter = np.zeros(1, np.int64)
    arguments = *rows, y, weight, mixture, logs, counter, MOST, part, sums, shared
    share_out(add_count_sums, counter, parts, lambda: arguments, workers)
    total = sums[0]
    for other in sums[1:]:
        total += other
    return total, float(shared.sum())


RENUMBER = "boolean(Array({0}, 1, 'C', True), {0}[::1], {0}[::1])"


@kernel(RENUMBER.format("int32"), RENUMBER.format("int64"))
def renumber(columns: AnyArray, place: AnyArray, out: AnyArray) -> bool:
    """Write the place of the column of each cell; whether all have one, and none is −1."""
    least = 0
    for c in range(len(columns)):
        out[c] = place[np.uint64(columns[c])]
        least = min(least, out[c])
    return least >= 0
