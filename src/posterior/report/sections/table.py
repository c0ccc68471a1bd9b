"""The table: rows, classes, columns, what they were taken for and why, what they hold, which go together."""

from collections import Counter

import numpy as np

from posterior.comparison.sampling import rows_to_show
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
    SideBySide,
    Text,
)
from posterior.report.column_facts import ColumnFacts
from posterior.report.pairs import WORTH_A_LINE, Pairs
from posterior.report.subject import Subject
from posterior.report.words import count, cut, figure, percent, printable, value

COLUMNS_SHOWN, COLUMNS_UNFOLDED = 15, 200
CLASSES_SHOWN, PAIRS_SHOWN = 20, 8
LETTERS = 20
# Cells that are looked at for the statistics of columns; of larger tables some rows are.
MOST_CELLS = 20_000_000


def the_table(subject: Subject) -> list[PageBlock]:
    """What was read: a person should see here what was taken for something else than it is."""
    schema = subject.comparison.schema
    made_of = ", ".join(f"{n:,} {kind}" for kind, n in Counter(schema.kinds).most_common())
    rows = count(subject.comparison.n_rows, "row")
    words = f"{rows} and {count(len(schema), 'column')} ({made_of}). {_gaps_told(subject)}"
    classes, pairs = _classes(subject), _pairs(subject)
    beside = isinstance(pairs, PageTable)
    both: list[PageBlock] = [SideBySide([classes, pairs])] if beside else [classes, pairs]
    blocks: list[PageBlock] = [Text(words), *both, *_columns(subject)]
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


def _pairs(subject: Subject) -> PageBlock:
    """The columns that go together most closely; what is not shown is counted."""
    found, names = Pairs.of(subject.rows), subject.comparison.schema.names
    if not found.looked_at:
        return Text("There are no two columns whose correlation could be measured.", aside=True)
    looked = count(found.looked_at, "pair") + (" of columns" if found.looked_at > 1 else "")
    left = found.in_all - found.looked_at
    rest = (
        f" {count(left, 'pair')} with texts or beyond the first columns were not looked at." if left else ""
    )
    if not found.found:
        return Text(
            f"None of {looked} goes together closely: rank correlation, or Cramér's V where one is a "
            f"category, "
            f"is below {WORTH_A_LINE:g} or within chance.{rest}",
            aside=True,
        )
    shown = found.found[:PAIRS_SHOWN]
    lines: list[list[AnyCell]] = [
        [
            Name(printable(names[pair.first])),
            Name(printable(names[pair.second])),
            Number(figure(pair.value, 2)),
            Cell(pair.measure),
        ]
        for pair in shown
    ]
    heads = (Head("column"), Head("and"), Head("closeness", "number"), Head("measured by"))
    caption = (
        f"Correlated columns: {len(shown)} of {count(len(found.found), 'pair')} that go together by "
        f"{WORTH_A_LINE:g} or more, beyond chance, among {looked}.{rest}"
    )
    return PageTable(caption, heads, lines)


def _columns(subject: Subject) -> list[PageBlock]:
    """The columns; many of them are folded, and of very many only the first are there."""
    d = len(subject.comparison.schema)
    if d <= COLUMNS_SHOWN + 3:
        return [_listing(subject, range(d), "Columns, what they were taken for and why, and what they hold")]
    first = _listing(subject, range(COLUMNS_SHOWN), f"The first {COLUMNS_SHOWN} of {d:,} columns")
    end = min(d, COLUMNS_UNFOLDED)
    rest = _listing(subject, range(COLUMNS_SHOWN, end), f"Columns {COLUMNS_SHOWN + 1} to {end} of {d:,}")
    unlisted = f"; {count(d - end)} more are not listed" if d > end else ""
    return [first, Details(f"{end - COLUMNS_SHOWN} columns more{unlisted}", [rest])]


def _listing(subject: Subject, positions: range, caption: str) -> PageTable:
    gaps, n = subject.gaps.by_column, subject.comparison.n_rows
    rows, schema = subject.rows, subject.comparison.schema
    if len(rows) * len(positions) > MOST_CELLS:
        rows = rows.part(rows_to_show(rows.codes, MOST_CELLS // len(positions)))
        caption += f"; figures of {count(len(rows))} of the rows"
    facts = {j: ColumnFacts.of(rows, j) for j in positions}
    numbers = any(fact.low is not None for fact in facts.values())
    others = any(fact.frequent for fact in facts.values())
    heads = [Head("column"), Head("kind"), Head("gaps", "share", "share of the rows in which it is empty")]
    heads.append(Head("distinct", "number", "how many different values there are"))
    heads += [Head(word, "number") for word in ("smallest", "median", "largest")] * numbers
    heads += [Head("most frequent", "list")] * others
    lines: list[list[AnyCell]] = []
    for j in positions:
        column, fact, share = schema.columns[j], facts[j], gaps[j] / n
        gap: AnyCell = Bar(share, f"{count(gaps[j])} ({percent(share)})") if gaps[j] else Cell("none")
        kind = Cell(column.kind, below=printable(column.reason))
        line: list[AnyCell] = [Name(printable(column.name)), kind, gap, Number(count(fact.distinct))]
        line += [Number(value(each)) for each in (fact.low, fact.median, fact.high)] * numbers
        lines.append([*line, *[Cell(_frequent(fact, len(rows)))] * others])
    return PageTable(caption, heads, lines)


def _frequent(fact: ColumnFacts, n: int) -> str:
    told = [f"{cut(printable(name), LETTERS)} {percent(times / n)}" for name, times in fact.frequent]
    more = fact.distinct - len(told)
    return ", ".join(told) + (f" and {count(more)} more" if told and more else "")
