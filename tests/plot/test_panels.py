"""Panels of columns: shares and densities are those of the rows and of the model, whatever the kind."""

import numpy as np
import pytest

from posterior import (
    LDA,
    BernoulliNB,
    GenerativeClassifier,
    LogisticRegression,
    MultinomialNB,
    NaiveBayes,
)
from posterior.datasets import load_penguins, load_voters
from posterior.families import (
    BagOfWords,
    Categorical,
    Exponential,
    Laplace,
    MixtureOfNormals,
    Normal,
    Poisson,
)

matplotlib = pytest.importorskip("matplotlib", reason="pictures need matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402 -- after the backend is chosen

from posterior.plot import ClassPanelDisplay  # noqa: E402
from posterior.plot.marginals import LevelPanel, NumberPanel  # noqa: E402
from posterior.plot.style import colours_of  # noqa: E402
from posterior.plot.word_ranking import WordPanel, text_panel  # noqa: E402


@pytest.fixture(autouse=True)
def _no_figure_is_left_open():
    yield
    plt.close("all")


def panels_of(model, X, y, **settings):
    display = ClassPanelDisplay.from_estimator(model, X, y, **settings)
    return {panel.name: panel for panel in display.panels}


# -- numbers --------------------------------------------------------------------------------------


def test_histograms_have_area_one_in_each_class_and_lie_over_the_densities_of_the_model():
    table = load_penguins("pyarrow")
    model = NaiveBayes(tied=False, weights=1.0).fit(table.X, table.y)
    panel = panels_of(model, table.X, table.y)["flipper_length_mm"]
    assert isinstance(panel, NumberPanel)
    np.testing.assert_allclose((panel.rows * np.diff(panel.edges)).sum(axis=1), 1.0)
    own = (
        NaiveBayes(tied=False, weights=1.0)
        .fit(table.X.select(["flipper_length_mm"]), table.y)
        .model_.blocks[0]
        .distribution
    )
    mean, sd = own.mean, np.sqrt(own.variance)
    expected = np.exp(-(((panel.x - mean) / sd) ** 2) / 2) / sd / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(panel.model, expected, rtol=1e-9)
    values = table.X["flipper_length_mm"].to_numpy()
    gone = np.isnan(values)
    labels = np.array(table.y.to_pylist())
    np.testing.assert_allclose(panel.gaps, [gone[labels == c].mean() for c in model.classes_])


@pytest.mark.parametrize("family", [Normal(), Laplace(), MixtureOfNormals(2), Exponential()])
def test_the_density_of_a_model_over_all_of_its_range_has_area_one(family):
    rng = np.random.default_rng(0)
    y = np.arange(4000) % 2
    X = rng.exponential([[1.0], [3.0]], size=(2, 4000)).T[np.arange(4000), y][:, None]
    X[0], X[1] = 0.0, 60.0  # so that the panel holds the whole of both classes, but for what is below zero
    model = GenerativeClassifier([(0, family)]).fit(X, y)
    panel = panels_of(model, X, y)["x0"]
    area = np.trapezoid(panel.model, panel.x, axis=1)
    # What the family puts below zero, which is not shown.
    below = {"Normal": 0.2, "Laplace": 0.25, "MixtureOfNormals": 0.2, "Exponential": 0.01}[
        type(family).__name__
    ]
    assert (area < 1.02).all()
    assert (area > 0.98 - below).all()


def test_counts_are_shares_of_whole_numbers_and_those_of_the_model_sum_to_one():
    rng = np.random.default_rng(0)
    y = np.arange(500) % 2
    X = rng.poisson([[1.0], [4.0]], size=(2, 500)).T[np.arange(500), y][:, None].astype(float)
    panel = panels_of(GenerativeClassifier([(0, Poisson())]).fit(X, y), X, y)["x0"]
    assert panel.whole
    np.testing.assert_array_equal(panel.x, np.arange(0, X.max() + 1))
    np.testing.assert_allclose(panel.rows[0, 0], (X[y == 0] == 0).mean())
    np.testing.assert_allclose(panel.model.sum(axis=1), 1.0, atol=0.01)


def test_years_have_a_bin_each():
    table = load_penguins("pyarrow")
    panel = panels_of(NaiveBayes(tied=False, weights=1.0).fit(table.X, table.y), table.X, table.y)["year"]
    np.testing.assert_array_equal(panel.edges, [2006.5, 2007.5, 2008.5, 2009.5])


def test_a_column_of_one_value_or_none_is_drawn_too():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(40, 3.0), rng.normal(size=40), np.full(40, np.nan)])
    y = np.arange(40) % 2
    with pytest.warns(UserWarning, match="x0"):
        model = NaiveBayes(tied=False, weights=1.0).fit(X, y)
    display = ClassPanelDisplay.from_estimator(model, X, y, features=[0, 1, 2]).plot()
    display.figure_.canvas.draw()
    assert [panel.model is None for panel in display.panels] == [True, False, True]
    np.testing.assert_array_equal(display.panels[2].gaps, [1.0, 1.0])


