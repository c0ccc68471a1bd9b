"""Class shares of unlabelled rows: the estimates, their bootstrap samples and tests of no change."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from posterior._types import Floats, Ints
from posterior.decision.proportions import (
    Proportions,
    curvature_at,
    log_likelihood,
    mean_ratio,
    proportions,
)
from posterior.decision.unlabelled import WeightedPosteriors

# Numbers that a block of bootstrap samples may hold at a time (16 MiB).
BLOCK = 2**21
# Classes closer than this are the same but for rounding.
SINGULAR = 1e-10
# Expected counts below which the χ² approximation is not relied on (Cochran 1954).
FEW = 5.0
N_PERMUTATIONS = 9_999


@dataclass(frozen=True)
class Change:
    """How much the class frequencies differ, and the probability of as much if they are the same."""

    statistic: float
    df: int
    p_value: float


@dataclass(frozen=True)
class Found:
    """An estimate, the one before held-out rows corrected it, bootstrap draws (B, K), and a test."""

    share: Floats
    uncorrected: Floats
    draws: Floats
    change: Change
    n_iter: int
    gap: float


class UnidentifiedError(Exception):
    """Classes, by position, whose shares some rows do not tell: "unlabelled" or "held-out" ones."""

    def __init__(self, rows: str, positions: Ints) -> None:
        super().__init__(rows, positions)
        self.rows, self.positions = rows, positions.tolist()


def by_likelihood(rows: WeightedPosteriors, old: Floats, n_bootstrap: int, rng: np.random.Generator) -> Found:
    """Maximum likelihood (Saerens, Latinne & Decaestecker 2002), the posteriors taken as exact."""
    log_ratio = rows.log_posterior - np.log(old)
    # Relative to the largest of its row: ratios of e^−1e5 are as good as any.
    density = np.exp(log_ratio - log_ratio.max(axis=1, keepdims=True))
    weight = rows.weight / rows.total
    fit = proportions(density, weight[None], np.full((1, len(old)), 1 / len(old)))
    share = fit.share[0]
    _refuse_same(density, weight, share)
    draws = np.empty((n_bootstrap, len(old)))
    for part in _parts(n_bootstrap, density.size):
        sample = resampled(rng, rows.weight, len(draws[part]))
        draws[part] = proportions(density, sample, np.repeat(fit.share, len(sample), axis=0)).share
    gain = log_likelihood(density, weight, share) - log_likelihood(density, weight, old)
    change = _against_chi2(2 * rows.total * max(gain, 0.0), len(old) - 1)
    return Found(share, share, draws, change, fit.n_iter, float(fit.gap[0]))


def by_corrected_likelihood(
    rows: WeightedPosteriors,
    held_out: WeightedPosteriors,
    old: Floats,
    n_bootstrap: int,
    rng: np.random.Generator,
) -> Found:
    """Maximum likelihood, corrected by what it makes of held-out rows whose classes are known.

    At the estimate q, the posteriors under priors q have mean q over the rows. Let column k of C be their
    mean over held-out rows of class k; rows with class frequencies p then have mean Cp, and p with Cp = q is
    the corrected estimate: the q that would be found in held-out rows weighted to frequencies p. It is right
    whatever is wrong with the posteriors, if p(row | class) has not changed. To first order it does not
    depend on the priors of the posteriors, which the bootstrap therefore keeps; they are q with K rows of
    the old frequencies added, so that no class is impossible.
    """
    plain = by_likelihood(rows, old, 0, rng)
    near = (rows.total * plain.share + len(old) * old) / (rows.total + len(old))
    fit, draws = _by_table(
        rows, rows.posteriors(old, near), held_out, held_out.posteriors(old, near), n_bootstrap, rng
    )
    change = same_means(rows, np.exp(rows.log_posterior), held_out, np.exp(held_out.log_posterior))
    return Found(fit.share[0], plain.share, draws, change, plain.n_iter, plain.gap)


def by_confusion(
    rows: WeightedPosteriors, held_out: WeightedPosteriors, n_bootstrap: int, rng: np.random.Generator
) -> Found:
    """Black-box shift estimation (Lipton, Wang & Smola 2018) from the predicted classes alone.

    The maximum-likelihood form: p(predicted | class) counted in the held-out rows, and the shares of the
    classes under which the predictions for the unlabelled rows are most probable; C⁻¹μ where that has no
    negative entry.
    """
    marks, known = rows.predictions(), held_out.predictions()
    fit, draws = _by_table(rows, marks, held_out, known, n_bootstrap, rng)
    counted = rows.weight @ marks / rows.total
    return Found(
        fit.share[0], counted, draws, same_counts(rows, held_out, rng), fit.n_iter, float(fit.gap[0])
    )


def same_means(
    rows: WeightedPosteriors, marks: Floats, held_out: WeightedPosteriors, known: Floats
) -> Change:
    """A two-sample test that marks (n, K) have the same mean: Pearson's χ² where they are indicators.

    For posteriors it is the score test of a common mixture, with the covariance as it is found in both
    samples together, so that the posteriors need not be right.
    """
    n, m = rows.total, held_out.total
    mean, known_mean = rows.weight @ marks / n, held_out.weight @ known / m
    centre = (n * mean + m * known_mean) / (n + m)
    spread = sum(
        (some.weight * (part - centre).T) @ (part - centre)
        for some, part in ((rows, marks), (held_out, known))
    ) / (n + m)
    sizes, axes = np.linalg.eigh(spread)
    free = sizes > SINGULAR * max(float(sizes[-1]), 1e-300)
    along = (mean - known_mean) @ axes[:, free]
    return _against_chi2(float(along**2 @ (1 / sizes[free])) * n * m / (n + m), int(free.sum()))


def same_counts(rows: WeightedPosteriors, held_out: WeightedPosteriors, rng: np.random.Generator) -> Change:
    """Homogeneity of the predicted classes in both samples; by permutation where counts are small."""
    change = same_means(rows, rows.predictions(), held_out, held_out.predictions())
    count = np.array([some.weight @ some.predictions() for some in (rows, held_out)])
    count = count[:, count.sum(axis=0) > 0]
    totals, margin = count.sum(axis=1), count.sum(axis=0)
    expected = np.outer(totals, margin) / totals.sum()
    if change.df == 0 or expected.min() >= FEW or (count % 1).any():
        return change
    drawn = rng.multivariate_hypergeometric(
        margin.astype(np.int64), int(totals[0]), N_PERMUTATIONS, method="marginals"
    )
    # Of two samples with these totals and margin, the second follows from the first.
    distance = ((drawn - expected[0]) ** 2 / margin).sum(axis=1)
    found = ((count[0] - expected[0]) ** 2 / margin).sum()
    as_far = int((distance >= found * (1 - 1e-9)).sum())
    return Change(change.statistic, change.df, (1 + as_far) / (1 + N_PERMUTATIONS))


def resampled(rng: np.random.Generator, weight: Floats, n_samples: int) -> Floats:
    """Weights of the rows in bootstrap samples, each summing to 1, (B, n)."""
    size = max(round(float(weight.sum())), 1)
    if (weight == 1).all():
        # The same law as below, five times as fast.
        drawn = rng.integers(size, size=(n_samples, size)) + size * np.arange(n_samples)[:, None]
        return np.bincount(drawn.ravel(), minlength=n_samples * size).reshape(n_samples, size) / size
    return np.asarray(rng.multinomial(size, weight / weight.sum(), n_samples) / size)


def _by_table(
    rows: WeightedPosteriors,
    marks: Floats,
    held_out: WeightedPosteriors,
    known: Floats,
    n_bootstrap: int,
    rng: np.random.Generator,
) -> tuple[Proportions, Floats]:
    """Shares p with Cp = μ, or nearest to it in likelihood, and those of bootstrap samples of both sets.

    μ is the mean of the marks (n, K) of the unlabelled rows, column k of C that of held-out rows of class k.
    Held-out rows are drawn within their class: how many there are of each says nothing about p.
    """
    K = marks.shape[1]
    members = [held_out.of_class(k) for k in range(K)]
    table = np.column_stack([np.average(known[i], axis=0, weights=held_out.weight[i]) for i in members])
    _refuse_singular(table)
    fit = _solved(table[None], (rows.weight @ marks / rows.total)[None])
    draws = np.empty((n_bootstrap, K))
    for part in _parts(n_bootstrap, marks.size + known.size):
        size = len(draws[part])
        mean = resampled(rng, rows.weight, size) @ marks
        tables = [resampled(rng, held_out.weight[i], size) @ known[i] for i in members]
        draws[part] = _solved(np.stack(tables, axis=2), mean).share
    return fit, draws


def _solved(table: Floats, mean: Floats) -> Proportions:
    """Shares (B, K) from tables (B, K, K) and means (B, K).

    A mark that no held-out row of a bootstrap sample has is left out there: it fits no shares.
    """
    top = table.max(axis=2, keepdims=True)
    density = table / np.where(top > 0, top, 1.0)
    weight = np.where(top[:, :, 0] > 0, mean, 0.0)
    B, K = mean.shape
    return proportions(density, weight / weight.sum(axis=1, keepdims=True), np.full((B, K), 1 / K))


def _parts(n_bootstrap: int, size: int) -> Iterator[slice]:
    """Parts of the bootstrap samples that fit into memory, `size` numbers being kept for each."""
    step = max(BLOCK // max(size, 1), 1)
    return (slice(first, first + step) for first in range(0, n_bootstrap, step))


def _against_chi2(statistic: float, df: int) -> Change:
    return Change(statistic, df, float(chi2.sf(statistic, df)) if df else 1.0)


def _refuse_same(density: Floats, weight: Floats, share: Floats) -> None:
    """Raise the error of a likelihood that has its maximum at many shares."""
    level = np.flatnonzero(mean_ratio(density, weight, share) > 1 - 1e-6)
    curvature = curvature_at(density[:, level], weight, share[level])
    size = np.sqrt(np.diag(curvature))
    sizes, axes = np.linalg.eigh(curvature / np.outer(size, size))
    if sizes[0] < SINGULAR:
        raise UnidentifiedError("unlabelled", level[_involved(axes[:, sizes < SINGULAR])])


def _refuse_singular(table: Floats) -> None:
    _, sizes, axes = np.linalg.svd(table)
    same = sizes < SINGULAR * sizes[0]
    if same.any():
        raise UnidentifiedError("held-out", _involved(axes[same].T))


def _involved(directions: Floats) -> Ints:
    """Positions of the classes that take part in directions (K, r), rounding aside."""
    size = np.abs(directions).max(axis=1)
    return np.flatnonzero(size > 1e-3 * size.max())
