"""One category in several spellings: North, NORTH and north; yes, Y and TRUE."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from posterior._text import counted, listed, quoted
from posterior.schema.cells import Cells, Labels, Numbers
from posterior.schema.readings.base import ColumnReading, the_way_out

# Columns of more categories are codes, in which letters may mean more than words.
MOST = 200
YES = frozenset({"yes", "y", "true", "t", "1"})
NO = frozenset({"no", "n", "false", "f", "0"})


@dataclass(frozen=True)
class Spellings(ColumnReading):
    """Categories that came in several spellings, each read as the most frequent one.

    `groups` has a row for each of these: the spelling that is kept, then all as `spelling_key` writes them.

    >>> from posterior.schema.cells import factorize
    >>> north = Spellings(0, "region", groups=(("North", "north"),))
    >>> north.read(factorize(["NORTH", "south", "north"], "string"))[0].objects().tolist()
    ['North', 'south', 'North']
    """

    groups: tuple[tuple[str, ...], ...] = ()

    def impossible(self) -> str:
        """Say what no such object is; nothing where it may be one."""
        return "" if all(len(group) > 1 for group in self.groups) else "a category without a spelling"

    @property
    def reasons(self) -> tuple[str, ...]:
        """That spellings were merged."""
        return (f"strings, spellings of {listed([group[0] for group in self.groups], 3)} merged",)

    def read(self, cells: Cells) -> tuple[Cells, ...]:
        """Return the categories in the spelling that is kept; others stay as they are."""
        if isinstance(cells, Numbers) or cells.storage != "string":
            return (cells,)
        kept = {key: group[0] for group in self.groups for key in group[1:]}
        written = [kept.get(spelling_key(level), level) for level in cells.levels]
        place = {level: code for code, level in enumerate(dict.fromkeys(written))}
        codes = np.array([*(place[level] for level in written), -1], dtype=np.int32)
        return (replace(cells, codes=codes[cells.codes], levels=tuple(place)),)


def spelling_key(level: str) -> str:
    """Return a category without capitals and without blanks around it or twice.

    >>> spelling_key(" New  YORK")
    'new york'
    """
    return " ".join(level.split()).casefold()


def known_spelling(level: str, levels: Iterable[str]) -> str | None:
    """Return which of some categories a string is, perhaps in another spelling; None if it is none of them.

    >>> known_spelling("YES ", ["no", "yes"]), known_spelling("Y", ["no", "yes"]), known_spelling("x", ["y"])
    ('yes', 'yes', None)
    """
    rows = dict.fromkeys(levels, 0)
    if level in rows:
        return level
    groups = _yes_and_no({**rows, level: 0}) or _by_key({**rows, level: 0})
    same = next(group for group in groups if level in group)
    return next((known for known in same if known != level), None)


def find_spellings(place: int, name: str, labels: Labels) -> Spellings | None:
    """Return which categories are spelled in several ways; None if there are none.

    A single letter is no word, and may mean something else as a capital, unless all are yes or no.

    >>> from posterior.schema.cells import factorize
    >>> find_spellings(0, "paid", factorize(["yes", "Yes", "Y", "no", "yes"], "string")).groups
    (('yes', 'y', 'yes'),)
    """
    levels = labels.levels
    if not 1 < len(levels) <= MOST:
        return None
    rows = dict(zip(levels, labels.counts().tolist(), strict=True))
    groups = _yes_and_no(rows) or _by_key(rows)
    found = tuple(sorted(_group(group, rows) for group in groups if len(group) > 1))
    if not found:
        return None
    kept = {group[0] for group in found}
    gone = sorted(level for group in groups if len(group) > 1 for level in group if level not in kept)
    shown = ", ".join(quoted(group[0]) for group in found[:3]) + (", …" if len(found) > 3 else "")
    told = f"{listed(gone, 4)} ({counted(sum(rows[level] for level in gone), 'cell')}) read as {shown}"
    return Spellings(place, name, f"{told}; {the_way_out(name, 'categorical')} keeps them apart", found)


def _by_key(rows: Mapping[str, int]) -> Iterable[list[str]]:
    groups: dict[str, list[str]] = {}
    for level in rows:
        key = spelling_key(level)
        # A letter by itself is the same only without the blanks around it.
        groups.setdefault(key if len(key) > 1 else level.strip(), []).append(level)
    return groups.values()


def _yes_and_no(rows: Mapping[str, int]) -> list[list[str]]:
    """Return the categories that mean yes and those that mean no, if there are both and no others."""
    both = [[level for level in rows if spelling_key(level) in words] for words in (YES, NO)]
    return both if all(both) and sum(map(len, both)) == len(rows) else []


def _group(levels: Iterable[str], rows: Mapping[str, int]) -> tuple[str, ...]:
    kept = min(levels, key=lambda level: (-rows[level], level))
    return kept, *sorted({spelling_key(level) for level in levels})
