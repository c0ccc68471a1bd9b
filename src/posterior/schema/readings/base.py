"""What a reading is: how the cells of one column of the user's table become columns of other cells."""

from dataclasses import dataclass
from typing import Any

from posterior.schema.cells import Cells


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


def the_way_out(name: str, kind: str) -> str:
    """Return how a column is declared to be of a kind; the command line says it as an option.

    >>> print(the_way_out("price", "categorical"))
    kinds={'price': "categorical"}
    """
    return f'kinds={{{name!r}: "{kind}"}}'
