"""scikit-learn's naive Bayes for binary features, counts and categories, as presets."""

from dataclasses import replace
from typing import Any

import numpy as np

from posterior._types import Floats
from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.parameters import Auto, ClassPriors, Kinds, Numbers
from posterior.estimators.penalty import is_number
from posterior.estimators.presets import all_columns_as, class_weight, only_statistics, renormalized
from posterior.estimators.state import RefusedError
from posterior.families import (
    Bernoulli,
    BernoulliDistribution,
    Categorical,
    CategoricalDistribution,
    Multinomial,
    MultinomialDistribution,
)
from posterior.generative import NOTHING, Block, GenerativeSpec, Priors
from posterior.notices import warn
from posterior.schema import Column, Schema, Source
from posterior.schema.columns import all_places
from posterior.stats import CategoryCounts, Totals


class DiscreteNB(GenerativeEstimator):
    """What scikit-learn's discrete naive Bayes classifiers share: smoothing and priors under their names."""

    alpha: float | Auto | Numbers
    force_alpha: bool
    fit_prior: bool
    class_prior: ClassPriors | None
    _any_classes = True
    _only_in_double = True

    def _priors(self) -> Priors:
        if self.class_prior is not None:
            return Priors(renormalized(self.class_prior))
        return Priors(None if self.fit_prior else "uniform")

    def _alpha(self, schema: Schema) -> Any:
        if isinstance(self.alpha, str):
            return self.alpha
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.ndim and alpha.shape != (len(schema),):
            raise ValueError(
                f"When alpha is an array, it should contains `n_features`. Got {alpha.size} elements "
                f"instead of {len(schema)}."
            )
        if alpha.ndim and not (alpha >= 0).all():
            raise ValueError(
                f"All values in alpha must be greater than 0. Found {alpha.tolist()}; 0 is no smoothing"
            )
        if not self.force_alpha and (alpha < 1e-10).any():
            warn(
                "alpha too small will result in numeric errors, setting alpha = 1.0e-10",
                UserWarning,
            )
            alpha = np.maximum(alpha, 1e-10)
        return float(alpha) if alpha.ndim == 0 else tuple(alpha.tolist())

    @property
    def class_count_(self) -> Floats:
        """Weight of each class."""
        return class_weight(self)

    @property
    def class_log_prior_(self) -> Floats:
        """Log prior of each class."""
        return self.model_.log_prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # right only for discrete columns, as in scikit-learn
        return tags

    def _only_distribution(self) -> Any:
        ((_, distribution),) = self.model_.distributions
        return distribution


