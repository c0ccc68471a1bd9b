"""Softmax regression fitted incrementally (`partial_fit`): rows are used once and not kept."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from posterior._text import first_true
from posterior._types import Floats
from posterior.linear.losses import SoftmaxLoss
from posterior.linear.model import LinearModel
from posterior.linear.penalties import ElasticNet
from posterior.linear.scan import RowBlock
from posterior.linear.solvers.base import IncrementalSolver, Progress

# Whole numbers up to here are exact.
MOST_ROWS = 2**53


@dataclass(frozen=True, eq=False)
class IncrementalFit:
    """Coefficients in the user's coordinates, the state of the descent, and the weight of the rows so far."""

    loss: SoftmaxLoss
    theta: Annotated[Floats, "p coef"]
    n_features: int
    weight: float = 0.0
    progress: Progress | None = None
    settings: IncrementalSolver | None = None

    @classmethod
    def empty(cls, loss: SoftmaxLoss, n_features: int, intercept: bool) -> "IncrementalFit":
        """No row seen yet."""
        return cls(loss, np.zeros(loss.n_scores * (n_features + intercept)), n_features)

    @classmethod
    def after(cls, loss: SoftmaxLoss, model: LinearModel, intercept: bool, weight: float) -> "IncrementalFit":
        """The coefficients of a model that was fitted to rows of this weight."""
        coef, level = model.coef, model.intercept
        if len(coef) > 1:
            coef, level = coef[1:] - coef[0], level[1:] - level[0]
        theta = np.hstack([coef, level[:, None]]) if intercept else coef
        return cls(loss, theta.ravel(), coef.shape[1], weight)

    def impossible(self) -> str:
        """What no fit to some rows is, in words; empty if nothing is wrong."""
        loss, d, state = self.loss, self.n_features, self.progress or Progress()
        sizes = (loss.n_scores * d, loss.n_scores * (d + 1))
        other_average = state.average is not None and len(state.average) != len(self.theta)
        return first_true(
            {
                "scores of no classes": loss.n_classes < 2 or loss.symmetric or d < 0,
                "other coefficients than columns": len(self.theta) not in sizes,
                "rows of no weight": not 0 <= self.weight < np.inf,
                "an average of other coefficients": other_average
                or not all(0 <= size < np.inf for size in (state.squares, state.longest)),
                "more rows than there can be": not all(
                    0 <= n <= MOST_ROWS for n in (state.steps, state.rows)
                ),
            }
        )

    def updated(self, solver: IncrementalSolver, rows: RowBlock, strength: float) -> "IncrementalFit":
        """One pass over more rows, in an order that depends on the seed and the steps made so far.

        The settings of the first rows stay; the penalty is that of all rows so far, strength / their weight.
        """
        m = len(rows.target)
        weight = self.weight + rows.total
        penalty = ElasticNet(l2=strength / weight)
        progress = self.progress or Progress()
        order = np.random.default_rng([solver.seed, progress.steps]).permutation(m)
        settings = self.settings or solver
        with np.errstate(over="ignore", invalid="ignore"):  # `model` refuses what is not finite
            theta, progress = settings.update(self.loss, penalty, self.theta, rows, progress, order)
        return replace(self, theta=theta, weight=weight, progress=progress, settings=settings)

    @property
    def model(self) -> LinearModel:
        """The coefficients as the user reads them."""
        theta = self.theta
        if self.settings is not None and self.progress is not None:
            theta = self.settings.found(theta, self.progress)
        block = theta.reshape(self.loss.n_scores, -1)
        contrasts = self.loss.contrasts
        level = block[:, self.n_features] if block.shape[1] > self.n_features else np.zeros(len(block))
        coef = contrasts @ block[:, : self.n_features]
        return LinearModel(coef, contrasts @ level, np.zeros(self.n_features)).checked()
