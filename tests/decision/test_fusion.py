"""Posteriors of models that see different columns: fused exactly, weighted by rows held out, and wrapped."""

import pickle
import re
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.compose import make_column_selector
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from posterior import (
    GenerativeClassifier,
    LinearDiscriminantAnalysis,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from posterior.datasets import load_penguins
from posterior.decision.fusion import fuse, fusion_parts, fusion_weights
from posterior.decision.pool import Pool
from posterior.decision.priors import shift_priors
from posterior.estimators.fusion import FusionClassifier
from posterior.families import MultivariateNormal
from posterior.math import log_softmax
from posterior.notices import DataWarning

HALF = np.log([0.5, 0.5])


def random_models(seed, n=60, K=3, M=3, scale=1.0):
    """Log posteriors of M models that know something, the classes, and their log priors."""
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.full(K, 5.0))
    y = rng.choice(K, n, p=prior)
    logs = []
    for m in range(M):
        evidence = scale * rng.normal(size=(n, K))
        evidence[np.arange(n), y] += scale * (m + 1) / 2
        logs.append(log_softmax(evidence + np.log(prior)))
    return logs, y, np.log(prior)


def log_loss(logs, y, log_prior, weights, row_weight=1.0):
    fused = fuse(logs, log_prior, weights=weights)
    return float(np.sum(-fused[np.arange(len(y)), y] * row_weight))


# -- fuse --------------------------------------------------------------------------------------------


counts = st.integers(1, 1000)


@given(st.integers(2, 4).flatmap(lambda K: st.lists(st.lists(counts, min_size=K, max_size=K), min_size=2)))
def test_fused_posteriors_are_those_of_exact_fractions(table):
    prior, *models = [[Fraction(c, sum(row)) for c in row] for row in table]
    joint = list(prior)
    for model in models:
        joint = [j * p / q for j, p, q in zip(joint, model, prior, strict=True)]
    total = sum(joint)
    logs = [np.log([[float(p) for p in model]]) for model in models]
    found = np.exp(fuse(logs, np.log([float(p) for p in prior])))
    assert_allclose(found[0], [float(j / total) for j in joint], rtol=1e-11)


def test_one_model_is_that_model():
    logs, _, prior = random_models(0, M=1)
    assert_allclose(fuse(logs, prior), logs[0], rtol=1e-13, atol=1e-14)


def test_weights_of_one_are_the_default():
    logs, _, prior = random_models(1)
    assert_array_equal(fuse(logs, prior, weights=[1, 1, 1]), fuse(logs, prior))


def test_the_order_of_models_is_irrelevant():
    logs, _, prior = random_models(2)
    turned = fuse(logs[::-1], prior, weights=[3.0, 0.5, 2.0])
    assert_allclose(turned, fuse(logs, prior, weights=[2.0, 0.5, 3.0]), rtol=1e-12)


def test_a_model_of_weight_zero_is_absent_even_where_it_calls_all_else_impossible():
    logs, _, prior = random_models(3)
    wrong = np.full_like(logs[0], -np.inf)
    wrong[:, 2] = 0.0
    assert_array_equal(fuse([*logs, wrong], prior, weights=[1, 1, 1, 0]), fuse(logs, prior))


def test_a_model_that_repeats_the_priors_adds_nothing():
    logs, _, prior = random_models(4)
    assert_allclose(fuse([*logs, np.tile(prior, (60, 1))], prior), fuse(logs, prior), rtol=1e-12)


def test_a_weight_of_two_is_the_model_twice():
    logs, _, prior = random_models(5)
    twice = fuse([logs[0], logs[1], logs[1]], prior)
    assert_allclose(fuse(logs[:2], prior, weights=[1, 2]), twice, rtol=1e-12)


def test_fusing_in_two_steps_is_fusing_at_once():
    logs, _, prior = random_models(6)
    assert_allclose(fuse([fuse(logs[:2], prior), logs[2]], prior), fuse(logs, prior), rtol=1e-11)


def test_fusion_and_a_change_of_priors_can_be_interchanged():
    logs, _, prior = random_models(7)
    new = np.array([0.1, 0.2, 0.7])
    shifted = [shift_priors(each, np.exp(prior), new) for each in logs]
    expected = shift_priors(fuse(logs, prior), np.exp(prior), new)
    assert_allclose(fuse(shifted, np.log(new)), expected, rtol=1e-11)


def test_tails_are_exact():
    logs = [log_softmax([[0.0, -1e5]]), log_softmax([[0.0, -2e5]])]
    assert_allclose(fuse(logs, HALF), [[0.0, -3e5]], rtol=1e-15)
    sure = fuse([log_softmax([[30.0, 0.0]])] * 2, HALF)
    assert_allclose(sure, [[-np.exp(-60), -60.0]], rtol=1e-13)


def test_a_class_that_one_model_calls_impossible_is_impossible():
    one = np.log([[0.5, 0.3, 0.2]])
    other = np.array([[-np.inf, np.log(0.5), np.log(0.5)]])
    prior = np.log([0.2, 0.4, 0.4])
    assert_allclose(np.exp(fuse([one, other], prior)), [[0.0, 0.6, 0.4]], rtol=1e-14)


def test_a_row_that_is_left_no_class_gets_the_priors():
    prior = np.log([0.2, 0.8])
    found = fuse([np.array([[0.0, -np.inf]]), np.array([[-np.inf, 0.0]])], prior)
    assert_allclose(np.exp(found), [[0.2, 0.8]], rtol=1e-14)


