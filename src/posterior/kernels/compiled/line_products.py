"""Products of lines of numbers, summed up in registers of eight, in an order that is written down.

Each sum takes one step after the other: bits depend neither on where arrays lie nor on what the compiler
thinks of the loop around. Everything is given by addresses; distances between numbers are in bytes.
"""

from itertools import chain
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from posterior.kernels.compiled.jit import step
from posterior.kernels.compiled.vectors import ALIGNED, DOUBLE, FUSED, HAS_WIDE_REGISTERS, WIDTH, _spread

# Numbers of a register, or of two or four smaller ones, and the fewest lines that are worked on at a time.
EIGHT, FOUR = 8, 4

VECTOR, WHOLE = ir.VectorType(DOUBLE, EIGHT), ir.IntType(64)


def _pointer(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


def _add_to(builder: Any, to: Any, total: Any) -> None:
    """Add a register to what lies at an address."""
    place = _pointer(builder, to, VECTOR)
    builder.store(builder.fadd(builder.load(place, align=ALIGNED), total), place, align=ALIGNED)


def products(lines: int, registers: int, *, side_by_side: bool = True) -> Any:
    """The type and the code of the products of some lines and some registers of columns.

    Registers of a step lie side by side, or else as far apart as a last argument says.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        left, across, down, right, line, n, out, out_line, *apart = arguments
        ours, theirs = (cgutils.alloca_once_value(builder, each) for each in (left, right))
        sums = [[cgutils.alloca_once(builder, VECTOR) for _ in range(registers)] for _ in range(lines)]
        steps = [
            WHOLE(EIGHT * WIDTH * v) if side_by_side else builder.mul(apart[0], WHOLE(v))
            for v in range(registers)
        ]
        for each in chain(*sums):
            builder.store(ir.Constant(VECTOR, None), each)
        with cgutils.for_range(builder, n):
            at, to = builder.load(theirs), builder.load(ours)
            columns = [
                builder.load(_pointer(builder, builder.add(at, step), VECTOR), align=ALIGNED)
                for step in steps
            ]
            for a in range(lines):
                place = builder.add(to, builder.mul(across, WHOLE(a)))
                factor = _spread(
                    builder, builder.load(_pointer(builder, place, DOUBLE), align=ALIGNED), EIGHT
                )
                for v, x in enumerate(columns):
                    product = builder.fmul(factor, x, flags=FUSED)
                    builder.store(builder.fadd(builder.load(sums[a][v]), product, flags=FUSED), sums[a][v])
            builder.store(builder.add(at, line), theirs)
            builder.store(builder.add(to, down), ours)
        for a in range(lines):
            for v in range(registers):
                place = builder.add(out, builder.mul(out_line, WHOLE(a)))
                _add_to(builder, builder.add(place, WHOLE(EIGHT * WIDTH * v)), builder.load(sums[a][v]))
        return context.get_dummy_value()

    return types.void(*[types.int64] * (8 if side_by_side else 9)), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def add_4_by_8(
    typing_context: Any,
    left: Any,
    across: Any,
    down: Any,
    right: Any,
    line: Any,
    n: Any,
    out: Any,
    out_line: Any,
) -> Any:
    """Add Σ of n steps of 4 numbers times 8 to the 4 lines of 8 numbers at `out`.

    The 4 numbers are `across` bytes from each other and `down` bytes from those of the next step; the 8 lie
    side by side, `line` bytes before the next 8.
    """
    return products(4, 1)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def add_8_by_8(
    typing_context: Any,
    left: Any,
    across: Any,
    down: Any,
    right: Any,
    line: Any,
    n: Any,
    out: Any,
    out_line: Any,
) -> Any:
    """The same of 8 numbers and 8."""
    return products(8, 1)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def add_8_by_16(
    typing_context: Any,
    left: Any,
    across: Any,
    down: Any,
    right: Any,
    line: Any,
    n: Any,
    out: Any,
    out_line: Any,
) -> Any:
    """The same of 8 numbers and 16."""
    return products(8, 2)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def add_1_by_8(typing_context: Any, left: Any, right: Any, line: Any, quarters: Any, out: Any) -> Any:
    """Add Σ over 4 × `quarters` steps of a number times 8: every fourth step to a sum, then the four sums."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        left, right, line, quarters, out = arguments
        ours, theirs = (cgutils.alloca_once_value(builder, each) for each in (left, right))
        sums = [cgutils.alloca_once_value(builder, ir.Constant(VECTOR, None)) for _ in range(4)]
        with cgutils.for_range(builder, quarters):
            at, place = builder.load(theirs), builder.load(ours)
            for a, total in enumerate(sums):
                number = builder.load(
                    _pointer(builder, builder.add(place, WHOLE(WIDTH * a)), DOUBLE), align=ALIGNED
                )
                x = builder.load(_pointer(builder, at, VECTOR), align=ALIGNED)
                product = builder.fmul(_spread(builder, number, EIGHT), x, flags=FUSED)
                builder.store(builder.fadd(builder.load(total), product, flags=FUSED), total)
                at = builder.add(at, line)
            builder.store(at, theirs)
            builder.store(builder.add(place, WHOLE(4 * WIDTH)), ours)
        a, b, c, d = (builder.load(each) for each in sums)
        _add_to(builder, out, builder.fadd(builder.fadd(a, b), builder.fadd(c, d)))
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def turn_8(typing_context: Any, source: Any, line: Any, out: Any, out_line: Any) -> Any:
    """Write 8 lines of 8 numbers as their columns."""

    def mixed(builder: Any, a: Any, b: Any, places: list[int]) -> Any:
        return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), EIGHT), places))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, line, out, out_line = arguments
        rows = [
            builder.load(
                _pointer(builder, builder.add(source, builder.mul(line, WHOLE(r))), VECTOR), align=ALIGNED
            )
            for r in range(EIGHT)
        ]
        for size in (1, 2, 4):  # of the squares that are exchanged across the diagonal
            low = [p if not p & size else EIGHT + p - size for p in range(EIGHT)]
            high = [p + size if not p & size else EIGHT + p for p in range(EIGHT)]
            rows = [
                mixed(builder, rows[r], rows[r + size], low)
                if not r & size
                else mixed(builder, rows[r - size], rows[r], high)
                for r in range(EIGHT)
            ]
        for r, row in enumerate(rows):
            place = _pointer(builder, builder.add(out, builder.mul(out_line, WHOLE(r))), VECTOR)
            builder.store(row, place, align=ALIGNED)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), generate


