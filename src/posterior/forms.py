"""Log densities that are quadratic in x, one per class, and the boundaries between them.

The log joint of every Gaussian model is such a form. Discriminant analysis gets from here its linear
coefficients (M07), its conics (M08) and, with one feature, its decision points (M06). Nothing here knows a
model. Every form keeps a centre c and works on x − c: with means of 1e8 uncentred coefficients would cancel.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import inf, isclose, isfinite, sqrt
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag

from posterior._types import Floats, Ints

__all__ = ["Conic", "LinearForm", "QuadraticScores", "decision_points"]

# Relative difference below which two coefficients, or two roots, differ by nothing but rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class QuadraticScores:
    """K functions  f_k(x) = (x−c)'A_k(x−c) + b_k·(x−c) + a_k  about one centre c.

    `centre` (d,), `quadratic` (K, d, d) symmetric, `linear` (K, d), `constant` (K,). Shapes broadcast, so
    that one (d, d) matrix serves all classes. A constant of −inf is a class with prior zero. `scale` (d,) is
    the typical spread of each coordinate, which says what is small; left out, it is read off the A_k.
    `columns` names the coordinates, where they have names.

    >>> scores = QuadraticScores(centre=[0], quadratic=[[-0.5]], linear=[[-1], [1]], constant=[0, 0])
    >>> scores([[0], [2]])
    array([[ 0.,  0.],
           [-4.,  0.]])
    >>> scores.is_linear
    True
    """

    centre: Floats
    quadratic: Floats
    linear: Floats
    constant: Floats
    scale: Floats = field(default_factory=lambda: np.empty(0))
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        d, K = len(self.centre), len(self.constant)
        _freeze(self, centre=(d,), quadratic=(K, d, d), linear=(K, d), constant=(K,))
        if not np.size(self.scale):
            object.__setattr__(self, "scale", 1 / np.sqrt(_size(self.quadratic)))
        _freeze(self, scale=(d,))

    def __call__(self, X: ArrayLike) -> Floats:
        """Scores of the rows of X, shape (n, K)."""
        Z = _centred(X, self.centre, self.columns)
        quadratics = [((Z @ A) * Z).sum(axis=1) for A in self.quadratic]
        return np.asarray(np.stack(quadratics, axis=1) + Z @ self.linear.T + self.constant)

    def times(self, factor: float) -> "QuadraticScores":
        """The functions times a number."""
        return replace(
            self,
            quadratic=factor * self.quadratic,
            linear=factor * self.linear,
            constant=factor * self.constant,
        )

    @property
    def is_linear(self) -> bool:
        """Whether all A_k are equal, so that the posterior is a softmax of linear functions."""
        return _relative_spread(self.quadratic) <= _ROUNDING

    def linear_form(self) -> "LinearForm":
        """Return the scores without the quadratic term that all classes share; the posterior is the same."""
        if not self.is_linear:
            raise ValueError(
                "the classes have different quadratic terms (relative difference"
                f" {_relative_spread(self.quadratic):.2g}, allowed {_ROUNDING:g}), so their boundaries are"
                " not linear; use quadratic_form(a, b) for two classes, or fit one shared covariance"
            )
        return LinearForm(self.centre, self.linear, self.constant, self.columns)

    def pair(self, a: int, b: int) -> "Conic":
        """Log odds of class a against class b, f_a − f_b; zero on the boundary between the two."""
        A, other = self.quadratic[a], self.quadratic[b]
        # What is left of two equal matrices is rounding, and would put a second root at 1e16.
        equal = _relative_spread(np.stack([A, other])) <= _ROUNDING
        return Conic(
            centre=self.centre,
            quadratic=np.zeros_like(A) if equal else A - other,
            linear=self.linear[a] - self.linear[b],
            constant=float(self.constant[a]) - float(self.constant[b]),
            scale=self.scale,
            columns=self.columns,
        )

    def reordered(self, order: Sequence[int], columns: Sequence[str]) -> Self:
        """The same functions with the coordinates in another order, and named."""
        keep = list(order)
        return replace(
            self,
            centre=self.centre[keep],
            quadratic=self.quadratic[:, keep][:, :, keep],
            linear=self.linear[:, keep],
            scale=self.scale[keep],
            columns=tuple(columns),
        )

    def of_classes(self, classes: Sequence[int]) -> Self:
        """The functions of some classes."""
        keep = list(classes)
        return replace(
            self,
            quadratic=self.quadratic[keep],
            linear=self.linear[keep],
            constant=self.constant[keep],
        )

    def shifted(self, log_prior: ArrayLike) -> Self:
        """Add a log prior (K,) to the constants."""
        return replace(self, constant=self.constant + np.asarray(log_prior, dtype=np.float64))

    @classmethod
    def block_diagonal(cls, parts: Sequence["QuadraticScores"]) -> Self:
        """Join the scores of independent blocks of coordinates: their log densities add."""
        return cls(
            centre=np.concatenate([part.centre for part in parts]),
            quadratic=np.stack(
                [block_diag(*As) for As in zip(*(part.quadratic for part in parts), strict=True)]
            ),
            linear=np.concatenate([part.linear for part in parts], axis=1),
            constant=np.sum([part.constant for part in parts], axis=0),
            scale=np.concatenate([part.scale for part in parts]),
        )


@dataclass(frozen=True, eq=False)
class LinearForm:
    """K linear functions whose softmax is the posterior:  coef_k·(x−c) + intercept_k.

    >>> form = LinearForm(centre=[10], coef=[[1], [-1]], intercept=[0, 1])
    >>> form([[10]])
    array([[0., 1.]])
    >>> form.pair(0, 1)
    (array([2.]), -21.0)
    """

    centre: Floats
    coef: Floats
    intercept: Floats
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        d, K = len(self.centre), len(self.intercept)
        _freeze(self, centre=(d,), coef=(K, d), intercept=(K,))

    def __call__(self, X: ArrayLike) -> Floats:
        """Scores of the rows of X, shape (n, K)."""
        return np.asarray(_centred(X, self.centre, self.columns) @ self.coef.T + self.intercept)

    def pair(self, a: int, b: int) -> tuple[Floats, float]:
        """Coefficients (w, w0) of the log odds of class a against class b, w·x + w0, about the origin."""
        w: Floats = self.coef[a] - self.coef[b]
        return w, float(self.intercept[a]) - float(self.intercept[b]) - float(w @ self.centre)


@dataclass(frozen=True, eq=False)
class Conic:
    """The function  q(x) = (x−c)'A(x−c) + b·(x−c) + a,  whose zero set is the boundary between two classes.

    That set is a conic in the plane and a quadric in d dimensions. Its type follows from the numbers p ≥ m
    of positive and negative eigenvalues of A (q and −q have the same zeros), z of zero ones, whether b has a
    part in the null space of A, and the sign of q at its stationary point:

    =====  =============  ==================  ====================  ==========
    p, m   b in null sp.  q < 0               q = 0                 q > 0
    =====  =============  ==================  ====================  ==========
    0, 0   hyperplane     empty               everywhere            empty
    1, 0   paraboloid ¹   parallel hyperpl.   coincident hyperpl.   empty
    p, 0   paraboloid ¹   ellipsoid ²         point (z > 0: flat)   empty
    1, 1   paraboloid ¹   hyperboloid ²       crossing hyperplanes  hyperb. ²
    p, m   paraboloid ¹   hyperboloid ²       cone                  hyperb. ²
    =====  =============  ==================  ====================  ==========

    ¹ a cylinder where z > 1. ² a cylinder where z > 0. In the plane the names are line, parabola, ellipse,
    hyperbola, and parallel, coincident or crossing lines. In one dimension the `roots` are counted: no point,
    one point, two points, everywhere.

    In units of `scale` A, b, a and q can be compared with one another. There an eigenvalue or a part of b is
    zero below `tolerance` times the largest eigenvalue or |b|; q is zero below `tolerance` times the largest
    of these, |a| and the terms b²/4λ that lead from a to q.

    >>> Conic(centre=[0, 0], quadratic=[[1, 0], [0, 4]], linear=[0, 0], constant=-1).type
    'ellipse'
    """

    centre: Floats
    quadratic: Floats
    linear: Floats
    constant: float
    scale: Floats = field(default_factory=lambda: np.ones(1))
    columns: tuple[str, ...] = ()

    tolerance: ClassVar[float] = 1e-9

    def __post_init__(self) -> None:
        d = len(self.centre)
        _freeze(self, centre=(d,), quadratic=(d, d), linear=(d,), scale=(d,))

    def __call__(self, X: ArrayLike) -> Floats:
        """Values at the rows of X, shape (n,)."""
        Z = _centred(X, self.centre, self.columns)
        return np.asarray(((Z @ self.quadratic + self.linear) * Z).sum(axis=1) + self.constant)

    def expanded(self) -> tuple[Floats, Floats, float]:
        """Coefficients (A, b, a) about the origin, q(x) = x'Ax + b·x + a; they cancel if c is far."""
        slope = self.quadratic @ self.centre
        constant = float(self.centre @ (slope - self.linear)) + self.constant
        return self.quadratic, self.linear - 2 * slope, constant

    @property
    def type(self) -> str:
        """What the zero set is, by the table above. A log odds that is infinite is nowhere zero: empty."""
        d = len(self.centre)
        if d == 1:
            some_coefficient = self.quadratic.any() or self.linear.any() or self.constant
            counts = ("no point", "one point", "two points")
            return counts[len(self.roots())] if some_coefficient else "everywhere"
        if not isfinite(self.constant):
            return "empty"
        name = _quadric_name(*self._signature())
        return _IN_THE_PLANE.get(name, name) if d == 2 else name

    def roots(self) -> Floats:
        """Sorted real zeros with one feature: none, one (also where q only touches zero) or two.

        >>> Conic(centre=[1e8], quadratic=[[1]], linear=[0], constant=-4).roots() - 1e8
        array([-2.,  2.])
        """
        if len(self.centre) != 1:
            raise ValueError(
                f"roots are for one feature, and this has {len(self.centre)}; its type is {self.type!r}"
            )
        finite = [root for root in self._centred_roots() if isfinite(root)]
        return np.asarray(self.centre + self.scale * np.unique(finite))

    def _centred_roots(self) -> list[float]:
        """Sorted zeros less the centre, in units of scale; a double root twice, one beyond floats as ±inf."""
        scale = float(self.scale[0])
        A, b, a = float(self.quadratic[0, 0]) * scale**2, float(self.linear[0]) * scale, float(self.constant)
        if not isfinite(a) or (A == 0 and b == 0):
            return []
        if A == 0:
            return [-a / b]
        discriminant, terms = b * b - 4 * A * a, b * b + abs(4 * A * a)
        if abs(discriminant) <= _ROUNDING * terms:
            return [-b / (2 * A)] * 2
        if discriminant < 0:
            return []
        # Terms of one sign, so nothing cancels; the other root follows from the product of both, a/A.
        larger = -(b + sqrt(discriminant)) / 2 if b >= 0 else -(b - sqrt(discriminant)) / 2
        return sorted([larger / A, a / larger])

    def _signature(self) -> tuple[int, int, int, bool, int]:
        """Numbers p ≥ m and z, whether b has a part in the null space, the sign at the stationary point."""
        eigenvalues, vectors = np.linalg.eigh(self.quadratic * np.outer(self.scale, self.scale))
        linear = vectors.T @ (self.scale * self.linear)
        size = max(np.abs(eigenvalues).max(), np.abs(linear).max())
        curved = np.abs(eigenvalues) > self.tolerance * size
        tilted = bool((np.abs(linear[~curved]) > self.tolerance * size).any())
        drops = linear[curved] ** 2 / (4 * eigenvalues[curved])
        level = self.constant - float(drops.sum())
        terms = max(size, abs(self.constant), np.abs(drops).max(initial=0.0))
        sign = 0 if abs(level) <= self.tolerance * terms else int(np.sign(level))
        positive, negative = int((eigenvalues[curved] > 0).sum()), int((eigenvalues[curved] < 0).sum())
        null = len(eigenvalues) - positive - negative
        if negative > positive:
            return negative, positive, null, tilted, -sign
        return positive, negative, null, tilted, sign


