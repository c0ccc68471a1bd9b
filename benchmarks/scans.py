"""Fits to files larger than one wants in memory, beside the fastest reading of the same files.

    python scripts/make_big_parquet.py FOLDER                 # 20,000,000 x 20
    python -m benchmarks.scans FOLDER                         # ours against a bare reading by Arrow
    python -m benchmarks.scans FOLDER --pandas                # and pandas + scikit-learn, which hold all rows

First the answers are held against those of rows in memory, on the first file. Then each model is fitted in
turn with a bare scan of the files by Arrow, tuned for little memory, so that both see the same machine; the
ratio is of the medians. Every fit runs in a process of its own, whose peak of resident memory is told.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

import posterior
from benchmarks.children import ask
from posterior.engines.arrow import FileEngine

TARGET = "y"
MODELS: dict[str, Callable[[], Any]] = {
    "GaussianNB": posterior.GaussianNB,
    "LDA": posterior.LDA,
    "QDA": posterior.QDA,
    "NaiveBayes": posterior.NaiveBayes,
    "logistic": posterior.LogisticRegression,
}
CLOSE = 1e-8


def bare_scan(folder: Path) -> float:
    """Seconds of a reading of all columns by Arrow, tuned for little memory."""
    lean = ds.ParquetFragmentScanOptions(pre_buffer=False, use_buffered_stream=True, buffer_size=1 << 16)
    files = ds.dataset(folder, format=ds.ParquetFileFormat(default_fragment_scan_options=lean))
    begin = time.perf_counter()
    batches = files.to_batches(batch_size=1 << 16, batch_readahead=1, fragment_readahead=1)
    n_rows = sum(batch.num_rows for batch in batches)
    assert n_rows > 0
    return time.perf_counter() - begin


def fitted(folder: Path, name: str) -> dict[str, Any]:
    """Seconds, readings and peak memory of one fit in this process, beside a bare scan before it."""
    readings: list[tuple[str, float]] = []
    fold = FileEngine.fold

    def timed(self: FileEngine, work: Any, columns: Sequence[str]) -> Any:
        begin = time.perf_counter()
        found = fold(self, work, columns)
        readings.append((type(work).__name__, time.perf_counter() - begin))
        return found

    FileEngine.fold = timed  # type: ignore[method-assign]
    first = pq.ParquetFile(next(iter(sorted(folder.glob("*.parquet")))), pre_buffer=False)
    some = pa.Table.from_batches([next(first.iter_batches(1 << 16))])
    MODELS[name]().fit(some.drop_columns([TARGET]), some[TARGET].to_pylist())  # what is compiled is compiled
    begin = time.perf_counter()
    MODELS[name]().fit(posterior.scan(folder, target=TARGET))
    seconds = time.perf_counter() - begin
    return {"seconds": seconds, "readings": readings, "peak_mib": peak_mib()}


def peak_mib() -> float:
    """The highest resident memory of this process; that of getrusage begins with its parent's."""
    told = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(told.partition("VmHWM:")[2].split()[0]) / 1024


def by_pandas(folder: Path, name: str) -> dict[str, Any]:
    """The same with all rows in memory and scikit-learn."""
    import pandas as pd  # noqa: PLC0415  (only where it is asked for)
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: PLC0415
    from sklearn.naive_bayes import GaussianNB  # noqa: PLC0415

    models = {"GaussianNB": GaussianNB, "LDA": LinearDiscriminantAnalysis}
    begin = time.perf_counter()
    frame = pd.read_parquet(folder)
    models[name]().fit(frame.drop(columns=TARGET).to_numpy(), frame[TARGET].to_numpy())
    seconds = time.perf_counter() - begin
    return {"seconds": seconds, "peak_mib": peak_mib()}


def agree(folder: Path, name: str) -> float:
    """The largest difference of log posteriors from those of a fit to rows in memory, on the first file."""
    first = next(iter(sorted(folder.glob("*.parquet"))))
    table = pq.read_table(first)
    X, y = table.drop_columns([TARGET]), table[TARGET].to_numpy()
    exact = {"tol": 1e-12} if name == "logistic" else {}
    ours, theirs = (MODELS[name]().set_params(**exact) for _ in range(2))
    ours.fit(posterior.scan(first, target=TARGET))
    theirs.fit(X, y)
    a, b = (model.predict_log_proba(X.slice(0, 10_000)) for model in (ours, theirs))
    return float(np.abs((a - b) / (1 + np.abs(b))).max())


