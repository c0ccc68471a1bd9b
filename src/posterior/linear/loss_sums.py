"""The sums over rows that a linear model asks for: value and slope, and curvature, of a loss.

Blocks are worked through in tiles that stay in the processor's cache.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from posterior import kernels
from posterior._pool import each
from posterior._types import AnyArray, Floats
from posterior.linear.losses import Loss, from_upper_triangles, upper_triangle
from posterior.linear.scan import RowBlock
from posterior.stats.adding import added
from posterior.stats.base import FieldSums

# Large enough that threads do not wait for each other between NumPy's calls.
SLOPE_TILE = 16_384
CURVATURE_TILE = 2048
# Products of two columns are formed once for all pairs of scores where there are at most so many of them.
PRODUCTS = 1024


@dataclass(frozen=True, eq=False)
class LinearScores:
    """Scores B x + offset; with a `shift`, B (x − shift) + offset."""

    coef: Floats
    offset: Floats
    shift: Floats | None = None

    def scores(self, X: Floats, room: Floats | None = None) -> Floats:
        """Scores (R, m) of rows (m, d), dense or sparse, from which `shift` was taken already.

        They are written to `room` where that is given: fresh memory for every tile takes its time.
        """
        if kernels.is_sparse(X):
            return np.ascontiguousarray((X @ self.coef.T).T) + self.offset[:, None]
        out = None if room is None or room.shape[1] != len(X) else room
        scores: Floats = np.matmul(self.coef, X.T, out=out)
        scores += self.offset[:, None]
        return scores


@dataclass(frozen=True, eq=False)
class SlopeSums(FieldSums):
    """Σ w, Σ w ℓ, and its derivatives by coefficients (R, d) and by levels (R,)."""

    weight: float
    value: float
    pull: Floats
    level: Floats


@dataclass(frozen=True, eq=False)
class CurvatureSums(FieldSums):
    """Σ w, and Σ w ∂²ℓ (x, 1)(x, 1)' for every pair of scores: its upper triangle, (R(R+1)/2, q(q+1)/2).

    q is d + 1. Triangles are all that is added up and sent around.
    """

    weight: float
    triangles: Floats

    @classmethod
    def of(cls, weight: float, blocks: Floats) -> "CurvatureSums":
        """The sums with these symmetric blocks, (R(R+1)/2, q, q)."""
        rows, columns = upper_triangle(blocks.shape[-1])
        return cls(weight, blocks[:, rows, columns])

    @property
    def blocks(self) -> Floats:
        """The symmetric blocks, (R(R+1)/2, q, q)."""
        return from_upper_triangles(self.triangles, (math.isqrt(8 * self.triangles.shape[1] + 1) - 1) // 2)


@dataclass(frozen=True, eq=False)
class SlopeAndCurvature(FieldSums):
    """Both sums of the same rows, from one reading."""

    slope: SlopeSums
    curvature: CurvatureSums


def slope_of(block: RowBlock, loss: Loss, line: LinearScores) -> SlopeSums:
    """Value and slope of some rows."""
    m, d = block.matrix.shape
    fused = loss.compiled_sums(block, line, curved=False)
    if fused is not None:
        return SlopeSums(block.total, *fused[:3])
    block, forces = block.in_one_piece(), loss.compiled_forces(block) or loss.slope
    value, pull, level = 0.0, np.zeros((loss.n_scores, d)), np.zeros(loss.n_scores)
    size = m if kernels.is_sparse(block.matrix) else SLOPE_TILE
    room = None if size == m else np.empty((loss.n_scores, min(size, m)))
    for at in range(0, m, size):
        X, y, w = (block.some(slice(at, at + size)) if size < m else block).packed("rows")
        if line.shift is not None:
            X = X - line.shift
        part, force = forces(line.scores(X, room), y, w)
        value += part
        pull += (X.T @ force.T).T if kernels.is_sparse(X) else force @ X
        level += force.sum(axis=1)
    return SlopeSums(block.total, value, pull, level)


def curvature_of(block: RowBlock, loss: Loss, line: LinearScores) -> CurvatureSums:
    """Curvature of some rows."""
    d, weight = block.matrix.shape[1], block.total
    n_pairs = loss.n_scores * (loss.n_scores + 1) // 2
    n_products = (d + 1) * (d + 2) // 2
    if kernels.is_sparse(block.matrix):
        return CurvatureSums.of(weight, _sparse_curvature(block, loss, line, n_pairs))
    fused = loss.compiled_sums(block, line, curved=True)
    if fused is not None and fused[3] is not None:
        return CurvatureSums(weight, fused[3])
    block = block.in_one_piece()
    if n_pairs == 1:
        return CurvatureSums.of(weight, _single_curvature(block, loss, line))
    if n_products <= PRODUCTS:
        return CurvatureSums(weight, _paired_curvature(block, loss, line, n_pairs, n_products))
    return CurvatureSums.of(weight, _blockwise_curvature(block, loss, line, n_pairs))


def slope_and_curvature_of(block: RowBlock, loss: Loss, line: LinearScores) -> SlopeAndCurvature:
    """Both of some rows, from one reading of them where compiled code does it."""
    fused = loss.compiled_sums(block, line, curved=True)
    if fused is None or fused[3] is None:
        return SlopeAndCurvature(slope_of(block, loss, line), curvature_of(block, loss, line))
    weight = block.total
    return SlopeAndCurvature(SlopeSums(weight, *fused[:3]), CurvatureSums(weight, fused[3]))


@dataclass(frozen=True, eq=False)
class LossSums:
    """What is asked for of blocks of rows: of one, or of many parts by several threads."""

    loss: Loss
    line: LinearScores
    asked: Literal["slope", "curvature", "both"]

    def __call__(self, block: RowBlock) -> Any:
        """The sums of a block."""
        work = {"slope": slope_of, "curvature": curvature_of, "both": slope_and_curvature_of}[self.asked]
        return work(block, self.loss, self.line)

    @property
    def cells(self) -> int:
        """About how many cells the sums of a part have."""
        R, q = len(self.line.coef), self.line.coef.shape[1] + 1
        curved: int = R * (R + 1) * q * (q + 1) // 4
        slope: int = 4 * R * q
        return slope + (0 if self.asked == "slope" else curved)

    def of_parts(self, block: RowBlock, size: int) -> "LossParts | None":
        """The sums of every `size` rows of a block, if compiled code has them."""
        curved = self.asked != "slope"
        sums = self.loss.sums_of_parts(block, self.line, size, curved=curved)
        return None if sums is None else LossParts(self.asked, sums, block, size)


@dataclass(frozen=True, eq=False)
class LossParts:
    """The sums of parts of `size` rows of a block, which several threads work out."""

    asked: Literal["slope", "curvature", "both"]
    sums: Any
    block: RowBlock
    size: int

    def run(self, workers: int) -> None:
        """Work out all parts by so many threads."""
        self.sums.run(workers)

    def total(self) -> Any:
        """The sums of all parts."""
        weight = self._weight()
        value, pull, level, triangles = self.sums.total()
        slope = SlopeSums(weight, value, pull, level)
        if self.asked == "slope":
            return slope
        curvature = CurvatureSums(weight, triangles)
        return curvature if self.asked == "curvature" else SlopeAndCurvature(slope, curvature)

    def _weight(self) -> float:
        """The weight of all rows."""
        n, w = len(self.block.target), self.block.weight
        if w is None:
            return float(n)
        found = [0.0] * -(-n // self.size)
        each(lambda i: found.__setitem__(i, w[i * self.size : (i + 1) * self.size].sum()), len(found))
        return float(added(found))


def _tiles(
    block: RowBlock, line: LinearScores, size: int
) -> Iterator[tuple[Floats, AnyArray, Floats | None]]:
    """Rows with a column of ones, (m, d + 1), their targets and weights, tile by tile."""
    m, d = block.matrix.shape
    room = np.ones((min(size, m), d + 1))
    for at in range(0, m, size):
        rows = slice(at, min(at + size, m))
        X = room[: rows.stop - at]
        if line.shift is None:
            X[:, :d] = block.matrix[rows]
        else:
            np.subtract(block.matrix[rows], line.shift, out=X[:, :d])
        X[:, d] = 1.0
        yield X, block.target[rows], None if block.weight is None else block.weight[rows]


def _single_curvature(block: RowBlock, loss: Loss, line: LinearScores) -> Floats:
    """One score: X'VX from the rows of √V X."""
    d = block.matrix.shape[1]
    out = np.zeros((d + 1, d + 1))
    for X, y, w in _tiles(block, line, SLOPE_TILE):
        root = np.sqrt(loss.curvature(line.scores(X[:, :d]), y, w)[0])
        np.multiply(X, root[:, None], out=X)
        out += X.T @ X
    return out[None]


