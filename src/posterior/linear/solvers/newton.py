"""Newton's method, which for the losses here is iteratively reweighted least squares."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from posterior._linalg import EPSILON
from posterior._types import Floats
from posterior.linear.certificate import Certificate, better, by_curvature
from posterior.linear.objective import Objective, Point
from posterior.linear.solvers.base import Solution, Solver, Step, steepness

# Rows of the samples on which the first steps are made, and what is left of the decrement when they are left.
STAGES = ((20_000, 1e-6), (160_000, 1e-5))
ARMIJO = 1e-4


@dataclass(frozen=True)
class Newton(Solver):
    """θ ← θ − t H⁻¹ g, with t halved until the objective falls as the slope promises (Armijo, 1966).

    With the softmax loss H = Σ w x V x', so that each step is a weighted least-squares fit: this is IRLS. The
    Hessian is kept for another step as long as the decrement g'H⁻¹g falls `reuse`-fold (0: a new one every step).
    Large tables are first fitted on samples of their rows, which leaves one or two steps for all rows.

    >>> Newton(max_iter=20)
    Newton(max_iter=20, tol=1e-08, reuse=10.0, stages=True, path=False)
    """

    max_iter: int = 100
    tol: float = 1e-8
    reuse: float = 10.0
    stages: bool = True
    path: bool = False

    def minimize(self, objective: Objective, start: Floats | None = None) -> Solution:
        """The minimum of a smooth objective."""
        steps: list[Step] = []
        origin = None
        if start is None:
            start = self._sampled(objective, steps)
        theta = objective.zero() if start is None else start
        point = objective.slope(theta)
        if start is not None:
            origin = objective.slope(objective.zero())
            point = min(point, origin, key=lambda p: p.value)
        scale = float(np.linalg.norm((origin or point).gradient))
        return self._descend(objective, point, scale, self.tol, steps)

    def _sampled(self, objective: Objective, steps: list[Step]) -> Floats | None:
        """The minimum over samples of the rows, each the start for the next."""
        theta: Floats | None = None
        for n_rows, left in STAGES if self.stages else ():
            step = objective.scan.n_rows // n_rows
            if step < 2 or n_rows < 10 * objective.size:
                continue
            sample = objective.every(step)
            point = sample.slope(objective.zero() if theta is None else theta)
            theta = self._descend(sample, point, 1.0, left, steps, rough=True).theta
        return theta

    def _descend(
        self,
        objective: Objective,
        point: Point,
        scale: float,
        tol: float,
        steps: list[Step],
        rough: bool = False,
    ) -> Solution:
        factor, at, before, done = None, point.theta, np.inf, False
        for iteration in range(self.max_iter + 1):
            self._record(steps, objective, point)
            if factor is None:
                hessian, at = objective.curvature(point.theta), point.theta
                factor = factored(hessian)
            move = lapack.dpotrs(factor, -point.gradient, lower=1)[0]
            decrement = -float(point.gradient @ move)
            floor = 8 * EPSILON * abs(point.value)
            arrived = steepness(point, scale) <= tol or decrement <= floor
            done = decrement <= 2 * tol if rough else arrived
            if done or iteration == self.max_iter:
                break
            point, whole = downhill(objective, point, move, decrement)
            if not (whole and decrement * self.reuse <= before and self.reuse):
                factor = None
            before = decrement
        if rough:
            return Solution(point, iteration, done, None, steepness(point, scale))
        proof = by_curvature(objective, point, hessian, at) if done else None
        proof = better(proof, Certificate(decrement / 2, "Newton decrement", proven=False))
        return Solution(point, iteration, done, proof, steepness(point, scale), tuple(steps))

    def _record(self, steps: list[Step], objective: Objective, point: Point) -> None:
        if self.path:
            length = float(np.linalg.norm(point.gradient))
            steps.append(Step(point.theta, point.value, length, objective.scan.n_rows))


def factored(hessian: Floats) -> Floats:
    """The Cholesky factor of a Hessian, with a little added to its diagonal where it is singular to rounding."""
    size = float(np.abs(np.diagonal(hessian)).max(initial=0.0)) or 1.0
    added = 0.0
    while True:
        factor, info = lapack.dpotrf(hessian + added * np.eye(len(hessian)), lower=1)
        if info == 0:
            return np.asarray(factor)
        added = max(10 * added, 1e-14 * size)


def downhill(objective: Objective, point: Point, move: Floats, decrement: float) -> tuple[Point, bool]:
    """The next point along a direction, and whether the whole step was taken.

    Close to the optimum rounding hides the fall of the objective; there a step is taken on trust.
    """
    t = 1.0
    slack = 4 * EPSILON * abs(point.value)
    while True:
        there = objective.slope(point.theta + t * move)
        if there.value <= point.value - ARMIJO * t * decrement + slack or t < 1e-10:
            return there, t == 1.0
        t /= 2
