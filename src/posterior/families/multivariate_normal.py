"""The multivariate normal and everything between LDA and QDA."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from posterior import kernels
from posterior._linalg import whitener
from posterior._types import Bools, Floats, Ints
from posterior.families.base import (
    AUTO,
    Distribution,
    Expected,
    GapFillingFamily,
    NoClosedFormError,
    Repair,
    is_open,
    never_seen,
    refuse_outside,
)
from posterior.families.filling import Anchor, expected_scatter, leap, neutral, starting_parameters
from posterior.families.left_out.covariances import Covariances
from posterior.families.left_out.normal import Score, left_out_normal
from posterior.families.mending import Mender, OnSingular
from posterior.families.normal import LARGEST, TOO_LARGE
from posterior.families.shrinkage import Shrinkage, shrinkage_named
from posterior.forms import QuadraticScores
from posterior.math import LOG_2PI
from posterior.stats import Location, Scatter
from posterior.stats.base import Problem

Shape = Literal["full", "diagonal", "spherical"]

# Beyond this many standard deviations between class means one common centre would cost digits.
FAR_APART = 1e3
# With fewer rows for a pattern of gaps than this, rows get a factor each instead of one a pattern.
FEW_ROWS = 32
BATCH_CELLS = 1 << 18


class MultivariateNormalDistribution(Distribution):
    """Normal densities with means (K, d) and covariances (K, d, d), or one (1, d, d) that classes share.

    >>> plane = MultivariateNormalDistribution(mean=[[0.0, 0.0], [1.0, 0.0]], covariance=np.eye(2))
    >>> plane.log_density(np.array([[0.0, 0.0], [1.0, np.nan]])).round(3)
    array([[-1.838, -2.338],
           [-1.419, -0.919]])
    """

    def __init__(
        self,
        mean: "ArrayLike | Location",
        covariance: ArrayLike,
        *,
        shape: Shape = "full",
        uncounted: str | None = None,
        repairs: tuple[Repair, ...] = (),
    ) -> None:
        self.location = Location.at(mean)
        if self.location.pivot.ndim != 2:
            raise ValueError(f"mean must be (n_classes, n_columns), found shape {self.location.pivot.shape}")
        self.n_classes, self.n_columns = self.location.pivot.shape
        cov = np.array(covariance, dtype=np.float64)
        self.covariance = cov[None] if cov.ndim == 2 else cov
        d = self.n_columns
        if self.covariance.shape not in ((1, d, d), (self.n_classes, d, d)):
            raise ValueError(
                f"covariance must be ({d}, {d}) or ({self.n_classes}, {d}, {d}), found {cov.shape}"
            )
        sd = np.sqrt(np.abs(np.diagonal(self.covariance, axis1=1, axis2=2)))
        skew = np.abs(self.covariance - self.covariance.transpose(0, 2, 1))
        if (skew > 1e-8 * sd[:, :, None] * sd[:, None, :]).any():
            raise ValueError("a covariance must be symmetric")
        self.shape = shape
        self._uncounted = uncounted
        self._repairs = repairs
        self._whiteners  # noqa: B018  (refuses a covariance that is not positive definite, at once)

    @property
    def mean(self) -> Floats:
        """The class means, (K, d)."""
        return self.location.value

    @property
    def tied(self) -> bool:
        """Whether the classes share one covariance."""
        return len(self.covariance) == 1 and self.n_classes > 1

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """What had to be done to make every covariance positive definite."""
        return self._repairs

    @cached_property
    def _whiteners(self) -> list[tuple[Floats, float]]:
        try:
            return [whitener(c) for c in self.covariance]
        except np.linalg.LinAlgError as error:
            raise ValueError("a covariance must be positive definite") from error

    def _whitener(self, k: int) -> tuple[Floats, float]:
        return self._whiteners[0 if len(self.covariance) == 1 else k]

    @cached_property
    def precision(self) -> Floats:
        """The inverse covariances, (K, d, d), or (1, d, d) where the classes share one."""
        return np.stack([white @ white.T for white, _ in self._whiteners])

    @property
    def _by_class(self) -> tuple[int, int, int]:
        return self.n_classes, self.n_columns, self.n_columns

    @cached_property
    def _centre(self) -> Location:
        return self.location.average(np.full(self.n_classes, 1 / self.n_classes))

    def log_density(self, block: Floats) -> Floats:
        """−½ (x−μ)'Σ⁻¹(x−μ) − ½ ln|2πΣ|, missing cells integrated out."""
        return self._by_pattern(block, MultivariateNormalDistribution._log_density_complete)

    def log_relative(self, block: Floats) -> Floats:
        """The linear form (x−c)·β + γ where the covariance is shared, else the log density."""
        return self._by_pattern(block, MultivariateNormalDistribution._log_relative_complete)

    def _by_pattern(self, block: Floats, score: Any) -> Floats:
        if not kernels.has_missing(block):
            return np.asarray(score(self, block))
        missing = np.isnan(block)
        lacking = missing.any(axis=1)
        if len(np.unique(kernels.pattern_keys(missing[lacking]))) * FEW_ROWS > lacking.sum():
            out = np.empty((len(block), self.n_classes))
            out[~lacking] = score(self, block[~lacking])
            out[lacking] = self._row_by_row(block[lacking], missing[lacking])
            return out
        out = np.zeros((len(block), self.n_classes))
        for rows, gone in kernels.missing_patterns(missing):
            if not gone.all():
                there = np.flatnonzero(~gone)
                out[rows] = score(self.marginal(there.tolist()), block[np.ix_(rows, there)])
        return out

    def _row_by_row(self, block: Floats, missing: Bools) -> Floats:
        """Log density of rows with gaps, each with a factor of its own, in batches."""
        out = np.empty((len(block), self.n_classes))
        size = max(1, BATCH_CELLS // self.n_columns**2)
        for rows in (slice(start, start + size) for start in range(0, len(block), size)):
            deviations = [self.location.deviation(block[rows], k) for k in range(self.n_classes)]
            if len(self.covariance) == 1:
                out[rows] = kernels.gappy_log_density(deviations, self.covariance[0], missing[rows])
                continue
            for k, (z, covariance) in enumerate(zip(deviations, self.covariance, strict=True)):
                out[rows, k] = kernels.gappy_log_density([z], covariance, missing[rows])[:, 0]
        return out

    @cached_property
    def _standard(self) -> list[tuple[Floats, Floats]]:
        """Standard deviations, and the precision on their scale."""
        parts = []
        for covariance, (white, _) in zip(self.covariance, self._whiteners, strict=True):
            sd = np.sqrt(np.diagonal(covariance))
            parts.append((sd, (sd[:, None] * white) @ (sd[:, None] * white).T))
        return parts

    def log_det(self, k: int) -> float:
        """Log determinant of the covariance of class k."""
        return self._whitener(k)[1]

    def precision_of(self, k: int) -> Floats:
        """The inverse covariance of class k."""
        return np.asarray(self.precision[0 if len(self.covariance) == 1 else k])

    def standard(self, k: int) -> tuple[Floats, Floats]:
        """Standard deviations of class k, and its precision on their scale."""
        return self._standard[0 if len(self.covariance) == 1 else k]

    def expected(
        self, block: Floats, k: int, groups: "list[kernels.GapGroup]", weight: Floats | None = None
    ) -> tuple[kernels.ExpectedRows, Floats]:
        """What class k expects of rows with gaps, in standard deviations from its mean; their log density."""
        sd, precision = self.standard(k)
        z = self.location.deviation(block, k) / sd
        rows = kernels.expected_rows(z, precision, groups, weight)
        there = ~np.isnan(block)
        log_det = self._whitener(k)[1] - (~there) @ (2 * np.log(sd)) + rows.log_det
        density = -0.5 * (rows.quadratic + log_det + there.sum(axis=1) * LOG_2PI)
        density[~there.any(axis=1)] = 0.0
        return rows, density

    def filled(self, block: Floats, posterior: Floats) -> Floats:
        """Rows with their gaps filled in by what is to be expected there, averaged over the classes."""
        missing = np.isnan(block)
        groups = kernels.gap_groups(missing)
        expected = np.zeros_like(block)
        for k in range(self.n_classes):
            deviation = self.expected(block, k, groups)[0].deviation * self.standard(k)[0]
            expected += posterior[:, [k]] * (self.location.value[k] + deviation)
        return np.where(missing, expected, block)

    def _log_density_complete(self, block: Floats) -> Floats:
        out = np.empty((len(block), self.n_classes))
        for k in range(self.n_classes):
            white, log_det = self._whitener(k)
            z = self.location.deviation(block, k) @ white
            out[:, k] = -0.5 * (np.einsum("ij,ij->i", z, z) + log_det + self.n_columns * LOG_2PI)
        return out

    def _log_relative_complete(self, block: Floats) -> Floats:
        if not self.tied or self._spread > FAR_APART:
            return self._log_density_complete(block)
        coef = self._white_means @ self._whiteners[0][0].T
        level = -0.5 * (self._white_means**2).sum(axis=1) - coef @ self._centre.remainder
        return np.asarray((block - self._centre.pivot) @ coef.T + level)

    @cached_property
    def _white_means(self) -> Floats:
        return np.asarray((self.location - self._centre) @ self._whiteners[0][0])

    @property
    def _spread(self) -> float:
        return float(np.sqrt((self._white_means**2).sum(axis=1)).max())

    def log_terms(self, block: Floats) -> Floats:
        """The quadratic function about the common centre, its mixed terms shared evenly by their columns."""
        out = np.zeros((*block.shape, self.n_classes))
        for rows, gone in kernels.missing_patterns(np.isnan(block)):
            there = np.flatnonzero(~gone)
            if len(there) == 0:
                out[rows] = -self.log_base / self.n_columns
                continue
            part = self if not gone.any() else self.marginal(there.tolist())
            scores = part.quadratic()
            z = block[np.ix_(rows, there)] - scores.centre
            terms = z[:, :, None] * (np.einsum("kij,nj->nik", scores.quadratic, z) + scores.linear.T)
            terms += (scores.constant - self.log_base) / len(there)
            out[np.ix_(rows, there)] = terms
        return out

    @property
    def log_base(self) -> Floats:
        """The log density at the common centre."""
        return np.asarray(self._log_density_complete(self._centre.value[None])[0])

    def marginal(self, columns: Sequence[int]) -> "MultivariateNormalDistribution":
        """The distribution of some of the columns: a part of the mean and of the covariance."""
        keep = list(columns)
        return MultivariateNormalDistribution(
            self.location[:, keep],
            self.covariance[:, keep][:, :, keep],
            shape=self.shape,
            uncounted=self._uncounted,
        )

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        """One row for each class code."""
        noise = rng.standard_normal((len(y), self.n_columns))
        out = self.mean[y]
        for k in range(self.n_classes):
            rows = y == k
            factor = np.linalg.cholesky(self.covariance[0 if len(self.covariance) == 1 else k])
            out[rows] += noise[rows] @ factor.T
        return out

    @property
    def n_parameters(self) -> int:
        """Means and free entries of the covariances."""
        if self._uncounted:
            raise ValueError(f"the number of free parameters has no meaning here: {self._uncounted}")
        d = self.n_columns
        free = {"full": d * (d + 1) // 2, "diagonal": d, "spherical": 1}[self.shape]
        return self.location.pivot.size + len(self.covariance) * free

    def log_likelihood(self, statistics: Scatter) -> float:
        """From the scatter: −½ Σ_k [N_k ln|2πΣ_k| + tr Σ_k⁻¹ (W_k + N_k (m−μ)(m−μ)')]."""
        apart = np.where(statistics.weight[:, None] > 0, statistics.location - self.location, 0.0)
        pulled = np.einsum("kij,kj->ki", np.broadcast_to(self.precision, self._by_class), apart)
        shift = statistics.weight @ (pulled * apart).sum(axis=1)
        spread = (self.precision * statistics.scatter).sum()
        log_dets = np.array([self._whitener(k)[1] for k in range(self.n_classes)])
        size = float(statistics.weight @ (log_dets + self.n_columns * LOG_2PI))
        return -0.5 * (size + float(spread) + float(shift))

    def quadratic(self, classes: Sequence[int] | None = None) -> QuadraticScores:
        """The log densities of some classes as quadratic functions of x."""
        chosen = list(range(self.n_classes) if classes is None else classes)
        means = self.location[chosen]
        centre = means.average(np.full(len(chosen), 1 / len(chosen)))
        apart = means - centre
        precision = np.broadcast_to(self.precision, self._by_class)[chosen]
        pull = np.einsum("kij,kj->ki", precision, apart)
        log_dets = np.array([self._whitener(k)[1] for k in chosen])
        return QuadraticScores(
            centre=centre.value,
            quadratic=-0.5 * precision,
            linear=pull,
            constant=-0.5 * (np.einsum("ki,ki->k", pull, apart) + log_dets + self.n_columns * LOG_2PI),
            scale=np.sqrt(np.diagonal(self.covariance.mean(axis=0))),
        )


@dataclass(frozen=True)
class MultivariateNormal(GapFillingFamily[Scatter]):
    """The multivariate normal family.

    `tied` goes from 0 (a covariance for each class: QDA) to 1 (one for all: LDA), the line between them
    being Σ_k = (1−tied) S_k + tied S (regularised discriminant analysis). `shape` is "full",
    "diagonal" (naive Bayes) or "spherical". `shrinkage` pulls each estimate towards its diagonal on the
    correlation scale: an amount, "oas" or "ledoit-wolf". Each of the three may be "auto", which leaves it to
    cross-validation. `bias=True` divides by N, `False` by N−1
    within a class and N−K over all (as R's MASS does).

    `on_singular` says what becomes of a class whose rows do not determine its covariance: "shrink" blends
    it with the pooled one, weight d/(N_k+d) on the pooled; "pool" replaces it; "error" refuses. A pooled
    one that is not determined is blended with its diagonal in the same way.

    Gaps in training are filled in by EM until an iteration gains no more than `tol` in log-likelihood for
    a row (Little & Rubin, Statistical analysis with missing data).

    >>> two = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    >>> family = MultivariateNormal()
    >>> family.estimate(family.summarize(two, np.zeros(4, int), None, 1)).covariance
    array([[[1., 0.],
            [0., 1.]]])
    """

    tied: Any = 0.0
    shape: Any = "full"
    shrinkage: Shrinkage | str | float | None = None
    bias: bool = True
    floor: float = 1e-9
    on_singular: OnSingular = "shrink"
    tol: float = 1e-10
    max_iter: int = 1000
    joint: bool = field(default=True, init=False, repr=False)
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "shape": ("spherical", "diagonal", "full"),
        "tied": (1.0, 0.9, 0.75, 0.5, 0.25, 0.1, 0.0),
        "shrinkage": (1.0, 0.75, 0.5, 0.25, 0.1, 0.05, 0.0),
    }

    def __post_init__(self) -> None:
        if not is_open(self.tied) and not (isinstance(self.tied, int | float) and 0 <= self.tied <= 1):
            raise ValueError(f"tied must lie between 0 (QDA) and 1 (LDA) or be 'auto', found {self.tied!r}")
        if self.shape not in ("full", "diagonal", "spherical", AUTO):
            raise ValueError(
                f"shape must be 'full', 'diagonal' or 'spherical', or 'auto', found {self.shape!r}"
            )
        if self.on_singular not in ("shrink", "pool", "error"):
            raise ValueError(f"on_singular must be 'shrink', 'pool' or 'error', found {self.on_singular!r}")
        if not self.tol >= 0 or not self.max_iter >= 1:
            raise ValueError(
                f"tol must not be negative and max_iter at least 1, found {self.tol!r} and {self.max_iter!r}"
            )
        self._shrink  # noqa: B018  (refuses what is no shrinkage, at once)

    @property
    def plainest(self) -> Self:
        """Without correlations there is nothing to shrink, and shrinkage in full leaves none."""
        if self.shape == "full" and self.shrinkage == 1:
            return replace(self, shape="diagonal", shrinkage=0.0)
        return self if self.shape == "full" else replace(self, shrinkage=0.0)

    @property
    def unharmed_by(self) -> frozenset[Problem]:
        """Without correlations no column is a combination of others: naive Bayes keeps them all."""
        return frozenset() if self.shape == "full" else frozenset({"redundant"})

    @property
    def _shrink(self) -> Shrinkage | None:
        return None if is_open(self.shrinkage) else shrinkage_named(self.shrinkage)

    def check(self, block: Floats, names: Sequence[str]) -> None:
        """Squares must not overflow."""
        refuse_outside(np.abs(block) > LARGEST, block, names, TOO_LARGE)

    def summarize(self, block: Floats, y: Ints, weight: Floats | None, n_classes: int) -> Scatter:
        """Weight, mean and scatter by class, pooled at once where classes share all."""
        return Scatter.of(block, y, weight, n_classes, pooled=self._pools_at_once, fourth=self._wants_fourth)

    @property
    def _pools_at_once(self) -> bool:
        """Whether one scatter for all classes will do."""
        shrink = self._shrink
        by_class = shrink is not None and (shrink.by_class or shrink.needs_fourth)
        return bool(self.tied == 1) and not by_class

    def estimate(self, statistics: Scatter) -> MultivariateNormalDistribution:
        """Estimate, shape, shrink, tie, and repair what the data leave open."""
        self.refuse_open()
        mender = Mender(statistics, self.floor, self.on_singular)
        pooled = mender.pooled(self._pooled(statistics))
        mended = [pooled]
        covariances = pooled.covariance[None]
        if self.tied < 1:
            own = [mender.own(self._own(statistics, k), pooled, k) for k in range(len(statistics.weight))]
            mended += own
            covariances = (1 - self.tied) * np.stack([m.covariance for m in own]) + self.tied * covariances
        repairs = [m.repair for m in mended if m.repair is not None]
        location = _fill_empty(statistics)
        if statistics.never_seen.any():
            location, covariances = neutral(statistics, location, covariances, pooled.covariance)
            repairs += never_seen(statistics.never_seen)
        return MultivariateNormalDistribution(
            location,
            covariances,
            shape=self.shape,
            uncounted=self._uncounted(),
            repairs=tuple(repairs),
        )

    def leave_one_out(self, statistics: Scatter, distribution: MultivariateNormalDistribution) -> Score:
        """Rank-one changes of the covariances; a shrinkage target changes in full, and has no closed form."""
        if self._shrink is not None:
            raise NoClosedFormError("shrinkage changes with each row in every direction")
        lost = 0.0 if self.bias else 1.0
        pools = self.on_singular == "pool"
        parts = Covariances(
            statistics, distribution.location, distribution.repairs, float(self.tied), lost, pools
        )
        return left_out_normal(parts, self.shape)

    @property
    def likeliest(self) -> Self:
        """Own covariances, or one for all, without shrinkage."""
        return replace(self, tied=float(self.tied == 1), shrinkage=None, bias=True)

    def start(self, statistics: Scatter) -> MultivariateNormalDistribution:
        """Means and variances of the cells that are there, and no correlation."""
        return MultivariateNormalDistribution(*starting_parameters(statistics, self.floor))

    @property
    def refuses(self) -> bool:
        """Whether a covariance that the rows do not determine is an error."""
        return self.on_singular == "error"

    def anchor(self, statistics: Scatter, expected: Scatter) -> Anchor:
        """What keeps the covariances of small classes from collapsing."""
        return Anchor.of(statistics, expected)

    def leap(self, first: Any, second: Any, third: Any) -> MultivariateNormalDistribution:
        """Squared extrapolation, as far as covariances stay positive definite."""
        return MultivariateNormalDistribution(*leap(first, second, third))

    def expect(
        self, block: Floats, y: Ints, weight: Floats | None, given: MultivariateNormalDistribution
    ) -> Expected[Scatter]:
        """Moments of the rows with their gaps filled in, and the spread of what is not known of them."""
        return expected_scatter(
            block, y, weight, given, pooled=self._pools_at_once, fourth=self._wants_fourth
        )

    @property
    def _wants_fourth(self) -> bool:
        shrink = self._shrink
        return shrink is not None and shrink.needs_fourth

    def _own(self, s: Scatter, k: int) -> Floats:
        """Covariance of class k, shaped and shrunk; zero where the class has too few rows."""
        weight = float(s.weight[k])
        divisor = weight - (0 if self.bias else 1)
        if divisor <= 0:
            return np.zeros_like(s.scatter[k])
        spare = np.sqrt(np.diagonal(s.scatter.sum(axis=0)) / s.weight.sum())
        fourth = None if s.fourth is None else s.fourth[k]
        return self._shrunk(s.scatter[k] / weight, weight, fourth, spare, weight / divisor)

    def _pooled(self, s: Scatter) -> Floats:
        """Covariance within classes, shaped and shrunk."""
        lost = 0.0 if self.bias else 1.0
        freedom = np.maximum(s.weight - lost, 0.0)
        total = float(s.weight.sum())
        shrink = self._shrink
        if shrink is not None and shrink.by_class:
            own = (freedom[k] * self._own(s, k) for k in range(len(freedom)))
            return np.asarray(sum(own, np.zeros_like(s.scatter[0])) / max(freedom.sum(), 1e-300))
        fourth = None if s.fourth is None else s.fourth.sum(axis=0)
        divisor = max(total - lost * int((s.weight > 0).sum()), min(total, 1.0))
        within = s.scatter.sum(axis=0) / total
        return self._shrunk(within, total, fourth, np.zeros(len(within)), total / divisor)

    def _shrunk(
        self, covariance: Floats, weight: float, fourth: Floats | None, spare: Floats, inflation: float
    ) -> Floats:
        """A maximum likelihood covariance, shrunk, brought to the divisor asked for, and shaped."""
        shrink = self._shrink
        if shrink is None:
            return self._shaped(covariance * inflation)
        return self._shaped(shrink.shrink(covariance, weight, fourth, spare, inflation))

    def _shaped(self, covariance: Floats) -> Floats:
        if self.shape == "full":
            return covariance
        variance = np.diagonal(covariance)
        return np.diag(variance if self.shape == "diagonal" else np.full_like(variance, variance.mean()))

    def _uncounted(self) -> str | None:
        if self._shrink is not None:
            return f"shrinkage={self.shrinkage!r} pulls the covariances towards fewer parameters"
        if 0 < self.tied < 1:
            return f"tied={self.tied} lies between one covariance for all classes and one for each"
        return None


def _fill_empty(s: Scatter) -> Location:
    """A class without rows takes the overall mean."""
    empty = s.weight <= 0
    if not empty.any():
        return s.location
    mean = s.location.average(s.weight / s.weight.sum())
    return Location(
        np.where(empty[:, None], mean.pivot, s.location.pivot),
        np.where(empty[:, None], mean.remainder, s.location.remainder),
    )
