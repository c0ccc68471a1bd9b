"""Costs: the action of least expected cost equals enumeration, whatever the size of the numbers."""

import tracemalloc
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_val_score

from posterior.decision.cheapest import _signs
from posterior.decision.costs import Costs, average_cost, decide, expected_cost, read_costs
from posterior.decision.reject import least_expected_cost
from posterior.decision.rule import DecisionRule
from posterior.math import log_softmax
from posterior.schema.labelled import labelled_matrix

sizes = st.tuples(st.integers(1, 6), st.integers(1, 5), st.integers(1, 6))
WIDTH = {1.0: "plain", 300.0: "small", 2000.0: "underflowing", 1e5: "far"}


@st.composite
def problems(draw, per_row=False):
    n, K, A = draw(sizes)
    width = draw(st.sampled_from(list(WIDTH)))
    scores = draw(arrays(np.float64, (n, K), elements=st.floats(-width, width)))
    scores[:, 1:][
        draw(arrays(np.bool_, (n, K - 1), elements=st.sampled_from([False, False, True])))
    ] = -np.inf
    shape = (n, K, A) if per_row else (K, A)
    costs = draw(arrays(np.float64, shape, elements=st.integers(-20, 20).map(float) | st.floats(-9, 9)))
    offset = draw(arrays(np.float64, (K, 1), elements=st.sampled_from([0.0, 1e8, -1e8])))
    return log_softmax(scores), costs + offset


def in_decimals(log_posterior, costs):
    """Expected costs of one row in 80 digits, from the very floats that are given."""
    p = [Decimal(float(log)).exp() if np.isfinite(log) else Decimal(0) for log in log_posterior]
    return [sum(p[k] * Decimal(float(c)) for k, c in enumerate(column)) for column in costs.T]


def dearer_than_the_best(log_posterior, costs, action):
    """How much an action costs above the cheapest, relative to the terms that the two differ by."""
    with localcontext() as context:
        context.prec = 80
        exact = in_decimals(log_posterior, costs)
        best = min(range(len(exact)), key=exact.__getitem__)
        terms = in_decimals(log_posterior, np.abs(costs[:, [action]] - costs[:, [best]]))[0]
        return 0.0 if terms == 0 else float((exact[action] - exact[best]) / terms)


@given(problems() | problems(per_row=True))
def test_decisions_equal_enumeration_in_eighty_digits(problem):
    log_posterior, costs = problem
    for row, action in enumerate(decide(log_posterior, costs)):
        matrix = costs if costs.ndim == 2 else costs[row]
        assert dearer_than_the_best(log_posterior[row], matrix, action) < 1e-14


@given(st.data())
def test_decisions_and_expected_costs_equal_those_of_fractions(data):
    n, K, A = data.draw(sizes)
    counts = data.draw(arrays(np.int64, (n, K), elements=st.integers(0, 9)))
    assume(counts.any(axis=1).all())
    costs = data.draw(arrays(np.int64, (K, A), elements=st.integers(-9, 9)))
    with np.errstate(divide="ignore"):
        log_posterior = np.log(counts / counts.sum(axis=1, keepdims=True))
    found, action = expected_cost(log_posterior, costs), decide(log_posterior, costs)
    for row in range(n):
        exact = [
            sum(Fraction(int(counts[row, k] * costs[k, a]), int(counts[row].sum())) for k in range(K))
            for a in range(A)
        ]
        assert_allclose(found[row], np.array(exact, dtype=float), atol=1e-13)
        assert exact[action[row]] == min(exact)


@given(problems())
def test_without_costs_the_likeliest_class_is_chosen_and_zero_one_costs_give_it_too(problem):
    log_posterior, _ = problem
    K = log_posterior.shape[1]
    zero_one = 1.0 - np.eye(K)
    assert_array_equal(decide(log_posterior), log_posterior.argmax(axis=1))
    assert_array_equal(decide(log_posterior, zero_one), log_posterior.argmax(axis=1))
    shifted = 7.0 * zero_one + np.arange(K)[:, None] * 100
    assert_array_equal(decide(log_posterior, shifted), log_posterior.argmax(axis=1))


def test_the_smallest_cost_there_is_counts_beside_a_large_one():
    smallest = np.nextafter(0.0, 1.0)
    even = np.log(np.full((1, 3), 1 / 3))
    for large in (1.0, 1e250, 1e-300):
        assert decide(even, [[0, 0, 0], [0, 0, 0], [0, large, -smallest]]).tolist() == [2]


