"""What a comparison is made of: folds, marks, noise, choices and the sentence at the end."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import roc_auc_score, roc_curve

from posterior.comparison import Comparison
from posterior.comparison.advice import advice
from posterior.comparison.choosing import EstimatorChoice, along, by_other_folds, settled
from posterior.comparison.folds import deal
from posterior.comparison.held_out import CrossValidation, HeldOutScores
from posterior.comparison.in_time import BY_DEFAULT, best_before, in_time
from posterior.comparison.measures import Mean, area_under_roc, clustered, exceeds_noise, recall_at
from posterior.comparison.recommendation import Ranking
from posterior.estimators import LogisticRegression
from posterior.schema import LabelledTable, read_table

some_codes = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).integers(0, 3, np.random.default_rng(seed).integers(12, 200))
)
seeds = st.integers(0, 2**31)

# -- folds -----------------------------------------------------------------------------------------------


@given(codes=some_codes, folds=st.integers(2, 12), repeats=st.integers(1, 3), seed=seeds)
def test_every_row_is_predicted_once_in_a_repeat_from_all_rows_of_other_folds(codes, folds, repeats, seed):
    dealt = deal(codes, folds=folds, repeats=repeats, seed=seed)
    for once in dealt:
        parts = once.parts()
        assert len(parts) == once.n_folds
        assert sorted(np.concatenate([held_out for _, held_out in parts]).tolist()) == list(range(len(codes)))
        for learnt, held_out in parts:
            assert sorted([*learnt.tolist(), *held_out.tolist()]) == list(range(len(codes)))
        for k in np.unique(codes):
            counts = np.bincount(once.numbers[codes == k], minlength=once.n_folds)
            assert counts.max() - counts.min() <= 1  # stratified
        assert once.predicted.all()


@given(codes=some_codes, seed=seeds, n_groups=st.integers(2, 30))
def test_no_group_is_in_two_folds(codes, seed, n_groups):
    groups = np.unique(np.random.default_rng(seed).integers(0, n_groups, len(codes)), return_inverse=True)[1]
    if groups.max() < 1:
        return
    dealt = deal(codes, groups=groups, seed=seed)
    for numbers in [once.numbers for once in dealt]:
        for group in range(groups.max() + 1):
            assert len(np.unique(numbers[groups == group])) == 1


@given(codes=some_codes, seed=seeds, folds=st.integers(2, 8), n_times=st.integers(2, 60))
def test_in_time_rows_are_predicted_from_earlier_rows_and_all_of_them(codes, seed, folds, n_times):
    given_times = np.random.default_rng(seed).integers(0, n_times, len(codes))
    time = np.unique(given_times, return_inverse=True)[1]
    if time.max() < 1:
        return
    (dealt,) = deal(codes, time=time, folds=folds)
    assert 1 <= dealt.n_models <= folds
    assert not dealt.predicted[time == 0].any()
    for learnt, held_out in dealt.parts():
        assert len(learnt)
        assert time[learnt].max() < time[held_out].min()
        assert len(learnt) == (time < time[held_out].min()).sum()


@pytest.mark.parametrize(
    ("n", "expected"), [(1000, (10, 2)), (1001, (10, 1)), (10_000, (10, 1)), (10_001, (5, 1))]
)
def test_the_number_of_rows_decides_on_folds_and_repeats(n, expected):
    dealt = deal(np.arange(n) % 2)
    assert (dealt[0].n_folds, len(dealt)) == expected


def test_there_are_no_more_folds_than_the_largest_class_has_rows():
    assert deal(np.arange(12) % 3)[0].n_folds == 4
    assert deal(np.arange(3) % 2)[0].words == "each row by the model of all others"


def test_few_times_are_parts_of_their_own():
    dealt = deal(np.arange(344) % 3, time=np.repeat([0, 1, 2], [110, 114, 120]))
    assert dealt[0].words == "2 parts in time, each predicted from the rows before it"
    mostly = deal(np.arange(100) % 3, time=np.repeat([0, 1, 2], [1, 98, 1]))
    assert mostly[0].n_models >= 1
    assert not mostly[0].predicted[0]


def test_few_groups_are_dealt_out_in_one_way():
    dealt = deal(np.arange(60) % 2, groups=np.arange(60) % 4)
    assert (dealt[0].n_folds, len(dealt)) == (4, 1)


def test_repeats_deal_rows_out_in_other_ways():
    numbers = [once.numbers for once in deal(np.arange(100) % 2)]
    assert (numbers[0] != numbers[1]).any()


def test_rows_of_a_class_that_is_in_one_fold_only_cannot_be_known():
    codes = np.array([0, 0, 0, 0, 1, 1, 1, 1, 2])
    assert deal(codes, folds=4)[0].unknowable(codes).tolist() == [False] * 8 + [True]


# -- marks -----------------------------------------------------------------------------------------------


@given(seed=seeds, n=st.integers(2, 80), decimals=st.integers(0, 3))
def test_the_area_under_the_curve_is_scikit_learns_with_ties_and_all(seed, n, decimals):
    rng = np.random.default_rng(seed)
    scores, positive = rng.normal(size=n).round(decimals), rng.random(n) < 0.4
    found = area_under_roc(scores, positive)
    if positive.all() or not positive.any():
        assert found is None
    else:
        assert found == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)


@given(seed=seeds, n=st.integers(2, 80), decimals=st.integers(0, 3), share=st.floats(0, 1))
def test_the_recall_is_the_largest_on_the_curve_with_few_enough_false_alarms(seed, n, decimals, share):
    rng = np.random.default_rng(seed)
    scores, positive = rng.normal(size=n).round(decimals), rng.random(n) < 0.4
    found = recall_at(scores, positive, share)
    if positive.all() or not positive.any():
        assert found is None
        return
    alarms, recall, _ = roc_curve(positive, scores, drop_intermediate=False)
    assert found == pytest.approx(recall[alarms <= share + 1e-9].max())


@given(seed=seeds, n=st.integers(2, 80), decimals=st.integers(0, 2), folds=st.integers(1, 6))
def test_the_area_with_folds_is_the_share_of_pairs_in_one_fold_that_are_in_order(seed, n, decimals, folds):
    rng = np.random.default_rng(seed)
    scores, positive = rng.normal(size=n).round(decimals), rng.random(n) < 0.4
    fold = rng.integers(0, folds, n)
    pairs = positive[:, None] & ~positive & (fold[:, None] == fold)
    found = area_under_roc(scores, positive, fold)
    if not pairs.any():
        assert found is None
        return
    difference = scores[:, None] - scores
    assert found == pytest.approx(((difference > 0) + 0.5 * (difference == 0))[pairs].mean(), abs=1e-12)
    # A scale of its own for each fold changes nothing.
    assert area_under_roc(scores * (1 + fold) - 7.0 * fold, positive, fold) == found


def test_infinite_scores_are_ranked_too():
    scores, positive = np.array([-np.inf, 0.0, np.inf, np.inf]), np.array([False, False, True, True])
    assert area_under_roc(scores, positive) == 1.0
    assert recall_at(scores, positive, 0.0) == 1.0


def test_noise_is_two_standard_errors_where_differences_are_even():
    rng = np.random.default_rng(0)
    even = rng.normal(size=400)
    even = np.concatenate([even, -even])
    error = Mean.of(even).error
    assert exceeds_noise(even + 2.05 * error)
    assert not exceeds_noise(even + 1.95 * error)
    assert not exceeds_noise(even - 5 * error)


def test_a_few_rows_that_are_very_wrong_are_no_noise():
    differences = np.full(1000, -0.05)
    differences[:8] = 500.0
    assert Mean.of(differences).value < 3 * Mean.of(differences).error
    assert exceeds_noise(differences)
    assert not exceeds_noise(-differences)


def test_one_infinite_loss_is_no_noise_and_none_is():
    assert exceeds_noise(np.array([np.inf, 0.0, 0.0]))
    assert not exceeds_noise(np.zeros(5))


# -- choices ---------------------------------------------------------------------------------------------


class Told:
    """Estimators that are numbers, which say with what probability each row is of its class."""

    def __init__(self, codes):
        self.table, self.tried = self, []
        self.codes = codes

    def held_out(self, estimator, repeat, tick):
        self.tried.append(estimator)
        own = np.arange(2) == self.codes[:, None]
        return HeldOutScores(np.log(np.where(own, estimator, 1 - estimator)), True)


def test_no_more_is_tried_after_two_that_are_worse():
    told = Told(np.array([0, 1, 1, 0]))
    losses, found = along(told, [0.5, 0.9, 0.8, 0.7, 0.99], 0, np.ones(4, bool), lambda: None)
    assert told.tried == [0.5, 0.9, 0.8, 0.7]
    assert losses.shape == (4, 4)
    assert len(found) == 4


def test_a_fold_has_no_say_in_what_it_is_predicted_with():
    losses = np.array([[0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.5, 0.5]])
    found = [HeldOutScores(np.full((4, 2), float(e)), True) for e in range(2)]
    scores = by_other_folds(losses, found, np.array([0, 0, 1, 1]), np.ones(4, bool)).scores
    # Fold 0 is predicted with what does best on fold 1, and the other way round.
    assert scores[:, 0].tolist() == [1.0, 1.0, 0.0, 0.0]


def test_of_equal_losses_the_default_is_taken_and_of_too_few_rows_nothing():
    losses = np.zeros((3, 40))
    every = np.ones(40, bool)
    assert best_before(losses, every, 1) == 1
    losses[2] = -1e-9
    assert best_before(losses, every, 1) == 2
    assert best_before(losses, np.arange(40) < 29, 1) is None


def test_of_many_rows_in_time_the_first_that_are_enough_choose_and_the_earlier_parts_go_by_default():
    n = 1200
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 2)) + 0.3 * y[:, None]
    rows = LabelledTable.of(read_table(X), y)
    validation = CrossValidation(rows, deal(rows.codes, time=np.arange(n), folds=5))
    estimators = tuple(LogisticRegression(C=C) for C in (1e-4, 1.0, 1e-3))
    many = EstimatorChoice(estimators, (0, 1), "", size=10**4, default=1)  # so large that it is chosen once
    found, estimator, how = in_time(validation, many, np.arange(n) >= 200, lambda: None)
    assert how == "chosen by held-out rows of the first parts"
    part = validation.folds.numbers
    chosen = settled(many, rows.part(np.flatnonzero(part < 3)))  # 600 rows; 400 were too few
    assert estimator.C == chosen.C
    for f in range(1, 6):
        model = clone(estimators[1] if f < 3 else chosen).fit(X[part < f], y[part < f])
        np.testing.assert_allclose(found.scores[part == f], model.predict_log_proba(X[part == f]), rtol=1e-9)
    late = CrossValidation(rows, deal(rows.codes, time=(np.arange(n) >= 400) * 1))
    assert in_time(late, many, np.arange(n) >= 400, lambda: None)[1:] == (estimators[1], BY_DEFAULT)


# -- what to use -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def iris():
    return Comparison.of(*load_iris(return_X_y=True), models=["majority", "lda", "naive-bayes"], repeats=1)


def ranking_of(iris, *changes, by_cost=False):
    """A ranking of results with other losses by row, names and so on."""
    base = next(r for r in iris.results if r.name == "lda")
    results = []
    for change in changes:
        losses = change.get("losses", base.losses)
        mean = Mean.of(losses)
        results.append(replace(base, **{"log_loss": mean.value, "log_loss_se": mean.error, **change}))
    return Ranking.of(results, iris.codes, iris.knowable, by_cost=by_cost)


def test_models_within_two_standard_errors_of_the_paired_difference_tie(iris):
    rng = np.random.default_rng(0)
    losses = rng.exponential(size=150)
    noise = rng.normal(size=150)
    noise -= noise.mean()
    error = noise.std(ddof=1) / np.sqrt(150)
    ranking = ranking_of(
        iris,
        {"name": "a", "title": "A", "losses": losses, "n_parameters": 20},
        {"name": "b", "title": "B", "losses": losses + noise + 1.5 * error, "n_parameters": 5},
        {"name": "c", "title": "C", "losses": losses + noise + 3 * error, "n_parameters": 4},
    )
    assert [r.name for r in ranking.ties()] == ["b"]
    # Though every loss has a standard error far larger than the differences.
    assert ranking.results[2].log_loss < ranking.best.log_loss + 4 * ranking.best.log_loss_se
    sentence = ranking.sentence()
    assert sentence.startswith("Use a (")
    assert "below C; B (difference" in sentence
    assert "ties with it, with fewer parameters (5 instead of 20)." in sentence


def test_the_same_losses_tie(iris):
    ranking = ranking_of(iris, {"name": "a"}, {"name": "b"})
    assert [r.name for r in ranking.ties()] == ["b"]


def test_a_model_that_is_very_wrong_in_a_few_rows_does_not_tie(iris):
    losses = np.full(150, 0.1)
    wild = losses.copy()
    wild[:4] = 300.0
    ranking = ranking_of(iris, {"name": "tame", "losses": losses}, {"name": "wild", "losses": wild})
    assert ranking.ties() == ()


def test_nothing_beats_the_class_frequencies_is_said_plainly(iris):
    majority = next(r for r in iris.results if r.name == "majority")
    rng = np.random.default_rng(0)
    change = {"name": "a", "title": "A", "predicted": majority.predicted}
    for shift in (-0.001, 0.001):
        losses = majority.losses + rng.normal(size=150) + shift
        ranking = ranking_of(
            iris, {**change, "losses": losses}, {"losses": majority.losses, "approach": "baseline"}
        )
        assert ranking.sentence().startswith("Nothing here beats the class frequencies (log loss")
        assert "A within noise of it" in ranking.sentence()


def test_a_model_that_is_right_more_often_beats_the_class_frequencies_even_if_its_loss_does_not(iris):
    majority = next(r for r in iris.results if r.name == "majority")
    lda = next(r for r in iris.results if r.name == "lda")
    losses = majority.losses + np.random.default_rng(0).normal(size=150) - 0.2
    ranking = ranking_of(
        iris,
        {"name": "a", "losses": losses, "predicted": lda.predicted},
        {
            "name": "majority",
            "losses": majority.losses,
            "approach": "baseline",
            "predicted": majority.predicted,
        },
    )
    assert ranking.sentence().startswith("Use a (")


def test_a_model_that_is_right_more_often_though_its_loss_is_worse_is_mentioned(iris):
    majority, lda = (next(r for r in iris.results if r.name == name) for name in ("majority", "lda"))
    baseline = {
        "name": "majority",
        "approach": "baseline",
        "losses": majority.losses,
        "predicted": majority.predicted,
        "accuracy": majority.accuracy,
    }
    sure = {"name": "a", "title": "A", "losses": majority.losses + 1.0}
    sentence = ranking_of(iris, baseline, sure).sentence()
    assert "every other model does worse; but A is right more often (accuracy" in sentence
    assert f"{lda.accuracy:.3f} against 0.333 by naming the most common class): the columns" in sentence
    sentence = ranking_of(iris, baseline, {**sure, "predicted": majority.predicted}).sentence()
    assert "every other model does worse: by log loss these rows do not show" in sentence
    assert "no model is right more often beyond noise" in sentence


def test_class_frequencies_that_are_right_less_often_than_a_coin_are_no_measure(iris):
    rng = np.random.default_rng(0)
    codes = np.arange(150) % 2
    guessed = np.where(rng.random(150) < 0.55, codes, 1 - codes)
    predicted = np.where(rng.random(150) < 0.2, codes, 1 - codes)  # folds may make it so
    results = ranking_of(
        iris,
        {"approach": "baseline", "predicted": predicted, "accuracy": 0.2},
        {"losses": iris.results[0].losses + 1.0, "predicted": guessed, "accuracy": 0.55},
    ).results
    sentence = Ranking(results, codes, iris.knowable, by_cost=False).sentence()
    assert "no model is right more often beyond noise" in sentence


@pytest.mark.parametrize("shift", [-0.2, 0.0, 0.2])
def test_where_they_were_not_tried_the_class_frequencies_are_those_of_all_rows(iris, shift):
    majority = next(r for r in iris.results if r.name == "majority")
    plain = np.full(150, np.log(3)) + shift
    ranking = ranking_of(iris, {"title": "A", "losses": plain, "predicted": majority.predicted})
    assert ranking.baseline is None
    assert ranking.nothing_found == (shift >= 0)
    assert ranking.sentence().startswith("Nothing here beats the class frequencies") == (shift >= 0)


def test_class_frequencies_alone_are_compared_with_nothing(iris):
    (majority,) = (r for r in iris.results if r.name == "majority")
    sentence = Ranking.of([majority], iris.codes, iris.knowable, by_cost=False).sentence()
    assert sentence.startswith("Nothing but the class frequencies (log loss 1.0")
    assert "was tried: try other models" in sentence
    found = Comparison.of(np.arange(40.0)[:, None], np.arange(40) % 2, models=["majority", "least-squares"])
    assert "no other model has probabilities: by log loss" in found.recommendation


def test_one_model_alone_is_recommended_without_rivals(iris):
    assert ranking_of(iris, {"name": "a"}).sentence().count("log loss") == 1
    (result,) = Comparison.of(*load_iris(return_X_y=True), models=["least-squares"], repeats=1).results
    ranking = Ranking.of([result], iris.codes, iris.knowable, by_cost=False)
    assert ranking.sentence().startswith("Use least-squares (4 columns): accuracy 0.8")
    assert ranking.sentence().endswith("it has no probabilities.")


def test_an_infinite_loss_comes_last_and_ties_with_nothing(iris):
    losses = np.full(150, 0.5)
    never = losses.copy()
    never[3] = np.inf
    ranking = ranking_of(iris, {"name": "never", "losses": never}, {"name": "fine", "losses": losses})
    assert [r.name for r in ranking.results] == ["fine", "never"]
    assert ranking.ties() == ()
    assert "inf below" in ranking.sentence()


# -- what to do next -------------------------------------------------------------------------------------


def test_posteriors_that_are_off_are_to_be_calibrated(iris):
    rng = np.random.default_rng(0)
    p = np.where(rng.random(150) < 0.5, 0.95, 0.05)
    y = (rng.random(150) < np.where(p > 0.5, 0.75, 0.25)).astype(int)
    sure = replace(iris.results[0], log_proba=np.log(np.stack([1 - p, p], axis=1)))
    (told,) = advice(sure, y, np.ones(150, bool))
    assert "before acting on them, calibrate them" in told
    assert f"a calibration error of {sure.calibration_error:.3f}, where chance" in told
    p = np.where(p > 0.5, 0.75, 0.25)
    honest = replace(sure, log_proba=np.log(np.stack([1 - p, p], axis=1)))
    assert advice(honest, y, np.ones(150, bool)) == []


def test_too_good_to_be_true_is_said(iris):
    (told,) = advice(replace(iris.results[0], accuracy=1.0), iris.codes, iris.knowable)
    assert "make sure that no column gives the class away" in told


def test_rows_of_a_group_count_as_their_group():
    rng = np.random.default_rng(5)
    terms, groups = rng.normal(size=40), np.arange(40)
    assert Mean.of(clustered(terms, groups)) == pytest.approx(Mean.of(terms))
    repeated = Mean.of(clustered(np.repeat(terms, 25), np.repeat(groups, 25)))
    assert repeated == pytest.approx(Mean.of(terms))
    uneven = np.repeat(groups, rng.integers(1, 9, 40))
    values = rng.normal(size=len(uneven)) + terms[uneven]
    found, e = Mean.of(clustered(values, uneven)), values - values.mean()
    sums = np.bincount(uneven, e)
    by_hand = np.sqrt(40 / 39 * (sums**2).sum()) / len(values)
    assert found == pytest.approx((values.mean(), by_hand))


def test_noise_is_that_of_groups_where_rows_belong_together():
    rng = np.random.default_rng(1)
    centres, y = rng.normal(size=(20, 2)), rng.integers(0, 2, 20)
    groups = np.repeat(np.arange(20), 50)
    X = centres[groups] + 0.01 * rng.normal(size=(1000, 2))
    found = Comparison.of(X, y[groups], groups=groups, models=["majority", "lda"], folds=5, repeats=1)
    alone = Comparison.of(X, y[groups], models=["majority", "lda"], folds=5, repeats=1)
    lda = next(r for r in found.results if r.name == "lda")
    without = next(r for r in alone.results if r.name == "lda")
    assert lda.log_loss_se > 3 * without.log_loss_se
    by_group = np.bincount(found.groups, lda.losses - lda.log_loss)
    assert lda.log_loss_se == pytest.approx(np.sqrt(20 / 19 * (by_group**2).sum()) / 1000)


def test_settings_are_chosen_by_whole_groups_however_many_rows_there_are():
    rng = np.random.default_rng(3)
    centres, y = rng.normal(size=(60, 40)), rng.integers(0, 2, 60)
    for size in (80, 100):  # below and above the number of rows from which a sample chooses
        groups = np.repeat(np.arange(60), size)
        X = centres[groups] + 0.1 * rng.normal(size=(60 * size, 40))
        models = ["logistic", "lda", "rda"]
        found = Comparison.of(X, y[groups], groups=groups, models=models, folds=5, repeats=1)
        losses = {result.name: result.log_loss for result in found.results}
        # Nothing can be learnt of the next group: the strongest penalty and the simplest covariance are best.
        assert losses["logistic"] < 1.0
        assert losses["rda"] <= 1.1 * losses["lda"]
        assert "tied = 1 " in next(r.about for r in found.results if r.name == "rda")
