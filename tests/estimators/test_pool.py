"""A pool is its members' log odds in weighted sums: never worse than the best on the rows it learnt from."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import posterior
from posterior import LDA, QDA, GaussianNB, LogisticRegression, NaiveBayes, PoolClassifier
from posterior.datasets import load_penguins
from posterior.decision import fuse, log_loss, pool_weights
from posterior.notices import DataWarning

WINE, IRIS = load_wine(return_X_y=True), load_iris(return_X_y=True)
PENGUINS = load_penguins("pandas")
THREE = [("lda", LDA()), ("qda", QDA()), ("naive", GaussianNB())]
MIXED = [
    ("naive", NaiveBayes()),
    ("logistic", LogisticRegression(missing="indicator", standardize=True, C=3.0)),
]


def random_models(seed, n=60, K=3, M=4, scale=2.0):
    """Log posteriors of models that know something of the class, each with its own noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    truth = scale * np.eye(K)[y] * rng.random()
    logs = [truth * rng.random() + rng.normal(0, scale * rng.random(), (n, K)) for _ in range(M)]
    prior = rng.dirichlet(np.full(K, 5.0))
    return [each - np.log(np.exp(each).sum(axis=1, keepdims=True)) for each in logs], y, np.log(prior)


# -- weights ---------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.sampled_from([0.1, 2.0, 100.0]))
def test_a_pool_is_never_worse_than_its_best_member_on_the_rows_that_chose_the_weights(seed, scale):
    logs, y, prior = random_models(seed, scale=scale)
    weights = pool_weights(logs, y, prior)
    alone = min(log_loss(y, each) for each in logs)
    assert (weights >= 0).all()
    assert log_loss(y, fuse(logs, prior, weights=weights)) <= alone * (1 + 1e-9) + 1e-9


def test_few_members_have_a_weight_and_none_a_negligible_one():
    logs, y, prior = random_models(3, n=2000, M=12)
    weights = pool_weights(logs, y, prior)
    assert 2 <= (weights > 0).sum() <= 5
    assert (weights[weights > 0] >= 0.02).all()


def test_the_more_is_known_of_the_best_member_the_less_its_weight_moves():
    logs, y, prior = random_models(5)
    alone = np.eye(4)[np.argmin([log_loss(y, each) for each in logs])]
    distances = [np.abs(pool_weights(logs, y, prior, spread=s) - alone).sum() for s in (1e-3, 0.1, 1.0)]
    assert distances[0] < 0.01
    assert distances == sorted(distances)


def test_rows_weighted_twice_are_rows_there_twice():
    logs, y, prior = random_models(9)
    weight = np.where(np.arange(len(y)) % 3 == 0, 2.0, 1.0)
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    found = pool_weights(logs, y, prior, sample_weight=weight)
    assert_allclose(found, pool_weights([each[rows] for each in logs], y[rows], prior), atol=1e-8)


def test_a_member_that_calls_a_true_class_impossible_has_no_weight():
    logs, y, prior = random_models(1, K=2)
    logs[0] = np.where(np.arange(2) == y[:, None], 0.0, -np.inf)
    logs[0][0] = logs[0][0][::-1]
    with pytest.warns(DataWarning, match="model 'a' gives the true class a probability of zero in 1 of 60"):
        weights = pool_weights(logs, y, prior, names="abcd")
    assert weights[0] == 0
    assert weights.any()


# -- the classifier --------------------------------------------------------------------------------------


@pytest.mark.parametrize("member", [LDA(), NaiveBayes(priors="uniform"), LogisticRegression()])
def test_a_pool_of_one_is_that_model(member):
    X, y = WINE
    priors = getattr(member, "priors", None)
    pool = PoolClassifier([("one", member)], priors=priors).fit(X, y)
    assert_array_equal(pool.weights_, [1.0])
    assert_allclose(pool.predict_log_proba(X), clone(member).fit(X, y).predict_log_proba(X), atol=1e-8)


