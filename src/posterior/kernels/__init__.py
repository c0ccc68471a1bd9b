"""Pure functions of one chunk of rows. Everything heavy that a model does with data happens here."""

from posterior.kernels.gaps import (
    ExpectedRows,
    GapGroup,
    expected_mixed_moments,
    expected_rows,
    gap_groups,
    gappy_log_density,
    pattern_keys,
)
from posterior.kernels.reference import (
    category_counts,
    class_moments,
    class_scatter,
    class_sums,
    column_marks,
    has_missing,
    is_sparse,
    linear_sums,
    missing_patterns,
    ratio,
    rounding_of,
    rows_by_class,
    with_data,
)

__all__ = [
    "ExpectedRows",
    "GapGroup",
    "category_counts",
    "class_moments",
    "class_scatter",
    "class_sums",
    "column_marks",
    "expected_mixed_moments",
    "expected_rows",
    "gap_groups",
    "gappy_log_density",
    "has_missing",
    "is_sparse",
    "linear_sums",
    "missing_patterns",
    "pattern_keys",
    "ratio",
    "rounding_of",
    "rows_by_class",
    "with_data",
]
