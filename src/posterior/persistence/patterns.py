"""Regular expressions that are quick on every text, for they may come from a stranger's file.

Python tries one way to match after the other, and of some expressions, such as `(a+)+$`, there are more ways
than anybody can wait for.
"""

import re
from typing import Any

from posterior.persistence.errors import ModelFileError

LONGEST = 4096
# One character, however it is written, perhaps a fixed number of times, then perhaps any number of times.
# All is possessive: whatever the expression, reading it takes one pass.
TOKEN = re.compile(
    r"(?P<character>(?:\\[bBdDsSwWAZ]|\\\W|\[\^?+(?:\\[dDsSwW]|\\\W|[^\\\[\]])++\]|[^\\()\[\]{}|*+?])"
    r"(?:\{\d{1,2}\})?+(?P<repeated>[+*?][?+]?+|\{\d{1,2},\d{0,2}\}[?+]?+)?+)"
    r"|(?P<open>\((?:\?:)?+)|(?P<close>\))|(?P<other>\|)"
)


def check_pattern(pattern: Any, name: str = "pattern") -> None:
    r"""Refuse a regular expression that may take for ever on some text.

    In each alternative one character at most may be repeated any number of times, and there may be one group
    of alternatives: then a text of n characters is searched in n² steps at most.

    >>> check_pattern(r"(?u)\b\w\w+\b")
    >>> check_pattern("^(age|size)_.*|_id$")
    >>> check_pattern("(a+)+")
    Traceback (most recent call last):
    posterior.persistence.errors.ModelFileError: has the pattern '(a+)+', ...
    """
    if not (isinstance(pattern, str) and len(pattern) <= LONGEST and _is_quick(pattern.removeprefix("(?u)"))):
        raise ModelFileError(
            f"has the {name} {pattern!r:.60}, and a model file takes plain ones only, which are quick on "
            r"every text: one repetition, and one group without any, as in '(?u)\b\w+\b' or '^(a|b)_.*'"
        )


def _is_quick(pattern: str) -> bool:
    at, repetitions, groups, inside = 0, 0, 0, False
    while at < len(pattern):
        found = TOKEN.match(pattern, at)
        if found is None:
            return False
        at = found.end()
        if found["open"]:
            groups, inside = groups + 1, True
        elif found["close"]:
            if not inside:
                return False
            inside = False
        elif found["other"] and not inside:
            repetitions = groups = 0
        elif found["repeated"]:
            repetitions += 1 + inside  # none in a group
        if repetitions > 1 or groups > 1:
            return False
    return not inside