# -- categories -----------------------------------------------------------------------------------


def test_shares_of_levels_sum_to_one_and_gaps_are_apart():
    table = load_penguins("polars")
    model = NaiveBayes(alpha=0, tied=False, weights=1.0).fit(table.X, table.y)
    panel = panels_of(model, table.X, table.y)["sex"]
    assert isinstance(panel, LevelPanel)
    assert panel.levels == ("female", "male")
    np.testing.assert_allclose(panel.rows.sum(axis=1), 1.0)
    np.testing.assert_allclose(panel.model, panel.rows)  # maximum likelihood: the model is the rows
    missing, labels = table.X["sex"].is_null().to_numpy(), table.y.to_numpy()
    np.testing.assert_allclose(panel.gaps, [missing[labels == c].mean() for c in model.classes_])


def test_rare_levels_are_folded_into_other():
    rng = np.random.default_rng(0)
    X = np.array([[f"level {v:02d}"] for v in rng.geometric(0.2, 800)], dtype=object)
    y = rng.integers(0, 3, 800)
    panel = panels_of(NaiveBayes(tied=False, weights=1.0).fit(X, y), X, y)["x0"]
    assert len(panel.levels) == 7
    assert panel.levels[-1] == "other"
    assert panel.levels[0] == "level 01"
    np.testing.assert_allclose(panel.rows.sum(axis=1), 1.0)
    np.testing.assert_allclose(panel.model.sum(axis=1), 1.0)


def test_a_joint_table_shows_the_marginal_of_each_column():
    table = load_penguins("pyarrow")
    model = GenerativeClassifier([(["island", "sex"], Categorical(alpha=0, joint=True))]).fit(
        table.X, table.y
    )
    panels = panels_of(model, table.X, table.y)
    for name in ("island", "sex"):
        np.testing.assert_allclose(panels[name].model.sum(axis=1), 1.0)


def test_numbers_that_a_model_cuts_in_two_have_two_levels():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(2.0, size=(100, 2)), np.arange(100) % 2
    panel = panels_of(BernoulliNB(binarize=1.0, alpha=0).fit(X, y), X, y)["x1"]
    assert panel.levels == ("≤ 1", "> 1")
    np.testing.assert_allclose(panel.rows[:, 1], [(X[y == k, 1] > 1).mean() for k in (0, 1)])
    np.testing.assert_allclose(panel.model, panel.rows)


def test_true_and_false_are_levels():
    import pyarrow as pa

    rng = np.random.default_rng(0)
    table = pa.table({"flag": rng.random(50) < 0.3})
    y = np.arange(50) % 2
    panel = panels_of(NaiveBayes(alpha=0, tied=False, weights=1.0).fit(table, y), table, y)["flag"]
    assert panel.levels == ("False", "True")
    np.testing.assert_allclose(panel.model, panel.rows)