def test_a_class_without_prior_stays_impossible():
    prior = np.array([np.log(0.25), np.log(0.75), -np.inf])
    one = np.array([[np.log(0.5), np.log(0.5), -np.inf]])
    assert_allclose(np.exp(fuse([one, one], prior)), [[0.75, 0.25, 0.0]], rtol=1e-14)


def test_parts_and_priors_add_up_to_the_fused_log_odds():
    logs, _, prior = random_models(8)
    weights = [0.5, 0.0, 2.0]
    total = prior + fusion_parts(logs, prior, weights=weights).sum(axis=0)
    assert_allclose(log_softmax(total), fuse(logs, prior, weights=weights), rtol=1e-12)
    assert not fusion_parts(logs, prior, weights=weights)[1].any()


@pytest.mark.parametrize(
    ("log_posteriors", "log_prior", "weights", "message"),
    [
        ([np.log([[0.5, 0.5]])], [0.5, 0.5], None, r"these are probabilities: pass their logs"),
        ([np.log([[0.5, 0.5]])], np.log([0.5, 0.4]), None, r"sum to 1 .* exponentials sum to 0\.9"),
        ([np.log([[0.5, 0.5]])], [np.nan, 0.0], None, r"sum to 1 .* nan"),
        ([np.log([[0.5, 0.5]])], [HALF], None, r"shape \(classes,\), found \(1, 2\)"),
        (
            [np.log([[0.5, 0.5]])],
            np.log([0.2, 0.3, 0.5]),
            None,
            r"log_posteriors\[0\].* 2 columns, expected 3",
        ),
        ([[HALF], [HALF, HALF]], HALF, None, r"log_posteriors\[1\] has 2 rows and log_posteriors\[0\] 1"),
        ([[HALF], [[0.5, 0.5]]], HALF, None, r"log_posteriors\[1\]: .*log_probabilities"),
        ([[HALF], np.log([[0.5, 0.2]])], HALF, None, r"log_posteriors\[1\]: .* must sum to 1"),
        (np.array([HALF]), HALF, None, r"a sequence of arrays .* found one array of shape \(1, 2\)"),
        ([], HALF, None, r"log_posteriors is empty"),
        ([[HALF], [HALF]], HALF, [1.0], r"weights must be 2 finite numbers"),
        ([[HALF], [HALF]], HALF, [1.0, -1.0], r"none negative; found \[1\.0, -1\.0\]"),
        ([[HALF], [HALF]], HALF, [1.0, np.inf], r"2 finite numbers"),
        (
            [[HALF]],
            [0.0, -np.inf],
            None,
            r"class 1 has a prior of zero, and log_posteriors\[0\] gives it 0\.5",
        ),
    ],
)
def test_bad_input_is_refused_in_words(log_posteriors, log_prior, weights, message):
    with pytest.raises(ValueError, match=message):
        fuse(log_posteriors, log_prior, weights=weights)


# -- fusion_weights ----------------------------------------------------------------------------------


def penalised(weights, logs, y, prior, row_weight=1.0, spread=1.0):
    return log_loss(logs, y, prior, weights, row_weight) + ((weights - 1) ** 2).sum() / (2 * spread**2)


@given(st.integers(0, 10_000), st.integers(1, 4), st.sampled_from([1e-3, 0.1, 1.0, 3.0, 30.0]))
def test_learnt_weights_are_an_optimum_by_finite_differences(seed, M, scale):
    logs, y, prior = random_models(seed, n=40, M=M, scale=scale)
    weights = fusion_weights(logs, y, prior)
    best, step = penalised(weights, logs, y, prior), 1e-4 / max(scale, 1.0)
    for m in range(M):
        up, down = (penalised(weights + d * np.eye(M)[m], logs, y, prior) for d in (step, 2 * step))
        assert up >= best - 1e-11 * (1 + best)
        assert down - up >= up - best - 1e-10 * (1 + best)  # convex
        if weights[m] > step:
            back = penalised(weights - step * np.eye(M)[m], logs, y, prior)
            curvature = (up - 2 * best + back) / step**2
            assert abs(up - back) / (2 * step) <= 1e-3 * curvature * step + 1e-6 * (1 + best)


@pytest.mark.parametrize("seed", range(5))
def test_learnt_weights_are_those_of_a_general_solver(seed):
    logs, y, prior = random_models(seed, n=100, M=4)
    found = minimize(
        penalised,
        np.ones(4),
        (logs, y, prior),
        method="L-BFGS-B",
        bounds=[(0, None)] * 4,
        options={"ftol": 1e-15},
    )
    assert_allclose(fusion_weights(logs, y, prior), found.x, atol=2e-4)


def test_gradient_and_hessian_of_the_pool_are_finite_differences():
    logs, y, prior = random_models(11)
    pool = Pool.of(
        [each - prior for each in logs], prior, y, np.linspace(0.5, 2, len(y)), np.array([1.0, 0.0, 0.5]), 0.7
    )
    at, step = np.array([0.3, 1.2, 0.0]), 1e-5
    here = pool(at)
    for m in range(3):
        move = step * np.eye(3)[m]
        up, down = pool(at + move), pool(at - move)
        assert_allclose((up.value - down.value) / (2 * step), here.gradient[m], rtol=1e-7)
        change = up.gradient - down.gradient
        assert_allclose(change / (2 * step), here.hessian[m], rtol=1e-7, atol=1e-7)


@given(st.integers(0, 10_000), st.sampled_from([0.1, 10.0, 1e3, 1e5]))
def test_learnt_weights_never_lose_to_equal_ones_on_their_rows(seed, scale):
    logs, y, prior = random_models(seed, n=30, scale=scale)
    weights = fusion_weights(logs, y, prior)
    equal = log_loss(logs, y, prior, None)
    assert (weights >= 0).all()
    assert log_loss(logs, y, prior, weights) <= equal * (1 + 1e-12) + 1e-12


