"""Steps on a tile of 64 rows that lie side by side, in whole registers of doubles or of single precision.

Written in the compiler's own language, for both precisions at once. All take addresses; a line of a tile has
the numbers of one column, or of one class.
"""

from math import factorial
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

TILE = 64
REGISTER = 64  # bytes
DOUBLE, SINGLE, WORD = ir.DoubleType(), ir.FloatType(), ir.IntType(64)
SIZE = {DOUBLE: 8, SINGLE: 4}
FUSED = ("contract",)  # a·b + c may be one rounding
# Rows and columns that are turned at a time.
SQUARE = 8


def _load(builder: Any, address: Any, kind: Any, size: int) -> Any:
    return builder.load(builder.inttoptr(address, kind.as_pointer()), align=size)


def _store(builder: Any, value: Any, address: Any, size: int) -> None:
    builder.store(value, builder.inttoptr(address, value.type.as_pointer()), align=size)


def _spread(builder: Any, number: Any, width: int) -> Any:
    """A register with one number in every place."""
    empty = ir.Constant(ir.VectorType(number.type, width), ir.Undefined)
    first = builder.insert_element(empty, number, ir.Constant(ir.IntType(32), 0))
    places = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
    return builder.shuffle_vector(first, empty, places)


def _centred(builder: Any, x: Any, pivot: Any, remainder: Any) -> Any:
    """A register of numbers less a centre in two parts, as doubles."""
    if x.type.element != DOUBLE:
        x = builder.fpext(x, ir.VectorType(DOUBLE, SQUARE))
    # A step without flags takes those of its kernel, which may say that the two are first added up.
    near = builder.fsub(x, _spread(builder, pivot, SQUARE), flags=FUSED)
    return builder.fsub(near, _spread(builder, remainder, SQUARE), flags=FUSED)


def _put(builder: Any, v: Any, kind: Any, out: Any) -> None:
    """Write doubles to a tile, in its precision."""
    narrow = v if kind == DOUBLE else builder.fptrunc(v, ir.VectorType(kind, SQUARE))
    _store(builder, narrow, out, SIZE[kind])


def _check(builder: Any, total: Any, check: Any) -> None:
    """Add nothing to `check`, or NaN where a sum is not finite."""
    wide = ir.VectorType(DOUBLE, SQUARE)
    nothing = builder.fmul(total, ir.Constant(wide, [0.0] * SQUARE))
    _store(builder, builder.fadd(_load(builder, check, wide, 8), nothing), check, 8)


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """Eight registers of eight as the registers of their columns: three rounds of exchanges."""
    for half in (4, 2, 1):
        taken = list(rows)
        for a in range(SQUARE):
            if a & half:
                continue
            b = a | half
            low = [i if not i & half else SQUARE + (i ^ half) for i in range(SQUARE)]
            high = [(i | half) if not i & half else SQUARE + i for i in range(SQUARE)]
            pair = taken[a], taken[b]
            for place, mask in ((a, low), (b, high)):
                order = ir.Constant(ir.VectorType(ir.IntType(32), SQUARE), mask)
                rows[place] = builder.shuffle_vector(*pair, order)
    return rows


def _turn(source: Any, tile: Any) -> Any:
    """The type and the code that turn 8 rows of 8 columns of one precision into lines of a tile."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows, stride, out, line, pivot, remainder, check = arguments
        vector = ir.VectorType(source, SQUARE)
        found = [
            _load(builder, builder.add(rows, builder.mul(stride, WORD(r))), vector, SIZE[source])
            for r in range(SQUARE)
        ]
        total = None
        for j, column in enumerate(_transposed(builder, found)):
            c, e = (_load(builder, builder.add(part, WORD(8 * j)), DOUBLE, 8) for part in (pivot, remainder))
            v = _centred(builder, column, c, e)
            _put(builder, v, tile, builder.add(out, builder.mul(line, WORD(j))))
            total = v if total is None else builder.fadd(total, v)
        _check(builder, total, check)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 7), generate


def _take(source: Any, tile: Any) -> Any:
    """The type and the code that bring 8 rows of one column, side by side, into a line of a tile."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        column, out, pivot, remainder, check = arguments
        x = _load(builder, column, ir.VectorType(source, SQUARE), SIZE[source])
        c, e = (_load(builder, part, DOUBLE, 8) for part in (pivot, remainder))
        v = _centred(builder, x, c, e)
        _put(builder, v, tile, out)
        _check(builder, v, check)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), generate


