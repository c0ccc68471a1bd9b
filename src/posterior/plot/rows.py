"""The rows of a table as a classifier reads them, for pictures of the classifier in the space of its data."""

from collections import Counter
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior.estimators.classifiers import bare, classes_of
from posterior.estimators.target import read_labels
from posterior.families import Distribution
from posterior.generative import FittedBlock
from posterior.schema import Column, LabelledTable, Schema, read_table
from posterior.schema.classes import known_codes


def table_read_by(estimator: Any, X: Any, y: Any = None) -> LabelledTable:
    """The rows as a fitted classifier reads them; one that is not ours, by their types."""
    who, source = name_of(estimator), read_table(X)
    schema = schema_of(estimator) or Schema.of(source)
    source = schema.align(source, who=who)
    if y is None:
        return LabelledTable.unlabelled(source, schema)
    classes = classes_of(estimator)
    codes = known_codes(read_labels(y, source.n_rows, who), classes)
    return LabelledTable(source, classes, codes, kinds=schema)


def typical(table: LabelledTable, j: int) -> Any:
    """The median of numbers, the code of the commonest category, the commonest text; NaN or −1 if none.

    Of an even number of counts the lower of the two in the middle, which is a count.
    """
    column = table.schema.columns[j]
    if column.kind == "text":
        texts = Counter(text for text in table.texts(j) if text is not None)
        return texts.most_common(1)[0][0] if texts else None
    if column.size:
        codes = table.levels(j)
        return int(np.bincount(codes[codes >= 0], minlength=1).argmax()) if (codes >= 0).any() else -1
    values = np.sort(table.values((j,))[:, 0])
    values = values[~np.isnan(values)]
    if not len(values):
        return np.nan
    if column.kind == "count":
        return float(values[(len(values) - 1) // 2])
    return float(np.median(values))


def name_of(estimator: Any) -> str:
    """What a model is called in a title: its class, or that of the last step of a pipeline."""
    return type(bare(estimator)).__name__


def schema_of(estimator: Any) -> Schema | None:
    """How a fitted classifier of ours reads a table; None for any other."""
    check_is_fitted(estimator)
    return getattr(estimator, "schema_", None)


def distributions_of(estimator: Any) -> list[tuple[FittedBlock, Distribution]] | None:
    """The blocks of a generative model with their distributions; None for any other model."""
    return getattr(getattr(estimator, "model_", None), "distributions", None)


def columns_used(estimator: Any, schema: Schema) -> tuple[int, ...]:
    """The columns that a classifier looks at; those of one that is not ours are all of the table."""
    blocks = distributions_of(estimator)
    if blocks is not None:
        return tuple(sorted(j for block, _ in blocks for j in block.columns))
    return tuple(j for j in range(len(schema)) if not schema.columns[j].ignored)


def continuous_columns(estimator: Any, schema: Schema) -> tuple[int, ...]:
    """The continuous columns that a classifier looks at, which can be axes."""
    used = columns_used(estimator, schema)
    return tuple(j for j in used if schema.columns[j].kind == "continuous" and not schema.columns[j].empty)


def written(column: Column, value: Any) -> str:
    """A value, or the level behind a code, as a title writes it."""
    if column.kind == "text":
        return repr(value)
    levels = column.levels
    return f"{value:.4g}" if levels is None else str(levels[value]) if value >= 0 else "missing"
