"""Texts that a spreadsheet would run as formulas, written so that it does not, and read as they were.

A text that begins with = + - @, a tab or a carriage return gets an apostrophe in front, by which spreadsheets
know a text; so does one that begins with apostrophes and then one of these, so that no two texts are written
alike. Numbers are left as they are, also where they are texts. docs/decisions/0015 says why.
"""

from typing import Any

import pyarrow.compute as pc

_RUN = r"[=+\-@\t\r]"
_NUMBER = r"(?i)^'*[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)(e[+-]?[0-9]+)?$|^'*[+-]?(inf|infinity|nan)$"


def guarded(texts: Any) -> Any:
    """Return texts with an apostrophe before those that a spreadsheet would run.

    >>> import pyarrow as pa
    >>> guarded(pa.array(["=1+2", "-1.5", "a=b", "'@x", None])).to_pylist()
    ["'=1+2", '-1.5', 'a=b', "''@x", None]
    """
    risky = _matching(texts, f"^'*{_RUN}")
    if not pc.any(risky).as_py():
        return texts
    return pc.if_else(risky, pc.binary_join_element_wise("'", texts, ""), texts)


def unguarded(texts: Any) -> Any:
    """Return texts as they were before `guarded`.

    >>> import pyarrow as pa
    >>> unguarded(pa.array(["'=1+2", "-1.5", "'tis", "''@x", None])).to_pylist()
    ['=1+2', '-1.5', "'tis", "'@x", None]
    """
    found = _matching(texts, f"^'+{_RUN}")
    if not pc.any(found).as_py():
        return texts
    return pc.if_else(found, pc.utf8_slice_codeunits(texts, 1), texts)


def _matching(texts: Any, pattern: str) -> Any:
    found = pc.match_substring_regex(texts, pattern)
    if not pc.any(found).as_py():  # the usual case
        return found
    return pc.and_not(found, pc.match_substring_regex(texts, _NUMBER))
