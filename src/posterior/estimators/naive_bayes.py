"""Naive Bayes: the composition with one-column families, and its Gaussian preset."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np

from posterior._types import Floats
from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.generative import (
    blocks_of,
    by_kind,
    default_families,
    refuse_kind,
    refuse_overlap,
    with_families,
)
from posterior.estimators.parameters import Auto, ClassPriors, FamilyLike, FoldsLike, Kinds, Selection
from posterior.estimators.presets import all_columns_as, class_weight, only_statistics
from posterior.families import Family, Normal
from posterior.families.categorical import Unknown
from posterior.generative import (
    Block,
    GenerativeSpec,
    unused_note,
    whole_zeros_and_ones_note,
    zeros_and_ones_note,
)
from posterior.schema import KINDS, Schema, Source
from posterior.schema.cells import Cells, Numbers
from posterior.schema.sources import SparseSource
from posterior.stats import Moments


class NaiveBayes(GenerativeEstimator):
    """Naive Bayes on any mix of columns: numbers, categories, counts, true/false, texts, gaps.

    Features are independent given the class, each described by the family of its kind: Normal for
    continuous, Bernoulli for binary, Categorical for categorical, Poisson for count columns, and BagOfWords
    for texts.

    Parameters
    ----------
    kinds : mapping, default=None
        Kinds of columns that differ from what would be inferred: {"year": "categorical"}.
    families : mapping, default=None
        Another family for a kind or for a column: {"continuous": Laplace(), "income": LogNormal()}.
    alpha : float or "auto", default=1.0
        Smoothing of the discrete families; 0 is maximum likelihood, "auto" leaves it to cross-validation.
    tied : bool or "auto", default=False
        Share the variance of a continuous column among the classes, which makes it a linear classifier
        in those columns.
    variance_rows : float, default=10.0
        A class with fewer rows is filled up to so many in each continuous column, with the column's variance
        s² within all classes: (S + m s²) / (N + m) for the m rows that lack (the conjugate prior), so that a
        class of few rows is no spike. 0 is maximum likelihood.
    unknown : {"marginalize", "smooth", "error"}, default="marginalize"
        What to do with a category that training has not seen.
    priors : None, "uniform", array-like or mapping, default=None
        Class priors; None takes the class frequencies.
    prior_smoothing : float, default=0.0
        Added to the count of every class.
    cv : int, splitter, array-like of shape (n_samples,) or "loo", default=10
        Folds of the cross-validation that chooses settings which are "auto", as in `k_fold_log_proba`; "loo"
        leaves out each row in turn, exactly, where that has a closed form.
    selection : {"best", "one_se"}, default="best"
        Choose the settings with the smallest log loss of rows held out, or the simplest ones within one
        standard error of it.

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
        kinds: Kinds | None = None,
        families: Mapping[Any, FamilyLike] | None = None,
        alpha: float | Auto = 1.0,
        tied: bool | Auto = False,
        variance_rows: float = 10.0,
        unknown: Unknown = "marginalize",
        priors: ClassPriors | None = None,
        prior_smoothing: float = 0.0,
        cv: FoldsLike | Literal["loo"] = 10,
        selection: Selection = "best",
    ) -> None:
        self.kinds = kinds
        self.families = families
        self.alpha = alpha
        self.tied = tied
        self.variance_rows = variance_rows
        self.unknown = unknown
        self.priors = priors
        self.prior_smoothing = prior_smoothing
        self.cv = cv
        self.selection = selection

    def _own_families(self) -> dict[Any, Family[Any]]:
        if self.families is not None and not isinstance(self.families, Mapping):
            raise ValueError(
                f"families must be a mapping from a kind or a column to a family, found {self.families!r}"
            )
        given = {k: f() if isinstance(f, type) else f for k, f in (self.families or {}).items()}
        for key, family in given.items():
            if not isinstance(family, Family):
                raise ValueError(
                    f"families[{key!r}] is {family!r}; use one of posterior.families, such as Laplace()"
                )
        return given

    def _schema(self, source: Source, kinds: Kinds | None = None) -> Schema:
        schema = Schema.of(source, self.kinds if kinds is None else kinds)
        if kinds is not None:
            return schema
        alone = [(key, f) for key, f in self._own_families().items() if not is_kind(key, schema)]
        return with_families(schema, source, self.kinds, alone)

    def _spec(self, schema: Schema, source: Source) -> GenerativeSpec:
        families = default_families(
            self.alpha, tied=self.tied, unknown=self.unknown, variance_rows=self.variance_rows
        )
        alone: list[Block] = []
        taken: dict[int, Any] = {}
        for key, family in self._own_families().items():
            if is_kind(key, schema):
                families[key] = family
                continue
            where = schema.resolve(key)
            refuse_overlap(schema, where, taken, key)
            refuse_kind(family, [schema.columns[j] for j in where])
            alone += blocks_of(where, family)
        rest = [j for j in range(len(schema)) if j not in taken]
        blocks, without = by_kind(schema, rest, families)
        kinds = {schema.columns[j].kind for j in rest}
        strings = [c.name for c in schema.columns if c.storage == "string" and c.kind == "categorical"]
        unused = [key for key in self._own_families() if is_kind(key, schema) and key not in kinds]
        remarks = tuple(unused_note(key, strings) for key in unused)
        if "count" not in self._own_families() and _is_zeros_and_ones(schema, source, rest):
            remarks = (*remarks, zeros_and_ones_note())
        flags = [] if "continuous" in self._own_families() else _whole_zeros_and_ones(schema, source, rest)
        if flags:
            remarks = (*remarks, whole_zeros_and_ones_note([schema.names[j] for j in flags]))
        return GenerativeSpec((*blocks, *alone), self._priors(), without, remarks)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def is_kind(key: Any, schema: Schema) -> bool:
    """Whether a key of `families` names a kind; a column of that name comes first."""
    return isinstance(key, str) and key in KINDS and key not in schema.names


