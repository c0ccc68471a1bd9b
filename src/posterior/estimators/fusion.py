"""Classifiers that see different columns, made into one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any, Self, Unpack

import numpy as np
from sklearn.base import ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from posterior._types import AnyArray, Floats
from posterior.bayes import decision_scores, given_priors, impossible_classes, impossible_priors
from posterior.decision.fusion import fuse, fusion_parts, fusion_weights, model_weights
from posterior.engines import ScannedTable
from posterior.estimators._sklearn import BaseComposition, routing_enabled
from posterior.estimators.callbacks import CallbackSupport, with_callbacks
from posterior.estimators.classifiers import is_frozen, routed
from posterior.estimators.members import (
    FittedMember,
    HeldOutMembers,
    Member,
    counted_twice,
    frequencies,
    log_of,
    named_as_trained,
    names_only,
    read_members,
    said_by,
)
from posterior.estimators.parameters import (
    Auto,
    Classifier,
    ClassPriors,
    FoldsLike,
    Labels,
    Number,
    Numbers,
    TableLike,
    Weights,
)
from posterior.estimators.scanned_prediction import ScoresScans, Writing, scores_scans
from posterior.estimators.splits import read_folds
from posterior.estimators.state import install, named_columns
from posterior.estimators.table_estimator import warn_of_names
from posterior.estimators.target import counted, read_labels, read_weights, scanned_table
from posterior.estimators.training_rows import refuse_one_reading, sampled_table
from posterior.notices import DataWarning, warn
from posterior.schema import LabelledTable, Source, read_table
from posterior.schema.classes import encode_labels, refuse_one_class
from posterior.schema.select import ColumnSelection
from posterior.schema.sources import names_of


class FusionClassifier(CallbackSupport, ScoresScans, ClassifierMixin, MetaEstimatorMixin, BaseComposition):
    """Combine classifiers of different columns into one posterior; the prior is counted once.

    p(class | x₁ … x_M) ∝ p(class) Π_m [p(class | x_m) / p(class)]^w_m. With weights of one this is Bayes'
    rule for blocks of columns that are independent given the class; of naive Bayes members it is naive Bayes
    on all their columns. Each member's posteriors are first brought from the priors it was trained with to
    the common ones, so that a member with `class_weight="balanced"`, or with priors of its own, fits in.

    Parameters
    ----------
    estimators : list of (name, classifier, columns)
        The members: any classifiers with `predict_proba` or `predict_log_proba`. Columns are a name, a
        position, a list of those, a slice, a boolean mask, a compiled regular expression, or a function that
        takes the table and returns any of these; a member always gets a table, of one column or more.
        A classifier in `sklearn.frozen.FrozenEstimator` is used as it is; where it does not say which class
        priors it was trained with, the class frequencies of the rows of `fit` are taken for them.
    priors : None, "uniform", array-like or mapping, default=None
        Class priors; None uses the class frequencies in training.
    weights : None, "auto", array-like or mapping from name to number, default=None
        Weights of the members: 0 leaves one out, None is one for each. "auto" are those with the smallest
        log loss on rows that the members have not seen, see `posterior.decision.fusion_weights`: members that
        repeat each other then share their say, and those that are too sure have less.
    cv : int, splitter or array-like of shape (n_samples,), default=5
        How rows are held out for weights="auto", for all members alike: a number of folds, a splitter, or
        the fold of each row. For frozen members the rows of `fit` are rows they have not seen.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    estimators_ : list of classifiers
        The fitted members; `named_estimators_` has them by name.
    columns_ : list of tuples of int
        Positions of the columns that each member reads.
    weights_ : ndarray of shape (n_members,)
        Weights of the members.
    priors_ : ndarray of shape (n_classes,)
        Class priors.
    member_priors_ : ndarray of shape (n_members, n_classes)
        Class priors that are in the posteriors of each member.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where the table had any.
    members_, named_estimators_ : list, Bunch
        The fitted members with their columns and priors, and the members by name.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from posterior import FusionClassifier, NaiveBayes
    >>> from posterior.datasets import load_penguins
    >>> penguins = load_penguins().frame.dropna()
    >>> forest = RandomForestClassifier(min_samples_leaf=5, random_state=0)
    >>> model = FusionClassifier(
    ...     [
    ...         ("where", NaiveBayes(), ["island", "sex"]),
    ...         ("size", forest, slice("bill_length_mm", "body_mass_g")),
    ...     ]
    ... )
    >>> round(model.fit(penguins, penguins["species"]).score(penguins, penguins["species"]), 2)
    0.99

    """

    def __init__(
        self,
        estimators: Sequence[tuple[str, Classifier, ColumnSelection]],
        *,
        priors: ClassPriors | None = None,
        weights: Auto | Numbers | Mapping[str, Number] | None = None,
        cv: FoldsLike = 5,
    ) -> None:
        self.estimators = estimators
        self.priors = priors
        self.weights = weights
        self.cv = cv

    _weights_of = staticmethod(fusion_weights)

    # -- settings of members ----------------------------------------------------------------------

    @property
    def _named(self) -> Any:
        """The members without their columns, as scikit-learn's compositions hold them."""
        try:
            return [(name, estimator) for name, estimator, _ in self.estimators]
        except (TypeError, ValueError):
            return self.estimators

    @_named.setter
    def _named(self, pairs: Any) -> None:
        self.estimators = [
            (name, new, columns) for (name, new), (_, _, columns) in zip(pairs, self.estimators, strict=True)
        ]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings; with `deep` also the members by name and theirs, `name__setting`."""
        return dict(self._get_params("_named", deep=deep))

    def set_params(self, **params: Any) -> Self:
        """Change settings, a member (`name=…`) or one of its settings (`name__setting=…`)."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        self._set_params("_named", **params)
        return self

    # -- learning ---------------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: TableLike, y: Labels | None = None, sample_weight: Weights | None = None) -> Self:
        """Fit each member to its columns.

        Parameters
        ----------
        X : array, sparse matrix, list or data frame of shape (n_samples, n_features), or scan
            The columns of all members; what they may hold is up to the members. All rows of a scan train
            them; weights are learnt from rows held out of a sample of 100,000.
        y : array-like of shape (n_samples,)
            The class of each row; a scan names its class column.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight 2 is the row twice, weight 0 the row not at all. Every member must take weights then.

        Returns
        -------
        self : object
            The fitted estimator.

        """
        scan, seen = None, None
        if isinstance(X, ScannedTable):
            scan = scanned_table(X, y, sample_weight, type(self).__name__)
            refuse_one_reading(scan, type(self).__name__)
            table = sampled_table(scan)
            seen = scan.class_weights / scan.class_weights.sum()
            source, labels, weight = table.source, table.labels, table.weight
        else:
            source = read_table(X)
            labels = read_labels(y, source.n_rows, type(self).__name__)
            weight = read_weights(sample_weight, labels)
            table = LabelledTable.of(*counted(source, labels, weight))
        refuse_one_class(table.classes)
        members = self._members(table)
        given = self._given_weights([member.name for member in members])
        seen = frequencies(table) if seen is None else seen
        priors = seen if self.priors is None else given_priors(self.priors, table.classes, "None, ")
        folds = None
        if given is None and not all(is_frozen(member.estimator) for member in members):
            folds = read_folds(self.cv, encode_labels(labels)[1], weight)
            folds = folds if weight is None else folds.take(np.flatnonzero(weight))
        fitted, weights = [member.fitted(table, scan) for member in members], given
        if weights is None:
            held_out = HeldOutMembers.of(members, fitted, table, folds, priors, seen)
            weights = held_out.weights(self._weights_of)
        self._install(*self._kept(fitted, weights), table.source, table.classes, priors)
        if given is not None:
            self._report(fitted, given, names_of(source))
        return self

    def _kept(self, members: list[FittedMember], weights: Floats) -> tuple[list[FittedMember], Floats]:
        """The members that stay, and their weights: all."""
        return members, weights

    def _report(self, members: list[FittedMember], weights: Floats, names: Sequence[str]) -> None:
        """Warn of columns that count twice."""
        twice = counted_twice(members, weights, names)
        if twice:
            warn(twice, DataWarning)

    def _members(self, table: LabelledTable) -> list[Member]:
        """The members with their columns, and with the weights of the rows where they take them."""
        members = read_members(self._entries(), table.source, signature(type(self)).parameters)
        if table.weight is None:
            return members
        if routing_enabled():
            asked = process_routing(self, "fit", sample_weight=table.weight)
            return [replace(member, fit_params=dict(asked[member.name].fit)) for member in members]
        out = []
        for member in members:
            with said_by(member.name):
                params = routed(self, member.estimator, table.weight, {})
            out.append(replace(member, fit_params=params))
        return out

    def _entries(self) -> Any:
        """The members as (name, classifier, columns)."""
        return self.estimators

    def _given_weights(self, names: list[str]) -> Floats | None:
        """The weights as given, in the order of the members; None where they are to be learnt."""
        given = self.weights
        if given is None:
            return np.ones(len(names))
        if isinstance(given, str):
            if given != "auto":
                raise ValueError(f'weights must be None, "auto", numbers or a mapping, found {given!r}')
            return None
        if isinstance(given, Mapping):
            if set(given) != set(names):
                raise ValueError(f"weights must name every member once, {names}; found {list(given)}")
            given = [given[name] for name in names]
        return model_weights(given, len(names))

    def _install(
        self, members: list[FittedMember], weights: Floats, source: Source, classes: AnyArray, priors: Floats
    ) -> None:
        """Take over what was learnt; the only place where fitted attributes are set."""
        install(
            self,
            members_=members,
            _table=names_only(source, {j for member in members for j in member.columns}),
            classes_=classes,
            priors_=priors,
            weights_=weights,
            **named_columns(source.n_columns, source.names),
        )

    def _restored(self) -> str:
        """Set what follows from the attributes in a model file; what is impossible about them, in words."""
        self.__dict__.update(
            named_columns(self._table.n_inputs, self._table.inputs if self._table.named else None)
        )
        members, weights = self.members_, self.weights_
        proper = weights.shape == (len(members),) and ((weights >= 0) & (weights < np.inf)).all()
        each = (member.misfit(self.classes_, self.n_features_in_) for member in members)
        return (
            impossible_classes(self.classes_)
            or impossible_priors(self.priors_, len(self.classes_))
            or ("" if members and proper else "other weights than members")
            or next(filter(None, each), "")
        )

    # -- prediction -------------------------------------------------------------------------------

    def _log_posteriors(self, X: Any) -> list[Floats]:
        """Log posteriors of each member under the common priors; nothing is asked of one of weight 0."""
        check_is_fitted(self)
        source, who = read_table(X), type(self).__name__
        warn_of_names(source, self._table, who)
        source, prior = self._table.align(source, who=who), log_of(self.priors_)
        source = named_as_trained(source, self._table)
        return [
            member.log_posterior(source, self.priors_) if weight > 0 else np.tile(prior, (source.n_rows, 1))
            for member, weight in zip(self.members_, self.weights_, strict=True)
        ]

    def _fused(self, X: TableLike) -> Floats:
        return fuse(self._log_posteriors(X), log_of(self.priors_), weights=self.weights_)

    @scores_scans
    def predict_log_proba(self, X: TableLike, **writing: Unpack[Writing]) -> Floats:
        """Log posterior of each class, (n_samples, n_classes).

        A row that the members leave no class, since one rules out what another allows, gets the priors.
        """
        return self._fused(X)

    @scores_scans
    def decision_function(self, X: TableLike, **writing: Unpack[Writing]) -> Floats:
        """Log posteriors; with two classes the log odds of the second against the first, (n_samples,)."""
        return decision_scores(self._fused(X))

    @scores_scans
    def predict_proba(self, X: TableLike, **writing: Unpack[Writing]) -> Floats:
        """Posterior of each class, (n_samples, n_classes); each row sums to 1."""
        return np.exp(self._fused(X))

    @scores_scans
    def predict(self, X: TableLike, **writing: Unpack[Writing]) -> AnyArray:
        """The most probable class of each row; the first of equals."""
        best = self._fused(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def parts(self, X: TableLike) -> Floats:
        """What each member adds for each class, (n_samples, n_members, n_classes).

        Its weight times ln p(class | its columns) − ln p(class). With the log priors these add up to the log
        posteriors, but for a constant of the row; the difference of two classes is what the member adds to
        their log odds.
        """
        logs = self._log_posteriors(X)
        return fusion_parts(logs, log_of(self.priors_), weights=self.weights_).transpose(1, 0, 2)

    # -- what was learnt --------------------------------------------------------------------------

    @property
    def estimators_(self) -> list[Any]:
        """The fitted members."""
        return [member.model for member in self.members_]

    @property
    def named_estimators_(self) -> Any:
        """The fitted members by name."""
        return Bunch(**{member.name: member.model for member in self.members_})

    @property
    def columns_(self) -> list[tuple[int, ...]]:
        """Positions of the columns that each member reads."""
        return [member.columns for member in self.members_]

    @property
    def member_priors_(self) -> Floats:
        """Class priors that are in the posteriors of each member, (n_members, n_classes)."""
        return np.array([member.priors for member in self.members_])

    # -- scikit-learn's conventions ---------------------------------------------------------------

    def get_metadata_routing(self) -> Any:
        """Which metadata `fit` takes, and which its members ask for."""
        router = MetadataRouter(owner=self).add_self_request(self)
        for name, estimator in self._named:
            router.add(**{name: estimator}, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            inputs = [get_tags(estimator).input_tags for _, estimator in self._named]
        except (AttributeError, TypeError, ValueError):
            return tags  # `fit` will say what is wrong with the members
        for name in ("allow_nan", "sparse", "string", "categorical"):
            setattr(tags.input_tags, name, all(getattr(each, name) for each in inputs))
        return tags
