"""Decision regions: a boundary is where classes change, shades are posteriors, ellipses hold their share."""

import numpy as np
import pytest
from sklearn.model_selection import FixedThresholdClassifier

from posterior import (
    LDA,
    QDA,
    AdditiveClassifier,
    DecisionClassifier,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    GenerativeClassifier,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
)
from posterior.datasets import load_penguins
from posterior.families import (
    Categorical,
    MixtureOfNormals,
    MultivariateNormal,
    MultivariateNormalDistribution,
)

matplotlib = pytest.importorskip("matplotlib", reason="pictures need matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402 -- after the backend is chosen

from posterior.plot import DecisionRegionDisplay, best_plane  # noqa: E402
from posterior.plot.boundary import grid_boundary  # noqa: E402
from posterior.plot.style import colours_of  # noqa: E402

SIZES = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


@pytest.fixture(autouse=True)
def _no_figure_is_left_open():
    yield
    plt.close("all")


def clouds(n_classes=3, d=2, n=150, seed=0):
    """Gaussian clouds of different shapes, and their classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    shapes = rng.normal(size=(n_classes, d, d))
    X = rng.normal(0, 2, size=(n_classes, d))[y] + np.einsum("nij,nj->ni", shapes[y], rng.normal(size=(n, d)))
    return X, np.array(["a", "b", "c", "d", "e"])[y]


# -- pieces ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [LDA(), QDA(), GaussianNB(), GaussianDiscriminantAnalysis(tied=0.5)])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_two_classes_tie_on_a_piece_and_no_third_is_larger(model, n_classes):
    X, y = clouds(n_classes, seed=n_classes)
    display = DecisionRegionDisplay.from_estimator(model.fit(X, y), X, y)
    assert display.boundary_ == "analytic"
    assert display.pieces
    for piece in display.pieces:
        logs = model.predict_log_proba(piece.points)
        np.testing.assert_allclose(logs[:, piece.first], logs[:, piece.second], atol=1e-6)
        assert (logs.max(axis=1) <= logs[:, piece.first] + 1e-6).all()


@pytest.mark.parametrize("seed", range(4))
def test_wherever_the_best_class_changes_a_piece_of_these_two_classes_is_drawn(seed):
    X, y = clouds(4, seed=seed)
    model = QDA().fit(X, y)
    display = DecisionRegionDisplay.from_estimator(model, X, y, grid_resolution=61)
    best, xs, ys = display.winners, display.xs, display.ys
    for a in range(4):
        for b in range(a + 1, 4):
            points = [p.points for p in display.pieces if (p.first, p.second) == (a, b)]
            only = np.where(best == a, 0, np.where(best == b, 1, 2))
            for (i, j), (k, m) in edges_between(only):
                here = np.array([(xs[j] + xs[m]) / 2, (ys[i] + ys[k]) / 2])
                step = np.array([xs[1] - xs[0], ys[1] - ys[0]])
                assert np.abs((np.concatenate(points) - here) / step).max(axis=1).min() < 2


def edges_between(codes):
    """Neighbours on a grid of which one has code 0 and the other code 1."""
    for i, j in np.ndindex(codes.shape):
        for k, m in ((i + 1, j), (i, j + 1)):
            if k < codes.shape[0] and m < codes.shape[1] and {codes[i, j], codes[k, m]} == {0, 1}:
                yield (i, j), (k, m)


def test_a_class_of_prior_zero_has_no_boundary():
    X, y = clouds(3)
    model = QDA(priors=[0.5, 0.5, 0.0]).fit(X, y)
    display = DecisionRegionDisplay.from_estimator(model, X, y)
    assert {(p.first, p.second) for p in display.pieces} == {(0, 1)}
    assert {e.class_index for e in display.ellipses} == {0, 1}


def test_a_boundary_from_a_grid_is_close_to_the_one_from_equations():
    X, y = clouds(3, seed=3)
    display = DecisionRegionDisplay.from_estimator(QDA().fit(X, y), X, y)
    by_grid = grid_boundary(display.xs, display.ys, display.scores)
    step = np.array([display.xs[1] - display.xs[0], display.ys[1] - display.ys[0]])
    exact = np.concatenate([p.points for p in display.pieces])
    for piece in by_grid:
        for point in piece.points:
            assert np.abs((exact - point) / step).max(axis=1).min() < 1.5
    assert {(p.first, p.second) for p in by_grid} == {(p.first, p.second) for p in display.pieces}


# -- what is shaded -------------------------------------------------------------------------------


def corners(display):
    """Points of the grid, and the scores there."""
    grid = np.stack(np.meshgrid(display.xs, display.ys), axis=-1).reshape(-1, 2)
    return grid[::97], display.scores.reshape(len(grid), -1)[::97]


def test_a_gaussian_model_of_more_columns_integrates_the_others_out():
    X, y = clouds(3, d=4)
    model = QDA().fit(X, y)
    display = DecisionRegionDisplay.from_estimator(model, X, y, features=[3, 1])
    points, logs = corners(display)
    rows = np.full((len(points), 4), np.nan)
    rows[:, [3, 1]] = points
    np.testing.assert_allclose(logs, model.predict_log_proba(rows), atol=1e-8)
    assert display.names == ("x3", "x1")
    assert display.others == "the other 2 columns integrated out"


def penguins_with(points, names, **held):
    """A pyarrow table of penguins of which only some columns are known."""
    import pyarrow as pa

    X = load_penguins("pyarrow").X
    columns = dict(zip(names, points.T.tolist(), strict=True)) | {
        name: [value] * len(points) for name, value in held.items()
    }
    return pa.table(
        {
            name: pa.array(columns.get(name, [None] * len(points)), type=X.schema.field(name).type)
            for name in X.column_names
        }
    )


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(),
        GenerativeClassifier([(SIZES, MultivariateNormal()), (["sex", "island"], Categorical(joint=True))]),
    ],
    ids=["naive Bayes", "a Gaussian block and a joint table"],
)
def test_a_mixed_model_integrates_out_or_holds_columns_as_its_posteriors_say(model):
    table = load_penguins("pyarrow")
    names = ("bill_length_mm", "body_mass_g")
    model.fit(table.X, table.y)
    for held in ({}, {"island": "Dream"}, {"sex": "male", "bill_depth_mm": 18.0}):
        display = DecisionRegionDisplay.from_estimator(model, table.X, table.y, features=list(names), at=held)
        points, logs = corners(display)
        rows = penguins_with(points, names, **held)
        np.testing.assert_allclose(logs, model.predict_log_proba(rows), atol=1e-8)
        assert display.boundary_ == "analytic"
        assert all(f"{name} = {value}" in display.others for name, value in held.items() if value != 18.0)
        for piece in display.pieces:
            tie = model.predict_log_proba(penguins_with(piece.points, names, **held))
            np.testing.assert_allclose(tie[:, piece.first], tie[:, piece.second], atol=1e-6)


def test_held_at_the_median_a_generative_model_is_the_model_of_the_median_row():
    X, y = clouds(3, d=3)
    model = QDA().fit(X, y)
    display = DecisionRegionDisplay.from_estimator(model, X, y, features=[0, 2], at="median")
    points, logs = corners(display)
    rows = np.column_stack([points[:, 0], np.full(len(points), np.median(X[:, 1])), points[:, 1]])
    np.testing.assert_allclose(logs, model.predict_log_proba(rows), atol=1e-8)


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", [LogisticRegression, LeastSquaresClassifier])
def test_a_linear_model_is_drawn_from_its_coefficients(kind, n_classes, degree):
    import pandas as pd

    X, y = clouds(n_classes, d=3, seed=5)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(X, columns=["u", "v", "w"]).assign(
        flag=rng.random(len(X)) < 0.7, group=rng.choice(["p", "q", "r"], len(X), p=[0.2, 0.5, 0.3])
    )
    model = kind(degree=degree).fit(table, y)
    display = DecisionRegionDisplay.from_estimator(model, table, y, features=["w", "u"])
    middle = {"v": np.median(X[:, 1]), "flag": True, "group": "q"}

    def scores(points):
        rows = pd.DataFrame({"u": points[:, 1], "w": points[:, 0], **middle})[list(table.columns)]
        found = model.decision_function(rows)
        return np.stack([np.zeros(len(found)), found], axis=1) if found.ndim == 1 else found

    points, shown = corners(display)
    expected = scores(points)
    np.testing.assert_allclose(
        shown - shown.max(axis=1, keepdims=True), expected - expected.max(axis=1, keepdims=True), atol=1e-8
    )
    assert display.proper == (kind is LogisticRegression)
    assert display.boundary_ == "analytic"
    assert not display.ellipses
    assert "group = q" in display.others
    for piece in display.pieces:
        tie = scores(piece.points)
        np.testing.assert_allclose(tie[:, piece.first], tie[:, piece.second], atol=1e-6)
        assert (tie.max(axis=1) <= tie[:, piece.first] + 1e-6).all()


@pytest.mark.parametrize("told", [(0, 1), (0,)], ids=["both columns tell", "one tells nothing"])
def test_a_model_of_curves_is_drawn_as_it_predicts(told):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = np.where(sum(X[:, j] ** 2 for j in told) + 0.3 * rng.normal(size=400) > len(told), "out", "in")
    model = AdditiveClassifier().fit(X, y)
    display = DecisionRegionDisplay.from_estimator(model, X, y)
    points, shown = corners(display)
    np.testing.assert_allclose(shown, model.predict_log_proba(points), atol=1e-12)
    assert display.boundary_ == "grid"


def test_least_squares_has_no_shades_of_certainty():
    X, y = clouds(2)
    least, logistic = (
        DecisionRegionDisplay.from_estimator(m.fit(X, y), X, y)._shades()
        for m in (LeastSquaresClassifier(), LogisticRegression())
    )
    assert len(np.unique(least.reshape(-1, 3), axis=0)) == 2
    assert len(np.unique(logistic.reshape(-1, 3), axis=0)) > 100


def test_a_classifier_that_is_not_ours_is_drawn_from_a_grid():
    from sklearn.ensemble import RandomForestClassifier, VotingClassifier
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    X, y = clouds(3, d=3)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    display = DecisionRegionDisplay.from_estimator(forest, X, y, features=[0, 2], grid_resolution=40)
    assert (forest.classes_[display.winners.reshape(-1)] == forest.predict(rows_of(display, X))).all()
    assert (display.boundary_, display.proper) == ("grid", True)
    for other in (
        make_pipeline(StandardScaler(), SVC(decision_function_shape="ovo")),
        RidgeClassifier(),
        VotingClassifier(
            [("ridge", RidgeClassifier()), ("forest", RandomForestClassifier(3, random_state=0))]
        ),
    ):
        display = DecisionRegionDisplay.from_estimator(
            other.fit(X, y), X, y, features=[0, 2], grid_resolution=40
        )
        assert (other.classes_[display.winners.reshape(-1)] == other.predict(rows_of(display, X))).all()
        display.plot()


def grid_of(display):
    return np.stack(np.meshgrid(display.xs, display.ys), axis=-1).reshape(-1, 2)


DECISIONS = {
    "costs": {"costs": [[0, 1], [50, 0]]},
    "other actions": {"costs": {"b": {"wait": 0, "act": 1}, "a": {"wait": 3, "act": 0.5}}},
    "reject": {"reject": {"threshold": 0.95}},
    "outliers": {"outliers": 0.1},
    "all": {"costs": [[0, 1], [5, 0]], "reject": {"cost": 0.2}, "outliers": 0.1},
}


@pytest.mark.parametrize("case", DECISIONS)
def test_the_regions_of_a_decision_are_those_of_what_is_done(case):
    X, y = clouds(2)
    y = np.where(y == y[0], "a", "b")
    model = DecisionClassifier(QDA(), cv=None, **DECISIONS[case]).fit(X, y)
    display = DecisionRegionDisplay.from_estimator(model, X, y, grid_resolution=60).plot()
    points, logs = corners(display)
    np.testing.assert_allclose(logs, model.predict_log_proba(points), atol=1e-8)
    done = np.array(display.answers, dtype=object)[display.decided.reshape(-1)]
    assert done.tolist() == model.predict(grid_of(display)).tolist()
    assert display.others == ""
    named = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert set(display.answers) <= set(named)
    shown = {display.answers[k] for piece in display.pieces for k in (piece.first, piece.second)}
    assert shown == set(done)  # every answer that is given somewhere has a boundary


def test_the_boundary_of_a_decision_is_where_the_answer_changes():
    X, y = clouds(2)
    model = DecisionClassifier(QDA(), reject={"threshold": 0.9}, cv=None).fit(X, y)
    display = DecisionRegionDisplay.from_estimator(model, X, y, grid_resolution=300)
    step = max(display.xs[1] - display.xs[0], display.ys[1] - display.ys[0])
    for piece in display.pieces:
        for point in piece.points[:: max(len(piece.points) // 10, 1)]:
            steps = step * np.array([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)])
            assert len(set(map(str, model.predict(point + steps)))) > 1


def test_answers_have_the_colours_of_their_classes_and_the_unanswered_are_grey():
    X, y = clouds(3)
    model = DecisionClassifier(QDA(), reject={"threshold": 0.99}, outliers=0.2, cv=None).fit(X, y)
    display = DecisionRegionDisplay.from_estimator(model, X, y, grid_resolution=40).plot()
    shades = display.ax_.images[0].get_array()
    grey = display.decided >= display.n_actions
    assert grey.any()
    assert not grey.all()
    assert np.ptp(shades[grey], axis=1).max() == 0
    assert np.ptp(shades[~grey], axis=1).min() > 0


def test_the_regions_of_a_threshold_of_scikit_learn_are_those_of_its_posterior_and_say_so():
    X, y = clouds(2)
    model = FixedThresholdClassifier(QDA(), threshold=0.9).fit(X, y)
    display = DecisionRegionDisplay.from_estimator(model, X, y, grid_resolution=40)
    assert display.others == "most probable classes, whatever its costs or threshold say"
    assert display.decided is None


def rows_of(display, X):
    """Rows of the grid of columns 0 and 2, column 1 at its median."""
    grid = np.stack(np.meshgrid(display.xs, display.ys), axis=-1).reshape(-1, 2)
    return np.column_stack([grid[:, 0], np.full(len(grid), np.median(X[:, 1])), grid[:, 1]])


def test_a_mixture_is_drawn_from_a_grid():
    X, y = clouds(2)
    model = GenerativeClassifier([(slice(None), MixtureOfNormals(2))]).fit(X, y)
    display = DecisionRegionDisplay.from_estimator(model, X, y)
    assert (display.boundary_, len(display.ellipses)) == ("grid", 0)
    points, logs = corners(display)
    np.testing.assert_allclose(logs, model.predict_log_proba(points), atol=1e-8)


# -- ellipses -------------------------------------------------------------------------------------


def test_an_ellipse_holds_its_share_of_the_rows_that_the_model_draws():
    X, y = clouds(3, d=4)
    model = QDA().fit(X, y)
    display = DecisionRegionDisplay.from_estimator(model, X, y, features=[2, 0])
    new, classes = model.sample(40_000, random_state=1)
    for k, content, points in display.ellipses:
        mean, covariance = model.means_[k][[2, 0]], model.covariance_[k][np.ix_([2, 0], [2, 0])]
        away = np.einsum("ni,ij,nj->n", points - mean, np.linalg.inv(covariance), points - mean)
        np.testing.assert_allclose(away, -2 * np.log(1 - content), rtol=1e-9)
        own = new[classes == model.classes_[k]][:, [2, 0]] - mean
        inside = np.einsum("ni,ij,nj->n", own, np.linalg.inv(covariance), own) <= away[0]
        assert abs(inside.mean() - content) < 4 * np.sqrt(content * (1 - content) / len(own))
    assert [e.content for e in display.ellipses] == [0.5, 0.95] * 3


# -- the picture ----------------------------------------------------------------------------------


def test_every_kind_of_table_gives_the_same_picture():
    found = []
    for backend in ("pyarrow", "pandas", "polars"):
        table = load_penguins(backend)
        display = DecisionRegionDisplay.from_estimator(NaiveBayes().fit(table.X, table.y), table.X, table.y)
        found.append(display)
    table = load_penguins("pandas")
    X = table.X[SIZES].to_numpy()
    plain = DecisionRegionDisplay.from_estimator(QDA().fit(X, table.y), X, table.y)
    named = DecisionRegionDisplay.from_estimator(QDA().fit(table.X[SIZES], table.y), table.X[SIZES], table.y)
    for one, other in ((found[0], found[1]), (found[0], found[2]), (plain, named)):
        np.testing.assert_array_equal(one.scores, other.scores)
        np.testing.assert_array_equal(one.points, other.points)
        np.testing.assert_array_equal(one.codes, other.codes)
    assert found[0].names == ("bill_length_mm", "bill_depth_mm")


def test_points_have_the_colours_of_their_classes_and_the_legend_names_them():
    table = load_penguins("pyarrow")
    display = DecisionRegionDisplay.from_estimator(
        NaiveBayes().fit(table.X, table.y), table.X, table.y
    ).plot()
    dots = display.ax_.collections
    assert [matplotlib.colors.to_hex(d.get_facecolor()[0]).upper() for d in dots] == colours_of(
        display.classes
    )
    assert [len(d.get_offsets()) for d in dots] == [151, 68, 123]
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert sorted(labels) == sorted(
        ["Adelie", "Chinstrap", "Gentoo", "50 % and 95 % of each class", "deeper colour: surer"]
    )
    assert display.ax_.get_title(loc="left") == "NaiveBayes\nthe other 5 columns integrated out"
    boundary = [line for line in display.ax_.lines if line.get_color() == "#333333"]
    assert len(boundary) == len(display.pieces)


def test_names_from_data_are_never_read_as_mathematics_and_no_class_is_left_out():
    import pandas as pd

    X, y = clouds(3)
    table = pd.DataFrame(X, columns=["price in $ and $", "\\frac{1}{2}$x$"])
    names = np.array(["_hidden", "$a_b$ and $c^d$", "a name that goes on for ever and ever"])
    labels = names[np.searchsorted(["a", "b", "c"], y)]
    display = DecisionRegionDisplay.from_estimator(QDA().fit(table, labels), table, labels).plot()
    display.figure_.canvas.draw()
    told = " ".join(t.get_text() for t in display.ax_.get_legend().get_texts())
    assert "hidden" in told
    assert "…" in told
    for text in (display.ax_.xaxis.label, display.ax_.yaxis.label, *display.ax_.get_legend().get_texts()):
        assert text.get_text().count("$") == text.get_text().count("\\$")


def test_drawing_changes_no_settings_and_opens_no_figure_where_axes_are_given():
    X, y = clouds(2)
    display = DecisionRegionDisplay.from_estimator(LDA().fit(X, y), X)
    before, figure = dict(matplotlib.rcParams), plt.figure()
    axes = figure.add_subplot()
    assert display.plot(ax=axes) is display
    assert display.ax_ is axes
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]
    display.plot()
    assert dict(matplotlib.rcParams) == before
    assert len(display.ax_.collections) == 1  # without classes all points are alike


def test_many_rows_are_thinned_out_and_rows_with_gaps_left_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 2))
    X[:50, 0] = np.nan
    display = DecisionRegionDisplay.from_estimator(QDA().fit(X, X[:, 1] > 0), X, X[:, 1] > 0)
    assert len(display.points) == len(display.codes) == 2000
    assert np.isfinite(display.points).all()
    assert display.xs[0] < np.nanmin(X[:, 0])


def test_predictions_on_a_grid_are_drawn():
    X, y = clouds(3)
    model = QDA().fit(X, y)
    xs, ys = np.linspace(-3, 3, 50), np.linspace(-2, 2, 40)
    xx, yy = np.meshgrid(xs, ys)
    logs = model.predict_log_proba(np.column_stack([xx.ravel(), yy.ravel()]))
    display = DecisionRegionDisplay.from_predictions(xx, yy, logs, model.classes_, points=X, y=y).plot()
    assert (display.boundary_, display.proper) == ("grid", True)
    np.testing.assert_array_equal(display.winners, logs.argmax(axis=1).reshape(40, 50))
    along = DecisionRegionDisplay.from_predictions(xs, ys, logs.reshape(40, 50, 3), model.classes_)
    np.testing.assert_array_equal(along.scores, display.scores)
    assert not DecisionRegionDisplay.from_predictions(xs, ys, 3 * logs - 1, model.classes_).proper


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"xx": [0.0, 1.0, 3.0]}, "xx must be two or more evenly spaced"),
        ({"log_proba": np.zeros((2, 3, 5))}, r"expected \(2, 3, 2\)"),
        ({"log_proba": np.full((2, 3, 2), np.nan)}, "log_proba contains NaN"),
    ],
)
def test_predictions_that_make_no_grid_are_refused(change, words):
    given = {"xx": [0.0, 1.0, 2.0], "yy": [0.0, 1.0], "log_proba": np.zeros((2, 3, 2)), "classes": ["a", "b"]}
    with pytest.raises(ValueError, match=words):
        DecisionRegionDisplay.from_predictions(**(given | change))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"features": ["bill_length_mm"]}, "a plane has two columns"),
        ({"features": ["island", "body_mass_g"]}, "column 'island' is categorical"),
        ({"at": {"island": "Atlantis"}}, "column 'island' cannot be held at 'Atlantis'"),
        ({"at": {"bill_length_mm": 40.0}, "features": SIZES[:2]}, "is an axis and cannot be held"),
        ({"at": "mean"}, 'at must be "auto", "median" or a mapping'),
        ({"grid_resolution": 1}, "grid_resolution must be at least 2"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_a_reason(settings, words):
    table = load_penguins("pyarrow")
    model = NaiveBayes().fit(table.X, table.y)
    with pytest.raises(ValueError, match=words):
        DecisionRegionDisplay.from_estimator(model, table.X, table.y, **settings)


def test_models_without_a_plane_are_refused():
    from sklearn.exceptions import NotFittedError

    X, y = clouds(2)
    with pytest.raises(ValueError, match="needs two continuous columns"):
        DecisionRegionDisplay.from_estimator(LDA().fit(X[:, :1], y), X[:, :1], y)
    with pytest.raises(NotFittedError):
        DecisionRegionDisplay.from_estimator(LDA(), X, y)
    with pytest.raises(TypeError, match="not a classifier"):
        DecisionRegionDisplay.from_estimator(LinearRegression().fit(X, X[:, 0]), X)
    constant = np.column_stack([X, np.ones(len(X))])
    model = GaussianNB()
    with pytest.warns(UserWarning, match="x2"):
        model.fit(constant, y)
    with pytest.raises(ValueError, match="column 'x2' is not used by this GaussianNB"):
        DecisionRegionDisplay.from_estimator(model, constant, y, features=[0, 2])


# -- the best plane -------------------------------------------------------------------------------


def test_the_best_plane_is_that_of_the_columns_that_tell():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = rng.normal(size=(300, 15))
    X[:, 11] += 3 * y
    X[:, 4] += X[:, 11] + 0.1 * rng.normal(size=300) - 2 * y  # which tells most beside the other
    assert best_plane(X, y) == ("x4", "x11")
    X[rng.random(300) < 0.9, 4] = np.nan
    assert "x4" not in best_plane(X, y)


def test_the_best_plane_is_among_the_columns_of_the_model():
    table = load_penguins("pyarrow")
    model = LDA().fit(table.X.select(SIZES[1:]), table.y)
    assert set(best_plane(table.X.select(SIZES[1:]), table.y, estimator=model)) < set(SIZES[1:])
    assert best_plane(table.X, table.y) == ("bill_length_mm", "bill_depth_mm")


def test_without_two_columns_there_is_no_best_plane():
    with pytest.raises(ValueError, match="two continuous columns that are not constant, found 1"):
        best_plane([[1.0, 2.0], [2.0, 2.0], [3.0, 2.0]], ["a", "b", "a"])


def test_given_gaussians_are_drawn_without_data_where_they_expect_rows():
    """M43: the window holds the 95 % ellipses, the boundary is that of the equations, no point is drawn."""
    given = MultivariateNormalDistribution([[0, 0], [4, 1]], [[[2, 0], [0, 6]], [[2, -1], [-1, 2]]])
    model = GenerativeClassifier.from_distributions(["a", "b"], "uniform", [(["x", "y"], given)])
    display = DecisionRegionDisplay.from_estimator(model)
    assert display.boundary_ == "analytic"
    assert len(display.points) == 0
    low, high = [display.xs[0], display.ys[0]], [display.xs[-1], display.ys[-1]]
    for ellipse in display.ellipses:
        assert (ellipse.points > low).all()
        assert (ellipse.points < high).all()
    for piece in display.pieces:
        np.testing.assert_allclose(model.predict_proba(piece.points)[:, 0], 0.5, atol=1e-6)


def test_without_rows_a_model_that_cannot_draw_any_is_refused():
    X, y = clouds(2)
    with pytest.raises(ValueError, match="pass X"):
        DecisionRegionDisplay.from_estimator(LogisticRegression().fit(X, y))
    with pytest.raises(ValueError, match="pass X: the rows that have the classes y"):
        DecisionRegionDisplay.from_estimator(LDA().fit(X, y), y=y)
