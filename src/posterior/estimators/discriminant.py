"""Gaussian discriminant analysis: QDA, LDA and all between, as settings of one family."""

from abc import abstractmethod
from typing import Any, Literal, cast

import numpy as np

from posterior._types import Floats
from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.parameters import Auto, ClassPriors, FoldsLike, Selection
from posterior.estimators.precision import shown
from posterior.estimators.presets import all_columns_as
from posterior.families import Family, MultivariateNormal, MultivariateNormalDistribution
from posterior.families.gaussian import Shape
from posterior.families.mending import OnSingular
from posterior.families.shrinkage import LedoitWolfByClass, RawFixed, Shrinkage
from posterior.generative import Block, GenerativeSpec
from posterior.schema import Schema, Source
from posterior.schema.columns import all_places


class GaussianEstimator(GenerativeEstimator):
    """One Gaussian block over all columns; a preset says which `_family`."""

    @abstractmethod
    def _family(self) -> Family[Any]:
        """The Gaussian family that this preset stands for."""

    def _schema(self, source: Source, kinds: Any = None) -> Schema:
        return all_columns_as(source, "continuous", kinds)

    def _spec(self, schema: Schema, source: Source) -> GenerativeSpec:
        return GenerativeSpec((Block(all_places(len(schema)), self._family()),), self._priors())

    def _kept(self) -> tuple[list[int], MultivariateNormalDistribution | None]:
        """The columns that the density describes, and the density."""
        for block, distribution in self.model_.distributions:
            return list(block.columns), cast("MultivariateNormalDistribution", distribution)
        return [], None

    def _embedded(self, values: Floats, columns: list[int], axes: int = 1) -> Floats:
        """Values of the kept columns in arrays over all columns, 0 elsewhere."""
        d = len(self.schema_)
        out = np.zeros((*values.shape[: values.ndim - axes], *(d,) * axes))
        index: Any = (..., *np.ix_(*(columns,) * axes))
        out[index] = values
        return out

    @property
    def means_(self) -> Floats:
        """Class means, (n_classes, n_features)."""
        return shown(self._means(), self.schema_)

    def _means(self) -> Floats:
        means = np.zeros((len(self.classes_), len(self.schema_)))
        columns, distribution = self._kept()
        if distribution is not None:
            means[:, columns] = distribution.mean
        for filling in self.model_.blocks[0].fillings:
            means[:, filling.column] = filling.intercept + means[:, list(filling.sources)] @ filling.coef
        return means


class GaussianDiscriminantAnalysis(GaussianEstimator):
    """Regularised discriminant analysis: a Gaussian for each class, from QDA to LDA, full to spherical.

    Parameters
    ----------
    tied : float or "auto", default=0.0
        0 is a covariance for each class (QDA), 1 a shared one (LDA). A number between them is regularised
        discriminant analysis, (1−tied)·own + tied·shared. "auto" chooses by cross-validation.
    shape : {"full", "diagonal", "spherical", "auto"}, default="full"
        Shape of the covariances; "diagonal" is naive Bayes.
    shrinkage : None, float, "oas", "ledoit-wolf" or "auto", default=None
        Shrinkage of the correlations towards zero: a number between 0 and 1, a formula ("oas",
        "ledoit-wolf"), or "auto" for cross-validation.
    bias : bool, default=True
        Divide by N (maximum likelihood); False divides by N−1, or N−K where shared, as R's MASS does.
    on_singular : {"shrink", "pool", "error"}, default="shrink"
        What to do with a class that has too few rows for its covariance: average it with the pooled
        covariance, replace it by that, or raise an error.
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
    means_ : ndarray of shape (n_classes, n_features)
        Class means.
    covariance_ : ndarray of shape (n_classes, n_features, n_features)
        Class covariances.
    priors_ : ndarray of shape (n_classes,)
        Class priors.
    tuning_ : data frame
        Log loss of every candidate, where a setting was "auto".
    best_params_ : dict
        The values chosen for the settings that were "auto", by name.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where the table had any.
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
    >>> from posterior import GaussianDiscriminantAnalysis
    >>> model = GaussianDiscriminantAnalysis(tied=0.5, shape="diagonal")
    >>> model.fit([[-2.0], [-1.0], [1.0], [5.0]], ["low", "low", "high", "high"]).covariance_.ravel()
    array([3.0625, 1.1875])

    """

    def __init__(
        self,
        *,
        tied: float | Auto = 0.0,
        shape: Shape | Auto = "full",
        shrinkage: float | Literal["oas", "ledoit-wolf", "auto"] | Shrinkage | None = None,
        bias: bool = True,
        on_singular: OnSingular = "shrink",
        priors: ClassPriors | None = None,
        prior_smoothing: float = 0.0,
        cv: FoldsLike | Literal["loo"] = 10,
        selection: Selection = "best",
    ) -> None:
        self.tied = tied
        self.shape = shape
        self.shrinkage = shrinkage
        self.bias = bias
        self.on_singular = on_singular
        self.priors = priors
        self.prior_smoothing = prior_smoothing
        self.cv = cv
        self.selection = selection

    def _family(self) -> Family[Any]:
        return MultivariateNormal(
            tied=self.tied,
            shape=self.shape,
            shrinkage=self.shrinkage,
            bias=self.bias,
            on_singular=self.on_singular,
        )

    @property
    def covariance_(self) -> Floats:
        """Class covariances, (n_classes, n_features, n_features); zero in columns that were left out."""
        columns, distribution = self._kept()
        if distribution is None:
            return np.zeros((len(self.classes_), len(self.schema_), len(self.schema_)))
        shape = (len(self.classes_), *distribution.covariance.shape[1:])
        return self._embedded(np.broadcast_to(distribution.covariance, shape), columns, axes=2)


def sklearn_shrinkage(shrinkage: Any) -> Shrinkage | None:
    """scikit-learn's `shrinkage`: "auto" is Ledoit-Wolf by class, a number acts on the raw scale."""
    if shrinkage is None:
        return None
    if isinstance(shrinkage, str):
        if shrinkage != "auto":
            raise ValueError(
                f"shrinkage must be None, 'auto' or a number between 0 and 1, found {shrinkage!r}"
            )
        return LedoitWolfByClass()
    if not 0 <= shrinkage <= 1:
        raise ValueError(f"shrinkage must lie between 0 and 1, found {shrinkage!r}")
    return RawFixed(float(shrinkage))


def refuse_solver(solver: Any, known: tuple[str, ...]) -> None:
    """Every solver gives the same answer, but a typing error is still an error."""
    if solver not in known:
        raise ValueError(f"solver must be one of {list(known)}, found {solver!r}; all give the same answer")


def refuse_both(other: Any, name: str = "shrinkage") -> None:
    """Two ways to estimate a covariance at once."""
    if other:
        raise ValueError(
            f"covariance_estimator and {name} parameters are not None. Only one of the two can be set."
        )
