"""Value, slope and curvature of the softmax loss, in one reading of the rows.

A tile of rows lies on its side, so that every step runs along rows; it stays in a core's cache. The Hessian
is one product of matrices: every block Σ v_ab x x' of it is symmetric, so that products of two classes and of
two columns, each formed once, say it all. Reference: `SoftmaxLoss` and `slope_of`, `curvature_of` in
`posterior.linear`.
"""

from typing import Any

import numpy as np

from posterior._types import Floats, Ints
from posterior.kernels.compiled.jit import CODES, NUMBERS, STACK, TABLE, kernel, step
from posterior.kernels.compiled.line_products import EIGHT, FOUR, add_all, add_upper, turn_8
from posterior.kernels.compiled.loss_parts import LossParts
from posterior.kernels.compiled.row_tiles import PLACES, TILE, clear_behind, load_tile, room_for, whole
from posterior.kernels.compiled.series import add_up, log1p, share, sum_of_tile
from posterior.kernels.compiled.sharing import COUNTER, take_next
from posterior.kernels.compiled.vectors import WIDTH
from posterior.kernels.memory import scratch

# Lines of TILE numbers beside the scores: peak, below, own, others, weight, pace.
LINES = 6
# For fewer pairs of scores a product of columns with each is less than products of all pairs of columns.
FEW_PAIRS = 6


@step
def turn_to_forces(
    e: Floats, n_classes: int, first: int, target: Ints, weight: Floats, room: Floats, shares: Floats
) -> float:
    """Turn a tile's scores (K, T) into w (p − 1[class]) of the scores from `first` on; the loss of its rows.

    Rows past the last one of `target` count nothing. p is written to `shares`, if there are any.
    """
    k, T = len(target), TILE
    peak, below, own, others, w, pace = room[0], room[1], room[2], room[3], room[4], room[5]
    for r in range(T):
        peak[r] = e[0, r]
        others[r] = 0.0
    for c in range(1, n_classes):
        for r in range(T):
            peak[r] = max(peak[r], e[c, r])
    for r in range(T):
        below[r] = 0.0
        own[r] = 1.0
        w[r] = 0.0
    for r in range(k):
        below[r] = peak[r] - e[target[r], r]
        w[r] = 1.0
    if len(weight):
        for r in range(k):
            w[r] = weight[r]
    for c in range(n_classes):
        for r in range(T):
            e[c, r] = share(e[c, r] - peak[r])
    if len(shares):
        for c in range(n_classes):
            for r in range(T):
                shares[c, r] = e[c, r]
    # What the other classes have is summed by itself: 1 − p keeps its digits where p is almost 1.
    for r in range(k):
        own[r] = e[target[r], r]
        e[target[r], r] = 0.0
    for c in range(n_classes):
        for r in range(T):
            others[r] += e[c, r]
    for r in range(T):
        sure = others[r] < own[r]
        odds = others[r] / own[r] if sure else others[r] + own[r] - 1.0
        below[r] = w[r] * ((0.0 if sure else below[r]) + log1p(odds))
        own[r] = 1.0 / (others[r] + own[r])
        pace[r] = w[r] * own[r]
    for c in range(first, n_classes):
        for r in range(T):
            e[c, r] *= pace[r]
    for r in range(k):
        e[target[r], r] = -others[r] * pace[r]
    if len(shares):
        for c in range(n_classes):
            for r in range(T):
                shares[c, r] *= own[r]
    return float(sum_of_tile(below))


@step
def _bends(p: Floats, first: int, w: Floats, before: Floats, after: Floats, by_class: Floats) -> None:
    """Write w ∂²ℓ of every two scores, (R(R+1)/2, T), from the probabilities of the classes (K, T)."""
    K, T = len(p), TILE
    for r in range(T):
        before[r] = 0.0
        after[K - 1, r] = 0.0
    for c in range(K - 1, 0, -1):
        for r in range(T):
            after[c - 1, r] = after[c, r] + p[c, r]
    at = 0
    for a in range(K):
        if a >= first:
            for r in range(T):
                # 1 − p is the sum of the others: without its rounding.
                by_class[at, r] = (w[r] * p[a, r]) * (before[r] + after[a, r])
            at += 1
            for b in range(a + 1, K):
                for r in range(T):
                    by_class[at, r] = -(w[r] * p[a, r]) * p[b, r]
                at += 1
        for r in range(T):
            before[r] += p[a, r]


