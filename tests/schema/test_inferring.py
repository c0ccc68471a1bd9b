"""What a table is read as: sources, kinds, names, unions and selections."""

import datetime
import re
from dataclasses import replace
from decimal import Decimal

import narwhals as nw
import narwhals.selectors as ncs
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.compose import make_column_selector

from posterior.schema import RULE, Column, Schema, read_table

WEIRD = ["", " ", "'", '"', "<b>&amp;</b>", "naïve 🐧", "a\nb", "nan", "None", "NA", "{}", "\\"]


def infer(X, kinds=None):
    return Schema.infer(read_table(X), kinds)


# ---------------------------------------------------------------- sources


@pytest.mark.parametrize(
    ("X", "container", "names"),
    [
        (np.ones((2, 2)), "numpy", None),
        (np.ones((2, 2), order="F", dtype=np.float32), "numpy", None),
        (np.ones((2, 2), dtype=bool), "numpy", None),
        ([[1, "a"], [2, None]], "numpy", None),
        (((1, 2), (3, 4)), "numpy", None),
        (sparse.csc_matrix(np.eye(2)), "sparse", None),
        (sparse.coo_array(np.eye(2)), "sparse", None),
        (pd.DataFrame({"a": [1, 2], "b": [3, 4]}), "pandas", ("a", "b")),
        (pd.DataFrame({0: [1, 2], 1: [3, 4]}), "pandas", None),
        (pl.DataFrame({"a": [1, 2], "b": [3, 4]}), "polars", ("a", "b")),
        (nw.from_native(pl.DataFrame({"a": [1, 2], "b": [3, 4]})), "polars", ("a", "b")),
        (pa.table({"a": [1, 2], "b": [3, 4]}), "pyarrow", ("a", "b")),
        (pa.record_batch({"a": [1, 2], "b": [3, 4]}), "pyarrow", ("a", "b")),
    ],
)
def test_every_container_tells_its_shape_and_names(X, container, names):
    source = read_table(X)
    assert (source.n_rows, source.n_columns) == (2, 2)
    assert (source.container, source.names) == (container, names)


class OnlyArray:
    def __array__(self, dtype=None, copy=None):
        return np.ones((3, 2))


def test_what_only_has_the_array_method_is_an_array():
    assert read_table(OnlyArray()).container == "numpy"


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        (np.ones(3), ValueError, "Expected 2D array, got 1D array instead.*Reshape your data"),
        ([1, 2], ValueError, "Reshape your data"),
        (pd.Series([1, 2]), ValueError, "Reshape your data"),
        (pl.Series([1, 2]), ValueError, "Reshape your data"),
        (sparse.coo_array(np.ones(3)), ValueError, "Reshape your data"),
        (np.ones((2, 2, 2)), ValueError, "Found array with dim 3, while dim <= 2 is required."),
        (np.ones((0, 3)), ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required"),
        (
            np.ones((3, 0)),
            ValueError,
            r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required\.",
        ),
        (pd.DataFrame({"a": []}), ValueError, r"0 sample\(s\) \(shape=\(0, 1\)\).*at least one row"),
        (pd.DataFrame(index=[0, 1]), ValueError, r"0 feature\(s\) \(shape=\(2, 0\)\).*at least one column"),
        (np.ones((2, 2)) * 1j, ValueError, "Complex data not supported"),
        (sparse.csr_array(np.eye(2) * 1j), ValueError, "Complex data not supported"),
        (np.array([[1j, None]]), ValueError, "Complex data not supported"),
        (3, TypeError, "found int; pass a 2-D numpy array"),
        (np.float64(3), TypeError, "found float64"),
        (np.array(3.0), TypeError, "found the single value"),
        ("table.csv", TypeError, "found str"),
        (None, TypeError, "found NoneType"),
        (object(), TypeError, "found object"),
        ({"a": [1]}, TypeError, r"found dict.*pandas.DataFrame\(X\)"),
        (pl.DataFrame({"a": [1]}).lazy(), TypeError, r"\.collect\(\)"),
        ([[1, 2], [3]], ValueError, "rows of the list differ in length"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), ValueError, "x0.*days since a date"),
        (np.array([[b"a"]]), TypeError, "dtype .S1 cannot be read"),
        (
            pd.DataFrame([[1, 2]], columns=["a", 1]),
            TypeError,
            r"Feature names are only supported.*\['int', 'str'\]",
        ),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "(?s)'a'.*rename or drop"),
        (pa.table([[1], [2]], names=["a", "a"]), ValueError, "(?s)'a'.*rename or drop"),
    ],
)
def test_what_is_no_table_is_refused_with_a_remedy(X, error, words):
    with pytest.raises(error, match=words):
        Schema.infer(read_table(X))


