"""The beta family: shares, probabilities and other numbers between 0 and 1."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, expit, polygamma

from posterior import kernels
from posterior._types import Bools, Floats, Ints
from posterior.families.base import (
    Family,
    LeftOut,
    ProductDistribution,
    Repair,
    never_seen,
    refuse_outside,
    table,
)
from posterior.families.gamma import stirling
from posterior.families.left_out.parts import LEAST, Removal, any_cell
from posterior.families.parameters import Parameter, by_column
from posterior.stats import Moments, PairMoments

# The largest α + β: above it, rounding of the mean shows.
NARROWEST = 1e12
# Above this α + β the variance of the log odds gives it to all digits that there are.
CLOSE = 1e8
STEPS = 60


class BetaDistribution(ProductDistribution):
    """Beta densities with parameters α and β, (K, d): xᵅ⁻¹ (1−x)ᵝ⁻¹ / B(α, β) for 0 < x < 1.

    >>> BetaDistribution(alpha=[[2.0]], beta=[[1.0]]).log_density(np.array([[0.5]])).round(3) + 0.0
    array([[0.]])
    """

    parts: ClassVar[Mapping[str, Any]] = {
        "alpha": Annotated[Floats, "K d >0"],
        "beta": Annotated[Floats, "K d >0"],
        "repairs": tuple[Repair, ...],
    }
    has_support = True

    def __init__(self, alpha: ArrayLike, beta: ArrayLike, *, repairs: tuple[Repair, ...] = ()) -> None:
        self.alpha, self.repairs = table("alpha", alpha), repairs
        self.n_classes, self.n_columns = self.alpha.shape
        self.beta = table("beta", beta, self.n_classes)
        if self.beta.shape != self.alpha.shape or not ((self.alpha > 0) & (self.beta > 0)).all():
            raise ValueError(f"alpha and beta must be positive and of one shape, {self.alpha.shape}")

    def outside(self, block: Floats) -> Bools:
        """Numbers that are not between 0 and 1."""
        return np.asarray((block <= 0) | (block >= 1))

    def class_terms(self, block: Floats, k: int) -> Floats:
        """Log density of every cell under class `k`."""
        outside = self.outside(block)
        terms = _log_density(np.where(outside, 0.5, block), self.alpha[k], self.beta[k])
        terms[outside] = -np.inf
        terms[np.isnan(block)] = 0.0
        return terms

    def marginal(self, columns: Sequence[int]) -> "BetaDistribution":
        """The distribution of some of the columns."""
        keep = list(columns)
        return BetaDistribution(self.alpha[:, keep], self.beta[:, keep])

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        """One row for each class code, none of them 0 or 1 by rounding."""
        drawn = rng.beta(self.alpha[y], self.beta[y])
        return np.clip(drawn, np.finfo(np.float64).tiny, np.nextafter(1.0, 0.0))

    @property
    def n_parameters(self) -> int:
        """Two for each class and column."""
        return 2 * self.alpha.size

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """α and β of every column."""
        return by_column(names, {"alpha": self.alpha, "beta": self.beta})

    def log_likelihood(self, statistics: PairMoments) -> float:
        """Σ w (α−1) ln x + (β−1) ln(1−x) − ln B, from the means of the log odds and of ln(1−x)."""
        log_rest = statistics.second.location.value
        log_x = statistics.first.location.value + log_rest
        terms = _terms(log_x, log_rest, self.alpha, self.beta)
        return float((statistics.weight * terms).sum())


@dataclass(frozen=True)
class Beta(Family[PairMoments]):
    """The beta family by maximum likelihood, for numbers between 0 and 1 such as shares.

    α and β solve ψ(α) − ψ(α+β) = mean of ln x and ψ(β) − ψ(α+β) = mean of ln(1−x), by Newton's method. A
    class whose log odds have a variance below `floor` times that within all classes gets one row more that
    has the latter.

    >>> rows = Beta().summarize(np.array([[0.2], [0.5], [0.6]]), np.array([0, 0, 0]), None, 1)
    >>> Beta().estimate(rows).alpha.round(2), Beta().estimate(rows).beta.round(2)
    (array([[3.35]]), array([[4.47]]))
    """

    floor: float = 1e-15
    kinds: ClassVar[frozenset[str]] = frozenset({"continuous"})

    def __post_init__(self) -> None:
        if not self.floor >= 0:
            raise ValueError(f"floor must not be negative, found {self.floor}")

    def check(self, block: Floats, names: Sequence[str]) -> None:
        """Values must be between 0 and 1."""
        rule = "a beta column takes values between 0 and 1, neither of which has a density"
        refuse_outside((block <= 0) | (block >= 1), block, names, rule)

    def summarize(self, block: Floats, y: Ints, weight: Floats | None, n_classes: int) -> PairMoments:
        """The moments of the log odds ln x − ln(1−x), and of ln(1−x)."""
        log_rest = np.log1p(-block)
        return PairMoments.of(np.log(block) - log_rest, log_rest, y, weight, n_classes)

    def estimate(self, statistics: PairMoments) -> BetaDistribution:
        """α and β of each class and column; of a class without values, those of all rows."""
        odds, rest = statistics.first, statistics.second
        empty = odds.weight <= 0
        variance, _ = self._variances(odds)
        total = odds.weight.sum(axis=0)
        share = kernels.ratio(odds.weight, total)
        means = [
            np.where(empty, (share * m.location.value).sum(axis=0), m.location.value) for m in (odds, rest)
        ]
        alpha, beta = _solved(means[0], means[1], variance)
        unknown = never_seen(empty & (odds.weight > 0).any(axis=1, keepdims=True))
        return BetaDistribution(alpha, beta, repairs=tuple(unknown))

    def _variances(self, odds: Moments) -> tuple[Floats, Bools]:
        """Variances of the log odds of every class and column, and where they were too small."""
        weight, within, total = odds.pooled()
        scale = np.where(within > 0, kernels.ratio(within, weight), kernels.ratio(total, weight))
        scale = np.where(scale > 0, scale, 1.0)
        overall = np.where(total > 0, kernels.ratio(total, weight), 1.0)
        own = np.where(odds.weight > 0, kernels.ratio(odds.scatter, odds.weight), overall)
        low = (own < self.floor * scale) | (own == 0)
        lent = (odds.scatter + scale) / (odds.weight + 1)
        return np.where(low, -lent, own), low

    def leave_one_out(
        self, statistics: PairMoments, distribution: BetaDistribution
    ) -> Callable[[Floats, Ints, Floats | None], LeftOut]:
        """The row's own class without it; rows are refitted where a class is too narrow, or nearly so."""
        odds, rest = statistics.first, statistics.second

        def left_out(block: Floats, y: Ints, weight: Floats | None) -> LeftOut:
            log_rest = np.log1p(-block)
            first = Removal.of(odds, np.log(block) - log_rest, y, weight)
            second = Removal.of(rest, log_rest, y, weight)
            pull = kernels.ratio(np.broadcast_to(first.weight, first.deviation.shape), first.rest)
            left = odds.scatter[y] - first.loss
            variance = kernels.ratio(np.maximum(left, 0.0), first.rest)
            alpha, beta = _solved(
                odds.location.value[y] - pull * first.deviation,
                rest.location.value[y] - pull * second.deviation,
                np.where(variance > 0, variance, 1.0),
            )
            out = distribution.log_density(block)
            terms = _log_density(np.where(first.there, block, 0.5), alpha, beta)
            out[np.arange(len(y)), y] = np.where(first.there, terms, 0.0).sum(axis=1)
            weights, within, _ = odds.pooled()
            delicate = (left < LEAST * odds.scatter[y]) | first.emptied | (odds.scatter[y] == 0)
            delicate |= variance * LEAST < self.floor * kernels.ratio(within, weights)
            narrow = bool(self._variances(odds)[1].any() or (odds.weight <= 0).any())
            return LeftOut(out, any_cell(delicate & first.there) | narrow)

        return left_out


