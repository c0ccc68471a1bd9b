"""Ctrl-C at any line of a fit leaves the earlier fit or the new one, never parts of both."""

import sys
import warnings
from copy import deepcopy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import posterior
from posterior import (
    LDA,
    AdditiveClassifier,
    CalibratedClassifier,
    DecisionClassifier,
    FusionClassifier,
    GaussianNB,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    OutlierRule,
)
from posterior.persistence.saving import written

HERE = str(Path(posterior.__file__).parent / "estimators")


def rows(seed, columns, n_classes):
    rng = np.random.default_rng(seed)
    y = np.arange(60) % n_classes
    return pd.DataFrame(rng.normal(size=(60, len(columns))) + y[:, None], columns=list(columns)), y


def unnamed(seed):
    X, y = rows(seed, "abc", 4)
    return X.to_numpy(), y


class Interrupting:
    """Raises KeyboardInterrupt before the line of that number that works on an estimator, as signals do."""

    def __init__(self, estimator, number):
        self.estimator, self.left = estimator, number

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self.enter)
        return self

    def __exit__(self, *_):
        sys.settrace(self.before)

    def enter(self, frame, event, _):
        if not frame.f_code.co_filename.startswith(HERE):
            return None
        about = [frame.f_locals.get(name) for name in ("self", "estimator")]
        return self.line if any(one is self.estimator for one in about) else None

    def line(self, frame, event, _):
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self.line


def state(estimator):
    """All that a fitted estimator is: what its file holds, and what follows from that."""
    names = ("classes_", "n_features_in_", "feature_names_in_")
    beside = {name: str(getattr(estimator, name, None)) for name in names}
    return str(beside).encode() + b"".join(bytes(part) for part in written(deepcopy(estimator)))


CASES = [
    (GaussianNB(), "fit", unnamed(1)),
    (GaussianNB(), "partial_fit", rows(1, "ab", 3)),
    (NaiveBayes(), "fit", rows(1, "xyz", 4)),
    (LDA(), "partial_fit", rows(1, "ab", 3)),
    (LogisticRegression(), "fit", unnamed(1)),
    (AdditiveClassifier(), "fit", unnamed(1)),
    (LogisticRegression(), "partial_fit", rows(1, "ab", 2)),
    (LeastSquaresClassifier(), "fit", unnamed(1)),
    (LinearRegression(), "fit", unnamed(1)),
    (FusionClassifier([("one", LDA(), ["a"]), ("two", GaussianNB(), ["b"])]), "fit", rows(1, "abc", 4)),
    (OutlierRule(LDA()), "fit", unnamed(1)),
    (CalibratedClassifier(LDA(), cv=2), "fit", unnamed(1)),
    (DecisionClassifier(LDA(), cv=2), "fit", unnamed(1)),
]


@pytest.mark.parametrize(
    ("estimator", "method", "second"), CASES, ids=[f"{type(e).__name__} {m}" for e, m, _ in CASES]
)
def test_an_interrupt_at_any_line_leaves_one_fit_whole(estimator, method, second):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = deepcopy(estimator).fit(*rows(0, "ab", 2))
        whole = {state(first), state(getattr(deepcopy(first), method)(*second))}
        assert len(whole) == 2
        stopped = number = 0
        while stopped == number:
            number += 1
            found = deepcopy(first)
            try:
                with Interrupting(found, number):
                    getattr(found, method)(*second)
            except KeyboardInterrupt:
                stopped += 1
            assert state(found) in whole, f"line {number}"
    assert stopped > 10
