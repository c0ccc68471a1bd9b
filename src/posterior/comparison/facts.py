"""What decides which models suit a table: its rows, its classes, and the kinds of its columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from posterior._text import listed
from posterior.schema import Kind, LabelledTable, Schema

# A category with more levels than this, or half as many as rows, names rows rather than describes them.
FEW_LEVELS = 20
# Coefficients that categories may bring into a linear model; a fit takes their number cubed.
MOST_BY_CATEGORIES = 600


@dataclass(frozen=True, eq=False)
class TableFacts:
    """What the models of a comparison ask of a labelled table.

    >>> from posterior.schema import LabelledTable
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> facts = TableFacts(LabelledTable.of(X, y))
    >>> facts.n_rows, facts.n_classes, facts.continuous
    (150, 3, (0, 1, 2, 3))
    """

    rows: LabelledTable

    @property
    def schema(self) -> Schema:
        """What the columns are."""
        return self.rows.schema

    @property
    def kinds(self) -> Any:
        """What a user declared of the columns."""
        return self.rows.kinds

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.rows.classes)

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return len(self.schema)

    @cached_property
    def continuous(self) -> tuple[int, ...]:
        """The columns of numbers on a scale, which a covariance can describe."""
        return self.rows.where("continuous")

    @cached_property
    def others(self) -> tuple[int, ...]:
        """The columns of every other kind that have a value."""
        return self.rows.where("binary", "categorical", "count", "text")

    @cached_property
    def texts(self) -> tuple[int, ...]:
        """The columns of texts."""
        return self.rows.where("text")

    def names(self, columns: Sequence[int]) -> tuple[str, ...]:
        """What columns are called."""
        return tuple(self.schema.names[j] for j in columns)

    def chosen(self, columns: Sequence[int]) -> list[Any]:
        """Columns as an estimator takes them: by name where the table has names, else by position."""
        return list(self.names(columns)) if self.schema.named else list(columns)

    def has_gaps(self, columns: Sequence[int]) -> bool:
        """Whether some of these columns have a missing value."""
        return any(bool(np.isnan(self.rows.values((j,))).any()) for j in columns)

    @cached_property
    def pinned(self) -> dict[Any, Kind]:
        """Kinds to declare so that every part of the table is read as the whole is."""
        schema, pinned = self.schema, self.rows.pinned
        return {schema.names[j] if schema.named else j: kind for j, kind in pinned.items()}

    @cached_property
    def linear(self) -> "LinearColumns":
        """The columns that can have coefficients."""
        return LinearColumns.of(self)


@dataclass(frozen=True)
class LinearColumns:
    """Columns that can have coefficients, how many they take, and why others were left out."""

    used: tuple[int, ...]
    width: int
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: TableFacts) -> "LinearColumns":
        """Numbers and categories; no texts, no names of rows, and not the widest categories of too many."""
        columns = table.schema.columns
        texts = list(table.texts)
        many = [
            j
            for j in table.rows.where("categorical")
            if columns[j].size > max(FEW_LEVELS, table.n_rows // 2) and not columns[j].declared
        ]
        used = [j for j in range(table.n_columns) if not columns[j].empty and j not in {*texts, *many}]
        widths = {j: columns[j].size if columns[j].kind == "categorical" else 1 for j in used}
        most = MOST_BY_CATEGORIES // max(1, table.n_classes - 1)  # a number has one score, and no classes
        wide: list[int] = []
        for j in sorted(used, key=lambda j: -widths[j]):
            if sum(widths.values()) <= most or widths[j] <= FEW_LEVELS:
                break
            wide.append(j)
            del widths[j]
        reasons = [
            (texts, "text has no coefficients"),
            (many, "as good as a name for each row"),
            (wide, "too many categories"),
        ]
        told = tuple(f"{listed(table.names(found))}: {reason}" for found, reason in reasons if found)
        return cls(tuple(j for j in used if j in widths), sum(widths.values()), told)
