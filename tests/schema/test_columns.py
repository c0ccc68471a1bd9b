"""Columns that are not used, hold nothing, look like something else, or have labels that are no names."""

import copy
import datetime
import pickle
from dataclasses import replace

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import polars.selectors as pcs
import pyarrow as pa
import pytest
from scipy import sparse

from posterior import MultinomialNB
from posterior.schema import Column, Schema, read_table
from posterior.schema.columns import Alike

ALL = slice(None)


def infer(X, kinds=None, only=None):
    return Schema.infer(read_table(X), kinds, only)


# ---------------------------------------------------------------- names of many columns


def test_names_and_kinds_are_made_once():
    schema = infer(np.ones((1, 3)))
    assert schema.names is schema.names
    assert schema.kinds is schema.kinds


def test_a_schema_that_was_asked_for_its_names_is_the_same_schema():
    asked, other = infer(np.ones((1, 3))), infer(np.ones((1, 3)))
    before = pickle.dumps(asked)
    assert asked.names == ("x0", "x1", "x2")
    assert asked == other
    assert hash(asked) == hash(other)
    assert pickle.dumps(asked) == before
    assert pickle.loads(before).kinds == copy.deepcopy(asked).kinds == asked.kinds
    fewer = replace(asked, columns=asked.columns[:1])
    assert fewer.names == ("x0",)


class Counted(str):
    """A name that counts how often it is compared with another."""

    comparisons = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Counted.comparisons += 1
        return str.__eq__(self, other)


def test_selecting_all_of_many_names_takes_one_pass():
    n = 3000
    names = [Counted(f"column {j}") for j in range(n)]
    schema = Schema(tuple(Column(name, "continuous", "") for name in names), named=True)
    asked = [Counted(name) for name in reversed(names)]  # equal, and not the same objects
    Counted.comparisons = 0
    assert schema.resolve(asked) == tuple(range(n))[::-1]
    assert Counted.comparisons <= 3 * n  # one search for each name takes n²/2 of them


# ---------------------------------------------------------------- columns not used

UNREADABLE = {
    "x": [1.0, 2.0],
    "when": [datetime.date(2020, 1, 1), None],
    "s": ["a", "b"],
}


@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_column_not_used_may_hold_anything(container):
    source = read_table(container(UNREADABLE))
    schema = Schema.infer(source, only={0, 2})
    assert schema.columns[1] == Column("when", "continuous", "not used", ignored=True)
    assert "not used" in str(schema).splitlines()[2]
    encoded = schema.encode(source)
    np.testing.assert_array_equal(encoded.values(ALL, (0, 1, 2)), [[1, np.nan, 0], [2, np.nan, 1]])
    np.testing.assert_array_equal(encoded.codes(ALL, (2,)).array, [[0], [1]])
    back = nw.from_native(schema.decode([np.array([3.0]), np.array([np.nan]), np.array([1])]))
    assert back.columns == ["x", "when", "s"]
    assert back["when"].null_count() == 1
    assert back["s"].to_list() == ["b"]


def test_a_mixture_that_is_not_used_is_no_error():
    X = np.array([[1.0, "a", {}], [2.0, 3, []]], dtype=object)
    schema = infer(X, only=[0])
    np.testing.assert_array_equal(
        schema.encode(read_table(X)).values(ALL, (0, 1)), [[1, np.nan], [2, np.nan]]
    )


def test_unused_columns_of_an_array_are_missing_and_the_others_are_read_in_place():
    X = np.array([[0.0, 5.0, np.inf], [1.0, 6.0, -1.0]])
    schema = infer(X, {0: "binary", 2: "count"}, only=(0, 1))
    assert schema.kinds == ("binary", "continuous", "continuous")
    encoded = schema.encode(read_table(X))
    np.testing.assert_array_equal(encoded.values(ALL, (2, 1)), [[np.nan, 5], [np.nan, 6]])
    np.testing.assert_array_equal(encoded.values(ALL, (0, 1)), X[:, :2])
    assert np.isnan(schema.decode([np.zeros(2)] * 3)[:, 2]).all()


def test_unused_columns_of_a_sparse_table_do_not_decide_its_kind():
    X = sparse.csr_array([[3.0, -1.5], [0.0, np.inf]])
    schema = infer(X, only=[0])
    assert schema.kinds == ("count", "continuous")
    encoded = schema.encode(read_table(X))
    assert encoded.matrix(ALL, (0,)).toarray().ravel().tolist() == [3.0, 0.0]
    np.testing.assert_array_equal(encoded.values(ALL, (0, 1)), [[3, np.nan], [0, np.nan]])


