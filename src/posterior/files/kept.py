"""Bytes that are read from the start more than once: one open file, or a pipe that is kept as it is read."""

import io
import os
import tempfile
from typing import BinaryIO, Protocol

from posterior.files.errors import FileError, reason

# The most that is kept of a pipe: it lies on the disk of temporary files while it is read.
LONGEST_PIPE = 1 << 33
_PART = 1 << 20


class Kept(Protocol):
    """Bytes at any place."""

    def read_at(self, place: int, size: int) -> bytes:
        """Return at most `size` bytes from a place on; none at the end."""

    def length(self) -> int:
        """Return how many bytes there are."""

    def close(self) -> None:
        """Let go of them."""


class OpenFile:
    """A file that is opened once: what takes its name later is another file, and is not read."""

    def __init__(self, name: str, file: BinaryIO) -> None:
        self._name, self._file = name, file
        self._before = self._state()

    def read_at(self, place: int, size: int) -> bytes:
        """Return at most `size` bytes from a place on; none at the end."""
        self._file.seek(place)
        return self._file.read(size)

    def length(self) -> int:
        """Return how many bytes there are."""
        return self._state()[0]

    def refuse_changes(self) -> None:
        """Refuse a file that was written to since it was opened: what was read may be half of each."""
        if self._state() != self._before:
            raise FileError(
                self._name, "was written to while it was read; read it again when its writer is done"
            )

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _state(self) -> tuple[int, int]:
        found = os.fstat(self._file.fileno())
        return found.st_size, found.st_mtime_ns


class KeptPipe:
    """A pipe whose bytes are copied, as they are asked for, to a file that has no name.

    Nobody has to remove it: it is gone when it is closed, and when its process is killed.
    """

    def __init__(self, name: str, pipe: BinaryIO) -> None:
        self._name, self._pipe = name, pipe
        # Without a buffer, which closing would try to write to a full disk once more.
        self._copy = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 -- closed by `close`
        self._size = 0
        self._ended = False

    def read_at(self, place: int, size: int) -> bytes:
        """Return at most `size` bytes from a place on; none at the end."""
        self._fetch(place + size)
        self._copy.seek(place)
        return self._copy.read(size)

    def length(self) -> int:
        """Return how many bytes there are, after all of them have come."""
        self._fetch(None)
        return self._size

    def close(self) -> None:
        """Close the copy."""
        self._copy.close()

    def _fetch(self, until: int | None) -> None:
        while not self._ended and (until is None or self._size < until):
            part = self._pipe.read(_PART if until is None else min(_PART, until - self._size))
            self._ended = not part
            self._size += len(part)
            if self._size > LONGEST_PIPE:
                raise FileError(
                    self._name,
                    f"is a pipe of more than {LONGEST_PIPE >> 30} GiB; write it to a file and name that",
                )
            self._keep(part)

    def _keep(self, part: bytes) -> None:
        try:
            self._copy.seek(0, os.SEEK_END)
            while part:
                part = part[self._copy.write(part) :]
        except OSError as error:
            raise FileError(
                self._name,
                f"is a pipe, and cannot be kept in {tempfile.gettempdir()}: {reason(error)}; "
                "write it to a file and name that, or set TMPDIR",
            ) from error


class Reader(io.RawIOBase):
    """A place of one's own in bytes that others read too; closing it closes nothing else."""

    def __init__(self, kept: Kept) -> None:
        self._kept, self._place = kept, 0

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def seekable(self) -> bool:
        """Return that one can jump about."""
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]  # what the buffered reader gives
        """Fill a buffer as far as there are bytes."""
        part = self._kept.read_at(self._place, len(buffer))
        buffer[: len(part)] = part
        self._place += len(part)
        return len(part)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._place}.get(whence)
        self._place = max(0, (self._kept.length() if start is None else start) + offset)
        return self._place

    def tell(self) -> int:
        """Return the place."""
        return self._place
