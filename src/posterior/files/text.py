"""Comma- and tab-separated tables: delimiter, header, and rows block by block."""

import csv
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from posterior.files.cells import NUMBERS, CellType, at_once, clean, types_of
from posterior.files.decoding import Decoded
from posterior.files.errors import FileError, in_quotes, reason
from posterior.files.formulas import unguarded
from posterior.files.header import HEADER_ROWS, column_names, tell_titles, title_rows
from posterior.files.options import Reading
from posterior.files.sources import BLOCK, ByteSource
from posterior.files.wide import WIDE, by_column, cells_of_lines, wide_cells

# Where two fit, the first is meant: nobody writes tabs into cells, and many write semicolons.
_CANDIDATES = ("\t", ",", ";", "|")
_SNIFFED_ROWS = 100
_SNIFFED_CELLS = 100_000
# The longest header that is read: four million columns with names of seven letters.
LONGEST_LINE = 1 << 25
# A block of a wide table has so many rows if it can: work is done once for each column of a block.
_BLOCK_ROWS = 256
_ORDINARY = "if quotes are ordinary characters in this file, pass quote=None (--quote none)"


@dataclass(frozen=True)
class CellBlock:
    """Some rows: columns of cells as they are written, by name.

    `known` are their types where the format tells them; `values` the types that their cells have there: of
    a sheet too, whose columns are taken for what they would be in CSV.
    """

    n_rows: int
    columns: dict[str, Any]
    known: dict[str, CellType] | None = None
    values: Mapping[str, frozenset[CellType]] = field(default_factory=dict)

    def types(self, decimal: str) -> dict[str, CellType]:
        """Return the narrowest type of each column in these rows."""
        if self.known is not None:
            return self.known
        return dict(zip(self.columns, types_of(list(self.columns.values()), decimal), strict=True))

    def own_type(self, column: str) -> CellType:
        """Return what a column is by its cells: numbers where the format says so, else as it is written."""
        if self.columns[column].null_count == self.n_rows:
            return "empty"
        kinds = self.values.get(column, frozenset())
        return "number" if kinds and kinds <= NUMBERS else "text"


def are_mixed(kinds: Collection[CellType]) -> bool:
    """Return whether cells of these types are numbers as well as texts."""
    return "text" in kinds and not NUMBERS.isdisjoint(kinds)


