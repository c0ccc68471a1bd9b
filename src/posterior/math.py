"""Log odds and probabilities, back and forth, exact to the last digits at both ends.

Nothing here clips and nothing adds an epsilon inside a log: a log odds of −1e5 comes out as −1e5.
Input is taken as float64; a scalar in gives a numpy float out; NaN in gives NaN out; no function warns.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from posterior._types import Floats

LOG_2PI = float(np.log(2 * np.pi))
# How far a row of probabilities may be from summing to one: what single precision leaves, and no more.
NOT_ONE = 1e-6

__all__ = ["log_sigmoid", "log_softmax", "log_sum_exp", "logit", "sigmoid", "softmax"]


def softmax(x: ArrayLike, *, axis: int = -1) -> Floats:
    """Softmax: probabilities proportional to the exponentials of the scores.

    softmax(x)_k = exp(x_k) / Σ_j exp(x_j). Adding a constant to every score changes nothing; multiplying
    does. Scores of +inf share all mass equally; a row of only −inf is uniform.

    >>> softmax([1, 2, 3]).round(3)
    array([0.09 , 0.245, 0.665])
    >>> softmax([1001, 1002, 1003]).round(3)
    array([0.09 , 0.245, 0.665])
    """
    scores = np.asarray(x, dtype=np.float64)
    with np.errstate(all="ignore"):
        _, shifted = _shift(np.atleast_1d(scores), axis)
        share = np.exp(shifted)
        share /= share.sum(axis=axis, keepdims=True)
    return _as_given(share, scores)


def are_places(places: Sequence[int], n: int) -> bool:
    """Whether these are different places among `n`.

    >>> are_places((2, 0), 3), are_places((1, 1), 3), are_places((3,), 3)
    (True, False, False)
    """
    return len(set(places)) == len(places) and all(0 <= place < n for place in places)


def log_softmax(x: ArrayLike, *, axis: int = -1) -> Floats:
    """Logarithm of the softmax, exact for any scores; NaN only if a score is NaN.

    log softmax(x)_k = x_k − log Σ_j exp(x_j). Scores of +inf share all mass equally. A row of only −inf
    says nothing about its K classes and is given the uniform log(1/K).

    >>> log_softmax([0, 1e5])
    array([-100000.,       0.])
    """
    scores = np.asarray(x, dtype=np.float64)
    with np.errstate(all="ignore"):
        _, shifted = _shift(np.atleast_1d(scores), axis)
        return _as_given(shifted - _log_total(shifted, axis), scores)


def log_sum_exp(x: ArrayLike, *, axis: int = -1) -> Floats:
    """Logarithm of a sum of exponentials, log Σ_j exp(x_j).

    The axis is summed away. Only −inf, or nothing at all, gives −inf: the log of an empty sum.

    >>> float(log_sum_exp([-1000, -1000]))
    -999.3068528194401
    """
    scores = np.atleast_1d(np.asarray(x, dtype=np.float64))
    with np.errstate(all="ignore"):
        top, shifted = _shift(scores, axis)
        total = np.where(np.isinf(top), top, top + _log_total(shifted, axis))
    return _scalar_if_0d(np.squeeze(total, axis=axis))


def sigmoid(x: ArrayLike) -> Floats:
    """Logistic sigmoid, σ(x) = 1 / (1 + exp(−x)): the probability with log odds x.

    σ(x) = 1 / (1 + exp(−x)), with σ′ = σ(1−σ); rising, convex below zero and concave above.

    >>> sigmoid([-1e5, 0, 2]).round(4)
    array([0.    , 0.5   , 0.8808])
    """
    log_odds = np.asarray(x, dtype=np.float64)
    with np.errstate(all="ignore"):
        small = np.exp(-np.abs(log_odds))
        return _scalar_if_0d(np.where(log_odds < 0, small, 1.0) / (1.0 + small))


def log_sigmoid(x: ArrayLike) -> Floats:
    """Logarithm of the sigmoid, ln σ(x), exact for any x.

    log σ(x) = −log(1 + exp(−x)); far on the left it is x itself.

    >>> log_sigmoid([-1e5, 0]).round(4)
    array([-1.000e+05, -6.931e-01])
    """
    log_odds = np.asarray(x, dtype=np.float64)
    with np.errstate(all="ignore"):
        return _scalar_if_0d(np.minimum(log_odds, 0.0) - np.log1p(np.exp(-np.abs(log_odds))))


def logit(p: ArrayLike) -> Floats:
    """Log odds of a probability, the inverse of `sigmoid`.

    logit(p) = log(p / (1−p)); −inf at 0 and +inf at 1. Anything outside [0, 1] is refused.

    >>> logit([0, 0.5, 0.8, 1]).round(4)
    array([  -inf, 0.    , 1.3863,    inf])
    """
    probability = np.asarray(p, dtype=np.float64)
    outside = (probability < 0) | (probability > 1)
    if outside.any():
        raise ValueError(
            f"logit needs probabilities between 0 and 1; found {probability[outside].flat[0]}"
            f" ({outside.sum()} of {outside.size} values outside). Log odds go to sigmoid, not to logit."
        )
    with np.errstate(all="ignore"):
        # log p − log(1−p) cancels near one half, where 2p − 1 is exact (Sterbenz's lemma).
        near_half = 2.0 * np.arctanh(2.0 * probability - 1.0)
        log_odds = np.log(probability) - np.log1p(-probability)
        return _scalar_if_0d(np.where(np.abs(probability - 0.5) < 0.25, near_half, log_odds))


def _shift(x: Floats, axis: int) -> tuple[Floats, Floats]:
    """Largest score along the axis (kept), and the scores less that one.

    Where the largest is infinite, the scores equal to it are tied at 0 and the others are at −inf.
    """
    top = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    return top, np.where(np.isinf(top), np.where(x == top, 0.0, -np.inf), x - top)


def _log_total(shifted: Floats, axis: int) -> Floats:
    """Log of Σ exp of scores whose largest is 0.

    By log1p of all but one largest term, so that a log probability of −1e-20 is not rounded to 0.
    """
    share = np.exp(shifted)
    if share.shape[axis]:
        np.put_along_axis(share, np.argmax(shifted, axis=axis, keepdims=True), 0.0, axis=axis)
    return np.asarray(np.log1p(share.sum(axis=axis, keepdims=True)))


def _as_given(result: Floats, given: Floats) -> Floats:
    """Give the result the shape of the input, which may have been a scalar."""
    return _scalar_if_0d(result.reshape(given.shape))


def _scalar_if_0d(result: Floats) -> Floats:
    unwrapped: Floats = result[()]
    return unwrapped


def sum_to_one(shares: Floats) -> bool:
    """Whether the numbers along the last axis sum to one.

    >>> sum_to_one(np.array([[0.5, 0.5], [0.2, 0.8]])), sum_to_one(np.array([0.5, 0.4]))
    (True, False)
    """
    return bool((np.abs(shares.sum(axis=-1) - 1) <= NOT_ONE).all())
