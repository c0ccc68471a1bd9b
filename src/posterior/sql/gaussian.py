"""Gaussian blocks: squared distances of complete rows, and the exact marginal density of rows with gaps.

Rows with gaps have a closed form too. With each missing column replaced by one that is independent of the
others and at its mean, covariances keep their size whatever is missing, and the density is that of what is
there. The elimination that gives its determinant and distances is done in SQL, column after column.
"""

from dataclasses import dataclass

import numpy as np

from posterior._linalg import FAR_APART
from posterior._types import Floats
from posterior.families import MultivariateNormalDistribution
from posterior.generative import FittedBlock
from posterior.math import LOG_2PI
from posterior.notices import DataWarning, warn
from posterior.sql.blocks import Term
from posterior.sql.cells import Cells
from posterior.sql.expressions import (
    Expression,
    add,
    below,
    case,
    is_gap,
    log,
    number,
    or_else,
    ratio,
    some,
    square,
    subtract,
    times,
    total,
)
from posterior.sql.log_functions import deviation
from posterior.sql.steps import Steps
from posterior.stats import Location

# Correlations of all covariances of a block at most; PostgreSQL has room for 1,664 columns in a SELECT.
MOST_CELLS = 800
# Correlations below it are none.
FAINT = 1e-30
# The smallest pivot; models raise covariances that are nearly singular.
DELICATE = 1e-13


def gaussian_terms(
    distribution: MultivariateNormalDistribution, block: FittedBlock, cells: Cells
) -> list[Term]:
    """The term of a Gaussian block: one form for complete rows, another for those with gaps."""
    xs = [cells.value(j) for j in block.columns]
    scores = (_Tied if _is_linear(distribution) else _Own)(distribution, xs, cells.steps)
    gappy = cells.steps.let("b", some([is_gap(x) for x in xs]))
    complete, shared = scores.complete()
    if _is_too_wide(distribution, block, cells):
        cells.refuse(gappy)
        of_gaps, shared_of_gaps = [number(0.0) for _ in complete], number(0.0)
    else:
        of_gaps, shared_of_gaps = scores.with_gaps(gappy)
    complete = [cells.steps.let("f", value) for value in complete]
    found = [case((gappy, g), otherwise=c) for g, c in zip(of_gaps, complete, strict=True)]
    if shared is not None:
        shared = case((gappy, shared_of_gaps), otherwise=cells.steps.let("f", shared))
    return [Term(0, found, shared)]


def _is_too_wide(distribution: MultivariateNormalDistribution, block: FittedBlock, cells: Cells) -> bool:
    """Whether rows with gaps would take too many columns of a SELECT, which is said."""
    d = distribution.n_columns
    needed = len(distribution.covariance) * d * (d + 1) // 2
    if needed <= MOST_CELLS:
        return False
    names = ", ".join(cells.schema.columns[j].name for j in block.columns[:3])
    warn(
        f"a Gaussian block of {d} columns ({names}, …): rows with a gap among them get NULL, because their "
        f"density takes {needed:,} numbers a row, and at most {MOST_CELLS} are worked out in SQL",
        DataWarning,
    )
    return True


def _centre(distribution: MultivariateNormalDistribution) -> Location:
    K = distribution.n_classes
    return distribution.location.average(np.full(K, 1 / K))


def _is_linear(distribution: MultivariateNormalDistribution) -> bool:
    """Whether classes share a covariance and are not so far apart that a common centre costs digits."""
    if not distribution.tied:
        return False
    factor = _Factor.of(distribution.covariance[0])
    apart = (distribution.location - _centre(distribution)) / factor.sd
    return bool(np.linalg.norm(apart @ factor.inverse.T, axis=1).max() <= FAR_APART)