_IN_THE_PLANE = {
    "hyperplane": "line",
    "parallel hyperplanes": "parallel lines",
    "coincident hyperplanes": "coincident lines",
    "crossing hyperplanes": "crossing lines",
    "ellipsoid": "ellipse",
    "paraboloid": "parabola",
    "hyperboloid": "hyperbola",
}


def decision_points(scores: QuadraticScores) -> tuple[Floats, Ints]:
    """Where the largest of K scores of one feature changes, and which is largest in between.

    Returns the sorted points (m,) and the winners (m+1,) of the intervals from left to right. Ties go to the
    lowest index. The outer intervals are decided by leading coefficients, not by looking far away.

    >>> wide_and_narrow = QuadraticScores([0], [[[-0.5]], [[-2]]], linear=[[0], [0]], constant=[0, 1.5])
    >>> decision_points(wide_and_narrow)
    (array([-1.,  1.]), array([0, 1, 0]))
    """
    if len(scores.centre) != 1:
        raise ValueError(
            f"decision points need one feature, not {len(scores.centre)}; use pair(a, b) for boundaries"
        )
    possible = [k for k, constant in enumerate(scores.constant) if constant > -inf] or [0]
    leads = {(k, w): _where_positive(scores.pair(k, w)) for k in possible for w in possible if k != w}
    # Sweep from the left: whoever first gets ahead of the winner so far is next. At one point several may,
    # each ahead of the one before; none returns there (`passed`), whatever rounding says of points that meet.
    here, winner, passed = -inf, possible[0], set[int]()
    points, winners = list[float](), [winner]
    while True:
        passed.add(winner)
        ahead = [(_next_lead(leads[k, winner], here), k) for k in possible if k != winner]
        there, k = min(
            (lead for lead in ahead if lead[0] > here or lead[1] not in passed), default=(inf, winner)
        )
        if there == inf:
            return scores.centre + scores.scale * np.array(points), np.array(winners, dtype=np.int64)
        if there > here:
            here, passed = there, {winner}
            points.append(here)
            winners.append(k)
        winner = winners[-1] = k