# -- words ----------------------------------------------------------------------------------------

TEXTS = [
    "cheap watches for you",
    "cheap pills for all",
    "meeting at noon for all",
    "the meeting was for you",
] * 5
LABELS = np.array(["spam", "spam", "ham", "ham"] * 5)


@pytest.mark.parametrize("hashing", [False, 64], ids=["by the model", "by the rows, where words are hashed"])
def test_the_words_with_the_largest_log_odds_are_those_of_each_class(hashing):
    import pyarrow as pa

    table = pa.table({"text": TEXTS})
    model = GenerativeClassifier([("text", BagOfWords(hashing=hashing))], kinds={"text": "text"})
    panel = panels_of(model.fit(table, LABELS), table, LABELS)["text"]
    assert isinstance(panel, WordPanel)
    best = dict(zip(panel.words, panel.owner.tolist(), strict=True))
    assert (best["cheap"], best["meeting"]) == (1, 0)
    assert "for" not in best  # as probable in both
    # Ten times in 40 words of spam, never in 50 of ham, of 11 different ones, and each once more (Laplace).
    ratio = (11 / (40 + 11)) / (1 / (50 + 11))
    np.testing.assert_allclose(panel.log_odds[panel.words.index("cheap")], np.log(ratio))


def test_texts_without_words_make_an_empty_panel():
    panel = text_panel("x", ["!", "?", None, "…"] * 5, np.arange(20) % 2, None)
    assert panel.words == ()


def test_counts_of_one_multinomial_are_one_panel():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.poisson(np.array([[1.0, 3.0, 2.0], [3.0, 1.0, 2.0]])[y])
    (panel,) = ClassPanelDisplay.from_estimator(MultinomialNB().fit(X, y), X, y).panels
    assert panel.words[0] == "x1"
    assert dict(zip(panel.words, panel.owner.tolist(), strict=True))["x0"] == 1


# -- the picture ----------------------------------------------------------------------------------


def test_the_most_telling_columns_come_first():
    rng = np.random.default_rng(0)
    y = np.arange(600) % 3
    X = rng.normal(size=(600, 20))
    X[:, 13] += 2 * y
    X[:, 5] += y
    X[:, 7] *= 1 + 3 * (y == 1)  # told by the spread alone
    display = ClassPanelDisplay.from_estimator(
        NaiveBayes(tied=False, weights=1.0).fit(X, y), X, y, max_features=3
    )
    assert {panel.name for panel in display.panels} == {"x13", "x5", "x7"}
    assert display.panels[0].name == "x13"
    assert display.n_left_out == 17
    assert "the most telling 3 columns" in display.plot().figure_.get_suptitle()
    chosen = ClassPanelDisplay.from_estimator(
        NaiveBayes(tied=False, weights=1.0).fit(X, y), X, y, features=["x9", "x2"]
    )
    assert [panel.name for panel in chosen.panels] == ["x9", "x2"]


def test_a_model_that_is_not_generative_shows_the_rows_alone():
    from sklearn.dummy import DummyClassifier

    table = load_voters("pandas")
    for model in (LogisticRegression(missing="indicator"), DummyClassifier()):
        model.fit(table.X, table.y)
        display = ClassPanelDisplay.from_estimator(model, table.X, table.y).plot()
        assert len(display.panels) == 3
        assert all(panel.model is None for panel in display.panels)
        told = [text.get_text() for text in display.figure_.legends[0].get_texts()]
        assert told == ["Adams", "Brown", "Clark"]


def test_every_kind_of_table_gives_the_same_panels():
    found = []
    for backend in ("pyarrow", "pandas", "polars"):
        table = load_penguins(backend)
        found.append(
            ClassPanelDisplay.from_estimator(
                NaiveBayes(tied=False, weights=1.0).fit(table.X, table.y), table.X, table.y
            )
        )
    for other in found[1:]:
        assert [p.name for p in other.panels] == [p.name for p in found[0].panels]
        for one, same in zip(found[0].panels, other.panels, strict=True):
            np.testing.assert_array_equal(one.rows, same.rows)
            np.testing.assert_array_equal(one.model, same.model)


