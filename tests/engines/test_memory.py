"""A wide sparse table is read where it is: memory beyond the table is that of a few chunks."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn import naive_bayes

import posterior
from posterior.engines import local, threads
from posterior.kernels import choice
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


@pytest.mark.crossed
@pytest.mark.parametrize("in_order", [True, False], ids=["canonical", "unsorted with repeated cells"])
@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB"])
def test_a_sparse_table_is_not_copied(name, dtype, in_order):
    X, y = table(dtype, in_order=in_order)
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    before = [part.copy() for part in (X.data, X.indices, X.indptr)]
    model = getattr(posterior, name)()
    model.fit(X, y).predict(X)  # so that nothing is imported for the first time
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


def many_covariances(n_classes, d, per_class):
    rng = np.random.default_rng(0)
    y = np.arange(n_classes * per_class) % n_classes
    return rng.normal(size=(len(y), d)) + rng.normal(size=(n_classes, d))[y], y


@pytest.mark.long
def test_quadratic_discriminants_take_three_times_their_covariances_at_most(monkeypatch):
    monkeypatch.setattr(local, "CHUNK_CELLS", 50 * local.CHUNK_CELLS)  # as it is outside of this file
    K, d = 500, 200
    X, y = many_covariances(K, d, 205)
    covariances = K * d * d * 8
    posterior.QDA().fit(X[:10_000, :3], y[:10_000] % 3).predict(X[:10_000, :3])  # imports what is needed
    model = posterior.QDA()

    def work():
        model.fit(X, y)
        model.predict(X[:1000])
        model.predict(X[:10])

    assert peak(work) <= 3 * covariances


def test_many_covariances_score_as_few_do():
    X, y = many_covariances(120, 100, 110)
    many = posterior.QDA().fit(X, y)
    K = np.flatnonzero(y < 3)
    few = posterior.QDA().fit(X[K], y[K])
    shared = many.class_log_density(X[:200])[:, :3]
    assert shared == pytest.approx(few.class_log_density(X[:200]), rel=1e-9)
    assert many.class_log_density(X[:5])[:, :3] == pytest.approx(shared[:5], rel=1e-9)
    with choice.using("reference"):
        assert many.class_log_density(X[:20])[:, :3] == pytest.approx(shared[:20], rel=1e-9)


WIDE = [
    posterior.LDA(),
    posterior.QDA(),
    posterior.LDA(shrinkage="auto"),
    posterior.GaussianDiscriminantAnalysis(tied=0.5),
]


@pytest.mark.parametrize("model", WIDE, ids=str)
def test_covariances_of_too_many_columns_are_refused_before_memory_is_taken(model):
    X = sparse.random(60, 50_000, density=0.001, format="csr", random_state=0)
    y = np.arange(60) % 2

    def work():
        with pytest.raises(ValueError, match=r"50,000 columns.* GiB .*GaussianNB"):
            model.fit(X, y)

    assert peak(work) < 1 << 28
