"""The exponents with which columns of naive Bayes count: given, one for all, or one for each."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax

import posterior
from posterior import NaiveBayes
from posterior.estimators.naive_bayes import FEW_ROWS, MOST_ROWS
from posterior.generative.column_weights import HeldOutTerms


def table(n=300, seed=0, copies=8):
    """A column that tells the class, copies of it with a little noise, one of noise, and a category."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    signal = rng.normal(y, 1.5)
    X = pd.DataFrame({f"copy{i}": signal + 0.1 * rng.normal(size=n) for i in range(copies)})
    X["noise"] = rng.normal(size=n)
    X["state"] = np.where(rng.random(n) < 0.3, "other", np.array(["a", "b", "c"])[y])
    return X, np.array(["x", "y", "z"])[y]


def fixed(**settings):
    return NaiveBayes(**{"tied": False, "weights": 1.0} | settings)


@pytest.fixture(scope="module")
def learnt():
    X, y = table()
    return {weights: NaiveBayes(weights=weights).fit(X, y) for weights in ("one", "auto")}


def test_weights_of_one_are_plain_naive_bayes():
    X, y = table()
    plain = fixed().fit(X, y)
    for weights in (1, 1.0, {"noise": 1.0}, {}):
        np.testing.assert_array_equal(
            fixed(weights=weights).fit(X, y).predict_log_proba(X), plain.predict_log_proba(X)
        )


def test_a_posterior_is_the_prior_and_the_weighted_log_densities_of_the_columns():
    X, y = table()
    weights = {"copy0": 0.5, "noise": 0.0, "state": 2.0}
    model = fixed(weights=weights).fit(X, y)
    scores = np.log(model.priors_) + sum(
        weights.get(name, 1.0) * fixed().fit(X[[name]], y).class_log_density(X[[name]]) for name in X
    )
    np.testing.assert_allclose(model.predict_log_proba(X), log_softmax(scores, axis=1), atol=1e-10)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), scores, atol=1e-10)
    np.testing.assert_array_equal(model.weights_, [weights.get(name, 1.0) for name in X])
    np.testing.assert_array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])


def test_a_column_of_weight_zero_is_a_column_that_is_not_there():
    X, y = table()
    model = fixed(weights={"noise": 0.0}).fit(X, y)
    rest = X.drop(columns="noise")
    np.testing.assert_allclose(
        model.predict_log_proba(X), fixed().fit(rest, y).predict_log_proba(rest), atol=1e-10
    )


def test_densities_and_samples_are_those_of_the_columns_whatever_their_weights():
    X, y = table()
    plain, weighted = fixed().fit(X, y), fixed(weights=0.3).fit(X, y)
    np.testing.assert_array_equal(plain.class_log_density(X), weighted.class_log_density(X))
    np.testing.assert_array_equal(plain.score_samples(X), weighted.score_samples(X))
    assert plain.log_likelihood_ == weighted.log_likelihood_
    pd.testing.assert_frame_equal(plain.sample(5, random_state=0)[0], weighted.sample(5, random_state=0)[0])


@pytest.mark.parametrize("weights", ["one", "auto"])
def test_contributions_add_up_to_the_log_odds(learnt, weights):
    X, _ = table()
    model = learnt[weights]
    found = model.contributions(X[:20], of="x", against="z")
    logs = model.predict_log_proba(X[:20])
    np.testing.assert_allclose(found.values.sum(axis=1), logs[:, 0] - logs[:, 2], atol=1e-9)


@pytest.mark.parametrize("weights", ["one", "auto"])
def test_a_saved_model_has_its_weights(learnt, weights, tmp_path):
    X, _ = table()
    model = learnt[weights]
    posterior.save(model, tmp_path / "model")
    loaded = posterior.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_log_proba(X), model.predict_log_proba(X))
    np.testing.assert_array_equal(loaded.weights_, model.weights_)
    assert loaded.n_parameters_ == model.n_parameters_


