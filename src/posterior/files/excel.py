"""Excel workbooks (.xlsx, .xlsm): a sheet is read as the CSV that it would be saved as."""

import datetime
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from posterior.files.cells import clean
from posterior.files.errors import FileError, extra_module, reason
from posterior.files.header import HEADER_ROWS, column_names, tell_titles, title_rows
from posterior.files.options import Reading
from posterior.files.parts import chosen_part
from posterior.files.sources import ByteSource
from posterior.files.text import CellBlock
from posterior.files.values import types_of_values
from posterior.files.workbooks import safe_copy

# Cells that are turned into columns at a time.
_BLOCK_CELLS = 1 << 18


class SheetTable:
    """A sheet of a workbook; it is in memory as a whole, as its format demands."""

    def __init__(self, source: ByteSource, reading: Reading) -> None:
        self._source, self._reading = source, reading
        self._calamine = extra_module("python_calamine", "reading Excel files", "python-calamine", "excel")
        rows = self._rows()
        first = list(itertools.islice(rows, HEADER_ROWS))
        if not first:
            raise FileError(source.name, f"has nothing in sheet {self._sheet.name!r}")
        texts = [[_text(cell) or "" for cell in row] for row in first]
        self._titles = self._title_rows(texts)
        if self._titles >= len(first):
            raise FileError(
                source.name,
                f"has {len(first)} rows in sheet {self._sheet.name!r}, and skip={self._titles} (--skip)",
            )
        self.names = column_names(source.name, texts[self._titles], reading)

    def blocks(self) -> Iterator[CellBlock]:
        """Give some rows at a time, cells as strings."""
        rows = itertools.islice(self._rows(), self._titles + int(self._reading.header), None)
        size = max(1, _BLOCK_CELLS // len(self.names))
        while some := list(itertools.islice(rows, size)):
            columns = dict(zip(self.names, zip(*some, strict=True), strict=True))
            values = {
                name: types_of_values(cell for cell in cells if cell != "") for name, cells in columns.items()
            }
            texts = {name: self._column(cells) for name, cells in columns.items()}
            yield CellBlock(len(some), texts, values=values)

    def _column(self, cells: Sequence[Any]) -> Any:
        texts = pa.array(map(_text, cells), pa.string())
        gap = pc.is_in(texts, pa.array(self._reading.unquoted_gaps, pa.string()))
        texts = pc.if_else(gap, pa.scalar(None, pa.string()), texts)
        return clean(texts, replace(self._reading, quote=None))

    def _rows(self) -> Iterator[list[Any]]:
        """Give the rows that have a cell, as Python values."""
        if self._sheet.start is None:  # older readers panic
            return iter(())
        return (row for row in self._sheet.iter_rows() if any(cell != "" for cell in row))

    def _title_rows(self, texts: list[list[str]]) -> int:
        if self._reading.skip is not None:
            return self._reading.skip
        n = title_rows(texts) if self._reading.header else 0
        if n:
            tell_titles(self._source.name, "row", n, next(filter(None, texts[0])))
        return n

    @cached_property
    def _sheet(self) -> Any:
        name = self._source.name
        with self._source.seekable() as file:
            copy = safe_copy(name, file)
        try:
            with copy, self._calamine.CalamineWorkbook.from_filelike(copy) as workbook:
                found = {
                    sheet.name: sheet.visible == self._calamine.SheetVisibleEnum.Visible
                    for sheet in workbook.sheets_metadata
                    if sheet.typ == self._calamine.SheetTypeEnum.WorkSheet
                }
                if self._source.part is not None:
                    return workbook.get_sheet_by_name(
                        chosen_part(name, "sheet", list(found), self._source.part)
                    )
                sheets = {
                    each: sheet
                    for each, visible in found.items()
                    if visible and (sheet := workbook.get_sheet_by_name(each)).start is not None
                }
                return sheets[chosen_part(name, "sheet", list(sheets), None)]
        except FileError:
            raise
        except BaseException as error:
            if isinstance(error, self._calamine.CalamineError) or type(error).__name__ == "PanicException":
                raise FileError(
                    name, f"cannot be read as an Excel workbook, it may be damaged: {reason(error)}"
                ) from error
            raise


def _text(cell: Any) -> str | None:
    """Return a cell as it would be saved in CSV: whole numbers without a point, dates as 2024-12-31.

    >>> [_text(cell) for cell in (3.0, 2.5, True, "", datetime.timedelta(hours=1))]
    ['3', '2.5', 'true', None, '3600']
    """
    if isinstance(cell, datetime.timedelta):
        cell = cell.total_seconds()
    match cell:
        case str():
            return cell or None
        case bool():
            return "true" if cell else "false"
        case datetime.datetime():
            return cell.isoformat(" ")
        case datetime.date() | datetime.time():
            return cell.isoformat()
        case _:
            return str(int(cell)) if cell == int(cell) and abs(cell) < 1 << 53 else repr(cell)
