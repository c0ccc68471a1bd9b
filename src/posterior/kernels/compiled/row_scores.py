"""Scores of rows and what follows from them in one pass: rows are read once, and answers written once.

A tile of 64 rows is brought into lines of columns, less the centre, as doubles or in single precision; two
classes at a time are worked out in registers; posteriors, log posteriors or the likeliest class are written.
Cells that are missing are left out where columns are independent. Rows that this cannot settle (other gaps,
infinite numbers, and in single precision rows far from every class) are marked, and left to whoever called.
"""

from typing import Any, TypeAlias

import numpy as np
from numba import carray

from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.kernels.compiled.jit import ANY_ORDER, CODES, LINE, LOWEST, NUMBERS, ROWS, TABLE, kernel
from posterior.kernels.compiled.normalizing import exponentials
from posterior.kernels.compiled.series import log1p
from posterior.kernels.compiled.sharing import COUNTER, take_next
from posterior.kernels.compiled.tile_vectors import (
    SQUARE,
    TILE,
    add_squares,
    add_squares_in_single,
    linear_scores,
    shares,
    shares_in_single,
    squared_scores,
    squared_scores_in_single,
    take_doubles,
    take_doubles_to_single,
    take_singles,
    take_singles_to_double,
    turn_doubles,
    turn_doubles_to_single,
    turn_singles,
    turn_singles_to_double,
    write_pairs,
    write_pairs_in_single,
    write_square,
    write_square_in_single,
)
from posterior.kernels.compiled.vectors import doubles_at, singles_at

Singles: TypeAlias = "np.typing.NDArray[np.float32]"
LINEAR, NORMAL, QUADRATIC = 0, 1, 2
NUMBERS_AS_THEY_ARE, ON_OFF, AMOUNTS, COUNTS = 0, 1, 2, 3
SCORES, POSTERIORS, LOG_POSTERIORS, BEST = 0, 1, 2, 3
# Coordinates of a quadratic form that are worked out at a time.
COORDINATES = 4
# Rows of a tile with a gap up to which the others are answered.
FEW_GAPS = 16
SINGLE_TABLE = "float32[:, ::1]"
SINGLE_NUMBERS = "Array(float32, 1, 'C', True)"

ZERO, ONE = np.float32(0.0), np.float32(1.0)

SOURCE = f"{CODES}, int64, int64, boolean, boolean"
CENTRE = f"{NUMBERS}, {NUMBERS}"


@kernel(*(f"void({SOURCE}, int64, int64, {CENTRE}, {x}, {LINE})" for x in (TABLE, SINGLE_TABLE)), inner=True)
def load_cells(
    addresses: Ints,
    base: int,
    stride: int,
    by_rows: bool,
    single: bool,
    first: int,
    n_rows: int,
    pivot: Floats,
    remainder: Floats,
    x: Floats,
    check: Floats,
) -> None:
    """Bring cells into a tile one by one: of narrow tables, and of the last rows."""
    for j in range(len(addresses)):
        at = addresses[j] + base + stride * first
        for r in range(n_rows):
            if single:
                v = np.float64(carray(singles_at(at), (1,))[0])
            else:
                v = carray(doubles_at(at), (1,))[0]
            v = (v - pivot[j]) - remainder[j]
            check[r] += 0.0 * v
            x[j, r] = v
            at += stride


@kernel(*(f"void({SOURCE}, int64, {CENTRE}, {x}, {LINE})" for x in (TABLE, SINGLE_TABLE)), inner=True)
def load_tile(
    addresses: Ints,
    base: int,
    stride: int,
    by_rows: bool,
    single: bool,
    first: int,
    pivot: Floats,
    remainder: Floats,
    x: Floats,
    check: Floats,
) -> None:
    """Bring a tile of rows into lines of columns, less the centre; `check` is NaN where one is not finite."""
    d, own, size = len(addresses), x.ctypes.data, x.itemsize
    at_check, c, e = check.ctypes.data, pivot.ctypes.data, remainder.ctypes.data
    line, to_single = size * TILE, size == 4
    if by_rows:
        for start in range(0, d, SQUARE):
            j = max(0, min(start, d - SQUARE))
            for r in range(0, TILE, SQUARE):
                at, out = addresses[j] + base + stride * (first + r), own + line * j + size * r
                if single:
                    if to_single:
                        turn_singles(at, stride, out, line, c + 8 * j, e + 8 * j, at_check + 8 * r)
                    else:
                        turn_singles_to_double(at, stride, out, line, c + 8 * j, e + 8 * j, at_check + 8 * r)
                elif to_single:
                    turn_doubles_to_single(at, stride, out, line, c + 8 * j, e + 8 * j, at_check + 8 * r)
                else:
                    turn_doubles(at, stride, out, line, c + 8 * j, e + 8 * j, at_check + 8 * r)
        return
    for j in range(d):
        for r in range(0, TILE, SQUARE):
            at, out = addresses[j] + base + stride * (first + r), own + line * j + size * r
            if single:
                if to_single:
                    take_singles(at, out, c + 8 * j, e + 8 * j, at_check + 8 * r)
                else:
                    take_singles_to_double(at, out, c + 8 * j, e + 8 * j, at_check + 8 * r)
            elif to_single:
                take_doubles_to_single(at, out, c + 8 * j, e + 8 * j, at_check + 8 * r)
            else:
                take_doubles(at, out, c + 8 * j, e + 8 * j, at_check + 8 * r)