def test_sums_of_the_same_terms_in_another_order_are_equal():
    rng = np.random.default_rng(0)
    for K in (3, 5, 7, 10):
        for _ in range(50):
            column = rng.random(K)
            costs = np.stack([np.roll(column, shift) for shift in range(K)], axis=1)
            assert decide(np.log(np.full((1, K), 1 / K)), costs).tolist() == [0]


@given(st.integers(2, 12), st.data(), st.floats(1e-3, 1e6))
def test_zero_one_costs_tell_log_posteriors_apart_that_are_neighbours(K, data, unit):
    steps = data.draw(arrays(np.int64, (4, K), elements=st.integers(0, 2)))
    log_posterior = -np.log(K) + steps * np.spacing(np.log(K))
    assert_array_equal(decide(log_posterior, unit * (1.0 - np.eye(K))), log_posterior.argmax(axis=1))


def test_classes_that_cannot_be_told_by_their_probabilities_still_decide():
    log_posterior = np.array([[0.0, -1e5, -1e5 - 1], [0.0, -1e5 - 1, -1e5], [-1e-18, -42.0, -np.inf]])
    never_mind = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]  # the first class is all the same to actions 0 and 1
    assert_array_equal(decide(log_posterior, never_mind), [1, 0, 1])
    assert dearer_than_the_best(log_posterior[0], np.array(never_mind, float), 0) > 0.1


def test_a_cost_too_large_for_its_difference_decides():
    assert_array_equal(decide(np.log([[0.4, 0.6]]), [[-1.7e308, 1.7e308], [1.7e308, -1.7e308]]), [1])
    assert_array_equal(decide(np.log([[0.4, 0.6]]), [[0, 5e-324], [5e-324, 0]]), [1])


def test_large_costs_that_cancel_between_classes_leave_the_decision_to_the_small_ones():
    log_posterior = log_softmax(np.random.default_rng(0).normal(scale=1e-7, size=(200, 2)))
    costs = [[1e8, 1e8 + 2**-10], [2**-10 - 1e8, -1e8]]
    assert_array_equal(decide(log_posterior, costs), log_posterior.argmax(axis=1))


def test_the_first_of_equal_actions_is_taken():
    even = np.log(np.full((2, 4), 0.25))
    assert_array_equal(decide(even), 0)
    assert_array_equal(decide(even, [[3, 3, 1], [0, 0, 1], [1, 1, 1], [0, 0, 1]]), 0)
    assert_array_equal(decide(np.array([[0.0, -np.inf]]), [[2, 1, 1], [0, 5, 0]]), 1)
    assert_array_equal(decide(even, [[7], [7], [7], [7]]), 0)


@given(problems(), st.integers(-1000, 1000), st.integers(1, 1000))
def test_a_constant_for_a_class_or_another_unit_changes_no_decision(problem, constant, factor):
    log_posterior, costs = problem
    costs = np.round(costs % 1000)
    decision = decide(log_posterior, costs)
    moved = costs + constant * np.arange(len(costs))[:, None]
    for row, other in enumerate(decide(log_posterior, moved * factor)):
        # Equal, or equally dear to the last digit.
        assert other == decision[row] or dearer_than_the_best(log_posterior[row], costs, other) < 1e-15
    assert_array_equal(decide(log_posterior, costs * 2.0**-300), decision)


@given(problems() | problems(per_row=True))
def test_a_row_is_decided_and_priced_alike_in_any_company(problem):
    log_posterior, costs = problem
    action, price = decide(log_posterior, costs), expected_cost(log_posterior, costs)
    assert_array_equal(price.min(axis=1), least_expected_cost(log_posterior, costs))
    for row in range(len(log_posterior)):
        one = costs if costs.ndim == 2 else costs[row : row + 1]
        alone = np.asfortranarray(log_posterior)[row : row + 1]
        assert_array_equal(decide(alone, one), action[row : row + 1])
        assert_array_equal(expected_cost(alone, one), price[row : row + 1])


def test_rows_are_alike_across_parts_of_a_long_table():
    generator = np.random.default_rng(0)
    log_posterior = log_softmax(generator.normal(size=(30_000, 11)))
    costs = generator.normal(size=(11, 4))
    each = np.broadcast_to(costs, (30_000, 11, 4))
    assert_array_equal(decide(log_posterior, costs), (np.exp(log_posterior) @ costs).argmin(axis=1))
    assert_array_equal(decide(log_posterior, each), decide(log_posterior, costs))
    assert_allclose(expected_cost(log_posterior, costs), np.exp(log_posterior) @ costs, atol=1e-14)
    assert_array_equal(expected_cost(log_posterior, each), expected_cost(log_posterior, costs))
    by_column = least_expected_cost(np.asfortranarray(log_posterior))[:500]
    assert_array_equal(by_column, [least_expected_cost(row[None])[0] for row in log_posterior[:500]])


