"""Mixtures of normals: class densities with more than one hump."""

import itertools
import operator
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from functools import cache, cached_property
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import ThreadpoolController

from posterior import kernels
from posterior._blas import one_blas_thread
from posterior._loading import load_module
from posterior._tasks import Tasks, each
from posterior._types import Floats, Ints
from posterior.families.base import Distribution, Family, Repair
from posterior.families.gaussian import MultivariateNormalDistribution
from posterior.families.multivariate_normal import MultivariateNormal
from posterior.families.parameters import Parameter, of_normals
from posterior.math import LOG_2PI, log_sum_exp, softmax
from posterior.stats import Location, Sample, Scatter
from posterior.stats.base import Problem
from posterior.stats.sample import CompleteSample

Shape = Literal["full", "tied", "diagonal", "spherical"]
COVARIANCE_TYPE = {"full": "full", "tied": "tied", "diagonal": "diag", "spherical": "spherical"}

# One row has no spread: a component is given to no fewer distinct rows than this.
ROWS_FOR_ONE = 2

# Rows that are repeated by their weights take memory.
MOST_ROWS = 100_000_000


class MixtureOfNormalsDistribution(Distribution):
    """Mixtures of normal densities, p(x | class) = Σ_m π_m N(x; μ_m, Σ_m).

    The components of all classes stand in one list: `weight` (M,), `mean` (M, d), `covariance` (M, d, d),
    or one (d, d) for all, and `owner` (M,), the class that each belongs to. Classes may thus have different
    numbers of them. The weights of a class add up to 1.

    >>> humps = MixtureOfNormalsDistribution(
    ...     weight=[1.0, 0.75, 0.25], mean=[[0.0], [2.0], [9.0]], covariance=[[1.0]], owner=[0, 1, 1]
    ... )
    >>> humps.log_density(np.array([[0.0], [9.0], [np.nan]])).round(3)
    array([[ -0.919,  -3.207],
           [-41.419,  -2.305],
           [  0.   ,   0.   ]])
    """

    parts: ClassVar[Mapping[str, Any]] = {
        "weight": Annotated[Floats, "M share"],
        "location": Annotated[Location, "M d any"],
        "covariance": Annotated[Floats, "G d d finite"],
        "owner": Annotated[Ints, "M place"],
        "shape": Shape,
        "repairs": tuple[Repair, ...],
    }

    def __init__(
        self,
        weight: ArrayLike,
        mean: "ArrayLike | Location",
        covariance: ArrayLike,
        owner: ArrayLike,
        *,
        shape: Shape = "full",
        repairs: tuple[Repair, ...] = (),
    ) -> None:
        location, matrices = Location.at(mean), np.array(covariance, dtype=np.float64)
        share, owners = _checked_weights(weight, owner, location)
        if not np.isfinite(location.value).all() or not np.isfinite(matrices).all():
            raise ValueError("mean and covariance must be finite numbers")
        order = np.argsort(owners, kind="stable")
        each = matrices.ndim == 3 and len(matrices) > 1
        self.components = MultivariateNormalDistribution(
            location[order], matrices[order] if each else matrices
        )
        self.weight, self.owner = share[order], owners[order]
        self.n_classes, self.n_columns = int(owners.max()) + 1, self.components.n_columns
        self.shape = shape
        self.repairs = repairs

    def of_classes(self, order: Ints) -> Self:
        """The same components, owned by the classes in another order."""
        owner = np.argsort(order)[self.owner]
        return type(self)(self.weight, self.location, self.covariance, owner, shape=self.shape)

    @property
    def location(self) -> Location:
        """The means of the components, (M, d), as pivot and remainder."""
        return self.components.location

    @property
    def mean(self) -> Floats:
        """The means of the components, (M, d)."""
        return self.components.mean

    @property
    def covariance(self) -> Floats:
        """The covariances of the components, (M, d, d), or (1, d, d) where all share one."""
        return self.components.covariance

    @property
    def n_components(self) -> Ints:
        """How many components each class has, (K,)."""
        return np.bincount(self.owner)

    @cached_property
    def _members(self) -> list[slice]:
        bounds = np.searchsorted(self.owner, np.arange(self.n_classes + 1)).tolist()
        return [slice(a, b) for a, b in itertools.pairwise(bounds)]

    def _joint(self, block: Floats) -> Floats:
        """Log joint density ln π_m + ln N(row; μ_m, Σ_m), (n, M)."""
        with np.errstate(over="ignore", invalid="ignore"):
            density = self.components.log_density(block)
        # Beyond the largest number there is no density; ∞ − ∞ on the way there is no answer.
        return np.where(np.isnan(density), -np.inf, density) + np.log(self.weight)

    def log_density(self, block: Floats) -> Floats:
        """The log density ln Σ_m π_m N(x; μ_m, Σ_m); what is missing is integrated out of every component."""
        joint = self._joint(block)
        return np.stack([log_sum_exp(joint[:, own]) for own in self._members], axis=-1)

    def log_terms(self, block: Floats) -> Floats:
        """The terms of the components, weighted by their responsibilities r_m = p(m | row, class).

        ln p(row) = Σ_m r_m [ln π_m + ln N_m − ln r_m] holds exactly (Neal & Hinton, 1998). Of ln N_m a column
        gets −½ z_j² − ½ ln 2πσ_j², where z = R^(−½) (x − μ)/σ, R the correlations: the decorrelated values
        that are nearest to the columns (Zuber & Strimmer, 2009). What belongs to no column is shared evenly.
        """
        joint = self._joint(block)
        out = np.zeros((*block.shape, self.n_classes))
        for rows, gone in kernels.missing_patterns(np.isnan(block)):
            there = np.flatnonzero(~gone)
            if len(there):
                part = self if not gone.any() else self.marginal(there.tolist())
                out[np.ix_(rows, there)] = part._complete_terms(block[np.ix_(rows, there)], joint[rows])
        return out

    def _complete_terms(self, block: Floats, joint: Floats) -> Floats:
        out = np.zeros((*block.shape, self.n_classes))
        for k, own in enumerate(self._members):
            responsibility = softmax(joint[:, own])
            for m, share in zip(range(own.start, own.stop), responsibility.T, strict=True):
                out[:, :, k] += share[:, None] * self._component_terms(block, m)
            rest = log_sum_exp(joint[:, own]) - out[:, :, k].sum(axis=1)
            out[:, :, k] += rest[:, None] / self.n_columns
        return out

    def _component_terms(self, block: Floats, m: int) -> Floats:
        """The part of the log density of a component that belongs to a column, (n, b)."""
        covariance = self.covariance[0 if len(self.covariance) == 1 else m]
        sd = np.sqrt(np.diagonal(covariance))
        value, vector = np.linalg.eigh(covariance / sd[:, None] / sd)
        z = self.location.deviation(block, m) / sd @ (vector / np.sqrt(value)) @ vector.T
        return np.asarray(-0.5 * (z * z + LOG_2PI) - np.log(sd))

    def marginal(self, columns: Sequence[int]) -> "MixtureOfNormalsDistribution":
        """The distribution of some of the columns: the same mixture of the components' marginals."""
        part = self.components.marginal(columns)
        return MixtureOfNormalsDistribution(
            self.weight, part.location, part.covariance, self.owner, shape=self.shape
        )

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        """One row for each class code: first its component, then its values."""
        component = np.empty(len(y), dtype=np.int64)
        for k, own in enumerate(self._members):
            rows = np.flatnonzero(y == k)
            share = self.weight[own] / self.weight[own].sum()
            component[rows] = own.start + rng.choice(len(share), size=len(rows), p=share)
        return self.components.sample(component, rng)

    @property
    def n_parameters(self) -> int:
        """Means, free entries of the covariances, and all weights of a class but one."""
        d = self.n_columns
        entries = {"diagonal": d, "spherical": 1}.get(self.shape, d * (d + 1) // 2)
        matrices = self.n_classes if self.shape == "tied" else len(self.covariance)
        return self.mean.size + matrices * entries + len(self.weight) - self.n_classes

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """Weight, means, standard deviations and correlations of every component, NaN for one too many."""
        shape, full = self.covariance.shape, self.shape in ("full", "tied")
        each = np.broadcast_to(self.covariance, (len(self.weight), *shape[1:]))
        found = []
        for m in range(int(self.n_components.max())):
            has = m < self.n_components
            own = np.where(has, [members.start + m for members in self._members], 0)
            weight = np.where(has, self.weight[own], np.nan)
            mean = np.where(has[:, None], self.mean[own], np.nan)
            covariance = np.where(has[:, None, None], each[own], np.nan)
            found.append(Parameter(tuple(names), f"component {m + 1}: weight", weight))
            found += of_normals(names, mean, covariance, full=full, lead=f"component {m + 1}: ")
        return found

    def log_likelihood(self, statistics: Sample) -> float:
        """Summed over the rows themselves."""
        own = self.log_density(statistics.values)[np.arange(len(statistics.y)), statistics.y]
        return float(statistics.weight @ own)


def _checked_weights(weight: ArrayLike, owner: ArrayLike, location: Location) -> tuple[Floats, Ints]:
    """Weights and owners of the components, refused where they make no mixture for every class."""
    share, owners = np.array(weight, dtype=np.float64), np.array(owner)
    n = len(location.pivot) if location.pivot.ndim == 2 else None
    if n is None or share.shape != (n,) or owners.shape != (n,) or not n:
        raise ValueError(
            "weight and owner must have a number for each component and mean a row, found shapes "
            f"{share.shape}, {owners.shape} and {location.pivot.shape}"
        )
    if owners.dtype.kind not in "iu" or set(owners.tolist()) != set(range(int(owners.max()) + 1)):
        raise ValueError(
            "owner must give the class of each component as 0, 1, …, every class having at least one; "
            f"found {owners.tolist()}"
        )
    if not (share > 0).all():
        raise ValueError(
            f"the weight of a component must be positive, found {share.tolist()}; leave the others out"
        )
    total = np.bincount(owners, share)
    if (np.abs(total - 1) > 1e-8).any():
        k = int(np.argmax(np.abs(total - 1)))
        raise ValueError(f"the weights of class {k} add up to {total[k]:g}; divide them by that")
    return share, owners.astype(np.int64)


class _Part(NamedTuple):
    """The components of one class, and what had to be done to get them."""

    weight: Floats
    location: Location
    covariance: Floats
    repairs: tuple[Repair, ...] = ()


@dataclass(frozen=True)
class MixtureOfNormals(Family[CompleteSample]):
    """A mixture of normals for each class, by scikit-learn's `GaussianMixture` (EM from k-means).

    `n_components="auto"` leaves the number to cross-validation. `shape` is that of the covariances: "full",
    "tied" (the components of a class share one), "diagonal" or "spherical". Of `n_init` starts the
    likeliest is kept; each ends when an iteration gains no more than `tol` in log-likelihood for a row, or
    after `max_iter`. The columns of a class are standardised first (for "spherical" by one number for
    all), and `floor` is added to every variance on that scale: offsets and scales change nothing, and
    neither does the order of the rows. A `random_state` gives the same bits with any number of threads.

    The components of a class come in the order of their means. A class with fewer than two distinct rows
    for each gets fewer; a single one is that of `MultivariateNormal`. Rows must be complete in training,
    and weights whole numbers.

    >>> x = np.array([[0.0], [0.2], [0.4], [9.0], [9.2], [9.4]])
    >>> family = MixtureOfNormals(2)
    >>> fitted = family.estimate(family.summarize(x, np.zeros(6, int), None, 1))
    >>> fitted.mean.round(3)
    array([[0.2],
           [9.2]])
    """

    n_components: Any = 2
    _: KW_ONLY
    shape: Shape = "full"
    n_init: int = 3
    max_iter: int = 500
    tol: float = 1e-5
    floor: float = 1e-6
    random_state: int = 0
    joint: bool = field(default=True, init=False, repr=False)
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {"n_components": (1, 2, 3, 4, 5)}
    why_not_mergeable = (
        "a mixture of normals is found by iterations over all rows, and mixtures of parts do not add up "
        "to that of the whole; fit all rows at once, or use MultivariateNormal for these columns"
    )

    def __post_init__(self) -> None:
        for name, least in (("n_components", 1), ("n_init", 1), ("max_iter", 1), ("random_state", 0)):
            if name not in self.open_settings:
                _refuse_below(name, getattr(self, name), least)
        if self.shape not in COVARIANCE_TYPE:
            raise ValueError(f"shape must be one of {list(COVARIANCE_TYPE)}, found {self.shape!r}")
        if not self.tol >= 0 or not self.floor > 0:
            raise ValueError(
                f"tol must not be negative and floor must be positive, found {self.tol} and {self.floor}"
            )

    @property
    def unharmed_by(self) -> frozenset[Problem]:
        """Without correlations no column is a combination of others."""
        return self._one.unharmed_by

    @property
    def _one(self) -> MultivariateNormal:
        """The family of a single component."""
        return MultivariateNormal(shape="full" if self.shape == "tied" else self.shape)

    def check(self, block: Floats, names: Sequence[str]) -> None:
        """Complete rows."""
        if kernels.has_missing(block):
            gaps = np.flatnonzero(np.isnan(block).any(axis=0)).tolist()
            columns = ", ".join(repr(names[j]) for j in gaps)
            raise ValueError(
                f"NaN in a mixture of normals, column {columns}: it is trained on complete rows only; leave "
                "those rows out, or give the columns MultivariateNormal, which fills gaps in, or Normal, "
                "which uses every value that is there. Missing values are fine when predicting"
            )

    def summarize(self, block: Floats, y: Ints, weight: Floats | None, n_classes: int) -> CompleteSample:
        """The rows themselves."""
        if weight is not None and (weight != np.floor(weight)).any():
            found = weight[weight != np.floor(weight)][0]
            raise ValueError(
                f"a mixture of normals takes whole numbers as sample_weight, 2 being the row twice, found "
                f"{found:g}; leave the weights out, or use MultivariateNormal, which takes any"
            )
        if weight is not None and weight.sum() > MOST_ROWS:
            raise ValueError(
                f"a mixture of normals repeats rows by their sample_weight, up to {MOST_ROWS:,} rows "
                f"in all, found {weight.sum():g}; divide the weights, or use MultivariateNormal"
            )
        return CompleteSample.of(block, y, weight, n_classes)

    def estimate(self, statistics: CompleteSample) -> MixtureOfNormalsDistribution:
        """One mixture for each class."""
        self.refuse_open()
        with one_blas_thread:
            return self._estimate(statistics.in_order)

    def _estimate(self, ordered: CompleteSample) -> MixtureOfNormalsDistribution:
        scatter = ordered.scatter
        single, spare = self._one.estimate(scatter), _spread(scatter)
        parts = []
        for k in each("class", range(ordered.n_classes), ordered.n_classes, leaves=False):
            rows = ordered.rows_of(k)
            n, fewer = self._affordable(rows, k)
            part = self._several(rows, n, k, spare) if n > 1 else _only(single, k)
            parts.append(part._replace(repairs=(*fewer, *part.repairs)))
        pivot, remainder = (
            np.concatenate([getattr(p.location, name) for p in parts]) for name in ("pivot", "remainder")
        )
        pooled = [
            r for r in single.repairs if r.class_index is None and any(len(p.weight) == 1 for p in parts)
        ]
        return MixtureOfNormalsDistribution(
            np.concatenate([p.weight for p in parts]),
            Location(pivot, remainder),
            np.concatenate([p.covariance for p in parts]),
            np.repeat(np.arange(len(parts)), [len(p.weight) for p in parts]),
            shape=self.shape,
            repairs=(*pooled, *(r for p in parts for r in p.repairs)),
        )

    def _affordable(self, rows: Floats, k: int) -> tuple[int, tuple[Repair, ...]]:
        """How many components the rows of a class allow, and what is said if that is fewer than asked for."""
        distinct = int((rows[1:] != rows[:-1]).any(axis=1).sum()) + (len(rows) > 0)
        n = min(self.n_components, max(distinct // ROWS_FOR_ONE, 1))
        if n == self.n_components or not distinct:
            return n, ()
        problem = f"has {distinct} distinct rows, and a component needs {ROWS_FOR_ONE}"
        return n, (Repair(k, _all(rows), "mixture", problem, f"given {n} of {self.n_components} components"),)

    def _several(self, rows: Floats, n: int, k: int, spare: Floats) -> _Part:
        """The mixture of a class: standardised, found, and brought back to the units of the columns."""
        mixture = load_module("sklearn.mixture")  # slow to import, and rarely needed
        pivot = rows[0]
        z = rows - pivot
        mean = z.mean(axis=0)
        z -= mean
        scale, flat = self._scale(z, kernels.rounding_of(rows), spare)
        with _quietly_on_one_thread():
            found = _watched(mixture.GaussianMixture)(
                n,
                covariance_type=COVARIANCE_TYPE[self.shape],
                tol=self.tol,
                reg_covar=self.floor,
                max_iter=self.max_iter,
                n_init=self.n_init,
                random_state=self.random_state,
            )
            found.told = Tasks("iteration", self.n_init * self.max_iter)
            found.fit(z / scale)
        order = np.lexsort(found.means_.T[::-1])
        covariance = _matrices(found.covariances_, self.shape, n, len(scale))[order]
        location = Location(np.tile(pivot, (n, 1)), mean + found.means_[order] * scale)
        repairs = [_floored(k, flat)] if flat else []
        if shrunk := _collapsed(covariance, flat, self.floor):
            repairs.append(_shrunk(k, shrunk))
        if not found.converged_:
            done = f"stopped after {self.max_iter} iterations; raise max_iter or tol"
            repairs.append(Repair(k, _all(rows), "mixture", "had not converged", done))
        return _Part(found.weights_[order], location, covariance * scale[:, None] * scale, tuple(repairs))

    def _scale(self, z: Floats, rounding: Floats, spare: Floats) -> tuple[Floats, tuple[int, ...]]:
        """The unit of each column in a class, and the columns that are constant there but for rounding."""
        sd = np.sqrt(np.mean(z * z, axis=0))
        flat = sd <= 4 * rounding
        if self.shape == "spherical":
            size = np.sqrt(np.mean(np.where(flat.all(), spare, sd) ** 2))
            return np.full(len(sd), size), ()
        return np.where(flat, spare, sd), tuple(np.flatnonzero(flat).tolist())


def _refuse_below(name: str, value: Any, least: int) -> None:
    try:
        whole = operator.index(value)
    except TypeError:
        whole = least - 1
    if whole < least or isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number, at least {least}, found {value!r}")


def _spread(s: Scatter) -> Floats:
    """The unit of a column where a class has none: its spread within classes, else over all rows, else 1."""
    total = float(s.weight.sum())
    within, over_all = np.diagonal(s.scatter.sum(axis=0)), np.diagonal(s.total())
    size = np.sqrt(np.where(within > 0, within, over_all) / total)
    return np.where(size > 0, size, 1.0)


@cache
def _watched(mixture: Any) -> Any:
    """scikit-learn's mixture that tells of each iteration; it ends early where somebody says stop."""

    class WatchedMixture(mixture):  # type: ignore[misc]  # scikit-learn ships no types
        told: Tasks

        def _m_step(self, *args: Any, **kwargs: Any) -> None:
            with self.told.next():
                super()._m_step(*args, **kwargs)
            if self.told.stopped:
                self.tol = np.inf  # which no further iteration gains

    return WatchedMixture


@cache
def _pools() -> ThreadpoolController:
    """The pools of threads, looked up once, after scikit-learn has loaded its own."""
    return ThreadpoolController()


@contextmanager
def _quietly_on_one_thread() -> Iterator[None]:
    """One thread for the same bits everywhere; what scikit-learn would warn of is said as a repair."""
    told = r"Best performing initialization did not converge|Number of distinct clusters"
    with _pools().limit(limits=1, user_api="openmp"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=told)
        yield


def _matrices(covariances: Floats, shape: str, n: int, d: int) -> Floats:
    """GaussianMixture's covariances of any shape as matrices, (n, d, d), symmetric to the bit."""
    if shape == "diagonal":
        return covariances[:, :, None] * np.eye(d)
    if shape == "spherical":
        return covariances[:, None, None] * np.eye(d)
    full = np.broadcast_to(covariances, (n, d, d))
    return (full + full.transpose(0, 2, 1)) / 2


def _collapsed(covariance: Floats, flat: tuple[int, ...], floor: float) -> tuple[int, ...]:
    """Columns in whose direction a component has no spread but the floor, those flat in the class apart."""
    rest = np.setdiff1d(np.arange(covariance.shape[1]), flat)
    value, vector = np.linalg.eigh(covariance[:, rest][:, :, rest])
    at_floor = (value < 2 * floor)[:, None, :] & (np.abs(vector) > 0.1)
    return tuple(rest[at_floor.any(axis=(0, 2))].tolist())


def _all(rows: Floats) -> tuple[int, ...]:
    return tuple(range(rows.shape[1]))


def _floored(k: int, columns: tuple[int, ...]) -> Repair:
    return Repair(k, columns, "covariance", "is zero or nearly so", "raised to the floor")


def _shrunk(k: int, columns: tuple[int, ...]) -> Repair:
    problem = "has shrunk to the floor"
    return Repair(k, columns, "covariance of a component", problem, "kept there; ask for fewer components")


def _only(single: MultivariateNormalDistribution, k: int) -> _Part:
    """The class whose mixture is one normal."""
    own = tuple(r for r in single.repairs if r.class_index == k)
    return _Part(np.ones(1), single.location[[k]], single.covariance[[k]], own)
