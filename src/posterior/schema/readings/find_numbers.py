"""Which columns of strings are numbers in disguise: decided by the whole column, or not at all."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isfinite
from typing import NamedTuple

import numpy as np

from posterior._text import quoted
from posterior.schema.cells import Labels
from posterior.schema.readings.base import the_way_out
from posterior.schema.readings.forms import forms_of
from posterior.schema.readings.gaps import SHARE, WORDS, few_enough, first_levels, gap_hint
from posterior.schema.readings.numbers import (
    BLANK,
    BLANKS,
    CURRENCY,
    LONGEST,
    SCALES,
    SIGN,
    Decimal,
    NumberReading,
    Style,
)

# Distinct numbers that a column needs to be read so without anybody having said it.
FEWEST = 5
# More units than this in one column are letters of codes.
WAYS = 4

# The first that fits most cells is meant: 1,234 is a thousand and more unless another cell says no.
STYLES = (
    Style(".", ""),
    Style(".", ","),
    Style(",", ""),
    Style(",", "."),
    Style(".", " "),
    Style(",", " "),
    Style(".", "'"),
    Style(",", "'"),
)
# Styles that read the same cells as other numbers where each cell has one mark and three digits after it.
OTHERWISE = {Style(".", ","): Style(",", ""), Style(".", ""): Style(",", ".")}
AFTER = rf"%|‰|{CURRENCY}|°?[^\W\d_]+(?:/[^\W\d_]+)?[²³]?|°"
# Any cell that may be a number in disguise: what stands before its digits, the digits, what stands after.
SHAPE = re.compile(
    rf"{BLANK}(?P<open>\(?){BLANK}{SIGN}?{BLANK}(?P<before>{CURRENCY}|){BLANK}(?P<sign>{SIGN}?)"
    rf"(?P<body>[0-9][0-9.,'\u2019{BLANKS}]*?|[.,][0-9]+)"
    rf"{BLANK}(?P<after>{AFTER}|)(?P<minus>[-\u2212]?){BLANK}(?P<close>\)?){BLANK}"
)


class Shape(NamedTuple):
    """The parts of a form of cells that look like numbers in disguise, and how many cells have it."""

    before: str
    body: str
    after: str
    enclosed: bool
    rows: int


def find_numbers(
    place: int, name: str, labels: Labels, decimal: Decimal | None = None, *, asked: bool = False
) -> NumberReading | None:
    """Return how a column of strings is read as numbers; None if not nearly all cells are of one form.

    `decimal` is the mark that the user says is meant; a column that is `asked` to hold numbers may have few.

    >>> from posterior.schema.cells import factorize
    >>> found = factorize(["12,5 %", "7 %", "0,1 %", "88 %", "3 %"], "string")
    >>> find_numbers(0, "share", found).reasons
    ('decimal comma, per cent',)
    """
    found = _form(place, name, labels, decimal, asked=asked)
    if found is None or not few_enough(labels, found.misfits):
        return None
    reading, shapes, gaps = found
    assumed = "" if decimal else _assumption(reading, shapes, labels.levels)
    gapped = gap_hint(name, reading.read_as, labels, gaps)
    return replace(reading, hint="; ".join(filter(None, (assumed, gapped))), gaps=tuple(gaps))


def mostly_numbers(name: str, labels: Labels) -> NumberReading | None:
    """Return how a column would be read as numbers in disguise, if its few other words were gaps.

    >>> from posterior.schema.cells import factorize
    >>> found = factorize(["1,5", "2,5", "3,5", "4,5", "5,5", "later", "later"], "string")
    >>> mostly_numbers("price", found).gaps
    ('later',)
    """
    found = _form(0, name, labels, None, asked=False)
    if found is None or not found.reading.disguise or len(found.misfits) > WORDS:
        return None
    if any(_shape(cell, 0) is not None for cell in found.misfits):
        return None  # these are numbers too, in other units
    return replace(found.reading, gaps=tuple(found.misfits))


class Form(NamedTuple):
    """How the numbers of a column are written, and its strings that are none."""

    reading: NumberReading
    shapes: Sequence[Shape]
    misfits: list[str]


def _form(place: int, name: str, labels: Labels, decimal: Decimal | None, *, asked: bool) -> Form | None:
    """Return the form of the numbers of a column; None where it has few, or they are of several forms."""
    levels: Sequence[str] = labels.levels
    if not _worth_looking(levels):
        return None
    forms, codes = forms_of(levels)
    rows = np.bincount(codes, labels.counts(), minlength=len(forms)).astype(np.int64).tolist()
    parts = [_shape(form, n) for form, n in zip(forms, rows, strict=True)]
    shapes = [shape for shape in parts if shape is not None]
    numbers = np.array([shape is not None for shape in parts])[codes].sum()
    if not shapes or numbers < (1 if asked else FEWEST):
        return None
    affixes, style = _affixes(shapes), _style(shapes, decimal)
    if affixes is None or style is None:
        return None
    before, after, scales = affixes
    enclosed = {shape.enclosed for shape in shapes}
    reading = NumberReading(place, name, "", *style, before, after, scales, len(enclosed) > 1)
    plain = not reading.disguise and decimal is None and all(map(is_number, forms))
    if plain or enclosed == {True} or _codes(shapes, style):
        return None
    return Form(reading, shapes, sorted(reading.misfits(levels)))


def is_number(string: str) -> bool:
    """Return whether a string is a number as programs write it; "nan" and "inf" mark what is no number."""
    try:
        return isfinite(float(string))
    except ValueError:
        return False


def in_several_ways(labels: Labels) -> bool:
    """Return whether nearly all strings are numbers, each by itself, and not all of one form.

    >>> from posterior.schema.cells import factorize
    >>> in_several_ways(factorize(["1.5 kg", "1200 g", "3 kg", "700 g", "2 kg"], "string"))
    True
    """
    levels: Sequence[str] = labels.levels
    if len(levels) < FEWEST or not _worth_looking(levels):
        return False
    shapes = [shape for level in levels if (shape := _shape(level, 1)) is not None]
    bodies = [re.compile(style.body).fullmatch for style in STYLES]
    good = [shape for shape in shapes if any(fits(shape.body) for fits in bodies)]
    ways = {(shape.before, shape.after) for shape in good}
    return len(good) >= SHARE * len(levels) and 1 < len(ways) <= WAYS


def _worth_looking(levels: Sequence[str]) -> bool:
    """Return whether most of the first cells look like numbers."""
    some = first_levels(levels)
    return bool(some) and sum(_shape(level, 0) is not None for level in some) >= 0.8 * len(some)


def _shape(form: str, rows: int) -> Shape | None:
    found = SHAPE.fullmatch(form) if len(form) <= LONGEST else None
    if found is None or bool(found["open"]) != bool(found["close"]):
        return None
    return Shape(found["before"], found["body"], found["after"], bool(found["open"]), rows)


def _affixes(shapes: Sequence[Shape]) -> tuple[str, str, bool] | None:
    """Return what stands before and after all numbers, and whether there are scales; None if mixed."""
    before = _commonest((shape.before, shape.rows) for shape in shapes)
    after = _commonest((shape.after, shape.rows) for shape in shapes)
    if {shape.before for shape in shapes} - {before, ""}:
        return None
    found = {shape.after for shape in shapes} - {""}
    if found and found <= set(SCALES) and (before or len(found) > 1 or found & {"K", "k"}):
        return before, "", True
    return before, after, False


def _commonest(affixes: Iterable[tuple[str, int]]) -> str:
    rows: Counter[str] = Counter()
    for affix, n in affixes:
        rows[affix] += n
    del rows[""]
    return max(rows, key=lambda affix: (rows[affix], affix), default="")


def _style(shapes: Sequence[Shape], decimal: Decimal | None) -> Style | None:
    """Return the style that fits most rows; of several, the first."""
    rows = {style: _rows_of(shapes, style) for style in STYLES if decimal in (None, style.decimal)}
    best = max(rows, key=lambda style: rows[style])
    return best if rows[best] >= SHARE * sum(shape.rows for shape in shapes) else None


def _rows_of(shapes: Sequence[Shape], style: Style) -> int:
    fits = re.compile(style.body).fullmatch
    return sum(shape.rows for shape in shapes if fits(shape.body))


def _codes(shapes: Sequence[Shape], style: Style) -> bool:
    """Return whether cells are like 555 123 456: digits in the same groups throughout, as telephones have."""
    bodies = {shape.body.replace("0", "1") for shape in shapes}
    body = bodies.pop()
    return bool(style.group) and not bodies and len(body.replace("1", "")) > 1 and style.decimal not in body


def _assumption(reading: NumberReading, shapes: Sequence[Shape], levels: Sequence[str]) -> str:
    """Return what was assumed where another style reads every cell too, and some as another number."""
    other = OTHERWISE.get(reading.style)
    marked = any("," in shape.body or "." in shape.body for shape in shapes)
    if other is None or not marked or _rows_of(shapes, other) < _rows_of(shapes, reading.style):
        return ""
    cells = (_shape(level, 0) for level in levels if "," in level or "." in level)
    body = min(cell.body for cell in cells if cell is not None)
    as_read, else_read = (
        NumberReading(0, "", "", *style).numbers([body])[0] for style in (reading.style, other)
    )
    word = "decimal-comma" if other.decimal == "," else "decimal-point"
    return (
        f"{quoted(body)} is read as {as_read:g} and could be {else_read:g}, which no cell settles; "
        f"{the_way_out(reading.name, word)} reads it so"
    )
