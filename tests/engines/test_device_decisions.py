"""Decisions, calibration and outliers for arrays of another library, made where the arrays are."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression as Theirs

from posterior import (
    LDA,
    QDA,
    CalibratedClassifier,
    DecisionClassifier,
    GaussianNB,
    LogisticRegression,
    OutlierRule,
)
from posterior.decision.scaling import Scaling
from posterior.engines.device.arrays import bytes_to_host
from posterior.estimators import device_decisions, outliers, training_rows

pytestmark = pytest.mark.filterwarnings("ignore::posterior.notices.CalibrationWarning")

N, D = 3_000, 4
COSTS = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [9.0, 3.0, 0.0]])
NAMED = {
    0: {0: 0, 1: 1, 2: 4, 9: 0.3},
    1: {0: 2, 1: 0, 2: 1, 9: 0.3},
    2: {0: 9, 1: 3, 2: 0, 9: 0.3},
}


def table(seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(3, N, p=[0.6, 0.3, 0.1])
    return rng.normal(size=(N, D)) + 0.7 * y[:, None], y


X, Y = table()
NEW = table(1)[0]


class TooClose:
    """A rule of somebody else's."""

    def rejects(self, log_posterior, risk):
        best = np.sort(log_posterior, axis=1)
        return best[:, -1] - best[:, -2] < np.log(2)


DECISIONS = {
    "nothing": {},
    "costs": {"costs": COSTS},
    "a gain and actions with names": {"costs": {k: v | {9: -0.1} for k, v in NAMED.items()}},
    "one more action": {"costs": NAMED},
    "a threshold": {"reject": {"threshold": 0.8}},
    "a price": {"reject": {"cost": 0.2}},
    "costs and a price": {"costs": COSTS, "reject": {"cost": 0.5}},
    "coverage": {"costs": COSTS, "reject": {"coverage": 0.8}},
    "somebody else's rule": {"reject": TooClose()},
    "priors": {"priors": [0.2, 0.2, 0.6], "costs": COSTS},
    "a class that is not there": {"priors": [0.5, 0.5, 0.0]},
    "temperature": {"calibration": "temperature"},
    "vector and priors": {"calibration": "vector", "priors": "uniform", "reject": {"threshold": 0.6}},
    "outliers": {"outliers": 0.1, "reject": {"threshold": 0.6}},
    "outliers under priors": {"outliers": 0.1, "priors": [0.1, 0.1, 0.8]},
}
NUMBERS = {"reject_label": -1, "outlier_label": -2}
METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "expected_cost")


@pytest.mark.parametrize(
    "estimator", [GaussianNB(), QDA(), LogisticRegression()], ids=lambda e: type(e).__name__
)
@pytest.mark.parametrize("name", DECISIONS)
def test_decisions_are_those_of_the_host(name, estimator, xp):
    if DECISIONS[name].get("outliers") and isinstance(estimator, LogisticRegression):
        settings = DECISIONS[name] | {"outlier_rule": OutlierRule(LDA())}
    else:
        settings = DECISIONS[name]
    rule = DecisionClassifier(estimator, **settings, **NUMBERS)
    here, there = clone(rule).fit(X, Y), clone(rule).fit(xp.asarray(X), xp.asarray(Y))
    for method in METHODS:
        expected, found = getattr(here, method)(NEW), getattr(there, method)(xp.asarray(NEW))
        assert type(found) is type(xp.asarray(NEW))
        # Numbers to what the sums of the fit differ by; answers to the row.
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(there.priors_, here.priors_, rtol=1e-12)
    assert np.asarray(there.predict(xp.asarray(NEW))).tolist() == there.predict(NEW).tolist()


def test_answers_that_are_no_numbers_are_an_array_of_numpy(xp):
    there = DecisionClassifier(GaussianNB(), reject={"threshold": 0.9}).fit(xp.asarray(X), xp.asarray(Y))
    found = there.predict(xp.asarray(NEW))
    assert isinstance(found, np.ndarray)
    assert found.tolist() == there.predict(NEW).tolist()
    assert "reject" in found


def test_costs_of_each_row(xp):
    costs = np.random.default_rng(2).random((N, 3, 3))
    there = DecisionClassifier(GaussianNB()).fit(xp.asarray(X), xp.asarray(Y))
    assert (np.asarray(there.predict(xp.asarray(NEW), costs)) == there.predict(NEW, costs)).all()
    score = there.score(xp.asarray(NEW), xp.asarray(Y), costs=costs)
    assert score == pytest.approx(there.score(NEW, Y, costs=costs), rel=1e-12)


