"""Curves from their equations: every point satisfies it, and every change of sign is on one of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posterior.forms import Conic, QuadraticScores
from posterior.plot.boundary import Window, analytic_boundary, conic_curves
from posterior.plot.ellipses import class_ellipses

WINDOW = Window(np.array([-3.0, -2.0]), np.array([5.0, 4.0]))

CONICS = {
    "ellipse": ([[1.0, 0.3], [0.3, 0.5]], [0.2, -0.1], -2.0),
    "hyperbola": ([[1.0, 0.3], [0.3, -0.5]], [0.2, -0.1], -0.4),
    "hyperbola of the other kind": ([[1.0, 0.3], [0.3, -0.5]], [0.2, -0.1], 0.4),
    "hyperbola without squares": ([[0.0, 1.0], [1.0, 0.0]], [0.0, 0.0], -0.3),
    "parabola": ([[1.0, 0.0], [0.0, 0.0]], [0.0, -1.0], -1.0),
    "parabola aslant": ([[1.0, 1.0], [1.0, 1.0]], [1.0, -2.0], -1.0),
    "line": ([[0.0, 0.0], [0.0, 0.0]], [1.0, -2.0], 0.7),
    "upright line": ([[0.0, 0.0], [0.0, 0.0]], [1.0, 0.0], 0.7),
    "parallel lines": ([[1.0, 0.0], [0.0, 0.0]], [0.0, 0.0], -1.0),
    "crossing lines": ([[1.0, 0.0], [0.0, -1.0]], [0.0, 0.0], 0.0),
    "nearly a line": ([[1e-7, 0.0], [0.0, 2e-7]], [1.0, 0.3], 0.7),
    "a huge circle": ([[1e-9, 0.0], [0.0, 1e-9]], [1.0, 0.0], -0.5),
    "a thin ellipse": ([[1.0, 0.0], [0.0, 1e-4]], [0.0, 0.0], -0.25),
}


def drawn(conic, window=WINDOW):
    """Points of the curves of a conic that lie in the window."""
    t = np.linspace(0, 1, 801)
    points = np.concatenate([np.empty((0, 2)), *(curve(t) for curve in conic_curves(conic, window))])
    return points[window.holds(points)]


def sign_changes(values, xs, ys):
    """Middles of the edges of a grid along which values (len(ys), len(xs)) change."""
    middles = []
    for i, j in zip(*np.nonzero(values[:, 1:] != values[:, :-1]), strict=True):
        middles.append([(xs[j] + xs[j + 1]) / 2, ys[i]])
    for i, j in zip(*np.nonzero(values[1:] != values[:-1]), strict=True):
        middles.append([xs[j], (ys[i] + ys[i + 1]) / 2])
    return np.array(middles).reshape(-1, 2)


def assert_every_change_is_drawn(changes, points, xs, ys):
    """Every change lies within a step of the grid and a gap between two points of a drawn one."""
    step = np.array([xs[1] - xs[0], ys[1] - ys[0]])
    for change in changes:
        assert (np.abs((points - change) / step).max(axis=1)).min() < 2.0, change


def of(A, b, a, centre=(0.0, 0.0)):
    return Conic(np.array(centre), np.array(A), np.array(b), a)


@pytest.mark.parametrize("name", CONICS)
def test_a_curve_satisfies_the_equation_of_its_conic(name):
    conic = of(*CONICS[name])
    points = drawn(conic)
    assert len(points) > 10
    np.testing.assert_allclose(conic(points), 0.0, atol=1e-9)


@pytest.mark.parametrize("name", CONICS)
def test_wherever_a_conic_changes_sign_a_curve_is_drawn(name):
    conic, (xs, ys) = of(*CONICS[name]), WINDOW.axes(41)
    grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    changes = sign_changes((conic(grid) > 0).reshape(41, 41), xs, ys)
    assert_every_change_is_drawn(changes, drawn(conic), xs, ys)


numbers = st.floats(-3, 3, allow_nan=False).map(lambda v: round(v, 3))


@given(st.tuples(*[numbers] * 6))
def test_random_conics_are_drawn_where_they_change_sign_and_nowhere_else(six):
    p, q, r, b1, b2, a = six
    conic = of([[p, q], [q, r]], [b1, b2], a)
    points, (xs, ys) = drawn(conic), WINDOW.axes(25)
    np.testing.assert_allclose(conic(points), 0.0, atol=1e-8)
    values = conic(np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)).reshape(25, 25)
    # A double root of rounding size is no change.
    firm = np.where(np.abs(values) < 1e-9, 0.0, np.sign(values))
    changes = sign_changes(firm, xs, ys) if (firm != 0).all() else np.empty((0, 2))
    assert_every_change_is_drawn(changes, points, xs, ys)


@pytest.mark.parametrize(
    ("A", "b", "a"),
    [
        ([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0], 1.0),
        (np.zeros((2, 2)), [0.0, 0.0], 1.0),
        (np.eye(2), [1.0, 0.0], np.inf),
    ],
)
def test_a_conic_without_real_points_has_no_curve(A, b, a):
    assert conic_curves(of(A, b, a), WINDOW) == []


def test_an_offset_of_a_hundred_million_changes_nothing():
    far = 1e8
    near, away = of(*CONICS["ellipse"]), of(*CONICS["ellipse"], centre=(far, far))
    shifted = Window(WINDOW.low + far, WINDOW.high + far)
    assert drawn(away, shifted).shape == drawn(near).shape
    np.testing.assert_allclose(drawn(away, shifted) - far, drawn(near), atol=1e-6)


def test_the_lines_of_three_classes_meet_in_one_point():
    scores = QuadraticScores(np.zeros(2), np.zeros((2, 2)), [[1, 0], [-1, 0], [0, 1]], [0, 0, 0])
    for piece in analytic_boundary(scores, WINDOW):
        assert np.linalg.norm(piece.points, axis=1).min() < 1e-6


def test_scores_that_are_no_log_densities_have_no_ellipses():
    saddle = QuadraticScores(np.zeros(2), [[[1.0, 0.0], [0.0, -1.0]]] * 2, np.zeros((2, 2)), [0, 0])
    assert class_ellipses(saddle) == []
