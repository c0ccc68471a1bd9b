"""Regressions of a table set against each other: what `Comparison` is for classes, for numbers."""

from posterior.comparison.regression.comparison import RegressionComparison, fitted_to
from posterior.comparison.regression.models import REGRESSIONS, regressions_named
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
    "described_numbers",
    "fitted_to",
    "looks_like_numbers",
    "number_table",
    "numbered_rows",
    "regressions_named",
]
