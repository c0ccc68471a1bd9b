"""Histograms: numbers of any distribution, by how many fall between what and what."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from posterior._types import Floats, Ints
from posterior.families.base import Family, LeftOut, ProductDistribution, is_open
from posterior.families.left_out.values import ValuesWithout, without_each
from posterior.families.parameters import Parameter
from posterior.families.sums import ALPHAS, check_alpha, safe_log
from posterior.stats import ValueTable

# Numbers of bins to choose from: each halves the bins of the one before.
BINS = (1, 2, 4, 8, 16, 32, 64)
# Ranks that are on the border of two bins up to rounding belong to the upper one.
ROUNDING = 1e-9
LEAST = 1e-300


class HistogramDistribution(ProductDistribution):
    """Histogram densities: constant between edges, with exponential tails beyond the first and the last.

    Of column j there are `edges[j]` (B−1,), the same for all classes, and `share[j]` (K, B), the probability
    of each of the B bins in each class. `tail` (d, 2) has the mean distance from the first edge of what is
    below it, and from the last edge of what is above. `n_bins` (d,) counts the bins by which classes differ.

    >>> one = HistogramDistribution([[0.0, 2.0]], [[[0.25, 0.5, 0.25]]], [[1.0, 1.0]])
    >>> np.exp(one.log_density(np.array([[1.0], [2.0]])))
    array([[0.25],
           [0.25]])
    """

    parts: ClassVar[Mapping[str, Any]] = {
        "edges": Annotated[tuple[Floats, ...], "... value"],
        "share": Annotated[tuple[Floats, ...], "K ... share"],
        "tail": Annotated[Floats, "d two >0"],
        "n_bins": Annotated[Ints, "d code"],
    }

    def __init__(
        self,
        edges: Sequence[ArrayLike],
        share: Sequence[ArrayLike],
        tail: ArrayLike,
        n_bins: ArrayLike | None = None,
    ) -> None:
        self.edges = tuple(np.asarray(each, dtype=np.float64) for each in edges)
        self.share = tuple(np.asarray(each, dtype=np.float64) for each in share)
        self.tail = np.asarray(tail, dtype=np.float64)
        self.n_columns = len(self.edges)
        found = [each.shape[-1] for each in self.share]
        self.n_bins = np.asarray(found if n_bins is None else n_bins, dtype=np.int64)
        if wrong := self.impossible():
            raise ValueError(wrong)
        self.n_classes = len(self.share[0])

    @property
    def has_zeros(self) -> bool:
        """A bin may be empty in a class where nothing is added to the counts."""
        return any((share == 0).any() for share in self.share)

    def impossible(self) -> str:
        """Edges that are not sorted, shares that do not add up to 1, and tails of no length."""
        if not len(self.edges) == len(self.share) == len(self.n_bins) or self.tail.shape != (
            len(self.edges),
            2,
        ):
            return "edges, share and tail must be of the same columns"
        for edges, share, n in zip(self.edges, self.share, self.n_bins.tolist(), strict=True):
            if edges.ndim != 1 or share.ndim != 2 or len(share) != len(self.share[0]):
                return "edges must be numbers, and share a table of classes and bins"
            if share.shape[1] != len(edges) + 1 or len(edges) < 1 or not 1 <= n <= share.shape[1]:
                return "a histogram has at least one edge, and one bin more than edges"
            if not (np.diff(edges) > 0).all():
                return "the edges of a histogram must be sorted"
            if not ((share >= 0).all() and np.allclose(share.sum(axis=1), 1, rtol=1e-6)):
                return "the shares of the bins must add up to 1 in every class"
        return "" if (self.tail > 0).all() else "tails must have a positive length"

    def class_terms(self, block: Floats, k: int) -> Floats:
        """Log density of every cell under class `k`."""
        terms = np.empty(block.shape)
        for j, x in enumerate(block.T):
            place = np.searchsorted(self.edges[j], x, side="right").clip(0, len(self.edges[j]))
            terms[:, j] = safe_log(self.share[j][k])[place]
            terms[:, j] += _log_height(self.edges[j], self.tail[j], x, place)
        terms[np.isnan(block)] = 0.0
        return terms

    def marginal(self, columns: Sequence[int]) -> "HistogramDistribution":
        """The distribution of some of the columns."""
        keep = list(columns)
        edges, share = (tuple(each[j] for j in keep) for each in (self.edges, self.share))
        return HistogramDistribution(edges, share, self.tail[keep], self.n_bins[keep])

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        """One row for each class code."""
        out = np.empty((len(y), self.n_columns))
        for j, (edges, share) in enumerate(zip(self.edges, self.share, strict=True)):
            above = np.cumsum(share, axis=1)[y]
            place = (rng.random(len(y))[:, None] * above[:, -1:] >= above).sum(axis=1).clip(0, len(edges))
            within, far = rng.random(len(y)), rng.exponential(size=len(y))
            low, high = edges[(place - 1).clip(0)], edges[place.clip(0, len(edges) - 1)]
            out[:, j] = np.where(
                place == 0,
                edges[0] - far * self.tail[j, 0],
                np.where(place == len(edges), edges[-1] + far * self.tail[j, 1], low + within * (high - low)),
            )
        return out

    @property
    def n_parameters(self) -> int:
        """Shares of the bins by which classes differ, of the bins of all, and two tails for each column."""
        by_class = self.n_classes * int((self.n_bins - 1).sum())
        return by_class + sum(len(edges) + 2 for edges in self.edges)

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """The probability of every bin, and the lengths of the tails."""
        found = []
        for j, name in enumerate(names):
            edges = [f"{edge:.6g}" for edge in self.edges[j].tolist()]
            middle = [f"p({low} to {high})" for low, high in pairwise(edges)]
            bins = [f"p(below {edges[0]})", *middle, f"p(above {edges[-1]})"]
            called = [f"bin {b + 1}: {text}" for b, text in enumerate(bins)]
            found += [Parameter((name,), text, self.share[j][:, b].copy()) for b, text in enumerate(called)]
            for side, text in enumerate(("tail below", "tail above")):
                found.append(Parameter((name,), text, np.full(self.n_classes, self.tail[j, side])))
        return found

    def log_likelihood(self, statistics: ValueTable) -> float:
        """Summed over the distinct values."""
        total = 0.0
        for j, (x, tables) in enumerate(zip(statistics.values, statistics.tables, strict=True)):
            one = self.marginal([j])
            for k, weight in enumerate(tables):
                some = weight > 0
                total += float(weight[some] @ one.class_terms(x[some, None], k)[:, 0])
        return total


@dataclass(frozen=True)
class Histogram(Family[ValueTable]):
    """A histogram for each column, for numbers that follow no standard distribution.

    Bins hold equal numbers of rows of all classes, so far as values are not repeated. `bins` is their number;
    None takes, for each column, the one of 1, 2, 4, …, 64 whose log loss of the class given the bin is
    smallest with every row left out in turn. The share of a bin in a class is (n + αBm) / (N + αB) where m is
    its share in all rows: `alpha` is the number of rows that each bin is lent, "auto" leaves it to
    cross-validation. Within a bin the density is that of all rows, a histogram with as many bins or more by
    the same rule (Rudemo 1982, Stone 1974). It falls exponentially beyond the first and the last edge, the
    same for all classes: a number further out than all others says no more than those next to it.

    >>> rows = Histogram().summarize(np.array([[1.0], [2.0], [3.0], [8.0]]), np.array([0, 0, 1, 1]), None, 2)
    >>> Histogram(bins=2, alpha=0).estimate(rows).share
    (array([[1., 0.],
           [0., 1.]]),)
    """

    bins: int | None = None
    alpha: Any = 3.0
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {"alpha": ALPHAS}

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        if np.ndim(self.alpha) and not is_open(self.alpha):
            raise ValueError(f"alpha must be one number for all bins, or 'auto'; found {self.alpha!r}")
        whole = isinstance(self.bins, int | np.integer) and not isinstance(self.bins, bool)
        if self.bins is not None and not (whole and self.bins >= 2):
            raise ValueError(
                f"bins must be a number of at least 2, or None to choose it, found {self.bins!r}"
            )

    def summarize(self, block: Floats, y: Ints, weight: Floats | None, n_classes: int) -> ValueTable:
        """The distinct numbers and their weights by class."""
        return ValueTable.of(block, y, weight, n_classes)

    def estimate(self, statistics: ValueTable) -> HistogramDistribution:
        """Edges from all rows, and the share of each bin in each class."""
        self.refuse_open()
        columns = [
            self._column(x, table) for x, table in zip(statistics.values, statistics.tables, strict=True)
        ]
        edges, share, tail, n_bins = zip(*columns, strict=True)
        return HistogramDistribution(edges, share, np.array(tail), np.array(n_bins))

    @property
    def _numbers(self) -> tuple[int, ...]:
        """The numbers of bins to choose from."""
        return BINS if self.bins is None else (self.bins,)

    def _column(self, x: Floats, table: Floats) -> tuple[Floats, Floats, Floats, int]:
        """Edges, shares, lengths of the tails and the number of bins by which classes differ."""
        everyone = table.sum(axis=0)
        counts = [_counts(_bin(everyone[None], bins), table[:, None], bins) for bins in self._numbers]
        chosen = int(self._chosen(counts)[0])
        by_class = self._share(counts[chosen])[0]
        # All rows may show more of their density than the classes do of their differences.
        finest = max(chosen, _best_density(x, everyone, self._numbers))
        return self._refined(x, table, chosen, finest, by_class)

    def _refined(
        self, x: Floats, table: Floats, chosen: int, finest: int, by_class: Floats
    ) -> tuple[Floats, Floats, Floats, int]:
        """The bins of all rows with the shares that their unions have in the classes."""
        everyone = table.sum(axis=0)
        bins = self._numbers[finest]
        found = _bin(everyone[None], bins)[0]
        occupied = np.unique(found)
        weight = np.bincount(found, everyone, bins)[occupied]
        coarse = occupied * self._numbers[chosen] // bins
        whole = np.bincount(coarse, weight, self._numbers[chosen])[coarse]
        edges, tail = _edges(x, everyone, found)
        return *_checked(edges, by_class[:, coarse] * (weight / whole), tail), len(np.unique(coarse))

    def _prior(self, counts: Floats) -> tuple[Floats, Floats]:
        """How many rows each bin is lent (m, 1, B), and all together."""
        overall = counts.sum(axis=1, keepdims=True)
        lent = self.alpha * counts.shape[2]
        share = overall / overall.sum(axis=2, keepdims=True)
        return lent * share, np.asarray(share)

    def _share(self, counts: Floats) -> Floats:
        """The shares (m, K, B) of the bins in each class, from their weights."""
        lent, share = self._prior(counts)
        rows = counts.sum(axis=2, keepdims=True)
        total = rows + self.alpha * counts.shape[2]
        return np.where(total > 0, (counts + lent) / np.where(total > 0, total, 1.0), share)

    def _chosen(self, counts: Sequence[Floats]) -> Ints:
        """Which number of bins predicts the class best, with every row left out in turn, (m,)."""
        losses = np.stack([self._loss(each) for each in counts])
        # The first that is as good as the best, so that rounding chooses nothing.
        return np.asarray((losses <= losses.min(axis=0) * (1 + ROUNDING)).argmax(axis=0))

    def _loss(self, counts: Floats) -> Floats:
        """Summed log loss (m,) of the class of each row given its bin, in a table without the row."""
        lent, _ = self._prior(counts)
        rows = counts.sum(axis=2, keepdims=True)
        added = self.alpha * counts.shape[2]
        score = rows * (counts + lent) / np.maximum(rows + added, LEAST)
        own = rows * (np.maximum(counts - 1, 0.0) + lent) / np.maximum(rows - 1 + added, LEAST)
        others = score.sum(axis=1, keepdims=True) - score
        log_p = np.log(np.maximum(own, LEAST)) - np.log(np.maximum(own + others, LEAST))
        return np.asarray(-(counts * log_p).sum(axis=(1, 2)))

    def leave_one_out(
        self, statistics: ValueTable, distribution: HistogramDistribution
    ) -> Callable[[Floats, Ints, Floats | None], LeftOut]:
        """The row's bin without it: edges, number of bins and shares as they are without the row.

        What all classes share, the density of all rows, is left as it is.
        """

        def terms(rows: ValuesWithout) -> Floats:
            lines = np.arange(len(rows.place))
            tables = np.stack([rows.of_class(k) for k in range(len(rows.table))])
            counts, places = [], []
            for bins in self._numbers:
                ranked = _bin(rows.everyone, bins)
                counts.append(_counts(ranked, tables, bins))
                places.append(_bin_of_left(ranked, rows))
            chosen = self._chosen(counts)
            out = np.empty((len(lines), len(rows.table)))
            for i in np.unique(chosen).tolist():
                mine = chosen == i
                share = self._share(counts[i][mine])
                overall = counts[i][mine].sum(axis=1)
                place, some = places[i][mine], lines[: int(mine.sum())]
                own = (
                    share[some, :, place]
                    / (overall / overall.sum(axis=1, keepdims=True))[some, place][:, None]
                )
                out[mine] = safe_log(own)
            return out

        return without_each(statistics, terms)


def _bin(weight: Floats, bins: int) -> Ints:
    """The bin of each value by its rank, (m, V): as many rows in each as repeated values allow."""
    above = np.cumsum(weight, axis=1)
    rank = (above - 0.5 * weight) / np.maximum(above[:, -1:], LEAST)
    return np.floor(bins * rank + ROUNDING).astype(np.int64).clip(0, bins - 1)


def _counts(found: Ints, tables: Floats, bins: int) -> Floats:
    """Weights (m, K, B) of the bins, of values with weights (K, m, V) that are in the bins `found` (m, V)."""
    m = len(found)
    place = (found + bins * np.arange(m)[:, None]).ravel()
    each = [np.bincount(place, table.ravel(), m * bins).reshape(m, bins) for table in tables]
    return np.stack(each, axis=1).astype(np.float64)


def _bin_of_left(found: Ints, rows: ValuesWithout) -> Ints:
    """The bins of values that were left out: that of the nearest value where no other row has theirs."""
    lines, place, last = np.arange(len(found)), rows.place, len(rows.x) - 1
    low, high = (place - 1).clip(0), (place + 1).clip(0, last)
    below = (rows.left < 0.5 * (rows.x[low] + rows.x[high])) & (place > 0)
    nearest = np.where(below | (place == last), low, high)
    return found[lines, np.where(rows.everyone[lines, place] > 0, place, nearest)]


def _edges(x: Floats, weight: Floats, found: Ints) -> tuple[Floats, Floats]:
    """Edges half-way between neighbouring values of different bins, and the mean distances beyond them."""
    last = np.flatnonzero(np.diff(found))
    if not len(last):  # one bin: it falls to both sides of its middle
        middle = np.array([x[np.searchsorted(np.cumsum(weight), 0.5 * weight.sum()).clip(0, len(x) - 1)]])
        unit = float(weight @ np.abs(x - middle) / weight.sum()) or 1.0
        return middle, np.array([unit, unit])
    edges = 0.5 * (x[last] + x[last + 1])
    below, above = x <= x[last[0]], x > x[last[-1]]
    tail = [
        weight[below] @ (edges[0] - x[below]) / weight[below].sum(),
        weight[above] @ (x[above] - edges[-1]) / weight[above].sum(),
    ]
    return edges, np.maximum(tail, 1e-15 * (x[-1] - x[0]))


def _log_height(edges: Floats, tail: Floats, x: Floats, place: Ints) -> Floats:
    """The log density of values within their bins: even between edges, exponential outside."""
    width = np.concatenate([tail[:1], np.diff(edges), tail[1:]])
    beyond = np.where(place == 0, edges[0] - x, np.where(place == len(edges), x - edges[-1], 0.0))
    return np.asarray(-np.log(width)[place] - np.maximum(beyond, 0.0) / width[place])


def _best_density(x: Floats, weight: Floats, numbers: Sequence[int]) -> int:
    """Which number of bins describes all rows best, each row left out of its own bin; at least two bins."""
    if len(numbers) == 1:
        return 0
    heights = [-np.inf]
    for bins in numbers[1:]:
        found = _bin(weight[None], bins)[0]
        edges, tail = _edges(x, weight, found)
        place = np.searchsorted(edges, x, side="right")
        rows = np.bincount(place, weight, len(edges) + 1)[place]
        log_share = np.log(np.maximum(rows - 1, LEAST) / max(weight.sum() - 1, LEAST))
        with np.errstate(divide="ignore"):  # edges that rounding made one are worse than any
            heights.append(float(weight @ (log_share + _log_height(edges, tail, x, place))))
    best = np.array(heights)
    best[~np.isfinite(best)] = -np.inf
    return max(1, int(np.argmax(best)))


def _checked(edges: Floats, share: Floats, tail: Floats) -> tuple[Floats, Floats, Floats]:
    """Bins that have a width: two that rounding put at one place become one."""
    if share.shape[1] == 1:
        return edges, np.repeat(0.5 * share, 2, axis=1), tail
    kept = np.append(True, np.diff(edges) > 0)
    starts = np.append(0, np.flatnonzero(kept) + 1)
    return edges[kept], np.add.reduceat(share, starts, axis=1), tail