def _block(kind: Any, n_vectors: int, n_sums: int, n_factors: int, step: Any) -> Any:
    """The type and the code of sums over the columns of a tile that stay in registers.

    (columns, line, n, factors, out, out_line): `n_sums` sums of `n_vectors` registers each begin at the first
    `n_sums` factors; each column takes `n_factors` more in `step`. They are written to lines of `out`.
    """
    width = REGISTER // SIZE[kind]
    vector, size = ir.VectorType(kind, width), SIZE[kind]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        columns, line, n, factors, out, out_line = arguments
        column, factor = (cgutils.alloca_once(builder, WORD) for _ in range(2))
        sums = [[cgutils.alloca_once(builder, vector) for _ in range(n_vectors)] for _ in range(n_sums)]
        for k, own in enumerate(sums):
            first = _spread(builder, _load(builder, builder.add(factors, WORD(k * size)), kind, size), width)
            for each in own:
                builder.store(first, each)
        builder.store(columns, column)
        builder.store(builder.add(factors, WORD(n_sums * size)), factor)
        with cgutils.for_range(builder, n):
            at, by = builder.load(column), builder.load(factor)
            x = [_load(builder, builder.add(at, WORD(REGISTER * v)), vector, size) for v in range(n_vectors)]
            f = [
                _spread(builder, _load(builder, builder.add(by, WORD(size * i)), kind, size), width)
                for i in range(n_factors)
            ]
            step(builder, x, f, sums)
            builder.store(builder.add(at, line), column)
            builder.store(builder.add(by, WORD(n_factors * size)), factor)
        return out, out_line, sums

    return generate, vector, size


def _fused(builder: Any, a: Any, b: Any, c: Any) -> Any:
    return builder.fadd(builder.fmul(a, b, flags=FUSED), c, flags=FUSED)


def _linear_step(builder: Any, x: list[Any], f: list[Any], sums: list[Any]) -> None:
    for factor, own in zip(f, sums, strict=True):
        for v, each in zip(x, own, strict=True):
            builder.store(_fused(builder, v, factor, builder.load(each)), each)


def _square_step(builder: Any, x: list[Any], f: list[Any], sums: list[Any]) -> None:
    for k, own in enumerate(sums):
        for v, each in zip(x, own, strict=True):
            z = _fused(builder, v, f[2 * k], f[2 * k + 1])
            builder.store(_fused(builder, z, z, builder.load(each)), each)


def _scores(kind: Any, step: Any, n_factors: int) -> Any:
    """Sums of two classes over 4 registers of rows, written to two lines."""
    work, _, size = _block(kind, 4, 2, n_factors, step)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        out, out_line, sums = work(context, builder, signature, arguments)
        for k, own in enumerate(sums):
            for v, each in enumerate(own):
                at = builder.add(builder.add(out, builder.mul(out_line, WORD(k))), WORD(REGISTER * v))
                _store(builder, builder.load(each), at, size)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 6), generate


