"""Newton's method, which for the losses here is iteratively reweighted least squares."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.linalg import lapack

from posterior._linalg import CLEAR, EPSILON, smallest_residual
from posterior._tasks import Tasks
from posterior._types import Floats
from posterior.linear.certificate import Certificate, better, by_some_rows
from posterior.linear.model import DIVERGED
from posterior.linear.objective import Objective, Point
from posterior.linear.solvers.base import (
    Iterations,
    Solution,
    Solver,
    Step,
    gradient_scale,
    relative_gradient,
)
from posterior.linear.solvers.lbfgs import inverse_hessian_product

# Rows of the samples on which the first steps are made, and what is left of the decrement when they are left.
STAGES = ((20_000, 1e-6), (160_000, 1e-5))
ARMIJO = 1e-4
# Newton steps that gain nothing two times over, with less than this share of the objective left: rounding.
ROUNDED = 1e-10
MANY = 1_000_000
# How many times as far as a Newton step the minimum is looked for.
FARTHEST = 2.0**500
# How many times a step is stretched that the gross cells of some rows keep short.
LONGEST = 1024.0
# Slopes up to this are rounding, in coordinates in which the columns have variance 1.
NOISE = 1e-13


@dataclass(frozen=True)
class Newton(Solver):
    """θ ← θ − t H⁻¹ g, with t halved until the objective falls as the slope promises (Armijo, 1966).

    With the softmax loss H = Σ w x V x', so that each step is a weighted least-squares fit: this is IRLS. The
    Hessian is kept for another step, corrected by the last ones (BFGS), as long as the decrement g'H⁻¹g falls
    `reuse`-fold (0: a new one every step). Large tables are first fitted on samples of their rows, which
    leaves one or two steps for all rows.

    >>> Newton(max_iter=20)
    Newton(max_iter=20, tol=1e-08, reuse=2.0, stages=True, path=False)
    """

    exact: ClassVar[bool] = True
    max_iter: int = 100
    tol: float = 1e-8
    reuse: float = 2.0
    stages: bool = True
    path: bool = False

    def minimize(self, objective: Objective, start: Floats | None = None) -> Solution:
        """The minimum of a smooth objective."""
        steps: list[Step] = []
        stages = self._stages(objective) if start is None else []
        if not stages:
            return self._from(objective, start, steps)
        parts = Tasks("part", len(stages) + 1, leaves=False)
        origin, there, inverse = self._sampled(objective, stages, steps, parts)
        with parts.next():
            point = objective.slope(there.theta)
            if point.value <= origin.value:
                return self._descend(objective, point, origin, steps, inverse)
            return self._from(objective, None, steps)

    def _from(self, objective: Objective, start: Floats | None, steps: list[Step]) -> Solution:
        """From zero, or a start that is lower, to the minimum."""
        if start is not None and objective.scan.costly:  # a sample tells how steep it is at zero
            step = max(1, objective.scan.n_rows // STAGES[-1][0])
            origin, point = objective.every(step).slope(objective.zero()), objective.slope(start)
            return self._descend(objective, point, origin, steps)
        origin = point = objective.slope(objective.zero())
        if start is not None:
            point = min(objective.slope(start), origin, key=lambda p: p.value)
        return self._descend(objective, point, origin, steps)

    def _stages(self, objective: Objective) -> list[tuple[int, float]]:
        """Which samples to begin with: every so many rows, and what is left of the decrement at their end."""
        rows = objective.scan.n_rows
        stages = [(rows // n, left) for n, left in STAGES if self.stages and n >= 10 * objective.size]
        stages = [(step, left) for step, left in stages if step >= 2]
        if (
            stages and objective.scan.costly
        ):  # the last digits of a sample cost less than a reading of all rows
            stages[-1] = (stages[-1][0], self.tol**2)
        return stages

    def _sampled(
        self, objective: Objective, stages: list[tuple[int, float]], steps: list[Step], parts: Tasks
    ) -> "tuple[Point, Point, Inverse | None]":
        """A sample's slope at zero coefficients, the minimum over samples of the rows, and H⁻¹ there."""
        points: list[Point] = []
        theta, inverse = objective.zero(), None
        for step, left in stages:
            with parts.next():
                final = objective.every(step).in_memory()
                points.append(final.slope(theta))
                told = Iterations(final, self.max_iter)
                walk = self._walk(final, points[-1], steps, partial(_near, left=left), told, inverse)
                theta, inverse = walk.point.theta, walk.inverse
        # The curvature where the steps on all rows begin, if the sample has any in every direction.
        if objective.reads_once:  # the first reading of all rows tells their own
            return points[0], walk.point, None
        hessian = final.curvature(walk.point.theta)
        known = Inverse(cholesky_factor(hessian)) if smallest_residual(hessian) > CLEAR else None
        return points[0], walk.point, known

    def _descend(
        self,
        objective: Objective,
        point: Point,
        origin: Point,
        steps: list[Step],
        inverse: "Inverse | None" = None,
    ) -> Solution:
        """From a start to the optimum, and the proof that it is one."""
        scale = gradient_scale(objective, origin)
        # The last digit is worth a pass over the rows where passes are cheap.
        cheap = 1.0 if objective.scan.costly else min(1.0, max(0.01, objective.scan.n_rows / MANY))
        flat = max(self.tol, objective.noise)
        left = max(self.tol**2 * cheap, (4 * objective.noise) ** 2)

        def arrived(point: Point, decrement: float, idle: int) -> bool:
            # A flat direction can be far off where the gradient is small; the decrement knows how flat it is.
            if relative_gradient(point, scale) <= flat and decrement <= left:
                return True
            # Gross cells make the decrement small wherever the others are not fitted yet.
            return objective.bulk is None and idle > 1 and decrement <= ROUNDED * abs(point.value)

        told = Iterations(objective, self.max_iter)
        walk = self._walk(objective, point, steps, arrived, told, inverse)
        proof = by_some_rows(objective, walk.point) if walk.done else None
        while objective.bulk is not None and walk.done and proof is None and walk.iterations < self.max_iter:
            # Rows that are far out make the objective flat, and the decrement small, far from the minimum.
            further = farther(objective, walk.point, -walk.inverse.times(walk.point.gradient))
            if further is walk.point:
                break
            walk = self._walk(objective, further, steps, arrived, told, taken=walk.iterations + 1)
            proof = by_some_rows(objective, walk.point) if walk.done else None
        guess = Certificate(walk.decrement / 2, "Newton decrement", proven=False)
        proof = better(proof, guess)
        steep = relative_gradient(walk.point, scale)
        return Solution(walk.point, walk.iterations, walk.done, proof, steep, tuple(steps))

    def _walk(
        self,
        objective: Objective,
        point: Point,
        steps: list[Step],
        arrived: Callable[[Point, float, int], bool],
        told: Iterations,
        inverse: "Inverse | None" = None,
        taken: int = 0,
    ) -> "_Walk":
        """Newton steps until `arrived` says so, the first with an inverse Hessian that is known already.

        `taken` is how many were taken before.
        """
        before, iteration, idle, damping, stopped = np.inf, taken, 0, 0.0, False
        while True:
            if self.path:
                steps.append(Step.at(objective, point))
            fresh = inverse is None
            inverse = inverse or Inverse(cholesky_factor(objective.curvature(point.theta), damping))
            gradient = clear_gradient(objective, point)
            move = -inverse.times(gradient)
            decrement = -float(gradient @ move)
            idle = idle + 1 if decrement > before / 4 else 0
            done = arrived(point, decrement, idle)
            if done or stopped or iteration >= self.max_iter:
                return _Walk(point, iteration, done, decrement, inverse)
            told.begin(point.theta)
            there, whole = armijo_search(objective, point, move, decrement)
            if there is point:  # the Hessian misleads: one of this point, or a blend with steepest descent
                damping = max(10 * damping, 1e-6) if fresh else 0.0
                inverse, iteration = None, iteration + 1
                stopped = told.end(point.theta)
                continue
            damping = 0.0
            if idle and whole and objective.bulk is not None:
                # Newton's steps raise the score of a gross row by 1 each; it may have to be some hundreds.
                further = stretched(objective, point, move)
                there, whole = further or there, further is None
            again = whole and self.reuse and decrement * self.reuse <= before and not objective.reads_once
            inverse = inverse.corrected(point, there) if again else None
            point, before, iteration = there, decrement, iteration + 1
            stopped = told.end(point.theta)


