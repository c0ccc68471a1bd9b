"""Where a table begins in text or a sheet, and what its columns are called."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from posterior.files.cells import clean, unique_names
from posterior.files.errors import FileError, in_quotes
from posterior.files.formulas import unguarded
from posterior.files.options import Reading
from posterior.notices import DataWarning, warn

# As many rows are looked at to find the header.
HEADER_ROWS = 100
_NO_HEADER = "; if the first row is data, pass header=False (--no-header)"


def column_names(name: str, first: Sequence[str], reading: Reading) -> tuple[str, ...]:
    """Return the names of columns by the first row, or those that the user gave."""
    width = len(first)
    if reading.names is not None:
        names = tuple(reading.names)
        if len(names) != width:
            raise FileError(name, f"has {width} columns, but names gives {len(names)}: {', '.join(names)}")
        return names
    if not reading.header:
        return tuple(f"column_{i}" for i in range(1, width + 1))
    bare = replace(reading, missing=(), usual_missing=False, trim=True)
    cells = unguarded(clean(pa.array(first, pa.string()), bare))
    return unique_names(name, cells.to_pylist(), _NO_HEADER)


def title_rows(rows: Sequence[Sequence[str]]) -> int:
    """Return how many rows stand above the header; 0 unless it is plain that some do.

    The header is the first row with a text in every column, no text twice and no number. What stands above
    it has one cell, or two columns fewer than the table, or a title and few cells beside it; what comes
    below, at least two rows, has the width of the header. Of two columns one must hold numbers: texts with a
    comma in each are no table.

    >>> table = [["day", "shop", "sum"], ["1", "a", "7"], ["2", "b", "9"]]
    >>> title_rows([["Sales 2024", "", ""], ["", "", ""], *table]), title_rows(table)
    (2, 0)
    """
    rows = rows[:HEADER_ROWS]
    if len(rows) < 3:
        return 0
    width = Counter(map(len, rows)).most_common(1)[0][0]
    header = next((i for i, row in enumerate(rows) if _is_header(row, width)), 0)
    above, below = rows[:header], rows[header + 1 :]
    if len(below) < 2 or any(len(row) != width for row in below):
        return 0
    columns = zip(*below, strict=True)
    is_table = width > 2 or (width == 2 and any(all(map(_is_number, column)) for column in columns))
    return header if is_table and all(_is_title(row, width) for row in above) else 0


def tell_titles(name: str, what: str, n: int, title: str) -> None:
    """Say that something above the header was left out."""
    lines = f"a {what}" if n == 1 else f"{n} {what}s"
    warn(
        f"{name}: {lines} above the header left out, the first being {in_quotes(title)}; "
        "skip=0 (--skip 0) takes the first as the header",
        DataWarning,
    )


def _is_header(row: Sequence[str], width: int) -> bool:
    cells = [cell.strip() for cell in row]
    return len(cells) == width and all(cells) and len(set(cells)) == width and not any(map(_is_number, cells))


def _is_title(row: Sequence[str], width: int) -> bool:
    filled = [bool(cell.strip()) for cell in row]
    n = sum(filled)
    # One cell less than the table is how R writes a header above the names of rows.
    short = len(row) == 1 or len(row) < width - 1
    return short or n == 0 or (n == 1 and width > 2) or (filled[0] and n <= max(1, width // 2))


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True
