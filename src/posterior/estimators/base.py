"""What every generative estimator shares: scikit-learn's conventions around one model object."""

import operator
from abc import abstractmethod
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from posterior._types import AnyArray, Floats, Ints
from posterior.dataset import Chunk
from posterior.engines import LocalDataset
from posterior.estimators.parameters import ClassPriors, Kinds, Labels, RandomState, TableLike, Weights
from posterior.estimators.reading import ModelReading
from posterior.estimators.state import install, named_columns
from posterior.estimators.tables import labelled_rows, warn_of_names
from posterior.estimators.target import encode_labels, refuse_one_class
from posterior.estimators.validation import Validation
from posterior.families import Distribution
from posterior.generative import (
    ClassStatistics,
    FittedBlock,
    GenerativeModel,
    GenerativeSpec,
    Priors,
    summary,
)
from posterior.notices import DataWarning, OutsideSupportWarning, UnseenCategoryWarning, warn
from posterior.schema import Encoded, Kind, Schema, Source, read_table


class GenerativeEstimator(ModelReading, Validation, ClassifierMixin, BaseEstimator):
    """A classifier that learns p(row | class) and p(class) and applies Bayes' rule.

    A preset says how to read the table (`_schema`) and which columns go to which family (`_spec`).
    """

    @abstractmethod
    def _spec(self, schema: Schema, source: Source) -> GenerativeSpec:
        """The composition that this estimator stands for."""

    def _schema(self, source: Source, kinds: Kinds | None = None) -> Schema:
        """How this estimator reads a table; `kinds` are those of an earlier part of it."""
        return Schema.of(source, kinds)

    def _accept(self, model: GenerativeModel) -> None:
        """Refuse a model of all the data that the settings do not fit."""

    def _priors(self) -> Priors:
        return Priors(getattr(self, "priors", None), getattr(self, "prior_smoothing", 0.0))

    # -- learning ---------------------------------------------------------------------------------

    def fit(self, X: TableLike, y: Labels, sample_weight: Weights | None = None) -> Self:
        """Learn from a table and its class column.

        Parameters
        ----------
        X : array, sparse matrix, list or data frame of shape (n_samples, n_features)
            Numbers, categories and gaps as they are.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight 2 is the row twice, weight 0 the row not at all.

        Returns
        -------
        self : object
            The fitted estimator.

        """
        source, labels, weight = labelled_rows(X, y, sample_weight, type(self).__name__)
        classes, codes = encode_labels(labels)
        refuse_one_class(classes)
        schema = self._schema(source)
        spec = self._spec(schema, source)
        data = LocalDataset(schema, schema.encode(source), codes, weight)
        model = self._fitted(spec, data, classes, sample_weight)
        self._accept(model)
        self._install(model)
        if model.notes:
            warn(summary(model.notes), DataWarning)
        return self

    def partial_fit(
        self,
        X: TableLike,
        y: Labels,
        classes: Labels | None = None,
        sample_weight: Weights | None = None,
    ) -> Self:
        """Learn from more rows; any split of a table in parts gives what `fit` gives, to rounding.

        Parameters
        ----------
        X : array, sparse matrix, list or data frame of shape (n_samples, n_features)
            More rows of the same columns.
        y : array-like of shape (n_samples,)
            The class of each row; new classes may appear at any time.
        classes : array-like, default=None
            Classes that may appear; not needed.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : object
            The updated estimator.

        """
        source, labels, weight = labelled_rows(X, y, sample_weight, type(self).__name__)
        found, codes = encode_labels(labels, classes)
        if not hasattr(self, "model_"):
            schema = self._schema(source)
            spec = self._spec(schema, source)
            self._refuse_unmergeable(spec, schema)
            data = LocalDataset(schema, schema.encode(source), codes, weight)
            self._install(spec.estimate(spec.summarize(data, found)))
            return self
        source = self._aligned(source)
        spec, seen = self._grown(source)
        if self.model_.tuning is not None:
            self._refuse_unmergeable(self._spec(self.model_.schema, source), self.model_.schema)
        schema = self._schema(source, _known_kinds(self.model_.schema))
        data = LocalDataset(schema, schema.encode(source), codes, weight)
        self._install(spec.estimate(seen + spec.summarize(data, found)))
        return self

    def _grown(self, source: Source) -> tuple[GenerativeSpec, ClassStatistics]:
        """Composition and statistics so far, ready for a part that may fill columns empty until now."""
        model = self.model_
        if model.spec is None or model.statistics is None:
            raise ValueError(model.why_not_mergeable)
        empty = {j for j, c in enumerate(model.schema.columns) if c.empty and not c.declared}
        if not empty:
            return model.spec, model.statistics
        merged = model.schema.union(self._schema(source, _known_kinds(model.schema)))
        late = {j for j in empty if not merged.columns[j].empty}
        spec = model.spec.joined_by(self._spec(merged, source), late)
        self._refuse_unmergeable(spec, merged)
        nothing = LocalDataset(merged, merged.encode(source), np.zeros(0, np.int64)).chunk(slice(0, 0))
        return spec, spec.widened(model.statistics.aligned(model.classes, merged), nothing)

    def _refuse_unmergeable(self, spec: GenerativeSpec | None, schema: Schema) -> None:
        reason = None if spec is None else spec.why_not_mergeable(schema)
        if reason:
            raise ValueError(reason)

    def __add__(self, other: Any) -> Self:
        """The estimator fitted to the rows of both."""
        if not isinstance(other, GenerativeEstimator):
            return NotImplemented
        check_is_fitted(self)
        check_is_fitted(other)
        mine, theirs = self.model_, other.model_
        if mine.schema.names != theirs.schema.names:
            mine.schema.union(theirs.schema)  # raises, naming the columns that differ
        if mine.spec is not None and theirs.spec is not None and mine.spec.blocks != theirs.spec.blocks:
            chosen = [m.tuning.choice for m in (mine, theirs) if m.tuning is not None]
            what = (
                f"they chose {chosen[0]} and {chosen[-1]}: set one of these in both"
                if chosen
                else ("fit both with the same settings")
            )
            raise ValueError(
                f"{self} and {other} describe the columns by different families and cannot be added; {what}"
            )
        merged: Self = clone(self)
        merged._install(mine + theirs)
        return merged

    def __radd__(self, other: Any) -> Self:
        """Let `sum(models)` work: it starts from 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def _install(self, model: GenerativeModel) -> None:
        """Take over a finished model; the only place where fitted attributes are set."""
        names = model.schema.names if model.schema.named else None
        install(self, model_=model, classes_=model.classes, **named_columns(len(model.schema), names))

    # -- prediction -------------------------------------------------------------------------------

    def _aligned(self, source: Source) -> Source:
        who = type(self).__name__
        if self.model_.spec is not None:
            warn_of_names(source, self.model_.schema, who)
        return self.model_.schema.align(source, who=who)

    def _dataset(self, X: TableLike, *, reports_unseen: bool = True) -> LocalDataset:
        check_is_fitted(self)
        source = self._aligned(read_table(X))
        data = self.model_.schema.encode(source)
        if reports_unseen:
            self._report_unseen(data)
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
            told += [
                f"column {self.model_.schema.names[block.columns[j]]!r}: {rows[j]} rows with a value that no "
                "class can have"
                for j in np.flatnonzero(rows).tolist()
            ]
        if told:
            warn("; ".join(told) + ": left out", OutsideSupportWarning)

    def _report_unseen(self, data: Encoded) -> None:
        if not data.unseen:
            return
        names = self.model_.schema.names
        treatment = {names[j]: d.unseen for b, d in self.model_.distributions for j in b.columns}
        told = []
        for name, counts in data.unseen.items():
            if name not in treatment:
                continue
            rows = sum(counts.values())
            shown = ", ".join(repr(v) for v in list(counts)[:3]) + (", …" if len(counts) > 3 else "")
            if treatment[name] == "error":
                raise ValueError(
                    f"column {name!r}: category {shown} was not seen in training ({rows} rows); "
                    'pass unknown="marginalize" to leave such cells out, or "smooth"'
                )
            did = "left out" if treatment[name] == "marginalize" else "given the smoothing probability"
            told.append(f"column {name!r}: {rows} rows with a category not seen in training ({shown}): {did}")
        if told:
            warn("; ".join(told), UnseenCategoryWarning)

    def _log_prior(self, priors: ClassPriors | None) -> Floats | None:
        return (
            None if priors is None else Priors(priors).log_prior(np.ones(len(self.classes_)), self.classes_)
        )

    def predict_log_proba(self, X: TableLike, priors: ClassPriors | None = None) -> Floats:
        """Exact log posterior of each class, ln p(class | row), shape (n_samples, n_classes).

        `priors` replaces the class priors for this call: "uniform", numbers in the order of `classes_`,
        or a mapping. Nothing is clipped: a log posterior of −1e5 is reported as such.
        """
        data = self._dataset(X)
        return self.model_.log_posterior(data, self._log_prior(priors))

    def predict_proba(self, X: TableLike, priors: ClassPriors | None = None) -> Floats:
        """Posterior of each class, p(class | row), shape (n_samples, n_classes); each row sums to 1."""
        data = self._dataset(X)
        return self.model_.posterior(data, self._log_prior(priors))

    def predict(self, X: TableLike, priors: ClassPriors | None = None) -> AnyArray:
        """The most probable class of each row; the first of equals."""
        data = self._dataset(X)
        return np.asarray(self.classes_[self.model_.best(data, self._log_prior(priors))])

    def predict_joint_log_proba(self, X: TableLike, priors: ClassPriors | None = None) -> Floats:
        """Log joint density ln p(row, class), shape (n_samples, n_classes)."""
        data = self._dataset(X)
        return self.model_.log_joint(data, self._log_prior(priors))

    def score_samples(self, X: TableLike, priors: ClassPriors | None = None) -> Floats:
        """Log density of each row, ln p(row) = ln Σ_k p(row | k) p(k); low values are odd rows."""
        data = self._dataset(X)
        return self.model_.log_evidence(data, self._log_prior(priors))

    def class_log_density(self, X: TableLike) -> Floats:
        """Log density of each row under each class, ln p(row | class), shape (n_samples, n_classes)."""
        data = self._dataset(X)
        return self.model_.log_density(data)

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def _outside(chunk: Chunk, block: FittedBlock, distribution: Distribution) -> Ints:
    """How many rows of a chunk hold an impossible value, by column of the block."""
    outside = distribution.outside(block.read(chunk))
    return np.asarray(outside.sum(axis=0)).reshape(-1)


def _known_kinds(schema: Schema) -> dict[int, Kind]:
    """The kinds that later parts of the table must keep, by position: declared, or shown by a value."""
    known = (c.declared or not (c.empty or c.ignored) for c in schema.columns)
    return {j: kind for j, (kind, is_known) in enumerate(zip(schema.kinds, known, strict=True)) if is_known}
