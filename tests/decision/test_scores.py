"""Scores of probabilities, reliability curves, the calibration error and the calibration test."""

import itertools
import re

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit, logit
from sklearn import metrics
from sklearn.calibration import calibration_curve
from statsmodels.stats.proportion import proportion_confint

from posterior.decision.bins import calibrated_range, quantile_bins, sum_of_bernoullis, wilson
from posterior.decision.calibration_error import calibration_error
from posterior.decision.reliability import TOP, calibration_test, reliability_curve
from posterior.decision.scores import brier_score, brier_terms, log_loss, log_loss_terms
from posterior.math import log_sigmoid, log_softmax

SEEDS = st.integers(0, 2**32 - 1)
FIELDS = ("predicted", "observed", "weight", "low", "high", "band_low", "band_high")


def labels_of(proba, rng):
    return (proba.cumsum(axis=1)[:, :-1] < rng.random((len(proba), 1))).sum(axis=1)


def calibrated(seed, n=200, K=3, spread=1.5):
    rng = np.random.default_rng(seed)
    logs = log_softmax(spread * rng.normal(size=(n, K)))
    return labels_of(np.exp(logs), rng), logs


def two_classes(log_odds):
    return np.stack([log_sigmoid(-log_odds), log_sigmoid(log_odds)], axis=1)


# -- scores ---------------------------------------------------------------------------------------


@given(SEEDS, st.integers(2, 5))
def test_scores_are_those_of_scikit_learn(seed, K):
    y, logs = calibrated(seed, 50, K)
    weight = np.random.default_rng(seed).random(50) + 0.1
    labels = list(range(K))
    theirs = metrics.log_loss(y, np.exp(logs), sample_weight=weight, labels=labels)
    assert log_loss(y, logs, sample_weight=weight) == pytest.approx(theirs, rel=1e-12)
    theirs = metrics.brier_score_loss(
        y, np.exp(logs), sample_weight=weight, labels=labels, scale_by_half=False
    )
    assert brier_score(y, logs, sample_weight=weight) == pytest.approx(theirs, rel=1e-12)


def test_the_binary_brier_score_is_half_of_ours():
    y, logs = calibrated(0, 60, 2)
    assert brier_score(y, logs) / 2 == pytest.approx(
        metrics.brier_score_loss(y, np.exp(logs[:, 1])), rel=1e-13
    )


def test_scores_are_the_means_of_their_terms():
    y, logs = calibrated(1, 40)
    assert log_loss(y, logs) == pytest.approx(log_loss_terms(y, logs).mean(), rel=1e-14)
    assert brier_score(y, logs) == pytest.approx(brier_terms(y, logs).mean(), rel=1e-14)


def test_nothing_is_clipped_in_the_tails():
    far = np.array([[-1e5, 0.0], [0.0, -np.inf]])
    assert log_loss_terms([0, 0], far).tolist() == [1e5, 0.0]
    assert not np.signbit(log_loss_terms([0, 0], far)[1])
    assert log_loss([0, 1], far) == np.inf
    assert log_loss([0, 1], far, sample_weight=[1, 0]) == 1e5
    assert brier_terms([0, 1], far).tolist() == [2.0, 2.0]
    assert brier_terms([1], [[-46.0, -np.exp(-46.0)]]) == pytest.approx([2 * np.exp(-92.0)], rel=1e-13)


@given(SEEDS)
def test_scores_take_weights_for_repetitions_and_any_order_of_classes(seed):
    y, logs = calibrated(seed, 30, 4)
    rng = np.random.default_rng(seed)
    weight, order = rng.integers(0, 4, 30), rng.permutation(4)
    weight[0] = 1
    names = np.array(["a", "b", "c", "d"])
    for score in (log_loss, brier_score):
        value = score(y, logs, sample_weight=weight)
        assert value == pytest.approx(score(np.repeat(y, weight), np.repeat(logs, weight, axis=0)), rel=1e-12)
        renamed = score(names[y], logs[:, order], classes=names[order], sample_weight=weight)
        assert value == pytest.approx(renamed, rel=1e-12)


