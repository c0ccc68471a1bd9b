"""Numbers and names as the page writes them."""

import math
from collections.abc import Sequence
from typing import Any

from posterior import _text
from posterior._text import printable

__all__ = [
    "DASH",
    "LONGEST",
    "count",
    "cut",
    "figure",
    "percent",
    "printable",
    "rate",
    "sentence_of",
    "value",
]

DASH = "–"
# Letters of a name that a table has room for.
LONGEST = 48


def cut(name: str, longest: int = LONGEST) -> str:
    """A name as short as a table of the page needs it."""
    return _text.cut(name, longest)


def figure(value: float | None, digits: int = 3) -> str:
    """A figure with so many digits behind the point, or a dash where there is none.

    >>> figure(0.12345), figure(None), figure(float("nan")), figure(float("inf")), figure(-0.5, 1)
    ('0.123', '–', '–', '∞', '−0.5')
    >>> figure(3.14e-21), figure(0.0), figure(123456.7), figure(1234.5)
    ('3.1e−21', '0.000', '123,457', '1,234')
    """
    if value is None or math.isnan(value):
        return DASH
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) >= 1e3:
        told = _text.readable(value, 4)
    elif 0 < abs(value) < 0.5 * 10.0**-digits:
        told = f"{value:.2g}"
    else:
        told = f"{value:.{digits}f}"
    return told.replace("-", "−")


def value(number: float | None) -> str:
    """A number of the data: up to five digits, a whole number whole, a dash where there is none.

    >>> value(2009.0), value(3.14159265), value(1234567.0), value(None), value(-0.5)
    ('2009', '3.1416', '1,234,567', '–', '−0.5')
    """
    if number is None or not math.isfinite(number):
        return DASH
    return _text.data_value(number).replace("-", "−")


def rate(value: float | None) -> str:
    """A number between 0 and 1, to three digits whatever its size.

    >>> rate(0.98765), rate(2e-9), rate(None)
    ('0.988', '0.000', '–')
    """
    return DASH if value is None or math.isnan(value) else f"{value:.3f}"


def percent(share: float | None, digits: int = 1) -> str:
    """A share in percent, never "0.0 %" of something, and a dash where there is none.

    >>> percent(0.1234), percent(None), percent(1.0), percent(0.0005)
    ('12.3 %', '–', '100.0 %', '0.05 %')
    """
    return DASH if share is None or math.isnan(share) else _text.percent(share, digits)


def count(number: float, of: str = "", several: str = "") -> str:
    """A whole number with thousands apart, and what is counted.

    >>> count(32561), count(1, "row"), count(3, "class", "classes")
    ('32,561', '1 row', '3 classes')
    """
    told = f"{number:,.0f}"
    if not of:
        return told
    return f"{told} {of}" if number == 1 else f"{told} {several or of + 's'}"


def sentence_of(names: Sequence[Any], most: int = 5, longest: int = LONGEST) -> str:
    """Names in a sentence, the first few of many.

    >>> sentence_of(["a"]), sentence_of(["a", "b", "c"]), sentence_of("abcdefg", 2), sentence_of([])
    ('a', 'a, b and c', 'a, b and 5 more', '')
    """
    told = [cut(printable(name), longest) for name in names[:most]]
    if len(names) > most:
        told.append(f"{len(names) - most:,} more")
    return " and ".join(filter(None, (", ".join(told[:-1]), *told[-1:])))
