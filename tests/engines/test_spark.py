"""What is particular to Spark: names, types, places, Python workers and executors that die."""

import os
import time
from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

from cluster_cases import DyingOnce, Gated, Meddling, Places, garbled, interrupted_when, killed_in
from engine_cases import TARGET, WEIGHT, in_files, mixed_table
from posterior import LDA, GaussianNB, NaiveBayes, scan
from posterior.engines.arrow import FileEngine
from posterior.engines.base import FragmentError
from posterior.engines.clusters import BLOCK

engine_of = pytest.importorskip("posterior.engines.spark", exc_type=ImportError)

NUMBERS = ["a.b", "far", "single", "whole"]


@pytest.fixture(scope="module")
def table():
    return mixed_table()


def log_posteriors(source, table, **options):
    model = LDA().fit(scan(source, target=TARGET, weight=WEIGHT, columns=NUMBERS, **options))
    return model.predict_log_proba(table.select(NUMBERS))


@pytest.mark.parametrize(("n_files", "group"), [(1, 4000), (3, 400), (BLOCK + 3, 50)])
def test_files_on_spark_have_the_bits_of_threads(spark, table, tmp_path, n_files, group):
    in_files(table, tmp_path, n_files, group)
    here = log_posteriors(tmp_path, table)
    assert np.array_equal(log_posteriors(tmp_path, table, engine=spark), here)


def test_many_partitions_are_added_up_in_blocks(spark):
    rows = spark.range(0, 500, 1, BLOCK + 5)
    found = engine_of.opened(rows).fold(Places("id"), ["id"])
    assert list(found.places) == list(range(500))  # in order, as blocks are
    assert {fragment for fragment, _ in found.places.values()} == set(range(BLOCK + 5))


# -- columns and rows -----------------------------------------------------------------------------


def typed():
    return pa.table(
        {
            "x.y": pa.array([1.5, None, float("nan"), 4.0], pa.float32()),
            "a`b": pa.array([1, None, 3, 4]),
            "Flag": pa.array([True, None, False, True]),
            "price": pa.array([Decimal("1.50"), None, Decimal("3.00"), Decimal("4.25")], pa.decimal128(6, 2)),
            "when": pa.array(
                [datetime(2020, 1, 1, tzinfo=UTC), None, None, datetime(2020, 1, 4, tzinfo=UTC)]
            ),
            "text": pa.array(["one", None, "a\nb", ""]),
        }
    )


def test_names_and_types_come_through(spark):
    engine = engine_of.opened(spark.createDataFrame(typed()))
    assert engine.schema.names == typed().column_names
    kinds = {field.name: str(field.type) for field in engine.schema}
    assert kinds.pop("when").startswith("timestamp[us")
    assert kinds == {
        "x.y": "float",
        "a`b": "int64",
        "Flag": "bool",
        "price": "decimal128(6, 2)",
        "text": "string",
    }
    some = ["text", "x.y", "price", "a`b", "when"]
    for rows in (pa.Table.from_batches(engine.batches(some)), engine.head(some, 10)):
        assert rows.column_names == some
        for name in ("text", "price", "a`b", "when"):
            assert rows.column(name).to_pylist() == typed().column(name).to_pylist()
        assert rows.column("x.y").null_count == 1
        assert np.isnan(rows.column("x.y").to_pylist()[2])


def test_rows_keep_their_places_however_many_columns_are_read(spark, table, tmp_path):
    numbered = table.append_column("id", pa.array(np.arange(table.num_rows)))
    engine = engine_of.opened(spark.read.parquet(str(in_files(numbered, tmp_path))))
    few, all_ = (engine.fold(Places("id"), names) for names in (["id"], numbered.column_names))
    assert few.places == all_.places
    assert sorted(few.places) == list(range(table.num_rows))
    in_order = pa.Table.from_batches(engine.batches(["id"])).column("id").to_pylist()
    assert in_order == sorted(few.places, key=few.places.__getitem__)


def test_empty_partitions_and_classes_in_one_partition_only_are_fine(spark, tmp_path):
    rng = np.random.default_rng(0)
    labels = ["a", "b"] * 149 + ["rare", "rare"]
    rows = pa.table({"x": rng.normal(size=300), "g": ["p"] * 299 + ["q"], "y": labels})
    for i, part in enumerate([rows.slice(0, 0), rows.slice(0, 100), rows.slice(100, 200), rows.slice(0, 0)]):
        pq.write_table(part, tmp_path / f"part-{i}.parquet")
    frame = spark.read.parquet(str(tmp_path)).union(spark.range(0).selectExpr("0.0", "'p'", "'a'"))
    model = NaiveBayes(tied=False, weights=1.0)  # nothing that folds choose
    expected = model.fit(rows.select(["x", "g"]), labels).predict_log_proba(rows.select(["x", "g"]))
    for source in ({"source": frame}, {"source": tmp_path, "engine": spark}):
        found = clone(model).fit(scan(**source, target="y"))
        assert found.classes_.tolist() == ["a", "b", "rare"]
        assert np.abs(found.predict_log_proba(rows.select(["x", "g"])) - expected).max() < 1e-9


