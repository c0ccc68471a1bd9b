"""What is particular to Dask: partitions, types of pandas, workers that die, and work that is cancelled."""

import os
import time
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from cluster_cases import DyingOnce, Gated, Meddling, Places, garbled, killed_in
from engine_cases import TARGET, WEIGHT, in_files, mixed_table
from posterior import LDA, GaussianNB, NaiveBayes, scan
from posterior.engines.arrow import FileEngine
from posterior.engines.base import FragmentError
from posterior.engines.clusters import BLOCK

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
engine_of = pytest.importorskip("posterior.engines.dask")

NUMBERS = ["a.b", "far", "single", "whole"]


@pytest.fixture(scope="module")
def table():
    return mixed_table()


def log_posteriors(source, table, **options):
    model = LDA().fit(scan(source, target=TARGET, weight=WEIGHT, columns=NUMBERS, **options))
    return model.predict_log_proba(table.select(NUMBERS))


@pytest.mark.parametrize(("n_files", "group"), [(1, 4000), (1, 1000), (3, 400), (BLOCK + 3, 50)])
def test_files_on_dask_have_the_bits_of_threads(dask_cluster, table, tmp_path, n_files, group):
    in_files(table, tmp_path, n_files, group)
    here = log_posteriors(tmp_path, table)
    assert np.array_equal(log_posteriors(tmp_path, table, engine=dask_cluster), here)


def test_the_number_of_workers_does_not_change_a_bit(dask_cluster, table, tmp_path):
    in_files(table, tmp_path, 2 * BLOCK + 1, 50)
    two = log_posteriors(tmp_path, table, engine=dask_cluster)
    with (
        distributed.LocalCluster(
            processes=False, n_workers=1, threads_per_worker=3, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as one,
    ):
        assert np.array_equal(log_posteriors(tmp_path, table, engine=one), two)


def test_frames_need_no_cluster(table):
    frame = dd.from_pandas(table.select([*NUMBERS, TARGET, WEIGHT]).to_pandas(), npartitions=3)
    expected = LDA().fit(frame[NUMBERS].compute(), frame[TARGET].compute(), frame[WEIGHT].compute())
    wanted = expected.predict_log_proba(table.select(NUMBERS))
    assert np.abs(log_posteriors(frame, table) - wanted).max() < 1e-8


# -- columns and rows -----------------------------------------------------------------------------


def of_parts(parts):
    """A data frame of these partitions."""
    return dd.from_map(lambda part: part, parts, meta=parts[0].iloc[:0])


def typed():
    return pd.DataFrame(
        {
            "single": np.array([1.5, np.nan, 3.0, 4.0], dtype=np.float32),
            "flag": [True, False, True, True],
            "maybe": pd.array([1, None, 3, 4], dtype="Int64"),
            "when": pd.to_datetime(["2020-01-01", None, "2020-01-03", "2020-01-04"]),
            "kind": pd.Categorical(["p", "q", None, "p"]),
            "text": ["one", None, "a\nb", ""],
            "price": pd.array(
                [Decimal("1.50"), None, Decimal("3.00"), Decimal("4.25")],
                dtype=pd.ArrowDtype(pa.decimal128(6, 2)),
            ),
        }
    )


def test_types_of_pandas_are_those_of_arrow():
    engine = engine_of.opened(dd.from_pandas(typed(), npartitions=2))
    found = {field.name: str(field.type) for field in engine.schema}
    assert found.pop("when").startswith("timestamp")
    assert found == {
        "single": "float",
        "flag": "bool",
        "maybe": "int64",
        "kind": "string",
        "text": "string",
        "price": "decimal128(6, 2)",
    }
    rows = pa.Table.from_batches(engine.batches(engine.schema.names))
    assert rows.schema == engine.schema
    assert rows.column("kind").to_pylist() == ["p", "q", None, "p"]
    assert rows.column("maybe").to_pylist() == [1, None, 3, 4]
    assert rows.column("price").to_pylist() == [Decimal("1.50"), None, Decimal("3.00"), Decimal("4.25")]


def test_what_objects_are_is_seen_in_the_first_rows_with_values():
    values = [None, None, None, Decimal("1.5"), None, Decimal("2.5")]
    frame = pd.DataFrame({"x": values}, dtype=object)
    with dask.config.set({"dataframe.convert-string": False}):
        engine = engine_of.opened(of_parts([frame.iloc[i : i + 2] for i in (0, 2, 4)]))
        assert pa.types.is_decimal(engine.schema.field("x").type)
        assert pa.Table.from_batches(engine.batches(["x"])).column("x").to_pylist() == values


def test_a_partition_of_another_type_is_named():
    parts = [pd.DataFrame({"x": [1, 2], "y": ["a", "b"]}), pd.DataFrame({"x": [1.5, 2.0], "y": ["a", "b"]})]
    frame = of_parts(parts)
    with pytest.raises(FragmentError, match=r"partition 1 of the Dask data frame cannot be read: .*1\.5"):
        GaussianNB().fit(scan(frame, target="y"))


def test_rows_keep_their_places_however_many_columns_are_read(dask_cluster, table, tmp_path):
    numbered = table.append_column("id", pa.array(np.arange(table.num_rows)))
    engine = engine_of.opened(dd.read_parquet(in_files(numbered, tmp_path)))
    few, all_ = (engine.fold(Places("id"), names) for names in (["id"], numbered.column_names))
    assert few.places == all_.places
    assert few.places[0] == (0, 0)
    assert few.places[601] == (1, 1)


def test_head_is_of_partitions_that_lie_apart(table):
    frame = dd.from_pandas(pd.DataFrame({"x": np.arange(400)}), npartitions=40)
    head = engine_of.opened(frame).head(["x"], 32).column("x").to_pylist()
    assert len(head) >= 28
    assert max(head) > 300


def test_empty_partitions_and_classes_in_one_partition_only_are_fine(dask_cluster):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=300), "g": ["p"] * 299 + ["q"], "y": ["a", "b"] * 150})
    frame.loc[298:, "y"] = "rare"
    parts = [frame.iloc[:0], frame.iloc[:100], frame.iloc[100:100], frame.iloc[100:], frame.iloc[:0]]
    found, expected = (NaiveBayes(tied=False, weights=1.0) for _ in range(2))  # nothing that folds choose
    found.fit(scan(of_parts(parts), target="y"))
    expected.fit(frame[["x", "g"]], frame["y"])
    assert found.classes_.tolist() == ["a", "b", "rare"]
    difference = found.predict_log_proba(frame[["x", "g"]]) - expected.predict_log_proba(frame[["x", "g"]])
    assert np.abs(difference).max() < 1e-9


