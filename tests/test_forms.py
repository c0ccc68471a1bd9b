"""Quadratic scores, their linear forms, conics and decision points (M06, M07, M08)."""

from dataclasses import FrozenInstanceError
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq
from scipy.stats import multivariate_normal

from posterior.forms import Conic, LinearForm, QuadraticScores, decision_points

INF = np.inf
seeds = st.integers(0, 2**32 - 1)


def gaussians(means, covariances, priors=None, centre=None, scale=()):
    """Scores of the log joint of Gaussian classes, straight from the formula of M08."""
    means, covariances = np.asarray(means, float), np.asarray(covariances, float)
    K, d = means.shape
    centre = means.mean(axis=0) if centre is None else np.asarray(centre, float)
    precision = np.linalg.inv(covariances)
    away = means - centre
    linear = np.einsum("kij,kj->ki", precision, away)
    log_prior = np.log(np.full(K, 1 / K) if priors is None else np.asarray(priors))
    log_volume = np.linalg.slogdet(covariances)[1] + d * np.log(2 * np.pi)
    constant = -0.5 * (linear * away).sum(axis=1) - 0.5 * log_volume + log_prior
    return QuadraticScores(centre, -0.5 * precision, linear, constant, scale)


def random_covariances(rng, K, d):
    factors = rng.normal(size=(K, d, d + 2))
    return factors @ factors.transpose(0, 2, 1) / d + 0.1 * np.eye(d)


def random_gaussians(rng, K, d, *, shared=False):
    covariances = random_covariances(rng, K, d)
    if shared:
        covariances[:] = covariances[0]
    means, priors = rng.normal(size=(K, d), scale=2), rng.dirichlet(np.full(K, 3.0))
    return means, covariances, priors


# --- QuadraticScores ---


@given(seeds, st.integers(1, 4), st.integers(1, 4))
def test_scores_are_the_log_joint(seed, K, d):
    rng = np.random.default_rng(seed)
    means, covariances, priors = random_gaussians(rng, K, d)
    X = rng.normal(size=(7, d), scale=3)
    expected = np.stack(
        [
            multivariate_normal(m, c).logpdf(X) + np.log(p)
            for m, c, p in zip(means, covariances, priors, strict=True)
        ],
        axis=1,
    )
    scores = gaussians(means, covariances, centre=rng.normal(size=d)).shifted(np.log(K * priors))
    assert_allclose(scores(X), expected, rtol=1e-9, atol=1e-9)


@given(seeds, st.sampled_from([1e4, 1e8]))
def test_an_offset_in_the_means_costs_no_accuracy(seed, offset):
    rng = np.random.default_rng(seed)
    means, covariances, priors = random_gaussians(rng, 3, 2, shared=True)
    means, X = means + offset, rng.normal(size=(9, 2)) + offset
    # Subtracting the offset is exact, so the same numbers near the origin are the truth.
    truth = gaussians(means - offset, covariances, priors, centre=[0, 0])(X - offset)
    scores = gaussians(means, covariances, priors, centre=[offset, offset])
    assert_allclose(scores(X), truth, rtol=1e-13)
    assert_allclose(np.diff(scores.linear_form()(X)), np.diff(truth), rtol=1e-9, atol=1e-10)
    assert_allclose(scores.pair(0, 1)(X), truth @ [1, -1, 0], rtol=1e-9, atol=1e-10)


@given(seeds, st.integers(1, 4), st.integers(2, 4))
def test_independent_blocks_add(seed, d, K):
    rng = np.random.default_rng(seed)
    parts = [gaussians(*random_gaussians(rng, K, size)) for size in (d, 1, 2)]
    X = rng.normal(size=(5, d + 3))
    joined = QuadraticScores.block_diagonal(parts)
    blocks = np.split(X, [d, d + 1], axis=1)
    assert_allclose(
        joined(X), sum(part(block) for part, block in zip(parts, blocks, strict=True)), rtol=1e-10
    )
    assert_array_equal(joined.scale, np.concatenate([part.scale for part in parts]))