@dataclass(frozen=True, eq=False)
class Inverse:
    """H⁻¹ from the Cholesky factor of a Hessian, corrected by the steps made since it was taken (BFGS)."""

    factor: Floats
    pairs: tuple[tuple[Floats, Floats], ...] = ()

    def times(self, gradient: Floats) -> Floats:
        """H⁻¹ g."""
        return inverse_hessian_product(self.pairs, gradient, lambda g: -newton_step(self.factor, g))

    def corrected(self, here: Point, there: Point) -> "Inverse":
        """The inverse that agrees with the change of the gradient over a step, where there was any."""
        s, y = there.theta - here.theta, there.gradient - here.gradient
        return replace(self, pairs=(*self.pairs, (s, y))) if s @ y > 0 else self


@dataclass(frozen=True, eq=False)
class _Walk:
    """Where some steps led, and the inverse Hessian they ended with."""

    point: Point
    iterations: int
    done: bool
    decrement: float
    inverse: Inverse


def _near(_point: Point, decrement: float, _idle: int, *, left: float) -> bool:
    return decrement <= 2 * left


def cholesky_factor(hessian: Floats, damping: float = 0.0) -> Floats:
    """The Cholesky factor of a Hessian, its diagonal raised by the share `damping`.

    Where it is singular to rounding it is raised by as little as will do.
    """
    if not len(hessian):
        return hessian
    root = np.sqrt(np.maximum(np.diagonal(hessian), 0.0))
    size = np.where(root > 0, root, root.max() or 1.0)
    even = hessian / size[:, None] / size
    if not np.isfinite(even).all():
        raise ValueError(DIVERGED)
    while True:
        factor, info = lapack.dpotrf(even + damping * np.eye(len(even)), lower=1)
        if info == 0:
            return np.asarray(size[:, None] * factor)
        damping = max(10 * damping, 1e-14)


