"""The objective without one row, and its minimum, started from the minimum with the row."""

from dataclasses import dataclass, replace

import numpy as np

from posterior._types import Floats
from posterior.linear.losses import unpacked
from posterior.linear.objective import Objective, Point
from posterior.linear.scan import RowBlock
from posterior.linear.solvers.newton import armijo_search, cholesky_factor, newton_step

# A refit ends when Σ w ℓ + penalty has so little left to fall; one more step is taken on trust.
LEFT = 1e-4
MAX_STEPS = 20


@dataclass(frozen=True, eq=False, kw_only=True)
class LeaveOneRowOutObjective(Objective):
    """A smooth objective F − w ℓ(row) / W, where W counts the row's weight: the penalty stays the same.

    `z` are the coordinates of the row, (1, D), with a 1 for the level.
    """

    row: RowBlock
    z: Floats
    total: float

    @classmethod
    def of(cls, objective: Objective, row: RowBlock, z: Floats, total: float) -> "LeaveOneRowOutObjective":
        """An objective less a row."""
        parts = {name: getattr(objective, name) for name in ("scan", "loss", "penalty", "basis")}
        return cls(**parts, row=row, z=z, total=total)

    def slope(self, theta: Floats) -> Point:
        """Value and gradient; the other parts of the point are those with the row."""
        point = super().slope(theta)
        value, g = self.loss.slope(self._scores(theta), self.row.target, self.row.weight)
        gradient = point.gradient - (g @ self.z).ravel() / self.total
        return replace(point, value=point.value - value / self.total, gradient=gradient)

    def curvature(self, theta: Floats, weight: float | None = None) -> Floats:
        """The Hessian."""
        bend = self.loss.curvature(self._scores(theta), self.row.target, self.row.weight)
        V = unpacked(bend[:, 0], self.n_scores)
        return super().curvature(theta) - np.kron(V, self.z.T @ self.z) / self.total

    def refitted(self, theta: Floats) -> Floats:
        """The scores of the row at the minimum, by Newton's method from the minimum with the row."""
        point = self.slope(theta)
        for _ in range(MAX_STEPS):
            move = newton_step(cholesky_factor(self.curvature(point.theta)), point.gradient)
            decrement = -float(point.gradient @ move)
            if decrement * self.total <= LEFT:
                break
            point, _ = armijo_search(self, point, move, decrement)
        return self._scores(point.theta + move)[:, 0]

    def _scores(self, theta: Floats) -> Floats:
        return np.asarray(theta.reshape(self.shape) @ self.z.T)
