"""What goes wrong with files, said in one line; also where pyarrow, which is an extra, is not installed."""

import json
from typing import Any

from posterior._loading import load_module
from posterior._text import cut, escaped


class FileError(ValueError):
    """A file that cannot be read or written, and why: one line for the user.

    >>> raise FileError("people.csv", "has no rows")
    Traceback (most recent call last):
    posterior.files.errors.FileError: people.csv has no rows
    """

    def __init__(self, name: Any, problem: str) -> None:
        super().__init__(f"{name} {problem}")
        self.name, self.problem = name, problem

    def __reduce__(self) -> Any:
        return FileError, (self.name, self.problem)


def reason(error: BaseException) -> str:
    r"""Return the first line of another library's message, without its full stop and not too long.

    >>> reason(OSError("Magic bytes not found.\nsee the manual"))
    'Magic bytes not found'
    """
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    text = str(error).strip() or type(error).__name__
    line = text.splitlines()[0].rstrip(".")
    return cut(line, 160)


def in_quotes(text: str) -> str:
    r"""Return a piece of a file in quotes, on one line and not too long.

    >>> in_quotes('say "hi"\n')
    '"say \\"hi\\"\\n"'
    """
    return escaped(json.dumps(cut(text, 40), ensure_ascii=False))


def extra_module(name: str, purpose: str, package: str, extra: str | None) -> Any:
    """Return a module of a package that an extra brings, or the error that says how to get it."""
    try:
        return load_module(name)
    except ImportError as error:
        remedy = "" if extra is None else f": pip install 'posterior[{extra}]'"
        raise ImportError(f"{purpose} needs {package}{remedy}") from error


def arrow_module(name: str) -> Any:
    """Return a module of this package that needs pyarrow, or the error that says how to get it."""
    extra_module("pyarrow", "reading files", "pyarrow", "cli")
    return load_module(f"posterior.files.{name}")
