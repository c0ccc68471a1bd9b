"""Rows with gaps under a Gaussian: the density of what is there, and what is to be expected of the rest.

With the precision Λ = Σ⁻¹ only the block of the missing cells is inverted: for the deviation δ from the
mean, x̂_m − μ_m = −Λ_mm⁻¹ Λ_mo δ_o with conditional covariance Λ_mm⁻¹, and ln|Σ_oo| = ln|Σ| + ln|Λ_mm|.
Rows are taken together by how many cells they lack, so that the small inverses run as one batch.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from posterior._types import Bools, Floats, Ints

# Cells of the stacks of small matrices that are in memory at once.
STACK_CELLS = 1 << 20
# So many rows for a pattern of gaps make a product for each pattern cheaper than one for each row.
ROWS_WORTH_A_PRODUCT = 8
# Up to this size matrices are inverted a whole batch at a time instead of one after the other.
SMALL = 12
BATCH = 512
BITS_OF_A_KEY = 62


@dataclass(frozen=True)
class GapGroup:
    """Rows that lack the same number m of cells: their patterns (p, m), and the pattern of each row."""

    rows: Ints
    patterns: Ints
    pattern: Ints


def pattern_keys(missing: Bools) -> Ints:
    """A number for each row that two rows share if and only if they lack the same cells."""
    d = missing.shape[1]
    if d <= BITS_OF_A_KEY:
        return np.asarray(missing @ (1 << np.arange(d, dtype=np.int64)))
    packed = np.packbits(missing, axis=1)
    return np.asarray(np.unique(packed, axis=0, return_inverse=True)[1], dtype=np.int64).reshape(-1)


def gap_groups(missing: Bools) -> list[GapGroup]:
    """Rows with gaps by how many cells they lack, in batches of a bounded size."""
    lacking = missing.sum(axis=1)
    keys = pattern_keys(missing)
    groups = []
    for m in np.unique(lacking[lacking > 0]).tolist():
        rows = np.flatnonzero(lacking == m)
        _, first, pattern = np.unique(keys[rows], return_index=True, return_inverse=True)
        patterns = np.nonzero(missing[rows[first]])[1].reshape(-1, m)
        size = max(1, STACK_CELLS // m**2)
        for start in range(0, len(patterns), size):
            some = np.flatnonzero((pattern >= start) & (pattern < start + size))
            groups.append(GapGroup(rows[some], patterns[start : start + size], pattern[some] - start))
    return groups


def gappy_log_density(deviations: list[Floats], covariance: Floats, missing: Bools) -> Floats:
    """Log densities (n, r) of rows with gaps from their deviations from r means.

    The covariance of what is there, padded with the identity, is factored for each row, on the correlation
    scale: no digit is lost to columns that are nearly collinear.
    """
    sd = np.sqrt(np.diagonal(covariance))
    there = ~missing
    both = there[:, :, None] & there[:, None, :]
    padded = np.where(both, covariance / sd[:, None] / sd, np.eye(len(sd)))
    factor = np.linalg.cholesky(padded)
    z = np.stack([np.where(there, deviation / sd, 0.0) for deviation in deviations], axis=-1)
    white = np.linalg.solve(factor, z)
    log_det = 2 * np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1) + 2 * (there @ np.log(sd))
    level = log_det + there.sum(axis=1) * np.log(2 * np.pi)
    return np.asarray(-0.5 * (np.einsum("nij,nij->nj", white, white) + level[:, None]))


class ExpectedRows(NamedTuple):
    """Deviations with the missing cells filled in (n, d), δ_o'Σ_oo⁻¹δ_o and ln|Λ_mm| of each row (n,).

    `spread` (d, d) is the sum of the conditional covariances of the missing cells, weighted by row.
    """

    deviation: Floats
    quadratic: Floats
    log_det: Floats
    spread: Floats


def expected_rows(
    deviation: Floats, precision: Floats, groups: list[GapGroup], weight: Floats | None = None
) -> ExpectedRows:
    """What a Gaussian with mean 0 expects of rows with gaps (NaN), taken apart by `gap_groups`.

    `spread` is summed only where weights are given.
    """
    d = deviation.shape[1]
    filled = np.where(np.isnan(deviation), 0.0, deviation)
    pull = filled @ precision
    quadratic = np.einsum("ij,ij->i", filled, pull)
    log_det = np.zeros(len(filled))
    spread = np.zeros(d * d)
    for group in groups:
        at = group.patterns
        covariance, volume = inverses(precision[at[:, :, None], at[:, None, :]])
        log_det[group.rows] = volume[group.pattern]
        cells = (group.rows[:, None], at[group.pattern])
        force = pull[cells]
        answer = np.empty_like(force)
        for rows, pattern in _batches(group):
            answer[rows] = (
                (covariance[pattern] @ force[rows][..., None])[..., 0]
                if np.ndim(pattern)
                else (force[rows] @ covariance[pattern])
            )
        filled[cells] = -answer
        quadratic[group.rows] -= np.einsum("ij,ij->i", force, answer)
        if weight is not None:
            share = np.bincount(group.pattern, weight[group.rows], len(at))
            flat = (at[:, :, None] * d + at[:, None, :]).ravel()
            spread += np.bincount(flat, (covariance * share[:, None, None]).ravel(), d * d)
    spread = spread.reshape(d, d)
    return ExpectedRows(filled, quadratic, log_det, (spread + spread.T) / 2)


def inverses(stack: Floats) -> tuple[Floats, Floats]:
    """Inverses (p, m, m) and log determinants (p,) of positive definite matrices.

    Small ones by Gauss-Jordan steps that run over a whole batch; they need no pivoting.
    """
    p, m, _ = stack.shape
    if m > SMALL:
        return np.asarray(np.linalg.inv(stack)), np.asarray(np.linalg.slogdet(stack)[1])
    inverse, log_det = np.empty_like(stack), np.zeros(p)
    for start in range(0, p, BATCH):
        rows = slice(start, start + BATCH)
        a = np.ascontiguousarray(stack[rows].transpose(1, 2, 0))
        for j in range(m):
            pivot, column = a[j, j].copy(), a[:, j].copy()
            line = a[j] / pivot
            a -= column[:, None] * line
            a[j], a[:, j], a[j, j] = line, -column / pivot, 1 / pivot
            log_det[rows] += np.log(pivot)
        inverse[rows] = a.transpose(2, 0, 1)
    return inverse, log_det


def expected_mixed_moments(
    centred: Floats, precision: Floats, groups: list[GapGroup], weight: Floats
) -> tuple[Floats, Floats]:
    """Σ w E[z_j² z_l] and Σ w E[z_j² z_l²] of rows filled in, (d, d), `centred` being their expectations.

    With z = ẑ + e and e ~ N(0, C) in the missing cells (Isserlis 1918): E[z_j² z_l] = (ẑ_j² + C_jj) ẑ_l +
    2 ẑ_j C_jl and E[z_j² z_l²] = (ẑ_j² + C_jj)(ẑ_l² + C_ll) + 4 ẑ_j ẑ_l C_jl + 2 C_jl².
    """
    d = centred.shape[1]
    square = centred**2
    third, fourth = np.zeros(d * d), np.zeros(d * d)
    for group in groups:
        at = group.patterns
        covariance, _ = inverses(precision[at[:, :, None], at[:, None, :]])
        variance = np.diagonal(covariance, axis1=1, axis2=2)
        square[group.rows[:, None], at[group.pattern]] += variance[group.pattern]
        for rows, pattern in _slices(group):
            c, w = covariance[pattern], weight[group.rows[rows]][:, None, None]
            z = centred[group.rows[rows][:, None], at[pattern]]
            flat = (at[pattern][:, :, None] * d + at[pattern][:, None, :]).ravel()
            third += np.bincount(flat, (2 * w * z[:, :, None] * c).ravel(), d * d)
            mixed = 4 * z[:, :, None] * z[:, None, :] * c + 2 * c**2
            fourth += np.bincount(flat, (w * mixed).ravel(), d * d)
    third = third.reshape(d, d) + (square * weight[:, None]).T @ centred
    fourth = fourth.reshape(d, d) + (square * weight[:, None]).T @ square
    return third, fourth


def _slices(group: GapGroup) -> Iterator[tuple[Ints, Ints]]:
    """Slices of rows, with the pattern of each, that make stacks of a bounded size."""
    n, m = len(group.rows), group.patterns.shape[1]
    size = max(1, STACK_CELLS // m**2)
    for start in range(0, n, size):
        rows = np.arange(start, min(start + size, n))
        yield rows, group.pattern[rows]


def _batches(group: GapGroup) -> Iterator[tuple[Ints, Ints | int]]:
    """Rows with the pattern they share, or, where patterns are many, slices of rows with one each."""
    n, p = len(group.rows), len(group.patterns)
    if n >= ROWS_WORTH_A_PRODUCT * p:
        order = np.argsort(group.pattern, kind="stable")
        ends = np.searchsorted(group.pattern[order], np.arange(p + 1))
        for g in range(p):
            yield order[ends[g] : ends[g + 1]], g
        return
    yield from _slices(group)
