"""Memory that counts of words take beyond the table itself, once the answers agree with scikit-learn's.

`python -m benchmarks.words [--rows N] [--columns D]` prints, for a sparse table and for a column of texts, by
how much resident memory grows in `fit` and `predict`, as a share of the table. Each figure is of a process
of its own, which builds the table slice by slice, so that building it sets no peak.
"""

import argparse
import json
import subprocess
import sys
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import naive_bayes
from sklearn.feature_extraction.text import CountVectorizer

import posterior
from benchmarks.measure import resident_growth, timed
from posterior.families import BagOfWords

STORED = 60
WORDS = 12
SLICE = 20_000
CASES = {
    "MultinomialNB int64": ("MultinomialNB", "int64"),
    "MultinomialNB float64": ("MultinomialNB", "float64"),
    "BernoulliNB int64": ("BernoulliNB", "int64"),
    "BernoulliNB float64": ("BernoulliNB", "float64"),
}
TEXTS = {"texts, multinomial": "multinomial", "texts, bernoulli": "bernoulli"}


def drawn(rng: np.random.Generator, y: np.ndarray, n_words: int, stored: int) -> np.ndarray:
    """Distinct word numbers of each row, in order; the second class prefers words further on."""
    share = rng.random((len(y), stored)) ** np.where(y == 0, 3.0, 2.5)[:, None]
    return np.sort((share * (n_words - stored)).astype(np.int32), axis=1) + np.arange(stored, dtype=np.int32)


def sparse_table(n_rows: int, n_columns: int, dtype: str) -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    indices = np.empty(n_rows * STORED, dtype=np.int32)
    data = np.empty(n_rows * STORED, dtype=dtype)
    for start in range(0, n_rows, SLICE):
        part = y[start : start + SLICE]
        cells = slice(start * STORED, (start + len(part)) * STORED)
        indices[cells] = drawn(rng, part, n_columns, STORED).ravel()
        data[cells] = rng.integers(1, 4, len(part) * STORED)
    indptr = np.arange(0, n_rows * STORED + 1, STORED, dtype=np.int32)
    return sparse.csr_array((data, indices, indptr), shape=(n_rows, n_columns)), y


def texts_table(n_rows: int, n_words: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    texts = np.empty((n_rows, 1), dtype=object)
    for start in range(0, n_rows, SLICE):
        numbers = drawn(rng, y[start : start + SLICE], n_words, WORDS).tolist()
        texts[start : start + SLICE, 0] = [" ".join([f"w{j}" for j in row]) for row in numbers]
    return texts, y


def growth(work: Any) -> tuple[Any, float, float]:
    """The result, by how many bytes resident memory rose at its highest, and seconds."""
    (result, rose), took = timed(lambda: resident_growth(work))
    return result, rose, took


def agree(ours: np.ndarray, theirs: np.ndarray, what: str) -> None:
    if not np.allclose(ours, theirs, rtol=1e-9, atol=1e-9):
        raise SystemExit(f"{what}: the answers differ by {np.abs(ours - theirs).max():.1e}; nothing is told")


def measured(name: str, n_rows: int, n_columns: int) -> dict[str, Any]:
    """The figures of one case, in this process."""
    if name in CASES:
        estimator, dtype = CASES[name]
        X, y = sparse_table(n_rows, n_columns, dtype)
        size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
        ours, theirs = getattr(posterior, estimator)(), getattr(naive_bayes, estimator)()
    else:
        X, y = texts_table(n_rows, n_columns)
        size = X.nbytes + sum(map(sys.getsizeof, X[:, 0]))
        ours = posterior.GenerativeClassifier([(0, BagOfWords(TEXTS[name]))])
        theirs = {"multinomial": naive_bayes.MultinomialNB, "bernoulli": naive_bayes.BernoulliNB}[
            TEXTS[name]
        ]()
    _, fit, fit_seconds = growth(lambda: ours.fit(X, y))
    _, predict, predict_seconds = growth(lambda: ours.predict(X))

    def fit_theirs() -> Any:
        if name in CASES:
            theirs.fit(X, y)
            return lambda rows: X[rows]
        words = CountVectorizer()
        theirs.fit(words.fit_transform(X[:, 0]), y)
        return lambda rows: words.transform(X[rows, 0])

    counts, their_fit, their_seconds = growth(fit_theirs)
    some = slice(0, 20_000)
    agree(ours.predict_joint_log_proba(X[some]), theirs.predict_joint_log_proba(counts(some)), name)
    return {
        "size": size,
        "fit": fit,
        "predict": predict,
        "their_fit": their_fit,
        "seconds": [fit_seconds, predict_seconds, their_seconds],
    }


def line(name: str, found: dict[str, Any]) -> str:
    size = found["size"]
    shares = "".join(f"{found[key] / size:>12.2f} ×" for key in ("fit", "predict", "their_fit"))
    seconds = "".join(f"{s:>9.1f} s" for s in found["seconds"])
    return f"{name:<24}{size / 2**20:>9.0f} MiB{shares}{seconds}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=100_000)
    parser.add_argument("--case", choices=[*CASES, *TEXTS], help="measure one case, in this process")
    options = parser.parse_args()
    if options.case:
        print(json.dumps(measured(options.case, options.rows, options.columns)))
        return
    print(f"{options.rows:,} rows × {options.columns:,} words; growth of resident memory over the table's")
    heads = [f"{head:>14}" for head in ("fit", "predict", "their fit")]
    heads += [f"{head:>11}" for head in ("fit", "predict", "their fit")]
    print(f"{'':<24}{'table':>13}" + "".join(heads))
    for name in (*CASES, *TEXTS):
        size = ["--rows", str(options.rows), "--columns", str(options.columns)]
        command = [sys.executable, "-m", "benchmarks.words", "--case", name, *size]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  (this very file)
        if done.returncode:
            raise SystemExit(done.stderr)
        print(line(name, json.loads(done.stdout)), flush=True)


if __name__ == "__main__":
    main()