def test_a_column_is_used_for_both_tables_or_for_none():
    frame = pd.DataFrame({"a": [1.0], "b": ["x"]})
    part = infer(frame, only=[0])
    assert part.union(part) == part
    assert part.recoding(part) == (None, None)
    for one, other in ((part, infer(frame)), (infer(frame), part)):
        with pytest.raises(
            ValueError, match=r"'b' is used for one table and not for the other; use the same"
        ):
            one.union(other)


@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_column_not_used_may_be_absent_later(container):
    schema = infer(container(UNREADABLE), only=[0, 2])
    source = schema.align(read_table(container({"s": ["b"], "x": [7.0]})))
    assert (source.n_rows, source.n_columns, source.names) == (1, 3, ("x", "when", "s"))
    np.testing.assert_array_equal(schema.encode(source).values(ALL, (0, 1, 2)), [[7, np.nan, 1]])
    assert Schema.infer(source).columns[1].empty
    with pytest.raises(ValueError, match="unseen at fit time:\n- y\n") as caught:
        schema.align(read_table(container({"y": [1.0], "s": ["b"]})))
    assert "missing:\n- x\n" in str(caught.value)
    assert "when" not in str(caught.value)
    with pytest.raises(ValueError, match="unseen at fit time:\n- y\nPass"):
        schema.align(read_table(container({"y": [1.0], "s": ["b"], "x": [7.0]})))


# ---------------------------------------------------------------- columns without a value

NOTHING = {
    "pandas float": lambda: pd.DataFrame({"c": [np.nan, np.nan]}),
    "pandas float32": lambda: pd.DataFrame({"c": np.full(2, np.nan, dtype=np.float32)}),
    "pandas Float64": lambda: pd.DataFrame({"c": pd.array([None, None], dtype="Float64")}),
    "pandas Int64": lambda: pd.DataFrame({"c": pd.array([None, None], dtype="Int64")}),
    "pandas boolean": lambda: pd.DataFrame({"c": pd.array([None, None], dtype="boolean")}),
    "pandas object": lambda: pd.DataFrame({"c": pd.Series([None, None], dtype=object)}),
    "polars float": lambda: pl.DataFrame({"c": [None, float("nan")]}, schema={"c": pl.Float64}),
    "polars integer": lambda: pl.DataFrame({"c": [None, None]}, schema={"c": pl.Int32}),
    "polars boolean": lambda: pl.DataFrame({"c": [None, None]}, schema={"c": pl.Boolean}),
    "polars string": lambda: pl.DataFrame({"c": [None, None]}, schema={"c": pl.String}),
    "pyarrow float": lambda: pa.table({"c": pa.array([None, None], pa.float64())}),
    "pyarrow integer": lambda: pa.table({"c": pa.array([None, None], pa.int8())}),
    "pyarrow boolean": lambda: pa.table({"c": pa.array([None, None], pa.bool_())}),
    "pyarrow decimal": lambda: pa.table({"c": pa.array([None, None], pa.decimal128(5, 2))}),
}
FULL = {
    "continuous": [1.5, 2.5],
    "binary": [True, False],
    "categorical": ["a", "b"],
    "text": ["one two three", "four five six"],
}


@pytest.mark.parametrize("make", NOTHING.values(), ids=NOTHING)
@pytest.mark.parametrize("kind", FULL)
def test_a_column_without_a_value_takes_any_kind_later(make, kind):
    nothing, full = infer(make()), infer(pd.DataFrame({"c": FULL[kind]}))
    assert (nothing.columns[0].empty, nothing.columns[0].reason) == (True, "no value at all")
    for union in (nothing.union(full), full.union(nothing)):
        assert union.columns == full.columns
        (recoding,) = nothing.recoding(union)
        assert recoding is None or len(recoding) == 0
    encoded = full.encode(read_table(make()))
    missing = encoded.texts(ALL, 0) if kind == "text" else encoded.values(ALL, (0,))
    assert pd.isna(missing).all()


def test_numbers_without_a_value_are_continuous_as_a_guess():
    for make in ("pandas float", "pandas Int64", "polars float", "pyarrow integer"):
        assert infer(NOTHING[make]()).kinds == ("continuous",)


def test_a_column_with_one_value_is_not_empty():
    for values in ([1.0, np.nan], [np.nan, 1.0]):
        assert not infer(pd.DataFrame({"c": values})).columns[0].empty


def test_a_plain_array_is_not_searched():
    assert not infer(np.full((2, 1), np.nan)).columns[0].empty


