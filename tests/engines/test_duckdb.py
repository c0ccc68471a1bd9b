"""What is particular to rows in DuckDB."""

import numpy as np
import pyarrow as pa
import pytest

from posterior import LDA, GaussianNB, NaiveBayes, scan, threads
from posterior.engines import duckdb as engine
from posterior.engines.base import BATCH_ROWS

duckdb = pytest.importorskip("duckdb")
N = 150_000


def small(n=400):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    return pa.table(
        {"x": rng.normal(size=n) + y, "z": rng.normal(size=n) - y, "y": np.array(["a", "b"])[y].tolist()}
    )


@pytest.fixture
def connection():
    with duckdb.connect() as connection:
        connection.register("given", small())
        connection.execute("CREATE TABLE rows AS SELECT * FROM given")
        yield connection


@pytest.fixture(scope="module")
def many():
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE many AS SELECT i, i % 7 AS x, hash(i) / 1e19 AS z, 'c' || (i % 3) AS y "
            "FROM range($n) t(i)",
            {"n": N},
        )
        yield connection


def test_batches_have_all_rows_in_order(many):
    batches = list(scan(many, "y", table="many").engine.batches(["i"]))
    assert [batch.num_rows for batch in batches] == [BATCH_ROWS, BATCH_ROWS, N - 2 * BATCH_ROWS]
    assert np.concatenate([batch["i"] for batch in batches]).tolist() == list(range(N))


@pytest.mark.parametrize("n", [1, 3])
def test_streamed_sums_have_the_same_bits_whatever_the_threads(n, many):
    many.execute("SET threads = 2")
    fit = lambda: LDA().fit(scan(many, "y", table="many", columns=["x", "z"]))
    expected = fit()
    many.execute(f"SET threads = {n}")
    assert fit().coef_.tobytes() == expected.coef_.tobytes()


def test_the_connection_answers_other_queries_meanwhile(many):
    batches = scan(many, "y", table="many").engine.batches(["i"])
    next(batches)
    assert many.execute("SELECT 42").fetchall() == [(42,)]
    assert sum(batch.num_rows for batch in batches) == N - BATCH_ROWS


@pytest.mark.parametrize(
    "make",
    [
        lambda c: {"source": c, "table": "rows"},
        lambda c: {"source": c, "query": "SELECT * FROM rows ORDER BY x; "},
        lambda c: {"source": c.sql("SELECT * FROM rows")},
        lambda c: {"source": c.table("rows").filter("x > -100")},
        lambda c: {"source": c, "table": "main.rows"},
        lambda c: {"source": c, "table": "given"},
    ],
    ids=["table", "query", "relation", "filtered relation", "table of a schema", "registered frame"],
)
def test_rows_are_found_by_table_query_or_relation(make, connection):
    found = GaussianNB().fit(scan(**make(connection), target="y"))
    table = small()
    expected = GaussianNB().fit(table.select(["x", "z"]), table["y"].to_pylist())
    assert found.theta_ == pytest.approx(expected.theta_, rel=1e-12)


def test_temporary_tables_are_read_by_the_connection_itself(connection):
    connection.execute("CREATE TEMPORARY TABLE mine AS SELECT * FROM rows")
    found = GaussianNB().fit(scan(connection, "y", table="mine"))
    assert found.class_count_.sum() == 400
    assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_names_are_only_names(connection):
    table = small()
    names = ['x"; drop table rows; --', "a.b"]
    connection.register("hostile", table.rename_columns([*names, "y"]))
    connection.execute("""CREATE TABLE "t""; drop table rows; --" AS SELECT * FROM hostile""")
    found = LDA().fit(scan(connection, "y", table='t"; drop table rows; --'))
    assert found.feature_names_in_.tolist() == names
    assert connection.execute("SELECT count(*) FROM rows").fetchall() == [(400,)]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, r"many tables; say which rows: scan\(…, table='name'\)"),
        ({"table": "nothing"}, "table 'nothing' cannot be read"),
        ({"query": "SELECT * FROM rows WHERE"}, "the query cannot be read"),
        ({"table": "rows", "engine": "dask"}, "engine='dask' reads files"),
        ({"table": "rows", "query": "SELECT 1"}, "a table or a query, not both"),
    ],
)
def test_what_cannot_be_read_is_said(options, words, connection):
    with pytest.raises(ValueError, match=words):
        scan(connection, "y", **options)


