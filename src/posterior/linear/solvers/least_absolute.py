"""Least absolute deviations: the maximum likelihood fit where the noise has a Laplace distribution.

The objective has a kink at every row, so it is solved as the linear program it is. With z the coordinates of
a row,

    min over v of Σ w |y − z·v|   =   max over a of Σ a y,     |a| ≤ w,  Σ a z = 0,

and with any such multipliers a no v is better than one with residuals r by more than Σ |r| (w − a sign r).
"""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import optimize
from scipy.linalg import lapack

from posterior._blas import one_blas_thread
from posterior._linalg import EPSILON
from posterior._types import Bools, Floats
from posterior.linear.certificate import Certificate
from posterior.linear.objective import Objective, Point
from posterior.linear.solvers.base import Iterations, Solution, Solver, Step
from posterior.linear.solvers.newton import cholesky_factor
from posterior.linear.whitening import WhitenedRows, whitened_rows

# How much of the way to the boundary a step goes; from which relative gap on an exact answer is looked for.
BOLD = 0.9995
CLOSE = 1e-2
# Rows by coordinates that are solved for exactly, at most.
SOLVED = 1 << 25
# A gap of this share of the objective, and an objective of this share of the target, are rounding.
ROUNDING = 16 * EPSILON


@dataclass(frozen=True)
class LeastAbsolute(Solver):
    """The interior point method of Frisch and Newton, with an exact last step.

    Portnoy & Koenker (1997), with the predictor and corrector of Mehrotra (1992), from the least-squares fit
    whatever `start` says. Rows whose residual goes to zero are told from those whose multiplier goes to its
    bound; fitting the former exactly ends on the optimum itself (Ye, 1992), and the duality gap there proves
    it. Where the optimum is not unique the answer lies inside the set of all optima. The rows are held in
    memory.

    >>> LeastAbsolute()
    LeastAbsolute(max_iter=100, tol=1e-10, path=False)
    """

    kinked_losses: ClassVar[bool] = True
    max_iter: int = 100
    tol: float = 1e-10
    path: bool = False

    def minimize(self, objective: Objective, start: Floats | None = None) -> Solution:
        """The fit of least absolute deviations, to a gap of at most `tol` times the objective."""
        if not objective.penalty.free:
            raise ValueError("least absolute deviations are minimised without a penalty; pass penalty=None")
        with one_blas_thread:
            return self._minimize(objective, _posed(objective))

    def _minimize(self, objective: Objective, program: "_Program") -> Solution:
        state, iterations = program.start(), 0
        best = program.answer(state.v, program.weight * np.sign(program.residual))
        steps = [program.step(best)]
        told, stopped = Iterations(objective, self.max_iter), False
        while not program.settled(best, ROUNDING) and state.gap > ROUNDING * best.value and not stopped:
            if iterations == self.max_iter:
                break
            told.begin(program.theta(state.v))
            moved = program.moved(state)
            stopped = told.end(program.theta((moved or state).v))
            if moved is None:
                break
            state, iterations = moved, iterations + 1
            if state.gap <= CLOSE * best.value:
                best = min(best, program.polished(state), key=_Answer.order)
            if self.path:
                steps.append(program.step(program.answer(state.v, state.dual)))
        best = min(best, program.answer(state.v, state.dual), key=_Answer.order)
        if not program.settled(best, self.tol) and iterations < self.max_iter and not stopped:
            best = min(best, program.by_highs(), key=_Answer.order)
        last = program.step(best)
        gradient = last.gradient / max(program.steepest, 1e-300)
        path = (*steps, last) if self.path else ()
        point = _level_ground(objective.slope(last.theta))
        above = max(point.value - last.value, 0.0)  # of rounding, by the scores of rows far from the middle
        proof = Certificate(best.gap * program.unit + above + program.rounding, "duality gap", proven=True)
        return Solution(point, iterations, program.settled(best, self.tol), proof, gradient, path)


class _Answer(NamedTuple):
    """Coordinates and multipliers, the objective, and how far from its minimum it can be."""

    v: Floats
    dual: Floats
    value: float
    gap: float

    @staticmethod
    def order(answer: "_Answer") -> float:
        return answer.gap