def test_a_model_given_twice_shares_its_weight():
    logs, y, prior = random_models(12, n=500)
    once = fusion_weights(logs, y, prior, spread=100)
    twice = fusion_weights([*logs, logs[2]], y, prior, spread=100)
    assert_allclose(twice[2], twice[3], rtol=1e-9)
    assert_allclose(twice[2] + twice[3], once[2], rtol=1e-3)
    assert_allclose(twice[:2], once[:2], rtol=1e-3)


def test_noise_gets_next_to_no_weight_and_a_calibrated_model_about_one():
    rng = np.random.default_rng(13)
    y = rng.integers(0, 2, 20_000)
    right = rng.normal(size=len(y)) + 1.5 * y  # log likelihood ratio 1.5 x − 1.125
    model = log_softmax(np.column_stack([np.zeros(len(y)), 1.5 * right - 1.125]))
    noise = log_softmax(np.column_stack([np.zeros(len(y)), rng.normal(size=len(y))]))
    weights = fusion_weights([model, noise], y, HALF)
    assert_allclose(weights, [1.0, 0.0], atol=0.05)


def test_a_row_weight_of_two_is_the_row_twice():
    logs, y, prior = random_models(14)
    count = np.random.default_rng(0).integers(0, 4, len(y))
    repeated = [np.repeat(each, count, axis=0) for each in logs]
    expected = fusion_weights(repeated, np.repeat(y, count), prior)
    assert_allclose(fusion_weights(logs, y, prior, sample_weight=count), expected, rtol=1e-9)


def test_labels_are_read_by_classes():
    logs, y, prior = random_models(15)
    names = np.array(["a", "b", "c"])
    found = fusion_weights(logs, names[y], prior, classes=names)
    assert_array_equal(found, fusion_weights(logs, y, prior))


def test_a_model_of_infinite_loss_gets_weight_zero_and_is_named():
    logs, y, prior = random_models(16)
    rash = logs[1].copy()
    rash[:3] = -np.inf
    rash[np.arange(3), (y[:3] + 1) % 3] = 0.0
    with pytest.warns(DataWarning, match=r"log_posteriors\[1\] gives .* zero in 3 of 60 rows.*weight is 0"):
        weights = fusion_weights([logs[0], rash, logs[2]], y, prior)
    assert weights[1] == 0
    assert_allclose(weights[[0, 2]], fusion_weights([logs[0], logs[2]], y, prior), rtol=1e-9)
    with pytest.warns(DataWarning, match="model 'forest'"):
        assert_array_equal(fusion_weights([rash], y, prior, names=["forest"]), [0.0])


def test_rows_of_weight_zero_may_be_called_impossible():
    logs, y, prior = random_models(17)
    logs[0][0] = -np.inf
    logs[0][0, (y[0] + 1) % 3] = 0.0
    weight = np.ones(60)
    weight[0] = 0
    expected = fusion_weights([each[1:] for each in logs], y[1:], prior)
    assert_allclose(fusion_weights(logs, y, prior, sample_weight=weight), expected, rtol=1e-12)


def test_rows_told_apart_without_error_give_finite_weights():
    y = np.repeat([0, 1], 50)
    sure = log_softmax(np.column_stack([np.zeros(100), np.where(y == 1, 2.0, -2.0)]))
    weights = fusion_weights([sure], y, HALF)
    assert 1 < weights[0] < 5
    wide = fusion_weights([sure], y, HALF, spread=1e3)
    assert weights[0] < wide[0] < 50


def test_a_model_that_only_rules_out_rightly_keeps_that_say():
    rng = np.random.default_rng(18)
    y = rng.integers(0, 2, 400)
    misleading = log_softmax(
        np.column_stack([3.0 * y, 3.0 * (1 - y)])
    )  # for the wrong one of classes 0 and 1
    misleading = np.column_stack([misleading, np.full(400, -np.inf)])
    prior = np.log([0.3, 0.3, 0.4])
    fair = np.tile(prior, (400, 1))
    weights = fusion_weights([fair, misleading], y, prior)
    assert 0 < weights[1] < 1e-300
    assert_allclose(np.exp(fuse([fair, misleading], prior, weights=weights)[0]), [0.5, 0.5, 0.0])
    assert log_loss([fair, misleading], y, prior, weights) < log_loss([fair], y, prior, None)


def test_without_rows_the_weights_are_one():
    assert_array_equal(fusion_weights([np.zeros((0, 2))] * 3, np.zeros(0, dtype=int), HALF), np.ones(3))


def test_bad_input_of_the_weights_is_refused_in_words():
    logs, y, prior = random_models(19)
    with pytest.raises(ValueError, match="y has 59 entries for 60 rows"):
        fusion_weights(logs, y[1:], prior)
    with pytest.raises(ValueError, match="class codes from 0 to 2"):
        fusion_weights(logs, y + 1, prior)
    with pytest.raises(ValueError, match="sample_weight: 1 of 60 rows are negative"):
        fusion_weights(logs, y, prior, sample_weight=[-1.0, *[1.0] * 59])
    with pytest.raises(ValueError, match="spread is a standard deviation"):
        fusion_weights(logs, y, prior, spread=0.0)
    never = np.array([[0.0, -np.inf]])
    with pytest.raises(ValueError, match="y holds class 1 in 1 rows, and its prior is zero"):
        fusion_weights([never], [1], never[0])


# -- FusionClassifier: the same as the joint model ---------------------------------------------------


