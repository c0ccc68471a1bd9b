"""`posterior data`: the bundled tables."""

from typing import Annotated, Any

import typer

from posterior import datasets, files
from posterior.cli.console import CommandConsole
from posterior.cli.grouped import grouped
from posterior.cli.options import OutputOptions
from posterior.cli.tables import table_of


@grouped
def data(
    talk: OutputOptions,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", show_default=False, help="Print this table as CSV.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write it there instead.")
    ] = None,
) -> None:
    """List the bundled tables, or print one of them."""
    console = CommandConsole(talk)
    if name is not None:
        form = "jsonl" if talk.json and output is None else None
        files.write_batches(output or "-", iter([datasets.load(name, "pyarrow").frame]), format=form)
        return
    if output is not None:
        raise ValueError(f"which table is to be written to {output}? Say posterior data NAME -o {output}")
    tables = [_facts(bundled) for bundled in datasets.available()]
    if talk.json:
        console.data(tables)
        return
    rows = [(t["name"], t["target"], f"{t['rows']:,}", t["description"]) for t in tables]
    console.say(table_of(("name", "target", "rows", "what it is"), rows, left=2, wraps=("what it is",)))


def _facts(name: str) -> dict[str, Any]:
    about = datasets.describe(name)
    frame = datasets.load(name, "pyarrow").frame
    return {
        "name": name,
        "target": about.target,
        "rows": len(frame),
        "columns": frame.column_names,
        "description": about.description,
    }