def test_the_prior_of_members_is_counted_once():
    X, y = IRIS
    rows = np.r_[:50, 50:70, 100:110]
    half = PoolClassifier([("a", LDA()), ("b", LDA(priors="uniform"))], weights=[0.5, 0.5])
    expected = LDA().fit(X[rows], y[rows]).predict_log_proba(X)
    assert_allclose(half.fit(X[rows], y[rows]).predict_log_proba(X), expected, atol=1e-8)


def test_a_pool_is_the_fusion_of_its_members_with_its_weights():
    X, y = WINE
    fold = np.arange(len(y)) % 4
    pool = PoolClassifier(THREE, cv=fold).fit(X, y)
    fused = posterior.FusionClassifier([(name, model, slice(None)) for name, model in THREE], cv=fold)
    kept = [name for name, _ in THREE if name in pool.named_estimators_]
    assert list(pool.named_estimators_) == kept
    weights = [dict(zip(kept, pool.weights_, strict=True)).get(name, 0.0) for name, _ in THREE]
    same = fused.set_params(weights=np.array(weights) / 2).fit(X, y)  # half, so that nothing counts twice
    ratio = 2 * (same.predict_log_proba(X) - np.log(same.priors_)) + np.log(same.priors_)
    expected = ratio - np.log(np.exp(ratio).sum(axis=1, keepdims=True))
    assert_allclose(pool.predict_log_proba(X), expected, atol=1e-8)


def test_members_without_weight_are_dropped():
    X, y = WINE
    noise = np.random.default_rng(0).permutation(y)
    blind = FrozenEstimator(LDA().fit(X, noise))
    pool = PoolClassifier([("lda", LDA()), ("blind", blind)]).fit(X, y)
    assert list(pool.named_estimators_) == ["lda"]
    given = PoolClassifier(THREE, weights={"lda": 0.7, "qda": 0, "naive": 0.2}).fit(X, y)
    assert list(given.named_estimators_) == ["lda", "naive"]
    assert_array_equal(given.weights_, [0.7, 0.2])


@pytest.mark.parametrize(
    "asked", [{}, {"of": "Gentoo"}, {"against": "Adelie"}, {"of": "Adelie", "against": "Gentoo"}]
)
def test_contributions_are_weighted_sums_and_add_up(asked):
    X, y = PENGUINS.X, PENGUINS.y
    members = [
        *MIXED,
        ("block", posterior.GenerativeClassifier([(["bill_length_mm"], posterior.families.Normal())])),
    ]
    pool = PoolClassifier(members, weights=[0.3, 0.5, 0.4]).fit(X, y)
    found = pool.contributions(X, **asked)
    assert found.terms[:2] == ("prior", "baseline")
    assert_allclose(found.values.sum(axis=1), found.total, atol=1e-8)
    logs, rows = pool.predict_log_proba(X), np.arange(len(X))
    of, against = (np.searchsorted(pool.classes_, each) for each in (found.of, found.against))
    assert_allclose(found.total, logs[rows, of] - logs[rows, against], atol=1e-9)
    if len(asked) == 2:
        island = found.terms.index("island")
        own = [clone(model).fit(X, y).contributions(X, **asked) for _, model in MIXED]
        theirs = [each.values[:, each.terms.index("island")] for each in own]
        assert_allclose(found.values[:, island], 0.3 * theirs[0] + 0.5 * theirs[1], atol=1e-6)


def test_words_of_texts_are_terms_of_a_pool():
    texts = [
        ["cheap cheap watches"],
        ["the meeting is at noon"],
        ["cheap tickets today"],
        ["see you at noon"],
    ] * 3
    members = [("a", NaiveBayes(kinds={"x0": "text"})), ("b", NaiveBayes(kinds={"x0": "text"}, alpha=3.0))]
    pool = PoolClassifier(members, weights=[0.5, 0.5]).fit(texts, ["spam", "ham"] * 6)
    found = pool.contributions([["cheap noon"]], words=True)
    assert {"x0[cheap]", "x0[noon]"} <= set(found.terms)
    assert_allclose(found.values.sum(axis=1), found.total, atol=1e-9)


def test_a_member_that_cannot_be_split_says_so():
    pool = PoolClassifier(
        [("forest", RandomForestClassifier(5, random_state=0)), ("lda", LDA())], weights=[1, 1]
    )
    with pytest.raises(ValueError, match=r"member 'forest' \(RandomForestClassifier\) cannot be split"):
        pool.fit(*IRIS).contributions(IRIS[0][:1])


