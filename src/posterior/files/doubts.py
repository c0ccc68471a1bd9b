"""What may be wrong with how a file was read, though nothing says so for certain: each in one line."""

from collections.abc import Iterator, Sequence
from shlex import quote
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from posterior.files.cells import columns_by_name
from posterior.files.errors import in_quotes
from posterior.files.options import Reading
from posterior.notices import DataWarning, warn

# What the last row of a spreadsheet is called where it adds up the others.
SUMS = frozenset(
    {"total", "totals", "grand total", "sum", "sums", "subtotal", "average", "mean", "summe", "gesamt"}
    | {"somme", "suma", "totale", "totaal", "总计", "合計"}
)
# Marks that are not tried where a file is looked at, and that may separate its cells.
_OTHER_MARKS = {" ": "space", ":": ":", ";": ";", "|": "|", "^": "^", "~": "~"}


def tell_doubts(name: str, table: Any, reading: Reading, *, written: bool) -> None:
    """Say what may be wrong with a whole table; `written` says that it is text or a sheet, without types."""
    found = [_last_row(table)] if not reading.foot else []
    if written and reading.header and reading.names is None:
        found += [_first_row(table), _one_column(table)]
    for doubt in filter(None, found):
        warn(f"{name}: {doubt}", DataWarning)


def _first_row(table: Any) -> str:
    """Return that names of columns look like a row: a number above numbers, or cells of their columns."""
    columns = columns_by_name(table)
    texts = [each for each, cells in columns.items() if pa.types.is_string(cells.type)]
    numbers = [each for each in columns if each not in texts and _is_number(each)]
    if numbers and not _count_on(numbers):
        odd = numbers[0]
    elif len(texts) > 1 and all(pc.any(pc.equal(columns[each], each)).as_py() for each in texts):
        odd = texts[0]
    else:
        return ""
    return f"{in_quotes(odd)} is the name of a column, and looks like a cell; --no-header takes it as one"


def _one_column(table: Any) -> str:
    """Return that the only column has something in its name that may separate cells."""
    (title, *others) = table.column_names
    mark = next((mark for mark in _OTHER_MARKS if mark in title), None)
    if others or mark is None:
        return ""
    return f"one column, named {in_quotes(title)}; if it is several, --delimiter {quote(_OTHER_MARKS[mark])}"


def _last_row(table: Any) -> str:
    """Return that the last row is a sum of the others, by a word that no other row has."""
    last = table.slice(table.num_rows - 1)
    for column, cells in columns_by_name(last).items():
        word: str = cells[0].as_py() or "" if pa.types.is_string(cells.type) else ""
        is_sum = word.strip(" :").lower() in SUMS and table.num_rows > 2
        if is_sum and pc.sum(pc.equal(table[column], word)).as_py() == 1:
            return f"the last row looks like a sum ({in_quotes(word)} in {column!r}); --foot 1 leaves it out"
    return ""


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _count_on(names: Sequence[str]) -> bool:
    """Return whether names are whole numbers that follow each other, such as years or 0, 1, 2."""
    values = [int(name) if name.isdecimal() else None for name in names]
    first = values[0]
    return first is not None and values == list(range(first, first + len(values)))


def without_last(tables: Iterator[Any], n: int) -> Iterator[Any]:
    """Give the same tables without the last n rows of all of them; at least one table.

    >>> parts = [pa.table({"x": [1, 2]}), pa.table({"x": [3]})]
    >>> [part["x"].to_pylist() for part in without_last(iter(parts), 2)]
    [[], [1]]
    """
    held: Any = None
    for table in tables:
        held = table if held is None else pa.concat_tables([held, table], promote_options="default")
        ready = max(0, held.num_rows - n)
        yield held.slice(0, ready)
        held = held.slice(ready)
