"""Any distribution of scipy.stats as a family, by maximum likelihood."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy import optimize

from posterior._loading import load_module
from posterior._types import Bools, Floats, Ints
from posterior.families.base import Family, ProductDistribution
from posterior.families.parameters import Parameter
from posterior.stats import ValueTable

# So many values show scipy's own estimator where to begin.
SHOWN = 500
# The log-likelihood where a value is impossible.
IMPOSSIBLE = 1e300
Loss = Callable[[Floats], float]


@cache
def names_in_scipy() -> frozenset[str]:
    """The names of all distributions of numbers in scipy.stats: what a model file may name."""
    stats = load_module("scipy.stats")  # takes a while to import
    found = {name: getattr(stats, name) for name in stats.__all__}
    kinds = stats.rv_continuous | stats.rv_discrete
    return frozenset(name for name, value in found.items() if isinstance(value, kinds) and value.name == name)


def is_scipy(given: Any) -> bool:
    """Whether an object is a distribution of scipy.stats, or one made in its way."""
    return any(base.__name__ == "rv_generic" and "scipy" in base.__module__ for base in type(given).__mro__)


def family_of(given: Any) -> Any:
    """What a user gave as a family: one, its class, or a distribution of scipy; anything else as it is."""
    if isinstance(given, type) and issubclass(given, Family):
        return given()
    return FromScipy(given) if is_scipy(given) else given


def _named(name: str) -> Any:
    """The distribution of this name; nothing else of scipy.stats is ever looked up."""
    if name not in names_in_scipy():
        raise ValueError(
            f"{name!r:.40} is no distribution of scipy.stats; expected a name such as 'gamma', "
            "'weibull_min' or 'nbinom'"
        )
    return getattr(load_module("scipy.stats"), name)


class FromScipyDistribution(ProductDistribution):
    """Densities of one distribution of scipy.stats, with parameters (K, d, p) in scipy's order.

    Shapes come first, then `loc` and, for a continuous one, `scale`.

    >>> one = FromScipyDistribution("norm", [[[0.0, 1.0]]])
    >>> one.log_density(np.array([[0.0]])).round(3)
    array([[-0.919]])
    """

    parts: ClassVar[Mapping[str, Any]] = {
        "name": str,
        "values": Annotated[Floats, "K d p finite"],
        "n_free": int,
    }
    has_support = True

    def __init__(self, name: Any, values: Any, n_free: int | None = None) -> None:
        self.distribution = _named(name) if isinstance(name, str) else name
        self.values = np.asarray(values, dtype=np.float64)
        if self.values.ndim != 3 or self.values.shape[2] != len(parameter_names(self.distribution)):
            raise ValueError(
                f"values must be (n_classes, n_columns, {len(parameter_names(self.distribution))}) for the "
                f"parameters {', '.join(parameter_names(self.distribution))}, found shape {self.values.shape}"
            )
        self.n_classes, self.n_columns = self.values.shape[:2]
        self.n_free = self.values.shape[2] if n_free is None else n_free
        if wrong := self.impossible():
            raise ValueError(wrong)

    @property
    def name(self) -> str:
        """Its name in scipy.stats; refused for one that is not there."""
        return _known_name(self.distribution)

    def impossible(self) -> str:
        """Parameters that scipy does not take, and more estimated ones than there are."""
        if not 0 <= self.n_free <= self.values.shape[2]:
            return f"{self.n_free} estimated parameters of {self.values.shape[2]}"
        shapes, loc, scale = _split(self.distribution, np.moveaxis(self.values, 2, 0))
        right = bool(np.isfinite(self.values).all() and (scale > 0).all() and np.isfinite(loc).all())
        if right and shapes:
            right = bool(np.all(self.distribution._argcheck(*shapes)))
        return "" if right else f"parameters that {self.distribution.name} does not have"

    def outside(self, block: Floats) -> Bools:
        """Numbers that are impossible in every class."""
        found = np.ones(block.shape, dtype=np.bool_)
        for k in range(self.n_classes):
            found &= np.isneginf(self.class_terms(block, k))
        return found

    def class_terms(self, block: Floats, k: int) -> Floats:
        """Log density of every cell under class `k`."""
        missing = np.isnan(block)
        terms = np.empty(block.shape)
        for j, x in enumerate(np.where(missing, 0.0, block).T):
            terms[:, j] = _log_density(self.distribution, x, self.values[k, j])
        terms[missing] = 0.0
        return terms

    def marginal(self, columns: Sequence[int]) -> "FromScipyDistribution":
        """The distribution of some of the columns."""
        return FromScipyDistribution(self.distribution, self.values[:, list(columns)], self.n_free)

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        """One row for each class code."""
        drawn = self.distribution.rvs(*np.moveaxis(self.values[y], 2, 0), random_state=rng)
        return np.asarray(drawn, dtype=np.float64).reshape(len(y), self.n_columns)

    @property
    def n_parameters(self) -> int:
        """Those that were estimated, for each class and column."""
        return self.n_free * self.n_classes * self.n_columns

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """The parameters of every column, by the names that scipy gives them."""
        called = parameter_names(self.distribution)
        return [
            Parameter((column,), name, self.values[:, j, i].copy())
            for j, column in enumerate(names)
            for i, name in enumerate(called)
        ]

    def log_likelihood(self, statistics: ValueTable) -> float:
        """Summed over the distinct values."""
        total = 0.0
        for j, (x, tables) in enumerate(zip(statistics.values, statistics.tables, strict=True)):
            for k, weight in enumerate(tables):
                some = weight > 0
                total += float(weight[some] @ _log_density(self.distribution, x[some], self.values[k, j]))
        return total

    def to_parts(self) -> dict[str, Any]:
        """The name, which must be one of scipy.stats, and the parameters."""
        return {"name": self.name, "values": self.values, "n_free": self.n_free}


@dataclass(frozen=True, eq=False)
class FromScipy(Family[ValueTable]):
    """A distribution of scipy.stats, continuous or discrete, by maximum likelihood in each class.

    `distribution` is the object or its name in scipy.stats. `fixed` are parameters that are not estimated, as
    in {"loc": 0.0}; the `loc` of a discrete one is 0 unless it is given. `alpha` adds that many rows, spread
    as the column is over all classes, to every class, so that no class rules out a value that others have; 0
    is maximum likelihood. Of more than 4,096 distinct numbers in a column, so many cells of a grid are kept.

    >>> x = np.array([[1.0], [2.0], [6.0]])
    >>> family = FromScipy("expon", fixed={"loc": 0.0}, alpha=0)
    >>> family.estimate(family.summarize(x, np.zeros(3, dtype=int), None, 1)).values.round(4)
    array([[[0., 3.]]])
    """

    distribution: Any
    fixed: Mapping[str, float] | None = None
    alpha: float = 1.0
    kinds: ClassVar[frozenset[str]] = frozenset({"continuous", "count"})
    parts: ClassVar[Mapping[str, Any]] = {
        "distribution": str,
        "fixed": tuple[tuple[str, float], ...],
        "alpha": float,
    }

    def __post_init__(self) -> None:
        if not isinstance(self.distribution, str) and not is_scipy(self.distribution):
            raise ValueError(
                f"distribution must be one of scipy.stats, such as scipy.stats.gamma or 'gamma', found "
                f"{self.distribution!r:.80}; frozen ones and those of scipy's new interface have no estimator"
            )
        unknown = sorted(set(self.fixed or {}) - set(parameter_names(self.rv)))
        if unknown:
            raise ValueError(
                f"fixed names {unknown[0]!r}, but the parameters of {self.rv.name} are "
                f"{', '.join(parameter_names(self.rv))}"
            )
        if not 0 <= self.alpha < np.inf:
            raise ValueError(f"alpha must be a number, not negative, found {self.alpha!r}")

    @property
    def rv(self) -> Any:
        """The distribution of scipy."""
        return _named(self.distribution) if isinstance(self.distribution, str) else self.distribution

    @property
    def given(self) -> dict[str, float]:
        """The parameters that are not estimated."""
        lattice = {} if _is_continuous(self.rv) else {"loc": 0.0}
        return lattice | {name: float(value) for name, value in (self.fixed or {}).items()}

    def _key(self) -> tuple[Any, ...]:
        rv = self.rv
        own = rv.name if rv.name in names_in_scipy() else id(rv)
        return type(rv).__name__, own, tuple(sorted(self.given.items())), float(self.alpha)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FromScipy) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def to_parts(self) -> dict[str, Any]:
        """The name in scipy.stats and the settings; refused for a distribution that is not there."""
        fixed = tuple(sorted((self.fixed or {}).items()))
        return {"distribution": _known_name(self.rv), "fixed": fixed, "alpha": float(self.alpha)}

    @classmethod
    def from_parts(cls, parts: Mapping[str, Any]) -> Self:
        """The family of these settings."""
        return cls(parts["distribution"], dict(parts["fixed"]) or None, parts["alpha"])

    def check(self, block: Floats, names: Sequence[str]) -> None:
        """Counts are whole numbers."""
        if _is_continuous(self.rv):
            return
        broken = ~np.isnan(block) & (block != np.floor(block))
        if broken.any():
            row, column = np.argwhere(broken)[0]
            raise ValueError(
                f"column {names[column]!r}: {self.rv.name} takes whole numbers, found "
                f"{block[row, column]:g}; choose a continuous one for it, or make the value missing (NaN)"
            )

    def summarize(self, block: Floats, y: Ints, weight: Floats | None, n_classes: int) -> ValueTable:
        """The distinct numbers and their weights by class."""
        return ValueTable.of(block, y, weight, n_classes)

    def estimate(self, statistics: ValueTable) -> FromScipyDistribution:
        """The parameters of each class and column; of a class without values, those of all rows."""
        columns = []
        for x, tables in zip(statistics.values, statistics.tables, strict=True):
            everyone = tables.sum(axis=0) / tables.sum()
            added = [max(self.alpha, 0.0) if weight.any() else 1.0 for weight in tables]
            columns.append(
                [
                    _likeliest(self.rv, x, weight + more * everyone, self.given)
                    for weight, more in zip(tables, added, strict=True)
                ]
            )
        n_free = len(parameter_names(self.rv)) - len(self.given)
        return FromScipyDistribution(self.rv, np.moveaxis(np.array(columns), 0, 1), n_free)


def parameter_names(rv: Any) -> tuple[str, ...]:
    """The parameters of a distribution of scipy, in its order."""
    shapes = tuple(name.strip() for name in rv.shapes.split(",")) if rv.shapes else ()
    return (*shapes, "loc", "scale") if _is_continuous(rv) else (*shapes, "loc")


def _is_continuous(rv: Any) -> bool:
    return hasattr(rv, "logpdf")


def _known_name(rv: Any) -> str:
    """The name of a distribution in scipy.stats; refused where it is not that one."""
    if rv.name in names_in_scipy() and type(_named(rv.name)) is type(rv):
        return str(rv.name)
    raise ValueError(
        f"FromScipy({rv.name}) cannot be in a model file: it is none of scipy.stats, and a file holds no "
        "program; use one of scipy.stats, or write a family of your own and register it"
    )


def _split(rv: Any, values: Floats) -> tuple[list[Floats], Floats, Floats]:
    """Shapes, location and scale, of parameters along the first axis."""
    n = len(values) - (2 if _is_continuous(rv) else 1)
    scale = values[n + 1] if _is_continuous(rv) else np.ones_like(values[n])
    return list(values[:n]), values[n], scale


def _log_density(rv: Any, x: Floats, values: Floats) -> Floats:
    """Log densities, or probabilities; −inf where scipy knows none."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = (rv.logpdf if _is_continuous(rv) else rv.logpmf)(x, *values)
    return np.where(np.isnan(found), -np.inf, np.asarray(found, dtype=np.float64))


