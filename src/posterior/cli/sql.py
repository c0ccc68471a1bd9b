"""`posterior sql`: a model file as one SQL query."""

from typing import Annotated

import typer

import posterior
from posterior import files
from posterior.cli.console import CommandConsole
from posterior.cli.decision_options import DecisionOptions
from posterior.cli.grouped import grouped
from posterior.cli.model_files import open_model
from posterior.cli.options import ModelFile, OutputOptions
from posterior.cli.outputs import refuse_output
from posterior.cli.predict import decide


@grouped
def sql(
    file: ModelFile,
    decision: DecisionOptions,
    talk: OutputOptions,
    table: Annotated[str, typer.Option("--table", metavar="NAME", help="The table that the query reads.")],
    schema: Annotated[
        str | None, typer.Option("--schema", metavar="NAME", help="The schema that the table is in.")
    ] = None,
    dialect: Annotated[
        str, typer.Option("--dialect", metavar="NAME", help="The database: duckdb or postgres.")
    ] = "duckdb",
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COL", help="A column of the table to select too; may be repeated."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="WHAT",
            help="log_joint, log_posterior, posterior or predicted; may be repeated; all if not given.",
        ),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="OUT", help="Where to; standard output if not given.")
    ] = "-",
) -> None:
    """Write a model as one SQL query, for DuckDB or PostgreSQL.

    Posteriors and the decision are the same numbers as those of predict, worked out inside the database.
    """
    console = CommandConsole(talk, results=False)
    opened = open_model(file)
    refuse_output(output, file, *decision.files)
    with console.noticing():
        decide(opened.model, decision)
        query = posterior.to_sql(
            opened.model,
            table=table if schema is None else (schema, table),
            dialect=dialect,
            keep=tuple(keep or ()),
            output=only or None,
        )
    if talk.json and output == "-":
        console.data({"file": file, "dialect": dialect, "sql": query})
        return
    with files.writing(output) as out:
        out.write(f"{query}\n".encode())
