"""What Gaussians expect of rows with gaps, in one pass over the rows of a chunk.

Each row factors only the block of the precision that belongs to its missing cells. Rows of a class that lack
equally many cells take the same steps, so some of them do so side by side: inner loops run over rows.
"""

import numpy as np

from posterior._types import Floats, Ints
from posterior.kernels.compiled.jit import ANY_ORDER, ANY_ROWS, IN_ORDER, LINE, NUMBERS, TABLE, kernel
from posterior.kernels.gaps import ExpectedSums, Gaussians
from posterior.kernels.memory import weights_of
from posterior.math import LOG_2PI

# Rows that are filled in side by side, and added to the scatter together.
TOGETHER = 32
# A product of pivots beyond these gives way to its logarithm.
HUGE, TINY = 1e100, 1e-100

WHOLES = "int64[:, ::1]"
ANY_CODES = "Array(int64, 1, 'A', True)"  # in any order, and maybe read-only


@kernel(f"int64[::1]({ANY_ROWS}, {ANY_CODES}, {WHOLES})")
def sort_rows(values: Floats, y: Ints, ends: Ints) -> Ints:
    """Row numbers by class and number of missing cells; `ends` (K, d+1) becomes where each group ends."""
    n, d = values.shape
    lacking = np.empty(n, np.int64)
    for i in range(n):
        m = 0
        for j in range(d):
            v = values[i, j]
            m += v != v
        lacking[i] = m
        ends[y[i], m] += 1
    before = 0
    for k in range(ends.shape[0]):
        for m in range(d + 1):
            size = ends[k, m]
            ends[k, m] = before
            before += size
    order = np.empty(n, np.int64)
    for i in range(n):
        order[ends[y[i], lacking[i]]] = i
        ends[y[i], lacking[i]] += 1
    return order


@kernel(f"void({TABLE}, int64, int64, {TABLE}, {LINE})", fastmath=ANY_ORDER)
def invert(block: Floats, m: int, many: int, column: Floats, log_det: Floats) -> None:
    """Turn positive definite matrices, side by side, into minus their inverses; and log determinants.

    `block[a·m + b, r]` holds the lower half of matrix r. The sweep operator (Beaton 1964) keeps it symmetric.
    """
    product, inverse, share = column[m], column[m + 1], column[m + 2]
    for r in range(many):
        product[r], log_det[r] = 1.0, 0.0
    for p in range(m):
        for a in range(m):
            line = block[p * m + a if a < p else a * m + p]
            for r in range(many):
                column[a, r] = line[r]
        largest, smallest = 1.0, 1.0
        for r in range(many):
            product[r] *= column[p, r]
            inverse[r] = 1.0 / column[p, r]
            largest, smallest = max(largest, product[r]), min(smallest, product[r])
        if largest > HUGE or smallest < TINY:
            for r in range(many):
                log_det[r] += np.log(product[r])
                product[r] = 1.0
        for a in range(m):
            for r in range(many):
                share[r] = column[a, r] * inverse[r]
            for b in range(a + 1):
                line = block[a * m + b]
                for r in range(many):
                    line[r] -= share[r] * column[b, r]
        for a in range(m):
            line = block[p * m + a if a < p else a * m + p]
            for r in range(many):
                line[r] = column[a, r] * inverse[r]
        line = block[p * m + p]
        for r in range(many):
            line[r] = -inverse[r]
    for r in range(many):
        log_det[r] += np.log(product[r])


@kernel(f"void({TABLE}, int64, int64, {WHOLES}, {TABLE}, {TABLE}, {TABLE})", fastmath=ANY_ORDER)
def fill(
    tile: Floats, many: int, m: int, gone: Ints, precision: Floats, block: Floats, force: Floats
) -> None:
    """Write −Λ_mm⁻¹ Λ_mo δ_o into the missing cells of rows, `block` holding −Λ_mm⁻¹."""
    d = precision.shape[0]
    for r in range(many):
        for a in range(m):
            t = 0.0
            g = gone[r, a]
            for j in range(d):
                t += precision[g, j] * tile[r, j]
            force[a, r] = t
    answer = force[m]
    for a in range(m):
        for r in range(many):
            answer[r] = 0.0
        for b in range(m):
            line = block[a * m + b if b < a else b * m + a]
            for r in range(many):
                answer[r] += line[r] * force[b, r]
        for r in range(many):
            tile[r, gone[r, a]] = answer[r]


@kernel(f"void({TABLE}, {TABLE})", fastmath=ANY_ORDER)
def add_products(columns: Floats, scatter: Floats) -> None:
    """Add the products of rows, which stand in columns, to the lower half of the scatter, 2 × 2 at a time."""
    for a in range(0, scatter.shape[0], 2):
        for b in range(0, a + 2, 2):
            t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
            for r in range(TOGETHER):
                x, y, u, v = columns[a, r], columns[a + 1, r], columns[b, r], columns[b + 1, r]
                t0 += x * u
                t1 += x * v
                t2 += y * u
                t3 += y * v
            scatter[a, b] += t0
            scatter[a, b + 1] += t1
            scatter[a + 1, b] += t2
            scatter[a + 1, b + 1] += t3


