"""A table with a number for each row, and whether a column of numbers is one to predict or one of classes."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from posterior._text import data_value
from posterior._types import AnyArray, Floats, Ints
from posterior.comparison.facts import LinearColumns, TableFacts
from posterior.comparison.inputs import GivenColumn, GivenRows, read_from
from posterior.comparison.sampling import drawn
from posterior.estimators.members import take
from posterior.notices import DataWarning, warn
from posterior.schema import LabelledTable, Schema, Source, read_table

# A column of whole numbers with more different ones than this is no column of classes; nor is one with
# decimals with more than the second.
MOST_WHOLE, MOST_DECIMAL = 30, 10
# Parts of the numbers, from small to large, that every fold gets its share of.
PARTS = 5


def looks_like_numbers(values: AnyArray) -> bool:
    """Whether a column holds numbers to predict rather than classes: many different ones.

    >>> looks_like_numbers(np.arange(200) % 67), looks_like_numbers(np.arange(200) % 10)
    (True, False)
    >>> looks_like_numbers(np.arange(200) % 15 / 2), looks_like_numbers(np.array(["1", "2"]))
    (True, False)
    """
    if values.dtype.kind not in "fiu":
        return False
    known = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    distinct = np.unique(known)
    whole = bool((distinct == np.round(distinct)).all())
    return len(distinct) > (MOST_WHOLE if whole else MOST_DECIMAL)


def described_numbers(values: AnyArray) -> str:
    """A column of numbers in a few words.

    >>> described_numbers(np.array([9, 46, 12])), described_numbers(np.array([0.5, np.nan, 2.0]))
    ('3 different whole numbers from 9 to 46', '2 different numbers from 0.5 to 2')
    """
    known = values[np.isfinite(values)]
    distinct = np.unique(known)
    whole = "whole " if (distinct == np.round(distinct)).all() else ""
    low, high = (data_value(float(end)) for end in (distinct[0], distinct[-1]))
    return f"{len(distinct):,} different {whole}numbers from {low} to {high}"


@dataclass(frozen=True, eq=False)
class NumberTable:
    """A table, the number of each row, and what else is known of them: groups, time, their places.

    `positions` are the places of the rows in a table that has `dropped` others besides, whose number is not
    known; `target` is what it calls the column of numbers.
    """

    rows: LabelledTable
    y: Floats
    dropped: int = 0
    target: str = ""

    def __len__(self) -> int:
        return len(self.y)

    @property
    def schema(self) -> Schema:
        """What the columns are."""
        return self.rows.schema

    @property
    def groups(self) -> Ints | None:
        """Which rows belong together, if any do."""
        return self.rows.groups

    @property
    def time(self) -> Ints | None:
        """The order of the rows in time, if they have one."""
        return self.rows.time

    @property
    def places(self) -> Ints:
        """Where the rows stand in the table that they were taken from."""
        return self.rows.places

    @cached_property
    def part_of(self) -> Ints:
        """Which part of the numbers, from small to large, each row is in."""
        order = np.argsort(np.argsort(self.y, kind="stable"), kind="stable")
        return (order * PARTS // len(self.y)).astype(np.int64)

    @cached_property
    def linear(self) -> LinearColumns:
        """The columns that can have coefficients."""
        return LinearColumns.of(TableFacts(self.rows))

    @cached_property
    def design(self) -> Source:
        """The columns that can have coefficients, as a table."""
        source = self.rows.source
        called = self.schema.names if source.names is None else source.names
        kept = {read_from(self.schema, self.schema.names[j]) for j in self.linear.used}
        used = [j for j, name in enumerate(called) if name in kept]
        return read_table(take(source, used))

    @property
    def kinds(self) -> Any:
        """What was declared of the columns that can have coefficients, by name or by place."""
        names = self.design.names
        declared = {column.name: column.kind for column in self.schema.columns if column.declared}
        if names is not None:
            return {name: kind for name, kind in declared.items() if name in names} or None
        used = [self.schema.names[j] for j in self.linear.used]
        return {i: declared[name] for i, name in enumerate(used) if name in declared} or None

    @cached_property
    def has_gaps(self) -> bool:
        """Whether a column that can have coefficients has a cell without a value."""
        facts = TableFacts(self.rows)
        return any(
            bool((self.rows.levels(j) < 0).any()) if self.schema.columns[j].size else facts.has_gaps((j,))
            for j in self.linear.used
        )

    def drawn(self, chosen: Ints) -> "NumberTable":
        """Some of the rows, which know their places in the table."""
        return replace(self, rows=drawn(self.rows, chosen), y=self.y[chosen])


def number_table(X: Any, y: Any, *, groups: Any = None, time: Any = None, kinds: Any = None) -> NumberTable:
    """The rows whose number is known, and their groups and times, which may be columns of the table by name.

    >>> number_table([[1.0], [2.0], [3.0]], ["€ 10", "€ 20", "€ 40"], kinds=None).y
    Traceback (most recent call last):
    ValueError: a regression needs numbers in y, found '€ 10'; compare classes instead
    """
    if isinstance(X, NumberTable):
        return X
    return numbered_rows(GivenRows.read(X, y, groups=groups, time=time, kinds=kinds))


def numbered_rows(given: GivenRows) -> NumberTable:
    """The rows of a table whose number is known."""
    numbers = _numbers(given.y)
    known = np.flatnonzero(~np.isnan(numbers))
    if not np.isfinite(numbers[known]).all():
        raise ValueError("y holds an infinite number; leave its row out")
    if len(known) < 2 or np.ptp(numbers[known]) == 0:
        raise ValueError("y holds one number only, in all rows; there is nothing to predict")
    rows = LabelledTable.unlabelled(given.table_of(known), given.kinds)
    rows = replace(rows, positions=known, **given.ranks_of(known))
    table = NumberTable(rows, numbers[known], len(numbers) - len(known), given.target)
    if sentence := without_number(table):
        warn(sentence, DataWarning)
    return table


def without_number(table: NumberTable) -> str:
    """How many rows were left out since they have no number; nothing if none was."""
    n_rows = len(table) + table.dropped
    return f"rows without a number, left out: {table.dropped} of {n_rows}" if table.dropped else ""


def _numbers(column: GivenColumn) -> Floats:
    """The numbers of a column, NaN where there is none."""
    values, gaps = column.values, column.gaps
    if values.dtype.kind not in "fiub":
        known = [value for value, gap in zip(values.tolist(), gaps, strict=True) if not gap]
        wrong = next((value for value in known if isinstance(value, str | bytes)), None)
        if wrong is not None or values.dtype.kind != "O":
            shown = repr(wrong if wrong is not None else known[0])
            raise ValueError(f"a regression needs numbers in y, found {shown}; compare classes instead")
    out = np.full(len(gaps), np.nan)
    out[~gaps] = values[~gaps].astype(np.float64)
    return out
