"""Histograms: proper densities of any shape, whose bins the rows choose."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate

from posterior import GenerativeClassifier, NaiveBayes
from posterior.families import Histogram, HistogramDistribution, Normal

ROWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "skewed": lambda rng, n: rng.lognormal(0, 2, n),
    "half zero": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, rng.normal(3, 1, n)),
    "whole": lambda rng, n: rng.integers(0, 4, n).astype(float),
    "two values": lambda rng, n: np.where(rng.random(n) < 0.95, 1.0, 2.0),
    "far": lambda rng, n: 1e8 + rng.normal(size=n),
}
every_column = pytest.mark.parametrize("name", ROWS)


def drawn(name, n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return ROWS[name](rng, n)[:, None] + (0.5 * y[:, None] if name == "normal" else 0.0), y


def fitted(X, y, **settings):
    family = Histogram(**settings)
    return family.estimate(family.summarize(X, y, None, 3))


@every_column
@pytest.mark.parametrize("settings", [{}, {"bins": 5, "alpha": 0}], ids=["chosen", "five bins"])
def test_densities_integrate_to_one(name, settings):
    found = fitted(*drawn(name), **settings)
    (edges,), tail = found.edges, found.tail[0]
    for k in range(3):
        density = lambda x, k=k: float(np.exp(found.log_density(np.array([[x]]))[0, k]))
        inside = [
            integrate.quad(density, np.nextafter(a, b), np.nextafter(b, a))[0] for a, b in pairwise(edges)
        ]
        below = integrate.quad(density, edges[0] - 40 * tail[0], np.nextafter(edges[0], -np.inf))[0]
        above = integrate.quad(density, edges[-1], edges[-1] + 40 * tail[1])[0]
        assert sum(inside) + below + above == pytest.approx(1, abs=1e-6)


@every_column
def test_bins_of_a_given_number_hold_the_rows_of_each_class(name):
    X, y = drawn(name)
    found = fitted(X, y, bins=4, alpha=0)
    place = np.searchsorted(found.edges[0], X[:, 0], side="right")
    for k in range(3):
        counts = np.bincount(place[y == k], minlength=found.share[0].shape[1])
        np.testing.assert_allclose(found.share[0][k], counts / counts.sum(), atol=1e-12)


def test_smoothing_lends_every_bin_rows_of_all_classes():
    X, y = drawn("normal")
    found = fitted(X, y, bins=4, alpha=2.0)
    place = np.searchsorted(found.edges[0], X[:, 0], side="right")
    overall = np.bincount(place, minlength=4) / len(y)
    own = np.bincount(place[y == 1], minlength=4)
    np.testing.assert_allclose(found.share[0][1], (own + 8 * overall) / (own.sum() + 8), rtol=1e-12)


def log_loss_by_leaving_out(X, y, bins, alpha):
    """The class of each row given its bin, all else counted without the row, but for the edges."""
    rank = (np.argsort(np.argsort(X[:, 0])) + 0.5) / len(y)
    place = np.floor(bins * rank).astype(int)
    overall = np.bincount(place, minlength=bins) / len(y)
    total = 0.0
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        rows = np.bincount(y, minlength=3)
        left = np.bincount(y[others], minlength=3)
        counts = [np.bincount(place[others & (y == k)], minlength=bins) for k in range(3)]
        share = [(c + alpha * bins * overall) / (c.sum() + alpha * bins) for c in counts]
        score = rows * np.array([s[place[i]] for s in share])
        total -= np.log(score[y[i]] / score.sum())
        assert left[y[i]] == rows[y[i]] - 1
    return total


@pytest.mark.parametrize("few", [False, True])
def test_a_bin_that_a_class_lacks_rules_it_out(few):
    rng, y = np.random.default_rng(0), np.arange(300) % 3
    X = np.column_stack([rng.integers(0, 4, 300), rng.normal(size=300)])
    X[y == 1, 0] = np.minimum(X[y == 1, 0], 2)
    settings = {"few_values": True} if few else {"families": {"x0": Histogram(bins=4, alpha=0)}}
    model = NaiveBayes(alpha=0, tied=False, weights=1.0, **settings).fit(X, y)
    ruled_out = np.isneginf(model.predict_log_proba(X))
    assert ruled_out.any(axis=0).tolist() == [False, True, False]
    assert not ruled_out[np.arange(300), y].any()
    with pytest.raises(ValueError, match=r"'x1' holds 1e\+200 in row 0, with which the sums .* overflow"):
        model.predict_proba([[1.0, 1e200]])


def test_the_number_of_bins_is_the_one_with_the_smallest_loss_of_rows_left_out():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 150)
    X = np.where(y == 0, rng.normal(0, 0.3, 150), rng.normal(0, 2, 150))[:, None] + 0.3 * (y == 2)[:, None]
    losses = {bins: log_loss_by_leaving_out(X, y, bins, 1.0) for bins in (1, 2, 4, 8, 16, 32, 64)}
    found = fitted(X, y, alpha=1.0).n_bins[0]
    assert found == min(losses, key=losses.get) >= 4


def test_columns_that_say_nothing_get_one_bin_and_change_no_posterior():
    rng = np.random.default_rng(1)
    y = np.tile([0, 1], 200)
    X = np.column_stack([np.repeat(rng.normal(size=200), 2), rng.normal(size=400) + 2 * y])
    model = NaiveBayes(families={"continuous": Histogram()}, tied=False, weights=1.0).fit(X, y)
    alone = NaiveBayes(families={"continuous": Histogram()}, tied=False, weights=1.0).fit(X[:, 1:], y)
    ((_, found),) = model.model_.distributions
    assert found.n_bins[0] == 1 < found.n_bins[1]
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X[:, 1:]), rtol=1e-9)


def test_a_value_beyond_all_others_says_no_more_than_its_neighbours():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = (rng.normal(size=300) * (1 + y))[:, None]
    binned, normal = (
        NaiveBayes(families={0: f}, tied=False, weights=1.0).fit(X, y) for f in (Histogram(), Normal())
    )
    far = np.array([[1e6]])
    np.testing.assert_allclose(binned.predict_proba(far), binned.predict_proba(X.max(keepdims=True)))
    assert binned.predict_proba(far).min() > 1e-3
    assert normal.predict_proba(far).min() < 1e-12


def test_an_offset_changes_no_density():
    X, y = drawn("normal")
    X = np.round(X * 2**20) / 2**20
    plain, moved = fitted(X, y), fitted(X + 2.0**27, y)
    np.testing.assert_allclose(moved.log_density(X + 2.0**27), plain.log_density(X), rtol=1e-9)


def test_numbers_next_to_each_other_do_not_make_bins_without_width():
    steps = [1.0]
    for _ in range(60):
        steps.append(np.nextafter(steps[-1], 2.0))
    X = np.repeat(steps, 3)[:, None]
    found = fitted(X, np.tile([0, 1, 2], 61))
    assert np.isfinite(found.log_density(X)).all()
    assert (np.diff(found.edges[0]) > 0).all()


def test_more_rows_than_values_are_kept_change_the_density_by_what_a_grid_rounds():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 20_000)
    X = rng.normal(size=(20_000, 1)) + y[:, None]
    probe = np.linspace(-2, 4, 50)[:, None]
    kept, few = (fitted(X[:n], y[:n], alpha=1.0).log_density(probe) for n in (20_000, 4000))
    truth = -0.5 * (probe - np.arange(3)) ** 2 - 0.5 * np.log(2 * np.pi)
    assert np.abs(kept - truth).mean() < np.abs(few - truth).mean() < 0.3


def test_smoothing_is_chosen_by_cross_validation_where_it_is_auto():
    X, y = drawn("normal")
    model = GenerativeClassifier([(0, Histogram(alpha="auto"))], cv="loo").fit(X, y)
    assert "alpha" in model.tuning_


@pytest.mark.parametrize("bins", [1, 0, -3, 2.5, True, "many"])
def test_a_number_of_bins_that_cannot_be_is_refused(bins):
    with pytest.raises(ValueError, match="at least 2, or None to choose it"):
        Histogram(bins=bins)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"edges": [[2.0, 1.0]]}, "sorted"),
        ({"edges": [[1.0]]}, "one bin more than edges"),
        ({"share": [[[0.5, 0.5, 0.5]]]}, "add up to 1"),
        ({"tail": [[0.0, 1.0]]}, "positive length"),
        ({"tail": [[1.0, 1.0], [1.0, 1.0]]}, "same columns"),
        ({"n_bins": [4]}, "one bin more"),
    ],
)
def test_histograms_that_are_no_densities_are_refused(change, said):
    parts = {"edges": [[1.0, 2.0]], "share": [[[0.25, 0.5, 0.25]]], "tail": [[1.0, 1.0]]}
    HistogramDistribution(**parts)
    with pytest.raises(ValueError, match=said):
        HistogramDistribution(**(parts | change))
