"""From rows, a loss and a penalty to a fitted model: coordinates, solver, and whether there is an optimum."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from posterior._blas import one_blas_thread
from posterior._linalg import CLEAR, smallest_residual
from posterior._types import Floats
from posterior.linear.axes import Axes, column_moments, is_redundant, moments
from posterior.linear.certificate import Certificate
from posterior.linear.deviations import LeastAbsolute
from posterior.linear.jeffreys import JeffreysObjective
from posterior.linear.losses import LaplaceLoss, Loss, SoftmaxLoss
from posterior.linear.model import LinearModel
from posterior.linear.objective import Objective, Point
from posterior.linear.penalties import ElasticNet
from posterior.linear.scan import Scan
from posterior.linear.separation import Separation, find_separation, has_finite_optimum
from posterior.linear.solvers import LBFGS, FisherScoring, Newton, ProximalNewton, Solution, Solver
from posterior.linear.solvers.base import Coordinates
from posterior.linear.solvers.newton import factored, newton_step
from posterior.linear.summary import Summary
from posterior.stats.scatter import Scatter

# A covariance of so many columns is factored; a Hessian of so many coefficients is.
FACTORED_COLUMNS = 1500
FACTORED_COEFFICIENTS = 1500
LARGEST_FIRTH = 4000
# A Hessian has a block for every pair of scores.
MANY_SCORES = 100
# Rows that are enough to choose coordinates by.
SAMPLE = 50_000


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be learnt: the scores of rows, by a loss and a penalty; `jeffreys` adds that of Firth."""

    scan: Scan
    loss: Loss
    penalty: ElasticNet = field(default_factory=ElasticNet)
    intercept: bool = True
    jeffreys: bool = False

    @cached_property
    def moments(self) -> Scatter:
        """Mean and scatter of the columns, from a sample if that leaves no doubt that none depends on others.

        Coordinates may be any, so that a sample does as well; columns that are independent in some rows
        are so in all.
        """
        step = self.scan.n_rows // max(SAMPLE, 50 * self.scan.n_features)
        if step > 1 and isinstance(self.loss, SoftmaxLoss):
            seen = moments(self.scan.every(step))
            if smallest_residual(seen.scatter[0]) > CLEAR:
                return seen
        return moments(self.scan)

    def objective(self, coordinates: Coordinates) -> Objective:
        """What is minimised, in the coordinates that a solver asks for."""
        kind = JeffreysObjective if self.jeffreys else Objective
        return kind(self.scan, self._gauged(), self.penalty, self.axes(coordinates))

    def axes(self, coordinates: Coordinates) -> Axes:
        """The coordinates, scaled instead of whitened where the table is too wide."""
        if coordinates == "user":
            return Axes.plain(self.scan.n_features, self.intercept)
        if self.jeffreys and self.scan.n_features > LARGEST_FIRTH:
            raise ValueError(
                "Firth's penalty factors the information of all coefficients and takes up to "
                f"{LARGEST_FIRTH:,} columns; found {self.scan.n_features:,}: use a ridge (C=1.0), or fewer "
                "columns"
            )
        few = self.scan.n_features <= FACTORED_COLUMNS and not self._short
        if coordinates == "whitened" and (self.jeffreys or few):
            self._refuse_huge(np.diagonal(self.moments.scatter[0]))
            axes = Axes.whitened(self.moments, self.scan.n_rows, self.intercept, self._ridge)
            if self.jeffreys or axes.fold is None or is_redundant(self.scan, axes):
                return axes
        seen = column_moments(self.scan)
        variance = seen.scatter[0] / seen.weight[0]
        self._refuse_huge(variance)
        ridge = self._ridge if self.penalty.smooth else 0.0
        return Axes.scaled(seen.location.value[0], variance, self.intercept, ridge)

    def _refuse_huge(self, variance: Floats) -> None:
        if np.isfinite(variance).all():
            return
        name = self.scan.design.names[int(np.flatnonzero(~np.isfinite(variance))[0])]
        raise ValueError(
            f"column {name!r} holds values so large that their squares are infinite; rescale the column"
        )

    @property
    def _short(self) -> bool:
        """Fewer rows than columns: a ridge has nothing to gain from correlations that rows cannot tell."""
        return self.scan.n_rows <= self.scan.n_features and self.penalty.l2 > 0

    @property
    def _ridge(self) -> float:
        """The penalty's curvature as so much variance of every column, where the loss is at its steepest."""
        return self.penalty.l2 / self.loss.sharpest if np.isfinite(self.loss.sharpest) else 0.0

    def _gauged(self) -> Loss:
        """With a kinked penalty more than two classes need a score each: the gauge would move the kinks."""
        if isinstance(self.loss, SoftmaxLoss) and self.loss.n_classes > 2 and not self.penalty.smooth:
            return replace(self.loss, symmetric=True)
        return self.loss

    def solver(self) -> Solver:
        """The solver that suits best."""
        if self.jeffreys:
            return FisherScoring()
        if isinstance(self.loss, LaplaceLoss):
            return LeastAbsolute()
        if not self.penalty.smooth:
            return ProximalNewton()
        size = self.loss.n_scores * (self.scan.n_features + self.intercept)
        quadratic = self.loss.turning == 0  # which takes one step, whatever the start
        if (
            size > FACTORED_COEFFICIENTS
            or self.loss.n_scores > MANY_SCORES
            or (self._short and not quadratic)
        ):
            return LBFGS()
        return Newton(stages=not quadratic)


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model, what was minimised, and how; `separation` says why there is no optimum, if so.

    `objective` holds on to the rows, for those who ask for standard errors; without it the rest stays, with
    the `summaries` that were asked for while it was there.
    """

    model: LinearModel
    solution: Solution
    objective: Objective | None = None
    separation: Separation | None = None
    summaries: tuple[Summary, ...] = ()

    @classmethod
    def of(cls, objective: Objective, solution: Solution, separation: Separation | None = None) -> "Fit":
        """The fit whose coefficients are those of a solution."""
        coef, level = objective.shown(solution.theta)
        axes = objective.axes
        return cls(LinearModel(coef, level, axes.centre, axes.far).checked(), solution, objective, separation)

    def labelled(self, labels: Sequence[Any]) -> "Fit":
        """The same, with the classes called by their labels."""
        if self.separation is None:
            return self
        return replace(self, separation=replace(self.separation, labels=tuple(labels)))

    def remembered(self, kind: str, level: float) -> Summary | None:
        """The summary of this kind that was asked for, where the rows are gone that could tell anew."""
        if self.objective is not None:
            return None
        return next((s for s in self.summaries if (s.kind, s.level) == (kind, level)), None)

    def remembering(self, summary: Summary) -> "Fit":
        """The same, with a summary to be kept when the rows are gone."""
        others = (s for s in self.summaries if (s.kind, s.level) != (summary.kind, summary.level))
        return replace(self, summaries=(*others, summary))

    def without_rows(self) -> "Fit":
        """The same, without holding on to the rows."""
        return replace(self, objective=None)

    def checked(self) -> Objective:
        """The objective, if its rows are there and still what they were."""
        if self.objective is None:
            raise ValueError(
                "this needs the rows of training, which a model does not take along when it is copied or "
                "saved; fit again, or ask for it before"
            )
        if self.objective.slope(self.solution.theta).value != self.solution.point.value:
            raise ValueError("the rows have changed since this model was fitted to them; fit again")
        return self.objective


def solve(problem: Problem, solver: Solver | None = None, start: LinearModel | None = None) -> Fit:
    """The optimum of a problem, from an earlier model or from where the solver likes to start."""
    solver = solver or problem.solver()
    if not problem.penalty.smooth and not solver.kinks:
        raise ValueError(
            f"{type(solver).__name__} needs a smooth objective, and the l1 penalty has kinks; "
            'use solver="auto" (ProximalNewton), or l1_ratio=0'
        )
    with one_blas_thread, np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused
        objective = problem.objective(solver.coordinates)
        theta = None if start is None else _from(objective, start)
        solution = solver.minimize(objective, theta) if objective.size else _nothing(objective)
        separation = _separation(problem, objective, solution.point)
        if separation is not None:
            solution = replace(solution, converged=False, certificate=None)  # there is nowhere to arrive
        return Fit.of(objective, solution, separation)


def _nothing(objective: Objective) -> Solution:
    """The solution where there is nothing to learn: no intercept, and only columns of zeros."""
    proof = Certificate(0.0, "there is nothing to learn", proven=True)
    return Solution(objective.slope(objective.zero()), 0, True, proof, 0.0)


def _from(objective: Objective, model: LinearModel) -> Floats:
    level = model.level + model.coef @ (objective.axes.centre - model.centre)
    return objective.theta(model.coef, level)


def _separation(problem: Problem, objective: Objective, point: Point) -> Separation | None:
    """Why an unpenalised softmax regression has no optimum, if it has none."""
    if not isinstance(problem.loss, SoftmaxLoss) or not problem.penalty.free or problem.jeffreys:
        return None
    if not objective.size:
        return None
    if objective.size <= FACTORED_COEFFICIENTS:
        hessian = objective.curvature(point.theta)
        move = newton_step(factored(hessian), point.gradient)
        if has_finite_optimum(objective, point, move, hessian):
            return None
    return find_separation(objective, point)