def growth(folder: Path, picture: Path) -> None:
    """Seconds of fits to ever more rows by one thread and by two, as lines of a picture and of a table."""
    import matplotlib.pyplot as plt  # noqa: PLC0415  (only where it is asked for)

    files = sorted(folder.glob("*.parquet"))
    first = pq.ParquetFile(files[0])
    _, axes = plt.subplots(figsize=(6, 4))
    with TemporaryDirectory() as scratch:
        small = Path(scratch) / "small.parquet"
        pq.write_table(first.read_row_group(0).slice(0, 100_000), small, compression="none")
        parts = [[small], files[:1], files[: len(files) // 4], files[: len(files) // 2], files]
        for name in ("GaussianNB", "LDA"):
            for n_threads in (1, 2):
                points = []
                for part in parts:
                    with posterior.threads(n_threads):
                        best = min(_seconds(part, name) for _ in range(3))
                    points.append((sum(pq.ParquetFile(f).metadata.num_rows for f in part), best))
                axes.plot(*zip(*points, strict=True), marker="o", label=f"{name}, {n_threads} threads")
                told = ", ".join(f"{rows:,}: {seconds:.2f} s" for rows, seconds in points)
                print(f"{name}, {n_threads} threads: {told}", flush=True)
    axes.set(xscale="log", yscale="log", xlabel="rows of 20 columns", ylabel="seconds, survey included")
    axes.legend()
    plt.savefig(picture, metadata={"Date": None})


def _seconds(files: Sequence[Path], name: str) -> float:
    begin = time.perf_counter()
    MODELS[name]().fit(posterior.scan(files, target=TARGET))
    return time.perf_counter() - begin


def in_a_process(*words: str) -> dict[str, Any]:
    """What a process of its own finds."""
    found: dict[str, Any] = ask("-m", "benchmarks.scans", *words)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a line for each model."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scans", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--pandas", action="store_true", help="also pandas and scikit-learn")
    parser.add_argument("--growth", type=Path, metavar="SVG", help="only the picture of ever more rows")
    parser.add_argument("--only", choices=("fit", "pandas"), help="used by itself: one measurement")
    asked = parser.parse_args(arguments)
    if asked.only:
        found = (fitted if asked.only == "fit" else by_pandas)(asked.folder, asked.models[0])
        print(json.dumps(found))
        return
    if asked.growth:
        growth(asked.folder, asked.growth)
        return
    for name in asked.models:
        off = agree(asked.folder, name)
        if off > CLOSE:
            raise SystemExit(f"{name}: log posteriors differ by {off:.1e} from those of rows in memory")
        runs, bare = [], []
        for _ in range(asked.repeats):
            bare.append(bare_scan(asked.folder))
            runs.append(in_a_process(str(asked.folder), "--models", name, "--only", "fit"))
        ours, scan = statistics.median(run["seconds"] for run in runs), statistics.median(bare)
        n, peak = len(runs[0]["readings"]), max(run["peak_mib"] for run in runs)
        passes = [took for run in runs for work, took in run["readings"] if work != "SurveyWork"]
        print(
            f"{name:12} {ours:6.2f} s, {n} readings; a bare scan {scan:.2f} s: {ours / scan:.2f} x, "
            f"{statistics.median(passes) / scan:.2f} x a pass; peak {peak:,.0f} MiB; differs by {off:.0e}",
            flush=True,
        )
        if asked.pandas and name in ("GaussianNB", "LDA"):
            other = in_a_process(str(asked.folder), "--models", name, "--only", "pandas")
            print(
                f"{'':12} pandas and scikit-learn {other['seconds']:.2f} s: {other['seconds'] / ours:.1f} x; "
                f"peak {other['peak_mib']:,.0f} MiB",
                flush=True,
            )


if __name__ == "__main__":
    main()
