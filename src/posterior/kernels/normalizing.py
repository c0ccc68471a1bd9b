"""Bayes' rule on log joint densities, in place: compiled code for many cells, NumPy for few."""

import numpy as np

from posterior._types import Floats, Ints
from posterior.bayes import log_normalized
from posterior.kernels.choice import compiled
from posterior.math import log_sum_exp


def posteriors(scores: Floats, log_prior: Floats, *, logs: bool) -> bool:
    """Turn log joint densities, up to a term of the row, into posteriors or log posteriors, in place.

    A row that is impossible under every class gets the priors. Returns whether every score was finite.
    """
    kernel = compiled("normalizing", scores.size, len(scores))
    if kernel is not None:
        return not kernel.normalize(scores, log_prior, logs)
    finite, peak = _peak(scores, log_prior)
    with np.errstate(over="ignore"):  # beyond the range of numbers a log posterior is −inf
        scores -= peak
    if logs:
        scores[:] = log_normalized(scores)
    else:
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
    return finite


def best(scores: Floats, log_prior: Floats, out: Ints) -> bool:
    """Write the class with the largest score, the first of equals; whether every score was finite."""
    kernel = compiled("normalizing", scores.size, len(scores))
    if kernel is not None:
        return not kernel.find_best(scores, log_prior, out)
    finite, _ = _peak(scores, log_prior)
    out[:] = scores.argmax(axis=1)
    return finite


def evidence(joint: Floats, out: Floats) -> None:
    """Write ln Σ_k exp(joint_k) of each row."""
    kernel = compiled("normalizing", joint.size, len(joint))
    if kernel is not None:
        kernel.sum_up(joint, out)
    else:
        out[:] = log_sum_exp(joint)


def _peak(scores: Floats, log_prior: Floats) -> tuple[bool, Floats]:
    """Whether all scores are finite, and the largest of each row; a row without one gets the priors."""
    peak = scores.max(axis=1, keepdims=True)
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(scores.sum()):  # which nothing else survives
            return True, peak
    odd = ~np.isfinite(peak[:, 0])
    scores[odd] = log_prior
    peak[odd] = log_prior.max()
    return bool(np.isfinite(scores[~odd]).all() and not odd.any()), peak
