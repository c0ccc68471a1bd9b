"""One linear score of rows, level + Σ (x − pivot)·factor, worked out where the rows lie.

Of rows that lie by rows eight are taken at a time, four columns in a register: to turn them into lines of
columns first took several times as long. Other layouts and fewer columns go column by column. The layout and
the number of columns fix the order of sums.
"""

from typing import Any

from llvmlite import ir
from numba import carray, types
from numba.core import cgutils
from numba.extending import intrinsic

from posterior._types import Floats, Ints
from posterior.kernels.compiled.jit import CODES, LINE, NUMBERS, kernel, step
from posterior.kernels.compiled.tile_vectors import (
    DOUBLE,
    SINGLE,
    SIZE,
    WORD,
    _fused,
    _load,
    _spread,
    _store,
)
from posterior.kernels.compiled.vectors import doubles_at, singles_at

# Columns in a register, and rows that are taken at a time.
WIDTH, ROWS = 4, 8
VECTOR = ir.VectorType(DOUBLE, WIDTH)


def _shuffled(builder: Any, pair: Any, places: list[int]) -> Any:
    return builder.shuffle_vector(*pair, ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), places))


def _totals(builder: Any, sums: list[Any]) -> Any:
    """The totals of four registers, in one."""
    halves = [
        builder.fadd(_shuffled(builder, pair, [0, 4, 2, 6]), _shuffled(builder, pair, [1, 5, 3, 7]))
        for pair in (sums[:2], sums[2:])
    ]
    return builder.fadd(_shuffled(builder, halves, [0, 1, 4, 5]), _shuffled(builder, halves, [2, 3, 6, 7]))


def _eight_rows(source: Any) -> Any:
    """The type and the code of the scores of eight rows: (rows, stride, n, pivot, factors, level, out).

    `pivot` and `factors` are addresses of n + 4 doubles: where n is no multiple of four, the last four
    columns are taken with the last four doubles, which are 0 for columns that were counted before.
    """
    size = SIZE[source]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows, stride, n, pivot, factors, level, out = arguments
        sums = [cgutils.alloca_once(builder, VECTOR) for _ in range(ROWS)]
        for each in sums:
            builder.store(ir.Constant(VECTOR, None), each)

        def add(column: Any, place: Any) -> None:
            at, by = builder.add(rows, builder.mul(column, WORD(size))), builder.mul(place, WORD(8))
            c, f = (_load(builder, builder.add(part, by), VECTOR, 8) for part in (pivot, factors))
            for r, each in enumerate(sums):
                own = builder.add(at, builder.mul(stride, WORD(r)))
                x = _load(builder, own, ir.VectorType(source, WIDTH), size)
                v = x if source == DOUBLE else builder.fpext(x, VECTOR)
                builder.store(_fused(builder, builder.fsub(v, c), f, builder.load(each)), each)

        with cgutils.for_range(builder, builder.lshr(n, WORD(2))) as loop:
            column = builder.mul(loop.index, WORD(WIDTH))
            add(column, column)
        with builder.if_then(builder.icmp_signed("!=", builder.and_(n, WORD(WIDTH - 1)), WORD(0))):
            add(builder.sub(n, WORD(WIDTH)), n)
        start = _spread(builder, level, WIDTH)
        for first in range(0, ROWS, WIDTH):
            total = _totals(builder, [builder.load(each) for each in sums[first : first + WIDTH]])
            _store(builder, builder.fadd(total, start), builder.add(out, WORD(8 * first)), 8)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(whole, whole, whole, whole, whole, types.float64, whole), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def score_eight_rows(
    t: Any, rows: Any, stride: Any, n: Any, pivot: Any, factors: Any, level: Any, out: Any
) -> Any:
    """Write the scores of eight rows of doubles."""
    return _eight_rows(DOUBLE)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def score_eight_single_rows(
    t: Any, rows: Any, stride: Any, n: Any, pivot: Any, factors: Any, level: Any, out: Any
) -> Any:
    """The same of rows in single precision."""
    return _eight_rows(SINGLE)


@kernel(f"void(int64, int64, int64, {NUMBERS}, {NUMBERS}, float64, {LINE})", inner=True)
def score_pairs(
    at: int, stride: int, n_rows: int, pivot: Floats, factors: Floats, level: float, score: Floats
) -> None:
    """Write the scores of rows of two doubles."""
    a, b, f, g = pivot[0], pivot[1], factors[0], factors[1]
    for r in range(n_rows):
        x = carray(doubles_at(at + stride * r), (2,))
        score[r] = level + (x[0] - a) * f + (x[1] - b) * g


