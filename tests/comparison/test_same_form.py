"""LDA and logistic regression side by side: the same form, both coefficient vectors, and what they share."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import few_examples
from posterior import LDA, LogisticRegression
from posterior.comparison.same_form import side_by_side
from posterior.datasets import load_penguins, load_pokemon
from posterior.estimators.splits import read_folds


def overlapping(n=300, K=3, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % K
    mix = np.eye(d) + 0.3 * rng.normal(size=(d, d))
    return rng.normal(size=(n, d)) @ mix + 0.7 * rng.normal(size=(K, d))[y], y


# -- the coefficients -----------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3, 4])
def test_coefficients_of_lda_reproduce_its_decision_function(K):
    X, y = overlapping(K=K)
    scores = LDA().fit(X, y).decision_function(X)
    for pair in side_by_side(X, y).pairs:
        expected = scores if K == 2 else scores[:, pair.of] - scores[:, pair.against]
        np.testing.assert_allclose(pair.lda[0] + X @ pair.lda[1:], expected, atol=1e-8)


@pytest.mark.parametrize("K", [2, 3])
def test_coefficients_of_logistic_regression_are_its_log_odds(K):
    X, y = overlapping(K=K)
    logs = LogisticRegression(C=np.inf).fit(X, y).predict_log_proba(X)
    for pair in side_by_side(X, y).pairs:
        expected = logs[:, pair.of] - logs[:, pair.against]
        np.testing.assert_allclose(pair.logistic[0] + X @ pair.logistic[1:], expected, atol=1e-5)


def test_standard_errors_are_those_of_the_model_with_the_other_class_as_reference():
    X, y = overlapping(K=3)
    both = side_by_side(X, y)
    for pair in both.pairs:
        # The summary holds classes against the first, so that the class asked about is made the first.
        others = [k for k in range(3) if k != pair.against]
        renamed = np.array([0 if k == pair.against else 1 + others.index(k) for k in y])
        summary = LogisticRegression(C=np.inf).fit(X, renamed).summary()
        place = others.index(pair.of) * 4
        expected = np.asarray(summary.columns["std err"])[place : place + 4]
        np.testing.assert_allclose(pair.error, expected, rtol=1e-5)


@pytest.mark.parametrize("K", [2, 3])
def test_a_pair_the_other_way_round_has_the_opposite_signs(K):
    X, y = overlapping(K=K)
    forth, back = side_by_side(X, y), side_by_side(X, K - 1 - y)
    for pair in forth.pairs:
        (other,) = [p for p in back.pairs if {p.of, p.against} == {K - 1 - pair.of, K - 1 - pair.against}]
        np.testing.assert_allclose(other.lda, -pair.lda, atol=1e-8)
        np.testing.assert_allclose(other.logistic, -pair.logistic, atol=1e-5)
        np.testing.assert_allclose(other.error, pair.error, rtol=1e-5)
        assert other.angle == pytest.approx(pair.angle, abs=1e-4)
        assert other.agreement == pair.agreement


def test_the_coefficients_of_the_notes_are_found():
    """M10: Water against Normal, dex numbers below 400."""
    table = load_pokemon(backend="pandas").frame.query("number < 400 and type_1 in ['Normal', 'Water']")
    (pair,) = side_by_side(table[["defense", "sp_def"]], table["type_1"]).pairs
    assert (pair.of, pair.against) == ("Water", "Normal")
    np.testing.assert_allclose(pair.lda, [-1.8054, 0.02563, 0.00595], atol=5e-5)


# -- angles ---------------------------------------------------------------------------------------


@few_examples
@given(st.integers(0, 1000))
def test_angle_and_steepness_do_not_depend_on_how_columns_are_scaled_and_mixed(seed):
    rng = np.random.default_rng(seed)
    X, y = overlapping(200, 2, seed=seed % 7)
    mix = rng.normal(size=(3, 3)) + 2 * np.eye(3)
    if np.linalg.cond(mix) > 100:
        return
    (before,) = side_by_side(X, y).pairs
    (after,) = side_by_side(X @ mix + rng.normal(size=3), y).pairs
    assert after.angle == pytest.approx(before.angle, abs=1e-3)
    assert after.steepness == pytest.approx(before.steepness, rel=1e-4)


def test_both_models_agree_where_the_classes_are_gaussian_with_one_covariance():
    rng = np.random.default_rng(0)
    y = np.arange(40_000) % 2
    X = rng.normal(size=(40_000, 2)) @ [[1.0, 0.5], [0.0, 2.0]] + 1.5 * y[:, None]
    (pair,) = side_by_side(X, y).pairs
    assert pair.angle < 2
    assert pair.steepness == pytest.approx(1, abs=0.05)
    assert pair.agreement > 0.99


def test_angle_is_that_of_the_scores_within_classes():
    X, y = overlapping(K=2)
    (pair,) = side_by_side(X, y).pairs
    centred = X - np.array([X[y == k].mean(axis=0) for k in (0, 1)])[y]
    correlation = np.corrcoef(centred @ pair.lda[1:], centred @ pair.logistic[1:])[0, 1]
    assert np.cos(np.radians(pair.angle)) == pytest.approx(correlation)


def test_standardised_weights_do_not_depend_on_units():
    X, y = overlapping(K=2)
    (before,) = side_by_side(X, y).pairs
    (after,) = side_by_side(X * [1000.0, 1.0, 0.001], y).pairs
    np.testing.assert_allclose(after.lda_standardised, before.lda_standardised, rtol=1e-8)
    np.testing.assert_allclose(after.logistic_standardised, before.logistic_standardised, rtol=1e-4)


# -- which rows, columns and pairs ----------------------------------------------------------------


def test_losses_are_of_the_same_folds_for_both():
    X, y = overlapping()
    both = side_by_side(X, y)
    folds = read_folds(10, y).numbers
    ours = LDA().k_fold_log_proba(X, y, cv=folds)[np.arange(300), y]
    np.testing.assert_allclose(both.lda_losses, -ours)
    out = folds == 3
    logs = LogisticRegression(C=np.inf).fit(X[~out], y[~out]).predict_log_proba(X[out])
    np.testing.assert_allclose(both.logistic_losses[out], -logs[np.arange(out.sum()), y[out]], atol=1e-6)
    assert both.difference[0] == pytest.approx(both.log_loss[0] - both.log_loss[1])


def test_rows_with_gaps_and_columns_that_are_no_numbers_are_left_out_and_named():
    X, y = overlapping(K=2)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table["state"] = ["CA", "NY"] * 150
    table["sum"] = table["a"] + table["b"]
    table["same"] = 1.0
    table.loc[::10, "b"] = np.nan
    both = side_by_side(table, y)
    rows = np.arange(300) % 10 != 0
    (pair,), (expected,) = both.pairs, side_by_side(X[rows], y[rows]).pairs
    np.testing.assert_allclose(pair.lda, expected.lda)
    assert both.columns == ("a", "b", "c")
    assert both.left_out == (
        "left out, not numbers: state",
        "left out, constant or a combination of the others: sum, same",
        "left out, rows with a gap: 30 of 300",
    )


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        (None, [("b", "a"), ("c", "a"), ("c", "b")]),
        ("b", [("a", "b"), ("c", "b")]),
        (["c", "a"], [("c", "a")]),
        (["a", "b", "c"], [("b", "a"), ("c", "a"), ("c", "b")]),
    ],
)
def test_pairs_are_all_those_of_some_or_all_against_one(classes, expected):
    X, y = overlapping()
    both = side_by_side(X, np.array(list("abc"))[y], classes=classes)
    assert [(p.of, p.against) for p in both.pairs] == expected
    assert len(both.frame) == 4 * len(expected)


def test_separated_classes_get_firths_penalty_and_it_is_said():
    X = np.array([[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]])
    both = side_by_side(X, [0, 0, 0, 1, 1, 1])
    assert both.logistic.penalty == "firth"
    assert "Firth's penalty" in str(both)
    assert np.isfinite(both.pairs[0].error).all()


@pytest.mark.parametrize("container", ["polars", "pyarrow"])
def test_every_kind_of_table_gives_the_same(container):
    X, y = overlapping()
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    other = pl.from_pandas(table) if container == "polars" else pa.Table.from_pandas(table)
    expected, found = side_by_side(table, y), side_by_side(other, pa.chunked_array([y]))
    for one, two in zip(expected.pairs, found.pairs, strict=True):
        np.testing.assert_allclose(one.lda, two.lda)
        np.testing.assert_allclose(one.logistic, two.logistic)
    assert type(found.frame).__module__.startswith(container)


def test_bundled_penguins_agree_on_nearly_all_rows():
    penguins = load_penguins()
    both = side_by_side(penguins.X, penguins.y)
    assert both.agreement > 0.97
    assert both.left_out[0] == "left out, not numbers: island, sex"
    assert "log odds of Gentoo against Adelie" in str(both)


@pytest.mark.parametrize(
    ("X", "y", "settings", "says"),
    [
        ([["a"], ["b"]], [0, 1], {}, "needs columns of numbers"),
        ([[1.0], [1.0], [1.0], [1.0]], [0, 1, 0, 1], {}, "constant"),
        ([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1], {"classes": 7}, r"classes names \[7\]"),
        ([[1.0], [None], [2.0]], [0, 1, 0], {}, "greater than one"),
    ],
)
def test_what_makes_no_sense_is_refused(X, y, settings, says):
    with pytest.raises(ValueError, match=says):
        side_by_side(X, y, **settings)
