"""Rows that are answered in one pass: from any layout, however wide, and without memory that grows."""

import numpy as np
import pytest

from posterior import QDA, GaussianNB
from posterior.estimators.precision import in_double
from posterior.kernels import memory, row_scores
from posterior.kernels.choice import using


def posteriors(d, table):
    rng = np.random.default_rng(0)
    shift = rng.normal(size=(2, d))
    scores = row_scores.normal_scores(np.ones((2, d)), shift, np.zeros(2), np.zeros(d), np.zeros(d))
    out = np.zeros((len(table), 2))
    with using("compiled"):
        scores.answer(table, np.log([0.5, 0.5]), out, "log posteriors")
    return out


def test_a_copy_too_large_to_be_kept_lives_until_its_rows_are_answered(monkeypatch):
    monkeypatch.setattr(memory, "LARGEST", 1 << 15)
    d = 5000
    rows = np.random.default_rng(1).normal(size=(64, d))
    apart = np.repeat(rows, 2, axis=1)[:, ::2]  # neither by rows nor by columns
    np.testing.assert_array_equal(posteriors(d, apart), posteriors(d, rows))


def test_tables_of_many_lengths_leave_little_behind():
    rows = np.random.default_rng(2).normal(size=(300, 3))
    for n in range(1, 300):
        posteriors(3, np.asfortranarray(rows[:n]))
    assert row_scores._places.cache_info().currsize <= 64


@pytest.mark.parametrize("model", [GaussianNB, QDA])
def test_columns_too_small_for_factors_of_single_precision(model):
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=500)
    X = (1e-42 * (rng.normal(size=(500, 3)) * 100 + 100 * y[:, None])).astype(np.float32)
    fitted = model().fit(X, y)
    with using("compiled"):
        found = fitted.predict_log_proba(X)
    with in_double(), using("reference"):
        np.testing.assert_allclose(found, fitted.predict_log_proba(X), rtol=1e-5, atol=1e-5)
