"""Any table that a user may hand over, put behind one interface."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from posterior._types import AnyArray, Ints
from posterior.schema.cells import time_message
from posterior.schema.sources import ArraySource, FrameSource, Source, SparseSource

READ = (ArraySource, SparseSource, FrameSource)
ACCEPTED = "a 2-D numpy array, a scipy.sparse matrix, a list of rows, or a pandas, polars or pyarrow table"


def read_table(X: Any) -> Source:
    """Take any table a user may hand over and put its columns behind one interface.

    >>> read_table([[1.0, "a"], [None, "b"]]).n_columns
    2
    """
    if isinstance(X, READ):
        return X  # already
    source = _open(X)
    refuse_shape((source.n_rows, source.n_columns))
    return source


def refuse_shape(shape: tuple[int, ...]) -> None:
    """Refuse what has no rows, no columns, or not two dimensions."""
    if len(shape) == 1:
        raise ValueError(_one_dimensional(f"array of shape {shape}"))
    if len(shape) > 2:
        raise ValueError(f"Found array with dim {len(shape)}, while dim <= 2 is required.")
    n_rows, n_columns = shape
    if n_columns == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape=({n_rows}, 0)) while a minimum of 1 is required. "
            "Pass at least one column."
        )
    if n_rows == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape=(0, {n_columns})) while a minimum of 1 is required. "
            "Pass at least one row; a filter upstream may have removed them all."
        )


def rows_of(X: Any, rows: Ints) -> Any:
    """Some rows of a table of any kind, or of a list of anything, as one of the same kind."""
    if isinstance(X, READ):
        return X.take(rows)
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[rows.tolist()].to_native()
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    return X[rows] if hasattr(X, "shape") else [X[row] for row in rows.tolist()]


def _open(X: Any) -> Source:
    if sparse.issparse(X):
        return _open_sparse(X)
    if isinstance(X, np.ndarray):
        return _open_array(X)
    if isinstance(X, list | tuple):
        return _open_array(_rows_to_array(X))
    if isinstance(X, dict | str | bytes | set) or np.isscalar(X) or X is None:
        hint = "; pandas.DataFrame(X) makes a table of a dict" if isinstance(X, dict) else ""
        hint = "; posterior.scan(X, target=…) reads files" if isinstance(X, str) else hint
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
        raise TypeError(
            "found a lazy frame, whose rows are not there yet; call .collect() on it, or fit to "
            "posterior.scan(frame, target='column'), which streams it"
        )
    if isinstance(frame, nw.Series):
        raise ValueError(_one_dimensional(f"a {type(X).__name__} of {len(frame)} values"))
    if hasattr(X, "__arrow_c_stream__"):
        return _open_frame(nw.from_arrow(X, backend="pyarrow"))
    if hasattr(X, "__dlpack__") or hasattr(X, "__cuda_array_interface__"):
        return _open_array(_on_the_host(X))
    if hasattr(X, "__array__"):
        return _open_array(np.asarray(X))
    raise TypeError(f"expected a table, found {type(X).__name__}; pass {ACCEPTED}")


def _on_the_host(X: Any) -> AnyArray:
    """The array of another library as one of NumPy, if it is in this machine's memory."""
    try:
        return np.asarray(X)
    except (TypeError, RuntimeError) as error:
        raise TypeError(
            f"found an array of {type(X).__module__.split('.')[0]} on a device, where this is not worked "
            "out; move it to the host: X.get() in CuPy, X.cpu().numpy() in PyTorch"
        ) from error


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
    if X.ndim != 2:
        refuse_shape(X.shape)
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
