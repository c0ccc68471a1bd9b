"""Calls of few rows beside scikit-learn's, where what a call costs whatever its rows counts most.

`python -m benchmarks.small [--rows 100,1000] [--columns 2,20] [--model LDA]` prints microseconds a call
of two classes, the least of several alternating runs, once the answers agree.
"""

import argparse
import timeit
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn import discriminant_analysis, linear_model, naive_bayes

import posterior
from benchmarks.measure import settled

MODELS: dict[str, tuple[Any, Any]] = {
    "LDA": (posterior.LDA, discriminant_analysis.LinearDiscriminantAnalysis),
    "GaussianNB": (posterior.GaussianNB, naive_bayes.GaussianNB),
    "logistic": (posterior.LogisticRegression, partial(linear_model.LogisticRegression, tol=1e-9)),
}
METHODS = ("predict_proba", "predict", "decision_function", "fit")
RUNS, SECONDS = 8, 0.01


def table(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, d)) + 0.5 * y[:, None], y


def least(calls: list[Callable[[], Any]]) -> list[float]:
    """Seconds of each call, the least of several runs by turns."""
    calls[0]()  # which may wait for compiled code
    often = max(1, int(SECONDS / max(timeit.timeit(calls[0], number=1), 1e-6)))
    runs = [
        [settled(lambda call=call: timeit.timeit(call, number=often)) / often for call in calls]
        for _ in range(RUNS)
    ]
    return [min(times) for times in zip(*runs, strict=True)]


def line(name: str, n: int, d: int) -> str:
    X, y = table(n, d)
    ours, theirs = (model().fit(X, y) for model in MODELS[name])
    if not np.allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-7, atol=1e-7):
        raise SystemExit(f"{name}, {n:,} × {d}: the answers differ; nothing is told")
    told = f"{name:<12}{n:>9,} × {d:<4}"
    for method in METHODS:
        if not hasattr(theirs, method):
            continue
        arguments = (X, y) if method == "fit" else (X,)
        models = (ours, theirs)
        mine, other = least([partial(getattr(model, method), *arguments) for model in models])
        told += f"  {method} {mine * 1e6:,.0f} µs {other / mine:.2f} ×"
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="100,1000,8000,100000")
    parser.add_argument("--columns", default="2,20")
    parser.add_argument("--model", choices=list(MODELS), help="one model instead of all")
    options = parser.parse_args()
    for name in [options.model] if options.model else MODELS:
        for d in map(int, options.columns.split(",")):
            for n in map(int, options.rows.split(",")):
                print(line(name, n, d), flush=True)


if __name__ == "__main__":
    main()
