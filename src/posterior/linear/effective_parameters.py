"""How many parameters a penalised fit is worth."""

import numpy as np

from posterior._linalg import EPSILON
from posterior._types import Floats
from posterior.linear.objective import Objective


def effective_parameters(objective: Objective, theta: Floats) -> float:
    """The trace of H(H + P)⁻¹, H being the Hessian of the losses at θ and P that of the penalty.

    Without a penalty, and with Firth's, it is the rank of H: how many coefficients the rows determine. Under
    a ridge each direction counts by how little the penalty shrinks it (Hastie, Tibshirani & Friedman, 2009,
    section 7.6). Under a lasso only what is not zero counts (Zou, Hastie & Tibshirani, 2007).
    """
    if objective.loss.kinked:  # least absolute deviations, without a penalty: all that is free
        return float(objective.size)
    hessian = objective.of_losses().curvature(theta)
    penalty = objective.ridge() if objective.convex else np.zeros_like(hessian)
    if objective.penalty.l1:
        shape = objective.shape
        used = theta.reshape(shape) != 0
        used[:, objective.basis.n_coordinates :] = True
        kept = np.flatnonzero(used.ravel())
        hessian, penalty = hessian[np.ix_(kept, kept)], penalty[np.ix_(kept, kept)]
    found = _trace(hessian, penalty)
    return found if objective.penalty.l2 else float(round(found))  # a count, but for rounding


def _trace(hessian: Floats, penalty: Floats) -> float:
    """The trace of H(H + P)⁺, in units in which H + P has ones on its diagonal."""
    both = hessian + penalty
    size = np.sqrt(np.diagonal(both))
    unit = np.where(size > 0, size, 1.0)
    values, turn = np.linalg.eigh(both / unit[:, None] / unit)
    kept = values > len(values) * EPSILON * max(float(values.max(initial=0.0)), 0.0) * 100
    along = turn[:, kept]
    own = np.einsum("ij,ij->j", along, (hessian / unit[:, None] / unit) @ along)
    return float((own / values[kept]).sum())
