"""Temperature and vector scaling, and the classifier that applies them."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

from examples import few_examples
from posterior import GaussianNB, LogisticRegression, NaiveBayes
from posterior.datasets import load_penguins
from posterior.decision.scaling import CALIBRATORS, LEAST, fit_temperature, fit_vector
from posterior.decision.scaling_loss import ScalingRows, TemperatureLoss, VectorLoss
from posterior.decision.scores import log_loss
from posterior.estimators.calibration import CalibratedClassifier
from posterior.estimators.held_out import held_out_scores
from posterior.estimators.splits import read_folds
from posterior.math import log_softmax
from posterior.notices import DataWarning
from posterior.schema import LabelledTable

# Ours: others may be registered in the same process.
METHODS = ["temperature", "vector"]
SEEDS = st.integers(0, 2**32 - 1)


def rows(seed, n=150, K=3, temperature=2.0, zeros=False):
    """Log posteriors that are too sure by a factor, and classes; some classes may be impossible."""
    rng = np.random.default_rng(seed)
    true = rng.normal(size=(n, K))
    if zeros:
        true[rng.random((n, K)) < 0.2] = -np.inf
        true[np.arange(n), rng.integers(K, size=n)] = 0.5
    proba = np.exp(log_softmax(true))
    y = (proba.cumsum(axis=1)[:, :-1] <= rng.random((n, 1))).sum(axis=1)
    return log_softmax(temperature * true), y


# -- temperature ----------------------------------------------------------------------------------


@few_examples
@given(SEEDS, st.sampled_from([1e-3, 0.1, 1.0, 5.0, 1e3, 1e5]))
def test_the_temperature_is_where_an_independent_search_finds_it(seed, sure):
    logs, y = rows(seed, temperature=sure)
    found = fit_temperature(logs, y)
    search = optimize.minimize_scalar(
        lambda t: log_loss(y, log_softmax(logs / (found.temperature * np.exp(t)))),
        bounds=(-3, 3),
        method="bounded",
        options={"xatol": 1e-10},
    )
    assert search.x == pytest.approx(0, abs=1e-6)
    assert log_loss(y, found.apply(logs)) <= search.fun + 1e-12


@few_examples
@given(SEEDS, st.booleans())
def test_the_log_loss_has_no_slope_at_the_temperature(seed, zeros):
    logs, y = rows(seed, zeros=zeros)
    scaling = fit_temperature(logs, y)
    scaled = scaling.apply(logs)
    finite = np.where(np.isfinite(logs), logs, 0.0)
    # d log loss / d(1/T) is the mean over the rows of the expected log posterior less that of the class
    slope = (np.exp(scaled) * finite).sum() - finite[np.arange(len(y)), y].sum()
    assert abs(slope) < 1e-9 * len(y)


def test_the_temperature_of_two_classes_is_the_slope_of_a_logistic_regression():
    logs, y = rows(0, 400, 2)
    odds = logs[:, 1] - logs[:, 0]
    theirs = sm.Logit(y, odds[:, None]).fit(disp=0, method="newton", tol=1e-12)
    assert 1 / fit_temperature(logs, y).temperature == pytest.approx(theirs.params[0], rel=1e-9)


def test_evidence_counted_twice_is_halved_and_priors_are_kept():
    rng = np.random.default_rng(0)
    y = (rng.random(20_000) < 0.05).astype(int)
    x = rng.normal(size=20_000) + y
    prior = np.log([0.95, 0.05])
    evidence = np.stack([-0.5 * x**2, -0.5 * (x - 1) ** 2], axis=1)
    twice = log_softmax(prior + 2 * evidence)
    scaling = fit_temperature(twice, y, priors=[0.95, 0.05])
    assert scaling.temperature == pytest.approx(2, rel=0.1)
    beta = 1 / scaling.temperature
    assert_close = np.testing.assert_allclose
    assert_close(scaling.apply(twice), log_softmax(prior + 2 * beta * evidence), atol=1e-12)
    assert np.exp(scaling.apply(twice))[:, 1].mean() == pytest.approx(0.05, abs=0.01)
    assert np.exp(fit_temperature(twice, y).apply(twice))[:, 1].mean() > 0.08
    uniform = fit_temperature(twice, y, priors="uniform")
    assert_close(uniform.apply(twice), fit_temperature(twice, y).apply(twice), atol=1e-8)


def test_posteriors_that_are_frequencies_have_temperature_one():
    proba = np.array([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]])
    y = np.tile(np.arange(3), 2)
    weight = 64 * proba.ravel()
    assert fit_temperature(np.log(np.repeat(proba, 3, axis=0)), y, sample_weight=weight).temperature == (
        pytest.approx(1, abs=1e-12)
    )


@few_examples
@given(SEEDS)
def test_scaling_twice_by_temperature_is_scaling_once(seed):
    logs, y = rows(seed, 200)
    once = fit_temperature(logs, y).apply(logs)
    assert fit_temperature(once, y).temperature == pytest.approx(1, abs=1e-9)


@few_examples
@given(SEEDS, st.sampled_from(METHODS))
def test_weights_are_repetitions_and_classes_come_in_any_order(seed, method):
    logs, y = rows(seed, 80)
    rng = np.random.default_rng(seed)
    weight, order = rng.integers(0, 4, 80), rng.permutation(3)
    names = np.array(["a", "b", "c"])
    fit = CALIBRATORS[method]
    ours = fit(logs, y, sample_weight=weight)
    repeated = fit(np.repeat(logs, weight, axis=0), np.repeat(y, weight))
    renamed = fit(logs[:, order], names[y], classes=names[order], sample_weight=weight)
    assert renamed.classes == tuple(names[order])
    for other, logs_other, back in [
        (repeated, logs, np.arange(3)),
        (renamed, logs[:, order], np.argsort(order)),
    ]:
        np.testing.assert_allclose(ours.apply(logs), other.apply(logs_other)[:, back], rtol=1e-6, atol=1e-7)


# -- vector ---------------------------------------------------------------------------------------


@few_examples
@given(SEEDS, st.integers(2, 4), st.booleans())
def test_scaled_posteriors_sum_to_the_class_counts(seed, K, zeros):
    logs, y = rows(seed, 200, K, zeros=zeros)
    scaling = fit_vector(logs, y)
    scaled = np.exp(scaling.apply(logs))
    assert not scaling.smoothed
    np.testing.assert_allclose(scaled.sum(axis=0), np.bincount(y, minlength=K), atol=1e-8)
    finite = np.where(np.isfinite(logs), logs, 0.0)
    slope = ((scaled - (y[:, None] == np.arange(K))) * finite).sum(axis=0)
    inside = scaling.weight > LEAST
    np.testing.assert_allclose(slope[inside], 0, atol=1e-7)
    assert (slope[~inside] >= -1e-7).all()
    assert scaling.bias.sum() == pytest.approx(0, abs=1e-12)


@few_examples
@given(SEEDS)
def test_vector_scaling_is_where_an_independent_search_finds_it(seed):
    logs, y = rows(seed, 150, 3)

    def loss(at):
        return log_loss(y, log_softmax(at[:3] * logs + np.append(at[3:], 0)))

    bounds = [(LEAST, None)] * 3 + [(None, None)] * 2
    search = optimize.minimize(loss, [1, 1, 1, 0, 0], method="L-BFGS-B", bounds=bounds)
    ours = fit_vector(logs, y)
    assert loss(np.concatenate([ours.weight, ours.bias[:2] - ours.bias[2]])) <= search.fun + 1e-13
    assert log_loss(y, ours.apply(logs)) == pytest.approx(search.fun, abs=1e-6)


def test_two_classes_are_a_logistic_regression_on_two_logs():
    logs, y = rows(1, 500, 2)
    ours = fit_vector(logs, y)
    design = np.column_stack([-logs[:, 0], logs[:, 1]])
    own = LogisticRegression(C=np.inf, tol=1e-10).fit(design, y)
    theirs = sm.Logit(y, sm.add_constant(design)).fit(disp=0, method="newton", tol=1e-12)
    for intercept, *coef in [theirs.params, np.append(own.intercept_, own.coef_)]:
        np.testing.assert_allclose(ours.weight, coef, rtol=1e-6)
        assert ours.bias[1] - ours.bias[0] == pytest.approx(intercept, rel=1e-6)
    assert np.isnan(ours.temperature)
    assert ours.frame()["weight"].tolist() == ours.weight.tolist()
    assert "bias" in str(ours)


@pytest.mark.parametrize("zeros", [False, True])
def test_derivatives_are_finite_differences(zeros):
    logs, y = rows(3, 60, 3, zeros=zeros)
    plain = ScalingRows.read(logs, y, None, np.random.default_rng(0).random(60))
    for held_out in (plain, plain.smoothed()):
        for loss, at in [
            (TemperatureLoss(held_out), np.array([0.7])),
            (VectorLoss.about(held_out, 0.5), np.array([0.7, 1.2, 0.4, 0.3, -0.5])),
        ]:
            here = loss(at)
            for j in range(len(at)):
                step = 1e-5 * (np.arange(len(at)) == j)
                ahead, behind = loss(at + step), loss(at - step)
                assert here.gradient[j] == pytest.approx((ahead.value - behind.value) / 2e-5, abs=1e-6)
                slope = (ahead.gradient - behind.gradient) / 2e-5
                np.testing.assert_allclose(here.hessian[j], slope, atol=1e-6)


def test_a_class_that_the_rows_rank_the_wrong_way_round_gets_the_smallest_weight():
    logs, y = rows(0, 300, 2)
    scaling = fit_temperature(logs, 1 - y)
    assert scaling.weight.tolist() == [LEAST, LEAST]
    assert (fit_vector(logs, 1 - y).weight >= LEAST).all()


# -- zeros, certainty and separation --------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_zeros_stay_zeros_and_tails_are_kept(method):
    logs, y = rows(0, 200, 3, zeros=True)
    scaling = CALIBRATORS[method](logs, y)
    scaled = scaling.apply(logs)
    assert (np.isneginf(scaled) == np.isneginf(logs)).all()
    np.testing.assert_allclose(np.exp(scaled).sum(axis=1), 1, atol=1e-12)
    far = scaling.apply([[-1e5, 0.0, -np.inf]])
    assert far[0, 0] == pytest.approx(-1e5 * scaling.weight[0] + scaling.bias[0] - scaling.bias[1], rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_rows_of_a_class_with_probability_zero_are_left_out_and_counted(method):
    logs, y = rows(0, 100, 3)
    ruled_out = np.array([[0.0, -np.inf, -np.inf]])
    with pytest.warns(DataWarning, match="1 of 101 rows are of a class to which the posteriors give"):
        found = CALIBRATORS[method](np.vstack([logs, ruled_out]), [*y, 1], sample_weight=[1.0] * 100 + [3.0])
    assert found.impossible == 3
    kept = CALIBRATORS[method](logs, y)
    np.testing.assert_array_equal(found.weight, kept.weight)
    np.testing.assert_array_equal(found.bias, kept.bias)
    with pytest.warns(DataWarning, match="1 of 1 rows"):
        assert CALIBRATORS[method](ruled_out, [1]).weight.tolist() == [1, 1, 1]


def test_if_every_row_is_right_one_in_all_is_taken_to_be_wrong():
    for n in (1, 5, 1000):
        logs = np.log([[0.9, 0.1]] * n)
        for fit in map(CALIBRATORS.get, METHODS):
            scaling = fit(logs, [0] * n)
            assert scaling.smoothed
            assert np.exp(scaling.apply(logs[:1]))[0, 0] == pytest.approx((n + 1) / (n + 2), rel=1e-9)
        logs = np.log([[0.9, 0.1], [0.1, 0.9]] * n)
        scaling = fit_temperature(logs, [0, 1] * n)
        assert np.exp(scaling.apply(logs[:1]))[0, 0] == pytest.approx((2 * n + 1) / (2 * n + 2), rel=1e-9)


@few_examples
@given(SEEDS)
def test_rows_that_a_bias_or_weights_tell_apart_get_a_finite_scaling(seed):
    rng = np.random.default_rng(seed)
    # class 1 is the more probable the later the row, and never the most probable
    p = np.sort(rng.uniform(0.05, 0.45, 40))
    logs, y = np.log(np.stack([1 - p, p], axis=1)), (np.arange(40) >= 25).astype(int)
    assert not fit_temperature(logs, y).smoothed
    scaling = fit_vector(logs, y)
    assert scaling.smoothed
    assert log_loss(y, scaling.apply(logs)) < log_loss(y, fit_temperature(logs, y).apply(logs))
    assert np.exp(scaling.apply(logs)).max() < 1
    # two of three classes are told apart, the third is not
    logs, y = rows(seed, 100, 3, 1.0)
    logs[y == 1] += [-9, 9, 0]
    logs[y == 0] += [9, -9, 0]
    scaling = fit_vector(log_softmax(logs), y)
    assert np.isfinite(scaling.weight).all()
    assert np.abs(scaling.bias).max() < 100


def test_a_class_without_rows_keeps_a_small_probability():
    logs, y = rows(2, 300, 3)
    logs, y = logs[y < 2], y[y < 2]
    scaling = fit_vector(logs, y)
    assert scaling.smoothed
    assert 0.01 < np.exp(scaling.apply(logs))[:, 2].sum() < 1


@pytest.mark.parametrize("method", METHODS)
def test_what_rows_do_not_tell_stays_as_it_was(method):
    certain = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    undecided = np.log(np.full((4, 2), 0.5))
    assert CALIBRATORS[method](certain, [0, 1]).weight.tolist() == [1, 1]
    scaling = CALIBRATORS[method](undecided, [0, 1, 0, 1])
    np.testing.assert_allclose(scaling.apply(undecided), undecided)
    assert scaling.n_free == (0 if method == "temperature" else 1)


def test_the_free_parameters_are_those_that_rows_determine():
    logs, y = rows(0, 300, 3)
    assert (fit_temperature(logs, y).n_free, fit_vector(logs, y).n_free) == (1, 5)
    same = np.broadcast_to(np.log([0.2, 0.3, 0.5]), (300, 3))
    assert fit_vector(same, y).n_free == 2
    unused = np.column_stack([logs, np.full(300, -np.inf)])
    assert fit_vector(unused, y).n_free == 5


def test_posteriors_of_another_number_of_classes_are_refused():
    logs, y = rows(0)
    with pytest.raises(ValueError, match="have 2 columns, expected 3"):
        fit_temperature(logs, y).apply(np.log([[0.5, 0.5]]))


# -- the classifier -------------------------------------------------------------------------------


@parametrize_with_checks(
    [
        CalibratedClassifier(TheirGaussianNB(), cv=3),
        CalibratedClassifier(NaiveBayes(tied=False, weights=1.0), method="vector", cv=2),
    ]
)
@pytest.mark.filterwarnings("ignore::posterior.notices.PosteriorWarning")
def test_the_classifier_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def copied_columns(seed, n, copies=5):
    """Classes that one column tells, which comes several times, with a little noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return (y + rng.normal(size=n))[:, None] + 0.05 * rng.normal(size=(n, copies)), y


