"""Value, slope and curvature of the logistic loss: two classes, one score.

Rows are read once, a tile at a time, as they lie; all sums of a chunk are one call. Reference: `SoftmaxLoss`
of two classes and `slope_of`, `curvature_of` in `posterior.linear`.
"""

from typing import Any

import numpy as np

from posterior._types import Floats, Ints
from posterior.kernels.compiled.jit import CODES, LINE, NUMBERS, STACK, TABLE, kernel
from posterior.kernels.compiled.line_products import add_one, add_upper
from posterior.kernels.compiled.loss_parts import LossParts
from posterior.kernels.compiled.row_tiles import PLACES, TILE, clear_behind, load_tile, room_for, whole
from posterior.kernels.compiled.series import add_up, log1p, share, sum_of_tile
from posterior.kernels.compiled.sharing import COUNTER, take_next
from posterior.kernels.compiled.vectors import WIDTH
from posterior.kernels.memory import scratch

# Lines of TILE numbers: the score, which becomes the force; loss; curvature; weight; sign.
LINES = 5


ROWS = f"{PLACES}, {CODES}, {NUMBERS}, {NUMBERS}, {LINE}"


@kernel(
    f"void({ROWS}, {TABLE}, {TABLE}, {TABLE}, {COUNTER}, int64, int64, {TABLE}, {TABLE}, {STACK})",
    own=("rows", "columns", "room"),
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
    rows: Floats,
    columns: Floats,
    room: Floats,
    counter: Ints,
    most: int,
    part: int,
    values: Floats,
    pulls: Floats,
    bends: Floats,
) -> None:
    """Add the loss of the next parts to the sums of `values`, its derivatives to `pulls` and `bends`.

    A part has `part` rows, and each of these arrays an entry for it. Coefficients, with the level last, and
    pulls have a multiple of eight numbers, second derivatives as many lines of as many, written to from the
    diagonal on; without lines they are not asked for.
    """
    q = len(coef)
    line, side = WIDTH * q, WIDTH * TILE
    s, loss, v, w, sign = room[0], room[1], room[2], room[3], room[4]
    clear_behind(len(shift), rows, columns)
    for _ in range(most):
        place = take_next(counter)
        if place >= len(values):
            break
        value, pull, bend = values[place], pulls[place], bends[place]
        end = min((place + 1) * part, len(target))
        for at in range(place * part, end, TILE):
            k = min(TILE, end - at)
            load_tile(addresses, stride, size, upright, at, k, shift, rows, columns)
            for r in range(TILE):
                s[r] = 0.0
            add_one(coef.ctypes.data, columns.ctypes.data, side, q, TILE, s.ctypes.data)
            for r in range(k):
                sign[r] = 1.0 - 2.0 * target[at + r]
            if len(weight):
                for r in range(k):
                    w[r] = weight[at + r]
            else:
                for r in range(k):
                    w[r] = 1.0
            for r in range(k, TILE):
                sign[r] = w[r] = 0.0
            for r in range(TILE):
                wrong = s[r] * sign[r]
                e = share(-abs(wrong))
                odds = 1.0 / (1.0 + e)
                s[r] = w[r] * sign[r] * ((1.0 if wrong > 0 else e) * odds)
                v[r] = w[r] * (e * odds * odds)
                loss[r] = w[r] * (max(wrong, 0.0) + log1p(e))
            add_up(value, sum_of_tile(loss))
            add_one(s.ctypes.data, rows.ctypes.data, line, TILE, q, pull.ctypes.data)
            if len(bend):
                for j in range(q):
                    for r in range(TILE):
                        columns[j, r] *= v[r]
                add_upper(
                    columns.ctypes.data, side, WIDTH, rows.ctypes.data, line, TILE, q, bend.ctypes.data, line
                )


class LogisticParts(LossParts):
    """Σ w ℓ of scores coef (x − shift) + offset, coef (1, d), and its derivatives, of every `size` rows."""

    _kernel = staticmethod(add_sums)

    def __init__(self, *given: Any, curved: bool, **rows: Any) -> None:
        super().__init__(*given, **rows)
        d = self.coef.shape[1]
        q = whole(d + 1)
        self._d, self._line = d, np.zeros(q)
        self._line[:d], self._line[d] = self.coef[0], self.offset[0]
        self._curved = curved
        shape = (q, q) if curved else (0, 0)
        self._sums = np.zeros((self.n, 2)), np.zeros((self.n, q)), np.zeros((self.n, *shape))

    def _arguments(self, rows: tuple[Any, ...], shared: tuple[Any, ...]) -> tuple[Any, ...]:
        room = scratch("scores", LINES, TILE)
        return *rows, self._line, *room_for(self._d), room, *shared, *self._sums

    def whole(self) -> tuple[Floats, Floats, Floats, Floats | None]:
        """Sums of every part: losses, derivatives by coefficients (1, d) and offsets, and second ones.

        These are the upper triangle of Σ w p (1 − p) (x − shift, 1)(x − shift, 1)', where it is asked for.
        """
        d, (value, pull, bend) = self._d, self._sums
        i, j = np.triu_indices(d + 1)
        triangle = bend[:, None, i, j] if self._curved else None
        return value.sum(axis=1), pull[:, None, :d], pull[:, d : d + 1], triangle


def sums(*given: Any, curved: bool) -> tuple[float, Floats, Floats, Floats | None]:
    """The sums of `LogisticParts`, of all rows."""
    return LogisticParts(*given, curved=curved).of_all()
