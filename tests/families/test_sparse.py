"""What families of counts and binary features say of sparse rows is what they say of dense ones."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from examples import few_examples
from posterior import BernoulliNB, MultinomialNB, NaiveBayes, kernels
from posterior.estimators.precision import in_double
from posterior.families import Bernoulli, Multinomial, NegativeBinomial, Poisson
from posterior.kernels import choice
from posterior.kernels.choice import using
from posterior.notices import OutsideSupportWarning
from posterior.stats import ValueTable

K, D = 3, 6
FAMILIES = {
    "poisson": Poisson(),
    "poisson-ml": Poisson(alpha=0),
    "negative-binomial": NegativeBinomial(),
    "negative-binomial-ml": NegativeBinomial(alpha=0),
    "bernoulli": Bernoulli(),
    "bernoulli-ml": Bernoulli(alpha=0),
    "bernoulli-above-1": Bernoulli(threshold=1.0),
    "multinomial": Multinomial(),
    "multinomial-ordered": Multinomial(alpha=0.3, ordered=True),
}
ROUNDING = {"rtol": 1e-11, "atol": 1e-11}


def counts(family, seed, n=60, *, gaps=True):
    """Counts of which most are zero, one column all zero and one never; their classes and weights."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    X = rng.negative_binomial(1, 0.6, size=(n, D)) * (rng.random((n, D)) < 0.4 + 0.1 * y[:, None])
    if isinstance(family, Bernoulli) and family.threshold is None:
        X = np.minimum(X, 1)
    X = X.astype(float)
    X[:, 2], X[:, 3] = 0.0, 1.0
    if gaps:
        X[rng.random((n, D)) < 0.05] = np.nan
    return X, y, rng.uniform(0.5, 2.0, n)


def varied(seed, n=90):
    """Counts without gaps, of which no column is constant, and their classes and weights."""
    X, y, w = counts(Poisson(), seed, n, gaps=False)
    X[:, 2:4] = np.random.default_rng(seed).poisson(0.3 + y[:, None], size=(n, 2))
    return X, y, w


def stored(X, seed=0):
    """The rows as a CSR array in which some of the zeros are stored too."""
    rng = np.random.default_rng(seed)
    row, column = np.nonzero((X != 0) | (rng.random(X.shape) < 0.2))
    return sparse.csr_array((X[row, column], (row, column)), shape=X.shape)


def assert_same_statistics(found, truth):
    if isinstance(truth, ValueTable):
        for a, b in zip(found.values + found.tables, truth.values + truth.tables, strict=True):
            np.testing.assert_allclose(a, b, **ROUNDING)
    for field in fields(truth):
        a, b = getattr(found, field.name), getattr(truth, field.name)
        if isinstance(b, np.ndarray) and a is not None:  # binary features that are sparse have no marks
            np.testing.assert_allclose(a, b, **ROUNDING)
    if getattr(found, "mark", None) is not None or truth.mark is None:
        assert found.facts() == truth.facts()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", FAMILIES)
@given(seed=st.integers(0, 2**32 - 1))
def test_sparse_rows_have_the_statistics_of_dense_ones(name, weighted, seed):
    family = FAMILIES[name]
    X, y, w = counts(family, seed)
    w = w if weighted else None
    found, truth = (family.summarize(block, y, w, K) for block in (stored(X, seed), X))
    assert_same_statistics(found, truth)
    half = len(y) // 2
    parts = [
        family.summarize(stored(X[some]), y[some], None if w is None else w[some], K)
        for some in (slice(half), slice(half, None))
    ]
    assert_same_statistics(parts[0] + parts[1], truth)


