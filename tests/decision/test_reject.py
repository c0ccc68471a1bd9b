"""Rejecting, and the tables that tell what it is worth."""

from fractions import Fraction
from math import ceil

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate

from posterior.decision.confusion import confusion_table
from posterior.decision.costs import average_cost, decide, expected_cost, read_costs
from posterior.decision.coverage import risk_coverage_curve
from posterior.decision.reject import (
    Coverage,
    Limit,
    RejectionCost,
    Threshold,
    least_expected_cost,
    read_reject,
)
from posterior.math import log_softmax

shares = st.floats(0.001, 1.0) | st.integers(1, 100).map(lambda percent: percent / 100)


def log_posteriors():
    shapes = st.tuples(st.integers(1, 12), st.integers(2, 5))
    # Few different scores, so that rows tie.
    scores = st.integers(-3, 3).map(float) | st.floats(-5, 5)
    return shapes.flatmap(lambda s: arrays(np.float64, s, elements=scores)).map(log_softmax)


@st.composite
def answered(draw):
    """Classes, log posteriors, costs or None, and whole weights of some rows."""
    log_posterior = draw(log_posteriors())
    n, K = log_posterior.shape
    y = draw(arrays(np.int64, n, elements=st.integers(0, K - 1)))
    costs = draw(st.none() | arrays(np.float64, (K, 3), elements=st.integers(-5, 9).map(float)))
    weight = draw(arrays(np.int64, n, elements=st.integers(0, 3)).filter(np.any))
    return y, log_posterior, costs, weight


# --- the rules ---


@given(log_posteriors(), st.floats(0.01, 0.99))
def test_a_threshold_is_a_rejection_cost_of_what_is_missing_to_one(log_posterior, theta):
    apart = np.abs(np.exp(log_posterior.max(axis=1)) - theta) > 1e-12
    by_threshold = decide(log_posterior, reject={"threshold": theta})
    by_cost = decide(log_posterior, reject={"cost": 1 - theta})
    assert_array_equal(by_threshold[apart], by_cost[apart])
    assert_array_equal(by_threshold == log_posterior.shape[1], log_posterior.max(axis=1) < np.log(theta))


@given(log_posteriors(), st.floats(-3, 3), st.data())
def test_a_rejection_cost_is_one_more_action_of_that_cost(log_posterior, price, data):
    K = log_posterior.shape[1]
    costs = data.draw(arrays(np.float64, (K, 3), elements=st.floats(-5, 5)))
    apart = np.abs(expected_cost(log_posterior, costs).min(axis=1) - price) > 1e-12
    column = read_costs(costs, K).with_action(price)
    by_rule = decide(log_posterior, costs, reject={"cost": price})
    assert_array_equal(by_rule[apart], decide(log_posterior, column)[apart])


def test_rows_at_the_limit_are_answered():
    log_posterior = np.log([[0.9, 0.1], [0.75, 0.25], [0.5, 0.5]])
    assert_array_equal(decide(log_posterior, reject={"threshold": 0.75}), [0, 0, 2])
    assert_array_equal(decide(log_posterior, reject={"cost": 0.25}), [0, 0, 2])
    assert_array_equal(decide(log_posterior, reject={"threshold": 1}), [2, 2, 2])
    assert_array_equal(decide(np.array([[0.0, -np.inf]]), reject={"threshold": 1}), [0])
    assert_array_equal(decide(log_posterior, [[0, 1], [2, 0]], reject={"cost": 0.5}), [0, 0, 1])


def test_a_cost_of_rejecting_that_depends_on_the_class_is_a_column_of_costs():
    log_posterior = np.log([[0.6, 0.4], [0.4, 0.6]])
    refer = np.column_stack([1 - np.eye(2), [0.7, 0.1]])
    assert_array_equal(decide(log_posterior, refer), [0, 2])


def test_the_risk_of_sure_rows_keeps_its_digits():
    log_posterior = np.array([[0.0, -50.0, -60.0], [-1e-20, -700.0, -np.inf], [0.0, -np.inf, -np.inf]])
    assert_allclose(
        least_expected_cost(log_posterior)[:2], [np.exp(-50) + np.exp(-60), np.exp(-700)], rtol=1e-14
    )
    assert least_expected_cost(log_posterior)[2] == 0
    assert_array_equal(decide(log_posterior, reject={"cost": 1e-22}), [3, 0, 0])
    zero_one = least_expected_cost(log_posterior, 1 - np.eye(3))
    assert_allclose(zero_one, least_expected_cost(log_posterior), rtol=1e-14)


