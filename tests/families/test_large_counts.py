"""Posteriors of large counts keep their digits, whatever is missing beside them."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy import sparse

from posterior import GenerativeClassifier
from posterior.families import Multinomial, MultinomialDistribution, PoissonDistribution

KINDS = {"dense": np.asarray, "csr": sparse.csr_array, "tiles": lambda X: np.tile(X, (500, 1))}
in_kinds = pytest.mark.parametrize("kind", KINDS)


def apart(distribution, block, n):
    """How far the first rows' log densities of later classes are from that of the first class."""
    out = np.zeros((block.shape[0], distribution.n_classes))
    distribution.add_relative(block, out)
    return (out[:, 1:] - out[:, :1])[:n]


@in_kinds
@pytest.mark.parametrize("large", [1e6, 1e9, 1e12, 1e15])
def test_a_large_count_that_is_missing_leaves_no_rounding(kind, large):
    distribution = PoissonDistribution([[1.1 * large, 1.013, 2.0077], [2.3 * large, 2.0137, 1.0411]])
    X = np.array([[np.nan, 1.0, 2.0], [np.nan, 3.0, 4.0], [np.nan, np.nan, 1.0], [np.nan] * 3])
    found = apart(distribution, KINDS[kind](X), len(X))
    want = apart(distribution.marginal([1, 2]), X[:, 1:], len(X))
    np.testing.assert_allclose(found, want, rtol=0, atol=1e-14)


def test_log_densities_of_large_counts_differ_by_what_posteriors_say():
    distribution = PoissonDistribution([[1e9], [1e9 + 3e4], [1e9 - 1e3]])
    X = np.array([[1e9], [1e9 + 2e4], [np.nan], [1e9 - 5e4]])
    logs, terms = distribution.log_density(X), distribution.log_terms(X)[:, 0]
    want = apart(distribution, X, len(X))
    np.testing.assert_allclose(logs[:, 1:] - logs[:, :1], want, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(terms[:, 1:] - terms[:, :1], want, rtol=1e-13, atol=1e-13)


def far_from_the_first(probability, X):
    """Σ x ln (p / Σ p) of each class less that of the first, over the counts that are there, to 60 digits."""
    with localcontext() as context:
        context.prec = 60
        scores = [[_score(x[~np.isnan(x)], p[~np.isnan(x)], len(x)) for p in probability] for x in X]
        return np.array([[float(score - row[0]) for score in row[1:]] for row in scores])


def _score(x, p, n_columns):
    p = [Decimal(share) for share in p.tolist()]
    whole = sum(p) if len(p) < n_columns else Decimal(1)
    return sum(Decimal(count) * (share / whole).ln() for count, share in zip(x.tolist(), p, strict=True))


@in_kinds
@pytest.mark.parametrize("size", [1e3, 1e6, 1e9, 1e12])
def test_shares_are_rescaled_without_loss_where_counts_are_missing(kind, size):
    rng = np.random.default_rng(1)
    even = rng.uniform(0.5, 2.0, 5) * (1.0 + rng.normal(size=(3, 5)) / np.sqrt(size))
    distribution = MultinomialDistribution(even / even.sum(axis=1, keepdims=True))
    X = rng.poisson(size * even[np.arange(12) % 3]).astype(float)
    X[::3, 1] = X[1::4, 3] = np.nan
    found, want = (
        apart(distribution, KINDS[kind](X), len(X)),
        far_from_the_first(distribution.probability, X),
    )
    np.testing.assert_allclose(found, want, rtol=1e-10, atol=1e-16 * np.sqrt(size) * 100)


@in_kinds
def test_a_row_is_scored_as_if_no_other_had_gaps(kind):
    rng = np.random.default_rng(2)
    y = np.arange(90) % 3
    X = rng.poisson(1e9 * (1.0 + 1e-5 * rng.normal(size=(3, 4)))[y]).astype(float)
    model = GenerativeClassifier([(list(range(4)), Multinomial())]).fit(X, y)
    with_gaps = X.copy()
    with_gaps[::2, 0] = np.nan
    found, alone = (model.predict_log_proba(KINDS[kind](rows))[1:90:2] for rows in (with_gaps, X))
    np.testing.assert_allclose(found, alone, rtol=1e-11, atol=1e-11)
