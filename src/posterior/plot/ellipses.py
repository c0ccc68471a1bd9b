"""Ellipses that hold a given share of a Gaussian class."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from posterior._types import Floats
from posterior.forms import QuadraticScores

CONTENTS = (0.5, 0.95)
POINTS = 181


class Ellipse(NamedTuple):
    """The ellipse (m, 2) about the mean of a class that holds the share `content` of it."""

    class_index: int
    content: float
    points: Floats


def class_ellipses(scores: QuadraticScores, contents: Sequence[float] = CONTENTS) -> list[Ellipse]:
    """Ellipses of the class Gaussians whose log densities in the plane are these scores.

    A row of the class is inside with probability `content`: (x−μ)'Σ⁻¹(x−μ) ≤ −2 ln(1 − content), which is
    the quantile of χ² with two degrees of freedom. A class with prior zero has none.

    >>> round_class = QuadraticScores([0, 0], -0.5 * np.eye(2), np.zeros((1, 2)), [0])
    >>> (ellipse,) = class_ellipses(round_class, [0.95])
    >>> np.linalg.norm(ellipse.points, axis=1)[:2].round(3)
    array([2.448, 2.448])
    """
    angle = np.linspace(0.0, 2 * np.pi, POINTS)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    found = []
    for k in np.flatnonzero(np.isfinite(scores.constant)).tolist():
        value, axes = np.linalg.eigh(-2 * scores.quadratic[k] * np.outer(scores.scale, scores.scale))
        if not (value > 0).all():
            continue
        spread = scores.scale[:, None] * axes / np.sqrt(value)  # Σ = spread @ spread.T
        mean = scores.centre + spread @ (spread.T @ scores.linear[k])
        for content in contents:
            radius = np.sqrt(-2 * np.log1p(-content))
            found.append(Ellipse(k, content, mean + radius * circle @ spread.T))
    return found
