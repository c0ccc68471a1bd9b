"""The log loss of a weighted fusion, and the weights that make it smallest."""

import warnings
from dataclasses import dataclass

import numpy as np

from posterior._blas import one_blas_thread
from posterior._types import Floats, Ints
from posterior.math import log_sum_exp, softmax
from posterior.notices import PosteriorWarning

MOST_STEPS = 1000


@dataclass(frozen=True, eq=False)
class Pool:
    """The log loss of fused posteriors, and the prior of the weights, as a function of the weights.

    Everything is relative to the true class, whose score is 0: with the scores u of the others, a row loses
    ln(1 + Σ exp u), and none of its small terms is a difference of large ones.
    """

    offset: Floats  # (n, K): ln π_k − ln π_y; −inf where a class is impossible
    slopes: Floats  # (M, n, K): what a model says for k and against y
    row_weight: Floats
    precision: float

    @classmethod
    def of(
        cls, ratios: list[Floats], prior: Floats, codes: Ints, row_weight: Floats, precision: float
    ) -> "Pool":
        """The loss of models by their log ratios, none of which calls a true class impossible."""
        rows = np.arange(len(codes))
        impossible = np.isneginf(prior) | np.any([np.isneginf(ratio) for ratio in ratios], axis=0)
        slopes = np.array([np.where(impossible, 0.0, r - r[rows, codes][:, None]) for r in ratios])
        offset = np.where(impossible, -np.inf, prior - prior[codes][:, None])
        return cls(offset, slopes, row_weight, precision)

    def _scores(self, weights: Floats) -> Floats:
        return np.asarray(self.offset + np.tensordot(weights, self.slopes, axes=1))

    def value(self, weights: Floats) -> float:
        """The log loss of all rows, and the cost of weights other than one."""
        loss = self.row_weight @ log_sum_exp(self._scores(weights), axis=1)
        return float(loss + 0.5 * self.precision * ((weights - 1) ** 2).sum())

    def derivatives(self, weights: Floats) -> tuple[Floats, Floats]:
        """Gradient (M,) and Hessian (M, M)."""
        share = softmax(self._scores(weights), axis=1)
        mean = np.einsum("mik,ik->mi", self.slopes, share)
        gradient = mean @ self.row_weight + self.precision * (weights - 1)
        spread = (self.slopes - mean[:, :, None]) * np.sqrt(share * self.row_weight[:, None])
        flat = spread.reshape(len(weights), -1)
        return gradient, flat @ flat.T + self.precision * np.eye(len(weights))

    def best_weights(self) -> Floats:
        """The weights, none negative, of least value: Newton's method, projected (Bertsekas 1982)."""
        weights = np.zeros(len(self.slopes))  # where no row is so sure that its curvature is lost
        with one_blas_thread:
            for _ in range(MOST_STEPS):
                weights, gain, value = self._improved(weights)
                if gain <= 1e-22 * (1.0 + value):
                    return weights
        warnings.warn(
            f"the weights of the models are not final after {MOST_STEPS} steps; compare their log loss with "
            "that of equal ones",
            PosteriorWarning,
            stacklevel=3,
        )
        return weights

    def _improved(self, weights: Floats) -> tuple[Floats, float, float]:
        """The weights after one step, what its slope promised to gain, and the value before."""
        value, (gradient, hessian) = self.value(weights), self.derivatives(weights)
        step = _newton_step(weights, gradient, hessian)
        gain = float(-gradient @ step)
        moved = np.maximum(weights + step, 0.0)
        while self.value(moved) > value + 1e-4 * (gradient @ (moved - weights)) + 1e-14 * (1.0 + value):
            step /= 2
            moved = np.maximum(weights + step, 0.0)
        return moved, gain, value


def _newton_step(weights: Floats, gradient: Floats, hessian: Floats) -> Floats:
    """Newton's step; a weight that would cross zero on its own is put there."""
    held = (gradient > 0) & (weights * np.diag(hessian) <= gradient)
    free = np.flatnonzero(~held)
    step = -weights
    bend = hessian[np.ix_(free, free)]
    try:
        step[free] = -np.linalg.solve(bend, gradient[free])
    except np.linalg.LinAlgError:  # models so sure that their difference is lost: they share a step
        step[free] = -np.linalg.lstsq(bend, gradient[free], rcond=None)[0]
    return step
