"""How well a linear model fits: log-likelihoods, deviances, criteria, and the share that is explained."""

import numpy as np
from scipy import special

from posterior.linear.inference import Estimates
from posterior.linear.losses import SoftmaxLoss
from posterior.linear.objective import Objective
from posterior.linear.scan import Block
from posterior.stats.scatter import Scatter


def goodness(objective: Objective, found: Estimates) -> dict[str, float]:
    """The figures of a fit, by name; what the null model is depends on whether there is an intercept."""
    if isinstance(objective.loss, SoftmaxLoss):
        return _likelihood(objective, found)
    return _least_squares(objective, found)


def _likelihood(objective: Objective, found: Estimates) -> dict[str, float]:
    """The figures of a softmax; its null model knows the classes' shares, without an intercept nothing."""
    n_classes = found.coef.shape[0] + 1
    log_likelihood = -found.value
    null = -found.weight * float(np.log(n_classes))
    if objective.axes.intercept:
        of_class = objective.scan.fold(lambda block: np.bincount(block.target, block.weight, n_classes))
        null = -found.weight * float(special.entr(of_class / found.weight).sum())
    figures = _figures(found, (log_likelihood, null), (-2 * log_likelihood, -2 * null))
    return {**figures, "McFadden R2": _one_less(log_likelihood, null)}


def _least_squares(objective: Objective, found: Estimates) -> dict[str, float]:
    """The figures of a normal target; the null model is its mean, or 0 without an intercept.

    As in statsmodels, AIC and BIC do not count the noise variance as a coefficient.
    """
    target = objective.scan.fold(_target)
    mean, intercept = float(target.location.value[0, 0]), objective.axes.intercept
    null = float(target.scatter[0, 0, 0]) + (0.0 if intercept else found.weight * mean**2)
    left = 2 * found.value
    share = _one_less(left, null)
    figures = _figures(found, (_normal(left, found.weight), _normal(null, found.weight)), (left, null))
    adjusted = 1 - (found.weight - intercept) / found.df * (1 - share)
    return {**figures, "R2": share, "adjusted R2": adjusted, "sigma": float(np.sqrt(left / found.df))}


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


def _target(block: Block) -> Scatter:
    target = np.asarray(block.target, dtype=np.float64)[:, None]
    return Scatter.of(target, np.zeros(len(target), dtype=np.int64), block.weight, 1)


def _normal(squares: float, weight: float) -> float:
    """The log-likelihood of errors with this sum of squares, at the variance that makes it largest."""
    with np.errstate(divide="ignore"):
        return float(-weight / 2 * (np.log(2 * np.pi * squares / weight) + 1))


def _one_less(part: float, whole: float) -> float:
    return 1 - part / whole if whole else float("nan")
