"""Regressions of a table set against each other: what `Comparison` is for classes, for numbers."""

from posterior.comparison.regression.comparison import RegressionComparison, checked_models, fitted_to
from posterior.comparison.regression.models import REGRESSIONS
from posterior.comparison.regression.result import RegressionResult
from posterior.comparison.regression.table import (
    NumberTable,
    described_numbers,
    looks_like_numbers,
    number_table,
    numbered_rows,
)

__all__ = [
    "REGRESSIONS",
    "NumberTable",
    "RegressionComparison",
    "RegressionResult",
    "checked_models",
    "described_numbers",
    "fitted_to",
    "looks_like_numbers",
    "number_table",
    "numbered_rows",
]
