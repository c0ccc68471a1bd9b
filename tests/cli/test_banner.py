"""What `compare` says first of a table, on the screen and at the head of the page: tables made by a seed."""

import re
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from commands import told
from places import DATA
from posterior.comparison import Comparison
from posterior.datasets import load
from posterior.report.banner import banner
from posterior.report.subject import Subject

FAST = ("--folds", "3", "--repeats", "1")


@dataclass(frozen=True)
class Said:
    """Parts of what is said: on the screen, and in the three answers at the head of the page."""

    screen: tuple[str, ...]
    predicted: str
    trusted: str
    to_do: str
    unsaid: str = "Careful"


def drawn(seed, n=300):
    """A number and a category that say a good deal of the class."""
    rng = np.random.default_rng(seed)
    age, city = rng.normal(size=n), rng.choice(list("abc"), n)
    good = age + (city == "a") + rng.normal(size=n) > 0.5
    return rng, pd.DataFrame({"age": age, "city": city, "ok": np.where(good, "yes", "no")})


def leak():
    _, table = drawn(1)
    return table.assign(status=np.where(table["ok"] == "yes", "closed", "open"))


def row_numbers():
    _, table = drawn(1)
    return table.assign(**{"Unnamed: 0": np.arange(len(table))})


def imbalance():
    rng = np.random.default_rng(2)
    fraud = np.arange(4000) < 8
    x = rng.normal(size=4000) + 2.5 * fraud
    return pd.DataFrame({"x": x, "z": rng.normal(size=4000), "ok": np.where(fraud, "fraud", "fair")})


def wide():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 300))
    y = np.where(X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=200) > 0, "b", "a")
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(300)]).assign(ok=y)


def text():
    rng = np.random.default_rng(4)
    own = {"spam": ["cheap", "pills", "win", "offer"], "ham": ["lunch", "notes", "meeting", "today"]}
    y = rng.choice(["spam", "ham"], 160)
    subject = [" ".join(rng.choice([*own[label], "the", "you", "for", "at"], 6)) for label in y]
    return pd.DataFrame({"subject": subject, "ok": y})


def dates():
    rng = np.random.default_rng(5)
    day = np.datetime64("2022-01-01") + rng.integers(0, 900, 300)
    late = (day.astype("M8[M]").astype(int) % 12 + 1 >= 11) ^ (rng.random(300) < 0.1)
    return pd.DataFrame(
        {"day": day.astype(str), "x": rng.normal(size=300), "ok": np.where(late, "gift", "none")}
    )


def noise():
    rng = np.random.default_rng(6)
    return pd.DataFrame({"x": rng.normal(size=120), "ok": rng.choice(["no", "yes"], 120)})


RIGHT = r"names the right class of ok in [\d.]+ %; always answering \w+, the commonest class, is right in"
YES = "Yes, as far as rows held out tell: on average it was"
EITHER = f"{YES}|No: they"
UNSURE = "Leave rows of which it is unsure to a person"
TABLES = {
    leak: Said(
        (
            r"Careful: 'status' \(by itself: accuracy 1\.000, .*\) tells the class almost alone",
            r"no figure here holds for new rows: leave it out \(--drop status\)",
            r"With it: Use [\w-]+ \(.*Without it: Use [\w-]+ \(2 columns",
        ),
        r"names the right class of ok in 100\.0 %",
        "Not before it is known when status gets its value",
        r"left out \(--drop status\), and all is compared anew",
        unsaid="taken at their word",
    ),
    row_numbers: Said(
        (
            r"column 'Unnamed: 0': counts the rows, as its name says: left out; --kind 'Unnamed: 0=contin",
            r"Use [\w-]+ \(2 columns",
        ),
        RIGHT,
        YES,
        UNSURE,
    ),
    imbalance: Said(
        (
            r"99\.8 % of the rows are fair: always answering fair is right as often, so that accuracy says",
            r"Of 8 fraud rows [\w ]+ finds \w+ \(recall",
        ),
        r"99\.8 % of the rows are fair.* Of 8 fraud rows",
        r"it expected [\d.]+ fraud rows among them, and there were 8",
        r"Say what a missed fraud and a false alarm cost \(--costs\)",
    ),
    wide: Said((r"Use (additive|lasso) \(300 columns",), RIGHT, EITHER, "Use (additive|lasso)"),
    text: Said(
        (
            r"subject text strings of several words",
            r"Use (weighted-)?naive-bayes \(1 column; .*weights = [\d.]+ chosen",
        ),
        RIGHT,
        "",
        "Use (weighted )?naive Bayes",
    ),
    dates: Said(
        (r"day\[month\] continuous date, month, 1 to 12", r"Use [\w-]+ \(\d columns"), RIGHT, "", "Use "
    ),
    noise: Said(
        ("Nothing here beats the class frequencies",),
        "Nothing here beats the class frequencies",
        "They are no more than the shares of the classes",
        "Use no model of this table yet: more rows or other columns are needed",
    ),
}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_the_screen_says_first_what_matters(table, folder, capsysbinary):
    table().to_csv("t.csv", index=False)
    found = told(capsysbinary, "compare", "t.csv", "-t", "ok", *FAST).all
    for words in TABLES[table].screen:
        assert re.search(words, found), words
    assert TABLES[table].unsaid not in found


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_the_head_of_the_page_says_it_in_plain_words(table):
    assert_said(table(), "ok", TABLES[table])


def assert_said(table, target, said):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        comparison = Comparison.of(table, target, folds=3, repeats=1)
        answers = dict(banner(Subject.of(comparison, table, target)))
    assert re.search(said.predicted, answers["What can be predicted?"])
    assert re.search(said.trusted, answers["Can the probabilities be trusted?"])
    assert re.search(said.to_do, answers["What to do?"])


BUNDLED = {
    "penguins": (r"Use (block|logistic) \(", "species in 9[89]"),
    "voters": (r"Use [\w-]+ \(3 columns", "candidate in"),
    "pokemon": (r"Use (logistic|lasso|additive|pool) \(", "type_1 in"),
}


@pytest.mark.parametrize("name", [*list(BUNDLED)[:2], pytest.param("pokemon", marks=pytest.mark.long)])
def test_the_bundled_tables(name, folder, capsysbinary):
    screen, page = BUNDLED[name]
    found = told(capsysbinary, "compare", name, *FAST).all
    assert re.search(screen, found)
    assert "Careful" not in found
    assert "outside reference, gradient boosting" in found
    bundled = load(name, "pandas")
    target = bundled.target
    assert_said(bundled.X.assign(**{target: bundled.y}), target, Said((), page, EITHER, "Use "))


@pytest.mark.long
@pytest.mark.skipif(not (DATA / "adult_train.csv").exists(), reason="the Adult table is not at hand")
def test_the_adult_table(folder, capsysbinary):
    models = ("--models", "majority,naive-bayes,logistic")
    found = told(capsysbinary, "compare", str(DATA / "adult_train.csv"), "-t", "income", *models, *FAST).all
    assert "column 'workclass': '?' may mark gaps: make them missing if they do (--missing '?')" in found
    assert re.search(r"Use logistic \(1[34] columns", found)
    assert "Careful" not in found
