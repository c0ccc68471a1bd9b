"""Densities of one feature: areas, posteriors and decision points are those of the model."""

import numpy as np
import pytest

from posterior import (
    LDA,
    QDA,
    GenerativeClassifier,
    LeastSquaresClassifier,
    LogisticRegression,
    NaiveBayes,
)
from posterior.datasets import load_penguins
from posterior.families import Exponential, Laplace, MixtureOfNormals, MultivariateNormal, NormalDistribution
from posterior.forms import QuadraticScores, decision_points

matplotlib = pytest.importorskip("matplotlib", reason="pictures need matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402 -- after the backend is chosen

from posterior.plot import DensityDisplay  # noqa: E402
from posterior.plot.densities import _changes  # noqa: E402
from posterior.plot.style import colours_of  # noqa: E402


@pytest.fixture(autouse=True)
def _no_figure_is_left_open():
    yield
    plt.close("all")


def normals(mean, variance, priors):
    """A model of one feature from its parameters."""
    columns = NormalDistribution([[m] for m in mean], [[v] for v in variance])
    labels = [f"class {k}" for k in range(len(mean))]
    return GenerativeClassifier.from_distributions(labels, priors, [("x", columns)])


CASES = {
    "one point far away": ([0.0, 0.1], [1.0, 1.0], [0.999, 0.001], 1),
    "no point": ([0.0, 0.0], [1.0, 0.5], [0.9, 0.1], 0),
    "one point": ([0.0, 3.0], [1.0, 1.0], [0.5, 0.5], 1),
    "two points": ([0.0, 0.5], [1.0, 9.0], [0.5, 0.5], 2),
    "three classes": ([0.0, 3.0, 1.0], [1.0, 1.0, 30.0], [0.4, 0.4, 0.2], 3),
}


@pytest.mark.parametrize("name", CASES)
def test_decision_points_are_the_roots_and_the_posterior_ties_there(name):
    mean, variance, priors, n_points = CASES[name]
    model = normals(mean, variance, priors)
    display = DensityDisplay.from_estimator(model)
    assert len(display.decision_points_) == n_points
    np.testing.assert_array_equal(display.decision_points_, model.decision_points()[0])
    np.testing.assert_array_equal(display.classes[display.winners_], model.decision_points()[1])
    if n_points:
        ranked = np.sort(model.predict_proba(display.decision_points_[:, None]), axis=1)
        np.testing.assert_allclose(ranked[:, -1], ranked[:, -2], atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_roots_found_by_halving_are_those_of_the_formula(name):
    mean, variance, priors, _ = CASES[name]
    model = normals(mean, variance, priors)
    x = np.linspace(-80.0, 80.0, 2001)
    winners = model.predict_log_proba(x[:, None]).argmax(axis=1)
    points, found = _changes(model.predict_log_proba, x, winners)
    np.testing.assert_allclose(points, [p for p in model.decision_points()[0] if abs(p) < 80], atol=1e-9)
    assert (np.diff(found) != 0).all()


def test_a_class_that_wins_between_two_points_of_the_grid_is_found():
    narrow = normals([0.0, 5.0, 10.0], [1.0, 1e-6, 1.0], [0.45, 0.1, 0.45])
    x = np.array([0.0, 10.0])
    points, winners = _changes(narrow.predict_log_proba, x, np.array([0, 2]))
    np.testing.assert_array_equal(winners, [0, 1, 2])
    np.testing.assert_allclose(points, decision_points_between(narrow, 0, 10), atol=1e-9)


def decision_points_between(model, low, high):
    points = model.decision_points()[0]
    return points[(points > low) & (points < high)]


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(tied=False, weights=1.0),
        GenerativeClassifier(
            [(["bill_length_mm", "bill_depth_mm", "body_mass_g"], MultivariateNormal())], remainder="auto"
        ),
        GenerativeClassifier([(["bill_length_mm", "body_mass_g"], MixtureOfNormals(2))]),
        NaiveBayes(families={"continuous": Laplace()}, tied=False, weights=1.0),
    ],
    ids=["naive Bayes", "a Gaussian block", "a mixture", "Laplace"],
)
def test_a_marginal_density_has_area_one_and_its_posterior_is_that_of_rows_with_gaps(model):
    import pyarrow as pa

    table = load_penguins("pyarrow")
    rows = table.X.filter(pa.array(~np.isnan(table.X["body_mass_g"].to_numpy())))
    y = np.array(table.y.to_pylist())[~np.isnan(table.X["body_mass_g"].to_numpy())]
    model.fit(rows, y)
    display = DensityDisplay.from_estimator(model, rows, y, feature="body_mass_g")
    wide = DensityDisplay.from_estimator(model, feature="body_mass_g", at={})
    far = np.linspace(-3e4, 4e4, 200_001)
    # The same picture over a range that holds all of every class.
    log_density = np.stack([np.interp(far, wide.x, np.exp(d), 0, 0) for d in wide.log_density.T], axis=1)
    np.testing.assert_allclose(log_density.sum(axis=0) * (far[1] - far[0]), 1.0, atol=0.01)
    columns = {
        name: pa.array([None] * len(display.x), type=rows.schema.field(name).type)
        for name in rows.column_names
    }
    gappy = pa.table(columns | {"body_mass_g": display.x})
    np.testing.assert_allclose(display.log_proba, model.predict_log_proba(gappy), atol=1e-8)
    for point, (a, b) in zip(
        display.decision_points_, zip(display.winners_, display.winners_[1:], strict=False), strict=True
    ):
        here = np.array([[point]])
        one = pa.table({n: c.slice(0, 1) for n, c in columns.items()} | {"body_mass_g": here[0]})
        logs = model.predict_log_proba(one)[0]
        assert abs(logs[a] - logs[b]) < 1e-6
        assert logs.max() <= logs[a] + 1e-6