@kernel(f"float64({TABLE}, {TABLE}, {TABLE})", fastmath=ANY_ORDER)
def squared_lengths(columns: Floats, white: Floats, lines: Floats) -> float:
    """Σ ‖row B‖² of rows, which stand in columns, four columns of the upper triangular B at a time."""
    total = 0.0
    l0, l1, l2, l3 = lines[0], lines[1], lines[2], lines[3]
    for j in range(0, white.shape[0], 4):
        lines[:4] = 0.0
        for i in range(0, j + 4, 2):
            a0, a1, b0, b1 = white[i, j], white[i + 1, j], white[i, j + 1], white[i + 1, j + 1]
            c0, c1, e0, e1 = white[i, j + 2], white[i + 1, j + 2], white[i, j + 3], white[i + 1, j + 3]
            for r in range(TOGETHER):
                x0, x1 = columns[i, r], columns[i + 1, r]
                l0[r] += a0 * x0 + a1 * x1
                l1[r] += b0 * x0 + b1 * x1
                l2[r] += c0 * x0 + c1 * x1
                l3[r] += e0 * x0 + e1 * x1
        for r in range(TOGETHER):
            total += l0[r] * l0[r] + l1[r] * l1[r] + l2[r] * l2[r] + l3[r] * l3[r]
    return total


# In order, for pivot and remainder must be subtracted one after the other.
@kernel(
    f"UniTuple(float64, 2)({ANY_ROWS}, {NUMBERS}, int64[::1], {WHOLES}, int64, "
    f"{LINE}, {LINE}, {LINE}, {TABLE}, {TABLE}, {LINE}, {TABLE}, {TABLE})",
    fastmath=IN_ORDER,
)
def sweep(
    values: Floats,
    weight: Floats,
    order: Ints,
    ends: Ints,
    k: int,
    pivot: Floats,
    remainder: Floats,
    sd: Floats,
    white: Floats,
    precision: Floats,
    first: Floats,
    scatter: Floats,
    spread: Floats,
) -> tuple[float, float]:
    """Fill in the rows of class k; add up deviations, their products and what remains unknown.

    In standard deviations from the mean; lower halves only. Returns the weight of the rows that have a cell,
    and Σ w (δ_o'Σ_oo⁻¹δ_o + ln|Λ_mm| − 2 Σ_m ln sd + o ln 2π).
    """
    d = values.shape[1]
    weighted = len(weight) > 0
    unit, log_variance, lost = 1.0 / sd, 2.0 * np.log(sd), np.zeros(d)
    tile, gone, w = np.empty((TOGETHER, d)), np.empty((TOGETHER, d + 1), np.int64), np.ones(TOGETHER)
    block, column = np.empty((d * d, TOGETHER)), np.empty((d + 4, TOGETHER))
    columns, line = np.zeros((len(white), TOGETHER)), np.empty(TOGETHER)
    total, height, filled = 0.0, 0.0, 0
    for m in range(d):  # a row without a cell says nothing
        begin = ends[k, m - 1] if m > 0 else (ends[k - 1, d] if k > 0 else 0)
        for start in range(begin, ends[k, m], TOGETHER):
            many = min(TOGETHER, ends[k, m] - start)
            for r in range(many):
                i = order[start + r]
                for j in range(d):
                    v = (values[i, j] - pivot[j] - remainder[j]) * unit[j]
                    tile[r, j] = v if v == v else 0.0
                if weighted:
                    w[r] = weight[i]
                total += w[r]
            if m > 0:
                for r in range(many):
                    i, lacks = order[start + r], 0
                    for j in range(d):  # no branch that is hard to foretell
                        gone[r, lacks] = j
                        lacks += values[i, j] != values[i, j]
                    for a in range(m):
                        lost[gone[r, a]] += w[r]
                        for b in range(a + 1):
                            block[a * m + b, r] = precision[gone[r, a], gone[r, b]]
                invert(block, m, many, column, line)
                fill(tile, many, m, gone, precision, block, column)
                log_dets = 0.0
                for r in range(many):
                    log_dets += w[r] * line[r]
                    for a in range(m):
                        for b in range(a + 1):
                            spread[gone[r, a], gone[r, b]] -= w[r] * block[a * m + b, r]
                height += log_dets
            for r in range(many):
                root = np.sqrt(w[r])
                for j in range(d):
                    first[j] += w[r] * tile[r, j]
                    columns[j, filled] = root * tile[r, j]
                filled += 1
                if filled == TOGETHER:
                    add_products(columns, scatter)
                    height += squared_lengths(columns, white, column)
                    filled = 0
    if filled > 0:
        columns[:, filled:] = 0.0
        add_products(columns, scatter)
        height += squared_lengths(columns, white, column)
    for j in range(d):
        height += (total - lost[j]) * LOG_2PI - lost[j] * log_variance[j]
    return total, height


def expected_sums(values: Floats, y: Ints, weight: Floats | None, given: Gaussians) -> ExpectedSums:
    """Fill in the gaps of each row as its class expects it, and add up; rows without a cell say nothing."""
    given = given.writable()
    n_classes, d = given.pivot.shape
    wide = -(-d // 4) * 4  # with columns to spare, for sums of four at a time
    total, level, shift = np.zeros(n_classes), np.zeros(n_classes), np.zeros((n_classes, d))
    scatter, spread = np.zeros((n_classes, wide, wide)), np.zeros((n_classes, d, d))
    white = np.zeros((len(given.white), wide, wide))
    white[:, :d, :d] = given.white
    weights = weights_of(weight)
    ends = np.zeros((n_classes, d + 1), dtype=np.int64)
    order = sort_rows(values, y, ends)
    for k in range(n_classes):
        g = k if len(given.sd) > 1 else 0
        parts = given.pivot[k], given.remainder[k], given.sd[g], white[g], given.precision[g]
        total[k], height = sweep(values, weights, order, ends, k, *parts, shift[k], scatter[k], spread[k])
        level[k] = -0.5 * (height + total[k] * given.log_det[g])
    shift /= np.where(total > 0, total, 1.0)[:, None]
    lower = scatter[:, :d, :d] + spread - total[:, None, None] * shift[:, :, None] * shift[:, None, :]
    lower = np.tril(lower)
    return ExpectedSums(total, shift, lower + np.tril(lower, -1).transpose(0, 2, 1), level)
