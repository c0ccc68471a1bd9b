"""Files as people really have them, on the command line: what each column is read as, and that it is told."""

import numpy as np
import pytest

from commands import as_json, printed, told
from disguises import DISGUISES, amounts

pytest.importorskip("typer", reason="the command line is an extra")

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from posterior import files
from posterior.cli.app import run
from posterior.schema.readings.dates import part_of

N = 80
VALUES = amounts(N)
RNG = np.random.default_rng(3)
GOOD = np.where(np.sign(VALUES) + RNG.normal(size=N) > 0, "yes", "no")
OTHER = RNG.normal(size=N)


def columns(capsysbinary, *arguments):
    """How the columns of a file are read."""
    found = as_json(capsysbinary, "data", *arguments)
    return {column["name"]: column for column in found["columns"]}


def write(name, **cells):
    table = pa.table({**cells, "other": OTHER[: len(next(iter(cells.values())))]})
    (pa.csv.write_csv if name.endswith("csv") else pq.write_table)(table, name)


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_file_of_disguised_numbers_is_fitted_and_predicted_as_one_of_numbers(
    disguise, folder, capsysbinary
):
    write("plain.csv", x=VALUES, good=GOOD)
    write("dressed.csv", x=[DISGUISES[disguise](v) for v in VALUES], good=GOOD)
    assert columns(capsysbinary, "dressed.csv")["x"]["why"] == disguise
    for name in ("plain", "dressed"):
        fit = ("fit", f"{name}.csv", "--target", "good", "--model", "naive-bayes", "-o", f"{name}.model")
        printed(capsysbinary, *fit)
        printed(capsysbinary, "predict", f"{name}.model", f"{name}.csv", "-o", f"{name}.out.csv")
    assert files.read("dressed.out.csv").equals(files.read("plain.out.csv"))


def test_what_is_assumed_is_told_with_the_flag_that_changes_it(folder, capsysbinary):
    write("prices.csv", price=["1,234", "52,000", "999,999", "10,500", "2,000"])
    out, notes, _ = told(capsysbinary, "data", "prices.csv")
    assert "thousands with a comma" in out
    assert "column 'price': '1,234' is read as 1234 and could be 1.234" in notes
    assert "--kind price=decimal-comma reads it so" in notes
    price = columns(capsysbinary, "prices.csv", "--kind", "price=decimal-comma")["price"]
    assert (price["why"], "note" in price) == ("declared, decimal comma", False)
    assert (
        columns(capsysbinary, "prices.csv", "--kind", "price=categorical")["price"]["kind"] == "categorical"
    )


def test_typed_columns_of_another_file_are_numbers_for_a_model_of_disguised_ones(folder, capsysbinary):
    write("dressed.csv", x=[DISGUISES["decimal comma"](v) for v in VALUES], good=GOOD)
    write("plain.parquet", x=VALUES)
    printed(capsysbinary, "fit", "dressed.csv", "-t", "good", "-m", "naive-bayes", "-o", "a.model")
    printed(capsysbinary, "predict", "a.model", "dressed.csv", "-o", "one.csv")
    printed(capsysbinary, "predict", "a.model", "plain.parquet", "-o", "two.csv")
    assert files.read("one.csv").equals(files.read("two.csv"))


HOURS = np.datetime64("2018-03-01T00", "s") + 3600 * RNG.integers(0, 4 * 365 * 24, N)
LAYOUTS = {
    "iso.csv": "%Y-%m-%d %H:%M:%S",
    "german.csv": "%d.%m.%Y %H:%M",
    "british.csv": "%d/%m/%Y %H:%M",
    "american.csv": "%m/%d/%Y %I:%M %p",
    "named.csv": "%d %b %Y %H:%M",
}


