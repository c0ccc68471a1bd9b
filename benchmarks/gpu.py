"""Fits and posteriors of arrays on a GPU: checked against this machine's processor first, then timed.

`python -m benchmarks.gpu` prints a table and writes `benchmarks/results/gpu.json`; `--rows 1000000` is quick.
Needs CuPy and an NVIDIA GPU.
"""

import argparse
import json
import platform
import statistics
import time
from pathlib import Path

import numpy as np

from posterior import LDA, QDA, GaussianNB, LogisticRegression
from posterior.engines.device import cuda, sums
from posterior.estimators.device import training_of

RESULTS = Path(__file__).parent / "results" / "gpu.json"
CHECKED = 1_000_000


def rows_on_gpu(cupy, n, d, K, seed=0):
    """A table of normal columns about class means, float32, and its classes."""
    rng = cupy.random.default_rng(seed)
    y = rng.integers(0, K, n)
    means = rng.standard_normal((K, d), dtype=cupy.float32)
    X = rng.standard_normal((n, d), dtype=cupy.float32)
    for start in range(0, n, 5_000_000):
        part = slice(start, start + 5_000_000)
        X[part] += means[y[part]]
    return X, y


def milliseconds(cupy, work, repeats=15):
    """The median time of work on the GPU, by its own clock, and of the call as a whole."""
    for _ in range(min(3, repeats)):
        work()
    cupy.cuda.Device().synchronize()
    device, wall = [], []
    for _ in range(repeats):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        started = time.perf_counter()
        begin.record()
        work()
        end.record()
        end.synchronize()
        wall.append(1e3 * (time.perf_counter() - started))
        device.append(cupy.cuda.get_elapsed_time(begin, end))
    return statistics.median(device), statistics.median(wall)


def apart(found, expected):
    """The largest difference relative to 1 + the value."""
    return float(np.max(np.abs(found.astype(np.float64) - expected) / (1 + np.abs(expected))))


