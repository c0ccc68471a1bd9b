"""The commands, put together; the module of a command is imported when the command is called."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

import posterior
from posterior._text import escaped
from posterior._version import __version__
from posterior.cli.closing import one_command
from posterior.cli.errors import (
    INTERRUPTED,
    READER_GONE,
    USER_ERROR,
    as_options,
    lacking,
    message_line,
    outcome,
)

# Each command is the function of this name in the module of this name; its help begins with this line.
COMMANDS = {
    "compare": "Compare every sensible model of a table.",
    "fit": "Fit a model to a table, into a file.",
    "predict": "Write posteriors and actions of rows, and how odd they are.",
    "inspect": "Show what a model file holds.",
    "explain": "Show why a row gets its class, or its number, by feature.",
    "sql": "Write a model as one SQL query, for DuckDB or PostgreSQL.",
    "studio": "Write a page where priors, costs and thresholds can be moved.",
    "curve": "Show how the loss falls with the number of rows.",
    "data": "List bundled tables, or show how a file is read.",
}
SETTINGS: dict[str, Any] = {"rich_markup_mode": None, "pretty_exceptions_enable": False}


class CommandGroup(TyperGroup):
    """Knows the commands by name and one line of help, and imports the one that is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command that the arguments begin with, and the arguments that are left."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            command = command_named(args[0])
            if "--help" in rest:
                name_models(command)
        return name, command, rest


def name_models(command: Any) -> None:
    """Name the models in a help text that says {models}: only help knows them before a table is read."""
    for option in command.params:
        if "{models}" in (getattr(option, "help", None) or ""):
            option.help = option.help.format(models=", ".join(posterior.comparison.MODELS))


def command_named(name: str) -> Any:
    """A command with its options, from its module, which imports what reads tables; models come later."""
    try:
        module = import_module(f"posterior.cli.{name}")
    except ModuleNotFoundError as error:
        raise lacking(error) from error
    single = typer.Typer(add_completion=False, **SETTINGS)
    single.command(name)(getattr(module, name))
    return get_command(single)


app = typer.Typer(
    name="posterior", cls=CommandGroup, help="Probabilities you can act on, from a table of data.", **SETTINGS
)


@app.callback(invoke_without_command=True)
def about(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,
) -> None:
    """Probabilities you can act on, from a table of data."""
    if version:
        print(f"posterior {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def _placeholder() -> None:
    """What stands for a command until it is called."""


for listed_name, first_line in COMMANDS.items():
    app.command(listed_name, help=first_line)(_placeholder)


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
            f"{message_line(told())} (posterior --help)"
            if where == "posterior"
            else f"{message_line(told())} ({where} --help)"
        )
        return USER_ERROR
    if code == READER_GONE:
        # Python would complain once more when it closes standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _called(arguments: Sequence[str] | None) -> None:
    given = None if arguments is None else list(arguments)
    try:
        with one_command():
            result = app(given, prog_name="posterior", standalone_mode=False)
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # for which click would leave with 1
            raise stop.__context__ from None
        raise
    if isinstance(result, int) and result:
        raise typer.Exit(result)


def _complain(message: str) -> None:
    print(f"posterior: {escaped(as_options(message))}", file=sys.stderr)
