"""Numbers in disguise: decimal commas, thousands, currency, per cent, suffixes such as K, units."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from posterior._types import Floats
from posterior.schema.cells import Cells, Numbers
from posterior.schema.readings.base import ColumnReading, ForeignCellsError
from posterior.schema.readings.forms import forms_of

Decimal: TypeAlias = Literal[".", ","]
Group: TypeAlias = Literal["", ",", ".", " ", "'"]

CURRENCY = (
    r"[$€£¥₹₽₩₺₪₫฿₴₦¢]|USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR"
    r"|US\$|R\$|A\$|C\$|kr|zł"
)
SCALES = {"K": "e3", "k": "e3", "M": "e6", "B": "e9", "bn": "e9"}
BLANKS = " \u00a0\u2009\u202f"
# What stands between groups of three digits; blanks in France, apostrophes in Switzerland.
GROUPS: dict[str, str] = {",": ",", ".": ".", " ": BLANKS, "'": "'\u2019"}
GROUP_NAMES = {",": "a comma", ".": "a point", " ": "a blank", "'": "an apostrophe"}
BLANK, SIGN = rf"[\t{BLANKS}]*", r"[+\-\u2212]"
# No longer cell is a number: patterns with many blanks take their time over long texts.
LONGEST = 40


class Style(NamedTuple):
    """How digits are written: the mark of the fraction, and what stands between thousands."""

    decimal: Decimal
    group: Group

    @property
    def body(self) -> str:
        """The digits of one number, as a regular expression; 007 is a code and no number."""
        mark = re.escape(self.decimal)
        whole = "(?:0|[1-9][0-9]*)"
        if self.group:
            whole = f"(?:[1-9][0-9]{{0,2}}(?:[{GROUPS[self.group]}][0-9]{{3}})+|{whole})"
        return f"(?:{whole}(?:{mark}[0-9]+)?|{mark}[0-9]+)"


@dataclass(frozen=True)
class NumberReading(ColumnReading):
    """Numbers in disguise, all of one form.

    `before` and `after` are what cells carry beside their digits (a currency, a unit, %); `scales` says that
    K, M and B stand for thousands, millions and billions, `accounting` that (5) is −5. Numbers are read as
    they are written: 12.5 % is 12.5. `gaps` are words among the cells of training that mean a gap.

    >>> from posterior.schema.cells import factorize
    >>> price = NumberReading(0, "price", decimal=",", group=".", before="€")
    >>> price.read(factorize(["€ 1.234,50", None, "€ 7"], "string"))[0].floats()
    array([1234.5,    nan,    7. ])
    """

    decimal: Decimal = "."
    group: Group = ""
    before: str = ""
    after: str = ""
    scales: bool = False
    accounting: bool = False
    gaps: tuple[str, ...] = ()

    @property
    def style(self) -> Style:
        """How digits are written."""
        return Style(self.decimal, self.group)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The disguise in words."""
        return (self.disguise or "numbers",)

    @property
    def read_as(self) -> str:
        """What cells are read as, with the disguise."""
        return f"numbers ({self.disguise})" if self.disguise else "numbers"

    @property
    def disguise(self) -> str:
        """What is beside the digits; nothing if a sign or the gaps are all that is odd about the cells."""
        found = {
            "decimal comma": self.decimal == ",",
            f"thousands with {GROUP_NAMES.get(self.group)}": bool(self.group),
            _affix_words(self.before): bool(self.before),
            _affix_words(self.after): bool(self.after),
            "K/M suffixes": self.scales,
            "accounting negatives": self.accounting,
        }
        return ", ".join(words for words, holds in found.items() if holds)

    def form(self) -> Any:
        """The form of the numbers, whatever was found beside them."""
        return replace(self, hint="", gaps=())

    def misfits(self, strings: Sequence[str]) -> list[str]:
        """Return the strings that are no such numbers."""
        forms, codes = forms_of(strings)
        fits = _cell(self.style, self.before, self.after, self.scales, self.accounting).fullmatch
        wrong = np.array([len(form) > LONGEST or not fits(form) for form in forms], dtype=np.bool_)
        return [strings[i] for i in np.flatnonzero(wrong[codes]).tolist()] if wrong.any() else []

    def read(self, cells: Cells) -> tuple[Cells, ...]:
        """Return the numbers; what is a number already stays, and what is none is refused."""
        if isinstance(cells, Numbers) or cells.is_empty() or cells.storage not in {"string", "category"}:
            return (cells,)
        levels: Sequence[str] = cells.levels
        gaps = set(self.misfits(levels))
        if foreign := gaps - set(self.gaps):
            raise ForeignCellsError.of(self.name, self.read_as, cells, foreign)
        table = self.numbers([level for level in levels if level not in gaps] if gaps else levels)
        if gaps:
            known = table
            table = np.full(len(levels), np.nan)
            table[[level not in gaps for level in levels]] = known
        return (Numbers("float", np.append(table, np.nan)[cells.codes]),)

    def numbers(self, strings: Sequence[str]) -> Floats:
        """Return strings of this form as numbers: as one text, not one by one."""
        if not len(strings):
            return np.zeros(0)
        text = "\n".join(strings)
        for affix in (self.before, self.after):
            text = text.replace(affix, "") if affix else text
        gone = f"\t+{BLANKS}{GROUPS.get(self.group, '')}"
        text = text.translate({**dict.fromkeys(map(ord, gone)), 0x2212: "-"})
        text = text.replace(",", ".") if self.decimal == "," else text
        if self.accounting:
            text = re.sub(r"(?m)^\((.*)\)$", r"-\1", text)
        text = re.sub(r"(?m)^(.+)-$", r"-\1", text)
        for scale, power in SCALES.items() if self.scales else ():
            text = re.sub(rf"(?m){scale}$", power, text)
        return np.fromiter(map(float, text.split("\n")), dtype=np.float64, count=len(strings))


@cache
def _cell(style: Style, before: str, after: str, scales: bool, accounting: bool) -> re.Pattern[str]:
    """What a cell looks like; a currency and a scale may be absent, a unit may not."""
    symbol, unit = f"(?:{re.escape(before)})?", re.escape(after)
    if re.fullmatch(CURRENCY, after):
        unit = f"(?:{unit})?"
    scale = f"(?:{'|'.join(SCALES)})?" if scales else ""
    number = f"{style.body}{BLANK}{scale}{BLANK}{unit}"
    forms = [
        f"{SIGN}?{BLANK}{symbol}{BLANK}{number}",
        f"{symbol}{BLANK}{SIGN}{number}",
        f"{symbol}{BLANK}{number}[-\u2212]",
    ]
    if accounting:
        forms.append(rf"\({BLANK}{symbol}{BLANK}{number}{BLANK}\)")
    return re.compile(f"{BLANK}(?:{'|'.join(forms)}){BLANK}")


def _affix_words(affix: str) -> str:
    if affix in {"%", "‰"}:
        return "per cent" if affix == "%" else "per mille"
    return f"currency {affix}" if re.fullmatch(CURRENCY, affix) else f"unit {affix}"
