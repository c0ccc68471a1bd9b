"""The command line from a table to a report, a model and predictions."""

import csv
import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from commands import as_json, printed
from places import DATA

pytest.importorskip("typer", reason="the command line is an extra")

import pyarrow.parquet as pq

import posterior
from posterior.cli import main
from posterior.cli.app import run
from posterior.cli.decision_options import read_costs, read_priors, read_reject
from posterior.comparison import Comparison
from posterior.datasets import load_penguins, load_voters
from posterior.workflow import predictions, train

needs_shared = pytest.mark.skipif(not DATA.is_dir(), reason="needs the real tables beside the repository")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


# -- compare --------------------------------------------------------------------------------------


def test_comparing_the_penguins_recommends_a_model_that_is_right(folder, capsysbinary):
    found = as_json(capsysbinary, "compare", "penguins", "--folds", "3", "--repeats", "1")
    best = next(r for r in found["results"] if r["name"] == found["recommended"])
    assert found["recommended"] in {"block", "lda", "rda", "qda", "logistic", "quadratic", "pool"}
    assert best["accuracy"] >= 0.98
    assert {r["approach"] for r in found["results"]} == {
        "baseline", "generative", "discriminative", "discriminant", "pool",
    }  # fmt: skip
    assert found["rows"] == 344
    assert {c["name"]: c["gaps"] for c in found["columns"]}["sex"] == 11
    single = [r for r in found["results"] if r["name"] != "pool"]
    assert single == sorted(single, key=lambda r: (r["log_loss"] is None, r["log_loss"]))


def test_at_one_in_two_thousand_accuracy_is_no_headline(folder, capsysbinary):
    rng = np.random.default_rng(0)
    fraud = np.arange(6000) % 2000 == 7
    lines = [
        f"{v:.4f},{'fraud' if f else 'fair'}"
        for v, f in zip(rng.normal(size=6000) + fraud, fraud, strict=True)
    ]
    Path("payments.csv").write_text("amount,outcome\n" + "\n".join(lines), encoding="utf-8")
    asked = ("compare", "payments.csv", "-t", "outcome", "--models", "majority,lda")
    said = " ".join(printed(capsysbinary, *asked).split())
    assert "99.95 % of the rows are fair: always answering fair is right as often" in said
    assert "Of 3 fraud rows" in said
    assert " 1.000 " not in said[said.index("log loss") : said.index("recall:")]
    assert as_json(capsysbinary, *asked)["imbalance"].startswith("99.95 % of the rows are fair")


def test_what_was_inferred_is_printed_before_the_results(folder, capsysbinary):
    shown = printed(capsysbinary, "compare", "voters", "--models", "majority,naive-bayes", "--repeats", "1")
    assert (
        shown.index("400 rows") < shown.index("categorical") < shown.index("log loss") < shown.index("Use ")
    )


def test_the_same_seed_gives_the_same_figures(folder, capsysbinary):
    def losses(seed):
        arguments = (
            "compare",
            "voters",
            "--models",
            "naive-bayes",
            "--repeats",
            "1",
            "--seed",
            seed,
        )
        return [r["log_loss"] for r in as_json(capsysbinary, *arguments)["results"]]

    assert losses("3") == losses("3") != losses("4")


def test_costs_are_averaged_and_decide_what_is_recommended(folder, capsysbinary):
    (folder / "costs.csv").write_text(
        "truth,Adelie,Chinstrap,Gentoo\nAdelie,0,1,1\nChinstrap,50,0,1\nGentoo,1,1,0\n"
    )
    models = ("--models", "majority,naive-bayes,lda", "--repeats", "1")
    inline = as_json(capsysbinary, "compare", "penguins", *models, "--costs", "Chinstrap:Adelie=50")
    by_file = as_json(capsysbinary, "compare", "penguins", *models, "--costs", "costs.csv")
    costs = [r["average_cost"] for r in inline["results"]]
    assert costs == sorted(costs)
    assert costs == [r["average_cost"] for r in by_file["results"]]