def test_bars_have_the_colours_of_the_classes_and_the_legend_names_them():
    table = load_voters("pyarrow")
    display = ClassPanelDisplay.from_estimator(
        NaiveBayes(tied=False, weights=1.0).fit(table.X, table.y), table.X, table.y
    ).plot()
    display.figure_.canvas.draw()
    told = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert told == ["Adams", "Brown", "Clark", "lines: model, bars: rows"]
    place = [panel.name for panel in display.panels].index("voted_before")
    axes = display.axes_[place]
    seen = {matplotlib.colors.to_hex(bar.get_facecolor()).upper() for bar in axes.patches}
    assert seen == set(colours_of(display.classes))
    assert [t.get_text() for t in axes.get_yticklabels()] == ["no", "yes", "(missing)"]
    assert [a.get_title(loc="left") for a in display.axes_] == [p.name for p in display.panels]


def test_of_many_classes_the_commonest_are_shown():
    rng = np.random.default_rng(0)
    y = np.concatenate([np.repeat(np.arange(10), 20), np.full(30, 10)])
    X = rng.normal(size=(len(y), 2)) + y[:, None]
    display = ClassPanelDisplay.from_estimator(NaiveBayes(tied=False, weights=1.0).fit(X, y), X, y)
    assert len(display.shown) == 8
    assert 10 in display.shown
    assert "8 of 11 classes" in display.plot().figure_.get_suptitle()


def test_names_from_data_are_drawn_as_they_are():
    X = np.array(
        [["$x$", "_a"], ["$y^$", "b"], ["日本", "_a"], ["a very long name of a category", "b"]] * 10, object
    )
    y = np.arange(40) % 2
    display = ClassPanelDisplay.from_estimator(NaiveBayes(tied=False, weights=1.0).fit(X, y), X, y).plot()
    with pytest.warns(UserWarning, match="missing from font"):  # DejaVu has no Japanese
        display.figure_.canvas.draw()
    told = [t.get_text() for axes in display.axes_ for t in axes.get_yticklabels()]
    assert "a very long n…" in told
    assert r"\$x\$" in told


def test_axes_may_be_given_and_settings_stay():
    table = load_penguins("pyarrow")
    model = LDA().fit(table.X.select(["bill_length_mm", "bill_depth_mm"]), table.y)
    X = table.X.select(["bill_length_mm", "bill_depth_mm"])
    display = ClassPanelDisplay.from_estimator(model, X, table.y)
    before = dict(matplotlib.rcParams)
    figure, axes = plt.subplots(1, 2)
    display.plot(ax=axes)
    assert list(display.axes_) == list(axes)
    display.plot(ax=plt.figure().add_subplot())
    assert len(display.axes_) == 2
    single = ClassPanelDisplay(display.panels[:1], display.classes, display.shown)
    assert single.plot(ax=axes[0]).ax_ is axes[0]
    display.plot()
    assert display.figure_ is not figure
    assert dict(matplotlib.rcParams) == before


def test_without_classes_or_columns_there_is_nothing_to_show():
    table = load_penguins("pyarrow")
    model = NaiveBayes(tied=False, weights=1.0).fit(table.X, table.y)
    with pytest.raises(ValueError, match="pass y"):
        ClassPanelDisplay.from_estimator(model, table.X, None)
    with pytest.raises(ValueError, match="no column to show"):
        ClassPanelDisplay.from_estimator(model, table.X, table.y, max_features=0)
    with pytest.raises(ValueError, match="not one of the classes"):
        ClassPanelDisplay.from_estimator(model, table.X, ["Emperor"] * 344)
