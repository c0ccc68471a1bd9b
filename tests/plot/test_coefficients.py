"""Pictures of coefficients show what `summary` says, or what the model has where there is no summary."""

import pickle
import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.linear_model
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning

from posterior import LDA, GaussianNB, LeastSquaresClassifier, LinearRegression, LogisticRegression
from posterior.datasets import load_penguins
from posterior.plot import CoefficientDisplay

mpl.use("Agg")
CONTAINERS = {"numpy": None, "pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def flowers(n_classes=2):
    X, y = load_iris(return_X_y=True)
    keep = y >= 3 - n_classes
    return X[keep], np.array(["setosa", "versicolor", "virginica"])[y[keep]]


def drawn(display):
    """Ends of the lines, markers and filled markers of each class, in the order of the rows."""
    ends = [np.array(lines.get_segments())[:, :, 0] for lines in display.ax_.collections]
    points = display.ax_.lines[1:]  # after the line at zero
    return ends, [line.get_xdata() for line in points[::2]], [line.get_xdata() for line in points[1::2]]


def rows_of(display):
    return [tick.get_text() for tick in display.ax_.get_yticklabels()]


def title_of(display):
    return display.ax_.get_title(loc="left").replace("\n", " ")


def columns_of(model, level=0.95):
    columns = model.summary(level=level).columns
    use = columns["term"] != "(intercept)"
    return {name: values[use] for name, values in columns.items()}


def test_ends_of_intervals_are_those_of_the_summary():
    X, y = flowers()
    model = LogisticRegression(C=np.inf).fit(X, y)
    display = CoefficientDisplay.from_estimator(model, standardised=False, level=0.9).plot()
    told = columns_of(model, 0.9)
    order = np.argsort(-np.abs(told["coef"]))
    (ends,), (points,), (filled,) = drawn(display)
    np.testing.assert_array_equal(ends, np.stack([told["ci low"], told["ci high"]], axis=1)[order])
    np.testing.assert_array_equal(points, told["coef"][order])
    sure = (told["ci low"] > 0) | (told["ci high"] < 0)
    np.testing.assert_array_equal(filled, told["coef"][order][sure[order]])
    assert rows_of(display) == [told["term"][j] for j in order]
    assert title_of(display) == "Log odds of virginica against versicolor 90 % confidence intervals"


def test_standardised_coefficients_and_intervals_are_those_of_the_summary_too():
    X, y = flowers()
    model = LogisticRegression(C=np.inf).fit(X, y)
    display = CoefficientDisplay.from_estimator(model).plot()
    told, spread = columns_of(model), X.std(axis=0)
    order = np.argsort(-np.abs(told["standardised"]))
    (ends,), (points,), _ = drawn(display)
    np.testing.assert_allclose(points, told["standardised"][order], rtol=1e-10)
    np.testing.assert_allclose(ends[:, 0], (told["ci low"] * spread)[order], rtol=1e-10)
    np.testing.assert_allclose(ends[:, 1], (told["ci high"] * spread)[order], rtol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("make", [LDA, lambda: LogisticRegression(penalty="firth")], ids=["LDA", "Firth"])
def test_standardised_coefficients_are_those_of_standardised_columns(make, n_classes):
    X, y = flowers(n_classes)
    one = CoefficientDisplay.from_estimator(make().fit(X, y)).coefficients
    even = CoefficientDisplay.from_estimator(
        make().fit(X / X.std(axis=0), y), standardised=False
    ).coefficients
    np.testing.assert_allclose(one.value, even.value, rtol=1e-5)


def test_of_more_classes_each_is_held_against_the_first_with_or_without_intervals():
    X, y = flowers(3)
    firth = LogisticRegression(penalty="firth").fit(X, y)
    display = CoefficientDisplay.from_estimator(firth, standardised=False).plot()
    told = columns_of(firth)
    np.testing.assert_array_equal(display.coefficients.value.ravel(), told["coef"])
    np.testing.assert_allclose(told["coef"].reshape(2, 4), firth.coef_[1:] - firth.coef_[0], rtol=1e-6)
    ridge = LogisticRegression().fit(X, y)
    plain = CoefficientDisplay.from_estimator(ridge, standardised=False).coefficients
    np.testing.assert_allclose(plain.value, ridge.coef_[1:] - ridge.coef_[0])
    assert "each class against setosa" in title_of(display)
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names == ["versicolor", "virginica"]


def test_a_ridge_is_drawn_with_posterior_intervals_and_its_prior():
    X, y = flowers()
    model = LogisticRegression().fit(X, y)
    display = CoefficientDisplay.from_estimator(model, standardised=False).plot()
    told = model.summary().columns
    np.testing.assert_array_equal(display.coefficients.low.ravel(), told["ci low"][1:])
    title = " ".join(title_of(display).split())
    assert "95 % posterior intervals, each coefficient being N(0, 1) beforehand (ridge)" in title


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (LogisticRegression(penalty="l1"), "the fit is penalised"),
        (LogisticRegression(C=np.inf, class_weight="balanced"), "class_weight='balanced'"),
        (LDA(), "this model has no standard errors"),
        (
            LogisticRegression(C=np.inf, solver="newton", max_iter=1),
            "standard errors are those of an optimum",
        ),
    ],
    ids=["lasso", "class weights", "LDA", "no optimum"],
)
def test_where_there_are_no_intervals_the_title_says_why_and_lines_come_from_zero(model, why):
    X, y = flowers()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    display = CoefficientDisplay.from_estimator(model).plot()
    assert display.coefficients.low is None
    assert "no intervals: " in title_of(display)
    assert why in title_of(display)
    (ends,), (points,), _ = drawn(display)
    np.testing.assert_array_equal(ends, np.stack([np.zeros(4), points], axis=1))


