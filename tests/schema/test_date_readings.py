"""Dates: year, month, weekday and hour as columns of numbers, whatever type or layout the dates come in."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parts import assert_parts_add_up
from posterior import (
    LDA,
    QDA,
    DecisionClassifier,
    GaussianNB,
    GenerativeClassifier,
    LogisticRegression,
    NaiveBayes,
)
from posterior.comparison import Comparison
from posterior.families import Categorical, Normal
from posterior.persistence import load, save
from posterior.schema import Schema, read_table
from posterior.schema.readings.dates import parsed, part_of

N = 120
RNG = np.random.default_rng(5)
HOURS = pd.Timestamp("2018-03-01") + pd.to_timedelta(RNG.integers(0, 4 * 365 * 24, N), unit="h")
DAYS = HOURS.normalize()
Y = np.where(HOURS.month + 2 * RNG.normal(size=N) > 6, "yes", "no")
OTHER = RNG.normal(size=N)
FRAME = pd.DataFrame({"other": OTHER, "signup": HOURS})
EXPECTED = {
    "signup[year]": [
        h.year + (h - pd.Timestamp(h.year, 1, 1)) / pd.Timedelta(365 + h.is_leap_year, "D") for h in HOURS
    ],
    "signup[month]": HOURS.month,
    "signup[weekday]": HOURS.isocalendar().day,
    "signup[hour]": HOURS.hour,
}


def infer(values, kinds=None):
    return Schema.infer(read_table(pd.DataFrame({"signup": values})), kinds)


def numbers(values, kinds=None):
    """The columns of numbers that dates are read as, by their names."""
    table = read_table(pd.DataFrame({"signup": values}))
    schema = Schema.infer(table, kinds)
    encoded = schema.encode(table)
    return {name: encoded.values(slice(None), (j,))[:, 0] for j, name in enumerate(schema.names)}


def same(found, expected):
    assert list(found) == list(expected)
    for name, values in found.items():
        np.testing.assert_allclose(values, np.asarray(expected[name], dtype=float), rtol=1e-15)


# ---------------------------------------------------------------- types and layouts

TYPES = {
    "pandas": pd.Series,
    "pandas to the second": lambda hours: pd.Series(hours).astype("datetime64[s]"),
    "pandas with a time zone": lambda hours: pd.Series(hours).dt.tz_localize("Asia/Tokyo"),
    "objects": lambda hours: pd.Series(list(hours.to_pydatetime()), dtype=object),
    "ISO": lambda hours: hours.strftime("%Y-%m-%d %H:%M"),
    "ISO with T and Z": lambda hours: hours.strftime("%Y-%m-%dT%H:%M:%SZ"),
    "ISO with fractions and a zone": lambda hours: hours.strftime("%Y-%m-%dT%H:%M:%S.250+02:00"),
    "slashes, year first": lambda hours: hours.strftime("%Y/%m/%d %H:%M"),
    "day first": lambda hours: hours.strftime("%d/%m/%Y %H:%M"),
    "day first with points": lambda hours: hours.strftime("%d.%m.%Y %H:%M"),
    "month first": lambda hours: hours.strftime("%m/%d/%Y %H:%M"),
    "month first with halves of the day": lambda hours: hours.strftime("%m/%d/%Y %I:%M %p"),
    "two digits of the year": lambda hours: hours.strftime("%m/%d/%y %H:%M"),
    "names of months": lambda hours: hours.strftime("%d %b %Y %H:%M"),
    "long names of months": lambda hours: hours.strftime("%B %d, %Y %H:%M"),
}


@pytest.mark.parametrize("name", TYPES)
def test_dates_of_every_type_and_layout_give_the_same_numbers(name):
    same(numbers(TYPES[name](HOURS)), EXPECTED)


@pytest.mark.parametrize("container", [pl.DataFrame, pa.table])
@pytest.mark.parametrize("dates", [False, True], ids=["times", "dates"])
def test_dates_of_polars_and_arrow_give_the_same_numbers(container, dates):
    values = [h.date() if dates else h for h in HOURS.to_pydatetime()]
    table = read_table(container({"signup": values}))
    schema = Schema.infer(table)
    encoded = schema.encode(table)
    found = {name: encoded.values(slice(None), (j,))[:, 0] for j, name in enumerate(schema.names)}
    same(found, numbers(DAYS) if dates else EXPECTED)
    assert ("signup[hour]" in found) is not dates


@given(st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)))
def test_what_is_written_is_read_back_to_the_second(when):
    when = when.replace(microsecond=0)
    for layout, form in {
        "year-first": "%Y-%m-%d %H:%M:%S",
        "day-first": "%d.%m.%Y %H:%M:%S",
        "month-first": "%m/%d/%Y %I:%M:%S %p",
        "day-name": "%d-%b-%Y %H:%M:%S",
        "name-day": "%B %d, %Y %H:%M:%S",
    }.items():
        times, good = parsed([when.strftime(form)], layout)
        assert good.tolist() == [True]
        assert times[0].item() == when
    (found,) = part_of(np.array([when], dtype="M8[s]"), "weekday")
    assert found == when.isoweekday()


@pytest.mark.parametrize(
    "cell",
    ["2020-02-30", "2021-02-29", "2020-13-01", "2020-00-10", "2020-1-32", "0020-01-01", "2020-01-01 24:00"],
)
def test_days_that_there_are_not_are_no_dates(cell):
    assert parsed([cell], "year-first")[1].tolist() == [False]


# ---------------------------------------------------------------- which parts, and why

NEW_YEARS = [f"{year}-01-01" for year in range(2000, 2012)]


def test_only_parts_that_vary_in_training_are_columns_and_predictions_have_the_same():
    assert list(numbers(NEW_YEARS)) == ["signup[year]", "signup[weekday]"]
    assert list(numbers(["2020-03-02", "2020-03-09", "2020-03-16"])) == ["signup[year]"]
    assert list(numbers(pd.to_datetime(["2020-03-02"] * 4))) == ["signup[year]"]
    schema = infer(NEW_YEARS)
    later = read_table(pd.DataFrame({"signup": ["2020-07-02 12:00"]}))
    np.testing.assert_allclose(schema.encode(later).values(slice(None), (0, 1)), [[2020 + 183.5 / 366, 4.0]])


def test_reasons_say_what_each_column_is():
    columns = infer(TYPES["day first"](HOURS)).columns
    assert [(c.kind, c.reason, c.hint) for c in columns] == [
        ("continuous", "date (day first), position in years", ""),
        ("continuous", "date (day first), month, 1 to 12", ""),
        ("continuous", "date (day first), day of the week, 1 Monday to 7 Sunday", ""),
        ("continuous", "date (day first), hour of the day", ""),
    ]


def test_gaps_stay_gaps_and_words_among_dates_are_gaps_that_are_told():
    values = [None, *DAYS.strftime("%Y-%m-%d"), "unknown"]
    found = numbers(values)
    assert all(
        np.isnan(column[[0, -1]]).all() and not np.isnan(column[1:-1]).any() for column in found.values()
    )
    assert infer(values).columns[0].hint == (
        "read as dates, and 'unknown' (1 cell) as gaps; kinds={'signup': \"categorical\"} keeps its strings"
    )
    assert np.isnan(numbers(pd.Series([pd.NaT, *DAYS]))["signup[year]"]).tolist() == [True] + [False] * N


def test_the_order_of_rows_does_not_matter():
    cells = TYPES["month first"](HOURS)
    assert infer(cells[RNG.permutation(N)]).readings == infer(cells).readings


# ---------------------------------------------------------------- day or month first

EITHER = ["3/4/2020", "5/6/2020", "7/8/2021", "1/2/2021"]


def test_an_order_that_no_cell_settles_is_not_guessed():
    (column,) = infer(EITHER).columns
    assert (column.kind, column.reason) == ("categorical", "strings, 4 categories, dates of unknown order")
    assert column.hint == (
        "its strings are dates ('1/2/2021'), and no cell says whether the day or the month comes first: they "
        "stay categories; kinds={'signup': \"day-first\"} or kinds={'signup': \"month-first\"} reads them"
    )
    assert numbers(EITHER, {"signup": "day-first"})["signup[month]"].tolist() == [4, 6, 8, 2]
    assert numbers(EITHER, {"signup": "month-first"})["signup[month]"].tolist() == [3, 5, 7, 1]
    with pytest.raises(ValueError, match=r"'signup' is declared \"date\", and whether the day or the month"):
        infer(EITHER, {"signup": "date"})


@pytest.mark.parametrize(("cell", "month"), [("13/1/2020", 4), ("1/13/2020", 3)])
def test_one_cell_settles_the_order(cell, month):
    assert numbers([*EITHER, cell])["signup[month]"][0] == month


def test_points_mean_day_first():
    assert numbers([cell.replace("/", ".") for cell in EITHER])["signup[month]"].tolist() == [4, 6, 8, 2]


def test_parts_of_a_table_have_one_order():
    first, second = (
        infer(cells)
        for cells in (["13/1/2020", "14/2/2020", "15/3/2021"], ["1/13/2020", "2/14/2020", "3/15/2021"])
    )
    with pytest.raises(
        ValueError, match=r"'signup' is read as date \(day first\).*in one table and as date \(month"
    ):
        first.union(second)


@pytest.mark.parametrize(
    "values",
    [
        ["2020-01-01", "2020-01-02"] * 3,
        ["2020-01", "2020-99", "2020-45", "2020-11"],
        ["555-1234", "555-1235", "555-1236"],
        ["1.2.3", "1.2.4", "2.0.1"],
        ["10-19", "20-29", "30-39"],
        ["Monday", "Tuesday", "Friday"],
        ["192.168.0.1", "10.0.0.1", "10.0.0.2"],
        ["2020", "2021", "2022"],
    ],
)
def test_what_is_no_date_stays_a_category(values):
    assert infer(values).kinds == ("categorical",)
    assert infer(values).readings == ()


# ---------------------------------------------------------------- models


@pytest.mark.parametrize(
    "estimator",
    [NaiveBayes(), GaussianNB(), LDA(), QDA(), LogisticRegression(), LogisticRegression(columns=["signup"])],
    ids=str,
)
@pytest.mark.parametrize("name", ["pandas", "day first"])
def test_a_model_of_dates_is_that_of_their_parts_to_the_bit(estimator, name, tmp_path):
    dates = FRAME.assign(signup=np.asarray(TYPES[name](HOURS)))
    plain = pd.DataFrame(
        {"other": OTHER, **{k: np.asarray(v, dtype=float) for k, v in numbers(HOURS).items()}}
    )
    if getattr(estimator, "columns", None):
        plain = plain.drop(columns="other")
    expected = type(estimator)().fit(plain, Y).predict_proba(plain)
    fitted = estimator.fit(dates, Y)
    np.testing.assert_array_equal(fitted.predict_proba(dates), expected)
    np.testing.assert_array_equal(
        fitted.predict_proba(dates[["signup", "other"]][7:9]), fitted.predict_proba(dates)[7:9]
    )
    assert (fitted.n_features_in_, fitted.feature_names_in_.tolist()) == (2, ["other", "signup"])
    save(fitted, tmp_path / "a.model")
    again = load(tmp_path / "a.model")
    np.testing.assert_array_equal(again.predict_proba(dates), expected)
    assert again.schema_ == fitted.schema_
    assert (again.n_features_in_, again.feature_names_in_.tolist()) == (2, ["other", "signup"])


def test_parts_of_a_table_add_up():
    assert_parts_add_up(FRAME, Y)


@pytest.mark.filterwarnings("ignore::posterior.notices.PosteriorWarning")
def test_what_is_around_a_model_reads_dates_too():
    plain = pd.DataFrame({"other": OTHER, **numbers(HOURS)})
    found = DecisionClassifier(NaiveBayes(), cv=3).fit(FRAME, Y).predict_proba(FRAME)
    expected = DecisionClassifier(NaiveBayes(), cv=3).fit(plain, Y).predict_proba(plain)
    np.testing.assert_array_equal(found, expected)
    comparison = Comparison.of(
        FRAME.assign(good=Y), "good", models=["naive-bayes", "logistic"], folds=3, repeats=1
    )
    assert comparison.schema.names == ("other", *EXPECTED)


def test_columns_are_chosen_by_their_name_and_by_that_of_a_part():
    model = GenerativeClassifier([("signup", Normal())]).fit(FRAME, Y)
    assert [
        name for block in model.model_.blocks for name in [model.schema_.names[j] for j in block.columns]
    ] == list(EXPECTED)
    months = NaiveBayes(kinds={"signup[month]": "categorical"}).fit(FRAME, Y).schema_.columns[2]
    assert (months.kind, len(months.categories)) == ("categorical", 12)
    families = NaiveBayes(families={"signup[month]": Categorical()}).fit(FRAME, Y)
    assert families.schema_.columns[2].kind == "categorical"


def test_the_ways_out():
    schema = Schema.infer(read_table(FRAME), {"signup": "categorical"})
    assert schema.names == ("other", "signup")
    assert schema.columns[1].categories[0] == min(HOURS).isoformat()
    with pytest.raises(ValueError, match="'signup' is read as binary, but has"):
        Schema.infer(read_table(FRAME), {"signup": "binary"})
    with pytest.raises(ValueError, match=r"'signup' holds date values.*derive a number"):
        Schema.infer(read_table(FRAME), {"signup": "count"})


def test_what_is_no_date_in_prediction_is_refused():
    model = NaiveBayes().fit(FRAME.assign(signup=TYPES["day first"](HOURS)), Y)
    with pytest.raises(
        ValueError,
        match=r"column 'signup' is read as dates \(day first\), found '12/31/2020' \(first in row ",
    ):
        model.predict(pd.DataFrame({"other": [0.0], "signup": ["12/31/2020"]}))
    with pytest.raises(ValueError, match="column 'signup' is read as dates, found float values; pass dates"):
        model.predict(pd.DataFrame({"other": [0.0], "signup": [2020.5]}))
    with pytest.raises(ValueError, match="Feature names seen at fit time, yet now missing:\n- signup\n"):
        model.predict(FRAME[["other"]])
    np.testing.assert_array_equal(model.predict(FRAME), NaiveBayes().fit(FRAME, Y).predict(FRAME))
