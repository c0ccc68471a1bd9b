"""The types of what users hand to estimators: tables, labels, weights, priors, folds, other estimators.

They are wide enough for arrays, lists and the frames of pandas, polars and PyArrow, none of which is named.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from posterior._types import SupportsArray
from posterior.decision.cost_table import Costs
from posterior.decision.reject import RejectRule
from posterior.engines import ScannedTable
from posterior.families import Family
from posterior.schema import Kind, LabelledTable, Source
from posterior.schema.select import ColumnSelection


class SupportsArrowStream(Protocol):
    """A table that gives out its rows by Arrow's C interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class SparseMatrix(Protocol):
    """A sparse matrix or array of SciPy."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of rows and columns."""

    def tocsr(self) -> Any:
        """The same matrix in compressed sparse rows."""


class Splitter(Protocol):
    """What deals out rows to folds as scikit-learn's KFold does."""

    def split(self, X: Any, y: Any, /) -> Iterable[tuple[Any, Any]]:
        """Rows to train with and rows held out, fold by fold."""


class Classifier(Protocol):
    """A classifier of scikit-learn's conventions, ours or not; meta-estimators ask it for posteriors."""

    def fit(self, X: Any, y: Any, /) -> Any:
        """Learn from rows and their classes."""

    def predict(self, X: Any, /) -> Any:
        """The class of each row."""


class DensityModel(Protocol):
    """A model of scikit-learn's conventions that gives each row a log density."""

    def fit(self, X: Any, y: Any, /) -> Any:
        """Learn from rows and their classes."""

    def score_samples(self, X: Any, /) -> Any:
        """Log density of each row."""


class CovarianceEstimator(Protocol):
    """An estimator such as those of `sklearn.covariance`; once fitted it has a `covariance_`."""

    def fit(self, X: Any, /) -> Any:
        """Learn from rows."""


Number: TypeAlias = float | np.number[Any] | np.bool_
Numbers: TypeAlias = SupportsArray | Sequence[Number]
# A class, or another answer of `predict`.
Label: TypeAlias = str | int | float | np.generic
Labels: TypeAlias = SupportsArray | Sequence[Label]
# A number is the weight of every row.
Weights: TypeAlias = Numbers | Number

# A `Source` is a table that was read already, which is not read again; a `ScannedTable` is read where it is.
TableLike: TypeAlias = (
    SupportsArray
    | SupportsArrowStream
    | SparseMatrix
    | Sequence[Sequence[Any] | SupportsArray]
    | Source
    | LabelledTable
    | ScannedTable
)
# What a classifier inside another one takes is its own affair: texts or dicts in a list, for example.
AnyRows: TypeAlias = TableLike | Sequence[Any]

# Keys of mappings are Any because a mapping of strings is no mapping of strings or numbers to a type checker.
Kinds: TypeAlias = Mapping[Any, Kind] | Sequence[tuple[ColumnSelection, Kind]]
ClassPriors: TypeAlias = Literal["uniform"] | Numbers | Mapping[Any, Number]
CostsLike: TypeAlias = (
    Costs | SupportsArray | list[Any] | tuple[Any, ...] | Mapping[Any, Mapping[Any, Number]]
)
Reject: TypeAlias = RejectRule | Mapping[str, Any]
# A list or tuple is the fold of each row, or pairs (rows to train with, rows held out).
FoldsLike: TypeAlias = int | Splitter | SupportsArray | list[Any] | tuple[Any, ...]
RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator

FamilyLike: TypeAlias = Family[Any] | type[Family[Any]]
Selection: TypeAlias = Literal["best", "one_se"]
Missing: TypeAlias = Literal["error", "indicator"]
Degree: TypeAlias = Literal[1, 2]
Auto: TypeAlias = Literal["auto"]
