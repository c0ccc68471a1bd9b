"""A softmax regression that learns from rows as they come and forgets them."""

from dataclasses import dataclass, replace

import numpy as np

from posterior._types import Floats
from posterior.linear.losses import SoftmaxLoss
from posterior.linear.model import LinearModel
from posterior.linear.objective import gauge_of
from posterior.linear.penalties import ElasticNet
from posterior.linear.scan import Block
from posterior.linear.solvers.sgd import SGD, Progress


@dataclass(frozen=True, eq=False)
class Stream:
    """Coefficients in the user's coordinates, where the descent stands, and the weight of the rows so far."""

    loss: SoftmaxLoss
    theta: Floats
    n_features: int
    weight: float = 0.0
    progress: Progress | None = None
    settings: SGD | None = None

    @classmethod
    def begun(cls, loss: SoftmaxLoss, n_features: int, intercept: bool) -> "Stream":
        """No row seen yet."""
        return cls(loss, np.zeros(loss.n_scores * (n_features + intercept)), n_features)

    @classmethod
    def after(cls, loss: SoftmaxLoss, model: LinearModel, intercept: bool, weight: float) -> "Stream":
        """The coefficients of a model that was fitted to rows of this weight."""
        coef, level = model.coef, model.intercept
        if len(coef) > 1:
            coef, level = coef[1:] - coef[0], level[1:] - level[0]
        theta = np.hstack([coef, level[:, None]]) if intercept else coef
        return cls(loss, theta.ravel(), coef.shape[1], weight)

    def fed(self, solver: SGD, rows: Block, strength: float) -> "Stream":
        """One pass over more rows, in an order that depends on the seed and the steps made so far.

        The settings of the first rows stay; the penalty is that of all rows so far, strength / their weight.
        """
        m = len(rows.target)
        weight = self.weight + float(m if rows.weight is None else rows.weight.sum())
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
        gauge = gauge_of(self.loss)
        level = block[:, self.n_features] if block.shape[1] > self.n_features else np.zeros(len(block))
        coef = gauge @ block[:, : self.n_features]
        return LinearModel(coef, gauge @ level, np.zeros(self.n_features)).checked()