def _squares(kind: Any) -> Any:
    """The squares of four coordinates of two registers of rows, added to one line."""
    work, vector, size = _block(kind, 2, 4, 4, _linear_step)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        out, _, sums = work(context, builder, signature, arguments)
        for v in range(2):
            at = builder.add(out, WORD(REGISTER * v))
            total = _load(builder, at, vector, size)
            for own in sums:
                z = builder.load(own[v])
                total = _fused(builder, z, z, total)
            _store(builder, total, at, size)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 6), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def turn_doubles(
    t: Any, rows: Any, stride: Any, out: Any, line: Any, pivot: Any, remainder: Any, check: Any
) -> Any:
    """Doubles to doubles."""
    return _turn(DOUBLE, DOUBLE)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def turn_doubles_to_single(
    t: Any, rows: Any, stride: Any, out: Any, line: Any, pivot: Any, remainder: Any, check: Any
) -> Any:
    """Doubles to single precision."""
    return _turn(DOUBLE, SINGLE)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def turn_singles_to_double(
    t: Any, rows: Any, stride: Any, out: Any, line: Any, pivot: Any, remainder: Any, check: Any
) -> Any:
    """Single precision to doubles."""
    return _turn(SINGLE, DOUBLE)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def turn_singles(
    t: Any, rows: Any, stride: Any, out: Any, line: Any, pivot: Any, remainder: Any, check: Any
) -> Any:
    """Single precision as it is."""
    return _turn(SINGLE, SINGLE)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def take_doubles(t: Any, column: Any, out: Any, pivot: Any, remainder: Any, check: Any) -> Any:
    """Doubles to doubles."""
    return _take(DOUBLE, DOUBLE)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def take_doubles_to_single(t: Any, column: Any, out: Any, pivot: Any, remainder: Any, check: Any) -> Any:
    """Doubles to single precision."""
    return _take(DOUBLE, SINGLE)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def take_singles_to_double(t: Any, column: Any, out: Any, pivot: Any, remainder: Any, check: Any) -> Any:
    """Single precision to doubles."""
    return _take(SINGLE, DOUBLE)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def take_singles(t: Any, column: Any, out: Any, pivot: Any, remainder: Any, check: Any) -> Any:
    """Single precision as it is."""
    return _take(SINGLE, SINGLE)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def linear_scores(t: Any, columns: Any, line: Any, n: Any, factors: Any, out: Any, out_line: Any) -> Any:
    """Write level + Σ x·factor of two classes and 32 rows."""
    return _scores(DOUBLE, _linear_step, 2)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def squared_scores(t: Any, columns: Any, line: Any, n: Any, factors: Any, out: Any, out_line: Any) -> Any:
    """Write Σ (x·scale + shift)² of two classes and 32 rows."""
    return _scores(DOUBLE, _square_step, 4)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def squared_scores_in_single(
    t: Any, columns: Any, line: Any, n: Any, factors: Any, out: Any, out_line: Any
) -> Any:
    """The same of 64 rows in single precision."""
    return _scores(SINGLE, _square_step, 4)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def add_squares(t: Any, columns: Any, line: Any, n: Any, factors: Any, out: Any, out_line: Any) -> Any:
    """Add the squares of four coordinates, shift + Σ x·factor, of 16 rows."""
    return _squares(DOUBLE)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def add_squares_in_single(
    t: Any, columns: Any, line: Any, n: Any, factors: Any, out: Any, out_line: Any
) -> Any:
    """The same of 32 rows in single precision."""
    return _squares(SINGLE)


# Exponentials: 1/ln 2, a rounder, ln 2 in two parts, and Taylor's coefficients, of the highest power first.
EXPONENTIALS: dict[Any, tuple[float, float, float, float, int]] = {
    DOUBLE: (1.4426950408889634, 6755399441055744.0, 0.693147180369123816490, 1.90821492927058770002e-10, 12),
    SINGLE: (1.4426950216293335, 12582912.0, 0.693359375, -2.12194440e-4, 7),
}
BITS = {DOUBLE: (ir.IntType(64), 52), SINGLE: (ir.IntType(32), 23)}
LOWEST = {DOUBLE: -708.39, SINGLE: -87.0}


