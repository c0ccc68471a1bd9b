"""Cells of all types are read as the model reads them, and what it refuses has no answer."""

import math
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import posterior
from databases import Database, columns_of, relative
from posterior.families import Bernoulli, Categorical, MultivariateNormal, Normal, NormalDistribution
from posterior.sql.expressions import number, total

NAN, INF = float("nan"), float("inf")


def answers(database, model, rows, **settings):
    database.put("cells", rows.append_column("key", pa.array(range(len(rows)))))
    query = posterior.to_sql(model, table="cells", dialect=database.dialect, keep=["key"], **settings)
    return database.ask(query).sort_by("key")


@pytest.fixture(scope="module")
def simple():
    X = pd.DataFrame({"x": [1.0, 2.0, 3.5, 6.0, 7.0, 9.0], "c": list("aabbab")})
    return posterior.NaiveBayes().fit(X, list("nnnyyy"))


def test_null_and_nan_are_gaps_and_infinity_has_no_answer(simple, database):
    x = pa.array([None, NAN, 4.0, INF, -INF, 1e200])
    found = answers(database, simple, pa.table({"x": x, "c": ["a"] * 6}))
    logs = columns_of(found, "log_posterior_")
    known = simple.predict_log_proba(pd.DataFrame({"x": [NAN, NAN, 4.0], "c": ["a"] * 3}))
    assert relative(logs[:3], known) < 1e-12
    assert np.isnan(logs[3:]).all()
    assert found["predicted"].to_pylist()[3:] == [None] * 3


def test_nan_in_a_parquet_file_is_a_gap_too(simple, tmp_path):
    x = np.linspace(0.0, 9.0, 3000)
    x[::3] = NAN
    pq.write_table(pa.table({"x": x, "c": ["a"] * 3000}), tmp_path / "rows.parquet", row_group_size=500)
    query = posterior.to_sql(simple, table=str(tmp_path / "rows.parquet"))
    found = columns_of(Database.duckdb().ask(query), "log_posterior_")
    expected = simple.predict_log_proba(pd.DataFrame({"x": x, "c": ["a"] * 3000}))
    assert relative(np.sort(found, axis=0), np.sort(expected, axis=0)) < 1e-12


def test_decimals_floats_integers_and_enumerations_are_read(simple, database):
    database.put("raw", pa.table({"x": [1.25, 2.5, 7.0], "c": ["a", "b", "a"]}))
    types = ["DECIMAL(12, 3)", "REAL", "DOUBLE PRECISION", "INTEGER", "SMALLINT", "BIGINT"]
    for name in types:
        database.do("DROP TABLE IF EXISTS typed")
        cast = f"CAST(x AS {name}) AS x, CAST(c AS CHAR(5)) AS c"
        database.do(f"CREATE TABLE typed AS SELECT {cast} FROM raw")
        found = database.ask(posterior.to_sql(simple, table="typed", dialect=database.dialect))
        x = [1.25, 2.5, 7.0]
        if "INT" in name:
            x = database.ask("SELECT CAST(x AS DOUBLE PRECISION) AS x FROM typed")["x"].to_pylist()
        expected = simple.predict_log_proba(pd.DataFrame({"x": x, "c": ["a", "b", "a"]}))
        assert relative(columns_of(found, "log_posterior_"), expected) < 1e-12, name


def test_true_and_false_whole_and_broken_categories_are_told_apart(database):
    X = pd.DataFrame(
        {
            "flag": [True, False, True, True, False, False],
            "whole": [1, 2, 3, 1, 2, 2],
            "broken": np.array([0.1, 0.2, 0.3, 0.1, 0.1, 0.3], dtype=np.float32),
        }
    )
    kinds = {"whole": "categorical", "broken": "categorical"}
    model = posterior.NaiveBayes(kinds=kinds).fit(X, list("aabbab"))
    rows = pd.concat([X, pd.DataFrame({"flag": [True], "whole": [9], "broken": [np.float32(0.9)]})])
    found = answers(database, model, pa.Table.from_pandas(rows, preserve_index=False))
    with pytest.warns(UserWarning, match="not seen in training"):
        expected = model.predict_log_proba(rows)
    assert relative(columns_of(found, "log_posterior_"), expected) < 1e-12


@pytest.mark.parametrize("threshold", [0.1, 0.7])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_features_are_compared_in_the_precision_of_training(database, threshold, precision):
    X = pd.DataFrame({"x": np.array([0.1, 0.7, 0.5, 0.9, 0.0, 0.7], dtype=precision)})
    model = posterior.BernoulliNB(binarize=threshold).fit(X, [0, 0, 1, 1, 0, 1])
    found = columns_of(answers(database, model, pa.Table.from_pandas(X)), "log_posterior_")
    expected = model.predict_log_proba(X)
    assert relative(found, expected.astype(np.float64)) < (1e-12 if precision == np.float64 else 1e-6)


