"""Numbers that have few values: a probability for each of them, or a normal."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from posterior import kernels
from posterior._types import Floats, Ints
from posterior.families.base import AUTO, Family, LeftOut, Repair
from posterior.families.best_of import BestOfDistribution
from posterior.families.histogram import HistogramDistribution
from posterior.families.left_out.values import ValuesWithout, without_each
from posterior.families.levels import FEW_VALUES
from posterior.families.normal import Normal
from posterior.families.sums import ALPHAS, check_alpha, safe_log
from posterior.stats import Location, Moments, ValueTable

# Two values are true and false, which a linear form describes as well.
LEAST_VALUES = 3


class FewValuesDistribution(BestOfDistribution):
    """Independent columns, each normal or with a probability for each value.

    >>> from posterior.families import NormalDistribution
    >>> FewValuesDistribution([NormalDistribution([[0.0]], [[1.0]])]).log_density(np.zeros((1, 1))).round(3)
    array([[-0.919]])
    """

    has_support = False  # neither of the two rules out a number

    @property
    def repairs(self) -> tuple[Repair, ...]:  # type: ignore[override]
        """Those of all columns."""
        each = ((j, repair) for j, member in enumerate(self.members) for repair in member.repairs)
        return tuple(replace(repair, columns=(j,)) for j, repair in each)


@dataclass(frozen=True)
class FewValues(Family[ValueTable]):
    """Integers with few values, such as grades: a probability for each value, or a normal.

    With `discrete=True` each value has a probability of its own in each class, (n_v + α V m_v) / (N + α V),
    where m_v is the share of the value among V in all classes, (n_v + 1) / (N + V), as in
    `Categorical(hierarchical=True)`. Its bin goes half-way to its neighbours, so that a number in between, or
    beyond all of them, says what the nearest value does. With `discrete=False`, and for columns with more
    than ten values or with one, it is `Normal` with the same `tied` and `variance_rows`. Settings that are
    "auto" are left to cross-validation.

    >>> rooms = np.array([[1.0], [2.0], [4.0], [1.0]])
    >>> family = FewValues()
    >>> rows = family.summarize(rooms, np.array([0, 0, 1, 1]), None, 2)
    >>> family.estimate(rows).members[0].share[0].round(3)
    array([[0.457, 0.371, 0.171],
           [0.457, 0.171, 0.371]])
    """

    alpha: Any = 1.0
    tied: Any = False
    variance_rows: float = 0.0
    discrete: Any = True
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "alpha": ALPHAS,
        "tied": (True, False),
        "discrete": (False, True),
    }

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        if np.ndim(self.alpha):
            raise ValueError(f"alpha must be a single number for FewValues, found {self.alpha!r}")
        if self.discrete not in (True, False, AUTO):
            raise ValueError(f"discrete must be True, False or 'auto', found {self.discrete!r}")
        Normal(tied=self.tied, variance_rows=self.variance_rows)  # refuses what is no setting

    @property
    def plainest(self) -> Self:
        """Values by themselves have no variance, and a normal is not smoothed."""
        if self.discrete is True:
            return replace(self, tied=True)
        return replace(self, alpha=1.0) if self.discrete is False else self

    @property
    def normal(self) -> Normal:
        """The family of columns that are not discrete."""
        return Normal(tied=self.tied, variance_rows=self.variance_rows)

    def summarize(self, block: Floats, y: Ints, weight: Floats | None, n_classes: int) -> ValueTable:
        """The distinct numbers and their weights by class."""
        return ValueTable.of(block, y, weight, n_classes)

    def estimate(self, statistics: ValueTable) -> FewValuesDistribution:
        """A histogram or a normal for each column."""
        self.refuse_open()
        members: list[Any] = []
        for x, table, mark in zip(statistics.values, statistics.tables, statistics.mark, strict=True):
            if self._is_discrete(x):
                members.append(self._histogram(x, table))
            else:
                members.append(self.normal.estimate(_moments(x, table[:, None], np.array([mark]))))
        return FewValuesDistribution(members)

    def _is_discrete(self, x: Floats) -> bool:
        return bool(self.discrete) and 1 < len(x) <= FEW_VALUES

    def _histogram(self, x: Floats, table: Floats) -> HistogramDistribution:
        edges = x[:-1] / 2 + x[1:] / 2
        tail = [[edges[0] - x[0], x[-1] - edges[-1]]]
        return HistogramDistribution([edges], [self._shares(table)], tail)

    def _shares(self, table: Floats) -> Floats:
        """The probability of each value in each class, of tables (…, K, V)."""
        lent = self.alpha * table.shape[-1]
        everyone = table.sum(axis=-2, keepdims=True)
        overall = (everyone + 1) / (everyone.sum(axis=-1, keepdims=True) + table.shape[-1])
        total = table.sum(axis=-1, keepdims=True) + lent
        like_all = np.broadcast_to(overall, table.shape).copy()
        return np.asarray(np.divide(table + lent * overall, total, out=like_all, where=total > 0))

    def moments(self, statistics: ValueTable) -> Moments:
        """What `Normal` needs to know of the same rows."""
        each = [
            _moments(x, table[:, None], np.zeros(1))
            for x, table in zip(statistics.values, statistics.tables, strict=True)
        ]
        weight, pivot, remainder, scatter = (
            np.concatenate(part, axis=1)
            for part in zip(
                *((m.weight, m.location.pivot, m.location.remainder, m.scatter) for m in each), strict=True
            )
        )
        return Moments(weight, Location(pivot, remainder), scatter, statistics.mark)

    def leave_one_out(
        self, statistics: ValueTable, distribution: FewValuesDistribution
    ) -> Callable[[Floats, Ints, Floats | None], LeftOut]:
        """Probabilities, or means and variances, of the values that are left without the row."""

        def terms(rows: ValuesWithout) -> Floats:
            tables = np.stack([rows.of_class(k) for k in range(len(rows.table))])  # (K, m, V)
            out = np.empty((len(rows.place), len(rows.table)))
            there = tables.sum(axis=0) > 0  # a value that is gone with the row is no value any more
            for shown in np.unique(there, axis=0):
                mine = (there == shown).all(axis=1)
                x, left = rows.x[shown], tables[:, mine][:, :, shown]
                out[mine] = self._log_density(x, left, rows.left[mine])
            return out

        return without_each(statistics, terms)

    def _log_density(self, x: Floats, tables: Floats, at: Floats) -> Floats:
        """The log densities (m, K) of numbers (m,), each by tables of its own, (K, m, V)."""
        if not self._is_discrete(x):
            normal = self.normal.estimate(_moments(x, tables, np.zeros(len(at))))
            return np.stack([normal.class_terms(at[None], k)[0] for k in range(len(tables))], axis=1)
        shares = self._shares(tables.transpose(1, 0, 2))
        one = self._histogram(x, tables[:, 0])
        place = np.searchsorted(one.edges[0], at, side="right")
        heights = one.class_terms(at[:, None], 0)[:, 0] - safe_log(one.share[0][0])[place]
        return np.asarray(safe_log(shares[np.arange(len(at)), :, place]) + heights[:, None])


def _moments(x: Floats, tables: Floats, mark: Floats) -> Moments:
    """Moments (K, m) of values (V,) with weights (K, m, V): m columns that have these values."""
    if not len(x):
        x, tables = np.zeros(1), np.zeros((*tables.shape[:2], 1))
    weight = tables.sum(axis=-1)
    pivot = x[(tables > 0).argmax(axis=-1)]  # a value of the class, which may be far from the others
    apart = x - pivot[..., None]
    remainder = kernels.ratio((tables * apart).sum(axis=-1), weight)
    scatter = (tables * (apart - remainder[..., None]) ** 2).sum(axis=-1)
    return Moments(weight, Location.sum(pivot, remainder), scatter, mark)


def is_few(found: Sequence[float] | Floats) -> bool:
    """Whether numbers are whole and have at least three and at most ten values.

    >>> is_few([1.0, 2.0, 5.0]), is_few([0.0, 1.0]), is_few([0.5, 1.0, 2.0])
    (True, False, False)
    """
    values = np.unique(np.asarray(found, dtype=np.float64))
    return bool(LEAST_VALUES <= len(values) <= FEW_VALUES and (values == np.rint(values)).all())
