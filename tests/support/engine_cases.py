"""Tables elsewhere that hold the same rows: to add an engine to the law tests, enter what opens it here."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

TARGET, WEIGHT = "y", "w"


def mixed_table(n: int = 3_000, seed: int = 0) -> pa.Table:
    """Rows of every kind: floats of both widths, whole numbers, true/false, decimals, strings, gaps, weights.

    A name with a dot, a class that the first rows do not have, and a category in the last rows only.
    """
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < n // 10, rng.integers(0, 2, n), rng.integers(0, 3, n))
    state = np.array(["CA", "NY", "TX"])[(y + rng.integers(0, 2, n)) % 3].astype(object)
    state[-5:] = "only here"
    state[::7] = None
    gappy = rng.normal(size=n) + y
    gappy[::5] = np.nan
    return pa.table(
        {
            "a.b": pa.array(rng.normal(size=n) + y),
            "far": pa.array(rng.normal(size=n) * (1 + y) + 1e8),
            "gappy": pa.array(gappy),
            "single": pa.array((rng.normal(size=n) + y).astype(np.float32)),
            "whole": pa.array(rng.poisson(2 + y)),
            "flag": pa.array(rng.random(n) < 0.2 * (y + 1)),
            "price": pa.array([Decimal(int(v)) / 100 for v in 100 * rng.normal(5 + y)], pa.decimal128(12, 2)),
            "state": pa.array(state.tolist(), pa.string()),
            TARGET: pa.array(np.array(["low", "middle", "top"])[y].tolist(), pa.string()),
            WEIGHT: pa.array(rng.integers(0, 3, n).astype(np.float64)),
        }
    )


def in_files(table: pa.Table, folder: Path, n_files: int = 5, group: int = 200) -> Path:
    """The rows in Parquet files of a folder, in order."""
    folder.mkdir(parents=True, exist_ok=True)
    size = -(-table.num_rows // n_files)
    for i in range(n_files):
        part = table.slice(i * size, size)
        pq.write_table(part, folder / f"part-{i:03d}.parquet", row_group_size=group)
    return folder


def _parquet(table: pa.Table, folder: Path, request: Any) -> dict[str, Any]:
    return {"source": str(in_files(table, folder / "parquet") / "*.parquet")}


def _one_file(table: pa.Table, folder: Path, request: Any) -> dict[str, Any]:
    in_files(table, folder / "one", n_files=1, group=table.num_rows)
    return {"source": folder / "one" / "part-000.parquet"}


def _duckdb(table: pa.Table, folder: Path, request: Any) -> dict[str, Any]:
    import duckdb

    connection = duckdb.connect(str(folder / "rows.duckdb"))
    request.addfinalizer(connection.close)
    connection.register("rows", table)
    connection.execute('CREATE TABLE "my.rows" AS SELECT * FROM rows')
    return {"source": connection, "table": "my.rows"}


def _duckdb_query(table: pa.Table, folder: Path, request: Any) -> dict[str, Any]:
    return {"source": _duckdb(table, folder, request)["source"], "query": 'SELECT * FROM "my.rows" -- all;'}


def _duckdb_relation(table: pa.Table, folder: Path, request: Any) -> dict[str, Any]:
    import duckdb

    connection = duckdb.connect()
    request.addfinalizer(connection.close)
    connection.register("rows", table)
    return {"source": connection.sql("SELECT * FROM rows")}


def _postgres(table: pa.Table, folder: Path, request: Any) -> dict[str, Any]:
    dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")
    uri = request.getfixturevalue("postgres").uri
    with dbapi.connect(uri) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("mixed", table, mode="replace")
        connection.commit()
    return {"source": uri, "table": "mixed"}


def _polars_lazy(table: pa.Table, folder: Path, request: Any) -> dict[str, Any]:
    import polars

    return {"source": polars.scan_parquet(in_files(table, folder / "polars") / "*.parquet")}


def _ibis(table: pa.Table, folder: Path, request: Any) -> dict[str, Any]:
    ibis = pytest.importorskip("ibis")
    # Not in DuckDB: Ibis 12 asks 2.0 for a method that it no longer has.
    return {"source": ibis.polars.connect().read_parquet(in_files(table, folder / "ibis") / "*.parquet")}


def _arrow_table(table: pa.Table, folder: Path, request: Any) -> dict[str, Any]:
    return {"source": table}


def _files_on_dask(table: pa.Table, folder: Path, request: Any) -> dict[str, Any]:
    return _parquet(table, folder, request) | {"engine": request.getfixturevalue("dask_cluster")}


def _dask_frame(table: pa.Table, folder: Path, request: Any) -> dict[str, Any]:
    import dask.dataframe as dd

    request.getfixturevalue("dask_cluster")
    return {"source": dd.read_parquet(in_files(table, folder / "dask"))}


def _files_on_spark(table: pa.Table, folder: Path, request: Any) -> dict[str, Any]:
    return _parquet(table, folder, request) | {"engine": request.getfixturevalue("spark")}


def _spark_frame(table: pa.Table, folder: Path, request: Any) -> dict[str, Any]:
    files = in_files(table, folder / "spark")
    return {"source": request.getfixturevalue("spark").read.parquet(str(files))}


# By name: from a table of Arrow, a folder of its own and the request of pytest to what `scan` takes.
ENGINES: dict[str, Callable[[pa.Table, Path, Any], dict[str, Any]]] = {
    "parquet": _parquet,
    "one file": _one_file,
    "arrow table": _arrow_table,
    "duckdb table": _duckdb,
    "duckdb query": _duckdb_query,
    "duckdb relation": _duckdb_relation,
    "postgres": _postgres,
    "polars lazy": _polars_lazy,
    "ibis": _ibis,
    "dask frame": _dask_frame,
    "files on dask": _files_on_dask,
    "spark frame": _spark_frame,
    "files on spark": _files_on_spark,
}
# Those that need Spark are run by `make test-scale`.
NEED_SPARK = {"spark frame", "files on spark"}