def test_a_mistake_that_pays_is_pointed_out(capsys):
    arguments = ("compare", "penguins", "--models", "majority,lda", "--repeats", "1", "--folds", "3")
    assert run([*arguments, "--costs", "Adelie:Gentoo=-5"]) == 0
    assert "a negative cost is a gain, so that this mistake pays" in " ".join(capsys.readouterr().err.split())


def test_groups_stay_together_and_time_goes_forward(folder, capsysbinary):
    models = ("--models", "naive-bayes", "--folds", "3")
    grouped = as_json(capsysbinary, "compare", "penguins", *models, "--groups", "island")
    assert "island" not in [c["name"] for c in grouped["columns"]]
    assert "group" in grouped["folds"]
    forward = as_json(capsysbinary, "compare", "penguins", *models, "--time", "year")
    assert "time" in forward["folds"] or "earlier" in forward["folds"]


@pytest.fixture(scope="module")
def loss_of_voters():
    voters = load_voters("pyarrow")
    return Comparison.of(voters.X, voters.y, models=["naive-bayes"], repeats=1).results[0].log_loss


@pytest.mark.parametrize("form", ["csv", "csv.gz", "tsv", "jsonl", "parquet", "arrow"])
def test_every_format_gives_the_same_comparison(folder, capsysbinary, form, loss_of_voters):
    printed(capsysbinary, "data", "voters", "-o", f"voters.{form}")
    models = ("--models", "naive-bayes", "--repeats", "1", "-t", "candidate")
    found = as_json(capsysbinary, "compare", f"voters.{form}", *models)
    assert found["results"][0]["log_loss"] == pytest.approx(loss_of_voters, rel=1e-12)


def test_a_report_is_written_whole(folder, capsysbinary):
    shown = printed(
        capsysbinary,
        "compare",
        "voters",
        "--models",
        "majority,naive-bayes",
        "--repeats",
        "1",
        "--report",
        "r.html",
    )
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "r.html" in shown
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")
    assert [p.name for p in folder.iterdir()] == ["r.html"]


def test_the_commands_of_a_report_repeat_how_the_file_was_read(folder, capsysbinary):
    (folder / "t.csv").write_text(
        "\n".join(["a;k;id", *(f"{i % 5};{'xy'[i % 2]};{i}" for i in range(40)), "?;x;9"])
    )
    said = ("--missing", "?", "--delimiter", ";", "--drop", "id")
    printed(
        capsysbinary, "compare", "t.csv", "-t", "k", *said, "--models", "majority,lda", "--report", "r.html"
    )
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "--delimiter" in page
    assert "--drop id" in page


# -- fit, predict, inspect, explain ---------------------------------------------------------------


@pytest.fixture
def model(folder, capsysbinary):
    """Naive Bayes of the penguins, in a file."""
    printed(
        capsysbinary,
        "fit",
        "penguins",
        "-m",
        "naive-bayes",
        "-o",
        "nb.posterior",
        "--kind",
        "year=categorical",
    )
    return folder / "nb.posterior"


def test_predictions_are_those_of_the_model_in_the_file(model, capsysbinary):
    rows = rows_of(printed(capsysbinary, "predict", str(model), "penguins"))
    penguins = load_penguins("pyarrow")
    expected = posterior.load(model).predict_proba(penguins.X)
    found = np.array(
        [[float(row[f"p_{label}"]) for label in ("Adelie", "Chinstrap", "Gentoo")] for row in rows]
    )
    np.testing.assert_array_equal(found, expected)  # to the last digit that was written
    assert rows[0]["predicted"] == "Adelie"
    assert all(0 < float(row["outlier_p"]) <= 1 for row in rows)


