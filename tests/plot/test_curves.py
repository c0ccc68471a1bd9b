"""Pictures of risk against coverage, of cost against threshold, of learning and of comparisons."""

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris

from places import DATA
from posterior import LDA, LogisticRegression, NaiveBayes
from posterior.comparison import ColumnImportance, Importance
from posterior.comparison.learning_curve import Curve, LearningCurve
from posterior.decision import (
    average_cost,
    decide,
    detection_curve,
    least_expected_cost,
    risk_coverage_curve,
)
from posterior.plot import (
    ComparisonDisplay,
    CostThresholdDisplay,
    ImportanceDisplay,
    LearningCurveDisplay,
    PrecisionRecallDisplay,
    RiskCoverageDisplay,
    RocDisplay,
)

mpl.use("Agg")
CREDIT = DATA / "german_credit.csv"
LENDING = {"bad": {"lend": 5, "refuse": 0}, "good": {"lend": 0, "refuse": 1}}


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def drawn(n_classes, n=200, seed=0):
    """Log posteriors, and classes drawn from them."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, n_classes)) * 1.5
    logs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    return (np.exp(logs).cumsum(axis=1) < rng.random((n, 1))).sum(axis=1), logs


def title_of(display):
    return display.ax_.get_title(loc="left").replace("\n", " ")


# -- risk against coverage ------------------------------------------------------------------------


def test_the_steps_are_those_of_risk_coverage_curve():
    y, logs = drawn(3)
    display = RiskCoverageDisplay.from_predictions(y, logs).plot()
    curve = risk_coverage_curve(y, logs)
    line = display.ax_.lines[1]
    assert line.get_drawstyle() == "steps-pre"  # `at(c)` is the risk of the next point
    np.testing.assert_array_equal(line.get_xdata()[1:], curve.coverage)
    np.testing.assert_array_equal(line.get_ydata()[1:], curve.risk)
    assert f"{curve.risk[-1]:.3g} answering all" in title_of(display)


@pytest.mark.parametrize("reject", [{"threshold": 0.7}, {"cost": 0.4}, {"coverage": 0.8}], ids=str)
def test_the_mark_is_at_the_share_that_the_rule_answers(reject):
    y, logs = drawn(3)
    display = RiskCoverageDisplay.from_predictions(y, logs, reject=reject).plot()
    answered = decide(logs, reject=reject) < 3
    share, error = answered.mean(), (logs.argmax(axis=1) != y)[answered].mean()
    np.testing.assert_allclose(display.ax_.lines[-1].get_xydata(), [[share, error]])


def test_with_costs_the_risk_is_the_average_cost_and_the_mark_goes_by_expected_cost():
    y, logs = drawn(2)
    costs = [[0, 1], [5, 0]]
    display = RiskCoverageDisplay.from_predictions(y, logs, costs=costs, reject={"cost": 0.5}).plot()
    answered = least_expected_cost(logs, costs) <= 0.5
    paid = average_cost(y[answered], decide(logs[answered], costs), costs)
    np.testing.assert_allclose(display.ax_.lines[-1].get_xydata(), [[answered.mean(), paid]])
    assert "expected cost ≤" in title_of(display)


def test_rules_that_are_no_point_of_the_curve_are_refused():
    y, logs = drawn(2)
    with pytest.raises(ValueError, match="is no point of this curve"):
        RiskCoverageDisplay.from_predictions(y, logs, costs=[[0, 1], [5, 0]], reject={"threshold": 0.9})
    with pytest.raises(ValueError, match="answers no row"):
        RiskCoverageDisplay.from_predictions(y, logs, reject={"cost": 1e-9})


def test_several_curves_share_axes_and_a_legend():
    y, logs = drawn(3)
    first = RiskCoverageDisplay.from_predictions(y, logs, name="sharp").plot()
    flat = np.log(np.full_like(logs, 1 / 3))
    second = RiskCoverageDisplay.from_predictions(y, flat, name="flat $").plot(first.ax_, color="k")
    assert second.ax_ is first.ax_
    names = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert names == [f"sharp (area {first.curve.area:.3g})", f"flat \\$ (area {second.curve.area:.3g})"]
    assert first.ax_.get_ylim()[1] >= second.curve.risk.max()


# -- cost against threshold -----------------------------------------------------------------------


@given(alarm=st.floats(0.01, 100), miss=st.floats(0.01, 100), gain=st.floats(-5, 5))
def test_the_threshold_implied_by_costs_is_alarm_over_alarm_plus_miss(alarm, miss, gain):
    costs = [[gain, gain + alarm], [miss - gain, -gain]]
    display = CostThresholdDisplay.from_predictions([0, 1], [[0.6, 0.4], [0.3, 0.7]], costs=costs)
    np.testing.assert_allclose(display.bayes, alarm / (alarm + miss), rtol=1e-9)


def test_every_step_is_the_average_cost_of_deciding_by_that_threshold():
    y, logs = drawn(2)
    costs = np.array([[0.0, 1.0], [5.0, -1.0]])
    display = CostThresholdDisplay.from_predictions(y, logs, costs=costs).plot()
    line = display.ax_.lines[0]
    assert line.get_drawstyle() == "steps-post"
    np.testing.assert_array_equal(line.get_xdata()[:-1], display.threshold)
    np.testing.assert_array_equal(line.get_ydata()[:-1], display.cost)
    p = np.exp(logs[:, 1])
    paid = [average_cost(y, (p > t).astype(int), costs) for t in display.threshold]
    np.testing.assert_allclose(display.cost, paid, atol=1e-12)


def test_marks_are_the_cost_of_decide_the_cheapest_threshold_and_the_two_levels():
    y, logs = drawn(2)
    costs = [[0, 1], [5, 0]]
    display = CostThresholdDisplay.from_predictions(y, logs, costs=costs).plot()
    implied, best = (line.get_xydata()[0] for line in display.ax_.lines if line.get_marker() in "Dv")
    np.testing.assert_allclose(implied, [1 / 6, average_cost(y, decide(logs, costs), costs)])
    low, high = display.best
    assert low <= best[0] <= high
    assert best[1] == display.cost.min()
    levels = [line.get_ydata()[0] for line in display.ax_.lines if line.get_linestyle() == "--"]
    np.testing.assert_allclose(levels, [average_cost(y, np.full(200, a), costs) for a in (1, 0)])


def test_actions_have_their_names_and_the_positive_class_may_be_the_first():
    y, logs = drawn(2)
    labels = np.array(["bad", "good"])[y]
    bad, good = (
        CostThresholdDisplay.from_predictions(
            labels, logs, costs=LENDING, classes=["bad", "good"], positive=positive
        )
        for positive in ("bad", "good")
    )
    assert bad.bayes == pytest.approx(1 / 6)
    assert good.bayes == pytest.approx(5 / 6)
    assert bad.words.axis == "threshold on the posterior of bad: refuse above, lend below"
    assert (bad.words.above, good.words.above) == ("always refuse", "always lend")
    assert bad.bayes_cost == pytest.approx(good.bayes_cost)


def test_the_cost_of_rejecting_is_the_best_threshold_in_expectation_for_any_number_of_classes():
    y, logs = drawn(4)
    display = CostThresholdDisplay.from_predictions(y, logs, rejection=0.35).plot()
    assert display.bayes == 0.35
    risk, wrong = least_expected_cost(logs), (logs.argmax(axis=1) != y).astype(float)
    paid = [np.where(risk > t, 0.35, wrong).mean() for t in display.threshold]
    np.testing.assert_allclose(display.cost, paid, atol=1e-12)
    assert display.cost[0] == pytest.approx(0.35)
    expected = [np.where(risk > t, 0.35, risk).mean() for t in (*display.threshold, 0.35)]
    assert min(expected) == expected[-1]


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"costs": [[0, 1, 1], [1, 0, 1]]}, "two classes and two actions, found 2 classes and 3 actions"),
        ({"costs": [[0, 1], [0, 1]]}, "nothing to decide"),
        ({"costs": np.ones((200, 2, 2))}, "one matrix for all"),
        ({"positive": 7}, r"positive=7 is not one of the classes \[0, 1\]"),
        ({"rejection": "much"}, "must be a number"),
    ],
    ids=["three actions", "one dominates", "of rows", "no class", "no number"],
)
def test_costs_without_a_threshold_are_refused(settings, match):
    y, logs = drawn(2)
    with pytest.raises(ValueError, match=match):
        CostThresholdDisplay.from_predictions(y, logs, **settings)


def test_three_classes_without_a_cost_of_rejecting_are_refused():
    with pytest.raises(ValueError, match="pass rejection=c"):
        CostThresholdDisplay.from_predictions(*drawn(3))


@pytest.mark.skipif(not CREDIT.exists(), reason="needs german_credit.csv beside the repository")
def test_on_german_credit_the_implied_threshold_is_a_sixth_and_costs_less_than_either_level():
    table = pd.read_csv(CREDIT)
    X, y = table.drop(columns="class"), table["class"].map({1: "good", 2: "bad"})
    model = NaiveBayes().fit(X, y)
    held_out = model.k_fold_log_proba(X, y, 5)
    settings = {"costs": LENDING, "classes": model.classes_, "positive": "bad"}
    display = CostThresholdDisplay.from_predictions(y, held_out, **settings).plot()
    assert display.bayes == pytest.approx(1 / 6)
    assert display.cost[0] == pytest.approx(0.7)  # refusing the 700 good ones
    assert display.cost[-1] == pytest.approx(1.5)  # lending to the 300 bad ones
    assert display.cost.min() <= display.bayes_cost < 0.6


# -- learning -------------------------------------------------------------------------------------


def curves_of(first, second):
    """Two curves with made-up losses, (sizes, repeats)."""
    sizes = (10, 100, 1000)
    first, second = np.asarray(first), np.asarray(second)
    made = (
        Curve("nb", "naive Bayes", "generative", sizes, first, first / 2),
        Curve("lr", "logistic", "discriminative", sizes, second, second / 2),
    )
    return LearningCurve(made, sizes, first.shape[1], 50, 0, (("nb", "lr"),))


CROSSING = curves_of([[0.5, 0.7], [0.4, 0.5], [0.4, 0.44]], [[0.9, 1.1], [0.5, 0.6], [0.2, 0.22]])


@pytest.mark.parametrize("metric", ["log_loss", "error_rate"])
def test_lines_and_bands_are_means_and_standard_errors(metric):
    display = LearningCurveDisplay.from_curve(CROSSING, metric=metric).plot()
    for curve, band in zip(CROSSING.curves, display.ax_.collections, strict=True):
        mean, error = getattr(curve, metric), getattr(curve, f"{metric}_se")
        line = display.lines_[curve.name]
        np.testing.assert_array_equal(line.get_xydata(), np.stack([curve.sizes, mean], axis=1))
        edge = {tuple(point) for point in band.get_paths()[0].vertices}
        ends = np.concatenate([mean - error, mean + error])
        assert set(zip(np.tile(curve.sizes, 2), ends, strict=True)) <= edge
    assert display.ax_.get_xscale() == "log"


def test_generative_lines_are_whole_and_discriminative_ones_broken():
    display = LearningCurveDisplay.from_curve(CROSSING).plot()
    assert [line.get_linestyle() for line in display.lines_.values()] == ["-", "--"]
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names == ["naive Bayes (generative)", "logistic (discriminative)"]


def test_the_crossover_is_marked_where_the_curve_says_it_is():
    display = LearningCurveDisplay.from_curve(CROSSING).plot()
    rows = CROSSING.crossover("nb", "lr").rows
    mark = display.ax_.lines[-1].get_xydata()[0]
    assert mark[0] == rows
    early, late = (
        np.interp(np.log(rows), np.log(c.sizes), c.log_loss) for c in (CROSSING["nb"], CROSSING["lr"])
    )
    assert mark[1] == pytest.approx(early) == pytest.approx(late)
    assert title_of(display) == f"1: from about {rows:,.0f} rows logistic is ahead of naive Bayes"


def test_a_crossing_within_the_noise_is_said_to_be_one():
    noisy = curves_of([[0.1, 0.9], [0.5, 0.6], [0.5, 0.7]], [[0.4, 0.7], [0.5, 0.5], [0.2, 0.9]])
    display = LearningCurveDisplay.from_curve(noisy).plot()
    assert not display.crossovers[0].is_clear
    assert title_of(display).endswith("naive Bayes (may be chance)")


def test_curves_that_do_not_cross_have_no_mark():
    apart = curves_of([[0.1, 0.2]] * 3, [[0.5, 0.6]] * 3)
    display = LearningCurveDisplay.from_curve(apart).plot()
    assert display.crossovers == ()
    assert len(display.ax_.lines) == 2
    assert title_of(display) == "No generative and discriminative model cross"


def test_infinite_losses_and_one_repeat_can_be_drawn():
    made = curves_of([[np.inf], [0.5], [0.2]], [[0.9], [0.6], [0.3]])
    display = LearningCurveDisplay.from_curve(made).plot()
    display.figure_.canvas.draw()
    assert np.isinf(display.lines_["nb"].get_ydata()[0])


def test_curves_of_estimators_are_those_of_learning_curve():
    X, y = load_iris(return_X_y=True)
    models, settings = {"LDA": LDA(), "softmax": LogisticRegression()}, {"sizes": [15, 60], "repeats": 2}
    display = LearningCurveDisplay.from_estimator(models, X, y, **settings)
    wanted = LearningCurve.of(X, y, models=models, **settings)
    for found, curve in zip(display.curve.curves, wanted.curves, strict=True):
        np.testing.assert_array_equal(found.log_losses, curve.log_losses)
    with pytest.raises(ValueError, match="metric must be one of"):
        LearningCurveDisplay.from_curve(wanted, metric="loss")


# -- comparisons ----------------------------------------------------------------------------------


def result(title, approach, log_loss, se=0.01):
    return SimpleNamespace(title=title, approach=approach, log_loss=log_loss, log_loss_se=se, accuracy=0.9)


def test_a_comparison_shows_log_losses_with_intervals_and_shades_ties():
    results = (
        result("LDA", "generative", 0.2),
        result("logistic", "discriminative", 0.21),
        result("majority", "baseline", 1.1),
        result("least squares", "discriminant", None, None),
    )
    found = SimpleNamespace(
        results=results, ties=results[1:2], recommended=results[0], recommendation="Take LDA."
    )
    display = ComparisonDisplay.from_comparison(found).plot()
    axes = display.ax_
    dots = [
        line.get_xydata()[0]
        for line in axes.lines
        if line.get_marker() in ("o", "s", "D") and len(line.get_xdata())
    ]
    np.testing.assert_allclose(dots, [[0.2, 0], [0.21, 1], [1.1, 2]])
    ends = [line.get_xdata() for line in axes.lines if len(line.get_xdata()) == 2]
    np.testing.assert_allclose(ends[0], [0.2 - 0.0196, 0.2 + 0.0196])
    assert sum(patch.get_gid() == "tie" for patch in axes.patches) == 2
    ticks = axes.get_yticklabels()
    assert [tick.get_text() for tick in ticks] == ["LDA", "logistic", "majority", "least squares"]
    assert [tick.get_fontweight() for tick in ticks] == ["bold", "normal", "normal", "normal"]
    assert axes.texts[-1].get_text() == "no log loss; accuracy 0.900"
    assert title_of(display) == "Take LDA."


# -- finding one class ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [RocDisplay, PrecisionRecallDisplay])
def test_the_curve_drawn_is_that_of_detection_curve_and_the_mark_is_on_it(kind):
    y, logs = drawn(2)
    display = kind.from_predictions(y, logs, threshold=0.3).plot()
    curve = detection_curve(y, logs)
    across, up = (curve.false_alarms, curve.recall) if kind is RocDisplay else (curve.recall, curve.precision)
    _, line, mark = display.ax_.lines
    np.testing.assert_array_equal(line.get_xydata(), np.column_stack([across, up]))
    called, found = np.exp(logs[:, 1]) > 0.3, curve.recall[display.marked]
    assert found == pytest.approx(called[y == 1].mean())
    assert mark.get_xydata().tolist() == [[across[display.marked], up[display.marked]]]


def test_importance_is_drawn_with_its_intervals_and_filled_where_they_are_above_zero():
    def one(name, value, error):
        return ColumnImportance(name, (name,), value, error)

    columns = (one("a", 1.0, 0.1), one("$b", 0.1, 0.2), one("c", -0.3, 0.1), one("d", -0.4, 0.1))
    found = Importance(
        columns, (one("a, $b together", 1.2, 0.1),), (), (), "m", "shuffled", "log loss", 0.5, 9, 2, 0
    )
    display = ImportanceDisplay.from_importance(found, max_columns=3).plot()
    display.figure_.canvas.draw()
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == [
        "a",
        r"\$b",
        "c",
        r"a, \$b together",
    ]
    _, *lines = display.ax_.lines
    for row, column in enumerate(display.shown):
        interval, mark = lines[2 * row : 2 * row + 2]
        np.testing.assert_allclose(interval.get_xdata(), column.interval)
        assert mark.get_xydata().tolist() == [[column.value, row]]
        assert (mark.get_markerfacecolor() == "white") == (column.interval[0] <= 0)
        assert mark.get_marker() == ("s" if "together" in column.name else "o")


def test_names_of_classes_are_no_mathematics_in_curves():
    y, logs = drawn(2)
    names = np.array(["$a", "$b_1$"])
    display = RocDisplay.from_predictions(names[y], logs, classes=names).plot()
    display.figure_.canvas.draw()
    assert r"\$b_1\$" in display.ax_.get_ylabel()
    assert display.marked is None
