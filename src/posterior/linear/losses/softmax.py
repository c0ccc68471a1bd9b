"""The softmax loss; with two classes, the logistic loss."""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import special

from posterior import kernels
from posterior._types import AnyArray, Floats
from posterior.kernels.choice import compiled
from posterior.linear.duality import DualRay, mean_row
from posterior.linear.losses.base import Loss, unpacked
from posterior.math import log_softmax, softmax

if TYPE_CHECKING:
    from posterior.linear.loss_sums import LinearScores
    from posterior.linear.objective import Objective, Point
    from posterior.linear.scan import RowBlock, Scan


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

    n_classes: int = field()
    symmetric: bool = False
    detects_separation: ClassVar[bool] = True
    has_jeffreys: ClassVar[bool] = True
    has_standard_errors: ClassVar[bool] = True
    compiled_steps: ClassVar[bool] = True

    @property
    def n_scores(self) -> int:
        """One score for each class but the first, or for each class."""
        return self.n_classes - (not self.symmetric)

    @property
    def self_concordance(self) -> float:
        """1, as for every loss of exponential-family classes (Bach, 2010)."""
        return 1.0

    @property
    def curvature_bound(self) -> float:
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

    # -- what its scores mean -----------------------------------------------------------------------

    @property
    def shift_invariant(self) -> bool:
        """Where every class has a score."""
        return self.symmetric

    @property
    def contrasts(self) -> Floats:
        """Coefficients that sum to zero over the classes; two classes have one row of them."""
        K = self.n_classes
        if self.symmetric or K == 2:
            return np.eye(self.n_scores)
        return np.vstack([np.zeros(K - 1), np.eye(K - 1)]) - 1.0 / K

    def symmetrized(self) -> "SoftmaxLoss":
        """A score for every class where there are more than two."""
        return replace(self, symmetric=True) if self.n_classes > 2 else self

    def identified(self) -> "SoftmaxLoss":
        """Scores held against that of the first class."""
        return SoftmaxLoss(self.n_classes)

    def log_posterior(self, scores: Floats) -> Floats:
        """Ln p of every class, (m, K)."""
        every = scores if self.symmetric else np.hstack([np.zeros((len(scores), 1)), scores])
        return log_softmax(every, axis=1)

    def constant_scores(self, slope: Floats) -> Floats:
        """Log shares of the classes."""
        every = slope if self.symmetric else np.append(-slope.sum(), slope)
        log_share = np.log(np.maximum(1.0 / self.n_classes - every, 1e-12))
        return np.asarray(log_share[-self.n_scores :] - log_share[0])

    def null_value(self, scan: "Scan", weight: float, intercept: bool) -> float:
        """W times the entropy of the classes' shares; without an intercept W ln K."""
        if not intercept:
            return weight * float(np.log(self.n_classes))
        of_class = scan.fold(lambda block: np.bincount(block.target, block.weight, self.n_classes))
        return weight * float(special.entr(of_class / weight).sum())

    # -- bounds -------------------------------------------------------------------------------------

    def information_slope(self, scores: Floats, curvature: Floats, leverage: Floats) -> Floats:
        """Σ_a wV_ac (h_aa − 2 Σ_b h_ab p_b); for two classes w h v (1 − 2p)."""
        shares = softmax(np.vstack([np.zeros(scores.shape[1]), scores]), axis=0)[1:]
        lean = np.einsum("aam->am", leverage) - 2.0 * np.einsum("abm,bm->am", leverage, shares)
        return np.asarray(np.einsum("acm,am->cm", unpacked(curvature, len(scores)), lean))

    def dual_ray(self, objective: "Objective", point: "Point", origin: "Point") -> DualRay:
        """The ray of u = q − y for class probabilities q, of which −ℓ* is the entropy H(q).

        q mixes the fitted probabilities with a constant distribution, ever so little at the optimum, so that
        its totals are those of the classes; shrinking u mixes y into it. H is concave, so a mixture's is
        bounded by its parts'.
        """
        coef, level = objective.free(point.theta)
        entropy = point.loss - float((point.pull * coef).sum() + point.level @ level)
        slope = self._of_every_class(point.pull)
        if objective.basis.intercept:
            excess = self._of_every_class(point.level)
            observed = np.maximum(1.0 / self.n_classes - self._of_every_class(origin.level), 0.0)
            over = excess > 0
            with np.errstate(divide="ignore"):
                odds = float((excess[over] / observed[over]).max(initial=0.0))
            share = odds / (1.0 + odds) if odds < np.inf else 1.0
            if share > 0:
                steady = np.maximum(observed - (1.0 - share) / share * excess, 0.0)
                steady /= steady.sum()
                shift = np.outer(steady - 1.0 / self.n_classes, mean_row(objective))
                flat = self._of_every_class(origin.pull) + shift
                entropy = (1.0 - share) * entropy + share * float(special.entr(steady).sum())
                slope = (1.0 - share) * slope + share * flat
        one_vector = self.n_classes == 2 and not self.symmetric
        return DualRay(max(entropy, 0.0), 0.0, slope[1:] if one_vector else slope, 1.0)

    def _of_every_class(self, slope: Floats) -> Floats:
        """Derivatives by the scores of all classes, which sum to zero, from those by the free scores."""
        return slope if self.symmetric else np.concatenate([-slope.sum(axis=0, keepdims=True), slope])

    # -- compiled code ------------------------------------------------------------------------------

    def compiled_sums(
        self, block: "RowBlock", line: "LinearScores", *, curved: bool
    ) -> tuple[float, Floats, Floats, Floats | None] | None:
        """One reading of many dense rows."""
        if kernels.is_sparse(block.matrix):
            return None
        fast = compiled("logistic" if self.n_scores == 1 else "softmax", block.matrix.size, len(block.target))
        sums: tuple[float, Floats, Floats, Floats | None] | None = None
        if fast is not None:
            sums = fast.sums(*block, line.shift, line.coef, line.offset, self.n_classes, curved=curved)
        return sums

    def sums_of_parts(self, block: "RowBlock", line: "LinearScores", size: int, *, curved: bool) -> Any:
        """One reading of many dense rows, shared out among threads."""
        if kernels.is_sparse(block.matrix):
            return None
        fast = compiled("logistic" if self.n_scores == 1 else "softmax", block.matrix.size, len(block.target))
        if fast is None:
            return None
        kind = fast.LogisticParts if self.n_scores == 1 else fast.SoftmaxParts
        scores = line.shift, line.coef, line.offset
        parts = kind(*block, *scores, self.n_classes, curved=curved, size=size)
        return parts if parts.in_place else None

    def compiled_forces(self, block: "RowBlock") -> Any:
        """For several scores."""
        if self.n_scores == 1:
            return None
        fast = compiled("softmax_forces", block.matrix.size, len(block.target))
        return None if fast is None else partial(fast.forces, n_classes=self.n_classes)

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