@step
def _turn(on_side: Floats, upright: Floats) -> None:
    """Write lines of numbers of rows as rows of numbers, up to a multiple of eight."""
    line = WIDTH * upright.shape[1]
    for i in range(0, upright.shape[1], EIGHT):
        for r in range(0, TILE, EIGHT):
            turn_8(on_side[i, r:].ctypes.data, WIDTH * TILE, upright[r, i:].ctypes.data, line)


@step
def _add_pairs(columns: Floats, size: int, pairs: Floats, room: Floats, out: Floats) -> None:
    """Add Σ over rows of the products of every two columns times what rows have for pairs of scores."""
    i, j, line = 0, 0, WIDTH * out.shape[1]
    for at in range(0, len(out), EIGHT):
        for c in range(EIGHT):
            for r in range(TILE):
                room[c, r] = columns[i, r] * columns[j, r]
            j += 1
            if j == size:
                i = min(i + 1, size - 1)
                j = i
        left, right, to = room.ctypes.data, pairs.ctypes.data, out[at:].ctypes.data
        add_all(left, WIDTH * TILE, WIDTH, right, line, TILE, EIGHT, out.shape[1], to, line)


@step
def _add_blocks(rows: Floats, columns: Floats, on_side: Floats, out: Floats) -> None:
    """Add Σ over rows of x x' times what rows have for a pair of scores, for one pair after the other."""
    q = len(columns)
    scaled, line, side = on_side[len(on_side) - q :], WIDTH * q, WIDTH * TILE
    for at in range(len(out) // q):
        for j in range(q):
            for r in range(TILE):
                scaled[j, r] = columns[j, r] * on_side[at, r]
        left, right, to = scaled.ctypes.data, rows.ctypes.data, out[at * q :].ctypes.data
        add_upper(left, side, WIDTH, right, line, TILE, q, to, line)


ROWS = f"{PLACES}, {CODES}, {NUMBERS}, {NUMBERS}, {TABLE}, int64"


@kernel(
    f"void({ROWS}, {TABLE}, {TABLE}, {TABLE}, {TABLE}, {TABLE}, {COUNTER}, int64, int64, {TABLE}, {STACK}, "
    f"{STACK})",
    own=("rows", "columns", "lines", "on_side", "upright_pairs"),
)
def add_sums(
    addresses: Ints,
    stride: int,
    size: int,
    upright: bool,
    target: Ints,
    weight: Floats,
    shift: Floats,
    coef: Floats,
    n_classes: int,
    rows: Floats,
    columns: Floats,
    lines: Floats,
    on_side: Floats,
    upright_pairs: Floats,
    counter: Ints,
    most: int,
    part: int,
    values: Floats,
    pulls: Floats,
    bends: Floats,
) -> None:
    """Add the loss of the next parts to the sums of `values`, its derivatives to `pulls` and `bends`.

    A part has `part` rows, and each of these arrays an entry for it. The coefficients, with the level last,
    are a multiple of 4 lines of a multiple of 8 numbers, as are pulls. Second derivatives have lines for
    every two columns, as in `np.triu_indices`, of numbers for every two scores, both up to a multiple of 8.
    Without `upright_pairs` they have a square for every two scores, written to from the diagonal on; without
    lines, they are not asked for.
    """
    R4, q = coef.shape
    line, side = WIDTH * q, WIDTH * TILE
    n_kept = n_classes if bends.shape[1] else 0
    first = len(lines) - R4 - LINES - 2 * n_kept
    e, room = lines[: first + R4], lines[first + R4 : first + R4 + LINES]
    p, after = lines[first + R4 + LINES : len(lines) - n_kept], lines[len(lines) - n_kept :]
    own = e[first:].ctypes.data
    clear_behind(len(shift), rows, columns)
    # What is left there may be so small that products with it take long.
    n_scores = n_classes - first
    for i in range(n_scores * (n_scores + 1) // 2, len(on_side)):
        for r in range(TILE):
            on_side[i, r] = 0.0
    for _ in range(most):
        place = take_next(counter)
        if place >= len(values):
            break
        value, pull, bend = values[place], pulls[place], bends[place]
        end = min((place + 1) * part, len(target))
        for at in range(place * part, end, TILE):
            k = min(TILE, end - at)
            load_tile(addresses, stride, size, upright, at, k, shift, rows, columns)
            for c in range(len(e)):
                for r in range(TILE):
                    e[c, r] = 0.0
            add_all(coef.ctypes.data, line, WIDTH, columns.ctypes.data, side, q, R4, TILE, own, side)
            some = weight[at : at + k] if len(weight) else weight
            add_up(value, turn_to_forces(e, n_classes, first, target[at : at + k], some, room, p))
            add_all(own, side, WIDTH, rows.ctypes.data, line, TILE, R4, q, pull.ctypes.data, line)
            if len(bend):
                _bends(p, first, room[4], room[3], after, on_side)
                if len(upright_pairs):
                    _turn(on_side, upright_pairs)
                    _add_pairs(columns, len(shift) + 1, upright_pairs, on_side[len(on_side) - q :], bend)
                else:
                    _add_blocks(rows, columns, on_side, bend)


class SoftmaxParts(LossParts):
    """Σ w ℓ of scores coef (x − shift) + offset, and its derivatives, of every `size` rows.

    Where there is one class more than scores, the score of the first is 0.
    """

    _kernel = staticmethod(add_sums)

    def __init__(self, *given: Any, curved: bool, **rows: Any) -> None:
        super().__init__(*given, **rows)
        (R, d), K = self.coef.shape, self.n_classes
        self._shape, self._curved, self._first = (R, d), curved, K - R
        R4, q = whole(R, FOUR), whole(d + 1)
        self._beta = np.zeros((R4, q))
        self._beta[:R, :d], self._beta[:R, d] = self.coef, self.offset
        self._n_pairs, self._n_products = R * (R + 1) // 2, (d + 1) * (d + 2) // 2
        self._few = self._n_pairs < FEW_PAIRS
        few = (self._n_pairs * q, q)
        shape = few if self._few else (whole(self._n_products), whole(self._n_pairs))
        self._sums = (
            np.zeros((self.n, 2)),
            np.zeros((self.n, R4, q)),
            np.zeros((self.n, *(shape if curved else (0, 0)))),
        )

    def _room(self) -> tuple[Floats, ...]:
        """Memory of this thread."""
        (R4, q), d = self._beta.shape, self._shape[1]
        # Without curvature there are no pairs: those of 20,000 classes would take 95 GiB.
        kept, n_pairs = (2 * self.n_classes, whole(self._n_pairs)) if self._curved else (0, 0)
        lines = scratch("scores", self._first + R4 + LINES + kept, TILE)
        on_side = scratch("pairs on side", n_pairs + q, TILE)
        return *room_for(d), lines, on_side, scratch("pairs", 0 if self._few else TILE, n_pairs)

    def _arguments(self, rows: tuple[Any, ...], shared: tuple[Any, ...]) -> tuple[Any, ...]:
        return *rows, self._beta, self.n_classes, *self._room(), *shared, *self._sums

    def whole(self) -> tuple[Floats, Floats, Floats, Floats | None]:
        """Sums of every part: losses, derivatives by coefficients (R, d) and offsets, and second ones.

        These are pairs of scores by pairs of columns as in `np.triu_indices`, where they are asked for.
        """
        (R, d), (value, pull, bend) = self._shape, self._sums
        paired = None
        if self._curved and self._few:
            i, j = np.triu_indices(d + 1)
            paired = bend.reshape(self.n, self._n_pairs, *2 * (self._beta.shape[1],))[:, :, i, j]
        elif self._curved:
            paired = bend[:, : self._n_products, : self._n_pairs].swapaxes(1, 2)
        return value.sum(axis=1), pull[:, :R, :d], pull[:, :R, d], paired


def sums(*given: Any, curved: bool) -> tuple[float, Floats, Floats, Floats | None]:
    """The sums of `SoftmaxParts`, of all rows."""
    return SoftmaxParts(*given, curved=curved).of_all()
