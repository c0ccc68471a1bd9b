"""Row numbers and identifiers: columns of whole numbers that name the rows, and say nothing of them."""

import re
from dataclasses import dataclass

import numpy as np

from posterior._types import AnyArray
from posterior.schema.cells import Cells, Numbers
from posterior.schema.readings.base import ColumnReading, the_way_out

# Rows that a table needs before numbers that are all different mean anything.
FEWEST = 20
# What spreadsheets, pandas, R and this package call row numbers, and what people call identifiers.
_TELLING = re.compile(
    r"unnamed: ?\d+(_level_\d+)?|column_1|level_0|\.\.\.1|index|idx|#|nr\.?|no\.?|obs|row(s|_?names?)?"
    r"|row[_ ]?(id|no|nr|num|number)|(.*[_\-. ])?(id|uuid|guid|key)",
    re.IGNORECASE,
)
_CAMEL = re.compile(r".*[a-z]I[Dd]")


@dataclass(frozen=True)
class LeftOut(ColumnReading):
    """A column that gives none: whether it is there, and what it holds, makes no difference.

    >>> LeftOut(0, "id").outputs
    ()
    """

    @property
    def outputs(self) -> tuple[str, ...]:
        """None."""
        return ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """None."""
        return ()

    def read(self, cells: Cells) -> tuple[Cells, ...]:
        """Return no column."""
        return ()


def find_row_numbers(place: int, name: str, cells: Numbers) -> LeftOut | None:
    """Return that a column is left out if its name and its numbers, all different, say that it names rows.

    >>> print(find_row_numbers(0, "PassengerId", Numbers("integer", np.arange(1, 892))).hint)
    counts the rows, as its name says: left out; kinds={'PassengerId': "continuous"} keeps it
    """
    if not is_telling(name) or not names_rows(cells):
        return None
    what = "counts the rows" if counts_rows(cells.array) else "a different whole number in each row"
    return LeftOut(
        place, name, f"{what}, as its name says: left out; {the_way_out(name, 'continuous')} keeps it"
    )


def is_telling(name: str) -> bool:
    """Return whether a column is called as row numbers and identifiers are.

    >>> [is_telling(name) for name in ("Unnamed: 0", "customer_id", "PassengerId", "paid", "idle", "x")]
    [True, True, True, False, False, False]
    """
    bare = name.strip()
    return not bare or bool(_TELLING.fullmatch(bare) or _CAMEL.fullmatch(bare))


def names_rows(cells: Numbers) -> bool:
    """Return whether a column of whole numbers without a gap has a different one in each row."""
    whole = cells.storage == "integer" and cells.missing is None and cells.array.dtype.kind in "iu"
    if not whole or len(cells.array) < FEWEST:
        return False
    few = cells.array[:FEWEST]
    return len(np.unique(few)) == len(few) and len(np.unique(cells.array)) == len(cells.array)


def counts_rows(array: AnyArray) -> bool:
    """Return whether different whole numbers follow each other without a gap, in any order of the rows."""
    return int(array.max()) - int(array.min()) == len(array) - 1
