"""Stochastic gradient descent: a step after every row, or every few."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, get_args

import numpy as np

from posterior import kernels
from posterior._blas import one_blas_thread
from posterior._types import Floats, Ints
from posterior.kernels.choice import compiled
from posterior.linear.certificate import best_proof
from posterior.linear.loss_sums import LinearScores, curvature_of, slope_of
from posterior.linear.losses import GaussianLoss, Loss
from posterior.linear.objective import Objective
from posterior.linear.penalties import ElasticNet
from posterior.linear.scan import RowBlock
from posterior.linear.solvers.base import (
    Coordinates,
    IncrementalSolver,
    Iterations,
    Progress,
    Solution,
    Step,
    relative_gradient,
)
from posterior.linear.solvers.gradient_descent import (
    SQUARED_COLUMNS,
    by_secant,
    check_step,
    contrast_metric_inverse,
    curvature_bound,
    refuse_kinks,
    refuse_nonconvex,
)

Decay = Literal["constant", "sqrt", "inverse"]

NEAR = 0.1  # share of the objective; further from the optimum nothing has arrived
# Rows that are put into their order together.
TILE = 4096
# A step costs NumPy as much as so many cells of other sums: two thousand of them are worth a compiled loop.
STEP_CELLS = 64
# Rows of a stream, whose end nobody knows, after which steps become shorter.
DELAY = 10_000.0
# How much the average favours late steps: step s of many has a weight like s³.
LATE = 3


@dataclass(frozen=True)
class SGD(IncrementalSolver):
    """w ← w + η (t − y) x for one row after the other, from w = 0; rows are reshuffled for every epoch.

    With `batch_size` 1 it is the textbook's rule, for K classes w_k ← w_k + η (t_k − y_k) x. A larger batch
    makes one step along the mean of its rows' gradients, which takes less time a row. A row's weight
    multiplies its step, and the penalty's gradient is part of every step. After n rows η is η₀ ("constant"),
    η₀/√(1 + n/delay) ("sqrt") or η₀/(1 + n/delay) ("inverse"; Robbins & Monro, 1951); `delay` is the rows of
    one epoch unless given.

    η₀ is `step`; "auto" is the inverse of the largest curvature that a batch is expected to have, from the
    longest row and the largest curvature of all rows (Gower et al., 2019). With `average` the result is the
    average over the steps, late ones counting most (Polyak & Juditsky, 1992; Shamir & Zhang, 2013).

    It stops when the mean loss over an epoch changes by less than `tol`. The same seed gives the same bits.

    >>> SGD(batch_size=1, step=0.1, decay="constant", average=False)
    SGD(max_iter=100, tol=1e-06, batch_size=1, step=0.1, decay='constant', delay=None, average=False, seed=0,
        path=False)
    """

    coordinates: ClassVar[Coordinates] = "user"
    max_iter: int = 100
    tol: float = 1e-6
    batch_size: int = 32
    step: float | Literal["auto"] = "auto"
    decay: Decay = "sqrt"
    delay: float | None = None
    average: bool = True
    seed: int = 0
    path: bool = False

    def __post_init__(self) -> None:
        check_step(self.step)
        if self.batch_size < 1:
            raise ValueError(f"batch_size={self.batch_size!r} is no number of rows; pass 1 or more")
        if self.decay not in get_args(Decay):
            raise ValueError(f"decay={self.decay!r} is not known; pass one of {', '.join(get_args(Decay))}")
        if self.delay is not None and not self.delay > 0:
            raise ValueError(f"delay={self.delay!r} is no number of rows; pass one above 0, or None")

    def minimize(self, objective: Objective, start: Floats | None = None) -> Solution:
        """A point near the minimum of a smooth objective, from zero or from `start`."""
        refuse_kinks(self, objective.penalty)
        refuse_nonconvex(self, objective)
        _refuse_turned(objective)
        rows = objective.scan.collected()
        if rows.weight is not None:
            rows = rows._replace(weight=rows.weight / rows.weight.mean())
        loss, penalty = objective.loss, objective.penalty
        rule = self.settled(loss, penalty, rows)
        theta = objective.zero() if start is None else start
        found = before = theta
        shuffle, state = np.random.default_rng(self.seed), Progress()
        steps, epoch, done = self._recorded(objective, theta), 0, False
        told, stopped = Iterations(objective, self.max_iter), False
        while epoch < self.max_iter and not done and not stopped:
            told.begin(found)
            epoch, last, before = epoch + 1, state.loss, found
            order = shuffle.permutation(len(rows.target))
            theta, state = rule.update(loss, penalty, theta, rows, state, order)
            found = rule.found(theta, state)
            steps += self._recorded(objective, found)
            done = abs(state.loss - last) < self.tol
            stopped = told.end(found)
        point, origin = objective.slope(found), objective.slope(objective.zero())
        proof = best_proof(objective, point, origin) or by_secant(point, objective.slope(before))
        gradient = relative_gradient(point, float(np.linalg.norm(origin.gradient)))
        # Steps that are too short for the columns leave the loss as it is, far from the optimum.
        near = proof is None or proof.gap <= NEAR * abs(point.value)
        return Solution(point, epoch, done and near, proof, gradient, tuple(steps))

    def update(
        self,
        loss: Loss,
        penalty: ElasticNet,
        theta: Floats,
        block: RowBlock,
        state: Progress | None = None,
        order: Ints | None = None,
    ) -> tuple[Floats, Progress]:
        """One pass over some rows, in their order or the one given: the next θ, and what to hand on.

        θ has the coefficients of each free score and, where it is longer than that, its level, as in an
        objective in the columns' own coordinates. Updates with the parts of a table are one update with
        the table, if every part but the last consists of whole batches.

        >>> from posterior.linear.losses import SoftmaxLoss
        >>> rows = RowBlock(np.array([[1.0], [-1.0]]), np.array([1, 0]), None)
        >>> rule = SGD(batch_size=1, step=1.0, decay="constant", average=False)
        >>> rule.update(SoftmaxLoss(2), ElasticNet(), np.zeros(2), rows)[0]
        array([1., 0.])
        """
        refuse_kinks(self, penalty)
        order = np.arange(len(block.target)) if order is None else order
        if not kernels.is_sparse(block.matrix):  # one row after the other, and lengths that are the same bits
            block = block._replace(matrix=kernels.in_rows(block.matrix))
        rates, state = self._rates(loss, penalty, _squares(block)[order], state or Progress())
        place = theta.reshape(loss.n_scores, -1).copy()
        average = _begun(state, place) if self.average else None
        rows = _Pass(block, order, contrast_metric_inverse(loss), rates, state.steps)
        fast = compiled("descent", STEP_CELLS * len(rates)) if loss.compiled_steps else None
        with one_blas_thread, np.errstate(over="ignore", invalid="ignore"):
            if fast is None:
                total = self._steps(loss, penalty, rows, place, average)
            else:
                rule = loss.n_classes, self.batch_size, penalty.l2, rows.made, rows.even, rates
                total = fast.steps(*block, order, rule, place, average)
        self._refuse_boundless(place)
        return place.ravel(), replace(
            state,
            steps=state.steps + len(rates),
            average=None if average is None else average.ravel(),
            loss=total / max(block.total, 1e-300),
        )

    def _steps(
        self, loss: Loss, penalty: ElasticNet, rows: "_Pass", place: Floats, average: Floats | None
    ) -> float:
        """Make the steps of a pass; the loss of its rows, each just before its step."""
        block, order, even, rates, made = rows
        d, total = block.matrix.shape[1], 0.0
        coef, level = place[:, :d], place[:, d:].T
        line = LinearScores(coef, level[0] if level.size else np.zeros(loss.n_scores))
        for rate, batch in zip(rates, _batches(block, order, self.batch_size), strict=True):
            sums = slope_of(batch, loss, line)
            pace = rate / self.batch_size
            coef *= 1.0 - pace * len(batch.target) * penalty.l2
            coef -= pace * (even @ sums.pull)
            if level.size:
                level -= pace * (even @ sums.level)
            total, made = total + sums.value, made + 1
            if average is not None:
                average += (1 + LATE) / (made + LATE) * (place - average)
        return total

    def found(self, theta: Floats, state: Progress) -> Floats:
        """The coefficients to use after some updates: the average, where it is asked for, or the last."""
        return theta if state.average is None else state.average

    def settled(self, loss: Loss, penalty: ElasticNet, rows: RowBlock) -> "SGD":
        """The rule with a first step that suits these rows, and a delay of one pass over them."""
        squares, step = _squares(rows), self.step
        if step == "auto":
            step = float(
                1.0 / self._curvature(loss, penalty, _largest(rows, squares), squares.max(initial=0.0))
            )
        return replace(self, step=step, delay=self.delay or float(len(squares)))

    def _curvature(
        self, loss: Loss, penalty: ElasticNet, largest: Floats | float, longest: Floats | float
    ) -> Floats:
        """Of a batch, as expected (Gower et al., 2019, prop. 3.8); the mean bounds what `_largest` gives."""
        share = 1.0 / self.batch_size
        curvature = curvature_bound(loss) * ((1.0 - share) * largest + share * longest) + penalty.l2
        return np.maximum(curvature, 1e-300)

    def _rates(
        self, loss: Loss, penalty: ElasticNet, squares: Floats, state: Progress
    ) -> tuple[Floats, Progress]:
        """The length of every step over rows of these squared lengths, and what they add to the state."""
        begins = np.arange(0, len(squares), self.batch_size)
        ends = np.minimum(begins + self.batch_size, len(squares))
        total = np.cumsum(np.concatenate([[state.squares], squares]))[ends]
        longest = np.maximum.accumulate(np.concatenate([[state.longest], squares]))[ends]
        rates = np.full(len(begins), 1.0)
        if self.step == "auto":
            rates /= self._curvature(loss, penalty, total / (state.rows + ends), longest)
        else:
            rates *= self.step
        late = 1.0 + (state.rows + begins) / (self.delay or DELAY)
        if self.decay != "constant":
            rates /= late if self.decay == "inverse" else np.sqrt(late)
        if not len(begins):
            return rates, state
        rows = state.rows + len(squares)
        return rates, replace(state, rows=rows, squares=float(total[-1]), longest=float(longest[-1]))

    def _refuse_boundless(self, place: Floats) -> None:
        if not np.isfinite(place).all():
            raise ValueError(
                f"step={self.step!r} is too long for these columns: the coefficients grew without bound; "
                "pass a shorter one or 'auto', or standardise the columns"
            )

    def _recorded(self, objective: Objective, theta: Floats) -> list[Step]:
        return [Step.at(objective, objective.slope(theta))] if self.path else []


class _Pass(NamedTuple):
    """Rows and their order, what turns derivatives by scores into a step, rates, and steps made before."""

    block: RowBlock
    order: Ints
    even: Floats
    rates: Floats
    made: int


def _refuse_turned(objective: Objective) -> None:
    """Rows are read as they are, so the coordinates must be the columns' own."""
    basis = objective.basis
    if basis.directions.ndim != 1 or (basis.directions != 1).any() or basis.centre.any():
        raise ValueError(
            "SGD works in the columns' own coordinates; give the objective Basis.plain(n_features)"
        )


