"""From what a user calls a table to the engine that reads it: to add an engine, enter its opener here."""

from collections.abc import Sequence
from os import PathLike, fspath
from typing import Any, Literal

from posterior._loading import load_module
from posterior.engines.base import Engine
from posterior.engines.table_scan import TableScan

# The module that opens what comes from a package, by the name of the package; each has `opened(source, …)`.
OPENERS = {
    "pyarrow": "posterior.engines.streams",
    "duckdb": "posterior.engines.duckdb",
    "_duckdb": "posterior.engines.duckdb",
    "adbc_driver_manager": "posterior.engines.adbc",
    "adbc_driver_postgresql": "posterior.engines.adbc",
    "ibis": "posterior.engines.ibis",
    "polars": "posterior.engines.polars",
    "dask": "posterior.engines.dask",
    "distributed": "posterior.engines.dask",
    "pyspark": "posterior.engines.spark",
}
# Addresses of files; any other is one of a database.
FILES = (
    "file", "s3", "gs", "gcs", "abfs", "abfss", "az", "adl", "hdfs", "viewfs", "http", "https", "memory"
)  # fmt: skip
ACCEPTED = (
    "files (a path, a pattern such as 'data/*.parquet', a folder, s3://…), a DuckDB connection or relation, "
    "an ADBC connection or a postgresql:// address, an Arrow stream, a lazy frame of polars, or a data frame "
    "of Dask or Spark"
)


def scan(  # noqa: PLR0913  (each says where rows are, or what they are)
    source: Any,
    target: str | None = None,
    *,
    table: str | None = None,
    query: str | None = None,
    columns: Sequence[str] | None = None,
    kinds: Any = None,
    weight: str | None = None,
    unlabelled: Literal["error", "drop"] = "error",
    engine: Any = None,
    filesystem: Any = None,
    resume: str | PathLike[str] | None = None,
) -> TableScan:
    """A table in files, a database or a cluster, which `fit` reads in parts instead of loading it as a whole.

    Parameters
    ----------
    source : path, pattern, list of paths, connection, stream or lazy data frame
        Parquet, Feather and CSV files, patterns such as "data/*.parquet" and partitioned folders, on disk or
        in an object store ("s3://bucket/data/*.parquet", "gs://…", "abfs://…", "hdfs://…"); a
        DuckDB connection (with `table` or `query`) or relation; an ADBC connection or an address such as
        "postgresql://…" (with `table` or `query`); an Arrow stream, which can be read once; a lazy frame of
        polars; a data frame of Dask or Spark.
    target : str, default=None
        The column to learn: the class, or a number for regressions.
    table, query : str, default=None
        Which rows of a database; one of them.
    columns : list of str, default=None
        The columns to learn from; None is all others.
    kinds : mapping, default=None
        Kinds of columns that differ from what would be inferred, for estimators that are not told.
    weight : str, default=None
        The column of row weights: weight 2 is the row twice, weight 0 the row not at all.
    unlabelled : {"error", "drop"}, default="error"
        What to do with rows without a class.
    engine : Dask client, Spark session, or "arrow", "dask", "spark", default=None
        Who reads files: the threads of this process, or a cluster whose workers see the same files.
    filesystem : file system of pyarrow.fs or fsspec, default=None
        Where files are, for stores whose address does not say all: endpoints, credentials.
    resume : path, default=None
        A file in which `fit` of a generative model keeps the sums of the fragments that it has read, so that
        an interrupted one goes on where it stopped; it is removed when the fit is done. For files that this
        process reads.

    Returns
    -------
    table : TableScan
        What `fit` of every estimator takes in place of X and y.

    Examples
    --------
    >>> import tempfile, pyarrow as pa, pyarrow.parquet as pq
    >>> from posterior import NaiveBayes, scan
    >>> rows = pa.table({"state": ["CA", "NY", "CA", "TX"], "vote": ["a", "b", "a", "b"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(rows, f"{folder}/part-0.parquet")
    ...     model = NaiveBayes().fit(scan(f"{folder}/*.parquet", target="vote"))
    >>> model.predict(pa.table({"state": ["CA"]}))
    array(['a'], dtype='<U1')

    """
    if unlabelled not in ("error", "drop"):
        raise ValueError(f"unlabelled must be 'error' or 'drop', found {unlabelled!r}")
    if table is not None and query is not None:
        raise ValueError("give a table or a query, not both")
    opened = _engine_of(source, table, query, engine, filesystem)
    found = TableScan(
        opened, target, weight=weight, columns=columns, kinds=kinds, drops_unlabelled=unlabelled == "drop"
    )
    return found if resume is None else found.resumed_from(_resume(opened, resume))


def _resume(engine: Engine, path: str | PathLike[str]) -> Any:
    resuming = load_module("posterior.engines.resuming")
    if not isinstance(engine, resuming.FileEngine):
        raise ValueError(
            "resume= is for files that this process reads (engine='arrow'); a cluster tries again by itself, "
            f"found {engine.name}"
        )
    # How sums are written safely is known above: it is handed down to where they are added up.
    return resuming.Resume(fspath(path), load_module("posterior.persistence.partial_sums"))


def _engine_of(source: Any, table: str | None, query: str | None, engine: Any, filesystem: Any) -> Engine:
    if isinstance(source, Engine):
        return source
    database = isinstance(source, str) and "://" in source and source.partition("://")[0] not in FILES
    if database and filesystem is None:
        return _open("posterior.engines.adbc", source, table=table, query=query, engine=engine)
    if isinstance(source, str | PathLike) or _are_paths(source):
        if table is not None or query is not None:
            raise ValueError("table and query are for databases; for files use columns, or DuckDB")
        return _open("posterior.engines.arrow", source, engine=engine, filesystem=filesystem)
    if filesystem is not None:
        raise ValueError(f"filesystem= is for files, found {type(source).__name__}; leave it out")
    package = type(source).__module__.partition(".")[0]
    module = OPENERS.get(package) or (
        "posterior.engines.streams"
        if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__next__")
        else None
    )
    if module is None:
        raise TypeError(f"expected {ACCEPTED}, found {type(source).__name__}")
    return _open(module, source, table=table, query=query, engine=engine)


def _are_paths(source: Any) -> bool:
    return (
        isinstance(source, list | tuple)
        and bool(source)
        and all(isinstance(p, str | PathLike) for p in source)
    )


def _open(module: str, source: Any, **options: Any) -> Engine:
    found: Engine = load_module(module).opened(source, **{k: v for k, v in options.items() if v is not None})
    return found