@pytest.mark.parametrize("name", [*LAYOUTS, "typed.parquet"])
def test_a_file_of_dates_is_fitted_and_predicted_by_their_parts(name, folder, capsysbinary):
    form = LAYOUTS.get(name)
    write(name, signup=[h.strftime(form) for h in HOURS.tolist()] if form else HOURS, good=GOOD)
    found = columns(capsysbinary, name)
    parts = [f"signup[{part}]" for part in ("year", "month", "weekday", "hour")]
    assert list(found) == [*parts, "good", "other"]
    assert all(found[part]["why"].startswith("date") for part in parts)
    printed(capsysbinary, "fit", name, "-t", "good", "-m", "naive-bayes", "-o", "a.model")
    printed(capsysbinary, "predict", "a.model", name, "-o", "dates.csv")
    write("parts.csv", **{part: _part(part) for part in parts}, good=GOOD)
    printed(capsysbinary, "fit", "parts.csv", "-t", "good", "-m", "naive-bayes", "-o", "b.model")
    printed(capsysbinary, "predict", "b.model", "parts.csv", "-o", "plain.csv")
    assert files.read("dates.csv").equals(files.read("plain.csv"))
    shown = printed(capsysbinary, "inspect", "a.model")
    assert "signup[month]" in shown


def _part(name):
    return part_of(HOURS, name[len("signup[") : -1])


def test_the_ways_out_of_dates(folder, capsysbinary):
    write("days.csv", signup=["3/4/2020", "5/6/2020", "7/8/2021", "9/10/2021"])
    notes = told(capsysbinary, "data", "days.csv").notes
    assert "--kind signup=day-first or --kind signup=month-first reads them" in notes
    assert "signup[month]" in columns(capsysbinary, "days.csv", "--kind", "signup=day-first")
    assert (
        columns(capsysbinary, "days.csv", "--kind", "signup=categorical")["signup"]["kind"] == "categorical"
    )
    assert list(columns(capsysbinary, "days.csv", "--drop", "signup")) == ["other"]
    parts = columns(
        capsysbinary, "days.csv", "--kind", "signup=day-first", "--kind", "signup[month]=categorical"
    )
    assert parts["signup[month]"]["kind"] == "categorical"


def test_a_comparison_and_its_report_take_dates(folder, capsysbinary):
    write("dates.csv", signup=[str(h) for h in HOURS.tolist()], good=GOOD)
    arguments = ("compare", "dates.csv", "-t", "good", "--models", "naive-bayes,logistic", "--folds", "3")
    shown = printed(capsysbinary, *arguments, "--repeats", "1", "--report", "report.html")
    assert "signup[month]" in shown
    assert "signup[month]" in (folder / "report.html").read_text()


# -- codes ----------------------------------------------------------------------------------------


