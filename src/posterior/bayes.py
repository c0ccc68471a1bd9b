"""Bayes' rule on arrays: log densities and class priors to log posteriors."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from posterior._types import AnyArray, Floats
from posterior.math import sum_to_one

__all__ = ["given_priors", "log_normalized", "with_prior"]


def with_prior(log_density: Floats, log_prior: Floats) -> Floats:
    """Log posteriors up to a term of the row, the largest being 0; an impossible row gets the priors.

    >>> import numpy as np
    >>> scores = with_prior(np.log([[0.8, 0.6]]), np.log([2 / 3, 1 / 3]))  # a blue ball, two boxes
    >>> np.exp(log_normalized(scores)).round(4)                          # 8/11 and 3/11
    array([[0.7273, 0.2727]])
    """
    scores = log_density + log_prior
    peak = scores.max(axis=1, keepdims=True)
    impossible = np.isneginf(peak[:, 0])
    if impossible.any():
        scores[impossible] = np.broadcast_to(log_prior, scores.shape)[impossible]
        peak[impossible] = scores[impossible].max(axis=1, keepdims=True)
    scores -= peak
    return scores


def log_normalized(scores: Floats) -> Floats:
    """Log posteriors from scores of which the largest in each row is 0.

    >>> import numpy as np
    >>> np.exp(log_normalized(np.log([[1.0, 0.25]])))
    array([[0.8, 0.2]])
    """
    if scores.shape[1] == 2:  # one of the two is 0, and their sum is the other
        return np.asarray(scores - np.log1p(np.exp(scores[:, 0] + scores[:, 1]))[:, None])
    rows, best = np.arange(len(scores)), scores.argmax(axis=1)
    others = np.exp(scores)
    others[rows, best] = 0.0
    # ln(1 + the others) keeps a log posterior of −1e-20.
    return np.asarray(scores - np.log1p(others.sum(axis=1))[:, None])


# What categories and class labels may be.
LEVELS = (str, int, float, bool)


def decision_scores(log_posterior: Floats) -> Floats:
    """Log posteriors (n, K) as scikit-learn's `decision_function`: with two classes their log odds, (n,).

    >>> decision_scores(np.log([[0.2, 0.8]])).round(3)
    array([1.386])
    """
    if log_posterior.shape[1] != 2:
        return log_posterior
    return np.asarray(log_posterior[:, 1] - log_posterior[:, 0])


def impossible_classes(classes: AnyArray) -> str:
    """What no class labels are, in words: they are strings or numbers, sorted, each there once."""
    if classes.ndim != 1 or not len(classes):
        return "no classes"
    if classes.dtype.kind not in "biufU" and not all(type(label) in LEVELS for label in classes.tolist()):
        return "classes that are neither strings nor numbers"
    same = np.array_equal(np.unique(classes), classes)
    return "" if same else "classes that are not sorted, or come twice"


def impossible_priors(priors: Floats | None, n_classes: int) -> str:
    """What no priors of so many classes are, in words; none given are possible."""
    proper = priors is None or (priors.shape == (n_classes,) and (priors >= 0).all() and sum_to_one(priors))
    return "" if proper else "priors that do not sum to one"


def given_priors(given: Any, classes: AnyArray, more: str = "", hint: str = "") -> Floats:
    """Checked priors from what a user wrote, in the order of the classes.

    `more` says what else they may be, `hint` what else may be done if they are not as many as the classes.

    >>> import numpy as np
    >>> given_priors({"spam": 0.2, "ham": 0.8}, np.array(["ham", "spam"]))
    array([0.8, 0.2])
    >>> given_priors("uniform", np.array(["ham", "spam"]))
    array([0.5, 0.5])
    """
    if isinstance(given, str):
        if given != "uniform":
            raise ValueError(f"priors must be {more}'uniform', numbers or a mapping, found {given!r}")
        return np.full(len(classes), 1 / len(classes))
    if isinstance(given, Mapping):
        labels = classes.tolist()
        unknown = [k for k in given if k not in labels]
        absent = [k for k in labels if k not in given]
        if unknown or absent:
            raise ValueError(
                f"priors must name every class once: missing {absent}, not a class {unknown}; "
                f"the classes are {labels}"
            )
        given = [given[k] for k in labels]
    prior = np.asarray(given, dtype=np.float64)
    if prior.shape != (len(classes),):
        found = f"{prior.size}" if prior.ndim == 1 else f"an array of shape {prior.shape}"
        raise ValueError(
            f"Number of priors must match number of classes: found {found}, expected {len(classes)}, in the "
            f"order {classes.tolist()}{hint}"
        )
    if not (prior >= 0).all() or not np.isfinite(prior).all():
        raise ValueError(f"Priors must be non-negative and finite, found {prior.tolist()}")
    if abs(prior.sum() - 1) > 1e-6:
        raise ValueError(
            f"The sum of the priors should be 1, found {prior.sum():g}; divide them by their sum"
        )
    return np.asarray(prior / prior.sum())
