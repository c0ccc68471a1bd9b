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
from posterior.kernels.reference import rows_by_class
from posterior.math import LOG_2PI

# Cells of the stacks of small matrices that are in memory at once.
STACK_CELLS = 1 << 20
# Rows of a pattern of gaps from which on a product for the pattern is cheaper than one for each row.
ROWS_WORTH_A_PRODUCT = 8
# Up to this size matrices are inverted a whole batch at a time instead of one after the other.
SMALL = 12
BATCH = 512
BITS_OF_A_KEY = 62
# Cells of the matrices of rows that are factored together.
BATCH_CELLS = 1 << 18


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


class Gaussians(NamedTuple):
    """Means as pivot and remainder, (K, d), and covariances: of each class, or one for all (first axis 1).

    A covariance is given by standard deviations `sd` (·, d) and, on their scale, by correlations (·, d, d),
    by the whitener B, upper triangular, and by the precision Λ = BB'; and by its log determinant (·,).
    """

    pivot: Floats
    remainder: Floats
    sd: Floats
    correlation: Floats
    white: Floats
    precision: Floats
    log_det: Floats

    def writable(self) -> "Gaussians":
        """The same in arrays that compiled code takes: those of a model read from a file may be read-only."""
        return Gaussians(*(np.require(array, requirements=["C", "W"]) for array in self))


class ExpectedSums(NamedTuple):
    """What is to be expected of rows with gaps, by class, in standard deviations of the class.

    Weight (K,) of the rows that have a cell, mean deviation (K, d), scatter about it (K, d, d), the log
    likelihood (K,) of what is there, and on request the mixed moments of order 3 and 4 (K, d, d).
    """

    weight: Floats
    shift: Floats
    scatter: Floats
    log_likelihood: Floats
    third: Floats | None = None
    fourth: Floats | None = None


def expected_sums(
    values: Floats, y: Ints, weight: Floats | None, given: Gaussians, *, fourth: bool
) -> ExpectedSums:
    """Fill in the gaps of each row as its class expects it, and add up; rows without a cell say nothing."""
    n_classes, d = given.pivot.shape
    total, shift, level = np.zeros(n_classes), np.zeros((n_classes, d)), np.zeros(n_classes)
    scatter, cubes, quarts = (np.zeros((n_classes, d, d)) for _ in range(3))
    some = np.asarray(~np.isnan(values).all(axis=1))
    for k, own in enumerate(rows_by_class(y, n_classes)):
        rows = own[some[own]]
        if len(rows) == 0:
            continue
        g = k if len(given.sd) > 1 else 0
        w = np.ones(len(rows)) if weight is None else weight[rows]
        z = (values.take(rows, axis=0) - given.pivot[k] - given.remainder[k]) / given.sd[g]
        missing = np.isnan(z)
        groups = gap_groups(missing)
        expected = expected_rows(z, given.precision[g], groups, w)
        total[k] = w.sum()
        shift[k] = w @ expected.deviation / total[k]
        centred = expected.deviation - shift[k]
        root = centred * np.sqrt(w)[:, None]
        scatter[k] = root.T @ root + expected.spread
        log_det = given.log_det[g] - missing @ (2 * np.log(given.sd[g])) + expected.log_det
        level[k] = -0.5 * (w @ (expected.quadratic + log_det + (~missing).sum(axis=1) * LOG_2PI))
        if fourth:
            cubes[k], quarts[k] = expected_mixed_moments(centred, given.precision[g], groups, w)
    return ExpectedSums(total, shift, scatter, level, *((cubes, quarts) if fourth else (None, None)))


def pairs_there(values: Floats, y: Ints, weight: Floats | None, n_classes: int) -> Floats:
    """How much weight of rows of each class shows both of two columns, (K, d, d)."""
    d = values.shape[1]
    pairs = np.zeros((n_classes, d, d))
    for k, rows in enumerate(rows_by_class(y, n_classes)):
        there = (~np.isnan(values.take(rows, axis=0))).astype(np.float64)
        w = 1.0 if weight is None else weight[rows, None]
        pairs[k] = (there * w).T @ there
    return pairs


def gappy_log_density(values: Floats, rows: Ints, given: Gaussians, out: Floats) -> None:
    """Write the log densities (n, K) of rows with gaps: of the cells that are there, 0 if there is none.

    The correlation of what is there, padded with the identity, is factored for each row: no digit is lost
    to columns that are nearly collinear.
    """
    n_classes, d = given.pivot.shape
    size = max(1, BATCH_CELLS // d**2)
    for some in (rows[start : start + size] for start in range(0, len(rows), size)):
        x = values[some]
        there = ~np.isnan(x)
        both = there[:, :, None] & there[:, None, :]
        for g, (sd, correlation) in enumerate(zip(given.sd, given.correlation, strict=True)):
            classes = range(n_classes) if len(given.sd) == 1 else [g]
            factor = np.linalg.cholesky(np.where(both, correlation, np.eye(d)))
            z = [np.where(there, (x - given.pivot[k] - given.remainder[k]) / sd, 0.0) for k in classes]
            white = np.linalg.solve(factor, np.stack(z, axis=-1))
            log_det = 2 * np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1) + 2 * (there @ np.log(sd))
            level = log_det + there.sum(axis=1) * LOG_2PI
            out[some[:, None], classes] = -0.5 * (np.einsum("nij,nij->nj", white, white) + level[:, None])


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
