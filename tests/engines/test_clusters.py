"""The clusters that other tests use: real processes, which come back when they are killed."""

import os
import signal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from places import REPOSITORY

psutil = pytest.importorskip("psutil")  # comes with Dask

N_TASKS = 12


def place(_):
    """Which process this is, and whether it imports the package that the tests import."""
    import posterior

    return os.getpid(), str(Path(posterior.__file__).resolve())


def value_or_death(number, folder):
    """The number; the first process to work on 5 is killed instead, as by the system when memory is short."""
    killed = Path(folder, "killed")
    if number == 5 and not killed.exists():
        killed.write_text(str(os.getpid()), encoding="utf-8")
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def executor(_):
    """The Java process that this one works for: Python workers are forked from its child."""
    return next(process for process in psutil.Process().parents() if process.name() == "java").pid


def value_or_end_of_executor(number, folder):
    """The same with the whole executor."""
    killed = Path(folder, "killed")
    if number == 5 and not killed.exists():
        killed.write_text(str(executor(None)), encoding="utf-8")
        os.kill(executor(None), signal.SIGKILL)
    return number


def sizes(batches):
    for batch in batches:
        yield pa.record_batch({"n": [batch.num_rows]})


def ours():
    return str((REPOSITORY / "src" / "posterior" / "__init__.py").resolve())


def killed_in(folder):
    return int((folder / "killed").read_text(encoding="utf-8"))


def test_dask_works_in_two_processes_that_import_our_package(dask_cluster):
    places = dask_cluster.run(place, None).values()
    assert len({pid for pid, _ in places} | {os.getpid()}) == 3
    assert {path for _, path in places} == {ours()}


def test_a_killed_dask_worker_does_not_change_a_sum(dask_cluster, tmp_path):
    futures = dask_cluster.map(value_or_death, range(N_TASKS), folder=str(tmp_path), pure=False)
    assert dask_cluster.submit(sum, futures).result(timeout=120) == sum(range(N_TASKS))
    dask_cluster.wait_for_workers(2, timeout=60)  # the next test has both again
    assert killed_in(tmp_path) not in {pid for pid, _ in dask_cluster.run(place, None).values()}


def test_spark_works_in_processes_that_import_our_package(spark):
    assert spark.sparkContext.master == "local[2,4]"
    places = spark.sparkContext.parallelize(range(N_TASKS), N_TASKS).map(place).collect()
    assert os.getpid() not in {pid for pid, _ in places}
    assert {path for _, path in places} == {ours()}


def test_a_killed_python_worker_of_spark_does_not_change_a_sum(spark, tmp_path):
    rows = spark.sparkContext.parallelize(range(N_TASKS), N_TASKS)
    values = rows.map(lambda number: value_or_death(number, tmp_path)).collect()
    assert values == list(range(N_TASKS))
    assert killed_in(tmp_path) not in {pid for pid, _ in rows.map(place).collect()}


def test_spark_gives_data_frames_by_arrow(spark):
    table = pa.table({"x": [1.5, None, -3.0], "a.b": ["one", "zwei", None]})
    assert spark.createDataFrame(table).toArrow().equals(table)


def test_spark_takes_and_gives_pandas_without_a_warning(spark):
    frame = pd.DataFrame({"x": [1.5, 2.0, -3.0], "a.b": ["one", "zwei", "drei"]})
    rows = spark.createDataFrame(frame)
    assert rows.toPandas().to_dict() == frame.to_dict()
    assert rows.select("x").mapInArrow(sizes, "n long").groupBy().sum("n").collect()[0][0] == 3


def test_a_spark_cluster_has_two_executors_that_import_our_package(spark_cluster):
    rows = spark_cluster.sparkContext.parallelize(range(N_TASKS), N_TASKS)
    assert {path for _, path in rows.map(place).collect()} == {ours()}
    assert len(set(rows.map(executor).collect())) == 2


def test_a_killed_executor_does_not_change_a_sum(spark_cluster, tmp_path):
    rows = spark_cluster.sparkContext.parallelize(range(N_TASKS), N_TASKS)
    values = rows.map(lambda number: value_or_end_of_executor(number, tmp_path)).collect()
    assert values == list(range(N_TASKS))
    assert killed_in(tmp_path) not in rows.map(executor).collect()
