"""Naive Bayes without its independence: every column depends on the class and on one other column."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.generative import by_kind
from posterior.estimators.parameters import Auto, ClassPriors, FoldsLike, Kinds, Selection
from posterior.families import BagOfWords, Categorical, Family
from posterior.families import OneDependence as OneDependenceFamily
from posterior.families import TreeAugmented as TreeAugmentedFamily
from posterior.families.levels import NumberLevels
from posterior.generative import NOT_WORTH_KEEPING, WITHOUT_EFFECT, Block, GenerativeSpec
from posterior.schema import Schema, Source

# A column of more categories is described beside the others, as in naive Bayes: hardly a pair was seen twice.
MOST_LEVELS = 100


class _DependenceClassifier(GenerativeEstimator):
    """All columns but texts in one block of levels, texts beside it."""

    _family: ClassVar[Any]

    def __init__(
        self,
        *,
        kinds: Kinds | None = None,
        bins: int = 5,
        cuts: Mapping[Any, Sequence[float]] | None = None,
        class_rows: float | Auto = 3.0,
        pair_rows: float | Auto = 5.0,
        priors: ClassPriors | None = None,
        prior_smoothing: float = 0.0,
        cv: FoldsLike | Literal["loo"] = 10,
        selection: Selection = "best",
    ) -> None:
        self.kinds = kinds
        self.bins = bins
        self.cuts = cuts
        self.class_rows = class_rows
        self.pair_rows = pair_rows
        self.priors = priors
        self.prior_smoothing = prior_smoothing
        self.cv = cv
        self.selection = selection

    def _schema(self, source: Source, kinds: Kinds | None = None) -> Schema:
        return Schema.of(source, self.kinds if kinds is None else kinds)

    def _spec(self, schema: Schema, source: Source) -> GenerativeSpec:
        cut = self._levels(schema)
        together: list[int] = []
        beside: list[int] = []
        for j, column in enumerate(schema.columns):
            alone = (
                column.kind == "text" or column.size > MOST_LEVELS or (column.empty and not column.declared)
            )
            (beside if alone else together).append(j)
        levels = tuple(cut.get(j) for j in together) if cut else None
        family = self._family(self.bins, self.class_rows, self.pair_rows, levels)
        others: dict[str, Family[Any]] = {"text": BagOfWords(), "categorical": Categorical()}
        rest, without = by_kind(schema, beside, others)
        declared = any(schema.columns[j].declared for j in together)
        block = Block(tuple(together), family, WITHOUT_EFFECT if declared else NOT_WORTH_KEEPING)
        return GenerativeSpec((*([block] if together else []), *rest), self._priors(), without)

    def _levels(self, schema: Schema) -> dict[int, NumberLevels]:
        """The levels of the columns whose cuts were given, by position."""
        if self.cuts is not None and not isinstance(self.cuts, Mapping):
            raise ValueError(
                f"cuts must be a mapping from columns to rising numbers, such as {{'age': [18, 65]}}, found "
                f"{self.cuts!r}"
            )
        found = {}
        for key, cuts in (self.cuts or {}).items():
            try:
                numbers = np.array(cuts, dtype=np.float64)
            except (TypeError, ValueError):
                numbers = np.array(np.nan)
            if numbers.ndim != 1 or not np.isfinite(numbers).all() or not (np.diff(numbers) > 0).all():
                raise ValueError(f"cuts[{key!r}] must be rising numbers, such as [18, 65], found {cuts!r}")
            for j in schema.resolve(key):
                column = schema.columns[j]
                if column.kind not in ("continuous", "count") and not column.empty:
                    raise ValueError(
                        f"cuts[{key!r}]: column {column.name!r} is {column.kind} ({column.reason}), and only "
                        f"numbers are cut; leave it out, or declare kinds={{{column.name!r}: 'continuous'}}"
                    )
                found[j] = NumberLevels(tuple(numbers.tolist()), given=True)
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class OneDependence(_DependenceClassifier):
    """Averaged one-dependence estimators (AODE): naive Bayes without the independence assumption.

    Each column in turn is the parent of all others, p(x_i | class) Π_j p(x_j | class, x_i), and these
    densities are averaged (Webb, Boughton & Wang 2005, Not so naive Bayes: aggregating one-dependence
    estimators). All it knows of the rows is how often two levels occur together in a class: statistics of
    parts add up, and a row is left out in closed form. A gap is integrated out exactly. Texts, and columns of
    more than 100 categories, are beside the others, independent of them given the class.

    Parameters
    ----------
    kinds : mapping, default=None
        Kinds of columns that differ from what would be inferred: {"year": "categorical"}.
    bins : int, default=5
        Levels of about equal weight into which numbers are cut; a column of up to 10 distinct numbers has a
        level for each. They are those of the first rows seen, and stay in `partial_fit`.
    cuts : mapping, default=None
        Where to cut columns instead: {"age": [18, 65]} has the levels < 18, 18 to 65 and >= 65. Models fitted
        to parts of a table can be added if the cuts of all numbers are given.
    class_rows : float or "auto", default=3.0
        Rows that the frequencies of a column in all classes are worth in each class: (N + m p) / (n + m).
        "auto" leaves it to cross-validation.
    pair_rows : float or "auto", default=5.0
        Rows that the frequencies of a column among those with a level of another column in all classes are
        worth in each class: to be smoothed says nothing of the class.
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
        Log loss of every candidate, where a setting was "auto".
    best_params_ : dict
        The values chosen for the settings that were "auto", by name.
    priors_ : ndarray of shape (n_classes,)
        Class priors, in the order of `classes_`.
    n_parameters_ : int
        Number of free parameters.
    schema_, notes_ : Schema, tuple of Note
        How each column was read, and what was noticed about the columns; print them.
    statistics_ : ClassStatistics or None
        The sums that the model was estimated from, to which more rows can be added.
    n_iter_ : int
        Iterations that filled in gaps; 0, because none are needed.

    Examples
    --------
    >>> from posterior import NaiveBayes, OneDependence
    >>> signs = [["up", "up"], ["down", "down"], ["up", "down"], ["down", "up"]] * 10
    >>> alike = ["yes", "yes", "no", "no"] * 10
    >>> NaiveBayes().fit(signs, alike).predict_proba([["up", "up"]]).round(2)
    array([[0.5, 0.5]])
    >>> OneDependence().fit(signs, alike).predict_proba([["up", "up"]]).round(2)
    array([[0.17, 0.83]])

    """

    _family = OneDependenceFamily


class TreeAugmented(_DependenceClassifier):
    """Tree-augmented naive Bayes (TAN): each column depends on the class and on at most one other column.

    The tree is the one that tells most, by the conditional mutual information of every two columns given the
    class (Friedman, Geiger & Goldszmidt 1997, Bayesian network classifiers; Chow & Liu 1968). `OneDependence`
    averages over parents instead of choosing one for each column, and is mostly better; a tree can be drawn,
    and is better where few columns depend on each other strongly. Gaps are integrated out exactly. Texts, and
    columns of more than 100 categories, are beside the others, independent of them given the class.

    Parameters
    ----------
    kinds : mapping, default=None
        Kinds of columns that differ from what would be inferred: {"year": "categorical"}.
    bins : int, default=5
        Levels of about equal weight into which numbers are cut; a column of up to 10 distinct numbers has a
        level for each. They are those of the first rows seen, and stay in `partial_fit`.
    cuts : mapping, default=None
        Where to cut columns instead: {"age": [18, 65]} has the levels < 18, 18 to 65 and >= 65. Models fitted
        to parts of a table can be added if the cuts of all numbers are given.
    class_rows : float or "auto", default=3.0
        Rows that the frequencies of a column in all classes are worth in each class: (N + m p) / (n + m).
        "auto" leaves it to cross-validation.
    pair_rows : float or "auto", default=5.0
        Rows that the frequencies of a column among those with a level of its parent in all classes are worth
        in each class: to be smoothed says nothing of the class.
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
    tree_ : dict
        The parent of each column; None for those that have none.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where the table had any.
    model_ : GenerativeModel
        The fitted model.
    tuning_ : data frame
        Log loss of every candidate, where a setting was "auto".
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
    >>> from posterior import TreeAugmented
    >>> from posterior.datasets import load_penguins
    >>> X, y = load_penguins().X, load_penguins().y
    >>> TreeAugmented().fit(X[["island", "body_mass_g", "flipper_length_mm"]], y).tree_
    {'island': None, 'body_mass_g': 'flipper_length_mm', 'flipper_length_mm': 'island'}

    """

    _family = TreeAugmentedFamily

    @property
    def tree_(self) -> dict[str, str | None]:
        """The parent of each column that the model uses; None for those that have none."""
        names, out = self.model_.schema.names, {}
        for block, distribution in self.model_.distributions:
            parent: Sequence[int] = getattr(distribution, "parent", (-1,) * len(block.columns))
            for j, i in zip(block.columns, parent, strict=True):
                out[names[j]] = None if i < 0 else names[block.columns[i]]
        return out
