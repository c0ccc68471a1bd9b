"""The benchmark itself: it must not time answers that differ, nor lose what it measured."""

import doctest
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from places import REPOSITORY

sys.path.insert(0, str(REPOSITORY))  # benchmarks is no part of the package that is installed

from benchmarks import bars, data, machine, measure, plan, readme, report, rivals, tasks
from benchmarks.__main__ import main
from benchmarks.contest import DisagreementError, agree, largest_difference, not_higher, race
from benchmarks.growth import exponents
from benchmarks.measure import exponent, traced
from benchmarks.tasks import TASKS, chosen


def scikit_learn():
    return next(rival for rival in rivals.load(["scikit-learn"])[0] if rival.name == "scikit-learn")


def test_every_rival_has_a_file_and_only_known_tasks():
    folder = Path(rivals.__file__).parent
    assert {file.stem for file in folder.glob("*.py")} == {*rivals.RIVALS.values(), "once", "__init__"}
    there, absent = rivals.load(["scikit-learn", "statsmodels"])
    assert not absent
    assert {entry.task for rival in there for entry in rival.entries} <= set(TASKS)


def test_every_task_is_held_against_scikit_learn_and_the_limit():
    there, _ = rivals.load(["scikit-learn"])
    for rival in there:
        assert {entry.task for entry in rival.entries} == set(TASKS)


def test_an_unknown_rival_is_refused():
    with pytest.raises(SystemExit, match="no rival is called nobody"):
        rivals.load(["nobody"])


def test_tasks_are_chosen_by_how_their_names_begin():
    assert [task.name for task in chosen(["gauss", "LDA"])] == ["GaussianNB", "LDA"]
    assert [task.name for task in chosen([], ["QDA"])] == ["QDA"]


@pytest.mark.parametrize(
    "other",
    [
        np.array([[0.5, 0.5], [0.1 + 1e-6, 0.9]]),
        np.array([[0.5, 0.5], [np.nan, 0.9]]),
        np.array([[0.5, 0.5]]),
    ],
)
def test_answers_that_differ_are_a_disagreement(other):
    ours = np.array([[0.5, 0.5], [0.1, 0.9]])
    assert agree("somebody", ours, ours.copy(), 0.0) == 0.0
    with pytest.raises(DisagreementError, match="somebody"):
        agree("somebody", ours, other, 1e-8)


def test_a_difference_far_down_is_found():
    a = np.zeros((250_000, 1))
    b = a.copy()
    b[-1] = 0.25
    assert largest_difference(a, b) == 0.25


def test_an_objective_above_a_rivals_is_a_disagreement():
    assert not_higher("somebody", 1.0, 1.5) == 0.5
    with pytest.raises(DisagreementError, match="above theirs"):
        not_higher("somebody", 1.0, 0.999)


def test_a_rival_with_other_answers_is_not_timed_and_fails_the_race():
    class Wrong:
        def fit(self, X, y):
            self.K = len(np.unique(y))
            return self

        def predict_proba(self, X):
            return np.full((len(X), self.K), 1 / self.K)

    liar = rivals.Rival("liar", "1", (rivals.Entry("GaussianNB", Wrong),))
    task = TASKS["GaussianNB"]
    outcome = race(task, task.draw(200, 3, 2), [liar, scikit_learn()], repeats=1)
    assert [row["rival"] for row in outcome.rows] == ["scikit-learn"]
    assert len(outcome.failures) == 1
    assert "GaussianNB against liar: probabilities differ" in outcome.failures[0]


def test_a_rival_that_breaks_down_is_noted_and_is_no_failure_of_ours():
    class Broken:
        def fit(self, X, y):
            raise RuntimeError("out of order")

    broken = rivals.Rival("broken", "1", (rivals.Entry("GaussianNB", Broken),))
    task = TASKS["GaussianNB"]
    outcome = race(task, task.draw(200, 3, 2), [broken], repeats=1)
    assert not outcome.rows
    assert not outcome.failures
    assert "out of order" in outcome.notes[0]


