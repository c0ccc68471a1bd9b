"""Penalties in units of the columns' deviations, and regressions of some columns only."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from posterior import LeastSquaresClassifier, LogisticRegression, SoftmaxRegression
from posterior.datasets import load_penguins

WINE = load_wine(return_X_y=True)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("classes", [2, 3])
def test_standardized_columns_are_those_of_a_scaler_before_scikit_learns(C, classes):
    X, y = WINE[0][WINE[1] < classes], WINE[1][WINE[1] < classes]
    ours = LogisticRegression(C=C, standardize=True).fit(X, y)
    theirs = make_pipeline(StandardScaler(), Theirs(C=C, solver="newton-cholesky", tol=1e-12)).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ours.coef_, theirs[1].coef_ / theirs[0].scale_, atol=1e-6)


def test_units_do_not_matter():
    X, y = WINE
    miles = X * np.logspace(-6, 6, X.shape[1])
    for degree in (1, 2):
        settings = {"C": 0.1, "standardize": True, "degree": degree}
        one, other = LogisticRegression(**settings).fit(X, y), LogisticRegression(**settings).fit(miles, y)
        np.testing.assert_allclose(one.predict_log_proba(X), other.predict_log_proba(miles), atol=1e-5)


def test_what_is_0_or_1_stays_as_it_is():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    table = pd.DataFrame(
        {
            "rare": rng.random(200) < 0.05 + 0.1 * y,
            "state": np.array(["a", "b", "c"])[rng.integers(0, 3, 200)],
        }
    )
    plain, scaled = LogisticRegression(C=0.1), LogisticRegression(C=0.1, standardize=True)
    np.testing.assert_allclose(plain.fit(table, y).coef_, scaled.fit(table, y).coef_, atol=1e-9)


def test_nothing_but_a_penalty_depends_on_the_units():
    X, y = WINE[0][:130, :3], WINE[1][:130]
    for settings in ({"C": np.inf}, {"penalty": "firth"}):
        plain = LogisticRegression(**settings).fit(X, y)
        scaled = LogisticRegression(standardize=True, **settings).fit(X, y)
        assert (plain.coef_ == scaled.coef_).all()


@pytest.mark.long
def test_the_strength_is_chosen_in_those_units_and_rows_are_left_out_in_them():
    X, y = WINE
    model = LogisticRegression(C="auto", standardize=True).fit(X, y)
    scaled = StandardScaler().fit(X).transform(X)
    other = LogisticRegression(C="auto").fit(scaled, y)
    np.testing.assert_allclose(model.C_, other.C_, rtol=1e-3)
    left_out = model.leave_one_out_log_proba(X, y)
    np.testing.assert_allclose(left_out, other.leave_one_out_log_proba(scaled, y), atol=1e-3)


def test_a_warm_start_goes_on_in_the_units_of_the_table():
    X, y = WINE
    model = LogisticRegression(standardize=True, warm_start=True).fit(X, y)
    before = model.coef_.copy()
    steps = int(model.fit(X, y).n_iter_[0])
    assert steps <= 2
    np.testing.assert_allclose(model.coef_, before, rtol=1e-6)


def test_parts_have_no_spread_of_all_rows():
    with pytest.raises(ValueError, match="standardize=True needs the spread of all rows"):
        LogisticRegression(standardize=True).partial_fit([[1.0], [2.0]], [0, 1])


def test_gaps_and_sparse_tables_are_scaled_too():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.5, size=(300, 4)) * np.array([1.0, 10.0, 100.0, 1000.0])
    y = (X[:, 0] + rng.normal(size=300) > 0.5).astype(int)
    dense = LogisticRegression(C=0.1, standardize=True).fit(X, y)
    thin = LogisticRegression(C=0.1, standardize=True).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(dense.coef_, thin.coef_, rtol=1e-5, atol=1e-9)
    holes = X.copy()
    holes[::7, 1] = np.nan
    one = LogisticRegression(C=0.1, standardize=True, missing="indicator").fit(holes, y)
    other = LogisticRegression(C=0.1, standardize=True, missing="indicator").fit(holes / 8, y)
    np.testing.assert_allclose(one.predict_proba(holes), other.predict_proba(holes / 8), atol=1e-7)


@pytest.mark.parametrize("kind", [LogisticRegression, SoftmaxRegression, LeastSquaresClassifier])
def test_columns_that_are_not_named_are_not_read_and_may_be_absent(kind):
    penguins = load_penguins("pandas")
    X, y = penguins.X.assign(when=pd.Timestamp("2020-01-01")), penguins.y
    columns = ["bill_length_mm", "sex"]
    model = kind(columns=columns, missing="indicator").fit(X, y)
    alone = kind(missing="indicator").fit(X[columns], y)
    np.testing.assert_allclose(model.coef_, alone.coef_)
    assert (model.predict(X) == alone.predict(X[columns])).all()
    assert (model.predict(X[["sex", "bill_length_mm"]]) == model.predict(X)).all()
    assert model.terms_ == alone.terms_


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="there is no column 'bill_length'; did you mean 'bill_length_mm'"):
        LogisticRegression(columns=["bill_length"]).fit(load_penguins().X, load_penguins().y)
