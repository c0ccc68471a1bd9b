"""Log densities of rows with few gaps under Gaussians: what the missing cells explain is projected out.

With the whitener B, Λ = BB', the squared distance of what is there is the least ‖(δ + e) B‖² over all e in
the missing cells: what is left of δB after a regression on the rows of B that belong to them. Modified
Gram-Schmidt steps (Björck 1967) keep the digits that products with the precision would lose.
"""

import numpy as np

from posterior._types import Floats, Ints
from posterior.kernels.compiled.jit import ANY_ORDER, ANY_ROWS, IN_ORDER, LINE, STACK, TABLE, kernel
from posterior.kernels.gaps import Gaussians
from posterior.math import LOG_2PI

# Rows that lack equally many cells go side by side: inner loops run over rows.
TOGETHER = 32
# A product of squared lengths beyond these gives way to its logarithm.
HUGE, TINY = 1e100, 1e-100


@kernel(f"void({TABLE}, {TABLE}, {TABLE})", fastmath=ANY_ORDER)
def whiten(columns: Floats, white: Floats, out: Floats) -> None:
    """δB of rows, which stand in columns, four columns of the upper triangular B at a time."""
    for j in range(0, white.shape[0], 4):
        l0, l1, l2, l3 = out[j], out[j + 1], out[j + 2], out[j + 3]
        out[j : j + 4] = 0.0
        for i in range(0, j + 4, 2):
            a0, a1, b0, b1 = white[i, j], white[i + 1, j], white[i, j + 1], white[i + 1, j + 1]
            c0, c1, e0, e1 = white[i, j + 2], white[i + 1, j + 2], white[i, j + 3], white[i + 1, j + 3]
            for r in range(TOGETHER):
                x0, x1 = columns[i, r], columns[i + 1, r]
                l0[r] += a0 * x0 + a1 * x1
                l1[r] += b0 * x0 + b1 * x1
                l2[r] += c0 * x0 + c1 * x1
                l3[r] += e0 * x0 + e1 * x1


@kernel(f"void({TABLE}, {TABLE}, {LINE})", fastmath=ANY_ORDER)
def project_out(z: Floats, axis: Floats, share: Floats) -> None:
    """Take from vectors side by side, (d, TOGETHER), what lies along unit vectors."""
    for r in range(TOGETHER):
        share[r] = 0.0
    for j in range(len(z)):
        for r in range(TOGETHER):
            share[r] += z[j, r] * axis[j, r]
    for j in range(len(z)):
        for r in range(TOGETHER):
            z[j, r] -= share[r] * axis[j, r]


@kernel(f"void({TABLE}, {LINE})", fastmath=ANY_ORDER)
def squared_lengths(z: Floats, out: Floats) -> None:
    """‖z‖² of vectors side by side."""
    for r in range(TOGETHER):
        out[r] = 0.0
    for j in range(len(z)):
        for r in range(TOGETHER):
            out[r] += z[j, r] * z[j, r]


@kernel(f"void({STACK}, int64, {LINE}, {LINE}, {LINE})", fastmath=ANY_ORDER)
def orthonormalize(axes: Floats, m: int, share: Floats, product: Floats, log_det: Floats) -> None:
    """Make m vectors an orthonormal base, many such bases side by side; ln|GG'| of what they were."""
    for r in range(TOGETHER):
        product[r], log_det[r] = 1.0, 0.0
    for a in range(m):
        for b in range(a):
            project_out(axes[a], axes[b], share)
        squared_lengths(axes[a], share)
        largest, smallest = 1.0, 1.0
        for r in range(TOGETHER):
            product[r] *= share[r]
            share[r] = 1.0 / np.sqrt(share[r])
            largest, smallest = max(largest, product[r]), min(smallest, product[r])
        for j in range(axes.shape[1]):
            for r in range(TOGETHER):
                axes[a, j, r] *= share[r]
        if largest > HUGE or smallest < TINY:
            for r in range(TOGETHER):
                log_det[r] += np.log(product[r])
                product[r] = 1.0
    for r in range(TOGETHER):
        log_det[r] += np.log(product[r])


MODEL = f"{TABLE}, {TABLE}, {TABLE}, {STACK}, {LINE}"


# In order, for pivot and remainder must be subtracted one after the other.
@kernel(f"void({ANY_ROWS}, int64[::1], int64, {MODEL}, {TABLE})", fastmath=IN_ORDER)
def score(
    values: Floats,
    rows: Ints,
    m: int,
    pivot: Floats,
    remainder: Floats,
    sd: Floats,
    white: Floats,
    log_det: Floats,
    out: Floats,
) -> None:
    """Write the log densities of some rows, each of which lacks m cells."""
    n_classes, d = pivot.shape
    wide, own = white.shape[1], len(sd) > 1
    unit, log_variance = 1.0 / sd, 2.0 * np.log(sd)
    x, columns, z = np.empty((d, TOGETHER)), np.zeros((wide, TOGETHER)), np.empty((wide, TOGETHER))
    gone, axes = np.empty((TOGETHER, d + 1), np.int64), np.empty((m, wide, TOGETHER))
    level, product, share = np.empty(TOGETHER), np.empty(TOGETHER), np.empty(TOGETHER)
    for start in range(0, len(rows), TOGETHER):
        many = min(TOGETHER, len(rows) - start)
        for r in range(TOGETHER):
            i, lacks = rows[start + min(r, many - 1)], 0  # the last row stands for those to spare
            for j in range(d):
                v = values[i, j]
                x[j, r] = v
                gone[r, lacks] = j
                lacks += v != v
        for k in range(n_classes):
            g = k if own else 0
            if own or k == 0:
                for a in range(m):
                    for r in range(TOGETHER):
                        at = gone[r, a]
                        for j in range(wide):
                            axes[a, j, r] = white[g, at, j]
                orthonormalize(axes, m, share, product, level)
                for r in range(TOGETHER):
                    level[r] += log_det[g] + (d - m) * LOG_2PI
                    for a in range(m):
                        level[r] -= log_variance[g, gone[r, a]]
            for j in range(d):
                p, q, c = pivot[k, j], remainder[k, j], unit[g, j]
                for r in range(TOGETHER):
                    v = (x[j, r] - p - q) * c
                    columns[j, r] = v if v == v else 0.0
            whiten(columns, white[g], z)
            for a in range(m):
                project_out(z, axes[a], share)
            squared_lengths(z, share)
            for r in range(many):
                out[rows[start + r], k] = -0.5 * (share[r] + level[r])


def gappy_log_density(values: Floats, rows: Ints, m: int, given: Gaussians, out: Floats) -> None:
    """Write the log densities (n, K) of rows that lack m cells each."""
    d = given.sd.shape[1]
    wide = -(-d // 4) * 4  # with columns to spare, for sums of four at a time
    white = np.zeros((len(given.white), wide, wide))
    white[:, :d, :d] = given.white
    score(values, rows, m, given.pivot, given.remainder, given.sd, white, given.log_det, out)
