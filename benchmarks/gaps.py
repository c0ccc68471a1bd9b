"""Training with gaps: time an iteration against one reading of complete rows, and see what it buys.

`python -m benchmarks.gaps [--rows N]` fits LDA and QDA to the same rows complete, with a quarter of the cells
missing (EM), and to the complete rows that are left, and measures how far each posterior is from that of the
full data (mean Kullback-Leibler divergence on fresh rows).
"""

import argparse
import statistics
import time

import numpy as np

import posterior
from posterior.engines import LocalDataset
from posterior.schema import Schema, read_table

SHARE = 0.25


def draw(n_rows: int, n_columns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Three classes with correlations of their own."""
    fixed, rng = np.random.default_rng(0), np.random.default_rng(seed)
    mix = np.eye(n_columns) + 0.15 * fixed.normal(size=(3, n_columns, n_columns))
    centre = 0.5 * fixed.normal(size=(3, n_columns))
    y = rng.integers(0, 3, n_rows)
    return np.einsum("ni,nij->nj", rng.normal(size=(n_rows, n_columns)), mix[y]) + centre[y], y


def one_reading(model, X, y) -> float:
    """Seconds to sum up complete rows once, the median of five."""
    source = read_table(X)
    schema = Schema.infer(source)
    rows = LocalDataset(schema, schema.encode(source), y)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        model.model_.spec.summarize(rows, model.classes_)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def compare(estimator, n_rows: int, n_columns: int) -> str:
    X, y = draw(n_rows, n_columns, 1)
    holes = X.copy()
    holes[np.random.default_rng(2).random(X.shape) < SHARE] = np.nan
    complete = ~np.isnan(holes).any(axis=1)
    full = estimator().fit(X, y)
    start = time.perf_counter()
    em = estimator().fit(holes, y)
    seconds = time.perf_counter() - start
    if not (np.diff(em.log_likelihood_path_) >= 0).all():
        raise SystemExit("the log-likelihood fell: nothing is reported")
    rest = estimator().fit(holes[complete], y[complete])
    fresh, _ = draw(20_000, n_columns, 3)
    truth = full.predict_log_proba(fresh)

    def distance(model) -> float:
        return float((np.exp(truth) * (truth - model.predict_log_proba(fresh))).sum(axis=1).mean())

    readings = em.n_iter_ + 2
    reading = one_reading(full, X, y)
    return (
        f"{estimator.__name__:<31}{em.n_iter_:>6}{seconds:>9.2f} s{1e3 * seconds / readings:>9.0f} ms"
        f"{seconds / readings / reading:>8.1f} ×{distance(em):>12.2e}"
        f"{distance(rest):>12.2e}{complete.sum():>9}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--columns", type=int, default=20)
    options = parser.parse_args()
    print(f"{options.rows:,} × {options.columns}, {SHARE:.0%} of the cells missing, 3 classes")
    print(
        f"{'':<31}{'steps':>6}{'in all':>11}{'a step':>12}{'/reading':>10}"
        f"{'KL, EM':>12}{'KL, rest':>12}{'rows':>9}"
    )
    for estimator in (posterior.LDA, posterior.QDA):
        print(compare(estimator, options.rows, options.columns), flush=True)


if __name__ == "__main__":
    main()
