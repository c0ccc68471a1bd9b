"""Gaussian rows with gaps: where the iterations start, what they expect, and how they leap ahead."""

from dataclasses import dataclass, replace

import numpy as np

from posterior import kernels
from posterior._linalg import smallest_residual
from posterior._types import Bools, Floats, Ints
from posterior.families.base import Expected
from posterior.families.gaussian import MultivariateNormalDistribution
from posterior.stats import Location, Scatter

# A leap may take this share of a covariance's distance from being singular, and no more.
SAFE = 0.1
# Rows are scarce where some pair of columns is present in at most SCARCE times as many rows as columns.
SCARCE = 3
# Less of a column's variance left by the others is no ground for a regression.
LEAST = 1e-9


def _spread(statistics: Scatter) -> tuple[Floats, Bools]:
    """Variance of each column within classes, (d,), and which columns are constant there.

    Those have the variance that the classes give them.
    """
    weight, within, total = statistics.observed().pooled()
    flat = (within <= 0) & (total > 0)
    variance = kernels.ratio(np.where(flat, total, within), weight)
    return np.where(variance > 0, variance, 1.0), flat


def starting_point(statistics: Scatter) -> MultivariateNormalDistribution:
    """Means and variances of the cells that are there, and no correlation."""
    covariance = np.repeat(np.diag(_spread(statistics)[0])[None], len(statistics.scatter), axis=0)
    return MultivariateNormalDistribution(statistics.observed().filled_location(), covariance, copy=False)


@dataclass(frozen=True, eq=False)
class Anchor:
    """Rows that are added to each class at its mean, (K,), of independent columns with variances `spread`.

    Where hardly any rows show the same columns the likelihood may rise without end towards a singular
    covariance. These rows, an inverse-Wishart prior, give it a maximum (Little & Rubin 2019,
    Statistical analysis with missing data, section 11.2). `pairs` and `rounding` are of the data alone.
    """

    rows: Floats
    spread: Floats
    pairs: Floats | None
    rounding: Floats

    @classmethod
    def of(cls, statistics: Scatter, expected: Scatter) -> "Anchor":
        """As many rows as columns where they are needed, and none elsewhere."""
        d = len(statistics.rounding)
        spread, flat = _spread(statistics)
        pairs = np.zeros((1, d, d)) if expected.pairs is None else expected.pairs
        if expected.pooled:
            pairs = np.broadcast_to(pairs.sum(axis=0), (len(expected.weight), d, d))
        seen = np.where(pairs.diagonal(axis1=1, axis2=2)[:, :, None] > 0, pairs, np.inf)  # others are neutral
        seen = np.where(pairs.diagonal(axis1=1, axis2=2)[:, None, :] > 0, seen, np.inf)
        scarce = (seen.min(axis=(1, 2)) <= SCARCE * d) | flat.any() | _is_singular(statistics)
        rows = np.where(scarce & (expected.weight > 0), float(d), 0.0)
        if expected.pooled:
            rows = rows * expected.weight / max(float(expected.weight.sum()), 1e-300)
        return cls(rows, spread, expected.pairs, expected.rounding)

    def added(self, statistics: Scatter) -> Scatter:
        """The statistics with these rows, and with what the first reading counted."""
        more = self.rows[:, None, None] * np.diag(self.spread)
        if statistics.pooled:
            more = more.sum(axis=0, keepdims=True)
        return replace(
            statistics,
            weight=statistics.weight + self.rows,
            scatter=statistics.scatter + more,
            rounding=self.rounding,
            pairs=self.pairs,
        )

    def height(self, given: MultivariateNormalDistribution) -> float:
        """What the prior adds to the log-likelihood."""
        terms = [
            rows * (given.log_det(k) + float(self.spread @ np.diagonal(given.precision_of(k))))
            for k, rows in enumerate(self.rows.tolist())
            if rows
        ]
        return -0.5 * float(sum(terms))


def _is_singular(statistics: Scatter) -> bool:
    """Whether the complete rows, if they are enough, show a combination of columns within the classes."""
    enough = float(statistics.weight.sum()) > 2 * len(statistics.rounding)
    return enough and not smallest_residual(statistics.scatter.sum(axis=0)) > LEAST


def expected_scatter(
    block: Floats,
    y: Ints,
    weight: Floats | None,
    given: MultivariateNormalDistribution,
    *,
    pooled: bool,
    fourth: bool,
) -> Expected[Scatter]:
    """Moments of the rows with their gaps filled in, and the spread of what is not known of them."""
    sums = kernels.expected_sums(block, y, weight, given.gaussians, fourth=fourth)
    sd = np.broadcast_to(given.gaussians.sd, sums.shift.shape)
    unit = sd[:, :, None] * sd[:, None, :]
    scatter = sums.scatter * unit
    cubes = None if sums.third is None else sums.third * unit * sd[:, :, None]
    quarts = None if sums.fourth is None else sums.fourth * unit**2
    if pooled:
        scatter = scatter.sum(axis=0, keepdims=True)
        cubes = None if cubes is None else cubes.sum(axis=0, keepdims=True)
        quarts = None if quarts is None else quarts.sum(axis=0, keepdims=True)
    location = Location(given.location.pivot, given.location.remainder + sums.shift * sd)
    found = Scatter(sums.weight, location, scatter, np.zeros(block.shape[1]), cubes, quarts, pooled)
    return Expected(found, float(sums.log_likelihood.sum()))


