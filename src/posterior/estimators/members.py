"""The members of a fusion: classifiers with their columns, fitted, and held out."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
from sklearn.base import clone

from posterior._text import first_true, listed
from posterior._types import AnyArray, Floats, Ints
from posterior.bayes import impossible_priors
from posterior.decision.priors import effective_priors, shift_priors
from posterior.estimators.callbacks import fit_inside
from posterior.estimators.classifiers import (
    impossible_model,
    is_frozen,
    log_posterior_of,
    training_priors,
    weight_taken,
)
from posterior.estimators.held_out import held_out_scores
from posterior.estimators.state import RefusedError
from posterior.estimators.table_estimator import takes_tables
from posterior.estimators.training_rows import fit_elsewhere
from posterior.math import are_places
from posterior.schema import Column, Folds, LabelledTable, Schema, Source, read_table
from posterior.schema.decode import table_of
from posterior.schema.select import resolve
from posterior.schema.sources import ArraySource, FrameSource, SparseSource, names_of


def frequencies(table: LabelledTable, rows: Any = slice(None)) -> Floats:
    """Class frequencies of some of the rows."""
    weight = None if table.weight is None else table.weight[rows]
    return effective_priors(table.labels[rows], sample_weight=weight, classes=table.classes)


@dataclass(frozen=True, eq=False)
class FittedMember:
    """A fitted classifier, its columns, and the class priors that are in its posteriors."""

    name: str
    model: Any
    columns: tuple[int, ...]
    priors: Annotated[Floats, "K share"]

    def misfit(self, classes: AnyArray, n_features: int) -> str:
        """What is no member of a fusion of these classes and so many columns, in words."""
        if wrong := impossible_model(self.model) or impossible_priors(self.priors, len(classes)):
            return wrong
        own = np.array_equal(self.model.classes_, classes)
        return first_true(
            {
                "members of different classes": not own,
                "a member that reads a column twice": not are_places(self.columns, n_features),
                "a member that reads other columns": self.model.n_features_in_ != len(self.columns),
            }
        )

    def rows(self, source: Source) -> Any:
        """The rows of a table as the classifier takes them."""
        return rows_of_member(self.model, source, self.columns)

    def log_posterior(self, source: Source, priors: Floats) -> Floats:
        """Its log posteriors under common priors, (n, K)."""
        with said_by(self.name):
            logs = log_posterior_of(self.model, self.rows(source))
            return shift_priors(logs, self.priors, priors)


@dataclass(frozen=True, eq=False)
class Member:
    """A classifier to be fitted to some columns of a table."""

    name: str
    estimator: Any
    columns: tuple[int, ...]
    fit_params: dict[str, Any] = field(default_factory=dict)

    def fitted(self, table: LabelledTable, scan: Any = None) -> FittedMember:
        """Fit a clone, to all rows of a `scan` if the table is a sample of one; a frozen one is as it is."""
        with said_by(self.name):
            model, labels = self.estimator, table.labels
            if not is_frozen(model) and scan is not None:
                model = fit_elsewhere(model, scan.selected([scan.names[j] for j in self.columns]))
            elif not is_frozen(model):
                rows = rows_of_member(model, table.source, self.columns)
                model = fit_inside(clone(model), rows, labels, **self.fit_params)
            self._refuse_model(model, table.classes)
            weight = table.weight if is_frozen(model) else weight_taken(self.estimator, self.fit_params)
            return FittedMember(
                self.name, model, self.columns, _priors_of(model, labels, weight, table.classes)
            )

    def _refuse_model(self, model: Any, classes: AnyArray) -> None:
        who = f"member {self.name!r} ({type(self.estimator).__name__})"
        if not hasattr(model, "classes_"):
            raise TypeError(f"{who} has no classes_ after fitting; a member must be a classifier")
        if not (hasattr(model, "predict_log_proba") or hasattr(model, "predict_proba")):
            raise TypeError(
                f"{who} gives no probabilities (no predict_proba), which is what is fused; use another "
                "classifier, or put scikit-learn's CalibratedClassifierCV around it"
            )
        if not np.array_equal(model.classes_, classes):
            raise ValueError(
                f"{who} knows the classes {np.asarray(model.classes_).tolist()}, and y holds "
                f"{classes.tolist()}; all members must know the same classes, those of y"
            )
        expected = getattr(model, "n_features_in_", len(self.columns))
        if is_frozen(model) and expected != len(self.columns):
            raise ValueError(
                f"{who} was fitted to {expected} columns and is given {len(self.columns)}; select the "
                "columns it was fitted to"
            )

    def held_out(
        self, fitted: FittedMember, table: LabelledTable, folds: Folds, priors: Floats, seen: Floats
    ) -> Floats:
        """Log posteriors under common priors of rows that the classifier has not seen, (n, K).

        A classifier of some folds has the class frequencies of these folds as priors, unless it was given
        others or has a class weight; those of each fold are replaced. `seen` are the class frequencies of the
        rows that it was fitted to.
        """
        if is_frozen(self.estimator):
            return fitted.log_posterior(table.source, priors)
        with said_by(self.name):
            part = replace(table, X=rows_of_member(self.estimator, table.source, self.columns))
            logs = held_out_scores(self.estimator, part, folds, self.fit_params)
        observed = np.allclose(fitted.priors, seen, rtol=1e-9, atol=0)
        taken = weight_taken(self.estimator, self.fit_params)
        for train, test in folds.parts():
            weight = None if taken is None else np.asarray(taken)[train]
            old = (
                frequencies(table, train)
                if observed
                else _priors_of(fitted.model, table.labels[train], weight, table.classes)
            )
            new = np.where(old > 0, priors, 0.0)
            if new.any():
                logs[test] = shift_priors(logs[test], old, new / new.sum())
        return logs


def _priors_of(model: Any, y: AnyArray, weight: Any, classes: AnyArray) -> Floats:
    """The class priors in the posteriors of a member."""
    try:
        return training_priors(model, y, weight, classes)
    except RefusedError as error:
        raise ValueError(
            f"{str(error).split('; pass')[0]}, and a fusion must know them to count the prior once; leave "
            "out class_weight, and give the fusion its priors"
        ) from error


@dataclass(frozen=True, eq=False)
class HeldOutMembers:
    """Log posteriors of members, under common priors, of rows that they have not seen, with their classes."""

    names: list[str]
    log_posteriors: list[Floats]
    codes: Ints
    weight: Floats | None
    log_prior: Floats

    @classmethod
    def of(
        cls,
        members: Sequence[Member],
        fitted: Sequence[FittedMember],
        table: LabelledTable,
        folds: Folds | None,
        priors: Floats,
        seen: Floats | None = None,
    ) -> "HeldOutMembers":
        """The rows of a table by folds, which are None where all members are frozen.

        `seen` are the class frequencies of all rows, where the table is a sample of them.

        Rows whose class no member could know, since all rows of it are in the same fold, do not count; nor do
        those of a class whose prior is zero.
        """
        counts = priors[table.codes] > 0
        if folds is not None:
            counts &= ~folds.unknowable(table.codes)
        else:
            folds = Folds(np.zeros(len(counts), dtype=np.int64), 1)
        if not counts.any():
            raise ValueError(
                'weights="auto" is learnt from rows whose class has rows in other folds, and there are none; '
                "use more rows, or give the weights"
            )
        seen = frequencies(table) if seen is None else seen
        pairs = zip(members, fitted, strict=True)
        logs = [member.held_out(f, table, folds, priors, seen)[counts] for member, f in pairs]
        weight = None if table.weight is None else table.weight[counts]
        names = [member.name for member in members]
        return cls(names, logs, table.codes[counts], weight, log_of(priors))

    def weights(self, learn: Callable[..., Floats]) -> Floats:
        """The weights of the members that `fusion_weights`, or its like, learns from the rows."""
        return learn(
            self.log_posteriors, self.codes, self.log_prior, sample_weight=self.weight, names=self.names
        )


def log_of(priors: Floats) -> Floats:
    """Logs of priors, −inf for zero."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(priors))


