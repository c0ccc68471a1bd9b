"""Many rows as few averages: what a model file keeps of rows, none of which can be told from it."""

from collections.abc import Iterator

import numpy as np

from posterior._types import Floats, Ints

# Numbers that the averages of one table take at most, 64 kB; how many rows an average has at least.
NUMBERS = 1 << 13
ROWS = 2
# Logs further down than this are alike.
LOWEST = -50.0
# A cell of ordered rows holds at most this share of the rows below it; doubled until the cells are few.
FINEST = 1 / 64


def near_cells(logs: Floats, most: int) -> Ints:
    """The number of the cell of each row (n,): rows with like logs (n, K) share one, each at least two rows.

    Cells are cut in halves along the column in which their rows differ most; there are at most `most`, and
    one for each set of classes that are impossible.
    """
    out, impossible = np.empty(len(logs), dtype=np.int64), np.isneginf(logs)
    pattern = np.zeros(len(logs), dtype=np.int64)
    if impossible.any():
        pattern = np.unique(impossible, axis=0, return_inverse=True)[1].reshape(-1)
    shown = np.maximum(logs, LOWEST)
    n_cells = 0
    for group in range(int(pattern.max(initial=-1)) + 1):
        rows = np.flatnonzero(pattern == group)
        for cell in _halved(shown, rows, most * len(rows) // len(logs)):
            out[cell] = n_cells
            n_cells += 1
    return out


def _halved(values: Floats, rows: Ints, most: int) -> Iterator[Ints]:
    """The rows in cells, at most `most` and at least one."""
    if most < 2 or len(rows) < 2 * ROWS:
        yield rows
        return
    part = values[rows]
    column = part[:, int(np.argmax(part.max(axis=0) - part.min(axis=0)))]
    order, middle = np.argsort(column, kind="stable"), len(rows) // 2
    yield from _halved(values, rows[order[:middle]], most // 2)
    yield from _halved(values, rows[order[middle:]], most - most // 2)


def ordered_cells(n: int, most: int) -> Ints:
    """Where cells of n ordered rows begin: two rows each at the start, then a share of the rows before."""
    share = FINEST
    while True:
        starts = [0]
        while (size := max(ROWS, int(starts[-1] * share))) and starts[-1] + size + ROWS <= n:
            starts.append(starts[-1] + size)
        if len(starts) <= max(most, 2):
            return np.array(starts)
        share *= 2


def averages(values: Floats, weight: Floats, cells: Ints) -> tuple[Floats, Floats]:
    """Weighted means (c, …) of the rows of each cell, and the weights (c,); −inf where any row has it."""
    n_cells = int(cells.max()) + 1
    total = np.bincount(cells, weight, n_cells).astype(np.float64)
    flat = values.reshape(len(values), -1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = [np.bincount(cells, weight * column, n_cells) / total for column in flat.T]
    return np.stack(means, axis=1).reshape(n_cells, *values.shape[1:]), total
