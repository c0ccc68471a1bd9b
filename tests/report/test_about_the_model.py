"""What the page says of the model that it recommends: thresholds."""

import re
from html import unescape
from typing import Any

import numpy as np
import pandas as pd
import pytest

from posterior.comparison import Comparison
from posterior.decision import average_cost, decide, detection_curve
from posterior.report import render

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
