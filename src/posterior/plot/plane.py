"""A plane in the space of coefficients, on which a surface can be drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior._types import Floats
from posterior.linear import Objective
from posterior.linear.summary import INTERCEPT
from posterior.plot.captions import label

MARGIN = 0.15


@dataclass(frozen=True, eq=False)
class Plane:
    """All places `centre` + a·axes[0] + b·axes[1], called by their coordinates (θ − origin)·axes.

    `whole` says whether there are no other places.
    """

    centre: Floats
    origin: Floats
    axes: Floats
    labels: tuple[str, str]
    title: str
    whole: bool

    @classmethod
    def through(
        cls, optimum: Floats, paths: Sequence[Floats], names: Sequence[Any], terms: Sequence[Any] | None
    ) -> "Plane":
        """The plane of two terms at the optimum, or that of the start, the optimum and the paths' spread."""
        p, origin = len(optimum), np.zeros_like(optimum)
        if p < 2:
            raise ValueError("a surface needs two coefficients, and this model has one; add a column")
        if terms is None and p > 2:
            start = paths[0][0]
            axes = _spread(optimum - start, np.vstack(paths) - optimum)
            labels = ("from the start to the optimum", "across")
            return cls(optimum, start, axes, labels, f"Objective, a plane of {p} coefficients", False)
        chosen = _positions(names, list(names) if terms is None else terms)
        title = "Objective" if p == 2 else "Objective, others at their optimum"
        words = tuple(_name(names[j]) for j in chosen)
        return cls(optimum, origin, np.eye(p)[chosen], (words[0], words[1]), title, p == 2)

    def shadow(self, theta: Floats) -> Floats:
        """Coordinates of places, (…, 2)."""
        return np.asarray((theta - self.origin) @ self.axes.T)

    def at(self, across: Floats, up: Floats) -> Floats:
        """The places of a grid, (up, across, p)."""
        here = self.shadow(self.centre)
        moved = np.stack(np.meshgrid(across - here[0], up - here[1]), axis=-1)
        return np.asarray(self.centre + moved @ self.axes)

    def window(self, shadows: Floats, resolution: int) -> tuple[Floats, Floats]:
        """A grid around shadows and the optimum, with a margin."""
        seen = np.vstack([shadows, self.shadow(self.centre)])
        low, high = seen.min(axis=0), seen.max(axis=0)
        # A path that hardly leaves a line still needs room for the surface.
        room = np.maximum(high - low, 0.3 * (high - low).max())
        middle, half = (low + high) / 2, (0.5 + MARGIN) * np.where(room > 0, room, 1.0)
        across, up = np.linspace(middle - half, middle + half, resolution).T
        return across, up


def coefficient_names(model: Any, objective: Objective) -> list[Any]:
    """What each number of θ multiplies: a term, or with more than two classes a pair of class and term."""
    terms = [*model.terms_, *[INTERCEPT] * objective.basis.intercept]
    if objective.n_scores == 1:
        return terms
    classes = model.classes_.tolist()
    held = bool(objective.loss.n_classes) and not objective.loss.shift_invariant
    return [(name, term) for name in classes[held:] for term in terms]


def _positions(names: Sequence[Any], terms: Sequence[Any]) -> list[int]:
    wanted = [tuple(term) if isinstance(term, list) else term for term in terms]
    unknown = [term for term in wanted if term not in names]
    if unknown or len(wanted) != 2 or wanted[0] == wanted[1]:
        shown = ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
        raise ValueError(f"terms must be two different ones of {shown}; found {list(terms)!r}")
    return [list(names).index(term) for term in wanted]


def _name(name: Any) -> str:
    return f"{label(name[1])} ({label(name[0])})" if isinstance(name, tuple) else label(name)


def _spread(way: Floats, off: Floats) -> Floats:
    """Two directions at right angles: the way, and that in which the places spread most beside it, (2, p)."""
    length = float(np.linalg.norm(way))
    along = way / length if length > 0 else np.eye(len(way))[0]
    beside = off - np.outer(off @ along, along)
    if np.linalg.norm(beside) <= 1e-9 * max(length, 1e-300):
        beside = np.eye(len(way))[[np.abs(along).argmin()]]
        beside = beside - np.outer(beside @ along, along)
    across = np.linalg.svd(beside, full_matrices=False)[2][0]
    return np.vstack([along, across * np.sign(across[np.abs(across).argmax()])])
