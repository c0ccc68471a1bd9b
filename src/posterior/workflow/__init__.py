"""From a table to a model one can act on, to predictions: what the command line does, as functions."""

from posterior.workflow.inspection import Inspection, inspect
from posterior.workflow.predictions import predictions
from posterior.workflow.reading import (
    coefficient_table,
    columns_read,
    contributions_of,
    needed_columns,
    schema_of,
)
from posterior.workflow.training import train

__all__ = [
    "Inspection",
    "coefficient_table",
    "columns_read",
    "contributions_of",
    "inspect",
    "needed_columns",
    "predictions",
    "schema_of",
    "train",
]
