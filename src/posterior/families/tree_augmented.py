"""Tree-augmented naive Bayes: every column but one has the class and one other column as its parents."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from posterior import kernels
from posterior._types import AnyArray, Floats, Ints
from posterior.families.base import LeftOut, NoClosedFormError
from posterior.families.left_out.level_pairs import left_out_tree
from posterior.families.level_pairs import LevelDistribution, LevelFamily
from posterior.families.levels import Levels
from posterior.families.parameters import Parameter
from posterior.families.spanning_tree import best_tree, parents_first, shared_information
from posterior.families.sums import log_times
from posterior.math import NOT_ONE, are_places, log_sum_exp
from posterior.stats import LevelPairs
from posterior.stats.level_pairs import first_levels

# Cells of rows with gaps by pairs of levels that are worked on at a time.
TILE_CELLS = 1 << 20
GAPS = (
    "the likelihood of rows with gaps does not follow from counts of pairs: AIC and BIC are not known; "
    "score_samples gives the log density of rows"
)


class TreeAugmentedDistribution(LevelDistribution):
    """A tree of columns: p(row | class) = Π_j p(x_j | class, x_parent(j)).

    For each node of the tree there is a table (K, levels of its parent, own levels) of log probabilities,
    with one line where `parent` is −1. `child` says which column each node is, −1 for one that was integrated
    out. Missing cells are integrated out exactly, by messages along the tree.

    >>> from posterior import TreeAugmented
    >>> model = TreeAugmented().fit([["a", "x"], ["b", "x"], ["b", "y"], ["a", "y"]], [0, 0, 1, 1])
    >>> type(model.model_.blocks[0].distribution).__name__
    'TreeAugmentedDistribution'
    """

    parts: ClassVar[Mapping[str, Any]] = {
        "log_tables": Annotated[tuple[Floats, ...], "K ... log"],
        "parent": tuple[int, ...],
        "sizes": tuple[int, ...],
        "child": tuple[int, ...],
        "levels": Levels | None,
    }

    def __init__(
        self,
        log_tables: tuple[Floats, ...],
        parent: tuple[int, ...],
        sizes: tuple[int, ...],
        child: tuple[int, ...],
        levels: Levels | None = None,
    ) -> None:
        self.log_tables, self.parent, self.child = log_tables, parent, child
        self.sizes, self.levels = sizes, levels
        self.n_classes = len(log_tables[0]) if log_tables else 0
        self.n_columns = len(sizes)

    def impossible(self) -> str:
        """A tree of columns, whose tables fit each other and hold probabilities that sum to one."""
        n = len(self.log_tables)
        own = [j for j in self.child if j != -1]
        fitting = n == len(self.parent) == len(self.child) and are_places(own, self.n_columns)
        if not n or not fitting or len(own) != self.n_columns:
            return "a tree of other columns"
        if not all(-1 <= i < n for i in self.parent) or len(parents_first(self.parent)) != n:
            return "columns that are no tree"
        for table, i, j in zip(self.log_tables, self.parent, self.child, strict=True):
            above = 1 if i < 0 else self.log_tables[i].shape[-1]
            if table.ndim != 3 or table.shape[1] != above or (j >= 0 and table.shape[2] != self.sizes[j]):
                return "tables of other levels than those of the columns"
            if table.size and not np.allclose(np.exp(table).sum(axis=2), 1, rtol=0, atol=NOT_ONE):
                return "probabilities that do not sum to one"
        return ""

    @cached_property
    def order(self) -> list[int]:
        """The nodes, each after its parent."""
        return parents_first(self.parent)

    @cached_property
    def _look_ups(self) -> kernels.LookUps:
        nothing = np.zeros((2, self.n_classes))
        lines = [np.vstack([t.reshape(self.n_classes, -1).T, nothing]) for t in self.log_tables]
        return kernels.LookUps(lines)

    def _nodes(self, block: Any) -> AnyArray:
        """The levels (n, nodes) of rows, −1 where missing or integrated out."""
        places = self.places(block)
        levels = np.where(places >= 0, places - first_levels(self.sizes), -1)
        out = np.full((len(levels), len(self.child)), -1, dtype=np.int32)
        for node, j in enumerate(self.child):
            if j >= 0:
                out[:, node] = levels[:, j]
        return out

    def log_density(self, block: Any) -> Floats:
        """Look-ups in the tables, added up; rows with gaps by messages from the leaves to the root."""
        nodes = self._nodes(block)
        out = np.zeros((len(nodes), self.n_classes))
        complete = (nodes >= 0).all(axis=1)
        self._look_ups.add(self._cells(nodes), out)
        if not complete.all():
            out[~complete] = self._integrated(nodes[~complete])
        return out

    def _cells(self, nodes: AnyArray) -> AnyArray:
        """The places of rows in the tables of the nodes."""
        cells = np.full_like(nodes, -1)
        for j, i in enumerate(self.parent):
            above = nodes[:, i] if i >= 0 else 0
            known = (nodes[:, j] >= 0) & (above >= 0)
            cells[:, j] = np.where(known, above * self.log_tables[j].shape[2] + nodes[:, j], -1)
        return cells

    def _integrated(self, nodes: AnyArray) -> Floats:
        """Log densities (n, K) of the cells that are there."""
        widest = max((table[0].size for table in self.log_tables), default=1)
        size = max(1, TILE_CELLS // max(widest * self.n_classes, 1))
        parts = [self._messages(nodes[a : a + size]) for a in range(0, len(nodes), size)]
        return np.concatenate([np.zeros((0, self.n_classes)), *parts])

    def _messages(self, nodes: AnyArray) -> Floats:
        """Pearl (1988): what is below each node, for every level of its parent; the root's is the answer."""
        n = len(nodes)
        below = [np.zeros((n, table.shape[2], self.n_classes)) for table in self.log_tables]
        total = np.zeros((n, self.n_classes))
        for j in reversed(self.order):
            table = self.log_tables[j].transpose(1, 2, 0)  # (parent's levels, own levels, K)
            there = nodes[:, j] >= 0
            message = np.empty((n, table.shape[0], self.n_classes))
            own = nodes[there, j]
            message[there] = table[:, own].swapaxes(0, 1) + below[j][there, own][:, None]
            if not there.all():
                sums = table + below[j][~there][:, None]  # (m, parent's levels, own levels, K)
                message[~there] = log_sum_exp(sums, axis=2) if table.shape[1] else 0.0
            if self.parent[j] < 0:
                total += message[:, 0]
            else:
                below[self.parent[j]] += message
        return total

    def log_terms(self, block: Any) -> Floats:
        """The log probability of each cell given its parent.

        In a row with gaps it is that given all cells before it, where parents come before their children.
        """
        nodes = self._nodes(block)
        out = np.zeros((len(nodes), self.n_columns, self.n_classes))
        complete = (nodes >= 0).all(axis=1)
        cells, some, seen = self._cells(nodes), nodes[~complete], np.full_like(nodes[~complete], -1)
        before = np.zeros((len(some), self.n_classes))
        for node in self.order:
            j = self.child[node]
            lines = self.log_tables[node].reshape(self.n_classes, -1)
            if j < 0:
                continue
            out[complete, j] = lines[:, cells[complete, node]].T
            seen[:, node] = some[:, node]
            if len(some):
                now = self._integrated(seen)
                out[~complete, j] = np.where(some[:, node, None] >= 0, now - before, 0.0)
                before = now
        return out

    def marginal(self, columns: Sequence[int]) -> "TreeAugmentedDistribution":
        """The distribution of some of the columns; the others stay as nodes that nobody sees."""
        place = {j: i for i, j in enumerate(columns)}
        levels = None if self.levels is None else tuple(self.levels[j] for j in columns)
        sizes = tuple(self.sizes[j] for j in columns)
        child = tuple(place.get(j, -1) for j in self.child)
        return TreeAugmentedDistribution(self.log_tables, self.parent, sizes, child, levels)

    def sample(self, y: Ints, rng: np.random.Generator) -> AnyArray:
        """One row for each class code, parents before their children."""
        nodes = np.zeros((len(y), len(self.parent)), dtype=np.int64)
        for j in self.order:
            above = nodes[:, self.parent[j]] if self.parent[j] >= 0 else 0
            p = np.exp(self.log_tables[j]).cumsum(axis=2)[y, above]
            u = rng.random(len(y)) * p[:, -1]
            nodes[:, j] = np.minimum((u[:, None] >= p).sum(axis=1), p.shape[1] - 1)
        place = {j: node for node, j in enumerate(self.child)}
        return self.drawn(nodes[:, [place[j] for j in range(self.n_columns)]])

    @property
    def n_parameters(self) -> int:
        """Levels less one, for each class and each level of the parent."""
        return sum(t.shape[0] * t.shape[1] * max(t.shape[2] - 1, 0) for t in self.log_tables)

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """The probability of every level given each level of the parent; of visible columns only."""
        known, out = self.level_names(levels), []
        for table, i, j in zip(self.log_tables, self.parent, self.child, strict=True):
            above = self.child[i] if i >= 0 else -1
            if j < 0 or (i >= 0 and above < 0):
                continue
            columns = (names[j],) if i < 0 else (names[j], names[above])
            for u in range(table.shape[1]):
                given = "" if i < 0 else f" | {names[above]} = {known[above][u]}"
                for v, name in enumerate(known[j]):
                    out.append(Parameter(columns, f"p({name}{given})", np.exp(table[:, u, v])))
        return out

    def log_likelihood(self, statistics: LevelPairs) -> float:
        """Σ count · ln p over the pairs of the tree, of rows without gaps."""
        starts, total = first_levels(statistics.sizes), 0.0
        for j, (table, i) in enumerate(zip(self.log_tables, self.parent, strict=True)):
            own = slice(starts[j], starts[j] + statistics.sizes[j])
            if i < 0:
                counts = statistics.single[:, None, own]
            else:
                counts = statistics.counts[:, starts[i] : starts[i] + statistics.sizes[i], own]
            total += float(log_times(counts, table).sum())
        return total


