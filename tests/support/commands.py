"""Commands as a user runs them: what they print, and what they say beside it."""

import json
from typing import Any, NamedTuple

import pytest

pytest.importorskip("typer", reason="the command line is an extra")

from posterior.cli.app import run


class Printed(NamedTuple):
    """What a command printed, its notes on one line, and its exit code."""

    out: str
    notes: str
    code: int

    @property
    def all(self) -> str:
        """Everything that it said, on one line."""
        return " ".join(f"{self.out} {self.notes}".split())


def ran(capsysbinary: Any, *arguments: str) -> Printed:
    """What a command says, whether it ends well or not."""
    code = run(list(arguments))
    found = capsysbinary.readouterr()
    return Printed(found.out.decode(), " ".join(found.err.decode().split()), code)


def told(capsysbinary: Any, *arguments: str) -> Printed:
    """What a command says that ends well."""
    found = ran(capsysbinary, *arguments)
    assert found.code == 0, found.notes
    return found


def printed(capsysbinary: Any, *arguments: str) -> str:
    """What a command prints."""
    return told(capsysbinary, *arguments).out


def as_json(capsysbinary: Any, *arguments: str) -> Any:
    """What a command prints for a script."""
    return json.loads(printed(capsysbinary, *arguments, "--json"))
