"""Some rows of a table that was read once: read as the whole table is, and as they would be by themselves."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from posterior import LDA, NaiveBayes
from posterior.comparison import Comparison
from posterior.datasets import load_penguins
from posterior.estimators.table_estimator import takes_tables
from posterior.schema import Schema, read_table

FRAME = pd.DataFrame(
    {
        "number": [1.5, np.nan, 2.5, -1.0, 1e8, 0.0],
        "whole": [3, 1, 4, 1, 5, 9],
        "word": ["b", "a", None, "c", "a", "b"],
        "level": pd.Categorical(["x", "y", "x", None, "x", "z"], categories=["z", "y", "x", "w"]),
        "true": [True, False, True, True, False, True],
    }
)
KINDS = {"whole": "categorical"}
TABLES = {
    "pandas": (FRAME, KINDS),
    "polars": (pl.from_pandas(FRAME), KINDS),
    "pyarrow": (pa.Table.from_pandas(FRAME), KINDS),
    "objects": (FRAME.astype(object).to_numpy(), {1: "categorical"}),
    "numbers": (np.arange(12.0).reshape(6, 2), None),
    "sparse": (sparse.csr_array([[1, 0], [0, 2], [3, 0], [0, 0], [1, 1], [2, 0]]), None),
}


@pytest.mark.parametrize("name", TABLES)
@given(rows=st.lists(st.integers(0, 5), min_size=1, max_size=8))
def test_rows_of_a_table_hold_what_they_would_hold_by_themselves(name, rows):
    X, kinds = TABLES[name]
    part = read_table(X).take(np.array(rows))
    alone = read_table(part.native)
    here, there = Schema.of(part, kinds), Schema.infer(alone, kinds)
    assert (here.names, here.container, part.n_rows) == (there.names, there.container, len(rows))
    encoded, expected = here.encode(part), there.encode(alone)
    for j, (one, other) in enumerate(zip(here.columns, there.columns, strict=True)):
        assert one.empty == other.empty
        if one.empty:  # which by itself would be of no kind
            continue
        assert (one.kind, one.categories) == (other.kind, other.categories)
        if one.categories is not None:
            found = [e.codes(slice(None), (j,)).array for e in (encoded, expected)]
        else:
            found = [e.values(slice(None), (j,)) for e in (encoded, expected)]
        np.testing.assert_array_equal(*found)


def test_rows_that_look_like_something_else_are_of_the_kind_of_the_whole_table():
    words = ["one of many words"] * 30 + ["red", "green"] * 15
    table = read_table([[word] for word in words])
    assert Schema.of(table).kinds == ("categorical",)
    assert Schema.infer(read_table([[words[0]]])).kinds == ("text",)
    assert Schema.of(table.take(np.array([0]))).kinds == ("categorical",)


def test_columns_that_are_not_asked_for_are_left_out_of_what_is_known(monkeypatch):
    table = read_table(FRAME)
    Schema.of(table)
    expected = Schema.infer(read_table(FRAME), None, {0, 2})
    monkeypatch.setattr(Schema, "infer", None)
    assert Schema.of(table, None, {0, 2}) == expected


def test_a_comparison_infers_the_schema_once(monkeypatch):
    asked = []
    infer = Schema.infer.__func__
    monkeypatch.setattr(
        Schema, "infer", classmethod(lambda cls, *given: asked.append(given) or infer(cls, *given))
    )
    penguins = load_penguins()
    models = ["majority", "naive-bayes", "lda", "logistic", "least-squares"]
    Comparison.of(penguins.X, penguins.y, models=models, folds=3, repeats=1)
    assert len(asked) == 1


def test_only_estimators_of_this_package_are_given_a_table_that_was_read():
    class Mine(LDA):
        """A class derived elsewhere."""

    assert takes_tables(NaiveBayes())
    assert not takes_tables(Mine())