@pytest.mark.parametrize("method", METHODS)
def test_naive_bayes_that_counts_its_evidence_five_times_is_mended(method):
    X, y = copied_columns(0, 600)
    fresh, truth = copied_columns(1, 3000)
    plain = GaussianNB().fit(X, y)
    model = CalibratedClassifier(GaussianNB(), method=method).fit(X, y)
    before, after = (log_loss(truth, m.predict_log_proba(fresh)) for m in (plain, model))
    assert after < 0.6 * before
    # as good as the model of the one column
    one = GaussianNB().fit(X.mean(axis=1, keepdims=True), y)
    assert after == pytest.approx(
        log_loss(truth, one.predict_log_proba(fresh.mean(axis=1, keepdims=True))), abs=0.02
    )
    if method == "temperature":
        assert model.scaling_.temperature == pytest.approx(5, abs=1)


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.8"), reason="scikit-learn has temperature since 1.8"
)
def test_the_temperature_is_that_of_scikit_learn_on_the_same_rows():
    X, y = copied_columns(0, 400)
    held_out, labels = copied_columns(1, 400)
    frozen = FrozenEstimator(TheirLogisticRegression(C=100).fit(X, y))
    ours = CalibratedClassifier(frozen).fit(held_out, labels)
    theirs = CalibratedClassifierCV(frozen, method="temperature", ensemble=False).fit(held_out, labels)
    beta = theirs.calibrated_classifiers_[0].calibrators[0].beta_
    assert 1 / ours.scaling_.temperature == pytest.approx(float(beta), rel=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)
    assert ours.estimator_ is frozen


