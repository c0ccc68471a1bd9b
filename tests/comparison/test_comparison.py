"""A comparison says what scikit-learn's tools say of the same estimators on the same folds."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, roc_auc_score
from sklearn.model_selection import PredefinedSplit, cross_val_predict

import posterior
from posterior import threads
from posterior.comparison import Comparison, compare
from posterior.comparison.candidates import STRENGTHS
from posterior.comparison.folds import deal
from posterior.comparison.leaderboard import as_html
from posterior.datasets import load_penguins
from posterior.decision import average_cost, calibration_error, decide
from posterior.notices import DataWarning

IRIS = load_iris(return_X_y=True)
COMPLETE = load_penguins("pandas").frame.dropna().reset_index(drop=True)


def folds_of(y, **settings):
    return deal(np.unique(y, return_inverse=True)[1], **settings)


def by_scikit_learn(estimator, X, y, fold, method="predict_log_proba"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cross_val_predict(clone(estimator), X, y, cv=PredefinedSplit(fold), method=method)


def named(comparison):
    return {result.name: result for result in comparison.results}


def mixed(n=240, seed=0):
    """Numbers, categories, true/false, gaps; two classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n) + y,
            "b": rng.normal(size=n) * (1 + y),
            "colour": np.array(["red", "green", "blue"], dtype=object)[(rng.integers(0, 3, n) + y) % 3],
            "seen": rng.random(n) < 0.3 + 0.4 * y,
        }
    )
    frame.loc[rng.random(n) < 0.1, "a"] = np.nan
    frame.loc[rng.random(n) < 0.1, "colour"] = None
    return frame, np.array(["no", "yes"])[y]


# -- the same rows held out by scikit-learn --------------------------------------------------------------


@pytest.mark.parametrize("name", ["majority", "lda", "qda", "rda"])
def test_generative_models_say_of_held_out_rows_what_a_refit_for_each_fold_says(name):
    X, y = IRIS
    (result,) = Comparison.of(X, y, models=[name], repeats=2, seed=3).results
    expected = by_scikit_learn(result.estimator, X, y, folds_of(y, repeats=2, seed=3)[0].numbers)
    np.testing.assert_allclose(result.log_proba, expected, rtol=1e-7, atol=1e-7)


def test_a_block_beside_categories_is_held_out_as_by_refitting():
    X, y = COMPLETE.drop(columns="species"), COMPLETE["species"]
    (result,) = Comparison.of(X, y, models=["block"], repeats=1).results
    expected = by_scikit_learn(result.estimator, X, y, folds_of(y, repeats=1)[0].numbers)
    np.testing.assert_allclose(result.log_proba, expected, rtol=1e-6, atol=1e-6)


def test_every_fold_is_predicted_with_the_penalty_that_does_best_on_the_other_folds():
    X, y = IRIS
    (result,) = Comparison.of(X, y, models=["logistic"], folds=4, repeats=1).results
    fold = folds_of(y, folds=4, repeats=1)[0].numbers
    said = [by_scikit_learn(clone(result.estimator).set_params(C=C), X, y, fold) for C in STRENGTHS]
    losses = np.array([-logs[np.arange(len(y)), y] for logs in said])
    expected = np.empty_like(said[0])
    for f in range(4):
        best = losses[:, fold != f].mean(axis=1).argmin()
        expected[fold == f] = said[best][fold == f]
    np.testing.assert_allclose(result.log_proba, expected, rtol=1e-9, atol=1e-9)
    assert STRENGTHS[losses.mean(axis=1).argmin()] == result.estimator.C


def test_least_squares_names_the_classes_that_refits_name():
    X, y = IRIS
    (result,) = Comparison.of(X, y, models=["least-squares"], repeats=1).results
    fold = folds_of(y, repeats=1)[0].numbers
    assert (result.predicted == by_scikit_learn(result.estimator, X, y, fold, "predict")).all()
    assert result.log_proba is None
    assert (result.log_loss, result.brier, result.calibration_error, result.losses) == (None,) * 4


