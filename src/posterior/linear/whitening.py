"""All rows of a table in whitened coordinates, for methods that need every row at once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from posterior import kernels
from posterior._types import Floats, Ints
from posterior.linear.basis import TILE, Basis
from posterior.linear.design import Matrix

# Directions with a smaller share of the largest variance say nothing.
SILENT = 1e-12


@dataclass(frozen=True, eq=False)
class WhitenedRows:
    """Rows z = (x, 1)·turn with mean z z' = 1; a dense table holds z itself, and has no `turn`."""

    matrix: Matrix
    turn: Floats | None = None

    def scores(self, v: Floats) -> Floats:
        """z·v of every row."""
        if self.turn is None:
            return np.asarray(self.matrix @ v)
        beta: Floats = self.turn @ v
        return np.asarray(self.matrix @ beta[:-1] + beta[-1])

    def pull(self, force: Floats) -> Floats:
        """Σ force · z."""
        if self.turn is None:
            return np.asarray(force @ self.matrix)
        return np.asarray(np.append(force @ self.matrix, force.sum()) @ self.turn)

    def gram(self, weight: Floats) -> Floats:
        """Σ weight · z z', for weights that are not negative."""
        X = self.matrix
        if self.turn is not None:
            side = np.asarray(weight @ X)[:, None]
            full = np.block([[(X.T @ kernels.rows_times(X, weight)).toarray(), side], [side.T, weight.sum()]])
            return np.asarray(self.turn.T @ full @ self.turn)
        out = np.zeros((X.shape[1], X.shape[1]))
        root = np.sqrt(weight)[:, None]
        for at in range(0, len(X), TILE):
            z = X[at : at + TILE] * root[at : at + TILE]
            out += z.T @ z
        return out

    def some(self, rows: slice | Ints) -> Floats:
        """The coordinates of some rows."""
        if self.turn is None:
            return np.asarray(self.matrix[rows])
        return np.asarray(self.matrix[rows] @ self.turn[:-1] + self.turn[-1])

    @cached_property
    def longest(self) -> float:
        """The largest ‖z‖."""
        n = self.matrix.shape[0]
        tiles = (self.some(slice(at, at + TILE)) for at in range(0, n, TILE))
        return float(np.sqrt(max(np.einsum("ij,ij->i", z, z).max() for z in tiles)))


def whitened_rows(matrix: Matrix, basis: Basis, weight: Floats) -> tuple[WhitenedRows, Floats]:
    """The rows, and the matrix that turns their coordinates into those of the basis and the level.

    The basis is whitened up to rounding or, of a wide table, only scaled. Whitening again corrects both, and
    makes the level a coordinate like the others.
    """
    rows = _in_axes(matrix, basis)
    values, vectors = np.linalg.eigh(rows.gram(weight) / weight.sum())
    use = values > SILENT * values.max(initial=0.0)
    turn = vectors[:, use] / np.sqrt(values[use])
    if rows.turn is None:
        return WhitenedRows(rows.matrix @ turn), turn
    return WhitenedRows(rows.matrix, rows.turn @ turn), turn


def _in_axes(matrix: Matrix, basis: Basis) -> WhitenedRows:
    n, d = matrix.shape
    r = basis.n_coordinates
    if kernels.is_sparse(matrix):
        turn = np.zeros((d + 1, r + basis.intercept))
        turn[:d, :r] = basis.pulled(np.eye(d))
        turn[d, :r] = -basis.pulled(basis.centre)
        turn[d, r:] = 1.0
        return WhitenedRows(matrix, turn)
    out = np.ones((n, r + basis.intercept))
    for at in range(0, n, TILE):
        out[at : at + TILE, :r] = basis.pulled(matrix[at : at + TILE] - basis.centre)
    return WhitenedRows(out)