def test_predicting_in_python_is_the_same(model):
    penguins = load_penguins("pyarrow")
    ours = predictions(train(penguins.X, penguins.y, kinds={"year": "categorical"}), penguins.X)
    file = predictions(posterior.load(model), penguins.X)
    assert list(ours) == list(file)
    for name in ours:
        if name != "outlier_p":  # the file keeps averages of held-out rows
            np.testing.assert_array_equal(ours[name], file[name])
    more = np.asarray(file["outlier_p"]) - np.asarray(ours["outlier_p"])
    assert (more >= 0).all()
    assert more.max() < 4.5 / 87


def test_priors_costs_and_rejecting_change_actions_without_training(model, capsysbinary):
    plain = rows_of(printed(capsysbinary, "predict", str(model), "penguins"))
    asked = (
        "--priors",
        "uniform",
        "--costs",
        "Chinstrap:Adelie=5",
        "--reject",
        "threshold=0.9",
        "--outliers",
        "0.05",
    )
    acted = rows_of(printed(capsysbinary, "predict", str(model), "penguins", *asked))
    assert "action" not in plain[0]
    assert {row["action"] for row in acted} >= {"Adelie", "Chinstrap", "Gentoo", "reject", "outlier"}
    for row in acted:
        largest = max(float(row[f"p_{label}"]) for label in ("Adelie", "Chinstrap", "Gentoo"))
        odd = float(row["outlier_p"]) <= 0.05
        assert (row["action"] == "outlier") == odd
        assert (row["action"] == "reject") == (largest < 0.9 and not odd)


def test_rows_may_come_from_a_pipe_and_go_to_a_packed_file(model):
    table = subprocess.run(
        [sys.executable, "-m", "posterior", "data", "penguins"], capture_output=True, check=True
    )
    command = [
        sys.executable,
        "-m",
        "posterior",
        "predict",
        model.name,
        "-",
        "-o",
        "out.csv.gz",
        "--keep",
        "species",
    ]
    subprocess.run(command, input=table.stdout, cwd=model.parent, check=True, capture_output=True)  # noqa: S603 -- our own command
    rows = rows_of(gzip.decompress((model.parent / "out.csv.gz").read_bytes()).decode())
    assert len(rows) == 344
    assert np.mean([row["species"] == row["predicted"] for row in rows]) > 0.97


def test_columns_may_be_in_any_order_and_others_may_be_there(model, capsysbinary):
    straight = printed(capsysbinary, "predict", str(model), "penguins")
    frame = load_penguins("pyarrow").frame
    turned = frame.select(frame.column_names[::-1]).append_column("noise", [list(range(344))])
    pq.write_table(turned, "turned.parquet")
    assert printed(capsysbinary, "predict", str(model), "turned.parquet") == straight


def test_a_file_is_read_as_that_of_training_was(folder, capsysbinary):
    lines = [f"{['?', 'x', 'y'][i % 3]};{i % 5};{'ab'[i % 2]}" for i in range(60)]
    (folder / "odd.txt").write_text("\n".join(lines) + "\n")
    reading = ("--no-header", "--names", "mark,size,kind", "--missing", "?", "--delimiter", ";")
    printed(capsysbinary, "fit", "odd.txt", *reading, "-t", "kind", "-m", "naive-bayes", "-o", "m")
    remembered = printed(capsysbinary, "predict", "m", "odd.txt")
    assert remembered == printed(capsysbinary, "predict", "m", "odd.txt", *reading)
    assert len(rows_of(remembered)) == 60


def test_what_is_in_a_file_can_be_looked_at(model, capsysbinary):
    found = as_json(capsysbinary, "inspect", str(model))
    assert found["classes"] == ["Adelie", "Chinstrap", "Gentoo"]
    assert found["about"]["target"] == "species"
    means = next(p for p in found["parameters"] if p["columns"] == ["body_mass_g"] and p["name"] == "mean")
    assert means["values"][2] == pytest.approx(5076, abs=1)
    shown = printed(capsysbinary, "inspect", str(model))
    assert "bill_length_mm" in shown
    assert "standard deviation" in shown


