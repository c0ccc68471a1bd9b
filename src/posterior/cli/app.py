"""The commands, put together."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from posterior.cli.compare import compare
from posterior.cli.curve import curve
from posterior.cli.data import data
from posterior.cli.explain import explain
from posterior.cli.fit import fit
from posterior.cli.inspect import inspect
from posterior.cli.predict import predict
from posterior.cli.stopping import INTERRUPTED, READER_GONE, USER_ERROR, one_line, outcome
from posterior.cli.voice import as_options, harmless

app = typer.Typer(
    name="posterior",
    help="Probabilities you can act on, from a table of data.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (compare, fit, predict, inspect, explain, curve, data):
    app.command()(command)


@app.callback(invoke_without_command=True)
def about(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,
) -> None:
    """Probabilities you can act on, from a table of data."""
    if version:
        import posterior  # noqa: PLC0415 -- the whole library, for one line

        print(f"posterior {posterior.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; return its exit code."""
    try:
        code = outcome(lambda: _called(arguments), _complain)
        sys.stdout.flush()
    except BrokenPipeError:
        code = READER_GONE
    except typer.Exit as stop:
        return stop.exit_code
    except typer.Abort:
        return INTERRUPTED
    except Exception as error:
        told = getattr(error, "format_message", None)  # of a mistake in the arguments
        if told is None:
            raise
        where = getattr(getattr(error, "ctx", None), "command_path", "posterior")
        _complain(
            f"{one_line(told())} (posterior --help)"
            if where == "posterior"
            else f"{one_line(told())} ({where} --help)"
        )
        return USER_ERROR
    if code == READER_GONE:
        # Python would complain once more when it closes standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _called(arguments: Sequence[str] | None) -> None:
    given = None if arguments is None else list(arguments)
    try:
        result = app(given, prog_name="posterior", standalone_mode=False)
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # for which click would leave with 1
            raise stop.__context__ from None
        raise
    if isinstance(result, int) and result:
        raise typer.Exit(result)


def _complain(message: str) -> None:
    print(f"posterior: {harmless(as_options(message))}", file=sys.stderr)
