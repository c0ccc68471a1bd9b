"""The base class of solvers, and what they return."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np

from posterior._tasks import Tasks
from posterior._types import Floats, Ints
from posterior.linear.certificate import Certificate, by_bulk
from posterior.linear.losses import Loss
from posterior.linear.objective import Objective, Point
from posterior.linear.penalties import ElasticNet
from posterior.linear.scan import RowBlock

# In which coordinates a solver works: whitened (or scaled, where the table is too wide), scaled, or the
# user's.
Coordinates = Literal["whitened", "scaled", "user"]


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a solver: θ, the objective, the length of its gradient, and the number of rows used.

    >>> from posterior import LogisticRegression
    >>> from posterior.linear import Newton
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(solver=Newton(path=True)).fit(X[50:], y[50:])
    >>> values = [step.value for step in model.solution_.path]
    >>> values == sorted(values, reverse=True)              # the objective falls at every step
    True
    """

    theta: Annotated[Floats, "p any"]
    value: float
    gradient: float
    n_rows: int

    @classmethod
    def at(cls, objective: Objective, point: Point) -> "Step":
        """The step that ends at a point."""
        return cls(point.theta, point.value, float(np.linalg.norm(point.gradient)), objective.scan.n_rows)


@dataclass(frozen=True, eq=False)
class Solution:
    """The result of a solver: the last point, the number of steps, whether it converged, and a certificate.

    `gradient` is the length of the gradient there relative to that at zero coefficients. `path` is kept on
    request.

    >>> from posterior import LogisticRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(C=1.0, solver="newton").fit(X[50:], y[50:])
    >>> model.solution_.converged, model.solution_.certificate.proven
    (True, True)
    """

    point: Point
    iterations: int
    converged: bool
    certificate: Certificate | None
    gradient: float
    path: tuple[Step, ...] = ()

    @property
    def theta(self) -> Floats:
        """θ at the end."""
        return self.point.theta


class Halfway(NamedTuple):
    """Where a solver is after some iterations."""

    objective: Objective
    theta: Floats
    iterations: int


class Iterations:
    """The iterations of a solver, told to whoever watches the fit: each begins at a θ and ends at another.

    >>> from posterior import LogisticRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(C=1.0, solver="newton").fit(X[50:], y[50:])
    >>> watched = Iterations(model.fit_.objective, most=10)
    >>> watched.begin(model.solution_.theta)
    >>> watched.end(model.solution_.theta)                  # nobody watches, so nobody says stop
    False
    """

    def __init__(self, objective: Objective, most: int) -> None:
        self.objective = objective
        self._tasks = Tasks("iteration", most)

    def begin(self, theta: Floats) -> None:
        """The next iteration begins here."""
        done = self._tasks.n_begun
        self._tasks.begin(lambda: Halfway(self.objective, theta, done))

    def end(self, theta: Floats) -> bool:
        """It has ended here; whether somebody says stop."""
        done = self._tasks.n_begun
        return self._tasks.end(lambda: Halfway(self.objective, theta, done))


class Solver(ABC):
    """The settings of a minimisation method, with `minimize`; a frozen dataclass.

    >>> from posterior.linear import LBFGS, Newton
    >>> isinstance(Newton(), Solver), Newton.exact, LBFGS.coordinates
    (True, True, 'whitened')
    """

    coordinates: ClassVar[Coordinates] = "whitened"
    # Whether it can minimise with an l1 penalty, which has kinks where coefficients are zero.
    handles_l1: ClassVar[bool] = False
    # Whether it minimises losses that have kinks (`Loss.kinked`), and no others.
    kinked_losses: ClassVar[bool] = False
    # Whether it ends at the optimum of every smooth convex objective, so that optima can be compared.
    exact: ClassVar[bool] = False
    max_iter: int
    tol: float

    @abstractmethod
    def minimize(self, objective: Objective, start: Floats | None = None) -> Solution:
        """The minimum of the objective, from `start`, or from the solver's own start."""


@dataclass(frozen=True, eq=False)
class Progress:
    """What an incremental solver remembers from one update to the next.

    How many `steps` it made on how many `rows`; the sum and the largest of their squared lengths w‖(x, 1)‖²;
    the `average` of θ on the way, where it is asked for; and the mean `loss` of the rows of the last update,
    each taken just before the step made for it.
    """

    steps: int = 0
    rows: int = 0
    squares: float = 0.0
    longest: float = 0.0
    average: Annotated[Floats | None, "p coef"] = None
    loss: float = float("nan")


class IncrementalSolver(Solver):
    """A solver that can also learn from rows once and let them go, as `partial_fit` does.

    >>> from posterior.linear import SGD, Newton
    >>> isinstance(SGD(), IncrementalSolver), isinstance(Newton(), IncrementalSolver)
    (True, False)
    """

    seed: int

    @abstractmethod
    def update(
        self,
        loss: Loss,
        penalty: ElasticNet,
        theta: Floats,
        block: RowBlock,
        state: Progress | None = None,
        order: Ints | None = None,
    ) -> tuple[Floats, Progress]:
        """One pass over some rows, in their order or the one given: the next θ, and what to hand on."""

    @abstractmethod
    def found(self, theta: Floats, state: Progress) -> Floats:
        """The coefficients to use after some updates."""


def minimum(solver: Solver, objective: Objective, start: Floats | None = None) -> Solution:
    """What a solver finds. That of rows without gross cells is the minimum of all, if it fits the others."""
    bulk = objective.of_bulk()
    if bulk is None:
        return solver.minimize(objective, start)
    parts = Tasks("part", 2, leaves=False)
    with parts.next():
        first = solver.minimize(bulk, start)
    point = objective.slope(first.theta)
    proof = by_bulk(objective, point)
    if first.converged and proof is not None:
        return replace(first, point=point, certificate=proof)
    with parts.next():
        found = solver.minimize(objective, first.theta)
    if not found.converged and found.certificate is not None and not found.certificate.proven:
        # On the way derivatives say nothing: gross cells make them small, or large, far from the minimum.
        return replace(found, certificate=None)
    return found


def gradient_scale(objective: Objective, origin: Point) -> float:
    """The length of the gradient at zero coefficients, to which others are compared.

    The levels do not count: those of a regression are as steep as the target is far from zero.
    """
    gradient = origin.gradient.reshape(objective.shape)
    along = float(np.linalg.norm(gradient[:, : objective.basis.n_coordinates]))
    return without_gross_cells(objective, along or float(np.linalg.norm(gradient)))


def without_gross_cells(objective: Objective, scale: float) -> float:
    """The length of a gradient, or what it is at most where no row has gross cells.

    Classes pull scores by at most 1, and the bulk of each column has variance 1.
    """
    if not objective.loss.n_classes or objective.basis.spread is None:
        return scale
    return min(scale, float(np.sqrt(objective.size)))


def relative_gradient(point: Point, scale: float) -> float:
    """The length of the gradient relative to `scale`, its length at zero coefficients."""
    return float(np.linalg.norm(point.gradient)) / max(scale, 1e-300)
