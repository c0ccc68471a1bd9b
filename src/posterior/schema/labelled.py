"""A small table of numbers whose rows and columns have names, such as costs."""

from typing import Any

import narwhals as nw
import numpy as np

from posterior._types import Floats

CLASS = "class"


def labelled_matrix(table: Any) -> tuple[list[Any], list[Any], Floats]:
    """Names of the rows, names of the columns, and the numbers of a data frame; a gap is NaN.

    The rows are named by the index where there is one that is not just 0, 1, 2, …, else by the column
    called "class", else by the only column that does not hold numbers.

    >>> import pandas as pd
    >>> labelled_matrix(pd.DataFrame({"pass": [0.0, 5.0], "ask": [1.0, 1.0]}, index=["good", "bad"]))
    (['good', 'bad'], ['pass', 'ask'], array([[0., 1.],
           [5., 1.]]))
    """
    frame = _frame(table)
    index: Any = nw.maybe_get_index(frame)
    if index is None or type(index).__name__ == "RangeIndex":
        name = _naming_column(frame, needed=index is None)
    else:
        name = None
    labels = index.tolist() if name is None else frame.get_column(name).to_list()
    _refuse_labels(labels)
    columns = [column for column in frame.columns if column != name]
    if not columns:
        raise ValueError("the table has names of rows, and no column of numbers; add one for each action")
    numbers = [_numbers(frame.get_column(column), column) for column in columns]
    return labels, columns, np.column_stack(numbers)


def _frame(table: Any) -> nw.DataFrame[Any]:
    try:
        frame = nw.from_native(table, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"{error}\nEach column needs its own name.") from None
    if isinstance(frame, nw.LazyFrame):
        raise TypeError("found a lazy frame, whose rows are not there yet; call .collect() on it first")
    if not isinstance(frame, nw.DataFrame):
        raise TypeError(
            f"expected an array, a mapping of mappings or a data frame, found {type(table).__name__}"
        )
    return frame


def _naming_column(frame: nw.DataFrame[Any], *, needed: bool) -> str | None:
    """The column that names the rows; None where there is none and the index will do."""
    if CLASS in frame.columns:
        return CLASS
    words = [name for name, dtype in frame.schema.items() if not dtype.is_numeric()]
    if len(words) == 1:
        return words[0]
    if words or needed:
        found = f"the columns {words} hold no numbers" if words else f"all of {frame.columns} hold numbers"
        raise ValueError(
            f'the rows of the table have no names: {found}; name the rows in a column called "{CLASS}", '
            "and let every other column hold numbers"
        )
    return None


def _refuse_labels(labels: list[Any]) -> None:
    for row, label in enumerate(labels):
        if label is None or label != label:  # noqa: PLR0124 (NaN)
            raise ValueError(f"row {row} of the table has no name; give each row the name of a class")
    twice = sorted({repr(label) for label in labels if labels.count(label) > 1})
    if twice:
        raise ValueError(f"the table has more than one row for {', '.join(twice)}; keep one for each class")


def _numbers(series: nw.Series[Any], name: Any) -> Floats:
    if not series.dtype.is_numeric():
        raise ValueError(
            f"column {name!r} of the table must hold numbers, found {series.dtype} values; "
            "convert it, or leave it out"
        )
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
