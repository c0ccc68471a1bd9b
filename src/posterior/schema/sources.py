"""Where a table's columns come from: arrays, sparse matrices and data frames behind one interface."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import narwhals as nw
import numpy as np

from posterior import kernels
from posterior._types import AnyArray, Bools, Ints
from posterior.schema.cells import Cells, Numbers, Test, factorize, outside, read_objects
from posterior.schema.frames import FloatColumns, float_columns, no_value, read_series, series_of
from posterior.schema.kinds import Storage
from posterior.schema.readings.base import ColumnReading


class Source(Protocol):
    """A table the user handed over, with columns that are read when asked for."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    @property
    def n_columns(self) -> int:
        """The number of columns."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """The column names, or None where the table has none (or none that are strings)."""

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """What a data frame calls its columns: the names, or labels that are no strings; else None."""

    @property
    def container(self) -> str:
        """The kind of table: numpy, sparse, pandas, polars, pyarrow."""

    @property
    def single(self) -> bool:
        """Whether all cells are numbers of single precision."""

    @property
    def native(self) -> Any:
        """The user's own object, for column selectors."""

    @property
    def whole(self) -> "Source | None":
        """The table that these rows are some of; None where they are a table of their own."""

    @property
    def known(self) -> dict[Any, Any]:
        """The schemas that were inferred for these rows, by what was declared."""

    @property
    def readings(self) -> tuple[ColumnReading, ...]:
        """How some columns were read otherwise than by their type."""

    def column(self, position: int) -> Cells:
        """Read one column."""

    def take(self, rows: Ints) -> "Source":
        """Return some of the rows, which are read as this table is."""

    def read_with(self, readings: tuple[ColumnReading, ...]) -> "Source":
        """Return the same rows with some columns read otherwise than by their type, remembered."""


def names_of(source: Source) -> tuple[str, ...]:
    """Return the column names, x0, x1, … where there are none."""
    return source.names or tuple(f"x{j}" for j in range(source.n_columns))


class ArraySource:
    """A 2-D numpy array; object and string arrays are read column by column."""

    container = "numpy"
    names: tuple[str, ...] | None = None
    labels: tuple[Any, ...] | None = None

    def __init__(
        self, array: AnyArray, part: "Part | None" = None, readings: tuple[ColumnReading, ...] = ()
    ) -> None:
        self.native = self.array = array
        self.readings = readings
        self.n_rows, self.n_columns = array.shape
        self.whole = None if part is None else part.whole
        self.known: dict[Any, Any] = {}
        self._part = part
        self._read: dict[int, Cells] = {}
        self._inside: dict[tuple[str, int], bool] = {}
        self._whole: dict[int, Ints | None] = {}

    @property
    def single(self) -> bool:
        """Whether all cells are numbers of single precision."""
        return self.array.dtype == np.float32

    @property
    def block(self) -> AnyArray | None:
        """The array itself, if its cells are numbers in place."""
        return self.array if self.array.dtype.kind in "fiub" else None

    def column(self, position: int) -> Cells:
        """Read one column: a view for numbers, else codes."""
        part = self.array[:, position]
        if part.dtype.kind in "fiub":
            return Numbers(STORAGE[part.dtype.kind], part, known=self._whole.get(position))
        if position not in self._read and self._part is not None:
            self._read[position] = self._part.column(position)
        if position not in self._read:
            name, values = f"x{position}", part.tolist()
            text = part.dtype.kind in "UT"
            self._read[position] = factorize(values, "string") if text else read_objects(values, name)
        return self._read[position]

    def take(self, rows: Ints) -> "ArraySource":
        """Return some of the rows, which are read as this table is."""
        return ArraySource(self.array[rows], Part(self, rows), self.readings)

    def read_with(self, readings: tuple[ColumnReading, ...]) -> "ArraySource":
        """Return the same rows with some columns read otherwise than by their type, remembered."""
        if self.block is not None or readings == self.readings:
            return self
        if self._part is not None:
            whole: ArraySource = self._part.whole
            return whole.read_with(readings).take(self._part.rows)
        if readings not in self.known:
            other = ArraySource(self.array, readings=readings)
            other._read = {r.place: r.read(self.column(r.place))[0] for r in readings}
            self.known[readings] = other
        found: ArraySource = self.known[readings]
        return found

    def survey_few(self, positions: Sequence[int], most: int) -> None:
        """Have the values of columns with no more than so many at hand, which those of an array are."""

    def survey(self, positions: Sequence[int]) -> None:
        """Find the distinct values of columns of whole numbers in one pass over the rows, remembered."""
        new = [j for j in positions if j not in self._whole]
        if self.block is None or not new:
            return
        block: AnyArray = self.block
        columns: Any = slice(None) if new == list(range(self.n_columns)) else new
        found = kernels.distinct_whole(lambda rows: block[rows, columns], self.n_rows, len(new))
        self._whole.update(zip(new, found, strict=True))

    def holding(self, test: Test, positions: Sequence[int]) -> set[int]:
        """Return which columns hold nothing `outside`, found in one pass over the rows and remembered."""
        new = [j for j in positions if (test, j) not in self._inside]
        if self.block is not None and new:
            wrong = np.zeros(len(new), dtype=np.bool_)
            columns: Any = slice(None) if new == list(range(self.n_columns)) else new
            for start in range(0, self.n_rows, 4096):
                wrong |= outside(self.block[start : start + 4096, columns], test).any(axis=0)
            self._inside.update({(test, j): not refused for j, refused in zip(new, wrong, strict=True)})
        return {j for j in positions if self._inside.get((test, j), False)}


