"""Products of every two columns, added up over rows in registers; of the upper triangle only."""

from posterior._types import Floats
from posterior.kernels.compiled.jit import TABLE, kernel
from posterior.kernels.compiled.vectors import WIDTH, add_products

# Columns and lines of products that are worked out at a time.
ACROSS, DOWN = 8, 4
# Columns up to which the products are ours: those of wide tables are BLAS's.
OURS = 128


@kernel(f"void({TABLE}, int64, int64, {TABLE})", inner=True)
def add_square(rows: Floats, n: int, d: int, out: Floats) -> None:
    """Add Σ x x' over the first n rows to `out`, from its diagonal on.

    Rows have d numbers, in lines of a multiple of `ACROSS` like those of `out`, which has a multiple of
    `DOWN` lines.
    """
    line = WIDTH * rows.shape[1]
    for i in range(0, d, DOWN):
        for j in range(i // ACROSS * ACROSS, d, ACROSS):
            add_products(rows.ctypes.data, line, n, i, j, out.ctypes.data, line)