@pytest.mark.parametrize("cell", [{"foo": "bar"}, [1], b"a", object()])
def test_a_cell_that_is_no_value_is_named(cell):
    X = np.array([[1.0, 2.0], [3.0, 4.0]], dtype=object)
    X[1, 0] = cell
    with pytest.raises(
        TypeError, match=r"column 'x0', row 1.*argument must be a string or a number.*drop it"
    ):
        infer(X)


def test_the_users_sparse_matrix_is_not_changed():
    X = sparse.coo_matrix(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2)).tocsr()
    raw = sparse.csr_matrix((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2, 2])), shape=(2, 2))
    source = read_table(raw)
    assert raw.nnz == 2
    assert source.matrix.toarray().tolist() == X.toarray().tolist()


def test_numpy_strings_with_gaps_are_strings():
    X = np.array([["a", "x"], [None, "y"]], dtype=np.dtypes.StringDType(na_object=None))
    assert [column.categories for column in infer(X).columns] == [("a",), ("x", "y")]


def test_a_list_keeps_true_false_apart_from_numbers():
    assert (
        infer([[True, 1.5], [None, 2.5]]).kinds
        == infer([[True, 1.5], [False, 2]]).kinds
        == ("binary", "continuous")
    )


def test_masked_cells_are_missing():
    X = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    values = infer(X).encode(read_table(X)).values(slice(None), (0, 1))
    np.testing.assert_array_equal(values, [[1, np.nan], [3, 4]])


# ---------------------------------------------------------------- kinds

TEXTS = [f"the quick brown fox {i}" for i in range(5)]


@pytest.mark.parametrize(
    ("values", "kind", "reason"),
    [
        ([1.0, None], "continuous", "float values"),
        ([1, 2], "continuous", "integer values"),
        ([True, False], "binary", "true/false values"),
        ([True, None], "binary", "true/false values"),
        (["a", "b", None], "categorical", "strings, 2 categories"),
        (TEXTS, "text", "strings of several words"),
        (TEXTS[:2] * 10, "categorical", "strings, 2 categories"),
        ([f"one two {i}" for i in range(21)] * 5, "text", "strings of several words"),
        ([f"one two {i}" for i in range(20)] * 5, "categorical", "strings, 20 categories"),
        ([f"word {i}" for i in range(99)], "categorical", "strings, 99 categories, one for nearly every row"),
        ([None, None], "categorical", "no value at all"),
    ],
)
@pytest.mark.parametrize(
    "container",
    [
        lambda v: pd.DataFrame({"c": v}),
        lambda v: pd.DataFrame({"c": pd.Series(v, dtype=object)}),
        lambda v: pl.DataFrame({"c": v}),
        lambda v: pa.table({"c": v}),
        lambda v: [[x] for x in v],
        lambda v: np.array([[x] for x in v], dtype=object),
    ],
)
def test_the_kind_follows_from_the_values(values, kind, reason, container):
    (column,) = infer(container(values)).columns
    assert (column.kind, column.reason) == (kind, reason)
    assert column.empty == (values == [None, None])


