"""Data-frame columns, read through narwhals."""

from typing import Any

import narwhals as nw
import numpy as np

from posterior.schema.cells import (
    Cells,
    Labels,
    Numbers,
    factorize,
    native,
    read_objects,
    time_message,
    times,
)
from posterior.schema.kinds import Storage

ARROW_STRINGS = {"string", "large_string", "string_view"}


def read_series(series: nw.Series[Any], name: str) -> Cells:
    """Read one data-frame column by its dtype."""
    dtype = series.dtype
    if dtype.is_numeric():
        return _read_numbers(series)
    if dtype == nw.Boolean:
        return _read_booleans(series)
    if dtype == nw.String:
        return _read_strings(series, "string")
    if isinstance(dtype, nw.Categorical | nw.Enum):
        return _read_categories(series)
    if dtype.is_temporal():
        return _read_times(series, name)
    if dtype.is_nested() or dtype == nw.Binary:
        raise ValueError(
            f"column {name!r} holds {dtype} values; a column needs one number or string per row: "
            "split it into several columns, or drop it"
        )
    return _read_unknown(series, name)


def series_of(name: str, cells: Cells, container: Any) -> nw.Series[Any]:
    """Return a column that was read as one of a data frame."""
    if isinstance(cells, Numbers):
        return nw.new_series(name, cells.floats(), backend=container).fill_nan(None)
    return nw.new_series(name, cells.objects().tolist(), nw.String, backend=container)


def arrow_floats(table: Any) -> frozenset[int]:
    """Return which columns of a pyarrow table hold float64: they are read without a series, which costs more.

    A gap in one becomes NaN, as `read_series` makes it.
    """
    return frozenset(k for k, kind in enumerate(table.schema.types) if str(kind) == "double")


def no_value(n_rows: int) -> Labels:
    """Return a column of missing values."""
    return Labels("empty", np.full(n_rows, -1, dtype=np.int32), ())


def mask(missing: nw.Series[Any]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return a true/false series without gaps as an array."""
    return np.asarray(missing.to_numpy(), dtype=np.bool_)


def _read_booleans(series: nw.Series[Any]) -> Numbers:
    missing = series.is_null()
    if not missing.any():
        return Numbers("boolean", np.asarray(series.to_numpy(), dtype=np.bool_))
    return Numbers("boolean", np.asarray(series.fill_null(False).to_numpy(), dtype=np.bool_), mask(missing))


def _read_numbers(series: nw.Series[Any]) -> Numbers:
    dtype = series.dtype
    if dtype in {nw.Int128, nw.UInt128}:
        return Numbers("integer", np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64))
    if dtype.is_integer() and series.null_count():
        # Integers keep their type beside a mask: a float would merge categories above 2**53.
        array = np.asarray(series.fill_null(0).to_numpy())
        if array.dtype.kind in "iu":
            return Numbers("integer", array, mask(series.is_null()))
    array = np.asarray(series.to_numpy())
    if array.dtype.kind not in "fiu":  # Decimal, and what else has no numpy dtype
        array = np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    return Numbers("integer" if dtype.is_integer() else "float", array)


def _read_strings(series: nw.Series[Any], storage: Storage) -> Labels:
    """Return labels in the order they are met; pyarrow finds them without a Python string for each."""
    if not series.implementation.is_pyarrow():
        return factorize(series.to_list(), storage)
    cells: Any = series.to_native()
    kind = getattr(cells.type, "value_type", cells.type)
    if str(kind) not in ARROW_STRINGS:
        # As a list: to_numpy fills the gaps of a pyarrow dictionary with its first value (narwhals 2.28).
        return factorize(series.to_list(), storage)
    # Once more where it is a dictionary: that may have levels twice, or in another order, or that no row has.
    chunks = cells.cast("large_string").dictionary_encode().unify_dictionaries().chunks
    parts = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in chunks]
    codes = np.concatenate([np.zeros(0, np.int32), *parts]).astype(np.int32, copy=False)
    levels = tuple(chunks[0].dictionary.to_pylist()) if chunks else ()
    return Labels(storage if levels else "empty", codes, levels)


def _read_categories(series: nw.Series[Any]) -> Labels:
    accessor: Any = getattr(series.to_native(), "cat", None)
    if hasattr(accessor, "codes"):  # pandas-like: narwhals does not tell the levels that no row has
        levels = tuple(_scalar(level) for level in accessor.categories)
        codes = np.asarray(accessor.codes, dtype=np.int32)
        return Labels("category", codes, levels, fixed=True, ordered=bool(accessor.ordered))
    found = _read_strings(series, "category")
    if isinstance(series.dtype, nw.Enum):
        levels = tuple(series.dtype.categories)
        return Labels("category", found.lookup(levels), levels, fixed=True, ordered=True)
    return found


def _read_unknown(series: nw.Series[Any], name: str) -> Cells:
    array = np.asarray(series.to_numpy())
    if series.null_count() == len(series):
        return no_value(len(series))
    if array.dtype.kind == "b":
        return Numbers("boolean", array)
    if array.dtype.kind in "fiu":  # a pandas sparse column
        return Numbers("float" if array.dtype.kind == "f" else "integer", array)
    if array.dtype.kind in "mM":
        if array.dtype.kind == "M":
            return times(array)
        raise ValueError(time_message(name, str(series.dtype)))
    return read_objects(array.tolist(), name)


def _read_times(series: nw.Series[Any], name: str) -> Labels:
    """Return dates and times as ISO 8601 writes them, in the time zone that they come with."""
    if series.dtype != nw.Date and not isinstance(series.dtype, nw.Datetime):  # a duration, a time of day
        raise ValueError(time_message(name, str(series.dtype)))
    if isinstance(series.dtype, nw.Datetime) and series.dtype.time_zone is not None:
        series = series.dt.replace_time_zone(None)
    return times(np.asarray(series.to_numpy(), dtype="M8[us]"))


def _scalar(level: Any) -> Any:
    # pandas.cut makes categories of intervals; a schema keeps what can be written down.
    level = native(level)
    return level if isinstance(level, str | int | float) else str(level)
