"""Pictures of posteriors and of answers against the truth draw what the functions behind them say."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from sklearn.datasets import load_iris

from posterior import DecisionClassifier, LeastSquaresClassifier, LogisticRegression, NaiveBayes
from posterior.datasets import load_penguins
from posterior.decision import calibration_error, calibration_test, confusion_table, reliability_curve
from posterior.plot import ConfusionDisplay, ReliabilityDisplay
from posterior.plot.captions import label
from posterior.plot.display import read_posteriors

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def penguins():
    table = load_penguins()
    model = NaiveBayes().fit(table.X, table.y)
    return np.asarray(table.y), model.k_fold_log_proba(table.X, table.y, 5), model.classes_


def drawn(n_classes, n=400, sharper=1.0, seed=0):
    """Posteriors, and classes drawn from them; `sharper` ones are too sure of themselves."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, n_classes)) * 1.5
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    y = (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    sharp = p**sharper
    return y, sharp / sharp.sum(axis=1, keepdims=True)


def segments(axes):
    return np.concatenate(
        [np.array(lines.get_segments()) for lines in axes.collections if hasattr(lines, "get_segments")]
    )


def title_of(display):
    return display.ax_.get_title(loc="left").replace("\n", " ")


# -- reliability ----------------------------------------------------------------------------------


def test_the_curve_of_the_likeliest_class_is_that_of_reliability_curve(penguins):
    y, logs, classes = penguins
    display = ReliabilityDisplay.from_predictions(y, logs, classes=classes).plot()
    bins = reliability_curve(y, logs, classes=classes, strategy="uniform").top
    line = display.ax_.lines[1]  # after the diagonal
    np.testing.assert_array_equal(line.get_xydata(), np.stack([bins.predicted, bins.observed], axis=1))
    ends = segments(display.ax_)
    np.testing.assert_array_equal(ends[:, 0], np.stack([bins.predicted, bins.low], axis=1))
    np.testing.assert_array_equal(ends[:, 1], np.stack([bins.predicted, bins.high], axis=1))


def test_the_shaded_range_is_that_of_calibrated_posteriors():
    y, p = drawn(2)
    display = ReliabilityDisplay.from_predictions(y, p).plot()
    bins = display.curve.by_class[1]
    shaded = {tuple(point) for point in display.ax_.collections[0].get_paths()[0].vertices}
    wanted = [
        *zip(bins.predicted, bins.band_low, strict=True),
        *zip(bins.predicted, bins.band_high, strict=True),
    ]
    assert set(wanted) <= shaded


def test_of_two_classes_the_second_is_drawn_and_of_more_each_if_asked():
    y, p = drawn(2)
    assert list(ReliabilityDisplay.from_predictions(y, p).curves) == [1]
    y, p = drawn(3)
    display = ReliabilityDisplay.from_predictions(y, p, kind="classwise").plot()
    assert list(display.curves) == [0, 1, 2]
    by_class = reliability_curve(y, np.log(p)).by_class
    hollow = [line for line in display.ax_.lines if line.get_markerfacecolor() == "white"]
    for line, bins in zip(hollow, by_class.values(), strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.stack([bins.predicted, bins.observed], axis=1))


def test_of_many_classes_the_eight_that_are_furthest_off_are_drawn():
    y, p = drawn(12, n=600)
    display = ReliabilityDisplay.from_predictions(y, p, kind="classwise").plot()
    errors = calibration_error(y, np.log(p), kind="classwise").by_class
    left_out = set(errors) - set(display.curves)
    assert len(display.curves) == 8
    assert max(errors[name] for name in left_out) <= min(errors[name] for name in display.curves)
    assert display.ax_.get_legend().get_title().get_text() == "8 of 12 classes"


def test_the_title_has_the_calibration_error_and_both_tests():
    y, p = drawn(3, sharper=2.0)
    display = ReliabilityDisplay.from_predictions(y, p).plot()
    error, test = calibration_error(y, np.log(p)), calibration_test(y, np.log(p))
    assert f"Calibration error {error.value:.3f}, {error.expected_if_calibrated:.3f} if" in title_of(display)
    assert f"(p = {error.p_value:.2g})" in title_of(display)
    assert f"Temperature {test.temperature:.2g} would fit best (p < 0.001)" in title_of(display)


def test_markers_are_filled_where_a_bin_is_not_as_if_calibrated():
    y, p = drawn(2, sharper=3.0)
    display = ReliabilityDisplay.from_predictions(y, p).plot()
    bins = display.curve.by_class[1]
    out = (bins.observed < bins.band_low) | (bins.observed > bins.band_high)
    filled = display.ax_.lines[2].get_xdata()
    assert out.any()
    np.testing.assert_array_equal(filled, bins.predicted[out])


def test_the_histogram_counts_every_row_with_its_weight():
    y, p = drawn(3)
    weight = np.arange(len(y)) % 3
    display = ReliabilityDisplay.from_predictions(y, p, sample_weight=weight).plot()
    (counts,) = display.histograms.values()
    assert counts.sum() == weight.sum()
    np.testing.assert_array_equal(display.histogram_ax_.patches[0].get_data().values, counts)
    assert counts[:6].sum() == 0  # the likeliest of three classes has a probability of a third at least


def test_posteriors_and_their_logs_give_the_same_picture():
    y, p = drawn(3)
    of_logs, of_p = (ReliabilityDisplay.from_predictions(y, values) for values in (np.log(p), p))
    np.testing.assert_array_equal(of_logs.curve.top.observed, of_p.curve.top.observed)
    assert of_logs.error.value == of_p.error.value


@pytest.mark.parametrize("bad", [[[0.5, 0.6]], [["a", "b"]], [[0.1, -2.0]], [0.5, 0.5]], ids=str)
def test_what_is_neither_posteriors_nor_logs_is_refused(bad):
    with pytest.raises(ValueError, match=r"probabilit|posteriors"):
        read_posteriors(bad)


@pytest.mark.parametrize("container", ["numpy", "pandas", "polars", "pyarrow"])
def test_tables_and_labels_of_any_kind_give_the_same_picture(container):
    X, codes = load_iris(return_X_y=True)
    y = np.array(["setosa", "versicolor", "virginica"])[codes]
    model = LogisticRegression().fit(X, y)
    wanted = ReliabilityDisplay.from_predictions(y, model.predict_proba(X), classes=model.classes_)
    columns = {f"x{j}": X[:, j] for j in range(4)}
    table, labels = {
        "numpy": lambda: (X, y),
        "pandas": lambda: (pd.DataFrame(columns), pd.Series(y, dtype="category")),
        "polars": lambda: (pl.DataFrame(columns), pl.Series(y)),
        "pyarrow": lambda: (pa.table(columns), pa.chunked_array([pa.array(y).dictionary_encode()])),
    }[container]()
    model = LogisticRegression().fit(table, labels)
    found = ReliabilityDisplay.from_estimator(model, table, labels).plot()
    np.testing.assert_allclose(found.curve.top.predicted, wanted.curve.top.predicted, rtol=1e-9)
    answers = ConfusionDisplay.from_estimator(model, table, labels).plot()
    assert np.trace(answers.table.counts) == 146


def test_a_picture_on_axes_that_are_given_leaves_pyplot_alone():
    y, p = drawn(2)
    settings, figure = dict(mpl.rcParams), Figure()
    axes = figure.subplots()
    display = ReliabilityDisplay.from_predictions(y, p).plot(axes)
    assert display.ax_ is axes
    assert display.figure_ is figure
    assert plt.get_fignums() == []
    ReliabilityDisplay.from_predictions(y, p).plot()
    assert dict(mpl.rcParams) == settings


def test_a_picture_that_fails_leaves_no_figure_behind():
    y, p = drawn(2)
    display = ReliabilityDisplay.from_predictions(y, p)
    display.histograms = {}
    with pytest.raises(KeyError):
        display.plot()
    assert plt.get_fignums() == []


def test_a_discriminant_has_no_reliability():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="gives no probabilities"):
        ReliabilityDisplay.from_estimator(LeastSquaresClassifier().fit(X, y), X, y)