@pytest.mark.parametrize(
    ("X", "kind"),
    [
        (pl.DataFrame({"c": [Decimal("1.5"), None]}), "continuous"),
        (np.array([[Decimal("1.5")], [Decimal("NaN")]], dtype=object), "continuous"),
        (pd.DataFrame({"c": pd.array([1, None], dtype="Int64")}), "continuous"),
        (pd.DataFrame({"c": pd.arrays.SparseArray([0.0, 1.0])}), "continuous"),
        (pl.DataFrame({"c": pl.Series([1, None], dtype=pl.Int128)}), "continuous"),
        (pd.DataFrame({"c": pd.Categorical(["a", None])}), "categorical"),
        (pd.DataFrame({"c": pd.cut([1.0, 2.0, 3.0], 2)}), "categorical"),
        (pl.DataFrame({"c": pl.Series(["a"], dtype=pl.Enum(["b", "a"]))}), "categorical"),
        (sparse.csr_array(np.eye(2, dtype=bool)), "binary"),
        (sparse.csr_array(np.eye(2, dtype=np.int8)), "count"),
        (sparse.csr_array([[3.0, np.nan], [0, 1]]), "count"),
        (sparse.csr_array(np.eye(2) / 2), "continuous"),
        (sparse.csr_array(-np.eye(2)), "continuous"),
        (sparse.csr_array(np.eye(2) * 0), "count"),
    ],
)
def test_the_kind_follows_from_the_dtype(X, kind):
    assert infer(X).kinds[0] == kind


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ([datetime.timedelta(1)], ValueError, "'when'.*derive a number.*days since a date"),
        ([datetime.time(1)], ValueError, "'when'.*derive a number"),
        ([[1, 2]], ValueError, "'when'.*List.*split it"),
        ([{"a": 1}], ValueError, "'when'.*Struct.*split it"),
        ([b"a"], ValueError, "'when'.*Binary"),
    ],
)
@pytest.mark.parametrize("container", [pl.DataFrame, pa.table])
def test_values_without_a_kind_are_refused_by_column(values, error, words, container):
    with pytest.raises(error, match=words):
        infer(container({"when": values}))


@pytest.mark.parametrize(
    "values",
    [
        pd.to_timedelta(["1D"]),
        [datetime.time(1)],
        [datetime.date(2020, 1, 1), datetime.time(1)],
    ],
)
def test_durations_and_times_of_day_in_pandas_are_refused_by_column(values):
    with pytest.raises(ValueError, match=r"'when'.*derive a number"):
        infer(pd.DataFrame({"when": values}))


@pytest.mark.parametrize(
    "table",
    [
        np.array([["2020-01-01"], ["2021-01-01"]], dtype="M8[D]"),
        np.array([[datetime.date(2020, 1, 1)], [None]], dtype=object),
        pd.DataFrame({7: pd.to_datetime(["2020-01-01"])}),
    ],
    ids=["dates", "objects", "numbered columns"],
)
def test_dates_of_a_table_without_names_are_refused(table):
    with pytest.raises(ValueError, match=r"'x0'.*derive a number"):
        infer(table)


def test_strings_beside_numbers_are_refused_unless_declared_categorical():
    X = pd.DataFrame({"m": pd.Series([1, "a", None], dtype=object)})
    with pytest.raises(
        TypeError, match=r"'m' mixes values of type int and str.*kinds=\{'m': \"categorical\"\}"
    ):
        infer(X)
    assert infer(X, {"m": "categorical"}).columns[0].categories == (1, "a")


# ---------------------------------------------------------------- declared kinds

FRAME = pd.DataFrame(
    {"age": [1, 2, 3], "income": [0.5, 1.5, -1.0], "city": ["b", "a", "b"], "flag": [0, 1, 0]}
)


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ({"age": "count"}, ("count", "continuous", "categorical", "continuous")),
        ({0: "count", -1: "binary"}, ("count", "continuous", "categorical", "binary")),
        ({("age", 3): "categorical"}, ("categorical", "continuous", "categorical", "categorical")),
        ({re.compile("^[af]"): "count"}, ("count", "continuous", "categorical", "count")),
        ([(ncs.numeric(), "categorical")], ("categorical",) * 4),
        ([(make_column_selector(dtype_include=np.int64), "count"), ("flag", "binary")],
         ("count", "continuous", "categorical", "binary")),
        ({lambda frame: [frame.columns[0]]: "count"}, ("count", "continuous", "categorical", "continuous")),
    ],
)  # fmt: skip
def test_declared_kinds_override_the_rule_and_later_ones_win(kinds, expected):
    assert infer(FRAME, kinds).kinds == expected


