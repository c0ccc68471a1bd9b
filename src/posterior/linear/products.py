"""Which pairs of columns say more together than one by one, by tests of what an additive fit left over."""

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
from scipy.stats import chi2

from posterior._types import Floats
from posterior.linear.additive_design import product_of

# The chance that a pair is chosen though no pair has anything to say (Bonferroni).
LEVEL = 0.05
# A direction of products that has less than this share of the largest variance is none.
FLAT = 1e-6
# Columns of several numbers that are looked at: each pair of them takes a pass over the rows.
MOST_SEVERAL = 30


def telling_pairs(
    brought: Mapping[int, Floats], residuals: Floats, weight: Floats, most: int
) -> list[tuple[int, int]]:
    """The pairs whose products go with what is left over, most telling first, at most `most`.

    `brought` has what each column brings to products, (n, p). `residuals` (n, K) are indicators of the
    classes less their probabilities, which no column by itself explains any more. Of products z the score
    Σ w r z has the covariance Σ w r² z z' where they say nothing, so that the score in its metric is χ², for
    all classes but one (Rao, 1948).
    """
    found = [*_of_numbers(brought, residuals, weight), *_of_several(brought, residuals, weight)]
    share = (residuals.shape[1] - 1) / residuals.shape[1]
    tested = [(pair, s, df) for pair, s, df in found if df]
    if not tested:
        return []
    pairs, statistics, dfs = zip(*tested, strict=True)
    log_p = chi2.logsf(share * np.array(statistics), share * np.array(dfs))
    bar = np.log(LEVEL / len(pairs))
    return [pairs[k] for k in np.argsort(log_p, kind="stable") if log_p[k] < bar][:most]


Tested = tuple[tuple[int, int], float, float]


def _of_numbers(brought: Mapping[int, Floats], residuals: Floats, weight: Floats) -> Iterator[Tested]:
    """Pairs of columns that bring one number each, by products of matrices; statistics and their df."""
    columns = [j for j in sorted(brought) if brought[j].shape[1] == 1]
    if len(columns) < 2:
        return
    U = np.hstack([brought[j] for j in columns])
    mean = U.T @ (U * weight[:, None]) / weight.sum()
    statistic, df = np.zeros_like(mean), np.zeros_like(mean)
    for r in residuals.T:
        w, v = weight * r, weight * r * r
        score = U.T @ (U * w[:, None]) - mean * w.sum()
        around = (U * U).T @ (U * U * v[:, None]) - 2 * mean * (U.T @ (U * v[:, None])) + mean**2 * v.sum()
        there = around > FLAT * v.sum()
        statistic += np.where(there, score**2 / np.where(there, around, 1.0), 0.0)
        df += there
    for a, b in combinations(range(len(columns)), 2):
        yield (columns[a], columns[b]), float(statistic[a, b]), float(df[a, b])


def _of_several(brought: Mapping[int, Floats], residuals: Floats, weight: Floats) -> Iterator[Tested]:
    """Pairs of which one column, or both, bring several numbers."""
    several = [j for j in sorted(brought) if brought[j].shape[1] > 1][:MOST_SEVERAL]
    one = [j for j in sorted(brought) if brought[j].shape[1] == 1][:MOST_SEVERAL]
    for i, j in combinations(sorted([*several, *one]), 2):
        if i in several or j in several:
            yield (i, j), *_score(product_of(brought[i], brought[j]), residuals, weight)


def _score(z: Floats, residuals: Floats, weight: Floats) -> tuple[float, float]:
    """The statistic of some products, and its degrees of freedom."""
    z = z - weight @ z / weight.sum()
    statistic = df = 0.0
    for r in residuals.T:
        score = z.T @ (weight * r)
        values, turn = np.linalg.eigh((z * (weight * r * r)[:, None]).T @ z)
        there = values > FLAT * max(float(values[-1]), 0.0)
        statistic += float(((turn[:, there].T @ score) ** 2 / values[there]).sum())
        df += float(there.sum())
    return statistic, df
