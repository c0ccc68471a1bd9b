"""Proximal Newton method for the lasso and the elastic net, whose penalties have kinks."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from posterior import kernels
from posterior._linalg import EPSILON
from posterior._types import Floats, Ints
from posterior.linear.certificate import by_duality
from posterior.linear.design import Matrix
from posterior.linear.loss_sums import SLOPE_TILE, LinearScores
from posterior.linear.losses import pairs
from posterior.linear.objective import Objective, Point
from posterior.linear.scan import RowBlock
from posterior.linear.solvers.base import (
    Coordinates,
    Iterations,
    Solution,
    Solver,
    Step,
    without_gross_cells,
)
from posterior.linear.solvers.coordinate_descent import L1Quadratic, shortest_subgradient
from posterior.stats.base import FieldSums

ARMIJO = 1e-4
# A relative fall of the objective that the rounding of its sums may hide.
HIDDEN = 64 * EPSILON
# With at most FEW coefficients a step moves all; with more, those that are not zero and GROWTH others.
FEW = 300
GROWTH = 200


@dataclass(frozen=True)
class ProximalNewton(Solver):
    """Each step minimises the penalty plus a quadratic model of the loss (Lee, Sun & Saunders, 2014).

    That minimum is found by coordinate descent, and the objective is made to fall on the way there (Armijo's
    rule as in Tseng & Yun, 2009). In wide tables only coefficients that are not zero, or that break the
    optimality conditions, are worked on; the conditions are checked for all. It ends where the shortest
    subgradient, relative to the gradient without coefficients, and the duality gap, relative to the
    objective, are both at most `tol`, or where rounding hides any further progress. With the lasso, an even
    number of classes can have many optima; this is one of them.

    >>> ProximalNewton(max_iter=20)
    ProximalNewton(max_iter=20, tol=1e-08, path=False)
    """

    coordinates: ClassVar[Coordinates] = "scaled"
    handles_l1: ClassVar[bool] = True
    max_iter: int = 100
    tol: float = 1e-8
    path: bool = False

    def minimize(self, objective: Objective, start: Floats | None = None) -> Solution:
        """The minimum of a convex objective whose kinks are where coefficients are zero."""
        _check(objective)
        origin = objective.slope(objective.zero())
        point = objective.slope(without_coefficients(objective, origin))
        scale = without_gross_cells(objective, float(np.linalg.norm(point.gradient)))
        if start is not None:
            point = min(point, objective.slope(_centred(objective, start)), key=objective.value)
        return self._descend(objective, point, origin, max(scale, 1e-300))

    def _descend(self, objective: Objective, point: Point, origin: Point, scale: float) -> Solution:
        cost = _costs(objective)
        hessians = _Hessians(objective)
        steps: list[Step] = []
        steep, fall, done, stuck = np.inf, -np.inf, False, False
        told = Iterations(objective, self.max_iter)
        for iteration in range(self.max_iter + 1):
            rest = _rest(point, cost)
            before, steep = steep, float(np.linalg.norm(rest)) / scale
            value = objective.value(point)
            if self.path:
                steps.append(Step(point.theta, value, steep * scale, objective.scan.n_rows))
            proof = by_duality(objective, point, origin) if steep <= self.tol else None
            arrived = steep <= self.tol and (proof is None or proof.gap <= self.tol * abs(value))
            stalled = -fall <= HIDDEN * abs(value) and 2 * steep > before and objective.bulk is None
            done = arrived or stalled
            if done or stuck or iteration == self.max_iter:
                break
            told.begin(point.theta)
            move = self._move(hessians, point, rest, cost, min(0.1, steep))
            fall = float(point.gradient @ move + cost @ (np.abs(point.theta + move) - np.abs(point.theta)))
            there = _downhill(objective, point, move, fall, cost)
            stuck, point = there is point, there
            stuck = told.end(point.theta) or stuck
        proof = proof or by_duality(objective, point, origin)
        return Solution(point, iteration, done, proof, steep, tuple(steps))

    def _move(self, hessians: "_Hessians", point: Point, rest: Floats, cost: Floats, left: float) -> Floats:
        """To the minimum of the model, of whose subgradient at most this share is left."""
        active = _worked_on(hessians.objective, point.theta, rest)
        here = point.theta[active]
        model = L1Quadratic(
            hessians.at(point.theta, active),
            point.gradient[active],
            here,
            cost[active],
            _costs(hessians.objective, square=True)[active],
            _flats(hessians.objective, active),
        )
        move = np.zeros_like(point.theta)
        move[active] = model.minimum(left * float(np.abs(rest).max())) - here
        return move


def _check(objective: Objective) -> None:
    """Refuse coordinates in which the kinks do not lie along the coordinate axes."""
    if objective.basis.directions.ndim == 2:
        raise ValueError("ProximalNewton works in scaled coordinates, found whitened ones; use Basis.scaled")
    if objective.penalty.l1 and len(objective.contrasts) != objective.n_scores:
        raise ValueError(
            f"ProximalNewton needs a score for each of the {len(objective.contrasts)} classes, found "
            f"{objective.n_scores}; use SoftmaxLoss(n_classes, symmetric=True)"
        )


def _costs(objective: Objective, *, square: bool = False) -> Floats:
    """What each coordinate's absolute value, or half its square, is charged; levels are free."""
    basis, penalty = objective.basis, objective.penalty
    cost = np.zeros(objective.shape)
    cost[:, : basis.n_coordinates] = penalty.l2 * basis.metric() if square else penalty.l1 * basis.directions
    return cost.ravel()


