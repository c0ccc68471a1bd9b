"""A sample that is copied is the sample: the same rows, weights and sums, to the bit on any threads."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from posterior.engines import LocalDataset, threads
from posterior.linear import Design, Problem, Scan, SoftmaxLoss
from posterior.linear.in_memory import InMemoryScan
from posterior.schema import Schema, read_table

N, STEP = 70_001, 3

TABLES = {
    "array": lambda X: X,
    "by columns": np.asfortranarray,
    "single precision": lambda X: X.astype(np.float32).astype(np.float64),
    "frame": pd.DataFrame,
    "frame with categories": lambda X: pd.DataFrame(X, columns=["x", "y", "z"]).assign(
        group=pd.Categorical(np.where(X[:, 0] > 0, "a", "b"))
    ),
}


def scan_of(table, *, weighted=True):
    rng = np.random.default_rng(1)
    source = read_table(table)
    schema = Schema.infer(source)
    y, weight = rng.integers(0, 3, N), rng.random(N) if weighted else None
    return Scan.of(LocalDataset(schema, schema.encode(source), y, weight), Design.of(schema))


def rows():
    return np.random.default_rng(0).normal(size=(N, 3))


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("kind", TABLES)
def test_a_copied_sample_has_the_rows_of_the_sample(kind, weighted):
    scan = scan_of(TABLES[kind](rows()), weighted=weighted).every(STEP)
    truth, found = scan.collected(), InMemoryScan.copied(scan).collected()
    assert (found.matrix == truth.matrix).all()
    assert (found.target == truth.target).all()
    assert (found.weight is None) == (truth.weight is None)
    assert weighted is False or (found.weight == truth.weight).all()


def test_a_sample_of_a_copied_sample_is_one_of_the_table():
    scan = scan_of(rows())
    found = InMemoryScan.copied(scan.every(2)).every(3).collected()
    assert (found.matrix == rows()[::6]).all()


def test_sums_over_a_copied_sample_are_those_of_the_sample():
    objective = Problem(scan_of(rows()), SoftmaxLoss(3)).objective("whitened").every(STEP)
    held, theta = objective.in_memory(), np.linspace(-1, 1, objective.size)
    assert isinstance(held.scan, InMemoryScan)
    truth, found = objective.slope(theta), held.slope(theta)
    assert found.weight == pytest.approx(truth.weight, rel=1e-14)
    assert found.value == pytest.approx(truth.value, rel=1e-14)
    assert_allclose(found.gradient, truth.gradient, rtol=1e-11, atol=1e-14)
    assert_allclose(held.curvature(theta), objective.curvature(theta), rtol=1e-11, atol=1e-14)


def test_a_copied_sample_gives_the_same_bits_with_any_number_of_threads():
    objective = Problem(scan_of(rows()), SoftmaxLoss(3)).objective("whitened").every(STEP)
    found = []
    for n in (1, 2, 8):
        with threads(n):
            found.append(objective.in_memory().slope(np.ones(objective.size)))
    assert len({(point.value, point.gradient.tobytes()) for point in found}) == 1


def test_a_sample_too_large_is_read_where_it_is(monkeypatch):
    objective = Problem(scan_of(rows()), SoftmaxLoss(3)).objective("whitened").every(STEP)
    monkeypatch.setattr("posterior.linear.objective.IN_MEMORY_CELLS", 1000)
    assert objective.in_memory() is objective