def newton_step(factor: Floats, gradient: Floats) -> Floats:
    """−H⁻¹ g, from the Cholesky factor of H."""
    if not len(factor):
        return gradient
    return np.asarray(lapack.dpotrs(factor, -gradient, lower=1)[0])


def farther(objective: Objective, point: Point, move: Floats) -> Point:
    """The lowest of the points at 2, 4, 8, … times a step, up to where the objective rises; else the same."""
    best, t = point, 2.0
    with np.errstate(over="ignore", invalid="ignore"):
        while t < FARTHEST:
            there = objective.slope(point.theta + t * move)
            if not there.value < best.value - 4 * EPSILON * abs(best.value):
                break
            best, t = there, 2 * t
    return best


def clear_gradient(objective: Objective, point: Point) -> Floats:
    """The gradient; beside gross cells without what is rounding, which hides their tiny steps."""
    if objective.bulk is None:
        return point.gradient
    return np.where(np.abs(point.gradient) > NOISE, point.gradient, 0.0)


def stretched(objective: Objective, point: Point, move: Floats) -> Point | None:
    """The last of the points at 2, 4, 8, … times a step where a convex objective still falls along it."""
    last, t = None, 2.0
    while t <= LONGEST:
        there = objective.slope(point.theta + t * move)
        if not clear_gradient(objective, there) @ move < 0:
            break
        last, t = there, 2 * t
    return last


def armijo_search(objective: Objective, point: Point, move: Floats, decrement: float) -> tuple[Point, bool]:
    """The next point along a direction, and whether the whole step was taken; the same where none is lower.

    Close to the optimum rounding hides the fall of the objective; there a step is taken on trust.
    """
    t = 1.0
    slack = 4 * objective.rounding * abs(point.value)
    while True:
        there = objective.slope(point.theta + t * move)
        # A convex objective that falls there has fallen all the way.
        falls = objective.bulk is not None and clear_gradient(objective, there) @ move <= 0
        if falls or there.value <= point.value - ARMIJO * t * decrement + slack:
            return there, t == 1.0
        if t < 1e-10:
            return point, False
        t /= 2
