"""How kernels are compiled, and the arithmetic they share.

The machine code is kept beside the source (or where `NUMBA_CACHE_DIR` says), so that only the first
process that ever needs a kernel waits for the compiler. A change of this file does not make the kernels of
other files stale by itself: `make clean` does.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])

# Sums keep their order, so that bits depend on the data alone; a·b + c may be one rounding instead of two.
IN_ORDER = frozenset({"contract", "nsz", "arcp"})
# Sums over rows of a tile that may be taken in any order, fixed when the kernel is compiled.
ANY_ORDER = frozenset({"contract", "nsz", "arcp", "reassoc"})


def kernel(*signatures: str, fastmath: frozenset[str] = IN_ORDER) -> Callable[[F], F]:
    """Compile a function for these types: on one thread, without the interpreter lock, kept on disk."""

    def compiled(function: F) -> F:
        options: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy"}
        wanted = list(signatures)
        fast: F = numba.njit(wanted, fastmath=set(fastmath), **options)(function)
        return fast

    return compiled


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def _bits(typing_context: Any, value: Any) -> Any:
    """The bits of a double as a whole number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def _double(typing_context: Any, bits: Any) -> Any:
    """The double with these bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


# ln 2 in two parts, the first with enough zeros at its end for products with whole numbers to be exact.
LN2_HIGH, LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
LOG2_E = 1.4426950408889634
ROUNDER = 6755399441055744.0  # 1.5·2⁵²: adding it rounds to a whole number, in the low bits of the sum
LOWEST = -708.5


@numba.njit(fastmath={"contract"})  # type: ignore[untyped-decorator]  # numba has no types
def exp(x: float) -> float:
    """The exponential of x ≤ 0 to 2 units in the last place; below −708.5 as at −708.5, about 1e-308.

    x = k ln 2 + r with |r| ≤ ½ ln 2; Taylor's polynomial of degree 12 for r, and k into the exponent.
    """
    x = max(x, LOWEST)
    shifted = x * LOG2_E + ROUNDER
    k = shifted - ROUNDER
    r = x - k * LN2_HIGH
    r = r - k * LN2_LOW
    p = 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 0.0001984126984126984
    p = p * r + 0.001388888888888889
    p = p * r + 0.008333333333333333
    p = p * r + 0.041666666666666664
    p = p * r + 0.16666666666666666
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return float(_double(_bits(p) + (_bits(shifted) << 52)))
