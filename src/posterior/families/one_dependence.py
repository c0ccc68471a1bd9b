"""Averaged one-dependence estimators: every column in turn is the parent of all others."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from posterior import kernels
from posterior._types import AnyArray, Floats, Ints
from posterior.families.base import LeftOut
from posterior.families.left_out.level_pairs import left_out_parent_sums
from posterior.families.level_pairs import LevelDistribution, LevelFamily
from posterior.families.levels import Levels
from posterior.families.parameters import Parameter, most_telling
from posterior.math import NOT_ONE, are_places
from posterior.stats import LevelPairs
from posterior.stats.level_pairs import first_levels, levels_of

# The largest number of probabilities of pairs that are listed.
LISTED_PAIRS = 1000


class OneDependenceDistribution(LevelDistribution):
    """A mixture over parent columns: p(row | class) = mean over i of p(x_i | class) Π_j p(x_j | class, x_i).

    `log_level` (K, P) are the logs of p(u | class) over the number of parent columns, for all levels u of
    them, and `log_given` (K, P, V) those of p(v | class, u) for all levels of the columns, zero where both
    are levels of one column. `parents` are the numbers of levels of the parent columns, and `child` says
    which of the columns each of them is, −1 for one that was integrated out.

    A missing cell is integrated out exactly, as a child and as a parent.

    >>> from posterior import OneDependence
    >>> model = OneDependence().fit([["a", "x"], ["b", "x"], ["b", "y"], ["a", "y"]], [0, 0, 1, 1])
    >>> type(model.model_.blocks[0].distribution).__name__
    'OneDependenceDistribution'
    """

    parts: ClassVar[Mapping[str, Any]] = {
        "log_level": Annotated[Floats, "K P log"],
        "log_given": Annotated[Floats, "K P V log"],
        "sizes": tuple[int, ...],
        "parents": tuple[int, ...],
        "child": tuple[int, ...],
        "levels": Levels | None,
    }
    why_no_likelihood = (
        "the likelihood of a mixture over parent columns does not follow from counts of pairs: "
        "AIC and BIC are not known; score_samples gives the log density of rows"
    )

    def __init__(
        self,
        log_level: Floats,
        log_given: Floats,
        sizes: tuple[int, ...],
        parents: tuple[int, ...],
        child: tuple[int, ...],
        levels: Levels | None = None,
    ) -> None:
        self.log_level, self.log_given = log_level, log_given
        self.sizes, self.parents, self.child, self.levels = sizes, parents, child, levels
        self.n_classes, self.n_columns = len(log_level), len(sizes)

    def impossible(self) -> str:
        """Columns and parent columns fit the tables, whose probabilities sum to one."""
        n_levels = self.log_given.shape[1:]
        counted = all(size >= 0 for size in (*self.sizes, *self.parents))
        if not counted or n_levels != (sum(self.parents), sum(self.sizes)) or not self.parents:
            return "tables of other levels than those of the columns"
        own = [j for j in self.child if j != -1]
        fitting = len(self.child) == len(self.parents) and are_places(own, self.n_columns)
        fitting = fitting and len(own) == self.n_columns
        pairs = zip(self.child, self.parents, strict=False)
        if not (fitting and all(j < 0 or self.sizes[j] == size for j, size in pairs)):
            return "parents that are other columns"
        return "" if self._sums_to_one() else "probabilities that do not sum to one"

    def _sums_to_one(self) -> bool:
        by_parent = np.add.reduceat(np.exp(self.log_level), _filled(self.parents), axis=1)
        if not np.allclose(by_parent, 1 / len(self.parents), rtol=0, atol=NOT_ONE):
            return False
        same = np.repeat(self.child, self.parents)[:, None] == np.repeat(
            np.arange(self.n_columns), self.sizes
        )
        if (self.log_given * same).any():
            return False
        given = np.where(same, np.nan, np.exp(self.log_given))
        sums = np.add.reduceat(given, _filled(self.sizes), axis=2)
        return np.allclose(sums[~np.isnan(sums)], 1, rtol=0, atol=NOT_ONE)

    @cached_property
    def _parent_sums(self) -> kernels.ParentSums:
        return kernels.ParentSums(self.sizes, self.parents, self.child, self.log_level, self.log_given)

    def log_density(self, block: Any) -> Floats:
        """Log of the mean over parent columns, each the product of its conditional probabilities."""
        return self._parent_sums.of(self.places(block))

    def log_terms(self, block: Any) -> Floats:
        """What each column adds, averaged over the parents by how likely they make the row.

        With the shares r_u of the parents in the density, its log is Σ_u r_u (ln p(u) + Σ_j ln p(x_j | u))
        plus the entropy of r. A column's term is its own part of that sum; what belongs to no column (the
        entropy, at most the log of the number of columns, and parents that are missing) is shared out evenly.
        """
        places = self.places(block)
        there = places >= 0
        hot = kernels.one_hot(places, sum(self.sizes))
        allowed = self._parent_sums.allowed(places)
        out = np.zeros((*places.shape, self.n_classes))
        column = np.repeat(np.arange(self.n_columns), self.sizes)
        own = np.repeat(self.child, self.parents)
        for k in range(self.n_classes):
            given = self.log_given[k]
            scores = np.where(allowed, hot @ given.T + self.log_level[k], -np.inf)
            top = scores.max(axis=1, initial=-np.inf, keepdims=True)
            share = np.exp(scores - top)
            total = share.sum(axis=1, keepdims=True)
            share /= total
            by_level = hot * (share @ given)
            np.add.at(out[:, :, k].T, column, by_level.T)
            as_parent = share * (self.log_level[k] + np.log(len(self.parents)))
            for u in np.flatnonzero(own >= 0):
                out[:, own[u], k] += np.where(there[:, own[u]], as_parent[:, u], 0.0)
            rest = (top + np.log(total))[:, 0] - out[:, :, k].sum(axis=1)
            out[:, :, k] += there * (rest / np.maximum(there.sum(axis=1), 1))[:, None]
        return out

    def marginal(self, columns: Sequence[int]) -> "OneDependenceDistribution":
        """The distribution of some of the columns; the others stay as parents that nobody sees."""
        keep = levels_of(columns, self.sizes)
        place = {j: i for i, j in enumerate(columns)}
        levels = None if self.levels is None else tuple(self.levels[j] for j in columns)
        return OneDependenceDistribution(
            self.log_level,
            self.log_given[:, :, keep],
            tuple(self.sizes[j] for j in columns),
            self.parents,
            tuple(place.get(j, -1) for j in self.child),
            levels,
        )

    def sample(self, y: Ints, rng: np.random.Generator) -> AnyArray:
        """One row for each class code: a level of any parent column, and the others given that."""
        parent = _drawn(np.exp(self.log_level), y, rng)
        levels = np.empty((len(y), self.n_columns), dtype=np.int64)
        own, starts = np.repeat(self.child, self.parents)[parent], first_levels(self.parents)
        inside = parent - np.repeat(starts, self.parents)[parent]
        for j, (first, size) in enumerate(zip(first_levels(self.sizes), self.sizes, strict=True)):
            p = np.exp(self.log_given[:, :, first : first + size]).cumsum(axis=2)[y, parent]
            u = rng.random(len(y)) * p[:, -1]
            other = np.minimum((u[:, None] >= p).sum(axis=1), size - 1)
            levels[:, j] = np.where(own == j, inside, other)
        return self.drawn(levels)

    @property
    def n_parameters(self) -> int:
        """Those of the tables of single columns and of two columns, for each class."""
        free = np.maximum(np.array(self.parents) - 1, 0)
        pairs = (free.sum() ** 2 - (free**2).sum()) // 2
        return int(self.n_classes * (free.sum() + pairs))

    @property
    def n_events(self) -> int:
        """The pairs of levels."""
        return int(self.log_given[0].size)

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """The probability of every level, then, of pairs, those that tell classes apart most."""
        known = self.level_names(levels)
        columns = np.repeat(np.arange(self.n_columns), self.sizes)
        places = np.concatenate([np.arange(size) for size in self.sizes])
        seen = [(q, j) for q, j in enumerate(self.child) if j >= 0]
        starts = first_levels(self.parents)
        out = [
            Parameter((names[j],), f"p({name})", len(self.parents) * np.exp(self.log_level[:, starts[q] + i]))
            for q, j in sorted(seen, key=lambda pair: pair[1])
            for i, name in enumerate(known[j])
        ]
        own = np.repeat(self.child, self.parents)
        inside = np.concatenate([np.arange(size) for size in self.parents])
        asked = np.flatnonzero(((own[:, None] != columns) & (own[:, None] >= 0)).reshape(-1))
        logs = self.log_given.reshape(self.n_classes, -1)[:, asked]
        for cell in np.sort(most_telling(logs, LISTED_PAIRS)):
            u, v = divmod(int(asked[cell]), len(columns))
            i, j = int(own[u]), int(columns[v])
            name = f"p({known[j][places[v]]} | {names[i]} = {known[i][inside[u]]})"
            out.append(Parameter((names[j], names[i]), name, np.exp(logs[:, cell])))
        return out

    def log_likelihood(self, statistics: LevelPairs) -> float:
        """Not known: `why_no_likelihood`."""
        raise ValueError(self.why_no_likelihood)


@dataclass(frozen=True)
class OneDependence(LevelFamily):
    """Averaged one-dependence estimators (AODE) as a family, for all kinds of columns except texts.

    Every column is once the parent of all others, p(x_i | c) Π_j p(x_j | c, x_i), and the densities are
    averaged: naive Bayes without its independence, and without a structure to be learnt (Webb, Boughton &
    Wang 2005, Not so naive Bayes: aggregating one-dependence estimators).

    >>> from posterior.schema import Codes
    >>> rows = Codes(np.array([[0, 0], [1, 1], [0, 0], [1, 1]]), (2, 2))
    >>> family = OneDependence(class_rows=0.1, pair_rows=0.1)
    >>> found = family.estimate(family.summarize(rows, np.array([0, 0, 0, 0]), None, 1))
    >>> np.exp(found.log_density(np.array([[0, 0], [0, 1], [0, -1]]))).round(3).T
    array([[0.499, 0.001, 0.5  ]])
    """

    def estimate(self, statistics: LevelPairs) -> OneDependenceDistribution:
        """Smoothed frequencies of levels, and of levels given another."""
        found = self.smoothed(statistics)
        n_columns = len(statistics.sizes)
        return OneDependenceDistribution(
            np.log(found.single / n_columns),
            found.log_given(),
            statistics.sizes,
            statistics.sizes,
            tuple(range(n_columns)),
            self.levels,
        )

    def leave_one_out(
        self, statistics: LevelPairs, distribution: OneDependenceDistribution
    ) -> Callable[[Any, Ints, Floats | None], LeftOut]:
        """Every count in which a row is goes down by its weight."""
        found = self.smoothed(statistics)

        def left_out(block: Any, y: Ints, weight: Floats | None) -> LeftOut:
            return left_out_parent_sums(found, distribution.places(block), y, weight)

        return left_out


def _filled(sizes: Sequence[int]) -> list[int]:
    """The first levels of columns that have any."""
    return [int(first) for first, size in zip(first_levels(sizes), sizes, strict=True) if size]


def _drawn(probability: Floats, y: Ints, rng: np.random.Generator) -> Ints:
    """A place of the lines (K, P) for each class code."""
    up_to = probability.cumsum(axis=1)
    u = rng.random(len(y)) * up_to[y, -1]
    return np.asarray(np.minimum((u[:, None] >= up_to[y]).sum(axis=1), probability.shape[1] - 1))
