"""The benchmark of probabilities: losses by row on the same folds, and what is said of them."""

import json
import sys

import numpy as np
import pytest

from places import REPOSITORY

sys.path.insert(0, str(REPOSITORY))  # benchmarks is no part of the package that is installed

from benchmarks import quality, quality_page, quality_tables

FEW = ("NaiveBayes", "scikit-learn GaussianNB")


def test_losses_are_those_of_rows_held_out(tmp_path, capsys):
    path = tmp_path / "quality.json"
    quality.main(["--tables", "iris", "penguins", "--models", *FEW, "--output", str(path)])
    found = json.loads(path.read_text())["losses"]
    assert {name: len(losses["NaiveBayes"]) for name, losses in found.items()} == {
        "iris": 150,
        "penguins": 344,
    }
    assert 0.1 < np.mean(found["iris"]["NaiveBayes"]) < 0.2
    said = capsys.readouterr().out
    assert all(name in said for name in FEW)


def test_a_run_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "quality.json"
    kept = {"iris": {"NaiveBayes": [0.5] * 150}}
    path.write_text(json.dumps({"losses": kept}))
    quality.main(["--tables", "iris", "--models", *FEW, "--update", "--output", str(path)])
    found = json.loads(path.read_text())["losses"]["iris"]
    assert found["NaiveBayes"] == [0.5] * 150
    assert len(found["scikit-learn GaussianNB"]) == 150


def test_a_model_is_clearly_behind_beyond_two_standard_errors():
    rng = np.random.default_rng(0)
    base = rng.random(400)
    losses = {"t": {"a": base + 1, "b": base, "c": base + rng.normal(size=400)}}
    found = quality_page.summarized(losses, ["a", "b", "c"], {"t": (3, 2)})
    assert quality_page.clearly_behind(found, "a", "b") == ["t"]
    assert quality_page.clearly_behind(found, "b", "a") == []
    assert quality_page.clearly_behind(found, "c", "b") == quality_page.clearly_behind(found, "b", "c") == []


def test_regret_is_beside_the_best_model_of_each_table_and_ranks_share_ties():
    losses = {"one": {"a": [1.0, 1.0], "b": [2.0, 2.0]}, "two": {"a": [3.0, 3.0], "b": [3.0, 3.0]}}
    found = quality_page.summarized(losses, ["a", "b"], {})
    first, second = quality_page.standings(found)
    assert first[:2] == ["a", "2.000"]
    assert first[2].startswith("0.000")
    assert second[2].startswith("0.500 (0.000\u00a0to\u00a01.000)")
    assert first[3].startswith("1.2")  # 1 and a half
    assert second[3].startswith("1.8")


def test_only_tables_that_all_models_were_tried_on_count():
    losses = {"one": {"a": [1.0, 2.0], "b": [2.0, 2.0]}, "two": {"a": [3.0, 3.0]}}
    assert list(quality_page.summarized(losses, ["a", "b", "c"], {})["tables"]) == ["one"]
    with pytest.raises(SystemExit, match="no table has losses of every model"):
        quality_page.summarized({"one": {"a": [1.0]}, "two": {"b": [1.0]}}, ["a", "b"], {})


def test_the_page_says_what_the_results_say():
    summary = json.loads(quality_page.SUMMARY.read_text())
    page = quality_page.PAGE.read_text()
    assert quality_page.filled(page, summary) == page
    assert set(summary["models"]) <= set(quality.MODELS)
    assert set(summary["tables"]) <= set(quality_tables.LOADERS)


def test_a_page_without_the_marks_is_refused():
    summary = json.loads(quality_page.SUMMARY.read_text())
    with pytest.raises(SystemExit, match="the page has no part between"):
        quality_page.filled("nothing", summary)


def test_files_of_rows_are_put_together_and_the_later_counts():
    first = {"losses": {"iris": {"NaiveBayes": [1.0], "GaussianNB": [2.0]}}, "shapes": {"iris": [4, 3]}}
    losses, shapes = quality.merged([first, {"losses": {"iris": {"NaiveBayes": [3.0]}}}])
    assert losses == {"iris": {"NaiveBayes": [3.0], "GaussianNB": [2.0]}}
    assert shapes == {"iris": [4, 3]}


def test_a_table_that_is_not_at_hand_is_passed_over_and_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(quality_tables, "BESIDE", tmp_path)
    path = tmp_path / "rows.json"
    quality.main(["--tables", "adult", "iris", "--models", *FEW, "--output", str(path)])
    assert "adult is passed over: adult_train.csv is not in shared/data" in capsys.readouterr().out
    assert list(json.loads(path.read_text())["losses"]) == ["iris"]


@pytest.mark.long
def test_two_processes_find_what_one_does(tmp_path):
    found = []
    for jobs in ("1", "2"):
        path = tmp_path / jobs
        quality.main(["--tables", "iris", "wine", "--models", *FEW, "--output", str(path), "--jobs", jobs])
        found.append(json.loads(path.read_text())["losses"])
    assert found[0] == found[1]


def test_a_sure_mistake_costs_the_same_for_every_model():
    class Sure:
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict_proba(self, X):
            return np.tile([1.0, 0.0], (len(X), 1))

    X, y = quality_tables.load_table("cancer")
    losses = quality.row_losses(Sure, X, y)
    assert losses[y == "1"] == pytest.approx(-np.log(quality.LEAST))
    assert (losses[y == "0"] == 0).all()
