"""Newton's method for a convex function of a few parameters between bounds."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from posterior._types import Bools, Floats

# Directions along which the curvature is this small, beside that of single parameters, are flat.
FLAT = 1e-12
# A curvature of so small a part of a row is none.
NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class Derivatives:
    """Value, gradient and Hessian of a function at a point; curvatures up to `rounding` are zero."""

    value: float
    gradient: Floats
    hessian: Floats
    rounding: Floats

    def inverse_root(self, free: Bools) -> Floats:
        """R with R Rᵀ the inverse of the Hessian of some parameters, a column for each direction not flat."""
        kept = free & (np.diag(self.hessian) > self.rounding)
        part = self.hessian[np.ix_(kept, kept)]
        scale = np.sqrt(np.diag(part))
        values, vectors = np.linalg.eigh(part / scale[:, None] / scale)
        steep = values > FLAT
        root = np.zeros((len(free), int(steep.sum())))
        root[kept] = vectors[:, steep] / np.sqrt(values[steep]) / scale[:, None]
        return root

    def rank(self, unit: Floats) -> int:
        """How many parameters make a difference, if changed by these units."""
        scale = np.where(np.diag(self.hessian) > self.rounding, unit, 0.0)
        return int((np.linalg.eigvalsh(scale[:, None] * self.hessian * scale) > NOTHING).sum())


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where a function is least; `rank` of its parameters made a difference at the start.

    It does not exist where the function falls for ever, ever less: then `at` is somewhere on the way.
    """

    at: Floats
    exists: bool
    rank: int


def minimize(
    function: Callable[[Floats], Derivatives],
    start: Floats,
    low: Floats,
    high: Floats,
    max_iter: int = 200,
    *,
    relative: float = 0.0,
) -> Minimum:
    """Newton's method with halved steps, holding the parameters that have come to a bound (Bertsekas 1982).

    It ends when a step promises to gain less than 1e-22, or `relative` times the value of the function.

    The function is a sum over rows, so that curvatures are in units of rows. It is taken to fall for ever
    when a parameter that made a difference at the start makes none in the end, or is at its upper bound.
    """
    at, here = start, function(start)
    unit = _unit(start, low)
    rank = here.rank(unit)
    for _ in range(max_iter):
        step = _step(at, here, low, high)
        gain = -float(here.gradient @ step)
        tried = _line_search(function, at, here, step, low, high) if gain > 0 else None
        if tried is not None:
            at, here = tried
        if gain < 1e-8 and (here.rank(unit) < rank or (at >= high).any()):
            return Minimum(at, False, rank)
        if tried is None or gain < max(1e-22, relative * abs(here.value)):
            return Minimum(at, True, rank)
    return Minimum(at, False, rank)


def _unit(at: Floats, low: Floats) -> Floats:
    """Parameters with a bound are positive, and doubling is to them what adding 1 is to the others."""
    return np.where(np.isfinite(low), np.abs(at), 1.0)


def _step(at: Floats, here: Derivatives, low: Floats, high: Floats) -> Floats:
    """Newton's step over the parameters that are not held at a bound."""
    free = ~(((at <= low) & (here.gradient > 0)) | ((at >= high) & (here.gradient < 0)))
    while True:
        root = here.inverse_root(free)
        step = np.asarray(-root @ (root.T @ here.gradient))
        outward = ((at <= low) & (step < 0)) | ((at >= high) & (step > 0))
        if not outward.any():
            return step
        free &= ~outward


def _line_search(
    function: Callable[[Floats], Derivatives],
    at: Floats,
    here: Derivatives,
    step: Floats,
    low: Floats,
    high: Floats,
) -> tuple[Floats, Derivatives] | None:
    """The first of ever shorter steps that gains enough (Armijo 1966); None where only rounding is left.

    The longest ends at the first bound on its way.
    """
    bound = np.where(step < 0, low, high)
    length = np.divide(bound - at, step, where=step != 0, out=np.full(len(step), np.inf))
    longest = min(1.0, float(length.min(initial=np.inf)))
    for halvings in range(60):
        there = at + longest * 0.5**halvings * step
        if halvings == 0:
            there = np.where(length <= longest, bound, there)
        found = function(there)
        if found.value <= here.value + 1e-4 * here.gradient @ (there - at) + 1e-14 * abs(here.value):
            return there, found
    return None
