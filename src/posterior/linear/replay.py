"""The recorded path of a solver in the user's coordinates, and what is inside each step of IRLS."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from posterior._types import Floats
from posterior.linear.basis import Basis
from posterior.linear.fit import Fit
from posterior.linear.objective import Objective
from posterior.linear.scan import RowBlock
from posterior.linear.solvers.newton import cholesky_factor, newton_step
from posterior.linear.summary import INTERCEPT


@dataclass(frozen=True, eq=False)
class IRLSStep:
    """One point w of a path, and the weighted least-squares problem that Newton's method solves there.

    All of it is in the user's columns X, the intercept first where there is one, and summed over rows:

    * `error`, E(w) = −Σ ln p(t | x), with the penalty;
    * `score` (n,), Xw, and `residual` (n,), y − t;
    * `gradient` (p,), X'(y − t) plus the slope of the penalty;
    * `weight` (n,), the diagonal of R: y(1 − y) for classes, 1 for normal noise, times the row's weight;
    * `response` (n,), z = Xw − R⁻¹(y − t); infinite where R is zero to rounding, and without weight there;
    * `hessian` (p, p), H = X'RX plus the curvature of the penalty;
    * `next_coef` (p,), w − H⁻¹ gradient, which without a penalty is (X'RX)⁻¹X'Rz. R⁻¹ is not used for it.

    >>> from posterior import LogisticRegression
    >>> from posterior.linear import Newton, irls_steps
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> newton = Newton(path=True, stages=False, reuse=0)
    >>> model = LogisticRegression(C=np.inf, solver=newton).fit(X[50:, 2:], y[50:])
    >>> steps = irls_steps(model.fit_)
    >>> steps[0].names, steps[0].hessian.shape
    (('(intercept)', 'x0', 'x1'), (3, 3))
    """

    names: tuple[str, ...]
    coef: Floats
    error: float
    score: Floats
    residual: Floats
    gradient: Floats
    weight: Floats
    response: Floats
    hessian: Floats
    next_coef: Floats


def irls_steps(fit: Fit) -> tuple[IRLSStep, ...]:
    """The inside of iteratively reweighted least squares at every point of a recorded path.

    The fit is that of a model with one score: two classes, or a regression with normal noise. Where the
    solver was `Newton(path=True, reuse=0, stages=False)` and took whole steps, each `next_coef` is the next
    point (Green, 1984).

    >>> from posterior import LogisticRegression
    >>> from posterior.linear import Newton
    >>> X, y = [[-2.0], [-1.0], [0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 0, 1, 1]
    >>> model = LogisticRegression(C=np.inf, solver=Newton(path=True, reuse=0)).fit(X, y)
    >>> first, second, *_ = irls_steps(model.fit_)
    >>> first.names, first.gradient, first.weight[:2]
    (('(intercept)', 'x0'), array([ 0. , -3.5]), array([0.25, 0.25]))
    >>> bool(np.allclose(first.next_coef, second.coef))
    True
    """
    objective = in_user_units(fit)
    if not fit.solution.path:
        raise ValueError(
            "no path was recorded; fit with a solver that keeps its steps, such as "
            "solver=Newton(path=True, reuse=0)"
        )
    if objective.n_scores != 1:
        raise ValueError(
            f"the steps of {objective.n_scores} scores have a block of weights for every pair of them; the "
            "table of IRLS is for two classes, or for a regression"
        )
    if not objective.convex or not objective.penalty.smooth:
        raise ValueError(
            "IRLS needs a smooth convex objective: no penalty or a ridge; found "
            + ("Firth's penalty" if not objective.convex else "an l1 penalty")
        )
    block = objective.scan.collected().packed()
    return tuple(
        _step(objective, block, theta)
        for theta in places(fit, objective, [s.theta for s in fit.solution.path])
    )


def in_user_units(fit: Fit) -> Objective:
    """The objective of a fit, as a function of the coefficients of the user's columns."""
    objective = fit.checked()
    return replace(objective, basis=Basis.plain(objective.scan.n_features, objective.basis.intercept))


def places(fit: Fit, objective: Objective, thetas: Sequence[Floats]) -> Floats:
    """Places of a fit's own coordinates in those of an objective in the user's units, (m, p)."""
    own = fit.checked()
    shown = (own.shown(theta) for theta in thetas)
    return np.array([objective.theta(coef, level - coef @ own.basis.centre) for coef, level in shown])


def _step(objective: Objective, block: RowBlock, theta: Floats) -> IRLSStep:
    """What IRLS works out at one point; `theta` has the intercept last."""
    point = objective.slope(theta)
    line = objective.line(theta, centred=False)
    score = line.scores(block.matrix)
    # The loss may work in place.
    _, slope = objective.loss.slope(score.copy(), block.target, None)
    bend = objective.loss.curvature(score.copy(), block.target, None)
    hessian = objective.curvature(theta)
    move = newton_step(cholesky_factor(hessian), point.gradient)
    with np.errstate(divide="ignore", over="ignore"):
        response = score[0] - np.divide(
            slope[0], bend[0], out=np.copysign(np.inf, slope[0]), where=bend[0] > 0
        )
    names, order = tuple(objective.scan.design.names), np.arange(len(theta))
    if objective.basis.intercept:
        names, order = (INTERCEPT, *names), np.roll(order, 1)
    return IRLSStep(
        names=names,
        coef=theta[order],
        error=point.weight * point.value,
        score=score[0],
        residual=slope[0],
        gradient=point.weight * point.gradient[order],
        weight=bend[0] * block.weights,
        response=response,
        hessian=point.weight * hessian[np.ix_(order, order)],
        next_coef=(theta + move)[order],
    )
