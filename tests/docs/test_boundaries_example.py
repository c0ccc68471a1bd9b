"""The example of linear boundaries: the facts it shows, and that it draws."""

import numpy as np
import pytest

from places import REPOSITORY, module_from
from posterior import LogisticRegression


@pytest.fixture(scope="module")
def example():
    return module_from(REPOSITORY / "examples" / "boundaries.py")


def test_points_far_on_the_right_side_drag_least_squares_and_not_logistic_regression(example):
    for far, dragged in ((False, False), (True, True)):
        squares, logistic = example.lines(far)
        assert (example.errors(squares, far) > 0) == dragged
        assert example.errors(logistic, far) == 0


def test_the_points_that_least_squares_gets_wrong_are_not_the_far_ones(example):
    X, y = example.clouds(True)
    wrong = example.lines(True)[0].predict(X) != y
    assert np.abs(X[wrong]).max() < 5 < np.abs(X[-12:]).max(axis=1).min()


def test_both_solvers_walk_from_zero_to_the_same_optimum_and_newton_takes_fewer_steps(example):
    paths = example.descents()[0]
    slow, quick = paths["GradientDescent"], paths["Newton"]
    best = LogisticRegression(C=np.inf, fit_intercept=False).fit(*example.adelies())
    for path in (slow, quick):
        np.testing.assert_array_equal(path[0], [0.0, 0.0])
        np.testing.assert_allclose(path[-1], best.coef_[0], atol=1e-6)
    assert 10 * len(quick) < len(slow)
    length = [np.linalg.norm(np.diff(path, axis=0), axis=1).sum() for path in (quick, slow)]
    assert length[0] < length[1]


def test_every_recorded_step_goes_down_the_surface_that_is_drawn(example):
    paths, objective = example.descents()
    for path in paths.values():
        heights = [example.surface(objective, [a], [b])[0, 0] for a, b in path[:20]]
        assert (np.diff(heights) < 1e-14).all()


def test_lda_and_logistic_regression_have_one_form_and_two_estimates(example):
    lda, logistic, X, y = example.bills()
    assert lda.coef_.shape == logistic.coef_.shape == (1, 2)
    assert np.abs(lda.coef_ - logistic.coef_).max() > 0.5
    for model in (lda, logistic):
        score = X.to_numpy() @ model.coef_[0] + model.intercept_[0]
        np.testing.assert_allclose(score, model.decision_function(X), rtol=1e-9, atol=1e-9)
        assert model.score(X, y) > 0.96
    assert (lda.predict(X) == logistic.predict(X)).mean() > 0.97


@pytest.mark.long
def test_it_prints_the_numbers_and_draws_the_same_file_twice(example, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="drawing is optional and needs matplotlib")
    for name in ("first.svg", "second.svg"):
        example.main(tmp_path / name)
    printed = capsys.readouterr().out
    assert "logistic regression         -24.09        2.201      -3.978" in printed
    assert "LDA                         -36.73        1.545      -1.727" in printed
    first, second = ((tmp_path / name).read_bytes() for name in ("first.svg", "second.svg"))
    assert b"<svg" in first
    assert first == second
    assert b"<dc:date>" not in first


def test_a_png_is_drawn_where_it_is_asked_for(example, tmp_path):
    pytest.importorskip("matplotlib", reason="drawing is optional and needs matplotlib")
    example.draw(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