def test_forms_are_immutable():
    scores = gaussians([[0, 0], [1, 1]], [np.eye(2)] * 2)
    for form in (scores, scores.linear_form(), scores.pair(0, 1)):
        with pytest.raises(FrozenInstanceError):
            form.centre = np.zeros(2)
        with pytest.raises(ValueError, match="read-only"):
            form.centre[0] = 1


def test_a_coefficient_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match="broadcast"):
        QuadraticScores([0, 0], np.eye(2), np.zeros((2, 3)), [0, 0])


# --- linear forms (M07) ---


@given(seeds, st.integers(1, 5))
def test_linear_form_is_the_closed_form_of_two_classes_with_shared_covariance(seed, d):
    rng = np.random.default_rng(seed)
    means, covariances, priors = random_gaussians(rng, 2, d, shared=True)
    scores = gaussians(means, covariances, priors, centre=rng.normal(size=d))
    w, w0 = scores.linear_form().pair(0, 1)

    precision = np.linalg.inv(covariances[0])
    halves = [0.5 * m @ precision @ m for m in means]
    assert_allclose(w, precision @ (means[0] - means[1]), rtol=1e-10, atol=1e-10)
    assert_allclose(w0, -halves[0] + halves[1] + np.log(priors[0] / priors[1]), rtol=1e-10, atol=1e-10)

    X = rng.normal(size=(6, d))
    assert_allclose(X @ w + w0, scores(X) @ [1, -1], rtol=1e-10, atol=1e-10)
    assert scores.pair(0, 1).type == {1: "one point", 2: "line"}.get(d, "hyperplane")


@given(seeds, st.integers(2, 4), st.integers(1, 3))
def test_changing_priors_only_shifts_the_boundary(seed, K, d):
    rng = np.random.default_rng(seed)
    scores = gaussians(*random_gaussians(rng, K, d, shared=True))
    log_prior = rng.normal(size=K)
    before, after = scores.linear_form(), scores.shifted(log_prior).linear_form()
    for a in range(K):
        w, w0 = before.pair(a, 0)
        moved_w, moved_w0 = after.pair(a, 0)
        assert_array_equal(moved_w, w)
        assert_allclose(moved_w0 - w0, log_prior[a] - log_prior[0], atol=1e-10)


@given(seeds, st.integers(1, 4), st.lists(st.sampled_from([1e-8, 1e-3, 1, 1e5, 1e8]), min_size=4, max_size=4))
def test_linearity_does_not_depend_on_units(seed, d, units):
    rng = np.random.default_rng(seed)
    units = np.array(units[:d])
    covariance = random_covariances(rng, 1, d)[0]
    noise = 1 + 1e-15 * rng.uniform(-1, 1, size=(3, d))
    close = np.stack([covariance * np.outer(n, n) for n in noise]) * np.outer(units, units)
    precision = np.linalg.inv(covariance) / np.outer(units, units)
    precisions = np.stack([precision * np.outer(n, n) for n in noise])
    scores = QuadraticScores(np.zeros(d), -0.5 * precisions, np.zeros((3, d)), np.zeros(3))
    assert scores.is_linear
    close[1, 0, 0] *= 1 + 1e-6
    assert not gaussians(np.zeros((3, d)), close).is_linear


def test_linear_form_says_why_there_is_none():
    scores = gaussians([[0], [1]], [[[1]], [[2]]])
    with pytest.raises(ValueError, match=r"relative difference 0\.5.*use quadratic_form\(a, b\)"):
        scores.linear_form()


def test_linear_form_scores_are_centred():
    form = LinearForm(centre=[1e8], coef=[[1.0], [2.0]], intercept=[0.5, 0.0])
    assert_array_equal(form([[1e8 + 1]]), [[1.5, 2.0]])


# --- Conic ---


@given(seeds, st.integers(2, 4), st.integers(1, 4))
def test_the_conic_of_a_pair_is_the_log_odds(seed, K, d):
    rng = np.random.default_rng(seed)
    scores = gaussians(*random_gaussians(rng, K, d))
    X = rng.normal(size=(6, d))
    q = scores.pair(1, 0)
    log_odds = scores(X)[:, 1] - scores(X)[:, 0]
    assert_allclose(q(X), log_odds, rtol=1e-9, atol=1e-9)
    A, b, a = q.expanded()
    assert_allclose(np.einsum("ni,ij,nj->n", X, A, X) + X @ b + a, log_odds, rtol=1e-9, atol=1e-9)


