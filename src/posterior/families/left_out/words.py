"""Texts scored without themselves, and without the words that no other text has."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from posterior._types import Bools, Floats, Ints
from posterior.families.base import LeftOut
from posterior.families.left_out.parts import loses_digits
from posterior.stats import Totals


class _OwnWords(NamedTuple):
    """The counts (n, V) of words that other texts have too, and of those that only the text itself has.

    In the texts marked `delicate` rounding hides which are which.
    """

    shared: Any
    own: Any
    delicate: Bools


def _own_words(counts: Any, total: Floats, weight: Floats) -> _OwnWords:
    there = counts.tocoo()
    (row, column), x = there.coords, there.data
    before = total[column]
    left = before - weight[row] * x
    alone = left == 0
    doubt = np.bincount(row, ~alone & loses_digits(left, before), counts.shape[0]) > 0

    def part(which: Bools) -> Any:
        return sparse.csr_array((x[which], (row[which], column[which])), shape=counts.shape)

    return _OwnWords(part(~alone), part(alone), doubt)


def multinomial_without_own_words(
    score: Any, statistics: Totals, alpha: float, counts: Any, y: Ints, weight: Floats | None
) -> LeftOut:
    """Multinomial scores by a vocabulary without the words that only the text has.

    `score` leaves the counts of a text out and keeps the vocabulary: ln p(word) is off by the change of ln(N
    + αV), the words of the class and what was added to them.
    """
    w = np.ones(len(y)) if weight is None else weight
    words = _own_words(counts, statistics.total.sum(axis=0), w)
    found, rows = score(words.shared, y, weight), np.arange(len(y))
    kept, gone = words.shared.sum(axis=1), words.own.sum(axis=1)
    n_words = counts.shape[1] - np.diff(words.own.indptr)
    sums = np.tile(statistics.total.sum(axis=1), (len(y), 1))
    before = sums + alpha * counts.shape[1]
    after = sums + alpha * n_words[:, None]
    before[rows, y] -= w * kept
    after[rows, y] -= w * (kept + gone)
    possible = (before > 0) & (after > 0)
    change = np.log(np.where(possible, before, 1.0)) - np.log(np.where(possible, after, 1.0))
    delicate = found.delicate | words.delicate | ((gone > 0) & ~possible.all(axis=1))
    delicate |= loses_digits(after[rows, y] - alpha * n_words, sums[rows, y], alpha * n_words)
    moved = (gone > 0)[:, None]
    return LeftOut(found.log_density + np.where(moved, kept[:, None] * change, 0.0), delicate)


def bernoulli_without_own_words(
    score: Any, statistics: Totals, alpha: float, log_on: Floats, counts: Any, y: Ints, weight: Floats | None
) -> LeftOut:
    """Bernoulli scores less the terms of the words that only the text has."""
    w = np.ones(len(y)) if weight is None else weight
    on = (counts > 0).astype(np.float64)
    words = _own_words(on, statistics.total.sum(axis=0), w)
    found, rows = score(counts, y, weight), np.arange(len(y))
    gone = np.diff(words.own.indptr)
    delicate = found.delicate | words.delicate
    if alpha == 0:  # their probability is 0 in other classes
        return LeftOut(found.log_density, delicate | (gone > 0))
    terms = np.asarray(words.own @ log_on.T)
    terms[rows, y] = gone * np.log(alpha / (statistics.weight[y, 0] - w + 2 * alpha))
    return LeftOut(found.log_density - terms, delicate)