@kernel(f"void(int64, {TABLE}, {NUMBERS}, {TABLE}, {TABLE})", inner=True)
def sums_of_tile(kind: int, x: Floats, factors: Floats, squares: Floats, scores: Floats) -> None:
    """Write linear scores, or squared distances, of two classes at a time, into `scores`."""
    d = len(x)
    line, own, out = 8 * TILE, x.ctypes.data, scores.ctypes.data
    at = factors.ctypes.data
    if kind == QUADRATIC:
        for k in range(len(scores)):
            for r in range(TILE):
                scores[k, r] = 0.0
            for first in range(0, d, COORDINATES):
                n = min(first + COORDINATES, d)
                for r in range(0, TILE, 16):
                    add_squares(own + 8 * r, line, n, at, out + line * k + 8 * r, 0)
                at += 8 * COORDINATES * (n + 1)
        return
    for k in range(0, len(scores), 2):
        for r in range(0, TILE, 32):
            if kind == LINEAR:
                linear_scores(own + 8 * r, line, d, at, out + line * k + 8 * r, line)
            else:
                squared_scores(own + 8 * r, line, d, at, out + line * k + 8 * r, line)
        at += 8 * 2 * (1 + d) if kind == LINEAR else 8 * (2 + 4 * d)


@kernel(f"void(int64, {SINGLE_TABLE}, {SINGLE_NUMBERS}, {SINGLE_TABLE}, {TABLE})", inner=True)
def sums_of_tile_in_single(kind: int, x: Singles, factors: Singles, squares: Singles, scores: Floats) -> None:
    """Write squared distances, in single precision."""
    d = len(x)
    line, own, out = 4 * TILE, x.ctypes.data, squares.ctypes.data
    at = factors.ctypes.data
    if kind == QUADRATIC:
        for k in range(len(squares)):
            for r in range(TILE):
                squares[k, r] = ZERO
            for first in range(0, d, COORDINATES):
                n = min(first + COORDINATES, d)
                for r in range(0, TILE, 32):
                    add_squares_in_single(own + 4 * r, line, n, at, out + line * k + 4 * r, 0)
                at += 4 * COORDINATES * (n + 1)
        return
    for k in range(0, len(squares), 2):
        squared_scores_in_single(own, line, d, at, out + line * k, line)
        at += 4 * (2 + 4 * d)


PEAKS = f"{TABLE}, {LINE}, {LINE}, {LINE}"


@kernel(f"void(int64, {NUMBERS}, {TABLE}, {PEAKS})", inner=True)
def find_peaks(
    kind: int, level: Floats, squares: Floats, scores: Floats, peak: Floats, half: Floats, mark: Floats
) -> None:
    """Scores from sums, the largest of a row, NaN if one is not finite; no squares are read."""
    for r in range(TILE):
        peak[r], mark[r] = -np.inf, 0.0
    for k in range(len(level)):
        add = level[k]
        if kind == LINEAR:
            for r in range(TILE):
                s = scores[k, r] + add
                scores[k, r] = s
                mark[r] += 0.0 * s
                peak[r] = s if s > peak[r] else peak[r]
        else:
            for r in range(TILE):
                s = add - 0.5 * scores[k, r]
                scores[k, r] = s
                mark[r] += 0.0 * s
                peak[r] = s if s > peak[r] else peak[r]


