"""Goodness of fit: log-likelihoods, deviances, AIC and BIC, and R²."""

import numpy as np

from posterior.linear.basis import Basis
from posterior.linear.inference import Estimates
from posterior.linear.objective import Objective
from posterior.linear.penalties import ElasticNet
from posterior.linear.solvers.newton import Newton


def goodness_of_fit(objective: Objective, found: Estimates) -> dict[str, float]:
    """The figures of a fit, by name; the null model has constant scores, which are 0 without an intercept.

    As in statsmodels, AIC and BIC do not count the noise variance as a coefficient.
    """
    loss, weight, intercept = objective.loss, found.weight, objective.basis.intercept
    null = loss.null_value(objective.scan, weight, intercept)
    null = _null_value(objective) * weight if null is None else null
    likelihoods = loss.log_likelihood(found.value, weight), loss.log_likelihood(null, weight)
    left, whole = 2 * found.value, 2 * null
    figures = _figures(found, likelihoods, (left, whole))
    if not loss.estimates_dispersion:
        return {**figures, "McFadden R2": _one_less(*likelihoods)}
    share = _one_less(left, whole)
    adjusted = 1 - (weight - intercept) / found.df * (1 - share)
    return {**figures, "R2": share, "adjusted R2": adjusted, "sigma": float(np.sqrt(left / found.df))}


def _null_value(objective: Objective) -> float:
    """The mean loss of the best constant scores, by Newton steps."""
    d, intercept = objective.scan.n_features, objective.basis.intercept
    flat = Basis(np.zeros(d), np.zeros((d, 0)), intercept)
    level_only = Objective(objective.scan, objective.loss, ElasticNet(), flat)
    if not intercept:
        return level_only.slope(level_only.zero()).loss
    return Newton().minimize(level_only).point.loss


def _figures(
    found: Estimates, log_likelihood: tuple[float, float], deviance: tuple[float, float]
) -> dict[str, float]:
    """What both have in common, from log-likelihood and deviance of the model and of the null model."""
    return {
        "n": found.weight,
        "coefficients": found.rank,
        "df": found.df,
        "AIC": 2 * found.rank - 2 * log_likelihood[0],
        "BIC": float(np.log(found.weight)) * found.rank - 2 * log_likelihood[0],
        "log-likelihood": log_likelihood[0],
        "null log-likelihood": log_likelihood[1],
        "residual deviance": deviance[0],
        "null deviance": deviance[1],
    }


def _one_less(part: float, whole: float) -> float:
    return 1 - part / whole if whole else float("nan")
