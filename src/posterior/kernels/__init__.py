"""Pure functions of one chunk of rows. Everything heavy that a model does with data happens here."""

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
    rounding_of,
    with_data,
)

__all__ = [
    "category_counts",
    "class_moments",
    "class_scatter",
    "class_sums",
    "column_marks",
    "has_missing",
    "is_sparse",
    "linear_sums",
    "missing_patterns",
    "rounding_of",
    "with_data",
]
