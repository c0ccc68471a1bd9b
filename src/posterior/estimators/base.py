"""What every generative estimator shares: scikit-learn's conventions around one model object."""

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from posterior._types import AnyArray, Floats
from posterior.dataset import Rows
from posterior.engines import LocalDataset, ScannedTable
from posterior.estimators.callbacks import shown_on_the_way, with_callbacks
from posterior.estimators.device import explained_memory, is_device_array, training_of
from posterior.estimators.parameters import Kinds, Labels, TableLike, Weights
from posterior.estimators.reading import ModelReading
from posterior.estimators.scanned_parts import added_batches, added_scan
from posterior.estimators.scanned_prediction import ScoresScans
from posterior.estimators.state import install
from posterior.estimators.table_estimator import columns_of
from posterior.estimators.target import labelled_table, scanned_table
from posterior.estimators.training_rows import refuse_kept_rows, told_kinds
from posterior.estimators.validation import Validation
from posterior.generative import (
    ClassStatistics,
    GenerativeModel,
    GenerativeSpec,
    Priors,
    sentences,
)
from posterior.notices import DataWarning, warn
from posterior.schema import Schema, Source
from posterior.schema.classes import refuse_one_class
from posterior.schema.columns import Alike


class GenerativeEstimator(ScoresScans, ClassifierMixin, ModelReading, Validation):
    """A classifier that learns p(row | class) and p(class) and applies Bayes' rule.

    A preset says how to read the table (`_schema`) and which columns go to which family (`_spec`).
    """

    approach = "generative"
    # Whether `fit` takes rows of one class, and classes without weight, as scikit-learn's naive Bayes does.
    _any_classes = False

    def _accept(self, model: GenerativeModel) -> None:
        """Refuse a model of all the data that the settings do not fit."""

    def _priors(self) -> Priors:
        return Priors(getattr(self, "priors", None), getattr(self, "prior_smoothing", 0.0))

    # -- learning ---------------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: TableLike, y: Labels | None = None, sample_weight: Weights | None = None) -> Self:
        """Learn from a table and its class column.

        Parameters
        ----------
        X : array, sparse matrix, list or data frame of shape (n_samples, n_features), or scan
            Numbers, categories and gaps as they are; `posterior.scan` reads rows where they live.
        y : array-like of shape (n_samples,)
            The class of each row; a scan names its class column.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight 2 is the row twice, weight 0 the row not at all.

        Returns
        -------
        self : object
            The fitted estimator.

        """
        who = type(self).__name__
        if isinstance(X, ScannedTable):
            return self._fit_scan(scanned_table(X, y, sample_weight, who))
        if is_device_array(X):
            return self._finished(self._device_model(X, y, sample_weight))
        table = labelled_table(X, y, sample_weight, who, any_classes=self._any_classes)
        schema = self._schema(table.source)
        spec = self._spec(schema, table.source)
        data = LocalDataset(schema, schema.encode(table.source), table.codes, table.weight)
        shown_on_the_way(self._attributes)
        model = self._fitted(spec, data, table.classes, sample_weight)
        return self._finished(model)

    def _fit_scan(self, table: Any) -> Self:
        """Learn from rows where they live, part by part where they can be read only once."""
        if not table.rereads:
            return self._fit_stream(table)
        classes = table.classes
        if not self._any_classes:
            refuse_one_class(classes)
        told = told_kinds(clone(self), table)
        schema = told._schema(table.source)
        spec = told._spec(schema, table.source)
        refuse_kept_rows(spec, schema)
        shown_on_the_way(self._attributes)
        rows = table.rows(schema, classes)
        if table.resume is None:
            return self._finished(self._fitted_elsewhere(spec, rows, classes))
        settings = {"model": repr(self), "settings": repr(self.get_params()), "schema": _described(schema)}
        rows = rows.resumed(table.resume, settings)
        self._finished(self._fitted_elsewhere(spec, rows, classes))
        rows.engine.finish()
        return self

    def _device_model(self, X: Any, y: Any, sample_weight: Any) -> GenerativeModel:
        """The model of rows on a device, whose sums are worked out there."""
        with explained_memory():
            table = training_of(X, y, sample_weight, type(self).__name__, any_classes=self._any_classes)
            source = table.table.source
            schema = self._schema(source)
            spec = self._spec(schema, source)
            shown_on_the_way(self._attributes)
            return self._fitted_elsewhere(spec, table.rows(schema), table.classes)

    def _device_part(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> GenerativeModel:
        """The model of the rows so far, if there are any, and of more on a device."""
        with explained_memory():
            table = training_of(X, y, sample_weight, type(self).__name__, any_classes=True, classes=classes)
            source = table.table.source
            if hasattr(self, "model_"):
                self._aligned(source)
                return self._with_more(source, table.rows, table.classes)
            schema = self._schema(source)
            spec, rows = self._spec(schema, source), table.rows(schema)
            if not self._first_part_chooses:
                self._refuse_unmergeable(spec, schema)
                spec = spec.prepared(rows)
                return spec.estimate(spec.summarize(rows, table.classes))
            model = self._fitted_elsewhere(spec, rows, table.classes)
            self._refuse_unmergeable(model.spec, schema)
            return model

    def _fit_stream(self, table: Any) -> Self:
        """Learn from parts one after the other, as `partial_fit` does."""
        learnt = added_batches(clone(self), table, None)
        if not self._any_classes:
            refuse_one_class(learnt.classes_)
        return self._finished(learnt.model_)

    def _finished(self, model: GenerativeModel) -> Self:
        """Take over the model of all rows, and say what is worth knowing of them."""
        self._accept(model)
        self._install(model)
        if model.notes:
            warn(DataWarning(*sentences(model.notes)), DataWarning)
        return self

    def partial_fit(
        self,
        X: TableLike,
        y: Labels | None = None,
        classes: Labels | None = None,
        sample_weight: Weights | None = None,
    ) -> Self:
        """Learn from more rows; any split of a table in parts gives what `fit` gives, to rounding.

        Settings that NaiveBayes leaves to cross-validation are chosen by the first part and kept: the sums
        add up all the same, to the model of `fit` with these settings. Other estimators refuse them.

        Parameters
        ----------
        X : array, sparse matrix, list or data frame of shape (n_samples, n_features), or scan
            More rows of the same columns; those of `posterior.scan` are read where they live.
        y : array-like of shape (n_samples,)
            The class of each row, new ones at any time; a scan names its class column.
        classes : array-like, default=None
            Classes that may appear; not needed.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : object
            The updated estimator.

        """
        who = type(self).__name__
        if isinstance(X, ScannedTable):
            self._install(added_scan(self, scanned_table(X, y, sample_weight, who), classes))
            return self
        if is_device_array(X):
            self._install(self._device_part(X, y, sample_weight, classes))
            return self
        table = labelled_table(X, y, sample_weight, who, classes=classes, parts=True)
        source = table.source
        if not hasattr(self, "model_"):
            schema = self._schema(source)
            spec = self._spec(schema, source)
            data = LocalDataset(schema, schema.encode(source), table.codes, table.weight)
            self._install(self._first_part(spec, data, table.classes, sample_weight))
            return self
        source = self._aligned(source)

        def read_by(schema: Schema) -> LocalDataset:
            return LocalDataset(schema, schema.encode(source), table.codes, table.weight)

        self._install(self._with_more(source, read_by, table.classes, table.weight))
        return self

    def _with_more(
        self,
        source: Source,
        read_by: Callable[[Schema], Rows],
        classes: AnyArray,
        weight: Floats | None = None,
    ) -> GenerativeModel:
        """The model of the rows so far and of more, described as those were."""
        spec, seen = self._grown(source, weight)
        if self.model_.tuning is not None and not self._first_part_chooses:
            self._refuse_unmergeable(self._spec(self.model_.schema, source), self.model_.schema)
        schema = self._schema(source, self._kinds_so_far)
        model = spec.estimate(seen + spec.summarize(read_by(schema), classes))
        return replace(model, tuning=self.model_.tuning)

    # Whether settings that are "auto" are chosen by the first part of `partial_fit`, and kept from then on.
    _first_part_chooses = False

    def _first_part(
        self, spec: GenerativeSpec, data: LocalDataset, classes: AnyArray, sample_weight: Any
    ) -> GenerativeModel:
        """The model of the first part of a table."""
        if not self._first_part_chooses:
            self._refuse_unmergeable(spec, data.schema)
            spec = spec.prepared(data)
            return spec.estimate(spec.summarize(data, classes))
        model = self._fitted(spec, data, classes, sample_weight)
        self._refuse_unmergeable(model.spec, data.schema)
        return model

    @property
    def _kinds_so_far(self) -> Kinds:
        """The kinds that later parts of the table must keep, by position: declared, or shown by a value."""
        schema = self.model_.schema
        if isinstance(schema.columns, Alike) and not schema.columns.example.empty:
            return [(slice(None), schema.columns.example.kind)]
        known = (c.declared or not (c.empty or c.ignored) for c in schema.columns)
        return {
            j: kind for j, (kind, is_known) in enumerate(zip(schema.kinds, known, strict=True)) if is_known
        }

    def _grown(
        self, source: Source, weight: Floats | None, few: Source | None = None
    ) -> tuple[GenerativeSpec, ClassStatistics]:
        """Composition and statistics so far, ready for a part that may fill columns empty until now.

        `few` are some rows of the part, where those of `source` are not in memory.
        """
        model = self.model_
        if model.spec is None or model.statistics is None:
            raise ValueError(model.why_not_mergeable)
        empty = set(model.schema.places_by(lambda c: c.empty and not c.declared).get(True, ()))
        if not empty:
            return model.spec, model.statistics
        merged = model.schema.union(self._schema(source, self._kinds_so_far))
        late = {j for j in empty if not merged.columns[j].empty}
        spec = model.spec.joined_by(self._unchosen(self._spec(merged, source)), late)
        self._refuse_unmergeable(spec, merged)
        rows = LocalDataset(merged, merged.encode(few or source), np.zeros(0, np.int64), weight)
        spec, nothing = spec.prepared(rows), rows.chunk(slice(0, 0))
        return spec, spec.widened(model.statistics.aligned(model.classes, merged), nothing)

    def _unchosen(self, spec: GenerativeSpec) -> GenerativeSpec:
        """The composition without the choices that are left to rows by default."""
        return spec

    def _refuse_unmergeable(self, spec: GenerativeSpec | None, schema: Schema) -> None:
        reason = None if spec is None else spec.why_not_mergeable(schema)
        if reason:
            raise ValueError(reason)

    def __add__(self, other: Any) -> Self:
        """The estimator fitted to the rows of both; settings that NaiveBayes chose are those of more rows."""
        if not isinstance(other, GenerativeEstimator):
            return NotImplemented
        check_is_fitted(self)
        check_is_fitted(other)
        mine, theirs = self.model_, other.model_
        if mine.schema.names != theirs.schema.names:
            mine.schema.union(theirs.schema)  # raises, naming the columns that differ
        if self._first_part_chooses and mine.weight < theirs.weight:
            mine, theirs = theirs, mine
        mine, theirs = self._alike(mine, theirs)
        if mine.spec is not None and theirs.spec is not None and not self._same_families(mine, theirs):
            chosen = [m.tuning.choice for m in (mine, theirs) if m.tuning is not None]
            what = (
                f"they chose {chosen[0]} and {chosen[-1]}: set one of these in both"
                if len(chosen) > 1 and not self._first_part_chooses
                else "fit both with the same settings"
            )
            raise ValueError(
                f"{self} and {other} describe the columns by different families and cannot be added; {what}"
            )
        merged: Self = clone(self)
        merged._install(replace(mine + theirs, tuning=mine.tuning if self._first_part_chooses else None))
        return merged

    def _alike(
        self, mine: GenerativeModel, theirs: GenerativeModel
    ) -> tuple[GenerativeModel, GenerativeModel]:
        """Two models, their columns described alike where what each of them saw of a column decided that."""
        return mine, theirs

    def _same_families(self, mine: GenerativeModel, theirs: GenerativeModel) -> bool:
        """Whether two models describe the columns by the same families, but for what each of them chose."""
        tunings = [model.tuning for model in (mine, theirs) if model.tuning is not None]
        chosen = (
            {name for tuning in tunings for name in tuning.settings} if self._first_part_chooses else set()
        )
        both = [model.spec.unsettled(chosen) for model in (mine, theirs) if model.spec is not None]
        return both[0].blocks == both[1].blocks and both[0].weights == both[1].weights

    def __radd__(self, other: Any) -> Self:
        """Let `sum(models)` work: it starts from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def _install(self, model: GenerativeModel) -> None:
        """Take over a finished model; the only place where fitted attributes are set."""
        install(self, **self._attributes(model))

    def _attributes(self, model: GenerativeModel) -> dict[str, Any]:
        """What an estimator has that has learnt this model."""
        return columns_of(model.schema) | {"model_": model, "classes_": model.classes}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def _described(schema: Schema) -> str:
    """What columns are, all their levels included, in a few letters."""
    told = [(column.name, column.kind, column.categories) for column in schema.columns]
    return sha256(repr(told).encode()).hexdigest()
