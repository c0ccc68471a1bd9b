"""Columns that tell the class almost alone: named first, with what is left without them."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from places import DATA
from posterior.cli.app import run
from posterior.comparison import Comparison
from posterior.comparison.folds import deal
from posterior.comparison.inputs import compared_table
from posterior.comparison.leaks import ALONE, Leak, caution_of, named_leaks, strong_columns, without_columns
from posterior.datasets import available, describe, load
from posterior.report.report import render

N = 300
FEW = ["majority", "naive-bayes", "logistic"]


def classes(seed=0, n=N):
    return np.array(["bad", "good"])[np.random.default_rng(seed).integers(0, 2, n)]


def ordinary(y, seed=1):
    """Columns that say a little of the class."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"age": rng.normal(size=len(y)) + 0.7 * (y == y[0]), "city": rng.choice(list("abc"), len(y))}
    )


def flipped(y, share, seed=2):
    """The class itself, wrong in a share of the rows."""
    wrong = np.random.default_rng(seed).random(len(y)) < share
    return np.where((y == y[0]) != wrong, "paid", "open")


def leaky(y):
    rng = np.random.default_rng(3)
    good = y == y[0]
    return {
        "category": flipped(y, 0.0),
        "noisy category": flipped(y, 0.04),
        "threshold": np.where(good, rng.uniform(0, 1, len(y)), rng.uniform(1, 50, len(y))),
        "band": np.where(good, rng.uniform(1, 2, len(y)), rng.choice([-9.0, 9.0], len(y))),
        "gap": np.where(good, np.nan, rng.normal(size=len(y))),
        "large numbers": 1e15 + np.where(good, 1.0, 5.0),
    }  # fmt: skip


@pytest.mark.parametrize("kind", list(leaky(classes())))
def test_a_column_that_gives_the_class_away_is_named(kind):
    y = classes()
    X = ordinary(y).assign(leak_status=leaky(y)[kind])
    comparison = Comparison.of(X, y, models=FEW, repeats=1)
    assert [leak.column for leak in comparison.leaks] == ["leak_status"]
    (leak,) = comparison.leaks
    assert leak.accuracy > 0.93
    assert leak.roc_auc > 0.93
    assert comparison.recommendation.startswith("Careful: 'leak_status' (by itself: accuracy ")
    assert "(--drop leak_status)." in comparison.caution
    assert str(comparison).startswith(comparison.caution)
    alone = Comparison.of(X.drop(columns="leak_status"), y, models=FEW, repeats=1)
    assert comparison.without_leaks.verdict == alone.verdict
    assert f"Without it: {alone.verdict}" in comparison.recommendation


def test_the_number_of_a_row_in_a_sorted_file_is_named():
    y = np.sort(classes())
    X = ordinary(y).assign(case=np.arange(N) * 3 + 17)
    assert [leak.column for leak in Comparison.of(X, y, models=FEW, repeats=1).leaks] == ["case"]


def test_of_a_date_the_whole_column_is_left_out():
    y = classes()
    month = np.where(y == y[0], 3, 7)
    X = ordinary(y).assign(paid=[f"2024-{m:02d}-{i % 27 + 1:02d}" for i, m in enumerate(month)])
    comparison = Comparison.of(X, y, models=FEW, repeats=1)
    assert {leak.column for leak in comparison.leaks} >= {"paid[month]"}
    assert {leak.to_drop for leak in comparison.leaks} == {"paid"}
    assert comparison.caution.endswith("(--drop paid).")
    assert comparison.without_leaks.schema.names == ("age", "city")


def test_several_columns_are_left_out_together():
    y = classes()
    X = ordinary(y).assign(status=flipped(y, 0.0), **{"paid on": flipped(y, 0.02, seed=5)})
    comparison = Comparison.of(X, y, models=FEW, repeats=1)
    assert {leak.column for leak in comparison.leaks} == {"status", "paid on"}
    assert "each tell the class almost alone. If they are known" in comparison.caution
    assert "--drop 'paid on'" in comparison.caution
    assert comparison.without_leaks.schema.names == ("age", "city")
    assert comparison.without_leaks.recommended.accuracy < 0.8


def test_three_classes_and_a_table_without_names():
    y = np.arange(N) % 3
    X = np.column_stack([np.random.default_rng(0).normal(size=N), y * 7.0])
    comparison = Comparison.of(X, y, models=FEW, repeats=1)
    assert [leak.column for leak in comparison.leaks] == ["x1"]
    assert comparison.leaks[0].roc_auc is None
    assert comparison.without_leaks.schema.names == ("x0",)


def bundled(name):
    frame, about = load(name, "pandas").frame, describe(name)
    return frame.drop(columns=[about.target, *about.identifiers]), frame[about.target]


GOOD = {name: lambda name=name: bundled(name) for name in available()}
GOOD |= {of.__name__: lambda of=of: of(return_X_y=True, as_frame=True) for of in (load_iris, load_wine)}