def test_columns_are_read_as_the_members_read_them():
    members = [("logistic", LogisticRegression(missing="indicator")), MIXED[0]]
    pool = PoolClassifier(members, weights=[0.5, 0.5]).fit(PENGUINS.X, PENGUINS.y)
    assert dict(zip(pool.schema_.names, pool.schema_.kinds, strict=True))["island"] == "categorical"
    forest = RandomForestClassifier(3, random_state=0)
    theirs = PoolClassifier([("a", forest), ("b", forest)], weights=[1, 1]).fit(*IRIS)
    assert not hasattr(theirs, "schema_")


def test_the_same_table_gives_the_same_pool_in_any_number_of_threads():
    X, y = WINE
    found = []
    for n in (1, 3):
        with posterior.threads(n):
            found.append(PoolClassifier(THREE).fit(X, y).predict_log_proba(X))
    assert_array_equal(*found)


def test_clones_pickles_and_files_give_the_same(tmp_path):
    X, y = PENGUINS.X, PENGUINS.y
    pool = PoolClassifier(MIXED).fit(X, y)
    expected = pool.predict_log_proba(X)
    assert_array_equal(clone(pool).fit(X, y).predict_log_proba(X), expected)
    assert_array_equal(pickle.loads(pickle.dumps(pool)).predict_log_proba(X), expected)
    posterior.save(pool, tmp_path / "pool")
    loaded = posterior.load(tmp_path / "pool")
    assert_array_equal(loaded.predict_log_proba(X), expected)
    assert_array_equal(loaded.contributions(X[:3]).values, pool.contributions(X[:3]).values)
    assert str(posterior.workflow.inspect(loaded)) == str(posterior.workflow.inspect(pool))
    assert "PoolClassifier, weight" in str(posterior.workflow.inspect(loaded))


def test_rows_of_weight_zero_are_not_there():
    X, y = IRIS
    weight = (np.arange(len(y)) % 5 > 0).astype(float)
    fold = np.arange(len(y)) % 3
    found = PoolClassifier(THREE, cv=fold).fit(X, y, sample_weight=weight)
    expected = PoolClassifier(THREE, cv=fold[weight > 0]).fit(X[weight > 0], y[weight > 0])
    assert_allclose(found.predict_log_proba(X), expected.predict_log_proba(X), atol=1e-8)


CHECKED = [
    PoolClassifier([("a", GaussianNB()), ("b", LDA())], cv=3),
    PoolClassifier(
        [("a", GaussianNB()), ("b", NaiveBayes(tied=True, weights=1.0))], weights=[0.5, 0.7], priors="uniform"
    ),
]


@pytest.mark.filterwarnings("ignore::posterior.notices.PosteriorWarning")
@parametrize_with_checks(CHECKED)
def test_the_contract_of_scikit_learn_is_kept(estimator, check):
    check(estimator)


WRONG = {
    "no list": ("lda", "estimators must be a list of \\(name, classifier\\), found 'lda'"),
    "no pair": ([LDA()], "estimators must be a list of \\(name, classifier\\), found Linear"),
    "columns": ([("a", LDA(), [0])], "list of \\(name, classifier\\), found \\('a'"),
    "a class": ([("a", LDA)], "member 'a' must be a classifier, found .*; write LinearDiscr"),
    "twice": ([("a", LDA()), ("a", QDA())], "two members are named 'a'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_members_are_refused(case):
    members, told = WRONG[case]
    with pytest.raises((ValueError, TypeError), match=told):
        PoolClassifier(members).fit(*IRIS)


def test_a_failed_fit_leaves_the_earlier_one():
    pool = PoolClassifier(THREE).fit(*IRIS)
    before = pool.predict_log_proba(IRIS[0])
    with pytest.raises(ValueError, match="must be a list"):
        pool.set_params(estimators=[]).fit(*WINE)
    assert_array_equal(pool.predict_log_proba(pd.DataFrame(IRIS[0]).to_numpy()), before)
