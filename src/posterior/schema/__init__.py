"""Tables of any kind as typed columns: what each column is, and its rows chunk by chunk."""

from posterior.schema.columns import Column
from posterior.schema.encode import Codes, Encoded, Mixed
from posterior.schema.folds import Folds
from posterior.schema.kinds import KINDS, RULE, Kind
from posterior.schema.labelled_table import LabelledTable
from posterior.schema.opening import read_table
from posterior.schema.sources import ArrowSource, Source
from posterior.schema.table import Schema

__all__ = [
    "KINDS",
    "RULE",
    "ArrowSource",
    "Codes",
    "Column",
    "Encoded",
    "Folds",
    "Kind",
    "LabelledTable",
    "Mixed",
    "Schema",
    "Source",
    "read_table",
]
