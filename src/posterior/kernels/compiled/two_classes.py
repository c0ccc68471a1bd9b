"""Two classes that one linear score tells apart: its sign says which, its logistic function how probably.

One score instead of two, which is worked out where the rows lie, no largest of a row and one exponential:
narrow rows take a fraction of the time. Rows with a gap, or a score that is not finite, are marked and left
to whoever called.
"""

from typing import Any

import numpy as np
from numba import carray

from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.kernels.compiled.jit import ANY_ORDER, LINE, NUMBERS, TABLE, kernel
from posterior.kernels.compiled.normalizing import exponentials
from posterior.kernels.compiled.one_line import score_rows
from posterior.kernels.compiled.row_scores import LOG_POSTERIORS, SCORES, SINGLE_TABLE, SOURCE, Singles
from posterior.kernels.compiled.series import log1p
from posterior.kernels.compiled.sharing import COUNTER, take_next
from posterior.kernels.compiled.tile_vectors import TILE, write_pairs, write_pairs_in_single
from posterior.kernels.compiled.vectors import doubles_at

# Rows that are scored at a time: the calls of all parts for each 64 rows took longer than their scores.
LINES = 8
BLOCK = LINES * TILE


@kernel(f"boolean({LINE})", fastmath=ANY_ORDER, inner=True)
def all_finite(score: Floats) -> bool:
    """Whether all of some numbers are finite."""
    total = 0.0
    for r in range(len(score)):
        total += 0.0 * score[r]
    return total == 0.0


@kernel(f"int64({LINE}, int64, int64, boolean[::1])", inner=True)
def mark_odd(score: Floats, first: int, n_rows: int, odd: Bools) -> int:
    """Mark rows whose score is not finite; how many they are."""
    count = 0
    for r in range(n_rows):
        odd[first + r] = not np.isfinite(score[r])
        count += odd[first + r]
    return count


@kernel(f"void({LINE}, int64, {TABLE}, {TABLE})", inner=True)
def take_answers(score: Floats, what: int, share: Floats, tile: Floats) -> None:
    """Write posteriors of both classes, or their logs, as two lines; `share` is room for as many scores."""
    line = carray(doubles_at(share.ctypes.data), (BLOCK,))
    for r in range(BLOCK):
        line[r] = -abs(score[r])
    for i in range(LINES):  # each by itself: how they are worked out depends on the smallest of them
        exponentials(share[i : i + 1])
    if what == LOG_POSTERIORS:
        for r in range(BLOCK):
            more = log1p(line[r])
            less, second = -abs(score[r]) - more, score[r] > 0.0
            tile[0, r], tile[1, r] = less if second else -more, -more if second else less
        return
    for r in range(BLOCK):
        larger = 1.0 / (1.0 + line[r])
        smaller, second = line[r] * larger, score[r] > 0.0
        tile[0, r], tile[1, r] = smaller if second else larger, larger if second else smaller


@kernel(f"void({LINE}, int64, int64, int64, {TABLE}, {TABLE}, {TABLE}, {TABLE})", inner=True)
def write_doubles(
    score: Floats,
    what: int,
    first: int,
    n_rows: int,
    share: Floats,
    tile: Floats,
    room: Floats,
    out: Floats,
) -> None:
    """Write what was asked for of a block of rows."""
    if what == SCORES:
        to = carray(doubles_at(out.ctypes.data + 8 * first), (n_rows,))
        for r in range(n_rows):
            to[r] = score[r]
        return
    take_answers(score, what, share, tile)
    whole = n_rows // TILE * TILE
    for r in range(0, whole, TILE):
        write_pairs(tile.ctypes.data + 8 * r, 8 * BLOCK, out.ctypes.data + 16 * (first + r))
    for r in range(whole, n_rows):
        out[first + r, 0], out[first + r, 1] = tile[0, r], tile[1, r]


@kernel(f"void({LINE}, int64, int64, int64, {TABLE}, {TABLE}, {SINGLE_TABLE}, {SINGLE_TABLE})", inner=True)
def write_singles(
    score: Floats,
    what: int,
    first: int,
    n_rows: int,
    share: Floats,
    tile: Floats,
    room: Singles,
    out: Singles,
) -> None:
    """What `write_doubles` does, in single precision."""
    if what == SCORES:
        for r in range(n_rows):
            out[first + r, 0] = np.float32(score[r])
        return
    take_answers(score, what, share, tile)
    for k in range(2):
        for r in range(BLOCK):
            room[k, r] = np.float32(tile[k, r])
    whole = n_rows // TILE * TILE
    for r in range(0, whole, TILE):
        write_pairs_in_single(room.ctypes.data + 4 * r, 4 * BLOCK, out.ctypes.data + 8 * (first + r))
    for r in range(whole, n_rows):
        out[first + r, 0], out[first + r, 1] = room[0, r], room[1, r]


@kernel(f"void({LINE}, int64, int64, int64, {TABLE}, {TABLE}, int64[:, ::1], int64[::1])", inner=True)
def write_best(
    score: Floats, what: int, first: int, n_rows: int, share: Floats, tile: Floats, room: Ints, out: Ints
) -> None:
    """Write the likelier class, the first of equals."""
    for r in range(n_rows):
        out[first + r] = np.int64(score[r] > 0.0)


ANSWERED = (
    f"void({SOURCE}, int64, {NUMBERS}, {NUMBERS}, float64, int64, {{}}, boolean[::1], "
    f"{COUNTER}, int64, int64, int64[::1])"
)


def answering(out: str, write: Any) -> Any:
    """The kernel that answers rows by answers of this type."""

    @kernel(ANSWERED.format(out))
    def answer_two_classes(
        addresses: Ints,
        base: int,
        stride: int,
        by_rows: bool,
        single: bool,
        n: int,
        pivot: Floats,
        factors: Floats,
        level: float,
        what: int,
        out: AnyArray,
        odd: Bools,
        counter: Ints,
        most: int,
        part: int,
        counts: Ints,
    ) -> None:
        """Answer the next parts of n rows by the score level + (x − pivot)·factors, except odd rows.

        `pivot` and `factors` are as `score_rows` takes them. Odd rows are marked in `odd`, which must be
        false before, and counted for each part in `counts`.
        """
        tile, share, score = np.zeros((2, BLOCK)), np.zeros((LINES, TILE)), np.zeros(BLOCK)
        room = np.zeros((2, BLOCK), out.dtype)
        for _ in range(most):
            p = take_next(counter)
            if p >= len(counts):
                break
            end, total = min(part * (p + 1), n), 0
            for first in range(part * p, end, BLOCK):
                rows = min(BLOCK, end - first)
                at = base + stride * first
                score_rows(addresses, at, stride, by_rows, single, rows, pivot, factors, level, score)
                for r in range(rows, BLOCK):  # of the block before
                    score[r] = 0.0
                if not all_finite(score):
                    total += mark_odd(score, first, rows, odd)
                write(score, what, first, rows, share, tile, room, out)
            counts[p] = total

    return answer_two_classes


BY_TYPES = {
    "f8": answering(TABLE, write_doubles),
    "f4": answering(SINGLE_TABLE, write_singles),
    "i8": answering("int64[::1]", write_best),
}


def answer_two_classes(out: AnyArray) -> Any:
    """The kernel for answers of this type."""
    return BY_TYPES[out.dtype.kind + str(out.itemsize)]
