"""Tables as estimators take them: the rows of training with their target, and rows that come later."""

from typing import Any

import numpy as np

from posterior._types import AnyArray, Floats
from posterior.estimators._sklearn import safe_indexing
from posterior.estimators.target import read_labels, read_weights
from posterior.notices import warn
from posterior.schema import Schema, Source, read_table


def labelled_rows(X: Any, y: Any, sample_weight: Any, who: str) -> tuple[Source, AnyArray, Floats | None]:
    """The table, labels and weights of the rows that count: a row of weight zero is not there at all."""
    source = read_table(X)
    labels = read_labels(y, source.n_rows, who)
    return counted(source, labels, read_weights(sample_weight, labels))


def counted(
    source: Source, target: AnyArray, weight: Floats | None
) -> tuple[Source, AnyArray, Floats | None]:
    """Table, target and weights without the rows of weight zero, whose cells are not even read."""
    if weight is None or weight.all():
        return source, target, weight
    rows = np.flatnonzero(weight)
    return read_table(safe_indexing(source.native, rows)), target[rows], weight[rows]


def warn_of_names(source: Source, schema: Schema, who: str) -> None:
    """Say that one of two tables has column names and the other has not."""
    if (source.names is not None) == schema.named:
        return
    told = (
        f"X does not have valid feature names, but {who} was fitted with feature names"
        if schema.named
        else f"X has feature names, but {who} was fitted without feature names"
    )
    warn(told, UserWarning)
