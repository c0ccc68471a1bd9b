"""Models of other libraries beside ours, a lasso where columns are many, and the outside reference."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.tree import DecisionTreeClassifier

import posterior
from posterior import LDA, LogisticRegression, NaiveBayes
from posterior.comparison import Comparison
from posterior.comparison.given import named_estimators
from posterior.estimators.encoded_table import EncodedTableClassifier

pytestmark = pytest.mark.filterwarnings("ignore::posterior.notices.PosteriorWarning")


def stripes(n=300, seed=0):
    """Two classes that take turns along a line, which no square tells."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, np.where((np.floor(3 * X[:, 0]) % 2 == 0) ^ (rng.random(n) < 0.05), "odd", "even")


def test_the_reference_is_shown_and_never_recommended():
    X, y = stripes()
    found = Comparison.of(X, y, folds=3, repeats=1)
    assert found.reference.approach == "reference"
    assert found.shown[-1] is found.reference
    assert found.reference.name not in {result.name for result in found.results}
    assert found.reference.log_loss < found.recommended.log_loss
    assert "But the outside reference, gradient boosting, is ahead by" in found.verdict
    assert "gradient boosting" in str(found)
    assert list(found.frame["model"])[-1] == "reference"
    assert not list(found.frame["tie"])[-1]


def test_where_it_is_no_better_that_is_said_too():
    rng = np.random.default_rng(1)
    y = np.repeat(["a", "b"], 100)
    X = rng.normal(size=(200, 3)) + 2 * (y == "b")[:, None]
    found = Comparison.of(X, y, folds=3, repeats=1)
    assert "below the outside reference" in found.verdict or "as well as the outside" in found.verdict


def test_it_is_not_tried_where_models_are_named_or_nobody_wants_it_or_it_costs_too_much():
    X, y = stripes(60)
    assert Comparison.of(X, y, models=["lda"], folds=3, repeats=1).reference is None
    assert Comparison.of(X, y, reference=False, folds=3, repeats=1).reference is None
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("posterior.comparison.outside.MOST_WORK", 100)
        found = Comparison.of(X, y, folds=3, repeats=1)
    assert found.reference is None
    assert "would take longer" in found.left_out["gradient boosting"]


def test_estimators_of_a_user_are_compared_on_the_same_rows():
    X, y = stripes()
    tree = DecisionTreeClassifier(min_samples_leaf=10, random_state=0)
    found = Comparison.of(X, y, models=["logistic", tree, LogisticRegression(degree=2)], folds=5, repeats=1)
    assert {result.name for result in found.results} == {
        "logistic",
        "DecisionTreeClassifier",
        "LogisticRegression",
    }
    assert max(found.results, key=lambda result: result.accuracy).name == "DecisionTreeClassifier"


def test_two_of_a_kind_have_two_names():
    X, y = stripes(80)
    trees = [DecisionTreeClassifier(max_depth=depth, random_state=0) for depth in (1, 2, 3)]
    found = Comparison.of(X, y, models=trees, folds=3, repeats=1)
    assert {result.name for result in found.results} == {
        "DecisionTreeClassifier",
        "DecisionTreeClassifier 2",
        "DecisionTreeClassifier 3",
    }


def test_a_mapping_gives_estimators_names_as_a_learning_curve_takes_it():
    X, y = stripes(80)
    trees = {f"depth {depth}": DecisionTreeClassifier(max_depth=depth, random_state=0) for depth in (1, 2)}
    found = Comparison.of(X, y, models=trees, folds=3, repeats=1)
    in_a_list = Comparison.of(X, y, models=list(trees.values()), folds=3, repeats=1)
    assert {result.name for result in found.results} == {"depth 1", "depth 2"}
    assert [result.accuracy for result in found.results] == [result.accuracy for result in in_a_list.results]
    assert found.reference is None
    curve = posterior.LearningCurve.of(X, y, models=trees, sizes=[40], repeats=2)
    assert {each.name for each in curve.curves} == set(trees)


@pytest.mark.parametrize("wrong", [{}, {"lda": "lda"}, {"tree": DecisionTreeClassifier}])
def test_a_mapping_without_estimators_is_refused_in_the_same_words_by_both(wrong):
    X, y = stripes(80)
    said = []
    for experiment in (Comparison, posterior.LearningCurve):
        with pytest.raises(ValueError, match="estimator") as error:
            experiment.of(X, y, models=wrong)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_a_model_may_be_called_what_one_of_ours_is_called():
    X, y = stripes(80)
    called = {
        name: DecisionTreeClassifier(max_depth=2, random_state=0) for name in ("reference", "pool", "lda")
    }
    found = Comparison.of(X, y, models=called, folds=3, repeats=1)
    assert {result.name for result in found.results} == set(called)
    assert {result.approach for result in found.results} == {"other"}


