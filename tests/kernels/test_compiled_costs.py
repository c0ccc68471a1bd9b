"""The compiled search for the cheapest action says what NumPy says, to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posterior.decision import cheapest
from posterior.kernels.choice import using


@given(
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.integers(1, 6),
    n_actions=st.integers(2, 6),
    exponent=st.sampled_from([0, 8, 300]),
)
def test_actions_costs_and_doubts_are_the_same(seed, n_classes, n_actions, exponent):
    rng = np.random.default_rng(seed)
    scores = rng.normal(scale=rng.choice([0.1, 5, 400]), size=(50, n_classes))
    logs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    costs = rng.integers(-2, 5, size=(n_classes, n_actions)) * 10.0 ** rng.integers(
        -exponent, exponent + 1, size=(n_classes, 1)
    )
    costs = np.hstack([costs, np.abs(costs).max(axis=1, keepdims=True)])
    found = []
    for mode in ("reference", "compiled"):
        with using(mode), np.errstate(over="ignore", invalid="ignore"):
            found.append(cheapest._cheapest(logs, costs))
    for truth, fast in zip(*found, strict=True):
        assert np.array_equal(truth, fast)


@pytest.mark.parametrize("n", [1, 64, 65, 200])
def test_any_number_of_rows_is_decided_as_each_alone(n):
    rng = np.random.default_rng(n)
    logs, costs = np.log(rng.dirichlet(np.ones(3), n)), rng.integers(0, 9, size=(3, 4)).astype(float)
    with using("compiled"):
        action, least = cheapest.cheapest(logs, costs)
    with using("reference"):
        alone = [cheapest.cheapest(row[None], costs) for row in logs]
    assert action.tolist() == [int(a[0]) for a, _ in alone]
    assert least.tolist() == [float(c[0]) for _, c in alone]


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("cost", [np.inf, -np.inf, np.nan])
def test_a_sum_that_is_not_finite_is_unsure(place, cost):
    logs, costs = np.log([[0.25, 0.75], [0.5, 0.5]]), np.ones((2, 4))
    costs[0, place], costs[0, -1] = cost, abs(cost)
    with using("compiled"):
        assert cheapest._cheapest(logs, costs)[2].all()
