"""Coordinate descent on a quadratic plus an l1 penalty."""

from dataclasses import dataclass, field

import numpy as np

from posterior._blas import one_blas_thread
from posterior._linalg import EPSILON
from posterior._types import Floats, Ints
from posterior.linear.solvers.newton import cholesky_factor, newton_step

# Sweeps over the coordinates before those that are not zero are solved for together: at least SWEEPS, and one
# for every PER_SWEEP of them, which makes both cost about the same.
SWEEPS = 4
PER_SWEEP = 50
# How often such a solution may be cut short by a change of sign, and how often all is done.
POLISHES = 20
ROUNDS = 100


def shortest_subgradient(x: Floats, gradient: Floats, cost: Floats) -> Floats:
    """The shortest subgradient of smooth(x) + Σ cost|x|: zero exactly where x is a minimum.

    >>> shortest_subgradient(np.array([0.0, 0.0, 2.0]), np.array([0.5, 3.0, -1.0]), np.ones(3))
    array([0., 2., 0.])
    """
    beyond = np.sign(gradient) * np.maximum(np.abs(gradient) - cost, 0.0)
    return np.asarray(np.where(x == 0, beyond, gradient + cost * np.sign(x)))


@dataclass(frozen=True, eq=False)
class L1Quadratic:
    """g'(x − start) + ½ (x − start)'H(x − start) + Σ cost|x|, H positive semi-definite.

    `flats` are groups of coordinates, (G, K), equal in cost and `ridge`: a number added to all of a group
    changes only Σ cost|x| and Σ ½ ridge x², the latter being part of the quadratic.

    >>> H = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> model = L1Quadratic(H, np.array([-3.0, -1.2]), np.zeros(2), np.ones(2))
    >>> model.minimum(1e-12)
    array([1., 0.])
    """

    hessian: Floats
    gradient: Floats
    start: Floats
    cost: Floats
    ridge: Floats = field(default_factory=lambda: np.zeros(0))
    flats: Ints = field(default_factory=lambda: np.zeros((0, 1), dtype=np.int64))

    def minimum(self, tol: float) -> Floats:
        """Where no element of the shortest subgradient exceeds `tol`, or what rounding makes of it.

        Coordinate descent (Friedman, Hastie & Tibshirani, 2010) soon finds which coordinates are zero. Where
        columns are correlated it is slow to find the others, so these are then solved for together.
        """
        tol = max(tol, 8 * EPSILON * float(np.abs(self.gradient).max(initial=0.0)))
        x = self.start.copy()
        with one_blas_thread:  # many small factorisations
            for _ in range(ROUNDS):
                before, x = x, self._round(x, tol)
                still = np.abs(x - before).max(initial=0.0) <= 4 * EPSILON * np.abs(x).max(initial=0.0)
                if still or self._left(x, self._slope(x)) <= tol:
                    break
        return x

    def _round(self, x: Floats, tol: float) -> Floats:
        x, slope = x.copy(), self._slope(x)
        self._descend(x, slope, tol)
        self._shift(x)
        return x if self._left(x, self._slope(x)) <= tol else self._polished(x)

    def _slope(self, x: Floats) -> Floats:
        return np.asarray(self.gradient + self.hessian @ (x - self.start))

    def _left(self, x: Floats, slope: Floats) -> float:
        return float(np.abs(shortest_subgradient(x, slope, self.cost)).max(initial=0.0))

    # -- one coordinate at a time -----------------------------------------------------------------

    def _descend(self, x: Floats, slope: Floats, tol: float) -> None:
        """Some sweeps, in place."""
        for _ in range(max(SWEEPS, int(np.count_nonzero(x)) // PER_SWEEP)):
            self._sweep(x, slope)
            if self._left(x, slope) <= tol:
                break

    def _sweep(self, x: Floats, slope: Floats) -> None:
        """Each coordinate to its own minimum, a soft threshold, in place; zeros that stay so are skipped."""
        diagonal = np.diagonal(self.hessian)
        moving = ((x != 0) | (np.abs(slope) > self.cost)) & (diagonal > 0)
        for i in np.flatnonzero(moving).tolist():
            bend, cost, old = float(diagonal[i]), float(self.cost[i]), float(x[i])
            aim = bend * old - float(slope[i])
            new = 0.0 if abs(aim) <= cost else (aim - cost if aim > 0 else aim + cost) / bend
            if new != old:
                x[i] = new
                slope += (new - old) * self.hessian[i]

    # -- many at once -----------------------------------------------------------------------------

    def _shift(self, x: Floats) -> None:
        """Each group of `flats` to where it costs least, in place; coordinate descent would take many sweeps.

        It moves by its median, or by the median that minimises Σ|x − c| plus a square (Li & Osher, 2009).
        """
        if not len(self.flats):
            return
        values, first, K = np.sort(x[self.flats], axis=1), self.flats[:, :1], self.flats.shape[1]
        if (self.ridge[first] > 0).all():
            ratio = self.cost[first] / self.ridge[first]
            pulls = values.mean(axis=1, keepdims=True) + ratio * (1.0 - 2.0 * np.arange(K + 1) / K)
            middle = np.median(np.hstack([values, pulls]), axis=1)
        else:
            low, high = values[:, (K - 1) // 2], values[:, K // 2]
            middle = np.where(np.abs(low) <= np.abs(high), low, high)
        x[self.flats] -= middle[:, None]

    def _polished(self, x: Floats) -> Floats:
        """Newton steps with the signs held, until none is cut short by a change of sign."""
        for _ in range(POLISHES):
            there, whole = self._with_these_signs(x, self._slope(x))
            self._shift(there)
            if whole:
                return there
            x = there
        return x

    def _with_these_signs(self, x: Floats, slope: Floats) -> tuple[Floats, bool]:
        """A Newton step of the coordinates that are not zero, and whether it was taken whole.

        Those that would change sign become zero; where that does more harm than good, the step ends where the
        first of them reaches zero.
        """
        use = np.flatnonzero(((x != 0) | (self.cost == 0)) & (np.diagonal(self.hessian) > 0))
        H, here, cost = self.hessian[np.ix_(use, use)], x[use], self.cost[use]
        step = newton_step(cholesky_factor(H), slope[use] + cost * np.sign(here)) if len(use) else np.zeros(0)
        there = here + step
        crossing = (cost > 0) & (np.sign(there) != np.sign(here))
        if crossing.any():

            def rise(there: Floats) -> float:
                move = there - here
                kinks = cost @ (np.abs(there) - np.abs(here))
                return float(slope[use] @ move + 0.5 * move @ (H @ move) + kinks)

            share = np.where(crossing, -here, np.inf) / np.where(crossing, step, 1.0)
            first = int(np.argmin(share))
            short = here + share[first] * step
            short[first] = 0.0
            there = min(np.where(crossing, 0.0, there), short, key=rise)
        out = x.copy()
        out[use] = there
        return out, not crossing.any()