@dataclass(frozen=True, eq=False)
class _Factor:
    """A covariance as standard deviations (d,) and correlations, whose Cholesky factor has this inverse."""

    sd: Floats
    correlation: Floats
    inverse: Floats

    @classmethod
    def of(cls, covariance: Floats) -> "_Factor":
        sd = np.sqrt(np.diagonal(covariance))
        correlation = covariance / sd[:, None] / sd
        lower = np.linalg.cholesky(correlation)
        inverse = np.linalg.solve(lower, np.eye(len(sd)))
        return cls(sd, correlation, np.where(np.abs(np.tril(inverse)) < FAINT, 0.0, np.tril(inverse)))

    @property
    def log_constants(self) -> Floats:
        """What each column adds to the log density besides the correlations."""
        return np.asarray(-np.log(self.sd) - 0.5 * LOG_2PI)

    @property
    def is_delicate(self) -> bool:
        """Whether rounding might make a pivot vanish; with gaps pivots are no smaller than without."""
        return bool((np.diagonal(self.inverse) ** -2).min() < 100 * DELICATE)

    @property
    def log_det(self) -> float:
        """Ln |R|^−½ of the correlations."""
        return float(np.log(np.diagonal(self.inverse)).sum())


def _product(row: Floats, values: list[Expression]) -> Expression:
    return total([times(number(c), v) for c, v in zip(row.tolist(), values, strict=True) if c])


@dataclass(frozen=True, eq=False)
class _Scores:
    """Scores of the classes in a Gaussian block, from its cells."""

    distribution: MultivariateNormalDistribution
    xs: list[Expression]
    steps: Steps

    def _standard(self, location: Location, sd: Floats) -> list[Expression]:
        parts = zip(self.xs, location.pivot.tolist(), location.remainder.tolist(), sd.tolist(), strict=True)
        return [deviation(self.steps, x, pivot, rest, s) for x, pivot, rest, s in parts]

    def _marginal(
        self, factor: _Factor, gappy: Expression, vectors: list[list[Expression]]
    ) -> tuple[Expression, list[list[Expression]], list[Expression]]:
        """Gauss elimination of the correlations of a row with gaps, column after column.

        The log density at the mean; what is left of vectors when their turn comes; and the pivots, by which
        their products are divided.
        """
        d, steps = len(self.xs), self.steps
        left = {(i, j): self._correlation(factor, i, j, gappy) for i in range(d) for j in range(i + 1)}
        found: list[list[Expression]] = [[] for _ in vectors]
        pivots = []
        for j in range(d):
            pivot = left[j, j]
            if factor.is_delicate:
                pivot = steps.let(
                    "v", case((below(pivot, number(DELICATE)), number(DELICATE)), otherwise=pivot)
                )
            pivots.append(pivot)
            for vector, done in zip(vectors, found, strict=True):
                done.append(vector[j])
            rest = range(j + 1, d)
            vectors = [
                [*vector[: j + 1], *(self._less(vector[i], left[i, j], vector[j], pivot) for i in rest)]
                for vector in vectors
            ]
            for i in rest:
                for h in range(j + 1, i + 1):
                    left[i, h] = self._less(left[i, h], left[i, j], left[h, j], pivot)
        constants = [self._there(j, c) for j, c in enumerate(factor.log_constants.tolist())]
        level = self._running([*constants, *(times(number(-0.5), log(pivot)) for pivot in pivots)])
        return level, found, pivots

    def _running(self, terms: list[Expression]) -> Expression:
        """A sum that is kept as it grows, so that its terms need not be carried along."""
        found = self.steps.let("q", terms[0])
        for term in terms[1:]:
            found = self.steps.let("q", add(found, term))
        return found

    def _less(self, value: Expression, a: Expression, b: Expression, pivot: Expression) -> Expression:
        return self.steps.let("h", subtract(value, ratio(times(a, b), pivot)))

    def _correlation(self, factor: _Factor, i: int, j: int, gappy: Expression) -> Expression:
        """The correlation of two columns in a row with gaps; a missing column is independent of others."""
        if i == j:
            return self.steps.let("c", case((gappy, number(1.0))))
        correlation = float(factor.correlation[i, j])
        if abs(correlation) < FAINT:
            return self.steps.let("c", case((gappy, number(0.0))))
        gone = some([is_gap(self.xs[i]), is_gap(self.xs[j])])
        return self.steps.let("c", case((gone, number(0.0)), (gappy, number(correlation))))

    def _there(self, j: int, value: float) -> Expression:
        """A number where column j is there, else 0."""
        return case((is_gap(self.xs[j]), number(0.0)), otherwise=number(value))

    def _half_distance(self, white: list[Expression], pivots: list[Expression]) -> Expression:
        squares = [ratio(square(w), pivot) for w, pivot in zip(white, pivots, strict=True)]
        return times(number(-0.5), self._running(squares))

    def _filled(self, values: list[Expression]) -> list[Expression]:
        return [self.steps.let("z", or_else(value, number(0.0))) for value in values]


