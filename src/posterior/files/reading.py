"""Tables from files for everyone: what users call, before pyarrow is needed."""

from collections.abc import Iterator, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from posterior.datasets import available, describe, load
from posterior.files.errors import arrow_module
from posterior.files.options import Reading


def read(path: str | PathLike[str], *, types: Mapping[str, str] | None = None, **options: Any) -> Any:
    """Return the table in a file as a `pyarrow.Table`; `options` are those of `Reading`.

    CSV, TSV, JSON lines, Parquet, Arrow and Feather files are told apart by what is in them and by their
    names, also when packed (gzip, bzip2, xz, zstandard, LZ4, ZIP). "-" is standard input; the name of a
    bundled table gives that table unless there is such a file. A column of text holds booleans,
    integers, numbers or strings, whatever is narrowest for all its cells; `types` says otherwise:
    ``{"code": "text"}``.

    >>> read("penguins").num_rows
    344
    """
    reading, given, tables = Reading(**options), _checked(types) or {}, arrow_module("tables")
    if is_bundled(path):
        return next(tables.retyped(fspath(path), [load(fspath(path), "pyarrow").frame], given))
    return tables.read_whole(path, reading, given)


def batches(
    path: str | PathLike[str], *, types: Mapping[str, str] | None = None, rows: int = 65536, **options: Any
) -> Iterator[Any]:
    """Give the table in a file some rows at a time, in bounded memory, each column of one type throughout.

    With `types` ("number", "integer", "boolean" or "text" for each column by name, say those of training) the
    file is read once, and columns that are not named stay as they are written; without, it is read twice,
    first for its types. There is always one table at least, if only for its columns.

    >>> [part.num_rows for part in batches("penguins", rows=200)]
    [200, 144]
    """
    if rows < 1:
        raise ValueError(f"rows must be at least 1, not {rows}")
    reading, given, tables = Reading(**options), _checked(types), arrow_module("tables")
    if is_bundled(path):
        parts = tables.resized([read(path, types=types)], rows)
    else:
        parts = tables.read_batches(path, reading, given, rows)
    # The first table is made now, so that what is wrong with the file is said here.
    return _begun(next(parts), parts)


def is_bundled(path: str | PathLike[str]) -> bool:
    """Return whether a path is the name of a bundled table, and no file is in its way.

    >>> is_bundled("penguins"), is_bundled("penguins.csv")
    (True, False)
    """
    return fspath(path) in available() and not Path(path).exists()


def default_target(path: str | PathLike[str]) -> str | None:
    """Return the class column of a bundled table; None for any other.

    >>> default_target("penguins"), default_target("people.csv")
    ('species', None)
    """
    return describe(fspath(path)).target if is_bundled(path) else None


def _begun(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest


def _checked(types: Mapping[str, str] | None) -> Any:
    return None if types is None else arrow_module("cells").checked_types(types)
