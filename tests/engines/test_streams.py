"""Arrow's own tables, data sets and streams, and lazy frames of polars."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from engine_cases import in_files
from posterior import LDA, QDA, GaussianNB, LogisticRegression, NaiveBayes, scan
from posterior.engines import polars as polars_engine
from posterior.engines.base import BATCH_ROWS


def rows(n=3_000):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    state = np.array(["CA", "NY", "TX"])[(y + rng.integers(0, 2, n)) % 3]
    return pa.table(
        {"x": rng.normal(size=n) + y, "state": state.tolist(), "y": [f"c{k}" for k in y], "w": rng.random(n)}
    )


TABLE = rows()


class Exporting:
    """Something that gives its rows once, by the PyCapsule interface."""

    def __init__(self, table):
        self._reader = table.to_reader(max_chunksize=700)

    def __arrow_c_stream__(self, requested_schema=None):
        return self._reader.__arrow_c_stream__(requested_schema)


STREAMS = {
    "reader": lambda: TABLE.to_reader(max_chunksize=700),
    "capsule": lambda: Exporting(TABLE),
    "iterator": lambda: iter(TABLE.to_batches(max_chunksize=700)),
    "generator of frames": lambda: (pl.from_arrow(batch) for batch in TABLE.to_batches(max_chunksize=700)),
}
REREAD = {
    "table": lambda: TABLE,
    "record batch": lambda: TABLE.combine_chunks().to_batches()[0],
    "polars frame": lambda: pl.from_arrow(TABLE),
    "pandas frame": TABLE.to_pandas,
    "lazy frame": lambda: pl.from_arrow(TABLE).lazy(),
}


def in_memory(model, columns):
    return model.fit(TABLE.select(columns), TABLE["y"].to_pylist(), TABLE["w"].to_numpy())


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("model", [GaussianNB(), LDA(), QDA()], ids=str)
def test_a_stream_is_learnt_in_one_reading(name, model):
    found = model.fit(scan(STREAMS[name](), "y", columns=["x"], weight="w"))
    expected = in_memory(type(model)(), ["x"])
    logs, wanted = (each.predict_log_proba(TABLE.select(["x"])) for each in (found, expected))
    assert logs == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", REREAD)
def test_what_is_in_memory_is_read_as_often_as_one_likes(name):
    table = scan(REREAD[name](), "y", columns=["x", "state"], weight="w")
    model = NaiveBayes(weights=1.0, tied=False)
    expected = in_memory(NaiveBayes(weights=1.0, tied=False), ["x", "state"])
    for _ in range(2):
        logs = model.fit(table).predict_log_proba(TABLE.select(["x", "state"]))
        assert logs == pytest.approx(expected.predict_log_proba(TABLE.select(["x", "state"])), rel=1e-9)


def test_a_data_set_is_scanned(tmp_path):
    table = scan(ds.dataset(in_files(TABLE, tmp_path)), "y", columns=["x"])
    expected = LDA().fit(TABLE.select(["x"]), TABLE["y"].to_pylist())
    assert LDA().fit(table).coef_ == pytest.approx(expected.coef_, rel=1e-9)


def test_what_needs_more_than_one_reading_says_so():
    with pytest.raises(ValueError, match="can be read once"):
        LogisticRegression().fit(scan(TABLE.to_reader(), "y", columns=["x"]))
    with pytest.raises(ValueError, match="can be read once"):
        _ = scan(TABLE.to_reader(), "y").n_rows


def test_a_stream_that_was_read_says_so():
    table = scan(TABLE.to_reader(), "y", columns=["x"])
    GaussianNB().fit(table)
    with pytest.raises(ValueError, match="was read before, and has no rows left"):
        GaussianNB().fit(table)


@pytest.mark.parametrize(
    ("source", "error", "words"),
    [
        (iter([]), ValueError, "gives no batches of Arrow"),
        (iter([1]), TypeError, "gives batches of Arrow, or data frames, found int"),
    ],
)
def test_iterators_of_something_else_are_refused(source, error, words):
    with pytest.raises(error, match=words):
        scan(source, "y")


def test_batches_with_other_columns_are_named():
    other = pa.table({"x": ["a"], "y": ["c0"]}).to_batches()
    batches = [*TABLE.select(["x", "y"]).to_batches(), *other]
    with pytest.raises(ValueError, match="batch 1 of the stream has the columns x: string"):
        GaussianNB().fit(scan(iter(batches), "y"))


def test_table_and_query_are_for_databases():
    for source in (TABLE, pl.LazyFrame({"x": [1]})):
        with pytest.raises(ValueError, match="for databases"):
            scan(source, "y", table="rows")


# ---------------------------------------------------------------- polars


def test_a_lazy_frame_comes_in_order_and_in_even_batches(tmp_path):
    n = 2 * BATCH_ROWS + 10
    frame = pl.LazyFrame({"i": range(n)}).with_columns(y=pl.lit("a")).filter(pl.col("i") >= 10)
    found = list(scan(frame, "y").engine.batches(["i"]))
    assert [batch.num_rows for batch in found] == [BATCH_ROWS, BATCH_ROWS]
    assert np.concatenate([batch["i"] for batch in found]).tolist() == list(range(10, n))


def test_older_polars_streams_through_a_file_that_is_removed(monkeypatch, tmp_path):
    monkeypatch.setattr(polars_engine, "_in_batches", polars_engine._by_file)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    frame = pl.from_arrow(TABLE).lazy()
    batches = polars_engine._by_file(frame)
    assert next(batches).num_rows == TABLE.num_rows
    assert list(tmp_path.iterdir())
    batches.close()
    assert not list(tmp_path.iterdir())
    expected = LDA().fit(TABLE.select(["x"]), TABLE["y"].to_pylist())
    assert LDA().fit(scan(frame, "y", columns=["x"])).coef_ == pytest.approx(expected.coef_, rel=1e-9)


def test_a_lazy_frame_that_fails_says_why(tmp_path):
    (tmp_path / "broken.csv").write_text("x,y\n1,a\nnope,b\n", encoding="utf-8")
    frame = pl.scan_csv(tmp_path / "broken.csv", schema={"x": pl.Float64, "y": pl.String})
    with pytest.raises(ValueError, match="the lazy frame cannot be read"):
        GaussianNB().fit(scan(frame, "y"))


def test_categories_of_polars_are_classes_and_columns():
    frame = pl.from_arrow(TABLE).with_columns(pl.col("y", "state").cast(pl.Categorical))
    found = NaiveBayes(weights=1.0).fit(scan(frame.lazy(), "y", columns=["state"]))
    assert found.classes_.tolist() == ["c0", "c1", "c2"]
    assert isinstance(pd.DataFrame(found.predict_proba(frame.select("state"))), pd.DataFrame)
