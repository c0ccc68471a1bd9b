"""Where a table's columns come from: arrays, sparse matrices and data frames behind one interface."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import narwhals as nw
import numpy as np
from scipy import sparse

from posterior import kernels
from posterior._types import AnyArray, Bools, Ints
from posterior.schema.cells import Cells, Numbers, Test, factorize, outside, read_objects, time_message
from posterior.schema.frames import arrow_floats, no_value, read_series
from posterior.schema.kinds import Storage

ACCEPTED = "a 2-D numpy array, a scipy.sparse matrix, a list of rows, or a pandas, polars or pyarrow table"


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
    def native(self) -> Any:
        """The user's own object, for column selectors."""

    def column(self, position: int) -> Cells:
        """Read one column."""


def names_of(source: Source) -> tuple[str, ...]:
    """Return the column names, x0, x1, … where there are none."""
    return source.names or tuple(f"x{j}" for j in range(source.n_columns))


class ArraySource:
    """A 2-D numpy array; object and string arrays are read column by column."""

    container = "numpy"
    names: tuple[str, ...] | None = None
    labels: tuple[Any, ...] | None = None

    def __init__(self, array: AnyArray) -> None:
        self.native = self.array = array
        self.n_rows, self.n_columns = array.shape
        self._read: dict[int, Cells] = {}
        self._inside: dict[tuple[str, int], bool] = {}
        self._whole: dict[int, Ints | None] = {}

    @property
    def block(self) -> AnyArray | None:
        """The array itself, if its cells are numbers in place."""
        return self.array if self.array.dtype.kind in "fiub" else None

    def column(self, position: int) -> Cells:
        """Read one column: a view for numbers, else codes."""
        part = self.array[:, position]
        if part.dtype.kind in "fiub":
            return Numbers(STORAGE[part.dtype.kind], part, known=self._whole.get(position))
        if position not in self._read:
            name, values = f"x{position}", part.tolist()
            text = part.dtype.kind in "UT"
            self._read[position] = factorize(values, "string") if text else read_objects(values, name)
        return self._read[position]

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

    def __init__(self, matrix: Any, native: Any = None) -> None:
        self.matrix = matrix
        self.native = matrix if native is None else native
        self.n_rows, self.n_columns = matrix.shape
        self._by_column: Any = None

    def column(self, position: int) -> Numbers:
        """Read one column, made dense."""
        if self._by_column is None:
            self._by_column = in_order(self.matrix).tocsc()
        array = self._by_column[:, [position]].toarray().ravel()
        return Numbers(STORAGE[array.dtype.kind], array)

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

    def __init__(self, frame: nw.DataFrame[Any], labels: tuple[Any, ...]) -> None:
        self.frame = frame
        self.native = frame.to_native()
        self.labels = labels
        self.names = labels if all(isinstance(label, str) for label in labels) else None
        self.n_rows, self.n_columns = frame.shape[0], len(labels)
        self.container: str = frame.implementation.value
        self._places = {label: k for k, label in enumerate(frame.columns)}
        self._floats = arrow_floats(self.native) if self.container == "pyarrow" else frozenset()
        self._read: dict[int, Cells] = {}

    def column(self, position: int) -> Cells:
        """Read one column, once."""
        if position not in self._read:
            name = self.names[position] if self.names else f"x{position}"
            self._read[position] = self._cells(self.labels[position], name)
        return self._read[position]

    def _cells(self, label: Any, name: str) -> Cells:
        place = self._places.get(label)
        if place is None:
            return no_value(self.n_rows)
        if place in self._floats:
            return Numbers("float", self.native.column(place).to_numpy())
        return read_series(self.frame.get_column(label), name)

    def arranged(self, labels: tuple[Any, ...]) -> "FrameSource":
        """Return a source of these columns in this order; those it does not have are without a value."""
        where = {label: j for j, label in enumerate(self.labels)}
        return FrameSource(self.frame[:, [where[label] for label in labels if label in where]], labels)