@kernel(f"void(int64, {NUMBERS}, {SINGLE_TABLE}, {PEAKS})", inner=True)
def find_peaks_of_singles(
    kind: int, level: Floats, squares: Singles, scores: Floats, peak: Floats, half: Floats, mark: Floats
) -> None:
    """What `find_peaks` does, of squared distances, and half of that from the likeliest class."""
    for r in range(TILE):
        peak[r], half[r], mark[r] = -np.inf, 0.0, 0.0
    for k in range(len(level)):
        add = level[k]
        for r in range(TILE):
            part = 0.5 * np.float64(squares[k, r])
            s = add - part
            scores[k, r] = s
            mark[r] += 0.0 * s
            half[r] = part if s > peak[r] else half[r]
            peak[r] = s if s > peak[r] else peak[r]


@kernel(f"void({TABLE}, {LINE}, {TABLE}, {LINE})", inner=True)
def take_shares(scores: Floats, peak: Floats, tile: Floats, total: Floats) -> None:
    """Exponentials of scores less the largest, down to the smallest numbers there are, and their sums."""
    deep = 0
    for k in range(len(scores)):
        for r in range(TILE):
            deep += scores[k, r] - peak[r] <= LOWEST
    for r in range(TILE):
        total[r] = 0.0
    if not deep:
        for k in range(len(scores)):
            at = 8 * TILE * k
            shares(scores.ctypes.data + at, peak.ctypes.data, tile.ctypes.data + at, total.ctypes.data)
        return
    for k in range(len(scores)):
        for r in range(TILE):
            tile[k, r] = scores[k, r] - peak[r]
    exponentials(tile)
    for k in range(len(scores)):
        for r in range(TILE):
            total[r] += tile[k, r]


@kernel(f"void({TABLE}, {LINE}, {TABLE}, int64, int64, int64, {TABLE})", inner=True)
def write_doubles(
    scores: Floats, peak: Floats, tile: Floats, what: int, first: int, n_rows: int, out: Floats
) -> None:
    """Write what was asked for of a tile of scores (K, 64); `tile` is room for as many numbers."""
    n_classes, found, total = len(scores), scores if what == SCORES else tile, np.empty(TILE)
    if what == POSTERIORS:
        take_shares(scores, peak, tile, total)
        for r in range(TILE):
            total[r] = 1.0 / total[r]
        for k in range(n_classes):
            for r in range(TILE):
                tile[k, r] *= total[r]
    if what == LOG_POSTERIORS:
        take_shares(scores, peak, tile, total)
        others, waiting = np.zeros(TILE), np.zeros(TILE)
        for r in range(TILE):
            waiting[r] = 1.0
        for k in range(n_classes):
            for r in range(TILE):
                own = waiting[r] if scores[k, r] == peak[r] else 0.0  # of the largest, which is no other
                others[r] += 0.0 if own == 1.0 else tile[k, r]
                waiting[r] -= own
        for r in range(TILE):
            others[r] = log1p(others[r])  # which keeps a log posterior of −1e-20
        for k in range(n_classes):
            for r in range(TILE):
                tile[k, r] = (scores[k, r] - peak[r]) - others[r]
    lines, line, to = found.ctypes.data, 8 * TILE, out.ctypes.data + 8 * n_classes * first
    if n_rows == TILE and n_classes == 2:
        write_pairs(lines, line, to)
    elif n_rows == TILE and n_classes >= SQUARE:
        for start in range(0, n_classes, SQUARE):
            k = min(start, n_classes - SQUARE)
            for r in range(0, TILE, SQUARE):
                own = to + 8 * (n_classes * r + k)
                write_square(lines + line * k + 8 * r, line, own, 8 * n_classes)
    else:
        for r in range(n_rows):
            for k in range(n_classes):
                out[first + r, k] = found[k, r]


