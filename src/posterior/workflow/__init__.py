"""From a table to a model one can act on, to predictions: what the command line does, as functions."""

from posterior.workflow.inspection import Inspection, inspect
from posterior.workflow.predictions import predictions
from posterior.workflow.reading import coefficient_table, contributions_of, schema_of
from posterior.workflow.training import train

__all__ = [
    "Inspection",
    "coefficient_table",
    "contributions_of",
    "inspect",
    "predictions",
    "schema_of",
    "train",
]