# -- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["$x^2$", "_hidden", "a\nb", r"\$", "$$", "w" * 200, "{x}"], ids=repr)
def test_names_from_data_are_written_as_they_are(name):
    y, p = drawn(3, n=60)
    names = [name, "b", "c"]
    display = ReliabilityDisplay.from_predictions(
        [names[k] for k in y], p, classes=names, kind="classwise"
    ).plot()
    display.figure_.canvas.draw()  # mathematics that is none would raise here
    shown = display.ax_.get_legend().get_texts()[0].get_text()
    assert len(shown.replace("\\$", "$").strip()) <= 24
    plain = str(name).replace("\n", " ")
    assert shown.replace("\\$", "$").strip() == (plain if len(plain) <= 24 else "w" * 23 + "…")


def test_a_label_with_a_dollar_is_no_mathematics():
    figure = Figure()
    text = figure.text(0, 0, label("from $5 to $9"))
    assert text._preprocess_math(text.get_text()) == ("from $5 to $9", False)


# -- confusion ------------------------------------------------------------------------------------


def cells(display):
    return {tuple(map(int, text.get_position()[::-1])): text.get_text() for text in display.ax_.texts}


def test_cells_hold_counts_and_shares_of_the_true_class(penguins):
    y, logs, classes = penguins
    display = ConfusionDisplay.from_predictions(y, logs, classes=classes).plot()
    counts = confusion_table(y, classes[logs.argmax(axis=1)], classes=classes).counts
    np.testing.assert_array_equal(display.table.counts, counts)
    np.testing.assert_allclose(display.shares.sum(axis=1), 1.0)
    wanted = {
        (k, a): f"{counts[k, a]:g}\n{100 * counts[k, a] / counts[k].sum():.3g} %"
        for k, a in zip(*np.nonzero(counts), strict=True)
    }
    assert cells(display) == wanted
    assert f"{np.trace(counts):g} of {len(y)} rows right" in title_of(display)