@pytest.mark.parametrize("name", FAMILIES)
@given(seed=st.integers(0, 2**32 - 1))
@few_examples
def test_sparse_rows_have_the_densities_of_dense_ones(name, seed):
    family = FAMILIES[name]
    X, y, w = counts(family, seed, gaps=not isinstance(family, Multinomial))
    given_ = family.estimate(family.summarize(X, y, w, K))
    rows, _, _ = counts(family, seed + 1)
    if given_.has_support:  # cells that no class can have
        rows[0, 0], rows[1, 1] = -1.0, -2.0
    block = stored(rows, seed)
    np.testing.assert_allclose(given_.log_density(block), given_.log_density(rows), **ROUNDING)
    np.testing.assert_allclose(given_.log_terms(block), given_.log_terms(rows), **ROUNDING)
    np.testing.assert_array_equal(kernels.dense(given_.outside(block)), given_.outside(rows))
    weights = [np.ones(D), np.full(D, 0.25), np.array([0.0, 0.5, 1.0, 2.0, 0.1, 0.7])]
    for weight in weights if given_.separable else weights[:2]:
        found, truth = np.zeros((2, len(rows), K))
        given_.add_weighted(block, weight, found)
        given_.add_weighted(rows, weight, truth)
        possible = np.isfinite(truth)
        np.testing.assert_array_equal(np.isfinite(found), possible)
        # Up to a term of the row, which the first possible class has with the others.
        first = possible.argmax(axis=1)[:, None]
        apart = [scores - np.take_along_axis(scores, first, axis=1) for scores in (found, truth)]
        some = possible.any(axis=1)
        np.testing.assert_allclose(apart[0][some][possible[some]], apart[1][some][possible[some]], **ROUNDING)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", FAMILIES)
def test_sparse_rows_are_left_out_as_dense_ones_are(name, weighted):
    family = FAMILIES[name]
    X, y, w = counts(family, 3, gaps=False)
    w = w if weighted else None
    sums = family.summarize(X, y, w, K)
    score = family.leave_one_out(sums, family.estimate(sums))
    found, truth = score(stored(X), y, w), score(X, y, w)
    np.testing.assert_allclose(found.log_density, truth.log_density, **ROUNDING)
    np.testing.assert_array_equal(found.delicate, truth.delicate)


@pytest.mark.parametrize("wrong", [-1.0, 0.5])
@pytest.mark.parametrize("family", [Poisson(), NegativeBinomial(), Multinomial()])
def test_what_is_no_count_is_refused_in_the_same_words(family, wrong):
    if isinstance(family, Multinomial) and wrong > 0:
        return  # which takes any numbers that are not negative
    X, _, _ = counts(family, 5)
    X[7, 4] = X[9, 1] = wrong
    said = []
    for block in (X, stored(X)):
        with pytest.raises(ValueError, match="column 'c4'") as refused:
            family.check(block, [f"c{j}" for j in range(D)])
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_a_zero_that_a_class_cannot_have_is_impossible_unless_it_is_missing():
    given_ = Bernoulli(alpha=0).estimate(
        Bernoulli().summarize(np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([0, 0]), None, 1)
    )
    rows = np.array([[0.0, 1.0], [1.0, 1.0], [np.nan, 1.0], [0.0, 0.0]])
    weight = np.array([0.5, 0.25])
    found, truth = np.zeros((2, 4, 1))
    given_.add_weighted(stored(rows), weight, found)
    given_.add_weighted(rows, weight, truth)
    np.testing.assert_allclose(found, truth)
    np.testing.assert_array_equal(np.isneginf(found[:, 0]), [True, False, False, True])


@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["counts", "large", "any", "gaps"]))
def test_distinct_cells_give_the_cells_back(seed, kind):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(12, 5)).astype(float)
    X *= {"counts": 1.0, "large": 1e7, "any": -0.37, "gaps": 1.0}[kind]
    X[(X == 2.0) & (kind == "gaps")] = np.nan
    block = stored(X, seed)
    columns, values, place = kernels.distinct_cells(block)
    np.testing.assert_array_equal(columns[place], block.indices)
    np.testing.assert_array_equal(values[place], block.data)
    assert len(set(zip(columns.tolist(), map(repr, values.tolist()), strict=True))) == len(columns)
    order = np.lexsort((values, columns))
    np.testing.assert_array_equal(order, np.arange(len(columns)))


