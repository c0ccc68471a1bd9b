"""How much a model needs each column: laws of leaving columns out and of shuffling them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from posterior import LDA, GenerativeClassifier, LogisticRegression, NaiveBayes
from posterior.comparison import Comparison, Importance, importance
from posterior.comparison.column_groups import column_groups
from posterior.comparison.folds import deal
from posterior.comparison.removal import shuffles
from posterior.datasets import load
from posterior.decision import log_loss_terms
from posterior.engines import threads
from posterior.families import MultivariateNormal
from posterior.schema import Folds, LabelledTable


def drawn(n=160, seed=0):
    """Two classes: a signal, a category with a signal, and noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = pd.DataFrame(
        {
            "signal": rng.normal(size=n) + 1.5 * y,
            "state": np.array(["a", "b", "c"])[np.where(rng.random(n) < 0.5, y, rng.integers(3, size=n))],
            "noise": rng.normal(size=n),
        }
    )
    return X, y


def found_for(estimator, X, y, folds=4, used=None, **settings):
    table = LabelledTable.of(X, np.asarray(y))
    (dealt, *_) = deal(table.codes, folds=folds, repeats=1) if isinstance(folds, int) else (folds,)
    used = table.schema.names if used is None else used
    return Importance.of_table(table, estimator, dealt, used=used, **settings)


def by_name(found):
    return {column.name: column for column in (*found.columns, *found.together)}


# -- leaving out ----------------------------------------------------------------------------------


def test_naive_bayes_without_a_column_is_naive_bayes_of_the_others():
    X, y = drawn()
    folds = np.arange(len(y)) % 4
    found = by_name(found_for(NaiveBayes(alpha=0.5, tied=False, weights=1.0), X, y, Folds(folds, 4)))
    for name in X:
        rises = []
        for f in range(4):
            here, there = folds == f, folds != f
            losses = [
                log_loss_terms(
                    y[here],
                    NaiveBayes(alpha=0.5, tied=False, weights=1.0)
                    .fit(T[there], y[there])
                    .predict_log_proba(T[here]),
                )
                for T in (X, X.drop(columns=name))
            ]
            rises.append(losses[1] - losses[0])
        rise = np.concatenate(rises)
        assert found[name].value == pytest.approx(rise.mean(), abs=1e-12)
        assert found[name].error == pytest.approx(rise.std(ddof=1) / np.sqrt(len(rise)), abs=1e-12)


@pytest.mark.parametrize(
    "estimator",
    [
        LDA(),
        NaiveBayes(tied=True, weights=1.0),
        GenerativeClassifier([(["signal", "noise"], MultivariateNormal())], remainder="auto"),
    ],
    ids=["lda", "naive-bayes", "block"],
)
def test_to_integrate_a_column_out_is_to_have_no_value_in_it(estimator):
    X, y = drawn()
    if isinstance(estimator, LDA):
        X = X.drop(columns="state")
    model = clone(estimator).fit(X, y)
    for j, name in enumerate(X):
        gaps = X.assign(**{name: np.nan if name != "state" else None})
        without = model.model_.without([j]).log_posterior(model._dataset(X))
        np.testing.assert_allclose(without, model.predict_log_proba(gaps), atol=1e-9)
    nothing = model.model_.without(range(X.shape[1])).log_posterior(model._dataset(X))
    np.testing.assert_allclose(nothing, np.broadcast_to(model.model_.log_prior, nothing.shape))


def test_the_order_of_rows_does_not_matter_where_columns_are_left_out():
    X, y = drawn()
    order, folds = np.random.default_rng(3).permutation(len(y)), np.arange(len(y)) % 4
    first = by_name(found_for(NaiveBayes(tied=False, weights=1.0), X, y, Folds(folds, 4)))
    second = by_name(
        found_for(NaiveBayes(tied=False, weights=1.0), X.iloc[order], y[order], Folds(folds[order], 4))
    )
    for name in X:
        assert first[name].value == pytest.approx(second[name].value, abs=1e-12)
        assert first[name].error == pytest.approx(second[name].error, rel=1e-9)


# -- shuffling ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator", [LogisticRegression(), NaiveBayes(tied=False, weights=1.0)], ids=["shuffled", "left out"]
)
def test_the_interval_of_a_signal_is_above_zero_and_that_of_noise_is_not(estimator):
    found = by_name(found_for(estimator, *drawn()))
    low, high = found["noise"].interval
    assert low <= 0
    if isinstance(estimator, LogisticRegression):  # to know less noise can only help where it is left out
        assert high >= 0
    assert found["signal"].interval[0] > 0


