"""Files that hold several tables: which one is meant."""

from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path

from posterior._text import listed
from posterior.files.errors import FileError


def split_part(path: str | PathLike[str]) -> tuple[str, str | None]:
    """Return the name of a file, and that of a table in it if the path names one after a #.

    A file whose own name has a # is that file: as much as there is on disk is the file's name.

    >>> split_part("people.xlsx#2024"), split_part("people.csv"), split_part("-#rows")
    (('people.xlsx', '2024'), ('people.csv', None), ('-', 'rows'))
    """
    name = fspath(path)
    cuts = [i for i, character in enumerate(name) if character == "#" and i]
    ways = [(name, None), *((name[:i], name[i + 1 :]) for i in reversed(cuts))]
    found = (way for way in ways if way[0] == "-" or Path(way[0]).expanduser().exists())
    return next(found, ways[-1])


def chosen_part(name: str, word: str, found: Sequence[str], wanted: str | None) -> str:
    """Return the table, sheet or list that a user means: the one that was named, or the only one.

    >>> chosen_part("people.db", "table", ["people"], None)
    'people'
    >>> chosen_part("people.db", "table", ["people", "places"], None)
    Traceback (most recent call last):
    posterior.files.errors.FileError: people.db holds 2 tables ('people', 'places'); name one:
        people.db#people
    >>> chosen_part("people.db", "table", ["people"], "pets")
    Traceback (most recent call last):
    posterior.files.errors.FileError: people.db has no table named 'pets'; it has 'people'
    """
    if wanted is not None and wanted in found:
        return wanted
    if not found:
        raise FileError(name, f"holds no {word} with rows")
    if wanted is not None:
        alike = [each for each in found if each.casefold() == wanted.casefold()]
        if len(alike) == 1:
            return alike[0]
        raise FileError(name, f"has no {word} named {wanted!r}; it has {listed(found, 12)}")
    if len(found) > 1:
        raise FileError(
            name, f"holds {len(found)} {word}s ({listed(found, 12)}); name one: {name}#{found[0]}"
        )
    return found[0]


def refuse_part(name: str, part: str | None) -> None:
    """Refuse the name of a table where a file holds only one, which has no name."""
    if part is not None:
        raise FileError(name, f"holds one table without a name; leave out #{part}")
