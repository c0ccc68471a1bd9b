"""Class priors: frequencies, even, smoothed, or given."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.bayes import given_priors

TO_COME = "; if more are to come, name them: partial_fit(classes=…)"


@dataclass(frozen=True)
class Priors:
    """How the class priors come about.

    `given` is None (class frequencies), "uniform", one number for each class in the order of the
    classes, or a mapping from class to number. `smoothing` is added to the count of every class.

    >>> np.exp(Priors(smoothing=1.0).log_prior(np.array([3.0, 1.0]), np.array(["a", "b"])))
    array([0.66666667, 0.33333333])
    """

    given: Any = None
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        given: Any = self.smoothing
        if isinstance(given, str) or not given >= 0:
            raise ValueError(f"prior_smoothing must be a number not below 0, found {self.smoothing!r}")

    def log_prior(self, weight: Floats, classes: AnyArray) -> Floats:
        """The log priors, (K,); −inf for a class without rows or with prior zero."""
        if self.given is None:
            counts = weight + self.smoothing
            prior = counts / counts.sum()
        else:
            prior = given_priors(self.given, classes, "None, ", TO_COME)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(prior))

    def log_prior_without(
        self, weight: Floats, classes: AnyArray, y: Ints, row_weight: Floats | None, alone: Bools
    ) -> Floats:
        """The log priors without each row of class `y`, (n, K); given ones do not change.

        A class whose only row is left out (`alone`, (K,)) is not there: −inf. Where no class would be left
        the priors stay as they are.

        >>> frequencies, classes = Priors(), np.array(["a", "b"])
        >>> one = np.array([False, True])
        >>> np.exp(frequencies.log_prior_without(np.array([3.0, 1.0]), classes, np.array([0, 1]), None, one))
        array([[0.66666667, 0.33333333],
               [1.        , 0.        ]])
        """
        fitted = self.log_prior(weight, classes)
        rows = np.arange(len(y))
        w = np.ones(1) if row_weight is None else row_weight
        out = np.repeat(fitted[None], len(y), axis=0)
        if self.given is None:
            counts = weight + self.smoothing
            rest = np.maximum(counts.sum() - w, 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                out += (np.log(counts.sum()) - np.log(rest))[:, None]
                out[rows, y] = np.log(np.maximum(counts[y] - w, 0.0)) - np.log(rest)
        gone = np.flatnonzero(alone[y])
        out[gone, y[gone]] = -np.inf
        out[gone[np.isneginf(out[gone]).all(axis=1)]] = fitted
        return out
