"""Regressions compared on rows held out: the right one wins, measures are what they say, nothing peeks."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.tree import DecisionTreeRegressor

from posterior import LinearRegression
from posterior.comparison import Comparison, RegressionComparison
from posterior.comparison.regression import looks_like_numbers, number_table
from posterior.comparison.regression.result import HeldOutNumbers
from posterior.notices import DataWarning

N = 200


def rows(seed=0, d=3, n=N):
    return np.random.default_rng(seed).normal(size=(n, d))


def noise(kind, seed=1, n=N):
    rng = np.random.default_rng(seed)
    return {"normal": rng.normal, "laplace": rng.laplace}[kind](size=n)


def names(comparison):
    return [result.name for result in comparison.results]


def test_the_measures_are_those_of_each_fold_by_the_others():
    X, folds = rows(), 5
    y = X @ [1.0, 2.0, 0.0] + noise("normal")
    found = RegressionComparison.of(X, y, models=["linear", "mean"], folds=folds, repeats=1)
    assert names(found) == ["linear", "mean"]
    linear, mean = found.results
    table = number_table(X, y)
    from posterior.comparison.folds import deal

    (dealt,) = deal(table.part_of, folds=folds, repeats=1)
    middle, scale, plain = np.empty(N), np.empty(N), np.empty(N)
    for learnt, held_out in dealt.parts():
        model = LinearRegression().fit(X[learnt], y[learnt])
        middle[held_out], scale[held_out] = model.predict(X[held_out]), model.noise_scale_
        plain[held_out] = y[learnt].mean()
    assert linear.predicted == pytest.approx(middle)
    assert linear.losses == pytest.approx(-stats.norm(middle, scale).logpdf(y))
    assert linear.log_score == pytest.approx(linear.losses.mean())
    assert linear.absolute_error == pytest.approx(np.abs(y - middle).mean())
    assert linear.root_mean_squared_error == pytest.approx(np.sqrt(((y - middle) ** 2).mean()))
    assert linear.r_squared == pytest.approx(1 - ((y - middle) ** 2).sum() / ((y - plain) ** 2).sum())
    low, high = stats.norm(middle, scale).interval(0.9)
    assert linear.coverage == pytest.approx(((y >= low) & (y <= high)).mean())
    assert linear.interval_width == pytest.approx((high - low).mean())
    assert mean.r_squared == pytest.approx(0)


@pytest.mark.parametrize("kind", ["normal", "laplace"])
def test_the_noise_decides_between_mean_and_median(kind):
    n = 1500
    X = rows(n=n)
    y = X @ [1.0, 2.0, 0.0] + noise(kind, n=n)
    found = RegressionComparison.of(X, y, models=["linear", "laplace", "mean"], folds=5)
    assert names(found) == (
        ["linear", "laplace", "mean"] if kind == "normal" else ["laplace", "linear", "mean"]
    )
    assert found.ties == ()
    assert found.recommended.coverage == pytest.approx(0.9, abs=0.03)


def test_a_few_columns_of_many_are_found_by_the_lasso():
    X = rows(d=60)
    y = 3 * X[:, 0] + noise("normal")
    found = RegressionComparison.of(X, y, folds=5, repeats=1)
    assert found.recommended.name == "lasso"
    assert found.recommended.r_squared > 0.85
    ridge, linear = (next(r for r in found.results if r.name == name) for name in ("ridge", "linear"))
    assert ridge.log_score < linear.log_score


def test_units_of_columns_change_nothing():
    X = rows()
    y = X @ [1.0, 2.0, 0.0] + noise("normal")
    one = RegressionComparison.of(X, y, folds=5, repeats=1)
    other = RegressionComparison.of(X * [1e3, 1e-4, 1.0], y * 7 + 100, folds=5, repeats=1)
    assert names(one) == names(other)
    for mine, theirs in zip(one.results, other.results, strict=True):
        assert theirs.r_squared == pytest.approx(mine.r_squared, abs=1e-6)
        assert theirs.log_score == pytest.approx(mine.log_score + np.log(7), abs=1e-6)


def test_nothing_beats_the_mean_where_there_is_nothing():
    found = RegressionComparison.of(rows(), noise("normal"), folds=5, repeats=1)
    assert found.recommendation.startswith("Nothing beats the mean of all rows")


def test_numbers_in_disguise_are_numbers_to_predict_too():
    x = np.arange(40.0)
    frame = pd.DataFrame({"x": x, "price": [f"€ {1000 + 3.5 * value:,.2f}" for value in x]})
    with pytest.warns(DataWarning, match="'price' is read as thousands with a comma, currency €"):
        table = number_table(frame, "price")
    np.testing.assert_allclose(table.y, 1000 + 3.5 * x)


def test_categories_gaps_texts_and_rows_without_a_number():
    rng = np.random.default_rng(0)
    city = rng.choice(["Rome", "Oslo", "Bonn"], N)
    age = rng.normal(40, 10, N)
    income = 10 * (city == "Rome") + age / 10 + rng.normal(size=N)
    age[::9] = np.nan
    income[:5] = np.nan
    notes = [" ".join(rng.choice(["late", "paid", "new", "old", "called"], 6)) + f" {i}" for i in range(N)]
    frame = pd.DataFrame({"city": city, "age": age, "note": notes, "income": income})
    with pytest.warns(DataWarning, match="rows without a number, left out: 5 of 200"):
        found = RegressionComparison.of(frame, "income", folds=5, repeats=1)
    assert found.notes[0] == "rows without a number, left out: 5 of 200"
    assert found.n_rows == 195
    assert found.rows[0] == 5
    assert found.recommended.r_squared > 0.9
    assert "note" in found.recommended.about


def test_groups_are_held_out_whole_and_time_is_not_turned_round():
    groups = np.repeat(np.arange(20), 10)
    effect = np.random.default_rng(0).normal(size=20)[groups]
    frame = pd.DataFrame({"group": groups.astype(str), "x": rows()[:, 0]})
    y = 5 * effect + noise("normal")
    together = RegressionComparison.of(
        frame, y, groups=groups, folds=5, repeats=1, kinds={"group": "categorical"}
    )
    apart = RegressionComparison.of(frame, y, folds=5, repeats=1, kinds={"group": "categorical"})
    assert apart.recommended.r_squared > 0.9
    assert together.recommended.r_squared < 0.3
    later = RegressionComparison.of(frame[["x"]], y, time=np.arange(N), folds=5)
    assert len(later.y) < N
    assert later.rows.min() > 0


def test_a_column_that_is_the_number_in_other_units_is_told():
    X = rows()
    y = noise("normal")
    found = RegressionComparison.of(
        np.column_stack([X, y * 2.54]), y, models=["mean", "ridge"], folds=5, repeats=1
    )
    assert any("no column is the number itself in other units" in note for note in found.notes)


def test_a_model_that_is_sure_and_wrong_has_an_infinite_loss():
    sure = HeldOutNumbers(np.array([1.0, 2.0]), np.array([0.0, 1.0]), "normal")
    assert sure.losses(np.array([1.5, 2.0])).tolist() == [np.inf, pytest.approx(0.9189, abs=1e-4)]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", "b"] * 100, "a regression needs numbers in y, found 'a'"),
        (np.full(N, 3.0), "y holds one number only"),
        (np.where(np.arange(N) == 7, np.inf, 1.0), "y holds an infinite number"),
        (np.arange(7), "y has shape"),
    ],
)
def test_what_cannot_be_predicted_is_refused(y, message):
    with pytest.raises(ValueError, match=message):
        RegressionComparison.of(rows(), y)


def test_models_are_known_by_name():
    with pytest.raises(
        ValueError, match="there is no regression 'lda'; choose from mean, linear, laplace, ridge"
    ):
        RegressionComparison.of(rows(), noise("normal"), models=["lda"])


@pytest.mark.parametrize(
    ("values", "looks"),
    [
        (np.arange(300) % 67, True),
        (np.arange(300) % 31, True),
        (np.arange(300) % 30, False),
        ((np.arange(300) % 30).astype(float), False),
        (np.arange(300) % 11 + 0.5, True),
        (np.arange(300) % 3 / 2, False),
        (np.array([True, False]), False),
        (np.array(["1.5", "2.5"]), False),
    ],
)
def test_many_different_numbers_look_like_a_number(values, looks):
    assert looks_like_numbers(values) is looks


def test_classes_that_are_too_many_numbers_name_the_regression():
    with pytest.raises(
        ValueError, match=r"to predict the number, use posterior\.comparison\.RegressionComparison"
    ):
        Comparison.of(rows(), noise("normal"))


def test_classes_that_look_like_a_number_are_noted():
    found = Comparison.of(rows(), np.arange(N) % 40, models=["majority"], folds=2, repeats=1)
    assert (
        "the classes look like a number to predict (40 different whole numbers from 0 to 39)"
        in found.notes[0]
    )


@pytest.mark.parametrize(("penalty", "alpha"), [("l2", 20.0), ("l1", 0.3)])
def test_a_standardized_penalty_is_that_of_scaled_columns(penalty, alpha):
    X = rows() * [1.0, 100.0, 0.01] + [3.0, 0.0, 9.0]
    y = X @ [1.0, 0.02, 50.0] + noise("normal")
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    model = LinearRegression(penalty=penalty, alpha=alpha, standardize=True).fit(X, y)
    other = LinearRegression(penalty=penalty, alpha=alpha).fit(scaled, y)
    assert model.predict(X) == pytest.approx(other.predict(scaled), rel=1e-9)
    assert model.coef_ == pytest.approx(other.coef_ / X.std(axis=0), rel=1e-7)
    assert model.noise_scale_ == pytest.approx(other.noise_scale_)


def test_figures_are_plain_numbers_and_what_is_better_is_said():
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    found = RegressionComparison.of(
        x[:, None], 250_000 + 60_000 * x + 20_000 * rng.normal(size=120), repeats=1
    )
    said = str(found)
    assert not re.search(r"\de[+-]\d", said)
    assert re.search(r"off by 1\d,\d{3} on average", found.recommendation)
    assert "(lower is better)" in found.recommendation
    assert found.folds == "10 folds, small and large numbers in each"


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        ({"squares": LinearRegression(degree=2)}, ["squares"]),
        (["mean", LinearRegression(degree=2)], ["LinearRegression", "mean"]),
        ([LinearRegression(degree=2), LinearRegression()], ["LinearRegression", "LinearRegression 2"]),
    ],
)
def test_estimators_of_ones_own_are_compared_as_classifiers_are(models, expected):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = X[:, 0] ** 2 + X[:, 1] + 0.1 * rng.normal(size=120)
    found = RegressionComparison.of(X, y, models=models, repeats=1)
    assert names(found) == expected
    assert found.recommended.about == "an estimator that was given, 2 columns"


@pytest.mark.parametrize("models", [{"tree": DecisionTreeRegressor()}, [DecisionTreeRegressor()]])
def test_an_estimator_without_a_distribution_is_refused_with_what_to_pass(models):
    with pytest.raises(ValueError, match=r"does not say how far numbers lie.*pass LinearRegression"):
        RegressionComparison.of([[0.0], [1.0]] * 30, np.arange(60.0), models=models)
