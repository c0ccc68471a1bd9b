"""Kernel densities: proper densities of any shape, with honest tails."""

import numpy as np
import pytest
from scipy import integrate, stats

from posterior import GenerativeClassifier, NaiveBayes
from posterior.families import KernelDensity, KernelDensityDistribution, Normal


def drawn(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return np.where(rng.random(n) < 0.5, rng.normal(-3, 1, n), rng.normal(3, 0.5, n))[:, None] + y[:, None], y


def fitted(X, y, n_classes=3, **settings):
    family = KernelDensity(**settings)
    return family.estimate(family.summarize(X, y, None, n_classes))


@pytest.mark.parametrize("bandwidth", [0.35, 1.0, 3.0])
def test_densities_integrate_to_one(bandwidth):
    X, y = drawn()
    found = fitted(X, y, bandwidth=bandwidth)
    grid = np.linspace(-80, 80, 40_001)
    area = integrate.trapezoid(np.exp(found.log_density(grid[:, None])), grid, axis=0)
    np.testing.assert_allclose(area, 1, atol=1e-7)


def test_the_density_is_that_of_scipy_beside_the_wide_one():
    X, y = drawn()
    found = fitted(X, y)
    probe = np.linspace(-9, 9, 50)
    for k in range(3):
        x = X[y == k, 0]
        theirs = stats.gaussian_kde(x, bw_method=found.bandwidth[k, 0] / x.std(ddof=1))(probe)
        wide = stats.norm(np.sort(X[:, 0])[99], 2 * X.std()).pdf(probe)
        expected = (len(x) * theirs + wide) / (len(x) + 1)
        np.testing.assert_allclose(np.exp(found.log_density(probe[:, None]))[:, k], expected, rtol=1e-9)


def test_the_bandwidth_is_silvermans():
    x = np.random.default_rng(0).normal(size=400)
    found = fitted(x[:, None], np.zeros(400, dtype=int), 1)
    low, high = np.quantile(x, [0.25, 0.75], method="inverted_cdf")
    expected = 0.9 * min(x.std(), (high - low) / 1.3489795) * 400**-0.2
    assert found.bandwidth[0, 0] == pytest.approx(expected, rel=1e-6)


def test_few_rows_and_equal_ones_get_a_width_that_other_classes_lend():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=300), [5.0], np.full(50, 7.0)])
    y = np.repeat([0, 1, 2], [300, 1, 50])
    found = fitted(x[:, None], y)
    within = np.sqrt(300 * x[:300].var() / 351)
    assert found.bandwidth[1, 0] == pytest.approx(0.9 * within * np.sqrt(0.9), rel=1e-9)
    assert found.bandwidth[2, 0] == pytest.approx(0.9 * 0.05 * within * 50**-0.2, rel=1e-9)


def test_a_far_value_says_little():
    X, y = drawn()
    kernels, normal = (
        NaiveBayes(families={0: f}, tied=False, weights=1.0).fit(X, y) for f in (KernelDensity(), Normal())
    )
    far = np.array([[1e5]])
    assert kernels.predict_proba(far).min() > 0.2
    assert normal.predict_proba(far).min() < 1e-12


def test_an_offset_changes_no_density():
    X, y = drawn()
    X = np.round(X * 2**20) / 2**20
    plain, moved = fitted(X, y), fitted(X + 2.0**27, y)
    np.testing.assert_allclose(moved.log_density(X + 2.0**27), plain.log_density(X), rtol=1e-9)


def test_many_rows_are_kept_on_a_grid_that_changes_the_density_little(monkeypatch):
    X, y = drawn(3000)
    probe = np.linspace(-6, 6, 60)[:, None]
    coarse = fitted(X, y)
    monkeypatch.setattr("posterior.families.kernel_density.MOST", 4096)
    exact = fitted(X, y)
    assert len(coarse.places[0]) <= 512 < len(exact.places[0]) == 3000
    np.testing.assert_allclose(coarse.log_density(probe), exact.log_density(probe), atol=0.05)


def test_the_bandwidth_is_chosen_by_cross_validation_where_it_is_auto():
    X, y = drawn()
    model = GenerativeClassifier([(0, KernelDensity(bandwidth="auto"))], cv="loo").fit(X, y)
    assert "bandwidth" in model.tuning_


def test_parameters_are_not_counted():
    with pytest.raises(ValueError, match="no meaning here: a kernel density"):
        _ = fitted(*drawn()).n_parameters


@pytest.mark.parametrize("bandwidth", [0, -1.0, np.inf, "wide", True, None])
def test_a_bandwidth_that_cannot_be_is_refused(bandwidth):
    with pytest.raises(ValueError, match="positive number or 'auto'"):
        KernelDensity(bandwidth=bandwidth)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"places": [[0.0]]}, "a number for each place"),
        ({"share": [[[0.5, 0.9]]]}, "add up to 1"),
        ({"wide": [[1.5]]}, "between 0 and 1"),
        ({"bandwidth": [[0.0]]}, "positive"),
        ({"spread": [-1.0]}, "positive"),
        ({"middle": [0.0, 1.0]}, "same columns"),
    ],
)
def test_kernels_that_are_no_densities_are_refused(change, said):
    parts = {
        "places": [[0.0, 1.0]],
        "share": [[[0.5, 0.5]]],
        "bandwidth": [[1.0]],
        "wide": [[0.1]],
        "middle": [0.0],
        "spread": [1.0],
    }
    KernelDensityDistribution(**parts)
    with pytest.raises(ValueError, match=said):
        KernelDensityDistribution(**(parts | change))