def _exp(builder: Any, x: Any, kind: Any) -> Any:
    """The exponential of numbers ≤ 0, to 2 units in the last place; 0 below the lowest.

    x = k ln 2 + r with |r| ≤ ½ ln 2; Taylor's polynomial for r, and k into the exponent.
    """
    width = REGISTER // SIZE[kind]
    vector = ir.VectorType(kind, width)

    def every(number: float) -> Any:
        return ir.Constant(vector, [number] * width)

    per_e, rounder, high, low, degree = EXPONENTIALS[kind]
    lowest = every(LOWEST[kind])
    enough = builder.fcmp_ordered(">=", x, lowest)
    known = builder.select(enough, x, lowest)
    shifted = _fused(builder, known, every(per_e), every(rounder))
    k = builder.fsub(shifted, every(rounder))
    r = _fused(builder, k, every(-high), known)
    r = _fused(builder, k, every(-low), r)
    p = every(1 / factorial(degree))
    for power in range(degree - 1, -1, -1):
        p = _fused(builder, p, r, every(1 / factorial(power)))
    whole, places = BITS[kind]
    words = ir.VectorType(whole, width)
    moved = builder.shl(builder.bitcast(shifted, words), ir.Constant(words, [places] * width))
    found = builder.bitcast(builder.add(builder.bitcast(p, words), moved), vector)
    return builder.select(enough, found, every(0.0))


def _shares(kind: Any) -> Any:
    """(scores, peak, out, total): a line of exponentials of doubles less the peaks, added to the totals."""
    width, size = REGISTER // SIZE[kind], SIZE[kind]
    vector, wide = ir.VectorType(kind, width), ir.VectorType(DOUBLE, width)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        scores, peak, out, total = arguments
        for r in range(0, TILE, width):
            s, top = (_load(builder, builder.add(at, WORD(8 * r)), wide, 8) for at in (scores, peak))
            x = builder.fsub(s, top)
            e = _exp(builder, x if kind == DOUBLE else builder.fptrunc(x, vector), kind)
            _store(builder, e, builder.add(out, WORD(size * r)), size)
            at = builder.add(total, WORD(size * r))
            _store(builder, builder.fadd(_load(builder, at, vector, size), e), at, size)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), generate


def _write_square(kind: Any) -> Any:
    """(lines, line, out, stride): 8 lines of 8 rows, written row by row."""
    vector, size = ir.VectorType(kind, SQUARE), SIZE[kind]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lines, line, out, stride = arguments
        found = [
            _load(builder, builder.add(lines, builder.mul(line, WORD(k))), vector, size)
            for k in range(SQUARE)
        ]
        for r, row in enumerate(_transposed(builder, found)):
            _store(builder, row, builder.add(out, builder.mul(stride, WORD(r))), size)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), generate


def _write_pair(kind: Any) -> Any:
    """(lines, line, out): the two lines of a tile, side by side in every row."""
    vector, size = ir.VectorType(kind, SQUARE), SIZE[kind]
    order = [i // 2 + SQUARE * (i % 2) for i in range(2 * SQUARE)]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lines, line, out = arguments
        for r in range(0, TILE, SQUARE):
            at = builder.add(lines, WORD(size * r))
            a, b = _load(builder, at, vector, size), _load(builder, builder.add(at, line), vector, size)
            mask = ir.Constant(ir.VectorType(ir.IntType(32), 2 * SQUARE), order)
            pairs = builder.shuffle_vector(a, b, mask)
            _store(builder, pairs, builder.add(out, WORD(2 * size * r)), size)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 3), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def shares(t: Any, scores: Any, peak: Any, out: Any, total: Any) -> Any:
    """Exponentials of a line of scores less the peaks, and their sums."""
    return _shares(DOUBLE)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def shares_in_single(t: Any, scores: Any, peak: Any, out: Any, total: Any) -> Any:
    """The same in single precision, of scores that are doubles."""
    return _shares(SINGLE)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def write_square(t: Any, lines: Any, line: Any, out: Any, stride: Any) -> Any:
    """Write 8 classes of 8 rows."""
    return _write_square(DOUBLE)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def write_square_in_single(t: Any, lines: Any, line: Any, out: Any, stride: Any) -> Any:
    """The same in single precision."""
    return _write_square(SINGLE)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def write_pairs(t: Any, lines: Any, line: Any, out: Any) -> Any:
    """Write a tile of two classes."""
    return _write_pair(DOUBLE)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def write_pairs_in_single(t: Any, lines: Any, line: Any, out: Any) -> Any:
    """The same in single precision."""
    return _write_pair(SINGLE)
