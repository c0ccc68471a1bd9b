"""How badly scores fit a target: sums over rows that are convex functions of the scores.

Scores are (R, m), a row of numbers for every score, so that NumPy runs along the rows of the table. A loss
gives its value, its slope in the scores and its curvature; columns, penalties, coordinates and solvers know
no more.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from posterior._types import AnyArray, Floats
from posterior.math import log_softmax


class Loss(ABC):
    """A convex function of the scores of a row and its target, summed over rows with their weights."""

    # How fast the curvature can change: along any direction |third derivative| ≤ `turning` · second
    # derivative · (largest − smallest change of a score, the fixed 0 of a reference class included).
    turning: float

    @property
    @abstractmethod
    def n_scores(self) -> int:
        """How many scores a row has."""

    @property
    def sharpest(self) -> float:
        """The largest second derivative along a unit step of the scores; ∞ where none is known."""
        return float("inf")

    @abstractmethod
    def slope(self, scores: Floats, target: AnyArray, weight: Floats | None) -> tuple[float, Floats]:
        """The value Σ w ℓ, and the derivatives w ∂ℓ/∂η, (R, m). The scores may be overwritten."""

    @abstractmethod
    def curvature(self, scores: Floats, target: AnyArray, weight: Floats | None) -> Floats:
        """The second derivatives w ∂²ℓ/∂η_a∂η_b, (R(R+1)/2, m), in the order of `pairs`."""

    def values(self, scores: Floats, target: AnyArray) -> Floats:
        """The loss of each row, (m,), whatever its weight."""
        return np.array([self.slope(scores[:, [i]], target[[i]], None)[0] for i in range(len(target))])


@dataclass(frozen=True)
class SoftmaxLoss(Loss):
    """−ln p(class) with p_k ∝ exp η_k. The score of the first class is 0: others are held against it.

    Two classes make it the logistic loss. The target is a class code. With `symmetric` every class has a
    score of its own, and adding a number to all of them changes nothing.

    >>> loss = SoftmaxLoss(2)
    >>> value, slope = loss.slope(np.array([[0.0, 1e5]]), np.array([1, 0]), None)
    >>> round(value - 1e5, 3), slope.ravel()
    (0.693, array([-0.5,  1. ]))
    """

    n_classes: int
    symmetric: bool = False
    turning: float = 1.0

    @property
    def n_scores(self) -> int:
        """One score for each class but the first, or for each class."""
        return self.n_classes - (not self.symmetric)

    @property
    def sharpest(self) -> float:
        """p(1 − p) ≤ ¼ for two classes; the covariance of K indicators is at most ½ (Böhning, 1992)."""
        return 0.25 if self.n_scores == 1 else 0.5

    def slope(self, scores: Floats, target: AnyArray, weight: Floats | None) -> tuple[float, Floats]:
        """Σ w (ln Σ exp η − η_target), and w (p − 1[class])."""
        if self.n_scores == 1:
            return _logistic_slope(scores[0], target, weight)
        m = len(target)
        free = target if self.symmetric else target - 1
        rows = slice(None) if self.symmetric else np.flatnonzero(free >= 0)
        own_cells = free[rows] * m + np.arange(m)[rows]
        peak = self._peak(scores)
        below = peak.copy()
        below[rows] -= scores.reshape(-1)[own_cells]
        scores -= peak
        shares = np.exp(scores, out=scores)
        # What the other classes have is summed by itself: 1 − p keeps its digits where p is almost 1.
        shares.reshape(-1)[own_cells] = 0.0
        others = shares.sum(axis=0)
        if not self.symmetric:
            rest = np.exp(-peak)
            rest[free < 0] = 0.0
            others += rest
        own = np.exp(-below)
        total = others + own
        shares *= 1.0 / total
        shares.reshape(-1)[own_cells] = -(others / total)[rows]
        with np.errstate(divide="ignore", over="ignore"):  # of a class that has nothing left
            loss = np.where(others < own, np.log1p(others / own), below + np.log(total))
        if weight is None:
            return float(loss.sum()), shares
        shares *= weight
        return float(loss @ weight), shares

    def curvature(self, scores: Floats, target: AnyArray, weight: Floats | None) -> Floats:
        """The covariance of the class indicators: p_a (1[a=b] − p_b)."""
        if self.n_scores == 1:
            e = np.exp(-np.abs(scores))
            e /= (1.0 + e) ** 2
            return e if weight is None else e * weight
        peak = self._peak(scores)
        shares, total = self._shares(scores, peak)
        rest = None if self.symmetric else np.exp(-peak) / total
        shares /= total
        free = self.n_scores
        out = np.empty((free * (free + 1) // 2, scores.shape[1]))
        at = 0
        for a in range(free):
            others = shares[:a].sum(axis=0) + shares[a + 1 :].sum(axis=0)  # 1 − p without its rounding
            if rest is not None:
                others += rest
            np.multiply(shares[a], others, out=out[at])
            np.multiply(shares[a + 1 :], -shares[a], out=out[at + 1 : at + free - a])
            at += free - a
        if weight is not None:
            out *= weight
        return out

    def values(self, scores: Floats, target: AnyArray) -> Floats:
        """The minus log probability of the target: ln Σ exp η − η_target."""
        every = scores if self.symmetric else np.vstack([np.zeros((1, scores.shape[1])), scores])
        logs = np.take_along_axis(log_softmax(every, axis=0), target[None].astype(np.int64), axis=0)
        return np.asarray(-logs[0])

    def _peak(self, scores: Floats) -> Floats:
        peak: Floats = scores.max(axis=0)
        return peak if self.symmetric else np.maximum(peak, 0.0, out=peak)

    def _shares(self, scores: Floats, peak: Floats) -> tuple[Floats, Floats]:
        """exp(η − peak) of the scores, and their sum with that of the reference class."""
        shares = np.exp(scores - peak)
        total = shares.sum(axis=0)
        return shares, total if self.symmetric else total + np.exp(-peak)


def _logistic_slope(score: Floats, target: AnyArray, weight: Floats | None) -> tuple[float, Floats]:
    """Two classes: with s = ±η, the score of the wrong class, ln(1 + exp s) and ±σ(s)."""
    sign = 1.0 - 2.0 * target
    wrong = score * sign
    e = np.exp(-np.abs(wrong))
    loss = np.maximum(wrong, 0.0) + np.log1p(e)
    slope = np.where(wrong > 0, 1.0, e)
    e += 1.0
    slope /= e
    slope *= sign
    if weight is None:
        return float(loss.sum()), slope[None]
    return float(loss @ weight), (slope * weight)[None]


@dataclass(frozen=True)
class GaussianLoss(Loss):
    """Half the squared error: −ln of a normal density up to its scale. The target is a number.

    >>> GaussianLoss().slope(np.array([[1.0]]), np.array([3.0]), None)
    (2.0, array([[-2.]]))
    """

    n_scores: int = 1
    turning: float = 0.0
    sharpest: float = 1.0

    def slope(self, scores: Floats, target: AnyArray, weight: Floats | None) -> tuple[float, Floats]:
        """Σ w ½(η − t)², and w (η − t)."""
        error = scores - target
        pull = error if weight is None else error * weight
        return 0.5 * float((pull * error).sum()), pull

    def curvature(self, scores: Floats, target: AnyArray, weight: Floats | None) -> Floats:
        """The weights themselves."""
        return np.ones((1, scores.shape[1])) if weight is None else weight[None]

    def values(self, scores: Floats, target: AnyArray) -> Floats:
        """½(η − t)²."""
        return np.asarray(0.5 * (scores[0] - target) ** 2)


@dataclass(frozen=True)
class LaplaceLoss(Loss):
    """The absolute error: −ln of a Laplace density up to its scale. The target is a number.

    It has a kink where the score meets the target and no curvature elsewhere, which leaves Newton nothing to
    go by: `LeastAbsolute` minimises it.

    >>> LaplaceLoss().slope(np.array([[1.0]]), np.array([3.0]), None)
    (2.0, array([[-1.]]))
    """

    n_scores: int = 1
    turning: float = 0.0
    sharpest: float = np.inf

    def slope(self, scores: Floats, target: AnyArray, weight: Floats | None) -> tuple[float, Floats]:
        """Σ w |η − t|, and w sign(η − t)."""
        error = scores - target
        pull = np.sign(error) if weight is None else np.sign(error) * weight
        return float((pull * error).sum()), pull

    def curvature(self, scores: Floats, target: AnyArray, weight: Floats | None) -> Floats:
        """Zero, wherever there is one."""
        return np.zeros((1, scores.shape[1]))

    def values(self, scores: Floats, target: AnyArray) -> Floats:
        """|η − t|."""
        return np.asarray(np.abs(scores[0] - target))


def pairs(n_scores: int) -> list[tuple[int, int]]:
    """The pairs a ≤ b in the order of a loss's curvature: (0, 0), (0, 1), … and then (1, 1) and so on."""
    return [(a, b) for a in range(n_scores) for b in range(a, n_scores)]


def unpacked(packed: Floats, n_scores: int) -> Floats:
    """A symmetric (R, R, …) array from its (R(R+1)/2, …) pairs."""
    out = np.empty((n_scores, n_scores, *packed.shape[1:]))
    for at, (a, b) in enumerate(pairs(n_scores)):
        out[a, b] = out[b, a] = packed[at]
    return out
