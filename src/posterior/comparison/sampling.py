"""Rows drawn from a table: enough of them to choose by, of every class in proportion."""

from dataclasses import replace
from typing import Any

import numpy as np

from posterior._types import Ints
from posterior.schema import LabelledTable

# Rows that a comparison draws from a larger table, where the caller does not say.
MAX_ROWS = 100_000
# So many rows of other classes than the most common one are drawn at least: they are what a rare class is
# learnt from and judged by, and a hundred thousand rows may hold fifty.
LEAST_OTHERS = 5_000
# So many rows of each class are drawn, or all that it has: two for each of five folds.
LEAST_OF_CLASS = 10


def sample_rows(codes: Ints, n: int, groups: Ints | None = None) -> Ints:
    """So many rows, of every class in proportion, to within one; or as many whole groups as it takes.

    >>> codes = np.repeat([0, 1], [900, 100])
    >>> np.bincount(codes[sample_rows(codes, 50)])
    array([45,  5])
    """
    if groups is not None:
        found, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        drawn = np.random.default_rng(0).permutation(len(found))
        enough = int(np.searchsorted(np.cumsum(sizes[drawn]), n)) + 1
        return np.flatnonzero(np.isin(group.reshape(-1), drawn[: max(enough, 2)]))
    order = np.random.default_rng(0).permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    return np.sort(order[np.linspace(0, len(order) - 1, n).astype(np.int64)])


def rows_to_compare(codes: Ints, max_rows: int | None, groups: Ints | None = None) -> Ints | None:
    """The rows that a comparison draws from a large table, in order; None where it takes all.

    They are `max_rows`, or as many as it takes for LEAST_OTHERS of other classes than the most common one;
    of a class that would have fewer than LEAST_OF_CLASS, so many.

    >>> rare = np.repeat([0, 1], [995_000, 5_000])
    >>> rows_to_compare(rare, 100_000) is None, len(rows_to_compare(np.arange(1_000_000) % 2, 100_000))
    (True, 100000)
    """
    if max_rows is None:
        return None
    wanted = _wanted(np.bincount(codes), max_rows)
    if wanted >= len(codes):
        return None
    drawn = sample_rows(codes, wanted, groups)
    if groups is not None:
        return drawn
    return _with_least(codes, drawn, LEAST_OF_CLASS)


def _wanted(counts: Ints, max_rows: int) -> int:
    """How many rows are drawn from classes of these sizes, if there are more."""
    total = int(counts.sum())
    others = total - int(counts.max())
    return max(max_rows, -(-LEAST_OTHERS * total // others) if others else 0)


def rows_of_classes(counts: Ints, max_rows: int | None, most: int) -> Ints:
    """How many rows of each class are drawn from a table of which `most` rows fit in memory.

    As `rows_to_compare` draws them: in proportion, and more where a class is rare; but never more than `most`
    and a few of each class.

    >>> rows_of_classes(np.array([19_000_000, 1_000_000]), 100_000, 800_000)
    array([95000,  5000])
    >>> rows_of_classes(np.array([19_990_000, 10_000, 3]), 100_000, 800_000)
    array([799600,    400,      3])
    """
    total = int(counts.sum())
    wanted = total if max_rows is None else min(total, _wanted(counts, max_rows))
    if max_rows is None and total > most:
        raise ValueError(
            f"max_rows=None compares models on all {total:,} rows, and {most:,} of this table are taken into "
            "memory at most; pass a number"
        )
    drawn = np.round(counts * (min(wanted, max(most, max_rows or 0)) / total)).astype(np.int64)
    return np.minimum(counts, np.maximum(drawn, LEAST_OF_CLASS))


def rows_to_show(codes: Ints, n: int, least: int = 50) -> Ints:
    """About n rows for a picture or a quick look: all where there are no more, and of each class at least 50.

    >>> codes = np.repeat([0, 1], [29_985, 15])
    >>> np.bincount(codes[rows_to_show(codes, 2000)])
    array([1999,   15])
    """
    if len(codes) <= n:
        return np.arange(len(codes))
    return _with_least(codes, sample_rows(codes, n), least)


def _with_least(codes: Ints, drawn: Ints, least: int) -> Ints:
    """Rows drawn, and more of each class that has fewer than so many among them, or all that it has."""
    counts = np.bincount(codes)
    lacking = np.minimum(counts, least) - np.bincount(codes[drawn], minlength=len(counts))
    more = [
        np.setdiff1d(np.flatnonzero(codes == k), drawn)[: lacking[k]]
        for k in np.flatnonzero(lacking > 0).tolist()
    ]
    return np.sort(np.concatenate([drawn, *more]))


def drawn(rows: LabelledTable, chosen: Ints) -> LabelledTable:
    """The rows that were chosen, which know their places in the table."""
    return replace(rows, positions=rows.places).part(chosen)


def drawn_words(n: int, n_rows: int) -> str:
    """How many rows were drawn, after how they were dealt out.

    >>> drawn_words(100_000, 1_000_000)
    ', of 100,000 rows drawn from 1,000,000'
    """
    return f", of {n:,} rows drawn from {n_rows:,}"


def checked_max_rows(max_rows: Any) -> int | None:
    """How many rows a comparison may draw at most; None for all."""
    whole = isinstance(max_rows, int | np.integer) and not isinstance(max_rows, bool)
    if max_rows is not None and not (whole and max_rows >= 1):
        raise ValueError(f"max_rows must be a number of rows, or None for all, found {max_rows!r}")
    return None if max_rows is None else int(max_rows)
