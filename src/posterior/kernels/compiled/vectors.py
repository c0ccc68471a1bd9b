"""Steps of several doubles in a register, for sums too short for the compiler to make any of its own.

Each takes the addresses of as many doubles as it is wide, and adds to what lies at the last ones.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

DOUBLE = ir.DoubleType()
ALIGNED = 8
FUSED = ("contract",)  # a·b + c may be one rounding, as in the loops beside these steps


def _add(builder: Any, x: Any, pointers: list[Any]) -> None:
    """Add deviations of x from the pivots, and their squares: pivot, sum, sum of squares."""
    pivot, first, second = (builder.load(p, align=ALIGNED) for p in pointers)
    v = builder.fsub(x, pivot)
    builder.store(builder.fadd(first, v), pointers[1], align=ALIGNED)
    square = builder.fmul(v, v, flags=FUSED)
    builder.store(builder.fadd(second, square, flags=FUSED), pointers[2], align=ALIGNED)


def _step(width: int) -> Any:
    """The type and the code of a step of four addresses."""
    vector = ir.VectorType(DOUBLE, width)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, *sums = (builder.inttoptr(address, vector.as_pointer()) for address in arguments)
        _add(builder, builder.load(x, align=ALIGNED), sums)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def add_8_moments(typing_context: Any, x: Any, pivot: Any, first: Any, second: Any) -> Any:
    """Add 8 deviations and their squares."""
    return _step(8)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def add_4_moments(typing_context: Any, x: Any, pivot: Any, first: Any, second: Any) -> Any:
    """Add 4 deviations and their squares."""
    return _step(4)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def add_apart(typing_context: Any, a: Any, b: Any, c: Any, d: Any, sums: Any) -> Any:
    """Add 4 deviations and their squares, of doubles that lie apart; at `sums`: pivots, sums and squares."""
    vector = ir.VectorType(DOUBLE, 4)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x = ir.Constant(vector, ir.Undefined)
        for lane, address in enumerate(arguments[:4]):
            number = builder.load(builder.inttoptr(address, DOUBLE.as_pointer()), align=ALIGNED)
            x = builder.insert_element(x, number, ir.Constant(ir.IntType(32), lane))
        first = builder.inttoptr(arguments[4], vector.as_pointer())
        pointers = [builder.gep(first, [ir.Constant(ir.IntType(64), i)]) for i in range(3)]
        _add(builder, x, pointers)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), generate