def test_coefficients_come_with_standard_errors(folder, capsysbinary):
    printed(capsysbinary, "fit", "voters", "-m", "logistic", "-o", "lr")
    shown = printed(capsysbinary, "inspect", "lr")
    assert "std err" in shown
    table = as_json(capsysbinary, "inspect", "lr")["about"]["coefficients"]
    assert len(table["columns"]["std err"]) == len(table["columns"]["coef"])


def test_the_log_odds_of_a_row_add_up(model, capsysbinary):
    found = as_json(capsysbinary, "explain", str(model), "penguins", "--row", "99")
    assert sum(found["by_feature"].values()) == pytest.approx(found["log_odds"], abs=1e-9)
    odds = np.log(found[f"p_{found['of']}"] / found[f"p_{found['against']}"])
    assert odds == pytest.approx(found["log_odds"], abs=1e-9)
    shown = printed(capsysbinary, "explain", str(model), "penguins", "--row", "99")
    assert "█" in shown
    assert "island" in shown


def test_a_text_is_explained_by_its_words(folder, capsysbinary):
    texts = [
        "cheap watches for you today",
        "the meeting is at noon",
        "cheap tickets and pills",
        "notes of it all",
    ]
    lines = [f"{text} {i},{['spam', 'ham'][i % 2]}" for i, text in enumerate(texts * 10)]
    (folder / "mail.csv").write_text("note,k\n" + "\n".join(lines) + "\n")
    printed(
        capsysbinary, "fit", "mail.csv", "-t", "k", "-m", "naive-bayes", "--kind", "note=text", "-o", "mail"
    )
    whole = as_json(capsysbinary, "explain", "mail", "mail.csv")
    found = as_json(capsysbinary, "explain", "mail", "mail.csv", "--words")
    assert found["by_feature"]["note[cheap]"] > 0
    by_word = [value for name, value in found["by_feature"].items() if name.startswith("note[")]
    assert sum(by_word) == pytest.approx(whole["by_feature"]["note"], abs=1e-9)
    assert "note[cheap]" in printed(capsysbinary, "explain", "mail", "mail.csv", "--words")


def test_an_explanation_is_of_the_probabilities_that_are_acted_on(model, capsysbinary):
    priors = ("--priors", "Adelie=0.000001,Chinstrap=0.499999,Gentoo=0.5")
    for row in ("0", "99"):
        found = as_json(capsysbinary, "explain", str(model), "penguins", "--row", row, *priors)
        assert found["of"] == found["predicted"]
        odds = np.log(found[f"p_{found['of']}"] / found[f"p_{found['against']}"])
        assert found["log_odds"] == pytest.approx(odds, abs=1e-6)
        assert sum(found["by_feature"].values()) == pytest.approx(found["log_odds"], abs=1e-9)


def test_names_that_a_terminal_would_obey_are_shown_instead(folder, capsysbinary):
    rows = [f"{i % 7 + 3 * (i % 2)},{'ab'[i % 2]}" for i in range(60)]
    (folder / "t.csv").write_text("x\x1b[31m,k\n" + "\n".join(rows) + "\n")
    shown = printed(capsysbinary, "compare", "t.csv", "-t", "k", "--models", "lda", "--repeats", "1")
    assert "\x1b" not in shown
    posterior.save(
        posterior.GaussianNB().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]),
        "m",
        about={"title": "\x1b]0;hi\x07"},
    )
    assert "\x1b" not in printed(capsysbinary, "inspect", "m")
    assert run(["compare", "t.csv", "-t", "no\x1b[2J"]) == 2
    assert b"\x1b" not in capsysbinary.readouterr().err


