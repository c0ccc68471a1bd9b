"""Many classes, columns and categories: fit, predict and memory beside scikit-learn's.

Each case is a process of its own, so that memory can be told: `python -m benchmarks.many CASE ROWS REPEATS`
prints, as JSON, the least seconds of `fit` and of `predict_proba` of some rows, ours and theirs by turns, and
how much resident memory rose in our first fit. The answers are compared first.
"""

import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn import discriminant_analysis, naive_bayes
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import posterior
from benchmarks.children import ask
from benchmarks.contest import DisagreementError, agree
from benchmarks.measure import MIB, resident_growth, settled
from benchmarks.plan import Plan, heading, told
from benchmarks.tasks import begins
from posterior.families import BagOfWords

Table = tuple[Any, np.ndarray]
CLASSES, COLUMNS, CATEGORIES = 1_000, 1_000, 10_000
WORDS, FEW_WORDS, STORED = 100_000, 8_000, 50
SCORED = 1_000
TOLERANCE = 1e-6


def classes_of(n: int, n_classes: int = CLASSES) -> tuple[np.random.Generator, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng, np.concatenate([np.arange(n_classes).repeat(2), rng.integers(0, n_classes, n)])[:n]


def numbers(n: int) -> Table:
    rng, y = classes_of(n)
    return rng.normal(size=(CLASSES, COLUMNS))[y] + rng.normal(size=(n, COLUMNS)), y


def counts(n: int) -> Table:
    rng, y = classes_of(n)
    return rng.poisson(rng.gamma(0.5, size=(CLASSES, COLUMNS))[y]).astype(np.float64), y


def categories(n: int) -> Table:
    """Twenty columns of up to 10,000 categories; the last rows hold all of them."""
    rng, y = classes_of(n)
    X = (y[:, None] * 7 + rng.integers(0, 3_000, (n, 20))) % CATEGORIES
    X[-CATEGORIES:] = np.arange(CATEGORIES)[:, None][:n]
    return X, y


def words(n: int, n_columns: int = WORDS, n_classes: int = 2) -> Table:
    rng, y = classes_of(n, n_classes)
    share = rng.random((n, STORED)) ** (1.0 + 0.5 * (y[:, None] % 2))
    columns = np.sort((share * (n_columns - STORED)).astype(np.int32), axis=1) + np.arange(
        STORED, dtype=np.int32
    )
    data = rng.integers(1, 4, columns.size).astype(np.float64)
    bounds = np.arange(0, columns.size + 1, STORED, dtype=np.int32)
    return sparse.csr_array((data, columns.ravel(), bounds), shape=(n, n_columns)), y


def texts(n: int) -> Table:
    """A column of texts of fifty words; the second class prefers words further on."""
    X, y = words(n)
    rows = X.indices.reshape(n, STORED).tolist()
    return np.array([[" ".join([f"w{j}" for j in row])] for row in rows], dtype=object), y


class CountedWords:
    """scikit-learn's words and model of one column of texts."""

    def __init__(self) -> None:
        self.model = make_pipeline(CountVectorizer(), naive_bayes.MultinomialNB())

    def fit(self, X: Any, y: np.ndarray) -> None:
        self.model.fit(X[:, 0], y)

    def predict_proba(self, X: Any) -> np.ndarray:
        return np.asarray(self.model.predict_proba(X[:, 0]))


LDA = discriminant_analysis.LinearDiscriminantAnalysis
NUMBERS, COUNTS = f"{COLUMNS:,} numbers", f"{COLUMNS:,} counts"


class Case(NamedTuple):
    """A kind of table in words, how it is drawn, our model and scikit-learn's."""

    table: str
    draw: Callable[[int], Table]
    ours: Any
    theirs: Any
    label: str = ""
    same: bool = True  # whether the answers are those of one model


CASES = {
    "GaussianNB": Case(NUMBERS, numbers, posterior.GaussianNB(), naive_bayes.GaussianNB()),
    "LDA": Case(NUMBERS, numbers, posterior.LDA(), LDA(solver="lsqr"), "lsqr"),
    "MultinomialNB": Case(COUNTS, counts, posterior.MultinomialNB(), naive_bayes.MultinomialNB()),
    "BernoulliNB": Case(COUNTS, counts, posterior.BernoulliNB(), naive_bayes.BernoulliNB()),
    "CategoricalNB": Case(
        f"20 columns of {CATEGORIES:,} categories",
        categories,
        posterior.CategoricalNB(),
        naive_bayes.CategoricalNB(),
    ),
    "MultinomialNB, words": Case(
        f"{WORDS:,} words, sparse", words, posterior.MultinomialNB(), naive_bayes.MultinomialNB()
    ),
    "BernoulliNB, words": Case(
        f"{WORDS:,} words, sparse", words, posterior.BernoulliNB(), naive_bayes.BernoulliNB()
    ),
    "NaiveBayes (Poisson), words": Case(
        f"{FEW_WORDS:,} words, sparse",
        partial(words, n_columns=FEW_WORDS),
        posterior.NaiveBayes(weights=1.0),
        naive_bayes.MultinomialNB(),
        "MultinomialNB",
        same=False,
    ),
    "BagOfWords": Case(
        f"texts of {STORED} words",
        texts,
        posterior.GenerativeClassifier([(0, BagOfWords("multinomial"))]),
        CountedWords(),
        "CountVectorizer and MultinomialNB",
    ),
}


def measured(name: str, n_rows: int, repeats: int) -> dict[str, Any]:
    """The figures of one case, in this process."""
    case = CASES[name]
    ours, theirs = case.ours, case.theirs
    X, y = case.draw(n_rows)
    _, rose = resident_growth(lambda: ours.fit(X, y))
    theirs.fit(X, y)
    some, scored = X[:200], X[: SCORED if len(ours.classes_) > 2 else len(y)]
    difference = None
    if case.same:
        difference = agree("scikit-learn", ours.predict_proba(some), theirs.predict_proba(some), TOLERANCE)
    calls: dict[str, Callable[[], Any]] = {
        "ours_fit_s": lambda: ours.fit(X, y),
        "fit_s": lambda: theirs.fit(X, y),
        "ours_predict_s": lambda: ours.predict_proba(scored),
        "predict_s": lambda: theirs.predict_proba(scored),
    }
    turns = [{key: settled(call) for key, call in calls.items()} for _ in range(repeats)]
    least = {key: min(turn[key] for turn in turns) for key in calls}
    return {
        "n": n_rows,
        "d": X.shape[1],
        "K": len(ours.classes_),
        "scored": scored.shape[0],
        **least,
        **{f"{part}_ratio": least[f"{part}_s"] / least[f"ours_{part}_s"] for part in ("fit", "predict")},
        "difference": difference,
        "memory": rose,
    }


def section(plan: Plan) -> None:
    """Every case, of 20,000 rows for each million."""
    n = max(plan.rows // 50, CLASSES * 2)
    heading(f"Many classes, columns and categories, {n:,} rows; memory of fit")
    for name, case in CASES.items():
        if not begins(name, plan.only):
            continue
        try:
            found = ask("-m", "benchmarks.many", name, str(n), str(plan.repeats))
        except RuntimeError as error:
            plan.fail(str(error))
            continue
        row = {"task": name, "table": case.table, "rival": "scikit-learn", "label": case.label, **found}
        plan.results.setdefault("many", []).append(row)
        print(line(row), flush=True)


def line(row: dict[str, Any]) -> str:
    """A case as a line."""
    both = "".join(f"{told(row[f'ours_{k}_s']):>10}{row[f'{k}_ratio']:>7.2f} ×" for k in ("fit", "predict"))
    return f"{row['task']:<28}{row['table']:<34}{both}{row['memory'] / MIB:>9.0f} MiB"


if __name__ == "__main__":
    case, rows, repeats = sys.argv[1:]
    try:
        print(json.dumps(measured(case, int(rows), int(repeats))))
    except DisagreementError as error:
        sys.exit(f"{case}: {error}; nothing is told")
