"""Tables in single precision: answers in it, which are those of double precision but for rounding.

Log posteriors are held to 1e-5 of 1 + |value|; models that are linear, and rows that single precision cannot
settle, to the rounding of the answer.
"""

import numpy as np
import pandas as pd
import pytest
import sklearn.discriminant_analysis
import sklearn.linear_model
import sklearn.naive_bayes
from sklearn.base import clone

import posterior
from posterior import LDA, QDA, DecisionClassifier, FusionClassifier, GaussianNB, LinearRegression
from posterior.engines import LocalDataset
from posterior.estimators.precision import in_double
from posterior.kernels.choice import using
from posterior.linear import Design, Scan
from posterior.linear.basis import moments
from posterior.schema import Schema, read_table

MODELS = {
    "GaussianNB": GaussianNB(),
    "LDA": LDA(),
    "QDA": QDA(),
    "softmax": posterior.LogisticRegression(C=10.0),
}
BOUND = {"GaussianNB": 1e-5, "LDA": 3e-7, "QDA": 1e-5, "softmax": 3e-7}
every_model = pytest.mark.parametrize("name", MODELS)


def plain(rng, n, d, y):
    return rng.normal(size=(n, d)) + 0.5 * y[:, None]


def far_offset(rng, n, d, y):
    return plain(rng, n, d, y) + 1e4


def scales(rng, n, d, y):
    return plain(rng, n, d, y) * 10.0 ** np.linspace(-12, 12, d)


def far_classes(rng, n, d, y):
    return plain(rng, n, d, y) + 200.0 * y[:, None]


def outliers(rng, n, d, y):
    return plain(rng, n, d, y) * np.where(rng.random(n) < 0.05, 100.0, 1.0)[:, None]


def correlated(rng, n, d, y):
    return 0.02 * plain(rng, n, d, y) + rng.normal(size=(n, 1))


TABLES = [plain, far_offset, scales, far_classes, outliers, correlated]


