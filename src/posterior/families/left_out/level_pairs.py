"""Rows scored by counts of pairs of levels without their own: exact, row by row."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlogy

from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.families.base import LeftOut
from posterior.families.left_out.parts import loses_digits
from posterior.families.spanning_tree import best_tree, shared_information, stays_best
from posterior.math import log_sum_exp

if TYPE_CHECKING:
    from posterior.families.level_pairs import Smoothed

# Cells of rows by parents by children that are worked on at a time.
TILE_CELLS = 1 << 20


def left_out_parent_sums(found: "Smoothed", places: AnyArray, y: Ints, weight: Floats | None) -> LeftOut:
    """Log densities (n, K) of a mixture over parent columns of rows without their own counts.

    A row with a gap may have any level of that column as its parent, none of which was counted with it.
    """
    sizes = found.statistics.sizes
    out = np.empty((len(places), len(found.single)))
    delicate = np.zeros(len(places), dtype=np.bool_)
    w = np.ones(len(places)) if weight is None else weight
    complete = (places >= 0).all(axis=1)
    every = np.arange(sum(sizes))
    for rows, gaps in ((np.flatnonzero(complete), False), (np.flatnonzero(~complete), True)):
        size = max(1, TILE_CELLS // max((len(every) if gaps else len(sizes)) * len(sizes), 1))
        for a in range(0, len(rows), size):
            some = rows[a : a + size]
            parents = np.broadcast_to(every, (len(some), len(every))) if gaps else places[some]
            part = _Rows(found, places[some], parents, y[some], w[some])
            out[some], delicate[some] = part.log_density()
    return LeftOut(out, delicate)


def left_out_tree(
    found: "Smoothed", parent: Sequence[int], places: AnyArray, y: Ints, weight: Floats | None
) -> LeftOut:
    """Log densities (n, K) under a tree of rows without gaps, without their own counts.

    Without some rows the tree is another one. A row without which two trees tell as much is too delicate.
    """
    out = np.empty((len(places), len(found.single)))
    delicate = np.zeros(len(places), dtype=np.bool_)
    w = np.ones(len(places)) if weight is None else weight
    size = max(1, TILE_CELLS // max(places.shape[1] ** 2, 1))
    for a in range(0, len(places), size):
        rows = slice(a, a + size)
        part = _Rows(found, places[rows], places[rows], y[rows], w[rows])
        trees, unsure = _trees_without(found, parent, places[rows], y[rows], w[rows])
        out[rows], delicate[rows] = part.log_tree(trees)
        delicate[rows] |= unsure
    return LeftOut(out, delicate)


def _trees_without(
    found: "Smoothed", parent: Sequence[int], places: AnyArray, y: Ints, weight: Floats
) -> tuple[Ints, Bools]:
    """Parents of the columns without each row, (m, d), and rows without which two trees tell as much."""
    information = _information_without(found, places, y, weight)
    trees = np.tile(np.array(parent, dtype=np.int64), (len(places), 1))
    unsure = ~stays_best(information, parent)
    for row in np.flatnonzero(unsure).tolist():
        tree = best_tree(information[row])
        trees[row], unsure[row] = tree, not stays_best(information[row : row + 1], tree)[0]
    return trees, unsure


def _information_without(found: "Smoothed", places: AnyArray, y: Ints, weight: Floats) -> Floats:
    """What two columns tell of each other in the classes, in nats times rows, without each row, (m, d, d)."""
    statistics = found.statistics
    single = statistics.single

    def change(counts: Floats) -> Floats:
        by_row = weight.reshape(-1, *(1,) * (counts.ndim - 1))
        return np.asarray(xlogy(left := np.maximum(counts - by_row, 0.0), left) - xlogy(counts, counts))

    alone = change(single[y[:, None], places])
    together = change(statistics.counts[y[:, None, None], places[:, :, None], places[:, None, :]])
    rows = change(statistics.by_column(single)[y, 0])
    changed = together - alone[:, :, None] - alone[:, None, :] + rows[:, None, None]
    return np.asarray(shared_information(statistics) + changed)


class _Rows:
    """Some rows (m, d) with the parent levels (m, P) that come into question."""

    def __init__(
        self, found: "Smoothed", places: AnyArray, parents: AnyArray, y: Ints, weight: Floats
    ) -> None:
        self.found, self.y, self.weight, self.parents = found, y, weight, parents
        self.there, self.places = places >= 0, np.maximum(places, 0)
        column = found.statistics.column
        of_parent = column[parents]
        own = np.take_along_axis(self.places, of_parent, axis=1) == parents
        seen = np.take_along_axis(self.there, of_parent, axis=1)
        self.counted = own & seen  # whether the row itself is in the counts of a parent level
        self.allowed = own | ~seen
        self.same = of_parent[:, :, None] == np.arange(places.shape[1])
        self.delicate = np.zeros(len(places), dtype=np.bool_)

    def log_density(self) -> tuple[Floats, Bools]:
        """Log densities (m, K), and which rows a difference has lost its digits for."""
        out = np.empty((len(self.places), len(self.found.single)))
        for k, (single, log_given) in enumerate(self.by_class()):
            given = np.where(self.same | ~self.there[:, None, :], 0.0, log_given)
            known = np.take_along_axis(single, self.found.statistics.column[self.parents], axis=1)
            level = np.where(self.counted, known, self.found.single[k][self.parents])
            scores = np.log(level) + given.sum(axis=2)
            out[:, k] = log_sum_exp(np.where(self.allowed, scores, -np.inf), axis=1)
        return out - np.log(self.places.shape[1]), self.delicate

    def log_tree(self, trees: Ints) -> tuple[Floats, Bools]:
        """The same for trees (m, d), one for each row, in which a column has one parent, −1 for none."""
        out = np.zeros((len(self.places), len(self.found.single)))
        above, columns = np.maximum(trees, 0)[:, None, :], np.arange(trees.shape[1])
        for k, (single, log_given) in enumerate(self.by_class()):
            given = np.take_along_axis(log_given, above, axis=1)[:, 0, columns]
            out[:, k] = np.where(trees < 0, np.log(single), given).sum(axis=1)
        return out, self.delicate

    def by_class(self) -> Iterator[tuple[Floats, Floats]]:
        """For each class the frequencies (m, d) of the rows' levels, and their logs given the parents."""
        overall = self._overall()
        total = self.found.statistics.counts.sum(axis=0)
        in_all = self._given(total, overall[:, None, :], self.weight)
        for k, counts in enumerate(self.found.statistics.counts):
            gone = np.where(self.y == k, self.weight, 0.0)
            yield self._single(k, overall, gone), np.log(self._given(counts, in_all, gone))

    def _less(self, counts: Floats, gone: Floats, added: Floats | float) -> Floats:
        """Counts without what is gone, with what smoothing adds."""
        left = counts - gone
        lost = loses_digits(left, counts, added) & (gone > 0)
        self.delicate |= lost.reshape(len(lost), -1).any(axis=1)
        return np.asarray(np.maximum(left, 0.0) + added)

    def _overall(self) -> Floats:
        """Frequencies of the rows' levels among all other rows, (m, d)."""
        statistics = self.found.statistics
        total = statistics.single.sum(axis=0)
        gone = np.where(self.there, self.weight[:, None], 0.0)
        even = 1 / np.maximum(np.array(statistics.sizes, dtype=np.float64), 1)
        top = self._less(total[self.places], gone, np.broadcast_to(even, gone.shape))
        return top / self._less(np.broadcast_to(statistics.by_column(total), gone.shape), gone, 1.0)

    def _single(self, k: int, overall: Floats, gone: Floats) -> Floats:
        """Frequencies of the rows' levels in a class, (m, d)."""
        statistics, strength = self.found.statistics, self.found.class_rows
        counts = statistics.single[k]
        taken = np.where(self.there, gone[:, None], 0.0)
        top = self._less(counts[self.places], taken, strength * overall)
        return top / self._less(np.broadcast_to(statistics.by_column(counts), taken.shape), taken, strength)

    def _given(self, counts: Floats, towards: Floats, gone: Floats) -> Floats:
        """Frequencies of the rows' levels given each parent level, (m, P, d), smoothed towards others."""
        statistics, strength = self.found.statistics, self.found.pair_rows
        taken = np.where(self.counted[:, :, None] & self.there[:, None, :], gone[:, None, None], 0.0)
        pairs = counts[self.parents[:, :, None], self.places[:, None, :]]
        top = self._less(pairs, taken, strength * towards)
        return top / self._less(statistics.by_column(counts)[self.parents], taken, strength)
