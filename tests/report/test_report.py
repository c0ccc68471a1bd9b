"""The report: one page that holds all it shows, is the same each time, and lets nothing from the data act."""

import base64
import hashlib
import re
import shlex
import sys
from functools import partial
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

from posterior import LDA, NaiveBayes
from posterior.cli.decision_options import read_costs
from posterior.comparison import Comparison, candidates
from posterior.datasets import load
from posterior.decision import Costs, calibration_error, decide
from posterior.notices import DataWarning
from posterior.plot import DecisionRegionDisplay
from posterior.plot.style import COLOURS, FAINT, INK, MARKERS, colours_of, markers_of
from posterior.report import render, write_report
from posterior.report.figures import canvas, inline_svg
from posterior.report.sections import SECTIONS

FEW = {"models": ["majority", "naive-bayes", "lda", "logistic"], "folds": 3, "repeats": 1}
# Parts that are for two classes, and for texts.
FOR_OTHER_TABLES = {"threshold", "texts"}
NASTY = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "$x_1$",
    "n" * 300,
    "שלום עולם",
    "😀 smile",
    "$\\frac{",
    "{{ 7 * 7 }}{% raw %}",
    "two\nlines\x00",
    "_under & <b>",
)
TAGS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "nav",
        "main",
        "section",
        "footer",
        "h1",
        "h2",
    ),
    *(
        "script",
        "p",
        "a",
        "dl",
        "div",
        "dt",
        "dd",
        "small",
        "strong",
        "bdi",
        "ul",
        "ol",
        "li",
        "span",
        "pre",
        "code",
    ),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "details", "summary"),
    *(
        "svg",
        "g",
        "path",
        "defs",
        "use",
        "clippath",
        "rect",
        "text",
        "tspan",
        "circle",
        "line",
        "image",
        "pattern",
    ),
}