@pytest.mark.long
@pytest.mark.parametrize(
    "estimator", [LogisticRegression(), NaiveBayes(tied=False, weights=1.0)], ids=["shuffled", "left out"]
)
def test_noise_is_not_found_important_and_signals_are(estimator):
    above = []
    for seed in range(25):
        found = by_name(found_for(estimator, *drawn(seed=seed), seed=seed))
        low, high = found["noise"].interval
        above.append(low > 0)
        assert found["signal"].interval[0] > 0
        assert high - low < 0.1
    assert sum(above) <= 2


@pytest.mark.long
def test_the_standard_error_of_a_shuffled_noise_column_is_its_spread():
    z = []
    for seed in range(60):
        column = by_name(found_for(LogisticRegression(), *drawn(120, seed), seed=seed))["noise"]
        z.append(column.value / column.error)
    assert 0.75 < np.std(z) < 1.3


@pytest.mark.parametrize("method", ["left out", "shuffled"])
def test_a_column_that_the_model_does_not_use_has_exactly_zero(method):
    X, y = drawn()
    if method == "left out":
        estimator = GenerativeClassifier([(["signal"], MultivariateNormal())])
    else:
        estimator = LogisticRegression(columns=["signal"])
    found = found_for(estimator, X, y)
    assert found.method == method
    for name in ("state", "noise"):
        assert by_name(found)[name].value == 0.0
        assert by_name(found)[name].error == 0.0
    told = found_for(estimator, X, y, used=["signal"])
    assert told.unused == ("state", "noise")
    assert [column.name for column in told.columns] == ["signal"]
    assert told.columns[0] == by_name(found)["signal"]


@pytest.mark.parametrize(
    "estimator", [NaiveBayes(tied=False, weights=1.0), LogisticRegression()], ids=["left out", "shuffled"]
)
def test_one_thread_and_eight_give_the_same_bits(estimator):
    X, y = drawn(400)
    found = []
    for n in (1, 8):
        with threads(n):
            found.append(found_for(estimator, X, y).columns)
    assert found[0] == found[1]


def test_the_seed_decides_how_columns_are_shuffled():
    X, y = drawn()
    first, again, other = (found_for(LogisticRegression(), X, y, seed=seed).columns for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_row_gets_the_cells_of_other_rows_and_never_of_the_same_one_twice():
    donors = shuffles(np.ones(20), 5, np.random.default_rng(0))
    assert donors.shape == (5, 20)
    assert all(sorted(line) == list(range(20)) for line in donors.tolist())
    assert (donors != np.arange(20)).all()
    assert all(len(set(column)) == 5 for column in donors.T.tolist())
    assert shuffles(np.ones(1), 5, np.random.default_rng(0)).tolist() == [[0]]
    assert shuffles(np.ones(3), 5, np.random.default_rng(0)).shape == (2, 3)


def test_rows_that_stand_for_more_give_their_cells_more_often():
    weight = np.where(np.arange(1000) < 100, 1.0, 9.0)
    donors = shuffles(weight, 4, np.random.default_rng(0))
    assert (donors < 100).mean() == pytest.approx(100 / (100 + 9 * 900), abs=0.002)


# -- rows -----------------------------------------------------------------------------------------


def test_a_sample_of_many_rows_keeps_the_rare_class_and_finds_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    n = 6000
    y = (rng.random(n) < 0.02).astype(int)
    X = pd.DataFrame({"signal": rng.normal(size=n) + 2 * y, "noise": rng.normal(size=n)})
    every = by_name(found_for(LogisticRegression(), X, y))
    monkeypatch.setattr(importance, "MOST_ROWS", 600)
    monkeypatch.setattr(importance, "FEWEST_ROWS", 600)
    found = found_for(LogisticRegression(), X, y)
    assert found.n_models == 2
    assert 600 <= found.n_rows <= 700
    some = by_name(found)["signal"]
    assert abs(some.value - every["signal"].value) < 3 * some.error
    assert some.error < 3 * every["signal"].error


def test_rows_of_one_group_are_one_when_it_comes_to_errors():
    X, y = drawn(80)
    thrice = pd.concat([X] * 3, ignore_index=True)
    table = LabelledTable.of(thrice, np.tile(y, 3))
    folds = Folds(np.tile(np.arange(80) % 4, 3), 4)
    grouped = replace(table, groups=np.tile(np.arange(80), 3))
    used = list(X)
    single = by_name(Importance.of_table(table, NaiveBayes(tied=False, weights=1.0), folds, used=used))[
        "signal"
    ]
    together = by_name(Importance.of_table(grouped, NaiveBayes(tied=False, weights=1.0), folds, used=used))[
        "signal"
    ]
    assert together.value == single.value
    assert together.error == pytest.approx(single.error * np.sqrt(3), rel=0.02)


def test_folds_in_time_are_predicted_from_what_was_before():
    X, y = drawn()
    found = Importance.of(X, y, "naive-bayes", time=np.arange(len(y)), folds=3)
    assert found.n_models == 3
    assert found.n_rows < len(y)


def test_each_row_by_the_model_of_all_others_takes_ten_models():
    X, y = drawn(60)
    assert found_for(NaiveBayes(tied=False, weights=1.0), X, y, Folds(np.arange(60), 60)).n_models == 10


# -- columns --------------------------------------------------------------------------------------


def test_the_parts_of_a_date_are_one_column():
    X, y = drawn()
    days = pd.date_range("2020-01-01", periods=len(y), freq="D").to_numpy()
    X["when"] = np.where(y == 1, days, days + np.timedelta64(900, "D"))
    found = Importance.of(X, y, "logistic", folds=3)
    (when,) = [column for column in found.columns if column.name == "when"]
    assert len(when.columns) > 1
    assert all(name.startswith("when[") for name in when.columns)
    assert when.interval[0] > 0


def test_columns_that_say_the_same_are_tried_together_too():
    X, y = drawn()
    rng = np.random.default_rng(5)
    X["twin"] = X["signal"] + 0.01 * rng.normal(size=len(y))
    found = found_for(LogisticRegression(), X, y)
    (together,) = found.together
    assert together.columns == ("signal", "twin")
    assert together.name == "signal, twin together"
    assert together.value > max(by_name(found)[name].value for name in together.columns)
    left_out = by_name(found_for(LDA(), X[["signal", "twin", "noise"]], y))
    assert abs(left_out["twin"].value) < 0.05 < left_out["signal, twin together"].value


def test_of_very_many_columns_those_that_differ_between_classes_are_tried():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 320))
    X[:, 310] += 3 * y
    groups = column_groups(LabelledTable.of(X, y), [f"x{j}" for j in range(320)])
    assert len(groups.tried) == 300
    assert len(groups.untried) == 20
    assert "x310" in [group.name for group in groups.tried]