def _where_positive(q: Conic) -> list[tuple[float, float]]:
    """Open intervals on which q > 0, less the centre and in units of scale, from left to right (d = 1)."""
    edges = [-inf, *q._centred_roots(), inf]
    far_left = next((c for c in (q.quadratic[0, 0], -q.linear[0], q.constant) if c), 0.0)
    first = 0 if far_left > 0 else 1
    pieces = list(pairwise(edges)) if far_left else []
    return [(left, right) for left, right in pieces[first::2] if left < right]


def _next_lead(intervals: list[tuple[float, float]], here: float) -> float:
    """Where, from here on, the first interval begins: `here` itself if inside one, inf if there is none."""
    for left, right in intervals:
        if right > here and not _same_point(right, here):
            return here if left < here or _same_point(left, here) else left
    return inf


def _same_point(left: float, right: float) -> bool:
    return isclose(left, right, rel_tol=_ROUNDING, abs_tol=_ROUNDING)


def _quadric_name(positive: int, negative: int, null: int, tilted: bool, sign: int) -> str:
    """Name by the table in `Conic`, for three dimensions or more."""
    if tilted:
        return "hyperplane" if positive == 0 else "paraboloid" if null == 1 else "cylinder"
    if sign == 0:
        return _name_through_stationary_point(positive, negative, null)
    if negative == 0 and (sign > 0 or positive == 0):
        return "empty"
    if positive == 1 and negative == 0:
        return "parallel hyperplanes"
    if null:
        return "cylinder"
    return "hyperboloid" if negative else "ellipsoid"


