"""Errors of the command line: one line in its own words, and an exit code."""

import os
import re
from collections.abc import Callable
from shlex import quote

from posterior._text import both_ends, one_line

USER_ERROR = 2
INTERRUPTED = 130
LONGEST = 1000  # characters of a message: what a user gave may be of any length
# What a shell reports of a program that SIGPIPE ended: of cat and sort, and of ours. What had been asked for
# was not all written, so it is no success; `head` knows, and under pipefail so does the script.
READER_GONE = 141

NEEDED = ("typer", "rich", "pyarrow")


def lacking(error: ModuleNotFoundError) -> ImportError:
    """The error for a package of the extra `cli` that is not installed; any other error as it is."""
    if error.name is None or error.name.partition(".")[0] not in NEEDED:
        return error
    return ImportError(
        f"the command line needs {error.name}, which is not installed; run `pip install 'posterior[cli]'`"
    )


def message_line(message: object) -> str:
    """A message on one line; of one that quotes much of what a user gave, the beginning and the end."""
    return both_ends(one_line(message), LONGEST)


def outcome(work: Callable[[], object], tell: Callable[[str], None]) -> int:
    """Run a command; return its exit code, and say in one line what a user did wrong.

    What a user can cause comes as a ValueError, TypeError, OSError, ImportError or a mistake in the
    arguments. A reader that has left (posterior predict … | head) is told nothing, and the exit code is
    that of a program that a broken pipe ended. Anything else is our own mistake: it keeps its traceback, for
    us to see it. With POSTERIOR_DEBUG set in the environment everything does.
    """
    try:
        work()
    except KeyboardInterrupt:
        tell("stopped; nothing was written")
        return INTERRUPTED
    except BrokenPipeError:
        return READER_GONE
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        if os.environ.get("POSTERIOR_DEBUG"):
            raise
        tell(message_line(error) or type(error).__name__)
        return USER_ERROR
    return 0


# What the library says to those who write Python, as one says it on the command line.
OPTIONS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r'(?:pass )?calibration="(\w+)"', r"--calibration \1"),
    (r"[.;]? ?See calibration_test_;? ?(?:cv=None skips this check)?", ""),
    (r"max_rows=None", "--max-rows 0"),
    (r"; cv=None asks for no check", ""),
    (r" \(rows of weight 0 do not count\)", ""),
    (r'missing="([^"]*)"', lambda found: f"--missing {quote(found[1])}"),
    (r"kinds=\{'([^' ]+)': [\"']([\w-]+)[\"']\}", r"--kind \1=\2"),
    (r"kinds=\{'([^']+)': [\"']([\w-]+)[\"']\}", r"--kind '\1=\2'"),
)


def as_options(text: str) -> str:
    """Advice for the command line.

    >>> as_options('declare it (kinds={"zip": "categorical"})'.replace('"zip"', "'zip'"))
    'declare it (--kind zip=categorical)'
    """
    for said, instead in OPTIONS:
        text = re.sub(said, instead, text)
    return text