def test_separated_classes_have_no_intervals_and_their_names_are_no_mathematics():
    table = pd.DataFrame({"$x^{$": [1.0, 2.0, 3.0, 4.0]})
    with pytest.warns(UserWarning, match="separation"):
        model = LogisticRegression(C=np.inf).fit(table, ["$a^{$", "$a^{$", "b", "b"])
    display = CoefficientDisplay.from_estimator(model).plot()
    display.figure_.canvas.draw()  # which would raise
    assert "no intervals: complete separation" in title_of(display)


def test_odds_ratios_are_exponentials_on_a_logarithmic_axis():
    X, y = flowers()
    model = LogisticRegression(C=np.inf).fit(X, y)
    display = CoefficientDisplay.from_estimator(model, standardised=False).plot(odds_ratios=True)
    told = columns_of(model)
    order = np.argsort(-np.abs(told["coef"]))
    (ends,), (points,), _ = drawn(display)
    np.testing.assert_allclose(points, told["odds ratio"][order])
    np.testing.assert_allclose(ends[:, 0], np.exp(told["ci low"])[order])
    assert display.ax_.get_xscale() == "log"
    regression = CoefficientDisplay.from_estimator(LinearRegression().fit(X, X[:, 0] + (y == "virginica")))
    with pytest.raises(ValueError, match="odds_ratios=False"):
        regression.plot(odds_ratios=True)


def test_a_regression_has_intervals_of_its_own():
    X, _ = load_iris(return_X_y=True)
    model = LinearRegression().fit(X[:, 1:], X[:, 0])
    display = CoefficientDisplay.from_estimator(model, standardised=False).plot()
    np.testing.assert_array_equal(display.coefficients.low[0], columns_of(model)["ci low"])
    assert title_of(display) == "Coefficients 95 % confidence intervals"


def test_the_largest_terms_are_shown_and_the_title_says_of_how_many():
    data = load_breast_cancer(as_frame=True)
    model = LogisticRegression().fit(data.data, data.target)
    display = CoefficientDisplay.from_estimator(model).plot(most=7)
    size = np.abs(display.coefficients.value[0])
    assert rows_of(display) == [data.data.columns[j] for j in np.argsort(-size)[:7]]
    assert "the largest 7 of 30 terms" in title_of(display)