def test_what_cannot_be_scored_is_refused():
    y, logs = calibrated(0, 5)
    with pytest.raises(ValueError, match="y has 4 entries for 5 rows"):
        log_loss(y[:4], logs)
    with pytest.raises(ValueError, match="y has 4 entries for 5 rows"):
        brier_terms(y[:4], logs)
    with pytest.raises(ValueError, match="no rows to score"):
        log_loss(y[:0], logs[:0])
    with pytest.raises(ValueError, match="at least one row must count"):
        log_loss(y, logs, sample_weight=np.zeros(5))
    with pytest.raises(ValueError, match="must sum to 1"):
        brier_score(y, logs - 0.1)


# -- bins -----------------------------------------------------------------------------------------


def brute_sum(probability):
    pmf = np.array([1.0])
    for p in probability:
        pmf = np.append(pmf * (1 - p), 0.0) + np.append(0.0, pmf * p)
    return pmf


@given(st.lists(st.floats(0, 1), max_size=40))
def test_the_sum_of_bernoullis_is_that_of_a_recursion(probability):
    p = np.array(probability)
    np.testing.assert_allclose(sum_of_bernoullis(p), brute_sum(p), rtol=0, atol=1e-14)


def test_the_sum_of_equal_bernoullis_is_binomial():
    np.testing.assert_allclose(
        sum_of_bernoullis(np.full(3000, 0.01)), stats.binom.pmf(np.arange(3001), 3000, 0.01), atol=1e-14
    )


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.5, 0.99))
def test_each_tail_beyond_the_calibrated_range_is_as_rare_as_it_should_be(probability, confidence):
    p = np.array(probability)
    low, high = calibrated_range(p, np.ones(len(p)), confidence)
    share, pmf = np.arange(len(p) + 1) / len(p), brute_sum(p)
    tail = 0.5 - confidence / 2 + 1e-11
    assert pmf[share < low - 1e-9].sum() <= tail
    assert pmf[share > high + 1e-9].sum() <= tail
    # and no narrower range of that kind exists
    assert pmf[share < low + 1e-9].sum() >= tail - 2e-11
    assert pmf[share > high - 1e-9].sum() >= tail - 2e-11


def test_the_range_of_weights_that_are_no_whole_numbers_is_close_to_the_exact_one():
    p = np.random.default_rng(0).beta(2, 5, size=3000)
    exact = calibrated_range(p, np.ones(3000), 0.95)
    near = calibrated_range(p, np.full(3000, 1 + 1e-9), 0.95)
    np.testing.assert_allclose(near, exact, atol=1.5 / 3000)
    # n rows of weight one half are n rows
    half = calibrated_range(p, np.full(3000, 0.5), 0.95)
    np.testing.assert_allclose(half, near, atol=1e-9)
    assert calibrated_range(np.array([0.0, 1.0]), np.array([0.5, 1.5]), 0.95) == (0.75, 0.75)


def test_wilsons_interval_is_that_of_statsmodels():
    count, n = np.array([0, 1, 7, 20, 20]), np.array([5, 9, 20, 20, 40])
    low, high = wilson(count / n, n.astype(float), 0.9)
    theirs = proportion_confint(count, n, alpha=0.1, method="wilson")
    np.testing.assert_allclose([low, high], theirs, atol=1e-15)
    assert low[0] == 0
    assert high[3] == 1


def test_wilsons_interval_covers_the_truth_about_as_often_as_it_says():
    count = np.arange(51.0)
    low, high = wilson(count / 50, np.full(51, 50.0), 0.95)
    truths = np.linspace(0.02, 0.98, 193)
    covers = [stats.binom.pmf(count, 50, t)[(low <= t) & (t <= high)].sum() for t in truths]
    assert np.mean(covers) == pytest.approx(0.95, abs=0.01)
    assert min(covers) > 0.88


