"""How good probabilities are, by the classes that turned out to be true: proper scores."""

from typing import Any

import numpy as np

from posterior._types import Floats, Ints
from posterior.decision.posteriors import checked, class_codes, row_weights, same_rows


def log_loss(y: Any, log_posterior: Any, *, classes: Any = None, sample_weight: Any = None) -> float:
    """Minus the mean log posterior of the true class, in nats (Good 1952).

    Nothing is clipped: a row whose class had a posterior of zero makes it +inf.

    Parameters
    ----------
    y : array of shape (n,)
        True classes: codes 0 … K−1, or labels where `classes` names them.
    log_posterior : array of shape (n, K)
        Log posteriors.
    classes : array of shape (K,), default=None
        Names of the classes, in the order of the columns.
    sample_weight : array of shape (n,), default=None
        Weight 2 is the row twice, weight 0 the row not at all.

    >>> round(log_loss([0, 1], np.log([[0.5, 0.5], [0.75, 0.25]])), 4)
    1.0397

    """
    logs, codes, weight = scored_rows(y, log_posterior, classes, sample_weight)
    return mean_score(_minus_log(logs, codes), weight)


def log_loss_terms(y: Any, log_posterior: Any, *, classes: Any = None) -> Floats:
    """Minus the log posterior of each row's true class, the terms of `log_loss`, (n,).

    >>> terms = log_loss_terms([0, 1], np.log([[0.5, 0.5], [0.75, 0.25]]))
    >>> terms.round(3), float((terms.std(ddof=1) / np.sqrt(len(terms))).round(3))
    (array([0.693, 1.386]), 0.347)
    """
    return _minus_log(*of_each_row(y, log_posterior, classes))


def brier_score(y: Any, log_posterior: Any, *, classes: Any = None, sample_weight: Any = None) -> float:
    """Mean squared distance of the posteriors from the truth, Σ_k (p_k − 1[y = k])², between 0 and 2.

    This is the score of Brier (1950), summed over all classes. With two classes both terms are the same,
    and the (p₁ − 1[y = 1])² that is often given is half of it: scikit-learn's `brier_score_loss` halves it
    for two classes and not for more, unless `scale_by_half` is set.

    The parameters are those of `log_loss`.

    >>> brier_score([0, 1], np.log([[0.5, 0.5], [0.75, 0.25]]))
    0.8125
    """
    logs, codes, weight = scored_rows(y, log_posterior, classes, sample_weight)
    return mean_score(_squares(logs, codes), weight)


def brier_terms(y: Any, log_posterior: Any, *, classes: Any = None) -> Floats:
    """Squared distance of each row's posteriors from its true class, the terms of `brier_score`, (n,).

    >>> brier_terms([0, 1], np.log([[0.5, 0.5], [0.75, 0.25]]))
    array([0.5  , 1.125])
    """
    return _squares(*of_each_row(y, log_posterior, classes))


def scored_rows(
    y: Any, log_posterior: Any, classes: Any = None, sample_weight: Any = None
) -> tuple[Floats, Ints, Floats]:
    """Log posteriors, class codes and weights of the rows that count; weights of 1 where none are given."""
    logs, codes = of_each_row(y, log_posterior, classes)
    weight = row_weights(sample_weight, len(logs))
    if not len(logs):
        raise ValueError("there are no rows to score; pass at least one")
    counts = weight > 0
    return (logs, codes, weight) if counts.all() else (logs[counts], codes[counts], weight[counts])


def of_each_row(y: Any, log_posterior: Any, classes: Any) -> tuple[Floats, Ints]:
    """Log posteriors and the code of the true class of each row."""
    logs = checked(log_posterior)
    codes = class_codes(y, logs.shape[1], classes)
    same_rows(len(logs), y=codes)
    return logs, codes


def mean_score(terms: Floats, weight: Floats) -> float:
    """Weighted mean of the scores of rows; +inf where one of them is."""
    return float(weight @ terms / weight.sum())


def _minus_log(logs: Floats, codes: Ints) -> Floats:
    return np.asarray(0.0 - logs[np.arange(len(codes)), codes])


def _squares(logs: Floats, codes: Ints) -> Floats:
    distance = np.exp(logs)
    # 1 − p by expm1, or a posterior of 1 − 1e-20 would count as 1.
    rows = np.arange(len(codes))
    distance[rows, codes] = np.expm1(logs[rows, codes])
    return np.asarray((distance**2).sum(axis=1))
