"""Categories: whole numbers as codes, codes counted by class, and log probabilities looked up by code."""

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.jit import LINE, NUMBERS, ROWS, kernel
from posterior.kernels.compiled.lines import add_sum_of_lines
from posterior.kernels.memory import MATRIX_CLASSES

# Rows in C order are read as one long vector whose columns come round again after a period, some whole
# rows: loops over the few columns of a single row would be too short to be vectors.


CELLS = "float64[::1]", "float32[::1]"


@kernel(*(f"boolean({cells}, float64[::1], uint64[::1])" for cells in CELLS))
def set_bits(values: AnyArray, lows: Floats, bits: AnyArray) -> bool:
    """Set bit v − low for each value; whether one is no whole number from low to low + 63."""
    period, outside = len(lows), 0
    for first in range(0, len(values), period):
        size = min(period, len(values) - first)
        cells = values[first : first + size]
        for j in range(size):
            place = cells[j] - lows[j]
            fits = (place >= 0) & (place < 64) & (np.floor(cells[j]) == cells[j])
            bit = np.uint64(1) << np.uint64(place if fits else 0.0)
            bits[j] |= bit if fits else np.uint64(0)
            outside |= int((not fits) & (cells[j] == cells[j]))
    return outside > 0


@kernel(*(f"void({cells}, float64[::1], float64[::1], int64[::1])" for cells in CELLS))
def widen(values: AnyArray, lows: Floats, highs: Floats, broken: Ints) -> None:
    """Smallest and largest value of each column, and whether one is no whole number."""
    period = len(lows)
    for first in range(0, len(values), period):
        size = min(period, len(values) - first)
        cells = values[first : first + size]
        for j in range(size):
            x = cells[j]
            lows[j] = x if x < lows[j] else lows[j]
            highs[j] = x if x > highs[j] else highs[j]
            broken[j] |= np.int64((np.floor(x) != x) & (x == x))


@kernel("void(int32[:, ::1], int64[::1], uint8[::1])")
def set_flags(places: AnyArray, starts: Ints, seen: AnyArray) -> None:
    """Set the flag of each place; the flags of a column begin with one for missing cells, place −1."""
    n, d = places.shape
    for i in range(n):
        row = places[i]
        for j in range(d):
            seen[np.uint64(starts[j] + row[j] + 1)] = 1


@kernel(*(f"void({cells}, float64[::1], float64[::1], int32[::1])" for cells in CELLS))
def find_places(values: AnyArray, lows: Floats, spans: Floats, places: AnyArray) -> None:
    """Write v − low for whole numbers from low to low + span − 1, −1 for missing cells, span for others."""
    period = len(lows)
    for first in range(0, len(values), period):
        size = min(period, len(values) - first)
        cells, out = values[first : first + size], places[first : first + size]
        for j in range(size):
            place = cells[j] - lows[j]
            fits = (place >= 0) & (place < spans[j]) & (np.floor(cells[j]) == cells[j])
            other = spans[j] if cells[j] == cells[j] else -1.0
            out[j] = np.int32(place if fits else other)


@kernel("void(int32[:, ::1], int64[::1], int32[::1])")
def translate(places: AnyArray, starts: Ints, codes: AnyArray) -> None:
    """Replace places by codes; the codes of a column begin with that of missing cells, place −1."""
    n, d = places.shape
    for i in range(n):
        row = places[i]
        for j in range(d):
            row[j] = codes[np.uint64(starts[j] + row[j] + 1)]


COUNTS = "void(int32[:, ::1], int64[:, ::1], int64[::1], int64[::1], {0}[::1], {0}[::1])"


@kernel(COUNTS.format("int64"), COUNTS.format("float64"))
def add_counts(
    codes: AnyArray, starts: Ints, tops: Ints, y: Ints, weight: AnyArray, counts: AnyArray
) -> None:
    """Add the weight of each row to the cells of its codes.

    For each class and column there is a line of cells: missing, the codes, unseen. It begins at its start
    and has its top above it.
    """
    n, d = codes.shape
    for i in range(n):
        w = weight[i]
        line, row = starts[y[i]], codes[i]
        for j in range(d):
            counts[np.uint64(line[j] + min(max(row[j] + 1, 0), tops[j]))] += w


@kernel(f"void(int32[:, ::1], int64[::1], int64[::1], int64[::1], {NUMBERS}, int64, {LINE})")
def add_by_code(
    codes: AnyArray, starts: Ints, tops: Ints, y: Ints, weight: Floats, n_classes: int, counts: Floats
) -> None:
    """The same where the cells of a column are lines of all classes: missing, the codes, unseen."""
    n, d = codes.shape
    for i in range(n):
        w, k, row = weight[i], y[i], codes[i]
        for j in range(d):
            line = min(max(row[j] + 1, 0), tops[j])
            counts[np.uint64(starts[j] + line * n_classes + k)] += w


def category_tables(
    codes: AnyArray, sizes: Ints, y: Ints, weight: AnyArray, n_classes: int
) -> tuple[Floats, ...]:
    """Weight of every (class, category) pair, a table (K, V) for each column; whole weights add up faster.

    Of many classes, the weights of a category lie side by side, as they are looked up, and are not copied.
    """
    if n_classes > MATRIX_CLASSES:
        bounds = n_classes * np.concatenate([[0], np.cumsum(sizes + 2)])
        counts = np.zeros(bounds[-1])
        add_by_code(codes, bounds[:-1], sizes + 1, y, weight.astype(np.float64), n_classes, counts)
        return tuple(
            counts[a:b].reshape(-1, n_classes)[1:-1].T
            for a, b in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
        )
    lines = n_classes * (sizes + 2)
    bounds = np.concatenate([[0], np.cumsum(lines)])
    starts = np.arange(n_classes)[:, None] * (sizes + 2) + bounds[:-1]
    counts = np.zeros(bounds[-1], dtype=weight.dtype)
    add_counts(codes, starts, sizes + 1, y, weight, counts)
    return tuple(
        counts[a:b].reshape(n_classes, -1)[:, 1:-1].astype(np.float64)
        for a, b in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    )


@kernel("void(int32[:, ::1], int64[::1], int64[::1], float64[:, :, ::1], float64[:, ::1])")
def add_lines(codes: AnyArray, starts: Ints, tops: Ints, table: Floats, out: Floats) -> None:
    """Add to each row of `out` the lines that its codes name.

    The lines of a column begin at its start: missing, the codes, unseen.
    """
    n, d = codes.shape
    line_bytes = 8 * table.shape[2]
    place, total = np.empty(d, np.int64), np.empty(table.shape[2])
    for i in range(n):
        row = codes[i]
        for j in range(d):
            place[j] = line_bytes * (starts[j] + min(max(row[j] + 1, 0), tops[j]))
        add_sum_of_lines(table, place, total, out[i])


@kernel(f"void(int32[:, ::1], int64, {ROWS}, {NUMBERS}, float64[:, ::1])")
def add_long_lines(codes: AnyArray, column: int, lines: Floats, unseen: Floats, out: Floats) -> None:
    """Add to each row of `out` the line (K,) that its code in a column names, or that of unseen codes."""
    n, n_classes = out.shape
    for i in range(n):
        code = codes[i, column]
        if code >= len(lines):
            for k in range(n_classes):
                out[i, k] += unseen[k]
        elif code >= 0:
            for k in range(n_classes):
                out[i, k] += lines[code, k]
