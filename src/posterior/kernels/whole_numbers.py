"""Columns of whole numbers that lie close together: which there are, and numbers as codes."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels import reference
from posterior.kernels.choice import compiled
from posterior.kernels.layouts import in_rows, rows_as_stored

Codes32: TypeAlias = NDArray[np.int32]
Read: TypeAlias = Callable[[slice], Floats]

PART_CELLS = 1 << 17
PERIOD = 512
MOST_FLAGS = 1 << 24
ROOM_BELOW = 8  # a rare value may be less than all that come first


def distinct_whole(read: Read, n_rows: int, n_columns: int) -> list[Ints | None]:
    """The sorted values of each column, None for one with other than whole numbers close together.

    `read` gives some of the rows as numbers (m, d), NaN for missing; they are read part by part.
    """
    if compiled("categories", n_rows * n_columns) is None:
        return [reference.distinct_whole(column) for column in read(slice(0, n_rows)).T]
    return _by_bits(read, n_rows, n_columns) or _by_flags(read, n_rows, n_columns)


def _parts(read: Read, n_rows: int, n_columns: int) -> Iterator[AnyArray]:
    step = max(1, PART_CELLS // n_columns)
    return (rows_as_stored(read(slice(start, min(start + step, n_rows)))) for start in range(0, n_rows, step))


def _by_bits(read: Read, n_rows: int, n_columns: int) -> list[Ints | None] | None:
    """One reading that is enough where no column has more than about fifty values; else None."""
    kernel = compiled("categories", n_rows * n_columns)
    first = in_rows(read(slice(0, min(n_rows, 256))))
    least = np.where(np.isnan(first), np.inf, first).min(axis=0)
    lows = np.where(np.abs(least) < 2.0**31, np.floor(least) - ROOM_BELOW, 0.0)
    repeats = -(-PERIOD // n_columns)
    periodic, bits = np.tile(lows, repeats), np.zeros(n_columns * repeats, dtype=np.uint64)
    for part in _parts(read, n_rows, n_columns):
        if kernel.set_bits(part.reshape(-1), periodic, bits):
            return None
    found = np.bitwise_or.reduce(bits.reshape(repeats, n_columns), axis=0)
    places = (found[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    return [np.flatnonzero(line) + int(low) for line, low in zip(places, lows, strict=True)]


def _by_flags(read: Read, n_rows: int, n_columns: int) -> list[Ints | None]:
    """Two readings: the range of each column, and which numbers of it there are."""
    kernel = compiled("categories", n_rows * n_columns)
    repeats = -(-PERIOD // n_columns)
    lows, highs = (np.full(n_columns * repeats, end) for end in (np.inf, -np.inf))
    broken = np.zeros(n_columns * repeats, dtype=np.int64)
    for part in _parts(read, n_rows, n_columns):
        kernel.widen(part.reshape(-1), lows, highs, broken)
    low, high = lows.reshape(repeats, -1).min(axis=0), highs.reshape(repeats, -1).max(axis=0)
    most = min(reference.WIDEST_SPAN, MOST_FLAGS // n_columns)
    empty = low > high
    with np.errstate(invalid="ignore"):
        close = empty | ((np.maximum(-low, high) < 2.0**31) & (high - low < most))
    close &= ~broken.reshape(repeats, -1).any(axis=0)
    span = np.where(close & ~empty, high - low + 1, 0.0).astype(np.int64)
    low = np.where(span > 0, low, 0.0)
    starts = np.cumsum(span + 2) - (span + 2)
    seen = np.zeros(int((span + 2).sum()), dtype=np.uint8)
    for part in _parts(read, n_rows, n_columns):
        kernel.set_flags(_places(kernel, part, low, span), starts, seen)
    flags = np.split(seen, starts[1:])
    return [
        np.flatnonzero(flag[1:-1]) + int(a) if ok else None
        for flag, a, ok in zip(flags, low, close, strict=True)
    ]


def _places(kernel: Any, values: AnyArray, low: Floats, span: Ints) -> Codes32:
    """Values less the lowest of their column; −1 for missing, the span for what is none of them."""
    repeats = -(-PERIOD // values.shape[1])
    places = np.empty(values.shape, dtype=np.int32)
    lows, spans = np.tile(low, repeats), np.tile(span.astype(np.float64), repeats)
    kernel.find_places(values.reshape(-1), lows, spans, places.reshape(-1))
    return places


class WholeCodes:
    """The codes of whole numbers: for each column its lowest number, and the codes from there on.

    A missing cell has code −1, and any other number the code `unseen` of its column.

    >>> codes = WholeCodes([(5, np.array([0, 2], dtype=np.int32))], [3], 4)
    >>> codes.of(np.array([[5.0], [6.0], [7.0], [np.nan]])).T
    array([[ 0,  2,  3, -1]], dtype=int32)
    """

    def __init__(self, columns: Sequence[tuple[int, Codes32]], unseen: Sequence[int], n_cells: int) -> None:
        self._low = np.array([low for low, _ in columns], dtype=np.float64)
        self._span = np.array([len(codes) for _, codes in columns], dtype=np.int64)
        self._starts = np.cumsum(self._span + 2) - (self._span + 2)
        lines = [
            np.concatenate([[-1], codes, [new]]) for (_, codes), new in zip(columns, unseen, strict=True)
        ]
        self._codes = np.concatenate(lines).astype(np.int32)
        self._in_order = all((line[1:] == np.arange(len(line) - 1)).all() for line in lines)
        # Of all rows, not of some: the codes are the same either way.
        self._n_cells = n_cells

    def of(self, values: AnyArray) -> Codes32:
        """The codes of rows of numbers (m, d), NaN for missing."""
        kernel = compiled("categories", self._n_cells)
        if kernel is None:
            places = reference.whole_places(np.asarray(values, dtype=np.float64), self._low, self._span)
            return places if self._in_order else self._codes[self._starts + places + 1]
        places = _places(kernel, rows_as_stored(values), self._low, self._span)
        if not self._in_order:
            kernel.translate(places, self._starts, self._codes)
        return places
