"""A program of its own, for tests of what happens to a process: its first large fit, disturbed or not.

    python first_fit.py DEED MODEL THREADS

It says "ready" once everything but compiled code is imported, and ends with one line: what came of it.
"""

import hashlib
import multiprocessing
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pandas as pd

import posterior

ROWS, COLUMNS = 140_000, 4  # three chunks of rows, each large enough for compiled kernels
MODELS = {
    "GaussianNB": posterior.GaussianNB,
    "LDA": posterior.LDA,
    "QDA": posterior.QDA,
    "LogisticRegression": posterior.LogisticRegression,
    "AdditiveClassifier": posterior.AdditiveClassifier,
    "NaiveBayes": posterior.NaiveBayes,
}


def table(seed=0, n_classes=3):
    """Rows with classes, in numbers and, for naive Bayes, words."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, ROWS)
    X = pd.DataFrame(rng.normal(size=(ROWS, COLUMNS)) + 0.3 * y[:, None], columns=list("abcd"))
    return X, y


def with_words(X, y):
    words = np.array(["here", "there", "nowhere", "elsewhere"])
    return X.assign(place=words[(y + np.arange(len(y))) % 4], often=np.arange(len(y)) % 3 == y)


def numbers(fitted, X):
    """All that a fitted estimator says of some rows, in a few letters."""
    said = np.ascontiguousarray(fitted.predict_log_proba(X)).tobytes()
    labels = np.ascontiguousarray(fitted.predict(X[:100])).tobytes()
    names = ",".join([*map(str, fitted.classes_), *fitted.feature_names_in_, str(fitted.n_features_in_)])
    return hashlib.sha256(said + labels + names.encode()).hexdigest()[:16]


def fresh(model):
    """A new estimator, fitted to the table."""
    X, y = table()
    X = with_words(X, y) if model == "NaiveBayes" else X
    return numbers(MODELS[model]().fit(X, y), X)


def ready():
    print("ready", flush=True)


def plainly(model):
    ready()
    return fresh(model)


def interrupted(model):
    """A fit that Ctrl-C may stop, and another one after it."""
    ready()
    try:
        fresh(model)
        sys.stdin.readline()  # so that the interrupt finds us, however late it comes
    except KeyboardInterrupt:
        pass
    return fresh(model)


def again(model, method):
    """A fitted estimator and another fit that Ctrl-C may stop: it says what the first said, or the second."""
    (X, y), (more, z) = table(), table(1, n_classes=4 if method == "fit" else 3)
    if method == "fit":
        more = more.rename(columns={"a": "z"})
    other, estimator = MODELS[model]().fit(X, y), MODELS[model]().fit(X, y)

    def said(fitted):
        return numbers(fitted, more if "z" in fitted.feature_names_in_ else X)

    known = {said(estimator), said(getattr(other, method)(more, z))}
    ready()
    try:
        getattr(estimator, method)(more, z)
        sys.stdin.readline()
    except KeyboardInterrupt:
        pass
    if said(estimator) not in known:
        return "a mixture of two fits"
    getattr(estimator, method)(more, z)  # which still works
    return fresh(model)


def together(model, n):
    """Threads that all need compiled code first."""
    start = Barrier(n)

    def work(_):
        start.wait()
        return fresh(model)

    ready()
    with ThreadPoolExecutor(n) as pool:
        return " ".join(sorted(set(pool.map(work, range(n)))))


def in_children(model, method):
    """The same in processes that this one starts after it has used compiled code itself."""
    ready()
    own = fresh(model)
    with multiprocessing.get_context(method).Pool(2) as pool:
        return " ".join(sorted({own, *pool.map(fresh, [model] * 2)}))


def saved(model):
    """The bits of the answers and the bytes of the model file."""
    ready()
    X, y = table()
    X = with_words(X, y) if model == "NaiveBayes" else X
    fitted = MODELS[model]().fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.posterior"
        posterior.save(fitted, path)
        return numbers(fitted, X) + " " + hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def drawn(model):
    """A picture during whose first import of matplotlib Ctrl-C may come, and another picture."""
    X, y = table()
    fitted = MODELS[model]().fit(X[:300], y[:300])

    def draw():
        display = posterior.plot.DensityDisplay.from_estimator(fitted, X[:300], y[:300], feature="a").plot()
        display.figure_.canvas.draw()

    ready()
    try:
        draw()
        sys.stdin.readline()
    except KeyboardInterrupt:
        pass
    draw()
    return fresh(model)


DEEDS = {
    "plainly": plainly,
    "interrupted": interrupted,
    "fit": lambda model: again(model, "fit"),
    "partial_fit": lambda model: again(model, "partial_fit"),
    "drawn": drawn,
    "two": lambda model: together(model, 2),
    "sixteen": lambda model: together(model, 16),
    "fork": lambda model: in_children(model, "fork"),
    "spawn": lambda model: in_children(model, "spawn"),
    "forkserver": lambda model: in_children(model, "forkserver"),
    "saved": saved,
}

if __name__ == "__main__":
    deed, model, n_threads = sys.argv[1:]
    with posterior.threads(int(n_threads)):
        print(DEEDS[deed](model), flush=True)
