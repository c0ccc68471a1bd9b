"""Rows less a centre times the coefficients of many classes, from panels of rows and of classes."""

import numpy as np

from posterior._types import Floats
from posterior.kernels.compiled.jit import NUMBERS, ROWS, STACK, TABLE, deviation, kernel, step
from posterior.kernels.compiled.line_products import EIGHT, add_all
from posterior.kernels.compiled.panels import ACROSS, LINE_BYTES, LINES, add_block
from posterior.kernels.compiled.tile_vectors import turn_doubles
from posterior.kernels.compiled.vectors import WIDTH
from posterior.kernels.memory import scratch

# Rows that are turned at a time, of so many columns: they stay in the second cache of a core.
ROWS_AT_ONCE, COLUMNS_AT_ONCE = 128, 256


@step
def _turn_rows(
    values: Floats, start: int, first: int, last: int, pivot: Floats, remainder: Floats, out: Floats
) -> None:
    """Some columns of rows less the centre, in panels of eight rows; zeros for rows that there are not."""
    (n, d), check = values.shape, np.zeros(EIGHT)
    stride, panel = WIDTH * d, WIDTH * out.shape[1]
    own, to, p, m = values.ctypes.data, out.ctypes.data, pivot.ctypes.data, remainder.ctypes.data
    for i in range(len(out)):
        at, j = start + EIGHT * i, first
        if at + EIGHT <= n:
            while j + EIGHT <= last:
                here, there = own + stride * at + WIDTH * j, to + panel * i + LINE_BYTES * (j - first)
                turn_doubles(here, stride, there, LINE_BYTES, p + WIDTH * j, m + WIDTH * j, check.ctypes.data)
                j += EIGHT
        while j < last:
            for r in range(EIGHT):
                there = (j - first) * EIGHT + r
                out[i, there] = deviation(values[at + r, j], pivot[j], remainder[j]) if at + r < n else 0.0
            j += 1


@kernel(f"void({ROWS}, {NUMBERS}, {NUMBERS}, {STACK}, {TABLE}, {TABLE}, {TABLE})")
def multiply(
    values: Floats,
    pivot: Floats,
    remainder: Floats,
    classes: Floats,
    turned: Floats,
    scores: Floats,
    out: Floats,
) -> None:
    """Write the scores of rows to `out`; `turned` and `scores` are room for some rows."""
    (n, d), (n_panels, n_classes), line = values.shape, (len(classes), out.shape[1]), WIDTH * scores.shape[1]
    panel, row_panel = LINE_BYTES * d, WIDTH * turned.shape[1]
    odd = n_panels % ACROSS
    for start in range(0, n, len(scores)):
        size = min(len(scores), n - start)
        some = turned[: -(-size // EIGHT)]
        scores[:size] = 0.0
        for first in range(0, d, COLUMNS_AT_ONCE):
            last = min(first + COLUMNS_AT_ONCE, d)
            _turn_rows(values, start, first, last, pivot, remainder, some)
            for pair in range(-(-n_panels // ACROSS)):
                k = max(ACROSS * pair - odd, 0)
                alone = pair == 0 and odd > 0
                right = classes.ctypes.data + panel * k + LINE_BYTES * first
                for i in range(len(some)):
                    for a in range(0, EIGHT, LINES):
                        left = some.ctypes.data + row_panel * i + WIDTH * a
                        to = scores.ctypes.data + line * (EIGHT * i + a) + LINE_BYTES * k
                        if alone:
                            add_all(
                                left,
                                WIDTH,
                                LINE_BYTES,
                                right,
                                LINE_BYTES,
                                last - first,
                                LINES,
                                EIGHT,
                                to,
                                line,
                            )
                        else:
                            add_block(
                                left, WIDTH, LINE_BYTES, right, LINE_BYTES, last - first, to, line, panel
                            )
        for r in range(size):
            for k in range(n_classes):
                out[start + r, k] = scores[r, k]


def wide_scores(values: Floats, pivot: Floats, remainder: Floats, classes: Floats, out: Floats) -> None:
    """(values − pivot − remainder) times the coefficients that `classes` has in panels."""
    columns = min(COLUMNS_AT_ONCE, values.shape[1])
    turned = scratch("turned", ROWS_AT_ONCE // EIGHT, EIGHT * columns)
    scores = scratch("panels of scores", ROWS_AT_ONCE, EIGHT * len(classes))
    multiply(values, pivot, remainder, classes, turned, scores, out)
