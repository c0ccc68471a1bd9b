"""Sums and scores of Gaussian blocks: compiled code for many cells, the reference for few."""

from typing import Protocol, TypeVar

import numpy as np

from posterior._pool import n_threads
from posterior._types import Bools, Floats, Ints
from posterior.kernels import gaps, reference
from posterior.kernels.choice import FROM_CELLS, compiled
from posterior.kernels.gaps import ExpectedSums, Gaussians
from posterior.kernels.layouts import NumberTable, in_rows
from posterior.kernels.memory import codes_of, weights_of
from posterior.kernels.reference import ClassMoments, ClassScatter

S_co = TypeVar("S_co", covariant=True)

# With more classes than this the counters would not stay in the cache.
MANY = 1 << 10
# With more classes × columns than this their moments would not: they are summed up class by class. Threads
# share out the classes where there are so many.
MANY_SUMS, SHARED_CLASSES = 1 << 15, 1 << 6
# The work of a cell of rows with gaps, in cells of complete rows; EM comes back to it a dozen times.
WORK = 8
# With fewer rows for a pattern of gaps than this, rows get a factor each instead of one a pattern.
FEW_ROWS = 32


def class_moments(table: NumberTable, y: Ints, weight: Floats | None, n_classes: int) -> ClassMoments:
    """Moments by class and column over the cells that are not missing, and marks of the columns."""
    kernel = compiled("moments", table.size, len(y))
    if kernel is None:
        return reference.class_moments(in_rows(table), y, weight, n_classes)
    rows = table, y, weight, n_classes
    if n_classes * table.shape[1] <= MANY_SUMS:
        moments: ClassMoments = kernel.class_moments(*rows)
        return moments
    by_class = compiled("moments_by_class", table.size, len(y))
    found: ClassMoments | None = by_class.class_moments(*rows)
    return by_class.moments_there(*rows) if found is None else found


def shares_out_classes(n_classes: int, n_columns: int) -> bool:
    """Whether threads share out the classes of `class_moments`: there are many, with many sums."""
    return n_classes >= SHARED_CLASSES and n_classes * n_columns > MANY_SUMS


class SumsOfParts(Protocol[S_co]):
    """Sums of every so many rows, which threads work out side by side."""

    def run(self, workers: int) -> None:
        """Work out all parts by so many threads."""

    def whole(self) -> S_co | None:
        """The sums, with an axis for the parts in front; None where cells are missing."""


def moments_of_parts(
    table: NumberTable, y: Ints, weight: Floats | None, n_classes: int, size: int
) -> SumsOfParts[ClassMoments] | None:
    """What `class_moments` gives of every `size` rows; None where parts are small."""
    kernel = compiled("moments", size * table.shape[1], size)
    parts: SumsOfParts[ClassMoments] | None = (
        None if kernel is None else kernel.MomentParts(table, y, weight, n_classes, size)
    )
    return parts


def scatter_of_parts(
    table: NumberTable, y: Ints, weight: Floats | None, n_classes: int, size: int, *, pooled: bool
) -> SumsOfParts[tuple[ClassScatter, Floats]] | None:
    """What `complete_scatter` gives of every `size` rows; None where parts are small."""
    kernel = compiled("scatter", size * table.shape[1], size)
    parts: SumsOfParts[tuple[ClassScatter, Floats]] | None = (
        None if kernel is None else kernel.ScatterParts(table, y, weight, n_classes, size, pooled=pooled)
    )
    return parts


def add_scatter_parts(
    weight: Floats, pivot: Floats, remainder: Floats, scatter: Floats, rounding: Floats
) -> bool:
    """Add up the scatter of parts in place, the sum being the first; False where compiled code is off."""
    kernel = compiled("merging", FROM_CELLS)  # parts come of compiled code
    if kernel is None:
        return False
    kernel.add_scatter_parts(weight, pivot, remainder, scatter, rounding)
    return True


def add_moment_parts(weight: Floats, pivot: Floats, remainder: Floats, scatter: Floats, mark: Floats) -> bool:
    """The same of moments."""
    kernel = compiled("merging", FROM_CELLS)
    if kernel is None:
        return False
    kernel.add_moment_parts(weight, pivot, remainder, scatter, mark)
    return True


def complete_scatter(
    table: NumberTable, y: Ints, weight: Floats | None, n_classes: int, *, pooled: bool, fourth: bool
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
    kernel = compiled("sums", 0, len(y) if n_classes <= MANY else 0)
    if kernel is None:
        return np.bincount(y, weight, n_classes).astype(np.float64)
    out = np.zeros(n_classes)
    kernel.add_weights(codes_of(y), weights_of(weight), out)
    return out


def count_small(labels: Ints, most: int) -> Ints | None:
    """How often each of the numbers 0 … most − 1 is there; None where there are others.

    >>> count_small(np.array([0, 2, 2]), 4), count_small(np.array([0, -2]), 4)
    (array([1, 0, 2, 0]), None)
    """
    kernel = compiled("sums", 0, len(labels)) if labels.dtype in (np.int64, np.int32) else None
    if kernel is None or not labels.flags.c_contiguous:
        if len(labels) and (labels.min() < 0 or labels.max() >= most):
            return None
        return np.bincount(labels.astype(np.int64, copy=False), minlength=most)
    counts: Ints | None = kernel.counts_of(labels, most, n_threads())
    return counts


def expected_sums(
    values: Floats, y: Ints, weight: Floats | None, given: Gaussians, *, fourth: bool = False
) -> ExpectedSums:
    """What each row's class expects of its gaps, added up by class; moments of order 3 and 4 on request."""
    fast = None if fourth else compiled("gaps", WORK * values.size)
    if fast is None:
        return gaps.expected_sums(values, y, weight, given, fourth=fourth)
    sums: ExpectedSums = fast.expected_sums(values, y, weight, given)
    return sums


def worth_a_factor(missing: Bools) -> bool:
    """Whether rows with gaps had better be scored one by one, and not by the patterns of their gaps.

    In compiled code always: a row is cheap, and finding the patterns is not.
    """
    if compiled("gap_scores", WORK * missing.size) is not None:
        return True
    return len(np.unique(gaps.pattern_keys(missing))) * FEW_ROWS > len(missing)


def gappy_log_density(values: Floats, rows: Ints, given: Gaussians, out: Floats) -> None:
    """Write the log densities (n, K) of rows with gaps: of the cells that are there, 0 if there is none."""
    fast = compiled("gap_scores", WORK * len(rows) * values.shape[1])
    (gaps if fast is None else fast).gappy_log_density(values, rows, given, out)
