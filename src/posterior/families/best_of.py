"""The family that describes each column best, of several that are tried."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from posterior._types import Bools, Floats, Ints
from posterior.bayes import log_normalized, with_prior
from posterior.families.base import Distribution, Family, ProductDistribution
from posterior.families.gamma import Gamma
from posterior.families.histogram import Histogram
from posterior.families.kernel_density import KernelDensity
from posterior.families.negative_binomial import NegativeBinomial
from posterior.families.normal import LogNormal, Normal
from posterior.families.parameters import Parameter
from posterior.families.poisson import Poisson
from posterior.forms import QuadraticScores
from posterior.stats import ValueTable

FOLDS = 5


class BestOfDistribution(ProductDistribution):
    """Independent columns, each with its own distribution in `members`.

    >>> from posterior.families import ExponentialDistribution, NormalDistribution
    >>> two = BestOfDistribution([NormalDistribution([[0.0]], [[1.0]]), ExponentialDistribution([[1.0]])])
    >>> two.log_density(np.array([[0.0, 2.0]])).round(3)
    array([[-2.919]])
    """

    parts: ClassVar[Mapping[str, Any]] = {"members": tuple[Distribution, ...]}
    has_support = True

    def __init__(self, members: Sequence[Any]) -> None:
        self.members = tuple(members)
        if not self.members or {m.n_columns for m in self.members} != {1}:
            raise ValueError("members must be distributions of one column each, one for each column")
        if len({m.n_classes for m in self.members}) > 1:
            raise ValueError("members must be of the same classes")
        if any("values" not in m.reads for m in self.members):
            raise ValueError("members must be distributions of numbers")
        self.n_columns, self.n_classes = len(self.members), self.members[0].n_classes

    @property
    def has_zeros(self) -> bool:
        """Whether any column has them."""
        return any(member.has_zeros for member in self.members)

    def of_classes(self, order: Ints) -> Self:
        """The same distribution, its classes in another order."""
        return type(self)([member.of_classes(order) for member in self.members])

    def outside(self, block: Floats) -> Bools:
        """Cells that are outside in their column."""
        return np.concatenate([m.outside(block[:, [j]]) for j, m in enumerate(self.members)], axis=1)

    def class_terms(self, block: Floats, k: int) -> Floats:
        """Log density of every cell under class `k`."""
        each = [m.class_terms(np.ascontiguousarray(block[:, [j]]), k) for j, m in enumerate(self.members)]
        return np.concatenate(each, axis=1)

    def marginal(self, columns: Sequence[int]) -> Self:
        """The distribution of some of the columns."""
        return type(self)([self.members[j] for j in columns])

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        """One row for each class code."""
        return np.concatenate([member.sample(y, rng) for member in self.members], axis=1)

    def quadratic(self, classes: Sequence[int] | None = None) -> QuadraticScores:
        """The log densities as quadratic functions, where all columns are Gaussian."""
        return QuadraticScores.block_diagonal([member.quadratic(classes) for member in self.members])

    def squared_distance(self, block: Floats) -> Floats:
        """The sum over columns, where all of them are Gaussian."""
        each = [m.squared_distance(block[:, [j]]) for j, m in enumerate(self.members)]
        return np.asarray(sum(each))

    def own_terms(self, block: Floats) -> Floats:
        """Those of every column."""
        return np.concatenate([m.own_terms(block[:, [j]]) for j, m in enumerate(self.members)], axis=1)

    @property
    def n_parameters(self) -> int:
        """Those of all columns; which families were chosen is not counted."""
        return sum(member.n_parameters for member in self.members)

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """Those of every column."""
        each = zip(self.members, names, levels, strict=True)
        return [p for member, name, level in each for p in member.parameters([name], [level])]

    def log_likelihood(self, statistics: ValueTable) -> float:
        """Summed over the distinct values."""
        total = 0.0
        for member, x, tables in zip(self.members, statistics.values, statistics.tables, strict=True):
            for k, weight in enumerate(tables):
                some = weight > 0
                total += float(weight[some] @ member.class_terms(x[some, None], k)[:, 0])
        return total


# The families that are tried for a column of numbers, the simplest first. Those that its values rule out,
# such as Gamma where one is not positive, are passed over.
CANDIDATES: tuple[Family[Any], ...] = (
    Normal(tied=True),
    Normal(variance_rows=1.0),
    Poisson(),
    NegativeBinomial(),
    LogNormal(),
    Gamma(),
    Histogram(),
    KernelDensity(),
)


@dataclass(frozen=True)
class BestOf(Family[ValueTable]):
    """Choose a family for each column by the log loss of the class on held-out rows.

    The values of a column are put into five parts: five or more equal ones of a class are spread over all of
    them, the others in turn, so that neither the order of the rows nor chance has a say. Each part is scored
    by each of the `candidates`, estimated from the other parts, by the posterior of the class given this
    column alone; the first is taken whose loss is within one standard error of the smallest. Those that the
    values of the column rule out are passed over.

    >>> x = np.exp(np.linspace(-2, 2, 40))
    >>> y = (np.abs(np.log(x)) > 1).astype(int)
    >>> family = BestOf()
    >>> [type(m).__name__ for m in family.estimate(family.summarize(x[:, None], y, None, 2)).members]
    ['LogNormalDistribution']
    """

    candidates: tuple[Any, ...] = CANDIDATES
    kinds: ClassVar[frozenset[str]] = frozenset({"continuous", "count"})

    def __post_init__(self) -> None:
        object.__setattr__(self, "candidates", tuple(self.candidates))
        for family in self.candidates:
            right = isinstance(family, Family) and family.reads in ("values", "matrix") and not family.joint
            if not right or family.open_settings:
                raise ValueError(
                    f"candidates must be families of one number without an open setting, found {family!r}"
                )
        if not self.candidates:
            raise ValueError("candidates must hold at least one family, such as Normal()")

    def summarize(self, block: Floats, y: Ints, weight: Floats | None, n_classes: int) -> ValueTable:
        """The distinct numbers and their weights by class."""
        return ValueTable.of(block, y, weight, n_classes)

    def estimate(self, statistics: ValueTable) -> BestOfDistribution:
        """The best distribution of each column, estimated from all its values."""
        members = []
        for x, table in zip(statistics.values, statistics.tables, strict=True):
            family = self._best(x, table)
            members.append(_estimated(family, x, table))
        return BestOfDistribution(members)

    def _best(self, x: Floats, table: Floats) -> Family[Any]:
        """The family with the smallest loss."""
        fitting: list[Family[Any]] = [family for family in self.candidates if _takes(family, x)]
        if not fitting:
            raise ValueError(
                f"none of the candidates takes the numbers of a column, from {x.min():g} to {x.max():g}; "
                "add one that does, such as Normal()"
            )
        if len(fitting) == 1:
            return fitting[0]
        parts = _parts(table)
        losses = [_losses(family, x, table, parts) for family in fitting]
        best = losses[int(np.argmin([each.sum() for each in losses]))]
        return next(f for f, each in zip(fitting, losses, strict=True) if _is_as_good(each, best, table))


def _takes(family: Family[Any], x: Floats) -> bool:
    """Whether values may be those of a family."""
    try:
        family.check(x[:, None], ["column"])
    except ValueError:
        return False
    return True


def _parts(table: Floats) -> Floats:
    """The weights (F, K, V) of the parts that are held out in turn."""
    parts = np.repeat(table[None] / FOLDS, FOLDS, axis=0)
    # Of few equal values all are in one part, and the next ones in the next.
    for k, weight in enumerate(table):
        few = np.flatnonzero((weight > 0) & (weight < FOLDS))
        parts[:, k, few] = 0.0
        parts[np.arange(len(few)) % FOLDS, k, few] = weight[few]
    return parts


def _estimated(family: Family[Any], x: Floats, table: Floats) -> Any:
    """The distribution of values with weights (K, V)."""
    y, place = np.nonzero(table)
    return family.estimate(family.summarize(x[place, None], y, table[y, place], len(table)))


def _is_as_good(losses: Floats, best: Floats, table: Floats) -> bool:
    """Whether a loss is within one standard error of the smallest, the rows being the same."""
    more = (losses - best)[table > 0]
    weight = table[table > 0]
    square = float((more**2 / weight).sum()) - float(more.sum()) ** 2 / float(weight.sum())
    return bool(more.sum() <= np.sqrt(max(square, 0.0)) + 1e-9 * weight.sum())


def _losses(family: Family[Any], x: Floats, table: Floats, parts: Floats) -> Floats:
    """The log loss of the class, given the value, in parts that were held out: summed for each value."""
    total = np.zeros(table.shape)
    for part in parts:
        others = np.maximum(table - part, 0.0)
        others[others < 1e-12 * table] = 0.0
        if not part.any() or not others.any():
            continue
        with np.errstate(all="ignore"):
            found = _estimated(family, x, others)
            shown = np.flatnonzero(part.any(axis=0))
            scores = np.nan_to_num(found.log_relative(x[shown, None]), nan=-1e300, neginf=-1e300)
            prior = np.log(others.sum(axis=1) / others.sum())
            posterior = log_normalized(with_prior(scores, np.maximum(prior, -700.0)))
        total[:, shown] -= part[:, shown] * np.maximum(posterior.T, -700.0)
    return np.where(np.isnan(total), 700.0 * table, total)
