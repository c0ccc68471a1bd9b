"""Dask: data frames by partitions, and files by fragments, summed up where its workers are.

A task carries what is to be summed up, never rows; sums are added up in a tree on the cluster, in the order
of the fragments. Scheduling, spilling, and the second try when a worker dies are Dask's.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa

from posterior._text import listed
from posterior.engines.arrow import FileEngine, plain_type, readable
from posterior.engines.base import Engine, Fragment, FragmentSum, Work
from posterior.engines.batches import even_batches
from posterior.engines.clusters import BLOCK, ArrivedRows, FilesOnCluster, fragment_sum
from posterior.engines.workers import in_order
from posterior.stats.adding import added, added_or_none

try:
    import dask
    import dask.dataframe as dd
except ImportError as error:
    raise ImportError(f"{error}; for tables on Dask: pip install 'posterior[dask]'") from error

S = TypeVar("S")

# The partitions whose first rows show what columns look like.
SHOWN_PARTITIONS = 16


def opened(
    source: Any, table: str | None = None, query: str | None = None, engine: Any = None
) -> "DaskFrameEngine":
    """The engine for a data frame of Dask; `engine` is a client, None the current one or Dask's threads."""
    if table is not None or query is not None:
        raise ValueError("table and query are for databases; filter the data frame of Dask itself")
    if not isinstance(source, dd.DataFrame):
        raise TypeError(
            f"expected a data frame of Dask, found {type(source).__name__}; for files on a cluster use "
            "scan('data/*.parquet', engine=client)"
        )
    return DaskFrameEngine(source, None if engine is None or isinstance(engine, str) else engine)


def files_on_cluster(files: FileEngine, client: Any | None) -> "DaskFiles":
    """Files that the workers of a client read, who see them under the same paths; None: the current one."""
    return DaskFiles(files, current_client() if client is None else client)


def current_client() -> Any:
    """The client that this process opened last."""
    try:
        from distributed import default_client  # noqa: PLC0415  (data frames need none)
    except ImportError as error:
        raise ImportError(f"{error}; for files on Dask: pip install 'posterior[dask]'") from error
    try:
        return default_client()
    except ValueError:
        raise ValueError(
            "engine='dask' found no client of Dask; open one, client = distributed.Client('address:8786') or "
            "distributed.Client() for this machine, and pass it: scan(…, engine=client)"
        ) from None


def connected(address: str | None) -> Any:
    """A client of the scheduler at an address; None: that of Dask's configuration, else of this machine."""
    try:
        from distributed import Client  # noqa: PLC0415  (data frames need none)
    except ImportError as error:
        raise ImportError(f"{error}; for files on Dask: pip install 'posterior[dask]'") from error
    address = address or dask.config.get("scheduler-address", None)
    if address is None:
        return Client(dashboard_address=None, set_as_default=False)
    try:
        return Client(address, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"no scheduler of Dask answers at {address}: {error}; start one by dask scheduler, or leave the "
            "address out to work on this machine"
        ) from error


class DaskFiles(FilesOnCluster):
    """Files whose fragments the workers of a Dask cluster read."""

    def __init__(self, files: FileEngine, client: Any) -> None:
        super().__init__(files)
        self._client = client

    def fold(self, work: Work[S], columns: Sequence[str]) -> S:
        """Add up over fragments, a task each."""
        one = _sent_once(FragmentSum(work, tuple(columns)))
        sums = [
            dask.delayed(partial(_file_sum, fragment, number), pure=False, traverse=False)(one)
            for number, fragment in enumerate(self.fragments)
        ]
        total: S = _total(sums, self._client)
        return total


