"""Lower bounds of a penalised minimum by Fenchel's inequality, along a ray of dual variables."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from posterior._linalg import EPSILON
from posterior._types import Floats
from posterior.linear.penalties import ElasticNet
from posterior.linear.scan import RowBlock

if TYPE_CHECKING:
    from posterior.linear.objective import Objective


@dataclass(frozen=True, eq=False)
class DualRay:
    """The lower bounds linear·s − ½ square·s² − penalty*(−s slope), 0 ≤ s ≤ top."""

    linear: float
    square: float
    slope: Floats
    top: float

    def highest(self, penalty: ElasticNet) -> float:
        """The highest of the bounds, to rounding."""
        steep = np.abs(self.slope)
        s = self.top
        if penalty.l2 == 0:
            steepest = float(steep.max(initial=0.0))
            s = s if s * steepest <= penalty.l1 else penalty.l1 / steepest * (1.0 - 4 * EPSILON)
        else:
            # The derivative is concave and piecewise linear, so that Newton's steps come down to its zero.
            for _ in range(50):
                over = np.maximum(s * steep - penalty.l1, 0.0)
                rise = self.linear - self.square * s - float((steep * over).sum()) / penalty.l2
                bend = self.square + float((steep[over > 0] ** 2).sum()) / penalty.l2
                if rise >= 0 or bend == 0:
                    break
                s = max(s + rise / bend, 0.0)
        return self.linear * s - 0.5 * self.square * s**2 - penalty.conjugate(-s * self.slope)


def mean_row(objective: "Objective") -> Floats:
    """The mean of the rows less the centre: zero where the centre is the mean of these very rows."""
    basis = objective.basis

    def totals(block: RowBlock) -> Floats:
        X = block.matrix - basis.centre if basis.far else block.matrix
        return np.append(block.weights @ X, block.weights.sum())

    sums = objective.scan.fold(totals)
    return np.asarray(sums[:-1] / sums[-1] - (0.0 if basis.far else basis.centre))