class TextTable:
    """A table of delimited text."""

    def __init__(self, source: ByteSource, reading: Reading, delimiter: str | None = None) -> None:
        self._source, self._reading = source, reading
        self._skip = reading.skip or 0
        self._first: Decoded | None = self._decoded()
        if reading.header and reading.skip is None:
            self._skip = self._passes_titles(self._first, delimiter)
        start = self._first.look_for_line(LONGEST_LINE)
        sample = start.decode(errors="ignore")
        if not sample.strip():
            beyond = f" after {self._skip} lines (--skip)" if self._skip else ""
            raise FileError(source.name, f"is empty{beyond}")
        self._whole = self._first.ends_in_sight
        header = len(_first_line(start.lstrip(b"\r\n")))
        if header > LONGEST_LINE:
            raise FileError(
                source.name, f"has a first line of more than {LONGEST_LINE >> 20} MiB: it is no table of rows"
            )
        self._block_size = max(BLOCK, min(_BLOCK_ROWS * header, 8 * BLOCK), 4 * header)
        self.delimiter = reading.delimiter or delimiter or _sniffed(sample, reading.quote)
        self._refuse_runaway_quotes(sample)
        records = _records(sample, self.delimiter, reading.quote)
        try:
            first = next(records)
        except csv.Error as error:
            raise FileError(source.name, f"has a first row that cannot be read: {reason(error)}") from error
        self.names = column_names(source.name, first, reading)
        self._only_header = reading.header and self._whole and not _any(records)

    def blocks(self) -> Iterator[CellBlock]:
        """Give the rows a few megabytes at a time, cells as strings."""
        text, self._first = self._first or self._decoded(), None
        with text:
            if self._only_header:
                return
            text.look()
            text.skip_blank_lines()  # which would be taken for the header
            before = 0
            if len(self.names) >= WIDE and self._passes_header(text):
                before = int(self._reading.header)
                for block in self._wide_blocks(text):
                    yield block
                    before += block.n_rows
                if not text.look():
                    return
            last = None
            for batch in self._parsed(text, before):
                last = batch.slice(batch.num_rows - 1) if batch.num_rows else last
                yield CellBlock(batch.num_rows, self._cleaned(batch))
            if last is not None and self._reading.quote is not None:
                self._refuse_open_quote(last, text.tail)

    def _passes_titles(self, text: Decoded, delimiter: str | None) -> int:
        """Pass over lines above the header, where there plainly are some, and say so; return how many."""
        sample = text.look_for_line(LONGEST_LINE).decode(errors="ignore")
        given = self._reading.delimiter or delimiter
        cut = {
            mark: _numbered_start(sample, mark, self._reading.quote, whole=text.ends_in_sight)
            for mark in (_CANDIDATES if given is None else (given,))
        }
        # What cuts every line into as many cells cuts the table, whatever else numbers have commas for.
        even = {mark: rows for mark, rows in cut.items() if _is_even(rows)}
        if any(all(cell.strip() for cell in rows[0][1]) for rows in even.values()):
            return 0  # a table from its first line on
        for mark, rows in (even or cut).items():
            titles = title_rows([row for _, row in rows])
            if titles and not _has_other_mark(rows[titles][1], mark):
                lines, title = rows[titles][0], mark.join(rows[0][1]).strip(mark + " ")
                tell_titles(self._source.name, "line", lines, title)
                text.skip_lines(lines)
                return lines
        return 0

    def _passes_header(self, text: Decoded) -> bool:
        """Pass over the header; return False, and leave it, where it does not end with its line."""
        if not self._reading.header:
            return True
        line = _first_line(text.look_for_line(LONGEST_LINE))
        quote = self._reading.quote
        if b"\r" in line.rstrip(b"\r") or (quote is not None and line.count(quote.encode()) % 2):
            return False
        text.read(len(line) + 1)
        return True

    def _wide_blocks(self, text: Decoded) -> Iterator[CellBlock]:
        """Give the rows of a wide table, up to what only Arrow's reader can read or refuse."""
        reading, width = self._reading, len(self.names)
        gaps = pa.array(reading.unquoted_gaps, pa.string())

        def read(lines: bytes) -> Any | None:
            cells = cells_of_lines(lines, width, self.delimiter, reading.quote)
            if cells is None:
                return None
            bare = pc.if_else(pc.is_in(cells, gaps), pa.scalar(None, pa.string()), cells)
            return unguarded(clean(bare, reading))

        def block(cells: Any) -> CellBlock:
            columns = by_column(cells, width)
            return CellBlock(len(columns[0]), dict(zip(self.names, columns, strict=True)))

        yield from map(block, wide_cells(text, self._block_size, read))

    def _decoded(self) -> Decoded:
        text = Decoded(self._source.name, self._source.open(), self._reading.encoding)
        text.skip_lines(self._skip)
        return text

    @cached_property
    def _keys(self) -> list[str]:
        return [str(i) for i in range(len(self.names))]

    def _parsed(self, text: Decoded, before: int) -> Iterator[Any]:
        """Give what Arrow reads, after `before` rows, the header among them, that were read otherwise."""
        reading, wrong = self._reading, []

        def refuse(row: Any) -> str:
            wrong.append(row)
            return "error"

        try:
            yield from pyarrow.csv.open_csv(
                text,
                # One thread: rows are counted then, so that a message can say which one is wrong.
                pyarrow.csv.ReadOptions(
                    use_threads=False,
                    block_size=self._block_size,
                    column_names=self._keys,
                    skip_rows_after_names=int(reading.header and not before),
                ),
                pyarrow.csv.ParseOptions(
                    delimiter=self.delimiter,
                    quote_char=reading.quote or False,
                    newlines_in_values=reading.quote is not None,
                    invalid_row_handler=refuse,
                ),
                pyarrow.csv.ConvertOptions(
                    check_utf8=False,
                    column_types=dict.fromkeys(self._keys, pa.string()),
                    null_values=list(reading.unquoted_gaps),
                    strings_can_be_null=bool(reading.unquoted_gaps),
                    quoted_strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid as error:
            raise FileError(self._source.name, self._trouble(error, wrong, before)) from error

    def _trouble(self, error: Exception, wrong: list[Any], before: int) -> str:
        if wrong:
            return self._ragged(wrong[0], wrong[0].number + before)
        if "straddling" in str(error):
            return f"has a row of more than {self._block_size >> 20} MiB; {_ORDINARY}"
        return f"cannot be read as delimited text: {reason(error)}"

    def _ragged(self, row: Any, number: int) -> str:
        fields = "1 field" if row.actual_columns == 1 else f"{row.actual_columns} fields"
        like = "the header has" if self._reading.header else "the first row has"
        line = self._line_of(row.text, number)
        where = f"row {number}" if line is None else f"line {line}"
        quote = self._reading.quote
        spaced = quote is not None and f"{self.delimiter} {quote}" in row.text
        hint = "; a quote must follow the delimiter without a space" if spaced else ""
        if row.expected_columns < row.actual_columns and line is not None and line <= HEADER_ROWS:
            hint = hint or f"; if the header is in this line, pass skip={line - 1} (--skip {line - 1})"
        return f"has {fields} in {where}, where {like} {row.expected_columns}: {in_quotes(row.text)}{hint}"

    def _line_of(self, row: str, number: int) -> int | None:
        """Return the line in which a row begins: later than its number where cells run over lines."""
        start = row.splitlines()[0].encode() if row else b""
        if not self._source.reopens:
            return None
        with self._decoded() as text:
            lines = enumerate(text.each_line(), 1 + self._skip)
            least = number + self._skip
            return next((i for i, line in lines if i >= least and line.rstrip() == start.rstrip()), None)

    def _cleaned(self, batch: Any) -> dict[str, Any]:
        columns = at_once(lambda cells: unguarded(clean(cells, self._reading)), batch.columns)
        return dict(zip(self.names, columns, strict=True))

    def _refuse_runaway_quotes(self, sample: str) -> None:
        """Refuse a quoted cell that runs over lines and does not end where a cell should end."""
        quote = self._reading.quote
        if quote is None or quote not in sample:
            return
        delimiters = re.escape(self.delimiter)
        mark = re.escape(quote)
        cell = re.compile(
            rf"{mark}(?P<body>(?:[^{mark}]++|{mark}{mark})*+)(?P<close>{mark}?)(?P<rest>[^{delimiters}\r\n]*)"
            rf"|[^{delimiters}\r\n]+"
        )
        for found in cell.finditer(sample):
            body = found["body"] or ""
            runs = "\n" in body and (found["rest"].strip() or (not found["close"] and self._whole))
            if runs:
                line = self._skip + sample.count("\n", 0, found.start()) + 1
                raise FileError(
                    self._source.name,
                    f"has a quote in line {line} that does not end with its cell; {_ORDINARY}",
                )

    def _refuse_open_quote(self, last: Any, tail: bytes) -> None:
        cell = last.column(last.num_columns - 1)[0].as_py() or ""
        if "\n" in cell and not tail.rstrip().endswith((self._reading.quote or "").encode()):
            start = in_quotes(cell.splitlines()[0])
            raise FileError(
                self._source.name, f"has a quote before {start} that is never closed; {_ORDINARY}"
            )


def _first_line(text: bytes) -> bytes:
    r"""Return what comes before the first line break, without a copy of all the rest.

    >>> _first_line(b"a,b\n1,2\n"), _first_line(b"a,b")
    (b'a,b', b'a,b')
    """
    end = text.find(b"\n")
    return text if end < 0 else text[:end]


def _records(sample: str, delimiter: str, quote: str | None) -> Iterator[list[str]]:
    """Give the rows of a text that are not blank, as lists of cells."""
    return (row for _, row in _numbered(sample, delimiter, quote))


def _numbered(sample: str, delimiter: str, quote: str | None) -> Iterator[tuple[int, list[str]]]:
    """Give the rows of a text that are not blank, each with the number of lines before it."""
    lines = re.finditer(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", sample)
    rows = csv.reader(
        (line.group() for line in lines),
        delimiter=delimiter,
        quotechar=quote,
        quoting=csv.QUOTE_NONE if quote is None else csv.QUOTE_MINIMAL,
    )
    before = 0
    for row in rows:
        if row:
            yield before, row
        before = rows.line_num


def _numbered_start(
    sample: str, delimiter: str, quote: str | None, *, whole: bool
) -> list[tuple[int, list[str]]]:
    """Return the first rows of a text, without one that may be cut off; none where they cannot be read."""
    found: list[tuple[int, list[str]]] = []
    cells = 0
    try:
        for numbered in islice(_numbered(sample, delimiter, quote), HEADER_ROWS + 1):
            found.append(numbered)
            cells += len(numbered[1])
            if cells > _SNIFFED_CELLS:
                break
    except csv.Error:
        return []
    return found if whole or len(found) > HEADER_ROWS else found[:-1]


def _has_other_mark(header: list[str], mark: str) -> bool:
    """Whether a name of a column has something that would cut it: another mark than the comma of numbers."""
    others = set(_CANDIDATES) - {mark, ","}
    return any(other in cell for cell in header for other in others)


def _is_even(rows: list[tuple[int, list[str]]]) -> bool:
    """Whether there are rows of several cells, all of as many as the first."""
    return bool(rows) and len(rows[0][1]) > 1 and len({len(row) for _, row in rows}) == 1


def _any(records: Iterator[list[str]]) -> bool:
    try:
        return next(records, None) is not None
    except csv.Error:  # a field that is too long for this parser, but a field
        return True


def _sniffed(sample: str, quote: str | None) -> str:
    r"""Return the delimiter that cuts most of the first rows into as many cells as the very first.

    >>> _sniffed("a;b;c\n1,5;2,5;3\n", '"'), _sniffed("one column\nof texts; and more\n", '"')
    (';', ',')
    """
    shares = {delimiter: _agreement(sample, delimiter, quote) for delimiter in _CANDIDATES}
    best = max(shares, key=lambda delimiter: shares[delimiter])
    return best if shares[best] > 0.5 else ","


def _agreement(sample: str, delimiter: str, quote: str | None) -> float:
    """Return the share of the first rows that have as many cells as the very first; 0 if that has one."""
    lengths: list[int] = []
    try:
        for row in islice(_records(sample, delimiter, quote), _SNIFFED_ROWS):
            lengths.append(len(row))
            if sum(lengths) > _SNIFFED_CELLS:
                break
    except csv.Error:
        return 0.0
    # The last row may be cut off where the sample ends.
    lengths = lengths[:-1] if len(lengths) > 2 else lengths
    return lengths.count(lengths[0]) / len(lengths) if lengths[0] > 1 else 0.0
