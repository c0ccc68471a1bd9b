"""Naive Bayes: the composition with one-column families, and its Gaussian preset."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isqrt
from numbers import Real
from typing import Any, Literal, cast

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.engines import LocalDataset
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
from posterior.estimators.penalty import is_number
from posterior.estimators.precision import shown
from posterior.estimators.presets import all_columns_as, class_weight, only_statistics
from posterior.families import BestOf, Family, FewValues, Normal
from posterior.families.categorical import Unknown
from posterior.families.few_values import is_few
from posterior.families.from_scipy import family_of
from posterior.families.levels import FEW_VALUES
from posterior.generative import (
    NOT_WORTH_KEEPING,
    Block,
    GenerativeModel,
    GenerativeSpec,
    Tuning,
    unused_note,
    whole_zeros_and_ones_note,
    zeros_and_ones_note,
)
from posterior.generative.few_values import with_same_few_values
from posterior.schema import KINDS, Column, Schema, Source
from posterior.schema.cells import Cells, Numbers
from posterior.schema.columns import all_places
from posterior.schema.sources import ArraySource, SparseSource
from posterior.stats import Moments

# What `weights` may say instead of numbers, and what is learnt then.
LEARN: dict[Any, Literal["one", "columns"]] = {"one": "one", "auto": "columns"}
# Of fewer rows no setting is chosen that was not asked for; of more, about so many choose.
FEW_ROWS, MOST_ROWS = 20, 20_000


class NaiveBayes(GenerativeEstimator):
    """Naive Bayes on any mix of columns: numbers, categories, counts, true/false, texts, missing values.

    Features are independent given the class, each described by the family of its kind: Normal for
    continuous, Bernoulli for binary, Categorical for categorical, Poisson for count columns, and BagOfWords
    for texts.

    Parameters
    ----------
    kinds : mapping, default=None
        Kinds of columns that differ from what would be inferred: {"year": "categorical"}.
    families : mapping or "auto", default=None
        Another family for a kind or for a column: {"continuous": Laplace(), "income": LogNormal()}. A
        distribution of scipy.stats may be given as it is (`FromScipy`). "auto" chooses for each numeric
        column the family of `families.BestOf` with the smallest held-out log loss; `families_` has the
        choice.
    alpha : float or "auto", default=1.0
        Additive smoothing of the discrete families; 0 is maximum likelihood, "auto" chooses it by
        cross-validation.
    tied : bool or "auto", default="auto"
        Whether the classes share the variance of a continuous column, which makes the classifier linear in
        those columns; "auto" chooses by cross-validation.
    variance_rows : float, default=10.0
        Number m of pseudo-rows that smooth the variance of each class and continuous column towards the
        column's variance s² within classes: (S + m s²) / (N + m) (the conjugate prior). It keeps a class with
        few rows, or one that is constant in a column, from a variance near zero. 0 is maximum likelihood.
    weights : "one", "auto", float or mapping, default="one"
        Exponent w_j of each column: the log joint is ln p(class) + Σ w_j ln p(x_j | class). Weights below 1
        correct for dependent columns, whose evidence naive Bayes counts twice. "one" learns one exponent for
        all columns by cross-validation. "auto" learns one for each column, shrunk towards the common one;
        cross-validation chooses how much. A number, or a mapping from columns to numbers, is used as given;
        1.0 is the naive Bayes of textbooks.
    few_values : bool or "auto", default="auto"
        Whether integers with three to ten values, such as grades, have a probability for each value, as
        categories do (`families.FewValues`). False treats them as continuous. "auto" chooses by
        cross-validation, and is False if `weights` are given. Columns whose kind or family you give are not
        changed.
    unknown : {"marginalize", "smooth", "error"}, default="marginalize"
        What to do with a category that was not in training: treat it as missing, use the probability reserved
        by smoothing, or raise an error.
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
        Log loss of every candidate, where a setting was chosen.
    weights_ : ndarray of shape (n_columns,)
        The exponent with which each column counts.
    families_ : dict
        The name of the family that describes each column that has an effect.
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
    >>> from posterior import NaiveBayes
    >>> from posterior.datasets import load_penguins
    >>> X, y = load_penguins().X, load_penguins().y
    >>> model = NaiveBayes().fit(X, y)
    >>> X.iloc[3].isna().sum()  # a penguin of which only the island and the year are known
    np.int64(5)
    >>> model.predict_proba(X[3:4]).round(3)
    array([[0.968, 0.017, 0.016]])

    """

    def __init__(
        self,
        *,
        kinds: Kinds | None = None,
        families: Mapping[Any, FamilyLike] | Auto | None = None,
        alpha: float | Auto = 1.0,
        tied: bool | Auto = "auto",
        variance_rows: float = 10.0,
        weights: "float | Auto | Literal['one'] | Mapping[Any, float]" = "one",
        few_values: bool | Auto = "auto",
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
        self.weights = weights
        self.few_values = few_values
        self.unknown = unknown
        self.priors = priors
        self.prior_smoothing = prior_smoothing
        self.cv = cv
        self.selection = selection

    def _own_families(self) -> dict[Any, Family[Any]]:
        if isinstance(self.families, str) and self.families == "auto":
            return {}
        if self.families is not None and not isinstance(self.families, Mapping):
            raise ValueError(
                "families must be 'auto' or a mapping from a kind or a column to a family, found "
                f"{self.families!r}"
            )
        given = {key: family_of(given) for key, given in (self.families or {}).items()}
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
        if self.families == "auto":
            families |= {"continuous": BestOf(), "count": BestOf()}
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
        rest: Sequence[int] = range(len(schema))
        rest = [j for j in rest if j not in taken] if taken else rest
        few = self._few(schema, source, rest)
        others = [j for j in rest if j not in set(few)] if few else rest
        blocks, without = by_kind(schema, others, families)
        if few:
            discrete = FewValues(self.alpha, self.tied, self.variance_rows, self.few_values)
            blocks += (Block(tuple(few), discrete, NOT_WORTH_KEEPING),)
        kinds = schema.places_by(lambda column: column.kind, rest)
        unused = [key for key in self._own_families() if is_kind(key, schema) and key not in kinds]
        strings = [c.name for c in schema.columns if _is_string(c)] if unused else []
        remarks = tuple(unused_note(key, strings) for key in unused)
        if "count" not in self._own_families() and _is_zeros_and_ones(schema, source, rest):
            remarks = (*remarks, zeros_and_ones_note())
        flags = [] if "continuous" in self._own_families() else _whole_zeros_and_ones(schema, source, rest)
        if flags:
            remarks = (*remarks, whole_zeros_and_ones_note([schema.names[j] for j in flags]))
        weights = self._given_weights(schema)
        learn: Literal["", "one", "columns"] = "" if weights is not None else LEARN[self.weights]
        return GenerativeSpec(
            (*blocks, *alone), self._priors(), without, remarks, weights or (), learn_weights=learn
        )

    def _few(self, schema: Schema, source: Source | None, places: Sequence[int]) -> list[int]:
        """The columns of numbers that may be described value by value."""
        if self.few_values not in (True, False, "auto"):
            raise ValueError(f"few_values must be True, False or 'auto', found {self.few_values!r}")
        given = self.families == "auto" or "continuous" in self._own_families()
        if given or not self.few_values or source is None or isinstance(source, SparseSource):
            return []
        learnt = isinstance(self.weights, str) and source.n_rows >= FEW_ROWS
        if self.few_values == "auto" and not learnt:
            return []
        numbers = schema.places_by(lambda c: c.kind == "continuous" and not c.declared, places).get(True, ())
        return [j for j, cells in _read_few(schema, source, numbers) if _has_few(cells)]

    def _alike(
        self, mine: GenerativeModel, theirs: GenerativeModel
    ) -> tuple[GenerativeModel, GenerativeModel]:
        """A column that has many values in one part is continuous in both."""
        return with_same_few_values(mine, theirs)

    def _given_weights(self, schema: Schema) -> tuple[float, ...] | None:
        """The weights of the columns that are given; None where they are learnt."""
        given = self.weights
        if isinstance(given, str) and given in LEARN:
            return None
        if isinstance(given, Mapping):
            out = [1.0] * len(schema)
            for key, weight in given.items():
                for j in schema.resolve(key):
                    out[j] = _weight(weight)
            return tuple(out)
        return (_weight(given),)

    @property
    def _first_part_chooses(self) -> bool:  # type: ignore[override]
        """Whether some setting is left to rows."""
        return any(isinstance(setting, str) for setting in (self.alpha, self.tied, self.weights))

    _chooses_by_some = True

    def _to_choose_by(self, data: LocalDataset) -> LocalDataset:
        """Of many rows every so many, by a step with which no rhythm of the classes keeps time."""
        step = -(-data.n_rows // MOST_ROWS)
        if step < 2:
            return data
        y = np.asarray(data.y)
        return data.every(next(s for s in range(step, len(y) + 1) if _is_prime(s) and _represents(y[::s], y)))

    def _chosen(
        self, spec: GenerativeSpec, data: LocalDataset, classes: AnyArray, n_folds: int
    ) -> tuple[GenerativeSpec, Tuning | None]:
        """What the folds choose; few rows choose nothing that was not asked for."""
        counts = np.asarray(data.folds) >= 0
        if data.weight is not None:
            counts &= data.weight > 0
        y = np.asarray(data.y)[:: data.step][counts[:: data.step]]
        if len(y) < FEW_ROWS or (np.bincount(y) > 1).sum() < 2:
            spec = self._unchosen(spec)
        if not spec.is_open:
            return spec, None
        return super()._chosen(spec, data, classes, n_folds)

    def _unchosen(self, spec: GenerativeSpec) -> GenerativeSpec:
        """The composition without choices by default: normals with variances of their own, weights are 1."""
        blocks = []
        for block in spec.blocks:
            simple = {name: False for name in ("tied", "discrete") if name in block.family.open_settings}
            blocks.append(replace(block, family=replace(block.family, **simple)) if simple else block)  # type: ignore[type-var]
        return replace(spec, blocks=tuple(blocks), learn_weights="")

    @property
    def weights_(self) -> Floats:
        """The exponent with which each column that was read counts, in their order."""
        weights = self.model_.weights
        return np.ones(len(self.model_.schema)) if weights is None else weights.copy()

    @property
    def families_(self) -> dict[str, str]:
        """The name of the family that describes each column that has an effect."""
        found: dict[str, str] = {}
        for block, distribution in self.model_.distributions:
            members = getattr(distribution, "members", [distribution] * len(block.columns))
            for j, member in zip(block.columns, members, strict=True):
                found[self.model_.schema.names[j]] = type(member).__name__.removesuffix("Distribution")
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _weight(given: Any) -> float:
    if isinstance(given, str | bool) or not isinstance(given, Real) or not 0 <= float(given) < np.inf:
        raise ValueError(
            "weights must be 'one', 'auto', a number of 0 or more or a mapping from columns to such numbers, "
            f"found {given!r}"
        )
    return float(given)


def _is_prime(number: int) -> bool:
    return all(number % i for i in range(2, isqrt(number) + 1))


def _represents(some: Ints, y: Ints) -> bool:
    """Whether no class is far more common or rarer among some rows than among all, or rows are few."""
    share = np.bincount(y) / len(y)
    found = np.bincount(some, minlength=len(share))
    deviation = np.sqrt(len(some) * share * (1 - share))
    return len(some) < FEW_ROWS or bool((np.abs(found - len(some) * share) <= 5 * deviation + 1).all())


def is_kind(key: Any, schema: Schema) -> bool:
    """Whether a key of `families` names a kind; a column of that name comes first."""
    return isinstance(key, str) and key in KINDS and key not in schema.names


def _is_zeros_and_ones(schema: Schema, source: Source, places: Sequence[int]) -> bool:
    """Whether a sparse table has columns that only seem to be counts: all of their numbers are 0 or 1."""
    if not isinstance(source, SparseSource):
        return False
    asked = np.zeros(source.n_columns, dtype=np.bool_)
    counts = schema.places_by(lambda c: c.kind == "count" and not c.declared, places).get(True, ())
    asked[slice(None) if len(counts) == len(asked) else list(counts)] = True
    if not asked.any() or (asked.all() and source.largest_count > 1):
        return False
    if source.first(lambda stored: stored > 1, asked) is not None:
        return False
    return source.first(lambda stored: stored == 1, asked) is not None


def _whole_zeros_and_ones(schema: Schema, source: Source | None, places: Sequence[int]) -> list[int]:
    """The columns of whole numbers read as continuous that hold 0 and 1 only, and both of them."""
    if source is None or isinstance(source, SparseSource):
        return []
    whole = schema.places_by(_is_undeclared_whole, places).get(True, ())
    return [j for j, cells in _read_few(schema, source, whole) if _is_zero_or_one(cells)]


def _read_few(schema: Schema, source: Source, places: Sequence[int]) -> Iterator[tuple[int, Cells]]:
    """Columns with their cells; of a table elsewhere with the values of those columns that have few."""
    if isinstance(source, ArraySource):
        source.survey_few(places, FEW_VALUES)
    as_read = schema.read(source)
    return ((j, as_read.column(j)) for j in places)


def _is_undeclared_whole(column: Column) -> bool:
    return column.kind == "continuous" and column.storage == "integer" and not column.declared


def _is_string(column: Column) -> bool:
    return column.storage == "string" and column.kind == "categorical"


def _has_few(cells: Cells) -> bool:
    """Whether the numbers of a column have few values; most show in the first rows that they have many."""
    if not isinstance(cells, Numbers):
        return False
    found = cells.array if cells.missing is None else cells.array[~cells.missing]
    found = found[~np.isnan(found)] if found.dtype.kind == "f" else found
    return len(np.unique(found[:1000])) <= FEW_VALUES and is_few(found)


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
        Class priors; None uses the class frequencies in training.
    var_smoothing : float, default=1e-9
        This share of the largest variance of any column is added to every variance, as scikit-learn does; a
        column of much smaller units drowns in it, so scale the columns then, or use NaiveBayes. Where a
        column is constant within a class, and scikit-learn's variance is what was added alone, the class is
        lent one row with the column's variance s² within classes first: (S + s²) / (N + 1).

    Attributes
    ----------
    class_count_, class_prior_ : ndarray of shape (n_classes,)
        Weight and prior of each class.
    theta_, var_ : ndarray of shape (n_classes, n_features)
        Mean and variance of each feature in each class.
    epsilon_ : float
        What is added to every variance.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where the table had any.
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
        if not (is_number(self.var_smoothing) and 0 <= self.var_smoothing < np.inf):
            raise ValueError(f"var_smoothing must be finite and not negative, found {self.var_smoothing!r}")
        family = Normal(smoothing=self.var_smoothing)
        return GenerativeSpec((Block(all_places(len(schema)), family),), self._priors())

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
        return shown(class_weight(self), self.schema_)

    @property
    def class_prior_(self) -> Floats:
        """Prior of each class."""
        return shown(self.priors_, self.schema_)

    @property
    def theta_(self) -> Floats:
        """Mean of each feature in each class."""
        means = self._filled(self._moments().location.value.copy(), "mean")
        return shown(means, self.schema_)

    @property
    def var_(self) -> Floats:
        """Variance of each feature in each class; what is added alone for a constant column."""
        variances = self._filled(np.full_like(self._moments().scatter, self._added), "variance")
        return shown(variances, self.schema_)

    @property
    def epsilon_(self) -> np.float64 | np.float32:
        """What is added to every variance."""
        (added,) = shown(np.array([self._added]), self.schema_)
        return cast("np.float64 | np.float32", added)

    @property
    def _added(self) -> np.float64:
        return Normal(smoothing=self.var_smoothing).added(self._moments())
