"""Columns of whole numbers are encoded as they are read, and columns that are alike made when asked for."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from posterior import BernoulliNB, CategoricalNB, MultinomialNB, NaiveBayes
from posterior.families import Bernoulli, Poisson
from posterior.kernels.choice import using
from posterior.notices import DataWarning, UnseenCategoryWarning
from posterior.schema import Schema, read_table
from posterior.schema.columns import Alike, Column

EVERY = [(slice(None), "categorical")]


def tables(values):
    """The same whole numbers in the kinds of tables that hold them, the last as objects (the slow way)."""
    return [
        values,
        np.asfortranarray(values),
        values.astype(np.float32),
        values[::-1][::-1],
        pd.DataFrame(values, columns=[f"x{j}" for j in range(values.shape[1])]),
        values.astype(object),
    ]


@pytest.mark.parametrize("mode", ["reference", "compiled"])
@pytest.mark.parametrize("top", [3, 60, 300, 70_000])
def test_whole_numbers_have_the_same_codes_in_every_kind_of_table(top, mode):
    rng = np.random.default_rng(0)
    train = rng.integers(-2, top, (150, 5)).astype(np.float64) * np.array([1, 1, 2, 3, 1])
    train[rng.random(train.shape) < 0.1] = np.nan
    later = rng.integers(-4, top + 3, (150, 5)).astype(np.float64)
    later[0, 0] = np.nan
    with using(mode):
        found = []
        for fitted, new in zip(tables(train), tables(later), strict=True):
            schema = Schema.infer(read_table(fitted), EVERY)
            encoded = schema.encode(read_table(new))
            codes = [encoded.codes(rows, (0, 1, 2, 3, 4)) for rows in (slice(7, 90), slice(0, 150, 3))]
            some = encoded.codes(slice(7, 90), (3, 1)).array
            np.testing.assert_array_equal(some, codes[0].array[:, [3, 1]])
            numbers = encoded.values(slice(7, 90), (3, 1))
            unknown = (some < 0) | (some >= np.array(codes[0].sizes)[[3, 1]])
            np.testing.assert_array_equal(numbers, np.where(unknown, np.nan, some))
            found.append((schema.columns[0].categories, codes, encoded.unseen))
    categories, codes, unseen = found[-1]
    for other, other_codes, other_unseen in found[:-1]:
        assert other == categories
        assert {n: dict(sorted(c.items())) for n, c in unseen.items()} == other_unseen
        for a, b in zip(codes, other_codes, strict=True):
            assert a.sizes == b.sizes
            np.testing.assert_array_equal(a.array, b.array)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.int32, np.float32, bool])
def test_large_and_small_tables_of_any_type_are_read_alike(dtype):
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (40_000, 6)).astype(dtype), rng.integers(0, 3, 40_000)
    found = []
    for mode in ("reference", "compiled"):
        with using(mode):
            model = CategoricalNB().fit(X, y)
            found.append((model.category_count_, model.predict_proba(X[:500])))
    for a, b in zip(found[0][0], found[1][0], strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(found[1][1], found[0][1], rtol=1e-12)


@pytest.mark.parametrize("mode", ["reference", "compiled"])
def test_unseen_numbers_are_counted_by_value(mode):
    X = np.array([[0.0, 5.0], [1.0, 7.0]] * 20)
    new = np.array([[3.0, 5.0], [3.0, 6.0], [-1.0, np.nan], [1.0, 7.0]])
    with using(mode):
        model = CategoricalNB().fit(X, [0, 1] * 20)
        with pytest.warns(UnseenCategoryWarning, match=r"'x0': 3 rows .*\(-1\.0, 3\.0\): left out"):
            model.predict(new)


@pytest.mark.parametrize("mode", ["reference", "compiled"])
def test_a_number_close_to_a_whole_one_is_none(mode):
    whole = np.arange(10.0)[:, None] % 3 - 1
    with using(mode):
        close = whole.copy()
        close[4] = 1e-200
        found = Schema.infer(read_table(close), EVERY).columns[0].categories
        assert found == (-1.0, 0.0, 1e-200, 1.0)
        model = CategoricalNB().fit(whole, np.arange(10) % 2)
        with pytest.warns(UnseenCategoryWarning, match="1 rows"):
            model.predict(close)


def test_an_infinite_number_is_refused_whatever_the_other_values():
    X = np.array([[0.0, 1.0], [1.0, np.inf]] * 20)
    for mode in ("reference", "compiled"):
        with using(mode), pytest.raises(ValueError, match=r"column 'x1' contains infinity"):
            CategoricalNB().fit(X, [0, 1] * 20)


def test_fitting_and_predicting_categories_takes_little_memory():
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 9, (600_000, 8), dtype=np.uint8), rng.integers(0, 2, 600_000)
    model = CategoricalNB().fit(X, y)
    model.predict(X[:100])
    tracemalloc.start()
    model.fit(X, y)
    fitting = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    out = model.predict_proba(X)
    predicting = tracemalloc.get_traced_memory()[1] - out.nbytes
    tracemalloc.stop()
    codes = 4 * X.size
    assert max(fitting, predicting) < 16 * 2**20 < codes


def test_columns_that_are_alike_look_like_any_others():
    columns = Alike(Column("", "count", "why"), 4)
    each = tuple(Column(f"x{j}", "count", "why") for j in range(4))
    assert columns == each
    assert each == columns
    assert columns[-1] == each[-1]
    assert columns[1:3] == each[1:3]
    assert list(columns) == list(each)
    assert hash(columns) == hash(each)
    assert repr(columns) == repr(each)
    assert columns != Alike(Column("", "count", "why"), 5)
    assert columns != each[:3]
    with pytest.raises(IndexError):
        columns[4]
    looked_at = Alike(columns.example, 4)
    before = pickle.dumps(looked_at)
    assert list(looked_at) == list(each)
    assert pickle.dumps(looked_at) == before
    assert pickle.loads(before) == each


@pytest.mark.parametrize("kinds", [None, [(slice(None), "count")], [(slice(None), "continuous")]])
def test_a_sparse_table_has_the_schema_of_its_columns_one_by_one(kinds):
    X = sparse.csr_array(np.random.default_rng(3).poisson(0.5, (30, 12)))
    alike = Schema.infer(read_table(X), kinds)
    each = Schema.infer(read_table(X), kinds and dict.fromkeys(range(12), kinds[0][1]))
    assert isinstance(alike.columns, Alike)
    assert str(alike) == str(each)
    assert alike.names == each.names
    assert alike.kinds == each.kinds
    assert alike == each
    assert alike.union(alike) == each.union(each)
    assert list(alike.names_of((2, 5))) == ["x2", "x5"]


@pytest.mark.parametrize("model", [MultinomialNB(), BernoulliNB(), NaiveBayes(tied=False, weights=1.0)])
def test_sparse_parts_add_up_to_the_whole(model):
    rng = np.random.default_rng(4)
    X, y = sparse.csr_array(rng.poisson(0.5, (60, 12))), rng.integers(0, 2, 60)
    whole = model.fit(X, y).predict_proba(X)
    parts = clone(model)
    for rows in (slice(0, 20), slice(20, 60)):
        parts.partial_fit(X[rows], y[rows])
    np.testing.assert_allclose(parts.predict_proba(X), whole, rtol=1e-10)


def test_rows_of_a_sparse_table_with_cells_twice_or_out_of_order_are_read_as_sums():
    X = sparse.csr_array((np.ones(5), np.array([2, 0, 0, 1, 1]), np.array([0, 3, 5])), shape=(2, 3))
    model = MultinomialNB().fit(X, [0, 1])
    np.testing.assert_array_equal(model.feature_count_, [[2, 0, 1], [0, 2, 0]])
    assert not X.has_canonical_format
    ones = BernoulliNB(binarize=1.5).fit(X, [0, 1])
    np.testing.assert_array_equal(ones.feature_count_, [[1, 0, 0], [0, 1, 0]])


def test_a_sparse_table_of_zeros_and_ones_is_not_read_as_counts_in_silence():
    rng = np.random.default_rng(4)
    X, y = sparse.csr_array((rng.random((60, 5)) < 0.3).astype(int)), rng.integers(0, 2, 60)
    with pytest.warns(DataWarning, match=r"0 and 1 only, read as counts .* kinds=.*binary"):
        NaiveBayes(tied=False, weights=1.0).fit(X, y)
    every = slice(None)
    binary, counts = (
        NaiveBayes(kinds=[(every, kind)], tied=False, weights=1.0).fit(X, y) for kind in ("binary", "count")
    )
    assert {block.family for block in binary.model_.spec.blocks} == {Bernoulli()}
    assert {block.family for block in counts.model_.spec.blocks} == {Poisson()}
    NaiveBayes(families={"count": Poisson()}, tied=False, weights=1.0).fit(X, y)
    NaiveBayes(tied=False, weights=1.0).fit(X + 1.0 * (X > 0), y)  # twos
    MultinomialNB().fit(X, y)


@pytest.mark.parametrize("low", [0, 1])
def test_numbers_above_and_below_a_threshold_are_not_taken_for_levels(low):
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 200)
    for high in (low + 1, low + 5):
        X = rng.integers(low, high + 1, (200, 2)).astype(float)
        model = NaiveBayes(families={"x0": Bernoulli(threshold=low + 0.5)}, weights=1.0).fit(X, y)
        ((on,),) = (b.distribution.probability.T for b in model.model_.blocks if b.columns == (0,))
        above = [(X[y == k, 0] > low + 0.5).mean() for k in (0, 1)]
        np.testing.assert_allclose(on, above, atol=0.01)
