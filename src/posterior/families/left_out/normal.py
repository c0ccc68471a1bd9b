"""Multivariate normal blocks, each training row scored as if it had not been seen.

Row x of weight w leaves its class k of weight N: with δ = x − μ_k and c = N/(N−w) the deviation becomes cδ
and the scatter W_k falls by wc·δδ'. The new covariances differ from fixed matrices by a multiple of δδ', so
their inverses and determinants follow from Sherman & Morrison (1950) and the matrix determinant lemma.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from posterior import kernels
from posterior._linalg import FAR_APART, whitener
from posterior._types import Bools, Floats, Ints
from posterior.families.base import LeftOut
from posterior.families.left_out.covariances import FLATTENED, Covariances, RowRemoval, may_be_mended
from posterior.families.left_out.diagonal import LeftOutDiagonal
from posterior.families.left_out.parts import LEAST
from posterior.math import LOG_2PI

Score = Callable[[Floats, Ints, Floats | None], LeftOut]


def _some(values: Floats, rows: Ints) -> Floats:
    """The values of some rows, where they differ."""
    return values if len(values) == 1 else values[rows]


def left_out_normal(parts: Covariances, shape: str) -> Score:
    """The function that scores training rows as if they had not been seen.

    Where the pooled covariance had to be mended every row has a say in how, and all are refitted.
    """
    if any(repair.class_index is None for repair in parts.repairs) or _mended_by_column(parts, shape):
        n_classes = len(parts.location.pivot)
        return lambda block, y, weight: LeftOut(np.zeros((len(y), n_classes)), np.ones(len(y), np.bool_))
    if shape != "full":
        return _of_rows_with_cells(LeftOutDiagonal(parts, spherical=shape == "spherical"))
    return _of_rows_with_cells(LeftOutShared(parts) if parts.tied == 1 else LeftOutOwn(parts))


def _of_rows_with_cells(score: Score) -> Score:
    """The score of rows, of which those without any cell are as likely in every class."""

    def scored(block: Floats, y: Ints, weight: Floats | None) -> LeftOut:
        there = ~np.isnan(block).any(axis=1)
        if there.all():
            return score(block, y, weight)
        part = score(block[there], y[there], None if weight is None else weight[there])
        out = LeftOut(np.zeros((len(y), part.log_density.shape[1])), np.zeros(len(y), np.bool_))
        out.log_density[there], out.delicate[there] = part
        return out

    return scored


def _mended_by_column(parts: Covariances, shape: str) -> bool:
    """Whether a full covariance may have been mended as one without correlations, of which it has none."""
    off = parts.within - np.diag(np.diagonal(parts.within))
    return bool(shape == "full" and len(off) > 1 and parts.faults.any() and not off.any())


@dataclass(frozen=True, eq=False)
class LeftOutShared:
    """Linear discriminant analysis: only squared distances from the class means are needed, (n, K)."""

    parts: Covariances

    @cached_property
    def _white(self) -> tuple[Floats, float]:
        return whitener(self.parts.within / self.parts.total)

    @cached_property
    def _firm(self) -> float:
        return float(self.parts.firmness()[0])

    def __call__(self, block: Floats, y: Ints, weight: Floats | None) -> LeftOut:
        """Log densities without the row, (n, K)."""
        parts, (white, log_det), d = self.parts, self._white, block.shape[1]
        r = parts.removal(y, weight)
        rows = np.arange(len(y))
        squares, between = self._squares(block, white)
        own = squares[rows, y]
        keep = 1 - r.pull * own / parts.total
        delicate = r.emptied | may_be_mended(keep, self._firm) | (keep < LEAST)
        keep = np.where(delicate, 1.0, keep)
        scale = r.pooled / parts.total
        cross = 0.5 * (squares + own[:, None] - between[y])
        if parts.empty.any():
            reach = np.where(parts.empty, (parts.total / (parts.total - r.weight))[:, None], 1.0)
            squares, cross = reach**2 * squares, reach * cross
        gain = r.pull * scale / (parts.total * keep)
        squares = scale[:, None] * squares + gain[:, None] * cross**2
        squares[rows, y] = r.stretch**2 * scale * own / keep
        level = np.log(keep) + (log_det - d * np.log(scale) + d * LOG_2PI)
        return LeftOut(-0.5 * (squares + level[:, None]), delicate)

    def _squares(self, block: Floats, white: Floats) -> tuple[Floats, Floats]:
        """Squared distances of rows from class means, (n, K), and between class means, (K, K)."""
        location = self.parts.location
        n_classes = len(location.pivot)
        centre = location.average(np.full(n_classes, 1 / n_classes))
        means = (location - centre) @ white
        apart = [((location - location[k]) @ white) for k in range(n_classes)]
        between = np.stack([(z**2).sum(axis=1) for z in apart])
        if np.sqrt(between.max()) > FAR_APART:
            zs = (location.deviation(block, k) @ white for k in range(n_classes))
            return np.stack([np.einsum("ij,ij->i", z, z) for z in zs], axis=1), between
        u = (block - centre.pivot) @ white
        u -= centre.remainder @ white
        squares = np.einsum("ij,ij->i", u, u)[:, None] - 2 * (u @ means.T) + (means**2).sum(axis=1)
        return squares, between


class WhitenedAxes(NamedTuple):
    """Axes (d, d) along which the scatter of a class is `own` (d,) and the pooled one the same on all.

    `log_det` is that of the covariance whose white axes these are. Where the class stands alone, `own` is
    the same on all axes, and the pooled scatter is not asked for.
    """

    axes: Floats
    own: Floats
    log_det: float


@dataclass(frozen=True, eq=False)
class LeftOutOwn:
    """Own covariances, wholly or in part: QDA and what lies between it and LDA.

    Where a class has some of both, its scatter and the pooled one are made diagonal together, so that
    rows of any weight need no factorisation of their own.
    """

    parts: Covariances

    @cached_property
    def _white(self) -> tuple[Floats, float]:
        return whitener(self.parts.within / self.parts.total)

    @cached_property
    def _firm(self) -> Floats:
        return self.parts.firmness()

    def _tie(self, k: int, weight: Floats) -> Floats:
        """How closely class k is tied, (m,): the same for all columns."""
        ties = self.parts.ties(k, weight)
        return np.asarray(ties.max(axis=1))

    @cached_property
    def _bases(self) -> list[WhitenedAxes]:
        parts = self.parts
        return [self._basis(k) for k in range(len(parts.location.pivot))]

    def _basis(self, k: int) -> WhitenedAxes:
        s = self.parts.statistics
        divisor = s.weight[k] - self.parts.lost
        if self._tie(k, s.weight[[k]])[0] == 0:
            white, log_det = whitener(s.scatter[k] / divisor)
            return WhitenedAxes(white, np.full(len(white), divisor), log_det)
        white, log_det = self._white
        own, turn = np.linalg.eigh(white.T @ s.scatter[k] @ white)
        return WhitenedAxes(white @ turn, np.maximum(own, 0.0), log_det)

    def __call__(self, block: Floats, y: Ints, weight: Floats | None) -> LeftOut:
        """Log densities without the row, (n, K)."""
        location = self.parts.location
        r = self.parts.removal(y, weight)
        out = np.empty((len(y), len(location.pivot)))
        delicate = r.emptied.copy()
        for k, rows in enumerate(kernels.rows_by_class(y, out.shape[1])):
            z = location.deviation(block, k) @ self._bases[k].axes
            out[:, k] = self._others(z, y, k, r)
            if len(rows):
                out[rows, k], refit = self._own(z[rows], rows, k, r)
                delicate[rows] |= refit | self._flattened(block[rows], rows, k, r)
        return LeftOut(out, delicate)

    def _others(self, z: Floats, y: Ints, k: int, r: RowRemoval) -> Floats:
        """Log density of class k where it is not the row's own, (n,)."""
        parts, basis, d = self.parts, self._bases[k], z.shape[1]
        weight, constant = parts.statistics.weight, basis.log_det + d * LOG_2PI
        tie = float(self._tie(k, weight[[k]])[0])
        if tie == 0:
            return np.asarray(-0.5 * (np.einsum("ij,ij->i", z, z) + constant))
        free = 0.0 if tie == 1 else (1 - tie) / (weight[k] - parts.lost)
        size = free * basis.own + (tie * parts.total / r.pooled)[:, None]
        square, cross, own = self._products(z, size, y, k)
        if parts.empty[k]:
            reach = parts.total / (parts.total - r.weight)
            square, cross = reach**2 * square, reach * cross
        loss = tie * r.pull / r.pooled
        keep = 1 - loss * own
        keep = np.where(keep > 0, keep, 1.0)  # only in rows that are refitted
        level = np.log(size) @ np.ones(d) + constant
        return np.asarray(-0.5 * (square + loss * cross**2 / keep + np.log(keep) + level))

    def _products(self, z: Floats, size: Floats, y: Ints, k: int) -> tuple[Floats, Floats, Floats]:
        """Products δ_k'B⁻¹δ_k, δ_k'B⁻¹δ and δ'B⁻¹δ, each (n,), δ being from the mean of the row's own class.

        B is diagonal along the axes, `size` (m, d).
        """
        shift = (self.parts.location[k] - self.parts.location) @ self._bases[k].axes
        scaled = z / size
        square = np.einsum("ij,ij->i", z, scaled)
        if np.sqrt((shift**2).sum(axis=1).max()) > FAR_APART:
            away = z + shift[y]
            cross, own = np.einsum("ij,ij->i", away, scaled), np.einsum("ij,ij->i", away, away / size)
            return square, cross, own
        rows = np.arange(len(y))
        apart = (1 / size) @ (shift**2).T
        cross = square + (scaled @ shift.T)[rows, y]
        return square, cross, 2 * cross - square + apart[rows if len(apart) > 1 else 0, y]

    def _own(self, z: Floats, rows: Ints, k: int, r: RowRemoval) -> tuple[Floats, Bools]:
        """Log density of the row's own class, (m,), and where it is too delicate."""
        parts, basis, d = self.parts, self._bases[k], z.shape[1]
        rest, stretch, pull = r.rest[rows], r.stretch[rows], r.pull[rows]
        if len(r.weight) == 1:
            rest, stretch, pull = rest[:1], stretch[:1], pull[:1]
        tie, pooled = self._tie(k, rest), _some(r.pooled, rows)
        free = np.where(tie < 1, (1 - tie) / np.where(tie < 1, rest - parts.lost, 1.0), 0.0)
        before, squares, times = basis.own, z * z, 1
        if not tie.any():  # all axes are alike
            before, squares, times = before[:1], np.einsum("ij,ij->i", z, z)[:, None], d
        one = np.ones(squares.shape[1])
        size = free[:, None] * before + (tie * parts.total / pooled)[:, None]
        form = (squares / size) @ one
        keep = 1 - pull * (free + tie / pooled) * form
        whole = np.full(len(one), parts.total) if parts.faults[k].any() else before
        left = 1 - pull * (squares @ (1 / np.where(whole > 0, whole, 1.0)))
        delicate = may_be_mended(left, self._firm[k]) | (keep < LEAST)
        keep = np.where(delicate, 1.0, keep)
        level = times * (np.log(size) @ one) + (basis.log_det + d * LOG_2PI)
        return -0.5 * (stretch**2 * form / keep + np.log(keep) + level), delicate

    def _flattened(self, block: Floats, rows: Ints, k: int, r: RowRemoval) -> Bools | bool:
        """Rows that were nearly all the spread of a column in a class that had to be mended."""
        if not self.parts.faults[k].any():
            return False
        z = self.parts.location.deviation(block, k)
        before = np.diagonal(self.parts.statistics.scatter[k])
        left = before - r.pull[rows, None] * z**2
        return np.asarray(((left < FLATTENED * before) & (before > 0)).any(axis=1))
