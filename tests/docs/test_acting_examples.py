"""The examples of acting on probabilities: what they show, and that the docs show the same."""

import numpy as np
import pytest

from places import DATA, REPOSITORY, module_from

CREDIT = DATA / "german_credit.csv"
ACTING = REPOSITORY / "docs" / "acting.md"


def example(name):
    return module_from(REPOSITORY / "examples" / f"{name}.py")


def test_the_table_of_what_models_can_do_is_what_they_do():
    assert example("capabilities").table() in ACTING.read_text(encoding="utf-8")


@pytest.mark.skipif(not CREDIT.exists(), reason="the German credit table is not part of the project")
@pytest.mark.parametrize("name", ["naive Bayes", pytest.param("logistic regression", marks=pytest.mark.long)])
def test_expected_cost_is_cheaper_than_argmax_and_no_dearer_than_a_tuned_threshold(name):
    credit = example("german_credit")
    X, y = credit.read(CREDIT)
    model = credit.MODELS[name]
    paid = dict(zip(credit.rivals(model), credit.costs_paid(X, y, model, 1)[:, 0], strict=True))
    ours = paid["DecisionClassifier"]

    def more(rival):
        difference = paid[rival] - ours
        return difference.mean(), difference.std(ddof=1) / np.sqrt(len(y))

    difference, error = more("argmax")
    assert difference > 5 * error
    difference, error = more("TunedThresholdClassifierCV")
    assert difference > -2 * error
