"""Names are names, whatever is in them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sqlglot import exp, parse_one

import posterior
from databases import columns_of, relative
from posterior.sql.dialects import DIALECTS

HOSTILE = 'x"; drop table t; --'
NAMES = [HOSTILE, "a.b", "sele ct", "x'y", "naïve\\", "two\nlines", "step_0", "/* x */", "{} $1 %s :z ?"]


@pytest.fixture(scope="module")
def hostile():
    """A model of columns, classes and categories with hostile names."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    table = pd.DataFrame({name: rng.normal(y, 1.0) for name in NAMES})
    table["cat'"] = np.array(["'; drop table t; --", "\\'", 'a"b'])[rng.integers(0, 3, 60)]
    labels = np.array([HOSTILE, "it's", "\\n \n"])[y]
    return posterior.NaiveBayes().fit(table, labels), table


def test_a_column_a_class_a_category_and_a_table_may_be_called_anything(hostile, database):
    model, table = hostile
    rows = table.assign(**{"key; --": np.arange(len(table))})
    database.put(HOSTILE, pa.Table.from_pandas(rows, preserve_index=False))
    query = posterior.to_sql(model, table=HOSTILE, dialect=database.dialect, keep=["key; --"])
    found = database.ask(query).sort_by("key; --")
    assert relative(columns_of(found, "log_posterior_"), model.predict_log_proba(table)) < 1e-9
    assert found["predicted"].to_pylist() == model.predict(table).tolist()
    assert f"posterior_{HOSTILE}" in found.column_names
    assert database.ask(f"SELECT count(*) AS n FROM ({query}) AS q")["n"].to_pylist() == [60]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_query_is_one_select_of_one_table(hostile, dialect):
    query = parse_one(posterior.to_sql(hostile[0], table="t", dialect=dialect), dialect=dialect)
    assert isinstance(query, exp.Select)
    tables = {table.name for table in query.find_all(exp.Table)}
    assert {name for name in tables if not name.startswith("step_")} == {"t"}


def test_a_table_may_be_in_a_schema(hostile, database):
    model, table = hostile
    database.put("inside", pa.Table.from_pandas(table, preserve_index=False))
    where = ("main" if database.dialect == "duckdb" else "public", "inside")
    assert len(database.ask(posterior.to_sql(model, table=where, dialect=database.dialect))) == len(table)


def test_columns_may_be_called_otherwise_than_in_training(database):
    X, y = np.arange(8.0)[:, None] * [1.0, -1.0], [0, 0, 0, 0, 1, 1, 1, 1]
    model = posterior.LDA(shrinkage=0.5).fit(X + [[0, 0.5], [0, 0]] * 4, y)
    database.put("points", pa.table({"east": X[:, 0], "x1": X[:, 1]}))
    query = posterior.to_sql(model, table="points", dialect=database.dialect, columns={"x0": "east"})
    found = database.ask(query)
    assert relative(columns_of(found, "log_posterior_"), model.predict_log_proba(X)) < 1e-9
    assert found["predicted"].to_pylist() == y
    with pytest.raises(ValueError, match="'x7', which the model was not fitted with"):
        posterior.to_sql(model, table="points", columns={"x7": "east"})


def test_classes_whose_names_differ_by_case_or_beyond_63_bytes_keep_columns_apart(database):
    long = "ü" * 40
    labels = np.array(["yes", "YES", long + "1", long + "2"] * 5)
    X = np.arange(20.0)[:, None]
    model = posterior.GaussianNB().fit(X, labels)
    database.put("cases", pa.table({"x0": X[:, 0]}))
    query = posterior.to_sql(model, table="cases", dialect=database.dialect, output=["posterior"])
    found = database.ask(f"SELECT * FROM ({query}) AS q ")
    assert len(set(found.column_names)) == 4
    if database.dialect == "postgres":
        assert max(len(name.encode()) for name in found.column_names) <= 63
    assert relative(columns_of(found, "posterior_"), model.predict_proba(X)) < 1e-9


@given(st.lists(st.text(max_size=80), max_size=6), st.sampled_from(sorted(DIALECTS)))
def test_names_that_come_out_are_different_and_fit(wanted, dialect):
    known = DIALECTS[dialect]
    found = known.names(wanted)
    assert len(found) == len(wanted)
    folded = [name.lower() if known.folds_case else name for name in found]
    assert len(set(folded)) == len(folded)
    assert all(len(name.encode(errors="replace")) <= (known.longest_name or 10**6) for name in found)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"table": ""}, "table must be a name"),
        ({"table": ("a", "b", "c", "d")}, "table must be a name"),
        ({"table": "t", "dialect": "oracle"}, "dialect must be one of 'duckdb', 'postgres', found 'oracle'"),
        ({"table": "t", "keep": "key"}, "list of names"),
        ({"table": "t", "keep": ["predicted"]}, "'predicted', which would come out twice"),
        ({"table": "t", "keep": ["k", "k"]}, "would come out twice"),
        ({"table": "t", "output": ["odds"]}, "found \\['odds'\\]"),
        ({"table": "t", "output": []}, "output must be some of"),
    ],
)
def test_what_makes_no_query_is_refused(hostile, settings, words):
    with pytest.raises(ValueError, match=words):
        posterior.to_sql(hostile[0], **settings)


def test_only_what_is_asked_for_comes_out(hostile):
    query = parse_one(posterior.to_sql(hostile[0], table="t", output=["predicted"], keep=["a"]), "duckdb")
    assert query.named_selects == ["a", "predicted"]


def test_the_dialect_may_be_the_second_word_and_the_table_be_left_out():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    model = posterior.GaussianNB().fit(X, y)
    query = posterior.to_sql(model, "postgres")
    assert query == posterior.to_sql(model, dialect="postgres", table="data")
    assert "data" in {table.name for table in parse_one(query, "postgres").find_all(exp.Table)}


def test_a_model_that_is_not_fitted_is_told_so():
    with pytest.raises(NotFittedError, match="not fitted"):
        posterior.to_sql(posterior.LDA(), "duckdb")
