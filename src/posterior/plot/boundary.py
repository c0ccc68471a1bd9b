"""Where the best class changes in a plane: curves from their equations, or from a grid of scores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.interpolate import RegularGridInterpolator

from posterior._types import Bools, Floats
from posterior.forms import Conic, QuadraticScores
from posterior.plot.style import pyplot

# Points of a curve, and halvings that find where it ends: to the last bit of a number between 0 and 1.
CURVE_POINTS = 401
HALVINGS = 54
# A third class is larger if it is by more than rounding of the scores.
ROUNDING = 1e-9
# Where a probability is zero its log is taken for this, so that grids can be interpolated.
LOWEST = -700.0

Curve: TypeAlias = Callable[[Floats], Floats]


class Piece(NamedTuple):
    """A part of the boundary: two classes tie along these points (m, 2), and no third is larger."""

    first: int
    second: int
    points: Floats


@dataclass(frozen=True, eq=False)
class Window:
    """The part of the plane that is shown: `low` and `high` corners, (2,)."""

    low: Floats
    high: Floats

    @classmethod
    def around(cls, points: Floats, margin: float = 0.06) -> "Window":
        """The window that shows all points, with a margin.

        >>> Window.around(np.array([[0.0, 5.0], [10.0, 5.0]]))
        Window(low=array([-0.6,  4.5]), high=array([10.6,  5.5]))
        """
        low, high = points.min(axis=0), points.max(axis=0)
        size = np.maximum(np.abs(low), np.abs(high))
        flat = high - low <= 1e-9 * size
        room = np.where(flat, np.where(size > 0, 0.1 * size, 1.0), margin * (high - low))
        return cls(low - room, high + room)

    @property
    def middle(self) -> Floats:
        """The centre, (2,)."""
        return self.low + self.half

    @property
    def half(self) -> Floats:
        """Half the sides, (2,)."""
        return np.asarray((self.high - self.low) / 2)

    def holds(self, points: Floats) -> Bools:
        """Which points are inside."""
        return np.asarray((np.abs(points - self.middle) <= (1 + 1e-12) * self.half).all(axis=1))

    def axes(self, resolution: int) -> tuple[Floats, Floats]:
        """Coordinates of a grid from edge to edge."""
        return np.linspace(self.low[0], self.high[0], resolution), np.linspace(
            self.low[1], self.high[1], resolution
        )


# -- from equations -------------------------------------------------------------------------------


def analytic_boundary(
    scores: QuadraticScores, window: Window, classes: Sequence[int] | None = None
) -> list[Piece]:
    """The boundary between classes whose scores are quadratic in the plane, from its equations.

    For each pair of `classes` the conic on which the two tie, without the parts on which a third class is
    larger and those outside the window.

    >>> three = QuadraticScores([0, 0], np.zeros((2, 2)), [[1, 0], [-1, 0], [0, 1]], [0, 0, 0])
    >>> for a, b, points in analytic_boundary(three, Window(np.array([-2.0, -2.0]), np.array([4.0, 4.0]))):
    ...     print(a, b, sorted((points[[0, -1]].round(6) + 0.0).tolist()))
    0 1 [[0.0, -2.0], [0.0, 0.0]]
    0 2 [[0.0, 0.0], [4.0, 4.0]]
    1 2 [[-2.0, 2.0], [0.0, 0.0]]
    """
    pieces = []
    for a, b in combinations(range(len(scores.constant)) if classes is None else classes, 2):

        def inside(points: Floats, a: int = a, b: int = b) -> Bools:
            return window.holds(points) & _no_third(scores(points), a, b)

        conic = scores.pair(a, b)
        for curve in conic_curves(conic, window):
            pieces += [Piece(a, b, points) for points in _kept(curve, inside)]
    return pieces


def _no_third(scores: Floats, a: int, b: int) -> Bools:
    """Where no class beats both of two, rounding apart."""
    tie = np.maximum(scores[:, a], scores[:, b])
    return np.asarray(scores.max(axis=1) - tie <= ROUNDING * (1 + np.abs(tie)))


def conic_curves(conic: Conic, window: Window) -> list[Curve]:
    """The zeros of a conic about a window, each curve a function of t from 0 to 1.

    In the coordinates u, v of its principal axes, q = λu² + μv² + βu + γv + a, with no mixed term: for given
    u the equation is solved for v, or the other way round, whichever q depends on more. The curve is real
    where the discriminant, a quadratic of the other coordinate, is positive; there t goes by its cosine,
    because the solution is like a square root at the ends.
    """
    if not np.isfinite(conic.constant):
        return []
    q = _PrincipalAxes.of(conic, window)
    if not q.steepness.any():
        return []
    solved = int(q.steepness.argmax())
    square, slope = float(q.square[solved]), float(q.slope[solved])
    free, tilt = float(q.square[1 - solved]), float(q.slope[1 - solved])
    discriminant = Conic(
        centre=np.zeros(1),
        quadratic=np.array([[-4 * square * free]]),
        linear=np.array([-4 * square * tilt]),
        constant=slope**2 - 4 * square * q.level,
    )
    reach = np.sqrt(2.0)  # of a corner, in units of half a window
    ends = [-reach, *(root for root in discriminant.roots() if -reach < root < reach), reach]
    curves = []
    for left, right in pairwise(ends):
        if discriminant(np.array([[(left + right) / 2]]))[0] > 0:
            curves += [q.curve(solved, left, right, sign) for sign in ((1.0, -1.0) if square else (1.0,))]
    return curves


@dataclass(frozen=True, eq=False)
class _PrincipalAxes:
    """q = Σ square·w² + slope·w + level in coordinates w = axes'(x − middle)/half of a window."""

    square: Floats
    slope: Floats
    level: float
    axes: Floats
    window: Window

    @classmethod
    def of(cls, conic: Conic, window: Window) -> "_PrincipalAxes":
        half, away = window.half, window.middle - conic.centre
        square, axes = np.linalg.eigh(conic.quadratic * np.outer(half, half))
        slope = axes.T @ ((conic.linear + 2 * conic.quadratic @ away) * half)
        return cls(square, slope, float(conic(window.middle[None])[0]), axes, window)

    @property
    def steepness(self) -> Floats:
        """How much q changes with each coordinate inside the window, on the whole."""
        return np.asarray(np.abs(self.slope) + np.abs(self.square))

    def curve(self, solved: int, left: float, right: float, sign: float) -> Curve:
        """One branch: the coordinate that is solved for as a function of the other."""

        def points(t: Floats) -> Floats:
            w = np.empty((len(t), 2))
            free = 1 - solved
            w[:, free] = (left + right) / 2 - (right - left) / 2 * np.cos(np.pi * t)
            rest = self.level + (self.square[free] * w[:, free] + self.slope[free]) * w[:, free]
            with np.errstate(over="ignore", invalid="ignore"):  # of a root that is far out of the window
                w[:, solved] = _root(float(self.square[solved]), float(self.slope[solved]), rest, sign)
                return np.asarray(self.window.middle + self.window.half * (w @ self.axes.T))

        return points