def test_the_scaling_is_fitted_to_rows_held_out_and_the_classifier_to_all():
    X, y = copied_columns(0, 200)
    folds = np.arange(200) % 4
    model = CalibratedClassifier(TheirGaussianNB(), cv=folds).fit(X, y)
    logs = held_out_scores(TheirGaussianNB(), LabelledTable.of(X, y), read_folds(folds, y))
    expected = fit_temperature(logs, y, priors=np.bincount(y) / 200)
    assert model.scaling_.temperature == pytest.approx(expected.temperature, rel=1e-9)
    alone = TheirGaussianNB().fit(X, y).predict_log_proba(X)
    np.testing.assert_allclose(model.predict_log_proba(X), expected.apply(alone), rtol=1e-8, atol=1e-12)


def test_rows_of_weight_zero_are_not_there_and_weights_are_repetitions():
    X, y = copied_columns(0, 120)
    weight = np.random.default_rng(1).integers(0, 3, 120)
    folds = np.arange(120) % 3
    again = np.repeat(np.arange(120), weight)
    model = CalibratedClassifier(TheirGaussianNB(), cv=folds).fit(X, y, sample_weight=weight)
    repeated = CalibratedClassifier(TheirGaussianNB(), cv=folds[again]).fit(X[again], y[again])
    np.testing.assert_allclose(
        model.predict_log_proba(X), repeated.predict_log_proba(X), rtol=1e-7, atol=1e-9
    )
    extra = np.append(y, 9)  # a class that no row of weight has
    other = CalibratedClassifier(TheirGaussianNB(), cv=np.append(folds, 0))
    other.fit(np.vstack([X, X[:1]]), extra, sample_weight=np.append(weight, 0))
    assert other.classes_.tolist() == [0, 1, 2]
    assert other.scaling_.temperature == model.scaling_.temperature