@pytest.mark.parametrize("table", GOOD)
def test_good_columns_of_ordinary_tables_raise_no_alarm(table):
    X, y = GOOD[table]()
    comparison = Comparison.of(X, y, models=["majority", "naive-bayes", "logistic"], repeats=1, folds=5)
    assert comparison.leaks == ()
    assert comparison.caution == ""
    assert comparison.recommendation == comparison.verdict


@pytest.mark.parametrize("name", ["german_credit.csv", "house_votes_84.csv"])
def test_nor_do_those_of_tables_at_hand(name):
    if not (DATA / name).exists():
        pytest.skip(f"{name} is not at hand")
    frame = pd.read_csv(DATA / name, na_values="?")
    target = {"german_credit.csv": frame.columns[-1], "house_votes_84.csv": "party"}[name]
    X, y = frame.drop(columns=target), frame[target]
    assert Comparison.of(X, y, models=["naive-bayes", "logistic"], repeats=1, folds=5).leaks == ()


def test_half_a_leak_is_named_only_where_the_others_know_little():
    strong = (Leak("a", 0.95, 0.14, 0.8),)
    assert named_leaks(strong, lambda: 0.39) == strong
    assert named_leaks(strong, lambda: 0.41) == ()
    surest = (Leak("a", 0.99, 0.03, ALONE),)
    assert named_leaks(surest, lambda: pytest.fail("nobody needs to know")) == surest
    assert named_leaks((), lambda: pytest.fail("nobody needs to know")) == ()
    assert caution_of(()) == ""


def test_the_skill_is_that_of_rows_held_out():
    y = classes()
    X = ordinary(y).assign(key=[f"k{i}" for i in range(N)], noise=np.random.default_rng(0).normal(size=N))
    table = compared_table(X, y, kinds={"key": "categorical"})
    assert strong_columns(table, deal(table.codes, folds=5)[0]) == ()


def test_groups_are_held_out_whole():
    groups = np.repeat(np.arange(30), 10)
    y = np.array(["a", "b"])[np.random.default_rng(0).integers(0, 2, 30)][groups]
    X = ordinary(y).assign(group_code=groups.astype(str))
    assert [leak.column for leak in Comparison.of(X, y, models=FEW, repeats=1).leaks] == ["group_code"]
    assert Comparison.of(X, y, models=FEW, repeats=1, groups=groups).leaks == ()


def test_many_rows_are_sampled_and_rows_in_time_keep_their_order():
    y = classes(n=12_000)
    X = ordinary(y).assign(status=flipped(y, 0.01))
    table = compared_table(X, y, time=np.arange(len(y)))
    (leak,) = strong_columns(table, deal(table.codes, folds=5, time=table.time)[0])
    assert leak.column == "status"
    assert leak.accuracy == pytest.approx(0.99, abs=0.01)


def test_nothing_is_said_of_the_only_column_or_of_texts():
    y = classes()
    only = pd.DataFrame({"status": flipped(y, 0.0)})
    assert Comparison.of(only, y, models=["naive-bayes"], repeats=1).leaks == ()
    both = without_columns(compared_table(only, y), ["status"])
    assert both is None


def test_declared_kinds_stay_with_their_columns():
    y = classes()
    X = ordinary(y).assign(status=flipped(y, 0.0), year=np.arange(N) % 4)
    rest = without_columns(compared_table(X, y, kinds={"year": "categorical"}), ["status"])
    assert dict(zip(rest.schema.names, rest.schema.kinds, strict=True))["year"] == "categorical"
    array = np.column_stack([np.arange(N) % 3, np.arange(N) % 4])
    rest = without_columns(compared_table(array, y, kinds={1: "categorical"}), ["x0"])
    assert rest.schema.kinds == ("categorical",)


def test_all_that_is_printed_says_so_before_any_figure(tmp_path, capsys):
    y = classes()
    frame = ordinary(y).assign(leak_status=flipped(y, 0.0), outcome=y)
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    command = ["compare", str(path), "-t", "outcome", "--models", ",".join(FEW), "--repeats", "1"]
    assert run(command) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.index("Careful: 'leak_status'") < said.index("log loss ")
    assert said.index("With it: Use") < said.index("Without it: Use")
    assert run([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [leak["column"] for leak in found["leaks"]] == ["leak_status"]
    assert found["without_leaks"]["recommended"] in FEW
    comparison = Comparison.of(frame.drop(columns="outcome"), y, models=FEW, repeats=1)
    page = render(comparison, frame.drop(columns="outcome"), y)
    assert page.index("Careful: ") < page.index("What can be predicted?") < page.index("In figures.")
    assert "can be taken at their word" not in page
    assert "Find out when leak_status is known" in page
    assert "without this column: " in page
    honest = render(comparison.without_leaks, frame[["age", "city"]], y)
    assert "Careful: " not in honest


@pytest.mark.long
def test_cancer_is_seen_in_several_columns_and_none_is_a_leak():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    assert Comparison.of(X, y, models=["logistic"], repeats=1, folds=5).leaks == ()
