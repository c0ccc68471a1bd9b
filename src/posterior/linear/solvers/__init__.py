"""Ways to minimise an objective; one file each, and one line in the registry."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from posterior.linear.solvers.base import Coordinates, IncrementalSolver, Iterations, Solution, Solver, Step
from posterior.linear.solvers.fisher_scoring import FisherScoring
from posterior.linear.solvers.gradient_descent import GradientDescent
from posterior.linear.solvers.lbfgs import LBFGS
from posterior.linear.solvers.least_absolute import LeastAbsolute
from posterior.linear.solvers.newton import Newton
from posterior.linear.solvers.proximal_newton import ProximalNewton
from posterior.linear.solvers.sgd import SGD

SOLVERS: dict[str, Callable[[], Solver]] = {
    "newton": Newton,
    "irls": Newton,
    "lbfgs": LBFGS,
    "gd": GradientDescent,
    "sgd": SGD,
    "proximal": ProximalNewton,
    "least-absolute": LeastAbsolute,
    # scikit-learn's names, by what they are nearest to.
    "newton-cholesky": Newton,
    "newton-cg": LBFGS,
}
# What scikit-learn uses for any penalty, smooth or not, is left to the problem.
CHOSEN = ("auto", "liblinear", "sag", "saga")


def register_solver(name: str, kind: Any) -> None:
    """Give a solver of one's own a name, for `LogisticRegression(solver=name)` and wherever one is named.

    `kind` is a frozen dataclass that derives from `Solver`, with `max_iter`, `tol` and `path` among its
    fields. Without a name it can be passed as an object: `solver=MySolver()`.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Patient(Newton):
    ...     max_iter: int = 10_000
    >>> register_solver("patient", Patient)
    >>> solver_named("patient").max_iter
    10000
    >>> del SOLVERS["patient"]
    """
    found = {field.name for field in fields(kind)} if is_dataclass(kind) else set()
    if not (found and isinstance(kind, type) and issubclass(kind, Solver)):
        raise TypeError(f"expected a dataclass that derives from posterior.linear.Solver, found {kind!r}")
    lacking = {"max_iter", "tol", "path"} - found
    if lacking:
        raise TypeError(f"{kind.__name__} lacks {', '.join(sorted(lacking))}; add fields with defaults")
    if name in CHOSEN or SOLVERS.get(name, kind) is not kind:
        raise ValueError(f"there is a solver named {name!r} already; choose another name")
    SOLVERS[name] = kind


def solver_named(
    solver: Any, *, tol: float | None = None, max_iter: int | None = None, seed: int = 0
) -> Solver | None:
    """The solver of a name, with these settings where they are given; None where the problem shall choose.

    >>> solver_named("irls", max_iter=7)
    Newton(max_iter=7, tol=1e-08, reuse=2.0, stages=True, path=False)
    """
    if isinstance(solver, Solver):
        return solver
    if isinstance(solver, str) and solver in CHOSEN:
        return None
    if not isinstance(solver, str) or solver not in SOLVERS:
        names = ", ".join(map(repr, ["auto", *SOLVERS, *CHOSEN[1:]]))
        raise ValueError(
            f"solver={solver!r} is not known; choose one of {names}, or pass a solver object such as Newton()"
        )
    return with_settings(SOLVERS[solver](), tol=tol, max_iter=max_iter, seed=seed)


def with_settings(solver: Solver, *, tol: float | None, max_iter: int | None, seed: int = 0) -> Solver:
    """The solver with these settings where they are given.

    >>> from posterior.linear import Newton
    >>> with_settings(Newton(), tol=1e-6, max_iter=None).tol
    1e-06
    """
    if max_iter is not None and not (isinstance(max_iter, int | np.integer) and max_iter >= 1):
        raise ValueError(f"max_iter must be a whole number from 1 upwards, or None, found {max_iter!r}")
    if tol is not None and not (isinstance(tol, int | float | np.number) and 0 <= tol < np.inf):
        raise ValueError(f"tol must be a number from 0 upwards, or None, found {tol!r}")
    settings: dict[str, Any] = {"tol": tol, "max_iter": max_iter}
    if any(field.name == "seed" for field in fields(solver)):  # type: ignore[arg-type]  # it is a dataclass
        settings["seed"] = seed
    given = {name: value for name, value in settings.items() if value is not None}
    return replace(solver, **given)  # type: ignore[type-var]  # every solver is a dataclass


__all__ = [
    "LBFGS",
    "SGD",
    "SOLVERS",
    "Coordinates",
    "FisherScoring",
    "GradientDescent",
    "IncrementalSolver",
    "Iterations",
    "LeastAbsolute",
    "Newton",
    "ProximalNewton",
    "Solution",
    "Solver",
    "Step",
    "register_solver",
    "solver_named",
    "with_settings",
]
