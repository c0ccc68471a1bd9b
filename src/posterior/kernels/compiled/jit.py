"""How kernels are compiled, and the arithmetic they share.

Only the first process that ever needs a kernel, for some types, waits for the compiler: see `on_demand.py`,
and `kept.py` for what stays on disk.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from posterior.kernels.compiled.on_demand import Kernel

F = TypeVar("F", bound=Callable[..., Any])

# Types of what is only read, which may be in memory that nobody may write to.
ROWS, NUMBERS, CODES = (
    "Array(float64, 2, 'C', True)",
    "Array(float64, 1, 'C', True)",
    "Array(int64, 1, 'C', True)",
)
SINGLE_ROWS = "Array(float32, 2, 'C', True)"
# Numbers that a kernel may write to: a line, a table and several tables of them.
LINE, TABLE, STACK = "float64[::1]", "float64[:, ::1]", "float64[:, :, ::1]"
# Rows of any layout, and maybe read-only.
ANY_ROWS = "Array(float64, 2, 'A', True)"
# Sums keep their order, so that bits depend on the data alone; a·b + c may be one rounding instead of two.
IN_ORDER = frozenset({"contract", "nsz", "arcp"})
# Neither: the same bits wherever the code is compiled into.
EXACT: frozenset[str] = frozenset()
# Sums over rows of a tile that may be taken in any order, fixed when the kernel is compiled.
ANY_ORDER = frozenset({"contract", "nsz", "arcp", "reassoc"})
# Of functions that only compiled code calls, nothing is made for calls from Python and C.
INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def step(function: F) -> F:
    """A part of kernels, compiled with each that calls it, for the types it is called with; sums keep order.

    Flags must be stated: a function without any takes those of whoever calls it first.
    """
    part: F = numba.njit(error_model="numpy", fastmath=set(IN_ORDER), **INNER)(function)
    return part


def kernel(
    *signatures: str, fastmath: frozenset[str] = IN_ORDER, inner: bool = False, own: tuple[str, ...] = ()
) -> Callable[[F], F]:
    """Compile a function for these types, each when it is first called with it, and keep that on disk.

    It runs on one thread, without the interpreter lock. An inner one is called by compiled code only. Where
    threads share out the work of a call, each has its `own` arrays of these names.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": set(fastmath)}
    options |= INNER if inner else {"no_cfunc_wrapper": True}

    def compiled(function: F) -> F:
        return cast("F", Kernel(function, signatures, options, own))

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
LOWEST = -708.39


@numba.njit(fastmath={"contract"})  # type: ignore[untyped-decorator]  # numba has no types
def exp(x: float) -> float:
    """The exponential of x ≤ 0 to 2 units in the last place; below −708.39 as there, about 2e-308.

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


@numba.njit(fastmath={"contract"})  # type: ignore[untyped-decorator]  # numba has no types
def deviation(x: float, pivot: float, remainder: float) -> float:
    """Take a location in two parts off x, in this order even in kernels that may reorder sums."""
    return (x - pivot) - remainder
