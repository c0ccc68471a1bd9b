"""How precise the columns of a table are."""

import numpy as np

from posterior._types import AnyArray, Bools, Floats
from posterior.kernels.compiled.columns import is_single, load_rows
from posterior.kernels.compiled.jit import ROWS, kernel, step

GRID = 1024.0
SINGLE, DOUBLE = float(np.finfo(np.float32).eps), float(np.finfo(np.float64).eps)


@kernel(f"void({ROWS}, boolean[::1], boolean[::1])")
def find_precision(values: Floats, double: Bools, off_grid: Bools) -> None:
    """Mark columns with a value that is no single-precision number, or no multiple of 1/1024."""
    n, d = values.shape
    left = d - double.sum()
    for i in range(n):
        if left == 0:
            return
        for j in range(d):
            x = values[i, j]
            if not double[j]:
                if np.float64(np.float32(x)) != x:
                    double[j] = True
                    left -= 1
                elif not off_grid[j]:
                    off_grid[j] = x * GRID != np.floor(x * GRID)


@step
def find_rounding(source: AnyArray, start: int, n: int, room: Floats, largest: Floats, out: Floats) -> None:
    """The largest rounding error that a value of each column may carry, as `rounding_of` has it."""
    d = len(out)
    double, off_grid = np.zeros(d, np.bool_), np.zeros(d, np.bool_)
    single = is_single(source)
    for at in range(0, n, len(room)):
        if double.all() or (single and off_grid.all()):
            break
        values = room[: min(len(room), n - at)]
        load_rows(source, start + at, values)
        find_precision(values, double, off_grid)
    for j in range(d):
        out[j] = (SINGLE if off_grid[j] and not double[j] else DOUBLE) * largest[j]
