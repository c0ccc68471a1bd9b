"""Learning curves: what they are made of, where they cross, and what they show on real tables."""

import json
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin

from examples import few_examples
from places import DATA
from posterior import (
    LDA,
    GenerativeClassifier,
    LeastSquaresClassifier,
    LogisticRegression,
    NaiveBayes,
)
from posterior.comparison.crossover import find_crossover
from posterior.comparison.experiments import scores_of
from posterior.comparison.fixed_candidates import FixedCandidate, candidates_of, pairs_to_compare
from posterior.comparison.learning_curve import Curve, LearningCurve
from posterior.comparison.nested import checked_sizes, nested_split
from posterior.datasets import load_penguins
from posterior.estimators.held_out import GrowingFit
from posterior.estimators.target import labelled_table
from posterior.families import MultivariateNormal


def mixed(n=120, seed=0):
    """A table with numbers, categories, gaps and texts of several words among few categories."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "yes", "maybe"], size=n, p=[0.5, 0.4, 0.1])
    shift = np.select([y == "no", y == "yes"], [0.0, 1.0], 2.0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40 + 5 * shift, 10),
            "income": np.exp(rng.normal(8 + shift, 1)),
            "state": rng.choice(["CA", "NY", "TX"], n),
            "mood": np.where(rng.random(n) < 0.3 + 0.2 * shift, "all is very well", "not so good today"),
        }
    )
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "state"] = None
    return frame, y


# -- rows to learn from ---------------------------------------------------------------------------

class_codes = st.lists(st.integers(0, 3), min_size=12, max_size=150).map(
    lambda codes: np.unique(np.array(codes), return_inverse=True)[1]
)


@given(class_codes, st.sampled_from([0.2, 0.3, 0.5]), st.integers(0, 5))
def test_rows_are_split_once_and_every_class_keeps_two_rows_to_learn_from(codes, share, seed):
    counts = np.bincount(codes)
    if not any(min(round(share * c), c - 2) > 0 for c in counts):
        with pytest.raises(ValueError, match="no row is left to test on"):
            nested_split(codes, share, np.random.default_rng(seed))
        return
    order, test = nested_split(codes, share, np.random.default_rng(seed))
    assert sorted([*order, *test]) == list(range(len(codes)))
    assert (np.bincount(codes[order], minlength=len(counts)) >= np.minimum(counts, 2)).all()


@given(class_codes, st.integers(0, 5))
def test_every_beginning_of_enough_rows_holds_each_class_twice(codes, seed):
    if not (np.bincount(codes) > 4).any():
        return
    order, _ = nested_split(codes, 0.3, np.random.default_rng(seed))
    needed = np.minimum(np.bincount(codes[order]), 2)
    assert np.array_equal(np.bincount(codes[order[: needed.sum()]], minlength=len(needed)), needed)


def test_large_beginnings_hold_classes_in_proportion_to_within_a_row():
    codes = np.repeat([0, 1, 2], [600, 300, 100])
    order, _ = nested_split(codes, 0.3, np.random.default_rng(0))
    for n in (60, 137, 500, 700):
        found, fair = np.bincount(codes[order[:n]]), np.array([0.6, 0.3, 0.1]) * n
        assert (np.abs(found - fair) <= 1.0 + 1e-9).all()


def test_sizes_double_from_ten_to_all_rows_that_are_not_held_out():
    sizes = checked_sizes(None, 22_793, 2)
    assert sizes[0] == 10
    assert sizes[-1] == 22_793
    assert all(1.7 < b / a < 2.3 for a, b in pairwise(sizes))
    assert checked_sizes(None, 5, 2) == (5,)
    assert checked_sizes([4, 9], 20, 2) == (4, 9)


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        ([3], "between 4"),
        ([30], "and 20"),
        ([5, 5], "must grow"),
        ([4.5], "whole"),
        ([], "none"),
        (["5"], "whole"),
    ],
)
def test_sizes_that_cannot_be_are_refused(sizes, says):
    with pytest.raises(ValueError, match=says):
        checked_sizes(sizes, 20, 2)


# -- models that grow -----------------------------------------------------------------------------


def growing_models():
    block = GenerativeClassifier([(["age", "income"], MultivariateNormal(tied=1.0))], remainder="auto")
    return {
        "naive": (NaiveBayes(tied=False, weights=1.0), True),
        "tied": (NaiveBayes(tied=True, weights=1.0), True),
        "tuned": (
            NaiveBayes(tied="auto", cv=2, weights=1.0),
            False,
        ),  # chosen by cross-validation, which needs all rows
        "block": (block, False),  # gaps are filled in by EM, which needs all rows
        "logistic": (LogisticRegression(missing="indicator", warm_start=True), False),
    }


def taken(table, rows):
    """Some rows of a table, and their labels."""
    part = table.part(rows)
    return part.native, part.labels


@pytest.mark.parametrize("name", growing_models())
@pytest.mark.filterwarnings("ignore::posterior.notices.PosteriorWarning")
def test_a_model_that_learnt_in_parts_is_the_model_of_all_of_them(name):
    estimator, adds_up = growing_models()[name]
    rows = labelled_table(*mixed())
    (candidate,) = candidates_of({name: estimator}, rows)
    order, test = nested_split(rows.codes, 0.3, np.random.default_rng(1))
    growing = GrowingFit(candidate.estimator, rows, order)
    for n in (20, 45, len(order)):
        grown = growing.up_to(n)
        fitted = candidate.fresh().fit(*taken(rows, order[:n]))
        X = taken(rows, test)[0]
        np.testing.assert_allclose(grown.predict_log_proba(X), fitted.predict_log_proba(X), atol=1e-6)
    assert growing.adds_up == adds_up


def test_sums_add_up_over_texts_and_over_columns_that_are_empty_at_first():
    texts = pd.DataFrame(
        {"words": ["buy it now", "see you at noon", "win a prize now", "call me at home"] * 8}
    )
    texts["late"] = [np.nan] * 16 + list(np.linspace(0, 1, 16))
    rows = labelled_table(texts, ["spam", "ham"] * 16)
    (candidate,) = candidates_of({"naive": NaiveBayes(tied=False, weights=1.0)}, rows)
    growing = GrowingFit(candidate.estimator, rows, np.arange(32))
    for n in (8, 20, 32):
        grown, fitted = growing.up_to(n), candidate.fresh()
        with pytest.warns() if n < 20 else nullcontext():
            fitted.fit(*taken(rows, np.arange(n)))
        np.testing.assert_allclose(grown.predict_proba(texts), fitted.predict_proba(texts), atol=1e-9)
    assert growing.adds_up


def test_units_of_columns_change_no_default_model():
    X, y = mixed()
    other = X.assign(age=1000 * X["age"] + 7, income=X["income"] / 1000)
    one, two = (LearningCurve.of(table, y, sizes=[20, 60], repeats=2) for table in (X, other))
    for a, b in zip(one.curves, two.curves, strict=True):
        np.testing.assert_allclose(a.log_losses, b.log_losses, rtol=1e-4)


def test_a_class_that_a_model_has_not_seen_has_posterior_zero():
    model = LDA().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "c", "c"])
    scores = scores_of(model, labelled_table([[0.5], [2.0], [5.0]], ["a", "b", "c"]).part([0, 1]))
    assert scores.log_loss == np.inf
    assert scores.error_rate == 0.5


# -- where curves cross ---------------------------------------------------------------------------

sizes_of_curves = st.lists(st.integers(2, 100_000), min_size=2, max_size=12, unique=True).map(sorted)


@given(sizes_of_curves, st.floats(0.05, 0.95), st.integers(0, 20))
def test_curves_whose_difference_is_a_line_in_log_n_cross_where_it_is_zero(sizes, share, seed):
    zero = sizes[0] ** (1 - share) * sizes[-1] ** share
    slopes = np.random.default_rng(seed).uniform(0.5, 2.0, size=5)
    differences = np.log(np.array(sizes) / zero)[:, None] * slopes
    found = find_crossover(sizes, differences, ("a", "b"))
    assert found.rows == pytest.approx(zero, rel=1e-9)
    assert (found.early, found.late) == ("a", "b")
    assert found.between[0] <= zero * (1 + 1e-9)
    assert found.between[1] >= zero * (1 - 1e-9)


@given(st.lists(st.floats(-1, 1), min_size=6, max_size=6), st.integers(0, 9))
def test_it_does_not_matter_which_of_two_models_comes_first(means, seed):
    noise = np.random.default_rng(seed).normal(0, 0.1, size=(6, 4))
    differences = np.array(means)[:, None] + noise
    sizes = [10, 20, 40, 80, 160, 320]
    assert find_crossover(sizes, differences, ("a", "b")) == find_crossover(sizes, -differences, ("b", "a"))


@pytest.mark.parametrize(
    "means",
    [[-0.3, -0.2, -0.1], [0.3, 0.2, 0.1], [0.1, 0.0, 0.1], [-0.1, 0.1, 0.0], [np.nan] * 3, [0.0, 0.0, 0.0]],
)
def test_there_is_no_crossover_where_the_better_model_was_never_behind(means):
    assert find_crossover([10, 20, 40], np.array(means)[:, None] + np.zeros(3), ("a", "b")) is None


def test_the_last_of_several_changes_of_sign_counts():
    found = find_crossover([10, 20, 40, 80], np.array([[-1.0], [1.0], [-1.0], [1.0]]), ("a", "b"))
    assert found.between == (40, 80)
    assert found.rows == pytest.approx(np.sqrt(40 * 80))
    assert found.early_at == (10, 40)
    assert found.late_before == (20,)


def test_a_difference_of_zero_is_where_curves_cross():
    found = find_crossover([10, 20, 40], np.array([[-1.0], [0.0], [1.0]]), ("a", "b"))
    assert found.rows == pytest.approx(20)


def test_infinite_losses_cross_at_the_finite_end_and_missing_sizes_are_passed_over():
    infinite = find_crossover([10, 20, 40], np.array([[np.inf], [np.inf], [-0.1]]), ("a", "b"))
    assert infinite.rows == pytest.approx(40)
    assert infinite.early == "b"
    gap = find_crossover([10, 20, 40], np.array([[-1.0], [np.nan], [1.0]]), ("a", "b"))
    assert gap.between == (10, 40)


def test_a_lead_is_clear_beyond_two_paired_standard_errors():
    sure, unsure = np.array([1.0, 1.1, 0.9]), np.array([1.0, -1.4, 0.6])
    differences = np.stack([-sure, -unsure, unsure, sure, unsure, sure, sure])
    found = find_crossover([10, 20, 40, 80, 160, 320, 640], differences, ("a", "b"))
    assert (found.clear_until, found.clear_from, found.between) == (10, 320, (20, 40))
    assert found.is_clear
    one = find_crossover([10, 20], np.array([[-1.0], [1.0]]), ("a", "b"))
    assert (one.clear_until, one.clear_from, one.is_clear) == (None, None, False)  # one repeat has no error


def curve_of(name, approach, losses, sizes=(10, 40)):
    losses = np.asarray(losses, dtype=float)
    return Curve(name, name, approach, sizes, losses, losses)


def test_a_model_without_probabilities_is_compared_by_its_errors():
    squares = replace(
        curve_of("squares", "discriminant", [[0.7, 0.7], [0.3, 0.3]]), log_losses=np.full((2, 2), np.nan)
    )
    others = curve_of("naive", "generative", [[0.5, 0.5], [0.5, 0.5]])
    learnt = LearningCurve((squares, others), (10, 40), 2, 5, 0, (("squares", "naive"),))
    assert learnt.findings == (
        "naive is better up to about 20 rows (clearly up to 10), squares from there on (clearly from 40).",
    )
    assert learnt.crossovers == {("squares", "naive"): None}


def test_findings_say_what_the_numbers_say():
    curves = (
        curve_of("early", "generative", [[0.5, 0.5], [0.5, 0.5]]),
        curve_of("late", "discriminative", [[0.7, 0.7], [0.3, 0.3]]),
        curve_of("ever", "discriminative", [[0.4, 0.4], [0.4, 0.2]]),
    )
    pairs = (("early", "late"), ("early", "ever"))
    learnt = LearningCurve(curves, (10, 40), 2, 5, 0, pairs)
    assert learnt.findings == (
        "early is better up to about 20 rows (clearly up to 10), late from there on (clearly from 40). "
        "By error rate late overtakes at about 20.",
        "ever is better than early at every size that was tried, by 0.200 ± 0.100 at 40 rows, "
        "which may be chance.",
    )
    assert learnt.crossovers[("early", "late")].rows == pytest.approx(20)
    assert learnt.crossovers[("early", "ever")] is None
    assert learnt.difference("late", "early")[0] == pytest.approx([0.2, -0.2])
    with pytest.raises(KeyError, match="no model is called 'other'"):
        learnt["other"]
    with pytest.raises(ValueError, match="metric must be one of"):
        learnt.crossover("early", "late", "brier")


def test_curves_that_cross_more_than_once_are_told_size_by_size():
    sizes = (10, 20, 40, 80, 160)
    even = curve_of("even", "generative", np.full((5, 2), 0.5), sizes)
    late = curve_of("late", "discriminative", [[0.7] * 2, [0.3] * 2, [0.6] * 2, [0.4] * 2, [0.2] * 2], sizes)
    tied = curve_of("tied", "discriminative", [[0.5] * 2, [0.3] * 2, [0.5] * 2, [0.4] * 2, [0.2] * 2], sizes)
    learnt = LearningCurve((even, late, tied), sizes, 2, 5, 0, (("even", "late"), ("even", "tied")))
    several, never_behind = (told.split(" By error rate")[0] for told in learnt.findings)
    assert several == (
        "late is better from about 57 rows on (clearly from 80); below that the curves cross more than once: "
        "even is ahead at 10 and 40 rows, late at 20."
    )
    assert never_behind == (
        "tied is better than even by 0.300 ± 0.000 at 160 rows, and behind at no size that was tried."
    )


@given(st.lists(st.sampled_from([-0.2, -0.1, 0.0, 0.1, 0.2]), min_size=2, max_size=6))
def test_no_finding_contradicts_the_table(leads):
    sizes = tuple(10 * 2**k for k in range(len(leads)))
    first = curve_of("first", "generative", np.full((len(leads), 2), 0.5), sizes)
    second = curve_of("second", "discriminative", 0.5 - np.array(leads)[:, None] + np.zeros(2), sizes)
    learnt = LearningCurve((first, second), sizes, 2, 5, 0, (("first", "second"),))
    told, signs = learnt.findings[0], np.sign(np.array(leads))
    if "every size" in told:
        assert abs(signs.sum()) == len(signs)
    if "is better up to" in told:  # one model up to some size, the other beyond
        assert (np.diff(signs[signs != 0]) != 0).sum() == 1
    if "do not differ" in told:
        assert signs[-1] == 0


# -- whole experiments ----------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_numbers_and_another_gives_others():
    X, y = mixed()
    one, two, three = (LearningCurve.of(X, y, sizes=[20, 60], repeats=2, seed=s) for s in (3, 3, 4))
    for a, b in zip(one.curves, two.curves, strict=True):
        assert np.array_equal(a.log_losses, b.log_losses)
        assert np.array_equal(a.error_rates, b.error_rates)
    assert not np.array_equal(one.curves[0].log_losses, three.curves[0].log_losses)


def test_a_curve_holds_the_losses_of_models_fitted_to_nested_rows():
    X, y = mixed()
    curves = LearningCurve.of(
        X, y, models={"naive": NaiveBayes(tied=False, weights=1.0)}, sizes=[20, 60], repeats=2, seed=5
    )
    rows = labelled_table(X, y)
    order, test = nested_split(rows.codes, 0.3, np.random.default_rng([5, 1]))
    model = NaiveBayes(kinds=[(3, "categorical")], tied=False, weights=1.0).fit(*taken(rows, order[:60]))
    expected = scores_of(model, rows.part(test))
    assert curves["naive"].log_losses[1, 1] == pytest.approx(expected.log_loss, abs=1e-9)
    assert curves["naive"].error_rates[1, 1] == expected.error_rate
    assert curves.n_test == len(test)


@pytest.mark.parametrize("container", ["polars", "pyarrow", "numpy", "list"])
def test_every_kind_of_table_gives_the_same_curves(container):
    X, y = mixed(80)
    plain = X.astype(object).where(X.notna(), None)
    table = {
        "polars": lambda: pl.from_pandas(X),
        "pyarrow": lambda: pa.Table.from_pandas(X, preserve_index=False),
        "numpy": plain.to_numpy,
        "list": lambda: plain.to_numpy().tolist(),
    }[container]()
    labels = pa.chunked_array([y]) if container == "pyarrow" else y
    expected = LearningCurve.of(X, y, sizes=[15, 50], repeats=2)
    found = LearningCurve.of(table, labels, sizes=[15, 50], repeats=2)
    for a, b in zip(expected.curves, found.curves, strict=True):
        np.testing.assert_allclose(a.log_losses, b.log_losses, rtol=1e-6)
    assert len(found.frame) == 2 * len(found.curves)


def test_few_rows_are_read_as_the_whole_table_is():
    rows = labelled_table(*mixed())
    assert rows.pinned == {3: "categorical"}  # six rows of such strings would look like texts
    declared = labelled_table(*mixed(), kinds={"state": "categorical"})
    assert declared.pinned == {2: "categorical", 3: "categorical"}


def test_warnings_are_told_and_not_issued():
    X, y = mixed()
    X["rare"] = [f"c{i % 30}" for i in range(len(X))]
    curves = LearningCurve.of(X, y, sizes=[12, 80], repeats=3)
    assert any("UnseenCategoryWarning" in told and "'rare'" in told for told in curves.notices)


def test_models_of_one_form_are_the_default_and_each_is_set_against_the_other_kind():
    curves = LearningCurve.of(*mixed(), sizes=[30], repeats=1)
    assert [c.title for c in curves.curves] == ["tied naive Bayes", "LDA", "softmax", "ridge softmax"]
    assert curves.pairs == (
        ("tied-naive-bayes", "logistic"),
        ("tied-naive-bayes", "ridge-logistic"),
        ("lda", "logistic"),
        ("lda", "ridge-logistic"),
    )
    assert np.isnan(curves["lda"].log_loss_se).all()  # of one repeat


def test_lda_and_logistic_are_left_out_where_they_have_nothing_to_say():
    votes = pd.DataFrame({"vote": ["y", "n"] * 20, "other": ["n", "n", "y", "y"] * 10})
    curves = LearningCurve.of(votes, ["left", "right"] * 20, sizes=[20], repeats=1)
    assert list(curves.left_out) == ["lda"]
    texts = pd.DataFrame({"text": ["buy it now", "see you at noon", "win a prize", "call me at home"] * 10})
    texts["text"] += [f" {i}" for i in range(40)]
    spam = LearningCurve.of(texts, ["spam", "ham"] * 20, sizes=[20], repeats=1)
    assert list(spam.left_out) == ["lda", "logistic", "ridge-logistic"]
    assert [c.name for c in spam.curves] == ["tied-naive-bayes"]
    assert "text, which has no coefficients" in str(spam)


def test_a_class_with_one_row_is_learnt_from_and_never_tested():
    X, y = mixed()
    y = y.astype(object)
    y[0] = "once"
    curves = LearningCurve.of(X, y, sizes=[20, 80], repeats=3)
    assert all(np.isfinite(c.log_losses).all() for c in curves.curves)


def test_a_model_without_probabilities_has_error_rates_only():
    X, y = load_iris_like()
    models = {"squares": LeastSquaresClassifier(), "lda": LDA()}
    curves = LearningCurve.of(X, y, models=models, sizes=[20, 60], repeats=3)
    assert np.isnan(curves["squares"].log_loss).all()
    assert (curves["squares"].error_rate < 0.5).all()
    assert curves.crossovers == {("squares", "lda"): None}
    assert "nan" not in str(curves)


def load_iris_like(n=120, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 3)) + 1.5 * y[:, None], y


class Fussy(ClassifierMixin, BaseEstimator):
    """The class frequencies, of 30 rows or more."""

    def __init__(self, least=30):
        self.least = least

    def fit(self, X, y):
        if len(X) < self.least:
            raise ValueError(f"{len(X)} rows are too few")
        self.classes_, counts = np.unique(y, return_counts=True)
        self.logs_ = np.log(counts / counts.sum())
        return self

    def predict_log_proba(self, X):
        return np.tile(self.logs_, (len(X), 1))

    def predict(self, X):
        return self.classes_[np.tile(self.logs_.argmax(), len(X))]


def test_a_model_that_fails_at_a_size_has_no_value_there():
    X, y = load_iris_like()
    curves = LearningCurve.of(X, y, models={"fussy": Fussy(), "lda": LDA()}, sizes=[20, 60], repeats=2)
    assert np.isnan(curves["fussy"].log_loss[0])
    assert np.isfinite(curves["fussy"].log_loss[1])
    assert curves.notices == ("fussy: ValueError in 2 fits, first with 20 rows: 20 rows are too few",)
    assert curves.pairs == (("fussy", "lda"),)
    with pytest.raises(ValueError, match="fussy failed in every fit; with 20 rows: 20 rows are too few"):
        LearningCurve.of(X, y, models={"fussy": Fussy(1000)}, sizes=[20], repeats=2)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"models": ["lda"]}, "mapping from names to estimators"),
        ({"models": {"lda": LDA}}, "pass an estimator"),
        ({"repeats": 0}, "repeats must be"),
        ({"test_size": 1.5}, "test_size must be"),
        ({"sizes": [1]}, "sizes must lie"),
    ],
)
def test_what_makes_no_sense_is_refused(settings, says):
    X, y = load_iris_like()
    with pytest.raises(ValueError, match=says):
        LearningCurve.of(X, y, **settings)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="number of classes has to be greater than one"):
        LearningCurve.of([[1.0], [2.0], [3.0]], ["a", "a", "a"])


def test_pairs_are_of_models_that_learn_in_different_ways_or_else_all():
    def named(name, approach):
        return FixedCandidate(name, name, approach, None)

    a, b = named("a", "generative"), named("b", "generative")
    c, d = named("c", "discriminative"), named("d", "other")
    assert pairs_to_compare((a, b, c)) == (("a", "c"), ("b", "c"))
    assert pairs_to_compare((a, b)) == (("a", "b"),)
    assert pairs_to_compare((a, d)) == (("a", "d"),)


def test_progress_runs_from_nothing_to_all():
    told = []
    X, y = load_iris_like()
    LearningCurve.of(X, y, sizes=[20], repeats=2, progress=lambda *what: told.append(what))
    done, totals, _ = zip(*told, strict=True)
    assert list(done) == list(range(9))
    assert set(totals) == {8}


def test_curves_can_be_written_as_json():
    X, y = load_iris_like()
    models = {"squares": LeastSquaresClassifier(), "lda": LDA(), "logistic": LogisticRegression()}
    curves = LearningCurve.of(X, y, models=models, sizes=[10, 60], repeats=2)
    read = json.loads(json.dumps(curves.as_dict(), allow_nan=False))
    assert read["sizes"] == [10, 60]
    assert read["curves"][0]["log_loss"] == [None, None]
    assert len(read["findings"]) == len(curves.pairs)


@few_examples
@given(st.integers(0, 1000))
def test_the_better_model_in_the_end_is_named_by_every_finding(seed):
    X, y = load_iris_like(60, seed)
    curves = LearningCurve.of(X, y, sizes=[10, 30], repeats=2, seed=seed)
    for (a, b), sentence in zip(curves.pairs, curves.findings, strict=True):
        mean = curves.difference(a, b)[0][-1]
        better = curves[a if mean < 0 else b].title
        assert (
            mean == 0
            or f"{better} from there on" in sentence
            or f"{better} is better than" in sentence
            or f"{better} is better from" in sentence
        )


def test_penguins_are_told_apart_by_lda_from_forty_rows_on():
    penguins = load_penguins()
    curves = LearningCurve.of(penguins.X, penguins.y, sizes=[20, 60, 200], repeats=5)
    assert curves["lda"].error_rate[-1] < 0.02
    assert (np.diff(curves["lda"].log_loss) < 0).all()
    assert curves["lda"].log_loss[-1] < curves["tied-naive-bayes"].log_loss[-1]  # which believes too much


@pytest.mark.skipif(not DATA.exists(), reason="needs the shared tables, adult_train.csv among them")
@pytest.mark.long
def test_naive_bayes_wins_early_and_logistic_late_on_the_census_unless_a_ridge_helps():
    """M35: by maximum likelihood the curves cross; a ridge in units of the columns is better throughout."""
    table = pd.read_csv(DATA / "adult_train.csv", na_values="?")
    curves = LearningCurve.of(table, table.pop("income"), sizes=[40, 150, 6000], repeats=3)
    found = curves.crossover("tied-naive-bayes", "logistic")
    assert (found.early, found.late, found.between) == ("tied-naive-bayes", "logistic", (150, 6000))
    assert found.is_clear
    assert curves.crossover("tied-naive-bayes", "ridge-logistic") is None