def test_estimators_of_ours_that_are_given_are_told_the_kinds_of_columns():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = pd.DataFrame({"code": (rng.integers(0, 3, 200) + y) % 3, "size": rng.normal(size=200)})
    settings = {"kinds": {"code": "categorical"}, "folds": 3, "repeats": 1}
    named = Comparison.of(X, y, models=["naive-bayes"], **settings)
    given = Comparison.of(X, y, models=[NaiveBayes()], **settings)
    plain = Comparison.of(X, y, models=[NaiveBayes()], folds=3, repeats=1)
    assert given.recommended.log_loss == named.recommended.log_loss != plain.recommended.log_loss


def test_columns_are_held_against_the_model_that_was_given_not_against_none():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = pd.DataFrame({"good": y + 0.55 * rng.normal(size=300), "also": y + 0.5 * rng.normal(size=300)})
    assert not Comparison.of(X, y, models=["logistic"], folds=3, repeats=1).leaks
    assert not Comparison.of(X, y, models=[LogisticRegression()], folds=3, repeats=1).leaks


def test_one_that_cannot_take_the_table_is_left_out_with_what_it_says():
    X, y = stripes(80)
    X[3, 1] = np.nan
    found = Comparison.of(X, y, models=["majority", TheirLogisticRegression()], folds=3, repeats=1)
    assert "NaN" in found.left_out["LogisticRegression"]
    with pytest.raises(ValueError, match="or pass an estimator with fit, predict and"):
        Comparison.of(X, y, models=[DecisionTreeClassifier])


def test_a_lasso_is_recommended_where_few_of_many_columns_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 100))
    y = np.where(X[:, :3].sum(axis=1) + 0.5 * rng.normal(size=120) > 0, "a", "b")
    found = Comparison.of(X, y, models=["lasso", "logistic", "naive-bayes"], folds=5, repeats=1)
    assert found.recommended.name == "lasso"
    assert posterior.comparison.MODELS["lasso"].approach == "discriminative"


def test_tuning_that_would_take_very_long_is_not_tried():
    rng = np.random.default_rng(0)
    found = Comparison.of(
        rng.normal(size=(60, 200)), np.arange(60) % 2, models=["rda", "majority"], folds=3, repeats=1
    )
    assert "would take longer" in found.left_out["rda"]


def test_categories_are_codes_and_gaps_and_new_ones_are_nan():
    pets = pd.DataFrame({"sound": ["meow", "woof", "meow", None], "size": [1.0, 3.0, np.nan, 4.0]})
    model = EncodedTableClassifier(RandomForestClassifier(n_estimators=5, random_state=0))
    model.fit(pets, ["cat", "dog", "cat", "dog"])
    new = pd.DataFrame({"sound": ["woof", "moo", None], "size": [1.0, 2.0, np.nan]})
    found = model._numbers(new)
    assert np.array_equal(found, [[1, 1], [np.nan, 2], [np.nan, np.nan]], equal_nan=True)
    assert np.allclose(model.predict_proba(new).sum(axis=1), 1)


def test_the_command_line_takes_a_class_by_its_module(capsys):
    with pytest.raises(SystemExit) as end:
        posterior.cli.main(
            [
                "compare",
                "voters",
                "--models",
                "lda,sklearn.tree:DecisionTreeClassifier",
                "--folds",
                "2",
                "--json",
            ]
        )
    assert end.value.code == 0
    assert "DecisionTreeClassifier" in capsys.readouterr().out
    with pytest.raises(SystemExit) as end:
        posterior.cli.main(["compare", "voters", "--models", "nowhere:Tree"])
    assert end.value.code == 2
    assert "give it as module:Class" in capsys.readouterr().err


def test_a_reference_that_is_no_better_than_guessing_praises_nobody():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(90) < 0.5, "a", "b")
    X = rng.normal(size=(90, 6))
    X[:, 0] += 1.2 * (y == "b")
    found = Comparison.of(X, y, folds=5, repeats=1)
    worst = np.full_like(found.recommended.losses, 3.0)
    poor = replace(found.reference, losses=worst, log_loss=3.0)
    assert found.ranking.against(poor) == (
        "The outside reference, gradient boosting, does no better than the class frequencies."
    )
    sure = replace(found.reference, losses=np.where(np.arange(90) == 3, np.inf, 0.1), log_loss=np.inf)
    assert "something that happened was impossible" in found.ranking.against(sure)


def test_costs_that_few_rows_cannot_settle_do_not_hide_that_the_class_can_be_told():
    rng = np.random.default_rng(0)
    rare = np.arange(4_000) % 400 == 0
    X = rng.normal(size=(4_000, 2))
    X[rare, 0] += 2.5
    y = np.where(rare, "yes", "no")
    costs = {"yes": {"yes": 0, "no": 100}, "no": {"yes": 1, "no": 0}}
    found = Comparison.of(X, y, models=["majority", "logistic"], costs=costs, reference=False)
    assert not found.ranking.nothing_found
    assert found.recommendation.startswith("Use logistic")


def test_names_that_are_written_alike_are_refused():
    with pytest.raises(ValueError, match=r"names that are written alike: \[1, '1'\]"):
        named_estimators({1: LDA(), "1": LDA()})
