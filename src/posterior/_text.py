"""Values, names and tables as lines of text, for messages and for what is printed."""

from collections.abc import Iterable, Sequence
from typing import Any


def one_line(value: Any) -> str:
    r"""A value as text on one line, whatever it was.

    >>> one_line("two\n  lines")
    'two lines'
    """
    return " ".join(str(value).split())


def cut(text: str, width: int) -> str:
    """A text of at most `width` characters, with an ellipsis where it was longer.

    >>> cut("short", 8), cut("a name that goes on", 8)
    ('short', 'a name…')
    """
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def both_ends(text: str, width: int) -> str:
    """The beginning and the end of a text that is longer than `width` characters.

    >>> both_ends("unknown kind 'xxxxxxxx', choose another", 24)
    'unknown kind … oose another'
    """
    half = width // 2
    return text if len(text) <= width else f"{text[:half].rstrip()} … {text[-half:].lstrip()}"


def shortened(value: Any, width: int = 60) -> str:
    """A value as text on one line of at most `width` characters.

    >>> shortened("a long   name", 6)
    'a lon…'
    """
    return cut(one_line(value), width)


def quoted(value: Any, width: int = 40) -> str:
    """A value as Python writes it, in at most `width` characters: strings are in quotes.

    >>> quoted("a long name", 6)
    "'a lo…"
    """
    return cut(repr(value), width)


def listed(values: Iterable[Any], limit: int = 5) -> str:
    """The first values of a list for a message, and how many there are.

    >>> listed(["a", "b", "c"], limit=2)
    "'a', 'b', … (3 in all)"
    """
    values = list(values)
    shown = ", ".join(map(quoted, values[:limit]))
    return shown if len(values) <= limit else f"{shown}, … ({len(values)} in all)"


def name_text(name: Any) -> str:
    r"""A name as it is, or as Python writes it where it would break the line.

    >>> name_text("age"), name_text("two\nlines")
    ('age', "'two\\nlines'")
    """
    text = str(name)
    return text if text.isprintable() else repr(text)


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Lines of a table: the first `left` columns aligned left, for words, the others right, for numbers.

    >>> aligned([["class", "n"], ["a", "12"]])
    ['class   n', 'a      12']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if k < left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
