"""How uncertain the coefficients of a ridge are: the posterior under the normal prior it stands for.

A ridge adds ½λ‖w‖² to minus the log-likelihood, which is minus the log of a prior w ~ N(0, φ/λ), φ being the
variance of the noise, 1 for classes. Near its mode the posterior is normal with the covariance φ(H + λ)⁻¹, H
the information of the rows: exactly so for normal noise of known variance, else to second order (Laplace).
"""

import numpy as np

from posterior._types import Floats
from posterior.linear.basis import column_moments
from posterior.linear.effective_parameters import effective_parameters
from posterior.linear.inference import Estimates, degrees_of_freedom, half_inverse
from posterior.linear.objective import Objective
from posterior.linear.scaled_design import ScaledDesign


def ridge_estimates(objective: Objective, theta: Floats) -> tuple[Estimates, str]:
    """The coefficients of a ridge at its optimum θ with their posterior covariance, and the prior in words.

    Those of more than two classes are the differences from the first class, as without a penalty.
    """
    seen, point, loss = column_moments(objective.scan), objective.slope(theta), objective.loss
    weight, value, rank = point.weight, point.loss * point.weight, effective_parameters(objective, theta)
    df = weight - rank
    noise = loss.dispersion(value, degrees_of_freedom(df) if loss.estimates_dispersion else df)
    contrasts = objective.contrasts
    against_first = contrasts[1:] - contrasts[:1] if len(contrasts) > 1 else contrasts
    table, spread = _as_read(objective), np.sqrt(seen.scatter[0] / seen.weight[0]) * _unit(objective)
    block = theta.reshape(objective.shape)
    half = half_inverse(objective.curvature(theta)) * np.sqrt(noise / weight)
    read = np.kron(against_first, table) @ half
    found = Estimates(
        coef=against_first @ block @ table.T,
        covariance=read @ read.T,
        spread=np.concatenate([[np.nan], spread]) if objective.basis.intercept else spread,
        facts=(),
        weight=weight,
        rank=rank,
        value=value,
    )
    variance = noise / (objective.penalty.l2 * weight)
    units = " per standard deviation of its column" if isinstance(objective.scan.design, ScaledDesign) else ""
    return found, f"each coefficient being N(0, {variance:.3g}) beforehand{units} (ridge)"


def _unit(objective: Objective) -> Floats:
    """The unit that each column was divided by."""
    design = objective.scan.design
    return design.spread if isinstance(design, ScaledDesign) else np.ones(objective.scan.n_features)


def _as_read(objective: Objective) -> Floats:
    """T, with T·(coordinates, level) = the intercept at x = 0 and the coefficients in the user's units."""
    basis, r = objective.basis, objective.basis.n_coordinates
    columns = basis.shown_coef(np.eye(r)).T
    coef = columns / _unit(objective)[:, None]
    if not basis.intercept:
        return coef
    table = np.zeros((len(coef) + 1, r + 1))
    table[0, :r], table[0, r] = -(basis.centre @ columns), 1.0
    table[1:, :r] = coef
    return table