def _root(square: float, slope: float, rest: Floats, sign: float) -> Floats:
    """One of the two roots of square·w² + slope·w + rest, in the form in which nothing cancels."""
    if square == 0:
        return -rest / slope
    root = np.sqrt(np.maximum(slope**2 - 4 * square * rest, 0.0))
    if sign * slope >= 0:
        return np.asarray(-(slope + sign * root) / (2 * square))
    return np.asarray(2 * rest / (sign * root - slope))


def _kept(curve: Curve, inside: Callable[[Floats], Bools]) -> list[Floats]:
    """The parts of a curve that are inside, their ends found by halving."""
    t = np.linspace(0.0, 1.0, CURVE_POINTS)
    here = inside(curve(t))
    crossings = np.flatnonzero(here[1:] != here[:-1])
    good = np.where(here[crossings], t[crossings], t[crossings + 1])
    bad = np.where(here[crossings], t[crossings + 1], t[crossings])
    for _ in range(HALVINGS if len(crossings) else 0):
        middle = (good + bad) / 2
        ok = inside(curve(middle))
        good, bad = np.where(ok, middle, good), np.where(ok, bad, middle)
    where = np.concatenate([t, good])
    order = np.argsort(where, kind="stable")
    keep = np.concatenate([here, np.ones(len(good), dtype=np.bool_)])[order]
    return [curve(where[order][run]) for run in _runs(keep)]


def _runs(keep: Bools) -> list[slice]:
    """Stretches of two or more points that are kept."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], keep, [False]]).astype(np.int8)))
    return [slice(a, b) for a, b in edges.reshape(-1, 2).tolist() if b - a > 1]


# -- from a grid ----------------------------------------------------------------------------------


def grid_boundary(xs: Floats, ys: Floats, scores: Floats) -> list[Piece]:
    """The boundary between classes of which only scores on a grid are known, (len(ys), len(xs), K).

    >>> xs = ys = np.linspace(-1.0, 1.0, 5)
    >>> height = np.broadcast_to(ys[:, None], (5, 5))
    >>> (piece,) = grid_boundary(xs, ys, np.stack([height, -height], axis=-1))
    >>> np.ptp(piece.points, axis=0)
    array([2., 0.])
    """
    pyplot()  # or the error that says how to get matplotlib, which brings the next
    from contourpy import contour_generator  # noqa: PLC0415 -- an extra, needed only where something is drawn

    known = np.maximum(scores, LOWEST)
    between = RegularGridInterpolator((ys, xs), known)
    pieces = []
    for a, b in combinations(np.unique(known.argmax(axis=-1)).tolist(), 2):
        for line in contour_generator(xs, ys, known[..., a] - known[..., b]).lines(0.0):
            points = np.clip(np.asarray(line, dtype=np.float64), (xs[0], ys[0]), (xs[-1], ys[-1]))
            keep = _no_third(between(points[:, ::-1]), a, b)
            pieces += [Piece(a, b, points[run]) for run in _runs(keep)]
    return pieces
