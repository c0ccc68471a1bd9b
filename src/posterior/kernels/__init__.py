"""Pure functions of one chunk of rows. Everything heavy that a model does with data happens here."""

from posterior.kernels.discrete import (
    BinaryLookUps,
    LinearSums,
    LookUps,
    category_tables,
    class_sums,
    column_marks,
    ones_by_class,
)
from posterior.kernels.gaps import (
    ExpectedRows,
    ExpectedSums,
    GapGroup,
    Gaussians,
    expected_mixed_moments,
    expected_rows,
    gap_groups,
    pairs_there,
)
from posterior.kernels.gaussian import (
    class_moments,
    class_weights,
    complete_scatter,
    expected_sums,
    gappy_log_density,
    worth_a_factor,
)
from posterior.kernels.layouts import NumberTable, SeparateColumns, as_they_lie, in_rows, padded, tiles
from posterior.kernels.level_pairs import ParentSums, level_pair_counts
from posterior.kernels.memory import scratch
from posterior.kernels.normalizing import best, evidence, posteriors
from posterior.kernels.reference import (
    csr,
    has_missing,
    is_sparse,
    missing_patterns,
    one_hot,
    ratio,
    rounding_of,
    rows_by_class,
    rows_times,
    with_data,
)
from posterior.kernels.sparse import DistinctCells, dense, distinct_cells, without_zeros
from posterior.kernels.whole_numbers import WholeCodes, distinct_whole

__all__ = [
    "BinaryLookUps",
    "DistinctCells",
    "ExpectedRows",
    "ExpectedSums",
    "GapGroup",
    "Gaussians",
    "LinearSums",
    "LookUps",
    "NumberTable",
    "ParentSums",
    "SeparateColumns",
    "WholeCodes",
    "as_they_lie",
    "best",
    "category_tables",
    "class_moments",
    "class_sums",
    "class_weights",
    "column_marks",
    "complete_scatter",
    "csr",
    "dense",
    "distinct_cells",
    "distinct_whole",
    "evidence",
    "expected_mixed_moments",
    "expected_rows",
    "expected_sums",
    "gap_groups",
    "gappy_log_density",
    "has_missing",
    "in_rows",
    "is_sparse",
    "level_pair_counts",
    "missing_patterns",
    "one_hot",
    "ones_by_class",
    "padded",
    "pairs_there",
    "posteriors",
    "ratio",
    "rounding_of",
    "rows_by_class",
    "rows_times",
    "scratch",
    "tiles",
    "with_data",
    "without_zeros",
    "worth_a_factor",
]
