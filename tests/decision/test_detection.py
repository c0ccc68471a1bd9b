"""Finding one class among others: ROC, precision and recall."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from posterior.decision import detection_curve


def drawn(n=200, seed=0, digits=None):
    """Two classes drawn from posteriors, which have so many digits."""
    rng = np.random.default_rng(seed)
    p = 1 / (1 + np.exp(-1.5 * rng.normal(size=n)))
    p = p if digits is None else np.clip(p.round(digits), 0.05, 0.95)
    y = (rng.random(n) < p).astype(int)
    y[:2] = 0, 1
    return y, np.log(np.column_stack([1 - p, p])), p


@given(seed=st.integers(0, 1000), digits=st.sampled_from([1, 2, None]))
def test_the_curve_is_that_of_scikit_learn_whatever_the_ties(seed, digits):
    y, logs, p = drawn(60, seed, digits)
    curve = detection_curve(y, logs)
    alarms, found, _ = roc_curve(y, p, drop_intermediate=False)
    np.testing.assert_allclose(curve.false_alarms, alarms)
    np.testing.assert_allclose(curve.recall, found)
    precision, recall, threshold = precision_recall_curve(y, p)
    keep = np.arange(1, len(curve.threshold))
    np.testing.assert_allclose(curve.precision[keep], precision[:-1][::-1])
    np.testing.assert_allclose(curve.recall[keep], recall[:-1][::-1])
    np.testing.assert_allclose(curve.threshold[keep], threshold[::-1])
    assert curve.area == pytest.approx(roc_auc_score(y, p))
    assert curve.average_precision == pytest.approx(average_precision_score(y, p))
    assert curve.share == pytest.approx(y.mean())


@given(seed=st.integers(0, 1000))
def test_weight_two_is_the_row_twice_and_weight_zero_no_row(seed):
    y, logs, _ = drawn(40, seed, 1)
    weight = np.random.default_rng(seed).integers(0, 3, size=40)
    weight[:2] = 2
    once = detection_curve(y, logs, sample_weight=weight)
    twice = detection_curve(np.repeat(y, weight), np.repeat(logs, weight, axis=0))
    for name in ("threshold", "recall", "false_alarms", "precision"):
        np.testing.assert_allclose(getattr(once, name), getattr(twice, name), atol=1e-15)
    assert once.area_error == pytest.approx(twice.area_error, rel=1e-9)


def test_the_standard_error_of_the_area_is_its_spread_over_samples():
    found = [detection_curve(*drawn(150, seed, 1)[:2]) for seed in range(400)]
    areas, errors = np.array([(c.area, c.area_error) for c in found]).T
    assert np.mean(errors) == pytest.approx(areas.std(), rel=0.1)
    covered = [low <= areas.mean() <= high for low, high in (c.area_interval() for c in found)]
    assert 0.9 <= np.mean(covered) <= 0.99


def test_the_area_of_the_other_class_is_the_same_and_precision_is_not():
    y, logs, _ = drawn()
    second, first = detection_curve(y, logs), detection_curve(y, logs, positive=0)
    assert first.area == pytest.approx(second.area)
    assert first.area_error == pytest.approx(second.area_error)
    assert first.share == pytest.approx(1 - second.share)


def test_posteriors_that_round_to_one_keep_their_order():
    odds = np.array([50.0, 100.0, 200.0, 300.0])
    logs = np.column_stack([-np.logaddexp(0, odds), -np.logaddexp(0, -odds)])
    assert detection_curve([0, 0, 1, 1], logs).area == 1.0


def test_a_threshold_calls_positive_what_is_above_it():
    y, logs, p = drawn(100, digits=1)
    curve = detection_curve(y, logs)
    for threshold in (0.0, 0.2, 0.5, 0.55, 0.96):
        i = curve.at(threshold)
        assert curve.recall[i] == pytest.approx((p > threshold + 1e-12)[y == 1].mean())
        assert curve.false_alarms[i] == pytest.approx((p > threshold + 1e-12)[y == 0].mean())


def test_one_of_several_classes_is_found_by_its_own_posterior():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(90, 3))
    logs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    y = np.array(["a", "b", "c"])[rng.integers(3, size=90)]
    curve = detection_curve(y, logs, classes=["a", "b", "c"], positive="b")
    assert curve.area == pytest.approx(roc_auc_score(y == "b", np.exp(logs[:, 1])))


@pytest.mark.parametrize(
    ("y", "settings", "told"),
    [
        ([1, 1], {}, "all of the rows are of class 1"),
        ([0, 0], {}, "none of the rows are of class 1"),
        ([0, 1], {"positive": "x"}, "positive='x' is not one of the classes"),
    ],
    ids=["all", "none", "unknown"],
)
def test_what_cannot_be_told_apart_is_refused(y, settings, told):
    with pytest.raises(ValueError, match=told):
        detection_curve(y, np.log([[0.5, 0.5], [0.4, 0.6]]), **settings)


def test_of_more_classes_the_one_looked_for_must_be_named():
    with pytest.raises(ValueError, match="there are 3 classes; pass the one"):
        detection_curve([0, 1, 2], np.log(np.full((3, 3), 1 / 3)))