def test_aliased_columns_are_left_out():
    X, y = flowers()
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(twice=2 * X[:, 0])
    with pytest.warns(UserWarning, match="linear combination"):
        model = LogisticRegression(C=np.inf).fit(table, y)
    assert sorted(rows_of(CoefficientDisplay.from_estimator(model).plot())) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("make", [LDA, LogisticRegression], ids=["LDA", "logistic"])
def test_tables_of_any_kind_give_the_same_picture(make, container):
    X, y = flowers(3)
    wanted = CoefficientDisplay.from_estimator(make().fit(X, y)).coefficients.value
    columns = {name: X[:, j] for j, name in enumerate(["price in $", "b", "c" * 80, "d"])}
    table = X if CONTAINERS[container] is None else CONTAINERS[container](columns)
    model = make().fit(table, pa.array(y) if container == "pyarrow" else y)
    for display in (
        CoefficientDisplay.from_estimator(model),
        CoefficientDisplay.from_estimator(model, table),
    ):
        np.testing.assert_allclose(display.coefficients.value, wanted, rtol=1e-6)
    display.plot().figure_.canvas.draw()
    if container != "numpy":
        assert {"price in \\$", "c" * 31 + "…"} < set(rows_of(display))


def test_categories_have_a_row_each():
    table = load_penguins(backend="pandas")
    X = table.X.drop(columns="year").dropna()
    y = pd.Series(np.asarray(table.y), index=table.X.index)[X.index]
    display = CoefficientDisplay.from_estimator(LogisticRegression().fit(X, y)).plot()
    assert {"island[Dream]", "sex[male]"} < set(rows_of(display))


def test_a_model_that_forgot_its_rows_needs_them_to_standardise():
    X, y = flowers()
    model = LogisticRegression(C=np.inf).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match="pass X"):
        CoefficientDisplay.from_estimator(copy)
    found = CoefficientDisplay.from_estimator(copy, X).coefficients
    wanted = CoefficientDisplay.from_estimator(model).coefficients
    np.testing.assert_allclose(found.value, wanted.value)
    assert "needs the rows of training" in found.why
    np.testing.assert_array_equal(
        CoefficientDisplay.from_estimator(copy, standardised=False).coefficients.value, model.coef_
    )


def test_a_summary_that_was_asked_for_goes_along_with_a_copy():
    X, y = flowers(3)
    model = LogisticRegression(penalty="firth").fit(X, y)
    wanted = CoefficientDisplay.from_estimator(model).coefficients
    found = CoefficientDisplay.from_estimator(pickle.loads(pickle.dumps(model))).coefficients
    np.testing.assert_array_equal(found.low, wanted.low)


def test_a_penalty_in_units_of_spread_changes_no_units_of_the_picture():
    X, y = flowers(3)
    model = LogisticRegression(standardize=True).fit(X, y)
    found = CoefficientDisplay.from_estimator(model).coefficients.value
    np.testing.assert_allclose(found, (model.coef_[1:] - model.coef_[0]) * X.std(axis=0))


def test_any_linear_classifier_will_do():
    X, y = flowers(3)
    rival = sklearn.linear_model.LogisticRegression(tol=1e-10, max_iter=10_000).fit(X, y)
    ours = LogisticRegression().fit(X, y)
    found, wanted = (CoefficientDisplay.from_estimator(m, X).coefficients.value for m in (rival, ours))
    np.testing.assert_allclose(found, wanted, rtol=1e-4)
    display = CoefficientDisplay.from_estimator(LeastSquaresClassifier().fit(X, y), X).plot()
    assert title_of(display).startswith("Scores of each class against setosa")
    with pytest.raises(TypeError, match="has no coefficients"):
        CoefficientDisplay.from_estimator(GaussianNB().fit(X, y))
