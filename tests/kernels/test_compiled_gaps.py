"""Compiled kernels for Gaussian rows with gaps find what the reference finds, to rounding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import posterior
from posterior import LDA, QDA
from posterior.families import MultivariateNormalDistribution
from posterior.kernels import choice, gaps, gaussian

COLUMNS = [1, 2, 3, 4, 5, 7, 8, 16, 20, 21, 40]


def rows_with_gaps(n, d, n_classes, share, seed, offset=0.0, near=0.0):
    """Rows, classes and their true distribution, columns in several units, about an offset."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    root = np.eye(d) + 0.5 * rng.normal(size=(n_classes, d, d)) / np.sqrt(d)
    if near and d > 1:  # the last column nearly repeats the first
        root[:, :, -1] = root[:, :, 0] + near * root[:, :, -1]
    unit = np.logspace(-3, 3, d)
    mean = rng.normal(size=(n_classes, d)) * unit
    x = np.einsum("ni,nij->nj", rng.normal(size=(n, d)), root[y]) * unit + mean[y] + offset
    x[rng.random((n, d)) < share] = np.nan
    covariance = root.transpose(0, 2, 1) @ root * unit[:, None] * unit
    return x, y, posterior.stats.Location(np.full((n_classes, d), offset), mean), covariance


def expected(x, y, weight, density):
    with choice.using("reference"):
        slow = gaussian.expected_sums(x, y, weight, density.gaussians)
    with choice.using("compiled"):
        fast = gaussian.expected_sums(x, y, weight, density.gaussians)
    return fast, slow


