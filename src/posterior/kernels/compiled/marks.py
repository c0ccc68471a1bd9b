"""Numbers that tell columns apart, for cells of any type that families count."""

import numpy as np

from posterior._types import AnyArray, Floats
from posterior.kernels.compiled.jit import kernel

MARKS = "void({0}[:, ::1], float64[::1], float64[::1], float64[::1])"


@kernel(MARKS.format("int32"), MARKS.format("float64"), fastmath=frozenset({"reassoc"}))
def add_marks(cells: AnyArray, weight: Floats, mix: Floats, mark: Floats) -> None:
    """Add w·u·(x + 2) to the mark of each column, u being a mixture of the row; a gap is −1.

    Nothing is contracted: columns with the same cells must get the same bits wherever they stand.
    """
    n, d = cells.shape
    weighted = len(weight) > 0
    for i in range(n):
        line = cells[i]
        row = 0.0
        for j in range(d):
            x = line[j]
            row += (x if x == x else -1.0) * mix[j]
        u = abs(row) + 0.5
        u = u - np.floor(u)
        if weighted:
            u *= weight[i]
        for j in range(d):
            x = line[j]
            mark[j] += u * ((x if x == x else -1.0) + 2.0)
