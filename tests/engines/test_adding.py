"""Sums of parts have the bits of one tree, wherever its nodes are worked out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posterior.engines.adding import NoRowsError, added, added_or_none
from posterior.engines.clusters import BLOCK

parts = st.lists(st.none() | st.floats(-1e6, 1e6).map(np.float64), max_size=200)


@given(parts, st.sampled_from([2, 4, BLOCK]))
def test_sums_of_blocks_add_up_to_the_same_bits(parts, size):
    blocks = [added_or_none(parts[i : i + size]) for i in range(0, len(parts), size)]
    assert added_or_none(blocks) == added_or_none(parts)


def test_nothing_but_gaps_is_no_rows():
    with pytest.raises(NoRowsError, match="no rows that count"):
        added([None, None])