@pytest.mark.parametrize(
    ("kinds", "error", "words"),
    [
        ({"age": "number"}, ValueError, "'number'.*'continuous', 'binary', 'categorical', 'count', 'text'"),
        ({"agee": "count"}, ValueError, "no column 'agee'; did you mean 'age'"),
        ({"zzz": "count"}, ValueError, "no column 'zzz'; the columns are 'age', 'income'"),
        ({7: "count"}, ValueError, "position 7; the table has 4 columns"),
        ("count", TypeError, "kinds must be a dict"),
        (5, TypeError, "kinds must be a dict"),
        (
            {"age": "binary"},
            ValueError,
            "'age' is read as binary, but has 3 values: 1, 2, 3; declare it \"categorical\"",
        ),
        ({"income": "count"}, ValueError, "'income'.*row 2 is -1.0.*declare the column \"continuous\""),
        (
            {"city": "continuous"},
            ValueError,
            "column 'city' is read as continuous: numbers were expected, found strings such as 'b'; convert",
        ),
        ({"city": "count"}, ValueError, "'city' is read as count: numbers were expected"),
        ({"age": "text"}, ValueError, "'age'.*strings were expected, found integer values; convert"),
    ],
)
def test_declarations_that_do_not_fit_are_refused(kinds, error, words):
    with pytest.raises(error, match=words):
        infer(FRAME, kinds)


@pytest.mark.parametrize(
    ("values", "categories"),
    [
        ([0, 1], None),
        ([0.0, np.nan], None),
        ([True, False], None),
        (["no", "yes"], ("no", "yes")),
        (["yes", None], ("yes",)),
        ([2, 1, 2], (1, 2)),
    ],
)
def test_a_binary_column_keeps_its_values_unless_they_are_true_false_or_0_1(values, categories):
    (column,) = infer(pd.DataFrame({"b": values}), {"b": "binary"}).columns
    assert (column.kind, column.categories, column.size, column.declared) == ("binary", categories, 2, True)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("binary", "'x1'.*row 1 is 2.5"),
        ("count", "'x0'.*row 0 is -1.0"),
        ("text", "'x0'.*strings were expected"),
    ],
)
def test_declarations_on_sparse_tables_are_checked(kind, words):
    with pytest.raises(ValueError, match=words):
        infer(sparse.csr_array([[-1.0 if kind == "count" else 1.0, 0.0], [0.0, 2.5]]), {(0, 1): kind})


def test_sparse_columns_may_be_declared():
    X = sparse.csr_array([[0.0, 3.0], [1.0, 0.0], [1.0, 1.5]])
    schema = infer(X, {0: "binary", 1: "categorical"})
    assert schema.kinds == ("binary", "categorical")
    assert schema.columns[1].categories == (0.0, 1.5, 3.0)


@given(st.lists(st.sampled_from([0.0, 1.0, np.nan]), min_size=1), st.lists(st.integers(0, 9), min_size=1))
def test_declaring_many_array_columns_equals_declaring_each(flags, counts):
    n = min(len(flags), len(counts))
    X = np.column_stack([flags[:n], counts[:n], flags[:n], counts[:n]])
    kinds = {(0, 2): "binary", (1, 3): "count"}
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2", "x3"])
    # An array is not searched for columns without a value, a data frame is.
    found = [replace(column, empty=False) for column in infer(frame, kinds).columns]
    assert list(infer(X, kinds).columns) == found


@given(
    st.lists(
        st.one_of(
            st.integers(-5, 5), st.integers(-(2**40), 2**40), st.just(np.nan), st.floats(allow_infinity=False)
        ),
        min_size=1,
    )
)
def test_categories_of_numbers_are_the_sorted_distinct_values(values):
    source = read_table(np.array(values, dtype=np.float64)[:, None])
    schema = Schema.infer(source, {0: "categorical"})
    known = np.array([v for v in values if v == v], dtype=np.float64)  # noqa: PLR0124
    assert schema.columns[0].categories == tuple(np.unique(known).tolist())
    codes = schema.encode(source).codes(slice(None), (0,)).array[:, 0]
    table = np.array([*schema.columns[0].categories, np.nan])
    np.testing.assert_array_equal(table[codes], np.array(values, dtype=np.float64))