def line(A, b, a, **options):
    return Conic(options.pop("centre", [0]), [[A]], [b], a, **options)


def exact_roots(A, b, a):
    """The textbook formula, in as many digits as it takes for nothing to cancel."""
    with localcontext() as context:
        context.prec = 700
        A, b, a = Decimal(A), Decimal(b), Decimal(a)
        root = (b * b - 4 * A * a).sqrt()
        return sorted(float((-b + sign * root) / (2 * A)) for sign in (-1, 1))


log_magnitude = st.floats(-20, 3)
sign = st.sampled_from([-1, 1])


@given(sign, log_magnitude, st.floats(-50, 50), st.floats(-50, 50))
def test_roots_are_right_however_small_the_quadratic_coefficient(side, magnitude, b, a):
    A = side * 10**magnitude
    assume(b * b - 4 * A * a > 1e-6 * (b * b + abs(4 * A * a)))
    assume(max(abs(b), abs(a)) > 1e-100)
    assert_allclose(line(A, b, a).roots(), exact_roots(A, b, a), rtol=1e-9, atol=1e-300)


@given(seeds)
def test_roots_are_the_numeric_boundary(seed):
    rng = np.random.default_rng(seed)
    means, covariances, priors = random_gaussians(rng, 2, 1)
    q = gaussians(means, covariances, priors).pair(0, 1)
    A, b, _ = q.expanded()
    vertex, reach = -b[0] / (2 * A[0, 0]), 1.0
    while q([[vertex + reach]]) * q([[vertex]]) > 0 and reach < 1e15:
        reach *= 2
    if reach >= 1e15:
        assert q.type == "no point"
        return
    value = lambda x: q([[x]])[0]
    numeric = [brentq(value, vertex - reach, vertex), brentq(value, vertex, vertex + reach)]
    assert_allclose(q.roots(), numeric, rtol=1e-6, atol=1e-6)
    assert_allclose(q(q.roots()[:, None]), 0, atol=1e-9)
    assert q.type == "two points"


def test_nearly_equal_variances_give_one_root_near_and_one_far():
    q = gaussians([[-1], [1]], [[[1.0]], [[1.0 + 1e-9]]]).pair(0, 1)
    near, far = sorted(q.roots(), key=abs)
    assert near == pytest.approx(0, abs=1e-8)
    assert far == pytest.approx(-4e9, rel=1e-6)


def test_variances_equal_up_to_rounding_give_one_root():
    q = gaussians([[-1], [1]], [[[1.0]], [[np.nextafter(1.0, 2)]]]).pair(0, 1)
    assert_allclose(q.roots(), [0], atol=1e-15)
    assert q.type == "one point"


@given(st.floats(-100, 100).filter(lambda x: x == 0 or abs(x) > 1e-100), st.floats(1e-3, 1e3), sign)
def test_a_curve_that_touches_zero_has_one_root(touch, steepness, side):
    A = side * steepness
    q = line(A, -2 * A * touch, A * touch * touch)
    assert_allclose(q.roots(), [touch], rtol=1e-12)
    assert q.type == "one point"


def test_two_gaussians_whose_scores_touch_meet_in_one_point():
    apart = gaussians([[0], [3]], [[[1]], [[4]]])
    q = apart.pair(0, 1)
    peak = -q.linear[0] / (2 * q.quadratic[0, 0]) + q.centre[0]
    touching = apart.shifted([0, q([[peak]])[0]])
    assert_allclose(touching.pair(0, 1).roots(), [peak], rtol=1e-12)
    assert_array_equal(decision_points(touching)[1], [1])


def test_roots_keep_their_digits_far_from_the_origin():
    assert_array_equal(line(1, 0, -4, centre=[1e8]).roots() - 1e8, [-2, 2])


def test_roots_are_for_one_feature():
    with pytest.raises(ValueError, match="one feature, and this has 2; its type is 'ellipse'"):
        Conic([0, 0], np.eye(2), [0, 0], -1).roots()


