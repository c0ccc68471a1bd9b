"""Outliers: p-values against brute force, their bound by enumeration, and rules around fitted models."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
from scipy.spatial.distance import mahalanobis
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from posterior import (
    LDA,
    QDA,
    BernoulliNB,
    GaussianNB,
    GenerativeClassifier,
    MultinomialNB,
    NaiveBayes,
)
from posterior.datasets import load_penguins
from posterior.decision.outliers import (
    chi2_margin,
    chi2_p_values,
    conformal_p_values,
    conformal_threshold,
    rows_needed,
    smallest_p_value,
)
from posterior.estimators.odd_features import usual_range
from posterior.estimators.outliers import OutlierRule
from posterior.families import (
    LogNormal,
    LogNormalDistribution,
    MixtureOfNormals,
    MultivariateNormalDistribution,
    Normal,
    NormalDistribution,
)
from posterior.notices import DataWarning

tied_scores = st.lists(st.one_of(st.integers(-3, 3).map(float), st.just(-np.inf)), min_size=1, max_size=12)
alphas = st.sampled_from([0.01, 0.05, 0.1, 0.25, 0.3, 0.5, 0.9])


def two_classes(rng, n, shift=3.0, d=3, share=0.5):
    y = (rng.random(n) < share).astype(int)
    return rng.normal(size=(n, d)) + shift * y[:, None], y


# -- p-values -----------------------------------------------------------------------------------------


@given(tied_scores, tied_scores, st.data())
def test_p_value_is_the_weighted_share_of_calibration_rows_as_odd_or_odder(score, known, data):
    weight = data.draw(st.lists(st.integers(0, 4), min_size=len(known), max_size=len(known)))
    own = data.draw(st.sampled_from([0.5, 1.0, 3.0]))
    found = conformal_p_values(score, known, weight=weight, test_weight=own)
    expected = [
        (sum(w for s, w in zip(known, weight, strict=True) if s <= x) + own) / (sum(weight) + own)
        for x in score
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    counted = [(1 + sum(s <= x for s in known)) / (len(known) + 1) for x in score]
    np.testing.assert_array_equal(conformal_p_values(score, known), counted)


@given(tied_scores, alphas)
def test_of_rows_in_any_order_no_more_than_alpha_get_a_p_value_of_alpha_or_less(scores, alpha):
    # All orders of exchangeable rows being as likely, this is the bound P(p ≤ α) ≤ α itself.
    p = [conformal_p_values([s], np.delete(scores, i))[0] for i, s in enumerate(scores)]
    assert np.sum(np.array(p) <= alpha) <= alpha * len(scores)


@given(tied_scores, st.data(), alphas)
def test_weighted_p_values_keep_the_bound_for_rows_that_occur_in_proportion_to_their_weights(
    scores, data, alpha
):
    weight = data.draw(st.lists(st.integers(1, 4), min_size=len(scores), max_size=len(scores)))
    flagged = 0
    for i, (s, w) in enumerate(zip(scores, weight, strict=True)):
        others = [j for j in range(len(scores)) if j != i]
        known, others_weight = [scores[j] for j in others], [weight[j] for j in others]
        p = conformal_p_values([s], known, weight=others_weight, test_weight=w)[0]
        flagged += w * (p <= alpha)
        more = conformal_p_values([s], known, weight=others_weight, test_weight=w + 1)[0]
        assert more >= p
    assert flagged <= alpha * sum(weight) * (1 + 1e-12)


@given(tied_scores, tied_scores, st.data())
def test_weight_two_is_a_calibration_row_twice(score, known, data):
    weight = data.draw(st.lists(st.integers(0, 3), min_size=len(known), max_size=len(known)))
    repeated = np.repeat(known, weight)
    np.testing.assert_allclose(
        conformal_p_values(score, known, weight=weight), conformal_p_values(score, repeated), rtol=1e-15
    )


@given(tied_scores, tied_scores, alphas)
def test_rows_below_the_threshold_are_those_with_a_small_p_value(score, known, alpha):
    threshold = conformal_threshold(known, alpha)
    np.testing.assert_array_equal(np.asarray(score) < threshold, conformal_p_values(score, known) <= alpha)


@given(st.floats(1e-6, 0.999))
def test_rows_needed_is_the_least_number_that_can_give_a_small_p_value(alpha):
    n = rows_needed(alpha)
    assert smallest_p_value(n) <= alpha
    assert n == 0 or smallest_p_value(n - 1) > alpha


@given(st.lists(st.floats(0, 1e4), min_size=1, max_size=4), st.integers(1, 30))
def test_chi2_p_value_is_that_of_the_nearest_class(squared, degrees):
    expected = max(stats.chi2.sf(d, degrees) for d in squared)
    np.testing.assert_allclose(chi2_p_values([squared], degrees), [expected], rtol=1e-12)
    margin = (stats.chi2.isf(0.05, degrees) - min(squared)) / 2
    np.testing.assert_allclose(chi2_margin([squared], degrees, 0.05), [margin], rtol=1e-9, atol=1e-9)


def test_a_row_without_cells_is_not_odd_and_one_infinitely_far_is():
    np.testing.assert_array_equal(chi2_p_values([[0.0], [np.inf]], [0, 3]), [1.0, 0.0])


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            lambda: conformal_p_values([np.nan, 0.0], [1.0]),
            "score must not be NaN: 1 of 2 rows are, first row 0",
        ),
        (lambda: conformal_p_values([0.0], ["a"]), "calibration must be numbers"),
        (lambda: conformal_p_values([0.0], [1.0, 2.0], weight=[1.0]), "weight has 1 entries for 2 rows"),
        (lambda: conformal_p_values([0.0], [1.0], weight=[-1.0]), "weight must be finite and not negative"),
        (lambda: conformal_p_values([0.0], [1.0], test_weight=0.0), "test_weight must be positive"),
        (lambda: conformal_threshold([0.0], 5), "alpha is a rate of false alarms, between 0 and 1, found 5"),
        (lambda: rows_needed(0.0), "between 0 and 1, found 0.0"),
        (lambda: smallest_p_value(-1), "must not be negative, found -1"),
        (lambda: chi2_p_values([[-1.0]], 1), "not negative, found -1 in row 0, column 0"),
        (lambda: chi2_p_values([1.0], 1), r"shape \(rows, classes\), found \(1,\)"),
        (lambda: chi2_p_values([[1.0]], 1.5), "degrees counts the cells"),
    ],
)
def test_what_makes_no_p_value_is_refused(call, told):
    with pytest.raises(ValueError, match=told):
        call()


# -- distances ----------------------------------------------------------------------------------------


def test_squared_distances_are_those_of_scipy_and_those_of_the_marginal_where_cells_are_missing():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(2, 3, 3))
    covariance = factor @ factor.transpose(0, 2, 1) + np.eye(3)
    mean, x = rng.normal(size=(2, 3)), rng.normal(size=(9, 3))
    own = MultivariateNormalDistribution(mean, covariance)
    shared = MultivariateNormalDistribution(mean, covariance[0])
    alone = NormalDistribution(mean, np.diagonal(covariance, axis1=1, axis2=2))
    for given_one, matrices in (
        (own, covariance),
        (shared, covariance[[0, 0]]),
        (alone, covariance * np.eye(3)),
    ):
        expected = [[mahalanobis(row, mean[k], np.linalg.inv(matrices[k])) ** 2 for k in (0, 1)] for row in x]
        np.testing.assert_allclose(given_one.squared_distance(x), expected, rtol=1e-10)
        np.testing.assert_allclose(-2 * given_one.own_terms(x).sum(axis=1), expected, rtol=1e-10)
        gappy = np.where(rng.random(x.shape) < 0.4, np.nan, x)
        for row, squared in zip(gappy, given_one.squared_distance(gappy), strict=True):
            there = np.flatnonzero(~np.isnan(row))
            known = (
                given_one.marginal(there).squared_distance(row[None, there]) if len(there) else [[0.0, 0.0]]
            )
            np.testing.assert_allclose(squared, np.ravel(known), rtol=1e-12)


def test_log_normal_distances_are_those_of_the_logarithms():
    x = np.array([[1.0, 2.0], [0.5, np.nan], [-1.0, 3.0]])
    skewed = LogNormalDistribution([[0.0, 1.0]], [[1.0, 2.0]])
    normal = NormalDistribution([[0.0, 1.0]], [[1.0, 2.0]])
    np.testing.assert_allclose(skewed.squared_distance(x)[:2], normal.squared_distance(np.log(x[:2])))
    assert np.isposinf(skewed.squared_distance(x)[2])


def test_a_number_whose_square_overflows_is_infinitely_far_without_a_warning():
    rule = OutlierRule(QDA(), method="chi2").fit(*two_classes(np.random.default_rng(0), 100))
    assert rule.p_values([[1e200, -1e200, 0.0]]) == 0.0
    assert rule.predict([[1e200, 1e200, 0.0]]) == -1


# -- false alarms -------------------------------------------------------------------------------------


def false_alarms(draws, alpha, **options):
    """Average share of fresh rows called outliers, and its standard error."""
    rates = []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        X, y = two_classes(rng, 400, shift=2.0)
        rule = OutlierRule(GaussianNB(), alpha=alpha, random_state=seed, **options).fit(X, y)
        rates.append((rule.predict(two_classes(rng, 400, shift=2.0)[0]) == -1).mean())
    return np.mean(rates), np.std(rates, ddof=1) / np.sqrt(draws)


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_false_alarms_on_fresh_rows_are_alpha_at_most_and_not_far_below(alpha):
    rate, error = false_alarms(60, alpha)
    assert rate <= alpha + 3 * error
    assert rate >= alpha - 0.01 - 3 * error


def test_the_bound_holds_for_a_model_that_is_wrong():
    rates = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x = rng.standard_cauchy((900, 2))
        y = (x[:, 0] * x[:, 1] > 0).astype(int)
        rule = OutlierRule(GaussianNB(), alpha=0.1, random_state=seed).fit(x[:400], y[:400])
        rates.append((rule.predict(x[400:]) == -1).mean())
    assert np.mean(rates) <= 0.1 + 3 * np.std(rates, ddof=1) / np.sqrt(60)


def test_rows_unlike_any_class_are_found():
    X, y = two_classes(np.random.default_rng(1), 2000)
    odd = np.random.default_rng(2).normal([8.0, -8.0, 8.0], size=(200, 3))
    for rule in (OutlierRule(LDA()), OutlierRule(LDA(), method="chi2")):
        assert (rule.fit(X, y).predict(odd) == -1).all()
    between = np.full((1, 3), 1.5)
    assert OutlierRule(LDA()).fit(X, y).predict(between) == 1


def test_chi2_p_values_are_uniform_for_known_classes_far_apart_and_larger_for_close_ones():
    rng = np.random.default_rng(5)
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    for shift, uniform in ((50.0, True), (1.0, False)):
        density = MultivariateNormalDistribution([[0.0, 0.0], [shift, 0.0]], covariance)
        known = GenerativeClassifier.from_distributions([0, 1], "uniform", [(["a", "b"], density)])
        rule = OutlierRule(FrozenEstimator(known), method="chi2").fit(np.zeros((1, 2)))
        p = rule.p_values(density.sample(rng.integers(0, 2, 4000), rng))
        if uniform:
            assert stats.kstest(p, "uniform").pvalue > 0.01
        else:
            assert all((p <= a).mean() <= a for a in (0.01, 0.05, 0.1, 0.3))


# -- other priors -------------------------------------------------------------------------------------


def test_under_other_priors_calibration_rows_count_as_much_as_their_class_has_gained():
    X, y = two_classes(np.random.default_rng(3), 300, share=0.3)
    model = QDA().fit(X[:150], y[:150])
    rule = OutlierRule(FrozenEstimator(model)).fit(X[150:], y[150:])
    new = np.array([0.2, 0.8])
    ratio = new / (np.bincount(y[150:]) / 150)
    known = model.score_samples(X[150:], priors=new)
    weight = ratio[y[150:]]
    score = model.score_samples(X[:20], priors=new)
    expected = [(weight[known <= s].sum() + ratio.max()) / (weight.sum() + ratio.max()) for s in score]
    np.testing.assert_allclose(rule.p_values(X[:20], priors=new), expected, rtol=1e-12)
    np.testing.assert_array_equal(
        rule.predict(X, priors={0: 0.2, 1: 0.8}) == -1, rule.decision_function(X, priors=new) < 0
    )


def test_priors_that_are_the_class_frequencies_of_the_calibration_rows_weigh_none_of_them():
    X, y = two_classes(np.random.default_rng(3), 400, share=0.3)
    rule = OutlierRule(FrozenEstimator(LDA().fit(X[:200], y[:200]))).fit(X[200:], y[200:])
    frequency = np.bincount(y[200:]) / 200
    known = rule.score_samples(X[200:], priors=frequency)
    expected = conformal_p_values(rule.score_samples(X, priors=frequency), known)
    np.testing.assert_allclose(rule.p_values(X, priors=frequency), expected, rtol=1e-10)


def test_other_priors_are_refused_where_calibration_rows_do_not_tell():
    X, y = two_classes(np.random.default_rng(3), 100)
    frozen = FrozenEstimator(LDA().fit(X, y))
    with pytest.raises(ValueError, match="classes of these rows are not known; call calibrate"):
        OutlierRule(frozen).fit(X).p_values(X, priors="uniform")
    one = OutlierRule(frozen).fit(X[y == 0], y[y == 0])
    with pytest.raises(ValueError, match=r"class 1 has a prior of 0\.5 and no calibration row"):
        one.p_values(X, priors="uniform")
    assert (one.p_values(X[y == 1], priors=[1.0, 0.0]) < 0.5).all()
    with pytest.raises(ValueError, match="sum of the priors should be 1"):
        one.p_values(X, priors=[0.2, 0.2])


# -- the rule -----------------------------------------------------------------------------------------


def test_the_model_has_not_seen_the_rows_that_it_is_calibrated_with():
    X, y = two_classes(np.random.default_rng(0), 200)
    rule = OutlierRule(QDA(), calibration=0.2, random_state=4).fit(X, y)
    held = np.isin(rule.estimator_.score_samples(X), rule.calibration_scores_)
    assert held.sum() == len(rule.calibration_scores_) == 40
    alone = QDA().fit(X[~held], y[~held])
    np.testing.assert_array_equal(alone.score_samples(X), rule.score_samples(X))
    again = clone(rule).fit(X, y)
    np.testing.assert_array_equal(again.calibration_scores_, rule.calibration_scores_)
    other = clone(rule).set_params(random_state=5).fit(X, y)
    assert not np.array_equal(other.calibration_scores_, rule.calibration_scores_)


def test_every_class_is_trained_even_one_with_a_single_row():
    X, y = two_classes(np.random.default_rng(0), 60)
    y[0] = 2
    for seed in range(20):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            rule = OutlierRule(GaussianNB(), alpha=0.2, random_state=seed, calibration=0.5).fit(X, y)
        assert rule.classes_.tolist() == [0, 1, 2]


def test_all_rows_calibrate_a_frozen_model_with_or_without_classes():
    X, y = two_classes(np.random.default_rng(0), 200)
    model = LDA().fit(X[:100], y[:100])
    rule = OutlierRule(FrozenEstimator(model)).fit(X[100:])
    np.testing.assert_array_equal(rule.calibration_scores_, model.score_samples(X[100:]))
    expected = conformal_p_values(model.score_samples(X), model.score_samples(X[100:]))
    np.testing.assert_array_equal(rule.p_values(X), expected)
    np.testing.assert_array_equal(
        OutlierRule(FrozenEstimator(model)).fit(X[100:], y[100:]).p_values(X), expected
    )
    with pytest.raises(NotFittedError):
        OutlierRule(FrozenEstimator(LDA())).fit(X)


def test_a_rule_can_be_calibrated_anew_without_training():
    X, y = two_classes(np.random.default_rng(0), 300)
    rule = OutlierRule(LDA()).fit(X[:200], y[:200])
    model = rule.estimator_
    assert rule.calibrate(X[200:], y[200:]) is rule
    assert rule.estimator_ is model
    np.testing.assert_array_equal(rule.calibration_scores_, model.score_samples(X[200:]))
    distant = OutlierRule(LDA(), method="chi2").fit(X[:200], y[:200])
    distant.calibrate(X[200:]).set_params(method="conformal")
    assert len(distant.calibration_scores_) == 100


@pytest.mark.parametrize("method", ["conformal", "chi2"])
def test_a_row_of_weight_two_is_a_calibration_row_twice_and_one_of_weight_zero_none(method):
    rng = np.random.default_rng(0)
    X, y = two_classes(rng, 120)
    w = rng.integers(0, 3, 60)
    estimator = FrozenEstimator(QDA().fit(X[:60], y[:60])) if method == "conformal" else QDA()
    weighted = OutlierRule(estimator, method=method).fit(X[60:], y[60:], sample_weight=w)
    twice = OutlierRule(estimator, method=method).fit(np.repeat(X[60:], w, axis=0), np.repeat(y[60:], w))
    np.testing.assert_allclose(weighted.p_values(X), twice.p_values(X), rtol=1e-9)
    np.testing.assert_allclose(
        weighted.odd_features(X).values, twice.odd_features(X).values, rtol=1e-7, atol=1e-8
    )
    if method == "conformal":
        np.testing.assert_allclose(
            weighted.p_values(X, priors=[0.1, 0.9]), twice.p_values(X, priors=[0.1, 0.9]), rtol=1e-12
        )


@pytest.mark.parametrize("method", ["conformal", "chi2"])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.25])
def test_outliers_are_the_rows_with_p_up_to_alpha_and_a_negative_decision(method, alpha):
    X, y = two_classes(np.random.default_rng(0), 400)
    rule = OutlierRule(LDA(), method=method).fit(X, y).set_params(alpha=alpha)
    rows = np.vstack([3 * X, [[np.nan] * 3]])
    p = rule.p_values(rows)
    np.testing.assert_array_equal(rule.predict(rows), np.where(p <= alpha, -1, 1))
    np.testing.assert_array_equal(rule.decision_function(rows) < 0, p <= alpha)
    assert (p <= alpha).any()
    assert (p > alpha).any()
    if method == "conformal":
        np.testing.assert_array_equal(rule.score_samples(rows) < rule.threshold_, p <= alpha)
    else:
        assert p[-1] == 1.0
        assert not hasattr(rule, "threshold_")
        assert not hasattr(rule, "calibration_scores_")


def test_too_few_calibration_rows_are_told_and_flag_nothing():
    X, y = two_classes(np.random.default_rng(0), 100)
    with pytest.warns(
        DataWarning, match=r"25 calibration rows give p-values of 0.038 or more, .* takes 99 rows"
    ):
        rule = OutlierRule(LDA(), alpha=0.01).fit(X, y)
    assert rule.threshold_ == -np.inf
    with pytest.warns(DataWarning, match="no row can be called an outlier"):
        assert (rule.predict(100 * X) == 1).all()
    assert np.isposinf(rule.decision_function(X)).all()
    assert (rule.set_params(alpha=0.05).predict(100 * X + 50) == -1).all()


def test_bad_input_is_refused_and_leaves_a_fitted_rule_as_it_was():
    X, y = two_classes(np.random.default_rng(0), 100)
    rule = OutlierRule(LDA()).fit(X, y)
    before = pickle.dumps(rule)
    for call, kind, told in (
        (lambda: rule.fit(X), ValueError, "requires y to be passed"),
        (lambda: rule.fit(X, y[:-1]), ValueError, "inconsistent numbers"),
        (lambda: rule.calibrate(X, np.full(100, 7)), ValueError, "class 7"),
        (lambda: rule.calibrate(X[:, :2]), ValueError, "X has 2 features"),
        (lambda: rule.calibrate(X, sample_weight=-np.ones(100)), ValueError, "negative"),
        (lambda: rule.p_values(X[:, :2]), ValueError, "X has 2 features"),
    ):
        with pytest.raises(kind, match=told):
            call()
        assert pickle.dumps(rule) == before
    for settings, kind, told in (
        ({"alpha": 1.5}, ValueError, "alpha is a rate of false alarms"),
        ({"method": "z"}, ValueError, r"method must be one of \['conformal', 'chi2'\], found 'z'"),
        ({"calibration": 2}, ValueError, "share of rows that is held out"),
        ({"estimator": RandomForestClassifier()}, TypeError, "no score_samples"),
    ):
        with pytest.raises(kind, match=told):
            clone(rule).set_params(**settings).fit(X, y)
    with pytest.raises(NotFittedError):
        OutlierRule(LDA()).p_values(X)


def test_chi2_is_refused_for_columns_that_are_not_gaussian():
    frame = load_penguins()
    with pytest.raises(
        ValueError, match=r"column 'island'.*CategoricalDistribution is not Gaussian.*conformal"
    ):
        OutlierRule(NaiveBayes(), method="chi2").fit(frame.X, frame.y)
    X, y = load_iris(return_X_y=True)
    humps = GenerativeClassifier([([0, 1], MixtureOfNormals(2)), ([2, 3], Normal())])
    with pytest.raises(ValueError, match="MixtureOfNormalsDistribution is not Gaussian"):
        OutlierRule(humps, method="chi2").fit(X, y)
    with pytest.raises(TypeError, match="GaussianMixture does not give"):
        OutlierRule(GaussianMixture(2), method="chi2").fit(X)


def test_chi2_takes_any_gaussian_columns_together():
    X, y = load_iris(return_X_y=True)
    mixed = GenerativeClassifier([([0], LogNormal()), ([1], Normal(tied=True)), ([2, 3], Normal())])
    rule = OutlierRule(mixed, method="chi2").fit(X, y)
    blocks = rule.estimator_.model_.distributions
    squared = sum(d.squared_distance(X[:, list(b.columns)]) for b, d in blocks)
    np.testing.assert_allclose(rule.p_values(X), stats.chi2.sf(squared.min(axis=1), 4), rtol=1e-10)
    gappy = X.copy()
    gappy[:, 1] = np.nan
    squared -= blocks[1][1].squared_distance(X[:, [1]])
    np.testing.assert_allclose(rule.p_values(gappy), stats.chi2.sf(squared.min(axis=1), 3), rtol=1e-8)


def test_tables_of_any_kind_are_taken_as_the_estimator_takes_them():
    penguins = load_penguins()
    rule = OutlierRule(NaiveBayes()).fit(penguins.X, penguins.y)
    other = OutlierRule(NaiveBayes()).fit(pl.from_pandas(penguins.X), penguins.y.to_numpy())
    np.testing.assert_allclose(rule.p_values(penguins.X), other.p_values(pl.from_pandas(penguins.X)))
    assert rule.feature_names_in_.tolist() == list(penguins.X.columns)
    assert rule.n_features_in_ == penguins.X.shape[1]
    with pytest.raises(ValueError, match="feature names should match"):
        rule.predict(penguins.X.rename(columns={"sex": "gender"}))
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, (100, 8))
    y = counts[:, 0] > 0
    for model in (MultinomialNB(), BernoulliNB()):
        dense = OutlierRule(model).fit(counts, y)
        thin = OutlierRule(model).fit(sparse.coo_array(counts), y)
        np.testing.assert_allclose(dense.p_values(counts), thin.p_values(sparse.csr_array(counts)))
        np.testing.assert_allclose(
            dense.odd_features(counts).values, thin.odd_features(sparse.csr_array(counts)).values, atol=1e-10
        )


def test_texts_are_taken():
    words = np.array(
        ["good red wine tonight", "bad old cold beer", "red wine and more wine", "cold beer again now"]
    )
    frame = pd.DataFrame({"text": np.tile(words, 30), "x": np.arange(120) / 7.0})
    y = np.tile([0, 1, 0, 1], 30)
    rule = OutlierRule(NaiveBayes(kinds={"text": "text"})).fit(frame, y)
    strange = frame.iloc[:1].assign(text="beer wine beer wine beer wine cold good bad old red now")
    assert rule.predict(strange) == -1
    assert rule.odd_features(strange).ranked(0)[0] == rule.odd_features(strange).names.index("text")
    assert rule.odd_features(frame.assign(text=None)).values[:, 0].tolist() == [0.0] * 120


def test_a_pipeline_and_other_density_models_are_taken():
    X, y = two_classes(np.random.default_rng(0), 200)
    plain, scaled = OutlierRule(QDA()), OutlierRule(make_pipeline(StandardScaler(), QDA()))
    np.testing.assert_allclose(plain.fit(X, y).p_values(X), scaled.fit(X, y).p_values(X))
    new = [0.1, 0.9]
    np.testing.assert_allclose(plain.p_values(X, priors=new), scaled.p_values(X, priors=new))
    np.testing.assert_allclose(plain.odd_features(X).values, scaled.odd_features(X).values, atol=1e-8)
    mixture = OutlierRule(GaussianMixture(2, random_state=0)).fit(X)
    assert mixture.predict([[9.0, -9.0, 9.0]]) == -1
    for call in (lambda: mixture.p_values(X, priors="uniform"), lambda: mixture.odd_features(X)):
        with pytest.raises(TypeError, match="GaussianMixture does not give"):
            call()
    w = np.arange(200) % 3
    np.testing.assert_allclose(
        plain.fit(X, y, sample_weight=w).p_values(X), scaled.fit(X, y, sample_weight=w).p_values(X)
    )


def test_a_fitted_rule_survives_pickling():
    X, y = two_classes(np.random.default_rng(0), 200)
    rule = OutlierRule(QDA(), alpha=0.1).fit(X, y)
    copy = pickle.loads(pickle.dumps(rule))
    np.testing.assert_array_equal(copy.p_values(X), rule.p_values(X))
    assert str(copy.odd_features(X[:3])) == str(rule.odd_features(X[:3]))


# -- odd features -------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [QDA(), LDA(), GaussianNB()], ids=lambda m: type(m).__name__)
def test_what_features_cost_adds_up_to_the_log_density_against_the_average_of_the_class(model):
    X, y = load_iris(return_X_y=True)
    rule = OutlierRule(FrozenEstimator(model.fit(X[::2], y[::2]))).fit(X[1::2], y[1::2])
    odd = rule.odd_features(2 * X)
    logs, known = model.class_log_density(2 * X), model.class_log_density(X[1::2])
    rows, k = np.arange(150), model.predict_proba(2 * X).argmax(axis=1)
    average = np.array([known[y[1::2] == j, j].mean() for j in range(3)])
    np.testing.assert_allclose(odd.values.sum(axis=1), logs[rows, k] - average[k], rtol=1e-9)
    np.testing.assert_array_equal(odd.classes, model.classes_[k])
    np.testing.assert_array_equal(odd.log_density, model.score_samples(2 * X))


def test_what_features_of_a_mixed_table_cost_adds_up_too():
    penguins = load_penguins()
    X, y = penguins.X.dropna(), penguins.y[penguins.X.dropna().index].to_numpy()
    model = NaiveBayes().fit(X, y)
    rule = OutlierRule(FrozenEstimator(model)).fit(X, y)
    odd = rule.odd_features(X)
    logs, own = model.class_log_density(X), np.searchsorted(model.classes_, y)
    average = np.array([logs[own == k, k].mean() for k in range(3)])
    np.testing.assert_array_equal(odd.classes, model.predict(X))
    total = logs[np.arange(len(y)), odd.class_codes] - average[odd.class_codes]
    np.testing.assert_allclose(odd.values.sum(axis=1), total, rtol=1e-8, atol=1e-8)


def test_a_gaussian_block_shares_its_squared_distance():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(4, 4))
    X, y = two_classes(rng, 300, d=4)
    X = X @ factor
    model = QDA().fit(X, y)
    odd = OutlierRule(FrozenEstimator(model)).fit(X, y).odd_features(X)
    for k in (0, 1):
        apart = X - model.means_[k]
        shares = apart * np.linalg.solve(model.covariance_[k], apart.T).T
        expected = -0.5 * (shares - shares[y == k].mean(axis=0))
        rows = odd.class_codes == k
        np.testing.assert_allclose(odd.values[rows], expected[rows], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(shares[y == k].mean(axis=0), 1.0, rtol=1e-8)  # as it is expected to be


def test_missing_cells_cost_nothing_and_the_others_what_they_cost_without_them():
    X, y = load_iris(return_X_y=True)
    rule = OutlierRule(QDA(), random_state=1).fit(X, y)
    gappy = X.copy()
    gappy[:, [1, 3]] = np.nan
    odd = rule.odd_features(gappy)
    assert (odd.values[:, [1, 3]] == 0).all()
    assert (odd.values[:, [0, 2]] != 0).all()
    density = rule.estimator_.model_.distributions[0][1].marginal([0, 2])
    squared = density.squared_distance(X[:, [0, 2]])[np.arange(150), odd.class_codes]
    typical = odd.typical.term[[0, 2]].sum(axis=0)[odd.class_codes]
    np.testing.assert_allclose(odd.values.sum(axis=1), -0.5 * squared - typical, rtol=1e-9)


def test_the_feature_that_was_changed_is_named_with_what_is_usual():
    penguins = load_penguins()
    rule = OutlierRule(NaiveBayes(), alpha=0.02).fit(penguins.X, penguins.y)
    rows = penguins.X.iloc[[0, 200]].assign(bill_depth_mm=[35.0, 15.0], sex=["male", None])
    odd = rule.odd_features(rows, n_features=2)
    told = str(odd)
    first, second = told.split("row 1")
    assert "bill_depth_mm" in first.splitlines()[1]
    assert "35 (usually 16." in first
    assert "sex" not in second
    frame = odd.frame()
    assert list(frame.columns) == ["row", "p_value", "class", "feature", "nats", "found"]
    assert frame["feature"].iloc[0] == "bill_depth_mm"
    assert (frame.groupby("row").size() <= 2).all()
    assert (frame["nats"] < 0).all()


def test_the_usual_range_is_from_the_5_to_the_95_percent_quantile_of_the_cells_that_are_there():
    rng = np.random.default_rng(0)
    cells = np.where(rng.random((80, 4)) < 0.3, np.nan, rng.normal(size=(80, 4)))
    cells[:, 3] = np.nan
    weight = rng.integers(0, 3, 80).astype(float)
    found = np.array(usual_range(cells, weight))
    for j in range(3):
        there = np.repeat(cells[:, j], weight.astype(int))
        there = there[~np.isnan(there)]
        expected = np.quantile(there, [0.05, 0.95], method="inverted_cdf")
        assert found[:, j].tolist() == [float(f"{number:.4g}") for number in expected]
    assert np.isnan(found[:, 3]).all()


def test_a_column_that_breaks_a_rule_of_training_is_named():
    rng = np.random.default_rng(0)
    X, y = two_classes(rng, 200, d=2)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "total": X.sum(axis=1)})
    with pytest.warns(DataWarning, match="total"):
        rule = OutlierRule(QDA()).fit(frame, y)
    odd = rule.odd_features(frame.iloc[:2].assign(total=[frame["total"][0], 99.0]), n_features=1)
    assert odd.names == ("a", "b", "total")
    assert odd.values[0, 2] == 0.0
    assert odd.values[1, 2] == -np.inf
    assert rule.predict(frame.assign(total=99.0)).tolist() == [-1] * 200
    assert "total  −∞  99" in str(odd)


@pytest.mark.filterwarnings("ignore::posterior.notices.PosteriorWarning")
@parametrize_with_checks([OutlierRule(NaiveBayes()), OutlierRule(LDA(), method="chi2")])
def test_rule_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def test_chi2_asks_only_the_classes_that_can_occur():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    x = rng.normal(size=(400, 2)) + 6 * y[:, None]
    rule = OutlierRule(QDA(), method="chi2").fit(x, y)

    mean, covariance = x[:200].mean(axis=0), np.cov(x[:200].T, bias=True)
    squared = np.einsum("ij,jk,ik->i", x - mean, np.linalg.inv(covariance), x - mean)
    np.testing.assert_allclose(rule.p_values(x, priors=[1, 0]), stats.chi2.sf(squared, 2), rtol=1e-6)
    assert rule.p_values(x[200:]).mean() > 0.3


def test_names_of_columns_go_when_a_table_without_names_is_fitted():
    x = np.random.default_rng(0).normal(size=(60, 2))
    y = np.arange(60) % 2
    rule = OutlierRule(QDA(), alpha=0.2).fit(pd.DataFrame(x, columns=["a", "b"]), y)
    assert rule.feature_names_in_.tolist() == ["a", "b"]
    assert not hasattr(rule.fit(x, y), "feature_names_in_")
