"""The log loss of a weighted fusion, and the weights that make it smallest."""

from dataclasses import dataclass

import numpy as np

from posterior._blas import one_blas_thread
from posterior._types import Floats, Ints
from posterior.decision.newton import Derivatives, minimize
from posterior.math import log_sum_exp, softmax
from posterior.notices import PosteriorWarning, warn

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
    centre: Floats  # (M,): the weights that cost nothing
    precision: float

    @classmethod
    def of(
        cls,
        ratios: list[Floats],
        prior: Floats,
        codes: Ints,
        row_weight: Floats,
        centre: Floats,
        precision: float,
    ) -> "Pool":
        """The loss of models by their log ratios, none of which calls a true class impossible."""
        rows = np.arange(len(codes))
        impossible = np.isneginf(prior) | np.any([np.isneginf(ratio) for ratio in ratios], axis=0)
        slopes = np.array([np.where(impossible, 0.0, r - r[rows, codes][:, None]) for r in ratios])
        offset = np.where(impossible, -np.inf, prior - prior[codes][:, None])
        return cls(offset, slopes, row_weight, centre, precision)

    def _scores(self, weights: Floats) -> Floats:
        return np.asarray(self.offset + np.tensordot(weights, self.slopes, axes=1))

    def __call__(self, weights: Floats) -> Derivatives:
        """The log loss of all rows and the cost of weights off the centre, with derivatives."""
        scores, precision, off = self._scores(weights), self.precision, weights - self.centre
        loss = self.row_weight @ log_sum_exp(scores, axis=1)
        share = softmax(scores, axis=1)
        mean = np.einsum("mik,ik->mi", self.slopes, share)
        spread = (self.slopes - mean[:, :, None]) * np.sqrt(share * self.row_weight[:, None])
        flat = spread.reshape(len(weights), -1)
        return Derivatives(
            float(loss + 0.5 * precision * (off**2).sum()),
            mean @ self.row_weight + precision * off,
            flat @ flat.T + precision * np.eye(len(weights)),
            np.zeros(len(weights)),
        )

    def best_weights(self) -> Floats:
        """The weights, none negative, of least value."""
        start = np.zeros(len(self.slopes))  # where no row is so sure that its curvature is lost
        with one_blas_thread:
            found = minimize(self, start, start, np.full(len(start), np.inf), MOST_STEPS, relative=1e-22)
        if not found.exists:  # the prior of the weights sees to it that there is an optimum
            warn(
                f"the weights of the models are not final after {MOST_STEPS} steps; compare their log loss "
                "with that of equal ones",
                PosteriorWarning,
            )
        return found.at