@contextmanager
def said_by(name: str) -> Iterator[None]:
    """Say in which member an error came up."""
    try:
        yield
    except Exception as error:
        error.add_note(f"in member {name!r} of the fusion")
        raise


def read_members(estimators: Any, source: Source, reserved: Collection[str]) -> list[Member]:
    """The members as a user lists them, checked, with the positions of their columns."""
    if not isinstance(estimators, list | tuple) or not estimators:
        raise ValueError(f"estimators must be a list of (name, classifier, columns), found {estimators!r}")
    members: list[Member] = []
    for entry in estimators:
        if not isinstance(entry, list | tuple) or len(entry) != 3:
            raise ValueError(f"estimators must be a list of (name, classifier, columns), found {entry!r}")
        name, estimator, columns = entry
        _refuse_name(name, [member.name for member in members], reserved)
        if isinstance(estimator, type) or not hasattr(estimator, "fit"):
            made = f"; write {estimator.__name__}()" if isinstance(estimator, type) else ""
            raise TypeError(f"member {name!r} must be a classifier, found {estimator!r}{made}")
        members.append(Member(name, estimator, _positions(name, columns, source)))
    return members


def _refuse_name(name: Any, taken: Sequence[str], reserved: Collection[str]) -> None:
    if not isinstance(name, str) or not name or "__" in name:
        raise ValueError(
            "the name of a member must be a string without two underscores in a row, which part a member "
            f"from its settings; found {name!r}"
        )
    if name in taken:
        raise ValueError(f"two members are named {name!r}; give each its own name")
    if name in reserved:
        raise ValueError(f"a member is named {name!r}, as is a setting of the fusion; choose another name")


