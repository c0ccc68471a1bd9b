"""L-BFGS: Newton's method with a Hessian remembered from the last few steps, for many coefficients."""

from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from posterior._linalg import EPSILON
from posterior._types import Floats
from posterior.linear.certificate import Certificate, best_proof, better
from posterior.linear.objective import Objective, Point
from posterior.linear.solvers.base import Solution, Solver, Step, scale_of, steepness

SUFFICIENT = 1e-4
FLATTER = 0.9


@dataclass(frozen=True)
class LBFGS(Solver):
    """Steps −B g, B built from the changes of θ and g over the last `memory` steps (Liu & Nocedal, 1989).

    The coordinates are whitened where the columns are few enough to factor their covariance, and scaled to
    unit variance otherwise, which is what makes it quick on columns of different scales.

    >>> LBFGS(memory=5)
    LBFGS(max_iter=2000, tol=1e-08, memory=5, path=False)
    """

    max_iter: int = 2000
    tol: float = 1e-8
    memory: int = 20
    path: bool = False

    def minimize(self, objective: Objective, start: Floats | None = None) -> Solution:
        """The minimum of a smooth objective."""
        origin = point = objective.slope(objective.zero())
        if start is not None:
            point = min(objective.slope(start), origin, key=lambda p: p.value)
        scale = scale_of(objective, origin)
        pairs: deque[tuple[Floats, Floats]] = deque(maxlen=self.memory)
        steps = [Step.at(objective, point)]
        reached = steepness(point, scale) <= self.tol
        while not reached and len(steps) <= self.max_iter:
            move = -remembered(pairs, point.gradient)
            if point.gradient @ move >= 0:
                pairs.clear()
                move = -point.gradient
            if not pairs:
                move = move / max(1.0, float(np.linalg.norm(move)))
            there = wolfe(objective, point, move)
            if there is None:
                if not pairs:
                    break
                pairs.clear()
                continue
            s, y = there.theta - point.theta, there.gradient - point.gradient
            if s @ y > EPSILON * (y @ y):
                pairs.append((s, y))
            point = there
            steps.append(Step.at(objective, point))
            reached = steepness(point, scale) <= self.tol
        gap = 0.5 * abs(float(point.gradient @ remembered(pairs, point.gradient)))
        guess = Certificate(gap, "quasi-Newton decrement", proven=False)
        done = reached or gap <= 8 * EPSILON * abs(point.value)
        proof = better(best_proof(objective, point, origin), guess)
        kept = tuple(steps) if self.path else ()
        return Solution(point, len(steps) - 1, done, proof, steepness(point, scale), kept)


def remembered(
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


def wolfe(objective: Objective, point: Point, move: Floats) -> Point | None:
    """A point along the direction where the objective fell enough and is less steep (Wolfe, 1969).

    By doubling and bisection. Close to the optimum, where rounding hides the fall, a smaller slope will do.
    """
    slope = float(point.gradient @ move)
    slack = 4 * EPSILON * abs(point.value)
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
