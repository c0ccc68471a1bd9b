"""What a reading is: how the cells of one column of the user's table become columns of other cells."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from posterior._text import listed
from posterior.schema.cells import Cells, Labels


@dataclass(frozen=True)
class ColumnReading:
    """How one column of a table is read where its type does not tell; learnt in training, kept in the schema.

    `place` and `name` say which column of the user's table it is, `hint` what the user may want to change.
    A reading gives one column of the same name unless `outputs` says otherwise.
    """

    place: int
    name: str
    hint: str = ""

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the columns that it gives."""
        return (self.name,)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why each column that it gives is what it is."""
        raise NotImplementedError

    def read(self, cells: Cells) -> tuple[Cells, ...]:
        """Return the columns that it gives; cells that are what it gives already stay as they are."""
        raise NotImplementedError

    def form(self) -> Any:
        """What two readings of the same column must have in common."""
        return type(self), self.place, self.name, self.outputs


class ForeignCellsError(ValueError):
    """Cells of a column that are not what it was read as in training; `row` is where the first of them is."""

    def __init__(self, column: str, read_as: str, cells: tuple[str, ...], row: int) -> None:
        super().__init__(column, read_as, cells, row)
        self.column, self.read_as, self.cells, self.row = column, read_as, cells, row

    @classmethod
    def of(cls, column: str, read_as: str, labels: Labels, foreign: Collection[str]) -> Self:
        """The error on a column that holds some foreign cells."""
        codes = [code for code, level in enumerate(labels.levels) if level in foreign]
        row = int(np.isin(labels.codes, codes).argmax())
        return cls(column, read_as, tuple(sorted(foreign)), row)

    def __str__(self) -> str:
        return (
            f"column {self.column!r} is read as {self.read_as}, found {listed(self.cells, 3)} (first in row "
            f"{self.row}); write them as in training, or make them missing (None, NaN; --missing on the "
            "command line)"
        )


def the_way_out(name: str, kind: str) -> str:
    """Return how a column is declared to be of a kind; the command line says it as an option.

    >>> print(the_way_out("price", "categorical"))
    kinds={'price': "categorical"}
    """
    return f'kinds={{{name!r}: "{kind}"}}'