class _State(NamedTuple):
    """Residuals `above` − `below`, multipliers with room `up` to w and `down` to −w: all four positive."""

    v: Floats
    dual: Floats
    above: Floats
    below: Floats
    up: Floats
    down: Floats

    @property
    def gap(self) -> float:
        """The mean of the products that are zero at the optimum."""
        return float(self.above @ self.up + self.below @ self.down) / len(self.dual)

    @property
    def give(self) -> Floats:
        """d(multiplier)/d(residual), infinite where the residual is 0."""
        return np.asarray(1.0 / (self.above / self.up + self.below / self.down))


@dataclass(frozen=True, eq=False)
class _Program:
    """The linear program about the least-squares fit, in units of its mean absolute residual.

    `turn` and `origin` lead back to θ: origin + unit · turn v. Weights are 1 on average. `rounding` is what
    the digits of the target leave undecided, `steepest` the slope at zero coefficients.
    """

    rows: WhitenedRows
    residual: Floats
    weight: Floats
    unit: float
    turn: Floats
    origin: Floats
    rounding: float
    steepest: float

    def settled(self, answer: _Answer, tol: float) -> bool:
        """Whether an answer is as good as asked for, or as rounding allows."""
        return answer.gap <= max(tol * answer.value, self.rounding / self.unit)

    def answer(self, v: Floats, dual: Floats) -> _Answer:
        """The objective and its proven gap, the multipliers being first made to lie within their bounds.

        Where Σ a z = e is not quite zero the bound is off by e·δ, δ the way to the optimum. The coordinates
        are white, so that ½‖δ‖² ≤ mean (z·δ)² ≤ (longest z) ‖δ‖ mean |z·δ|, the last at most 2 · objective.
        """
        n = len(self.weight)
        dual = dual / max(1.0, float(np.abs(dual / self.weight).max()))
        r = self.residual - self.rows.scores(v)
        value = float(self.weight @ np.abs(r)) / n
        off = float(np.linalg.norm(self.rows.pull(dual))) / n
        lost = np.maximum(self.weight - dual * np.sign(r), 0.0)
        gap = float(np.abs(r) @ lost) / n + 4 * off * self.rows.longest * value
        return _Answer(v, dual, value, min(gap, value))

    # -- the interior point method ----------------------------------------------------------------

    def start(self) -> _State:
        """The least-squares fit, no multipliers, and some room everywhere."""
        above, below = np.maximum(self.residual, 0.0) + 0.1, np.maximum(-self.residual, 0.0) + 0.1
        no_coef, no_dual = np.zeros(self.turn.shape[1]), np.zeros(len(self.weight))
        return _State(no_coef, no_dual, above, below, self.weight, self.weight)

    def moved(self, s: _State) -> _State | None:
        """One step: the predictor shows how far one can aim, the corrector goes there. None: no progress."""
        give = s.give
        factor = cholesky_factor(self.rows.gram(give))
        off = self.rows.pull(s.dual)
        miss = self.residual - self.rows.scores(s.v) - s.above + s.below

        def direction(first: Floats, second: Floats) -> tuple[Floats, Floats, Floats, Floats]:
            aim = miss - first / s.up + second / s.down
            dv: Floats = lapack.dpotrs(factor, self.rows.pull(give * aim) + off, lower=1)[0]
            da = give * (aim - self.rows.scores(dv))
            return dv, da, (first + s.above * da) / s.up, (second - s.below * da) / s.down

        dv, da, du, dt = direction(-s.above * s.up, -s.below * s.down)
        goal = s.gap / 2 * (_walked(s, dv, da, du, dt).gap / s.gap) ** 3
        dv, da, du, dt = direction(goal - s.above * s.up + du * da, goal - s.below * s.down - dt * da)
        moved = _walked(s, dv, da, du, dt)
        return moved if moved.gap < np.inf and not np.array_equal(moved.v, s.v) else None

    # -- the exact last step ----------------------------------------------------------------------

    def polished(self, s: _State) -> _Answer:
        """The answer that fits those rows exactly whose residuals go to zero."""
        return self._exact(s.v, s.dual, s.give > self.weight)

    def by_highs(self) -> _Answer:
        """The answer of a simplex method, for programs on which the interior point method gets stuck."""
        Z = self.rows.some(slice(None))
        bounds = np.column_stack([-self.weight, self.weight])
        found = optimize.linprog(
            -self.residual, A_eq=Z.T, b_eq=np.zeros(Z.shape[1]), bounds=bounds.tolist(), method="highs-ds"
        )
        if found.x is None:
            return self.answer(np.zeros(Z.shape[1]), np.zeros(len(Z)))
        return self._exact(-found.eqlin.marginals, found.x, np.abs(found.x) < self.weight * (1 - CLOSE**4))

    def _exact(self, v: Floats, dual: Floats, zero: Bools) -> _Answer:
        """Residuals of some rows made zero, multipliers of others put at their bounds, both changed little.

        What the multipliers then lack to Σ a z = 0 is spread over the rows with zero residuals by the room
        they have.
        """
        at = np.flatnonzero(zero)
        if len(at) * len(v) > SOLVED:
            return self.answer(v, dual)
        Z = self.rows.some(at)
        v = v + _shortest(Z, (self.residual - self.rows.scores(v))[at])
        dual = np.where(zero, dual, self.weight * np.sign(dual))
        room = self.weight[at] - np.abs(dual[at])
        dual[at] -= room * _shortest((Z * room[:, None]).T, self.rows.pull(dual))
        return self.answer(v, dual)

    # -- what it means ----------------------------------------------------------------------------

    def step(self, answer: _Answer) -> Step:
        """An answer as a step of a path; its gradient is the residual of Σ a z = 0."""
        n = len(self.weight)
        off = self.rows.pull(answer.dual) / n
        return Step(self.theta(answer.v), answer.value * self.unit, float(np.linalg.norm(off)), n)

    def theta(self, v: Floats) -> Floats:
        """The coordinates of the objective from those of the program."""
        return np.asarray(self.origin + self.unit * (self.turn @ v))


