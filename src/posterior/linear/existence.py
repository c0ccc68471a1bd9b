"""A proof, from one pass over the rows, that a softmax likelihood has a maximum."""

from dataclasses import dataclass

import numpy as np

from posterior._types import Floats
from posterior.linear.losses import SoftmaxLoss
from posterior.linear.margins import class_scores, tiles
from posterior.linear.objective import Objective, Point
from posterior.linear.scan import Block
from posterior.linear.sums import Line

# Under quasi-complete separation the number that must be positive tends to 0, without separation to 1.
CERTAIN = 0.5
# A step so short changes no probability that matters, whether or not it is exactly Newton's.
SHORT = 1e-3


def has_finite_optimum(objective: Objective, point: Point, move: Floats) -> bool:
    """Whether the Newton step at a point proves that an unpenalised softmax regression has an optimum.

    The step makes the linearised probabilities p'_ij = p_ij (1 + Δη_ij − Σ_l p_il Δη_il) fulfil the
    likelihood equations. If all of them are positive for j ≠ y_i, they are weights with Σ w p'_ij a_ij = 0 of
    the margins a_ij, so that no direction makes all margins ≥ 0 and one positive (Stiemke, 1915). False means
    that nothing is proven. A step from a Hessian that had to be mended, as far out under separation, is
    recognised: the curvature along it is not what it should be.

    Stiemke, E. (1915). Über positive Lösungen homogener linearer Gleichungen. Mathematische Annalen 76,
    340-342.
    """
    K = unpenalised_softmax(objective).n_classes
    centred = objective.axes.far
    here, change = objective.line(point.theta, centred=centred), objective.line(move, centred=centred)
    step = objective.scan.fold(lambda block: _linearised(block, K, here, change))
    decrement = -float(point.gradient @ move)
    is_newton = abs(step.bend / step.weight - decrement) <= 0.1 * decrement
    return bool(step.least > CERTAIN and (is_newton or step.longest <= SHORT))


@dataclass(frozen=True)
class _Linearised:
    """Σ w, the smallest p'/p of a class not one's own, the largest |p'/p − 1|, and the curvature along the move."""

    weight: float
    least: float
    longest: float
    bend: float

    def __add__(self, other: "_Linearised") -> "_Linearised":
        return _Linearised(
            self.weight + other.weight,
            min(self.least, other.least),
            max(self.longest, other.longest),
            self.bend + other.bend,
        )


def _linearised(block: Block, n_classes: int, here: Line, change: Line) -> _Linearised:
    out = _Linearised(0.0, np.inf, 0.0, 0.0)
    for X, y, w in tiles(block, here.shift):
        scores = class_scores(here, X, n_classes)
        shares = np.exp(scores - scores.max(axis=0))
        shares /= shares.sum(axis=0)
        moved = class_scores(change, X, n_classes)
        moved -= (shares * moved).sum(axis=0)
        bend = float((shares * moved**2).sum(axis=0) @ w)
        longest = float(np.abs(moved).max(initial=0.0))
        moved[y, np.arange(len(y))] = np.inf
        out += _Linearised(float(w.sum()), 1.0 + float(moved.min(initial=np.inf)), longest, bend)
    return out


def unpenalised_softmax(objective: Objective) -> SoftmaxLoss:
    """The loss of the objective, if separation is a question for it."""
    if not isinstance(objective.loss, SoftmaxLoss) or not objective.penalty.free:
        raise ValueError(
            "separation concerns the softmax loss without a penalty; found "
            f"{type(objective.loss).__name__} with {objective.penalty}, which has a finite optimum anyway"
        )
    return objective.loss
