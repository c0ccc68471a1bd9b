"""Spark: data frames by partitions, and files by fragments, summed up in its Python workers.

Files by fragments are read by Arrow in the workers and never pass through Java, which is several times
faster. A task carries what is to be summed up, never rows; sums are added up in a tree on the cluster, in the
order of the fragments. Scheduling and the second try when a worker or an executor dies are Spark's.
"""

import os
import pickle
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any, TypeVar
from uuid import uuid4

import pyarrow as pa

from posterior.engines.arrow import FileEngine, plain_type
from posterior.engines.base import Engine, Fragment, FragmentError, FragmentSum, Work
from posterior.engines.batches import even_batches
from posterior.engines.clusters import BLOCK, ArrivedRows, FilesOnCluster, fragment_sum
from posterior.stats.adding import added, added_or_none

try:
    from pyspark import SparkContext, TaskContext
    from pyspark.sql import DataFrame, SparkSession
except ImportError as error:
    raise ImportError(f"{error}; for tables on Spark: pip install 'posterior[spark]'") from error

S = TypeVar("S")

CLASSIC = "; connect with SparkSession.builder.config('spark.api.mode', 'classic')"


def opened(
    source: Any, table: str | None = None, query: str | None = None, engine: Any = None
) -> "SparkFrameEngine":
    """The engine for a data frame of Spark, on the session that it is of."""
    if table is not None or query is not None:
        raise ValueError(
            "table and query are for databases; use the data frame spark.table(…) or spark.sql(…)"
        )
    if not isinstance(source, DataFrame):
        raise TypeError(
            f"expected a data frame of Spark, found {type(source).__name__}; for a frame of pyspark.pandas "
            "use frame.to_spark(), for files on a cluster scan('data/*.parquet', engine=session)"
        )
    if "connect" in type(source).__module__:
        raise TypeError(f"found a data frame of Spark Connect, which runs no tasks of ours{CLASSIC}")
    return SparkFrameEngine(source)


def files_on_cluster(files: FileEngine, session: Any | None) -> "SparkFiles":
    """Files that the workers of Spark read, who see them under the same paths; None: the current session."""
    if session is None:
        session = SparkSession.getActiveSession()
    if session is None:
        raise ValueError(
            "engine='spark' found no Spark session; start one, spark = SparkSession.builder.getOrCreate(), "
            "and pass it: scan(…, engine=spark)"
        )
    if "connect" in type(session).__module__:
        raise TypeError(f"found a session of Spark Connect, which runs no tasks of ours{CLASSIC}")
    return SparkFiles(files, session if isinstance(session, SparkContext) else session.sparkContext)


def connected(address: str | None) -> Any:
    """A session with the master at an address; None: that of Spark's configuration, else of this machine."""
    builder = SparkSession.builder.appName("posterior")
    if address is None or address.startswith("local"):  # whose workers need the packages of this process
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        return (builder if address is None else builder.master(address)).getOrCreate()
    except Exception as error:  # Java's, of many kinds
        reason = str(error).strip().partition("\n")[0]
        raise ValueError(
            f"Spark could not be started with master {address or '(as configured)'}: {reason}; such as "
            "spark://host:7077 or local[2,4]"
        ) from error


class SparkFiles(FilesOnCluster):
    """Files whose fragments the Python workers of Spark read."""

    def __init__(self, files: FileEngine, context: Any) -> None:
        super().__init__(files)
        self._context = context

    def fold(self, work: Work[S], columns: Sequence[str]) -> S:
        """Add up over fragments, a task each."""
        one = FragmentSum(work, tuple(columns))
        fragments = list(enumerate(self.fragments))
        spread = partial(self._context.parallelize, fragments, max(len(fragments), 1))
        total: S = _total(lambda: spread().map(partial(_file_sum, one)), self._context)
        return total


class SparkFrameEngine(Engine):
    """A data frame of Spark, whose partitions are its fragments.

    Sums do not mind the order of rows. Folds and samples are dealt by the places of rows, so they are the
    same in every reading only where Spark gives the same rows in the same order every time: it does for files
    and for frames that are persisted, not after a shuffle (`repartition`, `join`, `groupBy`) nor with
    `rand()`. A row may then be in another fold of the next reading; `frame.persist()` keeps its place.
    """

    is_lazy = True

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        # Numbers in place of names, which would need quotes: `a.b` is a field of a structure to Spark, and a
        # column A the same as a.
        self._numbered = frame.toDF(*[f"c{i}" for i in range(len(frame.columns))])

    @property
    def name(self) -> str:
        """What a message calls it."""
        return f"the Spark data frame of {len(self.frame.columns)} columns"

    @cached_property
    def schema(self) -> Any:
        """The columns."""
        found = self._numbered.limit(0).toArrow().schema
        names = zip(self.frame.columns, found, strict=True)
        return pa.schema([pa.field(name, plain_type(field.type)) for name, field in names])

    def _selected(self, columns: Sequence[str]) -> tuple[Any, Any]:
        """The frame with some columns, which Spark reads alone, and their schema."""
        places = [self.frame.columns.index(name) for name in columns]
        frame = self._numbered.select([f"c{i}" for i in places])
        return frame, pa.schema([self.schema.field(i) for i in places])

    def fold(self, work: Work[S], columns: Sequence[str]) -> S:
        """Add up over partitions, a task each."""
        frame, schema = self._selected(columns)
        sums = partial(_partition_sum, FragmentSum(work, tuple(columns)), schema)
        rows = frame.mapInArrow(sums, "number long, total binary")
        total: S = _total(lambda: rows.rdd, self.frame.sparkSession.sparkContext)
        return total

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """All rows in order, two partitions in memory."""
        frame, schema = self._selected(columns)
        packed = frame.mapInArrow(partial(_packed_batches, schema), "batch binary")
        for row in packed.toLocalIterator(prefetchPartitions=True):
            yield from pa.ipc.open_stream(pa.py_buffer(row.batch))

    def scored(self, columns: Sequence[str], score: Any, schema: Any) -> Any:
        """A lazy data frame of Spark: `score` of the rows of these columns."""
        return scored(self, columns, score, schema)

    def head(self, columns: Sequence[str], n: int) -> Any:
        """The first rows."""
        frame, schema = self._selected(columns)
        return pa.Table.from_batches(
            [_as(schema, batch) for batch in frame.limit(n).toArrow().to_batches()], schema
        )