STORAGE: dict[str, Storage] = {"f": "float", "i": "integer", "u": "integer", "b": "boolean"}


SLICE_CELLS = 1 << 20


class SparseSource:
    """A sparse matrix, kept as rows (CSR) where the user keeps it, and read some rows at a time."""

    container = "sparse"
    names: tuple[str, ...] | None = None
    labels: tuple[Any, ...] | None = None
    readings: tuple[ColumnReading, ...] = ()

    def __init__(self, matrix: Any, native: Any = None, whole: "SparseSource | None" = None) -> None:
        self.matrix = matrix
        self.whole = whole
        self.known: dict[Any, Any] = {}
        self._native = matrix if native is None and whole is None else native
        self.n_rows, self.n_columns = matrix.shape
        self._by_column: Any = None

    @property
    def single(self) -> bool:
        """Whether all cells are numbers of single precision."""
        return bool(self.matrix.dtype == np.float32)

    @property
    def native(self) -> Any:
        """The user's own object, or some of its rows."""
        if self._native is None:
            assert self.whole is not None  # noqa: S101 -- for the type checker
            self._native = type(self.whole.native)(self.matrix)
        return self._native

    def column(self, position: int) -> Numbers:
        """Read one column, made dense."""
        if self._by_column is None:
            self._by_column = in_order(self.matrix).tocsc()
        array = self._by_column[:, [position]].toarray().ravel()
        return Numbers(STORAGE[array.dtype.kind], array)

    def take(self, rows: Ints) -> "SparseSource":
        """Return some of the rows, which are read as this table is."""
        return SparseSource(self.matrix[rows], whole=self)

    def read_with(self, readings: tuple[ColumnReading, ...]) -> "SparseSource":
        """Return itself, which holds numbers."""
        return self

    @cached_property
    def largest_count(self) -> float:
        """The largest stored cell where all of them are counts, and else −1; looked for once."""
        return kernels.largest_count(self.matrix.data)

    def parts(self) -> Iterator[tuple[int, Any]]:
        """Yield all rows in parts of a fixed size, each with the number of its first row."""
        step = max(1, SLICE_CELLS * self.n_rows // max(self.matrix.nnz, 1))
        for start in range(0, self.n_rows, step):
            yield start, in_order(some_rows(self.matrix, slice(start, start + step)))

    def first(self, wrong: Callable[[AnyArray], Bools], columns: Bools) -> tuple[int, int, Any] | None:
        """Return row, column and value of the first stored cell of some columns that is wrong, or None."""
        if not columns.any():
            return None
        for start, part in self.parts():
            bad = wrong(part.data)
            if not bad.any():
                continue
            found = np.flatnonzero(bad & columns[part.indices])
            if len(found):
                k = int(found[0])
                row = int(np.searchsorted(part.indptr, k, side="right")) - 1
                return start + row, int(part.indices[k]), part.data[k].item()
        return None


def some_rows(matrix: Any, rows: slice) -> Any:
    """Return rows of a CSR array: those next to each other in place, others as a copy."""
    start, stop, step = rows.indices(matrix.shape[0])
    if step != 1 or stop <= start:
        return matrix[rows]
    if stop - start == matrix.shape[0]:
        return matrix
    first, last = matrix.indptr[start], matrix.indptr[stop]
    cells = matrix.data[first:last], matrix.indices[first:last], matrix.indptr[start : stop + 1] - first
    part = kernels.csr(*cells, (stop - start, matrix.shape[1]))
    if matrix.has_canonical_format:  # looked at once for all rows
        part.has_canonical_format = True
    return part


def in_order(matrix: Any) -> Any:
    """Return a CSR array with sorted cells and none twice: itself, or a copy."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()  # the user's matrix stays as it was
        matrix.sum_duplicates()
    return matrix


class FrameSource:
    """A data frame of any library that narwhals reads; labels that it lacks are columns without a value."""

    def __init__(
        self, frame: nw.DataFrame[Any] | None, labels: tuple[Any, ...], part: "Part | None" = None
    ) -> None:
        self._frame, self._part = frame, part
        self.labels = labels
        self.names = labels if all(isinstance(label, str) for label in labels) else None
        self.whole = None if part is None else part.whole
        self.readings: tuple[ColumnReading, ...] = () if part is None else part.whole.readings
        self.known: dict[Any, Any] = {}
        self.n_rows = self.frame.shape[0] if part is None else len(part.rows)
        self.n_columns = len(labels)
        self.container: str = self.frame.implementation.value if part is None else part.whole.container
        self._read: dict[int, Cells] = {}

    @property
    def single(self) -> bool:
        """Whether all cells are numbers of single precision."""
        if self._part is not None:
            return bool(self._part.whole.single)
        if self.readings or not all(self._floats.is_single.values()):
            return False
        known = len(self._floats.is_single) == len(self._places) > 0
        return known or set(self.frame.schema.values()) == {nw.Float32()}

    @property
    def frame(self) -> nw.DataFrame[Any]:
        """The rows as a frame of narwhals, which is made when it is asked for."""
        if self._frame is None:
            assert self._part is not None  # noqa: S101 -- for the type checker
            self._frame = self._part.whole.frame[self._part.rows.tolist()]
        return self._frame

    @property
    def native(self) -> Any:
        """The user's own object, for column selectors."""
        return self.frame.to_native()

    def column(self, position: int) -> Cells:
        """Read one column, once."""
        if position not in self._read:
            self._read[position] = (
                self._cells(position) if self._part is None else self._part.column(position)
            )
        return self._read[position]

    def _cells(self, position: int) -> Cells:
        label = self.labels[position]
        place = self._places.get(label)
        if place is None:
            return no_value(self.n_rows)
        if place in self._floats.is_single:
            return Numbers("float", self._floats.read(place))
        return read_series(
            self.frame.get_column(label), self.names[position] if self.names else f"x{position}"
        )

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {label: k for k, label in enumerate(self.frame.columns)}

    @cached_property
    def _floats(self) -> FloatColumns:
        return float_columns(self.native, self.container)

    def take(self, rows: Ints) -> "FrameSource":
        """Return some of the rows, which are read as this table is."""
        return FrameSource(None, self.labels, Part(self, rows))

    def read_with(self, readings: tuple[ColumnReading, ...]) -> "FrameSource":
        """Return the same rows with some columns read otherwise than by their type, remembered."""
        if readings == self.readings:
            return self
        if self._part is not None:
            whole: FrameSource = self._part.whole
            return whole.read_with(readings).take(self._part.rows)
        if readings not in self.known:
            self.known[readings] = ReadFrame(self, readings)
        found: FrameSource = self.known[readings]
        return found

    def arranged(self, labels: tuple[Any, ...]) -> "FrameSource":
        """Return a source of these columns in this order; those it does not have are without a value."""
        where = {label: j for j, label in enumerate(self.labels)}
        return FrameSource(self.frame[:, [where[label] for label in labels if label in where]], labels)


class ArrowSource(FrameSource):
    """A table of pyarrow, which becomes a frame of narwhals only where that is asked for."""

    def __init__(self, table: Any) -> None:
        self._table, self._frame, self._part = table, None, None
        self.labels = self.names = tuple(table.column_names)
        self.whole, self.readings, self.known = None, (), {}
        self.n_rows, self.n_columns = table.shape
        self.container, self._read = "pyarrow", {}

    @property
    def frame(self) -> nw.DataFrame[Any]:
        """The rows as a frame of narwhals."""
        if self._frame is None:
            self._frame = nw.from_native(self._table, eager_only=True)
        return self._frame

    @property
    def native(self) -> Any:
        """The table."""
        return self._table

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {label: k for k, label in enumerate(self.labels)}


class ReadFrame(FrameSource):
    """A data frame of which some columns are read otherwise than by their type, as none, one or several."""

    def __init__(self, raw: FrameSource, readings: tuple[ColumnReading, ...]) -> None:
        self._raw = raw
        self._by_place = {reading.place: reading for reading in readings}
        self._origin = [
            (place, k)
            for place in range(raw.n_columns)
            for k in range(len(self._by_place[place].outputs) if place in self._by_place else 1)
        ]
        super().__init__(raw.frame, tuple(self._label(*origin) for origin in self._origin))
        self._frame = None
        self.readings = readings

    @property
    def origins(self) -> list[int]:
        """The place in the user's table of the column that each column is read from."""
        return [place for place, _ in self._origin]

    def _label(self, place: int, k: int) -> Any:
        reading = self._by_place.get(place)
        renamed = reading is not None and reading.outputs != (reading.name,)
        return reading.outputs[k] if reading and renamed else self._raw.labels[place]

    @property
    def frame(self) -> nw.DataFrame[Any]:
        """The rows as a frame of narwhals, which is made when it is asked for."""
        if self._frame is None:
            self._frame = self._raw.frame if self.names is None else self._made()
        return self._frame

    def _made(self) -> nw.DataFrame[Any]:
        # Added to the user's frame, so that it keeps its index.
        made = [
            series_of(label, self.column(j), self.container)
            for j, (label, (place, _)) in enumerate(zip(self.labels, self._origin, strict=True))
            if place in self._by_place
        ]
        raw = self._raw.frame
        return (raw.with_columns(*made) if made else raw).select(*self.labels)

    def _cells(self, position: int) -> Cells:
        place, k = self._origin[position]
        if place not in self._by_place:
            return self._raw.column(place)
        first = position - k
        found = self._by_place[place].read(self._raw.column(place))
        self._read.update(zip(range(first, first + len(found)), found, strict=True))
        return found[k]

    def read_with(self, readings: tuple[ColumnReading, ...]) -> FrameSource:
        """Return the same rows with some columns read otherwise than by their type, remembered."""
        return self if readings == self.readings else self._raw.read_with(readings)


class Part(NamedTuple):
    """Some rows of a table, whose columns were read with all of them."""

    whole: Any
    rows: Ints

    def column(self, position: int) -> Cells:
        """Return the cells of one column."""
        cells: Cells = self.whole.column(position)
        return cells.take(self.rows)
