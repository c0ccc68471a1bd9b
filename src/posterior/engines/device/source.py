"""A table on a device as a source of columns: what a schema must know of them, found where they are."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from posterior._types import AnyArray
from posterior.engines.device.arrays import ArrayLibrary
from posterior.engines.device.categories import distinct
from posterior.schema.cells import Cells, Numbers, Test
from posterior.schema.sources import STORAGE, ArraySource

# Distinct values of a column that may travel to the host as its categories.
MOST_LEVELS = 1_000_000
# Rows that show of most columns that they have many values.
SHOWN_ROWS = 1000


class DeviceSource(ArraySource):
    """The columns of an array on a device; nothing of their cells is read but what a schema asks for.

    `array` is a table of the same columns and dtype without rows.
    """

    def __init__(self, library: ArrayLibrary, table: Any) -> None:
        super().__init__(np.empty((0, table.shape[1]), dtype=host_dtype(library, table)))
        self.library, self.table = library, table
        self.n_rows = table.shape[0]
        self.native = table
        self._levels: dict[int, AnyArray] = {}

    def column(self, position: int) -> Cells:
        """The distinct values of a column that was surveyed; of others only how they are stored."""
        dtype = self.array.dtype
        found = self._levels.get(position, np.empty(0, dtype=dtype))
        return Numbers(STORAGE[dtype.kind], found)

    def survey(self, positions: Sequence[int]) -> None:
        """Find the distinct values of columns, which are few, and remember them."""
        for j in positions:
            if j in self._levels:
                continue
            values = distinct(self.library, self.table[:, j])
            if values.shape[0] > MOST_LEVELS:
                raise ValueError(
                    f"column 'x{j}' has {values.shape[0]:,} distinct values, too many to be categories; "
                    "declare another kind, or leave the column out"
                )
            self._levels[j] = np.unique(self.library.to_host(values))

    def survey_few(self, positions: Sequence[int], most: int) -> None:
        """Find the distinct values of columns that have no more than so many, and remember them."""
        new = [j for j in positions if j not in self._levels]
        if not new:
            return
        host = self.library.to_host
        shown = host(self.table[:: max(1, self.n_rows // SHOWN_ROWS), :])
        for j in new:
            cells = shown[:, j]
            if len(np.unique(cells[cells == cells])) > most:  # noqa: PLR0124  (NaN is no value)
                continue
            values = distinct(self.library, self.table[:, j])
            if values.shape[0] <= most:
                self._levels[j] = np.unique(host(values))

    def holding(self, test: Test, positions: Sequence[int]) -> set[int]:
        """Which columns hold nothing but 0 and 1, or nothing but finite numbers ≥ 0; gaps are allowed."""
        self.survey([j for j in positions if (test, j) not in self._inside])
        for j in positions:
            known = self._levels[j]
            known = known[~np.isnan(known)] if known.dtype.kind == "f" else known
            right = (known == 0) | (known == 1) if test == "binary" else (known >= 0) & (known < np.inf)
            self._inside[test, j] = bool(right.all())
        return {j for j in positions if self._inside[test, j]}


def host_dtype(library: ArrayLibrary, table: Any) -> Any:
    """The dtype that NumPy has for the cells of a table: numbers or true/false."""
    xp, dtype = library.xp, table.dtype
    for name in (
        "float64",
        "float32",
        "int64",
        "int32",
        "int16",
        "int8",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
    ):
        if dtype == getattr(xp, name, None):
            return np.dtype(name)
    if dtype == xp.bool:
        return np.dtype(np.bool_)
    if "complex" in str(dtype):
        raise ValueError("Complex data not supported: pass real numbers")
    if "float" in str(dtype):
        raise TypeError(
            f"an array of dtype {dtype} cannot be read; bring it to single precision first: X.float() in "
            'PyTorch, X.astype("float32") in CuPy'
        )
    raise TypeError(
        f"an array of dtype {dtype} cannot be read; pass numbers of single or double precision, whole "
        "numbers, or true/false"
    )
