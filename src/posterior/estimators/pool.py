"""A few models of the same columns, made into one by weights that held-out rows have chosen."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior._types import Bools, Floats, Ints
from posterior.decision.pooling import pool_weights
from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.contributions import Contributions
from posterior.estimators.fusion import FusionClassifier
from posterior.estimators.members import FittedMember, log_of
from posterior.estimators.parameters import (
    Auto,
    Classifier,
    ClassPriors,
    FoldsLike,
    Label,
    Number,
    Numbers,
    TableLike,
)
from posterior.estimators.state import RefusedError
from posterior.schema import Column, Schema, read_table
from posterior.schema.opening import rows_of

# Terms of members that are no feature's.
LEADING = ("prior", "baseline")


class PoolClassifier(FusionClassifier):
    """Combine several models of the same columns: a weighted sum of their log odds (log-linear pool).

    p(class | x) ∝ p(class) Π_m [p_m(class | x) / p(class)]^w_m, with weights that are not negative (Genest &
    Zidek 1986). They are those with the smallest log loss on rows that the models have not seen, with a
    normal prior about the best model alone (see `posterior.decision.pool_weights`): the pool of few rows is
    that model. Members of no weight are dropped; five at most are kept. Log odds are weighted sums of
    those of the members, and so are `contributions`.

    `FusionClassifier` is for models that see different columns.

    Parameters
    ----------
    estimators : list of (name, classifier)
        The members: any classifiers with `predict_proba` or `predict_log_proba`, each of the whole table. One
        in `sklearn.frozen.FrozenEstimator` is used as it is.
    priors : None, "uniform", array-like or mapping, default=None
        Class priors; None uses the class frequencies in training.
    weights : "auto", None, array-like or mapping from name to number, default="auto"
        Weights of the members, none negative; "auto" learns them, None is one for each.
    cv : int, splitter or array-like of shape (n_samples,), default=5
        How rows are held out for weights="auto", for all members alike: a number of folds, a splitter, or
        the fold of each row.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    estimators_ : list of classifiers
        The fitted members that have a weight; `named_estimators_` has them by name.
    weights_ : ndarray of shape (n_members,)
        Their weights.
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
    columns_ : list of tuple
        Positions of the columns that each member reads.
    schema_ : Schema
        How each column was read, by the first member that looks at it; print it.

    Examples
    --------
    >>> from posterior import LDA, QDA, NaiveBayes, PoolClassifier
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = PoolClassifier([("lda", LDA()), ("qda", QDA()), ("naive", NaiveBayes())]).fit(X, y)
    >>> {name: round(float(w), 2) for name, w in zip(model.named_estimators_, model.weights_)}
    {'lda': 1.12, 'qda': 0.36}

    """

    approach = "pool"
    _weights_of = staticmethod(pool_weights)

    def __init__(
        self,
        estimators: Sequence[tuple[str, Classifier]],
        *,
        priors: ClassPriors | None = None,
        weights: Auto | Numbers | Mapping[str, Number] | None = "auto",
        cv: FoldsLike = 5,
    ) -> None:
        self.estimators: Any = estimators
        self.priors = priors
        self.weights = weights
        self.cv = cv

    @property
    def _named(self) -> Any:
        return self.estimators

    @_named.setter
    def _named(self, pairs: Any) -> None:
        self.estimators = pairs

    def _entries(self) -> Any:
        given = self.estimators
        if not isinstance(given, list | tuple) or not given:
            raise ValueError(f"estimators must be a list of (name, classifier), found {given!r}")
        for entry in given:
            if not isinstance(entry, list | tuple) or len(entry) != 2:
                raise ValueError(f"estimators must be a list of (name, classifier), found {entry!r}")
        return [(name, estimator, slice(None)) for name, estimator in given]

    def _kept(self, members: list[FittedMember], weights: Floats) -> tuple[list[FittedMember], Floats]:
        """The members that have a weight; all where none has, which leaves the priors."""
        chosen = weights > 0
        if not chosen.any():
            return members, weights
        return [member for member, kept in zip(members, chosen, strict=True) if kept], weights[chosen]

    def _report(self, members: list[FittedMember], weights: Floats, names: Sequence[str]) -> None:
        """Members of a pool are meant to read the same columns."""

    # -- what was learnt --------------------------------------------------------------------------

    @property
    def schema_(self) -> Schema:
        """How each column was read, and why, by the first member that looks at it; print it."""
        check_is_fitted(self)
        schemas = [getattr(model, "schema_", None) for model in self.estimators_]
        known: list[Schema] = [schema for schema in schemas if schema is not None]
        if not known:
            raise RefusedError("no member of the pool says how it reads columns; those of posterior do")
        alike = [schema for schema in known if schema.names == known[0].names]
        return replace(
            known[0], columns=tuple(_first_used(each) for each in zip(*_columns(alike), strict=True))
        )

    # -- what each column adds --------------------------------------------------------------------

    def contributions(
        self, X: TableLike, of: Label | None = None, against: Label | None = None, *, words: bool = False
    ) -> Contributions:
        """Log odds of two classes by feature, adding up to the total: weighted sums of the members'.

        By default each row's most probable class against its runner-up; with one class given, the best other
        one. The prior is counted once, and the baseline is what members say of no feature. `words` splits
        texts by their words, where members do so.

        >>> from posterior import GaussianNB, LDA, PoolClassifier
        >>> X, y = [[1.0, 7.0], [2.0, 8.0], [3.0, 7.0], [4.0, 8.5]], ["a", "a", "b", "b"]
        >>> pool = PoolClassifier([("lda", LDA()), ("naive", GaussianNB())], weights=[0.5, 0.5]).fit(X, y)
        >>> print(pool.contributions([[1.5, 7.5]]))
        log odds of a against b: +89.23
          prior     +0.00
          baseline  +0.00
          x0        +98.00
          x1        -8.77
        """
        logs = self.predict_log_proba(X)
        nothing = np.zeros((*logs.shape[:1], 0, logs.shape[1]))
        asked = Contributions.between((), nothing, logs, self.classes_, of, against)
        source = self._table.align(read_table(X), who=type(self).__name__)
        first, second = (np.searchsorted(self.classes_, labels) for labels in (asked.of, asked.against))
        prior = log_of(self.priors_)
        terms: dict[str, Floats] = {"prior": prior[first] - prior[second], "baseline": np.zeros(len(logs))}
        there: dict[str, Bools] = {}
        for rows, k, j in _pairs(first, second):
            part = rows_of(source, rows)
            for member, weight in zip(self.members_, self.weights_.tolist(), strict=True):
                found = _member_contributions(member, part, self.classes_[k], self.classes_[j], words)
                own = log_of(member.priors)
                terms["baseline"][rows] -= weight * (own[k] - own[j])
                for t, term in enumerate(found.terms):
                    name = "baseline" if term in LEADING else term
                    terms.setdefault(name, np.zeros(len(logs)))[rows] += weight * found.values[:, t]
                    seen = True if found.there is None else found.there[:, t]
                    there.setdefault(name, np.zeros(len(logs), np.bool_))[rows] |= seen
        return replace(
            asked,
            terms=tuple(terms),
            values=np.stack(list(terms.values()), axis=1),
            there=np.stack([there.get(name, np.ones(len(logs), np.bool_)) for name in terms], axis=1)
            if words
            else None,
        )


def _pairs(first: Ints, second: Ints) -> Iterator[tuple[Ints, int, int]]:
    """The rows whose log odds are of the same two classes, and these classes."""
    for k, j in sorted(set(zip(first.tolist(), second.tolist(), strict=True))):
        yield np.flatnonzero((first == k) & (second == j)), k, j


def _member_contributions(
    member: FittedMember, rows: Any, of: Any, against: Any, words: bool
) -> Contributions:
    model = member.model
    if not hasattr(model, "contributions"):
        raise ValueError(
            f"member {member.name!r} ({type(model).__name__}) cannot be split by feature, and so the pool "
            "cannot; naive Bayes, LDA, QDA, block models and logistic regression can"
        )
    by_word = {"words": True} if words and isinstance(model, GenerativeEstimator | PoolClassifier) else {}
    found: Contributions = model.contributions(member.rows(rows), of=of, against=against, **by_word)
    return found


def _columns(schemas: Sequence[Schema]) -> list[list[Column]]:
    return [list(schema.columns) for schema in schemas]


def _first_used(columns: Sequence[Column]) -> Column:
    """What a column is to the first that does not ignore it."""
    return next((column for column in columns if not column.ignored), columns[0])