def test_rows_without_their_stored_zeros_are_other_rows():
    block = sparse.csr_array((np.array([1.0, 0.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert kernels.without_zeros(block).nnz == 1
    assert block.nnz == 2


def disguises(X):
    """The same counts as scipy may hold them."""
    coo = sparse.coo_array(X)
    twice = sparse.csr_array(
        (
            np.concatenate([coo.data - 1.0, np.ones(coo.nnz)]),
            (np.tile(coo.row, 2), np.tile(coo.col, 2)),
        ),
        shape=X.shape,
    )
    backwards = sparse.csr_array(X)
    for start, stop in zip(backwards.indptr[:-1], backwards.indptr[1:], strict=True):
        for part in (backwards.indices, backwards.data):
            part[start:stop] = part[start:stop][::-1].copy()
    backwards.has_sorted_indices = False
    backwards.has_canonical_format = False
    zeros = stored(X)
    return {
        "csr": sparse.csr_array(X),
        "csc": sparse.csc_array(X),
        "coo": coo,
        "matrix": sparse.csr_matrix(X),
        "int": sparse.csr_array(X.astype(np.int64)),
        "float32": sparse.csr_array(X.astype(np.float32)),
        "twice": twice,
        "backwards": backwards,
        "zeros": zeros,
    }


@pytest.mark.parametrize("family", [None, NegativeBinomial()])
@pytest.mark.parametrize("weights", [1.0, "one"])
@pytest.mark.parametrize("mode", ["reference", "compiled"])
def test_naive_bayes_of_sparse_counts_is_that_of_dense_ones(family, weights, mode, monkeypatch):
    monkeypatch.setattr(choice, "_mode", mode)
    X, y, w = varied(11)
    families = None if family is None else {"count": family}
    kinds = dict.fromkeys(range(D), "count")
    truth = NaiveBayes(weights=weights, kinds=kinds, families=families).fit(X, y, sample_weight=w)
    expected = truth.predict_log_proba(X)
    for name, table in disguises(X).items():
        model = NaiveBayes(weights=weights, families=families).fit(table, y, sample_weight=w)
        assert set(model.schema_.kinds) == {"count"}, name
        with in_double():  # a table in single precision is answered in it
            logs, other = model.predict_log_proba(table), truth.predict_log_proba(table)
            joint = model.predict_joint_log_proba(table)
        np.testing.assert_allclose(logs, expected, rtol=1e-9, atol=1e-9, err_msg=name)
        np.testing.assert_allclose(other, expected, rtol=1e-9, atol=1e-9, err_msg=name)
        np.testing.assert_allclose(model.predict_log_proba(X), expected, rtol=1e-9, atol=1e-9, err_msg=name)
        np.testing.assert_allclose(joint, truth.predict_joint_log_proba(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("mode", ["reference", "compiled"])
def test_true_and_false_that_are_sparse_are_binary_features(mode):
    X, y, _ = varied(12)
    X = np.minimum(X, 1)
    with using(mode):
        found = NaiveBayes(weights=1.0).fit(sparse.csr_array(X.astype(bool)), y).predict_log_proba(X)
        truth = BernoulliNB().fit(X, y).predict_log_proba(X)
    np.testing.assert_allclose(found, truth, rtol=1e-10, atol=1e-10)


def test_parts_of_a_sparse_table_add_up_to_the_model_of_the_whole():
    X, y, _ = varied(13)
    table = sparse.csr_array(X)
    whole = NaiveBayes(weights=1.0).fit(table, y)
    first, second = (
        NaiveBayes(weights=1.0).fit(table[some], y[some]) for some in (slice(40), slice(40, None))
    )
    streamed = NaiveBayes(weights=1.0).partial_fit(table[:40], y[:40], classes=np.unique(y))
    streamed.partial_fit(table[40:], y[40:])
    for model in (first + second, streamed):
        np.testing.assert_allclose(model.predict_log_proba(table), whole.predict_log_proba(table), rtol=1e-12)


@pytest.mark.parametrize("estimator", [NaiveBayes(weights=1.0), MultinomialNB(), BernoulliNB()])
def test_gaps_of_new_sparse_rows_are_left_out(estimator):
    X, y, _ = varied(14)
    model = estimator.fit(sparse.csr_array(X), y)
    rows = X.copy()
    rows[3, 0] = rows[5, 4] = np.nan
    found = model.predict_log_proba(sparse.csr_array(rows))
    np.testing.assert_allclose(found, model.predict_log_proba(rows), rtol=1e-10, atol=1e-10)


def test_new_cells_that_are_no_counts_are_left_out_and_told():
    X, y, _ = varied(15)
    model = NaiveBayes(weights=1.0).fit(sparse.csr_array(X), y)
    rows = X.copy()
    rows[3, 0] = 0.5
    with pytest.warns(OutsideSupportWarning, match="column 'x0': 1 row"):
        found = model.predict_log_proba(sparse.csr_array(rows))
    rows[3, 0] = np.nan
    np.testing.assert_allclose(found, model.predict_log_proba(rows), rtol=1e-10, atol=1e-10)
