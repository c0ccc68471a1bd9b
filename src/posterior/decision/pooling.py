"""Weights of models of the same columns, of which a few share the say."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from posterior._types import Floats
from posterior.decision.fusion import LearningRows

# So many models share the say, and one whose weight is smaller has none.
MOST_MODELS, LEAST_WEIGHT = 5, 0.02
# Standard deviation of the prior of each weight about the best model alone.
SPREAD = 0.5


def pool_weights(
    log_posteriors: Any,
    y: Any,
    log_prior: Any,
    *,
    classes: Any = None,
    sample_weight: Any = None,
    spread: float = SPREAD,
    names: Sequence[str] | None = None,
) -> Floats:
    """Sparse weights for `fuse` of models of the same columns, chosen by log loss on held-out rows, (M,).

    As `fusion_weights`, for models that have seen the same columns: each weight has a normal prior about the
    best model alone (1 for it, 0 for the others), so that few rows stay with that model. Five models at most
    have a weight, none below 0.02 but the best; a single model has 1. The log loss of these rows is never
    above that of the best.

    Parameters
    ----------
    log_posteriors, y, log_prior, classes, sample_weight, names
        As for `fusion_weights`.
    spread : float, default=0.5
        Standard deviation of the prior of the weights.

    >>> good = np.log(np.repeat([[0.8, 0.2], [0.3, 0.7]], [500, 500], axis=0))
    >>> coin = np.log(np.full((1000, 2), 0.5))
    >>> y = np.repeat([0, 1, 0, 1], [400, 100, 150, 350])
    >>> pool_weights([coin, good], y, np.log([0.5, 0.5])).round(2)
    array([0., 1.])

    """
    rows = LearningRows.of(log_posteriors, y, log_prior, classes, sample_weight, names)
    weights, kept = np.zeros(len(rows.ratios)), list(rows.usable)
    if len(weights) == 1:  # nobody to share with
        return np.ones(1)
    if not kept:
        return weights
    alone = np.eye(len(weights))
    best = min(kept, key=lambda m: rows.loss(alone[m]))
    while True:
        found = rows.best_weights(kept, alone[best, kept], spread)
        small = [m for m, w in zip(kept, found.tolist(), strict=True) if w < LEAST_WEIGHT and m != best]
        others = [m for m in kept if m != best and m not in small]
        ranked = sorted(others, key=lambda m: -found[kept.index(m)])
        if not small and len(kept) <= MOST_MODELS:
            weights[kept] = found
            return weights
        kept = sorted([best, *ranked[: MOST_MODELS - 1]])
