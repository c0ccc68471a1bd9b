"""Tables with thousands of columns: cells of whole lines are found by what separates them, all at once.

Arrow's reader keeps some kilobytes for each column: for a short table that is many times its size.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from posterior.files.decoding import Decoded
from posterior.files.sources import BLOCK

# A table is wide if it has so many columns.
WIDE = 1000
_TOGETHER = 100
_NEWLINE = ord("\n")


def wide_cells(text: Decoded, size: int, read: Callable[[bytes], Any | None]) -> Iterator[Any]:
    """Give what `read` makes of about `size` bytes of whole lines, until it returns None for some lines.

    Those lines, and all that follow, stay to be read otherwise.
    """
    found: list[Any] = []
    n_bytes = 0
    while lines := text.read_lines(max(BLOCK, size // 8)):
        cells = read(lines)
        if cells is None:
            text.unread(lines)
            break
        found.append(cells)
        n_bytes += len(lines)
        if n_bytes >= size:
            yield _joined(found)
            n_bytes = 0
    if found:
        yield _joined(found)


def _joined(parts: list[Any]) -> Any:
    """Return parts as one array and empty their list: cells take much room while others work with them."""
    whole = pa.concat_arrays(parts)
    parts.clear()
    return whole


def cells_of_lines(lines: bytes, n_columns: int, delimiter: str, quote: str | None) -> Any | None:
    r"""Return the cells of whole lines, row after row; None for quotes, blank lines and incomplete rows.

    >>> cells_of_lines(b"1,2\n,4\n", 2, ",", '"').to_pylist()
    ['1', '2', '', '4']
    >>> cells_of_lines(b"1,2\n3\n", 2, ",", '"')
    """
    if quote is not None and quote.encode() in lines:
        return None
    lines = (lines.replace(b"\r\n", b"\n") if b"\r" in lines else lines).rstrip(b"\n") + b"\n"
    if b"\r" in lines:
        return None
    text = np.frombuffer(lines, dtype=np.uint8)
    separates = (text == ord(delimiter)) | (text == _NEWLINE)
    ends = np.flatnonzero(separates)
    ends_row = text[ends] == _NEWLINE
    n_rows, rest = divmod(len(ends), n_columns)
    if rest or not ends_row[n_columns - 1 :: n_columns].all() or np.count_nonzero(ends_row) != n_rows:
        return None
    # Without the separators, a cell ends that many bytes earlier.
    offsets = np.zeros(len(ends) + 1, dtype=np.int32)
    np.subtract(ends, np.arange(len(ends)), out=offsets[1:], casting="same_kind")
    return pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(text[~separates]))


def by_column(cells: Any, n_columns: int) -> list[Any]:
    """Return the columns of cells that come row after row.

    >>> [column.to_pylist() for column in by_column(pa.array(["1", "2", "3", "4"]), 2)]
    [['1', '3'], ['2', '4']]
    """
    n_rows, columns = len(cells) // n_columns, []
    places = np.arange(len(cells), dtype=np.int32).reshape(n_rows, n_columns).T
    # Some at a time, each with cells of its own: who keeps a column of texts keeps these, and not all cells.
    for first in range(0, n_columns, _TOGETHER):
        some = pc.take(cells, pa.array(places[first : first + _TOGETHER].ravel()))
        columns += [some.slice(start, n_rows) for start in range(0, len(some), n_rows)]
    return columns