@given(SEEDS, st.integers(1, 12))
def test_quantile_bins_hold_equal_counts_and_keep_equal_values_together(seed, n_bins):
    rng = np.random.default_rng(seed)
    distinct = rng.permutation(60) / 60
    counts = np.bincount(quantile_bins(distinct, np.ones(60), n_bins), minlength=n_bins)
    assert counts.max() - counts.min() <= 1
    tied = rng.integers(0, 5, 60) / 5
    bins = quantile_bins(tied, rng.random(60), n_bins)
    assert all(len(set(bins[tied == v])) == 1 for v in set(tied))
    order = np.argsort(tied, kind="stable")
    assert (np.diff(bins[order]) >= 0).all()


# -- reliability ----------------------------------------------------------------------------------


def test_uniform_bins_give_the_curve_of_scikit_learn():
    y, logs = calibrated(3, 300, 2)
    curve = reliability_curve(y, logs, strategy="uniform", n_bins=7).by_class[1]
    observed, predicted = calibration_curve(y, np.exp(logs[:, 1]), n_bins=7)
    np.testing.assert_allclose(curve.observed, observed, rtol=1e-13)
    np.testing.assert_allclose(curve.predicted, predicted, rtol=1e-13)


@given(SEEDS, st.sampled_from(["quantile", "uniform"]))
def test_a_curve_takes_weights_for_repetitions_and_rows_in_any_order(seed, strategy):
    y, logs = calibrated(seed, 40)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 4, 40)
    weight[0] = 1
    rows = rng.permutation(np.repeat(np.arange(40), weight))
    ours = reliability_curve(y, logs, n_bins=4, strategy=strategy, sample_weight=weight)
    theirs = reliability_curve(y[rows], logs[rows], n_bins=4, strategy=strategy)
    for a, b in zip(
        [*ours.by_class.values(), ours.top], [*theirs.by_class.values(), theirs.top], strict=True
    ):
        for field in FIELDS:
            np.testing.assert_allclose(getattr(a, field), getattr(b, field), rtol=1e-11, atol=1e-13)


def test_a_curve_knows_its_classes_by_name():
    y, logs = calibrated(5, 90)
    names, order = np.array(["a", "b", "c"]), [2, 0, 1]
    ours = reliability_curve(y, logs)
    renamed = reliability_curve(names[y], logs[:, order], classes=names[order])
    for k, name in enumerate(names):
        for field in FIELDS:
            np.testing.assert_array_equal(
                getattr(ours.by_class[k], field), getattr(renamed.by_class[name], field)
            )
    frame = renamed.frame()
    assert list(frame["class"].unique()) == ["c", "a", "b", TOP]
    assert frame.groupby("class")["weight"].sum().tolist() == [90.0] * 4
    assert str(renamed).count("\n") == len(frame)


def test_the_top_label_curve_counts_how_often_the_most_probable_class_is_right():
    y, logs = calibrated(6, 500)
    top = reliability_curve(y, logs, n_bins=5).top
    right, sure = logs.argmax(axis=1) == y, np.exp(logs.max(axis=1))
    for part, (predicted, observed) in zip(
        np.array_split(np.argsort(sure), 5), zip(top.predicted, top.observed, strict=True), strict=True
    ):
        assert observed == pytest.approx(right[part].mean())
        assert predicted == pytest.approx(sure[part].mean())


def test_the_frequencies_of_calibrated_posteriors_lie_in_the_band():
    inside = []
    for seed in range(150):
        bins = reliability_curve(*calibrated(seed, 400), n_bins=5).top
        inside += ((bins.band_low <= bins.observed) & (bins.observed <= bins.band_high)).tolist()
    # 750 bins; exact bands hold at least 95 %, being of whole numbers of rows
    assert 0.95 - 3 * np.sqrt(0.05 * 0.95 / 750) < np.mean(inside)
    assert np.mean(inside) < 0.995


# -- calibration error ----------------------------------------------------------------------------


