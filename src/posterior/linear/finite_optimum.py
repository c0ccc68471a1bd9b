"""A proof, from one pass over the rows, that a softmax likelihood has a maximum."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from posterior._linalg import EPSILON
from posterior._types import Floats
from posterior.linear.loss_sums import LinearScores
from posterior.linear.losses import Loss
from posterior.linear.margins import class_scores, tiles
from posterior.linear.objective import Objective, Point
from posterior.linear.scan import RowBlock
from posterior.stats.base import FieldSums

# Under quasi-complete separation the number that must be positive tends to 0, without separation to 1.
CERTAIN = 0.5
# The step may be off by this share; the Hessian must be clear of its rounding by this factor.
CLOSE = 0.1
CLEAR = 100
# What is left of columns that depend on others may be no more than their rounding, and proves nothing.
LEFT = 1e-6


def has_finite_optimum(
    objective: Objective, point: Point, move: Floats, hessian: Floats | None = None
) -> bool:
    """Whether the Newton step at a point proves that an unpenalised softmax regression has an optimum.

    The step makes the linearised probabilities p'_ij = p_ij (1 + Δη_ij − Σ_l p_il Δη_il) fulfil the
    likelihood equations. If all of them are positive for j ≠ y_i, they are weights with Σ w p'_ij a_ij = 0 of
    the margins a_ij, so that no direction makes all margins ≥ 0 and one positive (Stiemke, 1915).

    False means that nothing is proven. Far out under separation the Hessian is lost in rounding, and a step
    made from it proves nothing; so the Hessian at the point is looked at too (a pass more where not given).

    Stiemke, E. (1915). Über positive Lösungen homogener linearer Gleichungen. Mathematische Annalen 76,
    340-342.
    """
    K = unpenalised_softmax(objective).n_classes
    if not _is_clear(objective, objective.curvature(point.theta) if hessian is None else hessian):
        return False
    centred = objective.basis.far
    here, change = objective.line(point.theta, centred=centred), objective.line(move, centred=centred)
    step = objective.scan.fold(lambda block: _linearised(block, K, here, change))
    decrement = -float(point.gradient @ move)
    is_newton = abs(step.bend / step.weight - decrement) <= CLOSE * decrement
    return bool(is_newton and step.least > CERTAIN)


def _is_clear(objective: Objective, hessian: Floats) -> bool:
    """Whether the smallest curvature in any direction is more than rounding, on the scale of the diagonal.

    A Hessian is the sum of products of columns, turned into the coordinates; the rounding of the sums is
    enlarged as much as the columns cancel in a coordinate.
    """
    diagonal = np.diagonal(hessian)
    if not (diagonal > 0).all():
        return False
    basis = objective.basis
    reach = np.zeros(objective.shape)
    if basis.spread is not None:
        size = np.hypot(basis.spread, basis.centre) if objective.scan.sparse else basis.spread
        sizes = replace(basis, directions=np.abs(basis.directions))
        reach[:, : basis.n_coordinates] = sizes.pulled(size)
    noise = 8 * EPSILON * len(diagonal) * (1.0 + float((reach.ravel() ** 2 / diagonal).max()))
    unit = 1.0 / np.sqrt(diagonal)
    smallest = linalg.eigvalsh(hessian * unit[:, None] * unit, subset_by_index=[0, 0])[0]
    return bool(smallest > max(CLEAR * noise, LEFT if basis.facts else 0.0))


@dataclass(frozen=True)
class _Linearised(FieldSums, least=min):
    """Σ w, the smallest p'/p of a class that is not one's own, and the curvature along the move."""

    weight: float
    least: float
    bend: float


def _linearised(block: RowBlock, n_classes: int, here: LinearScores, change: LinearScores) -> _Linearised:
    out = _Linearised(0.0, np.inf, 0.0)
    for X, y, w in tiles(block, here.shift):
        scores = class_scores(here, X, n_classes)
        shares = np.exp(scores - scores.max(axis=0))
        shares /= shares.sum(axis=0)
        moved = class_scores(change, X, n_classes)
        moved -= (shares * moved).sum(axis=0)
        bend = float((shares * moved**2).sum(axis=0) @ w)
        moved[y, np.arange(len(y))] = np.inf
        out += _Linearised(float(w.sum()), 1.0 + float(moved.min(initial=np.inf)), bend)
    return out


def unpenalised_softmax(objective: Objective) -> Loss:
    """The loss of the objective, if separation is a question for it."""
    if not objective.loss.detects_separation or not objective.penalty.free:
        raise ValueError(
            "separation concerns the softmax loss without a penalty; found "
            f"{type(objective.loss).__name__} with {objective.penalty}, which has a finite optimum anyway"
        )
    return objective.loss
