"""What a solver minimises: the mean loss of the rows plus the penalty, as a function of one vector.

The scores of a `SoftmaxLoss` are those of all classes but the first, held against it. `shown` turns their
coefficients into those that a user reads, by the `contrasts` of the loss: they sum to zero over the classes
(two classes have one vector, as in scikit-learn).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from posterior._linalg import EPSILON
from posterior._types import Floats
from posterior.kernels.choice import FROM_CELLS, compiled
from posterior.linear.basis import Basis
from posterior.linear.in_memory import InMemoryScan
from posterior.linear.loss_sums import (
    CurvatureSums,
    LinearScores,
    LossSums,
    SlopeAndCurvature,
    SlopeSums,
)
from posterior.linear.losses import Loss, unpacked
from posterior.linear.penalties import ElasticNet
from posterior.linear.scan import RowBlock, Scan
from posterior.stats.base import FieldSums

# Cells of a sample that is copied; rows of a part of it whose sums are kept until all are done.
IN_MEMORY_CELLS = 1 << 22
IN_MEMORY_PART = 1 << 13
# Multiply-adds of a row's curvature that cost no more than to read the row once more from elsewhere.
MOST_PRODUCTS = 1 << 14
# Rows whose squares stay in a core's cache.
TILE = 1_024


@dataclass(frozen=True, eq=False)
class Point:
    """A point θ, with the value and the gradient of the smooth part of the objective there.

    `weight` is that of the rows; `loss`, `pull` and `level` are the mean loss alone and its derivatives by
    the free scores' coefficients (of the columns less their centre) and levels, whatever the coordinates and
    the penalty.
    """

    theta: Annotated[Floats, "p any"]
    value: float
    gradient: Annotated[Floats, "p any"]
    weight: float
    loss: float
    pull: Annotated[Floats, "R d any"]
    level: Annotated[Floats, "R any"]


@dataclass(frozen=True, eq=False)
class Objective:
    """(1/W) Σ w ℓ(scores) + penalty(coefficients), at θ = (coordinates, level) of each score, flattened.

    W is the total weight of the rows: a sample is averaged over its own, so that its optimum estimates that
    of all.

    >>> from posterior import LogisticRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(C=1.0, solver="newton").fit(X[50:], y[50:])
    >>> objective = model.fit_.objective
    >>> point = objective.slope(model.solution_.theta)
    >>> bool(abs(point.gradient).max() < 1e-6)              # at the optimum
    True
    """

    scan: Scan
    loss: Loss
    penalty: ElasticNet
    basis: Basis
    # The rows without gross cells, where others have some.
    bulk: Scan | None = None
    # Whether bounds for convex losses hold: `curvature` is the Hessian of all there is.
    convex: ClassVar[bool] = True

    # -- the vector and what it stands for --------------------------------------------------------

    @cached_property
    def n_scores(self) -> int:
        """R, the number of free scores."""
        return self.loss.n_scores

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Scores by coordinates, the level being the last where there is an intercept."""
        return self.n_scores, self.basis.n_coordinates + self.basis.intercept

    @property
    def size(self) -> int:
        """How many numbers θ has."""
        return self.shape[0] * self.shape[1]

    def zero(self) -> Floats:
        """No coefficient at all."""
        return np.zeros(self.size)

    @cached_property
    def contrasts(self) -> Floats:
        """E, with E·(scores' coefficients) = the coefficients that are shown and penalised."""
        return self.loss.contrasts

    def free(self, theta: Floats) -> tuple[Floats, Floats]:
        """Coefficients (R, d) and levels at the centre (R,) of the free scores."""
        block = theta.reshape(self.shape)
        level = block[:, -1] if self.basis.intercept else np.zeros(self.n_scores)
        return self.basis.coef(block[:, : self.basis.n_coordinates]), level

    def shown(self, theta: Floats) -> tuple[Floats, Floats]:
        """Coefficients (K or 1, d) and levels at the centre of the columns, as the user reads them."""
        block = theta.reshape(self.shape)
        coef = self.basis.shown_coef(block[:, : self.basis.n_coordinates])
        return self.contrasts @ coef, self.contrasts @ self.free(theta)[1]

    def theta(self, coef: Floats, level: Floats) -> Floats:
        """The vector of coefficients and levels as `shown`, to start from."""
        back = np.linalg.pinv(self.contrasts)
        parts = [self.basis.coordinates(back @ coef)]
        if self.basis.intercept:
            parts.append((back @ level)[:, None])
        return np.hstack(parts).ravel()

    def of_losses(self) -> "Objective":
        """The losses alone, without a penalty."""
        return Objective(self.scan, self.loss, ElasticNet(), self.basis)

    def line(self, theta: Floats, *, centred: bool) -> LinearScores:
        """The scores as sums over rows see them; `centred` asks for rows with the centre taken off."""
        coef, level = self.free(theta)
        if centred:
            return LinearScores(coef, level, self.basis.centre)
        return LinearScores(coef, level - coef @ self.basis.centre)

    # -- values and derivatives -------------------------------------------------------------------

    def slope(self, theta: Floats) -> Point:
        """Value and gradient of the smooth part, one pass over the rows."""
        # A curvature is that of centred rows; a slope need not be, unless they lie far off.
        centred = (self.basis.far or self.reads_once) and not self.scan.sparse
        line = self.line(theta, centred=centred)
        sums = self._slope_sums(theta, line)
        pull, level = sums.pull / sums.weight, sums.level / sums.weight
        if line.shift is None:
            pull = pull - np.outer(level, self.basis.centre)
        coef = self.shown(theta)[0]
        mean = sums.value / sums.weight
        charged = self.basis.shown_pulled(self.contrasts.T @ self.penalty.slope(coef))
        parts = [self.basis.pulled(pull) + charged]
        if self.basis.intercept:
            parts.append(level[:, None])
        smooth = mean + 0.5 * self.penalty.l2 * float((coef * coef).sum())
        return Point(theta, smooth, np.hstack(parts).ravel(), sums.weight, mean, pull, level)

    def _slope_sums(self, theta: Floats, line: LinearScores) -> SlopeSums:
        loss = self.loss  # alone: what is folded may travel to where the rows are
        if not self.reads_once:
            sums: SlopeSums = self.scan.fold(LossSums(loss, line, "slope"), as_stored=True)
            return sums
        found: SlopeAndCurvature = self.scan.fold(LossSums(loss, line, "both"), as_stored=True)
        self._last.clear()
        self._last[theta.tobytes()] = found.curvature
        return found.slope

    @property
    def rounding(self) -> float:
        """How exact the value is, relative to itself."""
        return EPSILON

    @property
    def noise(self) -> float:
        """Slopes up to this, relative to that at zero coefficients, are rounding; 0: as small as they get."""
        return 0.0

    @cached_property
    def reads_once(self) -> bool:
        """Whether slope and curvature come from one reading: rows are elsewhere, and the sums are few."""
        products = self.n_scores * (self.n_scores + 1) * (self.shape[1] + 1) * self.shape[1] // 4
        return self.scan.costly and products <= MOST_PRODUCTS

    @cached_property
    def _last(self) -> dict[bytes, CurvatureSums]:
        """The curvature that came with the last slope, by its θ."""
        return {}

    def value(self, point: Point) -> float:
        """The whole objective at a point."""
        return point.value + self.penalty.l1 * float(np.abs(self.shown(point.theta)[0]).sum())

    def curvature(self, theta: Floats, weight: float | None = None) -> Floats:
        """The Hessian of the smooth part, (size, size), one pass over the rows.

        Given the `weight` of more rows than these, it is the part that these have in that of all.
        """
        centred = not self.scan.sparse
        sums = self._last.get(theta.tobytes())
        if sums is None:
            sums = self._curvature_sums(theta, centred=centred)
        blocks = sums.blocks if centred else _recentred(sums.blocks, self.basis.centre)
        turn = self._turn()
        blocks = turn.T @ (blocks / (weight or sums.weight)) @ turn
        full = unpacked(blocks, self.n_scores).transpose(0, 2, 1, 3)
        return full.reshape(self.size, self.size) + self.ridge()

    def _curvature_sums(self, theta: Floats, *, centred: bool) -> CurvatureSums:
        loss, line = self.loss, self.line(theta, centred=centred)
        sums: CurvatureSums = self.scan.fold(LossSums(loss, line, "curvature"), as_stored=True)
        return sums

    def ridge(self) -> Floats:
        """The part of the Hessian that is the penalty's."""
        out = np.zeros((*self.shape, *self.shape))
        if self.penalty.l2:
            metric = self.basis.metric()
            metric = np.diag(metric) if metric.ndim == 1 else metric
            r = self.basis.n_coordinates
            by_score = self.penalty.l2 * (self.contrasts.T @ self.contrasts)
            out[:, :r, :, :r] = by_score[:, None, :, None] * metric[None, :, None, :]
        return out.reshape(self.size, self.size)

    def _turn(self) -> Floats:
        """What turns (x − centre, 1) into coordinates: (d + 1, r + 1), or r columns without an intercept."""
        directions = self.basis.directions
        d, r = len(self.basis.centre), self.basis.n_coordinates
        turn = np.zeros((d + 1, self.shape[1]))
        turn[:d, :r] = np.diag(directions) if directions.ndim == 1 else directions
        if self.basis.intercept:
            turn[d, r] = 1.0
        return turn

    def every(self, step: int) -> "Objective":
        """The same of the first of every `step` rows."""
        return replace(self, scan=self.scan.every(step))

    def of_bulk(self) -> "Objective | None":
        """The same of the rows without gross cells, times W/W' for their weight W'; None if all are so."""
        if self.bulk is None:
            return None
        weight, part = (scan.fold(lambda block: block.total) for scan in (self.scan, self.bulk))
        share = weight / part
        penalty = ElasticNet(self.penalty.l1 * share, self.penalty.l2 * share)
        return replace(self, scan=self.bulk, penalty=penalty, bulk=None)

    def in_memory(self) -> "Objective":
        """The same with its rows in memory, where they are few and the sums over parts of them small."""
        few = self.scan.n_rows * self.scan.n_features <= IN_MEMORY_CELLS
        small = self.size**2 * (1 + self.scan.n_rows // IN_MEMORY_PART) <= IN_MEMORY_CELLS
        if self.scan.sparse or self.scan.selective or not (few and small):
            return self
        return replace(self, scan=InMemoryScan.copied(self.scan))

    def longest_row(self, factor: Floats) -> float:
        """Max ‖(z, 1) factor‖ over rows, z being their coordinates."""
        longest = _LongestRow(self._turn() @ factor, self.basis.centre, self.basis.far, self.scan.sparse)
        return float(np.sqrt(self.scan.fold(longest, as_stored=True).value))

    def longest_row_at_most(self, factor: Floats) -> float:
        """A bound of `longest_row`: ‖(z, 1) F‖ ≤ ‖D⁻¹F‖ ‖(z, 1) D‖, with the lengths of the rows of F in D.

        Where the ranges of the columns are known no row is read: none is longer than the longest corner.
        Else a row takes as many operations as there are columns.
        """
        turned = self._turn() @ factor
        size = np.linalg.norm(turned, axis=1)
        if self.scan.sparse or not np.isfinite(size).all():
            return float("inf")
        steep = np.linalg.norm(np.divide(turned, size[:, None], where=size[:, None] > 0, out=turned), 2)
        centre, square = self.basis.centre, size[:-1] ** 2
        if self.scan.within is not None:
            low, high = self.scan.within.low, self.scan.within.high
            corner = np.maximum(np.abs(low - centre), np.abs(high - centre))
            return float(steep * np.sqrt(corner**2 @ square + size[-1] ** 2))

        def longest(block: RowBlock) -> "_Largest":
            X, most = block.packed().matrix, 0.0
            for at in range(0, len(X), TILE):
                z = X[at : at + TILE] - centre
                np.square(z, out=z)
                most = max(most, float((z @ square).max(initial=0.0)))
            return _Largest(most)

        found = self.scan.fold(longest, as_stored=True).value
        return float(steep * np.sqrt(found + size[-1] ** 2))


@dataclass(frozen=True)
class _Largest(FieldSums, value=max):
    value: float


class _LongestRow:
    """Max ‖(x − centre, 1) turned‖² over rows: of a block, or of many parts by several threads."""

    def __init__(self, turned: Floats, centre: Floats, far: bool, is_sparse: bool) -> None:
        self._turned, self._centre = turned, centre
        self._apart, self._sparse = far and not is_sparse, is_sparse
        self.cells = len(turned) * (len(turned) + 1) // 2  # multiply-adds of a row

    def __call__(self, block: RowBlock) -> _Largest:
        fast = None if self._sparse else compiled("longest", block.matrix.size, len(block.target))
        if fast is not None:
            return _Largest(fast.longest(block.matrix, self._centre, self._triangle))
        block, turned = block.packed(), self._turned
        level = turned[-1] if self._apart else turned[-1] - self._centre @ turned[:-1]
        z = (block.matrix - self._centre if self._apart else block.matrix) @ turned[:-1] + level
        np.square(z, out=z)
        return _Largest(float((z @ np.ones(z.shape[1])).max(initial=0.0)))

    @cached_property
    def _triangle(self) -> Floats:
        triangle: Floats = compiled("longest", FROM_CELLS).triangle_of(self._turned)
        return triangle

    def of_parts(self, block: RowBlock, size: int) -> "_LongestOfParts | None":
        """Those of every `size` rows, if compiled code reads them as they lie."""
        fast = compiled("longest", size * block.matrix.shape[1], size)
        parts = fast and fast.longest_of_parts(block.matrix, self._centre, self._triangle, size)
        return None if parts is None else _LongestOfParts(block, parts)


@dataclass(frozen=True)
class _LongestOfParts:
    block: RowBlock
    parts: Any

    def run(self, workers: int) -> None:
        """Look at all parts by so many threads."""
        self.parts.run(workers)

    def total(self) -> _Largest:
        """The longest of all rows."""
        return _Largest(self.parts.largest())


def _recentred(blocks: Floats, centre: Floats) -> Floats:
    """Sums of (x, 1)(x, 1)' as those of (x − centre, 1)(x − centre, 1)'."""
    d = len(centre)
    move = np.eye(d + 1)
    move[:d, d] = -centre
    return np.asarray(move @ blocks @ move.T)
