"""What fitted generative models say of new rows: posteriors, densities, and values that are new to them."""

import operator
from collections.abc import Mapping
from functools import partial
from typing import Any, Unpack

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from posterior._over_rows import taken
from posterior._types import AnyArray, Floats, FloatType, Ints
from posterior.dataset import Chunk
from posterior.engines import LocalDataset
from posterior.estimators.device import (
    ANSWERS,
    DeviceTable,
    answer,
    predicted,
    refuse_unscored,
    refused_method,
)
from posterior.estimators.parameters import ClassPriors, RandomState, TableLike
from posterior.estimators.precision import answer_type
from posterior.estimators.scanned_prediction import Writing, scores_scans
from posterior.estimators.table_estimator import TableEstimator, shown_categories, unseen_rows
from posterior.families import Distribution
from posterior.generative import FittedBlock, GenerativeModel, Priors
from posterior.kernels import SeparateColumns, is_sparse
from posterior.notices import CountedRows, OutsideSupportWarning, RowCount, UnseenCategoryWarning, warn
from posterior.schema import Schema, read_table


class GenerativePrediction(TableEstimator):
    """Prediction by the generative model in `model_`."""

    model_: GenerativeModel
    classes_: AnyArray

    @property
    def schema_(self) -> Schema:
        """How each column was read, and why; print it."""
        return self.model_.schema

    @property
    def _saw_a_table(self) -> bool:
        return self.model_.spec is not None  # else it was made of given distributions

    def _dataset(self, X: TableLike, *, reports_unseen: bool = True) -> LocalDataset:
        if not hasattr(self, "model_"):
            check_is_fitted(self)  # which says so, and takes longer than a few rows
        data = self._encoded(read_table(X))
        if reports_unseen:
            self._report_unseen(data.unseen)
        dataset = LocalDataset(self.model_.schema, data)
        self._report_outside(dataset)
        return dataset

    def _report_outside(self, dataset: LocalDataset) -> None:
        """Say which columns hold values that no class can have, such as a negative waiting time."""
        told = []
        for block, distribution in self.model_.distributions:
            if not distribution.has_support:
                continue
            count = partial(_outside, block=block, distribution=distribution)
            rows = dataset.reduce(count, dense=block.dense)
            names = self.model_.schema.names_of(block.columns)
            told += [
                RowCount(f"column {names[j]!r}: ", int(rows[j]), " rows with a value that no class can have")
                for j in np.flatnonzero(rows).tolist()
            ]
        if told:
            warn(CountedRows(tuple(told), end=": left out"), OutsideSupportWarning)

    def _report_unseen(self, unseen: Mapping[str, Mapping[Any, int]]) -> None:
        if not unseen:
            return
        names = self.model_.schema.names
        treatment = {names[j]: d.unseen for b, d in self.model_.distributions for j in b.columns}
        told = []
        for name, counts in unseen.items():
            if name not in treatment:
                continue
            if treatment[name] == "error":
                raise ValueError(
                    f"column {name!r}: category {shown_categories(counts)} was not seen in training "
                    f"({sum(counts.values())} rows); "
                    'pass unknown="marginalize" to leave such cells out, or "smooth"'
                )
            did = "left out" if treatment[name] == "marginalize" else "given the smoothing probability"
            told.append(unseen_rows(name, counts, f": {did}"))
        if told:
            warn(CountedRows(tuple(told)), UnseenCategoryWarning)

    # scikit-learn's models of counts answer in double precision whatever the table.
    _only_in_double = False

    def _answer_type(self, data: LocalDataset) -> FloatType:
        """The precision in which rows are answered."""
        return np.float64 if self._only_in_double else answer_type(data.data)

    def _log_prior(self, priors: ClassPriors | None) -> Floats | None:
        return (
            None if priors is None else Priors(priors).log_prior(np.ones(len(self.classes_)), self.classes_)
        )

    # -- arrays on a device -----------------------------------------------------------------------

    def _device_rows(self, table: DeviceTable, *, reports: bool = True) -> Any:
        """The rows of a table on a device, whose columns are those of training."""
        schema = self.model_.schema
        self._aligned(table.source)
        refuse_unscored(self.model_)  # before its distributions look at values
        rows = table.rows(schema)
        if reports:
            self._report_unseen(rows.unseen([j for b, _ in self.model_.distributions for j in b.columns]))
            for block, distribution in self.model_.distributions:
                if distribution.has_support:
                    self._report_outside_device(rows.count(block.columns, distribution.outside), block)
        return rows

    def _report_outside_device(self, counts: Ints, block: FittedBlock) -> None:
        names = [self.model_.schema.names[j] for j in block.columns]
        told = [
            RowCount(f"column {names[j]!r}: ", int(counts[j]), " rows with a value that no class can have")
            for j in np.flatnonzero(counts).tolist()
        ]
        if told:
            warn(CountedRows(tuple(told), end=": left out"), OutsideSupportWarning)

    def _device_scores(self, method: str, table: DeviceTable, priors: ClassPriors | None = None) -> Any:
        """What a method says of rows on a device."""
        if method not in ANSWERS:
            raise refused_method(type(self).__name__, method)
        if method == "predict":
            return predicted(table, self.classes_, self._device_codes(table, priors))
        if method == "decision_function":
            return self._device_decision(table)
        return answer(self.model_, self._device_rows(table), ANSWERS[method], self._log_prior(priors))

    def _device_codes(self, table: DeviceTable, priors: ClassPriors | None = None) -> Any:
        """The code of the most probable class of each row on a device."""
        return answer(self.model_, self._device_rows(table), "best", self._log_prior(priors))

    def _device_decision(self, table: DeviceTable) -> Any:
        """Log posteriors of rows on a device; with two classes their log odds."""
        logs = answer(self.model_, self._device_rows(table), "log_posterior")
        return logs[:, 1] - logs[:, 0] if len(self.classes_) == 2 else logs

    # -- any table --------------------------------------------------------------------------------

    @scores_scans
    def predict_log_proba(
        self, X: TableLike, priors: ClassPriors | None = None, **writing: Unpack[Writing]
    ) -> Floats:
        """Exact log posterior of each class, ln p(class | row), shape (n_samples, n_classes).

        `priors` replaces the class priors for this call: "uniform", numbers in the order of `classes_`,
        or a mapping. Nothing is clipped: a log posterior of −1e5 is reported as such.
        """
        data = self._dataset(X)
        return self.model_.log_posterior(data, self._log_prior(priors), self._answer_type(data))

    @scores_scans
    def decision_function(self, X: TableLike, **writing: Unpack[Writing]) -> Floats:
        """Log posteriors; with two classes the log odds of the second against the first, (n_samples,)."""
        data = self._dataset(X)
        dtype = self._answer_type(data)
        if len(self.classes_) == 2:
            return self.model_.log_odds(data, dtype)
        return self.model_.log_posterior(data).astype(dtype, copy=False)

    @scores_scans
    def predict_proba(
        self, X: TableLike, priors: ClassPriors | None = None, **writing: Unpack[Writing]
    ) -> Floats:
        """Posterior of each class, p(class | row), shape (n_samples, n_classes); each row sums to 1."""
        data = self._dataset(X)
        return self.model_.posterior(data, self._log_prior(priors), self._answer_type(data))

    @scores_scans
    def predict(
        self, X: TableLike, priors: ClassPriors | None = None, **writing: Unpack[Writing]
    ) -> AnyArray:
        """The most probable class of each row; the first of equals."""
        data = self._dataset(X)
        return taken(self.classes_, self.model_.best(data, self._log_prior(priors)))

    @scores_scans
    def predict_joint_log_proba(
        self, X: TableLike, priors: ClassPriors | None = None, **writing: Unpack[Writing]
    ) -> Floats:
        """Log joint density ln p(row, class), shape (n_samples, n_classes)."""
        data = self._dataset(X)
        return self.model_.log_joint(data, self._log_prior(priors), self._answer_type(data))

    @scores_scans
    def score_samples(
        self, X: TableLike, priors: ClassPriors | None = None, **writing: Unpack[Writing]
    ) -> Floats:
        """Log density of each row, ln p(row) = ln Σ_k p(row | k) p(k); low values are odd rows."""
        data = self._dataset(X)
        return self.model_.log_evidence(data, self._log_prior(priors), self._answer_type(data))

    @scores_scans
    def class_log_density(self, X: TableLike, **writing: Unpack[Writing]) -> Floats:
        """Log density of each row under each class, ln p(row | class), shape (n_samples, n_classes)."""
        data = self._dataset(X)
        return self.model_.log_density(data, self._answer_type(data))

    def sample(self, n_samples: int = 1, random_state: RandomState | None = None) -> tuple[Any, AnyArray]:
        """New rows and their classes; `X` is the kind of table that was fitted."""
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(f"n_samples must be at least 1, found {n_samples}")
        rng = random_state
        if not isinstance(rng, np.random.Generator):
            rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1, size=4))
        X, codes = self.model_.sample(operator.index(n_samples), rng)
        return X, np.asarray(self.classes_[codes])


def _outside(chunk: Chunk, block: FittedBlock, distribution: Distribution) -> Ints:
    """How many rows of a chunk hold an impossible value, by column of the block."""
    # As it lies, and without a look for infinity, which whoever scores the rows has.
    cells = chunk.matrix(block.columns, check=False) if block.reads == "matrix" else block.read(chunk)
    cells = cells.as_one_array() if isinstance(cells, SeparateColumns) else cells
    outside = distribution.outside(cells)
    if not is_sparse(outside):
        if not outside.any():
            return np.zeros(len(block.columns), dtype=np.int64)
        outside = outside & ~np.isinf(cells)  # which is an error of its own
    return np.asarray(outside.sum(axis=0)).reshape(-1)