@pytest.mark.parametrize(
    ("coefficients", "expected"),
    [
        ((1, 0, -1), "two points"),
        ((-1, 0, 1), "two points"),
        ((1, -2, 1), "one point"),
        ((0, 2, 1), "one point"),
        ((1, 0, 1), "no point"),
        ((0, 0, 1), "no point"),
        ((0, 0, -INF), "no point"),
        ((1, 0, INF), "no point"),
        ((0, 0, 0), "everywhere"),
    ],
)
def test_types_on_the_line(coefficients, expected):
    assert line(*coefficients).type == expected


PLANE = [
    ((0, 0), (1, 2), 3, "line"),
    ((0, 0), (0, 0), 3, "empty"),
    ((0, 0), (0, 0), 0, "everywhere"),
    ((1, 0), (0, 0), -1, "parallel lines"),
    ((1, 0), (2, 0), 1, "coincident lines"),
    ((1, 0), (0, 0), 1, "empty"),
    ((1, 0), (0, 1), 1, "parabola"),
    ((1, 4), (0, 0), -1, "ellipse"),
    ((1, 4), (2, 4), 2, "point"),
    ((1, 4), (0, 0), 1, "empty"),
    ((1, 4), (0, 0), INF, "empty"),
    ((1, -4), (0, 0), 1, "hyperbola"),
    ((1, -4), (0, 0), -1, "hyperbola"),
    ((1, -1), (2, 2), 0, "crossing lines"),
    ((1, -1), (2, 0), 0, "hyperbola"),
]
SPACE = [
    ((0, 0, 0), (1, 2, 0), 3, "hyperplane"),
    ((0, 0, 0), (0, 0, 0), 3, "empty"),
    ((0, 0, 0), (0, 0, 0), 0, "everywhere"),
    ((1, 0, 0), (0, 0, 0), -1, "parallel hyperplanes"),
    ((1, 0, 0), (0, 0, 0), 0, "coincident hyperplanes"),
    ((1, 0, 0), (0, 0, 0), 1, "empty"),
    ((1, 0, 0), (0, 1, 1), 1, "cylinder"),  # parabolic
    ((1, 2, 0), (0, 0, 1), 1, "paraboloid"),
    ((1, -2, 0), (0, 0, 1), 1, "paraboloid"),
    ((1, 2, 0), (0, 0, 0), -1, "cylinder"),  # elliptic
    ((1, -2, 0), (0, 0, 0), -1, "cylinder"),  # hyperbolic
    ((1, 2, 0), (0, 0, 0), 0, "flat"),
    ((1, 2, 0), (0, 0, 0), 1, "empty"),
    ((1, -2, 0), (0, 0, 0), 0, "crossing hyperplanes"),
    ((1, 2, 3), (2, 0, 0), 0, "ellipsoid"),
    ((1, 2, 3), (2, 0, 0), 1, "point"),
    ((1, 2, 3), (2, 0, 0), 2, "empty"),
    ((1, 2, -3), (0, 0, 0), 1, "hyperboloid"),
    ((1, 2, -3), (0, 0, 0), -1, "hyperboloid"),
    ((1, 2, -3), (0, 0, 0), 0, "cone"),
    ((1, 2, -3, 0), (0, 0, 0, 0), 0, "cone"),
]


@pytest.mark.parametrize(("eigenvalues", "linear", "constant", "expected"), PLANE + SPACE)
@given(seed=seeds, factor=st.sampled_from([1, -1, 1e-12, -1e12]), log_unit=st.floats(-8, 8))
def test_the_type_survives_rotating_rescaling_shifting_and_multiplying(
    eigenvalues, linear, constant, expected, seed, factor, log_unit
):
    rng = np.random.default_rng(seed)
    d = len(eigenvalues)
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    A, b = rotation @ np.diag(eigenvalues) @ rotation.T, rotation @ np.array(linear)
    unit = 10 ** (log_unit * rng.uniform(size=d))
    q = Conic(
        centre=rng.normal(size=d) * 1e6,
        quadratic=factor * A / np.outer(unit, unit),
        linear=factor * b / unit,
        constant=factor * constant,
        scale=unit,
    )
    assert q.type == expected


