"""Rows as averages of a few: how many there are, and what they keep."""

import numpy as np
import pytest

from posterior.decision.averaging import ROWS, averages, near_cells, ordered_cells


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 100, 5000])
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("most", [1, 7, 64])
def test_cells_are_few_and_hold_several_rows(n, n_classes, most):
    logs = np.log(np.random.default_rng(n).dirichlet(np.ones(n_classes), n))
    cells = near_cells(logs, most)
    size = np.bincount(cells)
    assert size.sum() == n
    assert len(size) <= max(most, 1)
    assert (size >= min(ROWS, n)).all()


def test_impossible_classes_stay_impossible():
    proba = np.array([[0.5, 0.5, 0.0], [0.4, 0.6, 0.0], [0.2, 0.3, 0.5], [0.1, 0.3, 0.6]])
    logs = np.log(proba, out=np.full((4, 3), -np.inf), where=proba > 0)
    means, weight = averages(logs, np.ones(4), near_cells(logs, 4))
    assert np.isneginf(means[:, 2]).sum() == 1
    assert not np.isnan(means).any()
    assert weight.tolist() == [2, 2]


@pytest.mark.parametrize("n", [1, 2, 3, 50, 10_000])
@pytest.mark.parametrize("most", [2, 40, 500])
def test_ordered_cells_are_fine_where_rows_are_few_below(n, most):
    starts = ordered_cells(n, most)
    size = np.diff([*starts, n])
    assert starts[0] == 0
    assert len(starts) <= most
    assert (size >= min(n, ROWS)).all()
    if most == 500:
        assert (size <= np.maximum(2 * ROWS, starts / 32 + ROWS)).all()


def test_averages_keep_weights_and_means():
    rng = np.random.default_rng(0)
    values, weight, cells = rng.normal(size=(50, 3)), rng.random(50), rng.integers(4, size=50)
    means, total = averages(values, weight, cells)
    assert np.allclose(total @ means, weight @ values)
    assert np.isclose(total.sum(), weight.sum())