@kernel(f"void({TABLE}, {LINE}, {SINGLE_TABLE}, int64, int64, int64, {SINGLE_TABLE})", inner=True)
def write_singles(
    scores: Floats, peak: Floats, tile: Singles, what: int, first: int, n_rows: int, out: Singles
) -> None:
    """What `write_doubles` does, in single precision."""
    n_classes, total = len(scores), np.zeros(TILE, np.float32)
    if what == SCORES:
        for k in range(n_classes):
            for r in range(TILE):
                tile[k, r] = np.float32(scores[k, r])
    else:
        for k in range(n_classes):
            own, at = scores.ctypes.data + 8 * TILE * k, tile.ctypes.data + 4 * TILE * k
            shares_in_single(own, peak.ctypes.data, at, total.ctypes.data)
    if what == POSTERIORS:
        for r in range(TILE):
            total[r] = ONE / total[r]
        for k in range(n_classes):
            for r in range(TILE):
                tile[k, r] *= total[r]
    if what == LOG_POSTERIORS:
        others, waiting = np.zeros(TILE), np.zeros(TILE)
        for r in range(TILE):
            waiting[r] = 1.0
        for k in range(n_classes):
            for r in range(TILE):
                mine = waiting[r] if scores[k, r] == peak[r] else 0.0  # of the largest, which is no other
                others[r] += 0.0 if mine == 1.0 else np.float64(tile[k, r])
                waiting[r] -= mine
        for r in range(TILE):
            others[r] = log1p(others[r])
        for k in range(n_classes):
            for r in range(TILE):
                tile[k, r] = np.float32((scores[k, r] - peak[r]) - others[r])
    lines, line, to = tile.ctypes.data, 4 * TILE, out.ctypes.data + 4 * n_classes * first
    if n_rows == TILE and n_classes == 2:
        write_pairs_in_single(lines, line, to)
    elif n_rows == TILE and n_classes >= SQUARE:
        for start in range(0, n_classes, SQUARE):
            k = min(start, n_classes - SQUARE)
            for r in range(0, TILE, SQUARE):
                where = to + 4 * (n_classes * r + k)
                write_square_in_single(lines + line * k + 4 * r, line, where, 4 * n_classes)
    else:
        for r in range(n_rows):
            for k in range(n_classes):
                out[first + r, k] = tile[k, r]


@kernel(f"void({TABLE}, {LINE}, int64[:, ::1], int64, int64, int64, int64[::1])", inner=True)
def write_best(
    scores: Floats, peak: Floats, tile: Ints, what: int, first: int, n_rows: int, out: Ints
) -> None:
    """Write the class with the largest score, the first of equals."""
    # Memory of its own, which the compiler knows to be nobody else's: only then rows go side by side.
    place = np.zeros(TILE)
    for back in range(len(scores)):
        k = len(scores) - 1 - back
        for r in range(TILE):
            place[r] = float(k) if scores[k, r] == peak[r] else place[r]
    for r in range(n_rows):
        out[first + r] = np.int64(place[r])


@kernel(f"boolean({LINE})", fastmath=ANY_ORDER, inner=True)
def not_finite(check: Floats) -> bool:
    """Whether a check of cells is not 0; it begins anew."""
    total = 0.0
    for i in range(len(check)):
        total += check[i]
    for i in range(len(check)):
        check[i] = 0.0
    return total != 0.0


@kernel(*(f"int64({x}, int64)" for x in (TABLE, SINGLE_TABLE)), inner=True)
def odd_rows(x: Floats, n_rows: int) -> int:
    """How many rows of a tile have a cell that is not finite."""
    mark = np.zeros(TILE)
    for j in range(len(x)):
        for r in range(TILE):
            mark[r] += 0.0 * np.float64(x[j, r])
    count = 0
    for r in range(n_rows):
        count += mark[r] != 0.0
    return count


@kernel(*(f"void({x}, {ROWS}, {TABLE})" for x in (TABLE, SINGLE_TABLE)), inner=True)
def leave_out_gaps(x: AnyArray, absent: Floats, added: Floats) -> None:
    """Let cells that are missing be 0, and write what their sums, by class, are to be changed by for it."""
    for k in range(len(added)):
        for r in range(TILE):
            added[k, r] = 0.0
    for j in range(len(x)):
        for r in range(TILE):
            v = x[j, r]
            if v != v:
                x[j, r] = 0.0
                for k in range(len(added)):
                    added[k, r] += absent[j, k]


@kernel(*(f"boolean({x}, int64, float64)" for x in (TABLE, SINGLE_TABLE)), inner=True)
def read_cells(x: AnyArray, meaning: int, threshold: float) -> bool:
    """Let cells be what they mean: 1 above the threshold and else 0; NaN if no amount or count.

    Returns whether some are no amount or count; infinite numbers stay as they are.
    """
    wrong = 0
    for j in range(len(x)):
        if meaning == ON_OFF:
            for r in range(TILE):
                v = x[j, r]
                on = 1.0 if v > threshold else 0.0
                x[j, r] = on if v - v == 0.0 else v
        elif meaning == AMOUNTS:
            for r in range(TILE):
                v = x[j, r]
                amount = (v >= 0.0) | (v == -np.inf)
                wrong += not amount
                x[j, r] = v if amount else np.nan
        else:
            for r in range(TILE):
                v = x[j, r]
                count = ((v >= 0.0) & (np.floor(v) == v)) | (v == -np.inf)
                wrong += not count
                x[j, r] = v if count else np.nan
    return wrong > 0


