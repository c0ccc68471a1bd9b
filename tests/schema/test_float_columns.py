"""Columns of floats of data frames, which are read where they lie, are what a series of them is."""

import pickle
from itertools import pairwise

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from posterior import GaussianNB
from posterior.schema import read_table
from posterior.schema.frames import float_columns, read_series

X = np.array([[1.0, np.nan, 3.0], [-0.0, 1e300, np.inf]])
SINGLE = X.clip(max=1e30).astype(np.float32)
COLUMNS = {"a": X[:, 0].copy(), "b": X[:, 1].copy(), "c": X[:, 2].copy()}


def grown():
    """A frame of pandas of several arrays of one type."""
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["d"] = [0.5, 2.5]
    return frame


FRAMES = {
    "pandas, one array": pd.DataFrame(X, columns=list("abc")),
    "pandas, one array in rows": pd.DataFrame(X, columns=list("abc"), copy=False),
    "pandas, several arrays": grown(),
    "pandas, single": pd.DataFrame(SINGLE),
    "pandas, double and single": pd.DataFrame(COLUMNS | {"b": SINGLE[:, 1]}),
    "pandas, other types": pd.DataFrame(
        {"a": [1, 2], "b": ["u", "v"], "c": [True, False]}
        | {"e": pd.array([1.5, None], dtype="Float64"), "f": [0.5, None], "g": np.array([1, 2], np.float16)}
        | {"h": np.array([1.5, 2.5]).astype(">f8")}
    ),
    "pandas, single with a mask": pd.DataFrame({"a": pd.array([1.5, None], dtype="Float32")}),
    "pandas, single with and without a mask": pd.DataFrame(
        {"a": pd.array([1.5, None], dtype="Float32"), "b": SINGLE[:, 1]}
    ),
    "pandas, single of pyarrow": pd.DataFrame({"a": pd.array([1.5, None], dtype="float[pyarrow]")}),
    "pandas, of pyarrow": pd.DataFrame(
        {"a": pd.array([1.5, None], dtype="double[pyarrow]"), "b": [1.0, 2.0]}
    ),
    "pandas, rows backwards": pd.DataFrame(X, columns=list("abc"))[::-1],
    "pandas, labels that are no strings": pd.DataFrame(X, columns=[3, 1, 2]),
    "polars": pl.DataFrame(COLUMNS),
    "polars, single": pl.DataFrame({"a": SINGLE[:, 0], "b": SINGLE[:, 1], "c": SINGLE[:, 2]}),
    "polars, gaps": pl.DataFrame({"a": [1.5, None], "b": [None, 2], "c": ["u", None]}),
    "polars, two parts": pl.concat([pl.DataFrame(COLUMNS), pl.DataFrame(COLUMNS)], rechunk=False),
    "pyarrow": pa.table(COLUMNS),
    "pyarrow, gaps": pa.table({"a": pa.array([None, 1.5], pa.float32()), "b": [None, 2.5], "c": [1, None]}),
    "pyarrow, two parts": pa.concat_tables([pa.table(COLUMNS), pa.table(COLUMNS)]),
}


@pytest.mark.parametrize("name", FRAMES)
def test_columns_of_floats_are_those_of_series(name):
    frame = nw.from_native(FRAMES[name], eager_only=True)
    source = read_table(FRAMES[name])
    for j, label in enumerate(frame.columns):
        found, expected = source.column(j), read_series(frame.get_column(label), str(label))
        assert found.storage == expected.storage
        if hasattr(expected, "array"):
            assert found.array.dtype == expected.array.dtype
            np.testing.assert_array_equal(found.array, expected.array)


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_is_single_where_all_its_columns_are(name):
    kinds = set(nw.from_native(FRAMES[name], eager_only=True).schema.values())
    assert read_table(FRAMES[name]).single == (kinds == {nw.Float32})


@pytest.mark.parametrize(("name", "in_one"), [("pandas, one array", True), ("pandas, several arrays", False)])
def test_pandas_frames_are_read_without_a_copy(name, in_one):
    frame = FRAMES[name]
    columns = [float_columns(frame, "pandas").read(j) for j in range(frame.shape[1])]
    for j, column in enumerate(columns):
        assert np.shares_memory(column, frame.iloc[:, j].to_numpy())
    steps = {b.ctypes.data - a.ctypes.data for a, b in pairwise(columns)}
    assert (len(steps) == 1) == in_one


def test_other_libraries_have_series_only():
    assert not float_columns(FRAMES["polars"], "a library of tomorrow").is_single


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_that_was_read_can_be_pickled(name):
    for source in (read_table(FRAMES[name]), read_table(FRAMES[name]).take(np.array([1]))):
        single, column = source.single, source.column(0)
        again = pickle.loads(pickle.dumps(source))
        assert again.single == single
        assert again.column(0).storage == column.storage


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_in_single_precision_have_answers_in_single_precision(make):
    rng = np.random.default_rng(0)
    columns = {name: rng.normal(size=60).astype(np.float32) for name in "abc"}
    model = GaussianNB().fit(make(columns), rng.integers(2, size=60))
    assert np.asarray(model.predict_proba(make(columns))).dtype == np.float32
