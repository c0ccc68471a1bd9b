"""Logistic and softmax regression against scikit-learn's: time to an equally good objective, and memory.

`python -m benchmarks.linear [--rows N]`. Each race first checks that our objective is not above any rival's.
Hard data: columns spanning 1e-2…1e3, t₄ tails, correlated. The objective is scikit-learn's, C = 1.
"""

import argparse
import statistics
import warnings

import numpy as np
import sklearn
from scipy import sparse
from sklearn import linear_model
from sklearn.exceptions import ConvergenceWarning

import posterior
from benchmarks.run import peak, seconds

CLOSE = 1e-6


def easy(rng, n, d, K):
    y = rng.integers(0, K, n)
    return rng.normal(size=(K, d))[y] + rng.normal(size=(n, d)), y


def hard(rng, n, d, K):
    Z = rng.standard_t(4, size=(n, d))
    scale = np.logspace(-2, 3, d)
    X = Z @ rng.normal(size=(d, d)) * scale + 5 * scale
    return X, (Z @ rng.normal(size=(d, K)) + rng.gumbel(size=(n, K))).argmax(axis=1)


def objective(model, X, y):
    """Mean loss plus penalty of a fitted model, by our own reckoning."""
    scores = np.asarray(X @ model.coef_.T) + model.intercept_
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    top = scores.max(axis=1, keepdims=True)
    logs = scores - top - np.log(np.exp(scores - top).sum(axis=1, keepdims=True))
    return -logs[np.arange(len(y)), y].mean() + 0.5 * (model.coef_**2).sum() / len(y)


def timed(model, X, y, repeats):
    times = [seconds(lambda: model.fit(X, y)) for _ in range(repeats)]
    return statistics.median(times), objective(model, X, y)


def race(kind, n, d, K, rivals, repeats):
    X, y = {"easy": easy, "hard": hard}[kind](np.random.default_rng(0), n, d, K)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # none of ours
        ours = posterior.LogisticRegression()
        mine, value = timed(ours, X, y, repeats)
    print(
        f"{kind} {n:,} × {d}, K={K}: {mine:.3f} s to {value:.12f} in {ours.n_iter_[0]} steps on all rows, "
        f"relative gradient {ours.solution_.gradient:.0e}, {ours.certificate_}",
        flush=True,
    )
    for label, settings in rivals:
        rival = linear_model.LogisticRegression(**settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", RuntimeWarning)
            theirs, other = timed(rival, X, y, 1 if settings.get("max_iter", 0) >= 1000 else repeats)
        if value > other * (1 + 1e-10):
            raise SystemExit(f"our objective {value} is above that of {label}, {other}; nothing is reported")
        off = (other - value) / value
        state = "reaches the optimum" if off < CLOSE else f"stops {off:.1e} above it"
        print(f"    {label:<28}{theirs:>9.3f} s, {theirs / mine:>7.1f} × ours; {state}", flush=True)


LBFGS = ("lbfgs, as it comes", {})
LONG = ("lbfgs, max_iter=1000", {"max_iter": 1000})
CHOLESKY = ("newton-cholesky", {"solver": "newton-cholesky"})


def wide(n, d, cells):
    """Time of a sparse fit, and its memory over that of the table and the coefficients."""
    rng = np.random.default_rng(0)
    indices = np.sort(rng.integers(0, d, (n, cells), dtype=np.int32), axis=1).ravel()
    bounds = np.arange(0, n * cells + 1, cells, dtype=np.int32)
    X = sparse.csr_array((rng.random(n * cells), indices, bounds), shape=(n, d))
    y = (X @ rng.normal(size=d) * 3 + rng.logistic(size=n) > 0).astype(int)
    model = posterior.LogisticRegression()
    took = seconds(lambda: model.fit(X, y))
    held = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes + model.coef_.nbytes) / 2**20
    extra = peak(lambda: model.fit(X, y))
    print(
        f"sparse {n:,} × {d:,}, {cells} a row: {took:.1f} s in {model.n_iter_[0]} steps, "
        f"{model.certificate_}; memory {(held + extra) / held:.2f} × that of table and coefficients, "
        f"{held:.0f} MiB",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rows", type=int, default=1_000_000, help="rows of the easy data; the hard have 3/10 of it"
    )
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(f"scikit-learn {sklearn.__version__}, NumPy {np.__version__}; medians of {options.repeats} runs")
    n = options.rows
    for K in (2, 10):
        race("easy", n, 20, K, [LBFGS], options.repeats)
    for K in (2, 10):
        race("hard", 3 * n // 10, 20, K, [LBFGS, LONG, CHOLESKY], options.repeats)
    wide(n // 5, 20_000, 50)


if __name__ == "__main__":
    main()
