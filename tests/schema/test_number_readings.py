"""Numbers in disguise: what is read is the number that was written, in the whole column or not at all."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from disguises import DISGUISES, amounts
from parts import assert_parts_add_up
from posterior import LDA, DecisionClassifier, GaussianNB, LogisticRegression, NaiveBayes
from posterior.persistence import load, save
from posterior.schema import Schema, read_table

N = 120
VALUES = amounts(N)
RNG = np.random.default_rng(1)
Y = np.where(np.sign(VALUES) + RNG.normal(size=N) > 0, "yes", "no")
OTHER = RNG.normal(size=N)


def rendered(values, disguise):
    return [None if np.isnan(v) else DISGUISES[disguise](v) for v in values]


def infer(values, kinds=None):
    return Schema.infer(read_table(pd.DataFrame({"x": values})), kinds)


def column(values, kinds=None):
    return infer(values, kinds).columns[0]


def numbers(values, kinds=None):
    """The numbers that a column of strings is read as."""
    table = read_table(pd.DataFrame({"x": values}))
    schema = Schema.infer(table, kinds)
    assert schema.kinds == ("continuous",)
    return schema.encode(table).values(slice(None), (0,))[:, 0]


# ---------------------------------------------------------------- laws, for every disguise


@pytest.mark.parametrize("disguise", DISGUISES)
def test_what_is_read_is_what_was_written(disguise):
    found = column(rendered(VALUES, disguise))
    assert (found.kind, found.reason, found.hint) == ("continuous", disguise, "")
    np.testing.assert_array_equal(numbers(rendered(VALUES, disguise)), VALUES)


@pytest.mark.parametrize("disguise", DISGUISES)
@given(cents=st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=8))
def test_any_numbers_in_the_disguise_of_training_are_read_back(disguise, cents):
    schema = infer(rendered(VALUES, disguise))
    values = np.array(cents) / 100.0
    table = read_table(pd.DataFrame({"x": rendered(values, disguise)}))
    np.testing.assert_array_equal(schema.encode(table).values(slice(None), (0,))[:, 0], values)


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("estimator", [NaiveBayes(), LogisticRegression(missing="indicator")], ids=str)
@pytest.mark.crossed
def test_a_model_of_disguised_numbers_is_that_of_the_numbers_to_the_bit(disguise, estimator):
    values = np.where(np.arange(N) % 10 == 3, np.nan, VALUES)
    plain = pd.DataFrame({"other": OTHER, "x": values}, index=np.arange(N) + 7)
    dressed = plain.assign(x=rendered(values, disguise))
    expected = estimator.fit(plain, Y).predict_proba(plain)
    fitted = estimator.fit(dressed, Y)
    np.testing.assert_array_equal(fitted.predict_proba(dressed), expected)
    np.testing.assert_array_equal(fitted.predict_proba(plain), expected)  # numbers stay what they are
    # A few rows, which would be read otherwise by themselves, are read as the model reads them.
    np.testing.assert_array_equal(fitted.predict_proba(dressed[4:6]), estimator.predict_proba(plain[4:6]))


@pytest.mark.parametrize("disguise", DISGUISES)
def test_the_order_of_rows_does_not_matter(disguise):
    cells = rendered(VALUES, disguise)
    order = np.random.default_rng(2).permutation(N)
    assert infer([cells[i] for i in order]).readings == infer(cells).readings


TABLES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "objects": lambda frame: frame.to_numpy(dtype=object),
    "numbered": lambda frame: frame.set_axis([3, 5], axis=1),
}


@pytest.mark.parametrize("table", TABLES)
def test_every_kind_of_table_is_read_alike(table):
    plain = pd.DataFrame({"other": OTHER, "x": VALUES})
    dressed = plain.assign(x=rendered(VALUES, "decimal comma, thousands with a point"))
    made = TABLES[table]
    expected = NaiveBayes().fit(made(plain), Y).predict_proba(made(plain))
    np.testing.assert_array_equal(NaiveBayes().fit(made(dressed), Y).predict_proba(made(dressed)), expected)


def test_the_table_as_it_is_read_keeps_names_index_and_kind_of_the_users_table():
    frame = pd.DataFrame({"x": rendered(VALUES, "per cent"), "other": OTHER}, index=np.arange(N) * 2)
    source = read_table(frame)
    native = Schema.infer(source).read(source).native
    assert isinstance(native, pd.DataFrame)
    assert native.index.equals(frame.index)
    assert native.columns.tolist() == ["x", "other"]
    np.testing.assert_array_equal(native["x"], VALUES)
    assert frame["x"].iloc[0].endswith("%")  # the user's own is as it was


# ---------------------------------------------------------------- what stays a category

CATEGORIES = {
    "few": ["1,5", "2,5", "3,5", "1,5"],
    "plain numbers": ["1.5", "2.5", "3", "4", "5e3", "6"],
    "zip codes": ["02139", "02140", "10001", "10002", "94110"],
    "telephones": ["555 123 456", "555 999 123", "444 123 456", "333 123 456", "222 123 456"],
    "addresses": ["10.0.0.1", "10.0.0.2", "192.168.0.1", "10.0.0.3", "10.0.0.4"],
    "versions": ["1.2.3", "1.2.4", "1.3.0", "2.0.0", "2.0.1"],
    "ranges": ["0-9", "10-19", "20-29", "30-39", "40-49"],
    "ordinals": ["1st", "2nd", "3rd", "4th", "5th", "6th"],
    "two currencies": ["$1", "$2", "$3", "€4", "€5", "€6"],
    "two units": ["1 kg", "2 kg", "300 g", "400 g", "5 kg", "600 g"],
    "codes": ["A1", "A2", "A3", "A4", "A5"],
    "rooms": ["1a", "1b", "2a", "2c", "3a", "3d"],
    "thresholds": ["<=50K", ">50K", "<=60K", ">60K", "<=70K"],
    "numbered in parentheses": ["(1)", "(2)", "(3)", "(4)", "(5)"],
    "words": ["red", "green", "blue", "black", "white"],
}


@pytest.mark.parametrize("name", CATEGORIES)
def test_what_is_no_number_in_disguise_stays_a_category(name):
    values = CATEGORIES[name] * 3
    schema = infer(values)
    assert (schema.kinds, schema.readings) == (("categorical",), ())
    assert schema.columns[0].categories == tuple(sorted(set(values)))


def test_long_cells_are_no_numbers_and_take_no_time():
    infer([" " * 100_000 + str(i) + " " * 100_000 + "x" for i in range(6)])
    infer(["1" + " " * 100_000 + str(i) for i in range(6)])


# ---------------------------------------------------------------- what cells settle, and what is assumed

THOUSANDS = ["1,234", "52,000", "999,999", "10,500", "2,000"]


def test_thousands_or_decimal_comma_is_assumed_aloud_where_no_cell_settles_it():
    found = column(THOUSANDS)
    assert found.reason == "thousands with a comma"
    assert found.hint == (
        "'1,234' is read as 1234 and could be 1.234, which no cell settles; "
        "kinds={'x': \"decimal-comma\"} reads it so"
    )
    assert numbers(THOUSANDS).tolist() == [1234, 52000, 999999, 10500, 2000]


@pytest.mark.parametrize(
    ("cell", "first", "reason"),
    [
        ("0,5", 1.234, "decimal comma"),
        ("0,125", 1.234, "decimal comma"),
        ("12345,678", 1.234, "decimal comma"),
        ("1,234,567", 1234.0, "thousands with a comma"),
        ("1,234.5", 1234.0, "thousands with a comma"),
        ("2.5", 1234.0, "thousands with a comma"),
    ],
)
def test_one_cell_settles_it_for_the_column(cell, first, reason):
    found = column([*THOUSANDS, cell])
    assert (found.reason, found.hint) == (reason, "")
    assert numbers([*THOUSANDS, cell])[0] == first


def test_who_knows_better_says_so():
    found = column(THOUSANDS, {"x": "decimal-comma"})
    assert (found.kind, found.reason, found.hint) == ("continuous", "declared, decimal comma", "")
    assert numbers(THOUSANDS, {"x": "decimal-comma"}).tolist() == [1.234, 52.0, 999.999, 10.5, 2.0]
    assert numbers(["1.5", "2", "1.5"], {"x": "decimal-point"}).tolist() == [1.5, 2.0, 1.5]
    assert numbers(["1,5", "2"], {"x": "continuous"}).tolist() == [1.5, 2.0]  # few will do, once asked for
    assert column(["7 %", "8 %"], {"x": "count"}).kind == "count"
    assert column(THOUSANDS, {"x": "categorical"}).categories == tuple(sorted(THOUSANDS))


def test_a_kind_that_the_cells_are_not_is_refused():
    with pytest.raises(
        ValueError, match="'x' is declared \"decimal-comma\", and its cells are no such numbers"
    ):
        infer(["red", "green"], {"x": "decimal-comma"})
    with pytest.raises(ValueError, match=r"unknown kind 'comma'; choose one of .*'decimal-comma'"):
        infer(THOUSANDS, {"x": "comma"})


def test_words_among_many_numbers_are_gaps_and_pointed_out():
    cells = [*rendered(VALUES, "per cent"), "?", "unknown"]
    found = column(cells)
    assert found.reason == "per cent"
    assert found.hint == (
        "read as numbers (per cent), and '?', 'unknown' (2 cells) as gaps; "
        "kinds={'x': \"categorical\"} keeps its strings"
    )
    np.testing.assert_array_equal(numbers(cells), [*VALUES, np.nan, np.nan])
    schema, few = infer(cells), read_table(pd.DataFrame({"x": ["?", "5%"]}))
    np.testing.assert_array_equal(schema.encode(few).values(slice(None), (0,))[:, 0], [np.nan, 5.0])


def test_more_than_a_few_other_cells_leave_the_column_as_it_is():
    tenth = ["n.v."] * (N // 10)
    assert column([*rendered(VALUES, "per cent"), *tenth]).kind == "categorical"
    many = [f"word {i}" for i in range(6)]
    assert column([*rendered(VALUES, "per cent"), *many]).kind == "categorical"


def test_too_many_words_among_numbers_in_disguise_are_pointed_out_with_the_way_to_make_them_gaps():
    cells = [f"{1000 + i % 7 * 100 + i}".replace("1", "1.", 1) + ",50" for i in range(40)] + ["fehlt"] * 10
    found = column(cells)
    assert (found.kind, found.reason) == ("categorical", "strings, 41 categories, most look like numbers")
    assert "others are 'fehlt': make those missing" in found.hint
    assert 'missing="fehlt"' in found.hint
    gapped = column([cell.replace("fehlt", "k.A.") for cell in cells])  # which means nothing but a gap
    assert gapped.kind == "continuous"
    assert "'k.A.' (10 cells) as gaps" in gapped.hint


def test_what_is_no_number_in_prediction_is_refused_by_its_name():
    model = NaiveBayes().fit(pd.DataFrame({"x": rendered(VALUES, "unit kg")}), Y)
    with pytest.raises(
        ValueError, match=r"column 'x' is read as numbers \(unit kg\), found '5 lb' \(first in row "
    ):
        model.predict(pd.DataFrame({"x": ["5 lb", "5 kg"]}))
    assert model.predict(pd.DataFrame({"x": [None, "5 kg"]})).shape == (2,)


# ---------------------------------------------------------------- models of all sorts

FRAME = pd.DataFrame(
    {"other": OTHER, "x": rendered(VALUES, "decimal comma"), "state": ["NY", "TX"] * (N // 2)}
)
PLAIN = FRAME.assign(x=VALUES)


def test_parts_of_a_table_add_up():
    assert_parts_add_up(FRAME, Y)
    assert_parts_add_up(FRAME, Y, PLAIN)


def test_two_disguises_of_one_column_do_not_add_up():
    other = PLAIN.assign(x=rendered(VALUES, "per cent"))
    with pytest.raises(ValueError, match="'x' is read as decimal comma in one table and as per cent in the"):
        NaiveBayes().fit(FRAME, Y) + NaiveBayes().fit(other, Y)


@pytest.mark.filterwarnings("ignore::posterior.notices.CalibrationWarning")
@pytest.mark.parametrize(
    "estimator",
    [
        NaiveBayes(),
        GaussianNB(),
        LDA(),
        DecisionClassifier(NaiveBayes()),
        LogisticRegression(columns=["x"]),
    ],
    ids=str,
)
def test_estimators_of_all_sorts_read_disguised_numbers(estimator, tmp_path):
    names = ["other", "x"]
    fitted = estimator.fit(FRAME[names], Y)
    found = fitted.predict_proba(FRAME[names])
    assert fitted.feature_names_in_.tolist() == names
    place = tmp_path / "file.model"
    save(fitted, place)
    again = load(place)
    np.testing.assert_array_equal(again.predict_proba(FRAME[["x", "other"]]), found)
    np.testing.assert_array_equal(estimator.fit(PLAIN[names], Y).predict_proba(PLAIN[names]), found)
