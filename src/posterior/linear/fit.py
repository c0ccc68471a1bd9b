"""From rows, a loss and a penalty to a fitted model: coordinates, solver, and whether there is an optimum."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from posterior._blas import one_blas_thread
from posterior._linalg import CLEAR, smallest_residual
from posterior._types import Floats
from posterior.linear.basis import Basis, column_moments, is_redundant, moments
from posterior.linear.bulk import bulk_of
from posterior.linear.certificate import Certificate
from posterior.linear.in_memory import InMemoryScan
from posterior.linear.jeffreys import JeffreysObjective
from posterior.linear.losses import Loss
from posterior.linear.model import LinearModel
from posterior.linear.objective import Objective, Point
from posterior.linear.penalties import ElasticNet
from posterior.linear.scan import Scan
from posterior.linear.separation import (
    Separation,
    find_complete_separation,
    find_separation,
    has_finite_optimum,
)
from posterior.linear.solvers import (
    LBFGS,
    FisherScoring,
    Newton,
    ProximalNewton,
    Solution,
    Solver,
    solver_named,
)
from posterior.linear.solvers.base import Coordinates, Halfway, minimum
from posterior.linear.solvers.newton import cholesky_factor, newton_step
from posterior.linear.summary import Summary
from posterior.stats.scatter import Scatter

# The largest covariance that is factored, in columns, and the largest Hessian, in coefficients.
FACTORED_COLUMNS = 1500
FACTORED_COEFFICIENTS = 1500
LARGEST_FIRTH = 4000
# A Hessian has a block for every pair of scores.
MANY_SCORES = 100
# Rows that are enough to choose coordinates by.
SAMPLE = 50_000
# Rows of a sample that stands for rows which cost much to read.
LARGE_SAMPLE = 160_000


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be learnt: the scores of rows, by a loss and a penalty; `jeffreys` adds that of Firth.

    >>> from posterior import LogisticRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(C=1.0, solver="newton").fit(X[50:], y[50:])
    >>> from posterior.linear import ElasticNet, SoftmaxLoss
    >>> problem = Problem(model.fit_.objective.scan, SoftmaxLoss(2), ElasticNet(l2=0.01))
    >>> solve(problem).solution.converged
    True
    """

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
        if step > 1 and not self._quadratic:
            sample = self.scan.every(step)
            copied = not (sample.sparse or sample.selective or sample.costly)
            seen = moments(InMemoryScan.copied(sample) if copied else sample)  # parts of it by all threads
            if smallest_residual(seen.scatter[0]) > CLEAR:
                return seen
        return moments(self.scan)

    def objective(self, coordinates: Coordinates) -> Objective:
        """What is minimised, in the coordinates that a solver asks for."""
        kind = JeffreysObjective if self.jeffreys else Objective
        bulk = None if coordinates == "user" else self._bulk(coordinates)
        basis = self.basis(coordinates, bulk)
        return kind(self.scan, self._loss_for_penalty(), self.penalty, basis, bulk)

    def basis(self, coordinates: Coordinates, bulk: Scan | None = None) -> Basis:
        """The coordinates, scaled instead of whitened where the table is too wide or rows have gross cells.

        Then they are scaled by the rows of the `bulk`. A coefficient of gross cells may have to be tiny
        beside the others, which no sum of several coordinates can be.
        """
        if coordinates == "user":
            return Basis.plain(self.scan.n_features, self.intercept)
        if self.jeffreys and self.scan.n_features > LARGEST_FIRTH:
            raise ValueError(
                "Firth's penalty factors the information of all coefficients and takes up to "
                f"{LARGEST_FIRTH:,} columns; found {self.scan.n_features:,}: use a ridge (C=1.0), or fewer "
                "columns"
            )
        if self._whitens(coordinates) and bulk is None:
            self._refuse_huge(np.diagonal(self.moments.scatter[0]))
            basis = Basis.whitened(self.moments, self.scan.n_rows, self.intercept, self._ridge)
            if self.jeffreys or basis.fold is None or is_redundant(self.scan, basis):
                return basis
        mean, variance = self._columns
        self._refuse_huge(variance)
        if bulk is not None:
            own, variance_of_own = _column_moments(bulk)
            mean, variance = own, np.where(variance_of_own > 0, variance_of_own, variance)
        ridge = self._ridge if self.penalty.smooth else 0.0
        return Basis.scaled(mean, variance, self.intercept, ridge)

    def _bulk(self, coordinates: Coordinates) -> Scan | None:
        """The rows without gross cells, where classes are told apart and some rows have such cells."""
        if self.jeffreys or not self.loss.n_classes:
            return None
        if self._whitens(coordinates):
            return bulk_of(self.scan, np.diagonal(self.moments.scatter[0]) / self.moments.weight[0])
        return bulk_of(self.scan, self._columns[1])

    def _whitens(self, coordinates: Coordinates) -> bool:
        few = self.scan.n_features <= FACTORED_COLUMNS and not self._short
        return coordinates == "whitened" and (self.jeffreys or few)

    @cached_property
    def _columns(self) -> tuple[Floats, Floats]:
        return _column_moments(self.scan)

    def _refuse_huge(self, variance: Floats) -> None:
        if np.isfinite(variance).all():
            return
        name = self.scan.design.names[int(np.flatnonzero(~np.isfinite(variance))[0])]
        raise ValueError(
            f"column {name!r} holds values so large that their squares are infinite; rescale the column"
        )

    @property
    def _short(self) -> bool:
        """Fewer rows than columns: whitening gains a ridge nothing."""
        return self.scan.n_rows <= self.scan.n_features and self.penalty.l2 > 0

    @property
    def _ridge(self) -> float:
        """The penalty's curvature in units of the columns' variance, at the largest curvature of the loss."""
        return self.penalty.l2 / self.loss.curvature_bound if np.isfinite(self.loss.curvature_bound) else 0.0

    def _loss_for_penalty(self) -> Loss:
        """The loss with a score for each coefficient that is shown, where the penalty has kinks there."""
        return self.loss if self.penalty.smooth else self.loss.symmetrized()

    @property
    def _quadratic(self) -> bool:
        """Whether one Newton step is enough, whatever the start."""
        return self.loss.self_concordance == 0

    def solver(self) -> Solver:
        """The solver that suits best."""
        if self.jeffreys:
            return FisherScoring()
        named = None if self.loss.solver is None else solver_named(self.loss.solver)
        if named is not None:
            return named
        if not self.penalty.smooth:
            return ProximalNewton()
        size = self.loss.n_scores * (self.scan.n_features + self.intercept)
        if (
            size > FACTORED_COEFFICIENTS
            or self.loss.n_scores > MANY_SCORES
            or (self._short and not self._quadratic)
        ):
            return LBFGS()
        return Newton(stages=not self._quadratic)


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model, what was minimised, and how; `separation` says why there is no optimum, if so.

    `objective` holds on to the rows, for those who ask for standard errors; without it the rest stays, with
    the `summaries` and the effective number of parameters that were asked for while it was there.

    >>> from posterior import LogisticRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(C=1.0, solver="newton").fit(X[50:], y[50:])
    >>> fit = model.fit_
    >>> bool((fit.model.coef == model.coef_).all()), fit.solution.converged, fit.separation
    (True, True, None)
    """

    model: LinearModel
    solution: Solution
    objective: Objective | None = None
    separation: Separation | None = None
    summaries: tuple[Summary, ...] = ()
    n_parameters: float | None = None

    @classmethod
    def of(cls, objective: Objective, solution: Solution, separation: Separation | None = None) -> "Fit":
        """The fit whose coefficients are those of a solution."""
        coef, level = objective.shown(solution.theta)
        basis = objective.basis
        return cls(
            LinearModel(coef, level, basis.centre, basis.far).checked(), solution, objective, separation
        )

    @classmethod
    def halfway(cls, state: Halfway) -> "Fit":
        """The fit that a solver would end with if it stopped here."""
        point = state.objective.slope(state.theta)
        return cls.of(state.objective, Solution(point, state.iterations, False, None, float("nan")))

    def labelled(self, labels: Sequence[Any]) -> "Fit":
        """The same, with the classes called by their labels."""
        if self.separation is None:
            return self
        return replace(self, separation=replace(self.separation, labels=tuple(labels)))

    def remembered(self, kind: str, level: float) -> Summary | None:
        """The summary of this kind that was asked for, for a fit that no longer has its rows."""
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
    """The optimum of a problem, started from an earlier model or from the solver's own start.

    >>> from posterior import LogisticRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(C=1.0, solver="newton").fit(X[50:], y[50:])
    >>> from posterior.linear import SoftmaxLoss
    >>> again = solve(Problem(model.fit_.objective.scan, SoftmaxLoss(2), model.fit_.objective.penalty))
    >>> bool(abs(again.model.coef - model.coef_).max() < 1e-6)
    True
    """
    solver = solver or problem.solver()
    if problem.loss.kinked and not solver.kinked_losses:
        raise ValueError(
            f"{type(solver).__name__} needs a smooth loss, and {type(problem.loss).__name__} has kinks; "
            'use solver="auto"'
        )
    if solver.kinked_losses and not problem.loss.kinked:
        raise ValueError(
            f"{type(solver).__name__} minimises losses with kinks only, and {type(problem.loss).__name__} is "
            'smooth; use solver="auto"'
        )
    if not problem.penalty.smooth and not solver.handles_l1:
        raise ValueError(
            f"{type(solver).__name__} needs a smooth objective, and the l1 penalty has kinks; "
            'use solver="auto" (ProximalNewton), or l1_ratio=0'
        )
    with one_blas_thread, np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused
        objective = problem.objective(solver.coordinates)
        theta = None if start is None else _from(objective, start)
        looked = _by_sample(problem, objective, solver) if theta is None else None
        if looked is not None and looked.separation is not None:
            solution = Solution(objective.slope(looked.theta), looked.iterations, False, None, float("nan"))
            return Fit.of(objective, solution, looked.separation)
        if looked is not None:
            theta = looked.theta
        solution = minimum(solver, objective, theta) if objective.size else _nothing(objective)
        separation = None
        if looked is None or not looked.finite:
            separation = _separation(problem, objective, solution.point, solver)
        if separation is not None:
            solution = replace(solution, converged=False, certificate=None)  # there is nowhere to arrive
        return Fit.of(objective, solution, separation)


def _column_moments(scan: Scan) -> tuple[Floats, Floats]:
    """Mean and variance of every column."""
    seen = column_moments(scan)
    return seen.location.value[0], seen.scatter[0] / seen.weight[0]


def _nothing(objective: Objective) -> Solution:
    """The solution where there is nothing to learn: no intercept, and only columns of zeros."""
    proof = Certificate(0.0, "there is nothing to learn", proven=True)
    return Solution(objective.slope(objective.zero()), 0, True, proof, 0.0)


def _from(objective: Objective, model: LinearModel) -> Floats:
    level = model.level + model.coef @ (objective.basis.centre - model.centre)
    return objective.theta(model.coef, level)


class _SampleLook(NamedTuple):
    """What a sample of rows that are elsewhere shows before all are read: a start, and what it proves."""

    theta: Floats
    iterations: int
    finite: bool
    separation: Separation | None = None


def _by_sample(problem: Problem, objective: Objective, solver: Solver) -> _SampleLook | None:
    """A look at a sample of rows that cost much to read, where classes may be separated.

    If the sample has an optimum, so have all rows. If not, those of all rows that contradict are looked for
    at once: steps towards infinity would read all rows dozens of times.
    """
    step = objective.scan.n_rows // max(LARGE_SAMPLE, 10 * objective.size)
    if not objective.scan.costly or step < 2 or not objective.size or not _may_separate(problem):
        return None
    some = objective.every(step).in_memory()
    found = solver.minimize(some)
    if _is_finite(some, found.point):
        return _SampleLook(found.theta, found.iterations, True)
    separation = find_complete_separation(objective, found.point)
    return None if separation is None else _SampleLook(found.theta, found.iterations, False, separation)


def _may_separate(problem: Problem) -> bool:
    return problem.loss.detects_separation and problem.penalty.free and not problem.jeffreys


def _separation(problem: Problem, objective: Objective, point: Point, solver: Solver) -> Separation | None:
    """Why an unpenalised softmax regression has no optimum, if it has none."""
    if not objective.size or not _may_separate(problem):
        return None
    if objective.size <= FACTORED_COEFFICIENTS:
        if _is_finite(objective, point):
            return None
        # More rows make no finite optimum infinite; beside gross cells the others seem to be nothing.
        bulk = objective.of_bulk()
        if bulk is not None and _is_finite(bulk, solver.minimize(bulk).point):
            return None
    return find_separation(objective, point)


def _is_finite(objective: Objective, point: Point) -> bool:
    """Whether derivatives at a point prove that there is an optimum."""
    hessian = objective.curvature(point.theta)
    move = newton_step(cholesky_factor(hessian), point.gradient)
    return has_finite_optimum(objective, point, move, hessian)