class Page(HTMLParser):
    """A page as tags with their attributes, its words, and its tables, row by row under their captions."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words = ""
        self.scripts: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self._rows: list[list[str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag == "caption":
            self._start = len(self.words)
        elif tag == "tr":
            self._rows.append([])
        elif tag in {"td", "th"}:
            self._start = len(self.words)

    def handle_endtag(self, tag: str) -> None:
        if tag == "caption":
            self._rows = self.tables.setdefault(self.words[self._start :], [])
        elif tag in {"td", "th"}:
            self._rows[-1].append(self.words[self._start :])

    def handle_data(self, data: str) -> None:
        if self.cdata_elem is None:  # neither style nor script
            self.words += data
        elif self.cdata_elem == "script":
            self.scripts.append(data)

    def table(self, beginning: str) -> list[list[str]]:
        """The rows of the table whose caption begins so, without its head."""
        return next(rows[1:] for caption, rows in self.tables.items() if caption.startswith(beginning))

    def of(self, *names: str) -> list[dict[str, str]]:
        return [attributes for tag, attributes in self.tags if tag in names]

    def values(self, name: str) -> list[str]:
        return [attributes[name] for _, attributes in self.tags if name in attributes]


def compared(X: Any, y: Any, called: dict[str, Any] | None = None, **settings: Any) -> str:
    return render(Comparison.of(X, y, **(FEW | settings)), X, y, **(called or {}))


@pytest.fixture(scope="module")
def penguins() -> tuple[Comparison, Any, Any]:
    table = load("penguins", "pyarrow")
    return Comparison.of(table.X, table.y, **FEW), table.X, table.y


@pytest.fixture(scope="module")
def text(penguins: tuple[Comparison, Any, Any]) -> str:
    return render(*penguins, source="penguins", target="species")


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def nasty_table(n: int = 90) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    classes = (*NASTY[:3], "half a letter \ud800")
    y = np.array([classes[k % 4] for k in range(n)], dtype=object)
    columns: dict[str, Any] = {name: rng.normal(size=n) + np.arange(n) % 4 for name in NASTY[:5]}
    columns |= {name: [NASTY[(3 * i + j) % 8] for i in range(n)] for j, name in enumerate(NASTY[5:])}
    columns["<i>text</i>"] = [
        " ".join(NASTY[(i + k) % 8][:30] for k in range(4)) + f" w{i}" for i in range(n)
    ]
    return pd.DataFrame(columns), y


@pytest.fixture(scope="module")
def nasty() -> str:
    X, y = nasty_table()
    return compared(
        X, y, {"source": "<i>a b</i>.csv; rm -rf /", "target": NASTY[0], "options": ["--missing", "?"]}
    )


# -- the page as a whole --------------------------------------------------------------------------


def test_the_same_comparison_gives_the_same_bytes(penguins: tuple[Comparison, Any, Any], text: str) -> None:
    assert render(*penguins, source="penguins", target="species") == text


def test_every_part_is_there_for_a_table_of_all_kinds(page: Page, text: str) -> None:
    there = [part.key for part in SECTIONS if part.key not in FOR_OTHER_TABLES]
    assert [a["id"] for a in page.of("section")] == there
    assert "Left out:" not in text


def test_the_recommendation_stands_first(penguins: tuple[Comparison, Any, Any], page: Page) -> None:
    assert page.words.index(penguins[0].recommendation) < page.words.index("The table")


def test_headings_are_in_order_and_tables_have_captions(page: Page) -> None:
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert len(page.of("caption")) == len(page.of("table"))
    assert all(attributes.get("scope") in {"row", "col"} for attributes in page.of("th"))


def test_every_picture_says_in_words_what_it_shows(page: Page) -> None:
    told = [attributes["aria-label"] for attributes in page.of("div") if attributes.get("role") == "img"]
    assert len(told) == len(page.of("figure"))
    assert all(told)
    assert all(attributes.get("aria-hidden") == "true" for attributes in page.of("svg"))


@pytest.mark.parametrize("which", ["text", "nasty"])
def test_ids_are_unique_and_every_reference_finds_its_target(
    which: str, request: pytest.FixtureRequest
) -> None:
    text = request.getfixturevalue(which)
    page = Page(text)
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    within = [link[1:] for link in page.values("href") if link.startswith("#")]
    within += [
        name
        for value in (*page.values("clip-path"), *page.values("style"))
        for name in re.findall(r"url\(#(.*?)\)", value)
    ]
    assert set(within) <= set(ids)
    assert within


@pytest.mark.parametrize("which", ["text", "nasty"])
def test_the_page_asks_nothing_of_the_network_and_runs_nothing(
    which: str, request: pytest.FixtureRequest
) -> None:
    text = request.getfixturevalue(which)
    page = Page(text)
    assert {tag for tag, _ in page.tags} <= TAGS
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert not page.values("src")
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in page.values("href"))
    assert "url(http" not in text
    assert "@import" not in text
    policy = next(a["content"] for a in page.of("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")
    (script,) = page.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["script-src"] == f"'sha256-{digest}'"
    assert "eval" not in policy
    assert page.of("script") == [{}]


def test_names_from_the_data_are_words_and_nothing_else(nasty: str) -> None:
    page = Page(nasty)
    for name in NASTY[:3]:
        assert name in page.words
    assert "{{ 7 * 7 }}{% raw %}" in page.words
    assert "49{" not in page.words
    assert "n" * 60 not in page.words  # cut, …
    assert any(value == "n" * 300 for value in page.values("title"))  # … and whole where one points
    assert "\x00" not in nasty
    assert nasty.encode("utf-8")
    assert "Left out:" not in nasty


def test_commands_hold_names_as_a_shell_reads_them(nasty: str) -> None:
    lines = [shlex.split(line) for line in Page(nasty).words.splitlines() if line.startswith("posterior ")]
    fit = next(line for line in lines if line[1] == "fit")
    assert fit[2:5] == ["<i>a b</i>.csv; rm -rf /", "--target", NASTY[0]]
    assert fit[-4:] == ["--missing", "?", "-o", "model.posterior"]
    assert {line[1] for line in lines} == {"fit", "predict", "inspect", "explain"}


def test_declared_kinds_go_into_the_command() -> None:
    table = load("voters", "pyarrow")
    said = compared(table.X, table.y, kinds={"income": "count"}, models=["majority", "naive-bayes"])
    assert "--kind income=count" in Page(said).words


# -- what it says ---------------------------------------------------------------------------------


def test_models_stand_in_the_order_of_the_comparison(
    penguins: tuple[Comparison, Any, Any], page: Page
) -> None:
    comparison = penguins[0]
    first = [row[0] for row in page.table("Models by log loss")]
    assert [cell.split(" ")[0] for cell in first] == [r.title.split(" ")[0] for r in comparison.results]
    assert ["recommended" in cell for cell in first] == [
        r is comparison.recommended for r in comparison.results
    ]
    assert [" tie " in cell for cell in first] == [r in comparison.ties for r in comparison.results]


def test_gaps_and_classes_are_counted() -> None:
    X = pa.table({"a": [1.0, None, 3.0, 2.0] * 15, "b": ["x", None, "y", "x"] * 15})
    said = Page(compared(X, list("pqpp") * 15)).words
    assert "60 rows and 2 columns (1 continuous, 1 categorical)" in said
    assert "30 cells (25.0 %) without a value, in 2 columns and 25.0 % of the rows" in said
    assert "15 (25.0 %)" in said


def test_an_odd_row_is_listed_with_what_is_odd_about_it() -> None:
    table = load("penguins", "pandas")
    X = table.X.copy()
    X.loc[7, "flipper_length_mm"] = 400.0
    row, own, like, _, why = Page(compared(X, table.y)).table("The least likely rows")[0]
    assert (row, own, like) == ("7", "Adelie", "Gentoo")  # of the longest flippers
    assert why.startswith("flipper_length_mm 400 (usually 2")


def test_what_is_usual_leaves_out_the_odd_row_and_a_usual_number_that_costs_little_is_not_listed(
    page: Page,
) -> None:
    """Penguin 293 has by far the longest bill of its class, and no year is odd."""
    found = {row: why for row, *_, why in page.table("The least likely rows")}
    assert found["293"].startswith("bill_length_mm 58 (usually 4")
    for name, value, low, high in re.findall(
        r"(\w+) ([\d.]+) \(usually ([\d.]+) to ([\d.]+)\)", "; ".join(found.values())
    ):
        assert not float(low) <= float(value) <= float(high), name
    assert "year" not in "".join(found.values())


def test_odd_texts_are_told_by_their_words_and_not_by_their_length() -> None:
    texts = [f"see you at {place} tomorrow" for place in ("lunch", "home", "work", "school")] * 15
    texts[10] = "see you at lunch tomorrow " * 20
    texts[20], texts[21], texts[22] = ["quixotic zeppelins vanquish"] * 3
    said = Page(compared(pa.table({"message": texts}), list("ab") * 30, kinds={"message": "text"}))
    head, *rows = next(
        rows for caption, rows in said.tables.items() if caption.startswith("The least likely")
    )
    assert head[3] == "log p(row) per word"
    assert {row[0] for row in rows[:3]} == {"20", "21", "22"}
    assert rows[0][4] == "“quixotic zeppelins vanquish”"


def test_the_errors_listed_are_those_of_the_model_recommended(penguins: tuple[Comparison, Any, Any]) -> None:
    comparison, X, y = penguins
    said = Page(render(comparison, X, y))
    rows = next(
        rows[1:] for caption, rows in said.tables.items() if "finds another class likelier" in caption
    )
    wrong = comparison.recommended.predicted != comparison.codes
    assert {int(row[0]) for row in rows} <= set(comparison.rows[wrong].tolist())
    assert len(rows) == min(wrong.sum(), 10)
    beliefs = [float(row[3]) for row in rows]
    assert beliefs == sorted(beliefs)


def test_one_model_alone_is_not_called_every_model() -> None:
    table = load("penguins", "pyarrow")
    said = Page(compared(table.X, table.y, models=["majority", "naive-bayes"])).words
    assert "finds another class likelier" in said
    assert "wrong in" not in said


def test_separation_is_told_in_its_own_words() -> None:
    """A level that one class alone has separates, however often the classes are confused otherwise."""
    rng = np.random.default_rng(0)
    side = np.where(rng.random(200) < 0.5, "left", "right")
    rare = np.where((side == "left") & (np.arange(200) < 20), "z", rng.choice(["x", "y"], 200))
    said = Page(compared(pd.DataFrame({"level": rare, "value": rng.normal(size=200)}), side)).words
    assert "There is quasi-complete separation of classes 'left' and 'right' by column 'level[z]'" in said
    assert "told apart without error" not in said


def test_classes_are_those_in_a_column(text: str, page: Page) -> None:
    assert page.table("Classes in column species")


# -- the banner, for somebody who reads nothing else ----------------------------------------------


def told(page: Page) -> dict[str, str]:
    """The questions of the banner and their answers."""
    lines = [line.strip() for line in page.words.splitlines() if line.strip()]
    questions = ("What can be predicted?", "Can the probabilities be trusted?", "What to do?")
    return {q: next(line for line in lines if line.startswith(q)).removeprefix(q) for q in questions}


def test_the_banner_says_what_how_well_and_what_to_do(
    penguins: tuple[Comparison, Any, Any], page: Page
) -> None:
    best = penguins[0].recommended
    what, trusted, todo = told(page).values()
    assert f"{best.title} names the right class of species in {100 * best.accuracy:.1f} %" in what
    assert "always answering Adelie, the commonest class, is right in 44.2 %" in what
    assert trusted.startswith("Yes, as far as rows held out tell")
    assert todo.startswith(f"Use {best.title}")


def test_noise_is_called_noise() -> None:
    rng = np.random.default_rng(3)
    page = Page(compared(rng.normal(size=(120, 3)), np.arange(120) % 2))
    what, trusted, todo = told(page).values()
    assert what.startswith("Nothing here beats the class frequencies")
    assert trusted == "They are no more than the shares of the classes."
    assert todo.startswith("Use no model of this table yet")


def test_a_leak_is_not_trusted() -> None:
    rng = np.random.default_rng(0)
    paid = np.arange(200) % 2
    X = pd.DataFrame({"paid": paid + 0.01 * rng.normal(size=200), "age": rng.normal(size=200)})
    page = Page(compared(X, np.where(paid, "good", "bad")))
    _, trusted, todo = told(page).values()
    assert trusted.startswith("Not before it is known when paid gets its value")
    assert "--drop paid" in todo
    assert "The posteriors can be taken at their word" not in page.words


def test_at_one_in_two_thousand_accuracy_is_no_headline() -> None:
    rng = np.random.default_rng(0)
    y = np.where(np.arange(8000) % 2000 == 7, "fraud", "fair")
    X = rng.normal(size=(8000, 2)) + 3 * (y == "fraud")[:, None]
    text = compared(X, y, models=["majority", "lda"])
    page = Page(text)
    assert (
        "99.95 % of the rows are fair: always answering fair is right as often"
        in told(page)["What can be predicted?"]
    )
    tiles = text[text.index('<dl class="tiles">') : text.index("</header>")]
    assert "fraud found" in tiles
    assert "accuracy" not in tiles
    assert page.table("Classes")[1][2] == "0.05 %"


def test_every_term_is_explained_where_it_is_used_first(text: str, page: Page) -> None:
    links = re.findall(r'<a class="term" href="#(term-[a-z-]+)"', text)
    assert len(links) == len(set(links)) > 10
    assert set(links) <= set(page.values("id"))
    first = re.search(r"log loss", page.words, re.IGNORECASE)
    assert first is not None
    before = text.index('href="#term-log-loss"')
    assert "log loss" not in re.sub(r"<[^>]*>", "", text[text.index("<body") : before])


# -- costs ----------------------------------------------------------------------------------------


def loans(costs: Any, **settings: Any) -> tuple[Comparison, Page]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, "good", "bad")
    comparison = Comparison.of(X, y, **(FEW | {"repeats": 2, "costs": costs} | settings))
    return comparison, Page(render(comparison, X, y, source="loans.csv", target="class"))


PRICES = {"bad": {"bad": 0, "good": 5}, "good": {"bad": 1, "good": 0}}


def test_with_costs_the_page_goes_by_the_average_cost() -> None:
    comparison, page = loans(PRICES)
    best = comparison.recommended
    assert f"average cost{best.average_cost:.3f}" in page.words
    head, *rows = next(rows for caption, rows in page.tables.items() if caption.startswith("Models by"))
    assert head[1] == "average cost"
    assert "log loss" in head
    assert [row[1].split(" ")[0] for row in rows] == [f"{r.average_cost:.3f}" for r in comparison.results]


def test_with_costs_classes_stand_against_actions() -> None:
    comparison, page = loans(PRICES)
    action = decide(comparison.recommended.log_proba, comparison.costs)
    rows = page.table("True class (rows) against the action of least expected cost")
    for k, row in enumerate(rows):
        mine = comparison.codes == k
        assert [int(cell) for cell in row[1:3]] == [int((action[mine] == a).sum()) for a in range(2)]
        price = np.array([[0, 5], [1, 0]])[k, action[mine]].mean()
        assert row[3] == f"{price:.3f}"
    assert (action != comparison.recommended.predicted).any()


@pytest.mark.parametrize(
    ("costs", "typed"),
    [
        (PRICES, "bad:good=5"),
        ([[0, 0.25], [2, 0]], "bad:good=0.25,good:bad=2"),
        ([[0, 1], [1, 0]], "bad:bad=0,bad:good=1,good:bad=1,good:good=0"),
        (
            {"bad": {"bad": 0, "good": 5, "ask": 1}, "good": {"bad": 1, "good": 0, "ask": 0.5}},
            "bad:good=5,bad:ask=1,good:ask=0.5",
        ),
        ({"bad": {"lend": 5, "refuse": 0}, "good": {"lend": 0, "refuse": 1}}, "COSTS.csv"),
    ],
)
def test_commands_have_costs_as_the_command_line_reads_them(costs: Any, typed: str) -> None:
    comparison, page = loans(costs, models=["lda"])
    lines = [shlex.split(line) for line in page.words.splitlines() if line.startswith("posterior predict")]
    assert len(lines) == 2
    for line in lines:
        assert line[line.index("--costs") + 1] == typed
    if typed != "COSTS.csv":
        read = read_costs(typed, comparison.classes.tolist())
        given = Costs(comparison.costs.matrix, tuple(comparison.costs.actions or comparison.classes.tolist()))
        assert read == {
            k: dict(zip(given.actions or (), row, strict=True))
            for k, row in zip(comparison.classes.tolist(), given.matrix.tolist(), strict=True)
        }


def test_the_calibration_error_is_that_of_the_leaderboard() -> None:
    comparison, page = loans(None)
    told = f"Calibration error {comparison.recommended.calibration_error:.3f}"
    drawn = calibration_error(comparison.codes, comparison.recommended.log_proba, n_simulations=0).value
    assert f"{drawn:.3f}" not in told  # or the case shows nothing
    assert f"{told} ({drawn:.3f} in the repeat that is drawn)" in page.words


def test_rows_are_numbered_as_in_the_table_handed_over() -> None:
    """Rows without a class are left out, and the others keep their places."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] > 0, "up", "down").astype(object)
    y[:10] = None
    X[50] = [0.0, 60.0]
    with pytest.warns(DataWarning, match="rows without a class, left out: 10 of 80"):
        text = compared(X, y)
    assert Page(text).table("The least likely rows")[0][0] == "50"


