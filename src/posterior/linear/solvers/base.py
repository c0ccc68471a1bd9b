"""The base class of solvers, and what they return."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from posterior._types import Floats
from posterior.linear.certificate import Certificate
from posterior.linear.objective import Objective, Point

# In which coordinates a solver works: whitened (or scaled, where the table is too wide), scaled, or the
# user's.
Coordinates = Literal["whitened", "scaled", "user"]


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a solver: θ, the objective, the length of its gradient, and the number of rows used."""

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


class Solver(ABC):
    """The settings of a minimisation method, with `minimize`; a frozen dataclass."""

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


def gradient_scale(objective: Objective, origin: Point) -> float:
    """The length of the gradient at zero coefficients, to which others are compared.

    The levels do not count: those of a regression are as steep as the target is far from zero.
    """
    gradient = origin.gradient.reshape(objective.shape)
    along = float(np.linalg.norm(gradient[:, : objective.basis.n_coordinates]))
    return along or float(np.linalg.norm(gradient))


def relative_gradient(point: Point, scale: float) -> float:
    """The length of the gradient relative to `scale`, its length at zero coefficients."""
    return float(np.linalg.norm(point.gradient)) / max(scale, 1e-300)