def test_one_matrix_is_not_copied_for_each_row():
    log_posterior = log_softmax(np.random.default_rng(0).normal(size=(20_000, 16)))
    tracemalloc.start()
    decide(log_posterior, np.arange(256.0).reshape(16, 16))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000 * 16 * 16 * 8 / 4


# --- costs with names ---

LOAN = {"good": {"lend": 0, "refuse": 1, "refer": 0.5}, "bad": {"lend": 5, "refuse": 0, "refer": 0.5}}
CLASSES = ["bad", "good"]
INDEXED = pd.DataFrame(LOAN).T
PLAIN = INDEXED.rename_axis("class").reset_index()


@pytest.mark.parametrize(
    "costs",
    [
        LOAN,
        dict(reversed(LOAN.items())),
        INDEXED,
        INDEXED[::-1],
        PLAIN,
        pl.from_pandas(PLAIN),
        pl.from_pandas(PLAIN).rename({"class": "truth"}),
        pl.from_pandas(PLAIN).reverse(),
        pa.Table.from_pandas(PLAIN),
        PLAIN.astype({"class": "category"}),
    ],
)
def test_named_costs_are_put_in_the_order_of_the_classes(costs):
    table = read_costs(costs, 2, classes=np.array(CLASSES))
    assert_array_equal(table.matrix, [[5, 0, 0.5], [0, 1, 0.5]])
    assert table.actions == ("lend", "refuse", "refer")
    assert_array_equal(decide(np.log([[0.3, 0.7], [0.01, 0.99]]), costs, classes=CLASSES), [2, 0])


def test_the_actions_are_in_the_order_of_the_first_class_however_the_rows_are_written():
    rows = {"good": {"lend": 0, "refuse": 1}, "bad": {"refuse": 0, "lend": 5}}
    for costs in (rows, dict(reversed(rows.items()))):
        table = read_costs(costs, 2, classes=["bad", "good"])
        assert table.actions == ("refuse", "lend")
        assert_array_equal(table.matrix, [[0, 5], [1, 0]])


def test_integer_classes_are_named_in_a_column_called_class_or_by_the_index():
    costs = pl.DataFrame({"class": [2, 1], "go": [0.0, 1.0], "stay": [1, 0]})
    assert_array_equal(read_costs(costs, 2, classes=[1, 2]).matrix, [[1, 0], [0, 1]])
    assert_array_equal(read_costs(pd.DataFrame({"go": [0, 1]}), 2).matrix, [[0], [1]])
    assert labelled_matrix(pd.DataFrame({7: [1.0]}, index=["a"]))[1] == [7]


def test_costs_that_were_read_are_read_again_as_they_are():
    table = read_costs(LOAN, 2, classes=CLASSES)
    again = read_costs(table, 2)
    assert again.actions == table.actions
    assert_array_equal(again.matrix, table.matrix)
    assert_array_equal(read_costs(None, 3).matrix, 1 - np.eye(3))