# -- the same measures by scikit-learn -------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_measures_are_those_of_scikit_learn(classes):
    X, y = IRIS[0][50 * (3 - classes) :], IRIS[1][50 * (3 - classes) :] - (3 - classes)
    for result in Comparison.of(X, y, models=["naive-bayes", "lda", "majority"], repeats=1).results:
        proba = np.exp(result.log_proba)
        losses = -result.log_proba[np.arange(len(y)), y]
        assert result.log_loss == pytest.approx(log_loss(y, proba), rel=1e-9)
        assert result.log_loss_se == pytest.approx(losses.std(ddof=1) / np.sqrt(len(y)))
        np.testing.assert_allclose(result.losses, losses)
        assert result.accuracy == accuracy_score(y, proba.argmax(axis=1))
        right = proba.argmax(axis=1) == y
        assert result.accuracy_se == pytest.approx(right.std(ddof=1) / np.sqrt(len(y)))
        assert result.brier == pytest.approx(brier_score_loss(y, proba, scale_by_half=False))
        assert result.calibration_error == pytest.approx(
            calibration_error(y, result.log_proba, n_simulations=0).value
        )
        fold = folds_of(y, repeats=1)[0].numbers
        areas = [area_within(fold, y == k, proba[:, k]) for k in range(classes)]
        assert result.roc_auc == pytest.approx(np.mean(areas), abs=1e-12)


def area_within(fold, positive, scores):
    """The mean of scikit-learn's areas of the folds, each by its number of pairs."""
    held_out = [fold == f for f in np.unique(fold)]
    areas = [roc_auc_score(positive[rows], scores[rows]) for rows in held_out]
    return np.average(areas, weights=[positive[rows].sum() * (~positive[rows]).sum() for rows in held_out])


