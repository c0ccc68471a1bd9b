"""Log odds of linear models by column: they add up, and each column has all that is made of it."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris

from examples import few_examples
from posterior import LDA, LinearRegression, LogisticRegression, SoftmaxRegression
from posterior.datasets import load_penguins
from posterior.notices import DataWarning, PosteriorWarning


def mixed_rows(seed, n=60, n_classes=3, gaps=True):
    """A table of numbers, categories and gaps, as a list of rows."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    numbers = rng.normal(size=(n, 2)) + 0.5 * y[:, None] + [1e3, -2.0]
    words = np.array(["red", "green", "blue", "grey"])[rng.integers(0, 4, n)]
    rows = [[a, b, word] for (a, b), word in zip(numbers.tolist(), words.tolist(), strict=True)]
    if gaps:
        for i in rng.choice(np.arange(4, n), 8, replace=False):
            rows[i][rng.integers(0, 3)] = None
    return rows, np.array(["x", "y", "z"])[y]


def fitted(rows, y, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PosteriorWarning)
        return LogisticRegression(**given).fit(rows, y)


def assert_adds_up(model, X, **asked):
    found = model.contributions(X, **asked)
    assert found.values.shape == (len(found.total), len(found.terms))
    np.testing.assert_allclose(found.values.sum(axis=1), found.total, rtol=0, atol=1e-10)
    logs, labels = model.predict_log_proba(X), model.classes_.tolist()
    own = [
        logs[i, labels.index(a)] - logs[i, labels.index(b)]
        for i, (a, b) in enumerate(zip(found.of, found.against, strict=True))
    ]
    np.testing.assert_array_equal(found.total, own)
    return found


SETTINGS = [
    {},
    {"C": np.inf},
    {"penalty": "firth"},
    {"l1_ratio": 1.0, "C": 0.3},
    {"degree": 2},
    {"fit_intercept": False},
    {"solver": "lbfgs"},
    {"solver": "sgd", "max_iter": 3},
]


