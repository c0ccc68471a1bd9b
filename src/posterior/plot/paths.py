"""How solvers find their way, as a picture: their recorded paths on the surface of what they minimise."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from posterior._linalg import EPSILON
from posterior._types import Floats
from posterior.linear import FisherScoring, GradientDescent, Newton, Objective, ProximalNewton, solver_named
from posterior.linear.fit import Fit
from posterior.linear.replay import in_user_units, places
from posterior.notices import PosteriorWarning
from posterior.plot.captions import label, write_title
from posterior.plot.display import Display, drawing
from posterior.plot.plane import Plane, coefficient_names
from posterior.plot.style import COLOURS, FAINT, INK, LINES, MARKERS, WIDTH

TITLES = {
    "Newton": "Newton",
    "GradientDescent": "gradient descent",
    "LBFGS": "L-BFGS",
    "SGD": "stochastic gradient descent",
    "ProximalNewton": "proximal Newton",
    "FisherScoring": "Fisher scoring",
}
# Steps of which each is seen; beyond, their axis is logarithmic.
SEEN_STEPS = 10
LEVELS = 14


@dataclass(frozen=True, eq=False)
class SolverPath:
    """Where a solver stood after each step, (steps + 1, p), and how far the objective was from its minimum.

    Places are coefficients of the user's columns as `Objective` orders them; `arrived` says whether the
    solver says so.
    """

    name: str
    theta: Floats
    gap: Floats
    arrived: bool

    @property
    def words(self) -> str:
        """The solver and its steps, as the legend says it."""
        steps = len(self.theta) - 1
        return f"{label(self.name, 32)}, {steps} step{'s' * (steps != 1)}" + ", not there yet" * (
            not self.arrived
        )


@dataclass(eq=False)
class SolverPathDisplay(Display):
    """The paths of solvers on contours of the objective, and how fast it falls.

    Each solver fits the same problem and keeps its path. On the left the objective, mean loss plus penalty,
    over a plane of coefficients: those of two `terms`, the others at the optimum, or the plane through the
    start and the optimum in which the paths spread most. With two coefficients in all, it is the whole
    surface; else what is drawn of a path is its shadow on the plane. On the right the objective less its
    minimum, step by step: each of Newton's steps doubles the digits once it is near (quadratic convergence),
    each of gradient descent's adds the same share of one. Gradient descent goes in the columns' own units:
    standardise these, or pass an estimator with `standardize=True`, whose coefficients are then drawn for
    columns of variance 1.

    `surface` holds the objective at `plane.at(across, up)`.

    >>> import matplotlib.pyplot as plt
    >>> from posterior import LogisticRegression
    >>> X, y = [[-2.0], [-1.0], [0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 0, 1, 1]
    >>> display = SolverPathDisplay.from_estimator(LogisticRegression(), X, y).plot()
    >>> descent, newton = display.paths
    >>> descent.name, newton.words, bool(newton.gap[-1] < 1e-15)
    ('gradient descent', 'Newton, 4 steps', True)
    >>> plt.close(display.figure_)
    """

    paths: tuple[SolverPath, ...]
    optimum: Floats
    minimum: float
    plane: Plane
    across: Floats
    up: Floats
    surface: Floats

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        solvers: Mapping[str, Any] | Iterable[Any] | None = None,
        terms: Sequence[Any] | None = None,
        resolution: int = 48,
    ) -> Self:
        """Fit an estimator with each of some solvers, and keep how each got there.

        `solvers` are names or objects as `LogisticRegression(solver=…)` takes them, or a mapping of titles
        to these; None is gradient descent and Newton's method where the penalty is smooth. `terms` are two
        coefficients of the table that `summary` prints, "(intercept)" among them; with more than two
        classes pairs (class, term), each class being held against the first. The surface is evaluated at
        resolution² places, one pass over the rows for each.
        """
        _refuse_other(estimator)
        best = _solved(estimator, X, y, "auto")
        if getattr(best, "choice_", None) is not None:
            estimator = clone(estimator).set_params(C=best.C_)
            best = _solved(estimator, X, y, "auto")
        if best.fit_.separation is not None:
            raise ValueError(
                "there is no optimum to draw the way to, because the classes are separated; use a penalty, "
                'such as C=1.0, or penalty="firth"'
            )
        objective = in_user_units(best.fit_)
        (optimum,) = places(best.fit_, objective, [best.solution_.theta])
        solved = {
            title: _solved(estimator, X, y, replace(solver, path=True))
            for title, solver in _titled(solvers, best.fit_).items()
        }
        walked = {
            title: places(model.fit_, objective, [step.theta for step in model.solution_.path])
            for title, model in solved.items()
        }
        values = {title: _values(objective, walk) for title, walk in walked.items()}
        minimum = min(*(float(v.min()) for v in values.values()), *_values(objective, optimum[None]))
        paths = tuple(
            SolverPath(title, walked[title], values[title] - minimum, model.converged_)
            for title, model in solved.items()
        )
        names = coefficient_names(best, objective)
        plane = Plane.through(optimum, [path.theta for path in paths], names, terms)
        shadows = [plane.shadow(path.theta[path.gap <= 1.5 * path.gap[0]]) for path in paths]
        across, up = plane.window(np.vstack(shadows), resolution)
        surface = _values(objective, plane.at(across, up).reshape(-1, objective.size))
        return cls(paths, optimum, minimum, plane, across, up, surface.reshape(len(up), len(across)))

    def plot(self, ax: Any = None) -> Self:
        """Draw the surface with the paths, and how the objective falls (`gap_ax_`).

        On one `ax` that is given only the surface; on two both.
        """
        with drawing(ax, ncols=2, figsize=(WIDTH, 0.58 * WIDTH)) as axes:
            surface, gaps = (ax, None) if ax is not None and not np.iterable(ax) else axes
            self._draw_surface(surface)
            surface.set(xlabel=self.plane.labels[0], ylabel=self.plane.labels[1])
            write_title(surface, self.plane.title)
            if gaps is not None:
                self._draw_gaps(gaps)
            if ax is None:
                surface.figure.legend(handles=surface.lines[:-1], loc="outside upper left", ncols=2)
            else:
                surface.legend(loc="best")
        self.gap_ax_ = gaps
        return self._drawn_on(surface)

    def _looks(self) -> list[dict[str, Any]]:
        return [
            {
                "color": COLOURS[(5, 0, 2, 3, 4, 1)[i % 6]],
                "linestyle": LINES[i % len(LINES)],
                "marker": MARKERS[i % len(MARKERS)],
                "markersize": 5 if len(path.theta) <= 50 else 2.5,
                "linewidth": 1.2,
                "label": path.words,
            }
            for i, path in enumerate(self.paths)
        ]

    def _draw_surface(self, axes: Any) -> None:
        height = self.surface - self.minimum
        top = float(np.nanmax(np.where(np.isfinite(height), height, np.nan)))
        levels = self.minimum + top * np.geomspace(1e-4, 1.0, LEVELS)
        filled = axes.contourf(
            self.across, self.up, self.surface, levels, cmap="Greys", extend="min", alpha=0.4
        )
        filled.set_edgecolor("face")
        axes.contour(self.across, self.up, self.surface, levels, colors=FAINT, linewidths=0.6)
        for path, looks in zip(self.paths, self._looks(), strict=True):
            axes.plot(*self.plane.shadow(path.theta).T, **looks)
        axes.plot(*self.plane.shadow(self.optimum), marker="*", markersize=9, color=INK, zorder=5)
        axes.set(xlim=self.across[[0, -1]], ylim=self.up[[0, -1]])

    def _draw_gaps(self, axes: Any) -> None:
        floor = EPSILON * max(abs(self.minimum), 1e-300)
        for path, looks in zip(self.paths, self._looks(), strict=True):
            axes.plot(np.arange(len(path.gap)), np.maximum(path.gap, floor), **looks)
        axes.set(yscale="log", xlabel="steps", ylabel="objective above its minimum")
        if max(len(path.gap) for path in self.paths) > 3 * SEEN_STEPS:
            axes.set_xscale("symlog", linthresh=SEEN_STEPS)
            longest = max(len(path.gap) for path in self.paths)
            ticks = [0, 5, *(10**k for k in range(1, 8) if 10**k < 2 * longest)]
            axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
            axes.minorticks_off()
        axes.set_xlim(left=-0.3)


def _refuse_other(estimator: Any) -> None:
    if not (hasattr(estimator, "solver") and hasattr(type(estimator), "certificate_")):
        raise TypeError(
            f"{type(estimator).__name__} is not fitted by steps that could be drawn; pass a "
            "LogisticRegression or a LinearRegression"
        )


def _titled(solvers: Mapping[str, Any] | Iterable[Any] | None, best: Fit) -> dict[str, Any]:
    """Solvers by their titles."""
    if solvers is None:
        solvers = [GradientDescent(), Newton(reuse=0, stages=False)]
        if best.objective is not None and not best.objective.penalty.smooth:
            solvers = [ProximalNewton()]
        elif best.objective is not None and not best.objective.convex:
            solvers = [FisherScoring()]
    if isinstance(solvers, Mapping):
        named = {title: solver_named(solver) for title, solver in solvers.items()}
    else:
        found = [solver_named(solver) for solver in solvers]
        titles = [TITLES.get(type(solver).__name__, type(solver).__name__) for solver in found]
        twice = len(set(titles)) < len(titles)
        named = {repr(s) if twice else title: s for s, title in zip(found, titles, strict=True)}
    if not named or None in named.values():
        raise ValueError(f'solvers={solvers!r} must name solvers, such as ["gd", "newton"]; "auto" is none')
    return named


def _solved(estimator: Any, X: Any, y: Any, solver: Any) -> Any:
    """A copy of the estimator, fitted by a solver to its own tolerance; the picture says if it failed."""
    model = clone(estimator).set_params(solver=solver)
    if solver == "auto":
        model.set_params(tol=None, max_iter=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", PosteriorWarning)
        return model.fit(X, y)


def _values(objective: Objective, thetas: Floats) -> Floats:
    """The objective, penalty and all, at each of some places, (m,)."""
    return np.array([objective.value(objective.slope(theta)) for theta in thetas])
