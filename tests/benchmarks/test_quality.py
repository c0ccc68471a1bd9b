"""The benchmark of probabilities: losses by row on the same folds, and what is said of them."""

import json
import sys

import numpy as np
import pytest

from places import REPOSITORY

sys.path.insert(0, str(REPOSITORY))  # benchmarks is no part of the package that is installed

from benchmarks import quality

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


def test_a_model_is_clearly_worse_beyond_two_standard_errors():
    rng = np.random.default_rng(0)
    base = rng.random(400)
    found = {"t": {"a": base + 1, "b": base, "c": base + rng.normal(size=400)}}
    assert quality.clearly_worse(found, "a", "b") == ["t"]
    assert quality.clearly_worse(found, "b", "a") == []
    assert quality.clearly_worse(found, "c", "b") == quality.clearly_worse(found, "b", "c") == []


def test_a_sure_mistake_costs_the_same_for_every_model():
    class Sure:
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict_proba(self, X):
            return np.tile([1.0, 0.0], (len(X), 1))

    X, y = next(iter(quality.tables(["cancer"])))[1]
    losses = quality.row_losses(Sure, X, y)
    assert losses[y == "1"] == pytest.approx(-np.log(quality.LEAST))
    assert (losses[y == "0"] == 0).all()
