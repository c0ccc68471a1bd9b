"""Any classifier of numbers on a table of any kinds."""

from contextlib import nullcontext
from typing import Any, Self, Unpack

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from posterior._types import AnyArray, Floats
from posterior.estimators.callbacks import fit_inside, with_callbacks
from posterior.estimators.parameters import Kinds, Labels, TableLike, Weights
from posterior.estimators.scanned_prediction import Writing, scores_scans
from posterior.estimators.table_estimator import TableEstimator
from posterior.estimators.target import labelled_table
from posterior.schema import LabelledTable, Schema, Source, read_table

# Threads of trees spin while they wait for each other, which costs more than they save for fewer rows.
SERIAL_ROWS = 100_000


class EncodedTableClassifier(ClassifierMixin, TableEstimator):
    """A classifier that takes numbers, such as scikit-learn's, on the columns of a table as numbers.

    Numbers stay as they are, categories become their codes 0, 1, …, gaps and categories that training has not
    shown NaN. Texts are not used. Trees take such a table as it is; others need a pipeline that fills gaps.

    Parameters
    ----------
    estimator : classifier
        Trained with a table of floats.
    kinds : dict, default=None
        Kinds of columns that are not what they look like.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> pets = pd.DataFrame({"sound": ["meow", "woof", "meow", None], "size": [1.0, 3.0, 1.5, 4.0]})
    >>> model = EncodedTableClassifier(DecisionTreeClassifier(random_state=0))
    >>> model.fit(pets, ["cat", "dog", "cat", "dog"]).predict(pets.iloc[:2])
    array(['cat', 'dog'], dtype='<U3')

    """

    approach = "other"
    estimator_: Any
    _columns: Schema

    def __init__(self, estimator: Any, *, kinds: Kinds | None = None) -> None:
        self.estimator = estimator
        self.kinds = kinds

    @with_callbacks
    def fit(self, X: TableLike, y: Labels, sample_weight: Weights | None = None) -> Self:
        """Train the classifier on the encoded table."""
        table = X if isinstance(X, LabelledTable) else self._table(X, y)
        schema = table.schema
        params = {} if sample_weight is None else {"sample_weight": sample_weight}
        with _threads(len(table)):
            numbers = encoded_numbers(schema, table.source)
            inner = fit_inside(clone(self.estimator), numbers, table.labels, **params)
        self._install_fitted(schema, estimator_=inner, classes_=inner.classes_, _columns=schema)
        return self

    def _table(self, X: TableLike, y: Labels) -> LabelledTable:
        return labelled_table(X, y, who=type(self).__name__, kinds=self.kinds)

    @property
    def schema_(self) -> Schema:
        """How each column was read, and why; print it."""
        check_is_fitted(self, "estimator_")
        return self._columns

    def _numbers(self, X: TableLike) -> Floats:
        return encoded_numbers(self.schema_, self._aligned(read_table(X)))

    @scores_scans
    def predict(self, X: TableLike, **writing: Unpack[Writing]) -> AnyArray:
        """The class of each row."""
        return np.asarray(self.estimator_.predict(self._numbers(X)))

    @scores_scans
    def predict_proba(self, X: TableLike, **writing: Unpack[Writing]) -> Floats:
        """The probability of each class."""
        numbers = self._numbers(X)
        with _threads(len(numbers)):
            return np.asarray(self.estimator_.predict_proba(numbers), dtype=np.float64)

    @scores_scans
    def predict_log_proba(self, X: TableLike, **writing: Unpack[Writing]) -> Floats:
        """The log of each probability; −inf of zero."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))


def _threads(n_rows: int) -> Any:
    """One thread for few rows."""
    return threadpool_limits(1) if n_rows < SERIAL_ROWS else nullcontext()


def encoded_numbers(schema: Schema, source: Source) -> Floats:
    """The columns of a table as numbers (n, d): codes of categories, NaN for gaps and what is new."""
    data = schema.encode(source)
    out = []
    for j, column in enumerate(schema.columns):
        if column.ignored or column.kind == "text":
            continue
        if column.categories is None:
            out.append(np.asarray(data.values(slice(None), (j,)), dtype=np.float64)[:, 0])
        else:
            codes = data.codes(slice(None), (j,)).array[:, 0].astype(np.float64)
            out.append(np.where((codes < 0) | (codes >= column.size), np.nan, codes))
    return np.stack(out, axis=1) if out else np.zeros((source.n_rows, 0))
