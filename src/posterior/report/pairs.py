"""Pairs of columns that go together: rank correlation of numbers, Cramér's V where one is a category.

Only pairs that go together more than chance explains are kept, by a level that is divided by the number of
pairs (Bonferroni): among forty-five thousand pairs of noise some are correlated by a third.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from scipy.special import chdtrc, ndtr
from scipy.stats import rankdata

from posterior._types import Bools, Floats, Ints
from posterior.comparison.sampling import rows_to_show
from posterior.plot.column_ranking import levels_of
from posterior.schema import LabelledTable

MOST_ROWS, MOST_NUMBERS, MOST_CATEGORIES, MOST_LEVELS = 5_000, 500, 30, 50
SIGNIFICANT = 0.05
# Below this a pair is not worth a line, however sure.
WORTH_A_LINE = 0.3


@dataclass(frozen=True)
class Pair:
    """Two columns and how closely they go together: a rank correlation, or Cramér's V from 0 to 1."""

    first: int
    second: int
    value: float
    measure: Literal["rank correlation", "Cramér's V"]


@dataclass(frozen=True)
class Pairs:
    """The pairs that go together, the closest first; how many were looked at, and how many there are."""

    found: tuple[Pair, ...]
    looked_at: int
    in_all: int

    @classmethod
    def of(cls, rows: LabelledTable) -> "Pairs":
        """Those of a table without its texts; of many columns the first are looked at, of many rows some."""
        schema = rows.schema
        usable = [j for j in range(len(schema)) if not schema.columns[j].ignored]
        some = rows.part(rows_to_show(rows.codes, MOST_ROWS)) if len(rows) > MOST_ROWS else rows
        numbers = [j for j in usable if schema.columns[j].kind in ("continuous", "count")][:MOST_NUMBERS]
        categories = [j for j in usable if 0 < schema.columns[j].size <= MOST_LEVELS][:MOST_CATEGORIES]
        mixed = [(i, j) for i in categories for j in numbers[:MOST_CATEGORIES]]
        by_level = [*combinations(categories, 2), *mixed]
        looked_at = len(numbers) * (len(numbers) - 1) // 2 + len(by_level)
        level = SIGNIFICANT / max(looked_at, 1)
        cut = {j: levels_of(some, j) for j in {j for pair in by_level for j in pair}}
        found = [*_numbers(some, numbers, level), *_categories(cut, by_level, level)]
        found = [pair for pair in found if abs(pair.value) >= WORTH_A_LINE]
        in_all = len(schema) * (len(schema) - 1) // 2
        return cls(tuple(sorted(found, key=lambda pair: -abs(pair.value))), looked_at, in_all)


def _numbers(rows: LabelledTable, columns: Sequence[int], level: float) -> list[Pair]:
    if len(columns) < 2:
        return []
    found, n = rank_correlations(rows.values(tuple(columns)))
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * ndtr(-np.arctanh(np.minimum(np.abs(found), 1 - 1e-12)) * np.sqrt(np.maximum(n - 3, 0) / 1.06))
    sure = np.triu((p < level) & (n > 3), 1)
    return [
        Pair(columns[a], columns[b], float(found[a, b]), "rank correlation")
        for a, b in zip(*np.nonzero(sure), strict=True)
    ]


def rank_correlations(values: Floats) -> tuple[Floats, Floats]:
    """Correlations (d, d) of the ranks of columns over the rows in which both have a value, and these rows.

    Ranks are those among all values of a column.

    >>> found, n = rank_correlations(np.array([[1.0, 10.0], [2.0, 100.0], [3.0, 1e9], [4.0, np.nan]]))
    >>> round(float(found[0, 1]), 3), int(n[0, 1])
    (1.0, 3)
    """
    there = ~np.isnan(values)
    ranks = np.zeros(values.shape)
    for j in range(values.shape[1]):
        own = rankdata(values[there[:, j], j])
        ranks[there[:, j], j] = own - own.mean() if len(own) else own
    mask = there.astype(np.float64)
    n, sums, squares = mask.T @ mask, ranks.T @ mask, (ranks**2).T @ mask
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = squares - sums**2 / n
        found = (ranks.T @ ranks - sums * sums.T / n) / np.sqrt(spread * spread.T)
    return np.nan_to_num(np.clip(found, -1.0, 1.0)), n


def _categories(cut: dict[int, Ints], pairs: Sequence[tuple[int, int]], level: float) -> list[Pair]:
    found = []
    for i, j in pairs:
        both: Bools = (cut[i] >= 0) & (cut[j] >= 0)
        value, p = cramers_v(cut[i][both], cut[j][both])
        if p < level:
            found.append(Pair(i, j, value, "Cramér's V"))
    return found


def cramers_v(one: Ints, other: Ints) -> tuple[float, float]:
    """Cramér's V less what chance makes of it (Bergsma 2013), and the p-value of the chi-squared test.

    >>> x = np.arange(300) % 3
    >>> round(cramers_v(x, x)[0], 2), round(cramers_v(x, np.arange(300) // 100)[0], 2)
    (1.0, 0.0)
    """
    if len(one) < 2:
        return 0.0, 1.0
    a, b = (np.unique(codes, return_inverse=True)[1].reshape(-1) for codes in (one, other))
    r, k, n = int(a.max()) + 1, int(b.max()) + 1, len(a)
    if min(r, k) < 2:
        return 0.0, 1.0
    counts = np.bincount(a * k + b, minlength=r * k).reshape(r, k)
    even = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / n
    statistic = float(((counts - even) ** 2 / even).sum())
    square = max(statistic / n - (r - 1) * (k - 1) / (n - 1), 0.0)
    most = min(r - (r - 1) ** 2 / (n - 1), k - (k - 1) ** 2 / (n - 1)) - 1
    value = (square / most) ** 0.5 if most > 0 else 0.0
    return min(value, 1.0), float(chdtrc((r - 1) * (k - 1), statistic))
