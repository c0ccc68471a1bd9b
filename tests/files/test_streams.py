"""Tables from pipes, and tables larger than memory."""

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pytest

from posterior.files import batches, read, write_batches


def shrink_blocks(monkeypatch, size):
    for module in ("sources", "text", "decoding", "lines"):
        monkeypatch.setattr(f"posterior.files.{module}.BLOCK", size)


@pytest.fixture
def pipe(monkeypatch):
    """Standard input as a pipe, of which nobody knows the length and in which nobody can jump."""
    ends = []

    def feed(content):
        source, sink = os.pipe()
        os.write(sink, content)
        os.close(sink)
        ends.append(io.TextIOWrapper(os.fdopen(source, "rb")))
        monkeypatch.setattr(sys, "stdin", ends[-1])

    yield feed
    for end in ends:
        end.close()


@pytest.mark.parametrize("how", ["read", "batches"])
@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,x\n2,\n",
        b"a\tb\n1\tx\n2\t\n",
        b'{"a": 1, "b": "x"}\n{"a": 2, "b": null}\n',
        b'[{"a": 1, "b": "x"}, {"a": 2}]',
        gzip.compress(b"a,b\n1,x\n2,\n"),
        bz2.compress(b"a,b\n1,x\n2,\n"),
        lzma.compress(b"a,b\n1,x\n2,\n"),
        "parquet",
        "parquet.gz",
        "arrow",
        "csv.zst",
        "zip",
        "stream",
    ],
    ids=[
        "csv",
        "tsv",
        "jsonl",
        "json",
        "gz",
        "bz2",
        "xz",
        "parquet",
        "parquet.gz",
        "arrow",
        "zst",
        "zip",
        "stream",
    ],
)
def test_a_pipe_is_told_by_its_first_bytes(tmp_path, pipe, how, content):
    if content == "zip":
        with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
            archive.writestr("t.csv", "a,b\n1,x\n2,\n")
    elif content == "stream":
        table = pa.table({"a": [1, 2], "b": ["x", None]})
        with pyarrow.ipc.new_stream(tmp_path / "t.stream", table.schema) as writer:
            writer.write_table(table)
    elif isinstance(content, str):
        write_batches(tmp_path / f"t.{content}", [pa.table({"a": [1, 2], "b": ["x", None]})])
    if isinstance(content, str):
        content = (tmp_path / f"t.{content}").read_bytes()
    pipe(content)
    tables = [read("-")] if how == "read" else list(batches("-", types={"a": "number"}))
    assert pa.concat_tables(tables).to_pydict() == {"a": [1, 2], "b": ["x", None]}


STREAMED = """
import resource, sys
import pyarrow as pa
from posterior.files import batches
used = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
tables = batches("-", types={"x": "number"})
start, rows, size = used(), 0, 0
for table in tables:
    rows, size = rows + table.num_rows, size + table.nbytes
print(rows, size >> 20, pa.default_memory_pool().max_memory() >> 20, used() - start)
"""


def test_a_stream_takes_the_memory_of_a_few_batches():
    chunk = b"".join(
        b"%d.5,a line of text that is about as long as a line of a table is\n" % i for i in range(16384)
    )
    times = 120_000_000 // len(chunk)
    with subprocess.Popen(  # noqa: S603 -- our own program
        [sys.executable, "-c", STREAMED], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdin.write(b"x,text\n")
        for _ in range(times):
            process.stdin.write(chunk)
        process.stdin.close()
        rows, size, arrow, process_memory = map(int, process.stdout.read().split())
    assert rows == times * 16384
    assert size > 100
    assert arrow < 64
    assert process_memory < size


@pytest.mark.parametrize("form", ["parquet", "arrow", "jsonl", "csv"])
def test_batches_of_every_format_take_the_memory_of_a_few(tmp_path, monkeypatch, form):
    shrink_blocks(monkeypatch, 1 << 16)
    monkeypatch.setattr("posterior.files.columnar._ROWS", 1000)
    part = pa.table({"x": np.arange(1000.0), "y": [f"a text of some length, {i}" for i in range(1000)]})
    write_batches(tmp_path / f"t.{form}", (part for _ in range(50)))
    pool, most = pa.default_memory_pool(), 0
    before = pool.bytes_allocated()
    for table in batches(tmp_path / f"t.{form}", types={"x": "number"}, rows=500):
        most = max(most, pool.bytes_allocated() - before)
        assert table.num_rows == 500
    assert most < 50 * part.nbytes / 3