PENGUINS = load_penguins()
X, Y = PENGUINS.X, np.asarray(PENGUINS.y)
IRIS, IRIS_Y = load_iris(return_X_y=True)
KINDS = {"year": "categorical"}
LEFT, RIGHT = (
    ["island", "bill_length_mm", "sex"],
    ["bill_depth_mm", "flipper_length_mm", "body_mass_g", "year"],
)


def halves(**settings):
    """Naive Bayes on two halves of the penguins' columns, mixed types and gaps."""
    return FusionClassifier(
        [
            ("left", NaiveBayes(tied=False, weights=1.0), LEFT),
            ("right", NaiveBayes(kinds=KINDS, tied=False, weights=1.0), RIGHT),
        ],
        **settings,
    )


@pytest.mark.parametrize(
    "priors", [None, "uniform", [0.1, 0.2, 0.7], {"Adelie": 0.5, "Chinstrap": 0.5, "Gentoo": 0}]
)
def test_naive_bayes_on_halves_is_naive_bayes_on_all(priors):
    joint = NaiveBayes(kinds=KINDS, priors=priors, tied=False, weights=1.0).fit(X, Y)
    fused = halves(priors=priors).fit(X, Y)
    assert X.isna().any().any()
    assert_allclose(fused.predict_log_proba(X), joint.predict_log_proba(X), rtol=1e-10, atol=1e-10)
    assert_array_equal(fused.predict(X), joint.predict(X))
    assert_allclose(fused.priors_, joint.priors_, rtol=1e-12)


@pytest.mark.parametrize("tied", [0.0, 1.0])
def test_gaussian_blocks_are_the_fusion_of_discriminant_analyses(tied):
    family = MultivariateNormal(tied=tied)
    joint = GenerativeClassifier([([0, 1], family), ([2, 3], family)], priors=[0.2, 0.3, 0.5]).fit(
        IRIS, IRIS_Y
    )
    member = LinearDiscriminantAnalysis() if tied else QuadraticDiscriminantAnalysis()
    fused = FusionClassifier(
        [("sepal", member, [0, 1]), ("petal", member, slice(2, 4))], priors=[0.2, 0.3, 0.5]
    )
    found = fused.fit(IRIS, IRIS_Y).predict_log_proba(IRIS)
    assert_allclose(found, joint.predict_log_proba(IRIS), rtol=1e-10, atol=1e-10)


def test_weights_of_rows_go_to_members_and_priors():
    weight = np.random.default_rng(0).integers(0, 3, len(Y))
    joint = NaiveBayes(kinds=KINDS, tied=False, weights=1.0).fit(X, Y, weight)
    found = halves().fit(X, Y, sample_weight=weight)
    assert_allclose(found.predict_log_proba(X), joint.predict_log_proba(X), rtol=1e-10, atol=1e-10)


def test_one_member_is_that_member():
    model = FusionClassifier([("all", GaussianNB(), slice(None))]).fit(IRIS, IRIS_Y)
    alone = GaussianNB().fit(IRIS, IRIS_Y)
    assert_allclose(model.predict_log_proba(IRIS), alone.predict_log_proba(IRIS), rtol=1e-9, atol=1e-12)


def test_the_order_of_members_is_irrelevant():
    fused = halves().fit(X, Y)
    turned = FusionClassifier(halves().estimators[::-1]).fit(X, Y)
    assert_allclose(turned.predict_log_proba(X), fused.predict_log_proba(X), rtol=1e-11)


def test_a_member_of_weight_zero_is_absent():
    without = FusionClassifier(halves().estimators[:1]).fit(X, Y)
    for weights in ([1, 0], {"right": 0, "left": 1}):
        model = halves(weights=weights).fit(X, Y)
        assert_array_equal(model.predict_log_proba(X), without.predict_log_proba(X))
    nobody = halves(weights=[0, 0], priors=[0.2, 0.3, 0.5]).fit(X, Y)
    assert_allclose(nobody.predict_proba(X[:2]), [[0.2, 0.3, 0.5]] * 2)


@pytest.mark.parametrize(
    "member", [NaiveBayes(priors="uniform", tied=False, weights=1.0), GaussianNB(priors=[0.6, 0.2, 0.2])]
)
def test_priors_of_a_member_do_not_change_the_fusion_of_generative_models(member):
    usual = clone(member).set_params(priors=None)
    rows = np.r_[:150:2, 100:150]  # classes of unequal size

    def fused(first):
        return FusionClassifier([("a", first, [0, 1]), ("b", GaussianNB(), [2, 3])]).fit(
            IRIS[rows], IRIS_Y[rows]
        )

    assert_allclose(fused(member).predict_log_proba(IRIS), fused(usual).predict_log_proba(IRIS), rtol=1e-9)


def test_a_balanced_member_is_brought_to_the_common_priors():
    rng = np.random.default_rng(1)
    y = (rng.random(4000) < 0.1).astype(int)
    x = rng.normal(size=(4000, 2)) + y[:, None]
    balanced, plain = LogisticRegression(class_weight="balanced", C=1e6), LogisticRegression(C=1e6)
    model = FusionClassifier([("a", balanced, 0), ("b", plain, 1)]).fit(x, y)
    prior = np.array([1 - y.mean(), y.mean()])
    assert_allclose(model.member_priors_, [[0.5, 0.5], prior], rtol=1e-12)
    first = balanced.fit(x[:, :1], y).predict_log_proba(x[:, :1])
    second = plain.fit(x[:, 1:], y).predict_log_proba(x[:, 1:])
    expected = fuse([shift_priors(first, "uniform", prior), second], np.log(prior))
    assert_allclose(model.predict_log_proba(x), expected, rtol=1e-10)
    assert abs(model.predict_proba(x)[:, 1].mean() - y.mean()) < 0.01