def read_table(X: Any) -> Source:
    """Take any table a user may hand over and put its columns behind one interface.

    >>> read_table([[1.0, "a"], [None, "b"]]).n_columns
    2
    """
    source = _open(X)
    if source.n_columns == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape=({source.n_rows}, 0)) while a minimum of 1 is required. "
            "Pass at least one column."
        )
    if source.n_rows == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape=(0, {source.n_columns})) while a minimum of 1 is required. "
            "Pass at least one row; a filter upstream may have removed them all."
        )
    return source


def _open(X: Any) -> Source:
    if sparse.issparse(X):
        return _open_sparse(X)
    if isinstance(X, np.ndarray):
        return _open_array(X)
    if isinstance(X, list | tuple):
        return _open_array(_rows_to_array(X))
    if isinstance(X, dict | str | bytes | set) or np.isscalar(X) or X is None:
        hint = "; pandas.DataFrame(X) makes a table of a dict" if isinstance(X, dict) else ""
        raise TypeError(f"expected a table, found {type(X).__name__}; pass {ACCEPTED}{hint}")
    return _open_object(X)


def _open_object(X: Any) -> Source:
    try:
        frame = nw.from_native(X, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(
            f"{error}\nEach column needs its own name; rename or drop the repeated ones."
        ) from None
    if isinstance(frame, nw.DataFrame):
        return _open_frame(frame)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError("found a lazy frame, whose rows are not there yet; call .collect() on it first")
    if isinstance(frame, nw.Series):
        raise ValueError(_one_dimensional(f"a {type(X).__name__} of {len(frame)} values"))
    if hasattr(X, "__arrow_c_stream__"):
        return _open_frame(nw.from_arrow(X, backend="pyarrow"))
    if hasattr(X, "__array__"):
        return _open_array(np.asarray(X))
    raise TypeError(f"expected a table, found {type(X).__name__}; pass {ACCEPTED}")


def _open_sparse(X: Any) -> Source:
    if X.ndim != 2:
        raise ValueError(_one_dimensional(f"a sparse array of shape {X.shape}"))
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: pass real numbers")
    return SparseSource(sparse.csr_array(X), X)


def _open_array(X: AnyArray) -> Source:
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(object if X.dtype.kind in "OUT" else np.float64), np.nan)
    X = np.asarray(X)
    if X.ndim == 0:
        raise TypeError(f"expected a table, found the single value {X!r}; pass {ACCEPTED}")
    if X.ndim == 1:
        raise ValueError(_one_dimensional(f"array of shape {X.shape}"))
    if X.ndim > 2:
        raise ValueError(f"Found array with dim {X.ndim}, while dim <= 2 is required.")
    _refuse_dtype(X.dtype)
    return ArraySource(X)


def _refuse_dtype(dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise ValueError("Complex data not supported: pass real numbers")
    if dtype.kind in "mM":
        raise ValueError(time_message("x0", str(dtype)))
    if dtype.kind not in "fiubOUT":
        raise TypeError(
            f"an array of dtype {dtype} cannot be read; pass numbers, strings, true/false or objects"
        )


def _rows_to_array(rows: Sequence[Any]) -> AnyArray:
    try:
        array = np.asarray(rows)
        # numpy would write numbers as strings and true/false as numbers; then read cell by cell.
        if array.dtype.kind in "US" or (array.dtype.kind in "fiu" and _any_boolean(rows)):
            array = np.asarray(rows, dtype=object)
    except ValueError as error:
        raise ValueError(
            f"the rows of the list differ in length or depth; make them equal ({error})"
        ) from None
    return array


def _any_boolean(rows: Sequence[Any]) -> bool:
    return any(type(cell) is bool for row in rows if isinstance(row, list | tuple) for cell in row)


def _open_frame(frame: nw.DataFrame[Any]) -> Source:
    labels = tuple(frame.columns)
    types = sorted({type(label).__name__ for label in labels})
    if "str" in types and types != ["str"]:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{types} as feature name / column name types. If you want feature names to be stored and "
            "validated, you must convert them all to strings, for example by "
            "X.columns = X.columns.astype(str)."
        )
    return FrameSource(frame, labels)


def _one_dimensional(found: str) -> str:
    return (
        f"Expected 2D array, got 1D array instead: {found}. Reshape your data either using "
        "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains "
        "a single sample."
    )
