"""Numbers too large for the arithmetic of a model, found by row and column once a result was not finite."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from posterior import kernels
from posterior._text import listed
from posterior._types import Floats
from posterior.dataset import Chunk
from posterior.families import Distribution
from posterior.schema import Schema
from posterior.schema.kinds import LARGEST, SMALLEST, faint_message, overflow_message
from posterior.stats import Statistics

if TYPE_CHECKING:
    from posterior.generative.model import FittedBlock
    from posterior.generative.plan import Block


def refuse_overflow(
    block: "FittedBlock", distribution: Distribution, chunk: Chunk, scores: Floats, schema: Schema
) -> None:
    """Raise the error of a number with which scores (m, K) of a block are not finite, if there is one.

    A class may give a count, a category or a bin the probability zero, and a density is zero outside its
    support; no other score is −inf by right, and none is NaN.
    """
    cells = block.read(chunk)  # which refuses infinity by its name
    if block.reads not in ("values", "matrix"):
        return
    if kernels.is_sparse(cells) and distribution.has_zeros and _is_right(scores, cells):
        return
    suspects = np.flatnonzero(~np.isfinite(scores).all(axis=1))
    rows = kernels.dense(cells[suspects])
    if distribution.has_support:
        rows = np.where(distribution.outside(rows), np.nan, rows)
    found = distribution.log_relative(rows) if distribution.has_support else scores[suspects]
    wrong = ~np.isfinite(found)
    if distribution.has_zeros:
        wrong &= ~np.isneginf(found)
    wrong_rows = wrong.any(axis=1)
    if distribution.has_support or (distribution.kind == "continuous" and distribution.has_zeros):
        wrong_rows |= (np.abs(rows) > LARGEST).any(axis=1)
    if wrong_rows.any():
        i = int(wrong_rows.argmax())
        j = _column(distribution, rows[i])
        name = schema.names[block.columns[j]]
        raise ValueError(overflow_message(name, rows[i, j].item(), chunk.row(int(suspects[i]))))


def _is_right(scores: Floats, cells: Any) -> bool:
    """Whether −inf is all that is not finite and no stored cell is too large, found without a dense row."""
    odd = np.isnan(scores) | np.isposinf(scores)
    return not odd.any() and not (np.abs(cells.data) > LARGEST).any()


def refuse_large(block: "Block", chunk: Chunk, sums: Statistics, schema: Schema) -> None:
    """Raise the error of a number of training with which the sums of a block overflow, if there is one."""
    cells = kernels.dense(block.read(chunk))  # which refuses infinity by its name
    size = np.nan_to_num(np.abs(cells), nan=-1.0)
    i, j = np.unravel_index(int(size.argmax()), size.shape)
    if size[i, j] > LARGEST ** (1 / sums.degree) or not np.isfinite(sums.magnitude):
        name = schema.names[block.columns[int(j)]]
        raise ValueError(overflow_message(name, cells[i, j].item(), chunk.row(int(i))))


def refuse_faint(block: "Block", chunk: Chunk, sums: Statistics, schema: Schema) -> None:
    """Raise the error of a column that varies, but by so little that its sums of squares vanish."""
    columns, cells = sums.faint, block.read(chunk)
    if not cells.shape[0]:
        return
    if kernels.is_sparse(cells):  # most columns of zeros have no cell to look at
        held = np.bincount(cells.indices, minlength=cells.shape[1])
        columns = columns[held[columns] > 0]
    cells = kernels.dense(cells[:, columns])
    with np.errstate(over="ignore"):
        spread = np.fmax.reduce(cells, axis=0) - np.fmin.reduce(cells, axis=0)
    for k in np.flatnonzero((spread > 0) & (spread < SMALLEST ** (1 / sums.degree))).tolist():
        name, row = schema.names[block.columns[columns[k]]], chunk.row(int(np.nanargmax(cells[:, k])))
        raise ValueError(faint_message(name, spread[k].item(), row))


def refuse_parameters(size: float, columns: Sequence[int], schema: Schema) -> None:
    """Raise the error of columns whose parameters, or their likelihood, are not finite."""
    if not np.isfinite(size):
        names = listed([schema.names[j] for j in columns])
        raise ValueError(
            f"columns {names}: the numbers are so large, or so far apart, that the parameters of their "
            "density overflow; rescale the columns, such as by dividing each by its standard deviation"
        )


def _column(distribution: Distribution, row: Floats) -> int:
    """The first column whose number has no finite density even alone, or else the one furthest from zero."""
    for j in np.flatnonzero(~np.isnan(row)).tolist():
        alone = np.full((1, len(row)), np.nan)
        alone[0, j] = row[j]
        if not np.isfinite(distribution.log_density(alone)).all():
            return j
    return int(np.nanargmax(np.abs(row)))
