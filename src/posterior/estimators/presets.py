"""What presets with scikit-learn's names share."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from posterior._types import Floats
from posterior.estimators.base import GenerativeEstimator
from posterior.generative import ClassStatistics
from posterior.notices import warn
from posterior.schema import Schema, Source


def all_columns_as(source: Source, kind: str, kinds: Any) -> Schema:
    """Every column read as one kind."""
    if kinds is not None:
        return Schema.of(source, kinds)
    return Schema.of(source, [(slice(None), kind)])


def renormalized(priors: Any) -> Any:
    """Priors that add up to one; scikit-learn takes any positive numbers, so here it is only told."""
    if isinstance(priors, str | Mapping):
        return priors
    given = np.asarray(priors, dtype=np.float64)
    if not (given >= 0).all():
        raise ValueError(f"priors must be non-negative, found {given.tolist()}")
    total = float(given.sum())
    if not 0 < total < np.inf or abs(total - 1) <= 1e-5:
        return given
    warn("The priors do not sum to 1. Renormalizing", UserWarning)
    return given / total


def training_statistics(estimator: GenerativeEstimator) -> ClassStatistics:
    """The sums that the model was estimated from; a model of given distributions has none."""
    statistics = estimator.model_.statistics
    if statistics is None:
        raise AttributeError(estimator.model_.why_no_likelihood)
    return statistics


def class_weight(estimator: GenerativeEstimator) -> Floats:
    """Weight of each class in training."""
    return training_statistics(estimator).weight


def only_statistics(estimator: GenerativeEstimator) -> Any:
    """The sums of a model with a single block."""
    (block,) = training_statistics(estimator).blocks
    return block
