"""Coordinates of the coefficients in which solvers converge fast: columns centred, and whitened or scaled.

The optimum does not depend on them; how soon a solver reaches it does.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import linalg

from posterior import kernels
from posterior._linalg import EPSILON, FAR_APART, dependent_columns, is_positive_definite, whitener
from posterior._types import Bools, Floats
from posterior.kernels.choice import FROM_ROWS
from posterior.linear.design import Matrix
from posterior.linear.scan import RowBlock, Scan
from posterior.stats.base import ColumnFact
from posterior.stats.location import Location
from posterior.stats.moments import Moments
from posterior.stats.parts import Parts, sum_of_parts
from posterior.stats.scatter import Scatter

# Rows that are worked on together, so that they stay in the processor's cache.
TILE = 8192
# Scores that the rounding of redundant columns would blur more than this leave those columns out.
BLURRED = 1e-9
# A column that differs from a combination of others by more than this share of its terms is independent.
APART = 1e-10
# Columns up to which the most accurate projection costs next to nothing.
FEW = 200


@dataclass(frozen=True, eq=False)
class Basis:
    """A score (x − centre)·P v + level, in coordinates v instead of coefficients.

    `directions` is P: (d, r), or (d,) where every column is only scaled. Where columns depend on others, r <
    d and P has nothing on the redundant ones, which `facts` names. `shown` (d, r) turns v into the
    coefficients that are shown and penalised: the shortest of those that give the same scores. It is None
    where these are the same, or would blur the scores by the rounding of columns that cancel each other.
    `fold` (d, d) brings coefficients of redundant columns to those that are kept.
    """

    centre: Floats
    directions: Floats
    intercept: bool = True
    facts: tuple[ColumnFact, ...] = ()
    spread: Floats | None = None
    shown: Floats | None = None
    fold: Floats | None = None

    @classmethod
    def plain(cls, n_features: int, intercept: bool = True) -> "Basis":
        """The user's own coordinates."""
        return cls(np.zeros(n_features), np.ones(n_features), intercept)

    @classmethod
    def whitened(cls, moments: Scatter, n_rows: int, intercept: bool = True, ridge: float = 0.0) -> "Basis":
        """Coordinates in which the columns have variance 1 and no correlation.

        With a `ridge` it is added to the variances, as the penalty adds to the curvature.
        """
        weight = float(moments.weight[0])
        mean = moments.location.value[0]
        covariance = moments.scatter[0] / weight
        if not intercept:
            covariance = covariance + np.outer(mean, mean)
            mean = np.zeros_like(mean)
        spread = np.sqrt(np.diagonal(covariance))
        facts = _dependent(covariance, n_rows, moments.rounding)
        gone = [fact.column for fact in facts]
        kept = [j for j in range(len(mean)) if j not in set(gone)]
        own = covariance[np.ix_(kept, kept)]
        if n_rows > len(kept) and is_positive_definite(own):
            silent = _silent(covariance, kept, gone)
            shortest = _shortest(silent)[:, kept]
            charged = own + ridge * (shortest.T @ shortest) if ridge else own
            directions = np.zeros((len(mean), len(kept)))
            directions[kept] = whitener(charged if is_positive_definite(charged) else own)[0]
        else:
            directions, silent = _principal(covariance)
        shown = fold = None
        if silent.shape[1]:
            shown = _shortest(silent) @ directions
            if not ridge and (moments.rounding @ np.abs(shown)).max(initial=0.0) > BLURRED:
                shown = None
        if gone:
            fold = np.eye(len(mean)) - silent[:, : len(gone)] @ np.eye(len(mean))[gone]
        return cls(mean, directions, intercept, facts, spread, shown, fold)

    @classmethod
    def scaled(cls, mean: Floats, variance: Floats, intercept: bool = True, ridge: float = 0.0) -> "Basis":
        """Coordinates in which every column has variance 1; nothing is known of their correlations."""
        variance = variance if intercept else variance + mean**2
        spread = np.sqrt(variance)
        facts = tuple(ColumnFact(int(j), "constant") for j in np.flatnonzero(spread == 0))
        size = np.sqrt(variance + ridge)
        directions = np.divide(1.0, size, out=np.zeros_like(spread), where=spread > 0)
        return cls(mean if intercept else np.zeros_like(mean), directions, intercept, facts, spread)

    @cached_property
    def n_coordinates(self) -> int:
        """How many coordinates there are, the level not counted."""
        return int(self.directions.shape[-1])

    @property
    def far(self) -> bool:
        """Whether the columns are so far from zero that they must be centred before they are multiplied."""
        if self.spread is None:
            return False
        return bool((np.abs(self.centre) > FAR_APART * self.spread).any())

    def coef(self, v: Floats) -> Floats:
        """Coefficients (R, d) of coordinates (R, r), from which scores are computed."""
        return _along(v, self.directions)

    def shown_coef(self, v: Floats) -> Floats:
        """Coefficients (R, d) of coordinates (R, r), as they are shown and penalised."""
        return _along(v, self.directions if self.shown is None else self.shown)

    def pulled(self, slope: Floats) -> Floats:
        """The slope in the coordinates, (R, r), of a slope in the coefficients, (R, d)."""
        return _across(slope, self.directions)

    def shown_pulled(self, slope: Floats) -> Floats:
        """The same of a slope in the coefficients that are shown."""
        return _across(slope, self.directions if self.shown is None else self.shown)

    def coordinates(self, coef: Floats) -> Floats:
        """Coordinates (R, r) that give the scores of these coefficients, (R, d)."""
        if self.directions.ndim == 1:
            return np.divide(coef, self.directions, out=np.zeros_like(coef), where=self.directions > 0)
        unit = np.ones(len(self.centre)) if self.spread is None else self.spread
        folded = coef if self.fold is None else coef @ self.fold.T
        even = np.linalg.lstsq(self.directions * unit[:, None], (folded * unit).T, rcond=None)[0]
        return np.asarray(even.T, dtype=np.float64)

    def metric(self) -> Floats:
        """What turns squared coordinates into squared shown coefficients: (r, r), or (r,) where scaled."""
        shown = self.directions if self.shown is None else self.shown
        return shown**2 if shown.ndim == 1 else shown.T @ shown


