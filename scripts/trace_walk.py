"""How many files a reader walks through to follow a call, and how often the walk goes from one to another.

Every call of a Python function of `posterior` is traced. Printed are the number of distinct files of the
package, and how often a call is to a function of another file, or of another room, than the call before.

    python scripts/trace_walk.py [NAME …]
"""

import contextlib
import io
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import posterior
from posterior import LDA, DecisionClassifier, GaussianNB, LogisticRegression, NaiveBayes
from posterior.cli import main as run
from posterior.datasets import load_penguins

PACKAGE = str(Path(posterior.__file__).resolve().parent)


class Walk:
    """The files that were entered, and how often a call went into another file, or room, than the last."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.switches = self.rooms = 0
        self._last = ""

    def trace(self, frame: Any, event: str, _: Any) -> None:
        """What `sys.setprofile` calls."""
        if event != "call" or not frame.f_code.co_filename.startswith(PACKAGE):
            return
        here = frame.f_code.co_filename
        self.files.add(here)
        if self._last:
            self.switches += here != self._last
            self.rooms += _room(here) != _room(self._last)
        self._last = here


def _room(path: str) -> str:
    """The package or module right inside `posterior`."""
    return Path(path).relative_to(PACKAGE).parts[0]


def walk(call: Callable[[], Any]) -> Walk:
    """The walk of one call, threads included."""
    found = Walk()
    threading.setprofile(found.trace)
    sys.setprofile(found.trace)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def _table() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=200)
    return y[:, None] + rng.normal(size=(200, 4)), y


def _compare() -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            run(["compare", "penguins"])
        except SystemExit as end:
            if end.code:
                raise


def calls() -> dict[str, Callable[[], Any]]:
    """What is walked, by name."""
    X, y = _table()
    penguins = load_penguins()
    bayes = NaiveBayes().fit(penguins.X, penguins.y)
    decision = DecisionClassifier(GaussianNB(), reject={"threshold": 0.9}).fit(X, y)
    return {
        "LDA().fit": lambda: LDA().fit(X, y),
        "NaiveBayes().predict_proba": lambda: bayes.predict_proba(penguins.X),
        "LogisticRegression().fit": lambda: LogisticRegression().fit(X, y),
        "GaussianNB().predict_log_proba": lambda: decision.estimator_.predict_log_proba(X),
        "GaussianNB().fit": lambda: GaussianNB().fit(X, y),
        "DecisionClassifier.predict": lambda: decision.predict(X),
        "DecisionClassifier.fit": lambda: DecisionClassifier(GaussianNB(), reject={"threshold": 0.9}).fit(
            X, y
        ),
        "posterior compare penguins": _compare,
    }


def main() -> None:
    """Print a line for each call that is asked for; for all by default."""
    found, asked = calls(), sys.argv[1:]
    print(f"{'call':<32} {'files':>6} {'switches':>10} {'rooms':>9}")
    for name, call in found.items():
        if asked and name not in asked:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()  # what is imported and compiled on first use is no part of the walk
            walked = walk(call)
        print(f"{name:<32} {len(walked.files):>6} {walked.switches:>10,} {walked.rooms:>9,}", flush=True)


if __name__ == "__main__":
    main()