def test_the_area_of_one_part_is_that_of_scikit_learn():
    X, y = IRIS[0][50:], IRIS[1][50:]
    time = np.random.default_rng(0).permutation(100) > 50  # the later half from the earlier
    comparison = Comparison.of(X[:, :2], y, models=["lda", "naive-bayes"], time=time)
    for result in comparison.results:
        assert 0.5 < result.roc_auc < 1
        auc = roc_auc_score(comparison.codes, result.log_proba[:, 1])
        assert result.roc_auc == pytest.approx(auc, abs=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("n", [47, 100])
def test_class_frequencies_rank_rows_no_better_and_no_worse_than_chance(n, classes):
    y = np.random.default_rng(n).integers(0, classes, n)
    (result,) = Comparison.of(np.ones((n, 1)) * np.arange(n)[:, None], y, models=["majority"]).results
    assert result.roc_auc == 0.5


def test_measures_of_repeats_are_means_and_losses_are_means_by_row():
    X, y = IRIS
    (result,) = Comparison.of(X, y, models=["lda"], repeats=3).results
    dealt = folds_of(y, repeats=3)
    logs = [by_scikit_learn(result.estimator, X, y, fold) for fold in [folds.numbers for folds in dealt]]
    by_row = np.mean([-found[np.arange(len(y)), y] for found in logs], axis=0)
    np.testing.assert_allclose(result.losses, by_row, rtol=1e-6, atol=1e-9)
    assert result.log_loss == pytest.approx(by_row.mean())
    assert result.log_loss_se == pytest.approx(by_row.std(ddof=1) / np.sqrt(len(y)), rel=1e-6)
    assert result.accuracy == pytest.approx(np.mean([found.argmax(axis=1) == y for found in logs]))
    briers = [brier_score_loss(y, np.exp(found), scale_by_half=False) for found in logs]
    assert result.brier == pytest.approx(np.mean(briers))


def test_costs_are_those_of_the_action_that_is_expected_to_cost_least():
    X, y = mixed()
    costs = {"no": {"wait": 0.0, "act": 1.0, "ask": 0.4}, "yes": {"wait": 5.0, "act": 0.0, "ask": 0.4}}
    comparison = Comparison.of(X, y, models=["naive-bayes", "logistic", "majority"], costs=costs, repeats=1)
    for result in comparison.results:
        actions = np.array(["wait", "act", "ask"])[decide(result.log_proba, costs, classes=["no", "yes"])]
        assert result.average_cost == pytest.approx(average_cost(y, actions, costs, classes=["no", "yes"]))
    values = [result.average_cost for result in comparison.results]
    assert values == sorted(values)
    assert "average cost" in comparison.recommendation
    assert "average_cost" in comparison.frame.columns


def test_a_discriminant_acts_by_the_class_that_it_names_where_actions_are_classes():
    X, y = mixed()
    costs = [[0.0, 1.0], [5.0, 0.0]]
    (result,) = Comparison.of(X, y, models=["least-squares"], costs=costs, repeats=1).results
    codes = (y == "yes").astype(int)
    assert result.average_cost == pytest.approx(np.array(costs)[codes, result.predicted].mean())
    more = [[0.0, 1.0, 0.4], [5.0, 0.0, 0.4]]
    (result,) = Comparison.of(X, y, models=["least-squares"], costs=more, repeats=1).results
    assert result.average_cost is None


def test_costs_of_each_row_stay_with_their_rows():
    X, y = mixed()
    rng = np.random.default_rng(1)
    costs = rng.random((len(y), 2, 2))
    labels = np.where(np.arange(len(y)) % 7 == 0, None, y)
    with pytest.warns(DataWarning, match="rows without a class, left out: 35 of 240"):
        comparison = Comparison.of(X, labels, models=["naive-bayes"], costs=costs, repeats=1)
    (result,) = comparison.results
    kept = np.flatnonzero(np.arange(len(y)) % 7)
    assert (comparison.rows == kept).all()
    assert result.average_cost == pytest.approx(
        average_cost(comparison.codes, decide(result.log_proba, costs[kept]), costs[kept])
    )
    with pytest.raises(ValueError, match="costs hold 5 matrices for 240 rows"):
        Comparison.of(X, y, models=["majority"], costs=costs[:5])


# -- which rows ------------------------------------------------------------------------------------------


def test_rows_without_a_class_are_as_if_they_were_not_there():
    X, y = mixed()
    gone = np.arange(len(y)) % 5 == 0
    labels = np.where(gone, None, y)
    with pytest.warns(DataWarning, match="rows without a class, left out: 48 of 240"):
        some = Comparison.of(X, labels, models=["naive-bayes"], repeats=1)
    fewer = Comparison.of(X[~gone].reset_index(drop=True), y[~gone], models=["naive-bayes"], repeats=1)
    assert some.results[0].log_proba.tobytes() == fewer.results[0].log_proba.tobytes()
    assert some.notes[0] == "rows without a class, left out: 48 of 240"
    assert some.n_rows == 192
    with pytest.raises(ValueError, match="none of the 240 rows has a class"):
        Comparison.of(X, [None] * 240)


def test_rows_in_time_are_predicted_from_the_rows_before_them():
    X, y = IRIS
    time = np.random.default_rng(0).permutation(150)
    comparison = Comparison.of(
        X, y, models=["majority", "naive-bayes", "lda", "logistic"], time=time, folds=4
    )
    fold = folds_of(y, time=time, folds=4)[0].numbers
    assert (comparison.rows == np.flatnonzero(fold > 0)).all()
    assert (comparison.codes == y[comparison.rows]).all()
    for name in ("majority", "lda"):  # settings of naive Bayes are chosen by folds, in the order of the rows
        result = named(comparison)[name]
        for f in range(1, 5):
            model = clone(result.estimator).fit(X[fold < f], y[fold < f])
            found = result.log_proba[fold[comparison.rows] == f]
            np.testing.assert_allclose(found, model.predict_log_proba(X[fold == f]), rtol=1e-7, atol=1e-7)


def test_every_part_in_time_is_predicted_with_the_penalty_that_did_best_on_the_parts_before_it():
    rng = np.random.default_rng(0)
    n = 110
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 3)) + 0.15 * y[:, None]
    comparison = Comparison.of(X, y, models=["logistic"], time=np.arange(n))
    (result,) = comparison.results
    part = folds_of(y, time=np.arange(n))[0].numbers
    losses, said = np.zeros((len(STRENGTHS), n)), np.zeros((len(STRENGTHS), n, 2))
    for k, C in enumerate(STRENGTHS):
        for f in range(1, 11):
            model = clone(result.estimator).set_params(C=C).fit(X[part < f], y[part < f])
            said[k, part == f] = model.predict_log_proba(X[part == f])
        losses[k] = -said[k, np.arange(n), y]

    def best_before(f):
        earlier = (part > 0) & (part < f)
        return losses[:, earlier].sum(axis=1).argmin() if earlier.sum() >= 30 else STRENGTHS.index(1.0)

    chosen = [best_before(f) for f in range(12)]
    expected = said[[chosen[f] for f in part], np.arange(n)][part > 0]
    np.testing.assert_allclose(result.log_proba, expected, rtol=1e-9, atol=1e-9)
    assert len(set(chosen)) > 1
    # What is named is what the next part would be predicted with.
    assert STRENGTHS[chosen[11]] == result.estimator.C
    assert f"C = {result.estimator.C:g} chosen by the parts before, anew for each" in result.about


