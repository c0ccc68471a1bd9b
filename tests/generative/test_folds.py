"""Cross-validation from fold statistics equals fitting every fold's model to its rows."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.covariance import EmpiricalCovariance
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
)

from examples import few_examples
from posterior import (
    LDA,
    QDA,
    BernoulliNB,
    CategoricalNB,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    GenerativeClassifier,
    MultinomialNB,
    NaiveBayes,
    OneDependence,
    TreeAugmented,
    threads,
)
from posterior.datasets import load_penguins
from posterior.engines import local
from posterior.families import (
    Categorical,
    Exponential,
    Gamma,
    Histogram,
    KernelDensity,
    Laplace,
    MultivariateNormal,
    NegativeBinomial,
)
from posterior.notices import DataWarning

K, N = 3, 90


def classes(rng):
    return np.concatenate([np.repeat(np.arange(K), 16), rng.integers(0, K, N - 16 * K)])


def numbers(rng, y):
    mix = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, -0.3], [0.2, 0.0, 1.0]])
    return rng.normal(size=(N, 3)) @ mix * (1 + 0.3 * y[:, None]) + 0.5 * y[:, None]


def with_gaps(rng, y):
    return np.where(rng.random((N, 3)) < 0.1, np.nan, numbers(rng, y))


def waits(rng, y):
    return rng.exponential(1.0 + y[:, None], size=(N, 3))


def counts(rng, y):
    return rng.poisson(1.0 + y[:, None], size=(N, 3)).astype(float)


def sparse_counts(rng, y):
    return sparse.csr_array(counts(rng, y))


def codes(rng, y):
    return (rng.integers(0, 3, size=(N, 3)) + y[:, None]) % 3


def frame(rng, y):
    x = numbers(rng, y)
    names = np.array(["red", "green", "blue"])[codes(rng, y)[:, 0]]
    return pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "colour": names, "seen": x[:, 2] > 0})


def polars_frame(rng, y):
    return pl.from_pandas(frame(rng, y))


@dataclass(frozen=True)
class Case:
    estimator: Any
    draw: Callable[[np.random.Generator, np.ndarray], Any]
    weights: bool = field(default=True)
    within: float = 1e-9


MIXED = [(["a", "b"], MultivariateNormal(tied=0.5)), ("colour", Categorical())]
CASES = {
    "naive-bayes": Case(NaiveBayes(tied=False, weights=1.0), frame),
    "naive-bayes-polars": Case(NaiveBayes(tied=True, alpha=0.5, weights=1.0), polars_frame),
    "naive-bayes-gaps": Case(NaiveBayes(tied=False, weights=1.0), with_gaps),
    "one-dependence": Case(OneDependence(), frame),
    "one-dependence-gaps": Case(OneDependence(), with_gaps),
    "tree-augmented": Case(TreeAugmented(), frame),
    "tree-augmented-gaps": Case(TreeAugmented(), with_gaps),
    "gaussian-nb": Case(GaussianNB(), numbers),
    "lda": Case(LDA(), numbers),
    "qda": Case(QDA(), numbers),
    # EM ends at a gain in likelihood: sums in another order may end it one iteration earlier or later.
    "qda-gaps": Case(QDA(), with_gaps, within=1e-5),
    "lda-shrunk": Case(LDA(shrinkage="auto"), numbers),
    "lda-plug-in": Case(LDA(covariance_estimator=EmpiricalCovariance()), numbers, weights=False),
    "uniform-priors": Case(GaussianDiscriminantAnalysis(priors="uniform", shape="diagonal"), numbers),
    "laplace": Case(NaiveBayes(families={"continuous": Laplace()}, tied=False, weights=1.0), numbers),
    "exponential": Case(NaiveBayes(families={"continuous": Exponential()}, tied=False, weights=1.0), waits),
    "negative-binomial": Case(
        NaiveBayes(families={"continuous": NegativeBinomial()}, tied=False, weights=1.0), counts
    ),
    "histogram": Case(NaiveBayes(families={"continuous": Histogram()}, tied=False, weights=1.0), numbers),
    "kernel-density": Case(
        NaiveBayes(families={"continuous": KernelDensity()}, tied=False, weights=1.0), numbers
    ),
    "gamma": Case(NaiveBayes(families={"continuous": Gamma()}, tied=False, weights=1.0), waits),
    "composition": Case(GenerativeClassifier(MIXED), frame),
    "multinomial": Case(MultinomialNB(), counts),
    "multinomial-sparse": Case(MultinomialNB(), sparse_counts),
    "bernoulli-sparse": Case(BernoulliNB(), sparse_counts),
    "categorical": Case(CategoricalNB(alpha=0.1), codes),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
seeds = st.integers(0, 2**32 - 1)


def take(X, rows):
    if isinstance(X, pd.DataFrame):
        return X.iloc[rows]
    return X[rows.tolist()] if isinstance(X, pl.DataFrame) else X[rows]


def refitted(estimator, X, y, folds, weight=None):
    """Held-out log posteriors by fitting literally, −inf for a class that the other folds lack."""
    labels = np.unique(y)
    counts = np.ones(len(y), bool) if weight is None else weight > 0
    out = np.full((len(y), len(labels)), -np.inf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        for fold in np.unique(folds):
            train, test = np.flatnonzero((folds != fold) & counts), np.flatnonzero(folds == fold)
            given = () if weight is None else (weight[train],)
            model = clone(estimator).fit(take(X, train), y[train], *given)
            found = np.searchsorted(labels, model.classes_)
            out[np.ix_(test, found)] = model.predict_log_proba(take(X, test))
    return out


def close(a, b, within=1e-9):
    assert (np.isneginf(a) == np.isneginf(b)).all()
    finite = np.isfinite(b)
    np.testing.assert_allclose(a[finite], b[finite], rtol=within, atol=within)


@every_case
@given(seed=seeds)
@few_examples
def test_fold_statistics_give_what_fitting_the_other_folds_gives(case, seed):
    rng = np.random.default_rng(seed)
    y = classes(rng)
    X = case.draw(rng, y)
    folds = rng.permutation(np.arange(N) % 5)
    found = case.estimator.k_fold_log_proba(X, y, cv=folds)
    close(found, refitted(case.estimator, X, y, folds), case.within)


@every_case
@given(seed=seeds)
@few_examples
def test_weights_count_in_training_and_rows_of_weight_zero_are_scored(case, seed):
    if not case.weights:
        return
    rng = np.random.default_rng(seed)
    y = classes(rng)
    X = case.draw(rng, y)
    folds = rng.permutation(np.arange(N) % 4)
    weight = rng.integers(1, 4, N).astype(float)
    weight[rng.choice(np.arange(16 * K, N), 8, replace=False)] = 0.0
    found = case.estimator.k_fold_log_proba(X, y, cv=folds, sample_weight=weight)
    close(found, refitted(case.estimator, X, y, folds, weight), case.within)


def test_gaps_in_a_mixed_table_of_penguins_are_no_matter():
    table = load_penguins()
    folds = np.arange(len(table.y)) % 10
    model = NaiveBayes(tied=False, weights=1.0)
    close(
        model.k_fold_log_proba(table.X, table.y, cv=folds),
        refitted(model, table.X, np.asarray(table.y), folds),
    )


@pytest.mark.parametrize(
    "estimator", [NaiveBayes(tied=False, weights=1.0), QDA(), GaussianDiscriminantAnalysis(tied="auto")]
)
def test_any_number_of_threads_gives_the_same_bits(estimator, monkeypatch):
    monkeypatch.setattr(local, "CHUNK_ROWS", 256)
    monkeypatch.setattr(local, "CHUNK_CELLS", 256)
    rng = np.random.default_rng(3)
    y = rng.integers(0, K, 2000)
    X = rng.normal(size=(2000, 3)) * (1 + 0.1 * y[:, None]) + 0.5 * y[:, None]
    with threads(1):
        one = estimator.k_fold_log_proba(X, y, cv=5)
    with threads(2):
        two = estimator.k_fold_log_proba(X, y, cv=5)
    assert one.tobytes() == two.tobytes()


def test_several_chunks_give_what_one_gives(monkeypatch):
    rng = np.random.default_rng(3)
    y = rng.integers(0, K, 1000)
    X = rng.normal(size=(1000, 3)) + 0.5 * y[:, None]
    whole = LDA().k_fold_log_proba(X, y)
    monkeypatch.setattr(local, "CHUNK_ROWS", 256)
    monkeypatch.setattr(local, "CHUNK_CELLS", 256)
    close(LDA().k_fold_log_proba(X, y), whole)


def test_the_estimator_stays_as_it_was():
    rng = np.random.default_rng(0)
    y = classes(rng)
    X = numbers(rng, y)
    fresh, fitted = LDA(), LDA().fit(X[:40], y[:40])
    before = fitted.model_
    fresh.k_fold_log_proba(X, y)
    fitted.k_fold_log_proba(X, y)
    assert not hasattr(fresh, "model_")
    assert fitted.model_ is before


@pytest.mark.parametrize("priors", [None, "uniform", [0.2, 0.3, 0.5]])
def test_a_class_in_one_fold_only_is_impossible_there(priors):
    rng = np.random.default_rng(0)
    y = np.r_[np.zeros(10, int), np.ones(9, int), 2]
    X = rng.normal(size=(20, 2))
    for cv in (4, 10, np.arange(20)):
        logs = GaussianDiscriminantAnalysis(tied=1, priors=priors).k_fold_log_proba(X, y, cv=cv)
        assert np.isneginf(logs[19, 2])
        np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1)


def test_a_class_that_a_plug_in_covariance_has_not_seen_is_impossible():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(21, 2)), np.r_[np.zeros(10, int), np.ones(9, int), 2, 2]
    folds = np.r_[np.arange(19) % 3, 1, 1]
    for model in (LDA(covariance_estimator=EmpiricalCovariance()), QDA(covariance_estimator=Unit())):
        logs = model.k_fold_log_proba(X, y, cv=folds)
        assert np.isneginf(logs[-1, 2])
        assert np.isfinite(logs[:, :2]).all()


class Unit:
    def fit(self, X):
        self.covariance_ = np.eye(X.shape[1])


def test_a_class_of_weight_zero_has_a_column_and_no_chance():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.r_[np.zeros(9, int), np.ones(9, int), 2, 2]
    logs = LDA().k_fold_log_proba(X, y, cv=3, sample_weight=(y < 2).astype(float))
    assert logs.shape == (20, 3)
    assert np.isneginf(logs[:, 2]).all()


def test_rows_of_weight_zero_do_not_change_the_folds_of_the_others():
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(60, 2)), np.arange(60) % 3, np.arange(60) % 2.0
    counts = weight > 0
    with_them = QDA().k_fold_log_proba(X, y, sample_weight=weight)[counts]
    close(with_them, QDA().k_fold_log_proba(X[counts], y[counts]))


def test_a_number_of_folds_is_the_stratified_shuffled_splitter():
    rng = np.random.default_rng(0)
    y = np.sort(classes(rng))
    X = numbers(rng, y)
    splitter = StratifiedKFold(5, shuffle=True, random_state=0)
    assert (LDA().k_fold_log_proba(X, y, cv=5) == LDA().k_fold_log_proba(X, y, cv=splitter)).all()


def test_lists_of_rows_are_folds_too():
    rng = np.random.default_rng(0)
    y = classes(rng)
    X = numbers(rng, y)
    folds = np.arange(N) % 3
    pairs = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(3)]
    assert (LDA().k_fold_log_proba(X, y, cv=pairs) == LDA().k_fold_log_proba(X, y, cv=folds)).all()


def test_leaving_out_one_row_at_a_time_is_one_of_the_splitters():
    rng = np.random.default_rng(0)
    y = classes(rng)
    X = numbers(rng, y)
    close(
        LDA().k_fold_log_proba(X, y, cv=LeaveOneOut()),
        refitted(LDA(), X, y, np.arange(N)),
    )


def test_more_folds_than_rows_of_a_class_are_no_matter():
    X = np.arange(12.0).reshape(6, 2) ** 2
    logs = GaussianNB().k_fold_log_proba(X, [0, 0, 0, 1, 1, 1], cv=10)
    assert np.isfinite(logs).any(axis=1).all()
    alone = GaussianNB().k_fold_log_proba(X, np.arange(6), cv=10)
    assert np.isneginf(np.diagonal(alone)).all()


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "at least 2"),
        (True, "number of folds"),
        (None, "number of folds"),
        ("ten", "number of folds"),
        (2.5, "number of folds"),
        (np.zeros(20, int), "every row in one fold"),
        (np.zeros(7, int), "one fold number for each row"),
        (np.r_[np.nan, np.zeros(18), 1.0], "every row must be in a fold"),
        ([([0], [1, 2]), ([1, 2], [0])], "trained on all other folds"),
        ([[0, 1, 2], [3, 4, 5]], "one fold number for each row"),
        (ShuffleSplit(3, random_state=0), "exactly once"),
        (RepeatedKFold(n_splits=2, n_repeats=2, random_state=0), "exactly once"),
        (PredefinedSplit([-1] * 10 + [0] * 5 + [1] * 5), "exactly once"),
        (GroupKFold(2), "the group of each row"),
        (StratifiedKFold(15), "does not split these rows"),
    ],
    ids=repr,
)
def test_folds_that_are_none_are_refused(cv, message):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match=message):
        LDA().k_fold_log_proba(X, np.arange(20) % 2, cv=cv)


class Purged(KFold):
    """Leaves the first row out of every training part."""

    def split(self, X, y=None, groups=None):
        for train, test in super().split(X, y, groups):
            yield train[1:], test


def test_a_splitter_that_leaves_rows_out_of_training_is_refused():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match="trained on all other folds"):
        LDA().k_fold_log_proba(X, np.arange(20) % 2, cv=Purged(4))


def test_rows_that_count_must_be_in_two_folds():
    X = np.random.default_rng(0).normal(size=(20, 2))
    weight = np.r_[np.ones(10), np.zeros(10)]
    with pytest.raises(ValueError, match="every row that counts is in fold 0"):
        LDA().k_fold_log_proba(X, np.arange(20) % 2, cv=np.arange(20) // 10, sample_weight=weight)


def test_priors_that_leave_no_class_are_refused():
    X = np.random.default_rng(0).normal(size=(20, 2))
    y = np.arange(20) // 10
    with pytest.raises(ValueError, match="prior zero"):
        LDA(priors=[0.0, 1.0]).k_fold_log_proba(X, y, cv=y)


def test_as_many_folds_as_rows_or_more_are_leave_one_out():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [40, 20])
    X = rng.normal(size=(60, 3)) + y[:, None]
    model = LDA().fit(X, y)
    expected = model.leave_one_out_log_proba(X, y)
    for cv in (60, 200, np.arange(60)):
        np.testing.assert_allclose(LDA().k_fold_log_proba(X, y, cv=cv), expected, atol=1e-9)


def test_one_class_is_refused_as_in_fit():
    with pytest.raises(ValueError, match="nothing to tell apart"):
        LDA().k_fold_log_proba(np.zeros((4, 1)), [1, 1, 1, 1])
