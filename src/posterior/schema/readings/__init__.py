"""Columns that are not what their type says, such as numbers in disguise, by all of their cells together.

A new one is a `ColumnReading` in a file of its own, which says how cells are read, and a finder in
`FINDERS` of `schema/reread.py`, which gets the cells of a column and gives a reading or None.
"""

from posterior.schema.readings.base import ColumnReading, ForeignCellsError
from posterior.schema.readings.clock import ClockReading
from posterior.schema.readings.dates import DateReading
from posterior.schema.readings.numbers import NumberReading
from posterior.schema.readings.row_numbers import LeftOut
from posterior.schema.readings.spellings import Spellings

__all__ = [
    "ClockReading",
    "ColumnReading",
    "DateReading",
    "ForeignCellsError",
    "LeftOut",
    "NumberReading",
    "Spellings",
]