def _solved(odds: Floats, log_rest: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """α and β from the means of the log odds and of ln(1−x), and the variance of the log odds.

    A negative variance is one that was lent: α and β then have it, and the mean of the log odds. So it is
    where the density is narrow, for 1/α + 1/β is the variance there.
    """
    lent, spread = variance < 0, np.abs(variance)
    mean = expit(odds)
    size = np.minimum(1 / (spread * mean * (1 - mean)), NARROWEST)
    narrow = lent | (size > CLOSE)
    a, b = np.maximum(size * mean, 1e-3), np.maximum(size * (1 - mean), 1e-3)
    first, second = odds + log_rest, log_rest
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for _ in range(STEPS):
            step_a, step_b = _newton(a, b, first, second)
            # In a step neither falls below a third, so that both stay positive.
            shrink = np.minimum(1.0, 2 / 3 / np.maximum(np.maximum(-step_a / a, -step_b / b), 1e-300))
            new_a, new_b = a + shrink * step_a, b + shrink * step_b
            fine = np.isfinite(new_a) & np.isfinite(new_b) & ~narrow
            a, b = np.where(fine, new_a, a), np.where(fine, new_b, b)
            if not (fine & ((np.abs(step_a) > 1e-14 * a) | (np.abs(step_b) > 1e-14 * b))).any():
                break
    return a, b


def _newton(a: Floats, b: Floats, first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Newton's step for α and β, whose log-likelihood is concave."""
    both = digamma(a + b)
    rise_a, rise_b = first - digamma(a) + both, second - digamma(b) + both
    bend, bend_a, bend_b = polygamma(1, a + b), polygamma(1, a), polygamma(1, b)
    determinant = bend_a * bend_b - bend * (bend_a + bend_b)
    step_a = ((bend_b - bend) * rise_a + bend * rise_b) / determinant
    step_b = ((bend_a - bend) * rise_b + bend * rise_a) / determinant
    return step_a, step_b


def _terms(log_x: Floats, log_rest: Floats, a: Floats, b: Floats) -> Floats:
    """α ln(x/m) + β ln((1−x)/(1−m)) − ln x − ln(1−x) + c, about the mean m, from ln x and ln(1−x)."""
    constant = stirling(a) + stirling(b) - stirling(a + b)
    near = a * (log_x - np.log(a / (a + b))) + b * (log_rest - np.log(b / (a + b)))
    return np.asarray(near - log_x - log_rest + constant)


def _log_density(x: Floats, a: Floats, b: Floats) -> Floats:
    return _terms(np.log(x), np.log1p(-x), a, b)
