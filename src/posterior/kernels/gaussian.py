"""Sums and scores of Gaussian blocks: compiled code for many cells, the reference for few."""

import numpy as np

from posterior._types import Floats, Ints
from posterior.kernels import reference
from posterior.kernels.choice import compiled
from posterior.kernels.layouts import Table, in_rows
from posterior.kernels.memory import codes_of, weights_of
from posterior.kernels.reference import ClassMoments, ClassScatter

# With more classes than this the counters would not stay in the cache.
MANY = 1 << 10


def class_moments(table: Table, y: Ints, weight: Floats | None, n_classes: int) -> ClassMoments:
    """Moments by class and column over the cells that are not missing, and marks of the columns."""
    kernel = compiled("moments", table.size, len(y))
    if kernel is None:
        return reference.class_moments(in_rows(table), y, weight, n_classes)
    moments: ClassMoments = kernel.class_moments(table, y, weight, n_classes)
    return moments


def complete_scatter(
    table: Table, y: Ints, weight: Floats | None, n_classes: int, *, pooled: bool, fourth: bool
) -> tuple[ClassScatter, Floats] | None:
    """Scatter about the class means, with the rounding of the columns; None where cells are missing.

    On request also the mixed moments of order 3 and 4.
    """
    kernel = None if fourth else compiled("scatter", table.size, len(y))
    if kernel is not None:
        found: tuple[ClassScatter, Floats] | None = kernel.class_scatter(
            table, y, weight, n_classes, pooled=pooled
        )
        if found is not None:
            return found
    values = in_rows(table)
    if reference.has_missing(values):
        return None
    scatter = reference.class_scatter(values, y, weight, n_classes, pooled=pooled, fourth=fourth)
    return scatter, reference.rounding_of(values)


def class_weights(y: Ints, weight: Floats | None, n_classes: int) -> Floats:
    """The weight of each class, (K,).

    >>> class_weights(np.array([0, 2, 2]), None, 3)
    array([1., 0., 2.])
    """
    kernel = compiled("weights", 0, len(y) if n_classes <= MANY else 0)
    if kernel is None:
        return np.bincount(y, weight, n_classes).astype(np.float64)
    out = np.zeros(n_classes)
    kernel.add_weights(codes_of(y), weights_of(weight), out)
    return out
