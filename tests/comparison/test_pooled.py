"""The pool of a comparison is judged by weights of other folds, and recommended where clearly better."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, load_wine

import posterior
from posterior import threads
from posterior.comparison import Comparison, model_for
from posterior.comparison.held_out import CrossValidation
from posterior.comparison.pooled import Pooling, Tried
from posterior.comparison.recommendation import Ranking
from posterior.datasets import load_penguins
from posterior.decision import fuse, log_loss_terms, pool_weights
from posterior.schema import Folds, LabelledTable

WINE, IRIS = load_wine(return_X_y=True), load_iris(return_X_y=True)
MODELS = ["lda", "qda", "naive-bayes"]


def named(comparison):
    return {result.name: result for result in comparison.results}


@pytest.fixture(scope="module")
def wine():
    return Comparison.of(*WINE, models=[*MODELS, "pool"], folds=4, repeats=1)


def test_each_fold_is_predicted_by_weights_of_the_other_folds(wine):
    found, fold = named(wine), wine.first_folds.numbers
    y, K = wine.codes, len(wine.classes)
    out = np.empty((len(y), K))
    shares = np.bincount(y) / len(y)
    # Every fold has a prior of its own, that of the rows learnt from; it is taken off before rows are pooled.
    ratios = []
    for f in range(4):
        own = np.bincount(y[fold != f], minlength=K) / (fold != f).sum()
        ratios.append(np.log(own))
    prior = np.array([ratios[f] for f in fold])
    common = []
    for name in MODELS:
        logs = found[name].log_proba - prior + np.log(shares)
        common.append(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
    for f in range(4):
        learnt = fold != f
        weights = pool_weights([each[learnt] for each in common], y[learnt], np.log(shares))
        fused = fuse([each[~learnt] for each in common], np.log(shares), weights=weights)
        fused += ratios[f] - np.log(shares)
        out[~learnt] = fused - np.logaddexp.reduce(fused, axis=1, keepdims=True)
    assert_allclose(found["pool"].log_proba, out, atol=1e-7)


def test_the_pool_has_members_and_weights_that_can_be_fitted_saved_and_explained(wine, tmp_path):
    pool = named(wine)["pool"]
    assert set(dict(pool.estimator.estimators)) <= set(MODELS)
    model = pool.estimator.fit(*WINE)
    assert_array_equal(model.weights_, list(pool.estimator.weights.values()))
    assert " · " in pool.about
    assert pool.columns == wine.schema.names
    posterior.save(model, tmp_path / "pool")
    assert_array_equal(
        posterior.load(tmp_path / "pool").predict_log_proba(WINE[0]), model.predict_log_proba(WINE[0])
    )


def test_weights_of_a_fold_do_not_depend_on_its_own_rows():
    X, y = WINE
    folds = Folds(np.arange(len(y)) % 3, 3)
    table = LabelledTable.of(X, y)
    validation = CrossValidation(table, (folds,))
    rng = np.random.default_rng(0)
    truth = np.eye(3)[y] * 2
    logs = [truth * s + rng.normal(size=truth.shape) for s in (1.0, 0.7, 0.4)]
    logs = [each - np.logaddexp.reduce(each, axis=1, keepdims=True) for each in logs]
    result = Comparison.of(*WINE, models=["lda"], folds=3, repeats=1).results[0]

    def pooled(members):
        tried = tuple(Tried(replace(result, name=str(m)), (each,), None) for m, each in enumerate(members))
        return Pooling(tried, validation, np.ones(len(y), bool)).held_out()[0].scores

    changed = [each.copy() for each in logs]
    changed[0][0] = logs[0][0][::-1]  # a row of fold 0
    before, after = pooled(logs), pooled(changed)
    others = (folds.numbers == 0) & (np.arange(len(y)) > 0)
    assert_array_equal(after[others], before[others])
    assert not np.array_equal(after[folds.numbers == 1], before[folds.numbers == 1])


def test_a_pool_is_recommended_only_where_it_is_ahead_beyond_noise(wine):
    found = named(wine)
    best, pool = found["qda"], found["pool"]
    rng = np.random.default_rng(0)
    for gain, first in ((0.05, "pool"), (0.0005, "qda")):
        losses = best.losses - gain + rng.normal(0, 0.05, len(best.losses))
        better = replace(pool, losses=losses, log_loss=float(losses.mean()))
        ranking = Ranking.of([best, better], wine.codes, wine.knowable, by_cost=False)
        assert ranking.best.name == first
        assert better.log_loss < best.log_loss
        said = f"{ranking.sentence()} {ranking.pooled()}"
        assert ("below the best single model, QDA" in said) == (first == "pool")
        assert ("over QDA, within noise" in said) == (first != "pool")


@pytest.mark.long
def test_a_report_of_a_recommended_pool_has_all_its_parts(tmp_path):
    frame = load_penguins("pandas").frame
    names = ["naive-bayes", "lda", "logistic", "pool"]
    comparison = Comparison.of(frame, "species", models=names, folds=3, repeats=1)
    pool = named(comparison)["pool"]
    others = [result for result in comparison.results if result is not pool]
    chosen = replace(comparison, results=(pool, *others))
    assert chosen.recommended.name == "pool"
    path = tmp_path / "report.html"
    posterior.report.write_report(chosen, frame, "species", path)
    page = path.read_text()
    assert pool.about in page
    assert "Effect of" in page


def test_a_pool_by_itself_is_one_of_all_models():
    comparison = Comparison.of(*IRIS, models=["pool"], folds=3, repeats=1)
    assert {"lda", "qda", "logistic", "pool"} <= set(named(comparison))
    model = model_for("pool", *IRIS).fit(*IRIS)
    assert isinstance(model, posterior.PoolClassifier)
    assert 1 <= len(model.weights_) <= 5


def test_a_pool_takes_two_models():
    comparison = Comparison.of(*IRIS, models=["lda", "least-squares", "pool"], folds=3, repeats=1)
    assert comparison.left_out["pool"] == "it takes two models or more with probabilities"


@pytest.mark.parametrize("how", [{"time": "year"}, {"groups": "year"}, {"costs": [[0, 1], [2, 0]]}])
def test_pools_of_parts_in_time_of_groups_and_of_costs(how):
    if "costs" in how:
        rng = np.random.default_rng(0)
        y = np.array(["a", "b"])[rng.integers(0, 2, 200)]
        X = rng.normal((y == "b")[:, None], size=(200, 3))
        comparison = Comparison.of(X, y, models=[*MODELS, "pool"], folds=3, repeats=1, **how)
    else:
        comparison = Comparison.of(load_penguins().frame, "species", models=[*MODELS, "pool"], **how)
    pool = named(comparison)["pool"]
    assert len(pool.log_proba) == len(comparison.codes)
    assert_allclose(np.exp(pool.log_proba).sum(axis=1), 1.0, atol=1e-9)
    assert_allclose(log_loss_terms(comparison.codes, pool.log_proba), pool.losses, atol=1e-9)
    assert pool.log_loss < 1.1 * min(named(comparison)[name].log_loss for name in MODELS) + 0.02


def test_any_number_of_threads_gives_the_same_pool():
    found = []
    for n in (1, 3):
        with threads(n):
            found.append(named(Comparison.of(*WINE, models=[*MODELS, "pool"], folds=3, repeats=1))["pool"])
    assert_array_equal(found[0].log_proba, found[1].log_proba)
    assert found[0].estimator.weights == found[1].estimator.weights


def test_one_row_for_each_fold_is_pooled_too():
    rows = np.r_[50:70, 100:120]
    comparison = Comparison.of(IRIS[0][rows], IRIS[1][rows], models=[*MODELS, "pool"], folds=40, repeats=1)
    assert np.isfinite(named(comparison)["pool"].log_loss)
