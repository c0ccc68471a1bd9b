"""Settings of linear models that are "auto" are those that predict rows left out best."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import RidgeCV

import posterior
from posterior import LinearRegression, LogisticRegression
from posterior.estimators.linear_settings import fold_rows

X, Y = load_diabetes(return_X_y=True)
X, Y = X[:90], Y[:90]
FLOWERS, KINDS = load_iris(return_X_y=True)
FLOWERS, KINDS = FLOWERS[50::2, :2], KINDS[50::2]  # two classes that overlap
WEIGHT = 1.0 + np.arange(len(Y)) % 3
pytestmark = pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")


# -- the ridge of a linear regression -------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
def test_a_ridge_is_chosen_by_exact_leave_one_out_as_scikit_learns_is(intercept):
    model = LinearRegression(penalty="l2", alpha="auto", fit_intercept=intercept).fit(X, Y)
    theirs = RidgeCV(model.choice_.strengths, fit_intercept=intercept, store_cv_results=True).fit(X, Y)
    assert model.alpha_ == theirs.alpha_
    np.testing.assert_allclose(2 * model.choice_.losses, theirs.cv_results_.mean(axis=0), rtol=1e-6)


def test_the_losses_of_a_ridge_are_those_of_refits_without_each_row():
    model = LinearRegression(penalty="l2", alpha="auto").fit(X, Y, sample_weight=WEIGHT)
    alpha, losses = model.alpha_, []
    for i in range(len(Y)):
        others = np.arange(len(Y)) != i
        fit = LinearRegression(penalty="l2", alpha=alpha).fit(
            X[others], Y[others], sample_weight=WEIGHT[others]
        )
        losses.append(0.5 * (Y[i] - fit.predict(X[[i]])[0]) ** 2)
    assert np.average(losses, weights=WEIGHT) == pytest.approx(model.choice_.losses.min(), rel=1e-8)


# -- lassos and elastic nets ----------------------------------------------------------------------


def by_hand(make, rows, target, weight, loss):
    """The mean loss of rows held out by the folds, each by a fit to the others."""
    folds = fold_rows(KINDS if len(target) == len(KINDS) else np.zeros(len(target), int), None).numbers
    total = 0.0
    for fold in range(folds.max() + 1):
        held = folds == fold
        fit = make(weight[~held].sum()).fit(rows[~held], target[~held], sample_weight=weight[~held])
        total += weight[held] @ loss(fit, rows[held], target[held])
    return total / weight.sum()


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_the_losses_of_a_lasso_are_those_of_fits_to_the_other_folds(share):
    settings = {"penalty": "elasticnet", "l1_ratio": share, "standardize": False}
    model = LinearRegression(alpha="auto", **settings).fit(X, Y, sample_weight=WEIGHT)
    for strength, loss in list(zip(model.choice_.strengths, model.choice_.losses, strict=True))[::6]:
        # The strength stays what it is in total; alpha is for the mean.
        expected = by_hand(
            lambda total: LinearRegression(alpha=strength / WEIGHT.sum(), **settings),
            X,
            Y,
            WEIGHT,
            lambda fit, rows, target: 0.5 * (target - fit.predict(rows)) ** 2,
        )
        assert loss == pytest.approx(expected, rel=1e-6)
    assert model.choice_.losses.min() == model.choice_.losses[model.choice_.strengths == model.choice_.best]


def test_the_losses_of_a_lasso_of_classes_are_those_of_fits_to_the_other_folds():
    weight = np.ones(len(KINDS))
    model = LogisticRegression(penalty="l1", C="auto").fit(FLOWERS, KINDS)
    for strength, loss in list(zip(model.choice_.strengths, model.choice_.losses, strict=True))[::4]:
        expected = by_hand(
            # The penalty of a mean loss is the same, so that of the sum shrinks with the rows.
            lambda total: LogisticRegression(penalty="l1", C=weight.sum() / (strength * total)),
            FLOWERS,
            KINDS,
            weight,
            lambda fit, rows, target: -fit.predict_log_proba(rows)[np.arange(len(rows)), target - 1],
        )
        assert loss == pytest.approx(expected, rel=1e-5)


def test_the_strongest_lasso_that_is_tried_is_the_weakest_without_coefficients():
    model = LinearRegression(penalty="l1", alpha="auto").fit(X, Y)
    strongest = model.choice_.strengths[0] / len(Y)
    assert (LinearRegression(penalty="l1", alpha=strongest * 1.000001).fit(X, Y).coef_ == 0).all()
    assert (LinearRegression(penalty="l1", alpha=strongest * 0.999).fit(X, Y).coef_ != 0).sum() == 1


@pytest.mark.parametrize(
    ("make", "target"),
    [
        (lambda **s: LinearRegression(penalty="l1", **s), Y),
        (lambda **s: LinearRegression(penalty="elasticnet", **s), Y),
        (lambda **s: LinearRegression(penalty="l2", **s), Y),
        (lambda **s: LinearRegression(penalty="l1", standardize=True, **s), Y),
    ],
)
def test_what_was_chosen_gives_the_same_model_by_hand(make, target):
    model = make(alpha="auto", degree="auto").fit(X[:, :4], target)
    assert set(model.best_params_) == {"alpha", "degree"}
    other = make(**model.best_params_).fit(X[:, :4], target)
    np.testing.assert_allclose(model.predict(X[:, :4]), other.predict(X[:, :4]), rtol=1e-6)


@pytest.mark.parametrize("settings", [{"penalty": "l1"}, {"l1_ratio": 0.5}, {}, {"standardize": True}])
def test_what_was_chosen_of_classes_gives_the_same_model_by_hand(settings):
    model = LogisticRegression(C="auto", degree="auto", **settings).fit(FLOWERS, KINDS)
    other = LogisticRegression(**settings, **model.best_params_).fit(FLOWERS, KINDS)
    np.testing.assert_allclose(model.predict_proba(FLOWERS), other.predict_proba(FLOWERS), atol=1e-5)


def test_columns_that_say_nothing_leave_a_lasso_without_coefficients():
    rng = np.random.default_rng(0)
    model = LinearRegression(penalty="l1", alpha="auto").fit(rng.normal(size=(60, 5)), rng.normal(size=60))
    assert (model.coef_ != 0).sum() <= 2


# -- the degree -----------------------------------------------------------------------------------


def test_the_losses_of_degrees_are_those_of_refits_without_each_row():
    rows = X[:, 2:4]
    model = LinearRegression(degree="auto").fit(rows, Y)
    for degree, loss in zip((1, 2), model.degree_losses_, strict=True):
        total = 0.0
        for i in range(len(Y)):
            others = np.arange(len(Y)) != i
            fit = LinearRegression(degree=degree).fit(rows[others], Y[others])
            total += 0.5 * (Y[i] - fit.predict(rows[[i]])[0]) ** 2
        assert loss == pytest.approx(total / len(Y), rel=1e-8)
    assert model.degree_ == 1 + int(np.argmin(model.degree_losses_))


def curved(n=300):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(n, 2))
    return rows, rows[:, 0] ** 2 - rows[:, 0] * rows[:, 1] + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize(
    "settings", [{}, {"penalty": "l2"}, {"noise": "laplace"}, {"penalty": "l1", "alpha": 0.01}]
)
def test_squares_are_found_where_there_are_some_and_not_where_there_are_none(settings):
    rows, target = curved()
    assert LinearRegression(degree="auto", **settings).fit(rows, target).degree_ == 2
    straight = rows @ [1.0, 2.0] + np.random.default_rng(2).normal(size=len(rows))
    assert LinearRegression(degree="auto", **settings).fit(rows, straight).degree_ == 1


@pytest.mark.parametrize("settings", [{}, {"penalty": "firth"}, {"penalty": "l1"}, {"C": np.inf}])
def test_squares_are_found_in_classes(settings):
    rows, target = curved()
    noise = np.random.default_rng(3).logistic(size=len(rows))
    model = LogisticRegression(degree="auto", **settings).fit(rows, 2 * target + noise > 0.5)
    assert model.best_params_ == {"degree": 2}
    straight = rows @ [1.0, 2.0] + noise > 0
    assert LogisticRegression(degree="auto", **settings).fit(rows, straight).degree_ == 1


def test_a_class_with_one_row_is_never_held_out():
    labels = np.append(KINDS, 9)
    rows = np.vstack([FLOWERS, [[9.0, 9.0]]])
    model = LogisticRegression(penalty="l1", C="auto").fit(rows, labels)
    assert np.isfinite(model.choice_.losses).all()


def test_what_was_chosen_is_in_the_model_file(tmp_path):
    for model in (
        LinearRegression(penalty="l1", alpha="auto", degree="auto").fit(X[:, :3], Y),
        LogisticRegression(C="auto", degree="auto", l1_ratio=0.5).fit(FLOWERS, KINDS),
    ):
        posterior.save(model, tmp_path / "model")
        loaded = posterior.load(tmp_path / "model")
        assert loaded.best_params_ == model.best_params_
        np.testing.assert_array_equal(loaded.choice_.losses, model.choice_.losses)


def test_settings_that_choose_nothing_are_refused():
    with pytest.raises(ValueError, match="there is none; pass penalty"):
        LinearRegression(alpha="auto").fit(X, Y)
    with pytest.raises(ValueError, match=r'"auto" is for fit'):
        LogisticRegression(degree="auto").partial_fit(FLOWERS, KINDS)
    assert not hasattr(LinearRegression().fit(X, Y), "best_params_")
    assert LinearRegression().fit(X, Y).degree_ == 1
