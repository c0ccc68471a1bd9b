"""A target that is a number, on the command line: compared, fitted, predicted; or taken as classes."""

import json
import re

import numpy as np
import pyarrow as pa
import pytest

from posterior.cli.app import run
from posterior.files import read, write_batches
from posterior.persistence import load


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 240
    city, age = rng.choice(["Rome", "Oslo"], n), rng.integers(20, 80, n)
    rent = 300 + 100 * (city == "Rome") + 5.0 * age + rng.normal(0, 30, n)
    stars = np.clip(np.round(rent / 200), 1, 5).astype(int)
    path = tmp_path_factory.mktemp("numbers") / "t.csv"
    columns = {
        "city": city,
        "age": age,
        "rent": np.where(np.arange(n) < 3, np.nan, rent.round(1)),
        "stars": stars,
    }
    write_batches(
        path, [pa.table({name: pa.array(cells, from_pandas=True) for name, cells in columns.items()})]
    )
    return str(path)


def said(capsys):
    found = capsys.readouterr()
    return " ".join(found.out.split()), " ".join(found.err.split())


def test_a_number_is_compared_by_regressions_and_that_is_said(table, capsys):
    assert run(["compare", table, "-t", "rent", "--folds", "5", "--repeats", "1"]) == 0
    out, err = said(capsys)
    assert "'rent' looks like a number to predict (" in err
    assert "different numbers from" in err
    assert "--classes takes each number as a class" in err
    assert "rows without a number, left out: 3 of 240" in err
    for word in (
        "log score",
        "R²",
        "absolute error",
        "in 90 % interval",
        "linear, Laplace noise",
        "ridge",
        "lasso",
    ):
        assert word in out
    assert "off by" in out


def test_few_whole_numbers_are_classes_unless_asked(table, capsys):
    few = ["--folds", "5", "--repeats", "1"]
    assert run(["compare", table, "-t", "stars", "--models", "majority,naive-bayes", *few]) == 0
    assert "classes in stars" in said(capsys)[0]
    assert run(["compare", table, "-t", "stars", "--regression", "--drop", "rent", *few, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["recommended"] in {"linear", "laplace", "ridge", "lasso"}
    assert found["results"][0]["r_squared"] > 0.5
    assert {result["name"] for result in found["results"]} >= {"mean", "linear", "laplace", "ridge", "lasso"}


def test_a_column_of_many_numbers_may_be_classes(table, capsys):
    assert run(["compare", table, "-t", "age", "--classes", "--models", "majority", "--repeats", "1"]) == 0
    assert "classes in age" in said(capsys)[0]


@pytest.mark.parametrize("model", ["best", "laplace", "ridge"])
def test_a_regression_is_fitted_and_predicts_with_intervals(table, tmp_path, capsys, model):
    file, out = str(tmp_path / "m.posterior"), str(tmp_path / "p.csv")
    assert run(["fit", table, "-t", "rent", "--model", model, "--drop", "stars", "-o", file]) == 0
    assert "on rows held out: absolute error" in said(capsys)[0]
    assert run(["predict", file, table, "-o", out, "--keep", "rent"]) == 0
    assert "on these rows (237 of known number): off by" in said(capsys)[1]
    found = read(out)
    assert found.column_names == ["rent", "predicted", "low_90", "high_90"]
    y, middle, low, high = (found[name].to_numpy() for name in found.column_names)
    fitted = load(file)
    X = read(table).select(["city", "age"])
    assert middle == pytest.approx(fitted.predict(X))
    assert (low < middle).all()
    inside = (y >= low) & (y <= high)
    assert 0.85 < inside[3:].mean() < 0.95
    assert run(["inspect", file]) == 0
    assert "on rows held out: absolute error" in said(capsys)[0]


def test_a_regression_by_name_asks_for_a_number(table, tmp_path, capsys):
    file = str(tmp_path / "m.posterior")
    assert run(["fit", table, "-t", "stars", "--model", "linear", "-o", file]) == 0
    assert run(["inspect", file]) == 0
    capsys.readouterr()
    assert run(["fit", table, "-t", "city", "--model", "linear", "-o", file]) == 2
    assert "--regression: 'city' holds no numbers, but" in said(capsys)[1]


MISTAKES = {
    "--costs is for classes": ["compare", "-t", "rent", "--costs", "a:b=1"],
    "--positive is for classes": ["compare", "-t", "rent", "--positive", "1"],
    "--report is for classes": ["compare", "-t", "rent", "--report", "r.html"],
    "--model lda: the target is a number; choose best": ["fit", "-t", "rent", "--model", "lda", "-o", "m"],
    "--calibration is for classes": ["fit", "-t", "rent", "--calibration", "temperature", "-o", "m"],
    "--model ridge: there is no such model": [
        "fit",
        "-t",
        "stars",
        "--classes",
        "--model",
        "ridge",
        "-o",
        "m",
    ],
    "there is no regression 'lda'": ["compare", "-t", "rent", "--models", "lda"],
    "looks like a number to predict, as `posterior compare`": ["curve", "-t", "rent"],
    "--kind rent=categorical takes each number as one": ["studio", "-t", "rent", "-o", "studio.html"],
    "different whole numbers from": ["studio", "-t", "age", "-o", "studio.html"],
}


@pytest.mark.parametrize("message", MISTAKES)
def test_what_only_classes_have_is_refused(table, tmp_path, monkeypatch, capsys, message):
    monkeypatch.chdir(tmp_path)
    command, *options = MISTAKES[message]
    assert run([command, table, *options]) == 2
    assert message in said(capsys)[1]
    assert list(tmp_path.iterdir()) == []


def test_large_numbers_are_plain_and_what_is_better_is_said(folder, capsys):
    rng = np.random.default_rng(0)
    size = rng.normal(size=150)
    price = (2_500_000 + 600_000 * size + 200_000 * rng.normal(size=150)).round(2)
    write_batches("houses.csv", [pa.table({"size": size, "price": price})])
    assert run(["compare", "houses.csv", "-t", "price", "--repeats", "1"]) == 0
    out, err = said(capsys)
    assert not re.search(r"\de[+-]\d", out + err)
    assert re.search(r"off by 1\d\d,\d{3} on average", out)
    assert "lower is better" in out
    assert "stratified" not in out


def test_a_number_beside_a_date_is_compared_and_its_gaps_are_those_of_the_date(tmp_path, capsys):
    rng = np.random.default_rng(0)
    days = np.datetime64("2020-01-01") + rng.integers(0, 900, 120)
    rows = [f"{days[i] if i % 10 else ''},{x:.3f}" for i, x in enumerate(rng.normal(size=120))]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["signup,income", *rows]) + "\n", encoding="utf-8")
    command = ["compare", str(path), "-t", "income", "--models", "mean,linear", "--repeats", "1"]
    assert run(command) == 0
    capsys.readouterr()
    assert run([*command, "--json"]) == 0
    columns = {c["name"]: c["gaps"] for c in json.loads(capsys.readouterr().out)["columns"]}
    assert columns["signup[month]"] == 12
