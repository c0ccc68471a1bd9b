"""What the page says of the model that it recommends: its columns, and its thresholds."""

import re
from html import unescape
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from posterior.comparison import Comparison, Importance, importance
from posterior.decision import average_cost, decide, detection_curve
from posterior.plot import EffectDisplay
from posterior.report import render
from posterior.schema import LabelledTable

FEW = {"models": ["majority", "naive-bayes", "logistic"], "folds": 3, "repeats": 1}
LENDING = {"bad": {"lend": 5, "refuse": 0}, "good": {"lend": 0, "refuse": 1}}


def words_of(page: str, key: str) -> str:
    """The words of a section, without its pictures; empty where it is not there."""
    found = re.search(rf'<section id="{key}".*?</section>', page, re.DOTALL)
    if found is None:
        return ""
    bare = re.sub(r"<svg.*?</svg>", " ", found[0], flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", bare)).split())


def loans(n: int = 240, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    X = pd.DataFrame(
        {
            "amount": rng.normal(size=n) + y,
            "purpose": np.where(rng.random(n) < 0.3 + 0.4 * y, "car", "house"),
            "noise": rng.normal(size=n),
        }
    )
    return X, np.where(y, "bad", "good")


@pytest.fixture(scope="module")
def two_classes() -> tuple[Comparison, str]:
    X, y = loans()
    comparison = Comparison.of(X, y, **FEW)
    return comparison, render(comparison, X, y, source="loans.csv", target="class")


# -- the threshold --------------------------------------------------------------------------------


def test_the_curves_are_those_of_the_recommended_model_on_rows_held_out(
    two_classes: tuple[Comparison, str],
) -> None:
    comparison, page = two_classes
    told = words_of(page, "threshold")
    curve = detection_curve(comparison.codes, comparison.recommended.log_proba, positive=0)
    low, high = curve.area_interval()
    assert f"Area under the curve {curve.area:.3f}, 95 % interval {low:.3f} to {high:.3f}" in told
    assert f"Average precision {curve.average_precision:.3f}, where {curve.share:.3f} is chance" in told
    at = curve.at(0.5)
    assert f"At the mark {100 * curve.recall[at]:.1f} % of bad are found" in told
    assert f"At the mark {100 * curve.precision[at]:.1f} % of the rows taken for bad are so" in told
    assert (
        f"Error rate (a mistake costs 1) {(comparison.recommended.predicted != comparison.codes).mean():.3f}"
        in told
    )


def test_with_costs_the_mark_is_at_the_threshold_that_they_imply() -> None:
    X, y = loans()
    comparison = Comparison.of(X, y, costs=LENDING, **FEW)
    told = words_of(render(comparison, X, y), "threshold")
    assert "Marked is 0.167, the threshold that the costs imply" in told
    done = decide(comparison.recommended.log_proba, comparison.costs)
    cost = average_cost(comparison.codes, done, comparison.costs)
    assert f"Average cost {cost:.3f} at the mark" in told


def test_costs_of_more_than_two_actions_imply_no_threshold_and_it_is_said() -> None:
    X, y = loans()
    costs = {"bad": {"lend": 5, "ask": 1, "refuse": 0}, "good": {"lend": 0, "ask": 1, "refuse": 1}}
    told = words_of(render(Comparison.of(X, y, costs=costs, **FEW), X, y), "threshold")
    assert "Area under the curve" in told
    assert "No threshold is marked: a threshold on a posterior is for two classes and two actions" in told
    assert "Cost against" not in told


def test_rows_of_groups_have_no_interval_that_takes_them_for_independent() -> None:
    X, y = loans()
    comparison = Comparison.of(X, y, groups=np.arange(len(y)) // 3, **FEW)
    told = words_of(render(comparison, X, y), "threshold")
    assert "Area under the curve" in told
    assert "interval" not in told


def test_three_classes_and_discriminants_have_no_threshold() -> None:
    X, y = loans()
    three = np.where(np.arange(len(y)) % 7 == 0, "late", y)
    assert words_of(render(Comparison.of(X, three, **FEW), X, three), "threshold") == ""
    squares = Comparison.of(X, y, models=["least-squares"], folds=3, repeats=1)
    assert words_of(render(squares, X, y), "threshold") == ""


def test_precision_stands_beside_recall(two_classes: tuple[Comparison, str]) -> None:
    comparison, page = two_classes
    predicted, codes = comparison.recommended.predicted, comparison.codes
    table = words_of(page, "chosen").split("recall precision ")[1]
    for k, name in enumerate(("bad", "good")):
        counts = [int(((codes == k) & (predicted == j)).sum()) for j in (0, 1)]
        recall = counts[k] / (codes == k).sum()
        precision = counts[k] / (predicted == k).sum()
        assert f"{name} {counts[0]} {counts[1]} {100 * recall:.1f} % {100 * precision:.1f} %" in table


# -- importance -----------------------------------------------------------------------------------


def importance_of(comparison: Comparison, X: Any, y: Any) -> Importance:
    best = comparison.recommended
    return Importance.of_table(
        LabelledTable.of(X, y),
        best.estimator,
        comparison.first_folds,
        used=best.columns,
        seed=comparison.seed,
    )


def test_the_numbers_are_those_of_importance_on_the_folds_of_the_comparison(
    two_classes: tuple[Comparison, str],
) -> None:
    comparison, page = two_classes
    found, told = importance_of(comparison, *loans()), words_of(page, "importance")
    assert f"with all columns it is {found.loss:.3f}" in told
    for column in found.columns:
        low, high = (f"{end:.3f}".replace("-", "−") for end in column.interval)
        assert f"{column.name} {column.value:.3f} {low} to {high}".replace(" -", " −") in told


def test_columns_that_the_model_does_not_use_are_named_and_correlated_ones_tried_together() -> None:
    X, y = loans()
    X["double"] = 2 * X["amount"] + 0.01 * X["noise"]
    comparison = Comparison.of(X, y, models=["lda"], folds=3, repeats=1)
    told = words_of(render(comparison, X, y), "importance")
    assert "Not used by LDA: purpose." in told
    assert "Strongly correlated columns are tried together too (squares): amount and double" in told
    assert "The column is left out exactly" in told


def test_class_frequencies_need_no_column() -> None:
    X, y = loans()
    page = render(Comparison.of(X, y, models=["majority"], folds=3, repeats=1), X, y)
    assert words_of(page, "importance") == ""


def test_of_many_columns_the_most_important_are_drawn_and_the_others_counted() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 40)) + np.eye(40)[0] * 2 * y[:, None]
    comparison = Comparison.of(X, y, models=["naive-bayes"], folds=3, repeats=1)
    told = words_of(render(comparison, X, y), "importance")
    assert "The 20 most important of 40 columns are drawn" in told


def test_a_sample_of_the_rows_is_said_and_rows_in_time_and_in_groups_are_dealt_as_they_were(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = loans()
    monkeypatch.setattr(importance, "MOST_ROWS", 100)
    monkeypatch.setattr(importance, "FEWEST_ROWS", 100)
    plain = Comparison.of(X, y, **FEW)
    assert re.search(r"From 1\d\d of 240 rows", words_of(render(plain, X, y), "importance"))
    settings: dict[str, Any]
    for settings in ({"groups": np.arange(len(y)) // 3}, {"time": np.arange(len(y))}):
        told = words_of(
            render(Comparison.of(X, y, **settings, **{**FEW, "repeats": None}), X, y), "importance"
        )
        assert "Intervals of 95 % are over rows" in told


# -- effects --------------------------------------------------------------------------------------


def test_effects_are_those_of_the_recommended_model_trained_with_all_rows(
    two_classes: tuple[Comparison, str],
) -> None:
    comparison, page = two_classes
    X, y = loans()
    told = words_of(page, "effects")
    model = clone(comparison.recommended.estimator).fit(X, y)
    shown = [column.name for column in importance_of(comparison, X, y).columns if column.value > 0]
    display = EffectDisplay.from_estimator(model, X, shown, positive="bad", seed=comparison.seed)
    assert "amount" in shown
    assert "the log odds of bad in" in told
    for effect in display.effects:
        low, high = (f"{v:.2f}".replace("-", "−") for v in (effect.log_odds.min(), effect.log_odds.max()))
        assert f"{effect.name}: {low} to {high}" in told


def test_discriminants_have_importance_by_errors_and_no_log_odds() -> None:
    X, y = loans()
    page = render(Comparison.of(X, y, models=["least-squares"], folds=3, repeats=1), X, y)
    assert "How much the error rate of least squares rises" in words_of(page, "importance")
    assert words_of(page, "effects") == ""
    assert "Left out:" not in page


def test_models_of_others_have_effects_too() -> None:
    X, y = loans()
    forest = RandomForestClassifier(30, min_samples_leaf=5, random_state=0)
    page = render(Comparison.of(X, y, models=[forest, "majority"], folds=3, repeats=1), X, y)
    assert "amount:" in words_of(page, "effects")
    assert "The column is shuffled" in words_of(page, "importance")


# -- texts ----------------------------------------------------------------------------------------


def mails(n: int = 120, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, "spam", "ham")
    own = {
        "spam": ["cheap", "watches", "winner", "<b>free</b>"],
        "ham": ["meeting", "notes", "lunch", "office"],
    }
    common = ["the", "and", "of", "today", "is", "<script>alert(1)</script>"]
    texts = [
        " ".join([*rng.choice(own[k], 2), *rng.choice(common, 4), *rng.choice(own["ham"], 1)]) for k in y
    ]
    return pd.DataFrame({"note": texts, "size": rng.normal(size=n)}), y


@pytest.fixture(scope="module")
def of_texts() -> tuple[Comparison, str, Any, Any]:
    X, y = mails()
    comparison = Comparison.of(X, y, models=["naive-bayes"], folds=3, repeats=1, kinds={"note": "text"})
    return comparison, render(comparison, X, y), X, y


def test_words_come_with_their_log_ratios_and_the_texts_that_hold_them(
    of_texts: tuple[Comparison, str, Any, Any],
) -> None:
    comparison, page, X, y = of_texts
    told = words_of(page, "texts")
    model = clone(comparison.recommended.estimator).fit(X, y)
    ((_, distribution),) = [pair for pair in model.model_.distributions if pair[0].reads == "texts"]
    words, probability = distribution.word_probabilities
    for word in ("cheap", "meeting"):
        k = int(word == "cheap")
        w = list(words).index(word)
        ratio = np.log(probability[k, w] / probability[1 - k, w])
        there = X["note"].str.contains(word).to_numpy()
        own, others = int(there[y == ("ham", "spam")[k]].sum()), int(there[y != ("ham", "spam")[k]].sum())
        share = 100 * own / (y == ("ham", "spam")[k]).sum()
        assert f"{word} {('ham', 'spam')[k]} {ratio:.2f} {own} ({share:.1f} %) {others}" in told


def test_examples_are_explained_by_a_model_that_had_not_seen_them(
    of_texts: tuple[Comparison, str, Any, Any],
) -> None:
    comparison, page, X, y = of_texts
    (row,) = map(int, re.findall(r"middling certainty \(row (\d+)\)", words_of(page, "texts")))
    folds = comparison.first_folds
    assert folds is not None
    assert folds.numbers[row] == folds.n_folds - 1
    others = folds.numbers != folds.numbers[row]
    model = clone(comparison.recommended.estimator).fit(X[others], y[others])
    parts = model.contributions(X[row : row + 1], words=True)
    total = f"{parts.total[0]:.2f}"
    assert f"log odds of {parts.of[0]} against {parts.against[0]} {total}" in words_of(page, "texts")
    label = next(a for a in re.findall(r'aria-label="(Word by word[^"]*)"', page) if total in a)
    at = int(np.argmax(np.abs(parts.values[0])))
    word = parts.terms[at].removeprefix("note[").removesuffix("]")
    assert f"{word} {parts.values[0, at]:.2f}".replace("-", "−") in unescape(label)


def test_what_a_text_holds_is_quoted_and_never_obeyed(of_texts: tuple[Comparison, str, Any, Any]) -> None:
    _, page, _, _ = of_texts
    assert "<script>alert" not in page
    assert "<b>free" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_models_that_read_no_texts_say_nothing_of_words() -> None:
    X, y = mails()
    page = render(Comparison.of(X, y, models=["lda"], folds=3, repeats=1, kinds={"note": "text"}), X, y)
    assert words_of(page, "texts") == ""
    assert "Not used by LDA: note." in words_of(page, "importance")