@pytest.mark.parametrize("make", NOTHING.values(), ids=NOTHING)
@pytest.mark.parametrize("kind", ["continuous", "binary", "categorical", "count"])
def test_a_declared_column_without_a_value_keeps_its_kind(make, kind):
    nothing = infer(make(), {"c": kind})
    column = nothing.columns[0]
    assert (column.kind, column.declared, column.empty, column.reason) == (kind, True, True, "declared")
    same = infer(pd.DataFrame({"c": [0, 1]}), {"c": kind})
    for union in (nothing.union(same), same.union(nothing)):
        assert union == replace(same, container=union.container)
    other = infer(pd.DataFrame({"c": [*FULL["text"]]}))
    for one, two in ((nothing, other), (other, nothing)):
        with pytest.raises(ValueError, match=r"column 'c' is .*declare it in both"):
            one.union(two)


def test_texts_without_a_value_join_other_texts():
    full = infer(pd.DataFrame({"c": FULL["text"]}))
    for make in NOTHING.values():
        nothing = infer(make(), {"c": "text"})
        assert nothing.columns[0].empty
        assert nothing.union(full).kinds == full.union(nothing).kinds == ("text",)


def test_of_two_columns_without_a_value_the_declared_one_stands():
    guess = infer(NOTHING["pandas object"]())
    declared = infer(NOTHING["pandas float"](), {"c": "count"})
    number = infer(NOTHING["pandas float"]())
    assert guess.union(declared).columns == declared.union(guess).columns == declared.columns
    assert guess.union(number).columns == number.union(guess).columns
    assert guess.union(number).columns[0].empty


def test_an_empty_binary_column_is_recoded_into_words():
    kinds = {"c": "binary"}
    nothing, words = infer(NOTHING["pandas float"](), kinds), infer(pd.DataFrame({"c": ["no", "yes"]}), kinds)
    assert [codes.tolist() for codes in nothing.recoding(nothing.union(words))] == [[0, 1]]


# ---------------------------------------------------------------- labels that are no names

PAIRS = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])


@pytest.mark.parametrize("labels", [[5, 6, 7], range(3), [0.5, 1.5, 2.5], PAIRS])
def test_labels_that_are_no_strings_are_matched_all_the_same(labels):
    frame = pd.DataFrame([[1.0, 2.0, 3.0]], columns=labels)
    schema = infer(frame)
    assert (schema.named, schema.names, schema.labels) == (False, ("x0", "x1", "x2"), tuple(frame.columns))
    turned = schema.align(read_table(frame[frame.columns[[2, 0, 1]]]))
    assert turned.labels == schema.labels
    assert schema.encode(turned).values(ALL, (0, 1, 2)).tolist() == [[1, 2, 3]]
    source = read_table(frame)
    assert schema.align(source) is source


def test_other_labels_are_refused():
    frame = pd.DataFrame([[1.0, 2.0]])
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- 7\nFeature names seen at fit.*\n- 1\n"):
        infer(frame).align(read_table(frame.rename(columns={1: 7})))
    with pytest.raises(ValueError, match="different columns"):
        infer(frame).union(infer(frame[[1, 0]]))


def test_a_frame_and_an_array_are_matched_by_position():
    frame, array = pd.DataFrame([[1.0, 2.0]], columns=[1, 0]), np.ones((1, 2))
    for schema, source in ((infer(frame), read_table(array)), (infer(array), read_table(frame))):
        assert schema.align(source) is source


def test_labels_of_a_named_frame_are_its_names():
    assert infer(pl.DataFrame({"a": [1], "b": [2]})).labels == ("a", "b")
    assert infer(np.ones((1, 2))).labels is None
    schema = Schema((Column("a", "continuous", "given"), Column("b", "continuous", "given")), named=True)
    assert schema.labels is None
    assert schema.align(read_table(pl.DataFrame({"b": [1], "a": [2]}))).names == ("a", "b")


# ---------------------------------------------------------------- selectors of polars


@pytest.mark.parametrize(
    ("selection", "positions"),
    [
        (pcs.integer(), (0, 2)),
        (pcs.string() | pcs.by_name("n"), (0, 1)),
        (pl.col("s"), (1,)),
        ([pcs.string(), 0], (1, 0)),
        (pl.Series(["m", "n"]), (2, 0)),
    ],
)
def test_polars_selects_among_the_columns_of_a_polars_frame(selection, positions):
    frame = pl.DataFrame({"n": [1], "s": ["a"], "m": [2]})
    assert infer(frame).resolve(selection, read_table(frame)) == positions


def test_polars_does_not_select_elsewhere():
    frame = pd.DataFrame({"n": [1]})
    for source, found in ((None, "no table"), (read_table(frame), "a pandas table")):
        with pytest.raises(TypeError, match=f"needs a polars frame, found {found}.*or a narwhals selector"):
            infer(frame).resolve(pcs.integer(), source)