def test_posteriors_that_are_too_sure_come_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = partial(NaiveBayes, tied=False, weights=1.0)  # which takes twelve copies at their word
    monkeypatch.setattr(candidates, "NaiveBayes", plain)
    rng = np.random.default_rng(0)
    column = rng.normal(size=(400, 1))
    X = np.hstack([column + 0.05 * rng.normal(size=(400, 1)) for _ in range(12)])
    y = (column[:, 0] + 1.5 * rng.normal(size=400) > 0).astype(int)
    said = Page(compared(X, y, models=["naive-bayes"])).words
    assert "are too sure of themselves" in said
    assert "--calibration temperature" in said


def tables() -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    """Tables of all sorts, their classes, and how they are compared."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    side, sign, n = np.where(X[:, 0] > 0, "good", "bad"), (X[:, 0] > 0).astype(int), np.arange(90)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "when": n, "who": n // 3, "side": side})
    words = [f"{'cheap pills now' if i % 2 else 'see you at lunch'} number {i}" for i in n]
    poor = {"empty": [None] * 90, "constant": 1.0, "name": [f"r{i}" for i in n], "value": X[:, 0]}
    prices = {"good": {"good": 0, "bad": 1}, "bad": {"good": 5, "bad": 0}}
    return {
        "no continuous column": (pd.DataFrame({"c": list("aba") * 30, "d": list("xxyzz") * 18}), side, {}),
        "texts only": (pa.table({"words": words}), n % 2, {}),
        "an array without names": (X, sign, {}),
        "a sparse table": (sparse.csr_array(rng.poisson(0.5, size=(90, 40))), sign, {}),
        "thirty classes": (rng.normal(size=(300, 3)), np.arange(300) % 30, {}),
        "columns that say nothing": (pd.DataFrame(poor), side, {}),
        "a class of one row": (X, np.where(n == 7, "only", side), {}),
        "a discriminant alone": (X, side, {"models": ["least-squares"]}),
        "nothing to learn": (X, n % 2, {}),
        "costs": (X, side, {"costs": prices}),
        "rows in time": (frame.drop(columns="who"), "side", {"time": "when"}),
        "rows in groups": (frame.drop(columns="when"), "side", {"groups": "who"}),
        "six rows": (
            [[1.0, "a"], [2.0, "b"], [3.0, "a"], [4.0, "b"], [5.0, "a"], [6.0, "b"]],
            list("xxxyyy"),
            {},
        ),
    }


QUICK_TABLES = ("texts only", "a class of one row", "rows in groups")


@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=[] if c in QUICK_TABLES else pytest.mark.long) for c in tables()]
)
def test_a_report_can_be_made_of(case: str) -> None:
    X, y, settings = tables()[case]
    text = compared(X, y, **settings)
    page = Page(text)
    assert "Left out:" not in text
    assert [a["id"] for a in page.of("section")][:3] == ["table", "models", "chosen"]
    assert len(page.values("id")) == len(set(page.values("id")))


@pytest.mark.long
def test_two_thousand_columns_make_a_page_of_bounded_size() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2000)), np.arange(60) % 2
    text = compared(X, y, models=["majority", "naive-bayes"])
    assert len(text) < 1_000_000
    assert "The first 15 of 2,000 columns" in Page(text).words


@pytest.mark.long
def test_thirty_thousand_rows_make_a_page_of_bounded_size_that_says_what_was_left_out() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 2))
    y = (X[:, 0] + rng.normal(size=30_000) > 0).astype(int)
    text = compared(X, y, models=["majority", "naive-bayes", "logistic"])
    assert len(text) < 1_500_000
    assert "2,000 of 30,000 rows are drawn" in text
    assert "From 20,000 of the rows" in text


# -- the file, and what is refused ----------------------------------------------------------------


def test_the_file_is_the_page(penguins: tuple[Comparison, Any, Any], text: str, tmp_path: Path) -> None:
    path = write_report(*penguins, tmp_path / "report.html", source="penguins", target="species")
    assert path.read_bytes() == text.encode("utf-8")
    assert [found.name for found in tmp_path.iterdir()] == ["report.html"]


def test_a_report_that_fails_leaves_the_old_file_alone(
    penguins: tuple[Comparison, Any, Any], tmp_path: Path
) -> None:
    old = tmp_path / "report.html"
    old.write_text("old")
    comparison, X, y = penguins
    with pytest.raises(ValueError, match="the comparison was made with 344"):
        write_report(comparison, X.slice(0, 300), y[:300], old)
    assert old.read_text() == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["report.html"]


def test_progress_is_told_part_by_part(penguins: tuple[Comparison, Any, Any]) -> None:
    told: list[tuple[int, int, str]] = []
    render(*penguins, progress=lambda *step: told.append(step))
    assert [done for done, _, _ in told] == list(range(len(SECTIONS) + 1))
    assert {total for _, total, _ in told} == {len(SECTIONS)}


@pytest.mark.parametrize(("missing", "extra"), [("jinja2", "report"), ("matplotlib.pyplot", "plot")])
def test_what_a_report_needs_is_named_where_it_is_not_installed(
    missing: str, extra: str, penguins: tuple[Comparison, Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=rf"pip install 'posterior\[{extra}\]'"):
        render(*penguins)


def test_what_the_library_refuses_to_draw_is_said_in_its_place(
    penguins: tuple[Comparison, Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise ValueError("no plane <today>")

    monkeypatch.setattr("posterior.report.sections.plane.best_pair", refuse)
    text = render(*penguins)
    assert "Left out: no plane &lt;today&gt;" in text
    assert "What to do next" in text


# -- pictures and colours -------------------------------------------------------------------------


def test_pictures_take_their_colours_from_the_page(text: str) -> None:
    pictures = "".join(re.findall(r"<svg.*?</svg>", text, re.DOTALL)).lower()
    for colour in (INK, FAINT, *COLOURS, "#000000", "#ffffff"):
        assert colour.lower() not in pictures
    assert "var(--ink)" in pictures
    assert "var(--class-0)" in pictures
    assert "font-family" not in pictures


def test_two_pictures_in_one_page_share_no_id() -> None:
    pictures = []
    for prefix in ("one", "two"):
        with canvas(2, 1) as ax:
            ax.scatter([0, 1], [1, 0], hatch="//", facecolor="red")
            pictures.append(inline_svg(ax.figure, prefix))
    ids = [set(Page(picture).values("id")) for picture in pictures]
    assert ids[0]
    assert not ids[0] & ids[1]
    assert pictures[0].replace("one-", "two-") == pictures[1]


def test_shades_of_white_look_the_same_on_white_and_let_a_dark_page_through() -> None:
    from posterior.report.figures import _translucent

    rng = np.random.default_rng(0)
    shades = rng.random((4, 5, 3))
    seen = _translucent(shades)
    alpha = seen[..., 3:]
    np.testing.assert_allclose(alpha * seen[..., :3] + (1 - alpha), shades, atol=1e-12)
    assert (_translucent(np.ones((1, 1, 3)))[..., 3] == 0).all()


STYLE = files("posterior.report").joinpath("templates", "style.css").read_text(encoding="utf-8")
# What looks as it would without a rule of its own: tags of approaches, counts that are right, cells of bars.
PLAIN = {"generative", "discriminative", "discriminant", "baseline", "reference", "right", "share"}


@pytest.mark.parametrize("which", ["text", "nasty"])
def test_every_class_of_the_page_is_in_its_style_sheet(which: str, request: pytest.FixtureRequest) -> None:
    page = Page(request.getfixturevalue(which))
    used = {name for value in page.values("class") for name in value.split()}
    assert {"small", "best", "tinted"} <= used
    assert used <= set(re.findall(r"\.([a-z][\w-]*)", STYLE)) | PLAIN


def colours(scheme: str) -> dict[str, str]:
    light, dark = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", light))
    return found if scheme == "light" else found | dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", dark))


def test_the_light_page_has_the_colours_and_marks_of_every_other_picture() -> None:
    assert [colours("light")[f"class-{k}"] for k in range(8)] == [colour.lower() for colour in COLOURS]
    assert MARKERS == (
        "o",
        "s",
        "^",
        "D",
        "v",
        "P",
        "X",
        "*",
    )  # drawn in this order by MARKS of blocks.html.j2


def test_twelve_classes_have_marks_that_differ_and_the_legend_has_those_of_the_picture() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(240) % 12
    text = compared(rng.normal(size=(240, 2)) + y[:, None], y, models=["lda", "naive-bayes"])
    part = text[text.index('<section id="plane"') :]
    legend = re.findall(r'<path class="series-(\d)" d="([^"]+)"', part[: part.index("</section>")])
    assert len(legend) == len(set(legend)) == 12
    paths = [path for _, path in legend[:8]]  # in the order of MARKERS
    marks = markers_of(range(12))
    assert [paths.index(path) for _, path in legend] == [MARKERS.index(mark) for mark in marks]
    pairs = set(zip(colours_of(range(64)), markers_of(range(64)), strict=True))
    assert len(pairs) == 64


def test_a_rare_class_is_not_lost_from_the_picture() -> None:
    rng = np.random.default_rng(0)
    y = np.where(np.arange(8000) % 2000 == 7, "fraud", "fair")
    X = rng.normal(size=(8000, 2)) + 3 * (y == "fraud")[:, None]
    display = DecisionRegionDisplay.from_estimator(LDA().fit(X, y), X, y)
    assert np.bincount(display.codes).tolist() == [1999, 4]
    assert "2,003 of 8,000 rows are drawn" in Page(compared(X, y, models=["majority", "lda"])).words


def test_of_three_hundred_columns_what_is_not_shown_is_counted() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 300)), np.arange(150) % 2
    X[:, 0] = X[:, 1]
    said = Page(compared(X, y, models=["majority", "naive-bayes"])).words
    assert "The first 15 of 300 columns" in said
    assert "185 columns more; 100 more are not listed" in said
    assert "Shown are 12 of 300 columns" in said
    assert "1 of 1 pair that go together by 0.3 or more, beyond chance, among 44,850 pairs" in said
    assert "None of 300 columns tells anything of the class by itself that luck would not" in said
    assert "shuffles of the rows, so that the number of columns is allowed for" in said


def channels(colour: str) -> np.ndarray[Any, Any]:
    return np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])


def contrast(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> float:
    """WCAG 2.2: (L1 + 0.05)/(L2 + 0.05) of the relative luminances."""

    def luminance(c: np.ndarray[Any, Any]) -> float:
        return float(
            np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]
        )

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


GROUNDS = [
    ("ink", "page"), ("ink", "card"), ("ink", "accent-soft"), ("muted", "page"), ("muted", "card"),
    ("muted", "accent-soft"), ("accent", "card"), ("accent", "page"), ("card", "accent"),
    ("warn", "warn-soft"),
]  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), GROUNDS)
def test_words_can_be_read_on_their_ground(scheme: str, text: str, ground: str) -> None:
    known = colours(scheme)
    assert contrast(channels(known[text]), channels(known[ground])) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("tint", ["right", "wrong"])
def test_counts_can_be_read_on_the_deepest_tint(scheme: str, tint: str) -> None:
    known = colours(scheme)
    share = float(re.findall(r"calc\(var\(--share\) \* (\d+)%\)", STYLE)[0]) / 100
    ground = share * channels(known[tint]) + (1 - share) * channels(known["card"])
    assert contrast(channels(known["ink"]), ground) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_of_pictures_stand_out_from_the_card(scheme: str) -> None:
    """Graphics need 3 to 1; the palest of Okabe and Ito's have less on white, and marks of their own."""
    known = colours(scheme)
    pale = {"class-1", "class-4", "class-3"} if scheme == "light" else set()
    lines = {name for name in known if name.startswith("class-")} - pale | {"right", "wrong"}
    assert all(contrast(channels(known[name]), channels(known["card"])) >= 3 for name in lines)