@pytest.mark.parametrize("threshold", [0.1, 0.7])
@pytest.mark.parametrize("other", [np.linspace(0.0, 1.0, 6), np.arange(6), list("abcabc")])
def test_features_beside_columns_of_another_type_are_compared_in_their_own_precision(
    database, threshold, other
):
    cells = np.array([0.1, 0.7, 0.5, 0.9, 0.0, 0.7])
    X = pd.DataFrame({"single": cells.astype(np.float32), "double": cells, "other": other})
    families = {name: Bernoulli(threshold=threshold) for name in ("single", "double")}
    model = posterior.NaiveBayes(families=families).fit(X, [0, 0, 1, 1, 0, 1])
    found = columns_of(answers(database, model, pa.Table.from_pandas(X)), "log_posterior_")
    assert relative(found, model.predict_log_proba(X)) < 1e-12


@pytest.mark.parametrize("unknown", ["marginalize", "smooth", "error"])
@pytest.mark.parametrize("joint", [False, True])
def test_new_categories_are_left_out_smoothed_or_refused(database, unknown, joint):
    X = pd.DataFrame({"c": list("aabbccab"), "d": list("xyxyxyxx")})
    family = Categorical(unknown=unknown, joint=joint)
    model = posterior.GenerativeClassifier([(["c", "d"], family)]).fit(X, [0, 0, 0, 1, 1, 1, 0, 1])
    rows = pd.DataFrame({"c": ["a", "new", None, None, "b", "new"], "d": ["x", "y", "y", None, "new", "new"]})
    found = columns_of(answers(database, model, pa.Table.from_pandas(rows)), "log_posterior_")
    if unknown == "error":
        assert np.isnan(found).all(axis=1).tolist() == [False, True, False, False, True, True]
        rows = rows.iloc[[0, 2, 3]]
        found = found[[0, 2, 3]]
        expected = model.predict_log_proba(rows)
    else:
        with pytest.warns(UserWarning, match="not seen in training"):
            expected = model.predict_log_proba(rows)
    assert relative(found, expected) < 1e-12


def test_a_gap_that_python_refuses_has_no_answer(database):
    X = pd.DataFrame({"x": np.arange(8.0), "c": list("abababab")})
    model = posterior.LogisticRegression().fit(X, [0, 1, 0, 0, 1, 0, 1, 1])
    rows = pa.table({"x": [1.0, None, NAN, 3.0], "c": ["a", "a", "b", None]})
    found = columns_of(answers(database, model, rows), "log_posterior_")
    assert np.isnan(found).all(axis=1).tolist() == [False, True, True, True]


def test_log_odds_of_a_hundred_thousand_are_what_they_are(database):
    model = posterior.GaussianNB().fit([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1])
    x = [-5000.0, 5000.0, 5.5, 1e5]
    found = columns_of(answers(database, model, pa.table({"x0": x})), "log_posterior_")
    expected = model.predict_log_proba(np.array(x)[:, None])
    assert np.abs(expected).max() > 1e5
    assert relative(found, expected) < 1e-12
    assert found.max() == 0.0


def test_a_log_posterior_just_below_zero_keeps_its_digits(database):
    model = posterior.GaussianNB().fit([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1])
    found = columns_of(answers(database, model, pa.table({"x0": [-1.0]})), "log_posterior_")
    expected = model.predict_log_proba([[-1.0]])
    assert -1e-20 < expected[0, 0] < 0
    assert found[0, 0] == pytest.approx(expected[0, 0], rel=1e-9)


def test_numbers_too_small_to_be_squared_are_no_error(database):
    X = np.array([[-1.0, 0.0], [1.0, 0.5], [-1.0, 1.0], [1.0, 0.0]])
    for model in (posterior.GaussianNB(), posterior.LDA(), posterior.LogisticRegression(degree=2)):
        model.fit(X, [0, 0, 1, 1])
        tiny = [0.0, 1e-170, -1e-300, 5e-324]
        found = columns_of(answers(database, model, pa.table({"x0": tiny, "x1": tiny})), "log_posterior_")
        assert relative(found, model.predict_log_proba(np.array([tiny, tiny]).T)) < 1e-12


@pytest.mark.filterwarnings("ignore:'x0' is constant")
def test_a_constant_column_and_no_column_at_all(database):
    X, y = np.column_stack([np.full(6, 3.0), np.arange(6.0)]), [0, 1, 0, 1, 1, 1]
    for model, columns in ((posterior.GaussianNB(), [0, 1]), (posterior.NaiveBayes(), [0])):
        model.fit(X[:, columns], y)
        rows = pa.table({f"x{i}": X[:, j] for i, j in enumerate(columns)})
        found = columns_of(answers(database, model, rows), "log_posterior_")
        assert relative(found, model.predict_log_proba(X[:, columns])) < 1e-12


def test_one_class_is_certain(database):
    normal = NormalDistribution([[1.0]], [[2.0]])
    model = posterior.GenerativeClassifier.from_distributions(["only"], None, [("x", normal)])
    found = answers(database, model, pa.table({"x": [1.0, 1e4, None]}))
    assert found["log_posterior_only"].to_pylist() == [0.0, 0.0, 0.0]
    assert found["predicted"].to_pylist() == ["only"] * 3
    joint = model.predict_joint_log_proba([[1.0], [1e4], [NAN]])
    assert relative(columns_of(found, "log_joint_"), joint) < 1e-12


