"""What tests let the workers of a cluster do to a fit: die, be slow, tell where they are."""

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from posterior.engines.base import Engine, Place


class Meddling(Engine):
    """An engine whose work is changed on its way to the workers."""

    def __init__(self, engine: Engine, change: Callable[[Any], Any]) -> None:
        self.engine, self.change = engine, change

    name = property(lambda self: self.engine.name)
    schema = property(lambda self: self.engine.schema)

    def fold(self, work: Any, columns: Sequence[str]) -> Any:
        return self.engine.fold(self.change(work), columns)

    def batches(self, columns: Sequence[str]) -> Any:
        return self.engine.batches(columns)

    def head(self, columns: Sequence[str], n: int) -> Any:
        return self.engine.head(columns, n)


@dataclass(frozen=True)
class DyingOnce:
    """The first process that works on fragment 2 is killed, as by the system when memory is short.

    With `ancestor` it is the process of that name that this one works for.
    """

    folder: str
    work: Any
    ancestor: str | None = None

    def __call__(self, batch: Any, place: Place) -> Any:
        killed = Path(self.folder, "killed")
        if place.fragment == 2 and not killed.exists():
            victim = os.getpid()
            if self.ancestor is not None:
                import psutil

                victim = next(p for p in psutil.Process().parents() if p.name() == self.ancestor).pid
            killed.write_text(str(victim), encoding="utf-8")
            os.kill(victim, signal.SIGKILL)
            time.sleep(60)  # until this one is gone as well
        return self.work(batch, place)


@dataclass(frozen=True)
class Gated:
    """Leaves a mark in a folder, and goes on when there is a file `open` beside it.

    So a fit of this work does not end before it is let, however busy the machine is.
    """

    marks: str

    def __call__(self, batch: Any, place: Place) -> int:
        marks = Path(self.marks)
        (marks / f"{place.fragment}").touch()
        while not marks.with_name("open").exists():
            time.sleep(0.01)
        return 1


@dataclass(frozen=True)
class Places:
    """Where each row is, by the number in a column."""

    column: str

    def __call__(self, batch: Any, place: Place) -> "Found":
        rows = batch.column(self.column).to_pylist()
        return Found({row: (place.fragment, place.first + i) for i, row in enumerate(rows)})


@dataclass(frozen=True)
class Found:
    places: dict[Any, tuple[int, int]]

    def __add__(self, other: "Found") -> "Found":
        return Found(self.places | other.places)


def killed_in(folder: Path) -> int:
    """The process that `DyingOnce` killed."""
    return int((folder / "killed").read_text(encoding="utf-8"))


def interrupted_when(folder: Path) -> threading.Thread:
    """Ctrl-C, as soon as there is a file in the folder."""

    def watch() -> None:
        while not any(folder.iterdir()):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def garbled(folder: Path, n_files: int = 6) -> Path:
    """Files of which one lost its data, its footer being whole; that file."""
    for i in range(n_files):
        table = pa.table({"x": np.arange(1000.0) + i, "y": ["a", "b"] * 500})
        pq.write_table(table, folder / f"part-{i}.parquet", row_group_size=500)
    bad = folder / "part-3.parquet"
    content = bytearray(bad.read_bytes())
    content[4:3000] = bytes(2996)
    bad.write_bytes(content)
    pq.read_metadata(bad)
    return bad