def test_older_versions_are_refused(connection, monkeypatch):
    monkeypatch.setattr(engine.duckdb, "__version__", "1.5.2")
    with pytest.raises(ValueError, match=r"from DuckDB 2\.0 on, found 1\.5\.2.*pip install 'duckdb>=2\.0'"):
        scan(connection, "y", table="rows")


def test_a_stream_that_is_cut_short_is_noticed(connection, monkeypatch):
    monkeypatch.setattr(engine, "_count", lambda cursor, rows: 401)
    with pytest.raises(ValueError, match="gave 400 rows where 401 were counted"):
        LDA().fit(scan(connection, "y", table="rows"))


def test_rows_without_an_order_are_refused(connection):
    connection.execute("SET preserve_insertion_order = false")
    with pytest.raises(ValueError, match="SET preserve_insertion_order = true"):
        LDA().fit(scan(connection, "y", table="rows"))


def test_an_empty_table_is_refused(connection):
    connection.execute("CREATE TABLE nobody AS SELECT * FROM rows WHERE false")
    for model in (GaussianNB(), LDA()):
        with pytest.raises(ValueError, match="no rows"):
            model.fit(scan(connection, "y", table="nobody"))


def test_rows_without_a_class_are_refused_or_dropped(connection):
    connection.execute("UPDATE rows SET y = NULL WHERE x > 1")
    n = connection.execute("SELECT count(*) FROM rows WHERE y IS NOT NULL").fetchall()[0][0]
    for model in (GaussianNB(), LDA()):
        with pytest.raises(ValueError, match=f"{400 - n} of 400 rows have no value in column 'y'"):
            model.fit(scan(connection, "y", table="rows"))
        model.fit(scan(connection, "y", table="rows", unlabelled="drop"))
    assert GaussianNB().fit(scan(connection, "y", table="rows", unlabelled="drop")).class_count_.sum() == n


@pytest.mark.parametrize("model", [GaussianNB(), LDA()], ids=str)
def test_a_class_that_comes_after_the_survey_is_named(model, connection):
    table = scan(connection, "y", table="rows")
    assert table.n_rows == 400
    connection.execute("INSERT INTO rows VALUES (1.0, 2.0, 'new')")
    with pytest.raises(ValueError, match=r"column 'y' holds 'new'.*have changed since; scan them again"):
        model.fit(table)


def test_a_category_that_comes_after_the_survey_is_left_out(connection):
    connection.execute("ALTER TABLE rows ADD COLUMN state VARCHAR DEFAULT 'CA'")
    connection.execute("UPDATE rows SET state = 'NY' WHERE z > 0")
    table = scan(connection, "y", table="rows")
    assert table.n_rows == 400
    connection.execute("INSERT INTO rows VALUES (1.0, 2.0, 'a', 'TX')")
    fitted = NaiveBayes(weights=1.0, tied=False).fit(table)
    assert fitted.model_.schema.columns[2].categories == ("CA", "NY")


def test_an_interrupted_fit_lets_go_of_the_database(many):
    class StopError(Exception):
        pass

    calls = []

    def work(batch, place):
        calls.append(place)
        raise StopError

    with threads(2), pytest.raises(StopError):
        scan(many, "y", table="many").engine.fold(work, ["i"])
    assert len(calls) <= 3
    many.execute("CREATE OR REPLACE TABLE other AS SELECT 1")
    many.execute("CHECKPOINT")