def _along(v: Floats, directions: Floats) -> Floats:
    return v * directions if directions.ndim == 1 else v @ directions.T


def _across(slope: Floats, directions: Floats) -> Floats:
    return slope * directions if directions.ndim == 1 else slope @ directions


def _silent(covariance: Floats, kept: list[int], gone: list[int]) -> Floats:
    """Coefficients that change no score, (d, q): a redundant column less its regression on those kept."""
    silent = np.zeros((len(covariance), len(gone)))
    silent[gone, range(len(gone))] = 1.0
    varying = [k for k, j in enumerate(gone) if covariance[j, j] > 0]
    if varying:
        turn = whitener(covariance[np.ix_(kept, kept)])[0]
        across = covariance[np.ix_(kept, [gone[k] for k in varying])]
        silent[np.ix_(kept, varying)] = -turn @ (turn.T @ across)
    return silent


def _shortest(silent: Floats) -> Floats:
    """What makes coefficients the shortest of those with the same scores, (d, d)."""
    if len(silent) > FEW:
        basis = np.linalg.qr(silent)[0]
        return np.asarray(np.eye(len(silent)) - basis @ basis.T)
    whole = np.eye(len(silent))
    return np.asarray(whole - silent @ np.linalg.lstsq(silent, whole, rcond=None)[0])


def _dependent(covariance: Floats, n_rows: int, rounding: Floats) -> tuple[ColumnFact, ...]:
    """Columns that are constant or depend on earlier ones; with no more rows than columns all would."""
    constant = np.diagonal(covariance) == 0
    rest = np.flatnonzero(~constant)
    facts = [ColumnFact(int(j), "constant") for j in np.flatnonzero(constant)]
    if n_rows > len(rest):
        found = dependent_columns(covariance[np.ix_(rest, rest)], 1.0, rounding[rest])
        facts += [ColumnFact(int(rest[j]), "redundant", tuple(int(rest[i]) for i in on)) for j, on in found]
    return tuple(facts)


def _principal(covariance: Floats) -> tuple[Floats, Floats]:
    """The same from eigenvectors of the correlations, where no column stands out as the redundant one."""
    sd = np.sqrt(np.diagonal(covariance))
    unit = np.divide(1.0, sd, out=np.zeros_like(sd), where=sd > 0)
    values, vectors = linalg.eigh(covariance * unit[:, None] * unit)
    use: Bools = values > 200 * len(sd) * EPSILON * max(float(values[-1]), 1.0)
    turned = np.where(sd > 0, unit, 1.0)[:, None] * vectors
    return np.asarray(turned[:, use] / np.sqrt(values[use])), np.asarray(turned[:, ~use])


def is_redundant(scan: Scan, basis: Basis) -> bool:
    """Whether every row, and not only the covariance, shows the redundant columns to be combinations.

    A covariance knows half the digits of the data, and one gross row can hide the others in it.
    """
    gone = [fact.column for fact in basis.facts if fact.problem == "redundant"]
    if not gone or basis.fold is None:
        return True
    beta = basis.fold[:, gone].T  # a redundant column as a combination of those kept
    level = basis.centre[gone] - basis.centre @ beta.T

    def share(block: RowBlock) -> Floats:
        own = block.matrix[:, gone]
        own = own.toarray() if kernels.is_sparse(own) else own
        off = np.abs(own - block.matrix @ beta.T - level)
        size = np.abs(own) + abs(block.matrix) @ np.abs(beta).T + np.abs(basis.centre) @ np.abs(beta).T
        return np.asarray((off > APART * size).sum(axis=0), dtype=np.float64)

    return not scan.fold(share).any()


