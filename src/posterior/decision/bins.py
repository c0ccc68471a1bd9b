"""Predicted probabilities of events, sorted into bins, with what came true in each."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.fft import irfft, rfft
from scipy.special import betaincinv, ndtri

from posterior._types import Bools, Floats, Ints

# Sums of more rows than this are taken to have a beta distribution, which differs no more from the exact one.
MANY = 2**18
STRATEGIES = ("quantile", "uniform")


@dataclass(frozen=True, eq=False)
class Events:
    """Events that rows predict, one column each: probabilities (n, C), and whether each came true.

    `weight` are repetitions of rows. Events that exclude each other are columns of one object.
    """

    probability: Floats
    happened: Bools
    weight: Floats

    @classmethod
    def of_classes(cls, logs: Floats, codes: Ints, weight: Floats) -> "Events":
        """Each class against the others."""
        return cls(np.exp(logs), codes[:, None] == np.arange(logs.shape[1]), weight)

    @classmethod
    def of_top(cls, logs: Floats, codes: Ints, weight: Floats) -> "Events":
        """That the most probable class is the true one; of equal ones the first counts."""
        top = logs.argmax(axis=1)
        return cls(np.exp(logs.max(axis=1, keepdims=True)), (codes == top)[:, None], weight)

    def binned(self, n_bins: int, strategy: str) -> "Binned":
        """The bin of each event of each row."""
        if isinstance(n_bins, bool) or n_bins != int(n_bins) or n_bins < 1:
            raise ValueError(f"n_bins is a whole number of at least 1, found {n_bins!r}")
        if strategy not in STRATEGIES:
            raise ValueError(f"strategy must be one of {list(STRATEGIES)}, found {strategy!r}")
        columns = self.probability.T
        if strategy == "uniform":
            edges = np.linspace(0.0, 1.0, int(n_bins) + 1)[1:-1]
            place = [np.searchsorted(edges, column) for column in columns]
        else:
            place = [quantile_bins(column, self.weight, int(n_bins)) for column in columns]
        return Binned(self, np.stack(place, axis=1) + int(n_bins) * np.arange(len(columns)), int(n_bins))


@dataclass(frozen=True, eq=False)
class Binned:
    """Events in bins: `place` (n, C) numbers the bins of all columns, n_bins for each column in turn."""

    events: Events
    place: Ints
    n_bins: int

    @property
    def n_places(self) -> int:
        """Number of bins of all columns."""
        return self.n_bins * int(self.place.shape[1])

    def sums(self, values: Any) -> Floats:
        """Weighted sums over bins of values (n, C)."""
        weighted = self.events.weight[:, None] * values
        return bin_sums(self.place.ravel(), np.ravel(weighted), self.n_places)

    def matrix(self, values: Floats) -> Any:
        """Values (n, C) of rows as a sparse matrix (n_places, n), which makes row counts sums over bins."""
        n, C = self.place.shape
        columns = np.repeat(np.arange(n), C)
        return sparse.csr_array((values.ravel(), (self.place.ravel(), columns)), shape=(self.n_places, n))


def bin_sums(place: Ints, values: Any, n_places: int) -> Floats:
    """Sums of values over bins."""
    return np.bincount(place, values, n_places).astype(np.float64, copy=False)


def quantile_bins(values: Floats, weight: Floats, n_bins: int) -> Ints:
    """Bins of as equal weight as can be, equal values together: by the middle rank of each value."""
    distinct, which = np.unique(values, return_inverse=True)
    mass = np.bincount(which, weight, len(distinct))
    middle = np.cumsum(mass) - mass / 2
    rank = np.floor(n_bins * middle / mass.sum()).astype(np.int64)
    return np.asarray(np.minimum(rank, n_bins - 1)[which])


def wilson(share: Floats, weight: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Confidence interval of a probability, from the share of `weight` rows for which it came true.

    The score interval of Wilson (1927).
    """
    z = ndtri(0.5 + confidence / 2)
    center = share + z**2 / (2 * weight)
    spread = z * np.sqrt(share * (1 - share) / weight + z**2 / (4 * weight**2))
    low, high = ((center + sign * spread) / (1 + z**2 / weight) for sign in (-1, 1))
    # At a share of 0 or 1 the interval ends there; rounding must not leave it out.
    return np.where(share == 0, 0.0, np.maximum(low, 0)), np.where(share == 1, 1.0, np.minimum(high, 1))


def calibrated_range(probability: Floats, weight: Floats, confidence: float) -> tuple[float, float]:
    """The central range of the share of rows that come true, if each does with its probability.

    Exact, from the distribution of a sum of Bernoulli variables, if weights are whole numbers; else, and
    for more than 262,144 rows, that of the beta distribution of the same mean and variance.
    """
    tails = (0.5 - confidence / 2, 0.5 + confidence / 2)
    total = float(weight.sum())
    whole = np.floor(weight)
    if (whole == weight).all() and total <= MANY:
        cdf = np.cumsum(sum_of_bernoullis(np.repeat(probability, whole.astype(np.int64))))
        # The sum is rounded: a probability that is the tail itself counts as reached.
        few, many = (int(np.searchsorted(cdf, tail - 1e-12)) for tail in tails)
        return few / total, min(many / total, 1.0)
    mean = float(weight @ probability / total)
    # Half a row is half of one Bernoulli variable; the variance of that is a quarter.
    pieces = whole + (weight - whole) ** 2
    variance = float(pieces @ (probability * (1 - probability)) / total**2)
    if not variance > 0:
        return mean, mean
    size = mean * (1 - mean) / variance - 1
    low, high = (float(betaincinv(mean * size, (1 - mean) * size, tail)) for tail in tails)
    return low, high


def sum_of_bernoullis(probability: Floats) -> Floats:
    """Distribution of the number of events that happen, independent, each with its own probability.

    The Poisson-binomial distribution, by a tree of convolutions: n log² n operations.

    >>> sum_of_bernoullis(np.array([0.5, 0.5]))
    array([0.25, 0.5 , 0.25])
    """
    n = len(probability)
    padded = np.zeros(2 ** int(np.ceil(np.log2(max(n, 1)))))
    padded[:n] = probability
    pmf = np.stack([1 - padded, padded], axis=1)
    while len(pmf) > 1:
        size = 2 * pmf.shape[1] - 1
        pmf = irfft(rfft(pmf[0::2], size) * rfft(pmf[1::2], size), size)
    return np.asarray(np.maximum(pmf[0, : n + 1], 0.0))