@given(log_posteriors(), shares)
def test_a_coverage_answers_just_as_many_rows_as_asked_or_those_tied_with_them(log_posterior, share):
    risk = least_expected_cost(log_posterior)
    kept = decide(log_posterior, reject={"coverage": share}) < log_posterior.shape[1]
    needed = ceil(Fraction(repr(share)) * len(risk))
    assert kept.sum() >= needed
    assert (risk[kept] < risk[kept].max()).sum() < needed
    assert not (risk[~kept] <= risk[kept].max()).any()


def test_a_coverage_counts_rows_as_it_is_written():
    risk = np.arange(100.0)
    assert (~Coverage(0.07).rejects(np.zeros((100, 1)), risk)).sum() == 7  # 0.07 * 100 > 7 in floats
    assert Coverage(0.07).calibrated(risk[:99]).risk == 6
    assert Coverage(0.5).rejects(np.zeros((0, 2)), np.zeros(0)).shape == (0,)


@given(st.lists(st.integers(0, 6), min_size=2, max_size=30), shares)
def test_of_rows_in_any_order_the_last_is_answered_as_often_as_asked(risks, share):
    # Exact for exchangeable rows: each of n + 1 is as likely to be the new one.
    risk = np.array(risks, dtype=float)
    rules = [Coverage(share).calibrated(np.delete(risk, new)) for new in range(len(risk))]
    kept = [bool(risk[new] <= rule.risk) for new, rule in enumerate(rules)]
    assert Fraction(sum(kept), len(kept)) >= Fraction(repr(share)) - Fraction(1, 10**12)


@pytest.mark.parametrize(("n", "share"), [(19, 0.9), (50, 0.5), (9, 0.95), (7, 0.33)])
def test_new_rows_are_answered_as_often_as_asked_in_simulations(n, share):
    draws = np.random.default_rng(1).random((3000, n))
    # The risk is uniform, so that the threshold is the probability that a new row is answered.
    kept = np.array([min(Coverage(share).calibrated(draw).risk, 1.0) for draw in draws])
    exact = min(ceil(round((n + 1) * share, 9)) / (n + 1), 1.0)
    assert exact >= share
    assert abs(kept.mean() - exact) <= 4 * kept.std() / np.sqrt(len(kept))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=20), shares)
def test_a_weight_repeats_a_held_out_row(rows, share):
    risk, weight = np.array(rows, dtype=np.int64).T
    weight[0] += 1
    assert Coverage(share).calibrated(risk, weight) == Coverage(share).calibrated(np.repeat(risk, weight))


def test_a_row_is_answered_whose_cost_is_that_of_rejecting():
    for p in (0.05, 0.1, 0.2, 0.3, 0.35):
        assert decide(np.log([[1 - p, p]]), reject={"cost": p}).tolist() == [0]
        assert decide(np.log([[1 - p, p]]), reject={"cost": p - 1e-9}).tolist() == [2]


def test_with_too_few_held_out_rows_every_row_is_answered():
    rule = Coverage(0.9).calibrated(np.arange(8.0))
    assert rule == Limit(np.inf)
    assert not rule.rejects(np.zeros((2, 1)), np.array([3.0, 1e300])).any()
    assert Coverage(0.9).calibrated(np.arange(9.0)).risk == 8


@pytest.mark.parametrize("risks", [[], [0.1, np.nan], [[0.1]]])
def test_held_out_risks_must_be_numbers(risks):
    with pytest.raises(ValueError, match="held-out risks are one number for each of at least one row"):
        Coverage(0.5).calibrated(risks)


def test_rules_are_read_from_mappings_and_objects():
    class Never:
        def rejects(self, log_posterior, risk):
            return np.zeros(len(risk), dtype=bool)

    assert read_reject(None) is None
    assert read_reject({"threshold": 1}) == Threshold(1)
    assert read_reject({"cost": np.float32(-1)}) == RejectionCost(-1)
    assert read_reject({"coverage": np.float64(0.9)}) == Coverage(0.9)
    assert read_reject(Threshold(0.5)) == Threshold(0.5)
    assert_array_equal(decide(np.log([[0.5, 0.5]]), reject=Never()), [0])