def moments(scan: Scan) -> Scatter:
    """Weight, mean and scatter matrix of all rows, whatever their target; infinite where squares overflow."""
    return scan.fold(_MomentSums(scan.n_features))


@dataclass(frozen=True)
class _MomentSums:
    """Sums up the moments of a block, or of many parts of one that is in memory by several threads."""

    n_features: int

    def __call__(self, block: RowBlock) -> Scatter:
        return _moments(block)

    @property
    def cells(self) -> int:
        return self.n_features**2

    def of_parts(self, block: RowBlock, size: int) -> "_MomentParts | None":
        """The moments of every `size` rows, if compiled code has them."""
        one_class, size = np.zeros(len(block.target), np.int64), max(size, FROM_ROWS)
        parts = Scatter.of_parts(block.matrix, one_class, block.weight, 1, size, pooled=True)
        return None if parts is None else _MomentParts(parts, -(-len(one_class) // size))


@dataclass(frozen=True)
class _MomentParts:
    """The moments of n parts, which several threads work out."""

    parts: Parts[Scatter]
    n: int

    def run(self, workers: int) -> None:
        """Work out all parts by so many threads."""
        self.parts.run(workers)

    def total(self) -> Scatter | None:
        """The moments of all parts; None where a number or a square is not finite."""
        stack = self.parts.whole()
        if stack is None:
            return None
        found = sum_of_parts(stack, self.n)
        variance = np.diagonal(found.scatter[0]) / max(float(found.weight[0]), 1e-300)
        return replace(found, rounding=_rounding(found.location.value[0], variance), pooled=False)


@np.errstate(over="ignore", invalid="ignore")
def _moments(block: RowBlock) -> Scatter:
    d = block.matrix.shape[1]
    w = block.weights
    weight = max(float(w.sum()), 1e-300)  # a block may have no row that counts
    sparse = kernels.is_sparse(block.matrix)
    pivot = np.zeros(d) if sparse else block.matrix[0].copy()
    total, square = _sparse_sums(block.matrix, w) if sparse else _dense_sums(block, pivot)
    if not sparse and _lost(total, square, weight):
        pivot = pivot + total / weight
        total, square = _dense_sums(block, pivot)
    remainder = total / weight
    scatter = square - np.outer(total, remainder)
    np.fill_diagonal(scatter, np.maximum(np.diagonal(scatter), 0.0))
    location = Location(pivot[None], remainder[None])
    rounding = _rounding(pivot + remainder, np.diagonal(scatter) / weight)
    return Scatter(np.array([w.sum()]), location, scatter[None], rounding)


def _rounding(mean: Floats, variance: Floats) -> Floats:
    """The rounding of values further out than which are few; the largest is not worth a search."""
    return np.asarray(EPSILON * (np.abs(mean) + FAR_APART * np.sqrt(variance)))


def _lost(total: Floats, square: Floats, weight: float) -> bool:
    """Whether the first row lies so far off that it is no pivot."""
    around = np.diagonal(square)
    return bool((total**2 / weight > (1 - FAR_APART**-2) * around)[around > 0].any())


def _dense_sums(block: RowBlock, pivot: Floats) -> tuple[Floats, Floats]:
    """Weighted sums of rows less the pivot, and of their products."""
    d = len(pivot)
    total, square = np.zeros(d), np.zeros((d, d))
    for at in range(0, len(block.matrix), TILE):
        z = np.subtract(block.matrix[at : at + TILE], pivot, order="C")
        if block.weight is None:
            total += np.ones(len(z)) @ z
        else:
            w = block.weight[at : at + TILE]
            total += w @ z
            z *= np.sqrt(w)[:, None]
        square += z.T @ z
    return total, square


def _sparse_sums(matrix: Matrix, w: Floats) -> tuple[Floats, Floats]:
    return np.asarray(w @ matrix), np.asarray((kernels.rows_times(matrix, w).T @ matrix).toarray())


def column_moments(scan: Scan) -> Moments:
    """Mean and sum of squares of every column, where a table is too wide for its scatter matrix."""
    return scan.fold(_column_moments)


@np.errstate(over="ignore", invalid="ignore")
def _column_moments(block: RowBlock) -> Moments:
    X, d, w = block.matrix, block.matrix.shape[1], block.weights
    if not kernels.is_sparse(X):
        return Moments.of(X, np.zeros(len(w), dtype=np.int64), block.weight, 1)
    weight = float(w.sum())
    mean = np.asarray(w @ X) / weight
    square = np.asarray(w @ kernels.with_data(X, X.data**2))
    scatter = np.maximum(square - weight * mean**2, 0.0)
    return Moments(np.full((1, d), weight), Location.at(mean[None]), scatter[None], np.zeros(d))
