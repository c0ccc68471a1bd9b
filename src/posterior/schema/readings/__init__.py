"""Columns that are not what their type says: numbers in disguise and dates, found for a column as a whole.

A new one is a `Reading` in a file of its own, which says how cells are read, and a finder in `FINDERS` of
`schema/reread.py`, which gets the cells of a column and gives a reading or None.
"""

from posterior.schema.readings.base import Reading
from posterior.schema.readings.dates import DateReading
from posterior.schema.readings.numbers import NumberReading

__all__ = ["DateReading", "NumberReading", "Reading"]
