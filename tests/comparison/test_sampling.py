"""Rows drawn from a large table: in proportion, enough of a rare class, and said."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from posterior.comparison import Comparison, RegressionComparison
from posterior.comparison.advice import overtaking
from posterior.comparison.sampling import LEAST_OF_CLASS, LEAST_OTHERS, rows_to_compare, sample_rows
from posterior.notices import DataWarning
from posterior.report import write_report

FEW = {"models": ["majority", "naive-bayes", "lda"], "reference": False}


def table_of(n, seed=0, apart=1.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {"a": rng.normal(apart * y), "b": rng.normal(size=n), "c": rng.choice(list("xyz"), n)}
    )
    return frame, np.where(y == 1, "yes", "no")


def test_rows_are_drawn_in_proportion_and_in_order():
    codes = np.random.default_rng(0).choice(3, 200_000, p=[0.6, 0.3, 0.1])
    drawn = rows_to_compare(codes, 50_000)
    assert len(drawn) == len(np.unique(drawn)) == 50_000
    assert (np.diff(drawn) > 0).all()
    share, whole = (np.bincount(c) / len(c) for c in (codes[drawn], codes))
    np.testing.assert_allclose(share, whole, atol=2 / 50_000)


def test_a_small_table_is_taken_whole():
    assert rows_to_compare(np.array([0, 1] * 50), 100) is None
    assert rows_to_compare(np.array([0, 1] * 50_000), None) is None


@pytest.mark.parametrize("rare", [20_000, 2_000])
def test_a_rare_class_brings_more_rows(rare):
    codes = np.repeat([0, 1], [400_000 - rare, rare])
    drawn = rows_to_compare(codes, 1_000)
    if rare < LEAST_OTHERS:
        assert drawn is None
    else:
        assert abs(np.bincount(codes[drawn])[1] - LEAST_OTHERS) <= 1


def test_no_class_is_lost():
    codes = np.concatenate([np.arange(60_000) % 2, [2], np.repeat(3, 40)])
    drawn = rows_to_compare(codes, 10_000)
    assert np.bincount(codes[drawn])[2:].tolist() == [1, LEAST_OF_CLASS]


def test_whole_groups_are_drawn():
    groups = np.repeat(np.arange(3_000), 10)
    drawn = rows_to_compare(np.arange(30_000) % 2, 12_000, groups)
    assert 12_000 <= len(drawn) < 12_020
    sizes = np.bincount(groups[drawn])
    assert set(sizes.tolist()) <= {0, 10}
    assert len(sample_rows(np.zeros(30_000, int), 5, groups)) == 20  # of two groups at least


@pytest.mark.parametrize("wrong", [0, -1, 2.5, True, "all"])
def test_a_number_of_rows_that_is_none_is_refused(wrong):
    with pytest.raises(ValueError, match="max_rows must be a number of rows, or None for all, found"):
        Comparison.of(*table_of(100), max_rows=wrong)


def test_the_rows_drawn_are_compared_as_if_they_were_the_table():
    X, y = table_of(30_000)
    found = Comparison.of(X, y, max_rows=12_000, **FEW)
    assert (found.n_rows, len(found.rows), len(found.codes)) == (30_000, 12_000, 12_000)
    alone = Comparison.of(X.iloc[found.rows], y[found.rows], **FEW)
    assert [r.name for r in found.results] == [r.name for r in alone.results]
    for mine, theirs in zip(found.results, alone.results, strict=True):
        assert mine.log_loss == theirs.log_loss
    assert found.folds == "5 folds, stratified, of 12,000 rows drawn from 30,000"
    assert np.array_equal(found.classes[found.codes], y[found.rows])


def test_costs_by_row_go_with_the_rows_drawn():
    X, y = table_of(30_000)
    each = np.random.default_rng(1).random((30_000, 2, 2))
    found = Comparison.of(X, y, costs=each, max_rows=12_000, **FEW)
    alone = Comparison.of(X.iloc[found.rows], y[found.rows], costs=each[found.rows], **FEW)
    assert found.recommended.average_cost == alone.recommended.average_cost


def test_rows_without_a_class_and_in_time_keep_their_places():
    X, y = table_of(30_000)
    labels = y.astype(object)
    labels[::7] = None
    with pytest.warns(DataWarning, match="without a class"):
        found = Comparison.of(X, labels, max_rows=12_000, time=np.arange(30_000)[::-1], **FEW)
    assert np.array_equal(found.classes[found.codes], y[found.rows])
    assert not (found.rows % 7 == 0).any()


def test_a_clear_choice_and_an_open_one_are_told_apart():
    clear = Comparison.of(*table_of(30_000), max_rows=12_000, models=["majority", "lda"], reference=False)
    (note,) = [n for n in clear.notes if "drawn by class" in n]
    assert "all of them would recommend the same model" in note
    X, y = table_of(30_000)
    # Naive Bayes and LDA of independent columns are the same model but for noise.
    numbers = Comparison.of(X[["a", "b"]], y, max_rows=12_000, models=["naive-bayes", "lda"], reference=False)
    (note,) = [n for n in numbers.notes if "drawn by class" in n]
    assert "are as good to within noise and what more rows can teach" in note


def test_a_model_with_many_parameters_may_overtake():
    X, y = table_of(30_000)
    found = Comparison.of(X, y, max_rows=12_000, **FEW)
    assert [r.name for r in overtaking(found.ranking, 10**9)] == [r.name for r in found.ties]
    assert len(overtaking(found.ranking, 1)) == len(found.results) - 1


def test_a_model_whose_parameters_are_not_counted_is_not_passed_over():
    X, y = table_of(30_000)
    found = Comparison.of(X, y, max_rows=12_000, **FEW)
    unknown = tuple(replace(result, n_parameters=None) for result in found.ranking.results[1:])
    ranking = replace(found.ranking, results=(found.recommended, *unknown))
    assert len(overtaking(ranking, 1)) == len(unknown)


def test_a_report_shows_the_rows_that_were_compared(tmp_path):
    X, y = table_of(13_000)
    found = Comparison.of(X, y, max_rows=11_000, **FEW)
    page = write_report(found, X, y, tmp_path / "r.html").read_text(encoding="utf-8")
    assert "13,000" in page
    assert "of 11,000 rows drawn from 13,000" in page


def test_regressions_draw_rows_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12_000, 2))
    y = X[:, 0] + rng.normal(size=12_000)
    y[5] = np.nan
    with pytest.warns(DataWarning, match="without a number"):
        found = RegressionComparison.of(X, y, models=["mean", "linear"], max_rows=7_000)
    assert (found.n_rows, len(found.rows)) == (11_999, 7_000)
    assert found.folds.endswith("of 7,000 rows drawn from 11,999")
    assert np.array_equal(found.y, y[found.rows])
    assert "rows without a number, left out: 1 of 12000" in found.notes
