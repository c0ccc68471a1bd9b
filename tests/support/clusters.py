"""Dask and Spark as tests use them: two workers, real processes, started by the first test that asks."""

import os
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import posterior
from places import REPOSITORY

# Workers import what tests import: the package, what is beside this file, and test modules by their names.
IMPORTED = (Path(posterior.__file__).parents[1], Path(__file__).parent, REPOSITORY)
# Tasks of local[2] are tried once; the 4 is how often one may fail, as on a cluster.
SPARK_MASTERS = {"spark": "local[2,4]", "spark_cluster": "local-cluster[2,1,1024]"}
SPARK_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.executor.memory": "1024m",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",  # no task before both executors are there
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
# PySpark 4.3 warns of pandas 3 wherever it meets a frame, and hands on an argument that pandas 3 ignores.
PANDAS_3 = (
    r"ignore:PySpark does not yet fully support pandas:FutureWarning:pyspark\.sql\.pandas",
    r"ignore:The copy keyword is deprecated:DeprecationWarning:pyspark\.sql\.",
)
# Quiet from the first line: setLogLevel comes after those of the start.
LOGGING = """
rootLogger.level = error
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %c: %m%n
"""


@pytest.fixture(scope="session")
def dask_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A `distributed.Client` of two worker processes with one thread each; one for each process of xdist."""
    for package in ("dask", "distributed"):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install 'posterior[dask]'")
    import dask
    from distributed import Client, LocalCluster

    settings = {
        "temporary-directory": str(tmp_path_factory.mktemp("dask")),
        "distributed.nanny.environ.PYTHONPATH": import_path(),
        "distributed.logging": {"distributed": "critical"},  # killed workers are part of the tests
    }
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            memory_limit="1GiB",
            dashboard_address=":0",  # any port: each process of xdist has a cluster
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def spark_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where Spark writes; variables that its Java process, which stays for all sessions, is started with."""
    if find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed: make test-scale")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("Spark needs Java: neither JAVA_HOME nor java on the PATH")
    folder = tmp_path_factory.mktemp("spark")
    (folder / "log4j2.properties").write_text(LOGGING, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_HOME", str(spark_home(folder / "home")))
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")  # the name of a machine need not lead to it
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", import_path())
        yield folder


@pytest.fixture(scope="session")
def spark_session(request: pytest.FixtureRequest, spark_folder: Path) -> Iterator[Any]:
    """A process has one Spark at a time: pytest runs the tests of a master together, and starts it once."""
    from pyspark.sql import SparkSession

    java_options = f"-Dlog4j2.configurationFile={spark_folder / 'log4j2.properties'}"
    settings = SPARK_SETTINGS | {
        "spark.local.dir": str(spark_folder / "local"),
        "spark.sql.warehouse.dir": str(spark_folder / "warehouse"),
        "spark.driver.extraJavaOptions": java_options,
        "spark.executor.extraJavaOptions": java_options,
        "spark.executorEnv.PYTHONPATH": import_path(),
    }
    master = getattr(request, "param", SPARK_MASTERS["spark"])  # none where a test asks by getfixturevalue
    session = SparkSession.builder.master(master).config(map=settings).getOrCreate()
    try:
        yield session
    finally:
        session.stop()


@pytest.fixture(scope="session")
def spark(spark_session: Any) -> Any:
    """A Spark session in one Java process with two threads; Python workers are processes of their own."""
    return spark_session


@pytest.fixture(scope="session")
def spark_cluster(spark_session: Any) -> Any:
    """A Spark session with a master, two workers and their executors, each a process."""
    return spark_session


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give `spark_session` the master that a test's fixtures ask for."""
    asked = [name for name in SPARK_MASTERS if name in metafunc.fixturenames]
    if len(asked) > 1:
        pytest.fail(f"{metafunc.definition.nodeid} asks for two Sparks, and a process has one")
    for name in asked:
        metafunc.parametrize("spark_session", [SPARK_MASTERS[name]], indirect=True, scope="session")


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """What uses Spark is marked so: no test can forget it."""
    if "spark_session" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.spark)
        for known in PANDAS_3:
            item.add_marker(pytest.mark.filterwarnings(known))


def import_path() -> str:
    """The PYTHONPATH of workers."""
    return os.pathsep.join(map(str, IMPORTED))


def spark_home(folder: Path) -> Path:
    """Links to the files of the package, because local-cluster writes a folder `work` beside them."""
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    folder.mkdir()
    for each in Path(spec.origin).parent.iterdir():
        if each.name not in ("work", "__pycache__"):
            (folder / each.name).symlink_to(each)
    return folder