def _walked(s: _State, dv: Floats, da: Floats, du: Floats, dt: Floats) -> _State:
    """As far along a direction as all that must be positive stays so, primal and dual apart."""
    far = min(_reach(s.above, du), _reach(s.below, dt))
    deep = min(_reach(s.up, -da), _reach(s.down, da))
    return _State(
        s.v + far * dv,
        s.dual + deep * da,
        s.above + far * du,
        s.below + far * dt,
        s.up - deep * da,
        s.down + deep * da,
    )


def _level_ground(point: Point) -> Point:
    """A minimum: zero is one of the slopes there, though not that of the rows' signs."""
    flat = {name: np.zeros_like(getattr(point, name)) for name in ("gradient", "pull", "level")}
    return replace(point, **flat)


def _reach(now: Floats, change: Floats) -> float:
    """How far something can go before a part of it would be negative, at most the whole way."""
    return min(1.0, BOLD / max(float((-change / now).max()), EPSILON))


def _shortest(A: Floats, b: Floats) -> Floats:
    """The shortest least-squares solution."""
    return np.asarray(np.linalg.lstsq(A, b, rcond=None)[0]) if A.size else np.zeros(A.shape[1])


def _posed(objective: Objective) -> _Program:
    """The linear program of an objective, in whitened coordinates, about the least-squares fit."""
    block = objective.scan.collected().counted()
    weight = np.ones(len(block.target)) if block.weight is None else block.weight / block.weight.mean()
    n = len(weight)
    rows, turn = whitened_rows(block.matrix, objective.basis, weight)
    origin = np.zeros(len(turn))
    y = block.target.astype(np.float64)
    if objective.basis.intercept:
        origin[-1] = weight @ y / n
        y -= origin[-1]
    v, residual = np.zeros(turn.shape[1]), y
    for _ in range(2):  # the second time for what rounding left
        v += rows.pull(weight * residual) / n
        residual = y - rows.scores(v)
    unit = float(weight @ np.abs(residual)) / n or 1.0
    rounding = ROUNDING * float(weight @ np.abs(y)) / n
    steepest = float(np.linalg.norm(rows.pull(weight * np.sign(block.target)))) / n
    return _Program(rows, residual / unit, weight, unit, turn, origin + turn @ v, rounding, steepest)