@given(seeds, st.integers(2, 4), st.sampled_from(["own", "shared", "one direction"]))
def test_types_of_gaussian_boundaries_do_not_depend_on_units_or_origin(seed, d, kind):
    rng = np.random.default_rng(seed)
    means, covariances, priors = random_gaussians(rng, 2, d, shared=kind == "shared")
    if kind == "one direction":
        covariances[:] = np.eye(d)
        covariances[1, 0, 0] = 3
    unit, origin = 10 ** rng.uniform(-6, 6, size=d), rng.normal(size=d) * 100
    here = gaussians(means, covariances, priors).pair(0, 1)
    there = gaussians((means + origin) * unit, covariances * np.outer(unit, unit), priors).pair(0, 1)
    assert here.type == there.type


@pytest.mark.parametrize(
    ("means", "covariances", "priors", "expected"),
    [
        ([[0, 0], [1, 2]], [[[2, 1], [1, 3]], [[2, 1], [1, 3]]], None, "line"),
        ([[0, 0], [1, 2]], [[[1, 0.3], [0.3, 2]], [[4, 1], [1, 8]]], None, "ellipse"),
        ([[0, 0], [1, 2]], [[[1, 0], [0, 4]], [[4, 0], [0, 1]]], None, "hyperbola"),
        ([[1, 2], [1, 2]], [[[1, 0], [0, 4]], [[4, 0], [0, 1]]], None, "crossing lines"),
        ([[0, 0], [0, 2]], [[[1, 0], [0, 3]], [[4, 0], [0, 3]]], None, "parabola"),
        ([[0, 0], [1, 0]], [[[1, 0], [0, 3]], [[4, 0], [0, 3]]], None, "parallel lines"),
        ([[0, 0], [1, 0]], [[[1, 0], [0, 3]], [[4, 0], [0, 3]]], [0.01, 0.99], "empty"),
        ([[0, 0], [0, 0]], [[[1, 0], [0, 3]], [[4, 0], [0, 3]]], [1 / 3, 2 / 3], "coincident lines"),
        ([[0, 0], [0, 0]], [[[1, 0], [0, 1]], [[4, 0], [0, 4]]], [0.2, 0.8], "point"),
        ([[0, 0], [0, 0]], [[[1, 0], [0, 1]], [[4, 0], [0, 4]]], [0.1, 0.9], "empty"),
        ([[0, 0], [0, 0]], [[[2, 1], [1, 3]], [[2, 1], [1, 3]]], None, "everywhere"),
        ([[0, 0], [0, 0]], [[[2, 1], [1, 3]], [[2, 1], [1, 3]]], [0.4, 0.6], "empty"),
    ],
)
def test_types_of_boundaries_between_two_gaussians_in_the_plane(means, covariances, priors, expected):
    scores = gaussians(means, covariances, priors)
    assert scores.pair(0, 1).type == scores.pair(1, 0).type == expected


def test_a_class_of_prior_zero_has_no_boundary():
    scores = gaussians([[0, 0], [1, 2], [3, 3]], [np.eye(2)] * 3).shifted([0, -INF, -INF])
    assert [scores.pair(*pair).type for pair in ((0, 1), (1, 0), (1, 2))] == ["empty"] * 3


# --- decision points ---


def winners_on(grid, points, labels):
    return labels[np.searchsorted(points, grid)]


@given(seeds, st.integers(2, 5), st.sampled_from(["own", "shared", "paired"]))
def test_decision_points_are_where_the_argmax_changes(seed, K, kind):
    rng = np.random.default_rng(seed)
    means, covariances, priors = random_gaussians(rng, K, 1, shared=kind == "shared")
    if kind == "paired":
        covariances[1] = covariances[0]
    scores = gaussians(means, covariances, priors)
    points, labels = decision_points(scores)
    assert len(labels) == len(points) + 1
    assert (np.diff(points) > 0).all()
    assert (np.diff(labels) != 0).all()
    grid = np.linspace(-30, 30, 20_011)
    grid = grid[np.abs(grid[:, None] - points).min(axis=1, initial=INF) > 1e-6]
    assert_array_equal(winners_on(grid, points, labels), scores(grid[:, None]).argmax(axis=1))


