"""Approximate leave-one-out: scores of each row under the model fitted without it, from the fit on all rows.

At the optimum of Σ w ℓ + penalty, with Hessian T, leaving row i out takes w ℓ_i away: the gradient becomes
−Z'wg and the Hessian T − Z'wV Z, with g and V the slope and the curvature of the row's loss, and Z = I ⊗ x̃'
what turns θ into the row's scores. One Newton step from the optimum moves these scores by

    δ = A (I − wV A)⁻¹ wg,     A = Z T⁻¹ Z', the row's R × R block of leverages

(Rad & Maleki, 2020; for two classes Pregibon, 1981). For squared error and ridge the step is exact, and the
rows' errors are those of PRESS (Allen, 1974). The penalty keeps its total strength, as with scikit-learn's C.
Under a lasso the coefficients that are zero stay zero, as Rad & Maleki have it.

Where a row moves its own scores far, as the few rows on the border of almost separated classes do, one step
is a poor guess: such rows are really left out, by further steps, as many as a fixed amount of work allows.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from posterior import kernels
from posterior._blas import one_blas_thread
from posterior._linalg import EPSILON
from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.linear.basis import Basis
from posterior.linear.leave_one_row_out import LeaveOneRowOutObjective
from posterior.linear.losses import pairs, unpacked
from posterior.linear.objective import Objective
from posterior.linear.scan import RowBlock

# The largest Hessian that is inverted, in coefficients; a larger one takes hundreds of megabytes and minutes.
LARGEST = 4096
# Cells of a tile of rows.
TILE_CELLS = 1 << 20
# An eigenvalue of I − wV A below this is 0 but for rounding: the other rows leave a direction of θ open.
ALONE = 1e-12
# A row is refitted when its scores move apart by more than FAR; WORK is the budget of all refits, in
# multiply–adds.
FAR = 0.25
WORK = 10**9


def leave_one_out_scores(objective: Objective, theta: Floats, *, refits: int | None = None) -> Floats:
    """The free scores of each row, (n, R), under the model fitted without it; θ is the optimum on all rows.

    `refits` is the largest number of rows that are refitted because they move far; with 0 every row has its
    one Newton step.

    >>> from posterior.engines import LocalDataset
    >>> from posterior.linear.design import Design
    >>> from posterior.linear.losses import GaussianLoss
    >>> from posterior.linear.penalties import ElasticNet
    >>> from posterior.linear.scan import Scan
    >>> from posterior.linear.solvers.newton import Newton
    >>> from posterior.schema import Schema, read_table
    >>> table = read_table(np.array([[0.0], [1.0], [2.0]]))
    >>> schema = Schema.infer(table)
    >>> rows = LocalDataset(schema, schema.encode(table), np.array([0.0, 1.0, 5.0]))
    >>> scan = Scan.of(rows, Design.of(schema))
    >>> line = Objective(scan, GaussianLoss(), ElasticNet(), Basis.plain(1))
    >>> leave_one_out_scores(line, Newton().minimize(line).theta).ravel().round(6)
    array([-3. ,  2.5,  2. ])
    """
    with one_blas_thread:
        scores = _without_each(objective, theta, refits).scores
    alone = np.flatnonzero(np.isnan(scores).any(axis=1))
    if len(alone):
        also = f" (and {len(alone) - 1} more like it)" if len(alone) > 1 else ""
        raise ValueError(
            f"row {alone[0]}{also} is the only one that determines some coefficient (its leverage is 1), so "
            "that there is no fit without it; add a ridge penalty, or leave out the column that is constant "
            "in all other rows"
        )
    return scores


def leave_one_out_log_proba(objective: Objective, theta: Floats, *, refits: int | None = None) -> Floats:
    """Log probabilities of the classes, (n, K), under the model fitted without the row."""
    if not objective.loss.n_classes:
        raise ValueError(
            f"log probabilities of classes need a SoftmaxLoss, found {type(objective.loss).__name__}; use "
            "leave_one_out_scores for the predictions of a regression"
        )
    scores = leave_one_out_scores(objective, theta, refits=refits)
    return objective.loss.log_posterior(scores)


class MeanLoss(NamedTuple):
    """A mean loss over rows, and its standard error."""

    mean: float
    error: float


def leave_one_out_loss(objective: Objective, theta: Floats) -> MeanLoss:
    """The mean loss of rows under the models fitted without them; infinite where a row has no such model."""
    with one_blas_thread:
        rows = _without_each(objective, theta, None)
    loss, weight = objective.loss.values(rows.scores.T, rows.target), rows.weight
    if np.isnan(loss).any():
        return MeanLoss(float("inf"), float("inf"))
    total = float(weight.sum())
    mean = float(weight @ loss) / total
    # A row is left out with all its weight, so rows are what varies: Σ w²(ℓ − mean)².
    return MeanLoss(mean, float(np.linalg.norm(weight * (loss - mean))) / total)


@dataclass(frozen=True, eq=False)
class _LeftOut:
    """Rows with their scores without themselves, and those that moved far: their places, and how far."""

    scores: Floats
    target: AnyArray
    weight: Floats
    places: Ints
    moved: Floats
    movers: RowBlock

    def __add__(self, other: "_LeftOut") -> "_LeftOut":
        def both(name: str) -> AnyArray:
            return np.concatenate([getattr(self, name), getattr(other, name)])

        places = np.concatenate([self.places, other.places + len(self.scores)])
        movers = self.movers + other.movers
        return _LeftOut(both("scores"), both("target"), both("weight"), places, both("moved"), movers)


def _without_each(objective: Objective, theta: Floats, refits: int | None) -> _LeftOut:
    """Every row's scores without itself: a Newton step for each in one pass, and then the refits."""
    leverage = _leverage(objective, theta)
    if refits is None:
        refits = int(WORK // (objective.scan.n_rows * (objective.size**2 + 1000)))
    if not objective.penalty.smooth:
        refits = 0
    rows: _LeftOut = objective.scan.fold(lambda block: _left_out(block, objective, theta, leverage, refits))
    total = float(rows.weight.sum())
    for k in np.argsort(-rows.moved, kind="stable")[:refits]:
        one = rows.movers.some(slice(k, k + 1))
        others = LeaveOneRowOutObjective.of(objective, one, _coordinates(one, objective.basis), total)
        rows.scores[rows.places[k]] = others.refitted(theta)
    return rows


def _leverage(objective: Objective, theta: Floats) -> Floats:
    """The blocks of T⁻¹ for every pair of scores, (R(R+1)/2, D, D), each taken as symmetric."""
    _check(objective)
    R, D = objective.shape
    moving = _moving(objective, theta)
    hessian = objective.curvature(theta) * _total_weight(objective)
    inverse = np.zeros((R * D, R * D))
    inverse[np.ix_(moving, moving)] = _inverse(hessian[np.ix_(moving, moving)], objective)
    blocks = inverse.reshape(R, D, R, D)
    return np.stack([(blocks[a, :, b] + blocks[a, :, b].T) / 2 for a, b in pairs(R)])


def _check(objective: Objective) -> None:
    if objective.size > LARGEST:
        raise ValueError(
            f"approximate leave-one-out inverts the Hessian, which is too large for {objective.size} "
            f"coefficients (at most {LARGEST}); choose the penalty by cross-validation, or use fewer columns"
        )
    if not objective.convex:
        raise ValueError(
            f"leave-one-out needs the Hessian of the objective, which a {type(objective).__name__} lacks; "
            "use a ridge penalty instead of Jeffreys' prior, or cross-validation"
        )
    n, D = objective.scan.n_rows, objective.shape[1]
    if objective.penalty.free and n < D:
        raise ValueError(
            f"{n} rows cannot determine {D} coefficients, so that there is no unpenalised fit without one of "
            "the rows; add a ridge penalty"
        )


def _moving(objective: Objective, theta: Floats) -> Bools:
    """Which entries of θ move when a row is left out: under a lasso, levels and non-zero coefficients."""
    moving = np.ones(objective.shape, dtype=bool)
    if objective.basis.directions.ndim == 1:
        moving[:, : objective.basis.n_coordinates] = objective.basis.directions != 0
    if objective.penalty.smooth:
        return moving.ravel()
    if objective.basis.directions.ndim > 1 or len(objective.contrasts) != objective.n_scores:
        raise ValueError(
            "leave-one-out under an l1 penalty needs a coordinate for every penalised coefficient, found "
            f"{objective.basis.directions.shape} directions and {len(objective.contrasts)} x "
            f"{objective.n_scores} scores; use Basis.scaled, and SoftmaxLoss(K, symmetric=True) for more "
            "than two classes"
        )
    moving[:, : objective.basis.n_coordinates] &= (
        theta.reshape(objective.shape)[:, : objective.basis.n_coordinates] != 0
    )
    return moving.ravel()


def _total_weight(objective: Objective) -> float:
    """W: the objective is a mean over it."""
    weight = objective.scan.dataset.reduce(
        lambda chunk: float(chunk.n_rows if chunk.weight is None else chunk.weight.sum()), dense=1
    )
    return float(weight)


def _inverse(hessian: Floats, objective: Objective) -> Floats:
    """Its inverse; where every class has a score, without the direction that changes no probability."""
    if objective.loss.shift_invariant:
        values, vectors = np.linalg.eigh(hessian)
        use = values > 100 * len(values) * EPSILON * values[-1]
        return np.asarray((vectors[:, use] / values[use]) @ vectors[:, use].T)
    factor, info = lapack.dpotrf(hessian, lower=1)
    if info:
        raise ValueError(
            "the Hessian is singular at this optimum, so that leaving a row out is no small change: classes "
            "may be separated, or columns redundant; add a ridge penalty"
        )
    lower = lapack.dpotri(factor, lower=1)[0]
    return np.asarray(np.tril(lower) + np.tril(lower, -1).T)


def _left_out(
    block: RowBlock, objective: Objective, theta: Floats, leverage: Floats, refits: int
) -> _LeftOut:
    """Some rows without themselves; the scores of a row without which there is no fit are NaN."""
    R, D = objective.shape
    m = block.matrix.shape[0]
    scores, moved = np.empty((m, R)), np.empty(m)
    size = max(16, TILE_CELLS // max(R * R, D, objective.scan.n_features))
    for at in range(0, m, size):
        rows = slice(at, min(at + size, m))
        before, step = _left_out_tile(block.some(rows), objective, theta.reshape(R, D), leverage)
        scores[rows] = before + step
        spread = step.max(axis=1, initial=0.0) - step.min(axis=1, initial=0.0)
        moved[rows] = spread * objective.loss.self_concordance
    far = np.flatnonzero(moved > FAR)
    far = np.sort(far[np.argsort(-moved[far], kind="stable")[:refits]])
    return _LeftOut(scores, block.target, block.weights, far, moved[far], block.some(far))


def _left_out_tile(
    tile: RowBlock, objective: Objective, theta: Floats, leverage: Floats
) -> tuple[Floats, Floats]:
    """Scores (m, R) with the rows, and the steps that leaving each out makes in them."""
    R = len(theta)
    z = _coordinates(tile, objective.basis)
    scores = theta @ z.T
    own = np.stack([np.einsum("ij,ij->i", z @ part, z) for part in leverage])
    A = np.moveaxis(unpacked(own, R), -1, 0)
    V = np.moveaxis(unpacked(objective.loss.curvature(scores, tile.target, tile.weight), R), -1, 0)
    g = objective.loss.slope(scores.copy(), tile.target, tile.weight)[1].T
    system = np.eye(R) - V @ A
    # The eigenvalues are between 0 and 1, so that only a small determinant can hide a small one.
    alone = np.flatnonzero(np.linalg.det(system) < ALONE)
    alone = alone[np.linalg.eigvals(system[alone]).real.min(axis=1) < ALONE]
    system[alone] = np.eye(R)
    moved = (A @ np.linalg.solve(system, g[:, :, None]))[:, :, 0]
    moved[alone] = np.nan
    return scores.T, np.asarray(moved)


def _coordinates(tile: RowBlock, basis: Basis) -> Floats:
    """Rows as the coordinates see them, with a 1 for the level: (m, D)."""
    X, P = tile.matrix, basis.directions
    if kernels.is_sparse(X):
        z = X.multiply(P).toarray() - basis.centre * P if P.ndim == 1 else X @ P - basis.centre @ P
    else:
        z = basis.pulled(X - basis.centre)
    return np.hstack([z, np.ones((len(z), 1))]) if basis.intercept else np.asarray(z)