def test_ties_are_settled_as_on_the_host(xp):
    """Actions that cost the same to the last digit: the first of them, not the one that rounding favours."""
    thirds = np.array([[0.1, 0.3 - 0.2, 0.1], [0.7, 0.7, 0.7], [1 / 3, 1 / 3, 1 / 3]])
    there = DecisionClassifier(GaussianNB(), costs=thirds).fit(xp.asarray(X), xp.asarray(Y))
    assert (np.asarray(there.predict(xp.asarray(NEW))) == there.predict(NEW)).all()
    far = np.where(np.arange(N)[:, None] % 2 == 0, NEW, 1e3 * NEW)
    there.set_decision(costs=1e8 + COSTS)
    assert (np.asarray(there.predict(xp.asarray(far))) == there.predict(far)).all()


@pytest.mark.parametrize("settings", [{}, {"costs": COSTS}, {"costs": COSTS, "reject": {"cost": 0.4}}])
def test_scores_are_those_of_the_host(settings, xp):
    weight = np.random.default_rng(3).integers(1, 4, N).astype(float)
    there = DecisionClassifier(GaussianNB(), **settings).fit(xp.asarray(X), xp.asarray(Y))
    for w in (None, weight):
        found = there.score(xp.asarray(NEW), xp.asarray(Y), None if w is None else xp.asarray(w))
        assert found == pytest.approx(there.score(NEW, Y, w), rel=1e-12)


def test_weights_are_repetitions(xp):
    weight = np.random.default_rng(4).integers(0, 3, N)
    rule = DecisionClassifier(GaussianNB(), priors="uniform", cv=None)
    weighted = clone(rule).fit(xp.asarray(X), xp.asarray(Y), xp.asarray(weight.astype(float)))
    repeated = clone(rule).fit(xp.asarray(X.repeat(weight, axis=0)), xp.asarray(Y.repeat(weight)))
    np.testing.assert_allclose(weighted.training_priors_, repeated.training_priors_, rtol=1e-14)
    np.testing.assert_allclose(weighted.predict_proba(NEW), repeated.predict_proba(NEW), rtol=1e-9)


def test_a_fitted_classifier_in_a_frozen_one_is_calibrated_there(xp):
    model = GaussianNB().fit(X, Y)
    rule = DecisionClassifier(FrozenEstimator(model), calibration="temperature")
    here, there = clone(rule).fit(NEW, Y), clone(rule).fit(xp.asarray(NEW), xp.asarray(Y))
    np.testing.assert_allclose(
        np.asarray(there.predict_proba(xp.asarray(X))), here.predict_proba(X), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("method", ["temperature", "vector"])
def test_calibrated_classifiers(method, xp):
    rule = CalibratedClassifier(GaussianNB(), method=method)
    here, there = clone(rule).fit(X, Y), clone(rule).fit(xp.asarray(X), xp.asarray(Y))
    for name in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        expected, found = getattr(here, name)(NEW), getattr(there, name)(xp.asarray(NEW))
        assert type(found) is type(xp.asarray(NEW))
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-7, atol=1e-9)
    assert there.score(xp.asarray(NEW), xp.asarray(Y)) == pytest.approx(here.score(NEW, Y), rel=1e-12)


def test_a_scaling_of_somebody_else_is_applied_on_the_host(xp):
    class Own(Scaling):
        pass

    scaling = Own(np.array([0.5, 0.5, 1.0]), np.array([0.1, -0.3, 0.2]), (0, 1, 2))
    there = CalibratedClassifier(GaussianNB()).fit(xp.asarray(X), xp.asarray(Y))
    there.scaling_ = scaling
    np.testing.assert_allclose(
        np.asarray(there.predict_proba(xp.asarray(NEW))), there.predict_proba(NEW), rtol=1e-9
    )


@pytest.mark.parametrize("method", ["conformal", "chi2"])
def test_outlier_rules(method, xp):
    rule = OutlierRule(LDA(), alpha=0.1, method=method, random_state=0)
    here, there = clone(rule).fit(X, Y), clone(rule).fit(xp.asarray(X), xp.asarray(Y))
    for name in ("predict", "p_values", "score_samples", "decision_function"):
        expected, found = getattr(here, name)(NEW), getattr(there, name)(xp.asarray(NEW))
        assert type(found) is type(xp.asarray(NEW))
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-9, atol=1e-9)
    without = OutlierRule(FrozenEstimator(LDA().fit(X, Y))).fit(xp.asarray(X))
    assert (without.p_values(NEW) == OutlierRule(FrozenEstimator(LDA().fit(X, Y))).fit(X).p_values(NEW)).all()


