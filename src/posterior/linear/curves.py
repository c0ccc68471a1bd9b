"""Smooth functions of one number, of which a curve is a weighted sum.

A number x first becomes its position u, the share of the rows below it (values that are few are spread evenly
instead), by a smooth rising function through the knots (Fritsch & Carlson, 1980): a curve then bends as
freely where rows are many as where they are few, and units do not matter. Curves are natural cubic splines in
u, with a Gaussian prior that makes values at near positions alike; what is a straight line in x is taken out
of the prior, because the column itself is there for it. The principal functions of that prior, few of them,
have independent coefficients of variance 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np
from scipy.interpolate import CubicSpline, pchip_interpolate
from scipy.linalg import LinAlgError

from posterior._types import Floats, Ints
from posterior.kernels.choice import compiled

# Positions of the knots: close to the ends, where few rows are, as well as in the middle.
POSITIONS = (0.0, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.0)
# How far apart positions are whose values have hardly to do with each other.
LENGTH = 0.25
# Principal functions at most, and the share of the first one's variance below which one is not worth keeping.
MOST_FUNCTIONS, LEAST_SHARE = 5, 1e-4
# Knots closer together than this share of the span are one.
TOGETHER = 1e-10
# Positions spread at least so far, even where nearly all weight is at one place.
LEAST_SPREAD = 1e-3


@dataclass(frozen=True, eq=False)
class Curve:
    """The position of a number, and q functions of it.

    At the m `knots` positions are `places`, with slope `slopes`; the functions have the values `heights` (m,
    q) there, and the second derivatives `bends` with respect to the position. Beyond the knots all are
    straight lines. `middle` and `spread` are the mean and the standard deviation of the rows' positions.
    """

    knots: Annotated[Floats, "m value"]
    places: Annotated[Floats, "m any"]
    slopes: Annotated[Floats, "m any"]
    heights: Annotated[Floats, "m q any"]
    bends: Annotated[Floats, "m q any"]
    middle: float = 0.5
    spread: float = 1.0

    @classmethod
    def learnt(cls, values: Floats, weight: Floats) -> "Curve":
        """The curve of numbers without gaps, whose weights are not zero.

        >>> curve = Curve.learnt(np.array([1.0, 2.0, 2.0, 8.0]), np.ones(4))
        >>> curve.position(np.array([1.0, 2.0, 8.0]))
        array([0. , 0.5, 1. ])
        """
        order = np.argsort(values, kind="stable")
        ordered, share = values[order], np.cumsum(weight[order]) / weight.sum()
        knots = _knots(ordered, share)
        if len(knots) < 2:
            flat = np.zeros((len(knots), 0))
            return cls(knots, np.full(len(knots), 0.5), np.zeros(len(knots)), flat, flat)
        places = _places(ordered, share, knots)
        span = knots[-1] - knots[0]
        even = (knots - knots[0]) / span
        slopes = np.maximum(pchip_interpolate(even, places, even, der=1), 0.0) / span
        line = cls(knots, places, slopes, np.zeros((len(knots), 0)), np.zeros((len(knots), 0)))
        positions = line.position(values)
        mean = float(np.average(positions, weights=weight))
        spread = float(np.sqrt(np.average((positions - mean) ** 2, weights=weight)))
        line = replace(line, middle=mean, spread=max(spread, LEAST_SPREAD))
        return line._with_functions(values, weight) if len(knots) > 2 else line

    def impossible(self) -> str:
        """What no curve is, in words; empty if all is well."""
        if len(self.knots) > 1 and not ((np.diff(self.knots) > 0).all() and (np.diff(self.places) > 0).all()):
            return "knots of a curve that do not rise"
        if not (self.slopes >= 0).all():
            return "positions that fall"
        return "" if 0 < self.spread < np.inf and np.isfinite(self.middle) else "positions without spread"

    @property
    def n_functions(self) -> int:
        """How many functions there are."""
        return int(self.heights.shape[1])

    @property
    def flat(self) -> bool:
        """Whether training showed one value only, so that there are no positions to tell apart."""
        return len(self.knots) < 2

    def position(self, x: Floats) -> Floats:
        """The position of numbers: 0 at the first knot, 1 at the last, straight on beyond."""
        if self.flat:
            return np.full(x.shape, 0.5)
        return self._position(x, self._interval(x))

    def functions(self, x: Floats) -> Floats:
        """The functions of numbers without gaps, (n, q)."""
        if not self.n_functions:
            return np.zeros((len(x), 0))
        fast = compiled("curves", len(x) * self.n_functions, len(x))
        if fast is not None:
            found = np.empty((len(x), self.n_functions))
            fast.write_functions(x[:, None], *packed([self]), found)
            return found
        at = self._interval(x)
        u = self._position(x, at)
        width = np.diff(self.places)[at]
        inside = np.clip(u, self.places[0], self.places[-1])
        right = (inside - self.places[at]) / width
        left = 1.0 - right
        out = left[:, None] * self.heights[at] + right[:, None] * self.heights[at + 1]
        out += (width**2 / 6 * (left**3 - left))[:, None] * self.bends[at]
        out += (width**2 / 6 * (right**3 - right))[:, None] * self.bends[at + 1]
        beyond = np.flatnonzero(u != inside)
        if len(beyond):
            steep = np.where(u[beyond, None] < 0.5, self._end_slopes[0], self._end_slopes[1])
            out[beyond] += (u - inside)[beyond, None] * steep
        return np.asarray(out)

    def _interval(self, x: Floats) -> Ints:
        """Between which knots a number lies, by the place of the first; the last two for what is beyond."""
        return np.searchsorted(self.knots[1:-1], x, side="right")

    def _position(self, x: Floats, at: Ints) -> Floats:
        width, rise = np.diff(self.knots)[at], np.diff(self.places)[at]
        inside = np.clip(x, self.knots[0], self.knots[-1])
        t = (inside - self.knots[at]) / width
        first, last = self.slopes[at] * width, self.slopes[at + 1] * width
        u = self.places[at] + t * (first + t * (3 * rise - 2 * first - last + t * (first + last - 2 * rise)))
        with np.errstate(over="ignore", invalid="ignore"):  # scores that are not finite are refused
            return np.asarray(u + (x - inside) * np.where(x < inside, self.slopes[0], self.slopes[-1]))

    @cached_property
    def _end_slopes(self) -> tuple[Floats, Floats]:
        """The slopes of the functions by position at both ends."""
        first, last = np.diff(self.places)[[0, -1]]
        rise = np.diff(self.heights, axis=0)
        return (
            rise[0] / first - first / 6 * (2 * self.bends[0] + self.bends[1]),
            rise[-1] / last + last / 6 * (self.bends[-2] + 2 * self.bends[-1]),
        )

    def _with_heights(self, heights: Floats) -> "Curve":
        """The natural cubic splines through these heights at the knots."""
        bends = CubicSpline(self.places, heights, bc_type="natural")(self.places, 2)
        return replace(self, heights=heights, bends=np.asarray(bends))

    def _with_functions(self, values: Floats, weight: Floats) -> "Curve":
        """The principal functions of the prior in these rows, scaled so that together they have variance 1.

        The prior of the heights is a Gaussian process that knows nothing of the mean and of straight lines in
        x: it is conditioned on being uncorrelated with both in the rows.
        """
        m, share = len(self.knots), weight / weight.sum()
        prior = np.exp(-0.5 * ((self.places[:, None] - self.places) / LENGTH) ** 2)
        hats = self._with_heights(np.eye(m)).functions(values)
        mean = share @ values
        spread = np.sqrt(share @ (values - mean) ** 2)
        lines = np.column_stack([np.ones(len(values)), (values - mean) / (spread or 1.0)])
        gram, along = hats.T @ (hats * share[:, None]), hats.T @ (lines * share[:, None])
        carried = prior @ along
        prior = prior - carried @ np.linalg.pinv(along.T @ carried, hermitian=True) @ carried.T
        try:
            root = np.linalg.cholesky(gram + 1e-10 * np.trace(gram) * np.eye(m))
        except LinAlgError:  # the rows do not tell the knots apart
            return self
        variance, turn = np.linalg.eigh(root.T @ prior @ root)
        best = np.argsort(-variance)[:MOST_FUNCTIONS]
        best = best[variance[best] > LEAST_SHARE * variance[best[0]]]
        if not variance[best].sum() > 1e-12:  # three values or fewer may leave nothing but a line
            return self
        scale = np.sqrt(variance[best] / variance[best].sum())
        heights = np.linalg.solve(root.T, turn[:, best] * scale)
        # A function and its mirror image are the same one: the same rows give the same signs.
        signs = np.sign(heights[np.abs(heights).argmax(axis=0), np.arange(len(best))])
        return self._with_heights(heights * signs)


def packed(curves: Sequence[Curve]) -> tuple[Ints, Ints, Floats, Floats, Floats, Floats]:
    """Curves as compiled code reads them: as many knots (m) and functions (q) for all, with zeros behind.

    How many of both each has; the knots; for each interval its first knot, one over its width and the cubic
    of the share of its rise (d, m, 5); the cubics of the functions of that share (d, m, 4, q); and what a
    unit beyond either end adds to them (d, 2, q).
    """
    n_knots = np.array([len(curve.knots) for curve in curves], dtype=np.int64)
    n_functions = np.array([curve.n_functions for curve in curves], dtype=np.int64)
    d, m, q = len(curves), int(n_knots.max(initial=0)), int(n_functions.max(initial=0))
    knots, shares, cubics, beyond = (
        np.zeros(shape) for shape in ((d, m), (d, m, 5), (d, m, 4, q), (d, 2, q))
    )
    for j, curve in enumerate(curves):
        knots[j, : n_knots[j]] = curve.knots
        if not n_functions[j]:
            continue
        own, to = slice(0, n_knots[j] - 1), slice(0, n_functions[j])
        width, rise = np.diff(curve.knots), np.diff(curve.places)
        a, b = curve.slopes[:-1] * width / rise, curve.slopes[1:] * width / rise
        shares[j, own] = np.column_stack([curve.knots[:-1], 1 / width, a, 3 - 2 * a - b, a + b - 2])
        bends = curve.bends[:-1] * rise[:, None] ** 2 / 6, curve.bends[1:] * rise[:, None] ** 2 / 6
        up = np.diff(curve.heights, axis=0)
        parts = curve.heights[:-1], up - 2 * bends[0] - bends[1], 3 * bends[0], bends[1] - bends[0]
        cubics[j, own, :, to] = np.stack(parts, axis=1)
        first, last = curve._end_slopes
        beyond[j, :, to] = first * curve.slopes[0], last * curve.slopes[-1]
    return n_knots, n_functions, knots, shares, cubics, beyond


def _knots(ordered: Floats, share: Floats) -> Floats:
    """The values where knots are: all if they are few, else those at the usual positions."""
    distinct = _apart(_distinct(ordered))
    if len(distinct) <= len(POSITIONS):
        return distinct
    # The last position is that of the last value, whatever rounding makes of the sum of the weights.
    places = np.minimum(
        np.searchsorted(share, np.array(POSITIONS) * share[-1] * (1 - 1e-12)), len(ordered) - 1
    )
    return _apart(_distinct(ordered[places]))


def _distinct(ordered: Floats) -> Floats:
    """The values of numbers in their order, each once."""
    return np.asarray(ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]])


def _apart(values: Floats) -> Floats:
    """The values without those that are next to another one, beside how far all are spread."""
    if len(values) < 3:
        return values
    gaps = np.diff(values / 2)  # the largest numbers are too far apart for a difference
    kept = gaps > TOGETHER * (values[-1] / 2 - values[0] / 2)
    return np.asarray(values[np.append(True, kept)])


def _places(ordered: Floats, share: Floats, knots: Floats) -> Floats:
    """The positions of the knots: shares of the rows, or evenly spread where every value is a knot."""
    if len(_distinct(ordered)) <= len(POSITIONS):
        return np.linspace(0.0, 1.0, len(knots))
    middle = (_below(ordered, share, knots, "left") + _below(ordered, share, knots, "right")) / 2
    return np.asarray((middle - middle[0]) / (middle[-1] - middle[0]))


def _below(ordered: Floats, share: Floats, values: Floats, side: str) -> Floats:
    """The share of the weight below values, or with "right" up to them."""
    places = np.searchsorted(ordered, values, side=side)  # type: ignore[call-overload]  # "left" or "right"
    return np.asarray(np.concatenate([[0.0], share])[places])
