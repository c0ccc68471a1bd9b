"""Naive Bayes: the composition with one-column families, and scikit-learn's four as presets."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from posterior._types import Floats
from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.generative import READ_AS, by_kind, default_families, refuse_kind
from posterior.families import (
    Bernoulli,
    BernoulliDistribution,
    Categorical,
    CategoricalDistribution,
    Family,
    Multinomial,
    MultinomialDistribution,
    Normal,
)
from posterior.families.normal import NormalDistribution
from posterior.generative import NOTHING, Block, GenerativeSpec, Priors
from posterior.schema import KINDS, Column, Schema, Source
from posterior.stats import CategoryCounts, Moments, Totals


class NaiveBayes(GenerativeEstimator):
    """Naive Bayes on any mix of columns: numbers, categories, counts, true/false, gaps.

    Features are independent given the class, each described by the family of its kind: Normal for
    continuous, Bernoulli for binary, Categorical for categorical, Poisson for count columns.

    Parameters
    ----------
    kinds : mapping, default=None
        Kinds of columns that differ from what would be inferred: {"year": "categorical"}.
    families : mapping, default=None
        Another family for a kind or for a column: {"continuous": Laplace(), "income": LogNormal()}.
    alpha : float, default=1.0
        Smoothing of the discrete families; 0 is maximum likelihood.
    tied : bool, default=False
        Share the variance of a continuous column among the classes, which makes it a linear classifier
        in those columns.
    unknown : {"marginalize", "smooth", "error"}, default="marginalize"
        What to do with a category that training has not seen.
    priors : None, "uniform", array-like or mapping, default=None
        Class priors; None takes the class frequencies.
    prior_smoothing : float, default=0.0
        Added to the count of every class.

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

    Examples
    --------
    >>> from posterior import NaiveBayes
    >>> from posterior.datasets import load_penguins
    >>> X, y = load_penguins().X, load_penguins().y
    >>> model = NaiveBayes().fit(X, y)
    >>> X.iloc[3].isna().sum()  # a penguin of which only the island and the year are known
    np.int64(5)
    >>> model.predict_proba(X[3:4]).round(3)
    array([[0.965, 0.019, 0.016]])

    """

    def __init__(
        self,
        *,
        kinds: Any = None,
        families: Mapping[Any, Any] | None = None,
        alpha: float = 1.0,
        tied: bool = False,
        unknown: str = "marginalize",
        priors: Any = None,
        prior_smoothing: float = 0.0,
    ) -> None:
        self.kinds = kinds
        self.families = families
        self.alpha = alpha
        self.tied = tied
        self.unknown = unknown
        self.priors = priors
        self.prior_smoothing = prior_smoothing

    def _own_families(self) -> dict[Any, Family[Any]]:
        given = {k: f() if isinstance(f, type) else f for k, f in (self.families or {}).items()}
        for key, family in given.items():
            if not isinstance(family, Family):
                raise ValueError(
                    f"families[{key!r}] is {family!r}; use one of posterior.families, such as Laplace()"
                )
        return given

    def _schema(self, source: Source, kinds: Any = None) -> Schema:
        schema = Schema.infer(source, self.kinds if kinds is None else kinds)
        wanted = []
        for key, family in self._own_families().items():
            kind = READ_AS.get(type(family).__name__)
            if key not in KINDS and kind and kinds is None:
                wanted += [(j, kind) for j in schema.resolve(key) if not schema.columns[j].declared]
        if not wanted:
            return schema
        given = self.kinds.items() if isinstance(self.kinds, Mapping) else self.kinds or ()
        return Schema.infer(source, [*given, *wanted])

    def _spec(self, schema: Schema, source: Source) -> GenerativeSpec:
        families = default_families(self.alpha, tied=self.tied, unknown=self.unknown)
        alone: list[Block] = []
        for key, family in self._own_families().items():
            if key in KINDS:
                families[key] = family
                continue
            where = schema.resolve(key)
            refuse_kind(family, [schema.columns[j] for j in where])
            alone.append(Block(where, family))
        named = {j for block in alone for j in block.columns}
        rest = [j for j in range(len(schema)) if j not in named]
        return GenerativeSpec((*by_kind(schema, rest, families), *alone), self._priors())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def all_columns_as(source: Source, kind: str, kinds: Any) -> Schema:
    """Every column read as one kind."""
    if kinds is not None:
        return Schema.infer(source, kinds)
    return Schema.infer(source, [(slice(None), kind)])


class GaussianNB(GenerativeEstimator):
    """Gaussian naive Bayes with scikit-learn's interface.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        Class priors; None takes the class frequencies.
    var_smoothing : float, default=1e-9
        A variance below this share of the column's own variance within classes is raised to it. Unlike
        scikit-learn's, the floor does not depend on other columns and is not added to every variance.

    Attributes
    ----------
    class_count_, class_prior_ : ndarray of shape (n_classes,)
        Weight and prior of each class.
    theta_, var_ : ndarray of shape (n_classes, n_features)
        Mean and variance of each feature in each class.
    epsilon_ : ndarray of shape (n_features,)
        The smallest variance allowed in each column.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where the table had any.

    Examples
    --------
    >>> from posterior import GaussianNB
    >>> model = GaussianNB().fit([[-2.0], [-1.0], [1.0], [3.0]], ["low", "low", "high", "high"])
    >>> model.predict([[-1.5], [2.0]])
    array(['low', 'high'], dtype='<U4')

    """

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _schema(self, source: Source, kinds: Any = None) -> Schema:
        return all_columns_as(source, "continuous", kinds)

    def _spec(self, schema: Schema, source: Source) -> GenerativeSpec:
        family = Normal(floor=self.var_smoothing)
        return GenerativeSpec((Block(tuple(range(len(schema))), family),), self._priors())

    def _moments(self) -> Moments:
        statistics = self.model_.statistics
        assert statistics is not None  # noqa: S101  (the normal family always keeps them)
        (moments,) = statistics.blocks
        assert isinstance(moments, Moments)  # noqa: S101
        return moments

    @property
    def class_count_(self) -> Floats:
        """Weight of each class."""
        return class_weight(self)

    @property
    def class_prior_(self) -> Floats:
        """Prior of each class."""
        return np.exp(self.model_.log_prior)

    @property
    def theta_(self) -> Floats:
        """Mean of each feature in each class."""
        return self._moments().location.value

    @property
    def var_(self) -> Floats:
        """Variance of each feature in each class; 0 for a constant column, which has no effect."""
        moments = self._moments()
        out = np.zeros_like(moments.scatter)
        for block, distribution in self.model_.distributions:
            assert isinstance(distribution, NormalDistribution)  # noqa: S101
            out[:, list(block.columns)] = distribution.variance
        return out

    @property
    def epsilon_(self) -> Floats:
        """The smallest variance allowed in each column."""
        return Normal(floor=self.var_smoothing).lowest(self._moments())


def class_weight(estimator: GenerativeEstimator) -> Floats:
    """Weight of each class in training."""
    statistics = estimator.model_.statistics
    if statistics is None:
        raise AttributeError("a model built from given distributions has no training data")
    return statistics.weight


class DiscreteNB(GenerativeEstimator):
    """What scikit-learn's discrete naive Bayes classifiers share: smoothing and priors under their names."""

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any

    def _priors(self) -> Priors:
        if self.class_prior is not None:
            return Priors(self.class_prior)
        return Priors(None if self.fit_prior else "uniform")

    def _alpha(self, schema: Schema) -> Any:
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.ndim and alpha.shape != (len(schema),):
            raise ValueError(
                f"When alpha is an array, it should contain `n_features`. Got {alpha.size} elements "
                f"instead of {len(schema)}."
            )
        if not self.force_alpha and (alpha < 1e-10).any():
            warnings.warn(
                "alpha too small will result in numeric errors, setting alpha = 1.0e-10", stacklevel=5
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

    def _only_statistics(self) -> Any:
        statistics = self.model_.statistics
        if statistics is None:
            raise AttributeError("a model built from given distributions has no training data")
        (block,) = statistics.blocks
        return block


class BernoulliNB(DiscreteNB):
    """Naive Bayes for binary features with scikit-learn's interface, dense or sparse, gaps allowed.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Added to the count of ones and of zeros; 0 is maximum likelihood.
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

    Examples
    --------
    >>> from posterior import BernoulliNB
    >>> BernoulliNB(alpha=0).fit([[1], [1], [0], [0]], [0, 0, 0, 1]).predict_proba([[1]])
    array([[1., 0.]])

    """

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _schema(self, source: Source, kinds: Any = None) -> Schema:
        return all_columns_as(source, "continuous", kinds)

    def _spec(self, schema: Schema, source: Source) -> GenerativeSpec:
        threshold = 0.5 if self.binarize is None else self.binarize
        family = Bernoulli(alpha=self._alpha(schema), threshold=threshold)
        return GenerativeSpec((Block(tuple(range(len(schema))), family, NOTHING),), self._priors())

    @property
    def feature_count_(self) -> Floats:
        """Weight of the ones by class."""
        totals: Totals = self._only_statistics()
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
    alpha : float or array-like of shape (n_features,), default=1.0
        Added to every count; 0 is maximum likelihood.
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
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _schema(self, source: Source, kinds: Any = None) -> Schema:
        return all_columns_as(source, "continuous", kinds)

    def _spec(self, schema: Schema, source: Source) -> GenerativeSpec:
        # Ordered, like scikit-learn's: the probability of the words in their order.
        family = Multinomial(alpha=self._alpha(schema), ordered=True)
        return GenerativeSpec((Block(tuple(range(len(schema))), family, NOTHING),), self._priors())

    @property
    def feature_count_(self) -> Floats:
        """Sum of the counts by class."""
        totals: Totals = self._only_statistics()
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
    """Naive Bayes for categories with scikit-learn's interface; strings, gaps and unseen categories allowed.

    Columns of non-negative integers have the categories 0, 1, …, max, as in scikit-learn; other columns
    have the values found. A category not seen in training is left out of the row that has it.

    Parameters
    ----------
    alpha : float, default=1.0
        Added to the count of every category; 0 is maximum likelihood.
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
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    def _schema(self, source: Source, kinds: Any = None) -> Schema:
        schema = all_columns_as(source, "categorical", kinds)
        least = np.zeros(len(schema), dtype=np.int64)
        if self.min_categories is not None:
            wanted = np.asarray(self.min_categories)
            if wanted.dtype.kind not in "iu":
                raise ValueError(f"'min_categories' should have integral type. Got {wanted.dtype} instead.")
            if wanted.ndim and wanted.shape != least.shape:
                raise ValueError(
                    f"'min_categories' should have shape {least.shape} when an array-like is provided. "
                    f"Got {wanted.shape} instead."
                )
            least = np.broadcast_to(wanted, least.shape).astype(np.int64)
        columns = [whole_range(c, int(m)) for c, m in zip(schema.columns, least, strict=True)]
        return replace(schema, columns=tuple(columns))

    def _spec(self, schema: Schema, source: Source) -> GenerativeSpec:
        family = Categorical(alpha=self._alpha(schema))
        return GenerativeSpec((Block(tuple(range(len(schema))), family, NOTHING),), self._priors())

    @property
    def category_count_(self) -> list[Floats]:
        """Weight of each category, for each feature."""
        counts: CategoryCounts = self._only_statistics()
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
