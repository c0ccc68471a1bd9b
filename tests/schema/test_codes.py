"""Row numbers, identifiers, codes, numbers that mark gaps, and categories in several spellings."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posterior import LogisticRegression, NaiveBayes
from posterior.notices import DataWarning
from posterior.persistence import load, save
from posterior.schema import Schema, read_table

N = 60
RNG = np.random.default_rng(11)
Y = np.where(np.arange(N) % 3 == 0, "yes", "no")
FRAME = pd.DataFrame({"size": RNG.normal(size=N) + (Y == "yes"), "region": RNG.choice(["North", "South"], N)})


def infer(values, kinds=None, name="x"):
    return Schema.infer(read_table(pd.DataFrame({name: values, "size": np.zeros(len(values))})), kinds)


# ---------------------------------------------------------------- row numbers and identifiers

TELLING = [
    "Unnamed: 0",
    "column_1",
    "index",
    "id",
    "ID",
    "customer_id",
    "PassengerId",
    "rownames",
    "#",
    "row_number",
]
NUMBERS = {
    "counting": np.arange(1, N + 1),
    "counting down": np.arange(N)[::-1],
    "counting in another order": RNG.permutation(N),
    "all different": RNG.permutation(50 * N)[:N] + 10_000,
}


@pytest.mark.parametrize("name", TELLING)
@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.crossed
def test_a_model_with_row_numbers_is_that_without_them(name, numbers, tmp_path):
    table = FRAME.assign(**{name: NUMBERS[numbers]})[[name, *FRAME.columns]]
    with pytest.warns(DataWarning, match="as its name says: left out"):
        fitted = NaiveBayes().fit(table, Y)
    expected = NaiveBayes().fit(FRAME, Y).predict_proba(FRAME)
    np.testing.assert_array_equal(fitted.predict_proba(table), expected)
    np.testing.assert_array_equal(fitted.predict_proba(FRAME), expected)  # nobody needs them
    np.testing.assert_array_equal(fitted.predict_proba(table.assign(**{name: "new"})), expected)
    assert fitted.feature_names_in_.tolist() == [name, *FRAME.columns]
    (note,) = fitted.notes_
    assert (note.columns, note.left_out) == ((name,), True)
    save(fitted, tmp_path / "a.model")
    np.testing.assert_array_equal(load(tmp_path / "a.model").predict_proba(table), expected)


def test_a_linear_model_leaves_row_numbers_out_and_says_so():
    with pytest.warns(DataWarning, match="column 'id': counts the rows, as its name says: left out"):
        fitted = LogisticRegression().fit(FRAME.assign(id=np.arange(N)), Y)
    np.testing.assert_array_equal(fitted.coef_, LogisticRegression().fit(FRAME, Y).coef_)


@pytest.mark.parametrize("container", [pl.DataFrame, pa.table])
def test_frames_of_all_sorts_leave_row_numbers_out(container):
    schema = Schema.infer(read_table(container({"id": np.arange(N), "size": np.zeros(N)})))
    assert (schema.names, schema.inputs) == (("size",), ("id", "size"))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("id", np.arange(N) // 2),  # the same for two rows: groups
        ("id", np.arange(19)),  # few rows
        ("id", np.arange(N) + 0.5),
        ("paid", np.arange(N)),
        ("idle", np.arange(N)),
        ("humidity", np.arange(N)),
        ("year", np.arange(N)),
    ],
)
def test_what_may_be_a_measurement_is_kept(name, values):
    assert infer(values, name=name).names == (name, "size")


def test_who_declares_them_keeps_them_and_the_only_column_is_kept():
    assert infer(np.arange(N), {"id": "continuous"}, "id").names == ("id", "size")
    only = Schema.infer(read_table(pd.DataFrame({"id": np.arange(N)})))
    assert (only.names, only.readings) == (("id",), ())


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.arange(N), "counts the rows, as row numbers do"),
        (np.arange(N)[::-1] - 7, "counts the rows"),
        (np.arange(N) ** 2, "changes in one direction from row to row"),
        (RNG.permutation(N), ""),
        (np.arange(19), ""),
        (np.arange(N) // 2, ""),
        (np.arange(N) + 0.0, ""),
    ],
)
def test_other_columns_that_follow_the_rows_are_only_pointed_out(values, words):
    column = infer(values, name="t").columns[0]
    assert (column.kind, words in column.hint, bool(column.hint)) == ("continuous", True, bool(words))
    assert not words or column.hint.endswith("(--drop t)")


# ---------------------------------------------------------------- codes


@pytest.mark.parametrize(
    "values", [["02139", "10001", "94110", "60601", "02140"], [f"{i:03d}" for i in range(40)]]
)
def test_digits_with_leading_zeros_are_categories_and_no_numbers(values):
    column = infer(values).columns[0]
    assert (column.kind, column.hint) == ("categorical", "")
    assert column.reason.endswith(", codes with leading zeros")


# ---------------------------------------------------------------- numbers that mark gaps

AGES = RNG.integers(18, 90, N)


@pytest.mark.parametrize("mark", [-9999, -999, -99, 999, 9999, 99999])
@pytest.mark.parametrize("as_float", [False, True])
def test_numbers_that_mark_gaps_are_pointed_out_and_kept(mark, as_float):
    values = np.where(np.arange(N) % 7 == 0, mark, AGES)
    column = infer(values.astype(float) if as_float else values).columns[0]
    rest = values[values != mark]
    assert column.hint == (
        f"{mark} (9 cells) is far from all others ({rest.min()} to {rest.max()}), and may mark gaps: "
        f'make it missing if it does (missing="{mark}")'
    )
    assert column.kind == "continuous"


@pytest.mark.parametrize(
    "values",
    [
        AGES,
        np.where(np.arange(N) == 7, 999, AGES),  # once
        np.where(np.arange(N) % 7 == 0, 999, AGES * 20),  # among others
        np.where(np.arange(N) % 7 == 0, -99, RNG.integers(-120, 120, N)),
        np.where(np.arange(N) % 7 == 0, 998, AGES),
        np.where(np.arange(N) % 7 == 0, 99999, AGES * 450),  # incomes that are cut off there
        np.full(N, 999),
        np.where(np.arange(N) % 2 == 0, 999.0, np.nan),
        np.full(N, np.nan),
    ],
)
def test_numbers_that_may_be_what_they_are_are_not_pointed_out(values):
    assert infer(values).columns[0].hint == ""


# ---------------------------------------------------------------- spellings

MESSY = ["North", "NORTH", "north ", "North", "South", "south", "South", "East", "New  York", "new york"]
CLEAN = ["North", "North", "North", "North", "South", "South", "South", "East", "New  York", "New  York"]


def test_spellings_are_merged_into_the_commonest_and_told():
    column = infer(MESSY).columns[0]
    assert column.categories == ("East", "New  York", "North", "South")
    assert column.reason == "strings, spellings of 'New  York', 'North', 'South' merged"
    assert column.hint == (
        "'NORTH', 'new york', 'north ', 'south' (4 cells) read as 'New  York', 'North', 'South'; "
        "kinds={'x': \"categorical\"} keeps them apart"
    )


@given(order=st.permutations(range(len(MESSY))))
def test_the_order_of_rows_does_not_matter(order):
    assert infer([MESSY[i] for i in order]).readings == infer(MESSY).readings


@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, pa.table, "objects"])
def test_a_model_of_messy_categories_is_that_of_clean_ones(container):
    def made(words):
        frame = {"size": FRAME["size"].to_numpy(), "x": words * (N // len(words))}
        return pd.DataFrame(frame).to_numpy(dtype=object) if container == "objects" else container(frame)

    with pytest.warns(DataWarning, match=r"keeps them apart"):
        fitted = NaiveBayes().fit(made(MESSY), Y)
    expected = NaiveBayes().fit(made(CLEAN), Y)
    np.testing.assert_array_equal(fitted.predict_proba(made(MESSY)), expected.predict_proba(made(CLEAN)))
    other = made(["nORTH"])
    np.testing.assert_array_equal(fitted.predict_proba(other), expected.predict_proba(made(["North"])))


def test_yes_and_no_in_several_words_are_two_categories():
    cells = ["yes", "Yes", "Y", "TRUE", "1", "no", "N", "false", "no", "yes"]
    assert infer(cells).columns[0].categories == ("no", "yes")
    assert infer(["y", "n", "Y", "y", "n"]).columns[0].categories == ("n", "y")
    assert infer(["Yes", "yes", "yes"]).columns[0].categories == ("yes",)
    assert infer(["yes", "no", "maybe", "Y"]).columns[0].categories == ("Y", "maybe", "no", "yes")


@pytest.mark.parametrize(
    "values",
    [
        ["yes", "no", "yes"],
        ["y", "n", "?"],
        ["A", "a", "B", "b"],
        ["red", "green", "blue"],
        [f"aB{i}" for i in range(150)] + [f"Ab{i}" for i in range(150)],
    ],
)
def test_what_is_not_surely_the_same_is_kept_apart(values):
    assert infer(values).readings == ()
    assert infer(values).columns[0].categories == tuple(sorted(set(values)))


def test_who_declares_categories_keeps_them_apart():
    assert infer(MESSY, {"x": "categorical"}).columns[0].categories == tuple(sorted(set(MESSY)))


def test_parts_of_a_table_are_read_as_the_whole_is():
    source = read_table(pd.DataFrame({"x": MESSY, "id": np.arange(len(MESSY))}))
    part = Schema.of(source.take(np.array([1, 5])))
    assert part.columns[0].categories == ("North", "South")
    words = pd.DataFrame({"x": MESSY * 6})
    with pytest.warns(DataWarning, match="keeps them apart"):
        whole = NaiveBayes().fit(words, Y)
    parts = NaiveBayes().partial_fit(words[:30], Y[:30]).partial_fit(words[30:], Y[30:])
    np.testing.assert_allclose(parts.predict_proba(words), whole.predict_proba(words), rtol=1e-9)
