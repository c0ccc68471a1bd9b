"""What a command prints, and where: results to standard output, all else to standard error."""

import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBar
from rich.segment import Segment
from rich.text import Text

from posterior._plain import plain
from posterior._text import escaped, one_line
from posterior._types import Progress
from posterior.cli.errors import as_options
from posterior.cli.options import OutputOptions
from posterior.notices import sentences_of

# Where there is no terminal nobody knows how wide the paper is: wide enough for our tables.
WIDTH = 132


class SafeConsole(Console):
    """A console that shows the names of a table, and does not obey them."""

    def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
        """The pieces of what is printed."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(escaped(segment.text), segment.style)


class CommandConsole:
    """Prints for a person, for a script (`--json`), or little (`--quiet`)."""

    def __init__(self, talk: OutputOptions, *, results: bool = True) -> None:
        self.as_json = talk.json
        width = None if sys.stdout.isatty() else WIDTH
        self.out = SafeConsole(width=width, highlight=False, quiet=talk.json, soft_wrap=False)
        self.err = SafeConsole(
            stderr=True, highlight=False, quiet=talk.quiet, width=None if sys.stderr.isatty() else WIDTH
        )
        # What surrounds a result: beside it on a screen, apart from it where it is data.
        self.aside = self.err if not results or talk.json or talk.quiet else self.out
        self._noted: list[str] = []

    def say(self, what: Any = "") -> None:
        """The result itself."""
        self.out.print(what)

    def print_as_it_is(self, text: str) -> None:
        """A result whose lines are laid out already."""
        self.out.print(Text(text), soft_wrap=True)

    def tell(self, what: Any = "") -> None:
        """What surrounds the result."""
        self.aside.print(what)

    def note(self, message: object) -> None:
        """What a person would want to know, each thing once: also if it was told as a part of another."""
        for sentence in sentences_of(message):
            text = as_options(one_line(sentence))
            if not any(text in told for told in self._noted):
                self._noted.append(text)
                self.err.print(f"[yellow]note:[/yellow] {escape(text)}")

    def data(self, what: Any) -> None:
        """The result as JSON, where a script reads it; numbers that JSON does not know become null."""
        if self.as_json:
            print(json.dumps(plain(what), indent=2, ensure_ascii=False, allow_nan=False))

    @contextmanager
    def noticing(self) -> Iterator[None]:
        """Warnings of the library become notes."""
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = lambda message, *_, **__: self.note(message)
            yield

    @contextmanager
    def progress(self) -> Iterator[Progress]:
        """A bar for long work, with the time gone and the time left, on a terminal; nothing elsewhere."""
        columns = (
            *(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()),
            *(TextColumn("left"), TimeRemainingColumn(compact=True)),
        )
        silent = not self.err.is_terminal or self.err.quiet
        with ProgressBar(
            *columns, console=self.err, transient=True, disable=silent, speed_estimate_period=600
        ) as bar:
            task = bar.add_task("", total=None)

            def told(done: int, total: int, what: str) -> None:
                bar.update(task, completed=done, total=total, description=escape(what))

            yield told
