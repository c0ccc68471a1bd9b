"""Symmetric blocks and their upper triangles."""

import tracemalloc

import numpy as np
import pytest

from posterior.linear.losses import from_upper_triangles, upper_triangle
from posterior.linear.losses.base import FEW_COLUMNS


@pytest.mark.parametrize("size", [1, 5, FEW_COLUMNS, FEW_COLUMNS + 1])
def test_a_symmetric_block_comes_back_from_its_triangle(size):
    root = np.random.default_rng(size).normal(size=(size, size))
    block = root + root.T
    np.testing.assert_array_equal(from_upper_triangles(block[upper_triangle(size)][None], size)[0], block)


def test_fits_of_many_widths_leave_little_memory_behind():
    tracemalloc.start()
    for size in range(400, 800, 40):
        upper_triangle(size)
    left, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert left < 1 << 20
