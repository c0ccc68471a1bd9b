"""Settings of linear models that are "auto": the strength of the penalty, and the degree of the terms."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from posterior._tasks import Tasks
from posterior._types import Floats, Ints
from posterior.dataset import Dataset
from posterior.estimators.splits import read_folds
from posterior.linear import Design, Fit, Problem, Scan, Solver
from posterior.linear.cross_validation import FoldRows, chosen_by_folds, held_out_loss
from posterior.linear.design import MOST_SQUARED
from posterior.linear.leave_one_out import leave_one_out_loss
from posterior.linear.penalty_strength import StrengthChoice, chosen_fit
from posterior.linear.scaled_design import ScaledDesign

FOLDS = 10


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A fit of one degree: what it was fitted to, in which units, and how its penalty was chosen."""

    degree: int
    design: Design
    fit: Fit
    scaled: ScaledDesign | None = None
    problem: Problem | None = None
    solver: Solver | None = None
    choice: StrengthChoice | None = None

    @property
    def shown(self) -> Fit:
        """The fit in the units of the columns."""
        return (
            self.fit if self.scaled is None else replace(self.fit, model=self.scaled.unscaled(self.fit.model))
        )

    def loss(self, folds: Callable[[], FoldRows]) -> float:
        """The mean loss of rows that the model has not seen; infinite where it has no optimum.

        By leaving out each row where that has a closed form, exact for least squares, else by folds.
        """
        fit, problem = self.fit, self.problem
        if self.choice is not None:
            return float(self.choice.losses.min())
        if fit.separation is not None or not fit.solution.converged or fit.objective is None:
            return float("inf")
        if problem is not None and self.solver is not None:
            smooth = problem.penalty.smooth and not problem.loss.kinked and not problem.jeffreys
            if not smooth:
                return held_out_loss(problem, self.solver, folds()).mean
        try:
            return leave_one_out_loss(fit.objective, fit.solution.theta).mean
        except ValueError:  # a row cannot be left out of it
            return float("inf")


def chosen_strength(
    problem: Problem, solver: Solver, weight: float, l1_ratio: float, folds: Callable[[], FoldRows]
) -> tuple[StrengthChoice, Fit]:
    """The penalty under which rows left out are predicted best, and the fit with it.

    A ridge is chosen by leaving out each row, a lasso or an elastic net by folds.
    """
    if l1_ratio == 0:
        return chosen_fit(problem, solver, weight)
    return chosen_by_folds(problem, solver, weight, l1_ratio, folds())


def fold_rows(codes: Ints, weight: Floats | None) -> FoldRows:
    """Ten folds of rows with these classes (all alike in a regression); the only row of a class stays in."""
    numbers = read_folds(FOLDS, codes).numbers.copy()
    numbers[np.bincount(codes)[codes] < 2] = -1
    return FoldRows(numbers, weight, _reweighted)


def _reweighted(scan: Scan, weight: Floats) -> Scan:
    dataset: Dataset = replace(scan.dataset, weight=weight)  # type: ignore[type-var]  # a dataclass
    return replace(scan, dataset=dataset)


def best_degree(
    degree: Any, learn: Callable[[int], LinearFit], folds: Callable[[], FoldRows]
) -> tuple[LinearFit, dict[str, Any]]:
    """The fit of the degree asked for, or with "auto" of the one that predicts rows left out best.

    Of equals the lower one. With it go the degree, and the losses where it was chosen.
    """
    if degree != "auto":
        return learn(degree), {"degree_": degree, "degree_losses_": None}
    told = Tasks("degree", 2, leaves=False)
    with told.next():
        first = learn(1)
    found = [first]
    if 0 < len(first.design.numbers) <= MOST_SQUARED:
        with told.next():
            found.append(learn(2))
    losses = [each.loss(folds) for each in found]
    best = found[int(np.argmin(losses))]
    return best, {"degree_": best.degree, "degree_losses_": np.array([*losses, np.inf][:2])}
