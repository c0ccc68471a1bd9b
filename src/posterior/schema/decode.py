"""From values and codes back to a table of the user's kind."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from posterior._types import AnyArray, Bools, DataFrame
from posterior.schema.columns import Column


def decode_table(columns: Sequence[Column], container: Any, arrays: Sequence[AnyArray]) -> Any:
    """Return one array per column as a table of the given container."""
    if len(arrays) != len(columns):
        raise ValueError(f"expected {len(columns)} arrays, one per column, found {len(arrays)}")
    decoded = [decode_column(column, np.asarray(a)) for column, a in zip(columns, arrays, strict=True)]
    if container == "sparse":
        return sparse.csr_array(_stacked(decoded))
    if container == "numpy":
        return _stacked(decoded)
    first, *rest = [_series(column, array, container) for column, array in zip(columns, decoded, strict=True)]
    # Not narwhals.from_dict, which makes plain columns of pandas categories (2.28).
    return first.to_frame().with_columns(*rest).to_native()


def table_of(columns: Mapping[str, Sequence[Any] | AnyArray], container: Any) -> DataFrame:
    """Return columns as a data frame of the given container; for arrays of pandas, polars or pyarrow."""
    if container in {"numpy", "sparse"}:
        installed = [name for name in ("pandas", "polars", "pyarrow") if find_spec(name) is not None]
        if not installed:
            raise ImportError("a table needs pandas, polars or pyarrow, and none is installed")
        container = installed[0]
    made: DataFrame = nw.from_dict(dict(columns), backend=container).to_native()
    return made


def frame_of(columns: Mapping[str, AnyArray], index: Sequence[str]) -> DataFrame:
    """Return columns as a pandas frame with some of them as its index.

    >>> frame_of({"term": np.array(["age"]), "coef": np.array([0.5])}, ["term"])
          coef
    term
    age    0.5
    """
    if find_spec("pandas") is None:
        raise ImportError(
            "a frame needs pandas, which is not installed; run `pip install pandas`, or read `.columns`"
        )
    indexed: DataFrame = table_of(columns, "pandas").set_index(list(index))
    return indexed


def decode_column(column: Column, array: AnyArray) -> AnyArray:
    """Return values as float, int or bool where none is missing, else as float (NaN) or object (None)."""
    if column.ignored:
        return np.full(len(array), np.nan)
    if column.kind == "text":
        texts = [text if isinstance(text, str) else None for text in array.tolist()]
        return np.array([*texts, None], dtype=object)[:-1]
    missing = _missing(array, column.size)
    if column.categories is not None:
        return _from_codes(column.categories, array, missing | (array >= len(column.categories)))
    if column.kind == "continuous" or (column.storage == "float" and column.kind != "binary"):
        return array.astype(np.float64)
    if column.storage == "boolean":
        return _with_gaps(np.where(missing, 0, array).astype(np.bool_), missing)
    values = np.where(missing, np.nan, array.astype(np.float64))
    whole = column.storage in {"integer", "empty"} and not missing.any()
    return values.astype(np.int64) if whole else values


def _missing(array: AnyArray, size: int) -> Bools:
    """Return where there is no value: NaN, −1, and for categories the code beyond the last."""
    missing = array == -1
    if array.dtype.kind == "f":
        missing |= np.isnan(array)
    return np.asarray(missing | (array >= size) if size else missing, dtype=np.bool_)


def _from_codes(categories: tuple[Any, ...], array: AnyArray, missing: Bools) -> AnyArray:
    codes = np.where(missing, -1, array).astype(np.int64)
    numeric = all(isinstance(c, int | float) and not isinstance(c, bool) for c in categories)
    if numeric and categories and not missing.any():
        return np.array(categories)[codes]
    if numeric and categories:
        return np.array([*categories, np.nan])[codes]
    table = np.empty(len(categories) + 1, dtype=object)
    table[:-1] = categories
    return table[codes]


def _with_gaps(values: AnyArray, missing: Bools) -> AnyArray:
    if not missing.any():
        return values
    values = values.astype(object)
    values[missing] = None
    return values


def _stacked(arrays: list[AnyArray]) -> AnyArray:
    if any(array.dtype == object for array in arrays):
        return np.column_stack([array.astype(object) for array in arrays])
    return np.column_stack(arrays)


def _series(column: Column, array: AnyArray, container: Any) -> nw.Series[Any]:
    pandas_like = container not in {"polars", "pyarrow"}
    if array.dtype == object:
        series = nw.new_series(
            column.name, array.tolist(), _object_dtype(column, pandas_like), backend=container
        )
    else:
        series = nw.new_series(column.name, array, backend=container)
        if array.dtype.kind == "f":
            series = series.fill_nan(None)
    if column.storage != "category" or column.categories is None:
        return series
    if pandas_like:
        # Native, because narwhals would make every category with given levels an ordered one.
        kept = (
            series.to_native()
            .astype("category")
            .cat.set_categories(list(column.categories), ordered=column.ordered)
        )
        return nw.from_native(kept, series_only=True)
    if not all(isinstance(category, str) for category in column.categories):
        return series
    fixed = column.levels_fixed and container == "polars"
    return series.cast(nw.Enum(column.categories) if fixed else nw.Categorical)


def _object_dtype(column: Column, pandas_like: bool) -> Any:
    if column.storage == "boolean":
        return None if pandas_like else nw.Boolean  # pandas would turn None into False
    strings = column.categories is None or all(isinstance(category, str) for category in column.categories)
    return nw.String if strings else None