@pytest.mark.parametrize(
    ("reject", "error", "message"),
    [
        (
            0.9,
            TypeError,
            r"None, a mapping with one of the keys \['threshold', 'cost', 'coverage'.*\].*found 0.9",
        ),
        (Threshold, TypeError, "reject must be None, a mapping"),
        ({}, ValueError, r"exactly one of the keys .*found \[\]"),
        ({"threshold": 0.9, "cost": 1}, ValueError, r"exactly one of .*found \['threshold', 'cost'\]"),
        ({"theta": 0.9}, ValueError, r"exactly one of .*found \['theta'\]"),
        ({"threshold": 0}, ValueError, "threshold must be above 0 and at most 1, found 0"),
        ({"threshold": 1.5}, ValueError, "threshold must be above 0 and at most 1, found 1.5"),
        ({"coverage": 90}, ValueError, "coverage must be above 0 and at most 1, found 90"),
        ({"coverage": True}, ValueError, "coverage must be a number, found True"),
        ({"threshold": "high"}, ValueError, "threshold must be a number, found 'high'"),
        ({"cost": float("nan")}, ValueError, "cost must be a number, found nan"),
    ],
)
def test_a_wrong_rule_is_refused(reject, error, message):
    with pytest.raises(error, match=message):
        decide(np.log([[0.5, 0.5]]), reject=reject)


# --- the confusion table ---


@given(answered())
def test_the_confusion_table_counts_rows_and_gives_their_average_cost(case):
    y, log_posterior, costs, weight = case
    K = log_posterior.shape[1]
    table = read_costs(costs, K).with_action(0.25)
    done = decide(log_posterior, costs, reject={"threshold": 0.6})
    found = confusion_table(y, done, classes=K, actions=table.n_actions, sample_weight=weight)
    naive = [[weight[(y == k) & (done == a)].sum() for a in range(table.n_actions)] for k in range(K)]
    assert_array_equal(found.counts, naive)
    expected = average_cost(y, done, table, sample_weight=weight)
    assert found.average_cost(table) == pytest.approx(expected, abs=1e-12)


CLASSES, ACTIONS = ["ill", "well"], ["well", "ill", "ask"]
TABLE = confusion_table(["ill", "ill", "well"], ["ill", "ask", "well"], classes=CLASSES, actions=ACTIONS)


def test_the_confusion_table_is_printed_in_columns():
    assert str(TABLE).splitlines() == [
        "true class  well  ill  ask",
        "ill            0    1    1",
        "well           1    0    0",
    ]
    weighted = confusion_table([0, 1], [1, 1], classes=2, sample_weight=[0.5, 1000])
    assert str(weighted).splitlines() == ["true class  0     1", "0           0   0.5", "1           0  1000"]


def test_the_confusion_table_is_a_frame_by_true_class():
    frame = TABLE.frame()
    assert frame.index.tolist() == CLASSES
    assert frame.columns.tolist() == ACTIONS
    assert_array_equal(frame.to_numpy(), TABLE.counts)
    by_number = confusion_table([0, 1], [1, 2], classes=2, actions=3).frame()
    assert by_number.index.tolist() == [0, 1]
    assert by_number.columns.tolist() == [0, 1, 2]


def test_the_cost_of_a_confusion_table_goes_by_the_names_of_the_actions():
    costs = {"well": {"ask": 1, "ill": 2, "well": 0}, "ill": {"ask": 3, "ill": 0, "well": 9}}
    assert TABLE.average_cost(costs) == 1
    assert TABLE.average_cost(pd.DataFrame(costs).T) == 1
    assert (
        TABLE.average_cost(
            pl.DataFrame({"class": ["well", "ill"], "ask": [1, 3], "ill": [2, 0], "well": [0, 9]})
        )
        == 1
    )
    assert TABLE.average_cost([[9, 0, 3], [0, 2, 1]]) == 1
    with pytest.raises(ValueError, match=r"costs have no column for \['ask'\], which rows of the table got"):
        TABLE.average_cost({"well": {"ill": 2, "well": 0}, "ill": {"ill": 0, "well": 9}})
    with pytest.raises(
        ValueError, match=r"costs have 2 columns, expected 3, one for each of \['well', 'ill', 'ask'\]"
    ):
        TABLE.average_cost([[9, 0], [0, 2]])
    empty = np.array([], dtype=int)
    with pytest.raises(ValueError, match="counts no rows"):
        confusion_table(empty, empty, classes=2).average_cost(np.eye(2))
    with pytest.raises(ValueError, match="does not know which row had which costs"):
        TABLE.average_cost(np.zeros((3, 2, 3)))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"classes": "ill"},
            TypeError,
            "classes must be a list of names, or how many there are, found 'ill'",
        ),
        ({"classes": 0}, ValueError, "classes must be at least 1 in number, found 0"),
        ({"classes": 2, "actions": [1, 1]}, ValueError, r"actions must be different names.*found \[1, 1\]"),
        (
            {"classes": 2, "actions": 1},
            ValueError,
            "action holds 1, expected positions from 0 to 0; pass every",
        ),
        ({"classes": 2, "sample_weight": [1]}, ValueError, "sample_weight has 1 entries for 2 rows"),
    ],
)
def test_a_wrong_confusion_table_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        confusion_table([0, 1], [0, 1], **arguments)


