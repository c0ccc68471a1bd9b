"""How far a point can be from the optimum at most, proven where it can be."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from posterior._linalg import EPSILON
from posterior._types import Floats
from posterior.linear.losses import SoftmaxLoss
from posterior.linear.objective import Objective, Point


@dataclass(frozen=True)
class Certificate:
    """The objective is at most `gap` above its minimum: `proven`, or else an estimate.

    >>> print(Certificate(2e-15, "self-concordance", proven=True))
    at most 2.0e-15 above the minimum (proven: self-concordance)
    """

    gap: float
    by: str
    proven: bool

    def __str__(self) -> str:
        if self.proven:
            return f"at most {self.gap:.1e} above the minimum (proven: {self.by})"
        return f"about {self.gap:.1e} above the minimum (an estimate: {self.by})"


def better(a: Certificate | None, b: Certificate | None) -> Certificate | None:
    """The one that says more: proven before estimated, then the smaller gap."""
    if a is None or b is None:
        return a or b
    return min(a, b, key=lambda c: (not c.proven, c.gap))


def by_curvature(
    objective: Objective, point: Point, hessian: Floats, at: Floats | None = None
) -> Certificate | None:
    """A bound from gradient and Hessian, for losses whose curvature cannot change fast.

    Along any direction |F'''| ≤ S F'', S being the largest change that it makes in a row's scores (Bach, 2010, whose
    bounds are for ‖x‖; here S ≤ ρ‖v‖_H with ρ the longest row in the metric of H⁻¹). Hence F'' shrinks at most
    like exp(−ρr) at distance r, and minimising the bound −νr + (exp(−ρr) + ρr − 1)/ρ² over r gives

        F − min F ≤ (ρν + (1 − ρν) ln(1 − ρν)) / ρ²     if ρν < 1, ν² = g'H⁻¹g.

    With ρ = 0 (least squares) it is ν²/2, exactly. `at` is where the Hessian was taken if not at the point itself.
    """
    try:
        factor = np.linalg.cholesky(hessian)
    except np.linalg.LinAlgError:
        return None
    decrement = float(np.linalg.norm(np.linalg.solve(factor, point.gradient)))
    if objective.loss.turning == 0:
        return Certificate(decrement**2 / 2, "the objective is quadratic", proven=True)
    reach = _reach(objective, hessian)
    if at is not None:
        moved = reach * float(np.linalg.norm(factor.T @ (point.theta - at)))
        if moved > 30:
            return None
        decrement *= np.exp(moved / 2)
        reach *= np.exp(moved / 2)
    x = reach * decrement
    if not x < 1:
        return None
    # x + (1 − x) ln(1 − x) = x²/2 + x³/6 + …, which cancels for small x.
    bend = x + (1 - x) * np.log1p(-x) if x > 1e-3 else x**2 / 2 * (1 + x / 3 + x**2 / 5)
    return Certificate(float(bend / reach**2), "self-concordance", proven=True)


def _reach(objective: Objective, hessian: Floats) -> float:
    """ρ: no step of length 1 in the metric of H changes the scores of any row by more, between two classes."""
    if objective.n_scores == 1:
        return objective.longest_row(np.linalg.inv(np.linalg.cholesky(hessian)).T)
    smallest = float(np.linalg.eigvalsh(hessian)[0])
    return float(np.sqrt(2.0 / smallest)) * objective.longest_row(np.eye(objective.shape[1]))


def by_duality(objective: Objective, point: Point, origin: Point) -> Certificate | None:
    """The duality gap of a penalised softmax regression.

    For any probabilities q_i whose class totals are those of the data, and G = (1/W) Σ w (q_i − y_i) x_i,

        min F ≥ (1/W) Σ w H(q_i) − penalty*(−G),     H the entropy.

    Here q mixes the fitted probabilities with the observed classes (so that the lasso's penalty* is finite) and,
    ever so little, with a constant distribution (so that the totals are right). `origin` is the slope at zero, which
    is all that needs to be known of the data. H is concave, so the mixture's entropy is bounded by its parts'.
    """
    if not isinstance(objective.loss, SoftmaxLoss) or objective.penalty.free:
        return None
    coef, level = objective.free(point.theta)
    entropy = point.loss - float((point.pull * coef).sum() + point.level @ level)
    slope = point.pull
    if objective.axes.intercept:
        K = objective.loss.n_classes
        observed = 1.0 / K - _every_class(origin.level, objective.loss)
        excess = float((_every_class(point.level, objective.loss) / observed).max())
        share = max(excess, 0.0) / (1.0 + max(excess, 0.0))
        if share > 0:
            steady = observed - (1.0 - share) / share * _every_class(point.level, objective.loss)
            steady = np.maximum(steady, 0.0) / np.maximum(steady, 0.0).sum()
            entropy = (1.0 - share) * entropy + share * float(special.entr(steady).sum())
            slope = (1.0 - share) * slope + share * origin.pull
    slope = _as_penalised(slope, objective.loss)
    steepest = float(np.abs(slope).max(initial=0.0))
    l1, l2 = objective.penalty.l1, objective.penalty.l2
    shrink = 1.0 if l2 > 0 or steepest <= l1 else l1 / steepest * (1.0 - 4 * EPSILON)
    bound = shrink * entropy - objective.penalty.conjugate(-shrink * slope)
    return Certificate(max(objective.value(point) - bound, 0.0), "duality gap", proven=True)


def _every_class(slope: Floats, loss: SoftmaxLoss) -> Floats:
    """Derivatives by the scores of all classes, which sum to zero, from those by the free scores."""
    return slope if loss.symmetric else np.concatenate([-slope.sum(axis=0, keepdims=True), slope])


def _as_penalised(slope: Floats, loss: SoftmaxLoss) -> Floats:
    """Derivatives by the coefficients that the penalty counts: one vector for two classes, else one a class."""
    return slope if loss.n_classes == 2 and not loss.symmetric else _every_class(slope, loss)