def test_parts_say_what_each_member_adds_to_the_log_odds():
    model = halves(weights=[0.5, 2.0]).fit(X, Y)
    parts, logs = model.parts(X), model.predict_log_proba(X)
    assert parts.shape == (len(X), 2, 3)
    odds = np.log(model.priors_[0] / model.priors_[2]) + (parts[:, :, 0] - parts[:, :, 2]).sum(axis=1)
    assert_allclose(odds, logs[:, 0] - logs[:, 2], rtol=1e-9, atol=1e-9)
    left = NaiveBayes(tied=False, weights=1.0).fit(X[LEFT], Y).predict_log_proba(X[LEFT])
    assert_allclose(parts[:, 0], 0.5 * (left - np.log(model.priors_)), rtol=1e-9, atol=1e-12)


# -- FusionClassifier: learnt weights ----------------------------------------------------------------


def doubled(seed, n=400):
    """Two columns that tell the classes apart, the second of them once more, and noise that misleads."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    a, b = (rng.normal(size=n) + 0.8 * y for _ in range(2))
    return np.column_stack([a, b, b, rng.normal(size=n)]), y


MEMBERS = [("a", GaussianNB(), 0), ("b", GaussianNB(), 1), ("again", GaussianNB(), 2)]


def test_learnt_weights_beat_equal_ones_on_fresh_rows_where_a_member_repeats_another():
    x, y = doubled(0)
    fresh, fresh_y = doubled(1, 4000)
    losses = [
        -FusionClassifier(MEMBERS, weights=weights)
        .fit(x, y)
        .predict_log_proba(fresh)[np.arange(4000), fresh_y]
        for weights in ("auto", None)
    ]
    gain = losses[1] - losses[0]
    assert gain.mean() > 3 * gain.std() / np.sqrt(len(gain))


def test_learnt_weights_are_those_of_rows_held_out():
    x, y = doubled(2)
    model = FusionClassifier(MEMBERS, weights="auto", cv=StratifiedKFold(4)).fit(x, y)
    prior = np.bincount(y) / len(y)
    logs = [np.empty((len(y), 2)) for _ in MEMBERS]
    for train, test in StratifiedKFold(4).split(x, y):
        for m in range(3):
            part = GaussianNB().fit(x[train, m : m + 1], y[train])
            held_out = part.predict_log_proba(x[test, m : m + 1])
            logs[m][test] = shift_priors(held_out, part.class_prior_, prior)
    assert_allclose(model.weights_, fusion_weights(logs, y, np.log(prior)), rtol=1e-7)


def test_learnt_weights_are_the_same_whoever_holds_out_the_rows():
    """Our generative models sum each fold once, others are refitted for each: the weights are the same."""
    x, y = doubled(3)
    folds = (np.arange(len(y)) + (y == 1) * (np.arange(len(y)) % 3 == 0)) % 4  # folds of unequal frequencies
    theirs = FusionClassifier([("a", GaussianNB(var_smoothing=0), 0)], weights="auto", cv=folds).fit(x, y)
    plain = NaiveBayes(tied=False, weights=1.0, variance_rows=0)
    ours = FusionClassifier([("a", plain, 0)], weights="auto", cv=folds).fit(x, y)
    assert_allclose(ours.weights_, theirs.weights_, rtol=1e-8)


def test_a_frozen_member_is_used_as_it_is_and_the_rows_of_fit_are_held_out_for_it():
    x, y = doubled(4)
    frozen = LogisticRegression().fit(x[:200, :2], y[:200])
    before = frozen.coef_.copy()
    model = FusionClassifier(
        [("seen", FrozenEstimator(frozen), [0, 1]), ("new", GaussianNB(), [3])], weights="auto"
    ).fit(x[200:], y[200:])
    assert model.named_estimators_["seen"].estimator is frozen
    assert_array_equal(frozen.coef_, before)
    alone = FusionClassifier([("seen", FrozenEstimator(frozen), [0, 1])], weights="auto", cv="not read")
    prior = np.bincount(y[200:]) / 200
    expected = fusion_weights([frozen.predict_log_proba(x[200:, :2])], y[200:], np.log(prior))
    assert_allclose(alone.fit(x[200:], y[200:]).weights_, expected, rtol=1e-9)


def test_a_class_of_a_single_row_does_not_silence_everyone():
    x, y = doubled(5)
    y[0] = 2
    model = FusionClassifier([("a", GaussianNB(), 0), ("b", GaussianNB(), 1)], weights="auto").fit(x, y)
    assert (model.weights_ > 0.5).all()


def test_a_prior_of_zero_goes_with_learnt_weights():
    model = halves(weights="auto", priors=[0.5, 0.5, 0.0]).fit(X, Y)
    kept = Y != "Gentoo"
    assert np.isfinite(model.weights_).all()
    assert np.isneginf(model.predict_log_proba(X[kept])[:, 2]).all()


def test_a_member_that_rules_out_true_classes_is_left_out_of_learnt_weights():
    x, y = doubled(6)
    deep = RandomForestClassifier(2, random_state=0)
    model = FusionClassifier([("forest", deep, [3]), ("a", GaussianNB(), 0)], weights="auto")
    with pytest.warns(DataWarning, match="model 'forest' gives the true class a probability of zero"):
        model.fit(x, y)
    assert model.weights_[0] == 0 < model.weights_[1]


def test_rows_of_weight_zero_change_no_learnt_weight():
    x, y = doubled(7)
    weight = np.ones(len(y))
    weight[::5] = 0
    for cv in (4, np.arange(len(y)) % 3):
        model = FusionClassifier(MEMBERS[:2], weights="auto", cv=cv).fit(x, y, sample_weight=weight)
        kept = cv if isinstance(cv, int) else cv[weight > 0]
        expected = FusionClassifier(MEMBERS[:2], weights="auto", cv=kept).fit(x[weight > 0], y[weight > 0])
        assert_allclose(model.weights_, expected.weights_, rtol=1e-9)


# -- FusionClassifier: columns and tables ------------------------------------------------------------


FRAME = pd.DataFrame(IRIS, columns=["sl", "sw", "pl", "pw"])


def sepals(table):
    return [name for name in table.columns if name.startswith("s")]


@pytest.mark.parametrize(
    "columns",
    [
        *(["sl", "sw"], ("sl", "sw"), [0, 1], np.array([0, 1]), [-4, "sw"], slice(0, 2), slice("sl", "sw")),
        *([True, True, False, False], sepals, re.compile("^s"), make_column_selector(pattern="^s")),
    ],
    ids=lambda columns: type(columns).__name__ if callable(columns) else str(columns),
)
def test_columns_can_be_selected_in_many_ways(columns):
    model = FusionClassifier([("sepal", GaussianNB(), columns), ("petal", GaussianNB(), ["pl", "pw"])])
    model.fit(FRAME, IRIS_Y)
    assert model.columns_ == [(0, 1), (2, 3)]
    assert model.named_estimators_["sepal"].feature_names_in_.tolist() == ["sl", "sw"]
    assert_allclose(model.predict_proba(FRAME), GaussianNB().fit(IRIS, IRIS_Y).predict_proba(IRIS), atol=1e-9)


@pytest.mark.parametrize("column", ["pl", 2, -2, np.int64(2)])
def test_a_single_column_is_a_table(column):
    model = FusionClassifier([("one", GaussianNB(), column)]).fit(FRAME, IRIS_Y)
    alone = GaussianNB().fit(IRIS[:, [2]], IRIS_Y)
    assert_allclose(model.predict_proba(FRAME), alone.predict_proba(IRIS[:, [2]]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("table", "named"),
    [
        (IRIS, False),
        (IRIS.tolist(), False),
        (sparse.csr_array(IRIS), False),
        (sparse.coo_matrix(IRIS), False),
        (pd.DataFrame(IRIS), False),
        (FRAME, True),
        (pl.DataFrame(FRAME), True),
        (pl.DataFrame(FRAME).to_arrow(), True),
    ],
    ids=lambda table: type(table).__name__,
)
def test_every_kind_of_table_gives_the_same(table, named):
    member = NaiveBayes(kinds=[(slice(None), "continuous")], tied=False, weights=1.0)
    model = FusionClassifier([("a", member, [0, 3]), ("b", member, [1])])
    expected = clone(model).fit(IRIS, IRIS_Y).predict_log_proba(IRIS)
    assert_allclose(model.fit(table, IRIS_Y).predict_log_proba(table), expected, rtol=1e-9, atol=1e-9)
    assert model.n_features_in_ == 4
    assert hasattr(model, "feature_names_in_") == named


def test_sparse_columns_go_to_members_that_take_them():
    words = sparse.random_array((100, 6), density=0.5, rng=np.random.default_rng(0), format="csc")
    y = np.arange(100) % 2
    model = FusionClassifier([("a", MultinomialNB(), [0, 1, 2]), ("b", MultinomialNB(), [3, 4, 5])]).fit(
        words, y
    )
    dense = clone(model).fit(words.toarray(), y)
    assert_allclose(model.predict_log_proba(words), dense.predict_log_proba(words.toarray()), rtol=1e-12)


def test_columns_of_a_frame_may_come_in_another_order_and_unused_ones_be_absent():
    model = FusionClassifier([("a", GaussianNB(), ["pl", "sl"]), ("b", GaussianNB(), "pw")]).fit(
        FRAME, IRIS_Y
    )
    expected = model.predict_log_proba(FRAME)
    assert_array_equal(model.predict_log_proba(FRAME[["pw", "sw", "pl", "sl"]]), expected)
    assert_array_equal(model.predict_log_proba(FRAME[["pw", "pl", "sl"]]), expected)
    assert_array_equal(model.predict_log_proba(pl.DataFrame(FRAME[["pw", "pl", "sl"]])), expected)
    with pytest.raises(ValueError, match="seen at fit time, yet now missing:\n- pl"):
        model.predict(FRAME[["pw", "sl"]])
    with pytest.raises(ValueError, match="unseen at fit time:\n- extra"):
        model.predict(FRAME.assign(extra=0))
    with pytest.raises(ValueError, match="X has 3 features, but FusionClassifier is expecting 4"):
        FusionClassifier([("a", GaussianNB(), 0)]).fit(IRIS, IRIS_Y).predict(IRIS[:, :3])
    with pytest.warns(UserWarning, match="X does not have valid feature names, but FusionClassifier"):
        model.predict(IRIS)


def test_columns_that_no_member_reads_may_hold_anything():
    odd = FRAME.assign(when=pd.Timestamp("2020-01-01"), what=[{}] * 150)
    model = FusionClassifier([("a", GaussianNB(), ["sl", "pl"])]).fit(odd, IRIS_Y)
    assert model.n_features_in_ == 6
    assert_array_equal(model.predict(odd), model.predict(FRAME))


def test_columns_that_two_members_read_are_named_in_a_warning():
    members = [("a", GaussianNB(), ["sl", "sw"]), ("b", GaussianNB(), ["sw", "pw"])]
    with pytest.warns(DataWarning, match=r"columns 'sw' are read by .* 'a', 'b', .*more than once"):
        FusionClassifier(members).fit(FRAME, IRIS_Y)
    FusionClassifier(members, weights=[0.5, 0.5]).fit(FRAME, IRIS_Y)  # half a vote each is one in all
    FusionClassifier(members, weights=[1, 0]).fit(FRAME, IRIS_Y)
    FusionClassifier(members, weights="auto", cv=3).fit(FRAME, IRIS_Y)


# -- FusionClassifier: scikit-learn's conventions ----------------------------------------------------


@dataclass(frozen=True)
class Half:
    """The first or the second half of the columns; named the same in every process that collects tests."""

    second: bool

    def __call__(self, table):
        n = table.shape[1]
        return list(range(n // 2, n) if self.second else range((n + 1) // 2))


first_half, second_half = Half(False), Half(True)


CHECKED = [
    FusionClassifier([("all", GaussianNB(), slice(None))]),
    FusionClassifier(
        [
            ("a", NaiveBayes(tied=False, weights=1.0), first_half),
            ("b", NaiveBayes(tied=True, weights=1.0), second_half),
        ],
        priors="uniform",
    ),
    FusionClassifier(
        [("a", GaussianNB(), first_half), ("b", GaussianNB(), second_half)], weights="auto", cv=3
    ),
]


@pytest.mark.filterwarnings("ignore::posterior.notices.PosteriorWarning")
@parametrize_with_checks(CHECKED)
def test_the_contract_of_scikit_learn_is_kept(estimator, check):
    check(estimator)


def test_members_and_their_settings_are_parameters():
    model = halves()
    params = model.get_params()
    assert params["left__alpha"] == 1.0
    assert params["right"] is model.estimators[1][1]
    model.set_params(left__alpha=0.5, right=GaussianNB(), weights="auto")
    assert model.estimators[0][1].alpha == 0.5
    assert [(name, columns) for name, _, columns in model.estimators] == [("left", LEFT), ("right", RIGHT)]
    assert isinstance(model.estimators[1][1], GaussianNB)
    model.set_params(estimators=[("new", GaussianNB(), 0)], new__var_smoothing=0.1)
    assert model.get_params()["new__var_smoothing"] == 0.1
    with pytest.raises(ValueError, match="Invalid parameter 'left'"):
        model.set_params(left=GaussianNB())


def test_fitting_clones_leaves_the_members_alone():
    model = halves()
    model.fit(X, Y)
    assert not hasattr(model.estimators[0][1], "model_")
    assert model.estimators_[0] is model.named_estimators_["left"]


def test_clones_and_pickles_give_the_same():
    model = halves(weights="auto", cv=3).fit(X, Y)
    expected = model.predict_log_proba(X)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict_log_proba(X), expected)
    assert_array_equal(clone(model).fit(X, Y).predict_log_proba(X), expected)


@pytest.mark.parametrize(
    "member",
    [
        RandomForestClassifier(10, min_samples_leaf=3, random_state=0),
        HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=4),
        make_pipeline(StandardScaler(), LogisticRegression()),
        FusionClassifier([("inner", GaussianNB(), [0]), ("other", GaussianNB(), [1])]),
    ],
    ids=lambda member: type(member).__name__,
)
@pytest.mark.parametrize("weights", [None, "auto"])
def test_any_classifier_can_be_a_member(member, weights):
    model = FusionClassifier(
        [("any", member, [0, 1]), ("ours", NaiveBayes(tied=False, weights=1.0), [2, 3])],
        weights=weights,
        cv=3,
    )
    if not isinstance(member, FusionClassifier):
        model.fit(IRIS, IRIS_Y, sample_weight=np.ones(150))
    proba = model.fit(IRIS, IRIS_Y).predict_proba(IRIS)
    assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    assert model.score(IRIS, IRIS_Y) > 0.9


def test_weights_of_rows_reach_the_last_step_of_a_pipeline():
    weight = np.random.default_rng(0).integers(0, 3, 150)
    member = make_pipeline(StandardScaler().set_output(), GaussianNB())
    model = FusionClassifier([("a", member, [0, 1])]).fit(IRIS, IRIS_Y, sample_weight=weight)
    assert_allclose(
        model.named_estimators_["a"][-1].class_prior_, np.bincount(IRIS_Y, weight) / weight.sum(), rtol=1e-12
    )


def test_it_can_be_searched_and_cross_validated():
    model = FusionClassifier([("a", GaussianNB(), [0, 1]), ("b", LogisticRegression(), [2, 3])])
    grid = {"b__C": [0.01, 1.0], "weights": [None, [1, 0]], "a": [GaussianNB()]}
    search = GridSearchCV(model, grid, scoring="neg_log_loss", cv=3).fit(IRIS, IRIS_Y)
    assert search.best_params_["weights"] is None
    assert search.best_params_["b__C"] == 1.0
    assert cross_val_score(model, FRAME, IRIS_Y, cv=3).mean() > 0.8


def test_metadata_routing_asks_each_member():
    weight = np.linspace(0.5, 2, 150)
    with sklearn.config_context(enable_metadata_routing=True):
        heavy = GaussianNB().set_fit_request(sample_weight=True)
        light = GaussianNB().set_fit_request(sample_weight=False)
        model = FusionClassifier([("a", heavy, [0]), ("b", light, [1])]).fit(
            IRIS, IRIS_Y, sample_weight=weight
        )
        weighted = np.bincount(IRIS_Y, weight) / weight.sum()
        assert_allclose(model.member_priors_, [weighted, [1 / 3] * 3], rtol=1e-12)
        routed = model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(routed, {"a__var_smoothing": [1e-9]}, cv=3).fit(
            IRIS, IRIS_Y, sample_weight=weight
        )
        assert_allclose(search.best_estimator_.priors_, weighted, rtol=1e-12)


# -- FusionClassifier: bad input ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimators", "error", "message"),
    [
        ([], ValueError, r"a list of \(name, classifier, columns\), found \[\]"),
        (
            [("a", GaussianNB())],
            ValueError,
            r"a list of \(name, classifier, columns\), found \('a', GaussianNB\(\)\)",
        ),
        ({"a": GaussianNB()}, ValueError, r"a list of \(name, classifier, columns\)"),
        ([("a", GaussianNB(), 0), ("a", GaussianNB(), 1)], ValueError, r"two members are named 'a'"),
        ([("a__b", GaussianNB(), 0)], ValueError, r"without two underscores in a row.* found 'a__b'"),
        ([(1, GaussianNB(), 0)], ValueError, r"must be a string .* found 1"),
        ([("priors", GaussianNB(), 0)], ValueError, r"a member is named 'priors', as is a setting"),
        ([("a", GaussianNB, 0)], TypeError, r"must be a classifier.*write GaussianNB\(\)"),
        ([("a", "drop", 0)], TypeError, r"member 'a' must be a classifier, found 'drop'"),
        ([("a", GaussianNB(), "s")], ValueError, r"member 'a': there is no column 's'; did you mean"),
        (
            [("a", GaussianNB(), ["sl", "zz"])],
            ValueError,
            r"no column 'zz'; the columns are 'sl', 'sw', 'pl', 'pw'",
        ),
        ([("a", GaussianNB(), 4)], ValueError, r"no column at position 4; the table has 4 columns"),
        ([("a", GaussianNB(), [])], ValueError, r"member 'a' reads no column: \[\] selects none of 'sl'"),
        ([("a", GaussianNB(), [True, False])], ValueError, r"mask of 2 values cannot select among 4 columns"),
        ([("a", GaussianNB(), 1.5)], TypeError, r"member 'a': columns cannot be selected by float"),
        ([("a", RidgeClassifier(), 0)], TypeError, r"member 'a' \(RidgeClassifier\) gives no probabilities"),
        ([("a", StandardScaler(), 0)], TypeError, r"member 'a' \(StandardScaler\) has no classes_"),
    ],
)
def test_bad_members_are_refused_in_words_and_change_nothing(estimators, error, message):
    model = FusionClassifier([("all", GaussianNB(), slice(None))]).fit(FRAME, IRIS_Y)
    before = pickle.dumps(model.members_)
    model.estimators = estimators
    with pytest.raises(error, match=message):
        model.fit(FRAME, IRIS_Y)
    assert pickle.dumps(model.members_) == before


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weights": [1.0]}, "weights must be 2 finite numbers"),
        ({"weights": [1.0, -1.0]}, "none negative"),
        ({"weights": "equal"}, "weights must be None, \"auto\", numbers or a mapping, found 'equal'"),
        ({"weights": {"left": 1.0}}, r"name every member once, \['left', 'right'\]; found \['left'\]"),
        ({"weights": "auto", "cv": 1}, "number of folds must be at least 2"),
        ({"priors": [0.5, 0.5]}, "Number of priors must match"),
        ({"priors": "equal"}, "priors must be None, 'uniform', numbers or a mapping"),
    ],
)
def test_bad_settings_are_refused_in_words(settings, message):
    with pytest.raises(ValueError, match=message):
        halves(**settings).fit(X, Y)


def test_a_frozen_member_must_know_the_classes_and_columns():
    two = GaussianNB().fit(IRIS[:100, :2], IRIS_Y[:100])
    with pytest.raises(ValueError, match=r"knows the classes \[0, 1\], and y holds \[0, 1, 2\]"):
        FusionClassifier([("a", FrozenEstimator(two), [0, 1])]).fit(IRIS, IRIS_Y)
    with pytest.raises(ValueError, match="fitted to 2 columns and is given 3"):
        FusionClassifier([("a", FrozenEstimator(two), [0, 1, 2])]).fit(IRIS[:100], IRIS_Y[:100])


def test_an_error_inside_a_member_says_which():
    model = FusionClassifier([("good", GaussianNB(), 0), ("bad", GaussianNB(var_smoothing="x"), 1)])
    with pytest.raises(ValueError, match="var_smoothing") as caught:
        model.fit(IRIS, IRIS_Y)
    assert caught.value.__notes__ == ["in member 'bad' of the fusion"]
    with pytest.raises(TypeError, match="KNeighborsClassifier takes no sample_weight") as caught:
        FusionClassifier([("near", KNeighborsClassifier(), 0)]).fit(IRIS, IRIS_Y, sample_weight=np.ones(150))
    assert caught.value.__notes__ == ["in member 'near' of the fusion"]


def test_an_unfitted_fusion_says_so():
    for method in ("predict", "predict_proba", "predict_log_proba", "parts"):
        with pytest.raises(NotFittedError):
            getattr(halves(), method)(X)


def test_rows_of_one_class_are_refused():
    with pytest.raises(ValueError, match="the number of classes has to be greater than one"):
        halves().fit(X, ["Adelie"] * len(X))
    with pytest.raises(ValueError, match="whose class has rows in other folds, and there are none"):
        FusionClassifier(MEMBERS[:1], weights="auto", cv=[0, 0, 1, 1]).fit(
            [[1.0], [2.0], [5.0], [7.0]], [0, 0, 1, 1]
        )


def test_names_of_columns_go_when_a_table_without_names_is_fitted():
    model = FusionClassifier([("all", GaussianNB(), slice(None))]).fit(FRAME, IRIS_Y)
    assert model.feature_names_in_.tolist() == list(FRAME.columns)
    assert not hasattr(model.fit(FRAME.to_numpy(), IRIS_Y), "feature_names_in_")