def test_a_density_of_one_side_is_drawn_without_warning():
    rng = np.random.default_rng(0)
    X = rng.exponential([[1.0]] * 60 + [[4.0]] * 60)
    y = np.repeat(["short", "long"], 60)
    model = NaiveBayes(families={"continuous": Exponential()}, tied=False, weights=1.0).fit(X, y)
    display = DensityDisplay.from_estimator(model, X, y).plot()
    display.figure_.canvas.draw()
    assert display.x[0] >= 0  # below zero no class is possible
    rate = 1 / model.model_.blocks[0].distribution.mean[:, 0]
    crossing = np.log(rate[1] / rate[0]) / (rate[1] - rate[0])
    np.testing.assert_allclose(display.decision_points_, [crossing], rtol=1e-9)


def test_the_picture_shows_densities_times_priors_the_posterior_and_the_points():
    table = load_penguins("pyarrow")
    model = NaiveBayes(tied=False, weights=1.0).fit(table.X, table.y)
    display = DensityDisplay.from_estimator(model, table.X, table.y, feature="flipper_length_mm").plot()
    above, below = display.axes_
    curves = {line.get_color(): line.get_ydata() for line in above.lines[:3]}
    assert list(curves) == colours_of(display.classes)
    for k, curve in enumerate(curves.values()):
        np.testing.assert_allclose(curve, np.exp(display.log_density[:, k]) * model.priors_[k])
    posterior = np.array([line.get_ydata() for line in below.lines[:3]])
    np.testing.assert_allclose(posterior.sum(axis=0), 1.0)
    x = display.x
    inside = [p for p in display.decision_points_ if x[0] < p < x[-1]]
    assert [line.get_xdata()[0] for line in below.lines[3:]] == inside
    assert [text.get_text() for text in below.texts] == [f"{p:.4g}" for p in inside]
    assert below.get_xlabel() == "flipper_length_mm"
    assert [t.get_text() for t in below.get_legend().get_texts()] == ["Adelie", "Chinstrap", "Gentoo"]
    assert display.ax_ is above


def test_histograms_have_the_area_of_the_prior():
    table = load_penguins("pyarrow")
    model = NaiveBayes(priors="uniform", tied=False, weights=1.0).fit(table.X, table.y)
    display = DensityDisplay.from_estimator(model, table.X, table.y, feature="body_mass_g").plot()
    areas = [np.sum(p.get_data().values * np.diff(p.get_data().edges)) for p in display.axes_[0].patches]
    np.testing.assert_allclose(areas, 1 / 3)


def test_a_model_without_densities_shows_its_rows_and_its_posterior():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, 30), rng.normal(2, 1, 30)])[:, None]
    y = np.repeat(["a", "b"], 30)
    model = LogisticRegression().fit(X, y)
    display = DensityDisplay.from_estimator(model, X, y).plot()
    assert display.log_density is None
    np.testing.assert_allclose(display.decision_points_, -model.intercept_ / model.coef_[0])
    np.testing.assert_allclose(display.log_proba, model.predict_log_proba(display.x[:, None]), atol=1e-9)
    assert display.axes_[0].get_ylabel() == "density of the rows"
    assert len(display.axes_[0].patches) == 2