def _begun(state: Progress, place: Floats) -> Floats:
    """The average so far, to be added to."""
    return place.copy() if state.average is None else state.average.reshape(place.shape).copy()


def _squares(block: RowBlock) -> Floats:
    """w‖(x, 1)‖² of every row."""
    X = block.matrix
    if kernels.is_sparse(X):
        squares = np.asarray(kernels.with_data(X, X.data**2).sum(axis=1)).ravel()
    else:
        squares = np.einsum("ij,ij->i", X, X)
    return (squares + 1.0) if block.weight is None else (squares + 1.0) * block.weight


def _largest(rows: RowBlock, squares: Floats) -> float:
    """The largest eigenvalue of the mean of w(x, 1)(x, 1)'; where that matrix is large, its trace."""
    m, d = rows.matrix.shape
    if d > SQUARED_COLUMNS:
        return float(squares.mean())
    sums = curvature_of(rows, GaussianLoss(), LinearScores(np.zeros((1, d)), np.zeros(1)))
    return float(np.linalg.eigvalsh(sums.blocks[0])[-1] / m)


def _batches(block: RowBlock, order: Ints, size: int) -> Iterator[RowBlock]:
    """The rows in this order, `size` at a time."""
    tile = size * max(1, TILE // size)
    for at in range(0, len(order), tile):
        rows = block.some(order[at : at + tile])
        for begin in range(0, len(rows.target), size):
            yield rows.some(slice(begin, begin + size))
