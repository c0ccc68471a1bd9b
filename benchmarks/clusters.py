"""The same fit by local threads, on Dask and on Spark, on this machine: seconds, and bytes of what travels.

    python -m benchmarks.clusters                     # 2,000,000 rows x 20 columns, as Parquet
    python -m benchmarks.clusters --rows 5000000 --model LDA --without spark

Files are read by fragments, frames through the partitions of Dask and Spark. Two worker processes each. The
first fit of each is not counted; of the others, in turns, the fastest and the slowest are shown.
"""

import argparse
import os
import pickle
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory
from typing import Any

from scripts.make_big_parquet import main as write_files

import posterior
from benchmarks.measure import timed
from posterior.engines.arrow import FileEngine
from posterior.engines.base import FragmentSum
from posterior.stats.adding import added

TIMES = 3


@contextmanager
def dask(folder: str) -> Iterator[dict[str, Any]]:
    import dask.dataframe as dd  # noqa: PLC0415  (where it is asked for)
    from distributed import Client, LocalCluster  # noqa: PLC0415

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield {
            "Dask, files": {"source": folder, "engine": client},
            "Dask, data frame": {"source": dd.read_parquet(folder)},
        }


@contextmanager
def spark(folder: str) -> Iterator[dict[str, Any]]:
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    from pyspark.sql import SparkSession  # noqa: PLC0415

    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    session = SparkSession.builder.master("local[2,4]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield {
            "Spark, files": {"source": folder, "engine": session},
            "Spark, data frame": {"source": session.read.parquet(folder)},
        }
    finally:
        session.stop()


CLUSTERS = {"dask": dask, "spark": spark}


class Weighing(FileEngine):
    """Files that note the bytes of tasks and results, and how long adding two results takes."""

    def fold(self, work: Any, columns: Any) -> Any:
        import cloudpickle  # noqa: PLC0415  (comes with Dask)

        total = super().fold(work, columns)
        parts = [pickle.loads(pickle.dumps(total)) for _ in range(256)]  # noqa: S301  (our own)
        start = time.perf_counter()
        added(parts)
        merge = (time.perf_counter() - start) / 255
        task = len(cloudpickle.dumps(FragmentSum(work, tuple(columns))))
        print(
            f"{type(work).__name__:<12} task {task:>7,} B   result {len(pickle.dumps(total)):>7,} B"
            f"   adding two {merge * 1e6:7.1f} µs"
        )
        return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--model", default="GaussianNB", help="a name of the package, such as LDA")
    parser.add_argument("--without", nargs="*", choices=CLUSTERS, default=[])
    options = parser.parse_args()
    make = getattr(posterior, options.model)
    warnings.simplefilter("ignore")
    with TemporaryDirectory() as folder, ExitStack() as stack:
        write_files([folder, "--rows", str(options.rows), "--strings"])
        sources: dict[str, Any] = {"threads, files": {"source": folder}}
        for name in CLUSTERS.keys() - set(options.without):
            sources |= stack.enter_context(CLUSTERS[name](folder))
        seconds: dict[str, list[float]] = {name: [] for name in sources}
        for turn in range(TIMES + 1):
            for name, source in sources.items():
                _, took = timed(lambda source=source: make().fit(posterior.scan(**source, target="y")))
                seconds[name] += [took] if turn else []
        print(f"\n{options.model}, {options.rows:,} rows: seconds (fastest, slowest of {TIMES})")
        for name, took in seconds.items():
            print(f"{name:<20} {min(took):6.2f} {max(took):6.2f}")
        print()
        files = Weighing(folder)
        print(f"{len(files.fragments)} fragments of {len(pickle.dumps(files.fragments[0])):,} B")
        make().fit(posterior.scan(files, target="y"))


if __name__ == "__main__":
    main()
