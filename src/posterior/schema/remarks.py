"""What a user may want to know about a column of numbers that stays as it is."""

import re
from math import isfinite
from shlex import quote

import numpy as np

from posterior._types import AnyArray
from posterior.schema.cells import Numbers
from posterior.schema.readings.base import the_way_out
from posterior.schema.readings.row_numbers import counts_rows, names_rows

# Numbers that people write where there is none, from the smallest.
SENTINELS = (-99999.0, -9999.0, -999.0, -99.0, 999.0, 9999.0, 99999.0, 999999.0)
# So many times further off than the others are apart, unless only these numbers are negative: incomes are
# often cut off at 99999.
FURTHER = 3
# Rows that are looked at before all of them are.
SAMPLE = 1024


# Whole numbers up to here are exact as numbers.
EXACT = 2**53
_CODES = re.compile(r"(.*[_\-. ])?(zip|zip[_ ]?code|post(al)?[_ ]?code|plz|fips|naics|icd)", re.IGNORECASE)


def remark_on_numbers(name: str, cells: Numbers) -> str:
    """Return what to say of a column of numbers; mostly nothing.

    >>> remark_on_numbers("age", Numbers("integer", np.array([31, 45, -999, 28, 60, -999])))
    '-999 (2 cells) is far from all others (28 to 60), ... make it missing if it does (missing="-999")'
    """
    if cells.storage not in {"integer", "float"}:
        return ""
    return _sentinel(cells) or _row_number(name, cells) or _code(name, cells)


def is_constant(cells: Numbers) -> bool:
    """Return whether a column of several rows holds one number, without a gap.

    >>> is_constant(Numbers("integer", np.array([7, 7, 7]))), is_constant(Numbers("integer", np.array([7])))
    (True, False)
    """
    array = cells.array
    few = array[:SAMPLE]
    same = len(array) > 1 and cells.missing is None and bool((few == few[0]).all())
    return same and bool((array == array[0]).all())


def _code(name: str, cells: Numbers) -> str:
    """Return that whole numbers are codes by the column's name, or have more digits than numbers keep."""
    if cells.array.dtype.kind not in "iu" or not len(cells.array):
        return ""
    way_out = the_way_out(name, "categorical")
    if _CODES.fullmatch(name.strip()):
        return f"holds codes, as its name says, and is read as numbers; {way_out} reads each as a category"
    if max(abs(int(cells.array.min())), abs(int(cells.array.max()))) > EXACT:
        return f"numbers of more than 15 digits are rounded; {way_out} keeps them apart, as codes"
    return ""


def _sentinel(cells: Numbers) -> str:
    """Return that an end is a number that marks gaps, far off from the others."""
    if not _ends(cells.array[:: max(1, len(cells.array) // SAMPLE)]):
        return ""
    values = cells.floats()
    for value in _ends(values):
        rest = values[(values != value) & ~np.isnan(values)]
        n = int((values == value).sum())
        if n < 2 or len(rest) < 2:
            continue
        low, high = float(rest.min()), float(rest.max())
        off = low - value if value < low else value - high
        if isfinite(off) and off > (high - low) * (1 if value < 0 <= low else FURTHER):
            return (
                f"{value:g} ({n} cells) is far from all others ({low:g} to {high:g}), and may mark gaps: "
                f'make it missing if it does (missing="{value:g}")'
            )
    return ""


def _ends(values: AnyArray) -> list[float]:
    """Return the smallest and the largest number, those of them that people write where there is none."""
    ends = (float(np.fmin.reduce(values)), float(np.fmax.reduce(values))) if len(values) else ()
    return [end for end in ends if end in SENTINELS]


def _row_number(name: str, cells: Numbers) -> str:
    """Return that different whole numbers count the rows, or rise or fall with every row."""
    few = cells.array[:SAMPLE]
    if cells.storage != "integer" or not _is_monotone(few) or not names_rows(cells):
        return ""
    if not counts_rows(cells.array) and not _is_monotone(cells.array):
        return ""
    how = "counts the rows" if counts_rows(cells.array) else "changes in one direction from row to row"
    return f"{how}, as row numbers do: drop the column if it says no more (--drop {quote(name)})"


def _is_monotone(array: AnyArray) -> bool:
    return bool((array[1:] > array[:-1]).all() or (array[1:] < array[:-1]).all())
