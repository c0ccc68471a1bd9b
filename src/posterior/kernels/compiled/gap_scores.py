"""Log densities of rows with gaps under Gaussians: a factor for each row, some rows side by side.

The covariance of what is there is factored on the correlation scale: no digit is lost to columns that are
nearly collinear, which a precision would cost.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from posterior._types import Floats, Ints
from posterior.kernels.compiled import few_gaps
from posterior.kernels.compiled.jit import ANY_ORDER, ANY_ROWS, IN_ORDER, LINE, TABLE, kernel
from posterior.kernels.gaps import Gaussians
from posterior.math import LOG_2PI

# Rows that are factored side by side: their factors fit into the first cache for some twenty columns.
TOGETHER = 16
# With more columns for each missing cell the cells are projected out, which is cheaper, instead of a factor
# of what is there; a factor that all classes share is cheaper still.
COLUMNS_FOR_A_GAP = 6
# A product of pivots below this gives way to its logarithm.
TINY = 1e-100


def _eliminate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """x[b] ← (x[b] − Σ_{c<b} x[c] · l[c]) · inverse[b] for the rows x of a block that begin at `starts`.

    l is the row of the factor that begins at `line`. Written as vectors of a fixed
    length, one lane for each table row, that stay in registers: loops over lanes would be stored and read
    again at every c, and checked for overlaps.
    """
    lanes = ir.VectorType(ir.DoubleType(), TOGETHER)

    def pointer(array: Any, row: Any) -> Any:
        return builder.gep(builder.bitcast(array.data, lanes.as_pointer()), [row])

    def load(array: Any, row: Any) -> Any:
        loaded = builder.load(pointer(array, row))
        loaded.align = 8
        return loaded

    table, inverse = (
        context.make_array(kind)(context, builder, array)
        for kind, array in zip(signature.args[:2], arguments[:2], strict=True)
    )
    line, b, *starts = arguments[2:]
    ends = [builder.add(start, b) for start in starts]
    totals = [cgutils.alloca_once_value(builder, load(table, end)) for end in ends]
    with cgutils.for_range(builder, b, intp=ir.IntType(64)) as loop:
        factor = load(table, builder.add(line, loop.index))
        for start, total in zip(starts, totals, strict=True):
            x = load(table, builder.add(start, loop.index))
            product = builder.fmul(x, factor, flags=("contract",))
            builder.store(builder.fsub(builder.load(total), product, flags=("contract",)), total)
    scale = load(inverse, b)
    for end, total in zip(ends, totals, strict=True):
        builder.store(builder.fmul(builder.load(total), scale), pointer(table, end)).align = 8
    return context.get_dummy_value()


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def one_row(typing_context: Any, block: Any, inverse: Any, line: Any, b: Any, x: Any) -> Any:
    """Entry b of one row of a factor, or of a right-hand side."""
    return types.void(block, inverse, line, b, x), _eliminate


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def four_rows(
    typing_context: Any, block: Any, inverse: Any, line: Any, b: Any, x: Any, y: Any, u: Any, v: Any
) -> Any:
    """Entry b of four rows of a factor, or of four right-hand sides."""
    return types.void(block, inverse, line, b, x, y, u, v), _eliminate


@kernel(f"void({TABLE}, int64, {TABLE}, {LINE}, {LINE})", fastmath=ANY_ORDER)
def factor(block: Floats, d: int, inverse: Floats, product: Floats, log_det: Floats) -> None:
    """Cholesky factors of correlations side by side, lower halves row by row, with 1 / their diagonals."""
    for r in range(TOGETHER):
        product[r], log_det[r] = 1.0, 0.0
    inverse[:] = 1.0
    for start in range(0, d, 4):
        stop = min(start + 4, d)
        if stop - start == 4:
            row = start * (start + 1) // 2
            second = row + start + 1
            third = second + start + 2
            for b in range(start):
                four_rows(block, inverse, b * (b + 1) // 2, b, row, second, third, third + start + 3)
        for a in range(start, stop):
            row = a * (a + 1) // 2
            for b in range(start if stop - start == 4 else 0, a):
                one_row(block, inverse, b * (b + 1) // 2, b, row)
            one_row(block, inverse, row, a, row)
            smallest = 1.0
            for r in range(TOGETHER):
                pivot = block[row + a, r]
                product[r] *= pivot
                inverse[a, r] = 1.0 / np.sqrt(pivot)
                smallest = min(smallest, product[r])
            if smallest < TINY:
                for r in range(TOGETHER):
                    log_det[r] += np.log(product[r])
                    product[r] = 1.0
    for r in range(TOGETHER):
        log_det[r] += np.log(product[r])


@kernel(f"void({TABLE}, int64, {TABLE}, int64, {TABLE})", fastmath=ANY_ORDER)
def solve(block: Floats, d: int, inverse: Floats, sides: int, quadratic: Floats) -> None:
    """‖L⁻¹z‖² of one or four right-hand sides z, side by side; they stand below the factor, overwritten."""
    z = d * (d + 1) // 2
    for a in range(d):
        if sides == 1:
            one_row(block, inverse, a * (a + 1) // 2, a, z)
        else:
            four_rows(block, inverse, a * (a + 1) // 2, a, z, z + d, z + 2 * d, z + 3 * d)
    for s in range(sides):
        for r in range(TOGETHER):
            quadratic[s, r] = 0.0
        for a in range(z + s * d, z + s * d + d):
            for r in range(TOGETHER):
                quadratic[s, r] += block[a, r] * block[a, r]


# In order, for pivot and remainder must be subtracted one after the other.
@kernel(f"void({ANY_ROWS}, int64[::1], {TABLE}, {TABLE}, {TABLE}, {TABLE}, {TABLE})", fastmath=IN_ORDER)
def score(
    values: Floats,
    rows: Ints,
    pivot: Floats,
    remainder: Floats,
    sd: Floats,
    correlation: Floats,
    out: Floats,
) -> None:
    """Write the log densities of some rows. A missing cell is one with variance 1, no correlation, at 0."""
    n_classes, d = pivot.shape
    sides = 1 if sd.shape[0] > 1 else 4  # classes that are solved for together
    unit, log_variance = 1.0 / sd, 2.0 * np.log(sd)
    x, there, inverse = np.empty((d, TOGETHER)), np.empty((d, TOGETHER)), np.empty((d, TOGETHER))
    z = d * (d + 1) // 2
    block, both = np.empty((z + sides * d, TOGETHER)), np.ones((z, TOGETHER))
    level, product, quadratic = np.empty(TOGETHER), np.empty(TOGETHER), np.empty((sides, TOGETHER))
    for start in range(0, len(rows), TOGETHER):
        many = min(TOGETHER, len(rows) - start)
        for r in range(TOGETHER):
            i = rows[start + min(r, many - 1)]  # the last row stands for those to spare
            for j in range(d):
                x[j, r] = values[i, j]
        for a in range(d):
            for r in range(TOGETHER):
                there[a, r] = 1.0 if x[a, r] == x[a, r] else 0.0
            for b in range(a):
                for r in range(TOGETHER):
                    both[a * (a + 1) // 2 + b, r] = there[a, r] * there[b, r]
        for k in range(0, n_classes, sides):
            g = k if sides == 1 else 0
            if sides == 1 or k == 0:
                for q in range(z):
                    c = correlation[g, q]
                    for r in range(TOGETHER):
                        block[q, r] = c * both[q, r]
                for a in range(d):
                    q = a * (a + 3) // 2
                    for r in range(TOGETHER):
                        block[q, r] = 1.0 + (correlation[g, q] - 1.0) * there[a, r]
                factor(block, d, inverse, product, level)
                for j in range(d):
                    c = log_variance[g, j] + LOG_2PI
                    for r in range(TOGETHER):
                        level[r] += c * there[j, r]
            for s in range(sides):
                k_s = min(k + s, n_classes - 1)
                for j in range(d):
                    p, q, c = pivot[k_s, j], remainder[k_s, j], unit[g, j]
                    for r in range(TOGETHER):
                        v = (x[j, r] - p - q) * c
                        block[z + s * d + j, r] = v if v == v else 0.0
            solve(block, d, inverse, sides, quadratic)
            for s in range(min(sides, n_classes - k)):
                for r in range(many):
                    out[rows[start + r], k + s] = -0.5 * (quadratic[s, r] + level[r])


def gappy_log_density(values: Floats, rows: Ints, given: Gaussians, out: Floats) -> None:
    """Write the log densities (n, K) of rows with gaps: of the cells that are there, 0 if there is none."""
    given = given.writable()
    d = given.sd.shape[1]
    if len(given.sd) > 1 and d >= COLUMNS_FOR_A_GAP:
        lacking = np.isnan(values[rows]).sum(axis=1)
        for m in range(1, d // COLUMNS_FOR_A_GAP + 1):
            few_gaps.gappy_log_density(values, rows[lacking == m], m, given, out)
        rows = rows[(lacking == 0) | (lacking > d // COLUMNS_FOR_A_GAP)]
    below = np.tril_indices(d)
    halves = np.ascontiguousarray(given.correlation[:, below[0], below[1]])
    score(values, rows, given.pivot, given.remainder, given.sd, halves, out)