# -- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["files", "frame"])
def test_a_worker_killed_in_the_middle_of_a_fit_does_not_change_it(dask_cluster, table, tmp_path, how):
    files = in_files(table, tmp_path / "rows")
    engine = (
        engine_of.files_on_cluster(FileEngine(files), dask_cluster)
        if how == "files"
        else engine_of.opened(dd.read_parquet(files))
    )
    removed = removed_workers(dask_cluster)
    dying = Meddling(engine, lambda work: DyingOnce(str(tmp_path), work))
    assert np.array_equal(log_posteriors(dying, table), log_posteriors(engine, table))
    dask_cluster.wait_for_workers(2, timeout=60)
    assert killed_in(tmp_path) not in dask_cluster.run(os.getpid).values()
    assert removed_workers(dask_cluster) > removed


def removed_workers(client):
    """How often the scheduler's log says that a worker is gone."""
    return sum(event.get("action") == "remove-worker" for _, event in client.get_events("all"))


def test_a_corrupt_file_is_named(dask_cluster, tmp_path):
    bad = garbled(tmp_path)
    with pytest.raises(FragmentError, match=f"^{bad} cannot be read: "):
        GaussianNB().fit(scan(tmp_path, target="y", engine=dask_cluster))


def test_an_interruption_cancels_the_work(dask_cluster, table, tmp_path, monkeypatch):
    engine = engine_of.files_on_cluster(FileEngine(in_files(table, tmp_path / "rows", 60, 100)), dask_cluster)
    marks, held = tmp_path / "marks", []
    marks.mkdir()

    def interrupted(futures):
        """Ctrl-C while this process waits for the sums, as soon as one is worked on.

        As the exception that Python makes of it: other code of this process may have taken the signal for
        itself, and inside a callback of the garbage collector Python drops it.
        """
        held.extend(futures)  # work for results that nobody holds ends of itself
        while not any(marks.iterdir()):
            assert not any(future.done() for future in futures)
            time.sleep(0.01)
        raise KeyboardInterrupt

    try:
        with monkeypatch.context() as patched:
            patched.setattr(dask_cluster, "gather", interrupted)
            with pytest.raises(KeyboardInterrupt):
                engine.fold(Gated(str(marks)), ["whole"])
    finally:
        (tmp_path / "open").touch()  # or all that follows would wait for ever
    # Tasks of the first fit come before those of the second, which therefore ends after any that goes on.
    (tmp_path / "others").mkdir()
    assert engine.fold(Gated(str(tmp_path / "others")), ["whole"]) == 60
    assert len(list(marks.iterdir())) < 30


# -- scores ---------------------------------------------------------------------------------------


def doubled(batch):
    return pa.record_batch({"twice": pc.multiply(batch["x.y"], 2.0), "id": batch["id"]})


def test_scores_are_a_lazy_frame_with_the_index_of_the_rows(dask_cluster):
    frame = pd.DataFrame({"id": list("abcdef"), "x.y": np.arange(6.0)}, index=np.arange(10, 16))
    lazy = dd.from_pandas(frame, npartitions=3)
    schema = pa.schema({"twice": pa.float64(), "id": pa.string()})
    scores = engine_of.scored(engine_of.opened(lazy), ["x.y", "id"], doubled, schema)
    assert isinstance(scores, dd.DataFrame)
    assert list(scores.columns) == ["twice", "id"]
    both = dd.concat([lazy, scores[["twice"]]], axis=1).compute()
    assert both["twice"].tolist() == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    assert both.index.tolist() == frame.index.tolist()
    assert scores.compute()["id"].tolist() == list("abcdef")


# -- messages -------------------------------------------------------------------------------------


def test_mistakes_say_what_to_do(table, tmp_path):
    frame = dd.from_pandas(pd.DataFrame({"x": [1.0, 2.0]}), npartitions=1)
    with pytest.raises(TypeError, match="expected a data frame of Dask, found Series"):
        scan(frame["x"])
    with pytest.raises(ValueError, match="filter the data frame"):
        scan(frame, table="t")
    with pytest.raises(ValueError, match=r"called by strings, found 0; use frame.rename"):
        scan(dd.from_pandas(pd.DataFrame({0: [1.0]}), npartitions=1))


def test_without_a_client_files_on_dask_say_how_to_get_one(monkeypatch, table, tmp_path):
    def none():
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed, "default_client", none)
    with pytest.raises(ValueError, match=r"found no client of Dask; open one, client = distributed.Client"):
        scan(in_files(table, tmp_path), engine="dask")
