"""What is particular to rows in PostgreSQL, and in other databases that ADBC reaches."""

import time
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from posterior import LDA, GaussianNB, NaiveBayes, scan
from posterior.engines.adbc import secrets_in

dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")
N = 400
PASSWORD = "tiger7"  # noqa: S105 -- nobody's


def rows(n=N):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    return pa.table(
        {"x": rng.normal(size=n) + y, "z": rng.normal(size=n) - y, "y": np.array(["a", "b"])[y].tolist()}
    )


@pytest.fixture
def connection(postgres):
    with dbapi.connect(postgres.uri) as connection:
        with connection.cursor() as cursor:
            cursor.adbc_ingest("people", rows(), mode="replace")
        connection.commit()
        yield connection


def executed(connection, query):
    with connection.cursor() as cursor:
        cursor.execute(query)
        connection.commit()


def asked(connection, query):
    with connection.cursor() as cursor:
        cursor.execute(query)
        found = cursor.fetchall()
    connection.rollback()
    return found


def others(connection):
    """What other connections are there, when those that are closing have gone."""
    query = (
        "SELECT query FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )
    for _ in range(1200):
        if not (found := asked(connection, query)):
            return []
        time.sleep(0.05)
    return found


def expected():
    table = rows()
    return GaussianNB().fit(table.select(["x", "z"]), table["y"].to_pylist())


@pytest.mark.parametrize(
    "options",
    [
        {"table": "people"},
        {"table": "public.people"},
        {"table": "people", "engine": "arrow"},
        {"query": "SELECT * FROM people -- all of them"},
        {"query": "SELECT * FROM people;"},
    ],
    ids=str,
)
@pytest.mark.parametrize("by", ["address", "connection"])
def test_rows_are_found_by_table_or_query(options, by, connection, postgres):
    source = postgres.uri if by == "address" else connection
    found = GaussianNB().fit(scan(source, "y", **options))
    assert found.theta_ == pytest.approx(expected().theta_, rel=1e-12)
    assert others(connection) == []


def test_names_are_only_names(connection):
    names = ['x"; drop table people; --', "a.b"]
    with connection.cursor() as cursor:
        cursor.adbc_ingest("odd.name", rows().rename_columns([*names, "y"]), mode="replace")
    connection.commit()
    for model in (GaussianNB(), LDA()):
        found = model.fit(scan(connection, "y", table="odd.name"))
        assert found.feature_names_in_.tolist() == names
    assert asked(connection, "SELECT count(*) FROM people") == [(N,)]


def test_numerics_are_numbers_and_enums_are_strings(connection):
    executed(connection, "DROP TABLE IF EXISTS kinds")
    executed(connection, "DROP TYPE IF EXISTS mood")
    executed(connection, "CREATE TYPE mood AS ENUM ('sad', 'glad')")
    executed(
        connection,
        "CREATE TABLE kinds AS SELECT (i * 0.25)::numeric(10, 2) AS price, "
        "(CASE WHEN i % 3 = 0 THEN 'sad' ELSE 'glad' END)::mood AS mood, i % 2 AS y "
        "FROM generate_series(1, 60) i",
    )
    table = scan(connection, "y", table="kinds")
    assert table.engine.schema.types == [pa.float64(), pa.string(), pa.int32()]
    found = NaiveBayes(weights=1.0, tied=False).fit(table)
    assert found.model_.schema.kinds == ("continuous", "categorical")
    assert found.classes_.tolist() == [0, 1]
    X = pa.table({"price": [Decimal("2.50")], "mood": ["sad"]})
    assert found.predict_proba(X).sum() == pytest.approx(1)


def test_what_is_not_committed_is_not_there(connection):
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE draft AS SELECT * FROM people")
    with pytest.raises(ValueError, match=r"'draft' cannot be read.*sees only what was committed"):
        scan(connection, "y", table="draft")
    connection.rollback()
    with pytest.raises(ValueError, match=r"table 'People' cannot be read.*taken as it is spelled"):
        scan(connection, "y", table="People")


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://scott:{}@host.invalid/db",
        "postgresql://scott:{}@[broken/db",
        "postgresql://scott:{}@host.invalid:port/db",
        "postgresql:///db?user=scott&password={}&host=/nowhere",
        "oracle://scott:{}@host/db",
    ],
)
@pytest.mark.parametrize("password", ["tiger", "ti%26ger"])
def test_passwords_are_never_shown(address, password):
    with pytest.raises(ValueError, match=r"cannot be reached|no address") as found:
        scan(address.format(password), "y", table="people")
    error = found.value
    while error is not None:
        assert "tiger" not in str(error)
        assert "ti&ger" not in str(error)
        assert "ti%26ger" not in str(error)
        error = error.__cause__
    assert secrets_in(address.format("ti%26ger")) == ["ti%26ger", "ti&ger"]