def test_each_finding_is_told_with_its_flag(folder, capsysbinary):
    write(
        "codes.csv",
        **{
            "": np.arange(N),
            "customer_id": RNG.permutation(10 * N)[:N],
            "step": np.arange(N) * 3,
            "zip": [f"{i:05d}" for i in RNG.integers(0, 100_000, N // 2).repeat(2)],
            "age": np.where(np.arange(N) % 9 == 0, -999, RNG.integers(18, 90, N)),
            "region": ["North", "North", "NORTH", "South", "South", "south", "North", "South"] * (N // 8),
            "paid": ["yes", "yes", "Y", "TRUE", "no", "no", "N", "yes"] * (N // 8),
            "good": GOOD,
        },
    )
    out, notes, _ = told(capsysbinary, "data", "codes.csv")
    assert (
        "column 'column_1': counts the rows, as its name says: left out; --kind column_1=continuous" in notes
    )
    assert "column 'customer_id': a different whole number in each row, as its name says: left out" in notes
    assert "column 'step': changes in one direction from row to row" in notes
    assert "(--drop step)" in notes
    assert "make it missing if it does (--missing -999)" in notes
    assert "column 'region': 'NORTH', 'south' (20 cells) read as 'North', 'South'; --kind region=cat" in notes
    assert (
        "'N', 'TRUE', 'Y' (30 cells) read as 'no', 'yes'; --kind paid=categorical keeps them apart" in notes
    )
    assert "zip" not in notes
    assert "codes with leading zeros" in " ".join(out.split())
    assert any("'customer_id'" in note for note in as_json(capsysbinary, "data", "codes.csv")["notes"])
    found = columns(capsysbinary, "codes.csv", "--missing", "-999", "--kind", "customer_id=continuous")
    assert list(found) == ["customer_id", "step", "zip", "age", "region", "paid", "good", "other"]
    assert (found["age"]["gaps"], "note" in found["age"]) == (9, False)
    assert found["paid"]["levels"] == ["no", "yes"]
    fit = ("fit", "codes.csv", "-t", "good", "-m", "naive-bayes", "-o", "a.model", "--missing", "-999")
    assert "as its name says: left out" in told(capsysbinary, *fit).notes
    without = files.read("codes.csv").drop_columns(["column_1", "customer_id"])
    pa.csv.write_csv(without, "without.csv")
    printed(capsysbinary, "predict", "a.model", "codes.csv", "-o", "one.csv")
    printed(capsysbinary, "predict", "a.model", "without.csv", "-o", "two.csv")
    assert files.read("one.csv").equals(files.read("two.csv"))


def test_a_file_is_looked_at_and_not_written(folder, capsysbinary):
    write("prices.csv", price=["1", "2", "3"])
    assert run(["data", "prices.csv", "-o", "out.csv"]) == 2
    assert b"only a bundled table is written" in capsysbinary.readouterr().err
    assert list(columns(capsysbinary, "prices.csv", "--drop", "other")) == ["price"]
    assert run(["data", "prices.csv", "--drop", "other", "--drop", "price"]) == 2


def test_a_target_is_read_as_a_column_is(tmp_path, capsys):
    spelt = "".join(f"{i},{('yes', 'Yes', 'Y', 'no', 'No', 'N')[i % 6]}\n" for i in range(60))
    (tmp_path / "t.csv").write_text("x,ok\n" + spelt)
    assert run(["compare", str(tmp_path / "t.csv"), "-t", "ok", "--models", "majority"]) == 0
    said = " ".join("".join(capsys.readouterr()).split())
    assert (
        "'ok' is read as spellings of 'N', 'Y' merged; --kind ok=categorical takes each cell as it is" in said
    )
    for way_out in (["--classes"], ["--kind", "ok=categorical"]):
        assert run(["compare", str(tmp_path / "t.csv"), "-t", "ok", "--models", "majority", *way_out]) == 0
        assert "Yes 10" in " ".join("".join(capsys.readouterr()).split())
    money = "".join(f'{i},"€{i},{500 + i}"\n' for i in range(100, 160))
    (tmp_path / "m.csv").write_text("x,price\n" + money)
    assert run(["compare", str(tmp_path / "m.csv"), "-t", "price"]) == 0
    said = " ".join("".join(capsys.readouterr()).split())
    assert "looks like a number to predict" in said
    assert "currency" in said


def test_data_takes_a_table_of_a_file(tmp_path, capsys):
    (tmp_path / "t.json").write_text('{"rows": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]}')
    assert run(["data", f"{tmp_path / 't.json'}#rows"]) == 0
    assert "2 rows" in "".join(capsys.readouterr())


def test_fitting_one_model_names_a_column_that_gives_the_class_away(tmp_path, capsys):
    rows = "".join(f"{i % 7},{i % 2},{'ab'[i % 2]}\n" for i in range(80))
    (tmp_path / "t.csv").write_text("x,paid,ok\n" + rows)
    model = str(tmp_path / "m.posterior")
    assert run(["fit", str(tmp_path / "t.csv"), "-t", "ok", "--model", "naive-bayes", "-o", model]) == 0
    assert "Careful: 'paid'" in " ".join("".join(capsys.readouterr()).split())


def test_each_thing_is_noted_once_though_all_models_and_the_fit_say_it(folder, capsysbinary):
    names = [f"{i * 7919:08x}" for i in range(N)]
    write("t.csv", x=VALUES, customer_id=1000 + 7 * np.arange(N), uuid=names, good=GOOD)
    notes = told(capsysbinary, "fit", "t.csv", "-t", "good", "-o", "a.model").notes
    assert notes.count("column 'customer_id': a different whole number in each row") == 1
    assert notes.count("'uuid' has a category for nearly every row") == 1