def scored(engine: SparkFrameEngine, columns: Sequence[str], score: Any, schema: Any) -> Any:
    """A lazy data frame of Spark: `score` of the rows of these columns, batch by batch, where the rows are.

    `score` turns a record batch of Arrow into one of `schema`, and can be pickled. Spark cannot put two
    frames side by side: a column that is to stay beside the scores, such as a key, is handed on by `score`.
    """
    from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415  (it imports pandas)

    frame, wanted = engine._selected(columns)
    return frame.mapInArrow(partial(_partition_scores, score, wanted), from_arrow_schema(schema))


# -- what Python workers do: sums are pickled all the way, as Spark's rows would have them -------------

Numbered = tuple[int, bytes]


def _file_sum(one: FragmentSum, piece: tuple[int, Fragment]) -> Numbered:
    number, fragment = piece
    return number, _pickled_sum(one, fragment, number)


def _partition_sum(one: FragmentSum, schema: Any, parts: Iterable[Any]) -> Iterator[Any]:
    number = TaskContext.get().partitionId()
    rows = ArrivedRows(f"partition {number} of the Spark data frame", (_as(schema, part) for part in parts))
    total = _pickled_sum(one, rows, number)
    yield pa.record_batch({"number": pa.array([number]), "total": pa.array([total], pa.binary())})


def _pickled_sum(one: FragmentSum, fragment: Fragment, number: int) -> bytes:
    """The sum; an error is one line, to be found in what Java says of it."""
    try:
        return pickle.dumps(fragment_sum(one, fragment, number))
    except FragmentError as error:
        raise FragmentError(" ".join(str(error).split())) from None


def _partition_scores(score: Any, schema: Any, parts: Iterable[Any]) -> Iterator[Any]:
    yield from map(score, even_batches(_as(schema, part) for part in parts))


def _packed_batches(schema: Any, parts: Iterable[Any]) -> Iterator[Any]:
    for batch in even_batches(_as(schema, part) for part in parts):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        yield pa.record_batch({"batch": pa.array([sink.getvalue().to_pybytes()], pa.binary())})


def _as(schema: Any, batch: Any) -> Any:
    """The batch with the names and types of a schema: names are numbers here, a time zone the session's."""
    columns = zip(batch.columns, schema, strict=True)
    return pa.RecordBatch.from_arrays([column.cast(field.type) for column, field in columns], schema=schema)


def _of_block(pair: Numbered) -> tuple[int, Numbered]:
    return pair[0] // BLOCK, pair


def _merged(blocks: Iterable[tuple[int, Numbered]]) -> Iterator[Numbered]:
    """The sum of a block, all of which is in one partition."""
    found = list(blocks)
    if found:
        yield found[0][0], pickle.dumps(added_or_none(_in_places(pair for _, pair in found)))


def _in_places(pairs: Iterable[Numbered]) -> list[Any]:
    """Sums of a block by their numbers, None where a partition gave none."""
    places: list[Any] = [None] * BLOCK
    for number, total in pairs:
        places[number % BLOCK] = pickle.loads(total)  # noqa: S301  (made by `_pickled_sum`)
    return places


# -- jobs -----------------------------------------------------------------------------------------


def _total(sums: Any, context: Any) -> Any:
    """The sum of numbered sums, block by block, in order; this process gets the last block.

    Working out how many there are may be a job already, so `sums` is called in here. An interruption cancels
    the jobs.
    """
    tag = f"posterior-{uuid4().hex}"
    context.addJobTag(tag)
    try:
        found = sums()
        n = found.getNumPartitions()
        while n > BLOCK:
            n = -(-n // BLOCK)
            found = found.map(_of_block).partitionBy(n, int).mapPartitions(_merged)
        return added(_in_places(found.collect()))
    except KeyboardInterrupt:
        context.cancelJobsWithTag(tag)
        raise
    except Exception as error:
        ours = re.findall(r"FragmentError: (.+)", str(error))
        if not ours or isinstance(error, FragmentError):
            raise
        raise FragmentError(ours[-1].strip()) from None
    finally:
        context.removeJobTag(tag)
