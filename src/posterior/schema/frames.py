"""Data-frame columns, read through narwhals."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from posterior._types import AnyArray
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


class FloatColumns(NamedTuple):
    """The columns of floats of a table: what gives the one at a place, and whether it is single, by place.

    That is a function with a name, so that a table which was read can be pickled.
    """

    table: Any
    column_of: Callable[[Any, int], AnyArray]
    is_single: Mapping[int, bool]

    def read(self, place: int) -> AnyArray:
        """Return the column at a place, which is one of those in `is_single`."""
        return self.column_of(self.table, place)


def float_columns(frame: Any, container: str) -> FloatColumns:
    """Return the columns of floats of a native frame, which are read without a series: that costs more.

    A gap in one becomes NaN, as `read_series` makes it. Frames of other libraries have none.
    """
    find = FLOATS.get(container)
    return FloatColumns(frame, _column_of_array, {}) if find is None else find(frame)


def _of_pandas(frame: Any) -> FloatColumns:
    kinds = frame.dtypes.to_numpy()
    is_single = {k: kind == np.float32 for k, kind in enumerate(kinds) if kind in NUMPY_FLOATS}
    one_kind = len(is_single) == len(kinds) and len(set(is_single.values())) == 1
    cells = _in_one_array(frame) if one_kind else None
    if cells is None:
        return FloatColumns(frame, _column_of_pandas, is_single)
    return FloatColumns(cells, _column_of_array, is_single)


def _in_one_array(frame: Any) -> AnyArray | None:
    """Return the cells of a pandas frame where all lie in one array; None where that would be a copy."""
    first = frame.iloc[:1]
    return frame.to_numpy() if np.shares_memory(first.to_numpy(), first.iloc[:, 0].to_numpy()) else None


def _of_polars(frame: Any) -> FloatColumns:
    return FloatColumns(frame, _column_of_polars, _by_name(frame.dtypes, "Float64", "Float32"))


def _of_pyarrow(table: Any) -> FloatColumns:
    return FloatColumns(table, _column_of_pyarrow, _by_name(table.schema.types, "double", "float"))


def _by_name(kinds: Iterable[Any], double: str, single: str) -> dict[int, bool]:
    names = map(str, kinds)
    return {k: name == single for k, name in enumerate(names) if name in (double, single)}


def _column_of_array(cells: AnyArray, place: int) -> AnyArray:
    return np.asarray(cells[:, place])


def _column_of_pandas(frame: Any, place: int) -> AnyArray:
    return np.asarray(frame.iloc[:, place].to_numpy())


def _column_of_polars(frame: Any, place: int) -> AnyArray:
    return np.asarray(frame.to_series(place).to_numpy())


def _column_of_pyarrow(table: Any, place: int) -> AnyArray:
    return np.asarray(table.column(place).to_numpy())


NUMPY_FLOATS = {np.dtype(np.float64), np.dtype(np.float32)}
FLOATS: dict[str, Callable[[Any], FloatColumns]] = {
    "pandas": _of_pandas,
    "polars": _of_polars,
    "pyarrow": _of_pyarrow,
}


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
