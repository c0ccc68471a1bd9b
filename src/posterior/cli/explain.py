"""`posterior explain`: why a row got its class, as bars."""

from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer
from rich.text import Text

from posterior._text import cut
from posterior.cli.console import CommandConsole
from posterior.cli.decision_options import DecisionOptions
from posterior.cli.grouped import grouped
from posterior.cli.model_files import Opened, open_model
from posterior.cli.options import Data, FileOptions, ModelFile, OutputOptions
from posterior.cli.predict import decide
from posterior.cli.tables import BAR, bar, number, table_of
from posterior.estimators import DecisionClassifier
from posterior.estimators.contributions import Contributions, NumberContributions
from posterior.schema import read_table
from posterior.schema.cells import Cells, Numbers
from posterior.workflow import contributions_of, predictions

SHOWN = 20  # features
CELL = 40  # characters of a value
# What is split by feature is called, what its bars are, and how its numbers are written.
LOG_ODDS = ("log odds", f"{'against ':>{BAR}}│ for", "+.2f")
ADDS = ("adds", f"{'less ':>{BAR}}│ more", "+.6g")


@grouped
def explain(
    file: ModelFile,
    data: Data,
    reading: FileOptions,
    decision: DecisionOptions,
    talk: OutputOptions,
    row: Annotated[int, typer.Option("--row", metavar="N", min=0, help="Which row; the first is 0.")] = 0,
    words: Annotated[
        bool, typer.Option("--words", help="A text by its words, each with its own bar.")
    ] = False,
) -> None:
    """Show why a row gets its class, or its number, by feature."""
    console = CommandConsole(talk)
    opened = open_model(file)
    with console.noticing():
        decide(opened.model, decision)
        X = opened.columns_of(row_of(opened, data, reading, row), data)
        said = {name: values[0] for name, values in predictions(opened.model, X).items()}
        parts = contributions_of(opened.model, X, words=words)
        decided = str(opened.model.explain(X)[0]) if isinstance(opened.model, DecisionClassifier) else None
    order = np.argsort(-np.abs(parts.values[0]), kind="stable")
    terms = [(parts.terms[j], float(parts.values[0, j])) for j in order]
    if talk.json:
        console.data({"row": row, **said, **_split(parts), "by_feature": dict(terms), "explanation": decided})
        return
    if decided is not None:
        console.tell(Text(decided))
    console.say(Text(f"\n{_title(parts, opened.about.target)}", style="bold"))
    form = ADDS if isinstance(parts, NumberContributions) else LOG_ODDS
    console.say(chart(terms, values_of(opened, X), *form))


def _split(parts: Contributions | NumberContributions) -> dict[str, Any]:
    """What is split by feature, for a script."""
    if isinstance(parts, NumberContributions):
        return {"number": parts.total[0]}
    return {"of": parts.of[0], "against": parts.against[0], "log_odds": parts.total[0]}


def _title(parts: Contributions | NumberContributions, target: str) -> str:
    """The same in words."""
    if isinstance(parts, NumberContributions):
        return f"{target or 'predicted'}: {parts.total[0]:.6g}"
    return f"log odds of {parts.of[0]} against {parts.against[0]}: {parts.total[0]:+.2f}"


def values_of(opened: Opened, X: pa.Table) -> dict[str, Any]:
    """The cells of a row, and the parts of those that are read as several columns, such as dates."""
    given = {name: X[name][0].as_py() for name in X.column_names}
    source = opened.schema.read(opened.schema.align(read_table(X)))
    parts = [(j, name) for j, name in enumerate(opened.schema.names) if name not in given]
    return given | {name: _number(source.column(j)) for j, name in parts}


def _number(cells: Cells) -> float | None:
    value = float(cells.floats()[0]) if isinstance(cells, Numbers) else np.nan
    return None if np.isnan(value) else value


def chart(terms: list[tuple[str, float]], values: dict[str, Any], head: str, bars: str, form: str) -> Any:
    """A bar for each feature, the longest first; the prior and the rest as they are."""
    largest = max((abs(odds) for _, odds in terms if np.isfinite(odds)), default=0.0)
    rows = [
        (name, _cell(name, values), number(odds, form), bar(odds, largest)) for name, odds in terms[:SHOWN]
    ]
    if len(terms) > SHOWN:
        rest = sum(odds for _, odds in terms[SHOWN:])
        rows.append((f"{len(terms) - SHOWN} others", "", number(rest, form), bar(rest, largest)))
    return table_of(("feature", "value", head, bars), rows, left=2, wraps=(bars,))


def _cell(name: str, values: dict[str, Any]) -> str:
    if name not in values:
        return ""
    value = values[name]
    text = "missing" if value is None else f"{value:.7g}" if isinstance(value, float) else str(value)
    return cut(text, CELL)


def row_of(opened: Opened, path: str, reading: FileOptions, row: int) -> pa.Table:
    """One row of a file, without reading further than there."""
    seen = 0
    for batch in opened.batches(path, reading):
        if row < seen + len(batch):
            return batch.slice(row - seen, 1)
        seen += len(batch)
    raise ValueError(f"--row {row}: {path} has {seen:,} rows, numbered from 0 to {seen - 1:,}")
