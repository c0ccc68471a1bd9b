"""Bayes' rule on log joint densities, in place: compiled code for many cells, NumPy for few."""

import numpy as np

from posterior._types import Bools, Floats, Ints
from posterior.bayes import log_normalized
from posterior.kernels.choice import compiled
from posterior.math import log_sum_exp


def posteriors(scores: Floats, log_prior: Floats, *, logs: bool) -> bool:
    """Turn log joint densities, up to a term of the row, into posteriors or log posteriors, in place.

    A row that is impossible under every class gets the priors. Returns whether each row had a finite score.
    """
    kernel = compiled("normalizing", scores.size, len(scores))
    if kernel is not None:
        return not kernel.normalize(scores, log_prior, logs)
    peak, odd = _peak(scores, log_prior)
    scores -= peak
    if logs:
        scores[:] = log_normalized(scores)
    else:
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
    return odd is None


def best(scores: Floats, log_prior: Floats, out: Ints) -> bool:
    """Write the class with the largest score, the first of equals; whether each row had a finite one."""
    kernel = compiled("normalizing", scores.size, len(scores))
    if kernel is not None:
        return not kernel.find_best(scores, log_prior, out)
    _, odd = _peak(scores, log_prior)
    out[:] = scores.argmax(axis=1)
    return odd is None


def evidence(joint: Floats, out: Floats) -> None:
    """Write ln Σ_k exp(joint_k) of each row."""
    kernel = compiled("normalizing", joint.size, len(joint))
    if kernel is not None:
        kernel.sum_up(joint, out)
    else:
        out[:] = log_sum_exp(joint)


def _peak(scores: Floats, log_prior: Floats) -> tuple[Floats, Bools | None]:
    """The largest score of each row, and which rows had no finite one: they get the priors."""
    peak = scores.max(axis=1, keepdims=True)
    if np.isfinite(peak.sum()):
        return peak, None
    odd = ~np.isfinite(peak[:, 0])
    if not odd.any():
        return peak, None
    scores[odd] = log_prior
    peak[odd] = log_prior.max()
    return peak, odd