@pytest.mark.parametrize(
    ("estimator", "method"),
    [
        (RandomForestClassifier(30, min_samples_leaf=3, random_state=0), "temperature"),
        (RandomForestClassifier(30, min_samples_leaf=3, random_state=0), "vector"),
        (HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=4), "temperature"),
        (make_pipeline(StandardScaler(), TheirLogisticRegression()), "vector"),
    ],
    ids=lambda e: e if isinstance(e, str) else type(e).__name__,
)
def test_it_works_around_the_classifiers_of_scikit_learn(estimator, method):
    X, y = make_classification(200, n_informative=5, n_classes=3, flip_y=0.2, random_state=0)
    labels = np.array(["x", "y", "z"])[y]
    model = CalibratedClassifier(estimator, method=method, cv=3).fit(X, labels)
    assert model.classes_.tolist() == ["x", "y", "z"]
    assert model.n_features_in_ == 20
    logs = model.predict_log_proba(X)
    np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[logs.argmax(axis=1)])
    table = LabelledTable.of(X, np.asarray(labels))
    held_out = held_out_scores(clone(estimator), table, read_folds(3, table.codes))
    assert log_loss(y, model.scaling_.apply(held_out)) <= log_loss(y, held_out)
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))


def test_the_weights_of_rows_reach_the_last_step_of_a_pipeline():
    X, y = copied_columns(0, 150)
    weight = np.random.default_rng(1).integers(0, 3, 150)
    pipeline = make_pipeline(StandardScaler(with_mean=False, with_std=False), TheirGaussianNB())
    piped = CalibratedClassifier(pipeline, cv=3).fit(X, y, sample_weight=weight)
    plain = CalibratedClassifier(TheirGaussianNB(), cv=3).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(piped.predict_log_proba(X), plain.predict_log_proba(X), rtol=1e-12)


