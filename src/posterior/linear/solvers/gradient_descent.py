"""Gradient descent on all rows at once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy import linalg

from posterior._linalg import EPSILON, NEGLIGIBLE
from posterior._types import Floats
from posterior.linear.certificate import Certificate, best_proof
from posterior.linear.losses import GaussianLoss, Loss
from posterior.linear.objective import Objective, Point
from posterior.linear.penalties import ElasticNet
from posterior.linear.solvers.base import (
    Coordinates,
    Iterations,
    Solution,
    Solver,
    Step,
    relative_gradient,
    without_gross_cells,
)

# Columns up to which the matrix of second moments is formed; beyond, products with it that bound its size.
SQUARED_COLUMNS = 200
PRODUCTS = 12
# Growth of the objective by this factor is divergence.
ASTRAY = 1e12


@dataclass(frozen=True)
class GradientDescent(Solver):
    """w ← w − η g, from w = 0, in the coefficients as the user reads them: those of every class alike.

    η is `step`; "auto" is 1/L, L being the largest curvature the objective has anywhere, with which every
    step goes down. With `momentum` the gradient is taken ahead of the last move (Nesterov, 1983), and the
    momentum is dropped whenever it leads uphill (O'Donoghue & Candès, 2015). Columns on different scales
    make either slow: standardise them.

    >>> GradientDescent(step=0.1)
    GradientDescent(max_iter=1000, tol=1e-08, step=0.1, momentum=False, path=False)
    """

    coordinates: ClassVar[Coordinates] = "user"
    max_iter: int = 1000
    tol: float = 1e-8
    step: float | Literal["auto"] = "auto"
    momentum: bool = False
    path: bool = False

    def __post_init__(self) -> None:
        check_step(self.step)

    def minimize(self, objective: Objective, start: Floats | None = None) -> Solution:
        """The minimum of a smooth objective, as far as `max_iter` steps lead."""
        refuse_kinks(self, objective.penalty)
        refuse_nonconvex(self, objective)
        step = 1.0 / largest_curvature(objective) if self.step == "auto" else self.step
        # With 1/L a fall of no more than rounding squared means that the gradient is nothing but rounding.
        rounding = (8 * EPSILON) ** 2 if self.step == "auto" else 0.0
        even = contrast_metric_inverse(objective.loss)
        origin = objective.slope(objective.zero())
        point = origin if start is None else objective.slope(start)
        scale = without_gross_cells(objective, float(np.linalg.norm(origin.gradient)))
        before, at, run, steps = point, point.theta, -1, [Step.at(objective, point)]
        told, stopped = Iterations(objective, self.max_iter), False
        for iteration in range(self.max_iter + 1):
            move = -step * (even @ point.gradient.reshape(objective.shape)).ravel()
            level = objective.bulk is None and -float(point.gradient @ move) <= rounding * abs(point.value)
            done = level or relative_gradient(point, scale) <= self.tol
            astray = not point.value <= ASTRAY * max(origin.value, 1.0)
            if done or stopped or astray or iteration == self.max_iter:
                break
            told.begin(point.theta)
            before, last, at = point, at, point.theta + move
            run = run + 1 if self.momentum and point.gradient @ (at - last) < 0 else 0
            point = objective.slope(at + run / (run + 3) * (at - last))
            if self.path:
                steps.append(Step.at(objective, point))
            stopped = told.end(point.theta)
        proof = best_proof(objective, point, origin) or by_secant(point, before)
        path = tuple(steps) if self.path else ()
        return Solution(point, iteration, bool(done), proof, relative_gradient(point, scale), path)


def check_step(step: float | str) -> None:
    """Refuse what is no length of a step."""
    if step != "auto" and not (isinstance(step, (int, float)) and 0 < step < float("inf")):
        raise ValueError(f"step={step!r} is no length; pass a number above 0, or 'auto'")


def refuse_kinks(solver: Solver, penalty: ElasticNet) -> None:
    """Refuse a penalty that has no gradient."""
    if not penalty.smooth:
        raise ValueError(
            f"{type(solver).__name__} follows gradients, and the penalty with l1={penalty.l1:g} has none "
            "where a coefficient is 0; use ProximalNewton, or l1=0"
        )


def refuse_nonconvex(solver: Solver, objective: Objective) -> None:
    """Refuse an objective that is more than a convex loss and its penalty."""
    if not objective.convex:
        raise ValueError(
            f"{type(solver).__name__} is for convex objectives, and Firth's penalty is not; use FisherScoring"
        )


def contrast_metric_inverse(loss: Loss) -> Floats:
    """(E'E)⁻¹: turns derivatives by the free scores into a step that treats all classes alike.

    It moves the coefficients of every class, as shown, along the gradient: w_k ← w_k + η (t_k − y_k) x.
    """
    contrasts = loss.contrasts
    return np.asarray(np.linalg.inv(contrasts.T @ contrasts))


def largest_curvature(objective: Objective) -> float:
    """L: nowhere has the objective, in the coefficients as shown, a larger second derivative."""
    bound = curvature_bound(objective.loss)
    squares = Objective(objective.scan, GaussianLoss(), ElasticNet(), objective.basis)
    if squares.size <= SQUARED_COLUMNS:
        largest = float(np.linalg.eigvalsh(squares.curvature(squares.zero()))[-1])
    else:
        origin = squares.slope(squares.zero()).gradient
        largest = _largest(lambda v: squares.slope(v).gradient - origin, squares.size)
    return max(bound * largest + objective.penalty.l2, 1e-300)


def curvature_bound(loss: Loss) -> float:
    """The largest curvature of a loss in its scores, which "auto" steps need to know."""
    if not np.isfinite(loss.curvature_bound):
        raise ValueError(
            f"step='auto' needs a bound on the curvature, and {type(loss).__name__} has none; pass a number"
        )
    return loss.curvature_bound


def _largest(product: Callable[[Floats], Floats], size: int) -> float:
    """An upper bound on the largest eigenvalue by Lanczos' method, safeguarded as Zhou & Li (2011) advise."""
    v = np.random.default_rng(0).normal(size=size)
    v /= np.linalg.norm(v)
    before, off = np.zeros(size), 0.0
    diagonal: list[float] = []
    beside: list[float] = []
    for _ in range(PRODUCTS):
        w = product(v) - off * before
        diagonal.append(float(w @ v))
        w -= diagonal[-1] * v
        off = float(np.linalg.norm(w))
        beside.append(off)
        if off <= NEGLIGIBLE * max(diagonal):
            break
        before, v = v, w / off
    values, vectors = linalg.eigh_tridiagonal(diagonal, beside[:-1])
    return float(values[-1] + off * abs(vectors[-1, -1]))


def by_secant(point: Point, before: Point) -> Certificate | None:
    """‖g‖²/2μ with μ the curvature along the last step, which ends up along the flattest direction."""
    move, turn = point.theta - before.theta, point.gradient - before.gradient
    bend = float(move @ turn)
    if not bend > 0:
        return None
    gap = float(point.gradient @ point.gradient) * float(move @ move) / (2 * bend)
    return Certificate(gap, "curvature along the last step", proven=False)