class BernoulliNB(DiscreteNB):
    """Naive Bayes for binary features with scikit-learn's interface, dense or sparse; missing values allowed.

    Parameters
    ----------
    alpha : float, "auto" or array-like of shape (n_features,), default=1.0
        Added to the count of ones and of zeros; 0 is maximum likelihood, "auto" leaves it to
        cross-validation.
    force_alpha : bool, default=True
        If False, alphas below 1e-10 are raised to it.
    binarize : float or None, default=0.0
        Values above it are ones; None says that the values are 0 and 1 already.
    fit_prior : bool, default=True
        Whether to learn class priors; False makes them even.
    class_prior : array-like of shape (n_classes,), default=None
        Given class priors.

    Attributes
    ----------
    class_count_, class_log_prior_ : ndarray of shape (n_classes,)
        Weight and log prior of each class.
    feature_count_, feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Weight of the ones, and log probability of a one.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
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
    model_, statistics_ : GenerativeModel, ClassStatistics or None
        The model itself, and the sums it was estimated from, to which more rows can be added.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where the table had any.
    tuning_, best_params_ : data frame, dict
        Where `alpha` was "auto": the log loss of every candidate, and the value that was chosen.

    Examples
    --------
    >>> from posterior import BernoulliNB
    >>> BernoulliNB(alpha=0).fit([[1], [1], [0], [0]], [0, 0, 0, 1]).predict_proba([[1]])
    array([[1., 0.]])

    """

    def __init__(
        self,
        *,
        alpha: float | Auto | Numbers = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: ClassPriors | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _schema(self, source: Source, kinds: Kinds | None = None) -> Schema:
        return all_columns_as(source, "continuous", kinds)

    def _spec(self, schema: Schema, source: Source) -> GenerativeSpec:
        if self.binarize is not None and not (is_number(self.binarize) and self.binarize >= 0):
            raise ValueError(f"binarize must be None or not negative, found {self.binarize!r}")
        family = Bernoulli(alpha=self._alpha(schema), threshold=self.binarize, repeats=False)
        return GenerativeSpec((Block(all_places(len(schema)), family, NOTHING, NOTHING),), self._priors())

    @property
    def feature_count_(self) -> Floats:
        """Weight of the ones by class."""
        totals: Totals = only_statistics(self)
        return totals.total

    @property
    def feature_log_prob_(self) -> Floats:
        """Log probability of a one by class."""
        distribution: BernoulliDistribution = self._only_distribution()
        return distribution.log_on


class MultinomialNB(DiscreteNB):
    """Naive Bayes for counts with scikit-learn's interface, dense or sparse.

    Parameters
    ----------
    alpha : float, "auto" or array-like of shape (n_features,), default=1.0
        Added to every count; 0 is maximum likelihood, "auto" leaves it to cross-validation.
    force_alpha : bool, default=True
        If False, alphas below 1e-10 are raised to it.
    fit_prior : bool, default=True
        Whether to learn class priors; False makes them even.
    class_prior : array-like of shape (n_classes,), default=None
        Given class priors.

    Attributes
    ----------
    class_count_, class_log_prior_ : ndarray of shape (n_classes,)
        Weight and log prior of each class.
    feature_count_, feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Sum of the counts, and log probability of each feature.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
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
    model_, statistics_ : GenerativeModel, ClassStatistics or None
        The model itself, and the sums it was estimated from, to which more rows can be added.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where the table had any.
    tuning_, best_params_ : data frame, dict
        Where `alpha` was "auto": the log loss of every candidate, and the value that was chosen.

    Examples
    --------
    >>> from posterior import MultinomialNB
    >>> words = [[3, 0], [2, 1], [0, 4]]
    >>> MultinomialNB().fit(words, ["spam", "spam", "ham"]).predict([[1, 0], [0, 1]])
    array(['spam', 'ham'], dtype='<U4')

    """

    def __init__(
        self,
        *,
        alpha: float | Auto | Numbers = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ClassPriors | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    @property
    def decision_function(self) -> Any:
        """Not there, as in scikit-learn, whose checks of it train on numbers that are no counts."""
        raise RefusedError("MultinomialNB has no decision_function; predict_log_proba has the log posteriors")

    def _schema(self, source: Source, kinds: Kinds | None = None) -> Schema:
        return all_columns_as(source, "continuous", kinds)

    def _spec(self, schema: Schema, source: Source) -> GenerativeSpec:
        # Ordered, like scikit-learn's: the probability of the words in their order.
        family = Multinomial(alpha=self._alpha(schema), ordered=True)
        return GenerativeSpec((Block(all_places(len(schema)), family, NOTHING, NOTHING),), self._priors())

    @property
    def feature_count_(self) -> Floats:
        """Sum of the counts by class."""
        totals: Totals = only_statistics(self)
        return totals.total

    @property
    def feature_log_prob_(self) -> Floats:
        """Log probability of each feature by class."""
        distribution: MultinomialDistribution = self._only_distribution()
        return distribution.log_probability

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class CategoricalNB(DiscreteNB):
    """Categorical naive Bayes with scikit-learn's interface; strings, missing and unseen values allowed.

    Columns of non-negative integers have the categories 0, 1, …, max, as in scikit-learn; other columns
    have the values found. A category not seen in training is left out of the row that has it.

    Parameters
    ----------
    alpha : float or "auto", default=1.0
        Added to the count of every category; 0 is maximum likelihood, "auto" leaves it to cross-validation.
    force_alpha : bool, default=True
        If False, an alpha below 1e-10 is raised to it.
    fit_prior : bool, default=True
        Whether to learn class priors; False makes them even.
    class_prior : array-like of shape (n_classes,), default=None
        Given class priors.
    min_categories : int or array-like of shape (n_features,), default=None
        Smallest number of categories of integer columns.

    Attributes
    ----------
    category_count_, feature_log_prob_ : list of ndarray of shape (n_classes, n_categories)
        Weight and log probability of each category, for each feature.
    n_categories_ : ndarray of shape (n_features,)
        Number of categories of each feature.
    class_count_, class_log_prior_ : ndarray of shape (n_classes,)
        Weight and log prior of each class.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
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
    model_, statistics_ : GenerativeModel, ClassStatistics or None
        The model itself, and the sums it was estimated from, to which more rows can be added.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where the table had any.
    tuning_, best_params_ : data frame, dict
        Where `alpha` was "auto": the log loss of every candidate, and the value that was chosen.

    Examples
    --------
    >>> from posterior import CategoricalNB
    >>> model = CategoricalNB().fit([["red"], ["red"], ["blue"]], [1, 1, 0])
    >>> model.predict_proba([["red"], [None]]).round(3)
    array([[0.182, 0.818],
           [0.333, 0.667]])

    """

    def __init__(
        self,
        *,
        alpha: float | Auto | Numbers = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ClassPriors | None = None,
        min_categories: int | Numbers | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    def _schema(self, source: Source, kinds: Kinds | None = None) -> Schema:
        schema = all_columns_as(source, "categorical", kinds)
        least = np.zeros(len(schema), dtype=np.int64)
        if self.min_categories is not None:
            wanted = np.asarray(self.min_categories)
            if wanted.dtype.kind not in "iu":
                raise ValueError(f"'min_categories' should have integral type. Got {wanted.dtype} instead.")
            if wanted.ndim == 0 and wanted < 1:
                raise ValueError(f"'min_categories' should be at least 1. Got {self.min_categories} instead.")
            if wanted.ndim and wanted.shape != least.shape:
                raise ValueError(
                    f"'min_categories' should have shape {least.shape} when an array-like is provided. "
                    f"Got {wanted.shape} instead."
                )
            least = np.broadcast_to(wanted, least.shape).astype(np.int64)
        columns = [whole_range(c, int(m)) for c, m in zip(schema.columns, least, strict=True)]
        return replace(schema, columns=tuple(columns))

    def _spec(self, schema: Schema, source: Source) -> GenerativeSpec:
        if np.ndim(np.asarray(self.alpha)):
            raise ValueError(f"alpha must be a single number for CategoricalNB, found {self.alpha!r}")
        family = Categorical(alpha=self._alpha(schema), repeats=False)
        return GenerativeSpec(
            (Block(all_places(len(schema)), family, NOTHING, frozenset({"identifier"})),), self._priors()
        )

    @property
    def category_count_(self) -> list[Floats]:
        """Weight of each category, for each feature."""
        counts: CategoryCounts = only_statistics(self)
        return list(counts.tables)

    @property
    def feature_log_prob_(self) -> list[Floats]:
        """Log probability of each category, for each feature."""
        distribution: CategoricalDistribution = self._only_distribution()
        return list(distribution.log_tables)

    @property
    def n_categories_(self) -> Any:
        """Number of categories of each feature."""
        return np.array([t.shape[1] for t in self.category_count_])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def whole_range(column: Column, least: int) -> Column:
    """The column with the categories 0 … max where its values are non-negative whole numbers."""
    values = column.categories or ()
    if not values or not all(isinstance(v, int | float) and v >= 0 and v == int(v) for v in values):
        return column
    top = max(int(max(values)) + 1, least)
    if top > 100_000:
        return column
    return replace(column, categories=tuple(range(top)))