def table(make, n=1_000, d=9, K=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    return make(rng, n, d, y).astype(np.float32), y


def relative_error(found, want):
    return (np.abs(found - want) / (1 + np.abs(want))).max()


@pytest.mark.parametrize("make", TABLES)
@every_model
@pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_answers_are_those_of_double_precision_but_for_rounding(name, make):
    X, y = table(make)
    model = clone(MODELS[name]).fit(X, y)
    with using("compiled"):
        logs, shares, best = model.predict_log_proba(X), model.predict_proba(X), model.predict(X)
        with in_double():
            want = model.predict_log_proba(X)
    assert logs.dtype == shares.dtype == np.float32
    assert want.dtype == np.float64
    assert relative_error(logs, want) < BOUND[name]
    np.testing.assert_allclose(shares, np.exp(want), rtol=0, atol=BOUND[name])
    np.testing.assert_allclose(shares.sum(axis=1, dtype=float), 1.0, rtol=0, atol=5e-7)
    np.testing.assert_array_equal(best, model.classes_[want.argmax(axis=1)])


@pytest.mark.parametrize("name", ["GaussianNB", "LDA", "QDA"])
def test_rows_with_gaps_are_answered_in_single_precision(name):
    X, y = table(plain)
    model = clone(MODELS[name]).fit(X, y)
    X[::7, 2], X[5, :] = np.nan, np.nan
    with using("compiled"):
        logs = model.predict_log_proba(X)
        with in_double():
            want = model.predict_log_proba(X)
    assert relative_error(logs, want) < BOUND[name]
    np.testing.assert_allclose(np.exp(logs[5]), np.exp(model.model_.log_prior), rtol=1e-6)


@every_model
@pytest.mark.parametrize("d", [2, 9])
def test_bits_are_the_same_in_every_layout_and_for_any_threads(name, d):
    X, y = table(plain, n=70_001, d=d)
    model = clone(MODELS[name]).fit(X[:2_000], y[:2_000])
    for ask in (model.predict_proba, model.predict_log_proba, model.predict, model.decision_function):
        with posterior.threads(1):
            want = ask(X)
        with posterior.threads(3):
            np.testing.assert_array_equal(ask(X), want)
            np.testing.assert_array_equal(ask(np.asfortranarray(X)), want)
            np.testing.assert_array_equal(ask(np.c_[X, X][:, :d]), want)
        wide = X.astype(np.float64)
        with in_double():
            np.testing.assert_array_equal(ask(X), ask(wide))


def test_a_frame_of_single_precision_is_answered_in_it_and_a_mixture_is_not():
    X, y = table(plain)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    model = LDA().fit(frame, y)
    assert model.predict_proba(frame).dtype == np.float32
    np.testing.assert_array_equal(model.predict_proba(frame), LDA().fit(X, y).predict_proba(X))
    mixed = frame.astype({"c3": np.float64})
    assert model.predict_proba(mixed).dtype == np.float64
    assert LDA().fit(mixed, y).predict_proba(frame).dtype == np.float64


PAIRS = [
    (GaussianNB(), sklearn.naive_bayes.GaussianNB()),
    (LDA(), sklearn.discriminant_analysis.LinearDiscriminantAnalysis()),
    (posterior.LogisticRegression(), sklearn.linear_model.LogisticRegression()),
    (posterior.BernoulliNB(), sklearn.naive_bayes.BernoulliNB()),
    (LinearRegression(), sklearn.linear_model.LinearRegression()),
]
METHODS = ("predict_proba", "predict_log_proba", "predict_joint_log_proba", "decision_function", "transform")
SHOWN = ("coef_", "theta_", "var_", "class_prior_", "class_count_", "means_", "priors_", "xbar_", "scalings_")


@pytest.mark.parametrize("trained", [np.float32, np.float64])
@pytest.mark.parametrize("scored", [np.float32, np.float64])
def test_types_of_answers_and_attributes_are_scikit_learns(trained, scored):
    X, y = table(plain)
    for pair in PAIRS:
        ours, theirs = (clone(model).fit(X.astype(trained), y) for model in pair)
        asked = ("predict",) if isinstance(ours, LinearRegression) else METHODS
        for method in (m for m in asked if hasattr(ours, m) and hasattr(theirs, m)):
            found = [getattr(model, method)(X.astype(scored)).dtype for model in (ours, theirs)]
            assert found[0] == found[1], (ours, method)
        for name in (a for a in SHOWN if hasattr(ours, a) and hasattr(theirs, a)):
            assert getattr(ours, name).dtype == getattr(theirs, name).dtype, (ours, name)


def test_decisions_are_made_in_double_precision():
    X, y = table(plain)
    inner = LDA().fit(X, y)
    with in_double():
        want = inner.predict_log_proba(X)
    decided = DecisionClassifier(LDA()).fit(X, y)
    assert decided.predict_log_proba(X).dtype == np.float64
    np.testing.assert_array_equal(decided.predict_log_proba(X), want)
    np.testing.assert_array_equal(decided.training_priors_, np.exp(inner.model_.log_prior))
    fused = FusionClassifier([("all", LDA(), list(range(X.shape[1])))]).fit(X, y)
    np.testing.assert_allclose(fused.predict_log_proba(X), want, atol=1e-12)


FITTED = {
    "two classes": posterior.LogisticRegression(C=1.0, solver="newton"),
    "three classes": posterior.LogisticRegression(C=1.0, solver="newton"),
    "Firth": posterior.LogisticRegression(penalty="firth"),
    "numbers": LinearRegression(),
}


@pytest.mark.parametrize("name", FITTED)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kernels", ["reference", "compiled", "auto"])
@pytest.mark.parametrize(("n", "d"), [(200, 3), (3_000, 30), (20_000, 3)])
@pytest.mark.crossed
def test_sums_of_linear_models_are_doubles(name, order, kernels, n, d):
    rng = np.random.default_rng(n)
    y = rng.integers(0, 3 if name == "three classes" else 2, n)
    # An offset that takes most digits of a number in single precision.
    X = (plain(rng, n, d, y) + 1e5).astype(np.float32, order=order)
    target = X[:, 0] + rng.normal(size=n) if name == "numbers" else y
    ask = "predict" if name == "numbers" else "predict_log_proba"
    with using(kernels), in_double():
        single, double = (
            getattr(clone(FITTED[name]).fit(rows, target), ask)(X) for rows in (X, X.astype(np.float64))
        )
    np.testing.assert_allclose(single, double, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kernels", ["reference", "compiled"])
def test_moments_of_rows_in_single_precision_are_doubles(kernels):
    X = (np.random.default_rng(3).normal(size=(500, 4)) * [1, 1e-3, 1e4, 1] + 3.0).astype(np.float32)
    found = []
    for rows in (X, X.astype(np.float64)):
        source = read_table(rows)
        schema = Schema.infer(source)
        data = LocalDataset(schema, schema.encode(source), np.zeros(500), None)
        with using(kernels):
            found.append(moments(Scan.of(data, Design.of(schema))))
    single, double = found
    np.testing.assert_allclose(single.scatter, double.scatter, rtol=1e-13, atol=1e-11)
    np.testing.assert_allclose(single.location.value, double.location.value, rtol=1e-14)
