"""Whole models on random tables of every kind: whatever comes in, what comes out is a distribution."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posterior import LDA, QDA, GaussianDiscriminantAnalysis, GaussianNB, GenerativeClassifier, NaiveBayes
from posterior.families import Categorical, Laplace, LogNormal, MultivariateNormal

pytestmark = pytest.mark.long

DRAW = {
    "normal": lambda rng, n, y: rng.normal(size=n) + y,
    "heavy": lambda rng, n, y: rng.standard_cauchy(n) * 10.0 ** rng.integers(-3, 6),
    "tiny": lambda rng, n, y: rng.normal(size=n) * 1e-12,
    "offset": lambda rng, n, y: rng.normal(size=n) + 1e8,
    "constant": lambda rng, n, y: np.full(n, 3.5),
    "integer": lambda rng, n, y: rng.integers(-3, 4, n),
    "flag": lambda rng, n, y: rng.random(n) < 0.3,
    "label": lambda rng, n, y: np.array(["a", "b b", "ü", ""])[rng.integers(0, 4, n)],
    "many": lambda rng, n, y: np.array([f"id{i}" for i in rng.integers(0, 4 * n, n)]),
    "count": lambda rng, n, y: rng.poisson(2 + y),
    "rare": lambda rng, n, y: np.where(rng.random(n) < 0.02, 1.0, 0.0),
}


def with_gaps(values, rng, share):
    out = pd.Series(values)
    if out.dtype == bool:
        out = out.astype("boolean")
    elif out.dtype.kind in "iu":
        out = out.astype("Int64")
    return out.mask(rng.random(len(out)) < share)


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, K = draw(st.integers(4, 60)), draw(st.integers(2, 4))
    y = np.concatenate([np.arange(K), rng.integers(0, K, max(n - K, 0))])
    kinds = draw(st.lists(st.sampled_from(sorted(DRAW)), min_size=1, max_size=6))
    share = draw(st.sampled_from([0.0, 0.1, 0.5]))
    X = pd.DataFrame({f"{k}{i}": with_gaps(DRAW[k](rng, len(y), y), rng, share) for i, k in enumerate(kinds)})
    weight = draw(st.sampled_from([None, "whole", "real"]))
    w = {
        None: None,
        "whole": rng.integers(0, 3, len(y)) + (np.arange(len(y)) < K),
        "real": rng.gamma(1.0, size=len(y)),
    }
    return X, y, w[weight], rng


def quietly(work):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return work()


def assert_distributions(model, X):
    logs = quietly(lambda: model.predict_log_proba(X))
    assert not np.isnan(logs).any()
    assert (logs <= 1e-12).all()
    assert np.exp(logs).sum(axis=1) == pytest.approx(np.ones(len(logs)), abs=1e-9)
    evidence = quietly(lambda: model.score_samples(X))
    assert not np.isnan(evidence).any()
    assert (quietly(lambda: pickle.loads(pickle.dumps(model)).predict_log_proba(X)) == logs).all()
    return logs


@given(table=tables())
@settings(max_examples=1500)
def test_naive_bayes_gives_distributions_on_any_table(table):
    X, y, weight, rng = table
    assert_distributions(quietly(lambda: NaiveBayes().fit(X, y, sample_weight=weight)), X)
    plain = {"tied": False, "weights": 1.0}  # of parts, the first would choose
    model = quietly(lambda: NaiveBayes(**plain).fit(X, y, sample_weight=weight))
    logs = assert_distributions(model, X)
    parts = quietly(
        lambda: NaiveBayes(**plain).partial_fit(
            X.iloc[:3], y[:3], sample_weight=None if weight is None else weight[:3]
        )
    )
    if weight is not None and not weight[3:].any():
        return
    rest = None if weight is None else weight[3:]
    quietly(lambda: parts.partial_fit(X.iloc[3:], y[3:], sample_weight=rest))
    again = quietly(lambda: parts.predict_log_proba(X))
    assert (np.abs(again - logs) <= 1e-7 * (1 + np.abs(logs))).all()
    drawn, labels = model.sample(5, random_state=int(rng.integers(2**31)))
    assert list(drawn.columns) == list(X.columns)
    assert set(labels) <= set(y)


@given(table=tables())
@settings(max_examples=1000)
def test_gaussian_models_give_distributions_on_any_complete_numbers(table):
    X, y, weight, _ = table
    numbers = X.select_dtypes("number").astype("float64")
    if numbers.shape[1] == 0:
        return
    complete = numbers.fillna(0.0)
    for model in (
        LDA(),
        QDA(),
        GaussianNB(),
        GaussianDiscriminantAnalysis(tied=0.5, shrinkage="ledoit-wolf"),
    ):
        fitted = quietly(lambda m=model: m.fit(complete, y, sample_weight=weight))
        assert_distributions(fitted, complete)
        assert_distributions(fitted, numbers)


@given(table=tables())
@settings(max_examples=500)
def test_mixed_blocks_give_distributions_on_any_table(table):
    X, y, weight, _ = table
    X = X.assign(
        a=np.linspace(1, 2, len(y)), b=np.cos(np.arange(len(y))), c=np.exp(np.sin(np.arange(len(y))))
    )
    features = [(["a", "b"], MultivariateNormal()), ("c", LogNormal())]
    labels = [c for c in X.columns if c.startswith("label")]
    if len(labels) > 1:
        features.append((labels, Categorical(joint=True)))
    heavy = [c for c in X.columns if c.startswith("heavy")]
    if heavy:
        features.append((heavy, Laplace()))
    model = GenerativeClassifier(features, remainder="auto")
    assert_distributions(quietly(lambda: model.fit(X, y, sample_weight=weight)), X)
