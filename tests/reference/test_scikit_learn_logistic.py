"""LogisticRegression against scikit-learn's at tight tolerance, on everything that both can do."""

import inspect
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from posterior import LogisticRegression, SoftmaxRegression

TABLES = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer}
# What we name differently or leave to the solver.
OURS = {"penalty", "tol", "solver", "max_iter", "missing", "degree", "kinds"}


def standardised(name):
    X, y = TABLES[name](return_X_y=True)
    return (X - X.mean(0)) / X.std(0), y


def theirs(**settings):
    return linear_model.LogisticRegression(solver="newton-cholesky", tol=1e-12, max_iter=1000, **settings)


def same(ours, other, X, rtol=1e-6):
    np.testing.assert_allclose(ours.coef_, other.coef_, rtol=rtol, atol=1e-7)
    np.testing.assert_allclose(ours.intercept_, other.intercept_, rtol=rtol, atol=1e-7)
    np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(ours.decision_function(X), other.decision_function(X), rtol=1e-6, atol=1e-6)
    assert (ours.predict(X) == other.predict(X)).all()
    assert ours.score(X, other.predict(X)) == 1.0


def test_every_parameter_of_scikit_learn_is_there_with_its_default():
    ours = inspect.signature(LogisticRegression).parameters
    for name, parameter in inspect.signature(linear_model.LogisticRegression).parameters.items():
        assert name in ours
        assert parameter.kind == ours[name].kind
        if name not in OURS:
            assert parameter.default == ours[name].default, name


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_ridge(table, C, fit_intercept):
    X, y = standardised(table)
    ours = LogisticRegression(C=C, fit_intercept=fit_intercept).fit(X, y)
    same(ours, theirs(C=C, fit_intercept=fit_intercept).fit(X, y), X)
    assert ours.converged_


@pytest.mark.parametrize("table", ["iris", "breast cancer"])
def test_shapes_and_attributes(table):
    X, y = standardised(table)
    labels = np.array(["a", "b", "c"])[y]
    ours, other = LogisticRegression().fit(X, labels), theirs().fit(X, labels)
    for name in [n for n in vars(other) if n.endswith("_") and not n.startswith("_")]:
        a, b = getattr(ours, name), getattr(other, name)
        assert np.shape(a) == np.shape(b), name
        assert np.asarray(a).dtype == np.asarray(b).dtype, name
    assert ours.decision_function(X).shape == other.decision_function(X).shape
    assert ours.classes_.tolist() == other.classes_.tolist()


def test_no_penalty():
    X, y = standardised("breast cancer")
    rng = np.random.default_rng(0)
    y = np.where(rng.random(len(y)) < 0.2, 1 - y, y)  # which no column separates
    same(LogisticRegression(C=np.inf).fit(X, y), theirs(C=np.inf).fit(X, y), X, rtol=1e-5)


@pytest.mark.parametrize("weights", ["rows", "classes", "both", "balanced"])
@pytest.mark.parametrize("table", ["wine", "breast cancer"])
def test_weights(table, weights):
    X, y = standardised(table)
    rng = np.random.default_rng(1)
    row = rng.integers(0, 4, len(y)).astype(float) if weights in ("rows", "both") else None
    by_class = {"rows": None, "balanced": "balanced"}.get(weights, {0: 2.0, 1: 0.5})
    ours = LogisticRegression(class_weight=by_class).fit(X, y, row)
    same(ours, theirs(class_weight=by_class).fit(X, y, row), X)


@pytest.mark.parametrize("table", ["wine", "breast cancer"])
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array])
def test_sparse_tables(table, form):
    X, y = standardised(table)
    X = np.where(np.abs(X) < 1, 0.0, X)
    ours = LogisticRegression().fit(form(X), y)
    same(ours, theirs().fit(X, y), form(X))


@pytest.mark.parametrize("table", ["iris", "breast cancer"])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
def test_lasso_and_elastic_net(table, l1_ratio):
    X, y = standardised(table)
    saga = linear_model.LogisticRegression(
        solver="saga", l1_ratio=l1_ratio, C=0.1, tol=1e-11, max_iter=200_000, random_state=0
    ).fit(X, y)
    ours = LogisticRegression(l1_ratio=l1_ratio, C=0.1).fit(X, y)
    np.testing.assert_allclose(ours.coef_, saga.coef_, atol=1e-5)
    assert ((ours.coef_ == 0) == (np.abs(saga.coef_) < 1e-8)).all()


@pytest.mark.parametrize(
    "solver", ["newton", "irls", "lbfgs", "newton-cholesky", "newton-cg", "liblinear", "sag", "saga"]
)
def test_every_name_of_a_solver_reaches_the_optimum(solver):
    X, y = standardised("breast cancer")
    ours = LogisticRegression(solver=solver).fit(X, y)
    np.testing.assert_allclose(ours.coef_, LogisticRegression().fit(X, y).coef_, atol=1e-6)


OLD = [("l2", {}), ("l1", {"l1_ratio": 1.0}), (None, {"C": np.inf})]


@pytest.mark.parametrize(("penalty", "settings"), OLD)
def test_the_old_names_of_penalties(penalty, settings):
    X, y = standardised("wine")
    y = (y == 1) ^ (np.random.default_rng(2).random(len(y)) < 0.2)
    a, b = LogisticRegression(penalty=penalty).fit(X, y), LogisticRegression(**settings).fit(X, y)
    np.testing.assert_array_equal(a.coef_, b.coef_)


def test_log_probabilities_are_exact_in_the_tail():
    X = np.array([[-1.0], [1.0], [2.0], [-2.0], [0.5], [-0.5]])
    y = [0, 1, 1, 0, 0, 1]
    model = LogisticRegression().fit(X, y)
    logs = model.predict_log_proba([[1e6]])
    assert np.isclose(logs[0, 0], -(1e6 * model.coef_[0, 0] + model.intercept_[0]), rtol=1e-12)
    assert logs[0, 1] == 0.0


def test_softmax_regression_is_the_same_code():
    X, y = standardised("iris")
    np.testing.assert_array_equal(SoftmaxRegression().fit(X, y).coef_, LogisticRegression().fit(X, y).coef_)


@pytest.mark.long
def test_badly_scaled_columns_reach_what_no_other_solver_betters(hard):
    for K in (2, 5):
        X, y = hard(4000, 8, K)
        ours = LogisticRegression().fit(X, y)
        assert ours.converged_
        assert ours.solution_.gradient < 1e-8

        def value(coef, intercept, X=X, y=y):
            scores = X @ coef.T + intercept
            scores = np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores
            top = scores.max(axis=1)
            loss = np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top - scores[np.arange(len(y)), y]
            return loss.mean() + 0.5 * (coef**2).sum() / len(y)

        mine = value(ours.coef_, ours.intercept_)
        for solver in ("lbfgs", "newton-cholesky", "newton-cg"):
            other = linear_model.LogisticRegression(solver=solver, max_iter=300)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # scikit-learn's own, of solvers that do not arrive
                other.fit(X, y)
            assert mine <= value(other.coef_, other.intercept_) * (1 + 1e-10)


@pytest.fixture
def hard():
    def make(n, d, K):
        rng = np.random.default_rng(0)
        Z = rng.standard_t(4, size=(n, d))
        scale = np.logspace(-2, 3, d)
        X = Z @ rng.normal(size=(d, d)) * scale + 5 * scale
        return X, (Z @ rng.normal(size=(d, K)) + rng.gumbel(size=(n, K))).argmax(1)

    return make