@pytest.mark.parametrize(
    "about",
    [
        {"held_out": {"x": 1}},
        {"coefficients": {"x": 1}},
        {"reading": [1]},
        {"reading": {"rows": 5}},
        {"rows": "many"},
    ],
    ids=["held_out", "coefficients", "reading", "unknown option", "rows"],
)
def test_nonsense_beside_a_model_is_refused_in_one_line(folder, capsysbinary, about):
    nb = posterior.GaussianNB().fit([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    posterior.save(nb, "m", about=about)
    assert run(["inspect", "m"]) == 2
    assert b"makes no sense" in capsysbinary.readouterr().err


def test_a_kept_column_is_not_lost_to_one_of_ours(model, capsysbinary):
    (model.parent / "t.csv").write_text(
        "island,sex,year,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,predicted\nDream,male,2007,40,18,190,3700,mine\n"
    )
    assert run(["predict", str(model), "t.csv", "--keep", "predicted"]) == 2
    assert b"column of this name" in capsysbinary.readouterr().err


def test_costs_of_many_classes_may_be_written_in_one_line():
    classes = [f"class number {k}" for k in range(12)]
    text = ",".join(f"{a}:{b}=2" for a in classes for b in classes if a != b)
    assert read_costs(text, classes)[classes[0]][classes[1]] == 2.0


def test_the_log_loss_of_predictions_is_exact_in_the_tail(folder, capsysbinary):
    (folder / "t.csv").write_text(
        "x,k\n" + "\n".join(f"{i % 3 / 10 + (i % 2) * 1000},{'ab'[i % 2]}" for i in range(60)) + "\n"
    )
    printed(capsysbinary, "fit", "t.csv", "-t", "k", "-m", "lda", "-o", "m")
    (folder / "new.csv").write_text("x,k\n1000,a\n0,b\n0,z\n")
    assert run(["predict", "m", "new.csv"]) == 0
    told = capsysbinary.readouterr().err.decode()
    assert "∞" not in told
    assert "1 of a class that the model does not know" in told


@pytest.mark.long
def test_the_best_model_is_found_and_fitted(folder, capsysbinary):
    found = as_json(capsysbinary, "fit", "voters", "-o", "best")
    assert found["model"] in {"naive-bayes", "weighted-naive-bayes", "block", "logistic", "quadratic"}
    assert found["held_out"]["log loss"] < 1.1
    assert posterior.load("best").classes_.tolist() == sorted(
        set(posterior.datasets.load_voters("pyarrow").y.to_pylist())
    )


@pytest.mark.parametrize("labels", [("1", "2"), ("true", "false"), ("no", "yes")], ids="-".join)
def test_actions_that_are_no_classes_are_words_whatever_the_classes(folder, capsysbinary, labels):
    rows = [f"{i % 7 + 3 * (i % 2)},{labels[i % 2]}" for i in range(300)]
    (folder / "t.csv").write_text("x,k\n" + "\n".join(rows) + "\n")
    printed(capsysbinary, "fit", "t.csv", "-t", "k", "-m", "lda", "-o", "m")
    asked = ("--reject", "threshold=0.8", "--outliers", "0.05", "--costs", f"{labels[0]}:{labels[1]}=2")
    (folder / "new.csv").write_text(
        "x\n" + "\n".join([*(str(i % 7 + 3 * (i % 2)) for i in range(300)), "99"]) + "\n"
    )
    found = rows_of(printed(capsysbinary, "predict", "m", "new.csv", *asked))
    assert {row["action"] for row in found} == {*labels, "reject", "outlier"}
    assert {f"p_{label}" for label in labels} <= set(found[0])


def test_classes_may_be_called_as_what_is_done_with_rows(folder, capsysbinary):
    rows = [f"{i % 7 + 3 * (i % 2)},{['outlier', 'reject'][i % 2]}" for i in range(100)]
    (folder / "t.csv").write_text("x,k\n" + "\n".join(rows) + "\n")
    printed(capsysbinary, "fit", "t.csv", "-t", "k", "-m", "lda", "-o", "m")
    found = rows_of(printed(capsysbinary, "predict", "m", "t.csv", "--reject", "threshold=0.95"))
    assert {row["action"] for row in found} == {"outlier", "reject", "(reject)"}


def test_a_class_with_one_row_is_fitted(folder, capsysbinary):
    rows = [f"{i % 7 + 3 * (i % 2)},{'ab'[i % 2]}" for i in range(60)]
    (folder / "t.csv").write_text("x,k\n" + "\n".join([*rows, "9,c"]) + "\n")
    for name in ("naive-bayes", "logistic"):
        found = as_json(capsysbinary, "fit", "t.csv", "-t", "k", "-m", name, "-o", "m")
        assert found["held_out"]["log loss"] is None  # infinite: nobody could know the class
        assert len(rows_of(printed(capsysbinary, "predict", "m", "t.csv"))) == 61


def test_another_seed_holds_out_other_rows(folder, capsysbinary):
    def losses(seed):
        return as_json(capsysbinary, "fit", "voters", "-m", "naive-bayes", "-o", "m", "--seed", seed)[
            "held_out"
        ]

    assert losses("1") == losses("1") != losses("2")


def test_the_command_alone_shows_its_help(capsysbinary):
    shown = printed(capsysbinary)
    assert shown.count("\n") > 5
    assert "compare" in shown


def test_the_class_frequencies_need_no_column(folder, capsysbinary):
    printed(capsysbinary, "fit", "penguins", "-m", "majority", "-o", "m")
    rows = rows_of(printed(capsysbinary, "predict", "m", "voters"))
    assert len(rows) == 400
    assert float(rows[0]["p_Adelie"]) == pytest.approx(152 / 344)


def test_a_discriminant_predicts_classes_and_nothing_else(folder, capsysbinary):
    printed(capsysbinary, "fit", "penguins", "-m", "least-squares", "-o", "ls")
    rows = rows_of(printed(capsysbinary, "predict", "ls", "penguins"))
    assert list(rows[0]) == ["predicted"]
    assert run(["predict", "ls", "penguins", "--reject", "threshold=0.9"]) == 2


# -- curve, data, and the rest --------------------------------------------------------------------


def test_learning_curves_have_a_size_in_each_row(folder, capsysbinary):
    found = as_json(capsysbinary, "curve", "voters", "--sizes", "20,60,120", "--repeats", "2")
    assert json.dumps(found)  # plain data
    shown = printed(
        capsysbinary, "curve", "voters", "--sizes", "20,60,120", "--repeats", "2", "--plot", "c.svg"
    )
    assert "120" in shown
    assert (folder / "c.svg").read_text(encoding="utf-8").rstrip().endswith("</svg>")


def test_bundled_tables_are_listed_and_printed(folder, capsysbinary):
    assert [t["name"] for t in as_json(capsysbinary, "data")] == ["penguins", "pokemon", "sms", "voters"]
    assert len(rows_of(printed(capsysbinary, "data", "penguins"))) == 344


@pytest.mark.parametrize("command", ["compare", "fit", "predict", "inspect", "explain", "curve", "data"])
def test_every_command_explains_itself(capsysbinary, command):
    shown = printed(capsysbinary, command, "--help")
    assert shown.startswith(("Usage", "\n Usage", "\nUsage"))
    assert "--json" in shown


def test_the_version_is_told(capsysbinary):
    assert posterior.__version__ in printed(capsysbinary, "--version")


def test_the_whole_program_leaves_with_its_code():
    with pytest.raises(SystemExit) as stop:
        main(["compare", "nowhere.csv"])
    assert stop.value.code == 2


def test_wishes_are_read_by_the_labels_of_the_classes():
    assert read_priors("1=0.2,2=0.8", [1, 2]) == {1: 0.2, 2: 0.8}
    assert read_reject("coverage=0.9") == {"coverage": 0.9}
    assert read_costs("1:2=3,1:ask=0.5,2:ask=0.5", [1, 2]) == {
        1: {1: 0.0, 2: 3.0, "ask": 0.5},
        2: {1: 1.0, 2: 0.0, "ask": 0.5},
    }


# -- real tables ----------------------------------------------------------------------------------


@pytest.mark.long
@needs_shared
def test_spam_is_found_from_the_command_line(folder, capsysbinary):
    reading = ("--no-header", "--names", "label,text", "--quote", "none", "-t", "label")
    found = as_json(
        capsysbinary,
        "compare",
        str(DATA / "sms_spam.tsv"),
        *reading,
        "--folds",
        "10",
        "--models",
        "naive-bayes",
    )
    assert found["rows"] == 5574
    best = found["results"][0]
    assert best["accuracy"] >= 0.98
    assert found["positive"] == "spam"
    assert found["false_alarms"] == 0.005
    assert best["recall_at"] > 0.85


@needs_shared
def test_gaps_of_the_house_votes_are_gaps(folder, capsysbinary):
    path = str(DATA / "house_votes_84.csv")
    found = as_json(capsysbinary, "compare", path, "-t", "party", "--missing", "?", "--repeats", "1")
    gaps = [c["gaps"] for c in found["columns"]]
    assert gaps == [12, 48, 11, 11, 15, 11, 14, 15, 22, 7, 21, 31, 25, 17, 28, 104]
    assert all(set(c["levels"]) == {"n", "y"} for c in found["columns"])


# -- models that were saved from Python -------------------------------------------------------------

SAVED = {
    "a regression": (lambda X, y: posterior.LinearRegression().fit(X, X @ [1.0, 2.0]), ["predicted"]),
    "an outlier rule": (lambda X, y: posterior.OutlierRule(posterior.LDA()).fit(X, y), ["predicted"]),
    "a fusion": (
        lambda X, y: posterior.FusionClassifier(
            [("a", posterior.GaussianNB(), [0]), ("b", posterior.LDA(), [1])]
        ).fit(X, y),
        ["predicted", "p_high", "p_low"],
    ),
    "a pool": (
        lambda X, y: posterior.PoolClassifier([("a", posterior.GaussianNB()), ("b", posterior.LDA())]).fit(
            X, y
        ),
        ["predicted", "p_high", "p_low"],
    ),
}


@pytest.mark.parametrize("name", SAVED)
def test_any_saved_model_is_inspected_and_predicts_and_says_if_it_cannot_be_split(folder, capsysbinary, name):
    fitted, columns = SAVED[name]
    X = np.random.default_rng(0).normal(size=(120, 2))
    model = fitted(X, np.where(X[:, 0] > 0, "high", "low"))
    posterior.save(model, "model")
    Path("rows.csv").write_text("x0,x1\n0.5,2.0\n3.0,-1.0\n")
    assert type(model).__name__ in printed(capsysbinary, "inspect", "model")
    found = rows_of(printed(capsysbinary, "predict", "model", "rows.csv"))
    assert [list(row) for row in found] == [columns] * 2
    splits = isinstance(model, posterior.LinearRegression | posterior.PoolClassifier)
    assert run(["explain", "model", "rows.csv"]) == (0 if splits else 2)
    assert (b"cannot be split by feature" in capsysbinary.readouterr().err) != splits


def test_a_model_of_numbers_says_which_columns_it_does_not_use(folder, capsysbinary):
    lines = [f"{i % 7 + 3 * (i % 2)},{'uvw'[i % 3]},{'ab'[i % 2]}" for i in range(60)]
    (folder / "t.csv").write_text("\n".join(["x,where,k", *lines]) + "\n")
    assert run(["fit", "t.csv", "-t", "k", "-m", "lda", "-o", "m"]) == 0
    told = capsysbinary.readouterr().err.decode()
    assert told.count("LDA does not use 'where'") == 1
    assert run(["fit", "t.csv", "-t", "k", "-m", "naive-bayes", "-o", "m"]) == 0
    assert "does not use" not in capsysbinary.readouterr().err.decode()