def test_a_row_that_breaks_a_rule_of_training_is_impossible_in_the_log_joint(database):
    rng = np.random.default_rng(3)
    parts = rng.normal(size=(40, 2))
    X = np.column_stack([parts, parts.sum(axis=1)])
    with pytest.warns(UserWarning, match="'x2'"):
        model = posterior.LDA().fit(X, rng.integers(0, 2, 40))
    rows = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 4.0], [1.0, NAN, 4.0]])
    found = answers(database, model, pa.table({f"x{j}": rows[:, j] for j in range(3)}))
    expected = model.predict_joint_log_proba(rows)
    assert np.isneginf(expected[1]).all()
    assert relative(columns_of(found, "log_joint_"), expected) < 1e-9
    assert relative(columns_of(found, "log_posterior_"), model.predict_log_proba(rows)) < 1e-9


def test_gaps_of_a_very_wide_gaussian_block_have_no_answer_which_is_said(database):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 41))
    model = posterior.LDA().fit(X, rng.integers(0, 2, 200))
    rows = X[:3].copy()
    rows[1, 7] = NAN
    with pytest.warns(UserWarning, match="41 columns .* get NULL"):
        found = answers(database, model, pa.table({f"x{j}": rows[:, j] for j in range(41)}))
    logs = columns_of(found, "log_posterior_")
    assert np.isnan(logs).all(axis=1).tolist() == [False, True, False]
    assert relative(logs[[0, 2]], model.predict_log_proba(X[[0, 2]])) < 1e-9


def test_thousands_of_terms_nest_no_deeper_than_databases_allow(database):
    query = total([number(1.0)] * 5000).sql(database.dialect)
    assert database.ask(f"SELECT {query} AS n")["n"].to_pylist() == [5000.0]


@given(st.floats(allow_nan=False))
def test_numbers_are_written_to_the_last_digit(value):
    written = number(value).sql("duckdb")
    found = NUMBERS.ask(f"SELECT {written} AS x")["x"].to_pylist()[0]
    assert found == value
    assert math.copysign(1, found) == math.copysign(1, value)


NUMBERS = Database.duckdb()


def test_numbers_are_written_to_the_last_digit_in_every_database(database):
    rng = np.random.default_rng(0)
    values = rng.integers(-(2**63), 2**63 - 1, 3000).view(np.float64)
    values = [*values[np.isfinite(values)].tolist(), 0.1, 1e22, 1e23, 5e-324, 1.7976931348623157e308]
    for start in range(0, len(values), 500):
        some = values[start : start + 500]
        rows = ", ".join(f"{number(value).sql(database.dialect)} AS x{i}" for i, value in enumerate(some))
        found = database.ask(f"SELECT {rows}").to_pylist()[0]
        assert list(found.values()) == some


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"x": [f"1.{i}4,5" for i in range(10, 50)]}, "'x' is not read as it is"),
        (
            {"when": ["2020-01-31", "2021-05-06", "2020-07-08", "2022-09-10"] * 10},
            "'when' is not read as it is",
        ),
        ({"t": [f"some words of text number {i}" for i in range(40)]}, "'t'"),
    ],
)
def test_columns_that_are_not_what_their_type_says_are_refused(cells, words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = posterior.NaiveBayes().fit(pd.DataFrame(cells | {"z": np.arange(40.0)}), [0, 1] * 20)
    with pytest.raises(ValueError, match=words):
        posterior.to_sql(model, table="t")


def test_a_row_number_that_the_model_leaves_out_need_not_be_there(database):
    X = pd.DataFrame({"row_id": np.arange(40), "z": np.sin(np.arange(40.0))})
    with pytest.warns(UserWarning, match="row_id"):
        model = posterior.NaiveBayes().fit(X, [0, 1] * 20)
    found = answers(database, model, pa.table({"z": X.z.to_numpy()}))
    assert relative(columns_of(found, "log_posterior_"), model.predict_log_proba(X)) < 1e-12


def test_offsets_of_a_hundred_million_cost_no_digits(database):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 80)
    small = rng.normal(size=(80, 2)).round(6) + y[:, None]
    families = [Normal(), Normal(tied=True), MultivariateNormal(), MultivariateNormal(tied=1)]
    for family in families:
        answers_by_offset = []
        for offset in (0.0, 2.0**27):
            X = small.round(3) * 1024 / 1024
            X = np.floor(X * 1024) / 1024 + offset  # exact in both places
            model = posterior.GenerativeClassifier([(["x0", "x1"], family)]).fit(X, y)
            rows = pa.table({"x0": X[:, 0], "x1": X[:, 1]})
            answers_by_offset.append(columns_of(answers(database, model, rows), "log_posterior_"))
        assert relative(answers_by_offset[1], answers_by_offset[0]) < 1e-11
