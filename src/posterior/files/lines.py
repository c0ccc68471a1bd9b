"""JSON lines: an object in every line; and short documents: an array of objects, or an object with one."""

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

from posterior._text import listed
from posterior.files.decoding import Decoded
from posterior.files.errors import FileError
from posterior.files.options import Reading
from posterior.files.parts import chosen_part, refuse_part
from posterior.files.sources import BLOCK, ByteSource
from posterior.files.text import CellBlock
from posterior.files.values import typed_block
from posterior.notices import DataWarning, warn

# Objects inside objects that become columns of their own.
DEEPEST = 8
_LONGEST_DOCUMENT = 1 << 27
_decode = json.JSONDecoder().decode


class JsonLines:
    """A table of JSON objects, one in a line; a key that an object lacks is a gap."""

    def __init__(self, source: ByteSource, reading: Reading) -> None:
        self.names: tuple[str, ...] = ()  # which only the rows tell
        self._source, self._reading, self._told = source, reading, False
        self._first: Decoded | None = self._decoded()
        start = self._first.look().lstrip()
        if not start:
            raise FileError(source.name, "is empty")
        self._is_array = start.startswith(b"[")
        self._is_document = self._is_array or self._is_one_object(start)
        if self._is_array or not self._is_document:
            refuse_part(source.name, source.part)

    def blocks(self) -> Iterator[CellBlock]:
        """Give the rows a few megabytes at a time, cells as strings beside their types."""
        text, self._first = self._first or self._decoded(), None
        with text:
            if self._is_document:
                yield self._block(0, self._document(text))
                return
            for number, objects in self._lines(text):
                yield self._block(number, objects)

    def _flat(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row without objects inside it; that there were some, or lists, is told once."""
        if not any(isinstance(value, dict | list) for value in row.values()):
            return row
        found = _flattened(row)
        if not self._told:
            self._told = True
            made = [name for name in found if name not in row]
            texts = [name for name, value in found.items() if isinstance(value, dict | list)]
            said = [f"objects inside rows are columns of their own: {listed(made, 4)}"] if made else []
            said += [f"lists and the like are read as their text: {listed(texts, 4)}"] if texts else []
            warn(f"{self._source.name}: {'; '.join(said)}", DataWarning)
        return found

    def _is_one_object(self, start: bytes) -> bool:
        """Return whether a file is one object, not a line of many: on one line, or on several."""
        first, _, rest = start.partition(b"\n")
        if not first.startswith(b"{") or not rest.strip():
            return first.startswith(b"{")
        try:
            _decode(first.decode())
        except (ValueError, RecursionError):
            # Else it is a line with a mistake, which will be named.
            return first.count(b"{") > first.count(b"}")
        return False

    def _decoded(self) -> Decoded:
        return Decoded(self._source.name, self._source.open(), self._reading.encoding)

    def _lines(self, text: Decoded) -> Iterator[tuple[int, list[Any]]]:
        """Give objects and the number of the line after which they come."""
        number, rest = 0, b""
        while part := text.read(BLOCK):
            *lines, rest = (rest + part).split(b"\n")
            if len(rest) > 4 * BLOCK:
                raise FileError(self._source.name, f"has a line of more than {4 * BLOCK >> 20} MiB")
            if lines:
                texts = b"\n".join(lines).decode().split("\n")
                yield number, [self._value(line, number + i) for i, line in enumerate(texts, 1)]
            number += len(lines)
        if rest.strip():
            yield number, [self._value(rest.decode(), number + 1)]

    def _value(self, line: str, number: int) -> Any:
        if not line.strip():
            return None
        try:
            return _decode(line)
        except (ValueError, RecursionError) as error:
            problem = getattr(error, "msg", str(error))
            raise FileError(
                self._source.name, f"is not JSON lines (one object in each line): line {number}: {problem}"
            ) from None

    def _document(self, text: Decoded) -> list[Any]:
        """Return the rows of a document: the items of an array, or of the list of objects in an object."""
        content, what = text.read(_LONGEST_DOCUMENT), "array" if self._is_array else "object"
        if text.read(1):
            raise FileError(
                self._source.name,
                f"is one JSON {what} of more than {_LONGEST_DOCUMENT >> 20} MiB; write one object in each "
                "line",
            )
        try:
            found = json.loads(content)
        except (ValueError, RecursionError) as error:
            form = "JSON" if self._is_array else "JSON lines (one object in each line), nor one JSON object"
            raise FileError(self._source.name, f"is not {form}: {error}") from None
        return found if self._is_array else self._rows_inside(found, b"\n" in content.strip())

    def _rows_inside(self, found: dict[str, Any], several_lines: bool) -> list[Any]:
        lists = [key for key, value in found.items() if _is_rows(value)]
        if lists or self._source.part is not None:
            key = chosen_part(self._source.name, "list of rows", lists, self._source.part)
            others = [other for other in found if other != key]
            if others and self._source.part is None:
                warn(
                    f"{self._source.name}: the rows are those of {key!r}; left out: {listed(others, 6)}",
                    DataWarning,
                )
            rows: list[Any] = found[key]
            return rows
        if several_lines and not _is_columns(found):
            raise FileError(
                self._source.name,
                "is one JSON object that holds no list of rows; write one object for each row, one in a line",
            )
        return [found]

    def _block(self, number: int, objects: list[Any]) -> CellBlock:
        wrong = next((i for i, row in enumerate(objects) if not isinstance(row, dict | None)), None)
        if wrong is not None:
            where = f"item {wrong + 1}" if self._is_array else f"line {number + wrong + 1}"
            raise FileError(
                self._source.name,
                f'holds {_spoken(objects[wrong])} in {where}; every row must be an object: {{"age": 31, …}}',
            )
        rows = [row for row in objects if row is not None]  # None is a blank line
        if len(rows) == 1 and not number and _is_columns(rows[0]):
            raise FileError(
                self._source.name,
                "is one JSON object of columns; write one object for each row, one in a line "
                '(in pandas: to_json(path, orient="records", lines=True))',
            )
        rows = [self._flat(row) for row in rows]
        columns = {name: [row.get(name) for row in rows] for name in _keys(rows)}
        return typed_block(len(rows) if columns else 0, columns, self._reading)


def _flattened(row: dict[str, Any], depth: int = DEEPEST) -> dict[str, Any]:
    """Return an object with those inside it, to some depth, as columns of their own.

    >>> _flattened({"id": 7, "place": {"city": "Rome", "at": {"x": 1}}})
    {'id': 7, 'place.city': 'Rome', 'place.at.x': 1}
    """
    found: dict[str, Any] = {}
    for key, value in row.items():
        inside = _flattened(value, depth - 1) if depth and isinstance(value, dict) else {}
        found.update({f"{key}.{name}": cell for name, cell in inside.items()} or {key: value})
    return found


def _keys(rows: list[dict[str, Any]]) -> list[str]:
    """Return the keys of all objects, in the order in which they come up."""
    return list(dict.fromkeys(chain.from_iterable(rows)))


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _is_columns(found: dict[str, Any]) -> bool:
    """Return whether an object holds nothing but lists and objects: columns, and no row."""
    return bool(found) and all(isinstance(cell, list | dict) for cell in found.values())


def _spoken(value: Any) -> str:
    return {list: "a list", str: "a text", bool: "true or false"}.get(type(value), "a number")
