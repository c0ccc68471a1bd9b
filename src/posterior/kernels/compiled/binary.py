"""Features that are on above a threshold: counted by class, and their log probabilities added up."""

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.columns import COLUMNS, column
from posterior.kernels.compiled.jit import CODES, LINE, NUMBERS, ROWS, SINGLE_ROWS, STACK, TABLE, kernel
from posterior.kernels.compiled.lines import add_sum_of_lines

STORED = (ROWS, SINGLE_ROWS)


@kernel(*(f"void({rows}, float64, {CODES}, {NUMBERS}, {TABLE}, {TABLE})" for rows in STORED))
def add_ones(values: Floats, threshold: float, y: Ints, weight: Floats, on: Floats, gap: Floats) -> None:
    """Add the weight of each row to its cells above the threshold, and to its missing ones, by class."""
    n, d = values.shape
    weighted = len(weight) > 0
    for i in range(n):
        w = weight[i] if weighted else 1.0
        k = y[i]
        row, ones, gaps = values[i], on[k], gap[k]
        for j in range(d):
            x = row[j]
            ones[j] += w if x > threshold else 0.0
            gaps[j] += w if x != x else 0.0


@kernel(*(f"void({rows}, float64, {CODES}, {NUMBERS}, {TABLE}, {LINE})" for rows in STORED))
def add_complete(
    values: Floats, threshold: float, y: Ints, weight: Floats, on: Floats, check: Floats
) -> None:
    """What `add_ones` adds to the ones; `check` does not stay zero where a cell is not finite."""
    n, d = values.shape
    weighted = len(weight) > 0
    for i in range(n):
        w = weight[i] if weighted else 1.0
        row, ones = values[i], on[y[i]]
        for j in range(d):
            x = row[j]
            ones[j] += w if x > threshold else 0.0
            check[j] += 0.0 * x


@kernel(*(f"boolean({each}, int64, float64, {CODES}, {NUMBERS}, float64[:, ::1])" for each in COLUMNS))
def add_columns(
    addresses: AnyArray, start: int, threshold: float, y: Ints, weight: Floats, on: Floats
) -> bool:
    """What `add_complete` adds, from columns that lie apart, four at a time; whether all cells are finite."""
    n, d, n_classes = len(y), len(addresses), len(on)
    weighted = len(weight) > 0
    ones = np.empty((n_classes, 4))
    check = 0.0
    for j in range(0, d, 4):
        last = d - 1
        a, b = column(addresses, j, start, n), column(addresses, min(j + 1, last), start, n)
        c, e = column(addresses, min(j + 2, last), start, n), column(addresses, min(j + 3, last), start, n)
        ones[:] = 0.0
        for i in range(n):
            s = ones[y[i]]
            w = weight[i] if weighted else 1.0
            s[0] += w if a[i] > threshold else 0.0
            s[1] += w if b[i] > threshold else 0.0
            s[2] += w if c[i] > threshold else 0.0
            s[3] += w if e[i] > threshold else 0.0
            check += 0.0 * (a[i] + b[i]) + 0.0 * (c[i] + e[i])
        for k in range(n_classes):
            for m in range(min(4, d - j)):
                on[k, j + m] += ones[k, m]
    return check == 0.0


@kernel(*(f"void({rows}, float64, {STACK}, {TABLE})" for rows in STORED))
def add_lines(values: Floats, threshold: float, table: Floats, out: Floats) -> None:
    """Add to each row of `out` the lines of its cells.

    There are three lines for each column: missing, off and on.
    """
    n, d = values.shape
    line_bytes = 8 * table.shape[2]
    place, total = np.empty(d, np.int64), np.empty(table.shape[2])
    for i in range(n):
        row = values[i]
        for j in range(d):
            x = row[j]
            # Without a branch, which nobody could foretell.
            place[j] = line_bytes * (3 * j + np.int64(x == x) + np.int64(x > threshold))
        add_sum_of_lines(table, place, total, out[i])