def test_single_precision_in_single_precision_out(xp):
    there = DecisionClassifier(GaussianNB(), priors="uniform").fit(
        xp.asarray(X.astype(np.float32)), xp.asarray(Y)
    )
    found = there.predict_proba(xp.asarray(NEW.astype(np.float32)))
    assert found.dtype == xp.float32
    np.testing.assert_allclose(np.asarray(found), there.predict_proba(NEW), rtol=1e-4, atol=1e-6)


def test_a_classifier_of_another_library_is_asked_on_the_host(xp):
    rule = DecisionClassifier(Theirs(), costs=COSTS)
    here, there = clone(rule).fit(X, Y), clone(rule).fit(xp.asarray(X), xp.asarray(Y))
    assert (there.predict(xp.asarray(NEW)) == here.predict(NEW)).all()


class Derived(GaussianNB):
    """A class of somebody else's that was derived from one of ours."""


def test_a_class_that_was_derived_elsewhere_is_fitted_there(xp):
    here, there = (DecisionClassifier(e).fit(xp.asarray(X), xp.asarray(Y)) for e in (GaussianNB(), Derived()))
    assert (np.asarray(there.predict(xp.asarray(NEW))) == np.asarray(here.predict(xp.asarray(NEW)))).all()


def test_no_table_travels(monkeypatch, xp):
    """Of rows that are decided, neither cells nor posteriors come to the host, in parts or at once."""
    monkeypatch.setattr(device_decisions, "chunks", lambda n, cells: iter([slice(0, 1_000), slice(1_000, n)]))
    rule = DecisionClassifier(
        GaussianNB(), costs=COSTS, priors="uniform", reject={"cost": 0.5}, reject_label=-1
    )
    there = rule.fit(xp.asarray(X), xp.asarray(Y))
    with bytes_to_host() as moved:
        found = there.predict(xp.asarray(NEW))
        there.predict_proba(xp.asarray(NEW))
    assert moved["bytes"] < 1_000
    assert (np.asarray(found) == there.predict(NEW)).all()


def test_parameters_of_rows_are_refused(xp):
    with pytest.raises(TypeError, match="takes no parameters of its rows"):
        DecisionClassifier(GaussianNB()).fit(xp.asarray(X), xp.asarray(Y), groups=Y)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_as_odd_as_those_of_calibration_have_the_p_values_of_the_host(dtype, xp):
    """Scores of a device differ from those of the host by rounding, and many rows are alike."""
    rng = np.random.default_rng(5)
    whole = rng.integers(0, 3, (4_000, 3))
    rows, y = (whole * 0.1 + (whole > 0) * 0.37).astype(dtype), rng.integers(0, 2, 4_000)
    rule = OutlierRule(LDA()).fit(rows, y)
    np.testing.assert_allclose(np.asarray(rule.p_values(xp.asarray(rows))), rule.p_values(rows), rtol=1e-12)
    odd = np.asarray(rule.decision_function(xp.asarray(rows))) < 0
    assert (odd == (np.asarray(rule.predict(xp.asarray(rows))) == -1)).all()


def test_folds_of_all_rows_and_weights_of_zero(xp):
    folds, weight = np.arange(N) % 4, (np.arange(N) % 5 > 0).astype(float)
    rule = DecisionClassifier(GaussianNB(), calibration="temperature", cv=folds)
    here = clone(rule).fit(X, Y, weight)
    there = clone(rule).fit(xp.asarray(X), xp.asarray(Y), xp.asarray(weight))
    np.testing.assert_allclose(there.predict_proba(NEW), here.predict_proba(NEW), rtol=1e-7)


def test_a_sample_has_rows_of_every_class(monkeypatch, xp):
    monkeypatch.setattr(training_rows, "HELD_OUT_ROWS", 100)
    monkeypatch.setattr(outliers, "HELD_OUT_ROWS", 100)
    rare = np.where(np.isin(np.arange(N), [1, 2, 4, 7]), 7, Y)
    there = DecisionClassifier(GaussianNB(var_smoothing=1e-3), costs=1 - np.eye(4)).fit(
        xp.asarray(X), xp.asarray(rare)
    )
    assert there.classes_.tolist() == [0, 1, 2, 7]
    np.testing.assert_allclose(there.training_priors_, np.bincount(rare)[[0, 1, 2, 7]] / N, rtol=1e-12)
    rule = OutlierRule(GaussianNB(), alpha=0.3, random_state=1).fit(xp.asarray(X), xp.asarray(Y))
    assert rule.estimator_.classes_.tolist() == [0, 1, 2]
    weight = (np.arange(N) % 100 == 3).astype(float)
    known = OutlierRule(FrozenEstimator(GaussianNB().fit(X, Y)), alpha=0.3).fit(
        xp.asarray(X), sample_weight=xp.asarray(weight)
    )
    assert known._calibration.total == 30
