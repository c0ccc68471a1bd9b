"""What becomes of whoever opens an altered model file, and uses what is in it.

The contract: of a file whose bytes differ in any way from those that were written, nothing is made. Of one
whose digest was made to fit, either nothing is made (a ModelFileError), or a model whose every answer is
finite or a ValueError that says what does not fit: predictions, learning on, sums, explanations, and the same
by the command line. Never another error, never a probability that is no number, and little time and memory.
"""

import contextlib
import io
import os
import signal
import traceback
import warnings
from collections import Counter
from copy import deepcopy
from io import BytesIO
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from posterior import workflow
from posterior.cli.app import run
from posterior.persistence import ModelFileError
from posterior.persistence.loading import read

# CPU seconds that opening one file and everything that is done with it may take.
MOST_SECONDS = 20

# Numbers, of which some may be infinite (the log of zero) and none is NaN; and words.
NUMBERS = (
    "predict_log_proba",
    "score_samples",
    "decision_function",
    "class_log_density",
    "transform",
    "expected_cost",
    "p_values",
)
WORDS = ("explain", "odd_features")


class TooSlowError(Exception):
    """A file took more time than any may."""


@contextlib.contextmanager
def little_time(seconds=MOST_SECONDS):
    """Raise an error in whatever takes more CPU time than this."""

    def stop(*_):
        raise TooSlowError(f"more than {seconds} s of CPU time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def opened(data):
    """The model in a file, or None where it is refused; any other error is an error of ours."""
    try:
        return read(BytesIO(data), len(data))
    except ModelFileError:
        return None


def check_proba(model, X):
    """Probabilities are numbers that sum to one."""
    if is_classifier(model) and hasattr(model, "predict_proba"):
        proba = model.predict_proba(X)
        assert np.isfinite(proba).all(), "a probability is no number"
        assert (np.abs(proba.sum(axis=1) - 1) < 1e-6).all(), "probabilities do not sum to one"


def check_number(name, found):
    """No answer is NaN."""
    numbers = np.asarray(found)
    assert numbers.dtype.kind != "f" or not np.isnan(numbers).any(), f"{name} is NaN"


def answers(model, X):
    """What a model answers about a table."""
    check_number("predict", model.predict(X))
    check_proba(model, X)
    for name in NUMBERS:
        if hasattr(model, name):
            yield name, lambda name=name: check_number(name, getattr(model, name)(X))
    for name in WORDS:
        if hasattr(model, name):
            yield name, lambda name=name: str(getattr(model, name)(X))
    yield "contributions", lambda: workflow.contributions_of(model, X[:1])
    yield "inspect", lambda: (str(workflow.inspect(model)), workflow.inspect(model).as_dict())
    yield "repr", lambda: repr(model)
    if hasattr(model, "summary"):
        yield "summary", lambda: str(model.summary())


def grown(model, X, y):
    """What a model becomes by learning on, and by being added to itself."""
    if hasattr(model, "partial_fit"):
        yield "partial_fit", lambda: check_proba(deepcopy(model).partial_fit(X, y), X)
    if hasattr(model, "__add__"):
        yield "+", lambda: check_proba(model + model, X)


def by_command(data, table, folder):
    """The same by the command line."""
    model, rows = folder / "model", folder / "rows.csv"
    model.write_bytes(data)
    rows.write_bytes(table)
    for command in (
        ["inspect", str(model)],
        ["inspect", str(model), "--json"],
        ["predict", str(model), str(rows)],
        ["explain", str(model), str(rows)],
    ):
        yield " ".join(command[:1]), lambda command=command: commanded(command)


def commanded(command):
    """Run a command, every error as it is."""
    out = io.TextIOWrapper(io.BytesIO())
    with (
        mock.patch.dict(os.environ, POSTERIOR_DEBUG="1"),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        run(command)


def as_csv(X):
    """A table as the bytes of a CSV file, with the names that a schema gives."""
    if hasattr(X, "to_pandas"):
        X = X.to_pandas()
    if not isinstance(X, pd.DataFrame):
        X = X.toarray() if hasattr(X, "toarray") else X
        X = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return X.to_csv(index=False).encode(errors="surrogatepass")


def end_of(data, X, y, folder):
    """How it ends to open a file and to use what is in it: in a word; an error of ours is raised."""
    with np.errstate(all="ignore"), warnings.catch_warnings(), little_time():
        warnings.simplefilter("ignore")
        model = opened(data)
        if model is None:
            return "refused"
        refused = ""
        uses = [answers(model, X), grown(model, X, y), by_command(data, as_csv(X), folder)]
        for group in uses:
            try:
                for name, work in group:
                    try:
                        work()
                    except ValueError:
                        refused = refused or name
            except ValueError:
                return "says that the table does not fit"
    return f"works, but for {refused}" if refused else "works"


class Failures(dict):
    """What went wrong, by where it did: a line that reproduces it."""

    def note(self, error, line):
        """Remember the first case of an error."""
        frames = [f for f in traceback.extract_tb(error.__traceback__) if "posterior" in f.filename]
        where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
        self.setdefault(f"{type(error).__name__} in {where}: {error!s:.150}", line)

    def __str__(self):
        return "\n".join(f"{line}\n    {error}" for error, line in self.items())


def first(X, n=6):
    """The first rows of a table of any kind."""
    return X.iloc[:n] if hasattr(X, "iloc") else X[:n]


def files_of(cases, names):
    """Model files with rows and classes to use them with, by name of the case."""
    found = {}
    for name in names:
        model, X, y = cases.case(name)
        y = model.classes_ if y is None else y
        found[name] = cases.to_bytes(model), first(X), first(y)
    return found


def outcomes(files, forge, numbers, folder):
    """How forged files end, by turns of `files`; `forge(data, number)` makes one."""
    ends, failures, names = Counter(), Failures(), list(files)
    for number in numbers:
        name = names[number % len(names)]
        data, X, y = files[name]
        altered = forge(data, number)
        if altered == data:
            continue
        try:
            ends[end_of(altered, X, y, folder)] += 1
        except Exception as error:
            failures.note(error, f"{name!r}, number {number}")
    return ends, failures