def test_growth_exponents_are_those_of_known_powers():
    sizes = [10, 100, 1000, 10_000]
    assert exponent(sizes, [3e-6 * n**1.5 for n in sizes]) == pytest.approx(1.5)
    flat_then_linear = [1.0, 1.0, 1.0, 10.0]
    assert exponent(sizes, flat_then_linear, least=1000) == pytest.approx(1.0)
    assert exponent([10], [1.0]) is None
    row = {"task": "t", "rival": "r", "label": "", "settings": ""}
    rows = [
        {**row, "n": n, "ours_fit_s": n, "ours_predict_s": n**2, "fit_s": 7.0, "predict_s": n} for n in sizes
    ]
    ours, theirs = exponents(rows)
    assert (ours["fit"], ours["predict"]) == (1.0, 2.0)
    assert (theirs["fit"], theirs["predict"]) == (0.0, 1.0)


@pytest.mark.parametrize("module", [measure, plan, readme, tasks])
def test_examples_in_docstrings_are_right(module):
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed


def test_what_others_use_of_the_machine_is_told():
    company = machine.Company()
    company.busy = None if company.busy is None else company.busy - 10.0  # ten seconds that are not ours
    company.clock -= 5.0
    cores = company.cores()
    assert cores is None or cores > 1.5


def test_traced_memory_is_the_high_water_mark():
    _, peak = traced(lambda: np.empty(4 << 20, dtype=np.uint8).sum())
    assert 4 << 20 <= peak < 5 << 20


@pytest.mark.parametrize("layout", data.LAYOUTS)
def test_layouts_hold_the_same_numbers(layout):
    X, _ = data.numbers(50, 3, 2)
    tolerance = 1e-6 if layout == "float32" else 0.0
    np.testing.assert_allclose(np.asarray(data.LAYOUTS[layout](X)), X, rtol=tolerance)


def test_bars_are_judged_by_the_least_favourable_figure():
    row = {"task": "LDA", "rival": "scikit-learn", "fit_ratio": 30.0}
    results = {
        "races": [
            {**row, "label": "svd", "predict_ratio": 5.0},
            {**row, "label": "lsqr", "predict_ratio": 2.0},
        ]
    }
    found = {verdict["bar"]: verdict for verdict in bars.judged(results)}
    assert found["LDA fit against svd"]["reached"] is True
    assert found["LDA predict_proba"]["figure"] == 2.0
    assert found["LDA predict_proba"]["reached"] is False
    assert found["QDA predict_proba"]["reached"] is None


def test_a_small_run_from_beginning_to_end(tmp_path, capsys):
    small = [
        "--quick",
        "--rows",
        "300",
        "--repeats",
        "1",
        "--rivals",
        "scikit-learn",
        "--output",
        str(tmp_path),
    ]
    assert main([*small, "--only", "GaussianNB", "--sections", "races"]) == 0
    assert "GaussianNB            scikit-learn" in capsys.readouterr().out
    document = report.read(tmp_path / "part.json")
    assert [row["rival"] for row in document["results"]["races"]] == ["scikit-learn", rivals.LIMIT]
    assert document["results"]["races"][0]["difference"] < 1e-10
    assert "GaussianNB" in readme.text(document)
    for absent in report.REQUIRED:
        with pytest.raises(ValueError, match=absent):
            report.check({key: value for key, value in document.items() if key != absent})
    document["results"]["races"][0].pop("fit_ratio")
    with pytest.raises(ValueError, match="fit_ratio"):
        report.check(document)
    assert json.dumps(report.rounded({"a": [1 / 3, float("inf")]})) == '{"a": [0.3333, null]}'


def test_a_case_of_many_columns_is_measured_in_a_process_of_its_own(tmp_path, capsys):
    words = ["--sections", "many", "--only", "MultinomialNB, words", "--rows", "300", "--repeats", "1"]
    assert main([*words, "--rivals", "scikit-learn", "--output", str(tmp_path)]) == 0
    assert "100,000 words, sparse" in capsys.readouterr().out
    document = report.read(tmp_path / "part.json")
    (row,) = document["results"]["many"]
    assert (row["n"], row["d"], row["K"]) == (2_000, 100_000, 2)
    assert row["difference"] < 1e-6
    assert row["memory"] > 0
    verdicts = {verdict["bar"]: verdict["figure"] for verdict in document["bars"]}
    assert verdicts["many classes, columns, categories: fit"] == row["fit_ratio"]
    assert "| MultinomialNB, words | 100,000 words, sparse |" in readme.text(document)
    row.pop("memory")
    with pytest.raises(ValueError, match="memory"):
        report.check(document)
