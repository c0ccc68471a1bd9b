"""Time our estimators against scikit-learn's on the same arrays, once their answers agree.

`python -m benchmarks.run [--rows N]` prints ratios (above 1: we are faster), medians of alternating runs.
"""

import argparse
import platform
import statistics
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from sklearn import discriminant_analysis, naive_bayes

import posterior

REPEATS = 5


@dataclass(frozen=True)
class Race:
    name: str
    ours: Any
    theirs: Any
    draw: Callable[[np.random.Generator, np.ndarray], np.ndarray]


def gaussian(rng, y):
    return rng.normal(size=(len(y), 20)) + 0.2 * y[:, None]


def bits(rng, y):
    return (rng.random((len(y), 20)) < 0.2 + 0.05 * y[:, None]).astype(float)


def categories(rng, y):
    return rng.integers(0, 8, size=(len(y), 20)) // (1 + y[:, None] % 2)


RACES = [
    Race("GaussianNB", posterior.GaussianNB(), naive_bayes.GaussianNB(), gaussian),
    Race("LDA (svd)", posterior.LDA(), discriminant_analysis.LinearDiscriminantAnalysis(), gaussian),
    Race(
        "LDA (lsqr)",
        posterior.LDA(solver="lsqr"),
        discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr"),
        gaussian,
    ),
    Race("QDA (svd)", posterior.QDA(), discriminant_analysis.QuadraticDiscriminantAnalysis(), gaussian),
    Race("BernoulliNB", posterior.BernoulliNB(), naive_bayes.BernoulliNB(), bits),
    Race("CategoricalNB", posterior.CategoricalNB(), naive_bayes.CategoricalNB(), categories),
    Race("MultinomialNB", posterior.MultinomialNB(), naive_bayes.MultinomialNB(), categories),
]


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ratio(ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float]:
    """Their time over ours, and our time, as medians of alternating runs."""
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(REPEATS)]
    mine = statistics.median(p[0] for p in pairs)
    return statistics.median(p[1] for p in pairs) / mine, mine


def peak(work: Callable[[], Any]) -> float:
    """High-water mark of Python's allocations, in MiB."""
    tracemalloc.start()
    work()
    top = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return top / 2**20


def race(entry: Race, n_rows: int, n_classes: int) -> str:
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n_rows)
    X = entry.draw(rng, y)
    a, b = entry.ours.fit(X, y).predict_proba(X), entry.theirs.fit(X, y).predict_proba(X)
    if not np.allclose(a, b, atol=1e-6):
        raise SystemExit(f"{entry.name}: the answers differ by {np.abs(a - b).max():.1e}; nothing is timed")
    fit = ratio(lambda: entry.ours.fit(X, y), lambda: entry.theirs.fit(X, y))
    predict = ratio(lambda: entry.ours.predict_proba(X), lambda: entry.theirs.predict_proba(X))
    memory = peak(lambda: entry.ours.fit(X, y)), peak(lambda: entry.theirs.fit(X, y))
    return (
        f"{entry.name:<15}{fit[0]:>10.2f} ×{fit[1]:>9.3f} s{predict[0]:>12.2f} ×{predict[1]:>9.3f} s"
        f"{memory[0]:>12.0f} /{memory[1]:>6.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--classes", type=int, default=10)
    options = parser.parse_args()
    print(
        f"{options.rows:,} × 20, {options.classes} classes; scikit-learn {sklearn.__version__}, "
        f"NumPy {np.__version__}, Python {platform.python_version()}, {platform.machine()}"
    )
    print(f"{'':<15}{'fit':>12}{'ours':>11}{'predict':>14}{'ours':>11}{'MiB to fit, ours / theirs':>28}")
    for entry in RACES:
        print(race(entry, options.rows, options.classes), flush=True)


if __name__ == "__main__":
    main()
