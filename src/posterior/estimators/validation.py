"""How well a model does on rows it has not seen, without fitting it again and again."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior._tasks import Tasks
from posterior._types import AnyArray, DataFrame, Floats, Ints
from posterior.dataset import Rows, Selection
from posterior.engines import LocalDataset
from posterior.estimators.generative_prediction import GenerativePrediction
from posterior.estimators.parameters import FoldsLike, Kinds, Labels, TableLike, Weights
from posterior.estimators.precision import in_double
from posterior.estimators.splits import leaves_one_out, names_rows, read_folds
from posterior.estimators.state import RefusedError
from posterior.estimators.target import counted, read_labels, read_weights
from posterior.estimators.training_rows import SAMPLED_ROWS
from posterior.generative import (
    GenerativeModel,
    GenerativeSpec,
    Tuning,
    estimated,
    held_out_log_posterior,
    left_out_log_posterior,
    refuse_other_rows,
    refuse_rule,
    training_parts,
    tune,
    tune_left_out,
    with_column_weights,
)
from posterior.schema import LabelledTable, Schema, Source, read_table
from posterior.schema.classes import known_codes, refuse_one_class
from posterior.schema.decode import table_of


class Validation(GenerativePrediction):
    """Cross-validation from sums, and settings chosen by it.

    A preset says how to read the table (`_schema`) and which columns go to which family (`_spec`).
    """

    @abstractmethod
    def _spec(self, schema: Schema, source: Source) -> GenerativeSpec:
        """The composition that this estimator stands for."""

    def _schema(self, source: Source, kinds: Kinds | None = None) -> Schema:
        """How this estimator reads a table; `kinds` are those of an earlier part of it."""
        return Schema.of(source, kinds)

    def k_fold_log_proba(
        self, X: TableLike, y: Labels | None = None, cv: FoldsLike = 10, sample_weight: Weights | None = None
    ) -> Floats:
        """Log posterior of each class for each row, by a model that has not seen the row.

        The table is read twice, however many folds there are: once to sum each fold, once to score each row
        by the model of the other folds. The estimator need not be fitted and does not change. What the
        columns are (kinds, categories, but not words or cuts) is learnt from all rows; a class that the
        others lack gets −inf. Settings that are "auto" are chosen anew for each fold from the other folds, by
        holding out one of these after the other, or each of their rows where the estimator's `cv` is "loo".

        Parameters
        ----------
        X : array, sparse matrix, list or data frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The class of each row.
        cv : int, splitter or array-like of shape (n_samples,), default=10
            A number of folds (by class, in shuffled order, always the same), a scikit-learn splitter that
            holds out each row once, or the fold of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in training; rows of weight zero are scored all the same.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
            In the order of the rows, the columns in the order of the sorted classes of `y`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from posterior import LDA
        >>> X, y = load_iris(return_X_y=True)
        >>> logs = LDA().k_fold_log_proba(X, y)
        >>> float(-logs[np.arange(150), y].mean().round(4))
        0.0594

        """
        table = X if isinstance(X, LabelledTable) else self._all_rows(X, y, sample_weight)
        source, classes, weight = table.source, table.classes, table.weight
        learnt_from, _, _ = counted(source, table.codes, weight)
        refuse_one_class(classes)
        folds = read_folds(cv, table.codes, weight)
        schema = self._schema(learnt_from)
        data = LocalDataset(schema, schema.encode(schema.align(source)), table.codes, weight, folds.numbers)
        unread = self._spec(schema, learnt_from)
        spec = unread.prepared(_counting(data))
        left_out = leaves_one_out(getattr(self, "cv", None))
        models = []
        for part in training_parts(spec, data, classes, folds.n_folds):
            settled = spec
            if any(block.family.chosen_anew for block in spec.blocks):
                settled = unread.prepared(part.rows)
                part = replace(part, statistics=settled.summarize(part.rows, classes))  # noqa: PLW2901
            if spec.is_open and left_out:
                others = folds.numbers != part.fold
                rows = np.flatnonzero(others & (True if weight is None else weight > 0))
                settled, _ = tune_left_out(settled, _some_rows(data, source, rows), classes, self._selection)
            elif spec.is_open:
                inner = folds if folds.n_folds > 2 else read_folds(5, table.codes, weight)
                numbers = np.where(folds.numbers == part.fold, -1, inner.numbers)
                some = replace(self._to_choose_by(data), folds=numbers)
                settled, _ = self._chosen(settled, some, classes, inner.n_folds)
            models.append(estimated(settled, part))
        return held_out_log_posterior(data, models)

    def _all_rows(self, X: Any, y: Any, sample_weight: Any) -> LabelledTable:
        """Rows with their classes and weights, those of weight zero too."""
        source = read_table(X)
        labels = read_labels(y, source.n_rows, type(self).__name__)
        return LabelledTable.of(source, labels, read_weights(sample_weight, labels))

    def leave_one_out_log_proba(
        self, X: TableLike, y: Labels | None = None, sample_weight: Weights | None = None
    ) -> Floats:
        """Log posterior of each class for each training row, as if the row had not been seen.

        Exact, and in closed form: two or three times the cost of `predict_log_proba`. Only rows that their
        class cannot spare, such as one of two, are left out by refitting, and all rows where a covariance
        that the classes share had to be mended. A row goes with its whole weight, and
        the class frequencies change with it; given priors do not. Words of a text column that no other row
        has are not known without it. What the columns are (kinds, categories), which of them were left out,
        and settings chosen by cross-validation stay as fitted. A class whose only row is left out gets −inf.

        Parameters
        ----------
        X : array, sparse matrix, list or data frame of shape (n_samples, n_features)
            The rows that were passed to `fit`, in any order.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights that were passed to `fit`. Rows of weight zero were not in the training, and get what
            `predict_log_proba` gives.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
            In the order of the rows.

        Raises
        ------
        NoClosedFormError
            Where leaving out a row has no closed form: shrinkage, gaps filled in by EM, the Laplace family,
            mixtures, a covariance_estimator, words chosen by min_df, max_df or max_features.
            `k_fold_log_proba` serves there.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from posterior import LDA
        >>> X, y = load_iris(return_X_y=True)
        >>> logs = LDA().fit(X, y).leave_one_out_log_proba(X, y)
        >>> int((logs.argmax(axis=1) != y).sum())
        3

        """
        check_is_fitted(self)
        table = X if isinstance(X, LabelledTable) else self._all_rows(X, y, sample_weight)
        if table.weight is not None and not table.weight.all():
            rows, others = np.flatnonzero(table.weight), np.flatnonzero(table.weight == 0)
            out = np.empty((len(table), len(self.classes_)))
            out[rows] = self.leave_one_out_log_proba(table.part(rows), y)
            with in_double():
                out[others] = self.predict_log_proba(table.part(others).X)
            return out
        codes = known_codes(table.labels, self.classes_)
        _refuse_other_weights(codes, table.weight, self.model_)
        data = self._dataset(table.source)
        data = replace(data, y=codes, weight=table.weight, folds=np.arange(len(codes)))
        refuse_other_rows(self.model_, data)
        return left_out_log_posterior(self.model_, data)

    @property
    def _selection(self) -> str:
        return getattr(self, "selection", "best")

    def _fitted(
        self, spec: GenerativeSpec, data: LocalDataset, classes: AnyArray, sample_weight: Any
    ) -> GenerativeModel:
        """The model of these rows, after a choice of the settings that are open."""
        refuse_rule(self._selection)
        if not spec.is_open:
            return spec.fit(data, classes)
        cv: Any = getattr(self, "cv", 10)
        y = np.asarray(data.y)
        parts = Tasks("part", 2, leaves=False)  # the choice, and the model with what was chosen
        if leaves_one_out(cv):
            every = replace(data, folds=np.arange(len(y)))
            with parts.next():
                settled, found = tune_left_out(spec, every, classes, self._selection)
                if spec.learn_weights == "columns":  # rows by tens, for there is no formula
                    tens = replace(data, folds=read_folds(10, y).numbers)
                    settled = with_column_weights(settled, tens, classes, 10)
            with parts.next():
                return _tuned(settled.fit(data, classes), found)
        some = self._to_choose_by(data)
        if names_rows(cv):
            # Folds are given for all rows, and those of weight zero are not here any more.
            weighted = np.ndim(sample_weight) == 1
            here = np.flatnonzero(sample_weight) if weighted else np.arange(len(y))
            given = read_folds(cv, np.zeros(len(sample_weight), np.int64) if weighted else y)
            folds = given.take(here[:: some.step])
        else:
            folds = read_folds(cv, y[:: some.step])
        numbers = np.zeros(len(y), dtype=np.int64)
        numbers[:: some.step] = folds.numbers
        rows = replace(some, folds=numbers)
        with parts.next():
            settled, tuning = self._chosen(spec, rows, classes, folds.n_folds)
        with parts.next():
            model = settled.fit(data, classes)
        return model if tuning is None else _tuned(model, tuning)

    def _fitted_elsewhere(self, spec: GenerativeSpec, rows: Any, classes: AnyArray) -> GenerativeModel:
        """The model of rows that are elsewhere, after a choice of the settings that are open.

        Rows are dealt out by their places, all of them or, where settings are chosen by some rows only, those
        of a sample.
        """
        refuse_rule(self._selection)
        if not spec.is_open:
            return spec.fit(rows, classes)
        cv: Any = getattr(self, "cv", 10)
        if not (isinstance(cv, int | np.integer) or leaves_one_out(cv)):
            raise ValueError(
                f"cv={cv!r:.60} says which rows are held out, and those of a scan are dealt out by their "
                "places; pass a number of folds"
            )
        if self._chooses_by_some or leaves_one_out(cv) or not rows.keeps_places:
            some = rows.sample(SAMPLED_ROWS)
            found = self._fitted(spec, some, classes, None)
            model, settled = found.spec, found.tuning
            assert model is not None  # noqa: S101 -- for the type checker: it was fitted to rows
            fitted = model.fit(rows, classes)
            return fitted if settled is None else _tuned(fitted, settled)
        parts = Tasks("part", 2, leaves=False)
        with parts.next():
            settled_spec, tuning = self._chosen(spec, rows.in_folds(int(cv)), classes, int(cv))
        with parts.next():
            fitted = settled_spec.fit(rows, classes)
        return fitted if tuning is None else _tuned(fitted, tuning)

    # Whether settings are chosen by a part of many rows.
    _chooses_by_some = False

    def _to_choose_by(self, data: LocalDataset) -> LocalDataset:
        """The rows by which settings are chosen: all of them, or with a `step` some."""
        return data

    def _chosen(
        self, spec: GenerativeSpec, data: LocalDataset, classes: AnyArray, n_folds: int
    ) -> tuple[GenerativeSpec, Tuning | None]:
        """The composition with its open settings chosen by folds; rows of fold −1 have no say."""
        rows = _in_folds(data)
        settled, tuning = tune(spec, rows, classes, n_folds, self._selection)
        if spec.learn_weights == "columns":
            settled = with_column_weights(settled, rows, classes, n_folds)
        return settled, tuning

    @property
    def best_params_(self) -> dict[str, Any]:
        """The values chosen for the settings that were "auto", by name."""
        if self.model_.tuning is None:
            raise RefusedError("nothing was tuned, so that nothing was chosen; see tuning_")
        return self.model_.tuning.choice

    @property
    def tuning_(self) -> DataFrame:
        """Log loss of every candidate for the settings that were "auto", with which was chosen.

        A data frame of the kind that was fitted; for arrays a pandas (or polars) one.

        >>> from posterior import NaiveBayes
        >>> X = [["a"], ["a"], ["b"], ["b"], ["a"], ["b"]] * 5
        >>> model = NaiveBayes(alpha="auto", weights=1.0).fit(X, [0, 0, 1, 1, 1, 0] * 5)
        >>> model.tuning_.query("chosen").round(3)
           alpha  log_loss  standard_error  chosen
        3    3.0     0.667           0.043    True
        """
        tuning = self.model_.tuning
        if tuning is None:
            raise RefusedError(
                "nothing was tuned: no setting of this model was left to cross-validation (shrinkage='auto' "
                "of LDA and QDA is Ledoit-Wolf, as in scikit-learn; GaussianDiscriminantAnalysis tunes it)"
            )
        try:
            return table_of(tuning.table(), self.model_.schema.container)
        except ImportError as error:
            raise ImportError(f"{error}; model_.tuning holds the same as plain arrays") from error


def _tuned(model: GenerativeModel, tuning: Tuning) -> GenerativeModel:
    """A model with what chose its settings."""
    return replace(model, tuning=tuning, notes=(*model.notes, *tuning.notes))


def _some_rows(data: LocalDataset, source: Source, rows: Ints) -> LocalDataset:
    """Some rows of a table, read as all of them are, each a fold of its own."""
    part = data.schema.encode(data.schema.align(source.take(rows)))
    weight = None if data.weight is None else data.weight[rows]
    return LocalDataset(data.schema, part, np.asarray(data.y)[rows], weight, np.arange(len(rows)))


def _counting(data: LocalDataset) -> Rows:
    """The rows with a positive weight."""
    if data.weight is None or data.weight.all():
        return data
    return Selection(data, lambda chunk: np.asarray(chunk.weight) > 0)


def _in_folds(data: Any) -> Rows:
    """The rows with a positive weight that are in a fold."""
    if not isinstance(data, LocalDataset):  # rows elsewhere are in a fold, all of them
        rows: Rows = data
        return rows
    rows = _counting(data)
    if data.folds is None or (data.folds >= 0).all():
        return rows
    return Selection(rows, lambda chunk: np.asarray(chunk.fold) >= 0)


def _refuse_other_weights(codes: Ints, weight: Floats | None, model: GenerativeModel) -> None:
    """Raise the error of rows whose classes do not weigh what they weighed in training."""
    if model.spec is None:
        return
    found = np.bincount(codes, weight, len(model.classes))
    names = [f"class {label!s} weighs" for label in model.classes]
    if model.statistics is not None:
        expected = model.statistics.weight
    else:
        names, found, expected = ["the classes weigh"], found.sum(keepdims=True), np.array([model.weight])
    wrong = ~np.isclose(found, expected, rtol=1e-9, atol=0)
    if wrong.any():
        k = int(wrong.argmax())
        raise ValueError(
            f"{names[k]} {found[k]:g} in these rows, expected {expected[k]:g} as in training; pass the "
            "training rows, all of them, with the sample_weight that was passed to fit"
        )
