"""What is in a workbook is looked at before a reader gets it: a small file can claim to be a huge one.

A workbook is an archive of XML documents, and its reader keeps a sheet as a full rectangle, every cell with a
text of its own. So three things are bounded: what the archive unpacks to, the rectangle, and all texts of
cells. The reader gets a new archive of what was looked at, so that it cannot see anything else.
"""

import re
import tempfile
import zipfile
from typing import BinaryIO, cast
from xml.parsers import expat

from posterior.files.errors import FileError, reason
from posterior.files.unpacking import DAMAGED

MOST_BYTES = 1 << 29
MOST_CELLS = 1 << 25
MOST_TEXT = 1 << 29
_STRINGS = "xl/sharedStrings.xml"
_PART = 1 << 20
_PLACE = re.compile(r"\$?([A-Za-z]{0,3})\$?([0-9]{1,7})")
_REMEDY = "save the sheet as CSV and read that"


def safe_copy(name: str, file: BinaryIO) -> BinaryIO:
    """Return a workbook without pictures and the like, not packed, once its size is known to be bearable."""
    copy = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 -- closed by whoever asked for it
    try:
        with zipfile.ZipFile(file) as archive, zipfile.ZipFile(copy, "w") as written:
            parts = {part.filename: part for part in archive.infolist()}
            if "xl/workbook.xml" not in parts:
                raise FileError(name, "is a ZIP archive in another, and no Excel workbook; unpack it first")
            # The texts first, for cells only say which.
            wanted = [part for part in sorted(parts, key=_STRINGS.__ne__) if part.endswith((".xml", ".rels"))]
            # No more than the size that the archive tells is ever unpacked.
            if sum(parts[part].file_size for part in wanted) > MOST_BYTES:
                raise FileError(name, f"unpacks to more than {MOST_BYTES >> 20} MiB; {_REMEDY}")
            texts = _SharedTexts()
            for part in wanted:
                seen = texts if part == _STRINGS else _Sheet(name, texts.lengths)
                with archive.open(parts[part]) as content, written.open(part, "w", force_zip64=True) as to:
                    while block := content.read(_PART):
                        seen.parser.Parse(block, False)
                        to.write(block)
                    seen.parser.Parse(b"", True)
    except FileError:
        copy.close()
        raise
    except (*DAMAGED, expat.ExpatError, LookupError, ValueError) as error:  # also an unknown encoding of XML
        copy.close()
        raise FileError(name, f"is damaged or cut short: {reason(error)}") from error
    copy.seek(0)
    return copy


class _SharedTexts:
    """The lengths of the texts that cells refer to, in bytes of the document."""

    def __init__(self) -> None:
        self.lengths: list[int] = []
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self._began = 0

    def _start(self, tag: str, _: dict[str, str]) -> None:
        if _is(tag, "si"):
            self._began = self.parser.CurrentByteIndex

    def _end(self, tag: str) -> None:
        if _is(tag, "si"):
            self.lengths.append(self.parser.CurrentByteIndex - self._began)


class _Sheet:
    """The rectangle of a sheet, and the length of the texts in its cells."""

    def __init__(self, name: str, lengths: list[int]) -> None:
        self._name, self._lengths, self._longest = name, lengths, max(lengths, default=0)
        self._rows = self._columns = self._in_row = self._text = 0
        self._refers = False
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.CharacterDataHandler = self._characters

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if _is(tag, "c"):
            self._refers = attributes.get("t") == "s"
            self._in_row += 1
        elif _is(tag, "row"):
            self._in_row = 0
            self._rows += 1
        elif not _is(tag, "v"):
            self._refers = False
            return
        place = attributes.get("r")
        if place is not None:
            self._reaches(place)
        self._columns = max(self._columns, self._in_row)
        if self._rows * self._columns > MOST_CELLS:
            raise FileError(
                self._name, f"has a sheet of {self._rows:,} rows and {self._columns:,} columns; {_REMEDY}"
            )

    def _reaches(self, place: str) -> None:
        found = _PLACE.fullmatch(place)
        if found is None:
            raise FileError(self._name, f"is damaged: it has a cell at {place[:20]!r}")
        self._rows = max(self._rows, int(found[2]))
        if found[1]:
            self._in_row = 0
            for letter in found[1].upper():
                self._in_row = 26 * self._in_row + ord(letter) - ord("A") + 1

    def _characters(self, text: str) -> None:
        if not self._refers:
            return
        known = text.isdecimal() and int(text) < len(self._lengths)
        self._text += self._lengths[int(text)] if known else self._longest
        if self._text > MOST_TEXT:
            raise FileError(
                self._name, f"has more than {MOST_TEXT >> 20} MiB of text in the cells of a sheet; {_REMEDY}"
            )


def _is(tag: str, name: str) -> bool:
    """Return whether a tag is of that name, whatever stands for its namespace."""
    return tag == name or tag.endswith(":" + name)