def with_counts(
    expected: Expected[Scatter], block: Floats, y: Ints, weight: Floats | None
) -> Expected[Scatter]:
    """Also how much weight of rows shows both of two columns, and how finely values are rounded."""
    pairs = kernels.pairs_there(block, y, weight, len(expected.statistics.weight))
    rounding = kernels.rounding_of(np.where(np.isnan(block), 0.0, block))
    return replace(expected, statistics=replace(expected.statistics, pairs=pairs, rounding=rounding))


def leap(
    first: MultivariateNormalDistribution,
    second: MultivariateNormalDistribution,
    third: MultivariateNormalDistribution,
) -> MultivariateNormalDistribution:
    """Squared extrapolation (Varadhan & Roland 2008) of three steps, in standard deviations of the first.

    It goes as far as covariances stay positive definite, and no less far than the third.
    """
    sd = np.sqrt(np.diagonal(first.covariance, axis1=1, axis2=2))
    unit = sd[:, :, None] * sd[:, None, :]
    mean, cov = second.location - first.location, second.covariance - first.covariance
    bend = (third.location - second.location) - mean
    curve = (third.covariance - second.covariance) - cov
    straight = np.sqrt(((mean / sd) ** 2).sum() + ((cov / unit) ** 2).sum())
    curved = np.sqrt(((bend / sd) ** 2).sum() + ((curve / unit) ** 2).sum())
    length = straight / curved if curved > 0 else 1.0
    while length > 1.01:
        covariance = first.covariance + 2 * length * cov + length**2 * curve
        covariance = (covariance + covariance.transpose(0, 2, 1)) / 2
        if all(
            smallest_residual(c) >= SAFE * smallest_residual(t)
            for c, t in zip(covariance, third.covariance, strict=False)
        ):
            shift = 2 * length * mean + length**2 * bend
            location = Location(first.location.pivot, first.location.remainder + shift)
            return MultivariateNormalDistribution(location, covariance, copy=False)
        length = (length + 1) / 2
    return third


def neutral(
    statistics: Scatter, location: Location, covariance: Floats, pooled: Floats
) -> tuple[Location, Floats]:
    """Parameters in which a column that a class never shows says nothing about that class.

    The likelihood is flat there. The column is taken to follow from the others as it does in the classes that
    show it: by their regression, through their means.
    """
    missing = statistics.never_seen
    mean, covariance = location.value.copy(), covariance.copy()
    for k in np.flatnonzero(missing.any(axis=1)).tolist():
        m, o = np.flatnonzero(missing[k]), np.flatnonzero(~missing[k])
        shared = _shown_by_others(statistics, m, pooled)
        sd = np.sqrt(np.diagonal(shared))
        scaled = shared / sd[:, None]
        slope = np.linalg.lstsq((scaled / sd)[np.ix_(o, o)], scaled[np.ix_(o, m)])[0] / sd[o, None]
        share = np.where(missing[:, m], 0.0, statistics.weight[:, None])
        known = location.value[:, m] + (location.value[k, o] - location.value[:, o]) @ slope
        mean[k, m] = (share * known).sum(axis=0) / share.sum(axis=0)
        if len(covariance) > 1:
            own = covariance[k][np.ix_(o, o)]
            rest = shared[np.ix_(m, m)] - slope.T @ shared[np.ix_(o, m)]
            covariance[k][np.ix_(m, o)] = slope.T @ own
            covariance[k][np.ix_(o, m)] = own @ slope
            covariance[k][np.ix_(m, m)] = rest + slope.T @ own @ slope
    rows = missing.any(axis=1, keepdims=True)
    remainder = np.where(rows, mean - location.pivot, location.remainder)
    return Location(location.pivot, remainder), covariance


def _shown_by_others(statistics: Scatter, columns: Ints, pooled: Floats) -> Floats:
    """The covariance within the classes that show all of these columns; else the pooled one."""
    if statistics.pooled:
        return pooled
    shows = (statistics.weight > 0) & ~statistics.never_seen[:, columns].any(axis=1)
    scatter = statistics.scatter[shows].sum(axis=0)
    if not shows.any() or not smallest_residual(scatter) > LEAST:
        return pooled
    return np.asarray(scatter / statistics.weight[shows].sum())
