"""Models of other libraries in a comparison: those of a user, and gradient boosting as a reference."""

from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier

from posterior.comparison.choosing import EstimatorChoice, NotForThisTableError
from posterior.comparison.facts import TableFacts
from posterior.comparison.given import told_kinds
from posterior.estimators.encoded_table import EncodedTableClassifier
from posterior.estimators.table_estimator import takes_tables

# Rows times columns times classes times fits that the reference may cost, and trees that it may grow.
MOST_WORK, MOST_TREES = 10_000_000, 30_000
TREES = 100
# More categories than this scikit-learn does not take as such; their codes are numbers then.
MOST_CATEGORIES = 255
REFERENCE = "reference"


def choice_of_estimator(estimator: Any, table: TableFacts) -> EstimatorChoice:
    """An estimator of a user as it is, on the table if it is one of ours, and else on the encoded table."""
    ours = takes_tables(estimator)
    columns = tuple(range(table.n_columns)) if ours else _numeric(table)
    if ours:
        return EstimatorChoice((told_kinds(estimator, table.pinned),), columns, "as it was given")
    if not columns:
        raise NotForThisTableError("no column that is not text")
    wrapped = EncodedTableClassifier(estimator, kinds=table.pinned or None)
    return EstimatorChoice((wrapped,), columns, "as it was given, categories as codes and gaps as NaN")


def reference_choice(table: TableFacts, n_fits: int) -> EstimatorChoice:
    """Gradient boosting by scikit-learn as it comes; not where it would cost too much."""
    columns = _numeric(table)
    if not columns:
        raise NotForThisTableError("no column that is not text")
    scores = 1 if table.n_classes == 2 else table.n_classes
    work, trees = table.n_rows * len(columns) * scores * n_fits, TREES * scores * n_fits
    if work > MOST_WORK or trees > MOST_TREES:
        raise NotForThisTableError(
            f"{n_fits} fits of {scores * TREES:,} trees to {table.n_rows:,} rows and {len(columns):,} "
            "columns would take longer than all else"
        )
    kinds = [table.schema.columns[j] for j in columns]
    few = [i for i, c in enumerate(kinds) if c.categories is not None and c.size < MOST_CATEGORIES]
    boosting = HistGradientBoostingClassifier(categorical_features=few or None, random_state=0)
    wrapped = EncodedTableClassifier(boosting, kinds=table.pinned or None)
    return EstimatorChoice((wrapped,), columns, "gradient boosting of scikit-learn, as it comes")


def _numeric(table: TableFacts) -> tuple[int, ...]:
    """The columns that can be encoded as numbers, in the order of the table."""
    columns = table.schema.columns
    return tuple(j for j in range(table.n_columns) if columns[j].kind != "text" and not columns[j].ignored)