def test_one_more_action_is_one_more_column():
    table = read_costs(LOAN, 2, classes=CLASSES).with_action([1, 2], "ask")
    assert table.actions == ("lend", "refuse", "refer", "ask")
    assert_array_equal(table.matrix[:, -1], [1, 2])
    assert_array_equal(Costs(np.zeros((5, 2, 2))).with_action(3).matrix[4], [[0, 0, 3], [0, 0, 3]])
    for wrong, message in [
        (lambda: table.with_action(1, "ask"), "there is an action 'ask' already"),
        (
            lambda: table.with_action(1),
            r"known by name, \['lend', 'refuse', 'refer', 'ask'\], found the name None",
        ),
        (lambda: Costs(np.eye(2)).with_action(1, "ask"), "known by position, found the name 'ask'"),
        (lambda: Costs(np.eye(2)).with_action([1, 2, 3]), "one finite number, or 2, one in each class"),
        (lambda: Costs(np.eye(2)).with_action(np.inf), "one finite number"),
    ]:
        with pytest.raises(ValueError, match=message):
            wrong()


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"good": LOAN["good"]}, r"missing \['bad'\], not a class \[\]; the classes are \['bad', 'good'\]"),
        ({**LOAN, "ugly": LOAN["bad"]}, r"missing \[\], not a class \['ugly'\]"),
        ({"bad": {"a": 1}, "good": {"a": 1, "b": 2}}, r"class 'bad' has none for \['b'\]"),
        ({"bad": {"a": 1, "b": 2}, "good": {"b": 1}}, r"class 'good' has none for \['a'\]"),
        ({"bad": 1, "good": 2}, r"mapping of mappings, \{class: \{action: cost\}\}"),
        ({"bad": {"a": "x"}, "good": {"a": "y"}}, "costs must be numbers, found <U1"),
        ({"bad": {}, "good": {}}, r"costs must have shape \(classes, actions\).*found \(2, 0\)"),
        (pd.DataFrame({"bad": [0, 1], "good": [1, 0]}, index=["go", "no"]), "transpose the table if yours"),
        (INDEXED.replace(0.5, np.nan), r"action 'refer' in class 'bad' costs nan.*give a large cost"),
        (pl.DataFrame({"class": CLASSES, "a": [1, None]}), "action 'a' in class 'good' costs nan"),
        ([[0, 1], [np.inf, 0]], "action 0 in class 'good' costs inf; "),
        (np.full((3, 2, 2), np.nan), r"costs nan \(row 0\)"),
        ([[0, 1]], r"costs have 1 rows, expected 2, one for each true class of \['bad', 'good'\]"),
        ([0, 1], r"found \(2,\)"),
        (np.zeros((1, 1, 2, 2)), r"found \(1, 1, 2, 2\)"),
        (np.zeros((3, 2, 2)), "costs hold 3 matrices for 1 rows; pass one for each row"),
        (Costs(np.eye(2), ("a", "a")), r"name the 2 columns of the costs, each once, found \['a', 'a'\]"),
        (pl.DataFrame({"a": [1, 2], "b": [0, 1]}), "rows of the table have no names: all of .* hold numbers"),
        (pl.DataFrame({"a": ["x", "y"], "b": ["x", "y"]}), r"the columns \['a', 'b'\] hold no numbers"),
        (pl.DataFrame({"class": ["bad", "bad"], "a": [1, 2]}), "more than one row for 'bad'"),
        (pl.DataFrame({"class": ["bad", None], "a": [1, 2]}), "row 1 of the table has no name"),
        (pl.DataFrame({"class": CLASSES, "a": ["x", "y"]}), "column 'a' of the table must hold numbers"),
        (pl.DataFrame({"class": CLASSES}), "no column of numbers"),
        (pd.DataFrame([[1, 2], [3, 4]], index=CLASSES, columns=["a", "a"]), "Each column needs its own name"),
    ],
)
def test_wrong_costs_are_refused_by_name(costs, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        decide(np.log([[0.5, 0.5]]), costs, classes=CLASSES)


@pytest.mark.parametrize(
    ("costs", "message"),
    [("cheap", "found str"), (pl.LazyFrame({"a": [1]}), "call .collect"), (7, "a data frame, found int")],
)
def test_what_is_no_table_of_costs_is_refused(costs, message):
    with pytest.raises(TypeError, match=message):
        decide(np.log([[0.5, 0.5]]), costs)


def test_named_costs_without_the_names_of_the_classes_are_refused():
    with pytest.raises(ValueError, match=r"if the classes have names, pass classes=model\.classes_"):
        decide(np.log([[0.5, 0.5]]), LOAN)


# --- what actions did cost ---


@given(st.data())
def test_average_cost_is_the_mean_over_rows_and_a_weight_repeats_a_row(data):
    n, K, A = data.draw(sizes)
    integers = st.integers(-9, 9)
    y = data.draw(arrays(np.int64, n, elements=st.integers(0, K - 1)))
    action = data.draw(arrays(np.int64, n, elements=st.integers(0, A - 1)))
    weight = data.draw(arrays(np.int64, n, elements=st.integers(0, 3)))
    assume(weight.any())
    costs, each = (data.draw(arrays(np.int64, s, elements=integers)) for s in [(K, A), (n, K, A)])
    assert average_cost(y, action, costs) == pytest.approx(
        np.mean([costs[y[i], action[i]] for i in range(n)])
    )
    twice = np.repeat(np.arange(n), weight)
    expected = average_cost(y[twice], action[twice], each[twice])
    assert average_cost(y, action, each, sample_weight=weight) == pytest.approx(expected)


def test_average_cost_reads_labels_of_classes_and_actions():
    y, done = ["good", "bad", "bad"], ["lend", "lend", "refer"]
    assert average_cost(y, done, LOAN, classes=CLASSES) == pytest.approx(5.5 / 3)
    matrix = read_costs(LOAN, 2, classes=CLASSES).matrix
    named = average_cost(y, done, matrix, classes=CLASSES, actions=["lend", "refuse", "refer"])
    assert named == pytest.approx(5.5 / 3)
    assert average_cost([1, 0, 0], [0, 0, 2], matrix) == pytest.approx(5.5 / 3)
    assert average_cost(y, ["good", "good", "bad"], None, classes=CLASSES) == pytest.approx(1 / 3)
    rejecting = read_costs(LOAN, 2, classes=CLASSES).with_action(1, "reject")
    assert average_cost(y, ["lend", "reject", "refuse"], rejecting, classes=CLASSES) == pytest.approx(1 / 3)


def test_average_cost_is_a_score_of_scikit_learn():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(120, 2))
    y = np.where(X[:, 0] + generator.normal(size=120) > 0, "ill", "well")
    costs = pd.DataFrame({"ill": [0, 1], "well": [9, 0]}, index=["ill", "well"])
    score = make_scorer(average_cost, costs=costs, classes=["ill", "well"], greater_is_better=False)
    model = LogisticRegression()
    for part in cross_val_score(model, X, y, scoring=score, cv=3):
        assert part < 0
    done = model.fit(X, y).predict(X)
    misses = ((y == "ill") & (done == "well")).mean() * 9 + ((y == "well") & (done == "ill")).mean()
    assert -score(model, X, y) == pytest.approx(misses)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ([0, 1], [0, 2], [[0, 1], [5, 0]]),
            "action holds 2, expected positions from 0 to 1; what is done must",
        ),
        (([0, 1], [0.0, 1.0], [[0, 1], [5, 0]]), "action holds float64, expected positions"),
        (([0, 1], [[0, 1]], [[0, 1], [5, 0]]), r"one action for each row, found an array of shape \(1, 2\)"),
        (([0, 1], [0], [[0, 1], [5, 0]]), "action has 1 entries for 2 rows"),
        (([0, 2], [0, 1], [[0, 1], [5, 0]]), "class codes from 0 to 1"),
        (([], [], [[0, 1], [5, 0]]), "class codes|no rows"),
        ((np.array([], int), np.array([], int), [[0, 1], [5, 0]]), "there are no rows"),
        (([0, 1], [0, 1], np.zeros((3, 2, 2))), "costs hold 3 matrices for 2 rows"),
        (([0, 1], [0, 1], None), "without costs, pass classes"),
    ],
)
def test_what_has_no_cost_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        average_cost(*arguments)


