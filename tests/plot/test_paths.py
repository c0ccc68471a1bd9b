"""Pictures of solvers show their own paths on the objective that they minimise."""

import matplotlib as mpl
import numpy as np
import pyarrow as pa
import pytest
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss

from posterior import LDA, LinearRegression, LogisticRegression
from posterior.linear import GradientDescent, Newton
from posterior.plot import SolverPathDisplay

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def flowers(n_columns=2, n_classes=2):
    """Standardised columns of the last classes of the irises, which overlap."""
    X, y = load_iris(return_X_y=True)
    X, y = X[y >= 3 - n_classes, -n_columns:], y[y >= 3 - n_classes]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


ONE, TWO, FOUR = flowers(1), flowers(2), flowers(4, 3)


def penalised(X, y, w, b, C=1.0):
    """The objective by hand: mean log loss of two classes plus the ridge."""
    p = 1 / (1 + np.exp(-(X @ w + b)))
    return log_loss(y, p) + (w @ w) / (2 * C * len(y))


def test_the_surface_is_the_objective_of_the_estimator():
    X, y = ONE
    display = SolverPathDisplay.from_estimator(LogisticRegression(C=2.0), X, y, resolution=5)
    assert display.plane.whole
    assert display.plane.labels == ("x0", "(intercept)")
    wanted = [[penalised(X, y, np.array([w]), b, 2.0) for w in display.across] for b in display.up]
    np.testing.assert_allclose(display.surface, wanted, rtol=1e-12)


def test_others_are_at_their_optimum_on_a_plane_of_two_terms():
    X, y = TWO
    display = SolverPathDisplay.from_estimator(LogisticRegression(), X, y, terms=["x1", "x0"], resolution=5)
    b = LogisticRegression().fit(X, y).intercept_[0]
    wanted = [[penalised(X, y, np.array([u, a]), b) for a in display.across] for u in display.up]
    np.testing.assert_allclose(display.surface, wanted, rtol=1e-9)


@pytest.mark.parametrize("rows", [ONE, TWO, FOUR], ids=["one column", "two columns", "three classes"])
@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_every_path_begins_at_zero_and_ends_at_the_optimum(rows, solver):
    X, y = rows
    display = SolverPathDisplay.from_estimator(LogisticRegression(), X, y, solvers=[solver], resolution=4)
    (path,) = display.paths
    model = LogisticRegression().fit(X, y)
    coef, intercept = model.coef_, model.intercept_
    if len(coef) > 1:  # the surface is one of log odds against the first class
        coef, intercept = coef[1:] - coef[0], intercept[1:] - intercept[0]
    np.testing.assert_allclose(path.theta[0], 0.0, atol=1e-12)
    np.testing.assert_allclose(path.theta[-1], np.column_stack([coef, intercept]).ravel(), rtol=1e-5)
    assert path.gap[-1] < 1e-12
    assert path.arrived


def test_gaps_are_the_objective_at_the_places_less_its_minimum():
    X, y = TWO
    display = SolverPathDisplay.from_estimator(LogisticRegression(), X, y, resolution=4)
    for path in display.paths:
        values = np.array([penalised(X, y, theta[:2], theta[2]) for theta in path.theta])
        np.testing.assert_allclose(path.gap, values - display.minimum, atol=1e-12)
        assert (np.diff(path.gap) < 1e-12).all()


def test_the_path_is_that_of_the_solution():
    X, y = TWO
    solver = GradientDescent(step=0.5, max_iter=20)
    display = SolverPathDisplay.from_estimator(LogisticRegression(), X, y, solvers=[solver], resolution=4)
    with pytest.warns(UserWarning, match="stopped after 20 steps"):
        model = LogisticRegression(solver=GradientDescent(step=0.5, max_iter=20, path=True)).fit(X, y)
    places = np.array([step.theta for step in model.solution_.path])
    np.testing.assert_allclose(display.paths[0].theta, places, atol=1e-12)
    assert display.paths[0].words == "gradient descent, 20 steps, not there yet"


def test_newton_doubles_the_digits_and_gradient_descent_does_not():
    X, y = TWO
    display = SolverPathDisplay.from_estimator(LogisticRegression(), X, y, resolution=4)
    descent, newton = display.paths
    near = np.log10(newton.gap[(newton.gap < 1e-2) & (newton.gap > 1e-9)])
    assert (near[1:] / near[:-1] > 1.5).all()
    late = descent.gap[(descent.gap < 1e-4) & (descent.gap > 1e-9)]
    assert (late[1:] / late[:-1] > 0.5).all()
    assert len(newton.gap) < 10 < len(descent.gap)


def test_lines_are_the_shadows_of_the_paths_and_their_gaps():
    X, y = FOUR
    display = SolverPathDisplay.from_estimator(LogisticRegression(), X, y, resolution=6).plot()
    lines = display.ax_.lines
    for path, line in zip(display.paths, lines, strict=False):
        np.testing.assert_allclose(line.get_xydata(), display.plane.shadow(path.theta))
    np.testing.assert_allclose(lines[-1].get_xydata()[0], display.plane.shadow(display.optimum))
    for path, line in zip(display.paths, display.gap_ax_.lines, strict=True):
        seen = path.gap > 1e-15
        np.testing.assert_array_equal(line.get_ydata()[seen], path.gap[seen])
        np.testing.assert_array_equal(line.get_xdata(), np.arange(len(path.gap)))
    assert display.gap_ax_.get_yscale() == "log"


