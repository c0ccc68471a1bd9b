"""Commands on files that are scanned: patterns, folders, several files, large Parquet files."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commands import printed, ran

pytest.importorskip("typer", reason="the command line is an extra")

from posterior import files, load
from posterior.cli import scanning
from posterior.comparison import sampling

N = 900
PARTS = ("part-0.parquet", "part-1.parquet", "part-2.parquet")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    return pa.table(
        {
            "id": np.arange(N),
            "x": y + rng.normal(size=N),
            "state": np.array(["CA", "NY"])[(y + (rng.random(N) < 0.3)) % 2],
            "w": rng.integers(0, 3, N),
            "late": np.array(["no", "yes"])[y],
        }
    )


@pytest.fixture
def rows(folder, table):
    """The same rows in one file, and in three in a folder."""
    (folder / "data").mkdir()
    pq.write_table(table, "all.parquet")
    for k, name in enumerate(PARTS):
        pq.write_table(table.slice(300 * k, 300), f"data/{name}")


FIT = ("-t", "late", "--drop", "id", "--drop", "w", "-m", "naive-bayes", "-o")
SOURCES = {
    "a pattern": ["data/*.parquet"],
    "a folder": ["data"],
    "several files": [f"data/{name}" for name in PARTS],
    "an engine that was asked for": ["all.parquet", "--engine", "arrow"],
}


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_model_of_scanned_files_is_that_of_one_file_in_memory(source, table, capsysbinary):
    scanned = ran(capsysbinary, "fit", *source, *FIT, "scanned.model")
    printed(capsysbinary, "fit", "all.parquet", *FIT, "memory.model")
    assert ("is scanned, not read into memory (--engine memory" in scanned.notes) == (
        "--engine" not in source
    )
    X = table.select(["x", "state"])
    logs, wanted = (load(name).predict_log_proba(X) for name in ("scanned.model", "memory.model"))
    assert np.allclose(logs, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.usefixtures("rows")
def test_a_cluster_is_called_by_its_address(dask_cluster, table, capsysbinary):
    address = dask_cluster.scheduler.address
    before = set(dask_cluster.scheduler_info()["workers"])
    on = ("--engine", "dask", "--cluster", address)
    printed(capsysbinary, "fit", "data", *on, *FIT, "there.model")
    printed(capsysbinary, "fit", "data", *FIT, "here.model")
    X = table.select(["x", "state"])
    there, here = (load(name).predict_log_proba(X) for name in ("there.model", "here.model"))
    assert np.array_equal(there, here)
    printed(capsysbinary, "predict", "here.model", "data", *on, "--keep", "id", "-o", "scores.parquet")
    assert pq.read_table("scores.parquet").num_rows == N
    assert set(dask_cluster.scheduler_info()["workers"]) == before


@pytest.mark.usefixtures("rows")
def test_a_cluster_is_started_on_this_machine_and_ended(capsysbinary):
    client = pytest.importorskip("distributed").client

    before = set(map(id, client._global_clients.values()))
    printed(capsysbinary, "fit", "data", "--engine", "dask", *FIT, "a.model")
    assert load("a.model").estimator_.model_.weight == N
    assert {id(each) for each in client._global_clients.values() if each.status != "closed"} <= before


@pytest.mark.usefixtures("rows")
def test_scores_of_scanned_files_are_those_of_one_file(capsysbinary):
    printed(capsysbinary, "fit", "data", *FIT, "a.model")
    one = ran(capsysbinary, "predict", "a.model", "all.parquet", "--keep", "id", "-o", "one.parquet")
    two = ran(capsysbinary, "predict", "a.model", "data/*.parquet", "--keep", "id", "-o", "two.parquet")
    assert pq.read_table("one.parquet").equals(pq.read_table("two.parquet"))
    assert "900 rows in two.parquet; on these rows (900 of known class)" in two.notes
    assert one.notes.partition("; on these")[2] == two.notes.partition("; on these")[2]


@pytest.mark.usefixtures("rows")
def test_rows_weigh_what_the_column_says(table, capsysbinary):
    printed(capsysbinary, "fit", "data", "--weight", "w", *FIT[:4], *FIT[6:], "a.model")
    inner = load("a.model").estimator_
    assert inner.model_.weight == float(table["w"].to_numpy().sum())
    assert "w" not in inner.schema_.names


@pytest.mark.usefixtures("rows")
def test_a_large_parquet_file_is_scanned_unless_memory_is_asked_for(capsysbinary, monkeypatch):
    monkeypatch.setattr(scanning.open_elsewhere, "__kwdefaults__", {"large": 1_000})
    found = ran(capsysbinary, "fit", "all.parquet", *FIT, "a.model")
    assert "all.parquet, of more than 1,000 bytes, is scanned" in found.notes
    found = ran(capsysbinary, "fit", "all.parquet", "--engine", "memory", *FIT, "a.model")
    assert "scanned" not in found.notes


@pytest.mark.usefixtures("rows")
def test_a_comparison_says_on_how_many_of_how_many_rows(capsysbinary, monkeypatch):
    monkeypatch.setattr(sampling, "LEAST_OTHERS", 20)
    options = ("-t", "late", "--drop", "id", "--models", "majority,naive-bayes", "--max-rows", "300")
    found = ran(capsysbinary, "compare", "data/*.parquet", *options)
    assert "900 rows in" in found.out
    assert "rows drawn from 900" in found.out
    told = json.loads(ran(capsysbinary, "compare", "data/*.parquet", *options, "--json").out)
    assert told["recommended"] == "naive-bayes"
    assert told["folds"].endswith("rows drawn from 900")


@pytest.mark.usefixtures("rows")
def test_the_best_model_is_fitted_to_all_rows(capsysbinary, monkeypatch):
    monkeypatch.setattr(sampling, "LEAST_OTHERS", 20)
    about = json.loads(
        printed(capsysbinary, "fit", "data", *FIT[:6], "--max-rows", "300", "-o", "a.model", "--json")
    )
    assert about["rows"] == N
    assert sum(about["classes"].values()) == N


@pytest.mark.usefixtures("rows")
def test_a_report_of_drawn_rows(folder, capsysbinary):
    options = ("-t", "late", "--drop", "id", "--models", "majority,naive-bayes", "--report", "r.html")
    printed(capsysbinary, "compare", "data/*.parquet", *options)
    assert (folder / "r.html").stat().st_size > 10_000


@pytest.mark.usefixtures("rows")
def test_unseen_categories_are_counted_over_all_batches(table, capsysbinary, monkeypatch):
    printed(capsysbinary, "fit", "data", *FIT, "a.model")
    odd = table.set_column(2, "state", pa.array(["ZZ"] * N))
    for k in range(3):
        pq.write_table(odd.slice(300 * k, 300), f"data/{PARTS[k]}")
    found = ran(capsysbinary, "predict", "a.model", "data", "-o", "scores.csv")
    assert found.notes.count("rows with a category not seen in training") == 1
    assert "column 'state': 900 rows with a category not seen" in found.notes
    assert files.read("scores.csv").num_rows == N