def _positions(name: str, columns: Any, source: Source) -> tuple[int, ...]:
    try:
        found = resolve(columns, names_of(source), source)
    except (TypeError, ValueError) as error:
        raise type(error)(f"member {name!r}: {error}") from error
    if not found:
        raise ValueError(
            f"member {name!r} reads no column: {columns!r} selects none of {listed(names_of(source), 10)}"
        )
    return found


def take(source: Source, columns: Sequence[int]) -> Any:
    """Some columns of a table, as a table of the same kind."""
    if isinstance(source, FrameSource):
        where = {label: j for j, label in enumerate(source.frame.columns)}
        return source.frame[:, [where[source.labels[j]] for j in columns]].to_native()
    whole = list(columns) == list(range(source.n_columns))
    if isinstance(source, SparseSource):
        return source.native if whole else source.native.tocsr()[:, list(columns)]
    array = source.array if isinstance(source, ArraySource) else np.asarray(source.native)
    return array if whole else array[:, list(columns)]


def rows_of_member(estimator: Any, source: Source, columns: Sequence[int]) -> Any:
    """The columns of a member; one of ours that reads all gets the table that was read for all of them."""
    whole = list(columns) == list(range(source.n_columns))
    return source if whole and takes_tables(estimator) else take(source, columns)


def named_as_trained(source: Source, table: Schema) -> Source:
    """An aligned table with column names if that of training had them, and without if it had not.

    So that no member warns of names again, which the fusion has done.
    """
    if (source.names is not None) == table.named:
        return source
    if isinstance(source, FrameSource):
        return read_table(source.frame.to_numpy())
    if isinstance(source, ArraySource):
        columns = {name: source.array[:, j] for j, name in enumerate(table.names)}
        return read_table(table_of(columns, table.container))
    return source


def names_only(source: Source, used: Collection[int]) -> Schema:
    """A schema that knows the names of the columns, and leaves what they hold to others."""
    columns = tuple(
        Column(name, "continuous", "left to the members", ignored=j not in used)
        for j, name in enumerate(names_of(source))
    )
    return Schema(columns, source.names is not None, source.container, source.labels)


def counted_twice(members: Sequence[FittedMember], weights: Floats, names: Sequence[str]) -> str:
    """Say which columns several members read with more than one vote in all; nothing where none are."""
    readers: dict[int, list[int]] = {}
    for m, member in enumerate(members):
        for j in member.columns if weights[m] > 0 else ():
            readers.setdefault(j, []).append(m)
    shared = {j: who for j, who in readers.items() if len(who) > 1 and weights[who].sum() > 1}
    if not shared:
        return ""
    who = sorted({m for each in shared.values() for m in each})
    return (
        f"columns {listed([names[j] for j in shared], 10)} are read by more than one of the members "
        f"{listed([members[m].name for m in who], 10)}, and what they say is counted more than once, since "
        "members are taken as independent given the class; give each column to one member, or let "
        'weights="auto" find how much each should count'
    )