def test_labels_without_a_cost_are_refused_by_name():
    y = ["good", "bad"]
    with pytest.raises(
        ValueError, match=r"action holds 'reject', expected some of \['lend', 'refuse', 'refer'\]"
    ):
        average_cost(y, ["lend", "reject"], LOAN, classes=CLASSES)
    with pytest.raises(ValueError, match="3 actions for 2 classes, and the actions have no names"):
        average_cost(y, y, np.zeros((2, 3)), classes=CLASSES)
    with pytest.raises(ValueError, match=r"actions must name 3 different actions.*found \['a'\]"):
        average_cost(y, y, np.zeros((2, 3)), classes=CLASSES, actions=["a"])
    with pytest.raises(ValueError, match=r"the costs are those of .*found actions=\['a'\]"):
        average_cost(y, y, LOAN, classes=CLASSES, actions=["a"])
    for weight, message in [
        ([1], "sample_weight has 1 entries for 2 rows"),
        ([1, -1], r"first row 1 \(-1\)"),
        ([0, 0], "sample_weight is zero for every row"),
        (["a", "b"], "sample_weight holds one number for each row"),
    ]:
        with pytest.raises(ValueError, match=message):
            average_cost(y, y, 1 - np.eye(2), classes=CLASSES, sample_weight=weight)
    with pytest.raises(TypeError, match="a data frame, found int"):
        average_cost(y, y, 7)


def test_labels_may_be_of_more_than_one_type():
    costs = {0: {0: 0, 1: 1, "ask": 0.5}, 1: {0: 1, 1: 0, "ask": 0.25}}
    assert average_cost([0, 1], [1, "ask"], costs, classes=np.array([0, 1])) == 0.625


def test_three_terms_that_all_but_cancel_are_summed_exactly():
    assert _signs(np.array([[1.0, 1e-17, -1.0], [1.0, -1e-17, -1.0], [1.0, 0.0, -1.0]])).tolist() == [
        1,
        -1,
        0,
    ]


@pytest.mark.parametrize(("n_actions", "refused"), [(1, True), (2, False), (3, True)])
def test_columns_without_names_are_the_classes(n_actions, refused):
    costs = Costs(np.zeros((2, n_actions)))
    if not refused:
        assert DecisionRule(("a", "b"), costs).actions == ("a", "b")
        return
    with pytest.raises(ValueError, match=f"costs has {n_actions} columns for 2 classes"):
        DecisionRule(("a", "b"), costs)
