"""The softmax loss of scores that are there: of sparse rows, and of rows so wide that products are BLAS's.

Reference: `SoftmaxLoss.slope`.
"""

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.jit import CODES, NUMBERS, TABLE, kernel
from posterior.kernels.compiled.row_tiles import TILE
from posterior.kernels.compiled.series import add_up
from posterior.kernels.compiled.softmax import LINES, turn_to_forces
from posterior.kernels.memory import codes_of, weights_of


@kernel(f"float64({TABLE}, {CODES}, {NUMBERS}, int64)")
def turn_scores(scores: Floats, target: Ints, weight: Floats, first: int) -> float:
    """The loss of rows whose scores (R, m) become its derivatives."""
    R, m = scores.shape
    T = TILE
    e, room, none = np.zeros((R + first, T)), np.empty((LINES, T)), np.empty((0, T))
    value = np.zeros(2)
    for at in range(0, m, T):
        k = min(T, m - at)
        if first:
            for r in range(T):
                e[0, r] = 0.0
        for c in range(R):
            for r in range(k):
                e[first + c, r] = scores[c, at + r]
            for r in range(k, T):
                e[first + c, r] = 0.0
        some = weight[at : at + k] if len(weight) else weight
        add_up(value, turn_to_forces(e, R + first, first, target[at : at + k], some, room, none))
        for c in range(R):
            for r in range(k):
                scores[c, at + r] = e[first + c, r]
    return float(value[0] + value[1])


def forces(scores: Floats, target: AnyArray, weight: Floats | None, n_classes: int) -> tuple[float, Floats]:
    """Σ w ℓ of scores (R, m), and its derivatives by them, which may be in their place."""
    scores = np.ascontiguousarray(scores)
    value = turn_scores(scores, codes_of(target), weights_of(weight), n_classes - len(scores))
    return value, scores
