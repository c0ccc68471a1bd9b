"""L-BFGS: a quasi-Newton method for many coefficients."""

from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from posterior._linalg import EPSILON
from posterior._tasks import Tasks
from posterior._types import Floats
from posterior.linear.certificate import Certificate, best_proof, better
from posterior.linear.objective import Objective, Point
from posterior.linear.solvers.base import (
    Iterations,
    Solution,
    Solver,
    Step,
    gradient_scale,
    relative_gradient,
)

SUFFICIENT = 1e-4
FLATTER = 0.9
# Rows of the sample on which large tables are begun, and the gradient at which it is left.
SAMPLE = 20_000
ROUGH = 1e-3
# Steps in a row that are neither lower nor flatter than all before: rounding, which would go on for good.
IDLE = 100


@dataclass(frozen=True)
class LBFGS(Solver):
    """Steps −B g, B built from the changes of θ and g over the last `memory` steps (Liu & Nocedal, 1989).

    The coordinates are whitened where the columns are few enough to factor their covariance, and scaled to
    unit variance otherwise, which is what makes it quick on columns of different scales. Large tables are
    first fitted on a sample of their rows; from zero, the first step is along the gradient, which in whitened
    coordinates is the direction of LDA.

    >>> LBFGS(memory=5)
    LBFGS(max_iter=2000, tol=1e-08, memory=5, stages=True, path=False)
    """

    exact: ClassVar[bool] = True
    max_iter: int = 2000
    tol: float = 1e-8
    memory: int = 20
    stages: bool = True
    path: bool = False

    def minimize(self, objective: Objective, start: Floats | None = None) -> Solution:
        """The minimum of a smooth objective."""
        step = objective.scan.n_rows // max(SAMPLE, 10 * objective.size)
        if start is not None or not self.stages or step < 2:
            return self._descend(objective, start)
        parts = Tasks("part", 2, leaves=False)
        with parts.next():  # roughly the minimum over a sample of the rows
            rough = replace(self, tol=ROUGH, path=False)
            start = rough._descend(objective.every(step), None).theta
        with parts.next():
            return self._descend(objective, start)

    def _descend(self, objective: Objective, start: Floats | None) -> Solution:
        """From zero, or a start that is lower, to the minimum."""
        origin = point = objective.slope(objective.zero())
        if start is not None:
            point = min(objective.slope(start), origin, key=lambda p: p.value)
        scale = gradient_scale(objective, origin)
        pairs: deque[tuple[Floats, Floats]] = deque(maxlen=self.memory)
        steps = [Step.at(objective, point)]
        lowest, flattest, idle = np.inf, np.inf, 0
        told, stopped = Iterations(objective, self.max_iter), False
        while relative_gradient(point, scale) > self.tol and len(steps) <= self.max_iter and not stopped:
            here = steps[-1]
            idle = idle + 1 if here.value >= lowest and here.gradient >= flattest else 0
            lowest, flattest = min(lowest, here.value), min(flattest, here.gradient)
            told.begin(point.theta)
            there = self._next(objective, point, pairs) if idle < IDLE else None
            if there is None:
                told.end(point.theta)
                break
            s, y = there.theta - point.theta, there.gradient - point.gradient
            if s @ y > EPSILON * (y @ y):
                pairs.append((s, y))
            point = there
            steps.append(Step.at(objective, point))
            stopped = told.end(point.theta)
        gap = 0.5 * abs(float(point.gradient @ inverse_hessian_product(pairs, point.gradient)))
        guess = Certificate(gap, "quasi-Newton decrement", proven=False)
        steep = relative_gradient(point, scale)
        # Gross cells make the estimate small wherever the other rows are not fitted yet.
        rounded = objective.bulk is None and gap <= 8 * EPSILON * abs(point.value)
        done = steep <= self.tol or rounded
        proof = better(best_proof(objective, point, origin), guess)
        return Solution(point, len(steps) - 1, done, proof, steep, tuple(steps) if self.path else ())

    def _next(self, objective: Objective, point: Point, pairs: deque[tuple[Floats, Floats]]) -> Point | None:
        """A lower point; where the quasi-Newton direction has none, the gradient is followed."""
        while True:
            move = -inverse_hessian_product(pairs, point.gradient)
            if not pairs:
                move = move / max(1.0, float(np.linalg.norm(move)))
            there = wolfe_search(objective, point, move) if point.gradient @ move < 0 else None
            if there is not None or not pairs:
                return there
            pairs.clear()


def inverse_hessian_product(
    pairs: Collection[tuple[Floats, Floats]],
    gradient: Floats,
    first: Callable[[Floats], Floats] | None = None,
) -> Floats:
    """B g by the two-loop recursion (Nocedal, 1980), from the inverse Hessian `first` or 1, scaled."""
    q = gradient.copy()
    weights = []
    for s, y in reversed(list(pairs)):
        a = float(s @ q) / float(s @ y)
        weights.append(a)
        q -= a * y
    if first is not None:
        q = first(q)
    elif pairs:
        s, y = list(pairs)[-1]
        q *= float(s @ y) / float(y @ y)
    for (s, y), a in zip(pairs, reversed(weights), strict=True):
        q += (a - float(y @ q) / float(s @ y)) * s
    return q


def wolfe_search(objective: Objective, point: Point, move: Floats) -> Point | None:
    """A point along the direction where the objective fell enough and is less steep (Wolfe, 1969).

    By doubling and bisection. Close to the optimum, where rounding hides the fall, a smaller slope will do.
    """
    slope = float(point.gradient @ move)
    slack = 4 * objective.rounding * abs(point.value)
    low, high, t = 0.0, np.inf, 1.0
    best: Point | None = None
    for _ in range(40):
        there = objective.slope(point.theta + t * move)
        fell = there.value <= point.value + SUFFICIENT * t * slope + slack
        if not fell:
            high = t
        else:
            best = there
            if there.gradient @ move < FLATTER * slope:
                low = t
            else:
                return there
        t = 2 * low if high == np.inf else (low + high) / 2
    return best
