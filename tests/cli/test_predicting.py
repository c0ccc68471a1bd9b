"""Rows that a model has not met, as people have them: what is needed of them, and what is said of them."""

import json

import numpy as np
import pytest

from commands import printed, ran, told

pytest.importorskip("typer", reason="the command line is an extra")

from posterior import files

N = 120
RNG = np.random.default_rng(8)
AMOUNT = RNG.gamma(2.0, 3.0, N).round(3)
GOOD = AMOUNT + RNG.normal(size=N) > 5
DAYS = np.datetime64("2023-01-05") + 5 * np.arange(N)
NAMES = [f"{i * 7919:08x}" for i in range(N)]


def write(name, columns, rows=N, last=""):
    lines = [";".join(str(cells[i]) for cells in columns.values()) for i in range(rows)]
    with open(name, "w") as file:
        file.write("\n".join([";".join(columns), *lines]) + "\n" + last)


def table(**others):
    amount = [str(value).replace(".", ",") for value in AMOUNT]
    return {"day": DAYS, "amount": amount, **others, "ok": np.where(GOOD, "yes", "no")}


@pytest.mark.parametrize("form", ["jsonl", "db", "xlsx"])
def test_a_number_stays_that_number_for_a_model_of_decimal_commas(folder, capsysbinary, form):
    write("t.csv", table())
    printed(capsysbinary, "fit", "t.csv", "-t", "ok", "-m", "naive-bayes", "-o", "a.model")
    printed(capsysbinary, "predict", "a.model", "t.csv", "-o", "one.csv")
    rows = [(str(day), float(amount)) for day, amount in zip(DAYS, AMOUNT, strict=True)]
    written(f"new.{form}", rows)
    printed(capsysbinary, "predict", "a.model", f"new.{form}", "-o", "two.csv")
    assert files.read("one.csv").equals(files.read("two.csv"))
    written(f"new.{form}", [*rows, ("2024-01-01", "1,5")])
    message = "has numbers as well as texts in column 'amount'; write all of them in one way"
    assert message in ran(capsysbinary, "predict", "a.model", f"new.{form}").notes


def written(name, rows):
    """The columns day and amount in a file whose cells have types of their own."""
    if name.endswith("jsonl"):
        lines = [json.dumps({"day": day, "amount": amount}) for day, amount in rows]
        with open(name, "w") as file:
            file.write("\n".join(lines))
    elif name.endswith("db"):
        sqlite = pytest.importorskip("sqlite3")
        with sqlite.connect(name) as connection:
            connection.execute("DROP TABLE IF EXISTS new")
            connection.execute("CREATE TABLE new (day, amount)")
            connection.executemany("INSERT INTO new VALUES (?, ?)", rows)
        connection.close()
    else:
        with pytest.importorskip("xlsxwriter").Workbook(name) as book:
            sheet = book.add_worksheet()
            for i, row in enumerate([("day", "amount"), *rows]):
                sheet.write_row(i, 0, row)


def test_a_cell_that_is_no_date_is_named_with_its_row(folder, capsysbinary):
    write("t.csv", table())
    printed(capsysbinary, "fit", "t.csv", "-t", "ok", "-m", "naive-bayes", "-o", "a.model")
    write("new.csv", table(), last="Grand total;731,5;\n")
    found = ran(capsysbinary, "predict", "a.model", "new.csv", "-o", "out.csv")
    assert found.code == 2
    assert f"new.csv has 'Grand total' in row {N + 1} of column 'day', which is read as dates" in found.notes
    assert "pass --missing 'Grand total' if it marks a gap" in found.notes
    printed(capsysbinary, "predict", "a.model", "new.csv", "-o", "out.csv", "--missing", "Grand total")
    assert files.read("out.csv").num_rows == N + 1


