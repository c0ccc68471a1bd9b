"""Gaussian rows with gaps: compiled code for large chunks, the reference for small ones."""

import numpy as np

from posterior._types import Bools, Floats, Ints
from posterior.kernels import gaps
from posterior.kernels.choice import compiled
from posterior.kernels.gaps import ExpectedSums, Gaussians

# The work of a cell of rows with gaps, in cells of complete rows; EM comes back to it a dozen times.
WORK = 8
# With fewer rows for a pattern of gaps than this, rows get a factor each instead of one a pattern.
FEW_ROWS = 32


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
