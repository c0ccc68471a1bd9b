"""Many classes, some of them far apart for the covariance that they share, lose no digits."""

import numpy as np
import pytest
from scipy.special import log_softmax

from posterior import LDA
from posterior.families import MultivariateNormalDistribution, far_classes
from posterior.stats import Location

K, D, ROWS = 24, 12, 50


def turned(rng, variances):
    """A covariance with these variances along axes of its own."""
    axes, _ = np.linalg.qr(rng.normal(size=(D, D)))
    covariance = (axes * variances) @ axes.T
    return (covariance + covariance.T) / 2


def nearly_singular(rng):
    return rng.normal(size=(K, D)), turned(rng, np.append(np.ones(D - 2), [1e-9, 1e-12]))


def each_far_from_all(rng):
    return 1e6 * rng.normal(size=(K, D)), turned(rng, rng.uniform(0.1, 1.0, D))


def three_groups(rng):
    middles = 1e7 * rng.normal(size=(3, D))
    return middles[np.arange(K) % 3] + rng.normal(size=(K, D)), turned(rng, rng.uniform(0.1, 1.0, D))


def nearly_singular_groups(rng):
    means, _ = three_groups(rng)
    return means, nearly_singular(rng)[1]


def one_far_column(rng):
    means = rng.normal(size=(K, D))
    means[1::2, 0] *= 1e7
    return means, turned(rng, rng.uniform(0.1, 1.0, D))


CASES = [nearly_singular, each_far_from_all, three_groups, nearly_singular_groups, one_far_column]


def drawn(case):
    """The distribution of a case, and rows: near class means, between them, and far from all."""
    rng = np.random.default_rng(3)
    means, covariance = case(rng)
    location = Location.sum(means + 1e8, rng.normal(size=means.shape) * 1e-9)
    root = np.linalg.cholesky(covariance)
    near = location.value[rng.integers(0, K, ROWS)] + rng.normal(size=(ROWS, D)) @ root.T
    rows = np.concatenate([near, near[::2] + rng.normal(size=(ROWS // 2, D)), near[:5] * 3.0])
    return MultivariateNormalDistribution(location, covariance), rows


def alone(distribution, rows):
    """Log densities of classes, each of which is worked out without the others."""
    location, covariance = distribution.location, distribution.covariance
    parts = [MultivariateNormalDistribution(location[[k]], covariance) for k in range(K)]
    return np.concatenate([part.log_density(rows) for part in parts], axis=1)


@pytest.mark.parametrize("case", CASES)
def test_each_class_has_the_log_density_that_it_has_alone(case):
    distribution, rows = drawn(case)
    assert distribution.row_scores is None
    want = alone(distribution, rows)
    np.testing.assert_allclose(distribution.log_density(rows), want, rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose(distribution.log_relative(rows), want, rtol=1e-11, atol=1e-9)
    out = np.ones_like(want)
    distribution.add_relative(np.asfortranarray(rows), out)
    np.testing.assert_allclose(out - 1.0, want, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_rows_and_pairs_are_worked_on_in_parts(case, monkeypatch):
    distribution, rows = drawn(case)
    want = distribution.log_density(rows)
    monkeypatch.setattr(far_classes, "AT_ONCE", 7 * K)
    monkeypatch.setattr(far_classes, "PAIR_CELLS", 3 * D)
    np.testing.assert_allclose(distribution.log_density(rows), want, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_missing_cells_are_left_out(case):
    distribution, rows = drawn(case)
    rows[::3, 2] = np.nan
    rows[0] = np.nan
    np.testing.assert_allclose(
        distribution.log_density(rows), alone(distribution, rows), rtol=1e-9, atol=1e-9
    )


def test_a_row_too_far_for_its_square_has_no_density():
    distribution, rows = drawn(each_far_from_all)
    rows[0, 0] = 1e200
    assert (distribution.log_density(rows)[0] == -np.inf).all()
    assert np.isfinite(distribution.log_density(rows)[1:]).all()


def test_posteriors_of_a_nearly_singular_table_are_those_of_classes_alone():
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(K).repeat(2), rng.integers(0, K, ROWS)])
    X = rng.normal(size=(K, D))[y] + rng.normal(size=(len(y), D))
    X[:, -1] = X[:, 0] + rng.normal(size=K)[y] + 1e-5 * rng.normal(size=len(y))
    model = LDA(priors="uniform").fit(X, y)
    ((_, distribution),) = model.model_.distributions
    assert distribution.row_scores is None
    X[:10] += rng.normal(size=(10, D))
    want = log_softmax(alone(distribution, X), axis=1)
    np.testing.assert_allclose(model.predict_log_proba(X), want, rtol=1e-11, atol=1e-6)
