"""The table: rows, classes, columns, what they were taken for and why, and their gaps."""

from collections import Counter

import numpy as np

from posterior.report.blocks import (
    AnyCell,
    Bar,
    Bullets,
    Cell,
    Details,
    Head,
    Name,
    Number,
    PageBlock,
    PageTable,
    Text,
)
from posterior.report.subject import Subject
from posterior.report.words import count, percent, printable, sentence_of

COLUMNS_SHOWN, COLUMNS_UNFOLDED = 15, 200
CLASSES_SHOWN = 20
LEVELS_SHOWN, LETTERS = 4, 20
HEAD = (
    Head("column"),
    Head("kind"),
    Head("gaps", "share", "share of the rows in which the cell is empty"),
    Head("levels", "list"),
    Head("why", "list", "what made us take the column for this kind"),
)


def the_table(subject: Subject) -> list[PageBlock]:
    """What was read: a person should see here what was taken for something else than it is."""
    schema = subject.comparison.schema
    made_of = ", ".join(f"{n:,} {kind}" for kind, n in Counter(schema.kinds).most_common())
    rows = count(subject.comparison.n_rows, "row")
    words = f"{rows} and {count(len(schema), 'column')} ({made_of}). {_gaps_told(subject)}"
    blocks: list[PageBlock] = [Text(words), _classes(subject), *_columns(subject)]
    hints = [(printable(name), hint) for name, hint in schema.remarks]
    return [*blocks, Bullets(hints[:COLUMNS_SHOWN])] if hints else blocks


def _gaps_told(subject: Subject) -> str:
    gaps, rows = subject.gaps, subject.comparison.n_rows
    if not gaps.rows:
        return "No cell is empty."
    cells, columns = int(gaps.by_column.sum()), int(np.count_nonzero(gaps.by_column))
    share = percent(cells / (rows * len(gaps.by_column)))
    return (
        f"{count(cells, 'cell')} ({share}) without a value, in {count(columns, 'column')} and "
        f"{percent(gaps.rows / rows)} of the rows."
    )


def _classes(subject: Subject) -> PageTable:
    counts, rows = subject.class_counts, subject.comparison.n_rows
    shown = np.argsort(-counts, kind="stable")[:CLASSES_SHOWN].tolist()
    colours = len(counts) <= 8
    lines: list[list[AnyCell]] = [
        [
            Name(subject.classes[k]),
            Number(count(int(counts[k]))),
            Bar(counts[k] / rows, percent(counts[k] / rows), k if colours else None),
        ]
        for k in shown
    ]
    what = f"Classes in column {printable(subject.target)}" if subject.target else "Classes"
    more = f": the {len(shown)} largest of {len(counts):,}" if len(counts) > len(shown) else ""
    return PageTable(what + more, (Head("class"), Head("rows", "number"), Head("share", "share")), lines)


def _columns(subject: Subject) -> list[PageBlock]:
    """The columns; many of them are folded, and of very many only the first are there."""
    d = len(subject.comparison.schema)
    if d <= COLUMNS_SHOWN + 3:
        return [_listing(subject, range(d), "Columns, and what they were taken for")]
    first = _listing(subject, range(COLUMNS_SHOWN), f"The first {COLUMNS_SHOWN} of {d:,} columns")
    end = min(d, COLUMNS_UNFOLDED)
    rest = _listing(subject, range(COLUMNS_SHOWN, end), f"Columns {COLUMNS_SHOWN + 1} to {end} of {d:,}")
    return [first, Details(f"{end - COLUMNS_SHOWN} columns more", [rest])]


def _listing(subject: Subject, positions: range, caption: str) -> PageTable:
    gaps, rows = subject.gaps.by_column, subject.comparison.n_rows
    lines: list[list[AnyCell]] = []
    for j in positions:
        column = subject.comparison.schema.columns[j]
        share = gaps[j] / rows
        gap: AnyCell = Bar(share, f"{count(gaps[j])} ({percent(share)})") if gaps[j] else Cell("none")
        levels = Cell(sentence_of(column.levels or (), LEVELS_SHOWN, LETTERS))
        lines.append([Name(printable(column.name)), Cell(column.kind), gap, levels, Name(column.reason)])
    return PageTable(caption, HEAD, lines)
