"""Certificates: upper bounds, proven where possible, on the objective above its minimum."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from posterior._linalg import EPSILON
from posterior._types import Floats
from posterior.linear.objective import Objective, Point

# The largest Hessian, in coefficients, that is worth a pass over the rows.
SMALL = 500
# Rows of a sample whose curvature is usually proof enough.
SAMPLE = 20_000
# How many times as many are tried in turn.
SAMPLES = (1, 16)
# A bound of more than this share of the objective says nothing.
WORTHWHILE = 1e-8
# Columns from which on a bound of the longest row is looked for before that itself, where both read all rows.
MANY_COLUMNS = 32
# ρν up to which the gap hardly depends on ρ: by a thirtieth.
CLOSE = 0.1


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


def by_bulk(objective: Objective, point: Point) -> Certificate | None:
    """A bound from the rows without gross cells, where the others are fitted anyway: no loss is negative."""
    bulk = objective.of_bulk()
    if bulk is None:
        return None
    here = bulk.slope(point.theta)
    proof = best_proof(bulk, here, bulk.slope(bulk.zero()))
    if proof is None:
        return None
    share, value = here.weight / point.weight, objective.value(point)
    gap = max(value - share * bulk.value(here), 0.0) + share * proof.gap
    return Certificate(gap, proof.by, proven=True) if gap <= WORTHWHILE * abs(value) else None


def by_some_rows(objective: Objective, point: Point) -> Certificate | None:
    """A bound from the curvature of a sample of the rows, which that of all exceeds; else of more, or all."""
    for times in () if objective.reads_once else SAMPLES:  # else the curvature of all rows is known already
        step = objective.scan.n_rows // (times * max(SAMPLE, 10 * objective.size))
        if step <= 1:
            break
        part = objective.every(step).in_memory().curvature(point.theta, point.weight)
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
    bending = objective.loss.self_concordance
    try:
        factor = np.linalg.cholesky(hessian)
        decrement = float(
            np.linalg.norm(solve_triangular(factor, point.gradient, lower=True, check_finite=False))
        )
        reach = bending and bending * _reach(objective, hessian, decrement * bending)
    except np.linalg.LinAlgError:  # singular, to rounding
        return None
    if bending == 0:
        gap = max(decrement**2 / 2, EPSILON * abs(point.value))
        return Certificate(gap, "the objective is quadratic", proven=True)
    x = reach * decrement
    if not x < 1:
        return None
    # x + (1 − x) ln(1 − x) = x²/2 + x³/6 + …, which cancels for small x.
    bend = x + (1 - x) * np.log1p(-x) if x > 1e-3 else x**2 / 2 * (1 + x / 3 + x**2 / 5)
    coef, _ = objective.free(point.theta)
    spread = (
        0.0 if objective.basis.spread is None else float(np.abs(coef).sum(axis=0) @ objective.basis.spread)
    )
    rounding = EPSILON * abs(point.value) * (1.0 + spread)  # of the scores; below it nothing is known
    gap = max(float(bend / reach**2), rounding)
    return Certificate(gap, "self-concordance", proven=True)


def _reach(objective: Objective, hessian: Floats, decrement: float) -> float:
    """ρ: a step of length 1 in the metric of H changes no row's scores, class against class, by more.

    Or a bound of it, where that is close enough after a step as long as the decrement.
    """
    if objective.n_scores == 1:
        times, factor = 1.0, np.linalg.inv(np.linalg.cholesky(hessian)).T
    else:
        smallest = float(np.linalg.eigvalsh(hessian)[0])
        if not smallest > 0:
            return float("inf")
        times, factor = float(np.sqrt(2.0 / smallest)), np.eye(objective.shape[1])
    scan = objective.scan
    if scan.within is not None or (scan.n_features >= MANY_COLUMNS and not scan.costly):
        bound = times * objective.longest_row_at_most(factor)
        if bound * decrement <= CLOSE:
            return bound
    return times * objective.longest_row(factor)


def by_duality(objective: Objective, point: Point, origin: Point) -> Certificate | None:
    """The duality gap of a penalised objective whose loss has a `dual_ray`, at any point whatever.

    For any numbers u_i, (R,) for every row, with (1/W) Σ w u_i = 0 where there is an intercept,

        min F ≥ −(1/W) Σ w ℓ*(u_i) − penalty*(−G),     G = (1/W) Σ w u_i x_i'

    (Fenchel's inequality, row by row). Here u is the slope of the loss in the scores, which makes it an
    equality at the optimum, balanced so that it sums to zero and shrunk to where the bound is highest: with
    the lasso penalty* is infinite unless no |G| exceeds l1. `origin` is the slope at zero.
    """
    if objective.penalty.free:
        return None
    ray = objective.loss.dual_ray(objective, point, origin)
    if ray is None:
        return None
    value = objective.value(point)
    gap = value - ray.highest(objective.penalty)
    coef, level = objective.free(point.theta)
    terms = float(
        np.abs(point.pull * coef).sum() + np.abs(point.level) @ (np.abs(level) + np.abs(origin.level))
    )
    rounding = 8 * EPSILON * (abs(value) + terms)
    return Certificate(max(gap, 0.0) + rounding, "duality gap", proven=True)