class DaskFrameEngine(Engine):
    """A data frame of Dask, whose partitions are its fragments; the index is no column."""

    is_lazy = True

    def __init__(self, frame: Any, client: Any | None = None) -> None:
        unnamed = [name for name in frame.columns if not isinstance(name, str)]
        if unnamed:
            raise ValueError(
                f"columns of a data frame must be called by strings, found {listed(unnamed, 3)}; use "
                "frame.rename(columns=str)"
            )
        self.frame, self._client = frame, client
        self._schema: Any = None

    @property
    def name(self) -> str:
        """What a message calls it."""
        return f"the Dask data frame of {self.frame.npartitions} partitions"

    @property
    def schema(self) -> Any:
        """The columns; what columns of Python objects hold is looked up in the first rows with values."""
        if self._schema is None:
            found = _types(self.frame._meta)
            unknown = [field.name for field in found if pa.types.is_null(field.type)]
            for part in self._partitions(unknown) if unknown else ():
                (seen,) = _results([dask.delayed(_types)(part)], self._client)
                for name in unknown:
                    found = found.set(found.get_field_index(name), seen.field(name))
                unknown = [name for name in unknown if pa.types.is_null(found.field(name).type)]
                if not unknown:
                    break
            self._schema = found
        return self._schema

    def _partitions(self, columns: Sequence[str]) -> list[Any]:
        """The partitions with some columns, which are selected where they are read.

        Simplified, not optimised: that would join partitions of which few columns are read, and rows would
        not keep their places from one reading to the next.
        """
        found: list[Any] = self.frame[list(columns)].simplify().to_delayed(optimize_graph=False)
        return found

    def _part(self, columns: Sequence[str]) -> Any:
        return pa.schema([self.schema.field(name) for name in columns])

    def fold(self, work: Work[S], columns: Sequence[str]) -> S:
        """Add up over partitions, a task each."""
        one, schema = _sent_once(FragmentSum(work, tuple(columns))), self._part(columns)
        sums = [
            dask.delayed(partial(_partition_sum, schema, number), pure=False, traverse=False)(one, part)
            for number, part in enumerate(self._partitions(columns))
        ]
        total: S = _total(sums, self._client)
        return total

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """All rows in order, a few partitions in memory; persist a frame that is costly to work out."""
        schema = self._part(columns)
        parts = in_order(lambda part: _results([part], self._client), self._partitions(columns), ahead=1)
        for number, (frame,) in enumerate(parts):
            yield from readable(_rows(frame, schema, number), columns)

    def scored(self, columns: Sequence[str], score: Any, schema: Any) -> Any:
        """A lazy data frame of Dask: `score` of the rows of these columns."""
        return scored(self, columns, score, schema)

    def head(self, columns: Sequence[str], n: int) -> Any:
        """The first rows of partitions that lie apart."""
        parts = list(enumerate(self._partitions(columns)))
        parts = parts[:: -(-len(parts) // SHOWN_PARTITIONS)]
        first = partial(_first_rows, self._part(columns), -(-n // len(parts)))
        return pa.concat_tables(
            _results([dask.delayed(first)(part, number) for number, part in parts], self._client)
        )


def scored(engine: DaskFrameEngine, columns: Sequence[str], score: Any, schema: Any) -> Any:
    """A lazy data frame of Dask: `score` of the rows of these columns, batch by batch, where the rows are.

    `score` turns a record batch of Arrow into one of `schema` with as many rows, and can be pickled; a column
    that is to stay beside the scores is handed on by it. Index and partitions are those of the frame, so that
    `dd.concat([frame, scores], axis=1)` puts both side by side.
    """
    wanted = engine._part(columns)
    return engine.frame[list(columns)].map_partitions(
        _partition_scores,
        dask.delayed(score, traverse=False, pure=False),
        wanted,
        schema,
        meta=schema.empty_table().to_pandas().set_index(engine.frame._meta.index),
    )


# -- what workers do ------------------------------------------------------------------------------


def _file_sum(fragment: Fragment, number: int, one: FragmentSum) -> Any:
    return fragment_sum(one, fragment, number)


def _partition_sum(schema: Any, number: int, one: FragmentSum, frame: Any) -> Any:
    return fragment_sum(one, _rows(frame, schema, number), number)


def _partition_scores(frame: Any, score: Any, wanted: Any, schema: Any) -> Any:
    found = [score(batch) for batch in even_batches(_arrow(frame, wanted))]
    return pa.Table.from_batches(found, schema).to_pandas().set_index(frame.index)


def _first_rows(schema: Any, n: int, frame: Any, number: int) -> Any:
    rows = _rows(frame.head(n), schema, number)
    return pa.Table.from_batches(list(readable(rows, schema.names)), schema)


def _types(frame: Any) -> Any:
    found = pa.Schema.from_pandas(frame, preserve_index=False)
    return pa.schema([pa.field(field.name, plain_type(field.type)) for field in found])


def _rows(frame: Any, schema: Any, number: int) -> ArrivedRows:
    return ArrivedRows(f"partition {number} of the Dask data frame", _arrow(frame, schema))


def _arrow(frame: Any, schema: Any) -> Iterator[Any]:
    """The rows of a partition of pandas as one record batch; an error where they are not of the schema."""
    table = pa.Table.from_pandas(frame, schema, preserve_index=False).replace_schema_metadata()
    yield from table.combine_chunks().to_batches()


# -- the graph ------------------------------------------------------------------------------------


def _sent_once(one: FragmentSum) -> Any:
    """A node of its own: it goes to each worker once, and again to one that takes the place of a dead one."""
    return dask.delayed(one, pure=False, traverse=False)


def _total(sums: list[Any], client: Any | None) -> Any:
    """The sum of sums, block by block, in order; a worker holds a block, this process the total."""
    merge = dask.delayed(added_or_none, pure=False)
    while len(sums) > 1:
        sums = [merge(sums[i : i + BLOCK]) for i in range(0, len(sums), BLOCK)]
    return added(_results(sums, client))


def _results(wanted: list[Any], client: Any | None) -> Any:
    """What was asked for; an interruption cancels the work."""
    if client is None:
        return dask.compute(*wanted)
    # Dask would warn of 10 MB, which are 10,000 fragments; their names cannot travel in fewer bytes.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        futures = client.compute(wanted)
    try:
        return client.gather(futures)
    except BaseException:
        client.cancel(futures)
        raise