def test_zeros_of_a_forest_are_kept_and_told():
    X, y = make_classification(300, n_classes=3, n_informative=4, flip_y=0.3, random_state=0)
    forest = RandomForestClassifier(5, random_state=0)
    with pytest.warns(
        DataWarning, match="rows are of a class to which the posteriors give a probability of zero"
    ):
        model = CalibratedClassifier(forest, cv=3).fit(X, y)
    assert model.scaling_.impossible > 0
    zero = forest.fit(X, y).predict_proba(X) == 0
    assert zero.any()
    assert (model.predict_proba(X)[zero] == 0).all()


def test_a_tree_that_is_always_certain_stays_as_it_is():
    X, y = copied_columns(0, 100)
    with pytest.warns(DataWarning, match="left out of the fit"):
        model = CalibratedClassifier(DecisionTreeClassifier(random_state=0)).fit(X, y)
    assert model.scaling_.temperature == 1


def test_it_takes_tables_with_strings_and_gaps_and_can_be_searched():
    table = load_penguins()
    X, y = table.X, table.y
    model = CalibratedClassifier(NaiveBayes()).fit(X, y)
    assert list(model.feature_names_in_) == list(X.columns)
    assert (model.predict(X) == y).mean() > 0.95
    X, y = copied_columns(0, 200)
    frame = pd.DataFrame(X, columns=list("abcde"))
    search = GridSearchCV(
        CalibratedClassifier(GaussianNB(), cv=3),
        {"method": METHODS, "estimator__priors": [None, "uniform"]},
        scoring="neg_log_loss",
        cv=3,
    ).fit(frame, y)
    assert search.best_score_ > cross_val_score(GaussianNB(), frame, y, scoring="neg_log_loss", cv=3).mean()


