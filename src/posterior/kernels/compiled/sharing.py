"""Parts of the rows that several threads share out among themselves, inside compiled code.

A thread that came back to Python after each part would wait there for the interpreter's lock.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

# The type of a counter: how many parts are taken.
COUNTER = "int64[::1]"
# Parts that a call takes at most: between two calls Python may act on Ctrl-C.
MOST = 8


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def take_next(typing_context: Any, counter: Any) -> Any:
    """The number of the next part, which no other thread gets; for compiled code."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.atomic_rmw("add", array.data, ir.Constant(ir.IntType(64), 1), "seq_cst")

    return types.int64(counter), generate
