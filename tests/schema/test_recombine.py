"""Columns with the cells of other rows, in tables of every kind."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from posterior.schema import Schema, read_table
from posterior.schema.recombine import recombined

N = 12
FRAMES = {
    "pandas": lambda table: pd.DataFrame(table, index=np.arange(N)[::-1] * 3),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}


def columns():
    rng = np.random.default_rng(0)
    return {
        "size": [None if i == 3 else float(v) for i, v in enumerate(rng.normal(size=N))],
        "state": [None if i == 5 else "abc"[i % 3] for i in range(N)],
        "when": [f"2021-{1 + i % 12:02d}-{1 + 2 * i:02d}" for i in range(N)],
        "count": list(range(N)),
    }


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("taken", [["state"], ["size", "count"], ["when"]], ids=str)
def test_a_recombined_frame_reads_as_the_frame_that_was_recombined_before_it_was_read(make, taken):
    table, donors = columns(), np.random.default_rng(1).permutation(N)
    source = read_table(make(table))
    schema = Schema.of(source)
    read = schema.read(source)
    places = [j for j, place in enumerate(schema.places) if schema.inputs[place] in taken]
    found = recombined(read, places, donors)
    expected = make(
        {name: [cells[i] for i in donors] if name in taken else cells for name, cells in table.items()}
    )
    wanted = schema.encode(schema.align(read_table(expected)))
    for encoded in (
        schema.encode(found),
        schema.encode(found.take(np.arange(N))),
        schema.encode(schema.align(found)),
    ):
        everything = slice(None)
        for j, column in enumerate(schema.columns):
            if column.categories is None:
                np.testing.assert_array_equal(
                    encoded.values(everything, (j,)), wanted.values(everything, (j,))
                )
            else:
                got, want = encoded.codes(everything, (j,)), wanted.codes(everything, (j,))
                np.testing.assert_array_equal(got.array, want.array)
    native = read_table(found.native)
    assert native.n_rows == N
    assert type(found.native) is type(source.native)


@pytest.mark.parametrize("kind", ["float", "integer", "object", "sparse"])
def test_a_recombined_array_holds_the_cells_of_the_donors(kind):
    rng = np.random.default_rng(0)
    array = rng.integers(0, 3, size=(N, 4)).astype(float)
    donors = rng.integers(N, size=N)
    expected = array.copy()
    expected[:, [0, 3]] = array[donors][:, [0, 3]]
    given = {"float": array, "integer": array.astype(int), "sparse": sparse.csr_array(array)}.get(kind)
    if kind == "object":
        given = np.array([[f"v{v:g}" for v in row] for row in array], dtype=object)
    source = read_table(given)
    found = recombined(source, [0, 3], donors)
    if kind == "sparse":
        np.testing.assert_array_equal(found.matrix.toarray(), expected)
    elif kind == "object":
        schema = Schema.of(source)
        np.testing.assert_array_equal(
            schema.encode(found).codes(slice(None), (0, 1, 2, 3)).array,
            schema.encode(read_table(found.native)).codes(slice(None), (0, 1, 2, 3)).array,
        )
        assert found.native[:, 0].tolist() == [f"v{v:g}" for v in expected[:, 0]]
    else:
        np.testing.assert_array_equal(found.native, expected)
    left = source.native.toarray() if kind == "sparse" else source.native
    assert (left == (array if kind != "object" else given)).all()  # the user's table stays as it was