# -- faults ---------------------------------------------------------------------------------------


def engines_of(how, session, files):
    if how == "frame":
        return engine_of.opened(session.read.parquet(str(files)).repartition(5, "far").persist())
    return engine_of.files_on_cluster(FileEngine(files), session)


def failed_tasks(session):
    """How many tasks the log of Spark says to have failed; it tried them again."""
    log = session.sparkContext.statusTracker()
    jobs = [log.getJobInfo(job) for job in log.getJobIdsForGroup(None)]
    stages = [log.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
    return sum(stage.numFailedTasks for stage in stages if stage)


@pytest.mark.parametrize("how", ["files", "frame"])
def test_a_python_worker_killed_in_the_middle_of_a_fit_does_not_change_it(spark, table, tmp_path, how):
    engine = engines_of(how, spark, in_files(table, tmp_path / "rows"))
    expected, failed = log_posteriors(engine, table), failed_tasks(spark)
    dying = Meddling(engine, lambda work: DyingOnce(str(tmp_path), work))
    assert np.array_equal(log_posteriors(dying, table), expected)
    assert not os.path.exists(f"/proc/{killed_in(tmp_path)}")
    assert failed_tasks(spark) > failed


@pytest.mark.parametrize("how", ["files", "frame"])
def test_an_executor_killed_in_the_middle_of_a_fit_does_not_change_it(spark_cluster, table, tmp_path, how):
    engine = engines_of(how, spark_cluster, in_files(table, tmp_path / "rows"))
    expected, before = log_posteriors(engine, table), executors(spark_cluster)
    dying = Meddling(engine, lambda work: DyingOnce(str(tmp_path), work, ancestor="java"))
    assert np.abs(log_posteriors(dying, table) - expected).max() < 1e-9
    assert not os.path.exists(f"/proc/{killed_in(tmp_path)}")
    assert before - executors(spark_cluster)


def executors(session):
    """The numbers of those that Spark knows to be alive; none has the number of a dead one."""
    return set(session.sparkContext._jsc.sc().getExecutorIds().mkString(" ").split())


def test_a_corrupt_file_is_named_in_one_line(spark, tmp_path):
    bad = garbled(tmp_path)
    with pytest.raises(FragmentError, match=f"^{bad} cannot be read: ") as caught:
        GaussianNB().fit(scan(tmp_path, target="y", engine=spark))
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_an_interruption_cancels_the_work(spark, table, tmp_path):
    engine = engine_of.files_on_cluster(FileEngine(in_files(table, tmp_path / "rows", 60, 100)), spark)
    (tmp_path / "marks").mkdir()
    watch = interrupted_when(tmp_path / "marks")
    with pytest.raises(KeyboardInterrupt):
        engine.fold(Gated(str(tmp_path / "marks")), ["whole"])
    watch.join()
    (tmp_path / "open").touch()
    while spark.sparkContext.statusTracker().getActiveJobsIds():
        time.sleep(0.1)
    assert len(list((tmp_path / "marks").iterdir())) < 30


# -- scores ---------------------------------------------------------------------------------------


def doubled(batch):
    return pa.record_batch({"2.x": pc.multiply(batch["x.y"], 2.0), "id": batch["id"]})


def test_scores_are_a_lazy_frame(spark):
    frame = spark.createDataFrame(pa.table({"id": list("abcdef"), "x.y": np.arange(6.0)})).repartition(3)
    schema = pa.schema({"2.x": pa.float64(), "id": pa.string()})
    scores = engine_of.scored(engine_of.opened(frame), ["x.y", "id"], doubled, schema)
    assert scores.columns == ["2.x", "id"]
    found = scores.toArrow().sort_by("id")
    assert found.column("2.x").to_pylist() == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]


# -- messages -------------------------------------------------------------------------------------


def test_mistakes_say_what_to_do(spark, table, tmp_path, monkeypatch):
    frame = spark.range(3)
    with pytest.raises(TypeError, match="expected a data frame of Spark, found GroupedData"):
        scan(frame.groupBy("id"))
    with pytest.raises(ValueError, match=r"use the data frame spark.table"):
        scan(frame, table="t")
    monkeypatch.setattr(engine_of.SparkSession, "getActiveSession", lambda: None)
    with pytest.raises(ValueError, match=r"found no Spark session; start one"):
        scan(in_files(table, tmp_path), engine="spark")
