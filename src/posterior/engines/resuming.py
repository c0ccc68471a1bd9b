"""Sums of fragments, kept in a file meanwhile, so that an interrupted fit goes on where it stopped."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, Protocol, TypeVar

from posterior._text import listed
from posterior.engines.arrow import FileEngine
from posterior.engines.base import Engine, FragmentSum, Work
from posterior.engines.workers import in_order
from posterior.stats.adding import PairwiseSum

S = TypeVar("S")

# Seconds between two writings of the file.
SECONDS = 2.0


class KeptSums(NamedTuple):
    """What a file holds: the task of the fit, the number of the reading, fragments done, and their sums.

    The sums are those of `PairwiseSum`, with the levels of its tree.
    """

    task: str
    reading: int
    done: int
    stack: list[tuple[int, Any]]


class SumStore(Protocol):
    """What writes sums to a file and reads them again; `posterior.persistence` has it."""

    def keeps(self, total: Any) -> bool:
        """Whether it can write such a sum."""

    def write(self, path: str, kept: KeptSums) -> None:
        """Write the file, whole or not at all."""

    def read(self, path: str) -> KeptSums:
        """What a file holds."""


@dataclass(frozen=True)
class Resume:
    """Where the sums of a fit are kept, and what writes them there."""

    path: str
    store: SumStore


class ResumedEngine(Engine):
    """The rows of files, whose sums by fragment are kept; those in the file are not read again."""

    def __init__(self, engine: FileEngine, resume: Resume, task: Mapping[str, Any]) -> None:
        self.engine, self.resume = engine, resume
        self.task = json.dumps({**task, "files": engine.file_states()}, default=repr)
        self._readings = 0
        self._kept = resume.store.read(resume.path) if Path(resume.path).exists() else None
        if self._kept is not None and self._kept.task != self.task:
            other, own = json.loads(self._kept.task), json.loads(self.task)
            differ = [name for name in own if other.get(name) != own[name]]
            raise ValueError(
                f"resume={resume.path!r} holds the sums of another fit, of other {listed(differ)}; delete "
                "it, or name another file"
            )

    @property
    def name(self) -> str:
        """What a message calls the table."""
        return self.engine.name

    @property
    def schema(self) -> Any:
        """Names and types of the columns."""
        return self.engine.schema

    @property
    def paths(self) -> Sequence[str]:
        """The files that are read."""
        return self.engine.paths

    def fold(self, work: Work[S], columns: Sequence[str]) -> S:
        """Add up over fragments, those that are in the file first; the same bits as without it."""
        self._readings += 1
        reading, kept = self._readings, self._kept
        going_on = kept is not None and kept.reading == reading
        total = PairwiseSum(kept.stack if kept is not None and going_on else ())
        done = kept.done if kept is not None and going_on else 0
        one, written = FragmentSum(work, tuple(columns)), monotonic()
        pieces = islice(enumerate(self.engine.fragments), done, None)
        with closing(in_order(lambda piece: one(piece[1], piece[0]), pieces, ahead=1)) as sums:
            try:
                for part in sums:
                    total.add(part)
                    done += 1
                    if monotonic() - written >= SECONDS:
                        self._keep(reading, done, total)
                        written = monotonic()
            except BaseException:
                self._keep(reading, done, total)
                raise
        found: S = total.whole()
        return found

    def _keep(self, reading: int, done: int, total: PairwiseSum) -> None:
        """Write what is done, unless the file is further."""
        behind = self._kept is not None and reading < self._kept.reading
        parts = [part for _, part in total.stack if part is not None]
        if not behind and parts and all(map(self.resume.store.keeps, parts)):
            self.resume.store.write(self.resume.path, KeptSums(self.task, reading, done, list(total.stack)))

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """All rows in order."""
        return self.engine.batches(columns)

    def head(self, columns: Sequence[str], n: int) -> Any:
        """A few rows."""
        return self.engine.head(columns, n)

    def finish(self) -> None:
        """Remove the file: the fit is done."""
        Path(self.resume.path).unlink(missing_ok=True)
