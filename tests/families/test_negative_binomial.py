"""Counts that vary more than those of a Poisson distribution."""

import numpy as np
import pytest
from scipy import optimize, stats

from posterior import GenerativeClassifier, NaiveBayes
from posterior.families import NegativeBinomial, NegativeBinomialDistribution, Poisson, negative_binomial


def fitted(x, alpha=0):
    x = np.asarray(x, dtype=float)
    family = NegativeBinomial(alpha=alpha)
    return family.estimate(family.summarize(x[:, None], np.zeros(len(x), dtype=int), None, 1))


@pytest.mark.parametrize(("size", "p"), [(0.2, 0.02), (2.0, 0.3), (50.0, 0.9), (3.0, 1e-4)])
def test_mean_and_dispersion_are_those_of_maximum_likelihood(size, p):
    x = stats.nbinom(size, p).rvs(300, random_state=1)
    found = fitted(x)
    assert found.mean[0, 0] == pytest.approx(x.mean(), rel=1e-12)

    def loss(log_size):
        r = np.exp(log_size)
        return -stats.nbinom(r, r / (r + x.mean())).logpmf(x).sum()

    theirs = optimize.minimize_scalar(loss, bracket=(np.log(size) - 1, np.log(size) + 1), tol=1e-10)
    assert -np.log(found.dispersion[0, 0]) == pytest.approx(theirs.x, abs=1e-6)


@pytest.mark.parametrize("x", [[3, 3, 3], [2, 3, 4, 3], [0, 0, 0], [1]])
def test_counts_that_vary_no_more_than_poisson_counts_are_poisson(x):
    found = fitted(x)
    assert found.dispersion[0, 0] == 0
    probe = np.arange(9.0)[:, None]
    same = Poisson(alpha=0).estimate(
        Poisson().summarize(np.array(x, dtype=float)[:, None], np.zeros(len(x), dtype=int), None, 1)
    )
    np.testing.assert_allclose(found.log_density(probe), same.log_density(probe), atol=1e-14)


@pytest.mark.parametrize("dispersion", [1e-5, 1e-3, 0.7, 40.0])
@pytest.mark.parametrize("mean", [1e-3, 3.0, 1e6])
def test_probabilities_keep_their_digits_from_rare_to_common_events(mean, dispersion):
    x = np.round(mean * np.array([0.0, 0.5, 1.0, 1.1, 3.0]))[:, None]
    found = NegativeBinomialDistribution([[mean]], [[dispersion]]).log_density(x)
    theirs = stats.nbinom(1 / dispersion, 1 / (1 + mean * dispersion)).logpmf(x)
    np.testing.assert_allclose(found, theirs, rtol=1e-8, atol=1e-8)


def test_a_class_of_zeros_does_not_rule_out_that_something_happens():
    x = np.concatenate([np.zeros(20), np.random.default_rng(0).negative_binomial(1, 0.05, 80)])
    y = np.repeat([0, 1], [20, 80])
    model = NaiveBayes(families={0: NegativeBinomial()}, tied=False, weights=1.0).fit(x[:, None], y)
    plain = NaiveBayes(families={0: Poisson()}, tied=False, weights=1.0).fit(x[:, None], y)
    assert 0 < model.predict_proba([[200.0]])[0, 0] < 0.5
    assert plain.predict_proba([[200.0]])[0, 0] < 1e-50


def test_counts_beyond_those_that_are_kept_one_by_one_change_the_fit_little(monkeypatch):
    x = np.random.default_rng(0).negative_binomial(3, 1e-3, 3000).astype(float)
    exact = fitted(x)
    monkeypatch.setattr(negative_binomial, "DISTINCT", 300)
    coarse = fitted(x)
    np.testing.assert_allclose(coarse.mean, exact.mean, rtol=1e-3)
    np.testing.assert_allclose(coarse.dispersion, exact.dispersion, rtol=1e-2)


def test_leaving_out_a_row_of_very_many_distinct_counts_is_refused_with_the_remedy():
    rng = np.random.default_rng(0)
    X = rng.negative_binomial(3, 1e-4, 4000)[:, None]
    y = rng.integers(0, 2, 4000)
    model = GenerativeClassifier([(0, NegativeBinomial())]).fit(X, y)
    with pytest.raises(ValueError, match=r"more than 2000 distinct values\); use k_fold_log_proba"):
        model.leave_one_out_log_proba(X, y)


def test_smoothing_is_chosen_by_cross_validation_where_it_is_auto():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = rng.negative_binomial(1 + y, 0.3)[:, None].astype(float)
    model = GenerativeClassifier([(0, NegativeBinomial(alpha="auto"))], cv=4).fit(X, y)
    assert "alpha" in model.tuning_
    with pytest.raises(ValueError, match="one number for all columns"):
        NegativeBinomial(alpha=[1.0, 2.0])
