"""What a report is about: a comparison, the table it was made with, and where that came from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from posterior._types import Bools, Ints
from posterior.comparison import Comparison, Importance, Result
from posterior.comparison.imbalance import RareRows
from posterior.comparison.inputs import compared_table
from posterior.decision import CalibrationTest, calibration_test, log_loss_terms
from posterior.estimators.members import take
from posterior.estimators.table_estimator import fit_table
from posterior.plot.column_ranking import Telling
from posterior.plot.panels import MOST_RANKED
from posterior.report.words import printable
from posterior.schema import LabelledTable, Source, read_table
from posterior.schema.cells import Cells, Labels
from posterior.schema.sources import SparseSource


@dataclass(frozen=True, eq=False)
class Gaps:
    """Cells without a value, by column, and how many rows have one."""

    by_column: Ints
    rows: int

    @classmethod
    def of(cls, table: Source) -> "Gaps":
        """Count them, column by column.

        >>> gaps = Gaps.of(read_table([[1.0, None], [None, None], [2.0, "a"]]))
        >>> gaps.by_column, gaps.rows
        (array([1, 2]), 2)
        """
        if isinstance(table, SparseSource):
            where = table.matrix.tocoo()
            empty = np.isnan(where.data)
            by_column = np.bincount(where.coords[1][empty], minlength=table.n_columns)
            return cls(by_column, len(np.unique(where.coords[0][empty])))
        by_column, gappy = np.zeros(table.n_columns, np.int64), np.zeros(table.n_rows, np.bool_)
        for j in range(table.n_columns):
            missing = _missing(table.column(j))
            by_column[j] = missing.sum()
            gappy |= missing
        return cls(by_column, int(gappy.sum()))


def _missing(cells: Cells) -> Bools:
    return np.asarray(cells.codes < 0) if isinstance(cells, Labels) else cells.gaps()


@dataclass(frozen=True, eq=False)
class Subject:
    """All that a section may look at; what several need is worked out once.

    `rows` are those that have a class. `source` is how the data are called on the command line, `target` the
    class column, and `options` are those with which the data were read.
    """

    comparison: Comparison
    rows: LabelledTable
    source: str = ""
    target: str = ""
    options: Sequence[str] = ()

    @classmethod
    def of(cls, comparison: Comparison, X: Any, y: Any, **called: Any) -> Self:
        """The table of a comparison and its classes, read as the comparison did."""
        if isinstance(X, LabelledTable):
            return cls(comparison, X, **called)
        schema, table = comparison.schema, read_table(X)
        if isinstance(y, str) and not called.get("target"):
            called["target"] = y
        names = [*schema.inputs, *([y] if isinstance(y, str) else [])]
        if schema.named and table.names is not None and not set(table.names) <= set(names):
            # Columns that are no features said which rows go together.
            X = take(table, [j for j, name in enumerate(table.names) if name in names])
        declared = [(c.name, c.kind) for c in schema.columns if c.declared and c.name in names]
        rows = compared_table(X, y, kinds=declared or None)
        if isinstance(y, str) and len(rows.classes) != len(comparison.classes):  # which took them as written
            rows = compared_table(X, y, kinds={**dict(declared), y: "categorical"})
        predicted = np.searchsorted(rows.places, comparison.rows)
        same = len(rows) == comparison.n_rows and len(rows.classes) == len(comparison.classes)
        if not same or not np.array_equal(rows.codes[predicted], comparison.codes):
            raise ValueError(
                f"X and y have {len(rows):,} rows with a class, and the comparison was made with "
                f"{comparison.n_rows:,}, or with other classes; pass those that were compared"
            )
        aligned = replace(rows, X=schema.align(rows.source), kinds=schema)
        return cls(comparison, aligned, **called)

    @property
    def chosen(self) -> Result:
        """The model that is recommended."""
        return self.comparison.recommended

    @cached_property
    def classes(self) -> list[str]:
        """The names of the classes."""
        return [printable(name) for name in self.comparison.classes.tolist()]

    @cached_property
    def class_counts(self) -> Ints:
        """The rows of each class."""
        return np.bincount(self.rows.codes, minlength=len(self.classes))

    @cached_property
    def gaps(self) -> Gaps:
        """The cells without a value."""
        return Gaps.of(self.rows.source)

    @cached_property
    def calibration(self) -> CalibrationTest | None:
        """Whether the posteriors of the recommended model mean what they say; None where it has none."""
        chosen = self.chosen
        return None if chosen.log_proba is None else calibration_test(self.comparison.codes, chosen.log_proba)

    @cached_property
    def rare_rows(self) -> RareRows | None:
        """How the recommended model does with rare rows, where one class has nearly all."""
        return RareRows.of(self.comparison.codes, self.chosen.predicted, self.comparison.classes)

    @cached_property
    def repeated(self) -> bool:
        """Whether measures are means over repeats, of which held-out posteriors are the first."""
        chosen = self.chosen
        if chosen.log_proba is None or chosen.losses is None:
            return False
        first = log_loss_terms(self.comparison.codes, chosen.log_proba)
        return not np.array_equal(first, chosen.losses)

    @cached_property
    def telling(self) -> Telling:
        """What each column by itself says of the class on rows held out; of very many columns the first."""
        columns = [j for j in range(len(self.rows.schema)) if not self.rows.schema.columns[j].ignored]
        return Telling.of(self.rows, columns[:MOST_RANKED])

    @cached_property
    def ranked_columns(self) -> list[int]:
        """The columns that are no texts, ranked by what they say of the class; of very many the first."""
        gain = dict(zip(self.telling.columns, self.telling.gains.tolist(), strict=True))
        columns = self.rows.where("continuous", "binary", "categorical", "count")
        return sorted((j for j in columns if j in gain), key=lambda j: -gain[j])

    @cached_property
    def compared(self) -> LabelledTable:
        """The rows that were dealt out in folds, with the groups that they belong to."""
        comparison, rows = self.comparison, self.rows
        if comparison.dealt_rows is not None and len(comparison.dealt_rows) < len(rows):
            rows = rows.part(np.searchsorted(rows.places, comparison.dealt_rows))
        if rows.groups is None and comparison.groups is not None:
            return replace(rows, groups=comparison.groups)  # those that are predicted are all of them
        return rows

    @cached_property
    def fitted(self) -> Any:
        """The recommended model, trained with all rows that were compared."""
        return fit_table(clone(self.chosen.estimator), self.compared)

    @cached_property
    def importance(self) -> Importance | None:
        """How much the recommended model needs each column; None where it uses none."""
        chosen, folds = self.chosen, self.comparison.first_folds
        if not chosen.columns or folds is None:
            return None
        return Importance.of_table(
            self.compared,
            chosen.estimator,
            folds,
            used=chosen.columns,
            title=chosen.title,
            seed=self.comparison.seed,
        )

    def best(self, wanted: Callable[[Result], bool]) -> Result | None:
        """The best model of those wanted."""
        return next((result for result in self.comparison.results if wanted(result)), None)
