"""The inside of IRLS steps (M18, M20): textbook formulas in the user's columns, from the solver's path."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from posterior import LinearRegression, LogisticRegression
from posterior.linear import GradientDescent, Newton, irls_steps
from posterior.math import sigmoid

PATH = Newton(path=True, reuse=0, stages=False)


def table(n=60, offset=0.0):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 2)) * [1.0, 30.0]
    t = (X[:, 0] + 0.02 * X[:, 1] + rng.logistic(size=n) > 0).astype(int)
    return X + offset, t


@pytest.mark.parametrize("intercept", [True, False])
def test_every_step_is_that_of_the_textbook(intercept):
    X, t = table()
    model = LogisticRegression(C=np.inf, solver=PATH, fit_intercept=intercept).fit(X, t)
    A = np.column_stack([np.ones(len(X)), X]) if intercept else X
    steps = irls_steps(model.fit_)
    assert steps[0].names == (("(intercept)",) if intercept else ()) + ("x0", "x1")
    for step in steps:
        y = sigmoid(A @ step.coef)
        R = y * (1 - y)
        assert step.error == pytest.approx(-np.log(np.where(t == 1, y, 1 - y)).sum(), rel=1e-12)
        np.testing.assert_allclose(step.score, A @ step.coef, atol=1e-12)
        np.testing.assert_allclose(step.residual, y - t, atol=1e-14)
        np.testing.assert_allclose(step.gradient, A.T @ (y - t), atol=1e-9)
        np.testing.assert_allclose(step.weight, R, rtol=1e-12)
        np.testing.assert_allclose(step.response, A @ step.coef - (y - t) / R, rtol=1e-9)
        np.testing.assert_allclose(step.hessian, (A.T * R) @ A, rtol=1e-10, atol=1e-10)
        least_squares = np.linalg.lstsq(A * np.sqrt(R)[:, None], np.sqrt(R) * step.response, rcond=None)[0]
        np.testing.assert_allclose(step.next_coef, least_squares, rtol=1e-8, atol=1e-10)


def test_each_step_leads_to_the_next_and_the_last_to_the_model():
    X, t = table(offset=1e4)  # an offset that the solver's own coordinates hide
    model = LogisticRegression(C=np.inf, solver=PATH).fit(X, t)
    steps = irls_steps(model.fit_)
    assert len(steps) == len(model.solution_.path) > 3
    for step, after in pairwise(steps):
        np.testing.assert_allclose(step.next_coef, after.coef, rtol=1e-5)
    np.testing.assert_allclose(steps[-1].coef, [*model.intercept_, *model.coef_[0]], rtol=1e-9)
    assert (np.diff([step.error for step in steps]) <= 1e-9).all()


def test_a_ridge_and_weights_are_in_gradient_and_hessian():
    X, t = table()
    w = np.arange(len(t)) % 3 + 1.0
    model = LogisticRegression(C=0.5, solver=PATH).fit(X, t, sample_weight=w)
    A, ridge = np.column_stack([np.ones(len(X)), X]), np.diag([0.0, 2.0, 2.0])
    for step in irls_steps(model.fit_):
        y = sigmoid(A @ step.coef)
        np.testing.assert_allclose(step.gradient, A.T @ (w * (y - t)) + ridge @ step.coef, atol=1e-8)
        np.testing.assert_allclose(step.weight, w * y * (1 - y), rtol=1e-12)
        np.testing.assert_allclose(step.hessian, (A.T * (w * y * (1 - y))) @ A + ridge, rtol=1e-10)


def test_a_regression_has_weights_of_one_and_one_step():
    X, _ = table()
    t = X @ [2.0, -0.1] + 3 + np.random.default_rng(0).normal(size=len(X))
    model = LinearRegression(solver=PATH).fit(X, t)
    first, last = irls_steps(model.fit_)
    assert (first.weight == 1).all()
    np.testing.assert_allclose(first.response, t, atol=1e-12)
    np.testing.assert_allclose(first.next_coef, [model.intercept_, *model.coef_], rtol=1e-10)
    np.testing.assert_allclose(last.coef, first.next_coef, rtol=1e-10)


def test_where_weights_are_zero_the_response_is_infinite_and_the_step_finite():
    X = np.array([[-1.0], [1.0], [-0.5], [0.5], [4000.0]])
    t = [0, 1, 1, 0, 0]
    solver = GradientDescent(path=True, max_iter=1, step=1.0)
    with pytest.warns(ConvergenceWarning):
        model = LogisticRegression(C=np.inf, solver=solver).fit(X, t)
    last = irls_steps(model.fit_)[-1]
    assert np.isinf(last.response).any()
    assert (last.weight[np.isinf(last.response)] == 0).all()
    assert np.isfinite(last.next_coef).all()


@pytest.mark.parametrize(
    ("model", "classes", "words"),
    [
        (LogisticRegression(), 2, "no path was recorded"),
        (LogisticRegression(solver=PATH), 3, "two classes"),
        (LogisticRegression(penalty="firth"), 2, "no path|Firth"),
    ],
)
def test_what_has_no_such_table_is_refused_with_the_reason(model, classes, words):
    X, _ = table()
    with pytest.raises(ValueError, match=words):
        irls_steps(model.fit(X, np.arange(len(X)) % classes).fit_)
