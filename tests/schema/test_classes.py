"""Labels of whole numbers have the codes that sorting gives, however they are stored."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posterior import threads
from posterior.schema.classes import FEW, PART, distinct

TYPES = [np.int8, np.int32, np.int64, np.uint8, np.uint64]


@given(st.lists(st.integers(-3, 100), min_size=1), st.sampled_from(TYPES))
def test_codes_are_those_of_sorting(labels, dtype):
    y = np.array(labels).astype(dtype)
    classes, codes = distinct(y)
    wanted, places = np.unique(y, return_inverse=True)
    assert classes.dtype == y.dtype
    assert classes.tolist() == wanted.tolist()
    assert codes.tolist() == places.tolist()


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("last", [0, 7, FEW - 1, FEW, -1, 10**9])
def test_codes_of_many_rows_are_those_of_sorting(last, dtype, n):
    y = np.random.default_rng(0).integers(1, 5, size=2 * PART + 11).astype(dtype)
    y[-1] = last
    with threads(n):
        classes, codes = distinct(y)
    wanted, places = np.unique(y, return_inverse=True)
    assert classes.tolist() == wanted.tolist()
    assert np.array_equal(codes, places)