ANSWERED = (
    f"void(int64, int64, float64, {SOURCE}, int64, {CENTRE}, {{}}, {NUMBERS}, {ROWS}, float64, int64, {{}}, "
    f"boolean[::1], {COUNTER}, int64, int64, int64[::1])"
)


def answering(factors: str, out: str, sums_of_tile: Any, find_peaks: Any, write: Any) -> Any:
    """The kernel that answers rows with factors and answers of these types.

    What it calls is set here, not chosen in it, so that a process compiles what it needs.
    """

    @kernel(ANSWERED.format(factors, out))
    def answer_rows(
        kind: int,
        meaning: int,
        threshold: float,
        addresses: Ints,
        base: int,
        stride: int,
        by_rows: bool,
        single: bool,
        n: int,
        pivot: Floats,
        remainder: Floats,
        factors: AnyArray,
        level: Floats,
        absent: Floats,
        limit: float,
        what: int,
        out: AnyArray,
        odd: Bools,
        counter: Ints,
        most: int,
        part: int,
        counts: Ints,
    ) -> None:
        """Answer the next parts of n rows, except rows marked as odd; levels must be finite.

        `absent` (d, K) is added to the sums of a row for a cell that is missing, in double precision; without
        lines, a row with such a cell is odd.
        `counts` gets the number of odd rows of each part. Arithmetic is in the precision of the factors; in
        single precision a row is odd, too, if half its squared distance from the likeliest class is beyond
        the limit.
        """
        d, n_classes = len(addresses), len(level)
        even = n_classes + n_classes % 2
        to_single = factors.itemsize == 4
        size, wide = 4 if single else 8, max(d, SQUARE)
        x = np.zeros((wide, TILE), factors.dtype)
        scores = np.zeros((even, TILE), level.dtype)
        squares = np.zeros((even if to_single else 0, TILE), factors.dtype)
        room = np.zeros((n_classes, TILE), out.dtype)
        added = np.zeros((n_classes if len(absent) else 0, TILE))
        peak, half, mark, check = np.zeros(TILE), np.zeros(TILE), np.zeros(TILE), np.zeros(TILE)
        sums = n_classes if kind == QUADRATIC else even
        for _ in range(most):
            p = take_next(counter)
            if p >= len(counts):
                break
            end, total = min(part * (p + 1), n), 0
            for first in range(part * p, end, TILE):
                rows = min(TILE, end - first)
                # Of a narrow row more cells are read than it has: those of the next rows must be there.
                left = stride * (end - first - TILE) + size * d
                if rows < TILE or (by_rows and left < size * SQUARE):
                    load_cells(
                        addresses, base, stride, by_rows, single, first, rows, pivot, remainder, x, check
                    )
                else:
                    load_tile(addresses, base, stride, by_rows, single, first, pivot, remainder, x, check)
                gaps = not_finite(check)
                if meaning != NUMBERS_AS_THEY_ARE:
                    gaps = read_cells(x[:d], meaning, threshold) or gaps
                if gaps and len(added):
                    leave_out_gaps(x[:d], absent, added)
                elif gaps and odd_rows(x[:d], rows) > FEW_GAPS:
                    odd[first : first + rows] = True
                    total += rows
                    continue
                sums_of_tile(kind, x[:d], factors, squares[:sums], scores[:sums])
                for k in range(len(added) if gaps else 0):
                    for r in range(TILE):
                        scores[k, r] += added[k, r]
                find_peaks(kind, level, squares, scores, peak, half, mark)
                for r in range(rows):
                    wrong = (mark[r] != 0.0) | (half[r] > limit)
                    odd[first + r] = wrong
                    total += wrong
                write(scores[:n_classes], peak, room, what, first, rows, out)
            counts[p] = total

    return answer_rows


BY_TYPES = {
    ("f8", "f8"): answering(NUMBERS, TABLE, sums_of_tile, find_peaks, write_doubles),
    ("f8", "f4"): answering(NUMBERS, SINGLE_TABLE, sums_of_tile, find_peaks, write_singles),
    ("f8", "i8"): answering(NUMBERS, "int64[::1]", sums_of_tile, find_peaks, write_best),
    ("f4", "f4"): answering(
        SINGLE_NUMBERS, SINGLE_TABLE, sums_of_tile_in_single, find_peaks_of_singles, write_singles
    ),
}


def answer_rows(factors: AnyArray, out: AnyArray) -> Any:
    """The kernel for factors and answers of these types."""
    return BY_TYPES[factors.dtype.kind + str(factors.itemsize), out.dtype.kind + str(out.itemsize)]
