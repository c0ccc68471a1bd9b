"""Bytes of any encoding as UTF-8, or an error that says where they are not."""

import codecs
import re
from collections.abc import Iterator

from posterior.files.errors import FileError
from posterior.files.signatures import UTF16_MARKS
from posterior.files.sources import BLOCK, Stream

_LINE_END = re.compile(rb"\r\n|\r|\n")


class Decoded:
    """A stream of text as UTF-8 without a mark; refuses what is not text and names the line."""

    def __init__(self, name: str, stream: Stream, encoding: str | None) -> None:
        self._name, self._stream = name, stream
        self.encoding = encoding or ("utf-16" if stream.head.startswith(UTF16_MARKS) else "utf-8-sig")
        if codecs.lookup(self.encoding).name == "utf-8":
            self.encoding = "utf-8-sig"
        self._decoder = codecs.getincrementaldecoder(self.encoding)()
        self._ready = b""
        self._ended = False
        self.lines = 0
        self.tail = b""
        self.closed = False

    def look(self, size: int = BLOCK) -> bytes:
        """Return what comes next, to look at; the next `read` gives the same."""
        self._prepare(size)
        return self._ready

    def look_for_line(self, longest: int) -> bytes:
        """Return what comes next as `look` does, and more until there is a line that is not blank.

        A line may have `longest` bytes; of a longer one there is a little more than that.
        """
        size = BLOCK
        while (
            b"\n" not in self.look(size).lstrip(b"\r\n") and not self._ended and len(self._ready) <= longest
        ):
            size = min(2 * size, longest + 1)
        return self._ready

    def skip_lines(self, n: int) -> None:
        """Pass over the next `n` lines, or all that there are."""
        for _ in range(n):
            self._prepare(BLOCK)
            end = _LINE_END.search(self._ready)
            # A carriage return at the end of what is decoded may be followed by its line feed.
            while not self._ended and (end is None or end.end() == len(self._ready)):
                self._prepare(len(self._ready) + BLOCK)
                end = _LINE_END.search(self._ready)
            self._ready = self._ready[end.end() :] if end is not None else b""

    def skip_blank_lines(self) -> None:
        """Pass over the empty lines that come next, as far as has been looked."""
        self._ready = self._ready.lstrip(b"\r\n")

    @property
    def ends_in_sight(self) -> bool:
        """Whether what was looked at is all that is left."""
        return self._ended

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, at most `size` of them; none at the end."""
        if size < 0:
            return b"".join(iter(lambda: self.read(BLOCK), b""))
        self._prepare(size)
        part, self._ready = self._ready[:size], self._ready[size:]
        self.tail = (self.tail + part[-16:])[-16:]
        return part

    def read_lines(self, size: int) -> bytes:
        """Return the whole lines among the next `size` bytes, and the last line, whole or not."""
        ready = self.look(size)
        if self._ended and len(ready) <= size:
            return self.read(size)
        return self.read(ready.rfind(b"\n", 0, size) + 1)

    def unread(self, part: bytes) -> None:
        """Take back what was read last; the next `read` gives it again."""
        self._ready = part + self._ready

    def each_line(self) -> Iterator[bytes]:
        """Give line after line, without their ends."""
        rest = b""
        while part := self.read(BLOCK):
            *lines, rest = (rest + part).split(b"\n")
            yield from lines
        yield rest

    def close(self) -> None:
        """Close the file."""
        self.closed = True
        self._stream.close()

    def __enter__(self) -> "Decoded":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _prepare(self, size: int) -> None:
        """Decode until there are `size` bytes or no more."""
        while len(self._ready) < size and not self._ended:
            part = self._stream.read(size)
            self._ended = not part
            self._ready += self._decoded(part)

    def _decoded(self, part: bytes) -> bytes:
        try:
            found = self._decoder.decode(part, final=not part).encode()
        except UnicodeDecodeError as error:
            raise FileError(self._name, self._wrong(error)) from None
        if b"\0" in found:
            line = self.lines + found.count(b"\n", 0, found.index(b"\0")) + 1
            raise FileError(
                self._name,
                f"holds a NUL byte in line {line}: it is binary data, or text in UTF-16 "
                '(then pass encoding="utf-16-le" (--encoding))',
            )
        self.lines += found.count(b"\n")
        return found

    def _wrong(self, error: UnicodeDecodeError) -> str:
        line = self.lines + error.object.count(b"\n", 0, error.start) + 1
        byte = f"byte 0x{error.object[error.start]:02X}" if error.start < len(error.object) else "the end"
        spoken = self.encoding.removesuffix("-sig").upper()
        # Windows' own encoding has what Latin-1 has, and signs such as € among the bytes that are none there.
        advice = (
            ""
            if self.encoding == "utf-16"
            else '; if it is from Windows or in Latin-1, pass encoding="cp1252" (--encoding cp1252)'
        )
        return f"is not {spoken}: {byte} in line {line}{advice}"
