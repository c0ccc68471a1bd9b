"""Minimising a quadratic plus a cost for every absolute value, one coordinate at a time."""

from dataclasses import dataclass, field

import numpy as np

from posterior._linalg import EPSILON
from posterior._types import Floats, Ints
from posterior.linear.solvers.newton import factored, newton_step

# Sweeps over the coordinates before the signs they settled on are tried at once, and how often both are done.
SWEEPS = 4
ROUNDS = 100
POLISHES = 20
PER_SWEEP = 50


def shortest_subgradient(x: Floats, gradient: Floats, cost: Floats) -> Floats:
    """The shortest subgradient of smooth(x) + Σ cost|x|: zero exactly where x is a minimum.

    >>> shortest_subgradient(np.array([0.0, 0.0, 2.0]), np.array([0.5, 3.0, -1.0]), np.ones(3))
    array([0., 2., 0.])
    """
    beyond = np.sign(gradient) * np.maximum(np.abs(gradient) - cost, 0.0)
    return np.asarray(np.where(x == 0, beyond, gradient + cost * np.sign(x)))


@dataclass(frozen=True, eq=False)
class KinkedQuadratic:
    """g'(x − start) + ½ (x − start)'H(x − start) + Σ cost|x|, H positive semi-definite.

    `flats` are groups of coordinates, (G, K), of equal cost each: a number added to all of a group changes
    nothing but the costs and the `ridge`, the part of H that Σ ½ ridge x² makes.

    >>> H = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> model = KinkedQuadratic(H, np.array([-3.0, -1.2]), np.zeros(2), np.ones(2))
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
        """Where no element of the shortest subgradient exceeds `tol`.

        Coordinate descent (Friedman, Hastie & Tibshirani, 2010) finds which coordinates are zero; where
        columns are correlated it is slow to find the others, so after some sweeps those are solved for
        together.
        """
        tol = max(tol, 8 * EPSILON * float(np.abs(self.gradient).max(initial=0.0)))
        x = self.start.copy()
        slope = self.gradient.copy()
        for _ in range(ROUNDS):
            for _ in range(max(SWEEPS, np.count_nonzero(x) // PER_SWEEP)):
                self._sweep(x, slope)
                if self._left(x, slope) <= tol:
                    break
            self._shift(x)
            slope = self._slope(x)
            if self._left(x, slope) <= tol:
                break
            x = self._polished(x)
            slope = self._slope(x)
            if self._left(x, slope) <= tol:
                break
        return x

    def _left(self, x: Floats, slope: Floats) -> float:
        return float(np.abs(shortest_subgradient(x, slope, self.cost)).max(initial=0.0))

    def _polished(self, x: Floats) -> Floats:
        """Newton steps until none is cut short by a change of sign."""
        for _ in range(POLISHES):
            there, whole = self._with_these_signs(x, self._slope(x))
            self._shift(there)
            if whole or (there == x).all():
                return there
            x = there
        return x

    def _slope(self, x: Floats) -> Floats:
        return np.asarray(self.gradient + self.hessian @ (x - self.start))

    def _shift(self, x: Floats) -> None:
        """Each group to where it costs least, in place: down by the median, or by that formula of a median which
        minimises Σ|x − c| plus a square (Li & Osher, 2009). Coordinate descent alone would creep there."""
        K = self.flats.shape[1]
        for group in self.flats:
            values = np.sort(x[group])
            cost, ridge = self.cost[group[0]], self.ridge[group[0]]
            if ridge > 0:
                pulls = values.mean() + cost / ridge * (1.0 - 2.0 * np.arange(K + 1) / K)
                x[group] -= np.median(np.concatenate([values, pulls]))
            else:
                x[group] -= min(values[(K - 1) // 2], values[K // 2], key=abs)

    def _sweep(self, x: Floats, slope: Floats) -> None:
        """Each coordinate to its own minimum, in place: a soft threshold. Those at rest at zero are passed over."""
        diagonal = np.diagonal(self.hessian)
        moving = ((x != 0) | (np.abs(slope) > self.cost)) & (diagonal > 0)
        for i in np.flatnonzero(moving).tolist():
            bend, cost, old = float(diagonal[i]), float(self.cost[i]), float(x[i])
            aim = bend * old - float(slope[i])
            new = 0.0 if abs(aim) <= cost else (aim - cost if aim > 0 else aim + cost) / bend
            if new != old:
                x[i] = new
                slope += (new - old) * self.hessian[i]

    def _with_these_signs(self, x: Floats, slope: Floats) -> tuple[Floats, bool]:
        """A Newton step of the coordinates that are not zero, and whether it was taken whole.

        Those that would change sign become zero; if that does more harm than good, the step ends where the
        first of them reaches zero.
        """
        use = np.flatnonzero(((x != 0) | (self.cost == 0)) & (np.diagonal(self.hessian) > 0))
        if not len(use):
            return x, True
        H, here, cost = self.hessian[np.ix_(use, use)], x[use], self.cost[use]
        pull = slope[use] + cost * np.sign(here)
        step = newton_step(factored(H), pull)
        whole = here + step
        crossing = (cost > 0) & (np.sign(whole) != np.sign(here))
        tries = [np.where(crossing, 0.0, whole)]
        if crossing.any():
            share = np.where(crossing, -here, np.inf) / np.where(crossing, step, 1.0)
            first = int(np.argmin(share))
            tries.append(here + share[first] * step)
            tries[1][first] = 0.0

        def rise(there: Floats) -> float:
            move = there - here
            kinks = cost @ (np.abs(there) - np.abs(here))
            return float(slope[use] @ move + 0.5 * move @ (H @ move) + kinks)

        best = min(tries, key=rise)
        if crossing.any() and rise(best) > 0:
            return x, True
        out = x.copy()
        out[use] = best
        return out, not crossing.any()