def test_a_password_is_not_shown_by_a_scan(postgres, connection):
    table = scan(f"{postgres.uri}&password={PASSWORD}", "y", table="people")
    assert "tiger" not in repr(table)


# ---------------------------------------------------------------- faults


@pytest.fixture
def many(connection):
    executed(connection, "DROP TABLE IF EXISTS many")
    executed(
        connection,
        "CREATE TABLE many AS SELECT i, i % 3 AS y, repeat('-', 200) AS wide "
        "FROM generate_series(1, 300000) i",
    )
    yield scan(connection, "y", table="many")
    executed(connection, "DROP TABLE many")


def test_rows_come_in_the_same_order_each_time(many):
    first = np.concatenate([batch["i"] for batch in many.engine.batches(["i"])])
    batches = many.engine.batches(["i"])
    next(batches)  # PostgreSQL would let the next scan begin where this one is
    again = np.concatenate([batch["i"] for batch in many.engine.batches(["i"])])
    batches.close()
    assert first.tolist() == again.tolist() == list(range(1, 300_001))


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_a_query_is_cancelled_when_a_fit_ends_early(error, many, connection):
    def work(batch, place):
        raise error

    with pytest.raises(error):
        many.engine.fold(work, ["i", "wide"])
    assert others(connection) == []
    assert asked(connection, "SELECT 1") == [(1,)]


def test_a_server_that_closes_the_connection_is_named(many, connection):
    batches = many.engine.batches(["i", "wide"])
    next(batches)
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY (SELECT \"i\"%'"
    assert asked(connection, end)
    with pytest.raises(ValueError, match="table 'many' cannot be read"):
        list(batches)
    assert others(connection) == []


def test_a_table_that_goes_is_named(connection):
    executed(connection, "CREATE TABLE brief AS SELECT * FROM people")
    table = scan(connection, "y", table="brief")
    assert table.n_rows == N
    executed(connection, "DROP TABLE brief")
    for model in (GaussianNB(), LDA()):
        with pytest.raises(ValueError, match=r"table 'brief' cannot be read.*does not exist"):
            model.fit(table)


@pytest.mark.parametrize("model", [GaussianNB(), LDA()], ids=str)
def test_a_class_that_comes_after_the_survey_is_named(model, connection):
    table = scan(connection, "y", table="people")
    assert table.n_rows == N
    executed(connection, "INSERT INTO people VALUES (1, 2, 'new')")
    with pytest.raises(ValueError, match=r"column 'y' holds 'new'.*scan them again"):
        model.fit(table)


@pytest.mark.parametrize("model", [GaussianNB(), LDA()], ids=str)
def test_empty_tables_and_rows_without_a_class_are_refused(model, connection):
    executed(connection, "UPDATE people SET y = NULL WHERE x > 1")
    with pytest.raises(ValueError, match=f"of {N} rows have no value in column 'y'"):
        model.fit(scan(connection, "y", table="people"))
    model.fit(scan(connection, "y", table="people", unlabelled="drop"))
    executed(connection, "DELETE FROM people")
    with pytest.raises(ValueError, match="no rows"):
        model.fit(scan(connection, "y", table="people"))