def _is_zeros_and_ones(schema: Schema, source: Source, places: Sequence[int]) -> bool:
    """Whether a sparse table has columns that only seem to be counts: all of their numbers are 0 or 1."""
    if not isinstance(source, SparseSource):
        return False
    asked = np.zeros(source.n_columns, dtype=np.bool_)
    asked[[j for j in places if schema.columns[j].kind == "count" and not schema.columns[j].declared]] = True
    if not asked.any() or source.first(lambda stored: stored > 1, asked) is not None:
        return False
    return source.first(lambda stored: stored == 1, asked) is not None


def _whole_zeros_and_ones(schema: Schema, source: Source | None, places: Sequence[int]) -> list[int]:
    """The columns of whole numbers read as continuous that hold 0 and 1 only, and both of them."""
    if source is None or isinstance(source, SparseSource):
        return []
    asked = [schema.columns[j] for j in places]
    whole = [
        j
        for j, column in zip(places, asked, strict=True)
        if column.kind == "continuous" and column.storage == "integer" and not column.declared
    ]
    return [j for j in whole if _is_zero_or_one(source.column(j))]


def _is_zero_or_one(cells: Cells) -> bool:
    """Whether the numbers of a column are 0 and 1; most columns show in a few rows that they are not."""
    if not isinstance(cells, Numbers):
        return False
    found = cells.array if cells.missing is None else cells.array[~cells.missing]
    if not all(bool(((part == 0) | (part == 1)).all()) for part in (found[:50], found)):
        return False
    return len(found) > 0 and bool(found.min() < found.max())


class GaussianNB(GenerativeEstimator):
    """Gaussian naive Bayes with scikit-learn's interface.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        Class priors; None takes the class frequencies.
    var_smoothing : float, default=1e-9
        A variance below this share of the column's own variance s² within classes is not determined by the
        rows of its class: it becomes (S + s²) / (N + 1), as if one row more had been seen with the variance
        s², and at least this share of it. Unlike scikit-learn's, the floor does not depend on other columns
        and is not added to every variance.

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

    _any_classes = True

    def __init__(self, *, priors: ClassPriors | None = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _schema(self, source: Source, kinds: Kinds | None = None) -> Schema:
        return all_columns_as(source, "continuous", kinds)

    def _spec(self, schema: Schema, source: Source) -> GenerativeSpec:
        if not self.var_smoothing >= 0:
            raise ValueError(f"var_smoothing must not be negative, found {self.var_smoothing}")
        family = Normal(floor=self.var_smoothing)
        return GenerativeSpec((Block(tuple(range(len(schema))), family),), self._priors())

    def _moments(self) -> Moments:
        return cast("Moments", only_statistics(self))

    def _filled(self, out: Floats, parameter: str) -> Floats:
        """The array with a parameter of the distribution in the columns that it describes."""
        for block, distribution in self.model_.distributions:
            out[:, list(block.columns)] = getattr(distribution, parameter)
        return out

    @property
    def class_count_(self) -> Floats:
        """Weight of each class."""
        return class_weight(self)

    @property
    def class_prior_(self) -> Floats:
        """Prior of each class."""
        return self.priors_

    @property
    def theta_(self) -> Floats:
        """Mean of each feature in each class."""
        return self._filled(self._moments().location.value.copy(), "mean")

    @property
    def var_(self) -> Floats:
        """Variance of each feature in each class; 0 for a constant column, which has no effect."""
        return self._filled(np.zeros_like(self._moments().scatter), "variance")

    @property
    def epsilon_(self) -> Floats:
        """The smallest variance allowed in each column."""
        return Normal(floor=self.var_smoothing).lowest(self._moments())
