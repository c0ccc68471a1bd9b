"""Normal densities of several columns together, and what they expect of rows with gaps."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from posterior import kernels
from posterior._linalg import AT_ONCE, FAR_APART, are_symmetric, whitener, whiteners
from posterior._pool import each
from posterior._types import Floats, Ints
from posterior.families.base import Distribution, Repair
from posterior.families.far_classes import MANY_CLASSES, MANY_COLUMNS, FarClasses
from posterior.families.parameters import Parameter, of_normals
from posterior.forms import QuadraticScores
from posterior.kernels.choice import compiled
from posterior.math import LOG_2PI
from posterior.stats import Location, Scatter

Shape = Literal["full", "diagonal", "spherical"]

# Where fewer rows have gaps than this share, all are scored as complete first, and those with gaps again.
MOST = 0.75
# Cells up to which a product of matrices is worked out row by row; and rows at a time beyond.
FEW_CELLS, BLOCK = 1 << 16, 128

# What compiled code reads, and makes again where it is needed.
MADE_AGAIN = ("row_scores", "_log_density_scores", "_linear", "_far_classes")


class MultivariateNormalDistribution(Distribution):
    """Normal densities with means (K, d) and covariances (K, d, d), or one (1, d, d) that classes share.

    With `copy=False` the covariances are those of a fit, symmetric and nobody else's: taken as they are.

    >>> plane = MultivariateNormalDistribution(mean=[[0.0, 0.0], [1.0, 0.0]], covariance=np.eye(2))
    >>> plane.log_density(np.array([[0.0, 0.0], [1.0, np.nan]])).round(3)
    array([[-1.838, -2.338],
           [-1.419, -0.919]])
    """

    parts: ClassVar[Mapping[str, Any]] = {
        "location": Annotated[Location, "K d any"],
        "covariance": Annotated[Floats, "G d d finite"],
        "shape": Shape,
        "uncounted": str | None,
        "repairs": tuple[Repair, ...],
    }

    def __init__(
        self,
        mean: "ArrayLike | Location",
        covariance: ArrayLike,
        *,
        shape: Shape = "full",
        uncounted: str | None = None,
        repairs: tuple[Repair, ...] = (),
        copy: bool = True,
    ) -> None:
        self.location = mean if isinstance(mean, Location) else Location.at(mean)
        if self.location.pivot.ndim != 2:
            raise ValueError(f"mean must be (n_classes, n_columns), found shape {self.location.pivot.shape}")
        self.n_classes, self.n_columns = self.location.pivot.shape
        cov = np.array(covariance, dtype=np.float64) if copy else np.asarray(covariance, dtype=np.float64)
        self.covariance = cov[None] if cov.ndim == 2 else cov
        d = self.n_columns
        if self.covariance.shape not in ((1, d, d), (self.n_classes, d, d)):
            raise ValueError(
                f"covariance must be ({d}, {d}) or ({self.n_classes}, {d}, {d}), found {cov.shape}"
            )
        if copy and not are_symmetric(self.covariance):
            raise ValueError("a covariance must be symmetric")
        self.shape = shape
        self.uncounted = uncounted
        self.repairs = repairs
        self._squares: Any = None
        self._log_dets, self._white_means = self._whitened()
        if self.tied and self._is_wide:  # takes as long as many rows to be scored: with the rest of a fit
            self._linear if self._spread <= FAR_APART else self._far_classes  # noqa: B018

    def __getstate__(self) -> dict[str, Any]:
        state = {name: part for name, part in self.__dict__.items() if name not in MADE_AGAIN}
        return state | {"_squares": None}

    @property
    def mean(self) -> Floats:
        """The class means, (K, d)."""
        return self.location.value

    @property
    def tied(self) -> bool:
        """Whether the classes share one covariance."""
        return len(self.covariance) == 1 and self.n_classes > 1

    def _whitened(self) -> tuple[Floats, Floats]:
        """Log determinants (K,), and the class means about the centre, each whitened by its covariance."""
        apart = self.location - self._centre
        try:
            found = self._one_by_one()
            if len(self.covariance) == 1:
                ((white, log_det),) = found
                return np.full(self.n_classes, log_det), _times(apart, white)
            pairs = [(log_det, row @ white) for (white, log_det), row in zip(found, apart, strict=True)]
        except np.linalg.LinAlgError as error:
            raise ValueError("a covariance must be positive definite") from error
        return np.array([log_det for log_det, _ in pairs]), np.stack([row for _, row in pairs])

    def _one_by_one(self) -> Iterable[tuple[Floats, float]]:
        """The whiteners; where they take much memory only one at a time."""
        return self._whiteners if self.covariance.size <= AT_ONCE else whiteners(self.covariance)

    @cached_property
    def _whiteners(self) -> list[tuple[Floats, float]]:
        return list(whiteners(self.covariance))

    @property
    def _keeps_whiteners(self) -> bool:
        """Whether they are made once; where they are many, compiled code has factors of its own instead."""
        return self.covariance.size <= AT_ONCE or len(self.covariance) == 1 or self._spread > FAR_APART

    def _whitener(self, k: int) -> Floats:
        g = 0 if len(self.covariance) == 1 else k
        return self._whiteners[g][0] if self._keeps_whiteners else whitener(self.covariance[g])[0]

    def _whitener_by_class(self) -> Iterable[Floats]:
        """The whitener of each class; only one at a time where they take much memory."""
        if not self._keeps_whiteners:
            return map(self._whitener, range(self.n_classes))
        return [white for white, _ in self._whiteners] * (self.n_classes // len(self.covariance))

    def _scores(self, block: Any) -> Any:
        """Compiled code for many rows, or for few and many covariances; None where the reference will do."""
        size = block.size if self._keeps_whiteners else max(block.size, self.covariance.size)
        return compiled("scores", size, len(block))

    @cached_property
    def precision(self) -> Floats:
        """The inverse covariances, (K, d, d), or (1, d, d) where the classes share one."""
        return np.stack([white @ white.T for white, _ in self._one_by_one()])

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

    takes_tables = True

    def add_relative(self, block: kernels.NumberTable, out: Floats) -> None:
        """Add the linear form where the covariance is shared, else the log density."""
        scores = self._scores(block)
        if scores is None or self._spread > FAR_APART:
            out += self.log_relative(kernels.in_rows(block))
            return
        rows = kernels.in_rows(block, "rows")
        if self.tied:
            coef, level, centre = self._linear
            product = kernels.scratch("product", len(rows), self.n_classes)
            np.matmul(rows if centre is None else centre.deviation(rows), coef, out=product)
            gappy = np.empty(0, dtype=np.int64)
            if scores.add_product(product, level, out):
                gappy = np.flatnonzero(~np.isfinite(product).all(axis=1))
        else:
            done = self._quadratic(scores).add(rows, self._centre.pivot, self._centre.remainder, out)
            out[:done] += self._levels
            gappy = np.arange(done, len(rows))
        if len(gappy):
            out[gappy] += self.log_relative(rows[gappy])

    @cached_property
    def row_scores(self) -> kernels.RowScores | kernels.WideScores | None:
        """The linear form where the covariance is shared, else the log density of few columns."""
        centre = self._centre.pivot, self._centre.remainder
        if self._spread > FAR_APART:
            return None
        if self.tied and self._is_wide:
            coef, level, far = self._linear
            return kernels.WideScores(coef, level, *(() if far is None else (far.pivot, far.remainder)))
        if self.tied:
            coef = self._whiteners[0][0] @ self._white_means.T
            return kernels.linear_scores(coef, -0.5 * (self._white_means**2).sum(axis=1), *centre)
        return self._log_density_scores

    @property
    def _is_wide(self) -> bool:
        """Whether coefficients are so many that scores are products of matrices, not sums in registers."""
        return self.n_classes * self.n_columns > kernels.MOST_COEFFICIENTS

    @cached_property
    def _log_density_scores(self) -> kernels.RowScores | None:
        """The log density of few columns as compiled code reads it; None of many."""
        if self.n_columns > kernels.WIDEST_QUADRATIC or self._spread > FAR_APART:
            return None
        sd = np.sqrt(np.diagonal(self.covariance, axis1=1, axis2=2))
        return kernels.quadratic_scores(
            self._whitener_by_class(),
            self._white_means,
            np.broadcast_to(sd, (self.n_classes, self.n_columns)),
            self._levels,
            self._centre.pivot,
            self._centre.remainder,
        )

    @cached_property
    def _linear(self) -> tuple[Floats, Floats, Location | None]:
        """Coefficients (d, K) and constants of the linear form, about a centre unless that is near zero."""
        white = self._whiteners[0][0].T
        coef = _times(self._white_means, white) if self._is_wide else self._white_means @ white
        level = -0.5 * (self._white_means**2).sum(axis=1)
        centre = self._centre
        sd = np.sqrt(np.diagonal(self.covariance[0]))
        if (np.abs(centre.value) > FAR_APART * sd).any():
            return np.ascontiguousarray(coef.T), level, centre
        return np.ascontiguousarray(coef.T), level - coef @ centre.value, None

    def _quadratic(self, scores: Any) -> Any:
        """The factors of the squared distances, made once."""
        if self._squares is None:
            self._squares = scores.Quadratic(iter(self._whitener_by_class()), self._white_means)
        return self._squares

    @cached_property
    def _levels(self) -> Floats:
        """Log densities at the class means."""
        return -0.5 * (self._log_dets + self.n_columns * LOG_2PI)

    def _by_pattern(self, block: Floats, score: Any) -> Floats:
        if not kernels.has_missing(block):
            return np.asarray(score(self, block))
        missing = np.isnan(block)
        lacking = missing.any(axis=1)
        if kernels.worth_a_factor(missing[lacking]):
            if lacking.mean() < MOST:  # the rest is overwritten; the rows are enough for compiled code
                out = np.array(score(self, np.where(missing, self._centre.value, block)))
            else:
                out = np.empty((len(block), self.n_classes))
                out[~lacking] = score(self, block[~lacking]) if not lacking.all() else 0.0
            kernels.gappy_log_density(block, np.flatnonzero(lacking), self.gaussians, out)
            return out
        out = np.zeros((len(block), self.n_classes))
        for rows, gone in kernels.missing_patterns(missing):
            if not gone.all():
                there = np.flatnonzero(~gone)
                out[rows] = score(self.marginal(there.tolist()), block[np.ix_(rows, there)])
        return out

    @cached_property
    def gaussians(self) -> kernels.Gaussians:
        """The parameters as the kernels for rows with gaps take them."""
        sd = np.sqrt(np.diagonal(self.covariance, axis1=1, axis2=2))
        white = np.stack([w for w, _ in self._one_by_one()]) * sd[:, :, None]
        log_det = self._log_dets[: len(self.covariance)]
        precision = white @ white.transpose(0, 2, 1)
        correlation = self.covariance / sd[:, :, None] / sd[:, None, :]
        return kernels.Gaussians(
            np.ascontiguousarray(self.location.pivot),
            np.ascontiguousarray(self.location.remainder),
            sd,
            correlation,
            white,
            precision,
            log_det,
        )

    def log_det(self, k: int) -> float:
        """Log determinant of the covariance of class k."""
        return float(self._log_dets[k])

    def precision_of(self, k: int) -> Floats:
        """The inverse covariance of class k."""
        return np.asarray(self.precision[0 if len(self.covariance) == 1 else k])

    def filled(self, block: Floats, posterior: Floats) -> Floats:
        """Rows with their gaps filled in by what is to be expected there, averaged over the classes."""
        missing = np.isnan(block)
        groups = kernels.gap_groups(missing)
        expected = np.zeros_like(block)
        for k in range(self.n_classes):
            g = 0 if len(self.covariance) == 1 else k
            sd = self.gaussians.sd[g]
            z = self.location.deviation(block, k) / sd
            deviation = kernels.expected_rows(z, self.gaussians.precision[g], groups).deviation * sd
            expected += posterior[:, [k]] * (self.location.value[k] + deviation)
        return np.where(missing, expected, block)

    def _log_density_complete(self, block: Floats) -> Floats:
        scores = self._scores(block)
        if scores is not None and self._spread <= FAR_APART:
            out = np.tile(self._levels, (len(block), 1))
            centre, rows = self._centre, kernels.in_rows(block)
            if self._quadratic(scores).add(rows, centre.pivot, centre.remainder, out) == len(block):
                return out
        if self._far_classes is not None:
            return np.asarray(self._levels - 0.5 * self._far_classes.squares(block))
        out = np.empty((len(block), self.n_classes))
        for k, white in enumerate(self._whitener_by_class()):
            z = self.location.deviation(block, k) @ white
            out[:, k] = self._levels[k] - 0.5 * np.einsum("ij,ij->i", z, z)
        return out

    def _log_relative_complete(self, block: Floats) -> Floats:
        if not self.tied or self._spread > FAR_APART:
            return self._log_density_complete(block)
        coef, level, centre = self._linear
        return kernels.add_to_rows((block if centre is None else centre.deviation(block)) @ coef, level)

    @cached_property
    def _far_classes(self) -> FarClasses | None:
        """Squared distances of many classes, some of them far apart; None of few, or of none far apart."""
        many = self.n_classes >= MANY_CLASSES and self.n_columns >= MANY_COLUMNS
        if not self.tied or not many or self._spread <= FAR_APART:
            return None
        sd = np.sqrt(np.diagonal(self.covariance[0]))
        return FarClasses(self.location, self._centre, self._whiteners[0][0], self._white_means, sd)

    @cached_property
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

    def squared_distance(self, block: Floats) -> Floats:
        """(x−μ)'Σ⁻¹(x−μ) of the cells that are there; 0 for a row without any."""
        out = np.zeros((len(block), self.n_classes))
        for rows, there, part in self._parts(block):
            for k in range(self.n_classes):
                with np.errstate(over="ignore", invalid="ignore"):
                    z = part.location.deviation(block[np.ix_(rows, there)], k) @ part._whitener(k)
                    out[rows, k] = np.einsum("ij,ij->i", z, z)
        return np.where(np.isnan(out), np.inf, out)  # ∞ − ∞, of numbers whose squares overflow

    def own_terms(self, block: Floats) -> Floats:
        """−½ (x−μ)_j [Σ⁻¹(x−μ)]_j, which add up to minus half the squared distance from the class mean."""
        out = np.zeros((*block.shape, self.n_classes))
        for rows, there, part in self._parts(block):
            for k in range(self.n_classes):
                z, white = part.location.deviation(block[np.ix_(rows, there)], k), part._whitener(k)
                with np.errstate(over="ignore", invalid="ignore"):
                    out[rows[:, None], there, k] = -0.5 * z * (z @ white @ white.T)
        return out

    def _parts(self, block: Floats) -> "Iterator[tuple[Ints, Ints, MultivariateNormalDistribution]]":
        """Rows that have the same cells, those cells, and their distribution; rows without any are passed."""
        for rows, gone in kernels.missing_patterns(np.isnan(block)):
            there = np.flatnonzero(~gone)
            if len(there):
                yield rows, there, self.marginal(there.tolist()) if gone.any() else self

    def marginal(self, columns: Sequence[int]) -> "MultivariateNormalDistribution":
        """The distribution of some of the columns: a part of the mean and of the covariance."""
        keep = list(columns)
        return MultivariateNormalDistribution(
            self.location[:, keep],
            self.covariance[:, keep][:, :, keep],
            shape=self.shape,
            uncounted=self.uncounted,
            copy=False,
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
        if self.uncounted:
            raise ValueError(f"the number of free parameters has no meaning here: {self.uncounted}")
        d = self.n_columns
        free = {"full": d * (d + 1) // 2, "diagonal": d, "spherical": 1}[self.shape]
        return self.location.pivot.size + len(self.covariance) * free

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """Means, standard deviations, and correlations of every two columns unless there are none."""
        covariance = np.broadcast_to(self.covariance, self._by_class)
        return list(of_normals(names, self.mean, covariance, full=self.shape == "full"))

    def log_likelihood(self, statistics: Scatter) -> float:
        """From the scatter: −½ Σ_k [N_k ln|2πΣ_k| + tr Σ_k⁻¹ (W_k + N_k (m−μ)(m−μ)')]."""
        apart = np.where(statistics.weight[:, None] > 0, statistics.location - self.location, 0.0)
        total = float(statistics.weight @ (self._log_dets + self.n_columns * LOG_2PI))
        shared = len(self.covariance) == 1
        for g, (white, _) in enumerate(self._one_by_one()):
            own = slice(None) if shared else slice(g, g + 1)
            scatter = statistics.scatter[own].sum(axis=0)
            shift = statistics.weight[own] @ ((apart[own] @ white) ** 2).sum(axis=1)
            total += float(((white @ white.T) * scatter).sum()) + float(shift)
        return -0.5 * total

    def quadratic(self, classes: Sequence[int] | None = None) -> QuadraticScores:
        """The log densities of some classes as quadratic functions of x."""
        chosen = list(range(self.n_classes) if classes is None else classes)
        means = self.location[chosen]
        centre = means.average(np.full(len(chosen), 1 / len(chosen)))
        apart = means - centre
        precision = np.broadcast_to(self.precision, self._by_class)[chosen]
        pull = np.einsum("kij,kj->ki", precision, apart)
        log_dets = self._log_dets[chosen]
        return QuadraticScores(
            centre=centre.value,
            quadratic=-0.5 * precision,
            linear=pull,
            constant=-0.5 * (np.einsum("ki,ki->k", pull, apart) + log_dets + self.n_columns * LOG_2PI),
            scale=np.sqrt(np.diagonal(self.covariance.mean(axis=0))),
        )


def _times(rows: Floats, matrix: Floats) -> Floats:
    """The product: row by row or, of a large table, a block of rows after the other by several threads."""
    if rows.size <= FEW_CELLS:
        return np.stack([row @ matrix for row in rows])
    out = np.empty((len(rows), matrix.shape[1]))

    def multiply(i: int) -> None:
        some = slice(i * BLOCK, (i + 1) * BLOCK)
        np.matmul(rows[some], matrix, out=out[some])

    each(multiply, -(-len(rows) // BLOCK))
    return out
