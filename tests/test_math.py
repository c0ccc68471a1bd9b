"""The public functions of `posterior.math` (M04)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special

from posterior.math import log_sigmoid, log_softmax, log_sum_exp, logit, sigmoid, softmax

INF = np.inf
row_functions = pytest.mark.parametrize("function", [softmax, log_softmax, log_sum_exp])


def floats(bound):
    return st.floats(-bound, bound)


def scores(bound=1e5, min_dims=1):
    return arrays(np.float64, array_shapes(min_dims=min_dims, max_dims=3, max_side=6), elements=floats(bound))


def some_minus_inf(bound=1e5):
    entries = st.one_of(floats(bound), st.just(-INF))
    return arrays(np.float64, st.integers(1, 8), elements=entries)


# --- softmax, log_softmax, log_sum_exp ---


def test_softmax_gives_the_numbers_of_the_notes():
    assert_allclose(softmax([1, 2, 3]), [0.090, 0.245, 0.665], atol=5e-4)
    assert_allclose(softmax([10, 20, 30]), [2.06e-9, 4.54e-5, 0.99995], rtol=1e-3)


def test_log_odds_of_1e5_come_out_as_such():
    assert_array_equal(log_softmax([0, 1e5]), [-1e5, 0])
    assert_array_equal(log_softmax([0, -1e5]), [0, -1e5])
    assert log_sum_exp([0, 1e5]) == 1e5


@given(scores())
def test_softmax_sums_to_one(x):
    assert_allclose(softmax(x).sum(axis=-1), 1, rtol=1e-14)
    assert_allclose(log_sum_exp(log_softmax(x)), 0, atol=1e-14)


@given(scores(bound=100), floats(1e6))
def test_softmax_is_translation_invariant(x, shift):
    assert_allclose(softmax(x + shift), softmax(x), rtol=1e-8)
    assert_allclose(log_softmax(x + shift), log_softmax(x), atol=1e-8)
    assert_allclose(log_sum_exp(x + shift), log_sum_exp(x) + shift, rtol=1e-12, atol=1e-8)


@given(st.floats(0.1, 5), st.floats(1.5, 10))
def test_softmax_is_not_scale_invariant(gap, factor):
    assert softmax([0, factor * gap])[1] > softmax([0, gap])[1]


@given(scores())
def test_row_functions_agree_with_scipy(x):
    assert_allclose(softmax(x), special.softmax(x, axis=-1), rtol=1e-10)
    assert_allclose(log_softmax(x), special.log_softmax(x, axis=-1), rtol=1e-12, atol=1e-14)
    assert_allclose(log_sum_exp(x), special.logsumexp(x, axis=-1), rtol=1e-13, atol=1e-14)


@given(some_minus_inf())
def test_minus_inf_is_a_probability_of_exactly_zero(x):
    log_p = log_softmax(x)
    assert not np.isnan(log_p).any()
    if np.isfinite(x).any():
        assert_array_equal(log_p == -INF, x == -INF)
        assert_allclose(log_p[np.isfinite(x)], log_softmax(x[np.isfinite(x)]), rtol=1e-15, atol=1e-15)
        assert log_sum_exp(x) == pytest.approx(log_sum_exp(x[np.isfinite(x)]), rel=1e-15, abs=1e-15)
    assert softmax(x).sum() == pytest.approx(1)


@given(st.integers(1, 20))
def test_a_row_of_only_minus_inf_is_uniform(n_classes):
    x = np.full(n_classes, -INF)
    assert_allclose(log_softmax(x), -np.log(n_classes), rtol=1e-15)
    assert_allclose(softmax(x), 1 / n_classes)
    assert log_sum_exp(x) == -INF


def test_plus_inf_entries_share_the_mass_equally():
    x = [INF, 3, INF, -INF]
    assert_array_equal(softmax(x), [0.5, 0, 0.5, 0])
    assert_array_equal(log_softmax(x), [-np.log(2), -INF, -np.log(2), -INF])
    assert log_sum_exp(x) == INF


@given(st.floats(-700, 700))
def test_two_classes_are_a_sigmoid_also_in_the_last_digits(log_odds):
    assert_allclose(log_softmax([0, log_odds])[1], log_sigmoid(log_odds), rtol=1e-14)
    assert_allclose(softmax([0, log_odds])[1], sigmoid(log_odds), rtol=1e-14)


@row_functions
@given(x=scores(bound=50, min_dims=2))
def test_another_axis_is_the_same_as_moving_it_last(function, x):
    expected = function(np.moveaxis(x, 0, -1))
    if function is not log_sum_exp:
        expected = np.moveaxis(expected, -1, 0)
    assert_allclose(function(x, axis=0), expected, rtol=1e-13, atol=1e-14)


@row_functions
def test_rows_of_mixed_kind_do_not_disturb_each_other(function):
    x = np.array([[0.0, 1.0], [-INF, -INF], [INF, 0.0], [np.nan, 0.0], [-1e308, 1e308]])
    with np.errstate(all="raise"):
        together = function(x)
    assert_array_equal(together, np.stack([function(row) for row in x]))
    assert np.isnan(together[3]).all()
    assert not np.isnan(np.delete(together, 3, axis=0)).any()


def test_an_empty_sum_has_log_minus_inf():
    assert log_sum_exp([]) == -INF
    assert softmax(np.empty((2, 0))).shape == log_softmax(np.empty((2, 0))).shape == (2, 0)
    assert softmax(np.empty((0, 3))).shape == (0, 3)


# --- sigmoid, log_sigmoid, logit ---

pointwise = pytest.mark.parametrize(
    "function", [sigmoid, log_sigmoid, logit, softmax, log_softmax, log_sum_exp]
)


@pointwise
def test_a_scalar_in_gives_a_numpy_float_out(function):
    assert isinstance(function(1), np.float64)


@pointwise
@given(x=arrays(np.float64, array_shapes(max_side=4), elements=st.floats(0, 1)))
def test_input_is_left_alone_and_shape_kept(function, x):
    before = x.copy()
    assert function(x).shape == (x.shape[:-1] if function is log_sum_exp else x.shape)
    assert_array_equal(x, before)


@given(scores(bound=700))
def test_sigmoid_and_its_log_agree_with_scipy(x):
    assert_allclose(sigmoid(x), special.expit(x), rtol=1e-14)
    assert_allclose(log_sigmoid(x), special.log_expit(x), rtol=1e-14)


@given(floats(700))
def test_log_sigmoid_is_the_log_of_sigmoid_where_that_does_not_underflow(x):
    assert_allclose(log_sigmoid(x), np.log(sigmoid(x)), rtol=1e-13, atol=1e-15)


def test_sigmoid_is_stable_at_both_ends():
    with np.errstate(all="raise"):
        assert_array_equal(sigmoid([-INF, -1e5, 0, 1e5, INF]), [0, 0, 0.5, 1, 1])
        assert_array_equal(log_sigmoid([-INF, -1e5, 1e5, INF]), [-INF, -1e5, 0, 0])
    assert np.isnan(sigmoid(np.nan))
    assert np.isnan(log_sigmoid(np.nan))


@given(floats(30))
def test_the_derivative_of_sigmoid_is_sigmoid_times_its_complement(x):
    h = 1e-4
    slope = (sigmoid(x + h) - sigmoid(x - h)) / (2 * h)
    assert_allclose(slope, sigmoid(x) * (1 - sigmoid(x)), atol=1e-9)
    log_slope = (log_sigmoid(x + h) - log_sigmoid(x - h)) / (2 * h)
    assert_allclose(log_slope, sigmoid(-x), atol=1e-8)


@given(floats(1e5), floats(1e5))
def test_sigmoid_is_monotone(a, b):
    low, high = min(a, b), max(a, b)
    assert sigmoid(low) <= sigmoid(high) * (1 + 1e-15)
    assert log_sigmoid(low) <= log_sigmoid(high) * (1 - 1e-15)


@given(st.floats(0, 40), st.floats(0, 40))
def test_sigmoid_is_convex_below_zero_and_concave_above(a, b):
    assert sigmoid((a + b) / 2) >= (sigmoid(a) + sigmoid(b)) / 2 - 1e-15
    assert sigmoid(-(a + b) / 2) <= (sigmoid(-a) + sigmoid(-b)) / 2 + 1e-15


@given(floats(700))
def test_sigmoid_is_antisymmetric_about_one_half(x):
    assert sigmoid(x) + sigmoid(-x) == pytest.approx(1, abs=1e-15)


@given(st.floats(1e-300, 1))
def test_logit_agrees_with_scipy_and_undoes_sigmoid(p):
    assert_allclose(logit(p), special.logit(p), rtol=1e-12)
    assert_allclose(sigmoid(logit(p)), p, rtol=1e-12)


@given(st.floats(1e-12, 0.2))
def test_logit_keeps_its_digits_near_one_half(offset):
    offset = (0.5 + offset) - 0.5  # what the float really holds
    exact = 2 * np.arctanh(2 * offset)
    assert_allclose(logit(0.5 + offset), exact, rtol=1e-15)
    assert logit(0.5 - offset) == -logit(0.5 + offset)


def test_logit_is_infinite_at_the_ends_and_silent_about_it():
    with np.errstate(all="raise"):
        assert_array_equal(logit([0, 0.5, 1]), [-INF, 0, INF])
    assert np.isnan(logit(np.nan))


def test_logit_refuses_what_is_no_probability():
    with pytest.raises(ValueError, match=r"found 1\.5 \(2 of 3 values outside\)"):
        logit([0.2, 1.5, -3])
    with pytest.raises(ValueError, match=r"found -0\.1"):
        logit(-0.1)