@given(seeds, st.integers(2, 5))
def test_at_a_decision_point_its_two_classes_tie_and_no_third_is_larger(seed, K):
    rng = np.random.default_rng(seed)
    scores = gaussians(*random_gaussians(rng, K, 1))
    points, labels = decision_points(scores)
    values = scores(points[:, None])
    left = np.take_along_axis(values, labels[:-1, None], axis=1)
    right = np.take_along_axis(values, labels[1:, None], axis=1)
    assert_allclose(left, right, rtol=1e-9, atol=1e-9)
    assert (values <= left + 1e-9 * (1 + np.abs(left))).all()


small = st.integers(-3, 3)


@given(st.lists(st.tuples(small, small, small), min_size=1, max_size=6))
def test_decision_points_are_exact_where_curves_touch_meet_and_coincide(curves):
    A, b, a = np.array(curves, float).T
    points, labels = decision_points(QuadraticScores([0], A[:, None, None], b[:, None], a))
    assert (np.diff(points) > 0).all()
    assert (np.diff(labels) != 0).all()
    for x in [Fraction(i, 37) for i in range(-600, 600)] + [Fraction(-(10**9)), Fraction(10**9)]:
        if np.abs(float(x) - points).min(initial=INF) > 1e-9:
            values = [A * x * x + b * x + a for A, b, a in curves]
            # Curves that only touch tie in one point, which is no interval.
            assert values[winners_on(float(x), points, labels)] == max(values)
            if values.count(max(values)) == 1 or len(set(curves)) == 1:
                assert winners_on(float(x), points, labels) == values.index(max(values))


def test_three_classes_may_meet_in_one_point():
    points, labels = decision_points(QuadraticScores([0], [[-1]], [[-2], [0], [2]], [-1, -1, -1]))
    assert_array_equal(points, [0])
    assert_array_equal(labels, [0, 2])


@given(st.floats(0.1, 10), st.floats(-5, 5), st.permutations(range(4)))
def test_many_classes_meeting_up_to_rounding_make_one_point(steepness, meeting, order):
    slopes = steepness * np.array([-1.3, -0.4, 0.7, 1.1])[list(order)]
    scores = QuadraticScores([0], [[-0.5]], slopes[:, None], -slopes * meeting + 0.1)
    points, labels = decision_points(scores)
    assert_allclose(points, [meeting], atol=1e-10)
    assert_array_equal(labels, [slopes.argmin(), slopes.argmax()])


def test_the_ends_are_decided_by_leading_coefficients():
    scores = gaussians([[-1], [1]], [[[1.0]], [[1.0 + 1e-9]]])
    points, labels = decision_points(scores)
    assert_allclose(points, [-4e9, 0], rtol=1e-6, atol=1e-8)
    assert_array_equal(labels, [1, 0, 1])


def test_a_class_of_prior_zero_never_wins():
    scores = gaussians([[0], [5], [10]], [[[1]], [[9]], [[1]]])
    points, labels = decision_points(scores.shifted([0, -INF, 0]))
    assert_allclose(points, [5])
    assert_array_equal(labels, [0, 2])
    points, labels = decision_points(scores.shifted([-INF] * 3))
    assert points.shape == (0,)
    assert_array_equal(labels, [0])


def test_of_identical_classes_the_first_wins():
    scores = gaussians([[5], [0], [5], [0]], [[[1]], [[2]], [[1]], [[2]]])
    points, labels = decision_points(scores)
    assert_array_equal(labels, [1, 0, 1])
    assert_array_equal(points, scores.pair(0, 1).roots())


@given(seeds, st.integers(2, 5), st.floats(-8, 8))
def test_decision_points_follow_a_change_of_units_and_origin(seed, K, log_unit):
    rng = np.random.default_rng(seed)
    means, covariances, priors = random_gaussians(rng, K, 1)
    unit, origin = 10**log_unit, 1e3
    points, labels = decision_points(gaussians(means, covariances, priors))
    moved, moved_labels = decision_points(gaussians((means + origin) * unit, covariances * unit**2, priors))
    assert_array_equal(moved_labels, labels)
    assert_allclose(moved / unit - origin, points, rtol=1e-6, atol=1e-7)


def test_decision_points_are_for_one_feature():
    with pytest.raises(ValueError, match="need one feature, not 2"):
        decision_points(gaussians([[0, 0], [1, 2]], [np.eye(2)] * 2))
