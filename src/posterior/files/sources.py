"""Where bytes come from: a file, standard input or a pipe, unpacked, and opened as often as needed."""

import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from difflib import get_close_matches
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

from posterior.datasets import available
from posterior.files.errors import FileError, reason
from posterior.files.kept import Kept, KeptPipe, OpenFile, Reader
from posterior.files.parts import split_part
from posterior.files.signatures import Packing, packing_of
from posterior.files.unpacking import DAMAGED, is_workbook, unpacked

AnyPath: TypeAlias = str | PathLike[str]

# As much of a file as is looked at before it is read, and the most that is read at once.
BLOCK = 1 << 22
STANDARD_INPUT = "standard input"
_BUFFER = 1 << 16


class Stream:
    """The unpacked bytes of a file from its start; `head` is what comes first, until it is read."""

    def __init__(self, name: str, file: BinaryIO, packing: Packing | None) -> None:
        self._name, self._file = name, file
        self.closed = False
        try:
            self._unpacked = unpacked(name, file, packing)
            self.head = self._fill(BLOCK)
        except (OSError, *DAMAGED, FileError) as error:
            file.close()
            raise error if isinstance(error, FileError) else _damaged(name, error) from error

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, at most `size` of them; none at the end."""
        if size < 0:
            return b"".join(iter(lambda: self.read(BLOCK), b""))
        if self.head:
            part, self.head = self.head[:size], self.head[size:]
            return part
        return self._fill(size)

    def close(self) -> None:
        """Close the file."""
        self.closed = True
        self._unpacked.close()
        self._file.close()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _fill(self, size: int) -> bytes:
        """Read until there are `size` bytes or no more, as pipes and unpackers give fewer at a time."""
        parts, wanted = [], size
        try:
            while wanted and (part := self._unpacked.read(wanted)):
                parts.append(part)
                wanted -= len(part)
        except (OSError, *DAMAGED) as error:
            raise _damaged(self._name, error) from error
        return b"".join(parts)


class Pipe:
    """A pipe whose first bytes, `start`, have been looked at."""

    closed = False

    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe = pipe
        self.start = self._ahead = pipe.read(8)

    def read(self, size: int) -> bytes:
        """Return the next bytes, at most `size` of them; none at the end."""
        if self._ahead:
            part, self._ahead = self._ahead[:size], self._ahead[size:]
            return part
        return self._pipe.read(size)

    def close(self) -> None:
        """Leave the pipe open: it is not ours."""


class ByteSource:
    """Bytes under the name that messages give them: kept ones are opened again and again, a pipe once.

    `part` is which of its tables is meant, where the user has named one: `people.xlsx#Sheet1`.
    """

    def __init__(
        self, name: str, kept: Kept | None = None, pipe: Pipe | None = None, part: str | None = None
    ) -> None:
        self.name, self._kept, self._pipe, self.part = name, kept, pipe, part
        self._first: Stream | None = None
        self._opened = ExitStack()
        if kept is not None:
            self._opened.callback(kept.close)

    @property
    def reopens(self) -> bool:
        """Whether the bytes can be had once more."""
        return self._kept is not None

    @property
    def stream(self) -> Stream:
        """The bytes from the start, to look at; the next `open` gives the same."""
        if self._first is None:
            self._first = self._start()
        return self._first

    def open(self) -> Stream:
        """Return the bytes from the start."""
        stream, self._first = self.stream, None
        return stream

    def seekable(self) -> BinaryIO:
        """Return the unpacked bytes as a file in which one can jump about; a copy where it was packed."""
        if self._kept is not None and self._packing is None:
            return _buffered(self._kept)
        copy = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 -- closed by whoever asked for it
        with self.open() as stream:
            shutil.copyfileobj(stream, copy, BLOCK)
        copy.seek(0)
        return copy

    def place(self) -> Path:
        """Return where the file lies, for libraries that open it; refuses a pipe and a packed file."""
        if not isinstance(self._kept, OpenFile) or self._packing is not None:
            raise FileError(
                self.name,
                "is a database in a pipe or a packed file; write it to a file, unpacked, and name that",
            )
        return Path(self.name).expanduser().resolve()

    def refuse_changes(self) -> None:
        """Refuse a file that was written to while it was read."""
        if isinstance(self._kept, OpenFile):
            self._kept.refuse_changes()

    def close(self) -> None:
        """Close whatever of it is still open."""
        self._opened.close()

    @cached_property
    def _packing(self) -> Packing | None:
        found = None if self._kept is None else packing_of(self._kept.read_at(0, 8))
        if self._kept is not None and found == "zip" and is_workbook(_buffered(self._kept)):
            return None
        return found

    def _start(self) -> Stream:
        if self._kept is not None:
            return self._opened.enter_context(Stream(self.name, _buffered(self._kept), self._packing))
        if self._pipe is None:
            raise RuntimeError(f"{self.name} is a pipe and can be read once only")
        pipe, self._pipe = self._pipe, None
        return Stream(self.name, cast("BinaryIO", pipe), packing_of(pipe.start))


def _buffered(kept: Kept) -> BinaryIO:
    return io.BufferedReader(Reader(kept), _BUFFER)


@contextmanager
def opening(path: AnyPath, *, once: bool = False) -> Iterator[ByteSource]:
    """Give the source behind a path or "-"; a pipe is kept on disk, unless it is read `once` only."""
    with ExitStack() as stack:
        source = _found(path, stack, once=once)
        try:
            yield source
            source.refuse_changes()
        except OSError as error:
            raise FileError(source.name, f"cannot be read: {reason(error)}") from error
        except FileError:
            source.refuse_changes()  # which would be the reason
            raise
        finally:
            source.close()


def _found(path: AnyPath, stack: ExitStack, *, once: bool) -> ByteSource:
    name, part = split_part(path)
    if name == "-":
        if sys.stdin.isatty():
            raise FileError(STANDARD_INPUT, "is the keyboard; pipe a table in, or name a file")
        return _piped(STANDARD_INPUT, Pipe(sys.stdin.buffer), part, once=once)
    place = Path(name).expanduser()
    try:
        if place.is_dir():
            raise FileError(name, f"is a folder; name a file in it{_such_as(place)}")
        if not place.exists():
            raise FileError(name, f"does not exist{_nearby(name, place)}")
        file = place.open("rb")
        if place.is_file():
            return ByteSource(name, OpenFile(name, file), part=part)
        # A pipe with a name, such as a shell's <(…)
        return _piped(name, Pipe(stack.enter_context(file)), part, once=once)
    except OSError as error:
        raise FileError(name, f"cannot be read: {reason(error)}") from error


def _piped(name: str, pipe: Pipe, part: str | None, *, once: bool) -> ByteSource:
    """Return a source for a pipe; it is kept where it may have to be read twice, or jumped about in."""
    if once and packing_of(pipe.start) != "zip":
        return ByteSource(name, pipe=pipe, part=part)
    return ByteSource(name, KeptPipe(name, cast("BinaryIO", pipe)), part=part)


def _damaged(name: str, error: BaseException) -> FileError:
    return FileError(name, f"is damaged or cut short: {reason(error)}")


def _nearby(name: str, place: Path) -> str:
    """Say which files and bundled tables have nearly the name that was not found."""
    if "://" in name:
        return "; it looks like a web address: download it first"
    folder = place.parent
    if not folder.is_dir():
        return f", nor does the folder {str(folder)!r}"
    files = [entry.name for entry in folder.iterdir() if entry.is_file()]
    bundled = list(available()) if folder == Path() else []
    close = get_close_matches(place.name, files + bundled, n=3, cutoff=0.6)
    shown = [name if name in bundled and name not in files else str(folder / name) for name in close]
    if shown:
        return "; did you mean " + " or ".join(map(repr, shown)) + "?"
    return f"; the bundled tables are {', '.join(bundled)}" if bundled and not place.suffix else ""


def _such_as(folder: Path) -> str:
    files = sorted(entry.name for entry in folder.iterdir() if entry.is_file())[:2]
    return f", such as {' or '.join(repr(str(folder / name)) for name in files)}" if files else ""