def _flats(objective: Objective, active: Ints) -> Ints:
    """Where the active coordinates include all classes of a column, (G, K), if each class has a score."""
    if not objective.loss.shift_invariant:
        return np.zeros((0, 1), dtype=np.int64)
    place = np.full(objective.size, -1)
    place[active] = np.arange(len(active))
    columns = place.reshape(objective.shape)[:, : objective.basis.n_coordinates].T
    return columns[(columns >= 0).all(axis=1) & (objective.basis.directions > 0)]


def without_coefficients(objective: Objective, origin: Point) -> Floats:
    """The best levels of a model that has no coefficients: log shares of the classes, or the mean."""
    block = np.zeros(objective.shape)
    if objective.basis.intercept:
        block[:, -1] = objective.loss.constant_scores(origin.level)
    return _centred(objective, block.ravel())


def _centred(objective: Objective, theta: Floats) -> Floats:
    """With a score for every class, levels that sum to zero: a number added to all changes nothing."""
    if not (objective.loss.shift_invariant and objective.basis.intercept):
        return theta
    block = theta.reshape(objective.shape).copy()
    block[:, -1] -= block[:, -1].mean()
    return block.ravel()


def _worked_on(objective: Objective, theta: Floats, rest: Floats) -> Ints:
    """The coordinates of the next step: levels, what is not zero, and the steepest of what should not be."""
    if objective.size <= FEW or objective.penalty.smooth:
        return np.arange(objective.size)
    use = (theta != 0).reshape(objective.shape)
    use[:, objective.basis.n_coordinates :] = True
    use = use.ravel()
    steep = np.where(use, 0.0, np.abs(rest))
    room = max(GROWTH, int(use.sum()))
    steepest = np.argsort(-steep, kind="stable")[:room]
    use[steepest[steep[steepest] > 0]] = True
    return np.flatnonzero(use)


def _downhill(objective: Objective, point: Point, move: Floats, fall: float, cost: Floats) -> Point:
    """The next point along a direction that promises a fall; the same point if there is none.

    A fall that rounding hides is seen in the subgradient.
    """
    value, rest = objective.value(point), _rest(point, cost)
    hidden = -fall <= HIDDEN * abs(value)
    t = 1.0
    while t > 1e-10:
        there = objective.slope(_centred(objective, point.theta + t * move))
        falls = objective.value(there) <= value + ARMIJO * t * fall
        if falls or (hidden and np.linalg.norm(_rest(there, cost)) < np.linalg.norm(rest)):
            return there
        t /= 2
    return point


def _rest(point: Point, cost: Floats) -> Floats:
    return shortest_subgradient(point.theta, point.gradient, cost)


@dataclass(eq=False)
class _Hessians:
    """Hessians along some coordinates; a quadratic loss's is kept while no other coordinate is asked for."""

    objective: Objective
    active: Ints | None = None
    kept: Floats | None = None

    def at(self, theta: Floats, active: Ints) -> Floats:
        """The Hessian at θ along the active coordinates."""
        if self.active is not None and self.kept is not None and np.isin(active, self.active).all():
            where = np.searchsorted(self.active, active)
            return self.kept[np.ix_(where, where)]
        hessian = hessian_along(self.objective, theta, active)
        if self.objective.loss.self_concordance == 0:
            self.active, self.kept = active, hessian
        return hessian


