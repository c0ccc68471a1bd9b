"""Settings chosen by folds, where leaving out a row has no closed form: penalties and losses with kinks."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from posterior._blas import one_blas_thread
from posterior._tasks import Tasks, each
from posterior._types import Floats, Ints
from posterior.linear.fit import Fit, Problem
from posterior.linear.leave_one_out import MeanLoss
from posterior.linear.objective import Objective
from posterior.linear.penalties import ElasticNet
from posterior.linear.penalty_strength import StrengthChoice
from posterior.linear.scan import Scan
from posterior.linear.solvers.base import Solver, minimum
from posterior.linear.solvers.proximal_newton import without_coefficients

# From the weakest strength under which all coefficients are zero, so many steps to this share of it.
STEPS = 30
SMALLEST = 1e-4
# Steps in a row that predict held-out rows no better, after which weaker strengths are not tried.
WORSE = 3


@dataclass(frozen=True)
class FoldRows:
    """The fold of each row (−1: never held out), and how to read the rows with other weights."""

    numbers: Ints
    weight: Floats | None
    reweighted: Callable[[Scan, Floats], Scan]

    def parts(self, scan: Scan) -> list[tuple[Scan, Scan, float]]:
        """For each fold the other rows, its own rows, and the weight of these."""
        weight = np.ones(len(self.numbers)) if self.weight is None else self.weight
        found = []
        for fold in range(int(self.numbers.max()) + 1):
            held = np.where(self.numbers == fold, weight, 0.0)
            found.append(
                (self.reweighted(scan, weight - held), self.reweighted(scan, held), float(held.sum()))
            )
        return found


class _Fold:
    """A fit to all other folds, which starts from the one before, and its loss on the rows of the fold."""

    def __init__(self, problem: Problem, solver: Solver, part: tuple[Scan, Scan, float]) -> None:
        learnt, held, self.weight = part
        self.solver = solver
        self.objective = replace(problem, scan=learnt).objective(solver.coordinates)
        self.held = Objective(held, self.objective.loss, ElasticNet(), self.objective.basis)
        self.theta: Floats | None = None

    def loss(self, net: ElasticNet) -> float:
        """The mean loss of the rows held out, under this penalty."""
        solution = minimum(self.solver, replace(self.objective, penalty=net), self.theta)
        self.theta = solution.theta
        return float(self.held.slope(solution.theta).loss)


def _mean(folds: list[_Fold], losses: list[float]) -> MeanLoss:
    """The mean over all rows, and its standard error from the spread over the folds."""
    weight = np.array([fold.weight for fold in folds])
    share, found = weight / weight.sum(), np.array(losses)
    mean = float(share @ found)
    spread = float(np.sqrt(share @ (found - mean) ** 2))
    return MeanLoss(mean, spread / np.sqrt(max(len(folds) - 1, 1)))


def held_out_loss(problem: Problem, solver: Solver, rows: FoldRows) -> MeanLoss:
    """The mean loss of rows under the fit to the other folds."""
    with one_blas_thread:
        folds = [_Fold(problem, solver, part) for part in rows.parts(problem.scan)]
        losses = [fold.loss(problem.penalty) for fold in each("fold", folds, len(folds), leaves=False)]
    return _mean(folds, losses)


def chosen_by_folds(
    problem: Problem, solver: Solver, weight: float, l1_ratio: float, rows: FoldRows
) -> tuple[StrengthChoice, Fit]:
    """The elastic net under which held-out rows are predicted best, and the fit to all rows with it.

    Strengths go from the weakest under which all coefficients are zero downwards, as those of Friedman,
    Hastie & Tibshirani (2010) do, and stop where three in a row gain nothing.
    """

    def net(strength: float) -> ElasticNet:
        return ElasticNet(l1_ratio * strength / weight, (1 - l1_ratio) * strength / weight)

    with one_blas_thread:
        whole = problem.objective(solver.coordinates)
        strongest = _all_zero(whole) * weight / l1_ratio
        folds = [_Fold(problem, solver, part) for part in rows.parts(problem.scan)]
        tried: dict[float, MeanLoss] = {}
        told = Tasks("strength", STEPS, leaves=False)
        best, worse = strongest, 0
        for strength in (strongest * SMALLEST ** (np.arange(STEPS) / (STEPS - 1))).tolist():
            told.begin()
            losses = [fold.loss(net(strength)) for fold in each("fold", folds, len(folds), leaves=False)]
            tried[strength] = _mean(folds, losses)
            worse = 0 if tried[strength].mean < tried[best].mean else worse + (strength != strongest)
            best = strength if worse == 0 else best
            if told.end() or worse == WORSE:
                break
        objective = replace(whole, penalty=net(best))
        solution = minimum(solver, objective)
    means, errors = np.array(list(tried.values())).T
    choice = StrengthChoice(np.array(list(tried)), means, errors, best, solution)
    return choice, Fit.of(objective, solution)


def _all_zero(objective: Objective) -> float:
    """The smallest l1 penalty under which all coefficients are zero: the steepest slope of the loss there."""
    theta = without_coefficients(objective, objective.slope(objective.zero()))
    slope = objective.slope(theta).gradient.reshape(objective.shape)[:, : objective.basis.n_coordinates]
    unit = np.where(objective.basis.directions > 0, objective.basis.directions, np.inf)
    return float(np.abs(slope / unit).max(initial=0.0)) or 1.0
