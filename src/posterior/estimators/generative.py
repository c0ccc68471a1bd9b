"""Any composition of families, and naive Bayes as its simplest case."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np

from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.parameters import Auto, ClassPriors, FamilyLike, FoldsLike, Kinds, Labels, Selection
from posterior.families import BagOfWords, Bernoulli, Categorical, Distribution, Family, Normal, Poisson
from posterior.families.categorical import Unknown
from posterior.families.from_scipy import family_of
from posterior.generative import (
    NOT_WORTH_KEEPING,
    WITHOUT_EFFECT,
    Block,
    FittedBlock,
    GenerativeModel,
    GenerativeSpec,
)
from posterior.generative.priors import Priors
from posterior.schema import Column, Schema, Source
from posterior.schema.columns import all_places
from posterior.schema.select import ColumnSelection, resolve
from posterior.schema.sources import names_of
from posterior.stats.base import Problem


def blocks_of(
    columns: Sequence[int], family: Family[Any], leave_out: frozenset[Problem] = WITHOUT_EFFECT
) -> tuple[Block, ...]:
    """The block of these columns, or one for each where the family describes one column only."""
    together = all_places(len(columns)) if columns == range(len(columns)) else tuple(columns)
    groups = [(j,) for j in columns] if family.alone else [together]
    return tuple(Block(group, family, leave_out) for group in groups)


def by_kind(
    schema: Schema, columns: Sequence[int], families: Mapping[str, Family[Any]]
) -> tuple[tuple[Block, ...], tuple[int, ...]]:
    """The blocks of each kind of column, and the columns without a family, which are those without a value.

    Kinds that the user declared keep even identifier-like columns.
    """
    groups = schema.places_by(_kind_and_declared, columns)
    for (kind, _), found in groups.items():
        if kind in families:
            refuse_kind(families[kind], [schema.columns[found[0]]])  # the others are of the same kind
    blocks = tuple(
        block
        for (kind, declared), found in groups.items()
        if kind in families
        for block in blocks_of(found, families[kind], WITHOUT_EFFECT if declared else NOT_WORTH_KEEPING)
    )
    return blocks, tuple(j for (kind, _), found in groups.items() if kind not in families for j in found)


def _kind_and_declared(column: Column) -> tuple[str, bool]:
    return "empty" if column.empty and not column.declared else column.kind, column.declared


def with_families(
    schema: Schema,
    source: Source,
    kinds: Any,
    pairs: Sequence[tuple[Any, Family[Any]]],
    only: set[int] | None = None,
) -> Schema:
    """The schema in which columns have the kind that the families named for them read, unless declared."""
    wanted = [
        (j, kind)
        for columns, family in pairs
        for j in schema.resolve(columns, source)
        if (kind := family.kind_for(schema.columns[j].kind))
        and not schema.columns[j].declared
        and schema.columns[j].kind != kind
        and not (kind == "categorical" and schema.columns[j].kind == "binary")
    ]
    if not wanted:
        return schema
    if schema.readings:  # what was declared of the user's columns, of those that they are read as
        declared = [(j, column.kind) for j, column in enumerate(schema.columns) if column.declared]
        used = {j for j, column in enumerate(schema.columns) if not column.ignored}
        return Schema.of(schema.read(source), [*declared, *wanted], used)
    given = kinds.items() if isinstance(kinds, Mapping) else kinds or ()
    return Schema.of(source, [*given, *wanted], only)


def refuse_overlap(schema: Schema, where: Sequence[int], taken: dict[int, Any], entry: Any) -> None:
    """Mark columns as taken by an entry of the user's list; refuse one that two entries name."""
    for j in where:
        if j in taken:
            raise ValueError(
                f"column {schema.names[j]!r} is named twice, by {taken[j]!r} and {entry!r}; "
                "give it to one family only"
            )
        taken[j] = entry


def refuse_kind(family: Family[Any], columns: Sequence[Column]) -> None:
    """The error for a family that cannot read a column."""
    for column in columns:
        if column.kind not in family.kinds and not (column.empty and not column.declared):
            wanted = " or ".join(sorted(family.kinds))
            raise ValueError(
                f"column {column.name!r} is {column.kind} ({column.reason}), and {type(family).__name__} "
                f"reads {wanted} columns; choose another family, or declare kinds={{{column.name!r}: …}}"
            )