def test_learnt_weights_are_counted_as_parameters(learnt):
    X, y = table()
    choice = learnt["one"].best_params_
    plain = fixed(tied=choice["tied"]).fit(X, y).n_parameters_
    assert fixed(tied=choice["tied"], weights=0.5).fit(X, y).n_parameters_ == plain
    assert learnt["one"].n_parameters_ == plain + 1
    assert learnt["auto"].n_parameters_ == plain + X.shape[1]


def test_columns_that_say_the_same_thing_are_tempered(learnt):
    X, y = table()
    new, truth = table(seed=1)
    loss = {
        name: -model.predict_log_proba(new)[
            np.arange(len(new)), np.searchsorted(model.classes_, truth)
        ].mean()
        for name, model in {"plain": fixed().fit(X, y), **learnt}.items()
    }
    assert loss["one"] < loss["plain"]
    assert loss["auto"] < loss["plain"]
    assert learnt["one"].weights_.max() < 1
    assert (learnt["one"].weights_ == learnt["one"].weights_[0]).all()
    weights = dict(zip(X, learnt["auto"].weights_, strict=True))
    assert max(weights["copy0"], weights["copy1"], weights["copy2"]) < weights["state"]


def test_a_model_that_was_tuned_is_the_one_with_these_settings(learnt):
    X, y = table()
    choice = learnt["one"].best_params_
    again = NaiveBayes(tied=choice["tied"], weights=choice["weights"]).fit(X, y)
    np.testing.assert_array_equal(again.predict_log_proba(X), learnt["one"].predict_log_proba(X))
    by_column = dict(zip(X, learnt["auto"].weights_.tolist(), strict=True))
    again = NaiveBayes(tied=learnt["auto"].best_params_["tied"], weights=by_column).fit(X, y)
    np.testing.assert_allclose(again.predict_log_proba(X), learnt["auto"].predict_log_proba(X), atol=1e-12)


@pytest.mark.parametrize("weights", ["one", "auto"])
def test_scales_and_offsets_of_columns_change_no_choice(weights):
    X, y = table()
    moved = X.assign(**{name: X[name] * 2.0**20 + 2.0**12 for name in X if name != "state"})
    here, there = (NaiveBayes(weights=weights).fit(rows, y) for rows in (X, moved))
    np.testing.assert_allclose(here.weights_, there.weights_, rtol=1e-5)
    np.testing.assert_allclose(here.predict_log_proba(X), there.predict_log_proba(moved), atol=1e-5)


@pytest.mark.parametrize("weights", [0.5, {"noise": 0.2, "state": 1.5}, "one", "auto"], ids=str)
def test_exact_leave_one_out_is_fitting_without_the_row(weights):
    X, y = table(60)
    model = NaiveBayes(weights=weights).fit(X, y)
    left_out = model.leave_one_out_log_proba(X, y)
    tied = bool(model.model_.spec.blocks[0].family.tied)
    by_column = dict(zip(X, model.weights_.tolist(), strict=True))
    for i in (0, 17, 59):
        rest = NaiveBayes(tied=tied, weights=by_column).fit(X.drop(index=i), np.delete(y, i))
        np.testing.assert_allclose(left_out[i], rest.predict_log_proba(X.iloc[[i]])[0], atol=1e-8)


def test_parts_keep_the_choice_of_the_first_one_and_their_sums_add_up():
    X, y = table()
    first = NaiveBayes().fit(X[:150], y[:150])
    parts = NaiveBayes().partial_fit(X[:150], y[:150]).partial_fit(X[150:], y[150:])
    assert parts.best_params_ == first.best_params_
    whole = NaiveBayes(**first.best_params_).fit(X, y)
    np.testing.assert_allclose(parts.predict_log_proba(X), whole.predict_log_proba(X), atol=1e-9)


