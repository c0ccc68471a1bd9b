"""Sums of parts have the bits of one tree, wherever its nodes are worked out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posterior._pool import n_threads as threads_at_work
from posterior.engines import local, threads
from posterior.engines.clusters import BLOCK
from posterior.kernels.compiled.merging import add_lines
from posterior.schema import Schema, read_table
from posterior.stats.adding import NoRowsError, TreeSum, added, added_or_none
from posterior.stats.parts import sum_of_parts

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


class _Leaf(str):
    """The name of a part; a sum is the tree that it came of."""

    def __add__(self, other):
        return _Leaf(f"({self} {other})")


class _Row(tuple):
    """Leaves of several parts, which are added to those of as many others at once."""

    __slots__ = ()

    def at(self, places):
        return _Row(self[places]) if isinstance(places, slice) else self[places]

    def __add__(self, other):
        return _Row(a + b for a, b in zip(self, other, strict=True))


class _Shared:
    """Names of parts, which threads take one by one; those from `odd` on are not to be had."""

    def __init__(self, starts, odd):
        self.found, self.left, self.odd = [None] * len(starts), iter(list(enumerate(starts))), odd

    def run(self, workers):
        assert workers == threads_at_work()
        for place, start in self.left:
            self.found[place] = _Leaf(start)

    def total(self):
        return None if self.odd else sum_of_parts(_Row(self.found), len(self.found))


class _Names:
    """What chunks are called: one by one, or several at a time as long as they begin before `odd`."""

    cells = 1

    def __init__(self, odd):
        self.odd = odd

    def __call__(self, chunk):
        return _Leaf(chunk.rows.start)

    def of_parts(self, chunk, size):
        return _Shared(range(chunk.rows.start, chunk.rows.stop, size), chunk.rows.stop > self.odd)


@pytest.mark.parametrize("odd", [0, 256 * 20, 1 << 30])
@pytest.mark.parametrize("together", [1, 8, 1 << 20])
@pytest.mark.parametrize("n_threads", [1, 2, 3, 16])
def test_chunks_summed_up_several_at_a_time_are_leaves_of_the_same_tree(
    n_threads, together, odd, monkeypatch
):
    monkeypatch.setattr(local, "CHUNK_ROWS", 256)
    monkeypatch.setattr(local, "KEPT_CELLS", together)
    for n_chunks in range(2, 40):
        X = np.zeros((256 * n_chunks - 100, 1))
        schema = Schema.infer(read_table(X))
        rows = local.LocalDataset(schema, schema.encode(read_table(X)))
        with threads(n_threads):
            found = rows.reduce(_Names(odd), dense=1)
        assert found == added([_Leaf(chunk.rows.start) for chunk in rows.chunks(1)])


@pytest.mark.parametrize("n_parts", range(1, 20))
def test_lines_that_compiled_code_adds_up_are_leaves_of_the_same_tree(n_parts):
    lines = np.random.default_rng(n_parts).normal(size=(n_parts, 2, 3))
    wanted = added(list(lines.copy()))
    add_lines(lines)
    np.testing.assert_array_equal(lines[0], wanted)


@given(st.integers(1, 50_000), st.integers(1, 1000))
def test_chunks_are_about_as_large_as_each_other(n_rows, most):
    size = local._even(n_rows, most)
    n_chunks = -(-n_rows // size)
    assert size <= most
    assert n_chunks * local.TILE_ROWS >= n_chunks * size - n_rows  # the last one lacks a tile for each other
    if size % local.TILE_ROWS == 0 and n_chunks >= local.SEVERAL:
        assert n_chunks <= -(-n_rows // most) + local.TEAM