@pytest.mark.parametrize("model", ["naive-bayes", "logistic", "lda"])
def test_what_was_left_out_in_training_need_not_be_there(folder, capsysbinary, model):
    write("t.csv", table(uuid=NAMES, customer_id=1000 + np.arange(N)))
    told(capsysbinary, "fit", "t.csv", "-t", "ok", "-m", model, "-o", "a.model")
    printed(capsysbinary, "predict", "a.model", "t.csv", "-o", "one.csv")
    write("new.csv", table())
    printed(capsysbinary, "predict", "a.model", "new.csv", "-o", "two.csv")
    assert files.read("one.csv").equals(files.read("two.csv"))
    write("new.csv", {"day": DAYS, "uuid": NAMES})
    found = ran(capsysbinary, "predict", "a.model", "new.csv", "-o", "two.csv")
    assert "new.csv has no column 'amount', which the model was fitted with" in found.notes


def test_figures_are_those_of_these_rows_and_it_is_said_when_they_are_those_of_training(folder, capsysbinary):
    write("t.csv", table())
    printed(capsysbinary, "fit", "t.csv", "-t", "ok", "-m", "naive-bayes", "-o", "a.model")
    found = told(capsysbinary, "predict", "a.model", "t.csv", "-o", "out.csv").notes
    assert f"on these rows ({N} of known class): accuracy" in found
    assert "these look like the rows that the model learnt from, which say little of others" in found
    assert "on rows held out" in found
    write("new.csv", table(), rows=N - 1)
    found = told(capsysbinary, "predict", "a.model", "new.csv", "-o", "out.csv").notes
    assert f"on these rows ({N - 1} of known class): accuracy" in found
    assert "learnt from" not in found


def test_classes_of_other_spellings_are_known(folder, capsysbinary):
    spelt = np.where(GOOD, np.resize(["yes", "Yes", "Y"], N), np.resize(["no", "N", "No"], N))
    write("t.csv", {**table(), "ok": spelt})
    printed(capsysbinary, "fit", "t.csv", "-t", "ok", "-m", "naive-bayes", "-o", "a.model")
    found = told(capsysbinary, "predict", "a.model", "t.csv", "-o", "out.csv").notes
    assert f"on these rows ({N} of known class)" in found
    assert "does not know" not in found
    write("new.csv", {**table(), "ok": ["perhaps", *spelt[1:]]})
    found = told(capsysbinary, "predict", "a.model", "new.csv", "-o", "out.csv").notes
    assert "1 of a class that the model does not know" in found


def test_a_number_in_disguise_is_scored_as_that_number(folder, capsysbinary):
    write("t.csv", {"x": AMOUNT, "price": [f"€ {3 * value + 100:,.2f}" for value in AMOUNT + GOOD]})
    printed(capsysbinary, "fit", "t.csv", "-t", "price", "-m", "linear", "-o", "a.model")
    found = told(capsysbinary, "predict", "a.model", "t.csv", "-o", "out.csv").notes
    assert f"on these rows ({N} of known number): off by" in found
    assert "these look like the rows that the model learnt from" in found


def test_an_explanation_shows_the_parts_of_a_date(folder, capsysbinary):
    write("t.csv", table())
    printed(capsysbinary, "fit", "t.csv", "-t", "ok", "-m", "naive-bayes", "-o", "a.model")
    found = printed(capsysbinary, "explain", "a.model", "t.csv", "--row", "30")
    line = next(line for line in found.splitlines() if line.strip().startswith("day[month]"))
    assert line.split()[:2] == ["day[month]", str(DAYS[30].astype("M8[M]").astype(int) % 12 + 1)]


def test_a_regression_is_explained_by_what_each_column_adds(folder, capsysbinary):
    write("t.csv", {"x": AMOUNT, "sex": np.where(GOOD, "f", "m"), "y": 3 * AMOUNT + 7 * GOOD})
    printed(capsysbinary, "fit", "t.csv", "-t", "y", "-m", "linear", "-o", "a.model")
    found = json.loads(printed(capsysbinary, "explain", "a.model", "t.csv", "--row", "5", "--json"))
    added = found["by_feature"]
    assert list(added) == sorted(added, key=lambda name: -abs(added[name]))
    np.testing.assert_allclose(sum(added.values()), found["predicted"])
    np.testing.assert_allclose(added["x"], 3 * (AMOUNT[5] - AMOUNT.mean()))
    shown = printed(capsysbinary, "explain", "a.model", "t.csv", "--row", "5")
    assert f"y: {found['number']:.6g}" in shown
    assert "less │ more" in shown
