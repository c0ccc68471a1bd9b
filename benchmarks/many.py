"""Many classes, columns and categories: fit, predict and memory beside scikit-learn's.

`python -m benchmarks.many [--rows N] [--repeats R] [--case NAME]` prints for each case the seconds of
`fit` and of `predict_proba` of some rows, by turns, and by how much resident memory rose in ours. Each case
is a process of its own, which compares the answers first.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import discriminant_analysis, naive_bayes
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import posterior
from benchmarks.measure import resident_growth, settled
from posterior.families import BagOfWords

Table = tuple[Any, np.ndarray]
CLASSES, COLUMNS, CATEGORIES = 1_000, 1_000, 10_000
WORDS, STORED = 100_000, 50
SCORED = 1_000


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
CASES: dict[str, tuple[Callable[[int], Table], Any, Any]] = {
    "GaussianNB": (numbers, posterior.GaussianNB(), naive_bayes.GaussianNB()),
    "LDA": (numbers, posterior.LDA(), LDA(solver="lsqr")),
    "MultinomialNB": (counts, posterior.MultinomialNB(), naive_bayes.MultinomialNB()),
    "BernoulliNB": (counts, posterior.BernoulliNB(), naive_bayes.BernoulliNB()),
    "CategoricalNB": (categories, posterior.CategoricalNB(), naive_bayes.CategoricalNB()),
    "MultinomialNB, words": (words, posterior.MultinomialNB(), naive_bayes.MultinomialNB()),
    "BernoulliNB, words": (words, posterior.BernoulliNB(), naive_bayes.BernoulliNB()),
    "NaiveBayes, words": (
        lambda n: words(n, 8_000),
        posterior.NaiveBayes(weights=1.0),
        naive_bayes.MultinomialNB(),
    ),
    "texts": (texts, posterior.GenerativeClassifier([(0, BagOfWords("multinomial"))]), CountedWords()),
}
OTHER_MODEL = {"NaiveBayes, words"}  # Poisson counts, whose answers are not those of a multinomial


def measured(name: str, n_rows: int, repeats: int) -> dict[str, Any]:
    """The figures of one case, in this process."""
    make, ours, theirs = CASES[name]
    X, y = make(n_rows)
    _, rose = resident_growth(lambda: ours.fit(X, y))
    theirs.fit(X, y)
    some, scored = X[:200], X[: SCORED if len(ours.classes_) > 2 else len(y)]
    if name not in OTHER_MODEL:
        a, b = ours.predict_proba(some), theirs.predict_proba(some)
        if not np.allclose(a, b, rtol=1e-6, atol=1e-6):
            raise SystemExit(f"{name}: the answers differ by {np.abs(a - b).max():.1e}; nothing is told")
    seconds: dict[str, list[float]] = {"fit": [], "their fit": [], "predict": [], "their predict": []}
    for _ in range(repeats):
        seconds["fit"].append(settled(lambda: ours.fit(X, y)))
        seconds["their fit"].append(settled(lambda: theirs.fit(X, y)))
        seconds["predict"].append(settled(lambda: ours.predict_proba(scored)))
        seconds["their predict"].append(settled(lambda: theirs.predict_proba(scored)))
    return {key: min(times) for key, times in seconds.items()} | {"memory": rose, "shape": list(X.shape)}


def line(name: str, found: dict[str, Any]) -> str:
    n, d = found["shape"]
    told = "".join(
        f"{found[what]:>9.3f} s{found[f'their {what}'] / found[what]:>7.1f} ×" for what in ("fit", "predict")
    )
    return f"{name:<22}{n:>9,} × {d:<8,}{told}{found['memory'] / 2**20:>9.0f} MiB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--case", choices=list(CASES), help="measure one case, in this process")
    options = parser.parse_args()
    if options.case:
        print(json.dumps(measured(options.case, options.rows, options.repeats)))
        return
    print(
        f"K = {CLASSES:,} (words: 2), {CATEGORIES:,} categories; seconds, times scikit-learn's, memory of fit"
    )
    for name in CASES:
        size = ["--rows", str(options.rows), "--repeats", str(options.repeats)]
        command = [sys.executable, "-m", "benchmarks.many", "--case", name, *size]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  (this very file)
        if done.returncode:
            raise SystemExit(done.stderr)
        print(line(name, json.loads(done.stdout)), flush=True)


if __name__ == "__main__":
    main()