# ---------------------------------------------------------------- printing


def test_the_printed_schema_is_aligned_and_states_the_rule():
    lines = str(infer(FRAME, {"age": "count"})).splitlines()
    assert lines[0].split() == ["column", "kind", "levels", "why"]
    assert (
        len({line.index(word) for line, word in zip(lines, ["kind", "count", "continuous"], strict=False)})
        == 1
    )
    assert "'a', 'b'" in lines[3]
    assert lines[-1] == RULE


def test_html_is_escaped():
    schema = infer(pd.DataFrame({"<script>": ["<b>", "&"]}))
    page = schema._repr_html_()
    assert "<script>" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;" in page


# ---------------------------------------------------------------- align


def test_columns_in_another_order_are_matched_by_name():
    schema = infer(FRAME)
    source = schema.align(read_table(FRAME[FRAME.columns[::-1]]))
    assert source.names == schema.names
    np.testing.assert_array_equal(schema.encode(source).values(slice(None), (0, 1))[:, 0], FRAME["age"])


def test_a_table_without_names_is_matched_by_position():
    schema = infer(pd.DataFrame({"a": [1.0], "b": [2.0]}))
    source = read_table(np.ones((1, 2)))
    assert schema.align(source) is source


def test_other_names_are_listed_as_scikit_learn_does():
    with pytest.raises(ValueError, match="unseen at fit") as caught:
        infer(FRAME).align(read_table(FRAME.rename(columns={"age": "years"})))
    assert str(caught.value).startswith(
        "The feature names should match those that were passed during fit.\n"
        "Feature names unseen at fit time:\n- years\n"
        "Feature names seen at fit time, yet now missing:\n- age\n"
    )
    assert "training table" in str(caught.value)


def test_another_number_of_columns_is_refused():
    with pytest.raises(
        ValueError, match=r"X has 3 features, but GaussianNB is expecting 2 features as input."
    ):
        infer(np.ones((1, 2))).align(read_table(np.ones((1, 3))), who="GaussianNB")


# ---------------------------------------------------------------- union and recoding

CELLS = st.one_of(st.none(), st.sampled_from([*WEIRD, "a", "b"]))


@given(st.lists(CELLS, min_size=1), st.lists(CELLS, min_size=1))
def test_codes_recoded_are_the_codes_under_the_union(first, second):
    sources = [read_table(pl.DataFrame({"c": part}, schema={"c": pl.String})) for part in (first, second)]
    schemas = [Schema.infer(source, {"c": "categorical"}) for source in sources]
    union = schemas[0].union(schemas[1])
    assert union.columns == schemas[1].union(schemas[0]).columns
    for schema, source in zip(schemas, sources, strict=True):
        (table,) = schema.recoding(union)
        old = schema.encode(source).codes(slice(None), (0,)).array
        new = union.encode(source).codes(slice(None), (0,)).array
        np.testing.assert_array_equal(np.append(table, -1)[old], new)


def test_fixed_levels_keep_their_order_and_new_ones_follow():
    a = infer(pd.DataFrame({"c": pd.Categorical(["z"], categories=["z", "b"])}))
    b = infer(pd.DataFrame({"c": pd.Categorical(["a"], categories=["b", "a"])}))
    assert a.union(b).columns[0].categories == ("z", "b", "a")
    assert [table.tolist() for table in b.recoding(a.union(b))] == [[1, 2]]


def test_plain_categories_are_sorted_numbers_first():
    kinds = {0: "categorical"}
    union = infer([[2], ["a"]], kinds).union(infer([["b"], [1]], kinds))
    assert union.columns[0].categories == (1, 2, "a", "b")


def test_strings_do_not_join_a_column_of_numbers():
    kinds = {0: "categorical"}
    with pytest.raises(ValueError, match=r"column 'x0': numbers such as 1, 2 were expected, found strings"):
        infer([[2], [1]], kinds).union(infer([["b"], ["a"]], kinds))


