"""How fits and predictions scale with the number of threads, beside what the machine itself does.

    python -m benchmarks.cores                 # 4,000,000 x 20, 10 classes; 1, 2, 4 … threads up to all cores
    python -m benchmarks.cores --models softmax --threads 1 16
    python -m benchmarks.cores --models QDA --single

Log posteriors of some rows must have the same bits as those of one thread. Seconds are the least of at least
three runs, and of as many as half a second has room for: cores of a shared host are not always free. The last
lines say what the machine allows: how fast threads read, and how fast they calculate where they need no
memory, in a loop that waits for its own results and in products of matrices, which leave no unit of a core
idle. Two threads that share a core, as those of most cloud machines do, share its arithmetic.
"""

import argparse
import os
import platform
import time
from collections.abc import Callable
from threading import Thread
from typing import Any

import numba
import numpy as np
from threadpoolctl import threadpool_limits

import posterior

MODELS: dict[str, Callable[[], Any]] = {
    "GaussianNB": posterior.GaussianNB,
    "LDA": posterior.LDA,
    "QDA": posterior.QDA,
    "softmax": posterior.LogisticRegression,
}
SOME = 100_000
# Seconds in which short runs are repeated.
ENOUGH = 0.5


def table(n_rows: int, n_columns: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian rows about class means."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=n_rows)
    X = rng.normal(size=(n_rows, n_columns))
    X += 0.3 * rng.normal(size=(n_classes, n_columns))[y]
    return X, y


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """The least of so many runs, or of all in half a second, after one that is not counted."""
    work()
    found: list[float] = []
    while len(found) < repeats or sum(found) < ENOUGH:
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return min(found)


def bandwidth(X: np.ndarray, n_threads: int) -> float:
    """Bytes a second of sums of all cells by so many threads."""

    def read() -> None:
        workers = [Thread(target=part.sum) for part in np.array_split(X, n_threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    return X.nbytes / seconds(read)


@numba.njit(nogil=True, fastmath=True)  # type: ignore[untyped-decorator]  # numba has no types
def _multiply_and_add(steps: int, out: np.ndarray) -> None:
    """As many multiply-adds as there are answers, in each step: in registers, or the first cache."""
    sums = np.zeros(len(out))
    for _ in range(steps):
        for i in range(len(sums)):
            sums[i] = sums[i] * 0.999999 + 1.000001
    out[:] = sums


def multiply_adds(n_threads: int) -> float:
    """Multiply-adds a second of so many threads that need no memory and meet nobody."""
    steps, size = 10_000_000, 64

    def add() -> None:
        workers = [Thread(target=_multiply_and_add, args=(steps, np.zeros(size))) for _ in range(n_threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    return n_threads * steps * size / seconds(add)


def products(n_threads: int) -> float:
    """Multiply-adds a second of products, by BLAS, of matrices that stay in the cache of a core."""
    size, times = 256, 40

    def multiply(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        for _ in range(times):
            np.matmul(a, b, out=out)

    def run() -> None:
        rooms = [np.ones((3, size, size)) for _ in range(n_threads)]
        workers = [Thread(target=multiply, args=tuple(room)) for room in rooms]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    with threadpool_limits(1, "blas"):
        return n_threads * times * size**3 / seconds(run)


def main() -> None:
    """Print a table of seconds."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--threads", nargs="+", type=int, help="numbers of threads in place of 1, 2, 4 …")
    parser.add_argument("--single", action="store_true", help="a table in single precision")
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    counts = options.threads or [n for n in (1, 2, 4, 8, 16, 32, 64) if n <= cores]
    X, y = table(options.rows, options.columns, options.classes)
    X = X.astype(np.float32) if options.single else X
    shape = f"{options.rows:,} x {options.columns}, {options.classes} classes"
    print(f"{shape}, {X.dtype}; {platform.machine()}, {cores} cores")
    print("| threads | " + " | ".join(str(n) for n in counts) + " |")
    print("|---" + "|---:" * len(counts) + "|")
    for name in options.models:
        make = MODELS[name]
        first, fits, predictions = None, [], []
        for n in counts:
            with posterior.threads(n):
                model = make().fit(X, y)
                said = model.predict_log_proba(X[:SOME])
                first = said if first is None else first
                if not np.array_equal(said, first):
                    raise AssertionError(f"{name} has other bits with {n} threads")
                fits.append(seconds(lambda make=make: make().fit(X, y), 2 if name == "softmax" else 3))
                predictions.append(seconds(lambda model=model: model.predict_proba(X)))
        for what, found in (("fit", fits), ("predict_proba", predictions)):
            print(f"| {name} {what} | " + " | ".join(f"{s:.3f}" for s in found) + " |", flush=True)
    print("| read bandwidth, GB/s | " + " | ".join(f"{bandwidth(X, n) / 1e9:.0f}" for n in counts) + " |")
    print("| multiply-adds, 10⁹/s | " + " | ".join(f"{multiply_adds(n) / 1e9:.0f}" for n in counts) + " |")
    print("| products of matrices, 10⁹/s | " + " | ".join(f"{products(n) / 1e9:.0f}" for n in counts) + " |")


if __name__ == "__main__":
    main()
