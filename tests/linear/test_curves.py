"""The functions that curves are made of."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from posterior.engines import LocalDataset
from posterior.kernels.choice import using
from posterior.linear.additive_design import AdditiveDesign
from posterior.linear.curves import Curve
from posterior.linear.design import Design
from posterior.linear.scan import Scan
from posterior.schema import Schema, read_table

rng = np.random.default_rng(0)
SKEWED = rng.lognormal(size=1000)


def learnt(values, weight=None):
    return Curve.learnt(values, np.ones(len(values)) if weight is None else weight)


def test_functions_say_nothing_that_a_straight_line_says():
    found = learnt(SKEWED).functions(SKEWED)
    lines = np.column_stack([np.ones(len(SKEWED)), SKEWED])
    assert np.abs(lines.T @ found).max() < 1e-8
    assert np.isclose((found**2).mean(axis=0).sum(), 1.0)


def test_positions_rise_with_the_numbers_and_are_shares_of_the_rows():
    curve = learnt(SKEWED)
    order = np.sort(SKEWED)
    positions = curve.position(order)
    assert (np.diff(positions) >= 0).all()
    assert np.abs(positions - np.linspace(0, 1, len(order))).max() < 0.03


def test_functions_are_natural_splines_of_the_position():
    curve = learnt(SKEWED)
    spline = CubicSpline(curve.places, curve.heights, bc_type="natural")
    assert np.allclose(curve.functions(SKEWED), spline(curve.position(SKEWED)), atol=1e-12)


def test_functions_are_straight_beyond_the_data_and_smooth_at_its_ends():
    curve = learnt(SKEWED)
    for start, way in ((SKEWED.min(), -1.0), (SKEWED.max(), 1.0)):
        out = curve.functions(start + way * np.array([1.0, 2.0, 3.0]))
        assert np.allclose(out[2] - out[1], out[1] - out[0])
        step = 1e-6 * way
        near = curve.functions(start + step * np.array([-1.0, 0.0, 1.0]))
        assert np.allclose(near[1] - near[0], near[2] - near[1], rtol=1e-3, atol=1e-12)


def test_a_weight_is_a_repetition():
    weight = rng.integers(1, 4, len(SKEWED)).astype(float)
    twice = learnt(np.repeat(SKEWED, weight.astype(int)))
    once = learnt(SKEWED, weight)
    assert np.allclose(twice.functions(SKEWED), once.functions(SKEWED), atol=1e-9)


@pytest.mark.parametrize(("offset", "unit"), [(1e6, 1.0), (-3.0, 1e-5), (0.0, 1e5)])
def test_offset_and_unit_change_nothing(offset, unit):
    moved = offset + unit * SKEWED
    assert np.allclose(learnt(moved).functions(moved), learnt(SKEWED).functions(SKEWED), atol=1e-6)


@pytest.mark.parametrize("n_values", [1, 2, 3, 5, 13, 14])
def test_few_values(n_values):
    values = rng.integers(0, n_values, 300).astype(float)
    curve = learnt(values)
    assert len(curve.knots) == n_values or n_values > 13
    assert curve.n_functions <= max(n_values - 2, 0)
    assert np.isfinite(curve.functions(values)).all()
    assert curve.impossible() == ""


def test_compiled_functions_are_those_of_the_reference():
    X = np.column_stack([rng.normal(size=500), SKEWED[:500], rng.integers(0, 4, 500), np.ones(500)])
    X[::7, 0] = np.nan
    source = read_table(X)
    schema = Schema.infer(source)
    rows = LocalDataset(schema, schema.encode(source), rng.integers(0, 2, 500))
    design = AdditiveDesign.learnt_from(rows, Design.of(schema, missing="indicator").learnt(rows, 1))
    far = read_table(3 * X)
    others = LocalDataset(schema, schema.encode(far), np.zeros(500, dtype=int))
    found = []
    for mode in ("reference", "compiled"):
        with using(mode):
            found.append(Scan.of(others, design).collected().matrix)
    assert np.allclose(*found, rtol=1e-12, atol=1e-12)
    assert len(design.names) == found[0].shape[1] == len(design.made_of)