def _paired_curvature(
    block: RowBlock, loss: Loss, line: LinearScores, n_pairs: int, n_products: int
) -> Floats:
    """Several scores, few columns: blocks are symmetric, so one product of pairs of scores and of columns.

    1.7 times fewer operations than a product for every pair of scores.
    """
    d = block.matrix.shape[1]
    total = np.zeros((n_pairs, n_products))
    products = np.empty((n_products, min(CURVATURE_TILE, block.matrix.shape[0])))
    for X, y, w in _tiles(block, line, CURVATURE_TILE):
        Z = np.ascontiguousarray(X.T)
        into = products[:, : len(X)]
        column_products(Z, into)
        total += loss.curvature(line.scores(X[:, :d]), y, w) @ into.T
    return total


def column_products(Z: Floats, into: Floats) -> Floats:
    """The products of every two of the rows of Z, (q, m), in the order of `np.triu_indices`."""
    q, at = len(Z), 0
    for i in range(q):
        np.multiply(Z[i:], Z[i], out=into[at : at + q - i])
        at += q - i
    return into


def _blockwise_curvature(block: RowBlock, loss: Loss, line: LinearScores, n_pairs: int) -> Floats:
    """Several scores, many columns: a product for every pair of scores."""
    d = block.matrix.shape[1]
    out = np.zeros((n_pairs, d + 1, d + 1))
    for X, y, w in _tiles(block, line, SLOPE_TILE):
        bend = loss.curvature(line.scores(X[:, :d]), y, w)
        for k in range(n_pairs):
            out[k] += X.T @ (X * bend[k][:, None])
    return out


def _sparse_curvature(block: RowBlock, loss: Loss, line: LinearScores, n_pairs: int) -> Floats:
    X = block.matrix
    d = X.shape[1]
    bend = loss.curvature(line.scores(X), block.target, block.weight)
    out = np.empty((n_pairs, d + 1, d + 1))
    for k in range(n_pairs):
        out[k, :d, :d] = (X.T @ kernels.rows_times(X, bend[k])).toarray()
        out[k, d, :d] = out[k, :d, d] = bend[k] @ X
        out[k, d, d] = bend[k].sum()
    return out