def _name_through_stationary_point(positive: int, negative: int, null: int) -> str:
    by_signs = {(0, 0): "everywhere", (1, 0): "coincident hyperplanes", (1, 1): "crossing hyperplanes"}
    otherwise = "cone" if negative else "flat" if null else "point"
    return by_signs.get((positive, negative), otherwise)


def _size(quadratic: Floats) -> Floats:
    """Largest diagonal entry over the classes, per coordinate; 1 where all are zero."""
    largest = np.abs(np.diagonal(quadratic, axis1=1, axis2=2)).max(axis=0)
    return np.where(largest > 0, largest, 1.0)


def _relative_spread(quadratic: Floats) -> float:
    """Largest difference between the A_k on a scale where their largest diagonal entries are one."""
    unit = 1 / np.sqrt(_size(quadratic))
    return float(np.abs((quadratic - quadratic[0]) * unit[:, None] * unit).max(initial=0.0))


def _freeze(form: object, **shapes: tuple[int, ...]) -> None:
    """Give the named fields of a frozen form their shapes, as read-only arrays of float64."""
    for name, shape in shapes.items():
        value = np.broadcast_to(np.asarray(getattr(form, name), dtype=np.float64), shape)
        object.__setattr__(form, name, value)


def _centred(X: ArrayLike, centre: Floats, columns: tuple[str, ...]) -> Floats:
    """Rows less the centre; the rows must have the coordinates of the form and no others."""
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != len(centre):
        wanted = f"the columns {list(columns)}" if columns else f"{len(centre)} columns"
        raise ValueError(f"expected rows of {wanted}, in this order; found an array of shape {rows.shape}")
    return np.asarray(rows - centre)
