"""A scan whose rows are copied to memory, for samples that are read many times."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt
from typing import Any, TypeVar

import numpy as np

from posterior._pool import n_threads
from posterior._types import AnyArray, Ints
from posterior.dataset import Chunk
from posterior.linear.scan import RowBlock, Scan

S = TypeVar("S")

# Cells that a row counts for at least: parts of some thousand rows, so that many threads have one each.
ROW_CELLS = 128
# Rows of a part where threads share them out: 16 of them are a small sample. Cells of the sums of all parts:
# 128 MiB, which is eight parts for 200 columns and ten classes, and as many threads.
PART_ROWS, PART_CELLS = 1_280, 1 << 24
# Sums of more cells are of so many parts at most: to add them up takes longer than to wait for a thread.
LARGE_SUMS, MOST_PARTS = 1 << 12, 48
# Multiply–adds that take as long as a thread takes to begin: they begin one after the other.
WORK_OF_A_START = 150_000


@dataclass(frozen=True)
class InMemoryScan(Scan):
    """A scan whose rows are in memory as one array in C order."""

    block: RowBlock | None = None

    @classmethod
    def copied(cls, scan: Scan) -> "InMemoryScan":
        """The rows of a dense scan, read once: every fiftieth row costs almost as much as all of them."""
        X = np.empty((scan.n_rows, scan.n_features))
        held = cls(scan.dataset, scan.design)
        parts: dict[int, tuple[AnyArray, AnyArray | None]] = {}

        def copy(chunk: Chunk, places: Ints) -> None:
            block = held._block_as_stored(chunk).packed()
            first = int(places[0])
            X[first : first + len(places)] = block.matrix
            parts[first] = block.target, block.weight

        # Large chunks: there is nothing to be done but the copy, and threads meet in Python between two.
        held.dataset.fill(copy, np.arange(held.n_rows), dense=held.design.dense)
        ordered = [parts[at] for at in sorted(parts)]
        target = np.concatenate([target for target, _ in ordered])
        weights = [weight for _, weight in ordered if weight is not None]
        return cls(
            scan.dataset, scan.design, block=RowBlock(X, target, np.concatenate(weights) if weights else None)
        )

    def every(self, step: int) -> Scan:
        """The first of every `step` rows, read where they came from."""
        return Scan(self.dataset.every(step), self.design)

    def fold(self, work: Callable[[RowBlock], S], *, as_stored: bool = False) -> S:
        """Add up `work(block)` over all rows; those of a block are known from their places alone."""
        if self.block is None:
            return super().fold(work, as_stored=as_stored)
        block = self.block
        whole: S | None = _shared_out(block, work)
        if whole is not None:
            return whole
        sums: dict[int, S] = {}

        def add(_: Chunk, places: Ints) -> None:
            first = int(places[0])
            sums[first] = work(block.some(slice(first, int(places[-1]) + 1)))

        self._over_places(add)
        first, *others = (sums[at] for at in sorted(sums))
        for other in others:
            first = first + other  # type: ignore[operator]  # what is summed can be added
        return first

    def _over_places(self, work: Callable[[Chunk, Ints], None]) -> None:
        self.dataset.fill(work, np.arange(self.n_rows), dense=max(self.design.dense, ROW_CELLS))


def _shared_out(block: RowBlock, work: Any) -> Any:
    """The sum of `work` over parts of a block that threads share out; None where it is not made for that."""
    if not hasattr(work, "of_parts"):
        return None
    n = len(block.target)
    size = max(PART_ROWS, -(-n * work.cells // PART_CELLS), -(-n // MOST_PARTS) * (work.cells > LARGE_SUMS))
    parts = work.of_parts(block, size)
    if parts is None:
        return None
    # Work shared out among k threads takes work/k + k starts, which is least at the root of the work.
    worth = max(1, isqrt(n * work.cells // WORK_OF_A_START))
    parts.run(min(n_threads(), worth))
    return parts.total()
