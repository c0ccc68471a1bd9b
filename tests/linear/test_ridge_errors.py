"""The summary of a ridge is the posterior under its prior: closed forms, finite differences, and limits."""

import numpy as np
import pytest
from scipy.special import log_softmax, ndtr
from sklearn.datasets import load_iris

import posterior
from posterior import LinearRegression, LogisticRegression

X, Y = load_iris(return_X_y=True)
WEIGHT = 1.0 + np.arange(len(Y)) % 3


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_the_covariance_of_a_linear_ridge_is_the_closed_form(intercept, standardize):
    rows, target, alpha = X[:, :3] * [1.0, 10.0, 0.1], X[:, 3], 7.0
    model = LinearRegression(penalty="l2", alpha=alpha, fit_intercept=intercept, standardize=standardize)
    made = model.fit(rows, target, sample_weight=WEIGHT).summary()
    Z = np.hstack([np.ones((len(rows), int(intercept))), rows])
    mean = np.average(rows, axis=0, weights=WEIGHT)
    spread = np.sqrt(np.average((rows - mean) ** 2, axis=0, weights=WEIGHT))
    charged = alpha * np.append(np.zeros(int(intercept)), spread**2 if standardize else np.ones(3))
    information = Z.T @ (WEIGHT[:, None] * Z)
    inverse = np.linalg.inv(information + np.diag(charged))
    coef = inverse @ Z.T @ (WEIGHT * target)
    df = WEIGHT.sum() - np.trace(information @ inverse)
    variance = WEIGHT @ (target - Z @ coef) ** 2 / df
    np.testing.assert_allclose(made.columns["coef"], coef, rtol=1e-7)
    np.testing.assert_allclose(made.covariance, variance * inverse, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(made.figures["df"], df, rtol=1e-8)
    assert f"N(0, {variance / alpha:.3g})" in made.prior


def minus_log_posterior(flat, rows, target, C, n_classes):
    """Of coefficients (K, p), intercepts first, up to a constant; of two classes those of the second."""
    free = flat.reshape(-1, rows.shape[1] + 1)
    coef = free[:, 1:]
    scores = free[:, :1] + coef @ rows.T
    if n_classes == 2:
        scores = np.vstack([np.zeros(len(rows)), scores])
    logs = log_softmax(scores.T, axis=1)
    return -logs[np.arange(len(rows)), target].sum() + (coef**2).sum() / (2 * C)


def hessian(f, at, step=1e-3):
    n = len(at)
    out = np.empty((n, n))
    E = np.eye(n) * step
    for i in range(n):
        for j in range(n):
            plus, minus = f(at + E[i] + E[j]) + f(at - E[i] - E[j]), f(at + E[i] - E[j]) + f(at - E[i] + E[j])
            out[i, j] = (plus - minus) / (4 * step * step)
    return out


def test_the_covariance_of_two_classes_is_the_inverse_of_the_second_derivatives():
    rows, target, C = X[50:, :2], Y[50:] - 1, 0.7
    model = LogisticRegression(C=C).fit(rows, target)
    made = model.summary()
    at = np.append(model.intercept_, model.coef_)
    expected = np.linalg.inv(hessian(lambda v: minus_log_posterior(v, rows, target, C, 2), at))
    np.testing.assert_allclose(made.covariance, expected, rtol=1e-4)
    np.testing.assert_allclose(made.columns["coef"], at)
    np.testing.assert_allclose(
        made.columns["P(sign)"], ndtr(np.abs(at) / np.sqrt(np.diag(expected))), rtol=1e-4
    )
    assert "N(0, 0.7)" in made.prior


def test_the_covariance_of_three_classes_is_that_of_differences_from_the_first():
    rows, C = X[:, :2], 2.0
    model = LogisticRegression(C=C).fit(rows, Y)
    at = np.column_stack([model.intercept_, model.coef_])
    # A number added to all intercepts changes nothing: they are held by a pull that differences do not feel.
    held = hessian(lambda v: minus_log_posterior(v, rows, Y, C, 3), at.ravel())
    held += 1e-3 * np.kron(np.ones((3, 3)), np.diag([1.0, 0.0, 0.0]))
    covariance = np.linalg.inv(held)
    against = np.kron([[-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]], np.eye(3))
    made = model.summary()
    np.testing.assert_allclose(made.covariance, against @ covariance @ against.T, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(made.columns["coef"], (at[1:] - at[0]).ravel(), rtol=1e-9)


def test_a_weak_ridge_has_the_standard_errors_of_no_penalty():
    rows, target = X[50:, :2], Y[50:]
    weak, none = (LogisticRegression(C=C).fit(rows, target).summary() for C in (1e8, np.inf))
    np.testing.assert_allclose(weak.columns["std err"], none.columns["std err"], rtol=1e-5)
    np.testing.assert_allclose(weak.columns["ci low"], none.columns["ci low"], rtol=1e-5)
    assert weak.figures["coefficients"] == pytest.approx(3.0, abs=1e-5)


def test_units_change_nothing_but_units_when_the_ridge_is_standardized():
    rows, target = X[50:, :3], Y[50:]
    one = LogisticRegression(standardize=True).fit(rows, target).summary().frame
    other = LogisticRegression(standardize=True).fit(rows * 1e4 + 1e6, target).summary().frame
    np.testing.assert_allclose(one["std err"][1:], other["std err"][1:] * 1e4, rtol=1e-6)
    np.testing.assert_allclose(one["standardised"][1:], other["standardised"][1:], rtol=1e-6)


def test_more_columns_than_rows_have_a_posterior():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20, 40))
    made = LogisticRegression(C=0.5).fit(rows, rows[:, 0] > 0).summary()
    errors = made.columns["std err"][1:]
    assert (errors < np.sqrt(0.5) * (1 + 1e-9)).all()  # the rows can only add to what the prior knows
    assert errors.min() > 0


def test_the_note_says_what_the_errors_are_and_nothing_is_tested():
    made = LogisticRegression().fit(X, Y).summary()
    assert {"p", "z", "t"}.isdisjoint(made.columns)
    assert (
        "posterior standard deviations and 95 % intervals, each coefficient being N(0, 1) beforehand"
        in str(made)
    )
    for model in (LogisticRegression(penalty="l1").fit(X, Y), LogisticRegression(l1_ratio=0.5).fit(X, Y)):
        with pytest.raises(ValueError, match="the fit is penalised"):
            model.summary()
    with pytest.raises(ValueError, match=r"summary\(\) without covariance= tells the posterior"):
        LogisticRegression().fit(X, Y).summary(covariance="sandwich")


def test_a_summary_that_was_asked_for_is_in_the_model_file(tmp_path):
    model = LogisticRegression().fit(X, Y)
    posterior.save(model, tmp_path / "without")
    with pytest.raises(ValueError, match="rows of training"):
        posterior.load(tmp_path / "without").summary()
    made = model.summary()
    posterior.save(model, tmp_path / "with")
    assert str(posterior.load(tmp_path / "with").summary()) == str(made)
