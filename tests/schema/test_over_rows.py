"""Passes over one number a row that threads share out give what one pass gives."""

import numpy as np
import pytest

from posterior import _over_rows, threads
from posterior.schema import classes


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(_over_rows, "PART", 7)
    monkeypatch.setattr(_over_rows, "MANY", 2)
    monkeypatch.setattr(classes, "PART", 7)


LABELS = {
    "whole": np.array([0, 2, 1, 2, 0, 1]),
    "small": np.array([3, 1, 2, 3], dtype=np.int8),
    "unsigned": np.array([200, 100, 200], dtype=np.uint8),
    "negative": np.array([-1, 1, 1, -1]),
    "truth values": np.array([True, False, True]),
    "one truth value": np.array([True, True]),
    "floats": np.array([1.0, 0.0, -2.0, 1.0]),
    "single": np.array([5.0, 4.0], dtype=np.float32),
    "broken": np.array([0.5, 1.5, 0.5, 1.0]),
    "far apart": np.array([0, 10**12, 5, 10**12]),
    "huge": np.array([2**62, 2**62 + 1, 2**62]),
    "huge unsigned": np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64),
    "strings": np.array(["b", "a", "b"]),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("times", [1, 40])
def test_classes_are_those_of_sorting(kind, times):
    labels = np.tile(LABELS[kind], times)
    want, places = np.unique(labels, return_inverse=True)
    for n in (1, 3):
        with threads(n):
            found, codes = classes.distinct(labels)
        assert found.dtype == want.dtype
        assert (found == want).all()
        assert codes.dtype == np.int64
        assert (codes == places).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_class_weights_have_the_same_bits_for_any_number_of_threads(weighted):
    rng = np.random.default_rng(0)
    y, weight = rng.integers(4, size=100), rng.random(100) if weighted else None
    with threads(1):
        one = classes.class_weights(y, weight, 5)
    with threads(3):
        assert (classes.class_weights(y, weight, 5) == one).all()
    np.testing.assert_allclose(one, np.bincount(y, weight, 5), rtol=1e-14)


def test_least_and_most_see_a_nan():
    numbers = np.arange(30.0)
    assert _over_rows.least_and_most(numbers) == (0.0, 29.0)
    numbers[20] = np.nan
    assert np.isnan(_over_rows.least_and_most(numbers)).all()


@pytest.mark.parametrize(
    "values", [np.arange(3), np.array([5, 7, 9]), np.array(["a", "b", "c"]), np.array([1.5, 2, 3])]
)
@pytest.mark.parametrize("n", [1, 5, 50])
def test_values_are_taken_at_their_places(values, n):
    places = np.random.default_rng(0).integers(3, size=n)
    found = _over_rows.taken(values, places)
    assert found.dtype == values.dtype
    assert (found == values[places]).all()