def test_in_time_a_few_rows_do_not_choose_a_penalty():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 30)
    X = rng.normal(size=(30, 2)) + y[:, None]
    (result,) = Comparison.of(X, y, models=["logistic"], time=np.arange(30)).results
    assert result.estimator.C == 1.0
    assert "C = 1 by default, with too few rows before to choose by" in result.about
    for row in (5, 29):  # what is said of a row is what the rows before its part say with C = 1
        part = folds_of(y, time=np.arange(30))[0].numbers
        model = clone(result.estimator).fit(X[part < part[row]], y[part < part[row]])
        found = result.log_proba[row - (part == 0).sum()]
        np.testing.assert_allclose(found, model.predict_log_proba(X[[row]])[0], rtol=1e-9)


def test_in_time_no_later_row_has_a_say():
    rng = np.random.default_rng(2)
    n = 110
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 3)) + 0.6 * y[:, None]
    (whole,) = Comparison.of(X, y, models=["logistic"], time=np.arange(n)).results
    late = np.arange(n) >= 100  # the last part
    X[late], y[late] = -9 * X[late], 1 - y[late]
    (other,) = Comparison.of(X, y, models=["logistic"], time=np.arange(n)).results
    assert whole.log_proba[:-10].tobytes() == other.log_proba[:-10].tobytes()
    assert (whole.log_proba[-10:] != other.log_proba[-10:]).all()


def test_no_group_is_learnt_from_and_predicted():
    X, y = mixed()
    groups = np.random.default_rng(0).integers(0, 25, len(y))
    comparison = Comparison.of(X, y, models=["majority"], groups=groups, folds=5, repeats=2)
    assert comparison.folds == "5 folds of 25 groups, none in two, dealt out 2 times"
    # The class frequencies that a row is predicted from are those without its group's fold.
    logs = comparison.results[0].log_proba
    for group in range(25):
        assert len(np.unique(logs[groups == group].round(12), axis=0)) == 1


def test_a_class_that_training_lacks_is_left_out_of_the_log_loss_and_wrong_everywhere_else():
    X = np.vstack([IRIS[0], [[9.0, 9.0, 9.0, 9.0]]])
    y = np.append(IRIS[1], 7)
    comparison = Comparison.of(X, y, models=["lda", "logistic", "majority"], repeats=1)
    assert (~comparison.knowable).sum() == 1
    for result in comparison.results:
        assert np.isposinf(result.losses[-1])
        assert result.log_loss == pytest.approx(result.losses[:-1].mean())
        assert result.predicted[-1] != 3
    assert any("in none of the rows that they are predicted from: 7 (1)" in note for note in comparison.notes)


# -- laws ------------------------------------------------------------------------------------------------


def test_a_seed_deals_out_rows_always_the_same_way():
    X, y = IRIS

    def held_out(seed):
        return Comparison.of(X, y, models=["lda"], seed=seed, repeats=2).results[0].losses

    assert held_out(1).tobytes() == held_out(1).tobytes()
    assert (held_out(1) != held_out(2)).any()


def test_threads_change_no_bit():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 6000)
    X = rng.normal(size=(6000, 4)) + 0.5 * y[:, None]

    def held_out(n):
        with threads(n):
            found = Comparison.of(X, y, models=["logistic", "least-squares", "lda"])
        return [(r.name, r.losses, r.predicted) for r in found.results]

    for (name, losses, predicted), (other, more, again) in zip(held_out(1), held_out(2), strict=True):
        assert name == other
        assert (predicted == again).all()
        assert losses is None or losses.tobytes() == more.tobytes()