def brute_error(y, proba, kind, n_bins, weight):
    """By the definition: for each class and bin of equal width, a loop over the rows."""
    n, K = proba.shape
    errors = []
    for k in range(K):
        error = 0.0
        for b in range(n_bins):
            mass = hit = said = 0.0
            for i in range(n):
                p = proba[i, k] if kind == "classwise" else proba[i].max()
                event = y[i] == k if kind == "classwise" else y[i] == proba[i].argmax()
                if b / n_bins < p <= (b + 1) / n_bins or (p == 0 and b == 0):
                    mass, hit, said = mass + weight[i], hit + weight[i] * event, said + weight[i] * p
            error += abs(hit / mass - said / mass) * mass / weight.sum() if mass else 0.0
        errors.append(error)
    return errors


@pytest.mark.parametrize("kind", ["top", "classwise"])
def test_the_calibration_error_is_what_its_definition_says(kind):
    y, logs = calibrated(8, 80, 3)
    weight = np.random.default_rng(0).random(80)
    found = calibration_error(y, logs, kind=kind, n_bins=9, sample_weight=weight, n_simulations=0)
    expected = brute_error(y, np.exp(logs), kind, 9, weight)
    assert found.value == pytest.approx(np.mean(expected), rel=1e-12)
    if kind == "classwise":
        assert list(found.by_class.values()) == pytest.approx(expected, rel=1e-12)
    assert np.isnan([found.low, found.high, found.p_value, found.expected_if_calibrated]).all()


@pytest.mark.crossed
@pytest.mark.parametrize("kind", ["top", "classwise"])
@pytest.mark.parametrize("weight", [None, [1, 2, 0.5, 1, 3.0]])
def test_the_error_of_calibrated_labels_is_that_of_all_labels_by_their_probability(kind, weight):
    _, logs = calibrated(2, 5, 3)
    repeats = np.ones(5) if weight is None else np.array(weight)
    # Weight 3 is three rows with labels of their own; half a row has one label.
    rows = np.repeat(np.arange(5), np.ceil(repeats).astype(int))
    part = np.where(repeats[rows] < 1, repeats[rows], 1.0)
    proba = np.exp(logs[rows])
    mean = 0.0
    for y in itertools.product(range(3), repeat=len(rows)):
        chance = np.prod(proba[np.arange(len(rows)), list(y)])
        if chance > 1e-7:
            error = calibration_error(
                list(y), logs[rows], kind=kind, n_bins=3, sample_weight=part, n_simulations=0
            )
            mean += chance * error.value
    y = logs.argmax(axis=1)
    found = calibration_error(y, logs, kind=kind, n_bins=3, sample_weight=weight, n_simulations=3000)
    assert found.expected_if_calibrated == pytest.approx(mean, rel=0.03)


@given(SEEDS)
def test_the_calibration_error_takes_weights_for_repetitions_and_any_order_of_classes(seed):
    y, logs = calibrated(seed, 30, 3)
    rng = np.random.default_rng(seed)
    weight, order = rng.integers(0, 4, 30), rng.permutation(3)
    weight[0] = 1
    repeated, rows = np.repeat(y, weight), np.repeat(logs, weight, axis=0)
    for kind, strategy in itertools.product(["top", "classwise"], ["uniform", "quantile"]):
        settings = {"kind": kind, "strategy": strategy, "n_bins": 5, "n_simulations": 0}
        value = calibration_error(y, logs, sample_weight=weight, **settings).value
        assert value == pytest.approx(calibration_error(repeated, rows, **settings).value, abs=1e-13)
        swapped = calibration_error(y, logs[:, order], classes=order, sample_weight=weight, **settings).value
        assert value == pytest.approx(swapped, abs=1e-13)


def test_weights_are_repetitions_in_the_draws_too():
    y, logs = calibrated(4, 150)
    once = calibration_error(np.repeat(y, 3), np.repeat(logs, 3, axis=0), n_simulations=2000)
    thrice = calibration_error(y, logs, sample_weight=np.full(150, 3.0), n_simulations=2000)
    assert thrice.value == pytest.approx(once.value, rel=1e-12)
    for name in ("expected_if_calibrated", "quantile_if_calibrated", "high"):
        assert getattr(thrice, name) == pytest.approx(getattr(once, name), rel=0.05)