def test_the_plane_holds_the_start_and_the_optimum_and_its_axes_are_at_right_angles():
    X, y = FOUR
    display = SolverPathDisplay.from_estimator(LogisticRegression(), X, y, resolution=4)
    plane, start = display.plane, display.paths[0].theta[0]
    np.testing.assert_allclose(plane.axes @ plane.axes.T, np.eye(2), atol=1e-12)
    for place in (start, display.optimum):
        across, up = plane.shadow(place)
        np.testing.assert_allclose(plane.at(np.array([across]), np.array([up]))[0, 0], place, atol=1e-9)
    assert display.surface.min() >= display.minimum


def test_terms_of_more_than_two_classes_are_pairs():
    X, y = FOUR
    terms = [(1, "x0"), (2, "x3")]
    display = SolverPathDisplay.from_estimator(LogisticRegression(), X, y, terms=terms, resolution=4)
    coef = LogisticRegression().fit(X, y).coef_
    wanted = [coef[1, 0] - coef[0, 0], coef[2, 3] - coef[0, 3]]
    np.testing.assert_allclose(display.plane.shadow(display.optimum), wanted, rtol=1e-5)
    assert display.plane.labels == ("x0 (1)", "x3 (2)")


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (LogisticRegression(l1_ratio=1.0), ["proximal Newton"]),
        (LogisticRegression(penalty="firth"), ["Fisher scoring"]),
        (LogisticRegression(fit_intercept=False), ["gradient descent", "Newton"]),
        (LogisticRegression(C="auto"), ["gradient descent", "Newton"]),
    ],
    ids=["lasso", "firth", "no intercept", "chosen penalty"],
)
def test_penalties_of_any_kind_have_paths_to_their_optimum(model, names):
    X, y = TWO
    display = SolverPathDisplay.from_estimator(model, X, y, resolution=4).plot()
    assert [path.name for path in display.paths] == names
    assert display.paths[-1].gap[-1] < 1e-12


def test_a_regression_and_a_table_of_any_kind_can_be_drawn():
    X, y = TWO
    table = pa.table({"a": X[:, 0], "price in $": X[:, 1]})
    display = SolverPathDisplay.from_estimator(
        LinearRegression(), table, X[:, 0] + y, terms=["a", "price in $"], resolution=4
    ).plot()
    assert display.ax_.get_ylabel() == "price in \\$"
    assert display.paths[-1].gap[-1] < 1e-12


def test_columns_that_are_brought_to_one_scale_are_drawn_in_it():
    X, y = TWO
    terms = ["x0", "x1"]
    even = SolverPathDisplay.from_estimator(LogisticRegression(), X, y, terms=terms, resolution=4)
    scaled = SolverPathDisplay.from_estimator(
        LogisticRegression(standardize=True), X * [1e3, 1e-3] + 5.0, y, terms=terms, resolution=4
    )
    np.testing.assert_allclose(even.optimum[:2], scaled.optimum[:2], rtol=1e-5)
    assert scaled.paths[1].gap[-1] < 1e-12


def test_a_mapping_names_the_solvers():
    X, y = TWO
    solvers = {"short": GradientDescent(step=0.1, max_iter=5), "long": GradientDescent(step=1.0, max_iter=5)}
    display = SolverPathDisplay.from_estimator(LogisticRegression(), X, y, solvers=solvers, resolution=4)
    assert [path.name for path in display.paths] == ["short", "long"]


def test_one_axes_gets_the_surface_and_two_get_both():
    X, y = ONE
    display = SolverPathDisplay.from_estimator(LogisticRegression(), X, y, resolution=4)
    figure, (left, right) = plt.subplots(1, 2)
    assert display.plot(left).gap_ax_ is None
    assert display.ax_ is left
    display.plot((left, right))
    assert display.gap_ax_ is right
    assert display.figure_ is figure


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"terms": ["x0", "x9"]}, "two different ones of 'x0', 'x1', .*; found"),
        ({"terms": ["x0", "x0"]}, "two different ones"),
        ({"solvers": ["auto"]}, '"auto" is none'),
        ({"solvers": []}, "must name solvers"),
    ],
    ids=["unknown term", "one term", "auto", "none"],
)
def test_bad_settings_are_refused(settings, match):
    with pytest.raises(ValueError, match=match):
        SolverPathDisplay.from_estimator(LogisticRegression(), *TWO, **settings)


def test_what_has_no_path_or_no_optimum_is_refused():
    X, y = TWO
    with pytest.raises(TypeError, match="is not fitted by steps"):
        SolverPathDisplay.from_estimator(LDA(), X, y)
    with pytest.raises(ValueError, match="classes are separated"):
        SolverPathDisplay.from_estimator(LogisticRegression(C=np.inf), X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="needs two coefficients"):
        SolverPathDisplay.from_estimator(LogisticRegression(fit_intercept=False), X[:, :1], y)


def test_the_estimator_itself_stays_as_it_is():
    model = LogisticRegression(solver=Newton())
    SolverPathDisplay.from_estimator(model, *ONE, resolution=4)
    assert not hasattr(model, "model_")
    assert model.solver == Newton()
