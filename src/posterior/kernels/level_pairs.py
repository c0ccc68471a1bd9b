"""Levels of columns two by two: compiled code for many pairs, the reference for few."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.kernels import reference
from posterior.kernels.choice import compiled
from posterior.kernels.discrete import in_blocks
from posterior.kernels.memory import codes_of, weights_of, writable

# The reference works on so many cells of rows by levels at a time.
TILE_CELLS = 1 << 20


def level_pair_counts(
    places: AnyArray, n_levels: int, y: Ints, weight: Floats | None, n_classes: int
) -> Floats:
    """Weight of the rows of each class that have two levels together, (K, V, V), a symmetric table.

    `places` (n, d) number the levels of all columns, those of a column next to each other; −1 is missing.

    >>> level_pair_counts(np.array([[0, 2], [0, 3], [1, -1]]), 4, np.array([0, 0, 0]), None, 1)[0]
    array([[2., 0., 1., 1.],
           [0., 1., 0., 0.],
           [1., 0., 1., 0.],
           [1., 0., 0., 1.]])
    """
    kernel = compiled("level_pairs", places.size * places.shape[1])
    counts = np.zeros((n_classes, n_levels, n_levels))
    if kernel is None:
        for rows in _tiles(len(places), n_levels):
            w = None if weight is None else weight[rows]
            counts += reference.level_pair_counts(places[rows], n_levels, y[rows], w, n_classes)
        return counts
    kernel.add_pairs(_codes(places), codes_of(y), weights_of(weight), counts)
    counts += np.triu(counts, 1).swapaxes(1, 2)
    return counts


class ParentSums:
    """ln Σ_u p(u) Π_j p(x_j | u), where u is the level of a row in one of the parent columns.

    `sizes` are the numbers of levels of the columns, `parents` those of the parent columns, and `child` says
    which column each parent column is, −1 for none of them. A row allows the parent level that it has, and
    all levels of a parent column that it lacks. Logarithms are (K, P) and (K, P, V), zero in p(x_j | u) where
    u is a level of the column j itself.

    >>> coin = ParentSums([2], [2], [0], np.log([[0.5, 0.5]]), np.zeros((1, 2, 2)))
    >>> np.exp(coin.of(np.array([[1], [-1]]))).T
    array([[0.5, 1. ]])
    """

    def __init__(
        self,
        sizes: Sequence[int],
        parents: Sequence[int],
        child: Sequence[int],
        log_level: Floats,
        log_given: Floats,
    ) -> None:
        self.sizes, self.parents, self.child = sizes, parents, child
        self.log_level, self.log_given = log_level, log_given
        self._classes_last: tuple[Floats, Floats] | None = None

    def __reduce__(self) -> Any:
        parts = self.sizes, self.parents, self.child, self.log_level, self.log_given
        return ParentSums, parts  # without what was cached

    @property
    def firsts(self) -> Ints:
        """The number of the first level of each column."""
        return np.cumsum([0, *self.sizes])[:-1].astype(np.int64)

    @property
    def starts(self) -> Ints:
        """The number of the first level of each parent column, and of all of them."""
        return np.cumsum([0, *self.parents]).astype(np.int64)

    def of(self, places: AnyArray) -> Floats:
        """The log sums (n, K) of rows, whose levels are numbered through all columns; −1 is missing."""
        out = np.empty((len(places), len(self.log_level)))
        kernel = compiled("level_pairs", places.size * max(len(self.parents), 1))
        if kernel is None:
            for rows in _tiles(len(places), self.log_given.shape[1]):
                some = places[rows]
                out[rows] = reference.parent_sums(some, self.allowed(some), self.log_level, self.log_given)
            return out
        if self._classes_last is None:
            lines = self.log_given.reshape(len(self.log_level), -1).T
            self._classes_last = np.ascontiguousarray(self.log_level.T), in_blocks(lines)
        child = np.asarray(self.child, dtype=np.int64)
        kernel.sum_over_parents(_codes(places), self.firsts, self.starts, child, *self._classes_last, out)
        return out

    def allowed(self, places: AnyArray) -> Bools:
        """Which parent levels the rows allow, (n, P)."""
        out = np.ones((len(places), int(self.starts[-1])), dtype=np.bool_)
        firsts, starts = self.firsts, self.starts
        for q, j in enumerate(self.child):
            if j >= 0:
                own = places[:, j] - firsts[j]
                levels = np.arange(self.parents[q])
                out[:, starts[q] : starts[q + 1]] = (places[:, j, None] < 0) | (own[:, None] == levels)
        return out


def _tiles(n_rows: int, n_levels: int) -> list[slice]:
    size = max(1, TILE_CELLS // max(n_levels, 1))
    return [slice(a, a + size) for a in range(0, n_rows, size)]


def _codes(places: AnyArray) -> AnyArray:
    return writable(np.ascontiguousarray(places, dtype=np.int32))
