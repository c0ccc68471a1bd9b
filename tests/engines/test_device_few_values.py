"""Whole numbers with few values in arrays of another library: the families that NumPy gives them."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from posterior import NaiveBayes
from posterior.engines.device.arrays import bytes_to_host
from posterior.families import FewValues, Histogram

METHODS = ("predict", "predict_log_proba", "predict_joint_log_proba", "score_samples", "class_log_density")


def table(n=3000, seed=0):
    """A measurement, a grade, a column of zeros and ones, and one of whole numbers with many values."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    grade = np.minimum(rng.integers(0, 4, n) + (rng.random(n) < 0.4 * y), 4)
    return np.column_stack([rng.normal(size=n) + y, grade, rng.integers(0, 2, n), rng.integers(0, 40, n)]), y


def with_gaps(X):
    return np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)


def apart(found, expected):
    """The largest difference, relative to 1 + the value."""
    found, expected = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    same = found == expected
    return float(np.where(same, 0.0, np.abs(found - expected) / (1 + np.abs(expected))).max())


def fitted(estimator, a, X, y, **settings):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = clone(estimator).fit(a(X), a(y), **settings)
    return model, [str(w.message) for w in told]


TABLES = {
    "numbers": lambda X: X,
    "gaps": with_gaps,
    "single precision": lambda X: X.astype(np.float32),
    "whole numbers": lambda X: X[:, 1:].astype(np.int64),
}
MODELS = {
    "chosen": NaiveBayes(),
    "given": NaiveBayes(few_values=True, tied=False, weights=1.0),
    "weighed less": NaiveBayes(few_values=True, tied=False, weights=0.5),
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("name", MODELS)
def test_whole_numbers_with_few_values_are_described_as_with_numpy(name, kind, xp):
    X, y = table()
    X = TABLES[kind](X)
    here, told = fitted(MODELS[name], np.asarray, X, y)
    there, said = fitted(MODELS[name], xp.asarray, X, y)
    assert said == told
    assert there.families_ == here.families_
    assert "Histogram" in here.families_.values()
    close = 1e-5 if kind == "single precision" else 1e-8
    beyond = X + 7 if kind == "whole numbers" else X * X.dtype.type(1.3) - X.dtype.type(0.6)
    for rows in (X, beyond):
        for method in METHODS:
            found = getattr(there, method)(xp.asarray(rows))
            assert type(found) is type(xp.asarray(X))
            assert apart(found, getattr(here, method)(rows)) < close, method
    both = here + there
    assert both.families_ == here.families_
    assert apart(both.predict_log_proba(X), (here + here).predict_log_proba(X)) < close


@pytest.mark.parametrize("name", ["chosen", "given"])
def test_weights_of_rows_count(name, xp):
    X, y = table()
    weight = np.random.default_rng(2).integers(0, 3, len(y)).astype(np.float64)
    here, _ = fitted(MODELS[name], np.asarray, X, y, sample_weight=weight)
    there, _ = fitted(MODELS[name], xp.asarray, X, y, sample_weight=xp.asarray(weight))
    assert there.families_ == here.families_
    assert apart(there.predict_log_proba(X), here.predict_log_proba(X)) < 1e-8


def test_chunks_of_values_add_up(monkeypatch, xp):
    monkeypatch.setattr("posterior.engines.device.arrays.CHUNK_CELLS", 64)
    monkeypatch.setattr("posterior.engines.device.arrays.MIN_ROWS", 32)
    X, y = table(300)
    here, _ = fitted(MODELS["given"], np.asarray, with_gaps(X), y)
    there, _ = fitted(MODELS["given"], xp.asarray, with_gaps(X), y)
    assert apart(there.predict_log_proba(X), here.predict_log_proba(X)) < 1e-8


def test_a_column_that_shows_many_values_late_has_not_few(xp):
    X, y = table(5000)
    X[4999, 1] = 2.5
    here, _ = fitted(MODELS["given"], np.asarray, X, y)
    there, _ = fitted(MODELS["given"], xp.asarray, X, y)
    assert here.families_["x1"] == there.families_["x1"] == "Normal"


def test_columns_that_agree_are_pointed_out(xp):
    X, y = table()
    X = np.column_stack([X, X[:, 1], X[::-1, 1]])
    _, told = fitted(MODELS["given"], np.asarray, X, y)
    _, said = fitted(MODELS["given"], xp.asarray, X, y)
    assert said == told
    assert "'x4'" in told[0]


def test_the_table_stays_where_it_is(xp):
    X, y = table(200_000)
    with bytes_to_host() as moved:
        fitted(MODELS["given"], xp.asarray, X, y)
    assert moved["bytes"] < X.nbytes / 20


def test_values_of_a_family_that_was_asked_for(xp):
    X, y = table()
    model = NaiveBayes(families={"continuous": FewValues()}, tied=False, weights=1.0)
    here, _ = fitted(model, np.asarray, X, y)
    there, _ = fitted(model, xp.asarray, X, y)
    assert apart(there.predict_log_proba(X), here.predict_log_proba(X)) < 1e-8
    X, y = table(6000)
    with pytest.raises(
        ValueError, match=r"'x0' has 6,000 distinct values, and FewValues counts at most 4,096"
    ):
        model.fit(xp.asarray(X), xp.asarray(y))


def test_histograms_of_the_host_score_rows_on_a_device(xp):
    X, y = table()
    model = NaiveBayes(families={"continuous": Histogram()}, weights={"x0": 0.5, "x1": 0.0})
    model, _ = fitted(model, np.asarray, X, y)
    for method in METHODS:
        assert apart(getattr(model, method)(xp.asarray(X)), getattr(model, method)(X)) < 1e-8
