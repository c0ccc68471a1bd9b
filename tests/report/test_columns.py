"""What the report says of columns: their figures, which go together, which tell something of the class."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from posterior.plot.column_ranking import Telling
from posterior.report.column_facts import ColumnFacts
from posterior.report.pairs import Pairs, cramers_v, rank_correlations
from posterior.schema import LabelledTable

# -- figures of columns ---------------------------------------------------------------------------


@given(st.lists(st.one_of(st.none(), st.integers(-50, 50)), min_size=4, max_size=40))
def test_the_figures_of_a_number_are_those_of_pandas(cells: list[int | None]) -> None:
    column = pd.Series([None if cell is None else float(cell) + 0.5 for cell in cells], dtype=float)
    table = pd.DataFrame({"a": column, "b": np.arange(len(cells)) + 0.25})
    found = ColumnFacts.of(LabelledTable.of(table, np.arange(len(cells)) % 2, {"a": "continuous"}), 0)
    assert found.distinct == column.nunique()
    if column.notna().any():
        assert (found.low, found.median, found.high) == (column.min(), column.median(), column.max())


def test_the_most_frequent_categories_come_first() -> None:
    table = pd.DataFrame({"a": list("abbbccdd") + [None] * 2})
    found = ColumnFacts.of(LabelledTable.of(table, np.arange(10) % 2), 0)
    assert found.frequent == (("b", 3), ("c", 2), ("d", 2))
    assert found.distinct == 4


# -- pairs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_rank_correlations_are_those_of_scipy_where_nothing_is_missing(seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 9, size=(60, 4)).astype(float)
    found, n = rank_correlations(values)
    np.testing.assert_allclose(found, stats.spearmanr(values).statistic, atol=1e-12)
    assert (n == 60).all()


def test_gaps_leave_out_their_rows() -> None:
    rng = np.random.default_rng(0)
    values = np.sort(rng.normal(size=(80, 1)), axis=0) + np.zeros((1, 2))
    values[:30, 0], values[50:, 1] = np.nan, np.nan
    found, n = rank_correlations(values)
    assert n[0, 1] == 20
    assert found[0, 1] == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(5))
def test_the_chi_squared_test_is_that_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 3, 200), rng.integers(0, 4, 200)
    table = np.bincount(one * 4 + other, minlength=12).reshape(3, 4)
    assert cramers_v(one, other)[1] == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue)


def test_cramers_v_of_independent_columns_is_zero_on_average() -> None:
    rng = np.random.default_rng(0)
    found = [cramers_v(rng.integers(0, 6, 100), rng.integers(0, 6, 100))[0] for _ in range(200)]
    assert np.median(found) < 0.05


def test_noise_has_no_pairs_and_copies_are_found() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 120))
    found = Pairs.of(LabelledTable.of(X, np.arange(150) % 2))
    assert (found.found, found.looked_at, found.in_all) == ((), 7140, 7140)
    X[:, 5] = -X[:, 9]
    (pair,) = Pairs.of(LabelledTable.of(X, np.arange(150) % 2)).found
    assert (pair.first, pair.second, pair.value) == (5, 9, pytest.approx(-1.0))


def test_categories_pair_with_categories_and_numbers_and_texts_do_not() -> None:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 300)
    table = pd.DataFrame(
        {
            "kind": np.array(["x", "y", "z"])[kind],
            "same": np.array(["p", "q", "r"])[kind],
            "size": kind + 0.01 * rng.normal(size=300),
            "words": [f"a text of several words, number {i}" for i in range(300)],
        }
    )
    found = Pairs.of(LabelledTable.of(table, np.arange(300) % 2))
    assert {(p.first, p.second, p.measure) for p in found.found} == {
        (0, 1, "Cramér's V"),
        (0, 2, "Cramér's V"),
        (1, 2, "Cramér's V"),
    }
    assert found.in_all - found.looked_at == 3


# -- what tells something of the class ------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_nothing_is_telling_in_three_hundred_columns_of_noise(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = LabelledTable.of(rng.normal(size=(200, 300)), rng.integers(0, 3, 200))
    assert not Telling.of(rows, range(300)).told.any()


def test_columns_that_tell_are_found_among_noise_and_come_first() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = rng.normal(size=(300, 100))
    X[:, 40] += 1.5 * y
    X[:, 70] = np.where(y, X[:, 70] * 4, X[:, 70])
    found = Telling.of(LabelledTable.of(X, y), range(100))
    assert set(np.flatnonzero(found.told)) == {40, 70}
    assert set(np.argsort(-found.gains)[:2]) == {40, 70}


def test_a_rare_class_is_not_lost_from_a_large_table() -> None:
    rng = np.random.default_rng(0)
    y = (np.arange(60_000) % 2000 == 0).astype(int)
    X = np.column_stack([rng.normal(size=60_000) + 3 * y, rng.normal(size=60_000)])
    assert Telling.of(LabelledTable.of(X, y), [0, 1]).told.tolist() == [True, False]


def test_rows_of_a_group_count_once() -> None:
    """Ten rows of every patient are the same: what looks like 500 rows of evidence are 50."""
    rng = np.random.default_rng(1)
    who = np.repeat(np.arange(50), 10)
    y, X = rng.integers(0, 2, 50)[who], rng.normal(size=(50, 30))[who]
    assert Telling.of(LabelledTable.of(X, y), range(30)).told.sum() > 10
    from posterior.comparison.inputs import compared_table

    assert not Telling.of(compared_table(X, y, groups=who), range(30)).told.any()


def test_texts_that_tell_and_texts_that_do_not() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    words = np.array("one two three four five six seven".split())  # noqa: SIM905
    noise = [" ".join(rng.choice(words, 6)) + f" n{i}" for i in range(120)]
    telling = [f"{text} {'yes please' if k else 'no thanks'}" for text, k in zip(noise, y, strict=True)]
    rows = LabelledTable.of(pd.DataFrame({"a": noise, "b": telling}), y, {"a": "text", "b": "text"})
    assert Telling.of(rows, [0, 1]).told.tolist() == [False, True]


@pytest.mark.long
def test_some_column_of_noise_is_called_telling_in_one_table_of_twenty() -> None:
    found = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows = LabelledTable.of(rng.normal(size=(80, 40)), (np.arange(80) % 8 == 0).astype(int))
        found += bool(Telling.of(rows, range(40)).told.any())
    assert found <= 20, found  # 10 expected; 20 by chance in one case of a thousand
