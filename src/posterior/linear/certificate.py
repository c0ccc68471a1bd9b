"""How far a point can be from the optimum at most, proven where it can be."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from posterior._linalg import EPSILON
from posterior._types import Floats
from posterior.linear.losses import GaussianLoss, SoftmaxLoss
from posterior.linear.objective import Objective, Point
from posterior.linear.penalties import ElasticNet
from posterior.linear.scan import Block

# So many coefficients whose Hessian is worth a pass over the rows.
SMALL = 500
# So many rows whose curvature is usually proof enough.
SAMPLE = 20_000


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


def best_proof(objective: Objective, point: Point, origin: Point) -> Certificate | None:
    """The best that can be proven at a point; the Hessian is asked for only where it is small."""
    proof = by_duality(objective, point, origin)
    if objective.size <= SMALL:
        proof = better(by_some_rows(objective, point), proof)
    return proof


def by_some_rows(objective: Objective, point: Point) -> Certificate | None:
    """A bound from the curvature of a sample of the rows, which that of all exceeds; else from all."""
    step = objective.scan.n_rows // max(SAMPLE, 10 * objective.size)
    if step > 1:
        part = objective.every(step).curvature(point.theta, point.weight)
        proof = by_curvature(objective, point, part)
        if proof is not None:
            return proof
    return by_curvature(objective, point, objective.curvature(point.theta))


def by_curvature(objective: Objective, point: Point, hessian: Floats) -> Certificate | None:
    """A bound from gradient and Hessian, for losses whose curvature cannot change fast.

    Along any direction |F'''| ≤ S F'', S being the largest change that it makes in a row's scores (Bach,
    2010, whose bounds are for ‖x‖; here S ≤ ρ‖v‖_H with ρ the longest row in the metric of H⁻¹). Hence F''
    shrinks at most like exp(−ρr) at distance r, and minimising the bound −νr + (exp(−ρr) + ρr − 1)/ρ² over r
    gives

        F − min F ≤ (ρν + (1 − ρν) ln(1 − ρν)) / ρ²     if ρν < 1, ν² = g'H⁻¹g.

    With ρ = 0 (least squares) it is ν²/2, exactly. Any matrix that the Hessian exceeds will do for H, such as
    the part of some rows.
    """
    if not objective.convex:
        return None
    try:
        factor = np.linalg.cholesky(hessian)
        decrement = float(np.linalg.norm(np.linalg.solve(factor, point.gradient)))
        reach = objective.loss.turning and objective.loss.turning * _reach(objective, hessian)
    except np.linalg.LinAlgError:  # singular, to rounding
        return None
    if objective.loss.turning == 0:
        gap = max(decrement**2 / 2, EPSILON * abs(point.value))
        return Certificate(gap, "the objective is quadratic", proven=True)
    x = reach * decrement
    if not x < 1:
        return None
    # x + (1 − x) ln(1 − x) = x²/2 + x³/6 + …, which cancels for small x.
    bend = x + (1 - x) * np.log1p(-x) if x > 1e-3 else x**2 / 2 * (1 + x / 3 + x**2 / 5)
    coef, _ = objective.free(point.theta)
    spread = 0.0 if objective.axes.spread is None else float(np.abs(coef).sum(axis=0) @ objective.axes.spread)
    rounding = EPSILON * abs(point.value) * (1.0 + spread)  # of the scores; below it nothing is known
    gap = max(float(bend / reach**2), rounding)
    return Certificate(gap, "self-concordance", proven=True)


def _reach(objective: Objective, hessian: Floats) -> float:
    """ρ: a step of length 1 in the metric of H changes no row's scores, class against class, by more."""
    if objective.n_scores == 1:
        return objective.longest_row(np.linalg.inv(np.linalg.cholesky(hessian)).T)
    smallest = float(np.linalg.eigvalsh(hessian)[0])
    if not smallest > 0:
        return float("inf")
    return float(np.sqrt(2.0 / smallest)) * objective.longest_row(np.eye(objective.shape[1]))


def by_duality(objective: Objective, point: Point, origin: Point) -> Certificate | None:
    """The duality gap of a penalised softmax or least-squares regression, at any point whatever.

    For any numbers u_i, (R,) for every row, with (1/W) Σ w u_i = 0 where there is an intercept,

        min F ≥ −(1/W) Σ w ℓ*(u_i) − penalty*(−G),     G = (1/W) Σ w u_i x_i'

    (Fenchel's inequality, row by row). Here u is the slope of the loss in the scores, which makes it an
    equality at the optimum, balanced so that it sums to zero and shrunk to where the bound is highest: with
    the lasso penalty* is infinite unless no |G| exceeds l1. `origin` is the slope at zero.
    """
    if objective.penalty.free:
        return None
    if isinstance(objective.loss, SoftmaxLoss):
        ray = _softmax_ray(objective, objective.loss, point, origin)
    elif isinstance(objective.loss, GaussianLoss):
        ray = _gaussian_ray(objective, point, origin)
    else:
        return None
    value = objective.value(point)
    gap = value - ray.highest(objective.penalty)
    coef, level = objective.free(point.theta)
    terms = float(
        np.abs(point.pull * coef).sum() + np.abs(point.level) @ (np.abs(level) + np.abs(origin.level))
    )
    rounding = 8 * EPSILON * (abs(value) + terms)
    return Certificate(max(gap, 0.0) + rounding, "duality gap", proven=True)


@dataclass(frozen=True, eq=False)
class _Ray:
    """The lower bounds linear·s − ½ square·s² − penalty*(−s slope), 0 ≤ s ≤ top."""

    linear: float
    square: float
    slope: Floats
    top: float

    def highest(self, penalty: ElasticNet) -> float:
        """The highest of the bounds, to rounding."""
        steep = np.abs(self.slope)
        s = self.top
        if penalty.l2 == 0:
            steepest = float(steep.max(initial=0.0))
            s = s if s * steepest <= penalty.l1 else penalty.l1 / steepest * (1.0 - 4 * EPSILON)
        else:
            # The derivative is concave and piecewise linear, so that Newton's steps come down to its zero.
            for _ in range(50):
                over = np.maximum(s * steep - penalty.l1, 0.0)
                rise = self.linear - self.square * s - float((steep * over).sum()) / penalty.l2
                bend = self.square + float((steep[over > 0] ** 2).sum()) / penalty.l2
                if rise >= 0 or bend == 0:
                    break
                s = max(s + rise / bend, 0.0)
        return self.linear * s - 0.5 * self.square * s**2 - penalty.conjugate(-s * self.slope)


def _softmax_ray(objective: Objective, loss: SoftmaxLoss, point: Point, origin: Point) -> _Ray:
    """The ray of u = q − y for class probabilities q, of which −ℓ* is the entropy H(q).

    q mixes the fitted probabilities with a constant distribution, ever so little at the optimum, so that its
    totals are those of the classes; shrinking u mixes y into it. H is concave, so a mixture's is bounded by
    its parts'.
    """
    coef, level = objective.free(point.theta)
    entropy = point.loss - float((point.pull * coef).sum() + point.level @ level)
    slope = _every_class(point.pull, loss)
    if objective.axes.intercept:
        excess = _every_class(point.level, loss)
        observed = np.maximum(1.0 / loss.n_classes - _every_class(origin.level, loss), 0.0)
        over = excess > 0
        with np.errstate(divide="ignore"):
            odds = float((excess[over] / observed[over]).max(initial=0.0))
        share = odds / (1.0 + odds) if odds < np.inf else 1.0
        if share > 0:
            steady = np.maximum(observed - (1.0 - share) / share * excess, 0.0)
            steady /= steady.sum()
            shift = np.outer(steady - 1.0 / loss.n_classes, _middle(objective))
            flat = _every_class(origin.pull, loss) + shift
            entropy = (1.0 - share) * entropy + share * float(special.entr(steady).sum())
            slope = (1.0 - share) * slope + share * flat
    one_vector = loss.n_classes == 2 and not loss.symmetric
    return _Ray(max(entropy, 0.0), 0.0, slope[1:] if one_vector else slope, 1.0)


def _gaussian_ray(objective: Objective, point: Point, origin: Point) -> _Ray:
    """The ray of u = residuals less their mean, for which ℓ*(u) = ½u² + u·target."""
    coef, level = objective.free(point.theta)
    pull, square, linear = point.pull, 2.0 * point.loss, -float((point.pull * coef).sum())
    if objective.axes.intercept:
        mean = point.level
        pull = pull - np.outer(mean, _middle(objective)) if mean.any() else pull
        square -= float(mean @ mean)
        linear -= float(mean @ (level + origin.level - mean))
    square = max(square, 0.0)
    linear += square
    return _Ray(linear, square, pull, max(linear / square, 0.0) if square > 0 else 0.0)


def _middle(objective: Objective) -> Floats:
    """The mean of the rows less the centre: zero where the centre is the mean of these very rows."""
    axes = objective.axes

    def totals(block: Block) -> Floats:
        X = block.matrix - axes.centre if axes.far else block.matrix
        w = np.ones(X.shape[0]) if block.weight is None else block.weight
        return np.append(w @ X, w.sum())

    sums = objective.scan.fold(totals)
    return np.asarray(sums[:-1] / sums[-1] - (0.0 if axes.far else axes.centre))


def _every_class(slope: Floats, loss: SoftmaxLoss) -> Floats:
    """Derivatives by the scores of all classes, which sum to zero, from those by the free scores."""
    return slope if loss.symmetric else np.concatenate([-slope.sum(axis=0, keepdims=True), slope])