def test_a_logistic_model_of_more_columns_is_held_at_the_median():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=80) > 0
    model = LogisticRegression().fit(X, y)
    display = DensityDisplay.from_estimator(model, X, y, feature="x0")
    middle = np.column_stack([display.x, np.full(len(display.x), np.median(X[:, 1]))])
    np.testing.assert_allclose(display.log_proba, model.predict_log_proba(middle), atol=1e-9)
    assert display.others == f"at x1 = {np.median(X[:, 1]):.4g}"


def test_predictions_are_drawn_and_their_points_interpolated():
    scores = QuadraticScores([0.0], [[-0.5]], [[0.0], [3.0]], [0.0, -4.5])
    x = np.linspace(-4, 7, 23)
    display = DensityDisplay.from_predictions(
        x, scores(x[:, None]), [0.0, 0.0], ["a", "b"], feature="u"
    ).plot()
    np.testing.assert_allclose(display.decision_points_, decision_points(scores)[0], atol=1e-9)
    np.testing.assert_array_equal(display.winners_, [0, 1])
    impossible = np.where(x[:, None] < [[1.0, 3.0]], -np.inf, 0.0)
    steps = DensityDisplay.from_predictions(x, impossible, np.log([0.4, 0.6]), ["a", "b"])
    assert np.isfinite(steps.decision_points_).all()


@pytest.mark.parametrize(
    ("x", "density", "prior", "words"),
    [
        ([0.0, 1.0], np.zeros((2, 3)), np.zeros(2), "every x and every class"),
        ([1.0, 0.0], np.zeros((2, 2)), np.zeros(2), "rising"),
        ([0.0, 1.0], np.full((2, 2), np.nan), np.zeros(2), "NaN"),
    ],
)
def test_predictions_that_do_not_fit_are_refused(x, density, prior, words):
    with pytest.raises(ValueError, match=words):
        DensityDisplay.from_predictions(x, density, prior, ["a", "b"])


def test_what_cannot_be_shown_is_refused_with_a_reason():
    table = load_penguins("pyarrow")
    model = NaiveBayes(tied=False, weights=1.0).fit(table.X, table.y)
    with pytest.raises(ValueError, match="name one feature"):
        DensityDisplay.from_estimator(model)
    with pytest.raises(ValueError, match="column 'sex' is categorical"):
        DensityDisplay.from_estimator(model, feature="sex")
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    with pytest.raises(ValueError, match="cannot integrate columns out: pass X"):
        DensityDisplay.from_estimator(LogisticRegression().fit(X, y))
    with pytest.raises(ValueError, match="has no densities: pass X and y"):
        DensityDisplay.from_estimator(LogisticRegression().fit(X, y), X)
    with pytest.raises(ValueError, match="has no posterior to show"):
        DensityDisplay.from_estimator(LeastSquaresClassifier().fit(X, y), X, y)


def test_axes_may_be_none_one_or_two():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 1)), np.arange(20) % 2
    display = DensityDisplay.from_estimator(LDA().fit(X, y), X, y)
    before = dict(matplotlib.rcParams)
    figure, axes = plt.subplots(1, 2)
    display.plot(ax=axes[0])
    assert display.figure_ is figure
    assert not axes[0].axison
    assert len(figure.axes) == 4
    display.plot(ax=axes)
    assert list(display.axes_) == list(axes)
    with pytest.raises(ValueError, match="needs 2 axes, found 1"):
        display.plot(ax=[axes[0]])
    display.plot()
    assert display.figure_ is not figure
    assert dict(matplotlib.rcParams) == before


def test_the_range_without_rows_holds_every_class():
    model = normals([0.0, 100.0], [1.0, 25.0], [0.9, 0.1])
    x = DensityDisplay.from_estimator(model).x
    np.testing.assert_allclose(x[[0, -1]], [-4.0, 120.0])
    rows = np.array([[0.0], [1.0], [5.0], [9.0]])
    display = DensityDisplay.from_estimator(QDA().fit(rows, [0, 0, 1, 1]), rows, [0, 0, 1, 1])
    assert display.x[0] < 0
    assert display.x[-1] > 9
