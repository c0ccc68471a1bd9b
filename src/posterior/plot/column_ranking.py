"""What each column by itself tells of the class on rows held out, and whether that is more than chance.

A column is cut into levels: its categories, up to ten parts of equal weight of its numbers, and its gaps.
Four fifths of the rows say how frequent the classes are in each level, and the rest is predicted by that; of
texts naive Bayes does so. The gain is the mean of ln p(class | level) − ln p(class) over rows held out, in
nats.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.comparison.sampling import rows_to_show
from posterior.estimators.generative import GenerativeClassifier
from posterior.families import BagOfWords
from posterior.notices import PosteriorWarning
from posterior.schema import LabelledTable

FOLDS, BINS, FEWEST_BINS, ROWS_IN_A_BIN = 5, 10, 3, 40
# Rows on which texts are tried, and those on which it is asked what chance does.
MOST_TEXTS, MOST_ROWS = 3000, 5000
# How often columns are shuffled, and the chance that any is called telling where none is.
SHUFFLES, SIGNIFICANT = 99, 0.05


def gains(rows: LabelledTable, codes: Ints, columns: Sequence[int]) -> Floats:
    """What each of some columns gains on rows held out, in nats a row."""
    return np.array([_gain_and_p(rows, j, codes)[0] for j in columns])


@dataclass(frozen=True, eq=False)
class Telling:
    """Columns and what they tell: their gains, and the chance that any column gains as much by luck.

    The rows of all columns are shuffled together, 99 times, so that none has anything to do with the class.
    `p_values` are the share of these in which some column, of all that are looked at, is as far above what
    it usually gains as this one is (Westfall and Young 1993, single-step maxT): with more columns luck has
    more chances, and is allowed for. Rows are sampled where there are many; of a group there is one.
    """

    columns: tuple[int, ...]
    gains: Floats
    p_values: Floats

    @classmethod
    def of(cls, rows: LabelledTable, columns: Sequence[int]) -> "Telling":
        """What columns of a table tell of its classes.

        >>> rng = np.random.default_rng(0)
        >>> y = np.arange(200) % 2
        >>> table = LabelledTable.of(np.column_stack([rng.normal(size=200), y + rng.normal(size=200)]), y)
        >>> Telling.of(table, [0, 1]).told
        array([False,  True])
        """
        some = rows.part(_rows_to_try(rows)) if len(rows) > MOST_ROWS or rows.groups is not None else rows
        codes, fold = _codes(some.codes), _dealt(_codes(some.codes))
        plain = [j for j in columns if rows.schema.columns[j].kind != "text"]
        rng = np.random.default_rng(0)
        shuffled = np.stack([np.arange(len(some)), *(rng.permutation(len(some)) for _ in range(SHUFFLES))])
        found = {j: _shuffled_gains(levels_of(some, j), codes, fold, shuffled) for j in plain}
        p = dict(zip(plain, _largest_by_chance([found[j] for j in plain]), strict=True))
        for j in columns:
            if j not in found:
                gain, by_itself = _of_texts(some.texts(j), codes)
                found[j], p[j] = np.array([gain]), min(1.0, by_itself * len(columns))
        return cls(
            tuple(columns), np.array([found[j][0] for j in columns]), np.array([p[j] for j in columns])
        )

    @property
    def told(self) -> Bools:
        """Which columns tell more than the luckiest of so many would by chance."""
        return (self.p_values <= SIGNIFICANT) & (self.gains > 0)


def levels_of(rows: LabelledTable, j: int) -> Ints:
    """A column that is no text as codes: categories, or parts of equal weight; a gap is one of its own."""
    if rows.schema.columns[j].size:
        return np.asarray(rows.levels(j), dtype=np.int64)
    values = rows.values((j,))[:, 0]
    there = ~np.isnan(values)
    bins = min(BINS, max(FEWEST_BINS, len(values) // ROWS_IN_A_BIN))
    cuts = np.unique(np.quantile(values[there], np.arange(1, bins) / bins)) if there.any() else np.empty(0)
    return np.asarray(np.where(there, np.searchsorted(cuts, values, side="left"), -1), dtype=np.int64)


def _gain_and_p(rows: LabelledTable, j: int, codes: Ints) -> tuple[float, float]:
    of = _codes(codes)
    if rows.schema.columns[j].kind == "text":
        return _of_texts(rows.texts(j), of)
    as_they_are = np.arange(len(of))[None]
    return float(_shuffled_gains(levels_of(rows, j), of, _dealt(of), as_they_are)[0]), float("nan")


def _codes(codes: Ints) -> Ints:
    return np.unique(codes, return_inverse=True)[1].reshape(-1)


def _rows_to_try(rows: LabelledTable) -> Ints:
    """About MOST_ROWS rows, of every class in proportion or more; of each group the first."""
    alone = np.arange(len(rows)) if rows.groups is None else np.unique(rows.groups, return_index=True)[1]
    return np.asarray(alone[rows_to_show(rows.codes[alone], MOST_ROWS)])


def _dealt(codes: Ints) -> Ints:
    """The fold of each row, of every class in proportion."""
    order = np.random.default_rng(0).permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(len(codes), np.int64)
    fold[order] = np.arange(len(codes)) % FOLDS
    return fold


def _shuffled_gains(levels: Ints, codes: Ints, fold: Ints, shuffled: Ints) -> Floats:
    """The gain of a column in each order (B, n) of its rows, beside classes and folds that stay.

    Frequencies are those of the other folds, one row by the class frequencies added to each level.
    """
    place = np.unique(levels, return_inverse=True)[1].reshape(-1)
    shape = (len(shuffled), int(place.max()) + 1, FOLDS, int(codes.max()) + 1)
    within = fold * shape[3] + codes
    cells = (np.arange(shape[0])[:, None] * shape[1] + place[shuffled]) * (FOLDS * shape[3]) + within
    counts = np.bincount(cells.ravel(), minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)
    learnt = counts.sum(axis=2, keepdims=True) - counts
    total = learnt[0].sum(axis=0)
    share = (total + 1 / shape[3]) / (total.sum(axis=1, keepdims=True) + 1)
    ratio = np.log((learnt + share) / (learnt.sum(axis=3, keepdims=True) + 1) / share)
    return np.asarray((counts * ratio).sum(axis=(1, 2, 3)) / len(codes))


def _largest_by_chance(found: Sequence[Floats]) -> Floats:
    """For each column the share of shuffles in which the luckiest column does as well, itself included.

    Gains are measured in standard deviations of what the column gains in all orders.
    """
    if not found:
        return np.empty(0)
    gain = np.stack(found)
    spread = gain.std(axis=1, keepdims=True)
    z = (gain - gain.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    luckiest = z[:, 1:].max(axis=0)
    # Columns of two levels tie: what differs by rounding is as large.
    return np.asarray((1 + (luckiest >= z[:, :1] - 1e-9).sum(axis=1)) / (1 + len(luckiest)))


def _of_texts(texts: list[str | None], codes: Ints) -> tuple[float, float]:
    """What naive Bayes gains by the words, and the chance of as much where words say nothing.

    If the class has nothing to do with the words, it is drawn by the class frequencies whatever the
    posteriors are. Each pair of folds counts twice in the sum, once in each direction: its variance is twice
    the sum of those within folds.
    """
    step = -(-len(texts) // MOST_TEXTS)
    some, of = as_column(texts[::step]), _codes(codes[::step])
    if of.max() < 1 or all(text is None for text in some[:, 0]):
        return 0.0, 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PosteriorWarning)
        model = GenerativeClassifier([(0, BagOfWords())], kinds={"x0": "text"})
        logs = model.k_fold_log_proba(some, of, FOLDS)
    share = np.bincount(of) / len(of)
    # A class that no word of a row allows costs as much as one row in all.
    ratio = np.maximum(logs, np.log(1 / len(of))) - np.log(share)
    own, mean = ratio[np.arange(len(of)), of], ratio @ share
    variance = 2 * float(((ratio - mean[:, None]) ** 2 @ share).sum())
    p = float(ndtr(-(own - mean).sum() / variance**0.5)) if variance > 0 else 1.0
    return float(own.mean()), p


def as_column(texts: list[str | None]) -> AnyArray:
    """Texts as a table of one column."""
    column = np.empty((len(texts), 1), dtype=object)
    column[:, 0] = texts
    return column