def test_the_same_seed_gives_the_same_bits_and_a_generator_goes_on():
    y, logs = calibrated(0, 100)
    first, again = (calibration_error(y, logs, n_simulations=50) for _ in range(2))
    assert vars(first) == vars(again)
    rng = np.random.default_rng(0)
    seeded, later = (calibration_error(y, logs, n_simulations=50, random_state=rng) for _ in range(2))
    assert vars(seeded) == vars(first)
    assert later.expected_if_calibrated != seeded.expected_if_calibrated


def true_error(logs, truth, n_bins):
    """The error in the long run, of rows whose classes have other probabilities than said."""
    top = logs.argmax(axis=1)
    said, right = np.exp(logs.max(axis=1)), truth[np.arange(len(top)), top]
    place = np.searchsorted(np.linspace(0, 1, n_bins + 1)[1:-1], said)
    return np.abs(np.bincount(place, right - said)).sum() / len(top)


@pytest.mark.long
@pytest.mark.parametrize("temperature", [1.0, 1.25, 2.0])
def test_the_interval_of_the_calibration_error_covers_it_nine_times_in_ten(temperature):
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        logs = log_softmax(1.5 * rng.normal(size=(300, 3)))
        truth = np.exp(log_softmax(logs / temperature))
        found = calibration_error(labels_of(truth, rng), logs, n_bins=10, n_simulations=300, random_state=rng)
        covered += found.low <= true_error(logs, truth, 10) <= found.high
    assert covered >= 0.9 * 200


@pytest.mark.long
def test_the_p_value_of_the_calibration_error_is_small_one_time_in_ten_if_calibrated():
    small = sum(
        calibration_error(*calibrated(seed, 100), n_simulations=49).p_value <= 0.1 for seed in range(300)
    )
    assert abs(small - 30) < 3 * np.sqrt(300 * 0.1 * 0.9)


def test_the_calibration_error_says_what_it_found():
    y, logs = calibrated(0, 500)
    found = calibration_error(y, log_softmax(2 * logs), kind="classwise")
    assert found.p_value == pytest.approx(1 / 501)
    assert found.value > found.quantile_if_calibrated > found.expected_if_calibrated
    assert f"calibration error {found.value:.4f}" in str(found)
    with pytest.raises(ValueError, match="kind must be one of"):
        calibration_error(y, logs, kind="marginal")
    with pytest.raises(ValueError, match="n_bins is a whole number"):
        calibration_error(y, logs, n_bins=0)
    with pytest.raises(ValueError, match="strategy must be one of"):
        calibration_error(y, logs, strategy="isotonic")
    with pytest.raises(ValueError, match="confidence lies between 0 and 1"):
        reliability_curve(y, logs, confidence=95)


# -- calibration test -----------------------------------------------------------------------------


def test_the_statistic_is_that_of_a_logistic_regression_on_the_log_odds():
    y, logs = calibrated(3, 400, 2)
    odds = logs[:, 1] - logs[:, 0]
    null = -2 * sm.Logit(y, odds[:, None]).loglike(np.ones(1))
    for method, design, df in [
        ("temperature", odds[:, None], 1),
        ("vector", np.column_stack([-logs[:, 0], logs[:, 1], np.ones(400)]), 3),
    ]:
        fit = sm.Logit(y, design).fit(disp=0, method="newton", tol=1e-12)
        found = calibration_test(y, logs, method=method)
        assert found.statistic == pytest.approx(null + 2 * fit.llf, abs=1e-9)
        assert found.df == df
        assert found.p_value == pytest.approx(stats.chi2.sf(found.statistic, df), rel=1e-9)
        assert found.gain == pytest.approx(found.statistic / 800, rel=1e-12)
    assert calibration_test(y, logs).temperature == pytest.approx(
        1 / sm.Logit(y, odds[:, None]).fit(disp=0).params[0], rel=1e-6
    )


