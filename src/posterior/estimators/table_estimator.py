"""The base of estimators that read tables themselves: columns as in training, and what is new in them."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from sklearn.base import BaseEstimator

from posterior.estimators.callbacks import CallbackSupport, fit_inside
from posterior.estimators.state import install, named_columns
from posterior.notices import SHOWN, RowCount, warn
from posterior.schema import Encoded, LabelledTable, Schema, Source


class TableEstimator(CallbackSupport, BaseEstimator):
    """An estimator that reads new tables by the schema it has learnt; a subclass says where that is."""

    @property
    @abstractmethod
    def schema_(self) -> Schema:
        """How each column was read, and why; print it."""

    @property
    def _saw_a_table(self) -> bool:
        """Whether it was fitted to a table, which had column names or had not."""
        return True

    def _install_fitted(self, schema: Schema, **fitted: Any) -> None:
        """Take over a finished fit with what is known of its columns, in one step."""
        install(self, **columns_of(schema), **fitted)

    def _aligned(self, source: Source) -> Source:
        """The columns of training, in their order."""
        who = type(self).__name__
        if self._saw_a_table:
            warn_of_names(source, self.schema_, who)
        return self.schema_.align(source, who=who)

    def _encoded(self, source: Source) -> Encoded:
        """The rows of a new table, read as in training."""
        return self.schema_.encode(self._aligned(source))


def columns_of(schema: Schema) -> dict[str, Any]:
    """What scikit-learn asks an estimator to know of the user's columns."""
    return named_columns(schema.n_inputs, schema.inputs if schema.named else None)


def takes_tables(estimator: Any) -> bool:
    """Whether an estimator takes a `LabelledTable`, as those of this package do.

    A class that was derived from one elsewhere may do more with a table, and gets the user's own.
    """
    return isinstance(estimator, TableEstimator) and type(estimator).__module__.startswith("posterior.")


def fit_table(estimator: Any, table: LabelledTable, **fit_params: Any) -> Any:
    """Let an estimator of any kind learn from a table, and return it."""
    if takes_tables(estimator) and not fit_params:
        return fit_inside(estimator, table, None)
    return fit_inside(estimator, table.native, table.labels, **fit_params)


def rows_for(estimator: Any, table: LabelledTable) -> Any:
    """The rows of a table as an estimator takes them to predict: as they were read, or as the user's own."""
    return table.X if takes_tables(estimator) else table.native


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


def shown_categories(counts: Mapping[Any, int]) -> str:
    """Some of the categories that were found.

    >>> shown_categories({"a": 1, "b": 2, "c": 1, "d": 5})
    "'a', 'b', 'c', …"
    """
    return ", ".join(repr(v) for v in list(counts)[:3]) + (", …" if len(counts) > 3 else "")


def unseen_rows(name: str, counts: Mapping[Any, int], end: str = "") -> RowCount:
    """How many rows of a column hold categories that training did not show, by category.

    >>> print(unseen_rows("state", {"ZZ": 2, "YY": 1}))
    column 'state': 3 rows with a category not seen in training ('ZZ', 'YY')
    """
    some = tuple(repr(category) for category in list(counts)[: SHOWN + 1])
    rows = sum(counts.values())
    return RowCount(f"column {name!r}: ", rows, " rows with a category not seen in training", some, end)
