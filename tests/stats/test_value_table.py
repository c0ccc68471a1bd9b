"""Tables of distinct values: the same whatever the parts, and bounded however many values there are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import few_examples
from posterior.stats import ValueTable

K = 3
seeds = st.integers(0, 2**32 - 1)
COLUMNS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "far": lambda rng, n: 2.0**27 + rng.normal(size=n),
    "heavy": lambda rng, n: rng.standard_cauchy(n),
    "tiny and huge": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.uniform(-150, 149, n),
    "counts": lambda rng, n: rng.negative_binomial(0.5, 0.01, n).astype(float),
}


def drawn(seed, n=400):
    rng = np.random.default_rng(seed)
    block = np.stack([draw(rng, n) for draw in COLUMNS.values()], axis=1)
    block[rng.random(block.shape) < 0.1] = np.nan
    return block, rng.integers(0, K, n), rng.integers(0, 4, n).astype(float), rng


@given(seed=seeds, most=st.sampled_from([2, 7, 50, 4096]), parts=st.integers(1, 6))
@few_examples
def test_parts_in_any_order_add_up_to_the_table_of_all_rows_to_the_bit(seed, most, parts):
    block, y, weight, rng = drawn(seed)
    whole = ValueTable.of(block, y, weight, K, most=most)
    rows = np.array_split(rng.permutation(len(y)), parts)
    first, *others = [ValueTable.of(block[r], y[r], weight[r], K, most=most) for r in rows]
    merged = sum(others, start=first)
    np.testing.assert_array_equal(merged.step, whole.step)
    for j in range(len(COLUMNS)):
        np.testing.assert_array_equal(merged.values[j], whole.values[j])
        np.testing.assert_array_equal(merged.tables[j], whole.tables[j])


@given(seed=seeds, most=st.sampled_from([2, 7, 50]))
@few_examples
def test_a_grid_keeps_every_row_within_half_a_step_and_is_the_finest_that_may_be(seed, most):
    block, y, weight, _ = drawn(seed)
    kept = ValueTable.of(block, y, weight, K, most=most)
    assert kept.impossible(np.bincount(y, weight, K)) == ""
    for j, x in enumerate(block.T):
        there = ~np.isnan(x) & (weight > 0)
        assert len(kept.values[j]) <= most
        np.testing.assert_array_equal(kept.tables[j].sum(axis=1), np.bincount(y[there], weight[there], K))
        middle = kept.values[j][kept.place(j, x[there])]
        rounding = np.spacing(np.abs(x[there]))  # of numbers beside which a step is nothing
        assert (np.abs(middle - x[there]) <= 0.5 * kept.step[j] * (1 + 1e-12) + rounding).all()
        if kept.step[j] and list(COLUMNS)[j] != "tiny and huge":
            finer = np.unique(np.floor(x[there] / (kept.step[j] / 2)))
            assert len(finer) > most


def test_few_values_are_kept_as_they_are():
    block = np.array([[0.1], [0.3], [0.1], [np.nan], [7.0]])
    kept = ValueTable.of(block, np.array([0, 1, 1, 0, 2]), np.array([1.0, 2.0, 0.5, 3.0, 0.0]), K)
    np.testing.assert_array_equal(kept.values[0], [0.1, 0.3])
    np.testing.assert_array_equal(kept.tables[0], [[1, 0], [0.5, 2], [0, 0]])
    assert kept.step == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"values": (np.array([3.0, 1.0]),)}, "not sorted"),
        ({"values": (np.array([1.0, 2.0, 3.0]),)}, "of other values"),
        ({"tables": (np.zeros((2, 2)),)}, "no row has"),
        ({"tables": (np.full((2, 2), 9.0),)}, "weigh more"),
        ({"step": np.array([0.3])}, "power of two"),
        ({"step": np.array([0.5, 0.5])}, "other columns"),
        ({"most": 1}, "more values"),
        ({"mark": np.array([1e307])}, "too large"),
    ],
)
def test_tables_that_no_rows_have_are_told(change, said):
    parts = {
        "values": (np.array([1.0, 3.0]),),
        "tables": (np.array([[1.0, 1.0], [1.0, 0.0]]),),
        "step": np.zeros(1),
        "mark": np.zeros(1),
    }
    weight = np.array([2.0, 1.0])
    assert ValueTable(**parts).impossible(weight) == ""
    assert said in ValueTable(**(parts | change)).impossible(weight)
