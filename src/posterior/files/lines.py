"""JSON lines: an object in every line; and a short array of objects."""

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

import pyarrow as pa

from posterior.files.cells import CellType, clean, wider
from posterior.files.decoding import Decoded
from posterior.files.errors import FileError
from posterior.files.options import Reading
from posterior.files.sources import BLOCK, ByteSource
from posterior.files.text import CellBlock

_LONGEST_ARRAY = 1 << 27
_decode = json.JSONDecoder().decode
_TYPES: dict[type, CellType] = {type(None): "empty", bool: "boolean", int: "integer", float: "number"}


class JsonLines:
    """A table of JSON objects, one in a line; a key that an object lacks is a gap."""

    def __init__(self, source: ByteSource, reading: Reading) -> None:
        self.names: tuple[str, ...] = ()  # which only the rows tell
        self._source, self._reading = source, reading
        self._first: Decoded | None = self._decoded()
        start = self._first.look().lstrip()
        if not start:
            raise FileError(source.name, "is empty")
        self._is_array = start.startswith(b"[")

    def blocks(self) -> Iterator[CellBlock]:
        """Give the rows a few megabytes at a time, cells as strings beside their types."""
        text, self._first = self._first or self._decoded(), None
        with text:
            for number, objects in self._array(text) if self._is_array else self._lines(text):
                yield self._block(number, objects)

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

    def _array(self, text: Decoded) -> Iterator[tuple[int, list[Any]]]:
        content = text.read(_LONGEST_ARRAY)
        if text.read(1):
            raise FileError(
                self._source.name,
                f"is one JSON array of more than {_LONGEST_ARRAY >> 20} MiB; write one object in each line",
            )
        try:
            yield 0, json.loads(content)
        except (ValueError, RecursionError) as error:
            raise FileError(self._source.name, f"is not JSON: {error}") from None

    def _block(self, number: int, objects: list[Any]) -> CellBlock:
        wrong = next((i for i, row in enumerate(objects) if not isinstance(row, dict | None)), None)
        if wrong is not None:
            where = f"item {wrong + 1}" if self._is_array else f"line {number + wrong + 1}"
            raise FileError(
                self._source.name,
                f'holds {_spoken(objects[wrong])} in {where}; every row must be an object: {{"age": 31, …}}',
            )
        rows = [row for row in objects if row is not None]  # None is a blank line
        if (
            len(rows) == 1
            and not number
            and rows[0]
            and all(isinstance(cell, list | dict) for cell in rows[0].values())
        ):
            raise FileError(
                self._source.name,
                "is one JSON object of columns; write one object for each row, one in a line "
                '(in pandas: to_json(path, orient="records", lines=True))',
            )
        columns = {name: self._column([row.get(name) for row in rows]) for name in _keys(rows)}
        strings = {name: cells for name, (_, cells) in columns.items()}
        return CellBlock(
            len(rows) if columns else 0, strings, {name: kind for name, (kind, _) in columns.items()}
        )

    def _column(self, cells: list[Any]) -> tuple[CellType, Any]:
        """Return the type of JSON values and the values as strings."""
        found: CellType = "empty"
        for kind in set(map(type, cells)):
            found = wider(found, _TYPES.get(kind, "text"))
        written = pa.array(map(_written, cells), pa.string())
        if found == "text" and self._reading.missing:
            written = clean(written, Reading(missing=self._reading.missing, usual_missing=False, trim=False))
        if found == "integer" and any(cell is not None and abs(cell) >= 1 << 63 for cell in cells):
            found = "number"
        return found, written


def _keys(rows: list[dict[str, Any]]) -> list[str]:
    """Return the keys of all objects, in the order in which they come up."""
    return list(dict.fromkeys(chain.from_iterable(rows)))


def _written(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    # repr is the fast way, and gives what JSON does but for true, false and what holds other values.
    return repr(value) if type(value) in (int, float) else json.dumps(value, ensure_ascii=False)


def _spoken(value: Any) -> str:
    return {list: "a list", str: "a text", bool: "true or false"}.get(type(value), "a number")
