"""Rows under a schema: the same codes and values whatever the container, and back again."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from posterior import LDA, QDA, BernoulliNB, GaussianNB, LogisticRegression, MultinomialNB
from posterior.engines import LocalDataset
from posterior.kernels import SeparateColumns, in_rows
from posterior.kernels.choice import using
from posterior.schema import Schema, encode, read_table
from posterior.schema.encode import Encoded
from posterior.schema.sources import ArraySource

ALL = slice(None)
COLUMNS = {
    "x": [1.5, None, -2.0, 1e8],
    "n": [3, 0, None, 2],
    "f": [True, None, False, True],
    "s": ["b", None, "", "<i>"],
    "g": ["z", "y", None, "z"],
}


def as_objects(columns):
    return np.array(list(zip(*columns.values(), strict=True)), dtype=object)


def pandas_nullable(columns):
    dtypes = {"x": "Float64", "n": "Int64", "f": "boolean", "s": "string", "g": "category"}
    return pd.DataFrame({k: pd.array(v, dtype=dtypes[k]) for k, v in columns.items()})


def pandas_arrow(columns):
    types = {"x": pa.float64(), "n": pa.int64(), "f": pa.bool_(), "s": pa.string(), "g": pa.large_string()}
    return pd.DataFrame({k: pd.array(v, dtype=pd.ArrowDtype(types[k])) for k, v in columns.items()})


def pandas_arrow_dictionary(columns):
    dictionary = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    return pandas_arrow(columns).assign(g=pd.array(columns["g"], dtype=dictionary))


def polars_categorical(columns):
    return pl.DataFrame(columns).with_columns(pl.col("g").cast(pl.Categorical))


def polars_nan(columns):
    return pl.DataFrame(columns).with_columns(pl.col("x").fill_null(float("nan")))


def arrow_dictionary(columns):
    table = pa.table(columns)
    return table.set_column(4, "g", table["g"].dictionary_encode())


def arrow_chunked(columns):
    table = pa.table(columns)
    return pa.concat_tables([table.slice(0, 1), table.slice(1)])


CONTAINERS = {
    "objects": as_objects,
    "list": lambda columns: as_objects(columns).tolist(),
    "pandas": pd.DataFrame,
    "pandas object": lambda columns: pd.DataFrame(columns, dtype=object),
    "pandas nullable": pandas_nullable,
    "pandas arrow": pandas_arrow,
    "pandas arrow dictionary": pandas_arrow_dictionary,
    "polars": pl.DataFrame,
    "polars categorical": polars_categorical,
    "polars nan": polars_nan,
    "pyarrow": pa.table,
    "pyarrow dictionary": arrow_dictionary,
    "pyarrow chunked": arrow_chunked,
}
KINDS = {1: "count", 4: "categorical"}


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS.keys())
def test_every_container_gives_the_same_values_and_codes(container):
    source = read_table(container(COLUMNS))
    schema = Schema.infer(source, KINDS)
    assert schema.kinds == ("continuous", "count", "binary", "categorical", "categorical")
    assert schema.columns[3].categories == ("", "<i>", "b")
    assert schema.columns[4].categories == ("y", "z")
    encoded = schema.encode(source)
    nan = np.nan
    values = [[1.5, 3, 1, 2, 1], [nan, 0, nan, nan, 0], [-2, nan, 0, 0, nan], [1e8, 2, 1, 1, 1]]
    np.testing.assert_array_equal(encoded.values(ALL, (0, 1, 2, 3, 4)), values)
    np.testing.assert_array_equal(encoded.values(slice(1, 3), (3, 0)), np.array(values)[1:3][:, [3, 0]])
    codes = encoded.codes(ALL, (2, 3, 4))
    assert codes.array.dtype == np.int32
    assert codes.sizes == (2, 3, 2)
    np.testing.assert_array_equal(codes.array, [[1, 2, 1], [-1, -1, 0], [0, 0, -1], [1, 1, 1]])
    assert encoded.unseen == {}


# ---------------------------------------------------------------- arrays in place


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_float64_array_is_not_copied(order):
    X = np.asarray(np.arange(12.0).reshape(4, 3), order=order)
    encoded = Schema.infer(read_table(X)).encode(read_table(X))
    chunk = encoded.values(slice(1, 3), (0, 1, 2))
    assert np.shares_memory(chunk, X)
    np.testing.assert_array_equal(chunk, X[1:3])
    np.testing.assert_array_equal(encoded.values(slice(1, 3), (2, 0)), X[1:3][:, [2, 0]])


LAYOUTS = {
    "in rows": np.ascontiguousarray,
    "in columns": np.asfortranarray,
    "some rows of columns": lambda X: np.asfortranarray(np.tile(X, (3, 1)))[len(X) : 2 * len(X)],
    "some columns of rows": lambda X: np.hstack([X, X])[:, : X.shape[1]],
    "every other row and column": lambda X: X.repeat(2, axis=0).repeat(2, axis=1)[::2, ::2],
    "columns backwards": lambda X: np.asfortranarray(X[:, ::-1])[:, ::-1],
    "rows backwards": lambda X: X[::-1].copy()[::-1],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows", [slice(0, 40), slice(7, 8)])
def test_an_array_of_any_layout_is_one_table_and_no_column_is_looked_at(layout, dtype, rows, monkeypatch):
    X = LAYOUTS[layout](np.random.default_rng(0).normal(size=(40, 5)).astype(dtype))[rows]
    schema = Schema.infer(read_table(np.eye(5)))
    monkeypatch.setattr(ArraySource, "column", None)
    table = schema.encode(read_table(X)).table(ALL, tuple(range(5)))
    found = table.as_one_array() if isinstance(table, SeparateColumns) else table
    assert np.shares_memory(found, X)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, X)
    np.testing.assert_array_equal(in_rows(table[2:9]), X[2:9])


@pytest.mark.parametrize("model", [GaussianNB, MultinomialNB, BernoulliNB, LDA, QDA, LogisticRegression])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_of_an_array_are_scored_without_a_look_at_its_columns(model, layout, dtype, monkeypatch):
    X, y = np.random.default_rng(0).poisson(2, size=(60, 4)).astype(dtype), np.arange(60) % 3
    fitted = model().fit(X, y)
    want = fitted.predict_proba(X)
    monkeypatch.setattr(ArraySource, "column", None)
    for rows in (slice(0, 60), slice(7, 8)):
        found = fitted.predict_proba(LAYOUTS[layout](X)[rows])
        np.testing.assert_allclose(found, want[rows], rtol=1e-5 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("model", [GaussianNB, MultinomialNB, BernoulliNB])
@pytest.mark.parametrize("order", ["C", "F"])
def test_few_rows_are_read_once_to_be_scored(model, order, monkeypatch):
    X, y = np.random.default_rng(0).poisson(2, size=(60, 4)).astype(float, order=order), np.arange(60) % 3
    fitted, reads = model().fit(X, y).model_, []
    monkeypatch.setattr(Encoded, "table", _counted(Encoded.table, reads))
    monkeypatch.setattr(Encoded, "values", _counted(Encoded.values, reads))
    data = fitted.schema.encode(read_table(X[:3]))
    dataset = LocalDataset(fitted.schema, data, np.zeros(3, np.int64), None)
    with using("auto"):
        fitted.posterior(dataset)
    assert len(reads) == 1


def _counted(read, reads):
    def counted(*args, **kwargs):
        reads.append(read.__name__)
        return read(*args, **kwargs)

    return counted


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint64, np.bool_])
def test_other_numbers_are_converted_chunk_by_chunk(dtype):
    X = np.array([[0, 1], [1, 0], [1, 1]], dtype=dtype)
    values = Schema.infer(read_table(X)).encode(read_table(X)).values(slice(1, None), (0, 1))
    assert values.dtype == np.float64
    np.testing.assert_array_equal(values, [[1, 0], [1, 1]])


def test_binary_numbers_are_read_in_place_and_have_codes():
    X = np.array([[0.0, 1.0], [np.nan, 0.0]])
    source = read_table(X)
    encoded = Schema.infer(source, {(0, 1): "binary"}).encode(source)
    assert np.shares_memory(encoded.values(ALL, (0, 1)), X)
    np.testing.assert_array_equal(encoded.codes(ALL, (0, 1)).array, [[0, 1], [-1, 0]])


def test_declared_categories_of_numbers_are_encoded():
    X = np.array([[5.0, 1.0], [np.nan, 2.0], [-1.0, 3.0]])
    source = read_table(X)
    schema = Schema.infer(source, {0: "categorical"})
    assert schema.columns[0].categories == (-1.0, 5.0)
    encoded = schema.encode(source)
    np.testing.assert_array_equal(encoded.codes(ALL, (0,)).array, [[1], [-1], [0]])
    np.testing.assert_array_equal(encoded.values(ALL, (0, 1)), [[1, 1], [np.nan, 2], [0, 3]])


def test_large_integers_beside_nulls_stay_distinct_categories():
    big = 2**53
    for frame in (
        pl.DataFrame({"id": [big, big + 1, None]}),
        pa.table({"id": [big, big + 1, None]}),
        pd.DataFrame({"id": pd.array([big, big + 1, None], dtype="Int64")}),
        np.array([[big], [big + 1], [None]], dtype=object),
    ):
        source = read_table(frame)
        schema = Schema.infer(source, {0: "categorical"})
        assert schema.columns[0].categories == (big, big + 1)
        assert schema.encode(source).codes(ALL, (0,)).array.ravel().tolist() == [0, 1, -1]


# ---------------------------------------------------------------- unseen and refused


def test_unseen_categories_are_counted_and_have_the_code_after_the_last():
    schema = Schema.infer(read_table(pd.DataFrame({"s": ["a", "b"], "x": [1.0, 2.0]})))
    encoded = schema.encode(read_table(pd.DataFrame({"s": ["c", "a", None, "c", "d"], "x": [0.0] * 5})))
    assert encoded.unseen == {"s": {"c": 2, "d": 1}}
    assert encoded.codes(ALL, (0,)).array.ravel().tolist() == [2, 0, -1, 2, 2]
    np.testing.assert_array_equal(encoded.values(ALL, (0,)).ravel(), [np.nan, 0, np.nan, np.nan, np.nan])


def test_levels_that_no_row_has_are_not_unseen():
    schema = Schema.infer(read_table(pd.DataFrame({"c": pd.Categorical(["a"])})))
    later = pd.DataFrame({"c": pd.Categorical(["a"], categories=["z", "a"])})
    assert schema.encode(read_table(later)).unseen == {}


def test_a_binary_column_with_one_value_seen_has_two_codes():
    schema = Schema.infer(read_table(pd.DataFrame({"b": ["yes"]})), {"b": "binary"})
    codes = schema.encode(read_table(pd.DataFrame({"b": ["yes", "no", None]}))).codes(ALL, (0,))
    assert codes.sizes == (2,)
    assert codes.array.ravel().tolist() == [0, 2, -1]


@pytest.mark.parametrize("container", [np.array, sparse.csr_array])
def test_a_number_beside_0_and_1_is_unseen_in_a_binary_column(container):
    schema = Schema.infer(read_table(container([[0.0], [1.0]])), {0: "binary"})
    encoded = schema.encode(read_table(container([[1.0], [2.0], [0.0]])))
    assert encoded.unseen == {"x0": {2.0: 1}}
    np.testing.assert_array_equal(encoded.values(ALL, (0,)).ravel(), [1, np.nan, 0])


@pytest.mark.parametrize("container", [np.array, pd.DataFrame, pl.DataFrame, sparse.csr_array, as_objects])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_refused_with_column_and_row(container, value):
    X = np.zeros((30, 2))
    X[3, 0] = np.nan
    X[17, 1] = value
    if container is as_objects:
        X = {str(j): X[:, j] for j in range(2)}
    elif container is pd.DataFrame or container is pl.DataFrame:
        X = {"x0": X[:, 0], "x1": X[:, 1]}
    source = read_table(container(X))
    encoded = Schema.infer(source).encode(source)
    words = rf"column 'x1' contains infinity \({value}\) in row 17; replace it by a missing value"
    for read in (encoded.values, encoded.matrix):
        with pytest.raises(ValueError, match=words):
            read(slice(10, 20), (0, 1))
    assert encoded.values(slice(0, 10), (0, 1)).shape == (10, 2)


def test_values_whose_sum_overflows_are_not_infinite():
    X = np.full((3, 2), 1.7e308)
    assert np.isfinite(Schema.infer(read_table(X)).encode(read_table(X)).values(ALL, (0, 1))).all()


@pytest.mark.parametrize(
    ("then", "now", "kinds", "words"),
    [
        (
            [1.5],
            ["abc"],
            None,
            "'c' is read as continuous: numbers were expected, found strings such as 'abc'",
        ),
        (["a"], [1.5], None, "'c': strings such as 'a' were expected, found numbers such as 1.5; convert"),
        (
            [1, 2],
            ["a"],
            {"c": "categorical"},
            "'c': numbers such as 1, 2 were expected, found strings such as 'a'",
        ),
        (
            [True],
            ["yes"],
            None,
            "'c': true/false values were expected, found strings such as 'yes'; convert them to true/false",
        ),
        ([1], [-1], {"c": "count"}, "'c'.*row 0 is -1"),
        (["a b c"], [1.0], {"c": "text"}, "'c' is read as text: strings were expected, found float values"),
    ],
)
def test_a_column_that_changed_its_type_is_refused(then, now, kinds, words):
    schema = Schema.infer(read_table(pd.DataFrame({"c": then})), kinds)
    with pytest.raises(ValueError, match=words):
        schema.encode(read_table(pd.DataFrame({"c": now})))


@pytest.mark.parametrize("then", [[1.5], [True], ["a"], ["a b c d"]])
def test_a_column_without_values_is_all_missing(then):
    schema = Schema.infer(read_table(pl.DataFrame({"c": then})))
    encoded = schema.encode(read_table(pl.DataFrame({"c": [None, None]})))
    if schema.kinds == ("text",):
        assert encoded.texts(ALL, 0).tolist() == [None, None]
    else:
        assert np.isnan(encoded.values(ALL, (0,))).all()


def test_texts_are_given_as_they_are_and_have_no_numbers():
    source = read_table(pl.DataFrame({"t": ["a b c d", None, "e f g"], "x": [1.0, 2.0, 3.0]}))
    encoded = Schema.infer(source).encode(source)
    assert encoded.texts(slice(0, 2), 0).tolist() == ["a b c d", None]
    with pytest.raises(TypeError, match="'t' is text"):
        encoded.values(ALL, (0,))
    with pytest.raises(TypeError, match="'t' is text and has no codes"):
        encoded.codes(ALL, (0,))
    with pytest.raises(TypeError, match="'x' is continuous and has no codes"):
        encoded.codes(ALL, (1,))
    with pytest.raises(TypeError, match="'x' is continuous, not text"):
        encoded.texts(ALL, 1)


# ---------------------------------------------------------------- sparse


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.lil_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, bool])
def test_sparse_rows_stay_sparse(make, dtype):
    X = np.array([[0, 1, 0], [1, 0, 0], [0, 1, 1]], dtype=dtype)
    source = read_table(make(X))
    encoded = Schema.infer(source).encode(source)
    part = encoded.matrix(slice(1, 3), (0, 2))
    assert isinstance(part, sparse.csr_array)
    assert part.dtype == np.float64
    np.testing.assert_array_equal(part.toarray(), X[1:3][:, [0, 2]])
    np.testing.assert_array_equal(encoded.values(ALL, (0, 1, 2)), X)


def test_sparse_codes_and_categories():
    X = sparse.csr_array([[0.0, 3.0, 2.0], [1.0, 0.0, 0.0], [np.nan, 7.0, 1.0]])
    source = read_table(X)
    schema = Schema.infer(source, {0: "binary", 1: "categorical"})
    encoded = schema.encode(source)
    codes = encoded.codes(ALL, (0, 1))
    assert codes.sizes == (2, 3)
    np.testing.assert_array_equal(codes.array, [[0, 1], [1, 0], [-1, 2]])
    np.testing.assert_array_equal(encoded.matrix(ALL, (1, 2)).toarray(), [[1, 2], [0, 0], [2, 1]])
    np.testing.assert_array_equal(encoded.values(ALL, (1, 2)), [[1, 2], [0, 0], [2, 1]])
    with pytest.raises(TypeError, match="'x2' is count and has no codes"):
        encoded.codes(ALL, (2,))


def test_a_negative_count_in_a_sparse_table_is_refused():
    schema = Schema.infer(read_table(sparse.csr_array([[1, 0], [0, 2]])))
    with pytest.raises(ValueError, match="'x1' holds counts, but row 1 is -2"):
        schema.encode(read_table(sparse.csr_array([[1, 0], [0, -2]])))


# ---------------------------------------------------------------- round trips

NUMBERS = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))
WORDS = st.one_of(st.none(), st.text(st.characters(codec="utf-8", exclude_characters="\0")))
FLAGS = st.one_of(st.none(), st.booleans())
GROUPS = st.one_of(st.none(), st.sampled_from(["z", "a", "'\"<&>", "é", ""]))
ROWS = st.lists(st.tuples(NUMBERS, st.integers(0, 2**40), FLAGS, WORDS, GROUPS), min_size=1, max_size=8)
DTYPES = {
    "x": pl.Float64,
    "n": pl.Int64,
    "f": pl.Boolean,
    "s": pl.String,
    "g": pl.Enum(["z", "a", "'\"<&>", "é", ""]),
}


def plain(table):
    """Return the rows of a table as Python values, None where missing."""
    rows = table.tolist() if isinstance(table, np.ndarray) else nw.from_native(table).rows()
    return [tuple(None if v is None or v is pd.NA or v != v else v for v in row) for row in rows]  # noqa: PLR0124


def there_and_back(table):
    source = read_table(table)
    schema = Schema.infer(source, {1: "count", 3: "categorical", 4: "categorical"})
    encoded = schema.encode(source)
    arrays = [encoded.values(ALL, (j,))[:, 0] for j in range(3)]
    arrays += [encoded.codes(ALL, (j,)).array[:, 0] for j in (3, 4)]
    return schema.decode(arrays)


@given(ROWS)
@pytest.mark.parametrize("container", ["numpy", "pandas", "polars", "pyarrow"])
def test_decoding_gives_the_table_back(container, rows):
    frame = pl.DataFrame(rows, schema=DTYPES, orient="row")
    table = {
        "numpy": lambda: np.array(rows, dtype=object).reshape(len(rows), 5),
        "pandas": lambda: pd.DataFrame(
            {
                **{name: frame[name].to_list() for name in "nxfs"},
                "g": pd.Categorical(frame["g"].to_list(), categories=DTYPES["g"].categories.to_list()),
            },
            columns=list("xnfsg"),
        ),
        "polars": lambda: frame,
        "pyarrow": lambda: frame.with_columns(pl.col("g").cast(pl.Categorical)).to_arrow(),
    }[container]()
    back = there_and_back(table)
    assert type(back) is type(table)
    assert plain(back) == plain(table)
    if container == "polars":
        assert {k: v for k, v in back.schema.items() if k != "f"} == {
            k: v for k, v in DTYPES.items() if k != "f"
        }
    if container == "pandas":
        assert back["g"].dtype == table["g"].dtype
        assert back["n"].dtype == np.int64


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1))
def test_decoding_gives_a_sparse_table_back(rows):
    X = sparse.csr_array(np.array(rows))
    source = read_table(X)
    schema = Schema.infer(source, {1: "categorical"})
    encoded = schema.encode(source)
    back = schema.decode(
        [
            encoded.values(ALL, (0,))[:, 0],
            encoded.codes(ALL, (1,)).array[:, 0],
            encoded.values(ALL, (2,))[:, 0],
        ]
    )
    assert isinstance(back, sparse.csr_array)
    np.testing.assert_array_equal(back.toarray(), X.toarray())


@pytest.mark.parametrize(
    ("X", "kinds", "dtype"),
    [
        (np.array([[1.5, 2.0]]), None, np.float64),
        (np.array([[1, 2]]), None, np.float64),
        (np.array([[1, 2]]), {(0, 1): "count"}, np.int64),
        (np.array([[True, False]]), None, np.bool_),
        (np.array([["a", "b"]]), None, object),
        (np.array([[3, 2]]), {0: "categorical", 1: "count"}, np.int64),
    ],
)
def test_decoded_arrays_have_the_type_of_the_kinds(X, kinds, dtype):
    source = read_table(X)
    schema = Schema.infer(source, kinds)
    back = schema.decode(list(schema.encode(source).values(ALL, (0, 1)).T))
    assert back.dtype == dtype
    assert back.tolist() == X.tolist()


def test_an_ordered_pandas_category_of_numbers_comes_back():
    frame = pd.DataFrame({"c": pd.Categorical([3, None, 1], categories=[3, 2, 1], ordered=True)})
    schema = Schema.infer(read_table(frame))
    assert schema.columns[0].categories == (3, 2, 1)
    assert schema.columns[0].levels_fixed
    back = schema.decode([schema.encode(read_table(frame)).codes(ALL, (0,)).array[:, 0]])
    pd.testing.assert_frame_equal(back, frame)


def test_decoding_needs_one_array_per_column():
    with pytest.raises(ValueError, match="expected 2 arrays, one per column, found 1"):
        Schema.infer(read_table(np.ones((1, 2)))).decode([np.ones(1)])


def test_most_columns_of_sparse_rows_are_the_same_of_every_chunk(monkeypatch):
    rng = np.random.default_rng(0)
    cells = rng.poisson(0.5, (40, 6)).astype(np.float64)
    source = read_table(sparse.csr_array(cells))
    schema = Schema.infer(source)
    columns = (0, 1, 3, 4, 5)
    for most in (encode.CHOSEN_CELLS, 0):  # numbered anew once for all rows, or for every chunk
        monkeypatch.setattr(encode, "CHOSEN_CELLS", most)
        encoded = schema.encode(source)
        for rows in (slice(0, 10), slice(10, 40), slice(0, 40, 3), slice(5, 5)):
            found = encoded.matrix(rows, columns)
            np.testing.assert_array_equal(found.toarray(), cells[rows][:, list(columns)])