class _Own(_Scores):
    """Each class from its own mean: −½ (x−μ)'Σ⁻¹(x−μ) − ½ ln|2πΣ|."""

    def _factors(self) -> list[_Factor]:
        found = [_Factor.of(covariance) for covariance in self.distribution.covariance]
        return found * (self.distribution.n_classes // len(found))

    def complete(self) -> tuple[list[Expression], Expression | None]:
        """The log densities of complete rows."""
        by_class = []
        for k, factor in enumerate(self._factors()):
            z = self._standard(self.distribution.location[k], factor.sd)
            white = [self.steps.let("w", _product(row, z)) for row in factor.inverse]
            level = float(factor.log_constants.sum()) + factor.log_det
            distance = times(number(-0.5), total([square(w) for w in white]))
            by_class.append(total([number(level), distance]))
        return by_class, None

    def with_gaps(self, gappy: Expression) -> tuple[list[Expression], Expression]:
        """The log densities of what is there of rows with gaps."""
        by_class = []
        for k, factor in enumerate(self._factors()):
            z = self._filled(self._standard(self.distribution.location[k], factor.sd))
            level, (white,), pivots = self._marginal(factor, gappy, [z])
            by_class.append(add(level, self._half_distance(white, pivots)))
        return by_class, number(0.0)


class _Tied(_Scores):
    """One covariance: w·a − ½|a|² for the whitened row w and class mean a, both about the common centre."""

    def _parts(self) -> tuple[_Factor, list[Expression], Floats]:
        factor, centre = _Factor.of(self.distribution.covariance[0]), _centre(self.distribution)
        apart = (self.distribution.location - centre) / factor.sd
        return factor, self._standard(centre, factor.sd), np.asarray(apart)

    def complete(self) -> tuple[list[Expression], Expression | None]:
        """Linear scores of complete rows, and the quadratic function that classes share."""
        factor, z, apart = self._parts()
        white_means = apart @ factor.inverse.T
        coef = white_means @ factor.inverse
        coef[np.abs(coef) < FAINT] = 0.0
        levels = -0.5 * (white_means**2).sum(axis=1)
        by_class = [
            total([number(c), _product(row, z)]) for c, row in zip(levels.tolist(), coef, strict=True)
        ]
        white = [self.steps.let("w", _product(row, z)) for row in factor.inverse]
        level = number(float(factor.log_constants.sum()) + factor.log_det)
        return by_class, total([level, times(number(-0.5), total([square(w) for w in white]))])

    def with_gaps(self, gappy: Expression) -> tuple[list[Expression], Expression]:
        """The same of what is there of rows with gaps."""
        factor, z, apart = self._parts()
        means = [
            [self.steps.let("a", self._there(j, value)) for j, value in enumerate(row)]
            for row in np.where(np.abs(apart) < FAINT, 0.0, apart).tolist()
        ]
        level, (white, *centres), pivots = self._marginal(factor, gappy, [self._filled(z), *means])
        by_class = []
        for mean in centres:
            terms = [
                times(ratio(a, pivot), subtract(w, times(number(0.5), a)))
                for w, a, pivot in zip(white, mean, pivots, strict=True)
            ]
            by_class.append(self._running(terms))
        return by_class, add(level, self._half_distance(white, pivots))
