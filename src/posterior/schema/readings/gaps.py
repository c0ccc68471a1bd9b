"""Words among numbers or dates that mean a gap: a few, of a small share of the rows."""

from collections.abc import Iterable, Sequence
from itertools import islice

from posterior._text import counted, listed
from posterior.schema.cells import Labels
from posterior.schema.readings.base import the_way_out

# The share of rows that a reading fits, and how many words the others may be.
SHARE, WORDS = 0.95, 5
# Distinct cells that are looked at before all of them are.
SAMPLE = 100
# What people write where there is nothing; no share of the rows is too large for them.
NOTHING = frozenset(
    {"?", "-", "--", "–", "—", ".", "n/a", "na", "n.a.", "k.a.", "none", "null", "nan", "unknown", "missing"}
)


# Those of them that are words of a language, and may be a category as good as any.
_WORDS = frozenset({"none", "unknown", "missing"})


def is_mark(cell: str) -> bool:
    """Return whether a cell marks a gap, and is no word that may be a category, such as unknown."""
    return is_nothing(cell) and cell.strip().lower() not in _WORDS


def is_nothing(cell: str) -> bool:
    """Return whether a cell is what people write where there is nothing."""
    return cell.strip().lower() in NOTHING


def first_levels(levels: Iterable[str]) -> list[str]:
    """Return the first distinct cells, which are looked at before all of them are; without words for gaps."""
    return [level for level in islice(levels, SAMPLE) if not is_nothing(level)]


def few_enough(labels: Labels, misfits: Sequence[str]) -> bool:
    """Return whether all other cells are to be read in one way, and these as gaps."""
    if not misfits:
        return True
    rows = _rows(labels)
    strange = sum(rows[word] for word in misfits if not is_nothing(word))
    known = sum(rows.values()) - sum(rows[word] for word in misfits)
    return len(misfits) <= WORDS and known > 0 and strange <= (1 - SHARE) * (known + strange)


def gap_hint(name: str, what: str, labels: Labels, gaps: Sequence[str]) -> str:
    """Return the sentence that says which words were read as gaps; nothing where none was."""
    if not gaps:
        return ""
    rows = _rows(labels)
    return (
        f"read as {what}, and {listed(gaps, 3)} ({counted(sum(rows[gap] for gap in gaps), 'cell')}) as gaps; "
        f"{the_way_out(name, 'categorical')} keeps its strings"
    )


def _rows(labels: Labels) -> dict[str, int]:
    return dict(zip(labels.levels, labels.counts().tolist(), strict=True))
