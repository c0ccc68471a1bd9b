"""`posterior data`: the bundled tables, and how a table in a file is read."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from posterior import datasets, files
from posterior.cli.console import CommandConsole
from posterior.cli.errors import as_options
from posterior.cli.grouped import grouped
from posterior.cli.options import ColumnOptions, FileOptions, OutputOptions, known_column, listed_columns
from posterior.cli.tables import columns_data, show_columns, table_of
from posterior.schema import LabelledTable


@grouped
def data(
    reading: FileOptions,
    columns: ColumnOptions,
    talk: OutputOptions,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE",
            show_default=False,
            help="A bundled table, which is printed as CSV; or a file: how its columns are read.",
        ),
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write it there instead.")
    ] = None,
) -> None:
    """List bundled tables, or show how a file is read."""
    console = CommandConsole(talk)
    if name is not None and _is_file(name):
        if output is not None:
            raise ValueError(
                f"{name} is a file, and only a bundled table is written to {output}; leave out -o"
            )
        with console.noticing():
            _show_file(console, name, reading, columns)
        return
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


def _is_file(name: str) -> bool:
    with suppress(OSError):  # a name that is too long for one
        path, _ = files.split_part(name)
        return not files.is_bundled(name) and (path == "-" or Path(path).expanduser().exists())
    return False


def _show_file(console: CommandConsole, path: str, reading: FileOptions, columns: ColumnOptions) -> None:
    table = reading.table(path)
    names = table.column_names
    left_out = {known_column(name, names, "--drop") for name in columns.drop or ()}
    kinds = {name: kind for name, kind in (columns.kinds(names) or {}).items() if name not in left_out}
    if left_out == set(names):
        raise ValueError(f"--drop leaves no column of {path}; {listed_columns(names)}")
    read = LabelledTable.unlabelled(table.drop_columns(sorted(left_out)), kinds or None).reread()
    if console.as_json:
        notes = [as_options(sentence) for sentence in read.schema.sentences]
        console.data({"rows": len(read), "columns": columns_data(read), "notes": notes})
        return
    console.tell(f"{len(read):,} rows")
    show_columns(console, read, result=True)


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
