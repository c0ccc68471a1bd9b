"""Sums of parts have the bits of one tree, wherever its nodes are worked out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posterior.engines.adding import NoRowsError, TreeSum, added, added_or_none
from posterior.engines.clusters import BLOCK

parts = st.lists(st.none() | st.floats(-1e6, 1e6).map(np.float64), max_size=200)


@given(parts, st.sampled_from([2, 4, BLOCK]))
def test_sums_of_blocks_add_up_to_the_same_bits(parts, size):
    blocks = [added_or_none(parts[i : i + size]) for i in range(0, len(parts), size)]
    assert added_or_none(blocks) == added_or_none(parts)


def test_nothing_but_gaps_is_no_rows():
    with pytest.raises(NoRowsError, match="no rows that count"):
        added([None, None])


@given(parts.filter(len), st.randoms())
def test_parts_that_come_in_any_order_have_the_bits_of_the_tree(parts, random):
    tree, places = TreeSum(), list(range(len(parts)))
    random.shuffle(places)
    for place in places:
        tree.put(place, parts[place])
    wanted = added_or_none(parts)
    if wanted is None:
        with pytest.raises(NoRowsError):
            tree.whole()
    else:
        assert tree.whole() == wanted
