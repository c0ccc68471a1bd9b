"""The rows of a table as a classifier reads them, for pictures of the classifier in the space of its data."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior._types import AnyArray, Floats, Ints
from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.classifiers import bare, classes_of
from posterior.estimators.linear import LinearEstimator
from posterior.estimators.target import known_codes, read_labels
from posterior.schema import Column, Encoded, Schema, read_table

EVERY = slice(None)


@dataclass(frozen=True, eq=False)
class TableRows:
    """A table under a schema, and the codes of its classes where these are known."""

    schema: Schema
    data: Encoded
    codes: Ints | None = None

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any = None) -> "TableRows":
        """The rows as a fitted classifier reads them; one that is not ours, by their types."""
        who, source = name_of(estimator), read_table(X)
        schema = schema_of(estimator) or Schema.infer(source)
        codes = None
        if y is not None:
            codes = known_codes(read_labels(y, source.n_rows, who), classes_of(estimator))
        return cls(schema, schema.encode(schema.align(source, who=who)), codes)

    def values(self, columns: tuple[int, ...]) -> Floats:
        """Numbers (n, c), NaN for a gap; categories are their codes."""
        return self.data.values(EVERY, columns)

    def levels(self, j: int) -> AnyArray:
        """Codes of a column of categories, (n,): −1 for a gap, and for what training had not seen."""
        codes = self.data.codes(EVERY, (j,)).array[:, 0]
        return np.where(codes < self.schema.columns[j].size, codes, -1)

    def texts(self, j: int) -> list[str | None]:
        """The texts of a column."""
        return list(self.data.texts(EVERY, j).tolist())

    def typical(self, j: int) -> Any:
        """The median of numbers, the code of the commonest category, the commonest text; NaN or −1 if none.

        Of an even number of counts the lower of the two in the middle, which is a count.
        """
        column = self.schema.columns[j]
        if column.kind == "text":
            texts = Counter(text for text in self.texts(j) if text is not None)
            return texts.most_common(1)[0][0] if texts else None
        if column.size:
            codes = self.levels(j)
            return int(np.bincount(codes[codes >= 0], minlength=1).argmax()) if (codes >= 0).any() else -1
        values = np.sort(self.values((j,))[:, 0])
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
    ours = isinstance(estimator, GenerativeEstimator | LinearEstimator)
    return estimator.schema_ if ours else None


def columns_used(estimator: Any, schema: Schema) -> tuple[int, ...]:
    """The columns that a classifier looks at; those of one that is not ours are all of the table."""
    if isinstance(estimator, GenerativeEstimator):
        return tuple(sorted(j for block, _ in estimator.model_.distributions for j in block.columns))
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
