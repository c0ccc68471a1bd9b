"""Odd tables of all sorts through the linear estimators: an optimum, or a reason why there is none."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from posterior import LogisticRegression
from posterior.notices import DataWarning, SeparationWarning

pytestmark = pytest.mark.long


def odd_table(rng):
    """Columns of wild scales, offsets, tails, repeats, constants and rare levels; classes of any size."""
    n, d, K = int(rng.integers(8, 400)), int(rng.integers(1, 9)), int(rng.integers(2, 6))
    X = rng.standard_t(rng.choice([1.5, 3.0, 30.0]), size=(n, d))
    X = (X + rng.choice([0.0, 0.0, 1.0, 1e3, 1e6], d)) * 10.0 ** rng.integers(-6, 7, d)
    for j in range(d):
        kind = rng.random()
        if kind < 0.1:
            X[:, j] = 3.0
        elif kind < 0.2 and j > 0:
            X[:, j] = X[:, :j].sum(axis=1)
        elif kind < 0.3:
            X[:, j] = rng.random(n) < 0.03
        elif kind < 0.4:
            X[:, j] = np.round(X[:, j] / (np.abs(X[:, j]).max() + 1e-300) * 3)
    sd = X.std(axis=0)
    z = (X - X.mean(axis=0)) / np.where(sd > 0, sd, 1.0)
    scores = rng.choice([0.3, 1.0, 5.0]) * z @ rng.normal(size=(d, K)) + rng.gumbel(size=(n, K))
    y = (scores + rng.choice([0.0, 3.0]) * np.arange(K)).argmax(axis=1)
    y[:K] = range(K)
    weight = None if rng.random() < 0.6 else rng.choice([0.0, 0.5, 1.0, 7.0], n)
    if weight is not None:
        weight[:K] = 1.0
    return X, y, weight


def slope_of(model, X, y, weight, strength):
    """The gradient of the penalised log-likelihood on the scale of the columns, from the definition."""
    w = np.ones(len(y)) if weight is None else weight
    proba = model.predict_proba(X)
    residual = (proba - np.eye(proba.shape[1])[y]) * w[:, None]
    mean = np.average(X, axis=0, weights=w)
    sd = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=w))
    sd = np.where(sd > 1e-12 * np.abs(mean), np.sqrt(sd**2 + strength / w.sum()), np.inf)
    residual = residual[:, 1:] if model.coef_.shape[0] == 1 else residual
    pull = residual.T @ ((X - mean) / sd) + strength * model.coef_ / sd
    return np.abs(np.hstack([pull, residual.sum(axis=0)[:, None]])).max() / w.sum()


@pytest.mark.parametrize("seed", range(250))
def test_an_odd_table_has_an_optimum_or_a_reason_why_not(seed):
    rng = np.random.default_rng(seed)
    X, y, weight = odd_table(rng)
    for settings in ({}, {"C": 1e-3}, {"C": np.inf}, {"penalty": "firth"}, {"solver": "lbfgs"}):
        model = LogisticRegression(**settings)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model.fit(X, y, weight)
        # L-BFGS may run out of steps in the flat valleys of almost separated classes, and says so.
        slow = {ConvergenceWarning} if "solver" in settings else set()
        assert {w.category for w in told} <= {DataWarning, SeparationWarning, *slow}, (
            settings,
            told[0].message,
        )
        proba = model.predict_proba(X)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-12)
        assert np.isfinite(model.coef_).all()
        separated = any(w.category is SeparationWarning for w in told)
        if settings.get("penalty") != "firth" and not separated and model.converged_:
            strength = 0.0 if settings.get("C") == np.inf else 1.0 / settings.get("C", 1.0)
            assert slope_of(model, X, y, weight, strength) < 1e-6, settings


@pytest.mark.parametrize("seed", range(60))
def test_an_odd_sparse_table_is_the_dense_one(seed):
    rng = np.random.default_rng(1000 + seed)
    X, y, weight = odd_table(rng)
    X = np.where(rng.random(X.shape) < 0.6, 0.0, X)
    a = LogisticRegression().fit(X, y, weight)
    b = LogisticRegression().fit(sparse.csr_array(X), y, weight)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(sparse.csr_array(X)), atol=1e-6)