def test_progress_is_told_after_each_step_and_ends_at_the_total():
    X, y = IRIS
    told = []
    comparison = Comparison.of(X, y, folds=3, repeats=2, progress=lambda *step: told.append(step))
    done = [step[0] for step in told]
    (total,) = {step[1] for step in told}
    assert done == sorted(done)
    assert len(set(done)) > 30
    assert done[-1] == total
    assert {step[2] for step in told} == {r.title for r in comparison.shown}


def test_progress_ends_at_the_total_if_a_model_fails_or_falls_back_on_folds():
    rng = np.random.default_rng(0)
    for X, y in (([[1.0], [2.0], [3.0]], ["a", "b", "b"]), (rng.normal(size=(18, 22)), np.arange(18) % 2)):
        told = []
        Comparison.of(X, y, folds=3, repeats=1, progress=lambda *step: told.append(step))
        assert told[-1][0] == told[-1][1]
        assert [step[0] for step in told] == sorted(step[0] for step in told)


def test_nothing_is_warned_of_and_what_was_is_noted():
    X, y = mixed()
    X["same"] = 3.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        comparison = Comparison.of(X, y, folds=3, repeats=1)
    assert any("'same' is constant" in note for note in comparison.notes)


def test_a_comparison_leaves_the_table_as_it_is():
    X, y = mixed()
    before = X.copy()
    Comparison.of(X, y, folds=3, repeats=1)
    pd.testing.assert_frame_equal(X, before)


# -- what is shown ---------------------------------------------------------------------------------------


def test_the_text_shows_every_model_and_what_to_use():
    X, y = IRIS
    text = str(Comparison.of(X, y, repeats=1))
    assert text.startswith("10 folds, stratified\nmodel ")
    for name in ("naive-bayes", "lda", "qda", "rda", "logistic", "majority", "least-squares"):
        assert f"\n{name} " in text
    assert "not tried: block (every column is continuous: it would be rda)" in text
    assert "\nUse " in text


def test_html_is_escaped_in_the_table_above_it_and_below():
    shown = as_html({"<b>": ["<i>"], "model": ["lda"]}, "folds of <u>", "Use <s>.")
    assert "<table>" in shown
    for name in ("b", "i", "u", "s"):
        assert f"<{name}>" not in shown
        assert f"&lt;{name}&gt;" in shown


def test_a_comparison_is_shown_as_html():
    X, y = IRIS
    comparison = Comparison.of(X, y, models=["naive-bayes", "lda"], repeats=1)
    shown = comparison._repr_html_()
    assert shown.count("<tr>") == 1 + len(comparison.results)
    assert f"<p>{comparison.folds}</p>" in shown


def test_the_package_offers_it():
    assert posterior.compare is compare
    assert posterior.Comparison is Comparison


# -- mistakes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"models": ["ldaa"]}, "there is no model 'ldaa'; choose among majority, naive-bayes"),
        ({"models": []}, "there is no model to try; choose among"),
        ({"folds": 1}, "folds must be a whole number from 2 to the number of rows, .*, found 1"),
        ({"repeats": 0}, "repeats must be a whole number from 1 to 10,000, found 0"),
        ({"positive": "maybe"}, "positive='maybe' is not a class; the classes are 'no', 'yes'"),
        ({"false_alarms": 2}, "false_alarms must be a share between 0 and 1, found 2"),
        ({"groups": "coulour"}, "there is no column 'coulour'; did you mean 'colour'?"),
        ({"groups": [1, 2]}, r"groups has shape \(2,\) for 240 rows"),
        ({"groups": [1] * 240}, "every row is in one group; two or more are needed"),
        ({"groups": [None] + [1, 2] * 119 + [3]}, "groups: 1 of 240 rows have no value, first row 0"),
        ({"time": [3.5] * 240}, "every row has the same time"),
        ({"time": range(240), "repeats": 2}, "rows in time have one order"),
        ({"time": range(240), "groups": range(240)}, "groups and time were both given"),
        ({"time": ["a", 1] * 120}, "time holds values that have no common order"),
        ({"costs": [[0, 1]]}, "costs have 1 rows, expected 2"),
    ],
)
def test_mistakes_are_named(settings, message):
    X, y = mixed()
    with pytest.raises(ValueError, match=message):
        Comparison.of(X, y, **settings)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ("specie", "there is no column 'specie'; did you mean 'species'?"),
        (None, "y is None; pass the class of each row"),
        (np.zeros(344), "got 1 class"),
        (np.arange(344), "each of 344 rows has a class of its own"),
        (np.linspace(0, 1, 344), "y holds 344 different numbers, where classes were expected"),
        (np.arange(344) % 3 / 2, "Unknown label type: continuous.*such as 0.5, no classes.*LinearRegression"),
    ],
    ids=["misspelt", "none", "one class", "all different", "numbers", "few numbers"],
)
def test_mistaken_class_columns_are_named(y, message):
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        Comparison.of(load_penguins("pandas").frame, y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("aside", "words"), [("groups", "the groups leave"), ("time", "the time order leaves")]
)
def test_rows_that_no_model_could_know_are_refused(aside, words, n_classes):
    X, y = IRIS[0][: 50 * n_classes], IRIS[1][: 50 * n_classes]
    with pytest.raises(
        ValueError, match=f"{words} no row whose class occurs in the rows that it is predicted"
    ):
        Comparison.of(X, y, **{aside: y})


