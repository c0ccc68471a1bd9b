"""The benchmark of claims: what it writes for one small table."""

import json
import sys

import numpy as np
import pytest

from places import REPOSITORY

sys.path.insert(0, str(REPOSITORY))  # benchmarks is no part of the package that is installed

from benchmarks import claims


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("claims") / "claims.json"
    with pytest.MonkeyPatch.context() as change:
        change.setattr(claims, "REPEATS", 2)
        change.setattr(claims, "ROUNDS", 2)
        change.setattr(claims, "SIZES", (20, 80))
        claims.main(["--tables", "iris", "--output", str(path)])
    return json.loads(path.read_text())


def test_every_experiment_is_written_for_the_table_that_was_asked_for(written):
    assert all(list(written[name]) == ["iris"] for name in claims.EXPERIMENTS)
    assert written["command"] == "python -m benchmarks.claims"


def test_pairs_hold_a_generative_and_a_discriminative_model_of_one_form(written):
    pairs = {(p["generative"], p["discriminative"]) for p in written["less_data"]["iris"]["pairs"]}
    assert pairs == set(claims.PAIRS)
    sizes = written["less_data"]["iris"]["sizes"]
    assert all(len(p["mean"]) == len(sizes) for p in written["less_data"]["iris"]["pairs"])


def test_iris_is_separable_whatever_the_draw(written):
    draws = written["overfitting"]["iris"]["draws"]
    assert len(draws) == 4
    assert all(draw["separable"] for draw in draws)


def test_times_are_the_least_of_the_rounds(written):
    table = written["faster"]["iris"]
    for name, rounds in table["rounds"].items():
        assert np.min(rounds, axis=0) == pytest.approx([table["fit"][name], table["predict"][name]])


def test_an_interval_is_students():
    found = claims.interval(np.array([1.0, 2.0, 3.0]))
    assert found["mean"] == 2.0
    assert found["half_width"] == pytest.approx(4.303 / np.sqrt(3), rel=1e-3)