def test_labels_and_posteriors_that_say_the_same_give_the_same_table(penguins):
    y, logs, classes = penguins
    by_label = ConfusionDisplay.from_predictions(y, classes[logs.argmax(axis=1)])
    by_posterior = ConfusionDisplay.from_predictions(y, np.exp(logs), classes=classes)
    np.testing.assert_array_equal(by_label.table.counts, by_posterior.table.counts)
    assert by_label.table.classes == by_posterior.table.classes == tuple(classes)


def test_rejected_rows_have_a_column_of_their_own_and_are_not_wrong():
    X, y = load_iris(return_X_y=True)
    model = DecisionClassifier(NaiveBayes(), reject={"threshold": 0.99}).fit(X, y)
    display = ConfusionDisplay.from_estimator(model, X, y).plot()
    said = model.predict(X)
    rejected = int((said == "reject").sum())
    assert display.table.counts.sum(axis=0)[-1] == rejected > 0
    assert display.ax_.get_xticklabels()[-1].get_text() == "reject"
    assert f"of {150 - rejected} rows right" in title_of(display)
    assert f"{rejected} with another action" in title_of(display)


def test_twenty_classes_are_counts_only_in_letters_that_fit_their_cells():
    y, p = drawn(20, n=2000)
    display = ConfusionDisplay.from_predictions(y, p).plot()
    display.figure_.canvas.draw()
    renderer = display.figure_.canvas.get_renderer()
    width = display.ax_.get_window_extent(renderer).width / 20
    assert all("%" not in text.get_text() for text in display.ax_.texts)
    assert max(text.get_window_extent(renderer).width for text in display.ax_.texts) < width


def test_a_class_without_rows_has_empty_cells():
    display = ConfusionDisplay.from_predictions(["a", "b"], ["a", "b"], classes=["a", "b", "c"]).plot()
    assert np.isnan(display.shares[2]).all()
    assert set(cells(display)) == {(0, 0), (1, 1)}
