"""The rows without gross cells: cells so far from the others that means and variances show nothing else."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from posterior import kernels
from posterior._types import Bools, Floats, Ints
from posterior.dataset import Chunk
from posterior.linear.design import Matrix
from posterior.linear.scan import RowBlock, Scan

# Cells further from the median than so many times the spread of the others are gross, where the standard
# deviation is so many times that spread.
GROSS = 1000.0
# Rows and cells of the sample that tells the spread, and the fewest rows that do.
SAMPLE_ROWS, SAMPLE_CELLS, FEWEST = 1000, 1 << 22, 32
# A column may have gross cells where at least this share of neighbouring rows are almost alike in it.
ALIKE = 0.2
# The standard deviation of a normal distribution, in units of the median distance from its middle.
NORMAL = 1.4826


@dataclass(frozen=True, eq=False)
class BulkScan(Scan):
    """The rows of a scan that are within `reach` (q,) of `centre` in each of some `columns`."""

    selective: ClassVar[bool] = True
    columns: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    centre: Floats = field(default_factory=lambda: np.zeros(0))
    reach: Floats = field(default_factory=lambda: np.zeros(0))

    def _block(self, chunk: Chunk) -> RowBlock:
        return self._kept(super()._block(chunk))

    def _block_as_stored(self, chunk: Chunk) -> RowBlock:
        return self._kept(super()._block_as_stored(chunk).packed())

    def _kept(self, block: RowBlock) -> RowBlock:
        near = np.abs(_dense(block.matrix[:, self.columns]) - self.centre) <= self.reach
        rows = np.flatnonzero(near.all(axis=1))
        if len(rows):
            return block.some(rows)
        return block.some(np.array([0]))._replace(weight=np.zeros(1))  # sums need a row, if one of no weight


def bulk_of(scan: Scan, variance: Floats) -> BulkScan | None:
    """The rows without gross cells, from a sample; None where no column has gross cells.

    `variance` is that of the columns over rows that may have some.
    """
    n_rows = max(FEWEST, min(SAMPLE_ROWS, SAMPLE_CELLS // max(scan.n_features, 1)))
    step = scan.n_rows // n_rows
    sample = (scan.every(step) if step > 1 else scan).collected().counted().matrix
    sd = np.sqrt(variance)
    suspects = np.flatnonzero((sd > 0) & _may_be_gross(sample, sd))
    if not len(suspects):
        return None
    cells = _dense(sample[:, suspects])
    centre = np.median(cells, axis=0)
    # A column may be mostly zeros; its spread is that of the others.
    off = np.sort(np.abs(cells - centre), axis=0)
    same = (off == 0).sum(axis=0)
    middle = np.minimum((same + len(off)) // 2, len(off) - 1)
    spread = NORMAL * np.take_along_axis(off, middle[None], axis=0)[0]
    gross = (spread > 0) & (sd[suspects] > GROSS * spread)
    if not gross.any():
        return None
    place = scan.dataset, scan.design, scan.sparse
    return BulkScan(*place, suspects[gross], centre[gross], GROSS * spread[gross])


def _may_be_gross(sample: Matrix, sd: Floats) -> Bools:
    """Columns in which many rows are almost alike, as they are beside a gross cell."""
    if kernels.is_sparse(sample):
        least = np.full(len(sd), np.inf)
        there = sample.tocoo()
        some = there.data != 0
        np.minimum.at(least, there.coords[1][some], np.abs(there.data[some]))
        return np.asarray(least < sd / GROSS)
    close = np.abs(np.diff(sample, axis=0)) <= 4 / GROSS * sd
    return np.asarray(np.count_nonzero(close, axis=0) >= ALIKE * len(close))


def _dense(matrix: Matrix) -> Floats:
    return np.asarray(matrix.toarray() if kernels.is_sparse(matrix) else matrix)
