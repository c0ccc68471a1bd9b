"""Many classes, some of them far apart for the covariance that they share, lose no digits."""

import numpy as np
import pytest
from scipy.special import log_softmax

from posterior import LDA
from posterior._linalg import whitener
from posterior.families import MultivariateNormalDistribution, far_classes
from posterior.stats import Location

K, D, ROWS = 24, 50, 60


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


def rounding(distribution, rows):
    """How far log densities of classes alone are off if every product of their sums is, by its last digit."""
    white, _ = whitener(distribution.covariance[0])
    off = np.empty((len(rows), K))
    for k in range(K):
        apart = distribution.location.deviation(rows, k)
        off[:, k] = (np.abs(apart @ white) * (np.abs(apart) @ np.abs(white))).sum(axis=1)
    return np.finfo(float).eps * off


def are_equal(found, distribution, rows):
    """They may be off in the last of twelve digits, and by two bits more than classes alone do."""
    want = alone(distribution, rows)
    return (np.abs(found - want) <= 1e-10 + 1e-12 * np.abs(want) + 4.0 * rounding(distribution, rows)).all()


@pytest.mark.parametrize("case", CASES)
def test_each_class_has_the_log_density_that_it_has_alone(case):
    distribution, rows = drawn(case)
    assert distribution._far_classes is not None
    assert are_equal(distribution.log_density(rows), distribution, rows)
    assert are_equal(distribution.log_relative(rows), distribution, rows)
    out = np.zeros((len(rows), K))
    distribution.add_relative(np.asfortranarray(rows), out)
    assert are_equal(out, distribution, rows)


@pytest.mark.parametrize("case", CASES)
def test_rows_and_pairs_are_worked_on_in_parts(case, monkeypatch):
    distribution, rows = drawn(case)
    monkeypatch.setattr(far_classes, "AT_ONCE", 7 * D)
    monkeypatch.setattr(far_classes, "PAIR_CELLS", 3 * D)
    monkeypatch.setattr(far_classes, "BLOCK", 5)
    assert are_equal(distribution.log_density(rows), distribution, rows)


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


def test_means_too_far_apart_for_their_squares_are_told_apart():
    distribution = MultivariateNormalDistribution(
        1e170 * np.arange(1.0, K + 1)[:, None] * np.eye(K, D), np.eye(D)
    )
    with np.errstate(over="ignore"):
        densities = distribution.log_density(distribution.mean)
    np.testing.assert_array_equal(densities.argmax(axis=1), np.arange(K))
    assert (densities[~np.eye(K, dtype=bool)] == -np.inf).all()


def test_posteriors_of_a_nearly_singular_table_are_those_of_classes_alone():
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(K).repeat(2), rng.integers(0, K, 2 * ROWS)])
    X = rng.normal(size=(K, D))[y] + rng.normal(size=(len(y), D))
    X[:, -1] = X[:, 0] + rng.normal(size=K)[y] + 1e-5 * rng.normal(size=len(y))
    model = LDA(priors="uniform").fit(X, y)
    ((_, distribution),) = model.model_.distributions
    assert distribution.row_scores is None
    X[:10] += rng.normal(size=(10, D))
    want = log_softmax(alone(distribution, X), axis=1)
    off = 1e-10 + 8.0 * rounding(distribution, X).max()
    np.testing.assert_allclose(model.predict_log_proba(X), want, rtol=1e-12, atol=off)
