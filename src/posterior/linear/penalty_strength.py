"""The strength of a penalty, chosen by approximate leave-one-out.

Strengths are total ones, 1/C in scikit-learn's terms: Σ w ℓ + strength · penalty.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np

from posterior._blas import one_blas_thread
from posterior._tasks import Tasks
from posterior._types import Floats
from posterior.linear.fit import Fit, Problem
from posterior.linear.leave_one_out import MeanLoss, leave_one_out_loss
from posterior.linear.objective import Objective
from posterior.linear.penalties import ElasticNet
from posterior.linear.solvers.base import Halfway, Solution, Solver, minimum
from posterior.linear.solvers.newton import Newton

# C from 1e-4 to 1e4, strong penalties first.
STRENGTHS = tuple(float(s) for s in np.logspace(4, -4, 20))
# Where the best is at an end, at most DECADES decades more are tried, as long as each gains GAIN times the
# largest loss.
DECADES = 8
GAIN = 1e-4
# Steps between the neighbours of the best; each takes 38 % of the interval away.
GOLDEN_STEPS = 5
GOLDEN = (3 - 5**0.5) / 2
# Intervals whose ratio is this close to 1 are equally long, whatever rounding makes of them in some units.
TIE = 1e-9


@dataclass(frozen=True, eq=False)
class StrengthChoice:
    """The strengths that were tried, strongest first, with the leave-one-out loss of each and its error.

    `best` has the smallest loss; of equal ones it is the strongest. `solution` is the fit with it. The
    standard errors are those of each loss; that of a difference, on the same rows, is far smaller.
    """

    strengths: Annotated[Floats, "n any"]
    losses: Annotated[Floats, "n any"]
    errors: Annotated[Floats, "n any"]
    best: float
    solution: Solution

    @property
    def at_edge(self) -> bool:
        """Whether the best is the strongest or the weakest that was tried: one beyond may be better."""
        return self.best in (self.strengths[0], self.strengths[-1])


def choose_strength(
    objective_for: Callable[[float], Objective],
    strengths: Sequence[float] | None = None,
    solver: Solver | None = None,
    unit: float = 1.0,
) -> StrengthChoice:
    """The penalty under which left-out rows are predicted best, by approximate leave-one-out.

    `objective_for` makes the objective of a strength; all must share their coordinates, since each fit starts
    from that with the next stronger penalty. Without `strengths` it tries 20 from 1e4 to 1e-4 units (C from
    1e-4 to 1e4 where columns have variance 1), goes on where the best is at an end, and then looks more
    closely about the best.

    >>> from posterior.engines import LocalDataset
    >>> from posterior.linear.basis import Basis
    >>> from posterior.linear.design import Design
    >>> from posterior.linear.losses import GaussianLoss
    >>> from posterior.linear.penalties import ElasticNet
    >>> from posterior.linear.scan import Scan
    >>> from posterior.schema import Schema, read_table
    >>> table = read_table(np.array([[0.0], [1.0], [2.0], [3.0]]))
    >>> schema = Schema.infer(table)
    >>> rows = LocalDataset(schema, schema.encode(table), np.array([0.0, 1.5, 1.0, 3.0]))
    >>> scan = Scan.of(rows, Design.of(schema))
    >>> def ridge(strength):
    ...     return Objective(scan, GaussianLoss(), ElasticNet(l2=strength / 4), Basis.plain(1))
    >>> choice = choose_strength(ridge, [10.0, 1.0, 0.1])
    >>> choice.best, choice.losses.round(4)
    (0.1, array([0.8919, 0.5577, 0.4389]))
    """
    search = _Search(objective_for, solver or Newton())
    usual = [unit * strength for strength in STRENGTHS]
    with one_blas_thread:
        for strength in _ordered(usual if strengths is None else strengths):
            search.look(strength)
        if strengths is None:
            _beyond(search)
            _between(search)
    return search.choice()


def _ordered(strengths: Sequence[float]) -> list[float]:
    given = sorted({float(s) for s in strengths}, reverse=True)
    if not given or not np.isfinite(given).all() or given[-1] < 0:
        raise ValueError(
            f"strengths of a penalty are finite numbers from 0 upwards, found {list(strengths)}; pass at "
            "least one, or none for the usual ones"
        )
    return given


@dataclass(frozen=True, eq=False)
class _Search:
    """What was tried so far."""

    objective_for: Callable[[float], Objective]
    solver: Solver
    losses: dict[float, MeanLoss] = field(default_factory=dict)
    solutions: dict[float, Solution] = field(default_factory=dict)
    tasks: Tasks = field(default_factory=lambda: Tasks("strength", leaves=False))

    def look(self, strength: float) -> float:
        """The loss of a strength, from the fit with the next stronger one, or else the next weaker one."""
        if strength not in self.losses:
            objective = self.objective_for(strength)
            self.tasks.begin()
            solution = minimum(self.solver, objective, self._start(strength))
            self.solutions[strength] = solution
            self.losses[strength] = leave_one_out_loss(objective, solution.theta)
            self.tasks.end(lambda: Halfway(objective, solution.theta, solution.iterations))
        return self.losses[strength].mean

    def _start(self, strength: float) -> Floats | None:
        stronger = [s for s in self.solutions if s > strength]
        near = min(stronger) if stronger else max(self.solutions, default=None)
        return None if near is None else self.solutions[near].theta

    @property
    def tried(self) -> list[float]:
        """The strengths, strongest first."""
        return sorted(self.losses, reverse=True)

    @property
    def best(self) -> float:
        """That with the smallest loss; of equal ones the strongest."""
        return min(self.tried, key=lambda s: self.losses[s].mean)

    def choice(self) -> StrengthChoice:
        """The table of all that was tried."""
        tried, best = self.tried, self.best
        if not np.isfinite(self.losses[best].mean):
            raise ValueError(
                "under every strength that was tried some row is the only one that determines a coefficient, "
                "so that it cannot be left out; try stronger penalties, or leave such columns out"
            )
        means, errors = np.array([self.losses[s] for s in tried]).T
        return StrengthChoice(np.array(tried), means, errors, best, self.solutions[best])


def _beyond(search: _Search) -> None:
    """Decades past the end at which the best lies."""
    largest = max((loss.mean for loss in search.losses.values() if np.isfinite(loss.mean)), default=0.0)
    for _ in range(DECADES):
        tried, best = search.tried, search.best
        if best not in (tried[0], tried[-1]):
            return
        before = search.losses[best].mean
        gain = before - search.look(best * 10 if best == tried[0] else best / 10)
        if not gain > GAIN * largest:
            return


def _between(search: _Search) -> None:
    """A golden section of log strength between the neighbours of the best (Kiefer, 1953)."""
    tried, best = search.tried, search.best
    at = tried.index(best)
    if at in (0, len(tried) - 1):
        return
    low, middle, high = tried[at + 1], best, tried[at - 1]
    for _ in range(GOLDEN_STEPS):
        longer = high if high / middle > (1 + TIE) * middle / low else low
        new = middle * (longer / middle) ** GOLDEN
        if search.look(new) < search.look(middle):
            low, middle, high = (middle, new, high) if new > middle else (low, new, middle)
        elif new > middle:
            high = new
        else:
            low = new


def chosen_fit(problem: Problem, solver: Solver, weight: float) -> tuple[StrengthChoice, Fit]:
    """The ridge under which left-out rows are predicted best, and the fit with it.

    Strengths are tried in units of the columns' variance: a coefficient is as large as its column is small.
    """
    if not solver.exact:
        raise ValueError(
            f'C="auto" and alpha="auto" compare optima, which {type(solver).__name__} need not reach; use '
            'solver="auto", "newton" or "lbfgs"'
        )
    # The coordinates are those of a penalty of one unit: made for another, tiny columns would seem flat.
    unit = _unit(problem.objective(solver.coordinates))
    base = replace(problem, penalty=ElasticNet(l2=unit / weight)).objective(solver.coordinates)

    def objective(strength: float) -> Objective:
        return replace(base, penalty=ElasticNet(l2=strength / weight))

    choice = choose_strength(objective, solver=solver, unit=unit)
    return choice, Fit.of(objective(choice.best), choice.solution)


def _unit(objective: Objective) -> float:
    """The median variance of the columns that vary."""
    spread = objective.basis.spread
    varied = np.ones(1) if spread is None or not (spread > 0).any() else spread[spread > 0]
    return float(np.median(varied) ** 2)
