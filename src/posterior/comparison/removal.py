"""What a fitted model says of rows if it is not told some of their columns."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from posterior._types import Floats, Ints
from posterior.comparison.held_out import class_scores
from posterior.decision import log_loss_terms
from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.table_estimator import rows_for
from posterior.schema import LabelledTable
from posterior.schema.recombine import recombined

Columns = Collection[int]


class RowLosses(NamedTuple):
    """Losses of rows, (R, n) in R trials: minus the log posterior of the true class, and 1 where it is wrong.

    The first is NaN for a discriminant, which has no posteriors.
    """

    log_loss: Floats
    error_rate: Floats


@dataclass(frozen=True, eq=False)
class ColumnRemoval:
    """Losses of rows that a fitted model has not seen, as they are and without some columns.

    A generative model integrates the columns out: its posterior given the others is exact. For any other
    model they are shuffled, which keeps their distribution and takes away what they say of the class: in each
    of R shuffles a row gets the cells of another, `donors` (R, n).
    """

    model: Any
    rows: LabelledTable
    donors: Ints

    @property
    def exact(self) -> bool:
        """Whether columns are integrated out, and not shuffled."""
        return isinstance(self.model, GenerativeEstimator)

    def whole(self) -> RowLosses:
        """The losses of the rows as they are, (1, n)."""
        return self._losses(class_scores(self.model, rows_for(self.model, self.rows)), self.rows.codes)

    def without(self, groups: Sequence[Columns]) -> Iterator[RowLosses]:
        """The losses without each group of columns."""
        yield from map(self._integrated_out if self.exact else self._shuffled, groups)

    @cached_property
    def _dataset(self) -> Any:
        return self.model._dataset(rows_for(self.model, self.rows))

    def _integrated_out(self, columns: Columns) -> RowLosses:
        names = {self.rows.schema.names[j] for j in columns}
        fitted = self.model.model_
        places = {j for j, name in enumerate(fitted.schema.names) if name in names}
        return self._losses(fitted.without(places).log_posterior(self._dataset), self.rows.codes)

    @cached_property
    def _tiled(self) -> LabelledTable:
        """The rows once for each shuffle."""
        return self.rows.part(np.tile(np.arange(len(self.rows)), len(self.donors)))

    def _shuffled(self, columns: Columns) -> RowLosses:
        R, n = self.donors.shape
        donors = (self.donors + n * np.arange(R)[:, None]).ravel()
        mixed = replace(self._tiled, X=recombined(self._tiled.source, columns, donors))
        return self._losses(class_scores(self.model, rows_for(self.model, mixed)), self._tiled.codes)

    def _losses(self, scores: Floats, codes: Ints) -> RowLosses:
        """The losses of scores for the model's classes, which are some of the table's."""
        own = np.searchsorted(self.model.classes_, self.rows.classes[codes])
        wrong = (scores.argmax(axis=1) != own).astype(np.float64)
        logs = hasattr(self.model, "predict_log_proba")
        terms = log_loss_terms(own, scores) if logs else np.full(len(own), np.nan)
        n = len(self.rows)
        return RowLosses(terms.reshape(-1, n), wrong.reshape(-1, n))


def shuffles(weight: Floats, n_shuffles: int, rng: np.random.Generator) -> Ints:
    """Whose cells each row gets, (R, n): of another row, and another one in each shuffle.

    Where rows stand for unequal numbers of others, they give theirs as often as they weigh. A single row has
    nobody to get cells from but itself.

    >>> shuffles(np.ones(4), 2, np.random.default_rng(0)).tolist()
    [[2, 0, 3, 1], [3, 2, 1, 0]]
    """
    n = len(weight)
    order = rng.permutation(n)
    ends = np.cumsum(weight)
    marks = (np.arange(n) + 0.5) * ends[-1] / n
    givers = order if np.ptp(weight) == 0 else rng.permutation(np.searchsorted(ends, marks))
    steps = 1 + rng.permutation(n - 1)[:n_shuffles] if n > 1 else np.zeros(1, dtype=np.int64)
    donors = np.empty((len(steps), n), dtype=np.int64)
    for line, step in zip(donors, steps.tolist(), strict=True):
        line[order] = np.roll(givers, -step)
    return donors
