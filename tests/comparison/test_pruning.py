"""Of a large table, models that a part of the rows shows to be clearly behind are not tried further."""

import json

import numpy as np
import pytest

from posterior import threads
from posterior.cli.app import run
from posterior.comparison import Comparison, pruning
from posterior.comparison.candidates import candidates_for, candidates_named
from posterior.comparison.facts import TableFacts
from posterior.comparison.inputs import compared_table
from posterior.comparison.pruning import FIRST, pruned
from posterior.report.sections.leaderboard import leaderboard
from posterior.report.subject import Subject


@pytest.fixture
def small_rounds(monkeypatch):
    """Rounds as of a large table, on few rows."""
    monkeypatch.setattr(pruning, "FIRST", 300)


def curved(n, seed=0):
    """Two columns whose squares tell the class: only covariances of a class, and products, see it."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 2)) * (1 + 2 * y[:, None]), y


def chosen(X, y, names=None):
    table = compared_table(X, y)
    return candidates_for(candidates_named(names), TableFacts(table))[0], table


def test_what_is_clearly_behind_is_dropped_and_says_why(small_rounds):
    kept, dropped = pruned(*chosen(*curved(2000)))
    names = [candidate.name for candidate, _ in kept]
    assert {"lda", "logistic"} <= {each.name for each in dropped}
    assert {"qda", "rda", "naive-bayes", "quadratic", "majority", "least-squares", "pool"} <= set(names)
    for each in dropped:
        assert each.behind > 4 * each.behind_se
        assert each.reason.startswith("log loss ")
        assert f"after learning from {each.n_learnt:,} rows" in each.reason


def test_small_tables_are_tried_with_all_models():
    candidates, table = chosen(*curved(1000))
    kept, dropped = pruned(candidates, table)
    assert kept == candidates
    assert dropped == []
    assert len(table) < pruning.ENOUGH * FIRST


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_none_is_dropped_that_all_rows_would_tie_with_the_best(small_rounds, monkeypatch, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 1500)
    X = rng.normal(size=(1500, 4)) + 0.6 * y[:, None] * rng.random(4)
    with_pruning = Comparison.of(X, y, folds=3, reference=False)
    monkeypatch.setattr(pruning, "FIRST", 10**9)
    without = Comparison.of(X, y, folds=3, reference=False)
    gone = {each.name for each in with_pruning.pruned}
    best = {result.name for result in (without.recommended, *without.ties)}
    assert not gone & (best - {"pool"})
    assert without.pruned == ()


def test_a_model_that_more_rows_can_teach_is_kept(small_rounds):
    """Many parameters learnt from few rows lose what they cost: p / 2n nats."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1300)
    X = rng.normal(size=(1300, 12)) + 0.5 * y[:, None]
    kept, _ = pruned(*chosen(X, y, ["lda", "qda", "quadratic"]))
    assert [candidate.name for candidate, _ in kept] == ["lda", "qda", "quadratic"]


def test_settings_that_were_chosen_are_kept(small_rounds):
    kept, _ = pruned(*chosen(*curved(2000), ["quadratic", "qda"]))
    quadratic = {candidate.name: choice for candidate, choice in kept}["quadratic"]
    assert quadratic.taken in quadratic.estimators


def test_it_is_said_in_text_and_data_and_the_report(small_rounds, tmp_path, monkeypatch, capsys):
    X, y = curved(1300)
    comparison = Comparison.of(X, y, folds=2, reference=False)
    gone = [each.name for each in comparison.pruned]
    assert "lda" in gone
    assert not set(gone) & {result.name for result in comparison.results}
    assert not set(gone) & set(comparison.left_out)
    said = f"not tried further: lda ({next(e for e in comparison.pruned if e.name == 'lda').reason})"
    assert said in str(comparison)
    monkeypatch.chdir(tmp_path)
    rows = ["a,b,c", *(f"{a},{b},{'uv'[k]}" for (a, b), k in zip(X, y, strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    asked = ["compare", "t.csv", "-t", "c", "--folds", "2"]
    assert run([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {each["name"] for each in found["pruned"]} == set(gone)
    assert all(each["reason"] and each["log_loss"] > 0 for each in found["pruned"])
    assert run(asked) == 0
    assert "not tried further: LDA" in " ".join(capsys.readouterr().out.split())
    blocks = leaderboard(Subject.of(comparison, X, y))
    assert any("Not tried further" in str(block) for block in blocks)


@pytest.mark.parametrize(
    "how", [{"models": ["lda", "qda"]}, {"costs": [[0, 1], [5, 0]]}, {"time": np.arange(2000)}]
)
def test_models_that_are_named_and_costs_and_time_drop_none(small_rounds, how):
    assert Comparison.of(*curved(2000), folds=2, reference=False, **how).pruned == ()


def test_groups_stay_together(small_rounds):
    X, y = curved(2000)
    candidates, table = chosen(X, y)
    groups = np.repeat(np.arange(100), 20)
    table = compared_table(X, y, groups=groups)
    for learnt, others in pruning._rounds(table):
        assert not set(learnt.groups) & set(others.groups)
    _, dropped = pruned(candidates, table)
    assert "lda" in {each.name for each in dropped}


def test_any_number_of_threads_drops_the_same(small_rounds):
    found = []
    for n in (1, 3):
        with threads(n):
            found.append(pruned(*chosen(*curved(2000)))[1])
    assert found[0] == found[1]
