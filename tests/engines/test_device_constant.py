"""Columns of another library's arrays that are constant within a class: the repairs and answers of NumPy."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from posterior import LDA, QDA, GaussianDiscriminantAnalysis, GaussianNB, GenerativeClassifier
from posterior.families import MultivariateNormal

ESTIMATORS = {
    "LDA": LDA(),
    "QDA": QDA(),
    "RDA": GaussianDiscriminantAnalysis(tied=0.5),
    "a block": GenerativeClassifier([([0, 1, 2], MultivariateNormal(shape="diagonal"))]),
    "naive Bayes": GaussianNB(),
}
CONSTANTS = (7.1, 36.6, -3.0)


def table(constant, where, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(300) % 3
    X = rng.normal(size=(300, 3))
    if where == "one class":
        X[y == 1, 1] = constant
    elif where == "every class":
        X[:, 1] = constant + 0.3 * y
    return X, y, rng.uniform(0.1, 2, 300)


def fitted(estimator, a, X, y, weight):
    """Log posteriors, and what was said on the way."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = clone(estimator).fit(a(X), a(y), sample_weight=None if weight is None else a(weight))
        return np.asarray(model.predict_log_proba(a(X))), [str(w.message) for w in told]


def apart(found, expected):
    """The largest difference, relative to 1 + the value."""
    return float((np.abs(found - expected) / (1 + np.abs(expected))).max())


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("where", ["one class", "every class"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_column_that_is_constant_in_a_class_is_repaired_as_with_numpy(name, where, dtype, xp):
    for seed, constant in enumerate(CONSTANTS):
        X, y, weight = table(constant, where, seed)
        X = X.astype(dtype)
        for weights in (None, weight):
            expected, told = fitted(ESTIMATORS[name], np.asarray, X, y, weights)
            found, said = fitted(ESTIMATORS[name], xp.asarray, X, y, weights)
            assert said == told
            assert apart(found, expected) < (1e-8 if dtype is np.float64 else 1e-5)


@pytest.mark.parametrize("name", ["QDA", "naive Bayes"])
def test_parts_of_a_column_that_is_constant_in_a_class_add_up(name, monkeypatch, xp):
    monkeypatch.setattr("posterior.engines.device.arrays.CHUNK_CELLS", 64)
    monkeypatch.setattr("posterior.engines.device.arrays.MIN_ROWS", 32)
    X, y, weight = table(36.6, "one class", 1)
    for weights in (None, weight):
        expected, told = fitted(ESTIMATORS[name], np.asarray, X, y, weights)
        found, said = fitted(ESTIMATORS[name], xp.asarray, X, y, weights)
        assert said == told
        assert apart(found, expected) < 1e-8


def test_a_column_that_is_constant_in_all_rows_is_left_out(xp):
    X, y, _ = table(7.1, "one class", 0)
    X[:, 1] = 36.6
    for estimator in ESTIMATORS.values():
        expected, told = fitted(estimator, np.asarray, X, y, None)
        found, said = fitted(estimator, xp.asarray, X, y, None)
        assert said == told
        assert apart(found, expected) < 1e-8


def test_what_a_class_shows_in_few_rows_is_found(xp):
    """Rows by which pivots are chosen lack a class, and a class lacks most of a column."""
    rng = np.random.default_rng(0)
    n = 8192
    y = np.arange(n) % 4  # rows here and there are all of one class
    X = rng.normal(size=(n, 2))
    X[y == 1, 1] = 7.1
    X[(y == 0) & (np.arange(n) % 64 != 4), 0] = np.nan
    X[(y == 0) & (np.arange(n) % 64 == 4), 0] = 36.6
    expected, told = fitted(GaussianNB(), np.asarray, X, y, None)
    found, said = fitted(GaussianNB(), xp.asarray, X, y, None)
    assert "columns 'x0'" in said[0]
    assert said == told
    assert apart(found, expected) < 1e-8


@pytest.mark.parametrize("model", [QDA(), GaussianNB()])
def test_rows_that_lie_far_from_the_others_of_their_class_cost_no_digits(model, xp):
    X, y, weight = table(7.1, "none", 0)
    X[3:6] = 1e9
    weight[3:6] = 1e-24
    expected, _ = fitted(model, np.asarray, X, y, weight)
    found, _ = fitted(model, xp.asarray, X, y, weight)
    assert apart(found[6:], expected[6:]) < 1e-8


@pytest.mark.parametrize("name", ["LDA", "QDA", "RDA"])
@pytest.mark.parametrize("distance", [1e4, 1e8])
def test_classes_far_apart_keep_their_digits(name, distance, xp):
    X, y, weight = table(7.1, "none", 0)
    X[y == 1, 1] += distance
    for weights in (None, weight):
        expected, _ = fitted(ESTIMATORS[name], np.asarray, X, y, weights)
        found, _ = fitted(ESTIMATORS[name], xp.asarray, X, y, weights)
        assert apart(found[y != 1], expected[y != 1]) < 1e-8


def test_classes_without_a_row_have_room(xp):
    X, y, _ = table(7.1, "one class", 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same for both
        model = GaussianNB().partial_fit(xp.asarray(X), xp.asarray(y), classes=[0, 1, 2, 5])
        expected = GaussianNB().partial_fit(X, y, classes=[0, 1, 2, 5])
    np.testing.assert_allclose(model.theta_, expected.theta_, rtol=1e-12, atol=1e-14)


def nearly_dependent(dtype, seed=0):
    """Rows near 10,000 whose third column is the sum of two, and those as single precision has them."""
    rng = np.random.default_rng(seed)
    y = np.arange(2000) % 3
    X = rng.normal(size=(2000, 4)) + 1e4 + y[:, None]
    X[:, 2] = X[:, 0] + X[:, 1]
    return X.astype(np.float32).astype(dtype), y


@pytest.mark.parametrize("name", ["LDA", "QDA"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", [1.0, 0.001, 1 / 3])
def test_the_same_columns_are_combinations_of_others_as_with_numpy(name, dtype, scale, xp):
    X, y = nearly_dependent(dtype)
    X = X * dtype(scale)
    expected, told = fitted(ESTIMATORS[name], np.asarray, X, y, None)
    found, said = fitted(ESTIMATORS[name], xp.asarray, X, y, None)
    assert said == told
    assert apart(found, expected) < (1e-6 if dtype is np.float64 else 1e-4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
@pytest.mark.parametrize("rare", [None, 0.3, float(np.float32(0.3))])
def test_the_rounding_of_columns_is_that_of_numpy(dtype, rare, xp):
    """A cell that tells may be in a row that is not looked at first."""
    rng = np.random.default_rng(0)
    y, X = np.arange(5000) % 2, rng.integers(0, 9, (5000, 3)).astype(dtype)
    X[:, 1] += rng.normal(size=5000).astype(dtype)
    if rare is not None:
        X[4999, 0] = rare
    here, there = LDA().fit(X, y), LDA().fit(xp.asarray(X), xp.asarray(y))
    np.testing.assert_array_equal(
        there.model_.statistics.blocks[0].rounding, here.model_.statistics.blocks[0].rounding
    )
