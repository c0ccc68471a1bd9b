"""A comparison takes tables of every kind, tries what suits them, and says why it leaves out the rest."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import PredefinedSplit, cross_val_predict

from posterior import NaiveBayes
from posterior.comparison import MODELS, Comparison, NotForThisTableError, compare, model_for, unused_by
from posterior.comparison.fixed_candidates import learning_curve_candidates
from posterior.comparison.folds import deal
from posterior.datasets import load_penguins, load_voters
from posterior.notices import DataWarning
from posterior.schema import LabelledTable

IRIS = load_iris(return_X_y=True)
COMPLETE = load_penguins("pandas").frame.dropna().reset_index(drop=True)


def named(comparison):
    return {result.name: result for result in comparison.results}


def mixed(n=240, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    colours = np.array(["red", "green", "blue"], dtype=object)[(rng.integers(0, 3, n) + y) % 3]
    return pd.DataFrame({"a": rng.normal(size=n) + y, "colour": colours}), y


# -- tables of every kind --------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_the_frame_is_of_the_kind_that_was_passed(backend):
    table = load_voters(backend)
    frame = compare(table.X, table.y, models=["naive-bayes", "majority"], repeats=1)
    kinds = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}
    assert isinstance(frame, kinds[backend])
    columns = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert columns[:4] == ["model", "approach", "log_loss", "log_loss_se"]


def test_tables_of_every_kind_give_the_same_numbers():
    losses = []
    for backend in ("pandas", "polars", "pyarrow"):
        table = load_voters(backend)
        by_name = Comparison.of(
            table.frame, "candidate", models=["naive-bayes", "logistic"], folds=3, repeats=1
        )
        apart = Comparison.of(table.X, table.y, models=["naive-bayes", "logistic"], folds=3, repeats=1)
        losses += [[result.log_loss for result in c.results] for c in (by_name, apart)]
    np.testing.assert_allclose(losses, losses[:1] * 6, rtol=1e-9)


def test_columns_named_for_groups_or_time_are_no_features():
    frame = load_penguins("pandas").frame
    for aside in ("groups", "time"):
        comparison = Comparison.of(frame, "species", models=["naive-bayes"], **{aside: "year"})
        assert "year" not in comparison.results[0].columns
        assert "year" not in comparison.schema.names


def test_times_may_be_dates_or_strings():
    table = load_voters("pandas")
    dates = pd.date_range("2020-01-01", periods=400)[::-1]
    days = [date.date().isoformat() for date in dates]
    found = [
        Comparison.of(table.X, table.y, models=["naive-bayes"], time=time, folds=3).results[0].losses
        for time in (dates, days, pa.array(dates), pl.Series(days), np.arange(400)[::-1])
    ]
    assert len({losses.tobytes() for losses in found}) == 1


def test_a_frame_whose_columns_have_numbers_for_names_is_read_by_position():
    X, y = mixed()
    plain = Comparison.of(X, y, folds=3, repeats=1)
    X.columns = [10, 20]
    numbered = Comparison.of(X, y, folds=3, repeats=1)
    assert [r.log_loss for r in numbered.results] == [r.log_loss for r in plain.results]


def test_whole_numbers_stay_classes_where_some_rows_have_none():
    column = pa.array([1, 2, None] * 20)
    X = pa.table({"x": np.arange(60.0) % 7})
    for y in (column, column.to_pylist(), pd.array(column.to_pylist(), dtype="Int64"), pl.Series(column)):
        with pytest.warns(DataWarning, match="rows without a class, left out: 20 of 60"):
            found = Comparison.of(X, y, models=["majority"], repeats=1)
        assert found.classes.tolist() == [1, 2]


def test_texts_are_passed_over_by_linear_models_and_read_by_naive_bayes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    X = pd.DataFrame({"text": texts_of(y), "x": rng.normal(size=120) + 0.3 * y})
    found = named(Comparison.of(X, y, models=["naive-bayes", "logistic"], folds=3, repeats=1))
    assert found["naive-bayes"].columns == ("text", "x")
    assert found["logistic"].columns == ("x",)
    assert "without 'text': text has no coefficients" in found["logistic"].about
    assert found["naive-bayes"].accuracy > found["logistic"].accuracy
    only = Comparison.of(X[["text"]], y, models=["majority", "logistic"], repeats=1)
    assert only.left_out == {"logistic": "no column for a coefficient ('text': text has no coefficients)"}


def texts_of(y):
    return [f"{'good' if k else 'bad'} day to you w{i} v{i}" for i, k in enumerate(y)]


def test_words_that_only_held_out_rows_have_are_passed_over():
    y = np.random.default_rng(0).integers(0, 2, 90)
    X = pd.DataFrame({"text": texts_of(y)})
    (result,) = Comparison.of(X, y, models=["naive-bayes"], folds=3, repeats=1).results
    split = PredefinedSplit(deal(y, folds=3, repeats=1)[0].numbers)
    expected = cross_val_predict(clone(result.estimator), X, y, cv=split, method="predict_log_proba")
    np.testing.assert_allclose(result.log_proba, expected, rtol=1e-9, atol=1e-9)


def test_columns_that_name_rows_get_no_coefficients():
    X, y = mixed()
    X["id"] = [f"row {i}" for i in range(len(y))]
    comparison = Comparison.of(X, y, models=["logistic", "least-squares", "naive-bayes"], repeats=1)
    for name in ("logistic", "least-squares"):
        assert "id" not in named(comparison)[name].columns
        assert "'id': as good as a name for each row" in named(comparison)[name].about
    assert any("like an identifier" in note for note in comparison.notes)


def test_of_too_many_categories_the_widest_get_no_coefficients():
    rng = np.random.default_rng(0)
    n = 3000
    y = rng.integers(0, 2, n)
    X = pd.DataFrame(
        {
            "zip": rng.integers(0, 800, n).astype(str),
            "state": rng.integers(0, 30, n).astype(str),
            "x": rng.normal(size=n),
        }
    )
    (result,) = Comparison.of(X, y, models=["logistic"], folds=3).results
    assert result.columns == ("state", "x")
    assert "without 'zip': too many categories" in result.about


def test_a_fitted_model_takes_the_whole_table_and_needs_only_its_columns():
    X, y = mixed()
    X["id"] = [f"row {i}" for i in range(len(y))]
    model = model_for("logistic", X, y).fit(X, y)
    assert (model.predict_proba(X) == model.predict_proba(X.drop(columns="id"))).all()


# -- what suits a table ----------------------------------------------------------------------------------


def test_models_that_do_not_apply_are_left_out_with_the_reason():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    categories = pd.DataFrame({"a": np.array(["u", "v"])[rng.integers(0, 2, 60)]})
    found = Comparison.of(categories, y, repeats=1)
    assert {name: found.left_out[name] for name in ("lda", "qda", "rda", "quadratic")} == dict.fromkeys(
        ("lda", "qda", "rda", "quadratic"), "no continuous column"
    )
    numbers = Comparison.of(rng.normal(size=(60, 9)), y, repeats=1)
    assert numbers.left_out["block"] == "every column is continuous: it would be rda"
    assert numbers.left_out["quadratic"] == "its 55 coefficients take 275 rows, 5 for each; there are 60"
    wide = Comparison.of(rng.normal(size=(60, 501)), y, models=["lda", "majority"], repeats=1)
    assert wide.left_out["lda"] == "501 continuous columns, and more than 500 are not tried together"


def test_a_table_without_a_value_has_no_column_for_a_coefficient():
    empty = pd.DataFrame({"a": [np.nan] * 40, "b": [None] * 40})
    found = Comparison.of(empty, np.arange(40) % 2, models=["majority", "logistic", "least-squares"])
    reason = "no column for a coefficient (no column has a value)"
    assert found.left_out == {"logistic": reason, "least-squares": reason}


def test_a_model_that_fails_is_left_out_with_its_error():
    found = Comparison.of([[1.0], [2.0], [3.0]], ["a", "b", "b"])
    assert "it failed: no class has rows in two folds" in found.left_out["rda"]
    assert found.recommended.name


def test_rda_is_tuned_by_exact_leave_one_out_unless_there_are_gaps():
    X, y = IRIS
    (whole,) = Comparison.of(X, y, models=["rda"], folds=3, repeats=1).results
    assert whole.estimator.cv == "loo"
    assert "chosen by exact leave-one-out" in whole.about
    holes = X.copy()
    holes[::10, 0] = np.nan
    (gappy,) = Comparison.of(holes, y, models=["rda"], folds=3, repeats=1).results
    assert gappy.estimator.cv == 10
    assert "chosen by folds" in gappy.about


WIDE = np.random.default_rng(0).normal(size=(60, 100)), np.arange(60) % 2


def test_rda_is_tuned_by_folds_where_leaving_rows_out_takes_many_fits():
    assert model_for("rda", *WIDE).cv == 10


@pytest.mark.long
def test_rda_of_many_columns_is_compared_as_it_is_fitted():
    (result,) = Comparison.of(*WIDE, models=["rda"], folds=3, repeats=1).results
    assert result.estimator.cv == 10


@pytest.mark.parametrize("name", MODELS)
def test_every_model_can_be_had_by_name_and_fitted(name):
    rows = COMPLETE.iloc[::4] if name == "lasso" else COMPLETE  # which is for few rows
    X, y = rows.drop(columns="species"), rows["species"]
    model = model_for(name, X, y)
    with pytest.raises(AttributeError):
        model.classes_  # noqa: B018  (unfitted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert model.fit(X, y).classes_.tolist() == ["Adelie", "Chinstrap", "Gentoo"]


def test_a_model_that_does_not_suit_is_refused_with_the_reason():
    with pytest.raises(NotForThisTableError, match="LDA does not suit this table: no continuous column"):
        model_for("lda", [["a"], ["b"], ["a"]], [0, 1, 1])
    with pytest.raises(NotForThisTableError, match="LDA does not suit this table: no continuous column"):
        unused_by("lda", [["a"], ["b"], ["a"]], [0, 1, 1])
    with pytest.raises(
        ValueError,
        match="there is no model 'ldaa'; choose among majority, naive-bayes, weighted-naive-bayes, lda",
    ):
        model_for("ldaa", [["a"], ["b"]], [0, 1])


def test_naive_bayes_is_as_it_comes_in_a_comparison_and_as_in_textbooks_in_a_curve():
    X, y = COMPLETE.drop(columns="species"), COMPLETE["species"]
    found = model_for("naive-bayes", X, y)
    assert repr(found) == repr(NaiveBayes())
    categories = X[["island", "sex"]]
    rows = LabelledTable.of(categories, np.asarray(y, dtype=str))
    (curve, *_), _ = learning_curve_candidates(rows)
    assert curve.title == "naive Bayes"
    textbook = NaiveBayes(tied=True, weights=1.0)
    posteriors = [m.fit(categories, y).predict_proba(categories) for m in (curve.fresh(), textbook)]
    assert np.array_equal(*posteriors)
