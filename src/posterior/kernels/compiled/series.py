"""Arithmetic of losses: an exponential that vanishes, a logarithm that runs along rows, an exact sum."""

import numba

from posterior._types import Floats
from posterior.kernels.compiled.jit import LN2_HIGH, LN2_LOW, LOWEST, _bits, _double, exp

# Numbers whose sum is several sums, side by side.
LANES = 8

# The bits of √½, at which mantissas are cut: what is left of a number lies in [√½, √2).
ROOT_HALF = 0x3FE6A09E667F3BCD


@numba.njit(fastmath={"contract"})  # type: ignore[untyped-decorator]  # numba has no types
def share(x: float) -> float:
    """The exponential of x ≤ 0, zero below −708.5; NaN stays NaN."""
    return 0.0 if x <= LOWEST else float(exp(x))


# Flags must be stated: a function without any takes those of whoever calls it first.
@numba.njit(fastmath={"contract"})  # type: ignore[untyped-decorator]  # numba has no types
def add_up(total: Floats, part: float) -> None:
    """Add to total[0]; what is lost to rounding is kept in total[1] (Knuth's two-sum)."""
    before = total[0]
    after = before + part
    moved = after - before
    total[1] += (before - (after - moved)) + (part - moved)
    total[0] = after


@numba.njit(fastmath={"contract"})  # type: ignore[untyped-decorator]  # numba has no types
def log1p(x: float) -> float:
    """ln(1 + x) of x ≥ 0 to 2 units in the last place, however small x is.

    1 + x = 2ᵏ(1 + f); ln(1 + f) = 2 artanh s with s = f/(2 + f), |s| ≤ 0.172, an odd series up to s²³. What
    1 + x lost to rounding is put back.
    """
    u = 1.0 + x
    lost = (x - (u - 1.0)) / u
    k = (_bits(u) - ROOT_HALF) >> 52
    f = _double(_bits(u) - (k << 52)) - 1.0
    s = f / (2.0 + f)
    z = s * s
    p = 2.0 / 23.0
    p = p * z + 2.0 / 21.0
    p = p * z + 2.0 / 19.0
    p = p * z + 2.0 / 17.0
    p = p * z + 2.0 / 15.0
    p = p * z + 2.0 / 13.0
    p = p * z + 2.0 / 11.0
    p = p * z + 2.0 / 9.0
    p = p * z + 2.0 / 7.0
    p = p * z + 2.0 / 5.0
    p = p * z + 2.0 / 3.0
    small = float(k) * LN2_LOW + lost
    return float(float(k) * LN2_HIGH + (f - (s * (f - z * p) - small)))


@numba.njit(fastmath={"contract"})  # type: ignore[untyped-decorator]  # numba has no types
def sum_of_tile(numbers: Floats) -> float:
    """The sum of a multiple of eight numbers: every eighth of them, then halves of the eight sums."""
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for r in range(0, len(numbers), LANES):
        a += numbers[r]
        b += numbers[r + 1]
        c += numbers[r + 2]
        d += numbers[r + 3]
        e += numbers[r + 4]
        f += numbers[r + 5]
        g += numbers[r + 6]
        h += numbers[r + 7]
    return float(((a + e) + (c + g)) + ((b + f) + (d + h)))