@pytest.mark.parametrize(
    "given_settings",
    SETTINGS,
    ids=[", ".join(f"{k}={v}" for k, v in s.items()) or "default" for s in SETTINGS],
)
@given(seed=st.integers(0, 2**16), n_classes=st.sampled_from([2, 3]))
@few_examples
def test_the_terms_add_up_to_the_log_odds(given_settings, seed, n_classes):
    rows, y = mixed_rows(seed, n_classes=n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of solvers that are stopped early
        model = LogisticRegression(missing="indicator", **given_settings).fit(rows, y)
    found = assert_adds_up(model, rows)
    assert (found.total >= 0).all()
    assert_adds_up(model, rows, of=model.classes_[0])
    assert_adds_up(model, rows, against=model.classes_[1])
    assert_adds_up(model, rows, of=model.classes_[1], against=model.classes_[0])


def test_every_column_of_the_table_is_one_term_and_every_product_of_two_another():
    rows, y = mixed_rows(0)
    model = fitted(rows, y, missing="indicator", degree=2)
    assert set(model.terms_) >= {"x0", "x0[missing]", "x0^2", "x0:x1", "x2[blue]", "x2[missing]"}
    assert model.contributions(rows).terms == ("baseline", "x0", "x1", "x2", "x0:x1")


def test_terms_come_in_the_order_of_the_table_whatever_the_kinds():
    rows, y = mixed_rows(0, gaps=False)
    model = fitted([[word, a] for a, _, word in rows], y)
    assert model.contributions([["red", 1000.0]]).terms == ("baseline", "x0", "x1")


def test_a_column_adds_its_coefficient_times_the_distance_from_the_mean_of_training():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression().fit(X[50:], y[50:])
    found = model.contributions(X[:60], of=2, against=1)
    np.testing.assert_allclose(found.values[:, 1:], model.coef_ * (X[:60] - X[50:].mean(axis=0)), atol=1e-10)
    at_the_mean = model.decision_function(X[50:].mean(axis=0, keepdims=True))[0]
    np.testing.assert_allclose(found.values[:, 0], at_the_mean, atol=1e-10)


def test_a_category_adds_the_same_whatever_the_other_columns_say():
    rows, y = mixed_rows(1, gaps=False)
    model = fitted(rows, y)
    found = model.contributions([[1000.0, 0.0, "red"], [1005.0, -7.0, "red"]], of="x", against="y")
    assert found.values[0, 3] == pytest.approx(found.values[1, 3], abs=1e-12)
    assert abs(found.values[0, 1] - found.values[1, 1]) > 1e-3


def test_the_log_odds_of_a_against_b_are_minus_those_of_b_against_a():
    X, y = load_iris(return_X_y=True)
    model = SoftmaxRegression().fit(X, y)
    one, other = model.contributions(X, of=0, against=2), model.contributions(X, of=2, against=0)
    np.testing.assert_allclose(one.values, -other.values, atol=1e-12)


def test_a_single_class_given_is_compared_with_the_best_of_the_others():
    X, y = load_iris(return_X_y=True)
    model = SoftmaxRegression().fit(X, y)
    best = model.predict(X)
    assert (model.contributions(X).of == best).all()
    against = model.contributions(X, of=1).against
    assert (against[best != 1] == best[best != 1]).all()
    assert (against != 1).all()
    of = model.contributions(X, against=1).of
    assert (of[best != 1] == best[best != 1]).all()


def test_a_class_that_is_none_is_refused():
    X, y = load_iris(return_X_y=True)
    for model in (LogisticRegression().fit(X, y), LDA().fit(X, y)):
        with pytest.raises(ValueError, match=r"'tulip' is not a class; the classes are \[0, 1, 2\]"):
            model.contributions(X, of="tulip")


def test_sparse_rows_give_the_same_as_dense_ones():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression().fit(X, y)
    dense, thin = model.contributions(X), assert_adds_up(model, sparse.csr_array(X))
    np.testing.assert_allclose(thin.values, dense.values, atol=1e-10)


def test_so_many_levels_that_they_are_kept_sparse_are_still_one_term():
    rng = np.random.default_rng(0)
    towns = [f"town {j}" for j in rng.permutation(np.repeat(np.arange(300), 2))]
    X = [[town, float(x)] for town, x in zip(towns, rng.normal(size=600), strict=True)]
    model = fitted(X, rng.integers(0, 3, 600), kinds={0: "categorical"})
    assert assert_adds_up(model, X).terms == ("baseline", "x0", "x1")


def test_an_offset_of_1e8_costs_no_digits():
    X, y = load_iris(return_X_y=True)
    offset = 2.0**27
    X = np.round(X * 2**10) / 2**10
    near, far = LogisticRegression().fit(X, y), LogisticRegression().fit(X + offset, y)
    a, b = near.contributions(X, of=0, against=1), far.contributions(X + offset, of=0, against=1)
    np.testing.assert_allclose(b.values, a.values, atol=1e-6)
    np.testing.assert_allclose(b.values.sum(axis=1), b.total, atol=1e-10)


def test_rows_that_were_learnt_one_by_one_are_explained_from_zero():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression().partial_fit(X, y)
    found = assert_adds_up(model, X, of=1, against=0)
    np.testing.assert_allclose(found.values[:, 1:], (model.coef_[1] - model.coef_[0]) * X, atol=1e-12)


def test_coefficients_that_a_user_changed_are_those_that_are_explained():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression().fit(X[50:], y[50:])
    model.coef_ = model.coef_ * [[1, 0, 1, 1]]
    found = assert_adds_up(model, X)
    assert not found.values[:, 2].any()


def test_a_gap_and_a_level_that_is_new_add_what_prediction_counts_for_them():
    rows, y = mixed_rows(3)
    model = fitted(rows, y, missing="indicator")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PosteriorWarning)
        assert_adds_up(model, [[None, 1.0, "purple"], [1000.0, None, None]])


def test_tables_of_every_kind_are_explained_alike():
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    penguins = load_penguins()
    model = LogisticRegression(missing="indicator").fit(penguins.X, penguins.y)
    expected = model.contributions(penguins.X)
    arrow = pyarrow.Table.from_pandas(penguins.X, preserve_index=False)
    for table in (arrow, polars.from_arrow(arrow)):
        found = model.contributions(table)
        assert found.terms == expected.terms
        np.testing.assert_array_equal(found.values, expected.values)


def test_missing_values_are_refused_where_training_refused_them():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="missing values in column 'x1'"):
        model.contributions([[1.0, np.nan, 1.0, 1.0]])


def test_what_is_said_of_new_gaps_points_at_the_caller():
    rows, y = mixed_rows(0, gaps=False)
    model = fitted(rows, y, missing="indicator")
    with pytest.warns(DataWarning, match="had none in training") as told:
        model.contributions([[None, 0.0, "red"]])
    assert told[0].filename == __file__


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"penalty": "l2", "alpha": 3.0},
        {"penalty": "l1", "alpha": 0.1},
        {"noise": "laplace"},
    ],
    ids=str,
)
def test_what_columns_add_to_a_number_adds_up_to_what_is_predicted(settings):
    rows, y = mixed_rows(4)
    target = np.array([a if a is not None else 1.0 for a, _, _ in rows]) - 3.0 * (y == "x")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PosteriorWarning)
        model = LinearRegression(missing="indicator", **settings).fit(rows, target)
    found = model.contributions(rows)
    assert found.terms[:4] == ("baseline", "x0", "x1", "x2")
    np.testing.assert_array_equal(found.total, model.predict(rows))
    np.testing.assert_allclose(found.values.sum(axis=1), found.total, rtol=1e-12, atol=1e-9)
    assert (found.values[:, 0] == found.values[0, 0]).all()