def _likeliest(rv: Any, x: Floats, weight: Floats, given: Mapping[str, float]) -> Floats:
    """The parameters of maximum likelihood, of distinct values with weights."""
    some = weight > 0
    x, weight = x[some], weight[some] / weight.sum()
    names = parameter_names(rv)
    free = [i for i, name in enumerate(names) if name not in given]
    start = np.array([given.get(name, 0.0) for name in names])

    def loss(values: Floats) -> float:
        point = start.copy()
        point[free] = values
        found = float(weight @ np.maximum(_log_density(rv, x, point), -IMPOSSIBLE))
        return -found if np.isfinite(found) else IMPOSSIBLE

    begun = (_begun if _is_continuous(rv) else _begun_discrete)(rv, x, weight, given, free, loss)
    start[free] = _polished(loss, begun) if free else []
    best = loss(start[free])
    if not best < 0.5 * IMPOSSIBLE:
        raise ValueError(
            f"no parameters of {rv.name} give every number of a column a density (from {x.min():g} to "
            f"{x.max():g}); choose another distribution, or other fixed parameters"
        )
    return start


def _begun(
    rv: Any, x: Floats, weight: Floats, given: Mapping[str, float], free: list[int], loss: Loss
) -> Floats:
    """Where scipy begins for values spread as these are, or a plain guess that is better."""
    levels = (np.arange(SHOWN) + 0.5) / SHOWN
    shown = x[np.searchsorted(np.cumsum(weight), levels * (1 - 1e-12)).clip(0, len(x) - 1)]
    spread = float(np.sqrt(weight @ (x - weight @ x) ** 2)) or abs(float(x[0])) * 1e-3 or 1.0
    names, candidates = parameter_names(rv), []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            candidates.append(np.asarray(rv._fitstart(shown), dtype=np.float64)[free])
        except Exception:
            candidates.clear()
    for loc in (float(weight @ x), float(x.min()) - 0.1 * spread):
        guess = {"loc": loc, "scale": spread}
        candidates.append(np.array([guess.get(names[i], 1.0) for i in free]))
    return min(candidates, key=loss)


