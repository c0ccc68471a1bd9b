"""Columns that lie apart in memory, read through their addresses."""

from typing import Any

from llvmlite import ir
from numba import carray, types
from numba.extending import intrinsic

from posterior._types import Floats, Ints
from posterior.kernels.compiled.jit import CODES, kernel

WIDTH = 8
TILE = 512


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def doubles_at(typing_context: Any, address: Any) -> Any:
    """The doubles at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], ir.DoubleType().as_pointer())

    return types.CPointer(types.float64)(types.int64), generate


@kernel(f"void({CODES}, int64, float64[:, ::1])")
def pack(addresses: Ints, start: int, out: Floats) -> None:
    """Write the rows from `start` on, of columns at these addresses, one after the other."""
    n, d = out.shape
    for first in range(0, n, TILE):
        size = min(TILE, n - first)
        at = WIDTH * (start + first)
        j = 0
        while j + 4 <= d:
            a = carray(doubles_at(addresses[j] + at), (size,))
            b = carray(doubles_at(addresses[j + 1] + at), (size,))
            c = carray(doubles_at(addresses[j + 2] + at), (size,))
            e = carray(doubles_at(addresses[j + 3] + at), (size,))
            for r in range(size):
                out[first + r, j] = a[r]
                out[first + r, j + 1] = b[r]
                out[first + r, j + 2] = c[r]
                out[first + r, j + 3] = e[r]
            j += 4
        while j < d:
            a = carray(doubles_at(addresses[j] + at), (size,))
            for r in range(size):
                out[first + r, j] = a[r]
            j += 1
