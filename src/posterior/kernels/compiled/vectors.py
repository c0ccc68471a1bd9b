"""Steps of several doubles in a register, for sums too short for the compiler to make any of its own.

Each takes the addresses of as many doubles as it is wide, and adds to what lies at the last ones. Where
`table` is an argument, the numbers at the first address are of its type, and become doubles in the register.
"""

from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

DOUBLE = ir.DoubleType()
ALIGNED = 8
# Bytes of a double, and of a number in single precision.
WIDTH, SINGLE = 8, 4
FUSED = ("contract",)  # a·b + c may be one rounding, as in the loops beside these steps
# Whether there are 32 registers of eight doubles, and not 16 of four.
HAS_WIDE_REGISTERS = bool(llvmlite.binding.get_host_cpu_features().get("avx512f"))
# Coordinates that are worked out at a time, and registers of rows.
COORDINATES, REGISTERS = (8, 2) if HAS_WIDE_REGISTERS else (4, 1)
# Rows at a time.
LANES = 8 * REGISTERS
# Bytes of a line of the cache, and by which memory is asked for ahead: the hardware asks for no more than the
# rest of a page of 4 KiB by itself.
CACHE_LINE, AHEAD = 64, 4096


def _numbers_at(kind: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], kind.as_pointer())

    return types.CPointer(number)(types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def doubles_at(typing_context: Any, address: Any) -> Any:
    """The doubles at an address."""
    return _numbers_at(DOUBLE, types.float64)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def singles_at(typing_context: Any, address: Any) -> Any:
    """The numbers of single precision at an address."""
    return _numbers_at(ir.FloatType(), types.float32)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def prefetch(typing_context: Any, address: Any) -> Any:
    """Ask for a line of the cache ahead of its use; there need not be anything at the address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, word, word, word])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(ask, [builder.inttoptr(arguments[0], pointer), word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(types.int64), generate


def _add(builder: Any, x: Any, pointers: list[Any]) -> None:
    """Add deviations of x from the pivots, and their squares: pivot, sum, sum of squares."""
    pivot, first, second = (builder.load(p, align=ALIGNED) for p in pointers)
    v = builder.fsub(x, pivot)
    builder.store(builder.fadd(first, v), pointers[1], align=ALIGNED)
    square = builder.fmul(v, v, flags=FUSED)
    builder.store(builder.fadd(second, square, flags=FUSED), pointers[2], align=ALIGNED)


def _loaded(builder: Any, address: Any, width: int, number: Any) -> Any:
    """Numbers of a type, single or double, as doubles."""
    vector = ir.VectorType(DOUBLE, width)
    if number != types.float32:
        return builder.load(builder.inttoptr(address, vector.as_pointer()), align=ALIGNED)
    single = ir.VectorType(ir.FloatType(), width)
    found = builder.load(builder.inttoptr(address, single.as_pointer()), align=ALIGNED // 2)
    return builder.fpext(found, vector)


def _step(width: int, table: Any) -> Any:
    """The type and the code of a step of four addresses."""
    vector = ir.VectorType(DOUBLE, width)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        sums = [builder.inttoptr(address, vector.as_pointer()) for address in arguments[1:4]]
        _add(builder, _loaded(builder, arguments[0], width, table.dtype), sums)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4, table), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def add_8_moments(typing_context: Any, x: Any, pivot: Any, first: Any, second: Any, table: Any) -> Any:
    """Add 8 deviations and their squares."""
    return _step(8, table)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def add_4_moments(typing_context: Any, x: Any, pivot: Any, first: Any, second: Any, table: Any) -> Any:
    """Add 4 deviations and their squares."""
    return _step(4, table)


def _step_there(width: int, table: Any) -> Any:
    """The type and the code of a step over numbers of which some are missing."""
    vector = ir.VectorType(DOUBLE, width)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointers = [builder.inttoptr(address, vector.as_pointer()) for address in arguments[1:5]]
        x = _loaded(builder, arguments[0], width, table.dtype)
        pivot, total, first, second = (builder.load(p, align=ALIGNED) for p in pointers)
        zero, one = ir.Constant(vector, None), ir.Constant(vector, [1.0] * width)
        there = builder.fcmp_ordered("ord", x, x)
        v = builder.select(there, builder.fsub(x, pivot), zero)
        builder.store(builder.fadd(total, builder.select(there, one, zero)), pointers[1], align=ALIGNED)
        builder.store(builder.fadd(first, v), pointers[2], align=ALIGNED)
        square = builder.fmul(v, v, flags=FUSED)
        builder.store(builder.fadd(second, square, flags=FUSED), pointers[3], align=ALIGNED)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5, table), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def add_8_there(
    typing_context: Any, x: Any, pivot: Any, total: Any, first: Any, second: Any, table: Any
) -> Any:
    """Add 8 deviations, their squares, and 1 for each, of numbers that are not missing."""
    return _step_there(8, table)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def add_4_there(
    typing_context: Any, x: Any, pivot: Any, total: Any, first: Any, second: Any, table: Any
) -> Any:
    """The same of 4."""
    return _step_there(4, table)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def add_1_there(
    typing_context: Any, x: Any, pivot: Any, total: Any, first: Any, second: Any, table: Any
) -> Any:
    """The same of one."""
    return _step_there(1, table)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def add_apart(typing_context: Any, a: Any, b: Any, c: Any, d: Any, sums: Any, table: Any) -> Any:
    """Add 4 deviations and their squares, of numbers that lie apart; at `sums`: pivots, sums and squares."""
    vector = ir.VectorType(DOUBLE, 4)
    single = table.dtype == types.float32
    number_type = ir.FloatType() if single else DOUBLE

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x = ir.Constant(vector, ir.Undefined)
        for lane, address in enumerate(arguments[:4]):
            at = builder.inttoptr(address, number_type.as_pointer())
            number = builder.load(at, align=ALIGNED // 2 if single else ALIGNED)
            number = builder.fpext(number, DOUBLE) if single else number
            x = builder.insert_element(x, number, ir.Constant(ir.IntType(32), lane))
        first = builder.inttoptr(arguments[4], vector.as_pointer())
        pointers = [builder.gep(first, [ir.Constant(ir.IntType(64), i)]) for i in range(3)]
        _add(builder, x, pointers)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5, table), generate


def _spread(builder: Any, number: Any, width: int) -> Any:
    """A register with one number in every place."""
    vector, places = ir.VectorType(DOUBLE, width), ir.VectorType(ir.IntType(32), width)
    empty = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(empty, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, empty, ir.Constant(places, [0] * width))


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def add_squared_coordinates(
    typing_context: Any, columns: Any, line: Any, factors: Any, n: Any, sums: Any
) -> Any:
    """Add the squares of some coordinates of `LANES` rows to their sums: Σ of numbers × factors of n columns.

    A column has the numbers of rows side by side, `line` bytes before the next; `factors` have a line of
    `COORDINATES` numbers for each.
    """
    whole, vector = ir.IntType(64), ir.VectorType(DOUBLE, 8)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        columns, line, factors, n, sums = arguments
        column, factor = (cgutils.alloca_once(builder, whole) for _ in range(2))
        coordinates = [
            [cgutils.alloca_once(builder, vector) for _ in range(REGISTERS)] for _ in range(COORDINATES)
        ]
        for each in [each for own in coordinates for each in own]:
            builder.store(ir.Constant(vector, None), each)
        builder.store(columns, column)
        builder.store(factors, factor)
        with cgutils.for_range(builder, n):
            first = builder.inttoptr(builder.load(column), vector.as_pointer())
            xs = [builder.load(builder.gep(first, [whole(v)]), align=ALIGNED) for v in range(REGISTERS)]
            at = builder.inttoptr(builder.load(factor), DOUBLE.as_pointer())
            for a, own in enumerate(coordinates):
                f = _spread(builder, builder.load(builder.gep(at, [whole(a)]), align=ALIGNED), 8)
                for x, each in zip(xs, own, strict=True):
                    product = builder.fmul(f, x, flags=FUSED)
                    builder.store(builder.fadd(builder.load(each), product, flags=FUSED), each)
            builder.store(builder.add(builder.load(column), line), column)
            builder.store(builder.add(builder.load(factor), whole(COORDINATES * WIDTH)), factor)
        to = builder.inttoptr(sums, vector.as_pointer())
        for v in range(REGISTERS):
            place = builder.gep(to, [whole(v)])
            total = builder.load(place, align=ALIGNED)
            for own in coordinates:
                z = builder.load(own[v])
                total = builder.fadd(total, builder.fmul(z, z, flags=FUSED), flags=FUSED)
            builder.store(total, place, align=ALIGNED)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), generate


def _widen(n: int, number: Any) -> Any:
    """The type and the code of a loop that widens n ranges by the numbers of so many lines."""
    whole, vector = ir.IntType(64), ir.VectorType(DOUBLE, n)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, stride, lines, end, line = arguments
        places = [builder.add(end, builder.mul(line, whole(i))) for i in range(3)]
        pointers = [builder.inttoptr(place, vector.as_pointer()) for place in places]
        ends = [cgutils.alloca_once(builder, vector) for _ in pointers]
        for pointer, each in zip(pointers, ends, strict=True):
            builder.store(builder.load(pointer, align=ALIGNED), each)
        at = cgutils.alloca_once_value(builder, first)
        with cgutils.for_range(builder, lines):
            x = _loaded(builder, builder.load(at), n, number)
            low, high, check = (builder.load(each) for each in ends)
            builder.store(builder.select(builder.fcmp_ordered("<", x, low), x, low), ends[0])
            builder.store(builder.select(builder.fcmp_ordered(">", x, high), x, high), ends[1])
            builder.store(builder.fadd(check, builder.fmul(x, ir.Constant(vector, [0.0] * n))), ends[2])
            builder.store(builder.add(builder.load(at), stride), at)
        for pointer, each in zip(pointers, ends, strict=True):
            builder.store(builder.load(each), pointer, align=ALIGNED)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def widen_8_doubles(typing_context: Any, first: Any, stride: Any, n: Any, ends: Any, line: Any) -> Any:
    """Widen the ranges of 8 places by 8 numbers of each of n lines, `stride` bytes apart.

    At `ends` are the smallest numbers, `line` bytes further the largest, and then sums of 0·x.
    """
    return _widen(8, types.float64)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def widen_8_singles(typing_context: Any, first: Any, stride: Any, n: Any, ends: Any, line: Any) -> Any:
    """The same of numbers in single precision."""
    return _widen(8, types.float32)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def widen_double(typing_context: Any, first: Any, stride: Any, n: Any, ends: Any, line: Any) -> Any:
    """The same of one number a line."""
    return _widen(1, types.float64)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def widen_single(typing_context: Any, first: Any, stride: Any, n: Any, ends: Any, line: Any) -> Any:
    """The same of one number a line, in single precision."""
    return _widen(1, types.float32)