class GenerativeClassifier(GenerativeEstimator):
    """Generative classifier from any families over blocks of columns, by Bayes' rule.

    Blocks of columns are independent given the class; inside a block the family decides.

    Parameters
    ----------
    features : "auto" or list of (columns, family), default="auto"
        Which family describes which columns. Columns are a name, a position, a list of those, a slice,
        a compiled regular expression or a selector function. A one-column family given several columns
        takes them as independent; `MultivariateNormal` and `Categorical(joint=True)` take them together.
        "auto" is naive Bayes by kind: Normal, Bernoulli, Categorical, Poisson, BagOfWords.
    kinds : mapping, default=None
        Kinds of columns that differ from what would be inferred: {"year": "categorical"}.
    remainder : {"drop", "auto", "error"}, default="drop"
        What to do with columns that `features` does not name: leave them out unread (they may be
        absent in prediction), describe them by kind, or refuse.
    priors : None, "uniform", array-like or mapping, default=None
        Class priors; None uses the class frequencies in training.
    prior_smoothing : float, default=0.0
        Pseudo-count added to every class.
    cv : int, splitter, array-like of shape (n_samples,) or "loo", default=10
        Folds of the cross-validation that chooses "auto" settings, as in `k_fold_log_proba`; "loo" is exact
        leave-one-out, for models that have a formula.
    selection : {"best", "one_se"}, default="best"
        Choose the settings with the smallest held-out log loss, or the simplest ones within one standard
        error of it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where the table had any.
    model_ : GenerativeModel
        The fitted model.
    tuning_ : data frame
        Log loss of every candidate, where a setting of a family was "auto".
    best_params_ : dict
        The values chosen for the settings that were "auto", by name.
    priors_ : ndarray of shape (n_classes,)
        Class priors, in the order of `classes_`.
    log_likelihood_, aic_, bic_ : float
        Joint log-likelihood of the training rows, Σ ln p(row, class), and Akaike's and Schwarz's
        criteria.
    n_parameters_ : int
        Number of free parameters.
    n_iter_, log_likelihood_path_ : int, ndarray of shape (n_iter_ + 1,)
        Iterations of EM (0 without missing values), and the log-likelihood before and after each.
    schema_, notes_ : Schema, tuple of Note
        How each column was read, and what was noticed about the columns; print them.
    statistics_ : ClassStatistics or None
        The sums that the model was estimated from, to which more rows can be added.

    Examples
    --------
    >>> from posterior import GenerativeClassifier
    >>> from posterior.datasets import load_penguins
    >>> from posterior.families import Categorical, MultivariateNormal
    >>> X, y = load_penguins().X.dropna(), load_penguins().frame.dropna()["species"]
    >>> size = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    >>> model = GenerativeClassifier(features=[(size, MultivariateNormal(tied=1)), ("sex", Categorical())])
    >>> round(model.fit(X, y).score(X, y), 2)
    0.99

    """

    def __init__(
        self,
        features: Auto | Sequence[tuple[ColumnSelection, FamilyLike]] = "auto",
        *,
        kinds: Kinds | None = None,
        remainder: Literal["drop", "auto", "error"] = "drop",
        priors: ClassPriors | None = None,
        prior_smoothing: float = 0.0,
        cv: FoldsLike | Literal["loo"] = 10,
        selection: Selection = "best",
    ) -> None:
        self.features = features
        self.kinds = kinds
        self.remainder = remainder
        self.priors = priors
        self.prior_smoothing = prior_smoothing
        self.cv = cv
        self.selection = selection

    def _schema(self, source: Source, kinds: Kinds | None = None) -> Schema:
        if isinstance(self.features, str):
            return Schema.of(source, self.kinds if kinds is None else kinds)
        only = self._only(source)
        schema = Schema.of(source, self.kinds if kinds is None else kinds, only)
        return schema if kinds is not None else with_families(schema, source, self.kinds, self._pairs(), only)

    def _only(self, source: Source) -> set[int] | None:
        """The columns to be read at all: those that `features` names, unless the rest is asked for."""
        if self.remainder != "drop":
            return None
        names = names_of(source)
        return {j for columns, _ in self._pairs() for j in resolve(columns, names, source)}

    def _pairs(self) -> list[tuple[Any, Family[Any]]]:
        pairs = []
        if not isinstance(self.features, list | tuple):
            raise ValueError(
                f"features must be 'auto' or a list of (columns, family), found {self.features!r}"
            )
        for entry in self.features:
            if not isinstance(entry, tuple) or len(entry) != 2:
                raise ValueError(f"features must be a list of (columns, family), found {entry!r}")
            columns, family = entry
            family = family_of(family)
            if not isinstance(family, Family):
                raise ValueError(
                    f"{family!r} is not a family; use one of posterior.families, such as Normal()"
                )
            pairs.append((columns, family))
        return pairs

    def _spec(self, schema: Schema, source: Source) -> GenerativeSpec:
        if isinstance(self.features, str):
            if self.features != "auto":
                raise ValueError(
                    f"features must be 'auto' or a list of (columns, family), found {self.features!r}"
                )
            auto, alone = by_kind(schema, range(len(schema)), default_families())
            return GenerativeSpec(auto, self._priors(), alone)
        blocks: tuple[Block, ...] = ()
        taken: dict[int, Any] = {}
        for i, (columns, family) in enumerate(self._pairs()):
            where = schema.resolve(columns, source)
            refuse_overlap(schema, where, taken, f"features[{i}]")
            refuse_kind(family, [schema.columns[j] for j in where])
            blocks = (*blocks, *blocks_of(where, family))
        rest, alone = self._rest(schema, taken)
        return GenerativeSpec((*blocks, *rest), self._priors(), alone)

    def _rest(self, schema: Schema, taken: Mapping[int, Any]) -> tuple[tuple[Block, ...], tuple[int, ...]]:
        rest = [j for j in range(len(schema)) if j not in taken]
        if self.remainder == "auto":
            return by_kind(schema, rest, default_families())
        if self.remainder == "error" and rest:
            names = [schema.names[j] for j in rest]
            raise ValueError(
                f"features names no family for the columns {names}; add one, or set remainder='drop'"
            )
        if self.remainder not in ("drop", "error"):
            raise ValueError(f"remainder must be 'drop', 'auto' or 'error', found {self.remainder!r}")
        return (), ()

    @classmethod
    def from_distributions(
        cls,
        classes: Labels,
        priors: ClassPriors | None,
        blocks: Sequence[tuple[str | Sequence[str], Distribution]],
    ) -> Self:
        """A fitted classifier from given parameters, without data.

        `classes` are distinct, in any order, which `priors` follow (or are a mapping, or "uniform") and the
        distributions; `blocks` are (columns, distribution) pairs, columns being a name or a list of names.
        Like those of every fitted model, `classes_` are sorted.

        >>> from posterior.families import CategoricalDistribution
        >>> balls = CategoricalDistribution([[4/5, 1/5], [3/5, 2/5]], categories=["blue", "red"])
        >>> boxes = GenerativeClassifier.from_distributions(["B1", "B2"], [2/3, 1/3], [("ball", balls)])
        >>> bool(np.isclose(boxes.predict_proba([["blue"]])[0, 0], 8 / 11))
        True
        """
        labels = np.asarray(classes)
        if len(np.unique(labels)) != len(labels):
            raise ValueError(f"classes must be distinct, found {labels.tolist()}")
        order = np.argsort(labels)
        columns: list[Column] = []
        fitted = []
        for names, distribution in blocks:
            listed: list[Any] = list(names) if isinstance(names, list | tuple) else [names]
            if not all(isinstance(name, str) for name in listed):
                raise ValueError(f"columns are named by strings here, found {listed}")
            if not isinstance(distribution, Distribution):
                raise ValueError(
                    f"block {listed}: {distribution!r} is not a distribution; "
                    "use one of posterior.families, such as NormalDistribution(mean, variance)"
                )
            repeated = [name for name in listed if name in {c.name for c in columns}]
            if repeated:
                raise ValueError(f"column {repeated[0]!r} is named by two blocks; name every column once")
            if distribution.n_classes != len(labels) or distribution.n_columns != len(listed):
                raise ValueError(
                    f"block {listed}: the distribution has {distribution.n_classes} classes and "
                    f"{distribution.n_columns} columns, expected {len(labels)} and {len(listed)}"
                )
            where = tuple(range(len(columns), len(columns) + len(listed)))
            columns += given_columns(listed, distribution)
            reads = {"categorical": "codes", "text": "texts"}.get(distribution.kind, "values")
            fitted.append(FittedBlock(where, distribution.of_classes(order), (), reads))
        given = Priors(priors if priors is not None else "uniform")
        log_prior = given.log_prior(np.ones(len(labels)), labels)[order]
        labels = labels[order]
        model = GenerativeModel(labels, Schema(tuple(columns), named=True), log_prior, tuple(fitted))
        self = cls()
        self._install(model)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def given_columns(names: Sequence[str], distribution: Distribution) -> list[Column]:
    """Columns of a distribution that was built by hand."""
    categories = distribution.categories
    if distribution.kind == "categorical" and categories is None:
        raise ValueError(f"columns {list(names)}: name the categories of the distribution (categories=…)")
    return [
        Column(name, distribution.kind, "given", None if categories is None else categories[j])  # type: ignore[arg-type]
        for j, name in enumerate(names)
    ]


def default_families(
    alpha: float | Auto = 1.0,
    *,
    tied: bool | Auto = False,
    unknown: Unknown = "marginalize",
    variance_rows: float = 10.0,
) -> dict[str, Family[Any]]:
    """The family of each kind of column in naive Bayes."""
    return {
        "continuous": Normal(tied=tied, variance_rows=variance_rows),
        "binary": Bernoulli(alpha=alpha),
        "categorical": Categorical(alpha=alpha, unknown=unknown, hierarchical=True),
        "count": Poisson(alpha=alpha),
        "text": BagOfWords(alpha=alpha),
    }
