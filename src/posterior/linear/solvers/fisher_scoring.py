"""Fisher scoring followed by BFGS, for objectives whose information is known but not the Hessian."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from posterior._linalg import EPSILON
from posterior._types import Floats
from posterior.linear.certificate import Certificate
from posterior.linear.objective import Objective, Point
from posterior.linear.solvers.base import Iterations, Solution, Solver, Step, relative_gradient
from posterior.linear.solvers.newton import ARMIJO, cholesky_factor

# The smallest number of scoring steps, and the largest while they promise more than 1 of log likelihood.
SCORING = (3, 30)
# BFGS updates after which the information is computed again.
UPDATES = 25
# No step changes the scores by more, root mean square over rows: the information is another one there.
# A limit for every row would let one far-off row slow the others down.
LOGITS = 5.0
HALVINGS = 34


@dataclass(frozen=True)
class FisherScoring(Solver):
    """θ ← θ − t B g, with B the inverse Fisher information, then its BFGS updates (Nocedal & Wright, 2006).

    For Firth's penalty scoring alone converges linearly, and slowly where rows are few: the information
    lacks the curvature of ln|I|. So after a few scoring steps B is held and learns from every change of the
    gradient. Steps are capped at five logits, and halved until the objective falls as the slope promises
    (Armijo, 1966).

    >>> FisherScoring(max_iter=50)
    FisherScoring(max_iter=50, tol=1e-08, path=False)
    """

    max_iter: int = 200
    tol: float = 1e-8
    path: bool = False

    def minimize(self, objective: Objective, start: Floats | None = None) -> Solution:
        """The minimum of a smooth objective."""
        origin = objective.slope(objective.zero())
        point = origin if start is None else min(objective.slope(start), origin, key=lambda p: p.value)
        if not np.isfinite(origin.value):
            raise ValueError(
                "the information of the coefficients is singular at zero, because columns are constant or "
                "depend on each other; leave them out, or use whitened coordinates, which do without them"
            )
        scale = float(np.linalg.norm(origin.gradient))
        steps: list[Step] = []
        inverse, updates, done = _inverse(objective, point), 0, False
        told, stopped = Iterations(objective, self.max_iter), False
        for iteration in range(self.max_iter + 1):
            if self.path:
                steps.append(Step.at(objective, point))
            decrement = float(point.gradient @ inverse @ point.gradient)
            done = relative_gradient(point, scale) <= self.tol
            if done or stopped or iteration == self.max_iter:
                break
            told.begin(point.theta)
            there = _onward(objective, point, inverse, decrement)
            if there is None and updates == 0:
                done = decrement <= _rounding(point)
                told.end(point.theta)
                break
            far = iteration + 1 < SCORING[decrement * point.weight > 1.0]
            before, point = point, there or point
            if there is None or far or updates == UPDATES:
                inverse, updates = _inverse(objective, point), 0
            else:
                inverse, updates = _updated(inverse, before, point), updates + 1
            stopped = told.end(point.theta)
        proof = Certificate(decrement / 2, "quasi-Newton decrement", proven=False)
        return Solution(point, iteration, done, proof, relative_gradient(point, scale), tuple(steps))


def _onward(objective: Objective, point: Point, inverse: Floats, decrement: float) -> Point | None:
    """The next point, or None where none is found.

    Close to the optimum rounding hides the fall of the objective; there the gradient has to fall.
    """
    move = -inverse @ point.gradient
    # In whitened coordinates the length of a step is the change of a row's scores, root mean square.
    t = min(1.0, LOGITS / max(float(np.linalg.norm(move)), 1e-300))
    slack = _rounding(point)
    for _ in range(HALVINGS):
        there = objective.slope(point.theta + t * move)
        if decrement <= slack:
            return there if np.linalg.norm(there.gradient) < 0.9 * np.linalg.norm(point.gradient) else None
        if there.value <= point.value - ARMIJO * t * decrement + slack:
            return there
        t /= 2
    return None


def _rounding(point: Point) -> float:
    """The rounding error of the value, a sum of loss and penalty."""
    return 8 * EPSILON * (abs(point.loss) + abs(point.value - point.loss))


def _inverse(objective: Objective, point: Point) -> Floats:
    """The inverse of the information at a point."""
    lower = np.tril(lapack.dpotri(cholesky_factor(objective.curvature(point.theta)), lower=1)[0])
    return np.asarray(lower + np.tril(lower, -1).T)


def _updated(inverse: Floats, before: Point, point: Point) -> Floats:
    """The nearest inverse that explains the last change of the gradient, if that shows a curvature."""
    s, y = point.theta - before.theta, point.gradient - before.gradient
    bend = float(s @ y)
    if bend <= 1e-12 * float(np.linalg.norm(s) * np.linalg.norm(y)):
        return inverse
    turned = inverse @ y
    both = np.outer(turned, s) / bend
    return inverse + (1.0 + float(y @ turned) / bend) / bend * np.outer(s, s) - both - both.T