@step
def add_all(
    left: int,
    across: int,
    down: int,
    right: int,
    line: int,
    n: int,
    lines: int,
    columns: int,
    out: int,
    out_line: int,
) -> None:
    """Add Σ of n steps of `lines` numbers times `columns` others to `out`; multiples of 4 and of 8."""
    j = 0
    while j < columns:
        double = HAS_WIDE_REGISTERS and j + 2 * EIGHT <= columns
        i = 0
        while i < lines:
            ours, to = left + i * across, out + i * out_line + j * WIDTH
            if HAS_WIDE_REGISTERS and i + EIGHT <= lines:
                if double:
                    add_8_by_16(ours, across, down, right + j * WIDTH, line, n, to, out_line)
                else:
                    add_8_by_8(ours, across, down, right + j * WIDTH, line, n, to, out_line)
                i += EIGHT
            else:
                add_4_by_8(ours, across, down, right + j * WIDTH, line, n, to, out_line)
                if double:
                    far = (j + EIGHT) * WIDTH
                    add_4_by_8(ours, across, down, right + far, line, n, out + i * out_line + far, out_line)
                i += FOUR
        j += 2 * EIGHT if double else EIGHT


@step
def add_upper(
    left: int,
    across: int,
    down: int,
    right: int,
    line: int,
    n: int,
    size: int,
    out: int,
    out_line: int,
) -> None:
    """The same of `size` numbers and as many others, from the diagonal of `out` on."""
    for i in range(0, size, EIGHT):
        high = min(EIGHT, size - i)
        at = i * WIDTH
        add_all(
            left + i * across,
            across,
            down,
            right + at,
            line,
            n,
            high,
            size - i,
            out + i * out_line + at,
            out_line,
        )


@step
def add_one(left: int, right: int, line: int, n: int, columns: int, out: int) -> None:
    """Add Σ of n steps of a number times `columns` others; multiples of 4 and of 8."""
    for j in range(0, columns, EIGHT):
        add_1_by_8(left, right + j * WIDTH, line, n // FOUR, out + j * WIDTH)
