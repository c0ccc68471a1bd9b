"""A wide sparse table is read where it is: memory beyond the table is that of a few chunks."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn import naive_bayes

import posterior
from posterior.engines import local, threads
from posterior.schema import Schema, read_table, sources

ROWS, COLUMNS, STORED = 20_000, 5_000, 60


@pytest.fixture(autouse=True)
def _chunks_as_small_against_the_table_as_those_of_a_million_rows(monkeypatch):
    monkeypatch.setattr(local, "CHUNK_CELLS", local.CHUNK_CELLS // 50)
    monkeypatch.setattr(sources, "SLICE_CELLS", sources.SLICE_CELLS // 50)


def table(dtype, *, in_order=True):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, ROWS)
    share = rng.random((ROWS, STORED)) ** (2.5 + y[:, None])
    indices = (share * COLUMNS).astype(np.int32)
    if in_order:
        indices = np.sort((share * (COLUMNS - STORED)).astype(np.int32), axis=1) + np.arange(STORED)
    data = rng.integers(1, 4, ROWS * STORED).astype(dtype)
    indptr = np.arange(0, ROWS * STORED + 1, STORED, dtype=np.int32)
    shape = (ROWS, COLUMNS)
    return sparse.csr_array((data, indices.ravel().astype(np.int32), indptr), shape=shape), y


def peak(work):
    """The most bytes that were allocated at a time."""
    with threads(1):
        tracemalloc.start()
        try:
            work()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("in_order", [True, False], ids=["canonical", "unsorted with repeated cells"])
@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB"])
def test_a_sparse_table_is_not_copied(name, dtype, in_order):
    X, y = table(dtype, in_order=in_order)
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    before = [part.copy() for part in (X.data, X.indices, X.indptr)]
    model = getattr(posterior, name)()
    model.fit(X[:100], y[:100])  # so that nothing is imported for the first time
    assert peak(lambda: model.fit(X, y)) <= 0.5 * size
    assert peak(lambda: model.predict(X)) <= 0.5 * size
    assert all((a == b).all() for a, b in zip(before, (X.data, X.indices, X.indptr), strict=True))
    X.sum_duplicates()
    theirs = getattr(naive_bayes, name)().fit(X, y)
    expected = theirs.predict_joint_log_proba(X[:500])
    assert model.predict_joint_log_proba(X[:500]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("dtype", ["int64", "float64", "bool"])
def test_inferring_the_kind_of_a_sparse_table_copies_nothing(dtype):
    X, _ = table(dtype)
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    kind = "binary" if dtype == "bool" else "count"
    kinds = dict.fromkeys(range(0, COLUMNS, 2), "continuous")
    infer = lambda rows: Schema.infer(read_table(rows), kinds)
    assert infer(X).kinds == ("continuous", kind) * (COLUMNS // 2)
    assert peak(lambda: infer(X)) <= 0.5 * size