def assert_same_sums(fast, slow, rtol):
    np.testing.assert_allclose(fast.weight, slow.weight, rtol=1e-13)
    size = np.maximum(slow.weight, 1.0)
    np.testing.assert_allclose(fast.shift, slow.shift, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(
        fast.scatter / size[:, None, None], slow.scatter / size[:, None, None], atol=rtol
    )
    np.testing.assert_array_equal(fast.scatter, fast.scatter.transpose(0, 2, 1))
    # Log densities of rows have either sign: their sum may be far smaller than they are.
    np.testing.assert_allclose(fast.log_likelihood / size, slow.log_likelihood / size, rtol=rtol, atol=rtol)


@given(
    n=st.integers(0, 150),
    d=st.sampled_from(COLUMNS),
    n_classes=st.integers(1, 4),
    share=st.sampled_from([0.0, 0.05, 0.25, 0.6, 0.95]),
    tied=st.booleans(),
    weighted=st.booleans(),
    offset=st.sampled_from([0.0, 1e8]),
    seed=st.integers(0, 2**16),
)
def test_what_is_expected_of_rows_is_that_of_the_reference(  # noqa: PLR0917  (what hypothesis varies)
    n, d, n_classes, share, tied, weighted, offset, seed
):
    x, y, location, covariance = rows_with_gaps(n, d, n_classes, share, seed, offset)
    density = MultivariateNormalDistribution(location, covariance[:1] if tied else covariance)
    weight = np.random.default_rng(seed).integers(1, 4, n) * 0.5 if weighted else None
    assert_same_sums(*expected(x, y, weight, density), rtol=1e-10)


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_nearly_collinear_columns_keep_the_digits_that_the_reference_keeps(share):
    x, y, location, covariance = rows_with_gaps(500, 6, 2, share, seed=1, near=1e-3)
    density = MultivariateNormalDistribution(location, covariance)
    assert_same_sums(*expected(x, y, None, density), rtol=1e-8)  # the precision has lost 1e6


def test_weights_are_repetitions():
    x, y, location, covariance = rows_with_gaps(90, 5, 2, 0.3, seed=3)
    density = MultivariateNormalDistribution(location, covariance)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    with choice.using("compiled"):
        once = gaussian.expected_sums(x, y, weight.astype(float), density.gaussians)
        often = gaussian.expected_sums(x.repeat(weight, axis=0), y.repeat(weight), None, density.gaussians)
    assert_same_sums(once, often, rtol=1e-11)


def test_layout_and_stride_of_the_rows_and_who_may_write_them_change_no_bit():
    x, y, location, covariance = rows_with_gaps(100, 5, 3, 0.3, seed=4)
    density = MultivariateNormalDistribution(location, covariance)
    weight = np.linspace(0.5, 2.0, 100)
    wide = np.zeros((200, 7))
    wide[::2, 1:6] = x
    fixed, weight = x.copy(), weight.copy()
    for array in (fixed, weight, *density.gaussians):
        array.flags.writeable = False
    with choice.using("compiled"):
        sums = [
            gaussian.expected_sums(rows, y, weight, density.gaussians)
            for rows in (x, fixed, np.asfortranarray(x), wide[::2, 1:6])
        ]
    for other in sums[1:]:
        for a, b in zip(sums[0][:4], other[:4], strict=True):
            np.testing.assert_array_equal(a, b)


def test_log_determinants_beyond_the_range_of_doubles_are_no_trouble():
    d = 40
    near = np.full((d, d), 1 - 1e-11) + 1e-11 * np.eye(d)  # pivots of the precision of 1e11 each
    density = MultivariateNormalDistribution(np.zeros((1, d)), near)
    x = np.full((3, d), np.nan)
    x[[0, 1, 2], [0, 5, 39]] = [0.5, -1.0, 2.0]
    exact = [-0.5 * (v * v + np.log(2 * np.pi)) for v in (0.5, -1.0, 2.0)]
    out = np.empty((3, 1))
    with choice.using("compiled"):
        sums = gaussian.expected_sums(x, np.zeros(3, dtype=np.int64), None, density.gaussians)
        gaussian.gappy_log_density(x, np.arange(3), density.gaussians, out)
    np.testing.assert_allclose(sums.log_likelihood, [sum(exact)], rtol=1e-6)
    np.testing.assert_allclose(out[:, 0], exact, rtol=1e-9)


# -- scores ------------------------------------------------------------------------------------------


@given(
    n=st.integers(1, 70),
    d=st.sampled_from(COLUMNS),
    n_classes=st.integers(1, 9),
    share=st.sampled_from([0.02, 0.25, 0.6, 0.95]),
    tied=st.booleans(),
    offset=st.sampled_from([0.0, 1e8]),
    near=st.sampled_from([0.0, 1e-3]),
    seed=st.integers(0, 2**16),
)
def test_log_densities_are_those_of_the_reference(  # noqa: PLR0917  (what hypothesis varies)
    n, d, n_classes, share, tied, offset, near, seed
):
    x, _, location, covariance = rows_with_gaps(n, d, n_classes, share, seed, offset, near)
    density = MultivariateNormalDistribution(location, covariance[:1] if tied else covariance)
    for array in (x, *density.gaussians):
        array.flags.writeable = False
    rows = np.flatnonzero(np.random.default_rng(seed).random(n) < 0.8)
    fast, slow = np.full((n, n_classes), 7.0), np.full((n, n_classes), 7.0)
    gaps.gappy_log_density(x, rows, density.gaussians, slow)
    with choice.using("compiled"):
        gaussian.gappy_log_density(np.asfortranarray(x), rows, density.gaussians, fast)
    digits = 1e-8 if near else 1e-10  # a correlation of 1 − 1e-6 costs both of them digits
    np.testing.assert_allclose(fast, slow, rtol=digits, atol=digits)
    with choice.using("compiled"):
        gaussian.gappy_log_density(x, rows, density.gaussians, slow)
    np.testing.assert_array_equal(fast, slow)  # the same bits from another layout
    others = np.setdiff1d(np.arange(n), rows)
    assert (fast[others] == 7.0).all()
    assert (fast[rows][np.isnan(x[rows]).all(axis=1)] == 0).all()


# -- models ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [QDA(), LDA(), LDA(shrinkage="auto")], ids=["qda", "lda", "shrunk"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_models_are_those_of_the_reference(model, dtype):
    x, y, *_ = rows_with_gaps(3000, 6, 3, 0.25, seed=5)
    x = x.astype(dtype)
    fits = []
    for mode in ("reference", "compiled"):
        with choice.using(mode):
            model.fit(x, y)
            path = model.log_likelihood_path_
            assert (np.diff(path) >= 0).all()
            fits.append((path[-1], model.predict_log_proba(x)))
    np.testing.assert_allclose(fits[0][0], fits[1][0], rtol=1e-9)
    np.testing.assert_allclose(fits[0][1], fits[1][1], atol=1e-4)  # where the iterations stop


@pytest.mark.parametrize("model", [QDA(), LDA()], ids=["qda", "lda"])
def test_the_number_of_threads_changes_no_bit(model):
    x, y, *_ = rows_with_gaps(40_000, 6, 3, 0.25, seed=6)
    found = []
    for n in (1, 2, 8):
        with posterior.threads(n), choice.using("compiled"):
            found.append(model.fit(x, y).predict_log_proba(x[:20_000]))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