def bandwidth(cupy, X):
    """GB/s of a plain reading: the sum of all cells."""
    ms, _ = milliseconds(cupy, X.sum)
    copy = cupy.empty_like(X[: len(X) // 2])
    copied, _ = milliseconds(cupy, lambda: cupy.copyto(copy, X[: len(X) // 2]))
    return X.nbytes / ms / 1e6, 2 * copy.nbytes / copied / 1e6


def generative(cupy, X, y, lines):
    """Sums, fits and posteriors of naive Bayes, LDA and QDA."""
    host, labels = X.get(), y.get()
    some, part = host[:CHECKED], X[:CHECKED]
    table = training_of(X, y, None, "benchmark", any_classes=False)
    rows = table.rows(GaussianNB()._schema(table.table.source))
    columns = tuple(range(X.shape[1]))
    read = X.nbytes + X.shape[0]
    work_on_sums = [
        ("class moments", lambda: cuda.class_moments(rows, columns)),
        ("LDA scatter", lambda: cuda.class_scatter(rows, columns, pooled=True)),
        ("QDA scatter", lambda: cuda.class_scatter(rows, columns, pooled=False)),
    ]
    models = {"GaussianNB": GaussianNB(), "LDA": LDA(), "QDA": QDA()}
    for name, model in models.items():
        expected = type(model)().fit(host, labels)
        model.fit(X, y)
        logs = expected.predict_log_proba(some)
        of_fit = apart(model.predict_log_proba(some), logs)
        of_all = apart(model.predict_log_proba(part).get(), logs)
        proba = np.abs(model.predict_proba(part).get() - expected.predict_proba(some)).max()
        lines.append(
            {"what": f"{name}: log posteriors, fitted on the GPU, scored on the CPU", "error": of_fit}
        )
        lines.append({"what": f"{name}: log posteriors, fitted and scored on the GPU", "error": of_all})
        lines.append({"what": f"{name}: posteriors, difference", "error": float(proba)})
        timed(
            cupy, lines, f"{name}().fit(X, y), labels included", lambda m=model: m.fit(X, y), read + y.nbytes
        )
        written = 4 * X.shape[0] * 10
        timed(cupy, lines, f"{name}.predict_proba", lambda m=model: m.predict_proba(X), X.nbytes + written)
        timed(cupy, lines, f"{name}.predict", lambda m=model: m.predict(X), X.nbytes + 16 * X.shape[0])
    for name, work in work_on_sums:
        timed(cupy, lines, name, work, read)


def timed(cupy, lines, what, work, n_bytes, repeats=15):
    """One line of the table."""
    device, wall = milliseconds(cupy, work, repeats)
    lines.append({"what": what, "ms": device, "wall_ms": wall, "GB/s": n_bytes / device / 1e6})
    print(f"{what:62s} {device:9.3f} ms  (wall {wall:8.3f})  {n_bytes / device / 1e6:7.0f} GB/s", flush=True)


def logistic(cupy, X, y, lines):
    """Newton's passes of logistic and softmax regression, and whole fits."""
    host, labels = X[:CHECKED].get(), y[:CHECKED].get()
    for K in (2, 10):
        target, known = y % K, labels % K
        table = training_of(X, target, None, "benchmark", any_classes=False)
        rows = table.rows(GaussianNB()._schema(table.table.source))
        rng = np.random.default_rng(0)
        coef, offset = 0.1 * rng.standard_normal((K, X.shape[1])), np.zeros(K)
        read = X.nbytes + X.shape[0]
        timed(
            cupy,
            lines,
            f"value and slope of a pass, K = {K}",
            lambda r=rows, c=coef, o=offset: cuda.softmax_slope(r, c, o, None),
            read,
        )
        expected = LogisticRegression().fit(host, known)
        model = LogisticRegression().fit(X[:CHECKED], target[:CHECKED])
        logs = expected.predict_log_proba(host)
        of_all = apart(model.predict_log_proba(X[:CHECKED]).get(), logs)
        lines.append(
            {"what": f"LogisticRegression, K = {K}: log posteriors of 1,000,000 rows", "error": of_all}
        )
        timed(
            cupy,
            lines,
            f"LogisticRegression().fit(X, y), K = {K}",
            lambda t=target: LogisticRegression().fit(X, t),
            read,
            repeats=3,
        )
        timed(
            cupy,
            lines,
            f"LogisticRegression.predict_proba, K = {K}",
            lambda m=model: m.predict_proba(X),
            X.nbytes + 4 * X.shape[0] * K,
        )


def wide(cupy, lines, n=5_000_000, d=200):
    """Scatter of many columns, beside the speed of a product of two matrices in single precision."""
    square = [cupy.random.default_rng(k).standard_normal((8192, 8192), dtype=cupy.float32) for k in (1, 2)]
    ms, _ = milliseconds(cupy, lambda: square[0] @ square[1])
    speed = 2 * 8192**3 / ms
    lines.append({"what": "a product of two matrices, single precision", "TFLOP/s": speed / 1e9})
    X, y = rows_on_gpu(cupy, n, d, 10)
    table = training_of(X, y, None, "benchmark", any_classes=False)
    rows, columns = table.rows(GaussianNB()._schema(table.table.source)), tuple(range(d))
    for name, pooled in (("LDA", True), ("QDA", False)):
        expected = sums.scatter(rows, columns, pooled=pooled, fourth=False).scatter
        found = cuda.class_scatter(rows, columns, pooled=pooled).scatter
        sd = np.sqrt(np.einsum("gjj->gj", expected))
        error = np.abs((found - expected) / sd[:, :, None] / sd[:, None, :]).max()
        what = f"{name} scatter of {n:,} × {d}"
        lines.append({"what": f"{what}: correlations, difference", "error": float(error)})
        work = lambda p=pooled: cuda.class_scatter(rows, columns, pooled=p)  # noqa: E731
        timed(cupy, lines, what, work, X.nbytes + n, repeats=5)
        lines[-1]["of a product"] = 2.0 * n * d * d / lines[-1]["ms"] / speed
        print(f"{what}: {lines[-1]['of a product']:.2f} of the speed of a product")


def main():
    import cupy  # noqa: PLC0415  (only where there is a GPU)

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--out", default=str(RESULTS))
    parser.add_argument("--sections", default="generative,logistic,wide")
    asked = parser.parse_args()
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    device = properties["name"].decode()
    print(device, "· CuPy", cupy.__version__, "· Python", platform.python_version())
    X, y = rows_on_gpu(cupy, asked.rows, 20, 10)
    read, copied = bandwidth(cupy, X)
    print(f"reading {read:.0f} GB/s, copying {copied:.0f} GB/s")
    lines = []
    if "generative" in asked.sections:
        generative(cupy, X, y, lines)
    if "logistic" in asked.sections:
        logistic(cupy, X, y, lines)
    del X, y
    if "wide" in asked.sections:
        wide(cupy, lines)
    for line in lines:
        if "error" in line:
            print(f"{line['what']:80s} {line['error']:.1e}")
    report = {"device": device, "rows": asked.rows, "read GB/s": read, "copy GB/s": copied, "lines": lines}
    Path(asked.out).write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
