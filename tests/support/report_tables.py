"""Tables whose reports are looked at in a browser: made by seed, where they are not bundled."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from posterior.comparison import Comparison
from posterior.datasets import load
from posterior.report import write_report

FEW = {"models": ["majority", "naive-bayes", "lda", "logistic"], "folds": 3, "repeats": 1}


class ReportTable(NamedTuple):
    """A table and its classes, how they are called on the page, and how they are compared."""

    X: Any
    y: Any
    called: dict[str, Any]
    compared: dict[str, Any]

    def written(self, path: Path) -> Path:
        """Compare models of the table, and write the report."""
        comparison = Comparison.of(self.X, self.y, **self.compared)
        return write_report(comparison, self.X, self.y, path, **self.called)


def penguins() -> ReportTable:
    table = load("penguins", "pyarrow")
    return ReportTable(table.X, table.y, {"source": "penguins", "target": "species"}, FEW)


def voters() -> ReportTable:
    """Categories and gaps in every column."""
    table = load("voters", "pyarrow")
    return ReportTable(table.X, table.y, {"source": "voters", "target": "candidate"}, FEW)


SPAM = [
    "cheap",
    "pills",
    "claim",
    "your",
    "prize",
    "now",
    "free",
    "offer",
    "winner",
    "urgent",
    "cash",
    "click",
    "account",
    "verify",
    "bonus",
]
HAM = [
    "see",
    "you",
    "at",
    "lunch",
    "tomorrow",
    "the",
    "meeting",
    "is",
    "moved",
    "thanks",
    "for",
    "notes",
    "shall",
    "we",
    "talk",
    "about",
    "dinner",
]
BOTH = ["please", "call", "me", "when", "you", "have", "time", "today", "number", "we", "can", "this", "week"]


def spam() -> ReportTable:
    """Messages in which most words are those of their class."""
    rng = np.random.default_rng(0)
    kinds = np.where(rng.random(240) < 0.3, "spam", "ham")
    words = [
        " ".join(
            rng.choice(BOTH if rng.random() < 0.55 else SPAM if kind == "spam" else HAM) for _ in range(n)
        )
        for kind, n in zip(kinds, rng.integers(3, 14, 240), strict=True)
    ]
    called = {"source": "messages.csv", "target": "kind"}
    return ReportTable(pd.DataFrame({"message": words}), kinds, called, FEW)


def rare() -> ReportTable:
    """One row in two thousand is of the class that is looked for."""
    rng = np.random.default_rng(0)
    n = 30_000
    fraud = np.arange(n) % 2000 == 1000
    amount = np.exp(rng.normal(4, 1, n) + 1.5 * fraud)
    hour = rng.integers(0, 24, n)
    country = np.where(rng.random(n) < 0.1 + 0.5 * fraud, "abroad", "home")
    X = pd.DataFrame({"amount": amount.round(2), "hour": hour, "country": country})
    return ReportTable(
        X, np.where(fraud, "fraud", "fair"), {"source": "payments.csv", "target": "outcome"}, FEW
    )


def wide() -> ReportTable:
    """Three hundred columns, of which four say something of the class, and two are all but the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 300))
    y = np.where(X[:, :4].sum(axis=1) + 0.5 * rng.normal(size=200) > 0, "high", "low")
    X[:, 7] = X[:, 0] + 0.1 * rng.normal(size=200)
    frame = pd.DataFrame(X, columns=[f"gene_{j:03d}" for j in range(300)])
    models = {"models": ["majority", "naive-bayes", "lda", "logistic", "lasso"], "folds": 5, "repeats": 1}
    return ReportTable(frame, y, {"source": "genes.csv", "target": "response"}, models)


def twelve() -> ReportTable:
    """Twelve classes in a ring, neighbours mixed up."""
    rng = np.random.default_rng(0)
    month = rng.integers(0, 12, 720)
    turn = 2 * np.pi * month / 12
    X = np.column_stack([np.cos(turn), np.sin(turn)]) * 3 + 0.6 * rng.normal(size=(720, 2))
    names = np.array(["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"])
    frame = pd.DataFrame({"warmth": X[:, 0], "light": X[:, 1], "rain": rng.gamma(2.0, size=720)})
    return ReportTable(frame, names[month], {"source": "months.csv", "target": "month"}, FEW)


def dated() -> ReportTable:
    """Dates, gaps, a column that is nearly empty, and categories with long names."""
    rng = np.random.default_rng(0)
    n = 400
    since = np.datetime64("2021-01-04") + rng.integers(0, 900, n)
    plan = rng.choice(["basic", "a plan with a rather long name", "family and friends", "company"], n)
    income = np.where(rng.random(n) < 0.25, np.nan, rng.normal(38_000, 9_000, n).round())
    leaving = (income > 40_000) * 0.8 + (plan == "basic") + 1.2 * (since > np.datetime64("2022-06-01"))
    notes = np.where(rng.random(n) < 0.03, "called", None)
    X = pd.DataFrame(
        {"signup": since, "plan": plan, "income": income, "visits": rng.poisson(3, n), "remark": notes}
    )
    y = np.where(leaving + rng.logistic(size=n) > 1.2, "left", "stayed")
    return ReportTable(X, y, {"source": "customers.csv", "target": "status"}, FEW)


def costs() -> ReportTable:
    """Two classes and costs, which make the widest leaderboard."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] + rng.normal(size=200) > 0, "a class of some length", "another of them")
    priced = FEW | {"models": None, "costs": np.array([[0.0, 1.0], [5.0, 0.0]])}
    return ReportTable(X, y, {"target": "class"}, priced)


def many() -> ReportTable:
    """Twenty classes and sixty columns."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 60)), np.arange(300) % 20
    X[:, 0] += y
    return ReportTable(X, [f"class number {k}" for k in y], {}, FEW)


def nasty() -> ReportTable:
    """Names that would like to run, to be mathematics, or to fill the page."""
    rng = np.random.default_rng(0)
    script, image = "<script>alert(1)</script>", '"><img src=x onerror=alert(2)>'
    names = [script, image, "$x_1$", "n" * 300, "שלום עולם", "$\\frac{", "W" * 80]
    columns: dict[str, Any] = {name: rng.normal(size=90) + np.arange(90) % 4 for name in names[:4]}
    columns |= {name: [names[(3 * i + j) % 7] for i in range(90)] for j, name in enumerate(names[4:])}
    y = [names[k % 4] for k in range(90)]
    called = {"source": f"{script}.csv", "target": image, "title": script * 9}
    return ReportTable(pd.DataFrame(columns), y, called, FEW)


_MADE: tuple[Callable[[], ReportTable], ...] = (
    penguins, voters, spam, rare, wide, twelve, dated, costs, many, nasty,
)  # fmt: skip
REPORT_TABLES = {made.__name__: made for made in _MADE}
