"""Files written whole or not at all."""

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from posterior.files.errors import FileError, arrow_module, reason
from posterior.files.left_over import lock, part_name, remove_left_over
from posterior.files.options import WRITTEN, WrittenFormat, format_named
from posterior.files.signatures import split_suffix


@contextmanager
def writing(path: str | os.PathLike[str] | None) -> Iterator[BinaryIO]:
    """Give a file to write bytes to, which gets its name once all has gone well; "-" is standard output.

    Until then it lies under another name in the same folder (.NAME.posterior-RANDOM.part); an exception,
    Ctrl-C included, removes it and leaves what was there before. Nobody can when the process is killed: then
    the next writing to the same name does.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "report.html"
    >>> with writing(path) as file:
    ...     _ = file.write(b"<p>done</p>")
    >>> path.read_text()
    '<p>done</p>'
    >>> folder.cleanup()
    """
    if path is None or os.fspath(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    # Through links to the file itself: it is the file that is replaced, not the link to it.
    place = Path(os.path.realpath(Path(path).expanduser()))
    try:
        yield from _directly(place) if _is_device(place) else _beside(place)
    except BrokenPipeError:
        raise  # whoever reads from the pipe has seen enough
    except OSError as error:
        raise FileError(os.fspath(path), f"cannot be written: {_trouble(place, error)}") from error


def write_batches(
    path: str | os.PathLike[str] | None,
    tables: Iterable[Any],
    *,
    format: str | None = None,  # noqa: A002 -- the word that everyone uses, as `Reading` does
    raw: bool = False,
) -> None:
    r"""Write tables of the same columns to one file, as they come; the name says the format and the packing.

    A name without a suffix, and standard output, get CSV unless `format` says otherwise. Cells are quoted so
    that `read` gives them back, and numbers have all their digits. In CSV and TSV a text that a spreadsheet
    would run as a formula (=1+2) has an apostrophe in front, which `read` takes off; `raw` leaves it out.

    >>> import tempfile, pyarrow
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "people.csv.gz"
    >>> write_batches(path, [pyarrow.table({"age": [31]}), pyarrow.table({"age": [42]})])
    >>> import gzip
    >>> gzip.open(path).read()
    b'age\n31\n42\n'
    >>> folder.cleanup()
    """
    name = "-" if path is None else os.fspath(path)
    suffix, packing = split_suffix(name)
    form = _written_format(format or suffix or "csv")
    if form is None and format is not None:
        raise ValueError(f"unknown format {format!r}; choose one of {', '.join(WRITTEN)}")
    if form is None:
        raise FileError(
            name, f"cannot be written: .{suffix} is none of {', '.join('.' + one for one in WRITTEN)}"
        )
    if packing == "zip":
        raise FileError(name, "cannot be written: .zip is not supported; choose .gz, .bz2, .xz or .zst")
    output = arrow_module("output")
    with writing(path) as file:
        output.put_all(file, iter(tables), form, packing, raw=raw)


def _written_format(word: str) -> WrittenFormat | None:
    found = format_named(word)
    return next((known for known in WRITTEN if known == found), None)


def _beside(place: Path) -> Iterator[BinaryIO]:
    if place.is_dir():
        raise IsADirectoryError(f"{place} is a folder")
    remove_left_over(place)
    # Its name is chosen before there is a file, so that Ctrl-C finds no moment in which nobody knows it.
    temporary = place.parent / part_name(place)
    try:
        with open(temporary, "xb", opener=_private) as file:  # a Path has no opener
            lock(file.fileno())
            yield cast("BinaryIO", file)
            file.flush()
            os.fsync(file.fileno())
            os.utime(temporary)  # young, while it is neither locked nor in its place
        temporary.chmod(_mode(place))
        temporary.replace(place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _directly(place: Path) -> Iterator[BinaryIO]:
    with place.open("wb") as file:
        yield file


def _is_device(place: Path) -> bool:
    """Return whether a path is no file that could be replaced, such as a pipe or /dev/null."""
    return place.exists() and not place.is_file() and not place.is_dir()


def _mode(place: Path) -> int:
    """Return the permissions that the file has, or those that a new one gets."""
    if place.exists():
        return stat.S_IMODE(place.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _trouble(place: Path, error: OSError) -> str:
    if place.is_dir():
        return "it is a folder; name a file in it"
    if not place.parent.is_dir():
        return f"there is no folder {str(place.parent)!r}"
    return reason(error)