def test_classes_one_after_another_in_time_are_measured_without_a_warning():
    X, y = IRIS[0][:100], IRIS[1][:100]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        comparison = Comparison.of(X, y, time=np.arange(100))
    assert all(result.log_loss is None or result.log_loss >= 0 for result in comparison.results)
    assert any("in none of the rows that they are predicted from: 1 (" in note for note in comparison.notes)


@pytest.mark.parametrize("aside", ["groups", "time"])
def test_the_class_column_keeps_no_rows_together_and_in_no_order(aside):
    with pytest.raises(ValueError, match=f"{aside}='species' is the class column itself"):
        Comparison.of(COMPLETE, "species", **{aside: "species"})


def test_measurements_are_no_classes():
    for backend in ("pandas", "polars", "pyarrow"):
        frame = load_penguins(backend).frame
        for name, n in (("body_mass_g", 94), ("bill_depth_mm", 80)):
            with pytest.raises(ValueError, match=f"y='{name}' holds {n} different numbers, where classes"):
                Comparison.of(frame, name)
    few = Comparison.of(np.arange(200.0)[:, None], np.arange(200) % 40 * 1.0, models=["majority"])
    assert len(few.classes) == 40
    whole = Comparison.of(np.arange(200.0)[:, None], np.arange(200) % 60, models=["majority"])
    assert len(whole.classes) == 60


def test_classes_spelt_in_several_ways_are_one_and_it_is_told():
    X, y = mixed()
    spelt = np.where(y == y[0], np.resize(["Yes", "yes", "Y"], len(y)), np.resize(["no", "N"], len(y)))
    told = r"'y' is read as spellings of .* merged; a Series of dtype category in its place takes each cell"
    with pytest.warns(DataWarning, match=told):
        found = Comparison.of(X, spelt, models=["majority"], repeats=1)
    assert len(found.classes) == 2
    assert "is read as spellings of" in found.notes[0]
    with pytest.warns(
        DataWarning, match=r"'ok' is read as .*; kinds=\{'ok': \"categorical\"\} takes each cell"
    ):
        assert len(Comparison.of(X.assign(ok=spelt), "ok", models=["majority"], repeats=1).classes) == 2
    kinds = {"ok": "categorical"}
    assert len(Comparison.of(X.assign(ok=spelt), "ok", kinds=kinds, models=["majority"]).classes) == 5
    assert (
        len(Comparison.of(X, pd.Series(spelt, dtype="category"), models=["majority"], repeats=1).classes) == 5
    )
    with pytest.raises(ValueError, match='\'ok\' is the column to predict, declared "text"; declare it "cat'):
        Comparison.of(X.assign(ok=spelt), "ok", kinds={"ok": "text"})


def test_one_row_is_one_row():
    with pytest.raises(ValueError, match="none of the 1 row has a class"):
        Comparison.of([[1.0]], [None])
    with pytest.warns(DataWarning, match="rows without a class, left out: 1 of 150"):
        found = Comparison.of(IRIS[0], np.append(IRIS[1][:-1].astype(object), None), models=["majority"])
    assert found.notes == ("rows without a class, left out: 1 of 150",)


def test_an_array_has_no_column_to_name():
    with pytest.raises(ValueError, match="y='species' names a column, and the table has no column names"):
        Comparison.of(IRIS[0], "species")
