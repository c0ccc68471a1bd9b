"""Settings chosen by cross-validation are those of a search by brute force."""

import importlib.util
import warnings
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import GridSearchCV, KFold

from posterior import (
    LDA,
    BernoulliNB,
    CategoricalNB,
    GaussianDiscriminantAnalysis,
    GenerativeClassifier,
    MultinomialNB,
    NaiveBayes,
    threads,
)
from posterior.datasets import load_penguins
from posterior.engines import local
from posterior.families import (
    BagOfWords,
    Bernoulli,
    Categorical,
    Laplace,
    LogNormal,
    Multinomial,
    MultivariateNormal,
    NoClosedFormError,
    Normal,
    Poisson,
)
from posterior.generative import leave_one_out, tuning
from posterior.notices import DataWarning

IRIS = load_iris(return_X_y=True)
WINE = load_wine(return_X_y=True)


def mixed(n=150, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    x = rng.normal(size=(n, 2)) * (1 + 0.4 * y[:, None]) + 0.6 * y[:, None]
    frame = pd.DataFrame(
        {
            "a": x[:, 0],
            "b": x[:, 1],
            "colour": np.array(["red", "green", "blue", "pink"])[(rng.integers(0, 3, n) + (y == 2))],
            "seen": rng.random(n) < 0.3 + 0.2 * y,
        }
    )
    return frame, np.array(["x", "y", "z"])[y]


def counts(n=120, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return sparse.csr_array(rng.poisson(0.3 + 0.4 * y[:, None] * (np.arange(30) < 5), size=(n, 30))), y


def codes(n=120, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.integers(0, 3 + y[:, None], size=(n, 4)), y


def composition(alpha, own, joint):
    return GenerativeClassifier(
        [
            (["a", "b"], MultivariateNormal(tied=joint)),
            ("colour", Categorical(alpha=alpha)),
            ("seen", Bernoulli(alpha=alpha)),
        ]
        if own is None
        else [
            ("a", Normal(tied=own)),
            ("b", MultivariateNormal(tied=joint)),
            ("colour", Categorical(alpha=alpha)),
        ]
    )


CASES = {
    "tied": (GaussianDiscriminantAnalysis(tied="auto"), IRIS),
    "tied and shrinkage": (GaussianDiscriminantAnalysis(tied="auto", shrinkage="auto"), WINE),
    "everything": (GaussianDiscriminantAnalysis(tied="auto", shrinkage="auto", shape="auto"), IRIS),
    "shrinkage of LDA": (GaussianDiscriminantAnalysis(tied=1, shrinkage="auto"), WINE),
    "unbiased": (GaussianDiscriminantAnalysis(tied="auto", bias=False, priors="uniform"), IRIS),
    "naive Bayes": (NaiveBayes(alpha="auto", tied="auto", cv=5, weights=1.0), mixed()),
    "other folds": (
        NaiveBayes(alpha="auto", cv=KFold(4, shuffle=True, random_state=1), tied=False, weights=1.0),
        mixed(),
    ),
    "given folds": (NaiveBayes(tied="auto", cv=np.arange(150) % 7, weights=1.0), mixed()),
    "bernoulli": (BernoulliNB(alpha="auto"), counts()),
    "multinomial": (MultinomialNB(alpha="auto"), counts()),
    "categorical": (CategoricalNB(alpha="auto"), codes()),
}
every_case = pytest.mark.parametrize(("estimator", "data"), CASES.values(), ids=CASES.keys())


def losses(estimator, X, y, cv, weight=None):
    """Mean and standard error of the held-out log loss."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        logs = estimator.k_fold_log_proba(X, y, cv=cv, sample_weight=weight)
    own = -logs[np.arange(len(y)), np.unique(y, return_inverse=True)[1]]
    weight = np.ones(len(y)) if weight is None else weight
    mean = np.average(own, weights=weight)
    return mean, np.sqrt(weight @ (own - mean) ** 2) / weight.sum()


def fitted(estimator, X, y, weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return clone(estimator).fit(X, y, sample_weight=weight)


def by_hand(estimator, settings):
    return clone(estimator).set_params(**settings)


def settings_of(table):
    names = [c for c in table.columns if c not in ("log_loss", "standard_error", "chosen")]
    return [dict(zip(names, row, strict=True)) for row in table[names].itertuples(index=False, name=None)]


@every_case
def test_a_search_by_brute_force_finds_the_same_losses_and_the_same_choice(estimator, data):
    X, y = data
    model = fitted(estimator, X, y)
    table = model.tuning_
    cv = getattr(estimator, "cv", 10)
    found = [losses(by_hand(estimator, s), X, y, cv) for s in settings_of(table)]
    np.testing.assert_allclose(table[["log_loss", "standard_error"]], found, rtol=1e-9, atol=1e-9)
    assert table["chosen"].sum() == 1
    assert int(np.argmax(table["chosen"])) == int(np.argmin([loss for loss, _ in found]))


@every_case
def test_the_chosen_model_is_the_one_that_a_user_would_write_by_hand(estimator, data):
    X, y = data
    model = fitted(estimator, X, y)
    (chosen,) = settings_of(model.tuning_.query("chosen"))
    again = fitted(by_hand(estimator, chosen), X, y)
    assert model.model_.spec.blocks == again.model_.spec.blocks
    assert model.predict_log_proba(X).tobytes() == again.predict_log_proba(X).tobytes()
    assert (model + again).classes_.tolist() == model.classes_.tolist()


def test_weights_count_in_the_losses():
    X, y = IRIS
    weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    estimator = GaussianDiscriminantAnalysis(tied="auto", cv=np.arange(len(y)) % 5)
    table = fitted(estimator, X, y, weight).tuning_
    found = [losses(by_hand(estimator, s), X, y, estimator.cv, weight) for s in settings_of(table)]
    np.testing.assert_allclose(table[["log_loss", "standard_error"]], found, rtol=1e-9, atol=1e-9)


def test_weight_two_is_the_row_twice():
    X, y = IRIS
    rows = np.repeat(np.arange(150), 1 + np.arange(150) % 2)
    estimator = GaussianDiscriminantAnalysis(tied="auto")
    once = estimator.set_params(cv=np.arange(150) % 5).fit(X, y, sample_weight=1.0 + np.arange(150) % 2)
    twice = clone(estimator).set_params(cv=rows % 5).fit(X[rows], y[rows])
    columns = ["log_loss", "standard_error"]
    np.testing.assert_allclose(once.tuning_[columns], twice.tuning_[columns], rtol=1e-9)


@pytest.mark.parametrize("own", [None, "auto"])
def test_blocks_share_a_setting_with_the_same_values_and_no_other(own):
    X, y = mixed()
    model = fitted(composition("auto", own, "auto"), X, y)
    names = ["tied", "alpha"] if own is None else ["tied of Normal", "tied of MultivariateNormal", "alpha"]
    table = model.tuning_
    assert list(table.columns) == [*names, "log_loss", "standard_error", "chosen"]
    assert len(table) == (70 if own is None else 140)
    rows = [0, len(table) // 2, len(table) - 1]
    for i in rows:
        *ties, alpha = table[names].iloc[i]
        hand = composition(alpha, ties[0] if own else None, ties[-1])
        np.testing.assert_allclose(table["log_loss"][i], losses(hand, X, y, 10)[0], rtol=1e-9)


def test_candidates_that_are_the_same_model_are_tried_once():
    X, y = IRIS
    every = fitted(GaussianDiscriminantAnalysis(tied="auto", shrinkage="auto", shape="auto"), X, y).tuning_
    assert every.groupby("shape").size().to_dict() == {"spherical": 7, "diagonal": 7, "full": 42}
    assert (every.query("shape != 'full'")["shrinkage"] == 0).all()
    diagonal = fitted(GaussianDiscriminantAnalysis(shape="diagonal", shrinkage="auto"), X, y)
    assert diagonal.tuning_["shrinkage"].tolist() == [0.0]


def test_no_shrinkage_chosen_leaves_the_parameters_countable():
    X, y = WINE
    model = fitted(GaussianDiscriminantAnalysis(tied=0, shrinkage="auto"), X, y)
    assert model.model_.spec.blocks[0].family.shrinkage in MultivariateNormal.choices["shrinkage"]
    assert GaussianDiscriminantAnalysis(shrinkage=0.0).fit(X, y).n_parameters_ == 3 * (13 + 91) + 2


def test_one_standard_error_takes_the_simplest_that_is_as_good():
    X, y = IRIS
    best = GaussianDiscriminantAnalysis(tied="auto", shrinkage="auto", shape="auto").fit(X, y)
    simple = clone(best).set_params(selection="one_se").fit(X, y)
    a, b = best.model_.tuning, simple.model_.tuning
    assert (a.log_loss == b.log_loss).all()
    limit = a.log_loss[a.chosen] + a.standard_error[a.chosen]
    assert b.log_loss[b.chosen] <= limit
    assert b.complexity[b.chosen] == b.complexity[b.log_loss <= limit].min()
    assert b.complexity[b.chosen] < a.complexity[a.chosen]


def test_any_number_of_threads_gives_the_same_bits(monkeypatch):
    monkeypatch.setattr(local, "CHUNK_ROWS", 256)
    monkeypatch.setattr(local, "CHUNK_CELLS", 256)
    X, y = mixed(2000)
    found = []
    for n in (1, 2):
        with threads(n):
            model = fitted(NaiveBayes(alpha="auto", tied="auto", weights=1.0), X, y)
        found.append((model.model_.tuning.log_loss.tobytes(), model.predict_log_proba(X).tobytes()))
    assert found[0] == found[1]


def test_settings_are_chosen_anew_in_each_fold_of_a_cross_validation():
    X, y = IRIS
    estimator = GaussianDiscriminantAnalysis(tied="auto")
    folds = np.arange(150) % 4
    found = estimator.k_fold_log_proba(X, y, cv=folds)
    for fold in range(4):
        rest, held = folds != fold, folds == fold
        inner = clone(estimator).set_params(cv=folds[rest]).fit(X[rest], y[rest])
        np.testing.assert_allclose(found[held], inner.predict_log_proba(X[held]), rtol=1e-9, atol=1e-9)


def test_gaps_are_filled_in_once_for_each_fold():
    frame = load_penguins().frame
    X = frame[["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]].to_numpy(float).copy()
    X[::7, 1] = np.nan
    y = frame["species"].to_numpy()
    estimator = GaussianDiscriminantAnalysis(tied="auto", shrinkage="auto", cv=4)
    table = fitted(estimator, X, y).tuning_
    own = table.query("tied in (0.0, 0.5) and shrinkage in (0.0, 0.5)")
    found = [losses(by_hand(estimator, s), X, y, 4)[0] for s in settings_of(own)]
    np.testing.assert_allclose(own["log_loss"], found, rtol=1e-9)
    # Of one covariance for all, the gaps were expected under one for each: nearly, not quite, the same.
    lda = table.query("tied == 1 and shrinkage == 0")
    loss = losses(by_hand(estimator, settings_of(lda)[0]), X, y, 4)[0]
    np.testing.assert_allclose(lda["log_loss"], loss, rtol=0.05)


def test_gaps_in_other_blocks_leave_the_rest_to_the_first_reading():
    table = load_penguins()
    size = ["bill_length_mm", "bill_depth_mm"]
    model = GenerativeClassifier([(size, MultivariateNormal()), ("sex", Categorical(alpha="auto"))], cv=4)
    found = fitted(model, table.X, table.y).tuning_
    for i, alpha in [(0, 100.0), (9, 0.001)]:
        hand = GenerativeClassifier([(size, MultivariateNormal()), ("sex", Categorical(alpha=alpha))])
        np.testing.assert_allclose(found["log_loss"][i], losses(hand, table.X, table.y, 4)[0], rtol=1e-9)


@pytest.mark.parametrize(
    ("container", "kind"),
    [(pd.DataFrame, pd.DataFrame), (pl.from_pandas, pl.DataFrame), (pa.Table.from_pandas, pa.Table)],
)
def test_what_was_found_is_a_table_of_the_users_kind(container, kind):
    X, y = mixed()
    table = fitted(NaiveBayes(tied="auto", alpha="auto", weights=1.0), container(X), y).tuning_
    assert isinstance(table, kind)
    assert len(table) == 20


def test_for_arrays_the_table_is_of_whatever_is_installed(monkeypatch):
    model = GaussianDiscriminantAnalysis(tied="auto").fit(*IRIS)
    assert isinstance(model.tuning_, pd.DataFrame)
    here = importlib.util.find_spec
    absent = {"pandas"}
    monkeypatch.setattr(
        "posterior.schema.decode.find_spec", lambda name: None if name in absent else here(name)
    )
    assert isinstance(model.tuning_, pl.DataFrame)
    absent.add("polars")
    assert isinstance(model.tuning_, pa.Table)
    absent.add("pyarrow")
    with pytest.raises(ImportError, match=r"model_\.tuning holds the same"):
        model.tuning_  # noqa: B018  (reading it is the test)
    assert set(model.model_.tuning.choice) == {"tied"}


def test_where_nothing_was_tuned_there_is_no_table():
    assert not hasattr(LDA(), "tuning_")
    model = LDA(shrinkage="auto").fit(*IRIS)  # scikit-learn's "auto": Ledoit-Wolf
    with pytest.raises(AttributeError, match="nothing was tuned"):
        model.tuning_  # noqa: B018  (reading it is the test)


def test_a_class_with_a_single_row_does_not_rule_out_every_candidate():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(41, 2)), np.array(["a", "b"] * 20 + ["c"])
    with pytest.warns(DataWarning, match="1 rows of class 'c' were left out of the comparison"):
        model = GaussianDiscriminantAnalysis(tied="auto").fit(X, y)
    assert np.isfinite(model.tuning_["log_loss"]).all()
    assert any(note.problem == "not scored" for note in model.notes_)


def test_candidates_that_find_a_row_impossible_are_not_chosen(monkeypatch):
    monkeypatch.setattr(Categorical, "choices", {"alpha": (1.0, 0.0)})
    X, y = [["a"]] * 5 + [["b"]] * 5 + [["a"]], [0] * 5 + [1] * 6
    model = NaiveBayes(
        alpha="auto", cv=np.arange(11) % 3, kinds={"x0": "categorical"}, tied=False, weights=1.0
    ).fit(X, y)
    assert model.tuning_["log_loss"].tolist()[1] == np.inf
    assert model.tuning_["chosen"].tolist() == [True, False]


def test_classes_of_one_row_each_cannot_be_tuned():
    with pytest.raises(ValueError, match="no class has rows in two folds"):
        NaiveBayes(alpha="auto", tied=False, weights=1.0).fit([["a"], ["b"], ["c"], ["d"]], np.arange(4))
    NaiveBayes(tied=False, weights=1.0).fit(
        np.arange(40.0)[:, None], np.arange(40)
    )  # chooses nothing, for nobody asked


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"selection": "bset"}, "selection must be 'best' or 'one_se', found 'bset'"),
        ({"cv": 1}, "cv must be a number of folds"),
        ({"cv": np.zeros(3)}, "one fold number for each row"),
        ({"tied": "yes"}, "tied must lie between 0"),
        ({"shape": "round"}, "shape must be"),
        ({"shrinkage": "some"}, "shrinkage must be 'auto', one of"),
    ],
    ids=str,
)
def test_settings_that_are_none_are_refused(settings, message):
    estimator = GaussianDiscriminantAnalysis(**{"tied": "auto", **settings})
    with pytest.raises(ValueError, match=message):
        estimator.fit(*IRIS)
    assert not hasattr(estimator, "model_")


def test_smoothing_and_ties_of_naive_bayes_that_are_none_are_refused():
    for estimator in (
        NaiveBayes(alpha="some", tied=False, weights=1.0),
        BernoulliNB(alpha="some"),
        CategoricalNB(alpha="some"),
    ):
        with pytest.raises(ValueError, match="alpha must be a number or 'auto', found 'some'"):
            estimator.fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="tied must be True or False"):
        NaiveBayes(tied="some", weights=1.0).fit([[0.5], [1.5]], [0, 1])


@pytest.mark.parametrize(
    "family",
    [
        Normal(tied="auto"),
        LogNormal(tied="auto"),
        MultivariateNormal(shrinkage="auto"),
        Poisson(alpha="auto"),
        Bernoulli(alpha="auto"),
        Multinomial(alpha="auto"),
    ],
    ids=repr,
)
def test_a_family_with_an_open_setting_sums_up_and_refuses_to_estimate(family):
    block = np.random.default_rng(0).integers(0, 2, (20, 2)).astype(float)
    if isinstance(family, LogNormal):
        block += 1
    statistics = family.summarize(block, np.arange(20) % 2, None, 2)
    with pytest.raises(ValueError, match=r'="auto" of .* is chosen by cross-validation'):
        family.estimate(statistics)


def test_learning_in_parts_refuses_open_settings_until_they_are_set():
    X, y = IRIS
    with pytest.raises(ValueError, match='tied="auto" is chosen by cross-validation'):
        GaussianDiscriminantAnalysis(tied="auto").partial_fit(X, y)
    model = GaussianDiscriminantAnalysis(tied="auto").fit(X, y)
    before = model.model_
    with pytest.raises(ValueError, match="tuning_, and set it"):
        model.partial_fit(X, y)
    assert model.model_ is before
    chosen = before.tuning.choice["tied"]
    model.set_params(tied=chosen).partial_fit(X, y)
    twice = GaussianDiscriminantAnalysis(tied=chosen).fit(np.r_[X, X], np.r_[y, y])
    np.testing.assert_allclose(model.predict_log_proba(X), twice.predict_log_proba(X), rtol=1e-9, atol=1e-9)


def test_a_grid_search_takes_a_self_tuning_estimator():
    X, y = IRIS
    search = GridSearchCV(
        GaussianDiscriminantAnalysis(tied="auto", cv=3),
        {"selection": ["best", "one_se"]},
        scoring="neg_log_loss",
        cv=3,
    ).fit(X, y)
    assert search.best_estimator_.tuning_["chosen"].sum() == 1


def test_of_two_folds_the_one_that_is_left_is_dealt_out_again_to_choose_in():
    X, y = load_iris(return_X_y=True)
    logs = GaussianDiscriminantAnalysis(tied="auto").k_fold_log_proba(X, y, cv=2)
    assert -logs[np.arange(150), y].mean() < 0.2


def test_what_was_chosen_is_named_as_elsewhere():
    X, y = load_iris(return_X_y=True)
    model = GaussianDiscriminantAnalysis(tied="auto").fit(X, y)
    assert model.best_params_ == {"tied": model.model_.spec.blocks[0].family.tied}
    fixed = GaussianDiscriminantAnalysis(tied=0.5).fit(X, y)
    assert not hasattr(fixed, "best_params_")
    assert not hasattr(fixed, "tuning_")


def test_shapes_are_scored_on_the_columns_they_keep_even_with_gaps():
    """A redundant column is left out of full covariances only."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 3)) + y[:, None]
    X = np.column_stack([X, X.sum(axis=1)])
    X[rng.random(X.shape) < 0.05] = np.nan
    folds = np.arange(120) % 5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        table = GaussianDiscriminantAnalysis(shape="auto", cv=folds).fit(X, y).tuning_
        for shape in ("diagonal", "full"):  # spherical is estimated from what the diagonal one expects
            logs = GaussianDiscriminantAnalysis(shape=shape).k_fold_log_proba(X, y, cv=folds)
            loss = -logs[np.arange(120), y].mean()
            assert table.set_index("shape").loc[shape, "log_loss"] == pytest.approx(loss, abs=1e-6)


def test_a_family_for_a_kind_that_no_column_has_is_pointed_out():
    table = pd.DataFrame({"s": ["hi you", "bye", "hi you", "oh"]})
    with pytest.warns(DataWarning, match=r"families\['text'\] was not used.*kinds=\{'s': 'text'\}"):
        NaiveBayes(families={"text": BagOfWords()}, tied=False, weights=1.0).fit(table, [0, 1, 0, 1])


# -- by leaving out each row ----------------------------------------------------------------------------

LEFT_OUT = {
    "tied": (GaussianDiscriminantAnalysis(tied="auto", cv="loo"), IRIS),
    "tied, without bias, of even classes": (
        GaussianDiscriminantAnalysis(tied="auto", cv="loo", bias=False, priors="uniform"),
        WINE,
    ),
    "shape": (GaussianDiscriminantAnalysis(tied="auto", shape="auto", cv="loo"), IRIS),
    "naive Bayes": (NaiveBayes(alpha="auto", tied="auto", cv="loo", weights=1.0), mixed()),
}
each_left_out = pytest.mark.parametrize(("estimator", "data"), LEFT_OUT.values(), ids=LEFT_OUT.keys())


def left_out_losses(estimator, X, y, weight=None):
    """Mean and standard error of the leave-one-out log loss of an estimator without open settings."""
    model = fitted(estimator, X, y, weight)
    codes = np.searchsorted(model.classes_, y)
    own = -model.leave_one_out_log_proba(X, y, weight)[np.arange(len(y)), codes]
    weight = np.ones(len(y)) if weight is None else weight
    mean = np.average(own, weights=weight)
    return mean, np.sqrt(weight @ (own - mean) ** 2) / weight.sum()


@each_left_out
def test_every_candidate_has_the_loss_of_its_own_leave_one_out(estimator, data):
    X, y = data
    table = fitted(estimator, X, y).tuning_
    found = [left_out_losses(by_hand(estimator, s), X, y) for s in settings_of(table)]
    np.testing.assert_allclose(table[["log_loss", "standard_error"]], found, rtol=1e-9)
    assert int(np.argmax(table["chosen"])) == int(np.argmin([loss for loss, _ in found]))


@each_left_out
def test_candidates_are_the_same_whether_folds_or_rows_are_held_out(estimator, data):
    X, y = data
    by_folds = fitted(clone(estimator).set_params(cv=5), X, y).tuning_
    assert settings_of(fitted(estimator, X, y).tuning_) == settings_of(by_folds)


@each_left_out
def test_rows_are_left_out_of_the_other_folds_where_settings_are_chosen_for_one(estimator, data):
    X, y = data
    folds = np.arange(len(y)) % 4
    found = estimator.k_fold_log_proba(X, y, cv=folds)
    for fold in range(4):
        rest, held = folds != fold, folds == fold
        inner = fitted(estimator, X[rest], y[rest])
        np.testing.assert_allclose(found[held], inner.predict_log_proba(X[held]), rtol=1e-7, atol=1e-7)


def test_rows_left_out_take_their_weight_with_them():
    X, y = IRIS
    weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    estimator = GaussianDiscriminantAnalysis(tied="auto", cv="loo")
    counts = weight > 0
    table = fitted(estimator, X, y, weight).tuning_
    found = [
        left_out_losses(by_hand(estimator, s), X[counts], y[counts], weight[counts])
        for s in settings_of(table)
    ]
    np.testing.assert_allclose(table[["log_loss", "standard_error"]], found, rtol=1e-9)
    folds = np.arange(len(y)) % 3
    weighted = estimator.k_fold_log_proba(X, y, cv=folds, sample_weight=weight)
    rest = counts & (folds != 0)
    inner = fitted(estimator, X[rest], y[rest], weight[rest])
    np.testing.assert_allclose(
        weighted[folds == 0], inner.predict_log_proba(X[folds == 0]), rtol=1e-7, atol=1e-7
    )


def test_two_folds_are_enough_where_rows_are_left_out_of_one():
    X, y = IRIS
    logs = GaussianDiscriminantAnalysis(tied="auto", cv="loo").k_fold_log_proba(X, y, cv=2)
    assert np.isfinite(logs).all()


def test_words_are_left_out_with_their_rows():
    X = pd.DataFrame({"text": [f"{'good' if i % 2 else 'bad'} day to you w{i % 7}" for i in range(60)]})
    y = np.arange(60) % 2
    estimator = NaiveBayes(alpha="auto", cv="loo", tied=False, weights=1.0)
    table = fitted(estimator, X, y).tuning_
    found = [left_out_losses(by_hand(estimator, s), X, y)[0] for s in settings_of(table)]
    np.testing.assert_allclose(table["log_loss"], found, rtol=1e-9)


def test_a_class_of_one_row_is_left_out_of_the_comparison_there_too():
    X, y = np.vstack([IRIS[0], IRIS[0][:1]]), np.append(IRIS[1], 3)
    with pytest.warns(DataWarning, match="1 rows of class '3' were left out of the comparison"):
        model = GaussianDiscriminantAnalysis(tied="auto", cv="loo").fit(X, y)
    assert np.isfinite(model.tuning_["log_loss"]).all()


def with_gaps():
    X, y = IRIS
    X = X.copy()
    X[::9, 1] = np.nan
    return X, y


@pytest.mark.parametrize(
    ("estimator", "data", "message"),
    [
        (
            GaussianDiscriminantAnalysis(tied="auto"),
            with_gaps(),
            "filled in by EM, .* no closed form; choose the",
        ),
        (
            GaussianDiscriminantAnalysis(shrinkage="auto"),
            IRIS,
            "shrinkage changes with each row .*by folds, cv=10",
        ),
        (
            GenerativeClassifier([([0, 1], Normal(tied="auto")), (2, Laplace())]),
            IRIS,
            r"no closed form \(Laplace\); choose the settings by folds, cv=10",
        ),
        (
            GaussianDiscriminantAnalysis(tied="auto"),
            (np.random.default_rng(0).normal(size=(60, 100)), np.arange(60) % 2),
            "60 rows could only be left out by fitting again, .* choose the settings by folds, cv=10",
        ),
    ],
    ids=["gaps", "shrinkage", "Laplace", "too few rows"],
)
def test_where_leaving_rows_out_has_no_closed_form_folds_are_named(estimator, data, message):
    with pytest.raises(NoClosedFormError, match=message):
        clone(estimator).set_params(cv="loo").fit(*data)


def test_the_rule_is_looked_at_before_rows_are_left_out():
    with pytest.raises(ValueError, match="selection must be 'best' or 'one_se'"):
        GaussianDiscriminantAnalysis(tied="auto", cv="loo", selection="bset").fit(*IRIS)
    simple = GaussianDiscriminantAnalysis(tied="auto", cv="loo", selection="one_se").fit(*IRIS)
    assert simple.best_params_ == {"tied": 1.0}


def test_in_a_table_of_one_chunk_the_models_of_one_fold_are_kept_at_a_time(monkeypatch):
    alive, most = weakref.WeakSet(), []

    def counting(*arguments):
        most.append(len(alive))
        models = fold_scores(*arguments)
        alive.add(models)
        return models

    fold_scores = tuning._fold_scores
    monkeypatch.setattr(tuning, "_fold_scores", counting)
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    NaiveBayes(tied="auto", cv=5, weights=1.0).fit(rng.normal(size=(40, 3)) + y[:, None], y)
    assert most == [0] * 5


@pytest.mark.parametrize(("n_rows", "n_classes"), [(200, 2), (120, 60)])
def test_small_tables_whose_rows_would_all_be_fitted_again_are_left_to_folds(n_rows, n_classes, monkeypatch):
    y = np.arange(n_rows) % n_classes  # a column that is the class, or two rows in each: no formula holds
    X = np.c_[1.0 * y, np.random.default_rng(0).normal(size=n_rows)]
    refits = []
    monkeypatch.setattr(leave_one_out._Refits, "_row", lambda *_: refits.append(1))
    with pytest.raises(NoClosedFormError, match="cv=10"):
        GaussianDiscriminantAnalysis(tied="auto", cv="loo").fit(X, y)
    assert not refits