def _begun_discrete(
    rv: Any,
    x: Floats,
    weight: Floats,
    given: Mapping[str, float],
    free: list[int],
    loss: Callable[..., float],
) -> Floats:
    """The best of a search of the ranges that scipy gives for the shapes."""
    if not free:
        return np.zeros(0)
    names, top = parameter_names(rv), 10 * float(np.abs(x).max()) + 10
    domains = {info.name: (info.domain, info.integrality) for info in rv._shape_info()}
    domains["loc"] = ((float(x.min()) - 10, float(x.max()) + 10), True)
    ranges = [domains[names[i]] for i in free]
    bounds = [(max(float(low), -top) + 1e-9, min(float(high), top) - 1e-9) for (low, high), _ in ranges]
    whole = [bool(integrality) for _, integrality in ranges]
    search: Any = optimize.differential_evolution
    found = search(loss, bounds, integrality=whole, seed=0, polish=False, maxiter=40, popsize=10)
    return np.asarray(found.x, dtype=np.float64)


def _polished(loss: Loss, begun: Floats) -> Floats:
    """The end of a quasi-Newton search, and of Nelder & Mead's (1965) from there on."""
    minimize: Any = optimize.minimize
    point, height = begun, loss(begun)
    searches = [("BFGS", {"gtol": 1e-8}), ("Nelder-Mead", {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 300})]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method, options in searches:
            found = minimize(loss, point, method=method, options=options)
            if found.fun < height:
                point, height = np.asarray(found.x, dtype=np.float64), float(found.fun)
    return point