@kernel(f"void(int64, int64, int64, {NUMBERS}, {NUMBERS}, float64, {LINE})", inner=True)
def score_triples(
    at: int, stride: int, n_rows: int, pivot: Floats, factors: Floats, level: float, score: Floats
) -> None:
    """Write the scores of rows of three doubles."""
    a, b, c, f, g, h = pivot[0], pivot[1], pivot[2], factors[0], factors[1], factors[2]
    for r in range(n_rows):
        x = carray(doubles_at(at + stride * r), (3,))
        score[r] = level + (x[0] - a) * f + (x[1] - b) * g + (x[2] - c) * h


def adding_four(numbers_at: Any) -> Any:
    """A part of kernels that adds what four columns say of some rows, each without steps between rows."""

    @step
    def add_four(
        at: tuple[int, int, int, int], n_rows: int, pivot: Floats, factor: Floats, score: Floats
    ) -> None:
        x, y = carray(numbers_at(at[0]), (n_rows,)), carray(numbers_at(at[1]), (n_rows,))
        z, u = carray(numbers_at(at[2]), (n_rows,)), carray(numbers_at(at[3]), (n_rows,))
        a, b, c, e = pivot[0], pivot[1], pivot[2], pivot[3]
        f, g, h, k = factor[0], factor[1], factor[2], factor[3]
        for r in range(n_rows):
            s = score[r] + (x[r] - a) * f
            s += (y[r] - b) * g
            s += (z[r] - c) * h
            s += (u[r] - e) * k
            score[r] = s

    return add_four


add_four_doubles, add_four_singles = adding_four(doubles_at), adding_four(singles_at)


@kernel(f"void(int64, int64, boolean, int64, float64, float64, {LINE})", inner=True)
def add_column(
    at: int, stride: int, single: bool, n_rows: int, pivot: float, factor: float, score: Floats
) -> None:
    """Add what one column says of some rows."""
    if single:
        for r in range(n_rows):
            score[r] += (carray(singles_at(at + stride * r), (1,))[0] - pivot) * factor
    else:
        for r in range(n_rows):
            score[r] += (carray(doubles_at(at + stride * r), (1,))[0] - pivot) * factor


@kernel(
    f"void({CODES}, int64, int64, boolean, boolean, int64, {NUMBERS}, {NUMBERS}, float64, {LINE})", inner=True
)
def score_rows(
    addresses: Ints,
    base: int,
    stride: int,
    by_rows: bool,
    single: bool,
    n_rows: int,
    pivot: Floats,
    factors: Floats,
    level: float,
    score: Floats,
) -> None:
    """Write the scores of some rows; `pivot` and `factors` have four numbers more than there are columns.

    `score` has room for seven more than there are rows.
    """
    d = len(addresses)
    if by_rows and d >= WIDTH:
        c, f, out = pivot.ctypes.data, factors.ctypes.data, score.ctypes.data
        few = n_rows < ROWS  # each of them is taken eight times, for the order of sums that it has among many
        for first in range(0, n_rows, 1 if few else ROWS):
            r = first if few else min(first, n_rows - ROWS)
            at, line = addresses[0] + base + stride * r, 0 if few else stride
            if single:
                score_eight_single_rows(at, line, d, c, f, level, out + 8 * r)
            else:
                score_eight_rows(at, line, d, c, f, level, out + 8 * r)
        return
    if by_rows and d == 2 and not single:
        score_pairs(addresses[0] + base, stride, n_rows, pivot, factors, level, score)
        return
    if by_rows and d == 3 and not single:
        score_triples(addresses[0] + base, stride, n_rows, pivot, factors, level, score)
        return
    for r in range(n_rows):
        score[r] = level
    whole = d // 4 * 4 if stride == (4 if single else 8) else 0
    for j in range(0, whole, 4):
        at = addresses[j] + base, addresses[j + 1] + base, addresses[j + 2] + base, addresses[j + 3] + base
        if single:
            add_four_singles(at, n_rows, pivot[j : j + 4], factors[j : j + 4], score)
        else:
            add_four_doubles(at, n_rows, pivot[j : j + 4], factors[j : j + 4], score)
    for j in range(whole, d):
        add_column(addresses[j] + base, stride, single, n_rows, pivot[j], factors[j], score)
