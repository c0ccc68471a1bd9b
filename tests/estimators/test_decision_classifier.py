"""One estimator that composes scaling, priors, outliers, costs and rejecting, around any classifier."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, cross_val_predict, cross_val_score
from sklearn.naive_bayes import ComplementNB
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB
from sklearn.neighbors import KernelDensity, KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from posterior import (
    LDA,
    QDA,
    CalibratedClassifier,
    DecisionClassifier,
    FusionClassifier,
    GaussianNB,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    OutlierRule,
)
from posterior.datasets import load_penguins
from posterior.decision import (
    Coverage,
    calibration_test,
    cheapest,
    confusion_table,
    decide,
    effective_priors,
    estimate_priors,
    expected_cost,
    fit_temperature,
    fit_vector,
    least_expected_cost,
    log_loss,
    posteriors,
    shift_priors,
)
from posterior.decision.cheapest import expected
from posterior.decision.cost_table import read_costs
from posterior.estimators import decider, fitted_classifier
from posterior.families import Categorical
from posterior.notices import CalibrationWarning, DataWarning

PENGUINS = load_penguins()
X, Y = PENGUINS.X, np.asarray(PENGUINS.y)
KINDS = {"year": "categorical"}
EVEN = {"categorical": Categorical()}  # smoothed evenly


def three_classes(n, **settings):
    given = {"n_informative": 4, "n_redundant": 0, "n_classes": 3, "class_sep": 0.7, "random_state": 3}
    return make_classification(n, 6, **{**given, **settings})


ALL, LABELS = three_classes(900)
NUMBERS, CLASSES, NEW, NEW_CLASSES = ALL[:400], LABELS[:400], ALL[400:], LABELS[400:]
LOANS = np.array([[0.0, 1.0, 3.0], [5.0, 0.0, 1.0], [2.0, 2.0, 0.0]])
ACTIONS = {
    0: {"lend": 0.0, "refuse": 4.0, "refer": 1.0},
    1: {"lend": 6.0, "refuse": 0.0, "refer": 1.0},
    2: {"lend": 1.0, "refuse": 3.0, "refer": 1.5},
}
repeated = pytest.mark.filterwarnings("ignore:.*repeats:posterior.notices.DataWarning")
quiet = pytest.mark.filterwarnings("ignore::posterior.notices.CalibrationWarning")


@quiet
@pytest.mark.filterwarnings("ignore::posterior.notices.DataWarning")
@parametrize_with_checks(
    [
        DecisionClassifier(GaussianNB(), cv=5),
        DecisionClassifier(TheirLogistic()),
        DecisionClassifier(LDA(), calibration="temperature", priors="uniform", cv=3),
        DecisionClassifier(make_pipeline(StandardScaler(), TheirLogistic()), cv=None),
    ],
    expected_failed_checks=lambda model: (
        {"check_sample_weight_equivalence_on_dense_data": "weights go to the last step, not to the scaler"}
        if isinstance(model.estimator, Pipeline)
        else {}
    ),
)
def test_decision_classifier_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


class TestSteps:
    def test_without_any_rule_answer_as_the_classifier_does(self):
        for estimator in (LDA(), TheirLogistic(), NaiveBayes(tied=False, weights=1.0)):
            alone = clone(estimator).fit(NUMBERS, CLASSES)
            model = DecisionClassifier(estimator, cv=None).fit(NUMBERS, CLASSES)
            assert np.array_equal(model.predict(NEW), alone.predict(NEW))
            np.testing.assert_allclose(model.predict_proba(NEW), alone.predict_proba(NEW), rtol=1e-12)
            assert model.score(NEW, NEW_CLASSES) == alone.score(NEW, NEW_CLASSES)

    @quiet
    def test_are_scaling_then_priors_then_outliers_then_costs_then_rejecting(self):
        priors, alpha, limit = np.array([0.6, 0.1, 0.3]), 0.1, 0.4
        model = DecisionClassifier(
            QDA(),
            costs=LOANS,
            reject={"cost": limit},
            priors=priors,
            outliers=alpha,
            calibration="vector",
            reject_label=-1,
            outlier_label=-2,
        ).fit(NUMBERS, CLASSES)
        raw = QDA().fit(NUMBERS, CLASSES).predict_log_proba(NEW)
        scaled = model.scaling_.apply(raw)
        logs = shift_priors(scaled, effective_priors(CLASSES), priors)
        np.testing.assert_allclose(model.predict_log_proba(NEW), logs, rtol=1e-10, atol=1e-12)
        cost = np.exp(logs) @ LOANS
        expected = np.where(cost.min(axis=1) > limit, -1, cost.argmin(axis=1))
        expected[model.outlier_rule_.p_values(NEW, priors=priors) <= alpha] = -2
        found = model.predict(NEW)
        assert np.array_equal(found, expected)
        assert set(found.tolist()) == {-2, -1, 0, 1, 2} == set(model.actions_.tolist())
        np.testing.assert_allclose(model.expected_cost(NEW), cost, rtol=1e-9)

    def test_of_priors_equal_refitting_with_them(self):
        priors = {"Adelie": 0.2, "Chinstrap": 0.7, "Gentoo": 0.1}
        model = DecisionClassifier(NaiveBayes(kinds=KINDS, tied=False, weights=1.0), priors=priors).fit(X, Y)
        refitted = NaiveBayes(kinds=KINDS, priors=priors, tied=False, weights=1.0).fit(X, Y)
        np.testing.assert_allclose(model.predict_proba(X), refitted.predict_proba(X), atol=1e-10)
        assert np.array_equal(model.predict(X), refitted.predict(X))

    @repeated
    @pytest.mark.parametrize("calibration", ["temperature", "vector"])
    @pytest.mark.long
    def test_calibrated_posteriors_hold_in_another_population_and_so_does_their_cost(self, calibration):
        def people(n, rate, seed):
            rng = np.random.default_rng(seed)
            y = (rng.random(n) < rate).astype(int)
            return np.repeat(rng.normal(size=(n, 1)) + 1.5 * y[:, None], 4, axis=1), y

        x, y = people(20_000, 0.03, 0)
        costs = np.array([[0.0, 1.0], [20.0, 0.0]])
        model = DecisionClassifier(GaussianNB(), costs=costs, calibration=calibration).fit(x, y)
        for rate in (0.03, 0.3):
            model.set_decision(priors=[1 - rate, rate])
            fresh, truth = people(40_000, rate, 1)
            p = model.predict_proba(fresh)[:, 1]
            assert abs(p.mean() - truth.mean()) < 0.15 * rate
            expected = model.expected_cost(fresh).min(axis=1)
            paid = costs[truth, model.predict(fresh)]
            assert (
                abs(expected.mean() - paid.mean()) < 4 * paid.std() / np.sqrt(len(paid)) + 0.05 * paid.mean()
            )

    def test_say_that_a_temperature_is_not_enough(self):
        rng = np.random.default_rng(0)
        y = rng.integers(2, size=400)
        balanced = TheirLogistic().fit(rng.normal(size=(400, 1)) + y[:, None], y)
        rare = (rng.random(4000) < 0.05).astype(int)
        rows = rng.normal(size=(4000, 1)) + rare[:, None]
        with pytest.warns(CalibrationWarning, match="even with calibration='temperature'.* try calibration="):
            DecisionClassifier(FrozenEstimator(balanced), calibration="temperature").fit(rows, rare)
        model = DecisionClassifier(FrozenEstimator(balanced), calibration="vector").fit(rows, rare)
        assert abs(model.predict_proba(rows)[:, 1].mean() - rare.mean()) < 1e-6
        np.testing.assert_allclose(model.priors_, [1 - rare.mean(), rare.mean()])
        model.set_decision(priors="uniform")

    @quiet
    @pytest.mark.long
    def test_of_a_coverage_answer_as_many_of_a_class_that_was_rare(self):
        share, n_runs, answered = 0.9, 150, []
        rng = np.random.default_rng(0)
        x, y = three_classes(3000, n_classes=2, weights=[0.9], class_sep=0.6)
        frozen = FrozenEstimator(LDA().fit(x[:1000], y[:1000]))
        pool, truth = x[1000:], y[1000:]
        for _ in range(n_runs):
            some = rng.choice(len(truth), 150, replace=False)
            rest = np.setdiff1d(np.arange(len(truth)), some)
            test = np.concatenate([rng.choice(rest[truth[rest] == k], 100) for k in (0, 1)])
            model = DecisionClassifier(frozen, reject={"coverage": share}, priors="uniform")
            model.fit(pool[some], truth[some])
            answered.append(np.mean(model.predict(pool[test]).astype(str) != "reject"))
        assert np.mean(answered) > share - 3 * np.std(answered) / np.sqrt(n_runs)

    def test_of_outliers_under_other_priors_say_when_there_can_be_none(self):
        rng = np.random.default_rng(0)
        y = np.r_[np.zeros(990, dtype=int), np.ones(10, dtype=int)]
        x = rng.normal(size=(1000, 2)) + y[:, None]
        model = DecisionClassifier(LDA(), outliers=0.01, cv=None).fit(x, y)
        assert model.predict([[1e6, -1e6]]).tolist() == ["outlier"]
        with pytest.warns(DataWarning, match="no row can be called an outlier.* few of them are of class 1"):
            model.set_decision(priors="uniform")
        few = np.r_[np.zeros(398, dtype=int), np.ones(2, dtype=int)]
        for seed in range(5):
            rule = OutlierRule(LDA(), alpha=0.5, random_state=seed)
            held = DecisionClassifier(LDA(), outliers=rule, cv=None, priors="observed")
            assert set(held.fit(x[:400], few).predict(x[:9]).tolist()) <= {0, 1, "outlier"}

    @pytest.mark.parametrize("rule", [None, OutlierRule(LDA(), alpha=0.3), OutlierRule(LDA(), alpha=0.01)])
    def test_of_outliers_are_said_to_be_impossible_once_and_for_the_rate_asked_for(self, rule):
        x, y = three_classes(40, n_classes=2)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model = DecisionClassifier(LDA(), outliers=0.01, outlier_rule=rule, cv=None).fit(x, y)
            model.predict(x)
        impossible = [w for w in told if "no row can be called an outlier" in str(w.message)]
        assert len(impossible) == 1
        assert "alpha=0.01 takes 99 rows" in str(impossible[0].message)

    def test_undo_class_weights_with_the_priors_observed(self):
        rng = np.random.default_rng(0)
        cell = rng.integers(3, size=3000)
        y = (rng.random(3000) < np.array([0.02, 0.1, 0.3])[cell]).astype(int)
        table, cells = np.eye(3)[cell][:, 1:], np.eye(3)[:, 1:]
        weighted = LogisticRegression(C=np.inf, class_weight="balanced")
        model = DecisionClassifier(weighted, priors="observed").fit(table, y)
        plain = LogisticRegression(C=np.inf).fit(table, y)
        np.testing.assert_allclose(model.training_priors_, [0.5, 0.5])
        np.testing.assert_allclose(model.predict_proba(cells), plain.predict_proba(cells), atol=1e-7)
        with pytest.warns(CalibrationWarning, match='priors="observed" undoes'):
            DecisionClassifier(weighted, cv=5).fit(table, y)
        for around in (
            FixedThresholdClassifier(weighted),
            GridSearchCV(weighted, {"fit_intercept": [True]}, cv=2),
            DecisionClassifier(weighted, cv=None),
        ):
            nested = DecisionClassifier(around, priors="observed", cv=None).fit(table, y)
            np.testing.assert_allclose(nested.training_priors_, [0.5, 0.5])
            np.testing.assert_allclose(nested.predict_proba(cells), plain.predict_proba(cells), atol=1e-7)
        voting = VotingClassifier([("one", weighted)], voting="soft")
        DecisionClassifier(voting, cv=None).fit(table, y)
        with pytest.raises(ValueError, match="VotingClassifier, whose one__class_weight is set, was trained"):
            DecisionClassifier(voting, priors="observed", cv=None).fit(table, y)

    def test_of_named_costs_answer_with_the_names(self):
        model = DecisionClassifier(LDA(), costs=ACTIONS).fit(NUMBERS, CLASSES)
        matrix = pd.DataFrame(ACTIONS).T.to_numpy()
        expected = np.array(["lend", "refuse", "refer"])[(model.predict_proba(NEW) @ matrix).argmin(axis=1)]
        assert np.array_equal(model.predict(NEW), expected)
        assert model.actions_.tolist() == ["lend", "refuse", "refer"]
        framed = model.set_decision(costs=pd.DataFrame(ACTIONS).T.loc[[2, 0, 1]])
        assert np.array_equal(framed.predict(NEW), expected)

    def test_of_costs_by_row_decide_row_by_row(self):
        model = DecisionClassifier(LDA(), costs=LOANS).fit(NUMBERS, CLASSES)
        own = np.random.default_rng(0).random((len(NEW), 3, 3))
        expected = [
            int(decide(row[None], matrix)[0])
            for row, matrix in zip(model.predict_log_proba(NEW), own, strict=True)
        ]
        assert np.array_equal(model.predict(NEW, costs=own), expected)
        np.testing.assert_allclose(
            model.expected_cost(NEW, costs=own)[7],
            (model.predict_proba(NEW)[7][:, None] * own[7]).sum(axis=0),
        )
        named = DecisionClassifier(LDA(), costs=ACTIONS).fit(NUMBERS, CLASSES)
        assert set(named.predict(NEW, costs=own)) <= {"lend", "refuse", "refer"}

    def test_of_a_threshold_reject_what_is_below_it(self):
        model = DecisionClassifier(LDA(), reject={"threshold": 0.7}, reject_label="?").fit(NUMBERS, CLASSES)
        is_sure = model.predict_proba(NEW).max(axis=1) >= 0.7
        found = model.predict(NEW)
        assert found.dtype == object
        assert np.array_equal(found == "?", ~is_sure)
        assert found[is_sure].tolist() == LDA().fit(NUMBERS, CLASSES).predict(NEW)[is_sure].tolist()

    @quiet
    def test_of_a_coverage_answer_that_share_of_new_rows(self):
        x, y = three_classes(6000)
        model = DecisionClassifier(LDA(), costs=LOANS, reject={"coverage": 0.8}).fit(x[:3000], y[:3000])
        answered = np.mean(model.predict(x[3000:]) != "reject")
        assert abs(answered - 0.8) < 4 * np.sqrt(0.8 * 0.2 * (1 / 3000 + 1 / 3000))

    @quiet
    def test_of_a_coverage_hold_under_other_class_frequencies(self):
        x, y = three_classes(12000, n_classes=2, weights=[0.85], class_sep=0.6)
        rare = np.flatnonzero(y == 1)[-800:]
        common = np.flatnonzero(y == 0)[-800:]
        there = np.concatenate([rare, common])
        train = np.setdiff1d(np.arange(len(y)), there)
        model = DecisionClassifier(LDA(), reject={"coverage": 0.7}, priors="uniform").fit(x[train], y[train])
        answered = np.mean(model.predict(x[there]).astype(str) != "reject")
        assert abs(answered - 0.7) < 0.05
        without = model.set_decision(priors=None).predict(x[there])
        assert abs(np.mean(without.astype(str) != "reject") - 0.7) > 0.05

    def test_of_outliers_come_before_costs(self):
        odd = X.iloc[:3].assign(flipper_length_mm=120.0)
        model = DecisionClassifier(
            NaiveBayes(kinds=KINDS, tied=False, weights=1.0), outliers=0.02, reject={"threshold": 1.0}
        )
        assert model.fit(X, Y).predict(odd).tolist() == ["outlier"] * 3
        beside = DecisionClassifier(
            make_pipeline(StandardScaler(), TheirLogistic()), outliers=OutlierRule(LDA(), alpha=0.02)
        )
        assert beside.fit(NUMBERS, CLASSES).predict(NUMBERS + 20.0).tolist() == ["outlier"] * 400


class TestAfterFitting:
    @quiet
    def test_every_knob_changes_what_a_fresh_fit_with_it_would_give(self):
        fitted = DecisionClassifier(LDA(), cv=5, outlier_rule=OutlierRule(LDA())).fit(NUMBERS, CLASSES)
        model_ = fitted.estimator_
        for knobs in (
            {"costs": LOANS},
            {"reject": {"threshold": 0.6}},
            {"reject": {"coverage": 0.7}, "reject_label": -1},
            {"priors": [0.5, 0.25, 0.25]},
            {"priors": "observed"},
            {"outliers": 0.1, "outlier_label": -9},
            {"calibration": "temperature"},
            {"calibration": "vector", "costs": ACTIONS},
            {"calibration": None, "costs": None, "reject": None, "priors": None, "outliers": None},
        ):
            fitted.set_decision(**knobs)
            fresh = DecisionClassifier(**fitted.get_params(deep=False)).fit(NUMBERS, CLASSES)
            assert np.array_equal(fitted.predict(NEW), fresh.predict(NEW)), knobs
            assert np.array_equal(fitted.predict_proba(NEW), fresh.predict_proba(NEW)), knobs
        assert fitted.estimator_ is model_

    @pytest.mark.parametrize(
        ("knobs", "error", "message"),
        [
            ({"costs": [[0, 1], [1, 0]]}, ValueError, "3"),
            ({"costs": {0: {0: 0}, 1: {0: 1}}}, ValueError, "2"),
            ({"costs": np.zeros((3, 4))}, ValueError, "4 columns for 3 classes"),
            ({"costs": np.zeros((5, 3, 3))}, ValueError, "passed to predict"),
            ({"reject": {"limit": 0.1}}, ValueError, "exactly one of the keys"),
            ({"reject": 0.1}, TypeError, "reject must be"),
            ({"reject": {"threshold": 0.5}, "reject_label": 2}, ValueError, "reject_label=2 is one of the"),
            ({"outliers": 0.1, "outlier_label": 2}, ValueError, "outlier_label=2 is one of the classes"),
            ({"priors": [0.5, 0.6, 0.1]}, ValueError, "should be 1"),
            ({"priors": [0.5, 0.5]}, ValueError, "Number of priors"),
            ({"priors": {0: 1.0}}, ValueError, r"missing \[1, 2\]"),
            ({"outliers": 1.5}, ValueError, "between 0 and 1"),
            ({"calibration": "platt"}, ValueError, "calibration must be None or one of"),
            ({"threshold": 0.5}, TypeError, "set_decision knows costs"),
            ({"outliers": OutlierRule(LDA())}, NotFittedError, "not fitted"),
        ],
    )
    def test_a_knob_that_does_not_fit_is_refused_and_changes_nothing(self, knobs, error, message):
        fitted = DecisionClassifier(LDA(), costs=LOANS, priors="uniform").fit(NUMBERS, CLASSES)
        before, answers = dict(vars(fitted)), fitted.predict(NEW)
        with pytest.raises(error, match=message):
            fitted.set_decision(**knobs)
        assert {k: id(v) for k, v in vars(fitted).items()} == {k: id(v) for k, v in before.items()}
        assert np.array_equal(fitted.predict(NEW), answers)
        if "threshold" not in knobs and error is not NotFittedError:
            with pytest.raises(error, match=message):
                DecisionClassifier(LDA(), **knobs).fit(NUMBERS, CLASSES)

    def test_a_fit_that_fails_keeps_the_last_one(self):
        fitted = DecisionClassifier(LDA(), costs=LOANS).fit(NUMBERS, CLASSES)
        answers = fitted.predict(NEW)
        with pytest.raises(ValueError, match="2"):
            fitted.fit(NUMBERS[:, :2], CLASSES % 2)  # costs are those of three classes
        assert np.array_equal(fitted.predict(NEW), answers)


class TestFittedBefore:
    def test_a_fitted_classifier_decides_without_fit(self):
        lda = LDA().fit(NUMBERS, CLASSES)
        model = DecisionClassifier(lda, costs=LOANS, priors="uniform")
        expected = (lda.predict_proba(NEW, priors="uniform") @ LOANS).argmin(axis=1)
        assert np.array_equal(model.predict(NEW), expected)
        assert model.estimator_ is lda
        with pytest.raises(NotFittedError, match="call fit, or pass an estimator that is fitted"):
            clone(model).predict(NEW)

    def test_a_fitted_classifier_takes_a_fitted_outlier_rule_without_fit(self):
        rule = OutlierRule(QDA(), alpha=0.05).fit(NUMBERS, CLASSES)
        forest = RandomForestClassifier(5, random_state=0).fit(NUMBERS, CLASSES)
        odd = np.vstack([NEW, NEW[:3] + 30.0])
        expected = np.where(rule.predict(odd) == -1, "outlier", forest.predict(odd).astype(str))
        at_once = DecisionClassifier(forest, outliers=rule)
        assert at_once.predict(odd).astype(str).tolist() == expected.tolist()
        later = DecisionClassifier(forest).set_decision(outliers=rule)
        assert later.predict(odd).astype(str).tolist() == expected.tolist()

    def test_what_needs_rows_says_so(self):
        lda = LDA().fit(NUMBERS, CLASSES)
        for knobs, message in (
            ({"reject": {"coverage": 0.9}}, "a coverage of 0.9 is learnt from rows"),
            ({"calibration": "vector"}, "calibration='vector' is learnt from rows"),
            ({"outliers": 0.1}, "no model of it was learnt"),
            ({"priors": "observed"}, "fit was not called"),
        ):
            with pytest.raises(ValueError, match=message):
                DecisionClassifier(lda, **knobs).predict(NEW)
        logistic = TheirLogistic().fit(NUMBERS, CLASSES)
        with pytest.raises(ValueError, match="pass training_priors="):
            DecisionClassifier(logistic, priors="uniform").predict(NEW)
        given = DecisionClassifier(logistic, priors="uniform", training_priors=effective_priors(CLASSES))
        np.testing.assert_allclose(
            given.predict_log_proba(NEW),
            shift_priors(logistic.predict_log_proba(NEW), effective_priors(CLASSES), "uniform"),
        )

    @quiet
    @repeated
    def test_a_frozen_classifier_is_calibrated_by_the_rows_of_fit(self):
        nb = NaiveBayes(tied=False, weights=1.0).fit(np.repeat(NUMBERS, 3, axis=1), CLASSES)
        rows = np.repeat(NEW, 3, axis=1)
        model = DecisionClassifier(FrozenEstimator(nb), calibration="temperature", outliers=0.05)
        model.fit(rows, NEW_CLASSES)
        assert model.estimator_.estimator is nb
        assert model.scaling_.temperature > 1.5
        again = CalibratedClassifier(FrozenEstimator(nb)).fit(rows, NEW_CLASSES)
        observed = shift_priors(nb.predict_log_proba(rows), nb.priors_, effective_priors(NEW_CLASSES))
        assert np.abs(model.predict_log_proba(rows) - model.scaling_.apply(observed)).max() < 1e-12
        assert abs(np.log(again.scaling_.temperature / model.scaling_.temperature)) < 0.2

    @repeated
    def test_an_over_sure_classifier_is_pointed_out(self):
        rows = np.repeat(NUMBERS, 4, axis=1)
        with pytest.warns(CalibrationWarning, match="too sure of themselves, and decisions take them"):
            DecisionClassifier(GaussianNB(), cv=5).fit(rows, CLASSES)
        model = DecisionClassifier(GaussianNB(), calibration="temperature").fit(rows, CLASSES)
        assert model.scaling_.temperature > 2
        assert not model.calibration_test_.is_off
        assert model.set_decision(calibration=None).calibration_test_.is_off
        assert DecisionClassifier(GaussianNB(), cv=None).fit(rows, CLASSES).calibration_test_ is None

    def test_nothing_is_learnt_that_nobody_asked_for(self, monkeypatch):
        fits = []
        whole = LDA.fit
        monkeypatch.setattr(
            LDA, "fit", lambda self, *given, **more: fits.append(1) or whole(self, *given, **more)
        )
        monkeypatch.setattr(LDA, "k_fold_log_proba", lambda *given: pytest.fail("rows were held out"))
        model = DecisionClassifier(LDA(), reject={"threshold": 0.9}, costs=LOANS).fit(NUMBERS, CLASSES)
        assert len(fits) == 1
        assert model.learnt_.held_out is None
        assert model.outlier_rule_ is None
        assert model.calibration_test_ is None
        with pytest.raises(ValueError, match="pass outlier_rule=OutlierRule"):
            model.set_decision(outliers=0.1)

    def test_settings_are_read_once_and_again_when_they_change(self, monkeypatch):
        model = DecisionClassifier(LDA(), costs=LOANS, reject={"cost": 0.5}).fit(NUMBERS, CLASSES)
        reads = []
        monkeypatch.setattr(decider, "read_costs", lambda *given: reads.append(given) or read_costs(*given))
        answers = model.predict(NEW)
        model.expected_cost(NEW), model.predict_proba(NEW), model.explain(NEW[:1]), model.actions_
        assert not reads
        model.set_params(costs=np.array(LOANS))
        assert model.predict(NEW).tolist() == answers.tolist()
        assert len(reads) == 1
        model.set_decision(costs=9 * np.array(LOANS)).predict(NEW)
        assert len(reads) == 2

    @pytest.mark.parametrize(
        ("estimator", "n_checks"), [(LDA(), 0), (TheirGaussianNB(), 1)], ids=["ours", "theirs"]
    )
    def test_posteriors_of_others_are_checked_once_and_expected_costs_computed_once(
        self, monkeypatch, estimator, n_checks
    ):
        model = DecisionClassifier(
            estimator, costs=LOANS, reject={"cost": 0.5}, priors="uniform", calibration="vector"
        ).fit(NUMBERS, CLASSES)
        checks, sums = [], []
        monkeypatch.setattr(posteriors, "_sums", lambda p: checks.append(1) or p.sum(axis=1))
        monkeypatch.setattr(cheapest, "expected", lambda *given: sums.append(1) or expected(*given))
        assert len(model.predict(NEW)) == len(NEW)
        assert (len(checks), len(sums)) == (n_checks, 1)


@quiet
@pytest.mark.parametrize(
    "estimator",
    [
        pytest.param(RandomForestClassifier(n_estimators=15, random_state=0), marks=pytest.mark.long),
        pytest.param(HistGradientBoostingClassifier(max_iter=10), marks=pytest.mark.long),
        make_pipeline(StandardScaler(), TheirLogistic()),
        TheirGaussianNB(),
        KNeighborsClassifier(),
        LogisticRegression(),
        NaiveBayes(tied=False, weights=1.0),
        GridSearchCV(LDA(), {"shrinkage": [None, 0.1]}, cv=2),
    ],
    ids=lambda e: type(e).__name__,
)
class TestAroundAnyClassifier:
    def test_decides_by_expected_cost(self, estimator):
        model = DecisionClassifier(estimator, costs=LOANS, reject={"cost": 0.9}, cv=2).fit(NUMBERS, CLASSES)
        proba = clone(estimator).fit(NUMBERS, CLASSES).predict_proba(NEW)
        cost = proba @ LOANS
        expected = np.array(["0", "1", "2"])[cost.argmin(axis=1)]
        expected = np.where(cost.min(axis=1) > 0.9, "reject", expected)
        close = np.sort(cost, axis=1)
        clear = (close[:, 1] - close[:, 0] > 1e-9) & (np.abs(close[:, 0] - 0.9) > 1e-9)
        assert np.array_equal(model.predict(NEW).astype(str)[clear], expected[clear])

    def test_is_validated_searched_cloned_and_pickled(self, estimator):
        model = DecisionClassifier(estimator, costs=LOANS, cv=None)
        scores = cross_val_score(model, NUMBERS, CLASSES, cv=3)
        actions = cross_val_predict(model, NUMBERS, CLASSES, cv=3)
        assert np.average(-scores, weights=[134, 133, 133]) == pytest.approx(LOANS[CLASSES, actions].mean())
        search = GridSearchCV(model, {"priors": [None, [0.98, 0.01, 0.01]]}, cv=2).fit(NUMBERS, CLASSES)
        assert search.best_params_ == {"priors": None}
        fitted = clone(model).fit(NUMBERS, CLASSES)
        again = pickle.loads(pickle.dumps(fitted))
        assert np.array_equal(again.predict(NEW), fitted.predict(NEW))


class TestTables:
    def test_of_strings_and_gaps_pass_through(self):
        for frame in (X, pl.from_pandas(X)):
            model = DecisionClassifier(
                NaiveBayes(kinds=KINDS, tied=False, weights=1.0), reject={"coverage": 0.95}, outliers=0.02
            )
            found = model.fit(frame, Y).predict(frame)
            assert set(found) <= {"Adelie", "Chinstrap", "Gentoo", "reject", "outlier"}
            assert model.feature_names_in_.tolist() == list(X.columns)
            answered = np.isin(found, model.classes_)
            assert (found == Y)[answered].mean() > 0.97

    @quiet
    def test_weights_are_repetitions(self):
        weight = np.random.default_rng(0).integers(0, 4, len(CLASSES))
        settings = {"costs": LOANS, "priors": "observed", "cv": None}
        weighted = DecisionClassifier(LDA(priors="uniform"), **settings).fit(NUMBERS, CLASSES, weight)
        rows = np.repeat(np.arange(len(CLASSES)), weight)
        repeated = DecisionClassifier(LDA(priors="uniform"), **settings).fit(NUMBERS[rows], CLASSES[rows])
        np.testing.assert_allclose(
            weighted.predict_log_proba(NEW), repeated.predict_log_proba(NEW), rtol=1e-8
        )
        assert weighted.score(NUMBERS, CLASSES, sample_weight=weight) == pytest.approx(
            repeated.score(NUMBERS[rows], CLASSES[rows])
        )

    @quiet
    def test_weights_reach_the_last_step_of_a_pipeline(self):
        weight = np.where(CLASSES == 0, 5.0, 1.0)
        pipe = make_pipeline(StandardScaler(), TheirLogistic())
        model = DecisionClassifier(pipe).fit(NUMBERS, CLASSES, sample_weight=weight)
        alone = clone(pipe).fit(NUMBERS, CLASSES, logisticregression__sample_weight=weight)
        np.testing.assert_allclose(model.predict_proba(NEW), alone.predict_proba(NEW))
        np.testing.assert_allclose(model.training_priors_, effective_priors(CLASSES, sample_weight=weight))
        with pytest.raises(TypeError, match="KNeighborsClassifier takes no sample_weight"):
            DecisionClassifier(KNeighborsClassifier()).fit(NUMBERS, CLASSES, sample_weight=weight)

    @quiet
    def test_metadata_is_routed(self):
        own = np.random.default_rng(0).random((len(CLASSES), 3, 3))
        weight = np.where(CLASSES == 0, 5.0, 1.0)
        with sklearn.config_context(enable_metadata_routing=True):
            inner = TheirLogistic().set_fit_request(sample_weight=True)
            model = DecisionClassifier(inner, costs=LOANS, cv=None)
            model.set_fit_request(sample_weight=True).set_score_request(costs=True, sample_weight=False)
            scores = cross_val_score(
                model, NUMBERS, CLASSES, cv=2, params={"costs": own, "sample_weight": weight}
            )
            plain = cross_val_score(model, NUMBERS, CLASSES, cv=2)
        assert np.isfinite(scores).all()
        assert not np.allclose(scores, plain)


class TestScore:
    @quiet
    def test_is_minus_the_average_cost(self):
        model = DecisionClassifier(LDA(), costs=LOANS, outlier_rule=OutlierRule(LDA())).fit(NUMBERS, CLASSES)
        paid = LOANS[NEW_CLASSES, model.predict(NEW)]
        assert model.score(NEW, NEW_CLASSES) == pytest.approx(-paid.mean())
        model.set_decision(reject={"cost": 0.8}, outliers=0.05)
        found = model.predict(NEW)
        codes = [{"reject": 3, "outlier": 3}.get(a, a) for a in found.tolist()]
        paid = np.column_stack([LOANS, [0.8, 0.8, 0.8]])[NEW_CLASSES, codes]
        assert model.score(NEW, NEW_CLASSES) == pytest.approx(-paid.mean())

    def test_without_costs_is_the_share_of_right_answers(self):
        model = DecisionClassifier(LDA(), reject={"threshold": 0.6}).fit(NUMBERS, CLASSES)
        assert model.score(NEW, NEW_CLASSES) == np.mean(model.predict(NEW) == NEW_CLASSES)

    def test_needs_to_know_what_no_answer_costs(self):
        model = DecisionClassifier(LDA(), costs=LOANS, cv=5, outlier_rule=OutlierRule(LDA()))
        model.fit(NUMBERS, CLASSES)
        for knobs in ({"outliers": 0.1}, {"reject": {"coverage": 0.8}}, {"reject": {"threshold": 0.8}}):
            model.set_decision(**{"outliers": None, "reject": None, **knobs})
            with pytest.raises(ValueError, match="rows that get no answer have no cost"):
                model.score(NEW, NEW_CLASSES)

    def test_reads_y_as_scikit_learn_does(self):
        for costs in (None, LOANS):
            model = DecisionClassifier(LDA(), costs=costs).fit(NUMBERS, CLASSES)
            right = model.score(NEW, NEW_CLASSES)
            assert model.score(NEW, NEW_CLASSES.tolist()) == right
            with pytest.warns(sklearn.exceptions.DataConversionWarning):
                assert model.score(NEW, pd.DataFrame({"y": NEW_CLASSES})) == right
            for wrong in (NEW_CLASSES.astype(str), NEW_CLASSES + 5, NEW_CLASSES[:1], NEW_CLASSES[:10]):
                with pytest.raises(ValueError, match="class"):
                    model.score(NEW, wrong)
            with pytest.raises(ValueError, match="sample_weight"):
                model.score(NEW, NEW_CLASSES, sample_weight=[1.0])


class TestWords:
    def test_explain_every_step(self):
        odd = pd.concat([X.iloc[99:101], X.iloc[:1].assign(flipper_length_mm=120.0)])
        model = DecisionClassifier(
            NaiveBayes(kinds=KINDS, tied=False, weights=1.0, variance_rows=0, families=EVEN),
            priors="uniform",
            outliers=0.02,
            reject={"threshold": 0.9},
        ).fit(X, Y)
        unsure, sure, outlying = (str(e) for e in model.explain(odd))
        assert unsure.startswith("reject\n  posterior: Chinstrap 0.617, Adelie 0.383")
        assert "before it was adjusted: Chinstrap 0.419, Adelie 0.581" in unsure
        assert "class frequencies assumed: Chinstrap 0.333" in unsure
        assert "log odds of Chinstrap against Adelie, by feature: island +0.97" in unsure
        assert unsure.endswith("rejected: the largest posterior is below 0.9")
        assert sure.startswith("Adelie\n")
        assert "rejected" not in sure
        assert outlying.startswith("outlier\n")
        assert "flipper_length_mm  −" in outlying
        assert "expected cost" not in outlying

    @quiet
    def test_explain_other_classifiers_and_costs(self):
        model = DecisionClassifier(TheirLogistic(), costs=ACTIONS).fit(NUMBERS, CLASSES)
        for row, words in zip(NEW[:5], model.explain(NEW[:5]), strict=True):
            cost = expected_cost(model.predict_log_proba(row[None]), ACTIONS, classes=[0, 1, 2])[0]
            answer = ["lend", "refuse", "refer"][int(cost.argmin())]
            assert str(words).startswith(f"{answer}\n")
            assert f"expected cost: {answer} {cost.min():.3g}" in str(words)

    def test_estimate_priors_passes_on_what_it_knows(self):
        model = DecisionClassifier(LDA(), cv=5).fit(NUMBERS, CLASSES)
        some = np.concatenate([np.flatnonzero(NEW_CLASSES == 0), np.flatnonzero(NEW_CLASSES == 1)[:40]])
        for method in ("em", "confusion"):
            found = model.estimate_priors(NEW[some], method=method, n_bootstrap=100)
            assert found.p_value < 0.001
            truth = effective_priors(NEW_CLASSES[some], classes=[0, 1, 2])
            assert np.abs(found.priors - truth).max() < 0.2
            np.testing.assert_allclose(model.set_decision(priors=found).priors_, found.priors)
            np.testing.assert_allclose(model.set_decision(priors=found.priors).priors_, found.priors)


class TestLabels:
    def test_of_costs_that_are_classes_mean_the_classes_in_any_order(self):
        y = np.array(["b", "a", "c"])[CLASSES]
        matrix = LOANS[np.ix_([1, 0, 2], [1, 0, 2])]  # in the order a, b, c
        plain = DecisionClassifier(LDA(), costs=matrix).fit(NUMBERS, y)
        named = pd.DataFrame(LOANS, index=["b", "a", "c"], columns=["b", "a", "c"])
        for costs in (
            named,
            named[["c", "b", "a"]].T.to_dict(),
            pl.from_pandas(named.reset_index(names="class")),
        ):
            model = DecisionClassifier(LDA(), costs=costs).fit(NUMBERS, y)
            assert np.array_equal(model.predict(NEW), plain.predict(NEW))
            assert model.actions_.tolist() == ["a", "b", "c"]
            own = np.repeat(matrix[None], len(NEW), axis=0)
            assert np.array_equal(model.predict(NEW, costs=own), plain.predict(NEW))
            assert np.array_equal(model.predict(NEW, costs=matrix), plain.predict(NEW))

    def test_that_tables_turned_into_strings_are_the_classes(self):
        strings = pl.DataFrame({"class": [0, 1, 2], "0": LOANS[:, 0], "1": LOANS[:, 1], "2": LOANS[:, 2]})
        plain = DecisionClassifier(LDA(), costs=LOANS).fit(NUMBERS, CLASSES)
        for costs in (strings, {k: {str(a): LOANS[k, a] for a in range(3)} for k in range(3)}):
            model = DecisionClassifier(LDA(), costs=costs).fit(NUMBERS, CLASSES)
            assert np.array_equal(model.predict(NEW), plain.predict(NEW))
            assert model.predict(NEW).dtype == CLASSES.dtype
        truth = CLASSES == 0
        asked = DecisionClassifier(
            LDA(), cv=None, costs={0: {0: 0, 1: 1, "ask": 0.2}, 1: {0: 3, 1: 0, "ask": 0.2}}
        )
        assert set(asked.fit(NUMBERS, truth).predict(NEW)) <= {True, False, "ask"}

    @pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float32", "bool", "str", "object"])
    def test_keep_the_type_of_the_classes(self, dtype):
        y = (
            np.where(CLASSES == 0, "yes", "no").astype(object)
            if dtype == "object"
            else (CLASSES == 0).astype(dtype)
        )
        model = DecisionClassifier(LDA(), cv=None).fit(NUMBERS, y)
        assert model.predict(NEW).dtype == LDA().fit(NUMBERS, y).predict(NEW).dtype
        assert model.score(NUMBERS, y) == LDA().fit(NUMBERS, y).score(NUMBERS, y)
        number = model.set_decision(reject={"threshold": 0.9}, reject_label=-1).predict(NEW)
        assert (number.dtype.kind in "if") == (dtype not in ("bool", "str", "object"))
        assert -1 in number.tolist()
        assert 999 in model.set_decision(reject_label=999).predict(NEW).tolist()
        word = model.set_decision(reject_label="a rather long label").predict(NEW)
        assert "a rather long label" in word.tolist()

    def test_may_be_one_for_all_that_is_not_answered(self):
        model = DecisionClassifier(
            LDA(), reject={"threshold": 0.6}, outliers=0.1, reject_label=-1, outlier_label=-1
        ).fit(NUMBERS, CLASSES)
        assert model.actions_.tolist() == [0, 1, 2, -1]
        counts = confusion_table(
            NEW_CLASSES, model.predict(NEW), classes=model.classes_, actions=model.actions_
        ).counts
        assert counts.sum() == len(NEW)


class TestRefusals:
    def test_name_what_is_wrong(self):
        with pytest.raises(TypeError, match="LinearSVC gives no probabilities"):
            DecisionClassifier(LinearSVC(), cv=None).fit(NUMBERS, CLASSES).predict(NEW)
        with pytest.raises(ValueError, match="3 matrices for 500 rows"):
            DecisionClassifier(LDA(), costs=LOANS).fit(NUMBERS, CLASSES).predict(
                NEW, costs=np.zeros((3, 3, 3))
            )
        with pytest.raises(ValueError, match="2 columns, expected one for each of"):
            DecisionClassifier(LDA(), costs=ACTIONS).fit(NUMBERS, CLASSES).predict(
                NEW, costs=np.zeros((3, 2))
            )
        with pytest.raises(ValueError, match="with costs of each row use"):
            DecisionClassifier(LDA(), reject={"coverage": 0.5}).fit(NUMBERS, CLASSES).predict(
                NEW, costs=np.zeros((500, 3, 3))
            )
        with pytest.raises(ValueError, match="requires y to be passed"):
            DecisionClassifier(LDA()).fit(NUMBERS, None)
        with pytest.raises(TypeError, match="LinearRegression is not a classifier"):
            DecisionClassifier(LinearRegression()).fit(NUMBERS, CLASSES)
        with pytest.raises(ValueError, match="cv must be"):
            DecisionClassifier(LDA(), cv="prefit").fit(NUMBERS, CLASSES)
        with pytest.raises(TypeError, match="costs go to predict and score, not to fit"):
            DecisionClassifier(LDA()).fit(NUMBERS, CLASSES, costs=LOANS)
        with pytest.raises(ValueError, match="outliers is a rate of false alarms"):
            DecisionClassifier(LDA()).fit(NUMBERS, CLASSES).set_decision(outliers=True)
        with pytest.raises(ValueError, match="'observed', 'uniform', numbers"):
            DecisionClassifier(LDA(), priors="balanced").fit(NUMBERS, CLASSES)

    def test_are_no_obstacle_to_a_display_in_a_notebook(self):
        logistic = TheirLogistic().fit(NUMBERS, CLASSES)
        for model in (
            DecisionClassifier(logistic),
            DecisionClassifier(logistic, priors="uniform", reject={"coverage": 0.9}),
            DecisionClassifier(FrozenEstimator(logistic)).fit(NEW, NEW_CLASSES),
            DecisionClassifier(logistic).set_params(costs=[[1, 2]]),
        ):
            assert "DecisionClassifier" in model._repr_html_()
            assert model.n_features_in_ == 6

    def test_of_a_rule_object_of_ones_own_are_none(self):
        class OnMondays:
            def rejects(self, log_posterior, risk):
                return np.arange(len(risk)) % 7 == 0

        model = DecisionClassifier(LDA(), reject=OnMondays()).fit(NUMBERS, CLASSES)
        assert (model.predict(NEW) == "reject").sum() == len(range(0, len(NEW), 7))


def by_folds(estimator, x, y, weight=None, cv=4):
    """Held-out log posteriors, by a loop."""
    folds = np.arange(len(y)) % cv
    logs = np.empty((len(y), len(np.unique(y))))
    for fold in range(cv):
        rows = folds != fold
        own = {} if weight is None else {"sample_weight": weight[rows]}
        logs[~rows] = clone(estimator).fit(x[rows], y[rows], **own).predict_log_proba(x[~rows])
    return logs, folds


RARE = np.where(np.random.default_rng(1).random(400) < 0.3, 1, 0)
RARE_X = np.random.default_rng(2).normal(size=(400, 2)) + RARE[:, None]
WEIGHT = np.random.default_rng(3).integers(1, 4, 400).astype(float)


@quiet
class TestWhatIsLearnt:
    def test_counts_rows_by_their_weights(self):
        logs, folds = by_folds(TheirLogistic(), RARE_X, RARE, WEIGHT)
        model = DecisionClassifier(TheirLogistic(), cv=folds, calibration="vector")
        model.fit(RARE_X, RARE, sample_weight=WEIGHT)
        rows = np.repeat(np.arange(400), WEIGHT.astype(int))
        scaling = fit_vector(logs[rows], RARE[rows])
        np.testing.assert_allclose(model.scaling_.weight, scaling.weight, rtol=1e-5)
        np.testing.assert_allclose(model.scaling_.bias, scaling.bias, rtol=1e-5)
        expected = calibration_test(RARE[rows], logs[rows], priors=effective_priors(RARE[rows]))
        found = model.set_decision(calibration=None).calibration_test_
        assert found.log_loss == pytest.approx(expected.log_loss, rel=1e-9)
        assert found.gain == pytest.approx(expected.gain, rel=1e-3, abs=1e-9)
        frozen = FrozenEstimator(TheirLogistic().fit(RARE_X[::2], RARE[::2]))
        one = DecisionClassifier(frozen, calibration="vector").fit(RARE_X, RARE, sample_weight=WEIGHT)
        two = DecisionClassifier(frozen, calibration="vector").fit(RARE_X[rows], RARE[rows])
        np.testing.assert_allclose(one.scaling_.weight, two.scaling_.weight, rtol=1e-6)

    def test_checks_calibration_with_some_of_very_many_rows_and_scales_by_all(self, monkeypatch):
        logs, folds = by_folds(TheirLogistic(), RARE_X, RARE, WEIGHT)
        whole = DecisionClassifier(TheirLogistic(), cv=folds).fit(RARE_X, RARE, sample_weight=WEIGHT)
        monkeypatch.setattr(fitted_classifier, "ENOUGH", 150)
        model = DecisionClassifier(TheirLogistic(), cv=folds).fit(RARE_X, RARE, sample_weight=WEIGHT)
        expected = log_loss(RARE[::3], logs[::3], sample_weight=WEIGHT[::3])
        assert model.calibration_test_.log_loss == pytest.approx(expected, rel=1e-9)
        for fitted in (whole, model):
            fitted.set_decision(calibration="vector")
        assert np.array_equal(model.scaling_.weight, whole.scaling_.weight)

    def test_scales_under_the_frequencies_of_the_rows(self):
        balanced = TheirLogistic(class_weight="balanced")
        logs, folds = by_folds(balanced, RARE_X, RARE)
        observed = effective_priors(RARE)
        shifted = shift_priors(logs, "uniform", observed)
        alone = shift_priors(balanced.fit(RARE_X, RARE).predict_log_proba(RARE_X), "uniform", observed)
        expected = {
            "temperature": fit_temperature(shifted, RARE, priors=observed),
            "vector": fit_vector(shifted, RARE),
        }
        for method, scaling in expected.items():
            decision = DecisionClassifier(balanced, cv=folds, calibration=method).fit(RARE_X, RARE)
            calibrated = CalibratedClassifier(balanced, cv=folds, method=method).fit(RARE_X, RARE)
            for model in (decision, calibrated):
                np.testing.assert_allclose(model.predict_log_proba(RARE_X), scaling.apply(alone), atol=1e-6)
                np.testing.assert_allclose(model.priors_, observed)

    def test_is_asked_anew_when_priors_or_costs_change(self):
        weighted = LogisticRegression(C=np.inf, class_weight={0: 1, 1: 8})
        model = DecisionClassifier(weighted, cv=5).fit(RARE_X, RARE)
        assert model.calibration_test_.is_off
        assert not model.set_decision(priors="observed").calibration_test_.is_off
        model.set_decision(reject={"coverage": 0.6}, costs=[[0, 1], [1, 0]])
        first = model.predict(RARE_X)
        model.set_decision(costs=[[0, 1], [9, 0]])
        second = model.predict(RARE_X)
        fresh = DecisionClassifier(**model.get_params(deep=False)).fit(RARE_X, RARE).predict(RARE_X)
        assert second.tolist() == fresh.tolist() != first.tolist()

    @pytest.mark.parametrize("calibration", [None, "vector"])
    def test_sets_the_limit_of_a_coverage_on_the_rows_as_they_are_decided(self, calibration):
        logs, folds = by_folds(LDA(), RARE_X, RARE, WEIGHT)
        new = np.array([0.4, 0.6])
        model = DecisionClassifier(
            LDA(), cv=folds, calibration=calibration, priors=new, reject={"coverage": 0.7}
        ).fit(RARE_X, RARE, sample_weight=WEIGHT)
        observed = effective_priors(RARE, sample_weight=WEIGHT)
        scaled = logs
        if calibration is not None:
            scaled = model.scaling_.apply(shift_priors(logs, model.training_priors_, observed))
        adjusted = shift_priors(scaled, model.training_priors_ if calibration is None else observed, new)
        likelier = new / observed
        limit = Coverage(0.7).calibrated(
            least_expected_cost(adjusted), WEIGHT * likelier[RARE], own_weight=likelier.max()
        )
        risk = least_expected_cost(model.predict_log_proba(RARE_X))
        assert np.array_equal(model.predict(RARE_X) == "reject", risk > limit.risk * (1 + 1e-12))

    def test_passes_what_it_knows_to_the_estimate_of_priors(self):
        logs, folds = by_folds(LDA(), RARE_X, RARE, WEIGHT)
        model = DecisionClassifier(LDA(), cv=folds, calibration="vector")
        model.fit(RARE_X, RARE, sample_weight=WEIGHT)
        observed = effective_priors(RARE, sample_weight=WEIGHT)
        held = model.scaling_.apply(shift_priors(logs, model.training_priors_, observed))
        asked = model.predict_log_proba(RARE_X[:100])
        for method in ("em", "confusion"):
            expected = estimate_priors(asked, observed, method=method, held_out=(held, RARE, WEIGHT))
            found = model.estimate_priors(RARE_X[:100], method=method)
            np.testing.assert_allclose(found.priors, expected.priors, atol=1e-9)
            np.testing.assert_allclose(found.low, expected.low, atol=1e-6)

    def test_knows_which_weights_the_estimator_took(self):
        weight = np.where(RARE == 1, 20.0, 1.0)
        pipe = make_pipeline(StandardScaler(), TheirLogistic())
        one = DecisionClassifier(pipe, cv=None).fit(RARE_X, RARE, sample_weight=weight)
        two = DecisionClassifier(pipe, cv=None).fit(RARE_X, RARE, logisticregression__sample_weight=weight)
        np.testing.assert_allclose(one.training_priors_, effective_priors(RARE, sample_weight=weight))
        np.testing.assert_allclose(two.training_priors_, one.training_priors_)
        with sklearn.config_context(enable_metadata_routing=True):
            deaf = TheirLogistic().set_fit_request(sample_weight=False)
            model = DecisionClassifier(deaf, cv=None).set_fit_request(sample_weight=True)
            model.fit(RARE_X, RARE, sample_weight=weight)
            fused = FusionClassifier([("all", deaf, slice(None))]).fit(RARE_X, RARE, sample_weight=weight)
        np.testing.assert_allclose(model.training_priors_, effective_priors(RARE))
        np.testing.assert_allclose(fused.member_priors_[0], effective_priors(RARE))
        boosted = HistGradientBoostingClassifier(max_iter=3, class_weight="balanced")
        with pytest.raises(ValueError, match="before or after rows are weighted is not known"):
            DecisionClassifier(boosted, cv=None, priors="uniform").fit(RARE_X, RARE, sample_weight=weight)
        with pytest.raises(ValueError, match="ComplementNB are under no class priors"):
            DecisionClassifier(ComplementNB(), priors="uniform", cv=None).fit(np.abs(RARE_X), RARE)
        with pytest.raises(ValueError, match="pass training_priors="):
            DecisionClassifier(FrozenEstimator(TheirLogistic().fit(RARE_X, RARE)), priors="uniform").fit(
                RARE_X, RARE
            )

    def test_needs_rows_of_every_class(self):
        frozen = FrozenEstimator(LDA().fit(RARE_X, RARE))
        only = RARE == 0
        for knobs in ({"calibration": "vector"}, {"reject": {"coverage": 0.5}, "priors": "uniform"}):
            with pytest.raises(ValueError, match="show none of class 1"):
                DecisionClassifier(frozen, **knobs).fit(RARE_X[only], RARE[only])
        with pytest.raises(NotFittedError):
            DecisionClassifier(FrozenEstimator(TheirLogistic())).fit(RARE_X, RARE)
        few = np.r_[np.zeros(20, dtype=int), 1]
        with pytest.raises(ValueError, match="class"):
            DecisionClassifier(TheirLogistic(), reject={"coverage": 0.5}).fit(RARE_X[:21], few)

    def test_fits_rules_for_outliers_of_its_own(self):
        given = OutlierRule(LDA(), alpha=0.1)
        model = DecisionClassifier(NaiveBayes(tied=False, weights=1.0), outliers=given).fit(RARE_X, RARE)
        assert not hasattr(given, "estimator_")
        expected = clone(given).fit(RARE_X, RARE).p_values(RARE_X)
        assert np.array_equal(model.outlier_rule_.p_values(RARE_X), expected)
        plain = DecisionClassifier(NaiveBayes(tied=False, weights=1.0), outliers=0.05).fit(
            RARE_X, RARE, sample_weight=WEIGHT
        )
        own = OutlierRule(NaiveBayes(tied=False, weights=1.0)).fit(RARE_X, RARE, sample_weight=WEIGHT)
        assert np.array_equal(plain.outlier_rule_.p_values(RARE_X), own.p_values(RARE_X))
        before = plain.predict(RARE_X * 3)
        other = OutlierRule(LDA()).fit(RARE_X * 5, RARE)
        assert plain.set_decision(outliers=other).outlier_rule_ is other
        assert np.array_equal(plain.predict(RARE_X * 3) == "outlier", other.predict(RARE_X * 3) == -1)
        assert plain.set_decision(outliers=0.05).predict(RARE_X * 3).tolist() == before.tolist()
        edge = np.sort(own.p_values(RARE_X * 3))[10]
        found = plain.set_decision(outliers=float(edge)).predict(RARE_X * 3)
        assert np.array_equal(found == "outlier", own.p_values(RARE_X * 3) <= edge)
        fitted = DecisionClassifier(TheirLogistic().fit(RARE_X, RARE), outliers=other)
        with pytest.raises(ValueError, match="no model of it was learnt"):
            fitted.set_decision(outliers=0.1)
        for strange in (OutlierRule(LDA()).fit(NUMBERS, CLASSES), OutlierRule(LDA()).fit(RARE_X, RARE + 5)):
            with pytest.raises(ValueError, match="the outlier rule was fitted to another table"):
                plain.set_decision(outliers=strange)
        density = OutlierRule(KernelDensity()).fit(RARE_X)
        with pytest.raises(ValueError, match="KernelDensity knows no classes"):
            plain.set_decision(outliers=density, priors="uniform")

    def test_explains_with_the_costs_and_priors_of_the_decision(self):
        model = DecisionClassifier(QDA(), outliers=0.3, priors=[0.02, 0.98]).fit(RARE_X, RARE)
        costs = np.array([[0.0, 3.0], [7.0, 0.0]])
        for i, words in enumerate(model.explain(RARE_X[:20], costs=costs)):
            assert words.answer == model.predict(RARE_X[i : i + 1], costs=costs)[0]
            np.testing.assert_allclose(words.costs, model.expected_cost(RARE_X[i : i + 1], costs=costs)[0])
            assert "baseline" not in str(words)
            if words.answer == "outlier":
                odd = model.outlier_rule_.odd_features(RARE_X[i : i + 1], priors=[0.02, 0.98])
                assert odd.in_lines()[0].replace("\n", "\n    ") in str(words)

    def test_scores_by_the_weights_of_the_rows(self):
        model = DecisionClassifier(LDA()).fit(RARE_X, RARE)
        right = model.predict(RARE_X) == RARE
        assert model.score(RARE_X, RARE, sample_weight=WEIGHT) == pytest.approx(
            np.average(right, weights=WEIGHT)
        )

    def test_passes_parameters_of_rows_that_count_only(self):
        class Noted(TheirGaussianNB):
            def fit(self, X, y, note=None):
                assert note is None or len(note) == len(y)
                return super().fit(X, y)

            def set_fit_request(self, **_):
                return self

        note, weight = np.arange(400), np.where(np.arange(400) % 3 == 0, 0.0, 1.0)
        with pytest.raises(TypeError, match="Noted takes no sample_weight"):
            DecisionClassifier(Noted()).fit(RARE_X, RARE, sample_weight=weight, note=note)
        model = DecisionClassifier(Noted()).fit(RARE_X, RARE, note=note)
        assert model.estimator_.n_features_in_ == 2


def test_gains_are_negative_costs_and_a_number_added_to_those_of_a_class_changes_no_decision():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    X = (y + rng.normal(size=200))[:, None]
    costs = np.array([[0.0, 3.0], [5.0, 0.0]])
    gains = costs - np.array([[2.0], [7.0]])
    assert (gains < 0).any()
    model = DecisionClassifier(GaussianNB(), costs=costs, cv=None).fit(X, y)
    before, expected = model.predict(X), model.expected_cost(X)
    model.set_decision(costs=gains)
    np.testing.assert_array_equal(model.predict(X), before)
    less = model.predict_proba(X) @ [2.0, 7.0]
    np.testing.assert_allclose(model.expected_cost(X), expected - less[:, None], atol=1e-12)


def test_what_was_held_out_is_not_the_users_own_array():
    """Labels and weights that change after the fit change nothing."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X, weight = rng.normal(size=(400, 2)) + y[:, None], np.ones(400)
    frozen = DecisionClassifier(
        FrozenEstimator(NaiveBayes().fit(X, y)), outlier_rule=OutlierRule(NaiveBayes())
    )
    for model in (DecisionClassifier(NaiveBayes(), cv=5), frozen):
        own = y.copy(), weight.copy()
        model.fit(X, *own)
        before = model.set_decision(calibration="temperature").predict_proba(X)
        model.fit(X, *own)
        own[0][:], own[1][:] = 0, 0.5
        after = model.set_decision(calibration="temperature").predict_proba(X)
        assert (after == before).all()
        model.set_decision(calibration=None)


def test_a_rate_of_outliers_that_is_none_is_refused_by_its_own_name():
    X, y = make_classification(n_features=2, n_redundant=0, random_state=0)
    with pytest.raises(ValueError, match=r"outliers is a rate of false alarms, between 0 and 1, found 1\.5"):
        DecisionClassifier(LDA(), outliers=1.5).fit(X, y)
