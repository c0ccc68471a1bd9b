"""Maximum likelihood penalised by Jeffreys' prior: Firth's estimate of logistic and softmax regression.

The maximiser of ln L + ½ ln|I| has a bias of smaller order than that of ln L (Firth, 1993). The bias is
prevented, not corrected afterwards, so that no finite estimate is needed to begin with; for several classes
it is the estimate of Kosmidis & Firth (2011). It is finite whatever the data: as coefficients run off along
a direction δ, every row settles on the classes that δ prefers, among which it has no variance, so that δ'Iδ
and with it |I| falls to zero (Kosmidis & Firth, 2021, for two classes). Separation therefore does no harm
(Heinze & Schemper, 2002).

Firth, D. (1993). Bias reduction of maximum likelihood estimates. Biometrika 80, 27-38.
Heinze, G. & Schemper, M. (2002). A solution to the problem of separation in logistic regression.
    Statistics in Medicine 21, 2409-2419.
Kosmidis, I. & Firth, D. (2011). Multinomial logit bias reduction via the Poisson log-linear model.
    Biometrika 98, 755-759.
Kosmidis, I. & Firth, D. (2021). Jeffreys-prior penalty, finiteness and shrinkage in binomial-response
    generalized linear models. Biometrika 108, 71-82.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import lapack

from posterior import kernels
from posterior._linalg import EPSILON
from posterior._types import Floats
from posterior.linear.loss_sums import PRODUCTS, CurvatureSums, LinearScores, column_products, curvature_of
from posterior.linear.losses import pairs, unpacked
from posterior.linear.objective import Objective, Point
from posterior.linear.scan import RowBlock
from posterior.stats.base import FieldSums

TILE = 1024


@dataclass(frozen=True, eq=False)
class JeffreysObjective(Objective):
    """(1/W) Σ w ℓ − ln|I| / 2W, with I = Σ w x V x' the Fisher information of the free scores' coefficients.

    Other coordinates, or another class to hold the scores against, multiply |I| by a constant: they move
    the value and nothing else. Columns that depend on others must be gone from the coordinates
    (`Basis.whitened` sees to that), since I would be singular. A row of weight 2 is two rows, in the
    likelihood and in the information.

    The value is not known to be convex, and `curvature` is the information I / W, not the Hessian: it is
    what scoring steps and standard errors are made of (Heinze & Schemper, 2002).
    """

    convex: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.loss.has_jeffreys or self.loss.shift_invariant:
            raise ValueError(
                f"Firth's penalty is for classes whose scores are held against the first; found {self.loss}; "
                "pass SoftmaxLoss(n_classes)"
            )
        if not self.penalty.free:
            raise ValueError(
                f"Firth's penalty takes the place of any other; found {self.penalty}; pass ElasticNet()"
            )

    def slope(self, theta: Floats) -> Point:
        """Value and gradient, two passes over the rows: the information first, then the modified score.

        The value is infinite where the information is singular to rounding.
        """
        sums = self._information(theta)
        W = sums.weight
        inverse, log_det = _inverted(self._square(sums))
        if inverse is None:
            nowhere, pull = np.full(self.size, np.nan), np.full((self.n_scores, self.scan.n_features), np.nan)
            return Point(theta, np.inf, nowhere, W, np.nan, pull, pull[:, 0])
        line, form = self._line(theta), _forms(inverse / W, self.shape)
        score: _Score = self.scan.fold(lambda block: self._score_of(block, line, form))
        value = score.loss - 0.5 * (log_det + self.size * np.log(W))
        gradient = (score.slope - 0.5 * score.bend).ravel() / W
        return Point(theta, value / W, gradient, W, score.loss / W, score.pull / W, score.level / W)

    def curvature(self, theta: Floats, weight: float | None = None) -> Floats:
        """The Fisher information of the mean loss, I / W, one pass over the rows."""
        return self._square(self._information(theta))

    # -- sums over rows in whitened coordinates, where products of columns lose no digits ------------

    def _line(self, theta: Floats) -> LinearScores:
        """The scores as functions of a row's coordinates."""
        block = theta.reshape(self.shape)
        level = block[:, -1] if self.basis.intercept else np.zeros(self.n_scores)
        return LinearScores(block[:, : self.basis.n_coordinates], level)

    def _information(self, theta: Floats) -> CurvatureSums:
        line = self._line(theta)

        def information(block: RowBlock) -> CurvatureSums:
            n_pairs, q = len(pairs(self.n_scores)), self.basis.n_coordinates + 1
            total = CurvatureSums(0.0, np.zeros((n_pairs, q * (q + 1) // 2)))
            for _, tile in self._tiles(block):
                total += curvature_of(tile, self.loss, line)
            return total

        return self.scan.fold(information)

    def _square(self, sums: CurvatureSums) -> Floats:
        q = self.shape[1]
        full = unpacked(sums.blocks[:, :q, :q] / sums.weight, self.n_scores)
        return full.transpose(0, 2, 1, 3).reshape(self.size, self.size)

    def _tiles(self, block: RowBlock) -> Iterator[tuple[Floats, RowBlock]]:
        """Rows less their centre, and these in coordinates; sparse rows are dense for a tile at a time."""
        for at in range(0, block.matrix.shape[0], TILE):
            tile = block.some(slice(at, at + TILE))
            X = tile.matrix.toarray() if kernels.is_sparse(tile.matrix) else tile.matrix
            X = X - self.basis.centre
            yield X, tile._replace(matrix=self.basis.pulled(X))

    def _score_of(self, block: RowBlock, line: LinearScores, form: Floats) -> "_Score":
        total = _Score.zero(self.shape, block.matrix.shape[1])
        for X, (z, y, w) in self._tiles(block):
            scores = line.scores(z)
            Z = np.hstack([z, np.ones((len(z), 1))]) if self.basis.intercept else z
            bend = self.loss.information_slope(scores, self.loss.curvature(scores, y, w), _leverage(Z, form))
            loss, force = self.loss.slope(scores, y, w)
            total += _Score(loss, force @ X, force.sum(axis=1), force @ Z, bend @ Z)
        return total


@dataclass(frozen=True, eq=False)
class _Score(FieldSums):
    """Σ w ℓ; its derivatives by coefficients, levels and coordinates; and those of ln|I| by coordinates."""

    loss: float
    pull: Floats
    level: Floats
    slope: Floats
    bend: Floats

    @classmethod
    def zero(cls, shape: tuple[int, int], n_features: int) -> "_Score":
        """That of no rows."""
        R = shape[0]
        return cls(0.0, np.zeros((R, n_features)), np.zeros(R), np.zeros(shape), np.zeros(shape))


def _inverted(information: Floats) -> tuple[Floats | None, float]:
    """The inverse and the log determinant, or None where rounding leaves neither."""
    factor, info = lapack.dpotrf(information, lower=1)
    if info != 0:
        return None, -np.inf
    inverse = np.tril(lapack.dpotri(factor, lower=1)[0])
    # How much of a coefficient's information the others share, as one over what is left.
    inflation = np.diagonal(inverse) * np.diagonal(information)
    if not (inflation * 8 * len(factor) * EPSILON < 1.0).all():
        return None, -np.inf
    return inverse + np.tril(inverse, -1).T, 2.0 * float(np.log(np.diagonal(factor)).sum())


def _forms(inverse: Floats, shape: tuple[int, int]) -> Floats:
    """The (q, q) matrices J_ab of the inverse whose z'J_ab z are leverages, in the order of `pairs`."""
    R, q = shape
    blocks = inverse.reshape(R, q, R, q)
    each = np.stack([blocks[a, :, b] for a, b in pairs(R)])
    return 0.5 * (each + each.transpose(0, 2, 1))


def _leverage(Z: Floats, form: Floats) -> Floats:
    """h_ab = z'J_ab z of every row, (R, R, m); for several pairs from products of columns, formed once."""
    n_pairs, q, _ = form.shape
    n_products = q * (q + 1) // 2
    h: Floats
    if n_pairs == 1 or n_products > PRODUCTS:
        h = np.stack([np.einsum("ij,ij->i", Z @ each, Z) for each in form])
    else:
        upper = np.triu_indices(q)
        twice = np.where(upper[0] == upper[1], 1.0, 2.0)
        products = column_products(np.ascontiguousarray(Z.T), np.empty((n_products, len(Z))))
        h = (form[:, upper[0], upper[1]] * twice) @ products
    return unpacked(h, _n_scores(n_pairs))


def _n_scores(n_pairs: int) -> int:
    return int(np.sqrt(2 * n_pairs))  # R² < R(R + 1) < (R + 1)²
