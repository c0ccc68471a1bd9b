"""Lines of a table that are added up in the vector registers of a core.

Written in the compiler's own language: of plain loops it makes one addition after another, or a sum that
goes to memory and back for every line.
"""

from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from posterior._types import Floats, Ints

DOUBLE, WORD = ir.DoubleType(), ir.IntType(64)
BYTES = 8


def _sum_of_lines(width: int) -> Any:
    """The type and the code that write to `out` the sum of `count` lines of `width` doubles.

    The lines begin at byte offsets `places` in `table`.
    """
    vector = ir.VectorType(DOUBLE, width)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        table, places, count, out = arguments
        total, step = cgutils.alloca_once(builder, vector), cgutils.alloca_once(builder, WORD)
        builder.store(ir.Constant(vector, [0.0] * width), total)
        builder.store(ir.Constant(WORD, 0), step)
        head, body, end = (builder.append_basic_block(name) for name in ("head", "body", "end"))
        builder.branch(head)
        builder.position_at_end(head)
        i = builder.load(step)
        builder.cbranch(builder.icmp_unsigned("<", i, count), body, end)
        builder.position_at_end(body)
        place = builder.load(builder.gep(builder.inttoptr(places, WORD.as_pointer()), [i]))
        line = builder.load(builder.inttoptr(builder.add(table, place), vector.as_pointer()), align=BYTES)
        builder.store(builder.fadd(builder.load(total), line), total)
        builder.store(builder.add(i, ir.Constant(WORD, 1)), step)
        builder.branch(head)
        builder.position_at_end(end)
        builder.store(builder.load(total), builder.inttoptr(out, vector.as_pointer()), align=BYTES)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def sum_of_4(typing_context: Any, table: Any, places: Any, count: Any, out: Any) -> Any:
    """Write the sum of lines of 4 doubles."""
    return _sum_of_lines(4)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def sum_of_8(typing_context: Any, table: Any, places: Any, count: Any, out: Any) -> Any:
    """Write the sum of lines of 8 doubles."""
    return _sum_of_lines(8)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def sum_of_16(typing_context: Any, table: Any, places: Any, count: Any, out: Any) -> Any:
    """Write the sum of lines of 16 doubles."""
    return _sum_of_lines(16)


@numba.njit  # type: ignore[untyped-decorator]  # numba has no types
def add_sum_of_lines(table: Floats, place: Ints, total: Floats, out: Floats) -> None:
    """Add lines of a table (B, R, width), at these numbers of bytes, to a row: `width` classes at a time."""
    n_classes, width = len(out), table.shape[2]
    for block in range(table.shape[0]):
        lines = table[block].ctypes.data
        if width == 16:
            sum_of_16(lines, place.ctypes.data, len(place), total.ctypes.data)
        elif width == 8:
            sum_of_8(lines, place.ctypes.data, len(place), total.ctypes.data)
        else:
            sum_of_4(lines, place.ctypes.data, len(place), total.ctypes.data)
        first = width * block
        some = out[first:]
        for k in range(min(width, n_classes - first)):
            some[k] += total[k]