def test_a_sum_of_models_has_the_settings_of_the_one_with_more_rows():
    X, y = table()
    small, large = NaiveBayes().fit(X[:80], y[:80]), NaiveBayes().fit(X[80:], y[80:])
    whole = NaiveBayes(**large.best_params_).fit(X, y)
    for both in (small + large, large + small):
        assert both.best_params_ == large.best_params_
        np.testing.assert_allclose(both.predict_log_proba(X), whole.predict_log_proba(X), atol=1e-9)
    with pytest.raises(ValueError, match="cannot be added"):
        _ = fixed(weights=0.5).fit(X, y) + fixed(weights=0.6).fit(X, y)


def test_few_rows_choose_nothing_that_was_not_asked_for():
    X, y = table(FEW_ROWS - 1)
    np.testing.assert_array_equal(
        NaiveBayes().fit(X, y).predict_log_proba(X), fixed().fit(X, y).predict_log_proba(X)
    )


def test_of_many_rows_every_so_many_choose():
    rng = np.random.default_rng(0)
    n = 3 * MOST_ROWS
    y = np.arange(n) % 3  # in step with every third row
    X = np.repeat(rng.normal(y, 1.0)[:, None], 4, axis=1)
    model = NaiveBayes().fit(X + 0.1 * rng.normal(size=X.shape), y)
    assert model.weights_[0] == pytest.approx(0.25, rel=0.5)
    assert model.model_.weight == n


@pytest.mark.parametrize("n_folds", [2, 5])
def test_k_folds_choose_without_the_rows_held_out(n_folds):
    X, y = table(120)
    folds = np.arange(120) % n_folds
    logs = NaiveBayes().k_fold_log_proba(X, y, cv=folds)
    changed = X.copy()
    changed.loc[folds == 1, "copy0"] *= np.where(np.arange((folds == 1).sum()) > 3, 5.0, 1.0)
    again = NaiveBayes().k_fold_log_proba(changed, y, cv=folds)
    same = np.flatnonzero(folds == 1)[:4]  # as they were, and predicted by what other folds teach
    np.testing.assert_array_equal(again[same], logs[same])
    assert (again[folds == 0] != logs[folds == 0]).all()


def test_rows_repeated_by_weights_are_rows_of_weight_in_what_weights_are_learnt_from():
    rng = np.random.default_rng(0)
    n = 40
    terms = -rng.exponential(size=(n, 2, 3))
    y, fold, weight = rng.integers(0, 3, n), np.arange(n) % 3, rng.integers(1, 3, n)
    prior = np.log(np.full((n, 3), 1 / 3))
    weighted = HeldOutTerms(terms, prior, y, weight.astype(float), fold)
    rows = np.repeat(np.arange(n), weight)
    repeated = HeldOutTerms(terms[rows], prior[rows], y[rows], np.ones(len(rows)), fold[rows])
    at = np.array([0.4, 0.9])
    (a, slope), (b, other) = (h.objective(at, 0.5, 2.0) for h in (weighted, repeated))
    assert a == pytest.approx(b)
    np.testing.assert_allclose(slope, other)
    step = 1e-6 * np.eye(2)
    differences = [
        (weighted.objective(at + e, 0.5, 2.0)[0] - weighted.objective(at - e, 0.5, 2.0)[0]) / 2e-6
        for e in step
    ]
    np.testing.assert_allclose(slope, differences, rtol=1e-5)


@pytest.mark.parametrize("weights", [-1.0, np.inf, np.nan, "all", True, {"noise": -0.5}, None], ids=str)
def test_weights_that_are_none_are_refused(weights):
    X, y = table(40)
    with pytest.raises(ValueError, match="weights must be 'one', 'auto', a number of 0 or more"):
        NaiveBayes(weights=weights).fit(X, y)


def test_boundaries_are_those_of_weighted_columns():
    X, y = table()
    X = X[["copy0", "noise"]]
    model = fixed(weights={"copy0": 0.4, "noise": 1.3}).fit(X, y)
    form = model.quadratic_form("x", "y")
    logs = model.predict_log_proba(X)
    np.testing.assert_allclose(form(X.to_numpy()), logs[:, 0] - logs[:, 1], atol=1e-9)