def test_what_is_refused_leaves_the_fitted_classifier_as_it_was():
    X, y = copied_columns(0, 100)
    model = CalibratedClassifier(TheirGaussianNB()).fit(X, y)
    before = model.predict_proba(X)
    model.set_params(method="isotonic")
    with pytest.raises(
        ValueError, match=r"method must be one of \[.*'temperature', 'vector'\], found 'isotonic'"
    ):
        model.fit(X, y)
    model.set_params(method="vector", cv=GroupKFold(3))
    with pytest.raises(ValueError, match="does not split these rows"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="there is nothing to tell apart"):
        model.set_params(cv=3).fit(X, np.zeros(100))
    np.testing.assert_array_equal(model.predict_proba(X), before)
    frozen = CalibratedClassifier(FrozenEstimator(TheirGaussianNB().fit(X, y)))
    with pytest.raises(ValueError, match="y holds the class 7, which is not one of the classes"):
        frozen.fit(X, np.where(y == 2, 7, y))


def test_metadata_goes_where_it_was_asked_for():
    X, y = copied_columns(0, 150)
    weight = np.random.default_rng(0).integers(1, 4, 150)
    plain = CalibratedClassifier(TheirGaussianNB()).fit(X, y, sample_weight=weight)
    with config_context(enable_metadata_routing=True):
        asked = CalibratedClassifier(TheirGaussianNB().set_fit_request(sample_weight=True))
        both = asked.fit(X, y, sample_weight=weight)
        unasked = CalibratedClassifier(TheirGaussianNB().set_fit_request(sample_weight=False))
        only = unasked.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(both.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(only.estimator_.class_prior_, np.bincount(y) / 150)


@pytest.mark.parametrize("method", METHODS)
def test_rows_that_are_all_right_are_smoothed_by_their_weight(method):
    logs = np.log([[0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    weighted = CALIBRATORS[method](logs, [0, 1, 0], sample_weight=[2, 3, 1])
    repeated = CALIBRATORS[method](np.repeat(logs, [2, 3, 1], axis=0), np.repeat([0, 1, 0], [2, 3, 1]))
    assert weighted.smoothed
    np.testing.assert_allclose(weighted.weight, repeated.weight, rtol=1e-6)