def hessian_along(objective: Objective, theta: Floats, active: Ints) -> Floats:
    """The Hessian of the smooth part along some coordinates, one pass over the rows.

    They are numbered as in θ and must include the levels and all that is not zero. With a score for every
    class the levels' mean, which changes nothing, is given a curvature of its own.
    """
    if len(active) == objective.size:
        hessian = objective.curvature(theta)
    else:
        hessian = _along(objective, theta, active)
    if objective.loss.shift_invariant and objective.basis.intercept:
        levels = np.flatnonzero(active % objective.shape[1] == objective.basis.n_coordinates)
        hessian[np.ix_(levels, levels)] += np.diagonal(hessian)[levels].mean() / len(levels)
    return hessian


@dataclass(frozen=True, eq=False)
class _SomeCurvature(FieldSums):
    """Σ w, and the second derivatives by some coefficients."""

    weight: float
    square: Floats


def _along(objective: Objective, theta: Floats, active: Ints) -> Floats:
    scores, within = np.divmod(active, objective.shape[1])
    n_coordinates = objective.basis.n_coordinates
    columns = np.unique(within[within < n_coordinates])
    # Where each score's coordinates are among the columns that are read; a level comes after them.
    places = [np.searchsorted(columns, within[scores == k]) for k in range(objective.n_scores)]
    line = objective.line(theta, centred=not objective.scan.sparse)
    shift = None if line.shift is None else line.shift[columns]
    short = LinearScores(np.ascontiguousarray(line.coef[:, columns]), line.offset, shift)

    def part(block: RowBlock) -> _SomeCurvature:
        narrow = block._replace(matrix=block.matrix[:, columns])
        return _SomeCurvature(block.total, _products(narrow, objective, short, places))

    sums: _SomeCurvature = objective.scan.fold(part)
    hessian = sums.square / sums.weight
    if objective.scan.sparse and objective.basis.intercept:
        centre = np.append(objective.basis.centre, 0.0)[within]
        level = np.searchsorted(scores, scores, side="right") - 1
        hessian -= centre[:, None] * hessian[level]
        hessian -= hessian[:, level] * centre
    stretch = np.append(objective.basis.directions, 1.0)[within]
    hessian *= stretch[:, None] * stretch
    ridge = np.append(objective.penalty.l2 * objective.basis.metric(), 0.0)[within]
    hessian[np.diag_indices_from(hessian)] += ridge
    return np.asarray(hessian)


def _products(block: RowBlock, objective: Objective, line: LinearScores, places: list[Ints]) -> Floats:
    """Σ w ∂²ℓ (x, 1)(x, 1)' of some rows, for every pair of scores along the columns at their places."""
    at = np.cumsum([0, *(len(p) for p in places)])
    out = np.zeros((at[-1], at[-1]))
    size = max(block.matrix.shape[0], 1) if kernels.is_sparse(block.matrix) else SLOPE_TILE
    for first in range(0, block.matrix.shape[0], size):
        X, y, w = block.some(slice(first, first + size))
        X = X if line.shift is None else X - line.shift
        bend = objective.loss.curvature(line.scores(X), y, w)
        whole = _with_ones(X)
        parts = [whole[:, p] for p in places]
        for k, (a, b) in enumerate(pairs(len(places))):
            out[at[a] : at[a + 1], at[b] : at[b + 1]] += _product(parts[a], bend[k], parts[b])
    for a, b in pairs(len(places)):
        out[at[b] : at[b + 1], at[a] : at[a + 1]] = out[at[a] : at[a + 1], at[b] : at[b + 1]].T
    return out


def _with_ones(X: Matrix) -> Matrix:
    ones = np.ones((X.shape[0], 1))
    return (
        sparse.hstack([X, sparse.csr_array(ones)], format="csr")
        if kernels.is_sparse(X)
        else np.hstack([X, ones])
    )


def _product(left: Matrix, bend: Floats, right: Matrix) -> Floats:
    """The product left' diag(bend) right of dense or sparse columns."""
    if not kernels.is_sparse(left):
        return np.asarray(left.T @ (right * bend[:, None]))
    return np.asarray((left.T @ kernels.rows_times(right, bend)).toarray())
