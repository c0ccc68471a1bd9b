"""A table of which some columns hold the cells of other rows: what shuffled columns are."""

from collections.abc import Collection
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from posterior._types import Ints
from posterior.schema.cells import Cells
from posterior.schema.readings.base import ColumnReading
from posterior.schema.sources import ArraySource, FrameSource, Part, Source, SparseSource


def recombined(source: Source, columns: Collection[int], donors: Ints) -> Source:
    """The same rows with the cells of rows `donors` (n,) in some columns, each row from one donor.

    Columns are not read again, so that this is cheap however they are written.

    >>> from posterior.schema import read_table
    >>> table = read_table(np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]))
    >>> recombined(table, [1], np.array([1, 2, 0])).native
    array([[ 1., 20.],
           [ 2., 30.],
           [ 3., 10.]])
    """
    if isinstance(source, SparseSource):
        taken = np.zeros(source.n_columns)
        taken[list(columns)] = 1.0
        kept = source.matrix @ sparse.diags_array(1 - taken) + source.matrix[donors] @ sparse.diags_array(
            taken
        )
        return SparseSource(sparse.csr_array(kept, dtype=source.matrix.dtype))
    if isinstance(source, ArraySource):
        return _of_array(source, columns, donors)
    assert isinstance(source, FrameSource)  # noqa: S101 -- there is no other kind
    return RecombinedFrame(source, columns, donors)


def _of_array(source: ArraySource, columns: Collection[int], donors: Ints) -> ArraySource:
    array, places = source.array.copy(), list(columns)
    array[:, places] = source.array[donors[:, None], places]
    found = ArraySource(array, readings=source.readings)
    if found.block is None:
        cells = {j: source.column(j) for j in range(source.n_columns)}
        found._read = {j: c.take(donors) if j in columns else c for j, c in cells.items()}
    return found


class RecombinedFrame(FrameSource):
    """A data frame of which some columns hold the cells of other rows."""

    def __init__(self, source: FrameSource, columns: Collection[int], donors: Ints) -> None:
        super().__init__(None, source.labels, Part(source, np.arange(source.n_rows)))
        self._source, self._columns, self._donors = source, frozenset(columns), donors

    def column(self, position: int) -> Cells:
        """Return one column, of these rows or of their donors."""
        if position not in self._read:
            cells = self._source.column(position)
            self._read[position] = cells.take(self._donors) if position in self._columns else cells
        return self._read[position]

    @property
    def frame(self) -> nw.DataFrame[Any]:
        """The rows as a frame of narwhals, which is made when it is asked for."""
        if self._frame is None:
            whole, donors = self._source.frame, self._donors.tolist()
            labels = [self.labels[j] for j in sorted(self._columns) if self.labels[j] in whole.columns]
            self._frame = whole.with_columns(*(whole.get_column(label)[donors] for label in labels))
        return self._frame

    def read_with(self, readings: tuple[ColumnReading, ...]) -> FrameSource:
        """Return the same rows with some columns read otherwise than by their type."""
        return self if readings == self.readings else FrameSource(self.frame, self.labels).read_with(readings)
