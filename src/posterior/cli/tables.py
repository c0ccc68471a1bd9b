"""Tables and bars on a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

import posterior
from posterior._text import rate_text
from posterior.cli.console import CommandConsole
from posterior.cli.errors import as_options
from posterior.schema import LabelledTable

LINES = 30  # of a schema that are shown
BAR = 24


def table_of(
    heads: Sequence[str], rows: Sequence[Sequence[Any]], *, left: int = 1, wraps: Sequence[str] = ()
) -> Table:
    """A table whose first `left` columns, and those that may be wrapped, are words; the others numbers."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for k, head in enumerate(heads):
        words = k < left or head in wraps
        table.add_column(head, justify="left" if words else "right", no_wrap=head not in wraps)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    return table


def show_reading(console: CommandConsole, read: LabelledTable) -> None:
    """What was inferred about a table, before anything is done with it."""
    counts = np.bincount(read.codes, minlength=len(read.classes)).tolist()
    classes = sorted(zip(map(str, read.classes.tolist()), counts, strict=True))
    shown = ", ".join(f"{label} {n:,}" for label, n in classes[:10])
    more = f", … ({len(classes)} classes)" if len(classes) > 10 else ""
    console.tell(Text(f"{len(read):,} rows; classes in {read.target}: {shown}{more}"))
    if read.dropped:
        console.note(f"rows without a class, left out: {read.dropped} of {len(read) + read.dropped}")
    show_columns(console, read)


def show_columns(console: CommandConsole, read: LabelledTable, *, result: bool = False) -> None:
    """What each column is and why, and what a user may want to change; `result` if that was asked for."""
    tell = console.say if result else console.tell
    rows, schema = [], read.schema
    shown = schema.columns[: None if result else LINES]
    for column, gaps in zip(shown, gaps_of(read, len(shown)), strict=True):
        rows.append(
            (column.name, column.kind, f"{gaps:,}" if gaps else "", column.described_levels(), column.reason)
        )
    tell(table_of(("column", "kind", "gaps", "levels", "why"), rows, left=2, wraps=("levels", "why")))
    if len(schema) > LINES and not result:
        tell(f"… and {len(schema) - LINES:,} columns more\n")
    for sentence in schema.sentences:
        console.note(sentence)


def schema_data(read: LabelledTable) -> dict[str, Any]:
    """The same for a script."""
    return {
        "rows": len(read),
        "target": read.target,
        "rows_without_class": read.dropped,
        "columns": columns_data(read),
    }


def columns_data(read: LabelledTable) -> list[dict[str, Any]]:
    """What each column is and why, for a script."""
    return [
        {
            "name": c.name,
            "kind": c.kind,
            "why": c.reason,
            "gaps": gaps,
            "levels": c.levels,
            **({"note": as_options(c.hint)} if c.hint else {}),
        }
        for c, gaps in zip(read.schema.columns, gaps_of(read, len(read.schema)), strict=True)
    ]


def gaps_of(read: LabelledTable, n: int) -> list[int]:
    """How many cells of each of the first n columns have no value; of a part of a date, how many dates."""
    schema, cells = read.schema, read.native
    there, names = set(cells.column_names), schema.names[:n]
    found = (name if name in there else schema.input_of(j) for j, name in enumerate(names))
    return [int(cells[name].null_count) for name in found]


def accuracy_words(accuracy: float, classes: Mapping[Any, int]) -> str:
    """An accuracy; where one of these classes has nearly all rows, beside what always naming it gives.

    >>> accuracy_words(0.9995, {"no": 1999, "yes": 1})
    'accuracy 0.9995 (always no: 0.9995)'
    """
    told, rows = f"accuracy {rate_text(accuracy)}", sum(classes.values())
    common = max(classes, key=lambda label: classes[label], default=None)
    if len(classes) < 2 or classes[common] < posterior.comparison.imbalance.LOPSIDED * rows:
        return told
    return f"{told} (always {common}: {rate_text(classes[common] / rows)})"


def bar(value: float, largest: float, width: int = BAR) -> Text:
    """A bar to the right of the middle for what speaks for, to the left for what speaks against.

    >>> bar(1.0, 2.0, width=4).plain
    '    │██  '
    """
    cells = 0 if not largest else round(min(abs(value) / largest, 1.0) * width)
    mark = "█" * cells
    if value < 0:
        return Text(mark.rjust(width), style="dark_orange") + Text("│" + " " * width, style="default")
    return Text(" " * width + "│", style="default") + Text(mark.ljust(width), style="blue")


def number(value: float | None, form: str = ".3f") -> str:
    """A figure, or a dash where there is none.

    >>> number(0.1234), number(None), number(float("inf"))
    ('0.123', '–', '∞')
    """
    if value is None or value != value:  # noqa: PLR0124 -- NaN
        return "–"
    return "∞" if value == float("inf") else format(value, form)


def with_error(value: float | None, error: float | None) -> str:
    """A figure with its standard error.

    >>> with_error(0.25, 0.01), with_error(None, None)
    ('0.250 ± 0.010', '–')
    """
    return number(value) if value is None or error is None else f"{number(value)} ± {number(error)}"


def by_reason(left_out: Mapping[str, str]) -> dict[str, list[str]]:
    """The models that were not tried, by the reason.

    >>> by_reason({"lda": "no number", "qda": "no number"})
    {'no number': ['lda', 'qda']}
    """
    found: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        found.setdefault(reason, []).append(name)
    return found