@pytest.mark.long
@pytest.mark.parametrize("method", ["temperature", "vector"])
def test_the_p_values_of_calibrated_posteriors_are_uniform(method):
    p = [calibration_test(*calibrated(seed, 300), method=method).p_value for seed in range(300)]
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_the_test_takes_weights_for_repetitions():
    y, logs = calibrated(1, 60)
    weight = np.random.default_rng(0).integers(0, 4, 60)
    ours = calibration_test(y, logs, sample_weight=weight)
    theirs = calibration_test(np.repeat(y, weight), np.repeat(logs, weight, axis=0))
    for name in ("statistic", "p_value", "log_loss", "gain", "temperature"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-8)


def test_posteriors_that_are_too_sure_are_off_and_the_words_say_so():
    y, logs = calibrated(0, 1000)
    found = calibration_test(y, log_softmax(1.7 * logs))
    assert found.is_off
    assert found.temperature == pytest.approx(1.7, abs=0.2)
    assert "too sure of themselves: temperature 1." in found.words
    assert "(p < 0.001: chance alone would not gain as much)" in str(found)
    assert "not sure enough" in calibration_test(y, log_softmax(0.5 * logs)).words
    assert (
        "are not calibrated: log loss" in calibration_test(y, log_softmax(1.7 * logs), method="vector").words
    )
    assert "are calibrated" in calibration_test(y, logs).words


def test_a_large_table_with_next_to_nothing_to_gain_is_not_off():
    y, logs = calibrated(0, 100_000, 2)
    found = calibration_test(y, log_softmax(1.1 * logs))
    assert found.p_value < 1e-6
    assert not found.is_off


def test_a_rare_class_that_is_twice_too_rare_is_off():
    odds = np.tile(logit(0.001) + stats.norm.ppf((np.arange(200) + 0.5) / 200), 2)
    y = np.repeat([0, 1], 200)
    weight = 2000 * np.where(y == 1, expit(odds), expit(-odds))  # 400,000 rows in all
    found = calibration_test(y, two_classes(odds - np.log(2)), method="vector", sample_weight=weight)
    assert found.is_off
    assert found.gain < 0.001
    assert not calibration_test(y, two_classes(odds), method="vector", sample_weight=weight).is_off


def test_classes_that_were_ruled_out_and_are_true_are_off():
    y, logs = calibrated(0, 100)
    some = np.full((2, 3), -np.inf)
    some[:, 0] = 0.0
    found = calibration_test([*y, 0, 1], np.vstack([logs, some]))
    assert found.impossible == pytest.approx(1 / 102)
    assert not found.is_off
    assert np.isfinite(found.log_loss)
    found = calibration_test([*y, 1, 1], np.vstack([logs, some]))
    assert found.is_off
    assert "2 % of the held-out rows are of a class" in found.words
    nothing = calibration_test([1, 2], some)
    assert nothing.is_off
    assert (nothing.df, nothing.p_value) == (0, 1.0)


def test_posteriors_that_say_nothing_have_no_temperature_to_test():
    found = calibration_test([0, 1, 1], np.log(np.full((3, 2), 0.5)))
    assert (found.df, found.p_value, found.gain, found.temperature) == (0, 1.0, 0.0, 1.0)
    with pytest.raises(ValueError, match="method must be one of"):
        calibration_test([0], [[0.0, -np.inf]], method="isotonic")


@pytest.mark.parametrize(
    ("rows", "temperature", "told"),
    [
        (2_000, 2.0, "too sure of themselves: .*chance alone would not gain as much"),
        (2_000, 1.0, "are calibrated, as far as these tell: .*chance alone would gain as much"),
        (
            200_000,
            1.07,
            r"are calibrated, .*p < 0.001: more than chance .*, but too little to matter",
        ),
    ],
)
def test_a_p_value_says_which_way_it_points(rows, temperature, told):
    rng = np.random.default_rng(0)
    odds = rng.normal(size=rows)
    y = (rng.random(rows) < 1 / (1 + np.exp(-odds))).astype(int)
    stated = np.stack([-np.logaddexp(0, temperature * odds), -np.logaddexp(0, -temperature * odds)], axis=1)
    assert re.search(told, str(calibration_test(y, stated)))