@dataclass(frozen=True)
class TreeAugmented(LevelFamily):
    """Tree-augmented naive Bayes (TAN) as a family, for all kinds of columns except texts.

    Besides the class every column has one other column as its parent, but for the first. The tree is the one
    that tells most: the largest sum of conditional mutual information, which maximizes the likelihood
    (Friedman, Geiger & Goldszmidt 1997, Bayesian network classifiers; Chow & Liu 1968).

    >>> from posterior.schema import Codes
    >>> rows = Codes(np.array([[0, 0], [1, 1], [0, 0], [1, 1]]), (2, 2))
    >>> family = TreeAugmented(class_rows=0.1, pair_rows=0.1)
    >>> found = family.estimate(family.summarize(rows, np.array([0, 0, 0, 0]), None, 1))
    >>> np.exp(found.log_density(np.array([[0, 0], [0, 1], [0, -1]]))).round(3).T
    array([[0.499, 0.001, 0.5  ]])
    """

    def estimate(self, statistics: LevelPairs) -> TreeAugmentedDistribution:
        """The tree, and smoothed frequencies along it."""
        found = self.smoothed(statistics)
        parent = best_tree(shared_information(statistics))
        log_given, starts, sizes = found.log_given(), first_levels(statistics.sizes), statistics.sizes
        tables = []
        for j, i in enumerate(parent):
            own = slice(starts[j], starts[j] + sizes[j])
            if i < 0:
                tables.append(np.log(found.single[:, None, own]))
            else:
                tables.append(log_given[:, starts[i] : starts[i] + sizes[i], own].copy())
        made = TreeAugmentedDistribution(tuple(tables), parent, sizes, tuple(range(len(sizes))), self.levels)
        made.why_no_likelihood = "" if statistics.is_complete else GAPS
        return made

    def leave_one_out(
        self, statistics: LevelPairs, distribution: TreeAugmentedDistribution
    ) -> Callable[[Any, Ints, Floats | None], LeftOut]:
        """Every count in which a row is goes down by its weight; a row that the tree hangs on is refitted."""
        if not statistics.is_complete:
            raise NoClosedFormError("gaps are integrated out along the whole tree")
        found = self.smoothed(statistics)

        def left_out(block: Any, y: Ints, weight: Floats | None) -> LeftOut:
            places = distribution.places(block)
            some = (places >= 0).all(axis=1)  # a row without any cell was never counted
            out, delicate = np.zeros((len(y), distribution.n_classes)), np.zeros(len(y), dtype=np.bool_)
            w = None if weight is None else weight[some]
            out[some], delicate[some] = left_out_tree(found, distribution.parent, places[some], y[some], w)
            return LeftOut(out, delicate)

        return left_out
