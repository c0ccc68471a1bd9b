"""Tables as they lie in memory: arrays of any layout, and columns apart from each other."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.choice import compiled
from posterior.kernels.memory import scratch, writable

# Columns over which, and classes for which, scores are added up at a time.
STEP = 2
# Rows that are brought into C order at a time: they stay in the cache of a core while they are used.
TILE_CELLS, TILE_ROWS = 1 << 15, 128


class SeparateColumns:
    """Rows `start` to `stop` of columns that lie apart in memory, as data frames keep them.

    All are float64, or all are float32.

    >>> table = SeparateColumns.of([np.array([1.0, 2.0]), np.array([3.0, 4.0])])
    >>> table[1:2].in_rows()
    array([[2., 4.]])
    """

    def __init__(self, arrays: "tuple[Floats, ...] | Floats", addresses: Ints, start: int, stop: int) -> None:
        # Each column whole, in a tuple, or as the lines of one array.
        self.arrays, self.addresses, self.start, self.stop = arrays, addresses, start, stop

    @classmethod
    def of(cls, arrays: Sequence[Floats]) -> "SeparateColumns":
        """Columns of equal length, each contiguous; they are not copied."""
        addresses = np.array([a.__array_interface__["data"][0] for a in arrays], dtype=np.int64)
        return cls(tuple(arrays), addresses, 0, len(arrays[0]))

    @classmethod
    def of_array(cls, array: Floats) -> "SeparateColumns":
        """The columns of an array, each contiguous; none is looked at by itself, however many there are."""
        first, (n, d) = array.__array_interface__["data"][0], array.shape
        return cls(array.T, first + array.strides[1] * np.arange(d, dtype=np.int64), 0, n)

    @property
    def dtype(self) -> Any:
        """The type of all numbers."""
        return self.arrays[0].dtype

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.stop - self.start, len(self.arrays)

    @property
    def size(self) -> int:
        """Number of cells."""
        return (self.stop - self.start) * len(self.arrays)

    def __len__(self) -> int:
        return self.stop - self.start

    def __getitem__(self, rows: slice) -> "SeparateColumns":
        start, stop, _ = rows.indices(len(self))
        return SeparateColumns(self.arrays, self.addresses, self.start + start, self.start + max(stop, start))

    def as_one_array(self) -> Floats:
        """The columns as an array: a view, which this table keeps alive, or else a copy in rows.

        A view is possible where columns lie equally far from each other.
        """
        if isinstance(self.arrays, np.ndarray):
            return self._of_one_array
        steps = set(np.diff(self.addresses).tolist()) or {self.dtype.itemsize}
        if len(steps) > 1:
            return self.in_rows()
        first, strides = self.arrays[0][self.start : self.stop], (self.dtype.itemsize, *steps)
        # What it reads lives as long as this table does.
        return np.lib.stride_tricks.as_strided(first, self.shape, strides, writeable=False)

    @property
    def _of_one_array(self) -> Floats:
        """The rows, where the columns are those of one array."""
        assert isinstance(self.arrays, np.ndarray)  # noqa: S101 -- for the type checker
        return self.arrays.T[self.start : self.stop]

    def some_rows(self, rows: Ints) -> Floats:
        """A copy of some rows, by their numbers."""
        if isinstance(self.arrays, np.ndarray):
            return np.asarray(self._of_one_array[rows], dtype=np.float64)
        return np.stack([array[self.start + rows] for array in self.arrays], axis=1).astype(np.float64)

    def in_rows(self, out: Floats | None = None) -> Floats:
        """A copy in C order, in double precision."""
        if out is None:
            out = np.empty(self.shape)
        kernel = compiled("columns", self.size)
        if kernel is not None:
            kernel.pack(kernel.addresses_of(self), self.start, out)
        elif isinstance(self.arrays, np.ndarray):
            out[:] = self._of_one_array
        else:
            for j, array in enumerate(self.arrays):
                out[:, j] = array[self.start : self.stop]
        return out


NumberTable: TypeAlias = Floats | SeparateColumns


def in_precision_of(cells: Any, threshold: float) -> float:
    """The threshold in the precision of the cells that are compared with it, as NumPy does.

    >>> in_precision_of(np.zeros((1, 1), np.float32), 0.1) > 0.1
    True
    """
    kind = np.dtype(cells.dtype)
    if kind.kind != "f" or kind.itemsize >= np.dtype(np.float64).itemsize:
        return threshold
    with np.errstate(over="ignore"):  # beyond all numbers of that precision
        return float(kind.type(threshold))


def lies_in_rows(table: Any) -> bool:
    """Whether a table is float64 in C order."""
    if isinstance(table, SeparateColumns):
        return False
    return bool(table.dtype == np.float64 and table.flags.c_contiguous)


def in_rows(table: Any, use: str | None = None) -> Floats:
    """A table as float64 in C order: itself where it is, else a copy, in `scratch` where a use is named."""
    if lies_in_rows(table):
        rows: Floats = writable(table)
        return rows
    out = np.empty(table.shape) if use is None else scratch(use, *table.shape)
    if isinstance(table, SeparateColumns):
        table.in_rows(out)
    else:
        out[:] = table
    return out


def rows_as_stored(table: Any) -> AnyArray:
    """A table in C order, in single precision where an array is; else as `in_rows` has it."""
    single = isinstance(table, np.ndarray) and table.dtype == np.float32
    return writable(np.ascontiguousarray(table)) if single else in_rows(table)


def _lies_in_single_rows(table: Any) -> bool:
    return bool(isinstance(table, np.ndarray) and table.dtype == np.float32 and table.flags.c_contiguous)


def some_columns(table: NumberTable, columns: slice) -> NumberTable:
    """Columns side by side of a table, where they lie."""
    if isinstance(table, SeparateColumns):
        return SeparateColumns(table.arrays[columns], table.addresses[columns], table.start, table.stop)
    return table[:, columns]


def tiles(table: Any) -> Iterator[tuple[slice, Floats]]:
    """The rows in C order: as a whole where they lie so, else in copies of a few, which the next replace.

    Those are a multiple of `TILE_ROWS`, so that kernels see the same tiles in any layout.
    """
    n, d = table.shape
    if lies_in_rows(table):
        yield slice(0, n), writable(table)
        return
    size = tile_rows(d)
    for start in range(0, n, size):
        rows = slice(start, min(start + size, n))
        yield rows, in_rows(table[rows], "tile")


def tiles_as_stored(table: Any) -> Iterator[tuple[slice, AnyArray]]:
    """The same, for kernels that read rows in single precision as they lie."""
    if _lies_in_single_rows(table):
        yield slice(0, len(table)), writable(table)
    else:
        yield from tiles(table)


def tile_rows(d: int) -> int:
    """How many rows of d columns are brought into C order at a time."""
    return max(TILE_ROWS, TILE_CELLS // max(d, 1) // TILE_ROWS * TILE_ROWS)


def array_as_it_lies(array: AnyArray) -> "NumberTable | None":
    """An array of floats as a table without a copy, None of other types.

    Where each column is contiguous, as in Fortran order or in a single row, they are columns apart, which
    kernels read where they lie.
    """
    if array.dtype not in (np.float64, np.float32):
        return None
    by_columns = not array.flags.c_contiguous and (len(array) < 2 or array.strides[0] == array.itemsize)
    return SeparateColumns.of_array(array) if by_columns else array


def as_they_lie(arrays: Sequence[AnyArray]) -> "NumberTable | None":
    """Columns as a table without a copy: apart, or as the array whose columns they are; None if neither."""
    kind = arrays[0].dtype
    if kind not in (np.float64, np.float32) or any(a.dtype != kind for a in arrays):
        return None
    if all(a.flags.c_contiguous for a in arrays):
        return SeparateColumns.of(arrays)
    strides = {a.strides[0] for a in arrays}
    steps = {b - a for a, b in pairwise(a.__array_interface__["data"][0] for a in arrays)}
    if len(strides) > 1 or steps != {kind.itemsize}:
        return None
    shape = len(arrays[0]), len(arrays)
    return np.lib.stride_tricks.as_strided(arrays[0], shape, (*strides, *steps), writeable=False)


def padded(table: Floats) -> Floats:
    """A (K, d) table of parameters as the kernels of scores read it: columns first, zeros to whole steps.

    >>> padded(np.ones((1, 3)))[:, 0]
    array([1., 1., 1., 0.])
    """
    n_classes, d = table.shape
    out = np.zeros((d + d % STEP, n_classes + n_classes % STEP))
    out[:d, :n_classes] = table.T
    return out