def test_a_column_without_values_takes_the_kind_of_the_other():
    empty, full = infer([[None], [None]]), infer([[1.5], [2.5]])
    assert empty.union(full).kinds == full.union(empty).kinds == ("continuous",)
    assert not empty.union(full).columns[0].empty
    assert [table.tolist() for table in empty.recoding(empty.union(full))] == [[]]


def test_one_value_seen_in_each_table_makes_a_binary_column():
    kinds = {"b": "binary"}
    yes, no = (infer(pd.DataFrame({"b": [word]}), kinds) for word in ("yes", "no"))
    union = yes.union(no)
    assert union.columns[0].categories == ("no", "yes")
    assert [table.tolist() for table in yes.recoding(union)] == [[1, 0]]
    assert [table.tolist() for table in no.recoding(union)] == [[0, 1]]


def test_zeros_and_ones_are_recoded_into_a_category_that_orders_them_otherwise():
    kinds = {"b": "binary"}
    category = infer(pd.DataFrame({"b": pd.Categorical([1, 0], categories=[1, 0])}), kinds)
    number = infer(pd.DataFrame({"b": [0, 1]}), kinds)
    union = category.union(number)
    assert union.columns[0].categories == (1, 0)
    assert [table.tolist() for table in number.recoding(union)] == [[1, 0]]


def test_schemas_that_differ_are_refused():
    a = infer(pd.DataFrame({"c": ["x"]}))
    with pytest.raises(ValueError, match=r"(?s)different columns.*- d\n"):
        a.union(infer(pd.DataFrame({"d": ["x"]})))
    with pytest.raises(
        ValueError, match=r"'c' is categorical .strings.*continuous .float values.*declare it"
    ):
        a.union(infer(pd.DataFrame({"c": [1.0]})))
    with pytest.raises(ValueError, match=r"'c' is binary.*3 values.*recode"):
        infer(pd.DataFrame({"c": ["x", "y"]}), {"c": "binary"}).union(
            infer(pd.DataFrame({"c": ["z"]}), {"c": "binary"})
        )
    with pytest.raises(ValueError, match=r"'c'.*lacks the categories 'x'.*union"):
        a.recoding(infer(pd.DataFrame({"c": ["y"]})))


# ---------------------------------------------------------------- selections


@pytest.mark.parametrize(
    ("selection", "positions"),
    [
        ("income", (1,)),
        (-1, (3,)),
        (np.int64(2), (2,)),
        (["flag", 0], (3, 0)),
        (np.array([0, 2]), (0, 2)),
        (pd.Index(["age", "city"]), (0, 2)),
        (slice(1, 3), (1, 2)),
        (slice("income", "flag"), (1, 2, 3)),
        (slice(None, None, -1), (3, 2, 1, 0)),
        (re.compile("i"), (1, 2)),
        ([True, False, False, True], (0, 3)),
        (np.zeros(4, dtype=bool), ()),
        ([], ()),
        (["age", "age"], (0,)),
        (lambda frame: list(frame.columns[:2]), (0, 1)),
        (make_column_selector(dtype_include=np.number), (0, 1, 3)),
        (ncs.string(), (2,)),
    ],
)
def test_columns_are_selected_in_the_order_asked(selection, positions):
    assert infer(FRAME).resolve(selection, read_table(FRAME)) == positions


@pytest.mark.parametrize(
    ("selection", "error", "words"),
    [
        ("incme", ValueError, "'incme'; did you mean 'income'"),
        (9, ValueError, "position 9"),
        (re.compile("^z"), ValueError, "no column name matches '\\^z'"),
        ([True], ValueError, "mask of 1 values cannot select among 4"),
        (True, TypeError, "cannot be selected by bool"),
        (1.5, TypeError, "cannot be selected by float.*takes the table and returns names, or a narwhals sel"),
        (ncs.string(), TypeError, "needs a data frame"),
        (len, TypeError, "needs the table"),
    ],
)
def test_selections_that_mean_nothing_are_refused(selection, error, words):
    with pytest.raises(error, match=words):
        infer(FRAME).resolve(selection)


def test_a_column_describes_its_levels_shortly():
    column = Column("c", "categorical", "strings", tuple("abcdefg"))
    assert column.described_levels() == "'a', 'b', 'c', 'd', … (7 in all)"