# --- risk against coverage ---


@given(answered())
def test_the_curve_equals_a_double_loop_over_thresholds_and_rows(case):
    y, log_posterior, costs, _ = case
    curve = risk_coverage_curve(y, log_posterior, costs)
    action, sure = decide(log_posterior, costs), least_expected_cost(log_posterior, costs)
    matrix = read_costs(costs, log_posterior.shape[1]).matrix
    assert_array_equal(curve.threshold, sorted(set(sure)))
    for point, threshold in enumerate(curve.threshold):
        rows = [i for i in range(len(y)) if sure[i] <= threshold]
        assert curve.coverage[point] == len(rows) / len(y)
        assert curve.risk[point] == pytest.approx(np.mean([matrix[y[i], action[i]] for i in rows]), abs=1e-12)
        kept = decide(log_posterior, costs, reject={"cost": threshold}) < matrix.shape[1]
        # Costs that differ by rounding only are equal to the rule.
        assert_array_equal(np.flatnonzero(kept), np.flatnonzero(sure <= threshold + 1e-15 * abs(threshold)))


@given(answered())
def test_a_weight_repeats_a_row_of_the_curve(case):
    y, log_posterior, costs, weight = case
    rows = np.repeat(np.arange(len(y)), weight)
    curve = risk_coverage_curve(y, log_posterior, costs, sample_weight=weight)
    repeated = risk_coverage_curve(y[rows], log_posterior[rows], costs)
    for name in ("coverage", "risk", "threshold", "area", "excess"):
        assert_allclose(getattr(curve, name), getattr(repeated, name), rtol=1e-12, atol=1e-12)


@given(answered())
def test_the_area_is_the_mean_risk_over_all_numbers_of_rows_and_no_order_beats_the_best(case):
    y, log_posterior, costs, _ = case
    curve, n = risk_coverage_curve(y, log_posterior, costs), len(y)
    assert curve.area == pytest.approx(np.mean(curve.at(np.arange(1, n + 1) / n)), abs=1e-12)
    assert curve.excess >= -1e-12
    cost = np.sort(read_costs(costs, log_posterior.shape[1]).matrix[y, decide(log_posterior, costs)])
    spent = np.append(0.0, np.cumsum(cost))
    best = sum(
        integrate.quad(lambda c: (spent[i] + cost[i] * (c - i)) / c, i, i + 1)[0] / n for i in range(n)
    )
    assert curve.area - curve.excess == pytest.approx(best, abs=1e-7)


def test_the_best_order_has_the_area_of_geifman_and_others():
    proba = np.linspace(0.51, 0.99, 1000)
    y = (np.arange(1000) < 200).astype(int)  # the 200 least sure rows are wrong
    curve = risk_coverage_curve(y, np.log(np.column_stack([proba, 1 - proba])))
    assert curve.risk[-1] == 0.2
    assert curve.at(0.8) == 0
    assert curve.area == pytest.approx(np.mean(np.maximum(np.arange(1, 1001) - 800, 0) / np.arange(1, 1001)))
    assert curve.area - curve.excess == pytest.approx(0.2 + 0.8 * np.log(0.8), abs=1e-12)
    assert 0 < curve.excess < 1e-3


def test_rows_that_are_equally_sure_give_one_point():
    curve = risk_coverage_curve(["a", "b", "b"], np.log(np.full((3, 2), 0.5)), classes=["a", "b"])
    assert_array_equal(curve.coverage, [1])
    assert curve.area == curve.risk[0] == pytest.approx(2 / 3)
    assert curve.frame().columns.tolist() == ["coverage", "risk", "threshold"]
    assert str(curve).startswith("risk 0.6667 answering 100 %, 0.6667 answering 90 %")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda lp: risk_coverage_curve([0], lp), "y has 1 entries for 2 rows"),
        (lambda lp: risk_coverage_curve(np.array([], int), lp[:0]), "there are no rows"),
        (lambda lp: risk_coverage_curve([0, 5], lp), "class codes from 0 to 1"),
        (lambda lp: risk_coverage_curve([0, 1], lp, np.eye(3)), "costs have 3 rows, expected 2"),
        (lambda lp: risk_coverage_curve([0, 1], lp, sample_weight=[0, 0]), "zero for every row"),
        (lambda lp: risk_coverage_curve([0, 1], lp).at(0), "above 0 and at most 1, found 0"),
        (lambda lp: risk_coverage_curve([0, 1], lp).at([0.5, 2]), "above 0 and at most 1, found 2"),
    ],
)
def test_a_wrong_curve_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.log([[0.9, 0.1], [0.6, 0.4]]))
