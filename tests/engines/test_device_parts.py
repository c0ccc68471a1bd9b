"""`partial_fit` of parts of either library: what it gives where all parts are NumPy's."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from posterior import LDA, GaussianNB, NaiveBayes
from posterior.families import FewValues

N = 3000


def table(seed=0):
    """A measurement, a grade, and two columns of whole numbers with many values and with two."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, N)
    grade = np.minimum(rng.integers(0, 4, N) + (rng.random(N) < 0.4 * y), 4)
    return np.column_stack([rng.normal(size=N) + y, grade, rng.integers(0, 40, N), rng.integers(0, 2, N)]), y


TABLES = {
    "numbers": lambda X: X,
    "whole numbers": lambda X: X[:, 1:3].astype(np.int64),
    "gaps": lambda X: np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X),
}
MODELS = {
    "all chosen": NaiveBayes(),
    "variances of their own": NaiveBayes(tied=False),
    "weights given": NaiveBayes(tied=False, weights=1.0),
    "values": NaiveBayes(tied=False, weights=1.0, few_values=True),
}
PARTS = (slice(0, 1000), slice(1000, 1100), slice(1100, N))


def learnt(model, X, y, libraries, parts=PARTS):
    """A model that learnt from parts, each an array of another library."""
    model = clone(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns, the same for all
        for part, a in zip(parts, libraries, strict=True):
            model.partial_fit(a(X[part]), a(y[part]))
    return model


def apart(found, expected):
    """The largest difference, relative to 1 + the value."""
    return float((np.abs(np.asarray(found) - expected) / (1 + np.abs(expected))).max())


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("name", MODELS)
def test_parts_of_any_library_give_the_model_of_parts_of_numpy(name, kind, xp):
    X, y = table()
    X = TABLES[kind](X)
    expected = learnt(MODELS[name], X, y, 3 * [np.asarray])
    for libraries in (
        (np.asarray, xp.asarray, np.asarray),
        (xp.asarray, np.asarray, xp.asarray),
        (xp.asarray, xp.asarray, xp.asarray),
    ):
        found = learnt(MODELS[name], X, y, libraries)
        assert found.families_ == expected.families_
        assert found.weights_ == pytest.approx(expected.weights_)
        assert apart(found.predict_log_proba(xp.asarray(X)), expected.predict_log_proba(X)) < 1e-8


def test_what_was_chosen_is_kept(xp):
    X, y = table()
    first = NaiveBayes().partial_fit(xp.asarray(X[:1000]), xp.asarray(y[:1000]))
    chosen = first.best_params_
    assert first.partial_fit(xp.asarray(X[1000:]), xp.asarray(y[1000:])).best_params_ == chosen


def test_a_column_without_a_value_may_have_some_later(xp):
    X, y = table()
    X[:1000, 0] = np.nan
    expected = learnt(MODELS["values"], X, y, 3 * [np.asarray])
    found = learnt(MODELS["values"], X, y, (np.asarray, np.asarray, xp.asarray))
    assert apart(found.predict_log_proba(X), expected.predict_log_proba(X)) < 1e-8
    early = learnt(MODELS["values"], X, y, (np.asarray, xp.asarray, np.asarray))
    assert apart(early.predict_log_proba(X), expected.predict_log_proba(X)) < 1e-8


@pytest.mark.parametrize(
    ("model", "spoil", "message"),
    [
        (GaussianNB(), lambda X: np.where(X > 3, np.inf, X), "infinity"),
        (LDA(), lambda X: np.where(X > 3, np.nan, X), "missing values"),
        (GaussianNB(), lambda X: X[:, :2], "expecting 4 features"),
        (
            NaiveBayes(families={"x0": FewValues()}, tied=False, weights=1.0),
            lambda X: np.tile(X, (2, 1)) + np.arange(2 * len(X))[:, None] / 7,
            "distinct values",
        ),
    ],
)
def test_a_part_that_is_refused_changes_nothing(model, spoil, message, xp):
    X, y = table()
    model = learnt(model, X, y, [np.asarray], PARTS[:1])
    before = model.predict_log_proba(X)
    wrong = spoil(X)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(xp.asarray(wrong), xp.asarray(np.resize(y, len(wrong))))
    np.testing.assert_array_equal(model.predict_log_proba(X), before)
