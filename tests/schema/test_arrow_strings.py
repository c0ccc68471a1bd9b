"""Strings of pyarrow are read as lists of Python strings would be, without one for each row."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posterior.schema import read_table
from posterior.schema.cells import factorize

cells = st.lists(st.sampled_from([None, "", "b", "a", "Ärger", "it's"]), min_size=1, max_size=20)
TYPES = ["string", "large_string", "string_view", "dictionary"]


def in_chunks(values, kind, cut):
    """A column of two chunks, each with a dictionary of its own where it has one."""
    chunks = [pa.array(part, pa.string()) for part in (values[:cut], values[cut:])]
    if kind == "dictionary":
        return pa.chunked_array([chunk.dictionary_encode() for chunk in chunks])
    return pa.chunked_array([chunk.cast(kind) for chunk in chunks])


def column(cells):
    return read_table(pa.table({"x": cells})).column(0)


@pytest.mark.parametrize("kind", TYPES)
@given(values=cells, cut=st.integers(0, 20))
def test_levels_come_in_the_order_they_are_met(kind, values, cut):
    found = column(in_chunks(values, kind, cut))
    expected = factorize(values, "category" if kind == "dictionary" else "string")
    assert found.levels == expected.levels
    assert found.codes.dtype == np.int32
    assert found.codes.tolist() == expected.codes.tolist()
    assert found.storage == expected.storage


def test_of_a_dictionary_only_the_levels_of_rows_count():
    indices = pa.array([2, None, 0, 3, 2])
    odd = pa.DictionaryArray.from_arrays(indices, pa.array(["c", "never", "a", None]))
    found = column(odd)
    assert (found.levels, found.codes.tolist()) == (("a", "c"), [0, -1, 1, -1, 0])
    assert column(odd.slice(2, 1)).levels == ("c",)


def test_a_dictionary_of_numbers_has_numbers_as_levels():
    found = column(pa.array([3, None, 1, 3]).dictionary_encode())
    assert (found.levels, found.codes.tolist()) == ((3, 1), [0, -1, 1, 0])


def test_a_lazy_frame_is_refused_with_both_remedies():
    with pytest.raises(TypeError, match=r"call \.collect\(\) on it, or fit to posterior\.scan"):
        read_table(pl.LazyFrame({"x": [1]}))