# ---------------------------------------------------------------- strings that look like numbers

BILLS = ["39.1", "39.5", "40.3", "36.7", "NA"]


def test_numbers_written_as_strings_are_pointed_out():
    (column,) = infer(pd.DataFrame({"bill": BILLS})).columns
    assert (column.kind, column.reason) == ("categorical", "strings, 5 categories, most look like numbers")
    assert column.hint == (
        "most of its strings look like numbers ('36.7', '39.1'), others are 'NA': "
        'make those missing if they mark gaps (missing="NA"), and the column holds numbers'
    )
    (column,) = infer(pd.DataFrame({"zip": ["02139", "02140", "10001", "10002", "94110"]})).columns
    assert (column.reason, column.hint) == ("strings, 5 categories, codes with leading zeros", "")


@pytest.mark.parametrize("values", [BILLS[1:-1], ["many", "inf", "1", "2", "3"], list("abcdef"), ["a", "b"]])
def test_few_values_or_few_numbers_are_no_hint(values):
    (column,) = infer(pd.DataFrame({"c": values})).columns
    assert column.hint == ""
    assert "numbers" not in column.reason


def test_who_declares_the_strings_categories_gets_no_hint():
    assert infer(pd.DataFrame({"bill": BILLS}), {"bill": "categorical"}).columns[0].hint == ""


def test_two_tables_together_get_the_hint_of_all_rows():
    whole = infer(pd.DataFrame({"bill": BILLS})).columns
    parts = [infer(pd.DataFrame({"bill": part})) for part in (BILLS[:3], BILLS[2:])]
    assert parts[0].union(parts[1]).columns == parts[1].union(parts[0]).columns == whole


# ---------------------------------------------------------------- numbers as categories


def test_categories_of_float32_and_float64_are_the_same_numbers():
    single = np.array([[0.1], [0.7], [np.nan]], dtype=np.float32)
    double = np.array([[0.1], [0.7], [1e300]])
    for then, now, codes in (
        (single, double, [0, 1, 2]),
        (single, single.astype(np.float64), [0, 1, -1]),
        (double, single, [0, 1, -1]),
        (single, single, [0, 1, -1]),
    ):
        schema = infer(then, {0: "categorical"})
        assert schema.encode(read_table(now)).codes(ALL, (0,)).array.ravel().tolist() == codes
    assert infer(single, {0: "categorical"}).encode(read_table(double)).unseen == {"x0": {1e300: 1}}
    assert infer(double, {0: "categorical"}).encode(read_table(double + 1e-12)).unseen["x0"]


def test_columns_of_a_frame_keep_their_precision():
    singles, doubles = (
        infer(pd.DataFrame({"x": np.array([0.5, 0.1], kind), "y": [1.0, 2.0], "z": ["a", "b"]}))
        for kind in (np.float32, np.float64)
    )
    assert [singles.are_single([j]) for j in range(3)] == [True, False, False]
    assert not singles.are_single([0, 1])
    assert not singles.union(doubles).are_single([0])
    assert not doubles.union(singles).are_single([0])
    assert singles.union(singles).are_single([0])
    assert infer(np.ones((2, 3), np.float32)).are_single(range(3))


@pytest.mark.parametrize("sparse_table", [False, True])
def test_wide_tables_make_no_column_in_fit_partial_fit_sums_or_predictions(sparse_table, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.5, size=(40, 300)).astype(float), np.arange(40) % 2
    table = sparse.csr_array(X) if sparse_table else X
    first, second = table[:20], table[20:]
    truth = MultinomialNB().fit(X, y).predict_joint_log_proba(X)
    made = []
    monkeypatch.setattr(Alike, "_all", property(made.append))
    whole = MultinomialNB().fit(table, y)
    parts = MultinomialNB().partial_fit(first, y[:20], classes=[0, 1]).partial_fit(second, y[20:])
    added = MultinomialNB().fit(first, y[:20]) + MultinomialNB().fit(second, y[20:])
    for model in (whole, parts, added):
        np.testing.assert_allclose(model.predict_joint_log_proba(table), truth, rtol=1e-12)
        assert isinstance(model.schema_.columns, Alike)
    assert not made
    assert whole.schema_.columns[299].name == "x299"


def test_columns_in_place_are_those_of_the_array():
    X = np.arange(12.0).reshape(3, 4)
    parts = Schema.infer(read_table(X)).encode(read_table(X)).parts
    assert len(parts) == 4
    np.testing.assert_array_equal(parts[-1].array, X[:, 3])
    assert [part.array[0] for part in parts[1:3]] == [1.0, 2.0]
    with pytest.raises(IndexError):
        parts[4]
