"""Values, names and tables as lines of text, for messages and for what is printed."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

# What a terminal or a page obeys instead of showing it: controls (an escape sequence begins with one), lone
# surrogates, and letters without a shape, which turn the direction of writing, take no room or break lines.
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
# Persian, the scripts of India and emoji cannot do without these, between two of their own letters.
_JOINERS = "\u200c\u200d"


class Printed:
    """What `print` shows of an object is also its representation."""

    def __repr__(self) -> str:
        return str(self)


def first_true(found: Mapping[str, Any]) -> str:
    """The first of some words for which the condition beside them is true; nothing where none is.

    >>> first_true({"no rows": False, "two classes": True})
    'two classes'
    """
    return next((words for words, holds in found.items() if holds), "")


def escaped(text: str) -> str:
    r"""A text in which what would be obeyed is written as Python writes it; line ends and tabs stay.

    >>> escaped("red\x1b[31m"), escaped("user\u202egpj.exe"), escaped("a\u200bge"), escaped("naïve 👩‍🔬")
    ('red\\x1b[31m', 'user\\u202egpj.exe', 'a\\u200bge', 'naïve 👩\u200d🔬')
    """
    return _OBEYED.sub(_written, text)


def _written(found: re.Match[str]) -> str:
    sign, text, place = found[0], found.string, found.start()
    beside = (text[place - 1 : place], text[place + 1 : place + 2])
    if sign in _JOINERS and not any(letter.isascii() for letter in beside):  # an empty one is ascii
        return sign
    return repr(sign)[1:-1]


def one_line(value: Any) -> str:
    r"""A value as text on one line, whatever it was.

    >>> one_line("two\n  lines")
    'two lines'
    """
    return escaped(" ".join(str(value).split()))


def printable(name: Any) -> str:
    r"""A name from data on one line, with nothing in it that a page cannot hold or would obey.

    >>> printable("two\nlines\x00"), printable("naïve 😀"), printable("\ud800")
    ('two lines\\x00', 'naïve 😀', '\ufffd')
    """
    letters = str(name).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return one_line(letters)


def nearest(name: str, names: Iterable[Any], n: int = 3) -> list[str]:
    """At most n of some names that are nearly this one, whatever their capitals; the nearest first.

    >>> nearest("STATUS", ["status", "age"]), nearest("agee", ["age"]), nearest("x", ["status"])
    (['status'], ['age'], [])
    """
    by_letters: dict[str, str] = {}
    for each in names:
        by_letters.setdefault(str(each).casefold(), str(each))
    return [by_letters[found] for found in get_close_matches(name.casefold(), by_letters, n=n)]


def did_you_mean(name: str, names: Iterable[Any], n: int = 3) -> str:
    """A question that names what is nearly as written, or nothing.

    >>> did_you_mean("Spend", ["spend", "age"])
    "did you mean 'spend'?"
    """
    near = nearest(name, names, n)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else ""


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


def counted(n: int, what: str) -> str:
    """How many there are of something.

    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def name_text(name: Any) -> str:
    r"""A name as it is, or as Python writes it where it would break the line.

    >>> name_text("age"), name_text("two\nlines")
    ('age', "'two\\nlines'")
    """
    text = str(name)
    return text if text.isprintable() else repr(text)


def readable(value: float, digits: int = 3) -> str:
    """A number to so many significant digits, never fewer than its whole part, thousands apart.

    Beyond a million millions, and below a millionth, it is written with a power of ten.

    >>> readable(15712.345), readable(12.3456), readable(0.0031416), readable(-3210.5, 2), readable(0.0)
    ('15,712', '12.3', '0.00314', '-3,210', '0')
    >>> readable(1.87e14), readable(2.5e-9), readable(float("inf"))
    ('1.87e+14', '2.5e-09', 'inf')
    """
    if not value or not math.isfinite(value) or not 1e-6 <= abs(value) < 1e12:
        return f"{value:.{digits}g}"
    size = math.floor(math.log10(float(f"{abs(value):.{digits - 1}e}")))  # once rounded: 9.996 is 10.0
    return f"{value:,.{max(digits - 1 - size, 0)}f}"


def data_value(number: float) -> str:
    """A number of the data: whole where it is, else to five digits; thousands apart from ten thousand on.

    >>> data_value(2009.0), data_value(3.14159265), data_value(1234567.0), data_value(592.5)
    ('2009', '3.1416', '1,234,567', '592.5')
    """
    whole = number == round(number) and abs(number) < 1e12
    told = f"{number:,.0f}" if whole else readable(number, 5)
    if abs(number) < 1e4:  # which may be a year
        told = told.replace(",", "")
    return told.rstrip("0").rstrip(".") if "." in told and "e" not in told else told


def rate_text(value: float | None) -> str:
    """A rate between 0 and 1 with three digits behind the point, and more where it would look like 0 or 1.

    >>> rate_text(0.98765), rate_text(0.9995), rate_text(0.00002), rate_text(1.0), rate_text(None)
    ('0.988', '0.9995', '0.00002', '1.000', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    for digits in (3, 4, 5, 6):
        told = f"{value:.{digits}f}"
        if value in (0.0, 1.0) or 0 < float(told) < 1:
            return told
    return f"{value:.3f}"


def percent(share: float, digits: int = 1) -> str:
    """A share in percent: more digits where it would look like nothing or like all.

    >>> percent(0.1234), percent(0.0005), percent(0.9995), percent(1.0), percent(0.0), percent(3e-8)
    ('12.3 %', '0.05 %', '99.95 %', '100.0 %', '0.0 %', '< 0.001 %')
    """
    nearest = 100 * min(share, 1 - share)  # to nothing or to all
    for places in (digits, 2, 3):
        if not nearest or nearest > 0.999 * 10.0**-places:
            return f"{100 * share:.{places}f} %"
    return "< 0.001 %" if share < 0.5 else "> 99.999 %"


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
