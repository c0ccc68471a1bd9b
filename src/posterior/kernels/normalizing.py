"""Bayes' rule on log joint densities, in place: compiled code for many cells, NumPy for few."""

import numpy as np

from posterior._types import Floats, Ints
from posterior.bayes import log_normalized
from posterior.kernels.choice import compiled
from posterior.kernels.memory import writable
from posterior.math import log_sum_exp

# Classes up to which rows are worked on class by class: NumPy takes short rows one by one, which is four
# times as slow for sums and ten times for the largest.
FEW_CLASSES = 8
# Classes from which on compiled code goes row by row: with fewer, 64 rows side by side are faster.
WIDE_ROWS = 48
# What `wide_rows` is asked for, and no levels.
POSTERIORS, LOG_POSTERIORS, BEST = 1, 2, 3
NO_LEVELS, NO_PLACES = np.empty(0), np.empty(0, np.int64)


def posteriors(scores: Floats, log_prior: Floats, *, logs: bool) -> bool:
    """Turn log joint densities, up to a term of the row, into posteriors or log posteriors, in place.

    A row that is impossible under every class gets the priors. Returns whether every score was finite.
    """
    if scores.shape[1] >= WIDE_ROWS:
        kernel = compiled("wide_rows", scores.size, len(scores))
        if kernel is not None:
            what, odd = LOG_POSTERIORS if logs else POSTERIORS, np.empty(len(scores), np.bool_)
            return not kernel.finish_rows(scores, NO_LEVELS, log_prior, what, NO_PLACES, odd)
    kernel = compiled("normalizing", scores.size, len(scores))
    if kernel is not None:
        return not kernel.normalize(scores, log_prior, logs)
    finite, peak = _peak(scores, log_prior)
    with np.errstate(over="ignore"):  # beyond the range of numbers a log posterior is −inf
        _by_row(np.subtract, scores, peak)
    if logs:
        scores[:] = log_normalized(scores)
    else:
        np.exp(scores, out=scores)
        _by_row(np.divide, scores, _over_classes(np.add, scores))
    return finite


def best(scores: Floats, log_prior: Floats, out: Ints) -> bool:
    """Write the class with the largest score, the first of equals; whether every score was finite."""
    if scores.shape[1] >= WIDE_ROWS:
        kernel = compiled("wide_rows", scores.size, len(scores))
        if kernel is not None:
            odd = np.empty(len(scores), np.bool_)
            return not kernel.finish_rows(writable(scores), NO_LEVELS, log_prior, BEST, out, odd)
    kernel = compiled("normalizing", scores.size, len(scores))
    if kernel is not None:
        return not kernel.find_best(scores, log_prior, out)
    finite, _ = _peak(scores, log_prior)
    out[:] = scores[:, 1] > scores[:, 0] if scores.shape[1] == 2 else scores.argmax(axis=1)
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
    peak = _over_classes(np.maximum, scores)
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(scores.sum()):  # which nothing else survives
            return True, peak
    odd = ~np.isfinite(peak[:, 0])
    scores[odd] = log_prior
    peak[odd] = log_prior.max()
    return bool(np.isfinite(scores[~odd]).all() and not odd.any()), peak


def fill_rows(scores: Floats, by_class: Floats) -> None:
    """Write the same numbers (K,) into every row."""
    if len(by_class) > FEW_CLASSES:
        scores[:] = by_class
        return
    for k, number in enumerate(by_class.tolist()):
        scores[:, k] = number


def add_to_rows(scores: Floats, by_class: Floats) -> Floats:
    """Add the same numbers (K,) to every row, in place."""
    if len(by_class) > FEW_CLASSES:
        scores += by_class
        return scores
    for k, number in enumerate(by_class.tolist()):
        scores[:, k] += number
    return scores


def _by_row(combine: np.ufunc, scores: Floats, other: Floats) -> None:
    """Combine the scores with a number of each row (n, 1), in place."""
    if scores.shape[1] > FEW_CLASSES:
        combine(scores, other, out=scores)
        return
    for k in range(scores.shape[1]):
        combine(scores[:, k : k + 1], other, out=scores[:, k : k + 1])


def _over_classes(combine: np.ufunc, scores: Floats) -> Floats:
    """The largest score of each row, or their sum, (n, 1)."""
    if scores.shape[1] > FEW_CLASSES:
        return np.asarray(combine.reduce(scores, axis=1, keepdims=True))
    found = scores[:, :1].copy()
    for k in range(1, scores.shape[1]):
        combine(found, scores[:, k : k + 1], out=found)
    return found