def test_tables_of_all_kinds_give_the_same():
    table = load("penguins", "pyarrow")
    found = [
        Importance.of(load("penguins", kind).X, table.y, "logistic", folds=3)
        for kind in ("pandas", "pyarrow")
    ]
    assert found[0].columns == found[1].columns
    X = np.random.default_rng(0).poisson(1.0, size=(90, 5))
    y = np.arange(90) % 2
    X[:, 0] += 2 * y
    dense = Importance.of(X.astype(float), y, LogisticRegression(), folds=3)
    thin = Importance.of(sparse.csr_array(X.astype(float)), y, LogisticRegression(), folds=3)
    for a, b in zip(dense.columns, thin.columns, strict=True):
        assert a.name == b.name
        assert a.value == pytest.approx(b.value, abs=1e-9)


# -- models and measures --------------------------------------------------------------------------


def test_estimators_of_others_are_shuffled_and_texts_they_do_not_read_are_unused():
    X, y = drawn()
    X["note"] = [f"a note of {i} words or so" for i in range(len(y))]
    forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
    found = Importance.of(X, y, forest, folds=3, kinds={"note": "text"})
    assert found.method == "shuffled"
    assert found.unused == ("note",)
    assert found.columns[0].name == "signal"
    assert found.measure == "log loss"


def test_posteriors_of_zero_and_discriminants_go_by_the_error_rate():
    X, y = drawn()
    tree = Importance.of(X, y, DecisionTreeClassifier(random_state=0), folds=3)
    assert tree.measure == "error rate"
    assert tree.columns[0].name == "signal"
    assert 0 < tree.columns[0].value < 0.6
    squares = Importance.of(X, y, "least-squares", folds=3)
    assert squares.measure == "error rate"


def test_the_loss_is_that_of_the_comparison_on_its_own_folds():
    X, y = drawn()
    comparison = Comparison.of(X, y, models=[NaiveBayes(tied=False, weights=1.0)], folds=4, repeats=1)
    best = comparison.recommended
    table = LabelledTable.of(X, y)
    found = Importance.of_table(table, best.estimator, comparison.first_folds, used=best.columns)
    assert found.n_rows == len(y)
    assert found.loss == pytest.approx(best.log_loss, abs=1e-9)


def test_mistakes_are_refused_in_words():
    X, y = drawn(40)
    with pytest.raises(ValueError, match="there is no model 'nothing'"):
        Importance.of(X, y, "nothing")
    with pytest.raises(ValueError, match="LDA does not suit this table: no continuous column"):
        Importance.of(X[["state"]], y, "lda")
    with pytest.raises(ValueError, match="n_shuffles must be at least 1, found 0"):
        Importance.of(X, y, "logistic", n_shuffles=0)


def test_it_can_be_read_and_is_a_frame():
    X, y = drawn()
    found = Importance.of(X, y, "naive-bayes", folds=3)
    frame = found.frame
    assert isinstance(frame, pd.DataFrame)
    assert frame["column"].tolist()[0] == "signal"
    assert (frame["low"] <= frame["importance"]).all()
    assert (frame["importance"] <= frame["high"]).all()
    assert "each left out" in str(found)
