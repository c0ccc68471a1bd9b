"""The tree of columns that tells most of a row, by what two columns tell of each other given the class."""

from collections.abc import Sequence

import numpy as np
from scipy.special import xlogy

from posterior._types import Bools, Floats, Ints
from posterior.stats import LevelPairs

# Two amounts of information that differ by less, relative to the largest, are equal.
EQUAL = 1e-9


def shared_information(statistics: LevelPairs) -> Floats:
    """Conditional mutual information of every two columns given the class, times the rows, (d, d).

    Σ N ln(N · N_class / (N_i N_j)) over pairs of levels, among the rows that have both cells.
    """
    counts, sums = statistics.counts, statistics.by_column
    by_level = sums(counts)  # (K, V, d): a level with any of a column
    by_column = sums(by_level.swapaxes(1, 2))  # (K, d, d)
    together = sums(sums(_x_log_x(counts)).swapaxes(1, 2))
    one_side = sums(_x_log_x(by_level).swapaxes(1, 2))
    found = together - one_side - one_side.swapaxes(1, 2) + _x_log_x(by_column)
    total = np.asarray(found.sum(axis=0))
    return np.asarray(np.maximum((total + total.T) / 2, 0.0))


def _x_log_x(counts: Floats) -> Floats:
    return np.asarray(xlogy(counts, counts), dtype=np.float64)


def best_tree(information: Floats) -> tuple[int, ...]:
    """The parent of each column in the tree with the largest sum of information (Prim 1957), −1 for one.

    >>> best_tree(np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]))
    (-1, 2, 0)
    """
    d = len(information)
    parent, reach = np.zeros(d, dtype=np.int64), information[0].copy() if d else np.zeros(0)
    parent[:1] = -1
    outside = np.arange(d) > 0
    while outside.any():
        j = int(np.where(outside, reach, -np.inf).argmax())
        outside[j] = False
        closer = outside & (information[j] > reach)
        parent[closer], reach[closer] = j, information[j][closer]
    return tuple(parent.tolist())


def parents_first(parent: Sequence[int]) -> list[int]:
    """The columns in an order in which each comes after its parent.

    >>> parents_first((2, 0, -1))
    [2, 0, 1]
    """
    order = [j for j, i in enumerate(parent) if i < 0]
    for i in order:
        order += [j for j, above in enumerate(parent) if above == i]
    return order


def stays_best(information: Floats, parent: Sequence[int]) -> Bools:
    """For each of several tables (m, d, d) whether a tree is clearly the best for it.

    It is if no other pair tells more than the weakest link of the path between its two columns.
    """
    m, d, _ = information.shape
    weakest = np.full((m, d, d), np.inf)
    done: list[int] = []
    for j in parents_first(parent):
        if parent[j] >= 0:
            link = information[:, j, parent[j], None]
            weakest[:, j, done] = np.minimum(weakest[:, parent[j], :][:, done], link)
            weakest[:, done, j] = weakest[:, j, done]
        done.append(j)
    others = np.ones((d, d), dtype=np.bool_)
    np.fill_diagonal(others, val=False)
    links: Ints = np.array([(j, i) for j, i in enumerate(parent) if i >= 0], dtype=np.int64).reshape(-1, 2)
    others[links[:, 0], links[:, 1]] = others[links[:, 1], links[:, 0]] = False
    slack = EQUAL * information.reshape(m, -1).max(axis=1, initial=0.0)[:, None, None]
    return np.asarray(((information < weakest - slack) | ~others).all(axis=(1, 2)))
