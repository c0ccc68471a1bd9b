"""Logarithms that keep their digits: ln(1+x), ln Γ(x), and deviations whose squares do not vanish."""

import numpy as np
from scipy.special import gammaln

from posterior.sql.expressions import (
    Expression,
    add,
    as_whole,
    below,
    case,
    element,
    equal,
    log,
    number,
    ratio,
    size,
    subtract,
    times,
    total,
    whole,
)
from posterior.sql.steps import Steps

# Standard scores below it are 0: PostgreSQL refuses products that vanish.
TINY = 1e-100
# Differences from a number are 0 or at least this share of it.
ROUNDING = 1e-17
# Whole numbers below it are looked up, and Stirling's series is exact from it on.
MANY = 16
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)
SHIFT = 8


def deviation(steps: Steps, x: Expression, pivot: float, remainder: float, scale: float) -> Expression:
    """(x − pivot − remainder) / scale, named; 0 where it is so small that its square would vanish."""
    apart = subtract(x, number(pivot)) if pivot else x
    if remainder:
        apart = subtract(apart, number(remainder))
    scaled = times(apart, number(1 / scale)) if scale != 1 else apart
    # What two differences leave is 0 or no smaller than this.
    least = min((abs(part) for part in (pivot, remainder) if part), default=0.0) * ROUNDING**2
    if least >= TINY * scale:
        return steps.let("z", scaled)
    named = steps.let("d", apart)
    # Not the quotient, which may vanish itself.
    small = below(size(named), number(TINY * scale))
    kept = times(named, number(1 / scale)) if scale != 1 else named
    return steps.let("z", case((small, number(0.0)), otherwise=kept))


def log_one_plus(steps: Steps, x: Expression) -> Expression:
    """ln(1 + x) to the last digits where x is small (Kahan), of a named x."""
    more = steps.let("p", add(number(1.0), x))
    kept = times(log(more), ratio(x, subtract(more, number(1.0))))
    return case((equal(more, number(1.0)), x), otherwise=kept)


def log_gamma(steps: Steps, y: Expression) -> Expression:
    """Ln Γ(y) of a named y ≥ 1: Stirling's series, from 9 on; smaller ones are moved up by 8."""
    is_small = below(y, number(9.0))
    z = steps.let("g", case((is_small, add(y, number(SHIFT))), otherwise=y))
    product: Expression = y
    for i in range(1, SHIFT):
        product = times(product, add(y, number(i)))
    moved = case((is_small, log(product)), otherwise=number(0.0))
    main = subtract(times(subtract(z, number(0.5)), log(z)), z)
    return total([main, number(0.5 * np.log(2 * np.pi)), _rest(steps, z), times(number(-1.0), moved)])


def _rest(steps: Steps, z: Expression) -> Expression:
    """What Stirling's formula lacks of ln Γ(z), for z ≥ 9."""
    inverse = steps.let("v", ratio(number(1.0), z))
    squared = steps.let("w", times(inverse, inverse))
    series: Expression = number(STIRLING[-1])
    for term in STIRLING[-2::-1]:
        series = add(number(term), times(squared, series))
    return times(inverse, series)


def stirling_from(steps: Steps, count: Expression, more: float) -> Expression:
    """A ln a − a − ln Γ(a) of a = count + more > 0, for a named whole count."""
    a = count if more == 0 else steps.let("a", add(count, number(more)))
    places = np.arange(MANY) + more
    known = np.where(places > 0, places, 1.0)
    table = known * np.log(known) - known - gammaln(known)
    few = below(count, number(MANY))
    place = steps.let("i", case((few, add(as_whole(count), whole(1)))))
    large = subtract(times(number(0.5), log(times(a, number(1 / (2 * np.pi))))), _rest(steps, a))
    return case((few, element(table.tolist(), place)), otherwise=large)
