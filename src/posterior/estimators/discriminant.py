"""Gaussian discriminant analysis: QDA, LDA and all between, as settings of one family."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from posterior._types import AnyArray, Floats
from posterior.engines import LocalDataset
from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.naive_bayes import all_columns_as
from posterior.families import Family, MultivariateNormal, MultivariateNormalDistribution
from posterior.families.plug_in import PlugInNormal
from posterior.families.shrinkage import LedoitWolfByClass, RawFixed, RawIdentity, Shrinkage
from posterior.generative import Block, GenerativeSpec, Priors
from posterior.schema import Schema, Source
from posterior.stats import Scatter


class GaussianEstimator(GenerativeEstimator):
    """One Gaussian block over all columns; a preset says which `_family`."""

    def _family(self) -> Family[Any]:
        raise NotImplementedError

    def _schema(self, source: Source, kinds: Any = None) -> Schema:
        return all_columns_as(source, "continuous", kinds)

    def _spec(self, schema: Schema, source: Source) -> GenerativeSpec:
        return GenerativeSpec((Block(tuple(range(len(schema))), self._family()),), self._priors())

    def _kept(self) -> tuple[list[int], MultivariateNormalDistribution | None]:
        """The columns that the density describes, and the density."""
        for block, distribution in self.model_.distributions:
            assert isinstance(distribution, MultivariateNormalDistribution)  # noqa: S101
            return list(block.columns), distribution
        return [], None

    def _embedded(self, values: Floats, columns: list[int], axes: int = 1) -> Floats:
        """Values of the kept columns in arrays over all columns, 0 elsewhere."""
        d = self.n_features_in_
        out = np.zeros((*values.shape[: values.ndim - axes], *(d,) * axes))
        index: Any = (..., *np.ix_(*(columns,) * axes))
        out[index] = values
        return out

    @property
    def means_(self) -> Floats:
        """Class means, (n_classes, n_features)."""
        statistics = self.model_.statistics
        if statistics is not None and isinstance(statistics.blocks[0], Scatter):
            return statistics.blocks[0].location.value
        columns, distribution = self._kept()
        return self._embedded(
            np.zeros((len(self.classes_), 0)) if distribution is None else distribution.mean, columns
        )

    @property
    def priors_(self) -> Floats:
        """Class priors."""
        return np.exp(self.model_.log_prior)

    def decision_function(self, X: Any) -> Floats:
        """Log posteriors; with two classes the log odds of the second against the first, (n_samples,)."""
        data = self._dataset(X)
        scores = self.model_.log_posterior(data)
        return np.asarray(scores[:, 1] - scores[:, 0]) if len(self.classes_) == 2 else scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False  # gaps are integrated out in prediction, but not in training
        return tags


class GaussianDiscriminantAnalysis(GaussianEstimator):
    """A Gaussian density for each class, from QDA to LDA and from full to spherical covariances.

    Parameters
    ----------
    tied : float, default=0.0
        0 gives each class its own covariance (QDA), 1 one to all (LDA), a number between them the
        regularised discriminant analysis (1−tied)·own + tied·shared.
    shape : {"full", "diagonal", "spherical"}, default="full"
        Shape of the covariances; "diagonal" is naive Bayes.
    shrinkage : None, float, "oas" or "ledoit-wolf", default=None
        Pull of the correlations towards zero: an amount between 0 and 1, or estimated.
    bias : bool, default=True
        Divide by N (maximum likelihood); False divides by N−1, or N−K where shared, as R's MASS does.
    priors : None, "uniform", array-like or mapping, default=None
        Class priors; None takes the class frequencies.
    prior_smoothing : float, default=0.0
        Added to the count of every class.

    Attributes
    ----------
    means_ : ndarray of shape (n_classes, n_features)
        Class means.
    covariance_ : ndarray of shape (n_classes, n_features, n_features)
        Class covariances.
    priors_ : ndarray of shape (n_classes,)
        Class priors.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where the table had any.

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
        tied: float = 0.0,
        shape: Any = "full",
        shrinkage: Any = None,
        bias: bool = True,
        priors: Any = None,
        prior_smoothing: float = 0.0,
    ) -> None:
        self.tied = tied
        self.shape = shape
        self.shrinkage = shrinkage
        self.bias = bias
        self.priors = priors
        self.prior_smoothing = prior_smoothing

    def _family(self) -> Family[Any]:
        return MultivariateNormal(tied=self.tied, shape=self.shape, shrinkage=self.shrinkage, bias=self.bias)

    @property
    def covariance_(self) -> Floats:
        """Class covariances, (n_classes, n_features, n_features); zero in columns that were left out."""
        columns, distribution = self._kept()
        if distribution is None:
            return np.zeros((len(self.classes_), self.n_features_in_, self.n_features_in_))
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


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GaussianEstimator):
    """Linear discriminant analysis with scikit-learn's interface: one covariance for all classes.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        Accepted for compatibility; every solver gives the same answer.
    shrinkage : "auto", float or None, default=None
        As in scikit-learn: Ledoit-Wolf by class, or an amount on the raw scale; with any solver.
    priors : array-like of shape (n_classes,), default=None
        Class priors; None takes the class frequencies. Given priors do not re-weight the covariance.
    n_components : int, default=None
        Number of directions of `transform`, at most min(n_classes − 1, n_features).
    store_covariance : bool, default=False
        Accepted for compatibility; `covariance_` is always there.
    tol : float, default=1e-4
        Accepted for compatibility; redundant columns are found by their own rule and named.
    covariance_estimator : object, default=None
        An estimator with `fit` and `covariance_`, used for each class instead.
    bias : bool, default=True
        Divide by N (maximum likelihood, as scikit-learn); False by N − K (as R's MASS).

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the linear scores.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts of the linear scores.
    covariance_ : ndarray of shape (n_features, n_features)
        Covariance within classes.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the variance between classes along each direction.
    means_ : ndarray of shape (n_classes, n_features)
        Class means.
    priors_ : ndarray of shape (n_classes,)
        Class priors.
    scalings_ : ndarray of shape (n_features, n_directions)
        Directions of `transform`.
    xbar_ : ndarray of shape (n_features,)
        Mean of the class means, weighted by the priors.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.

    Examples
    --------
    >>> from posterior import LinearDiscriminantAnalysis
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> model = LinearDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]])
    array([1])

    """

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.bias = bias

    def _family(self) -> Family[Any]:
        refuse_solver(self.solver, ("svd", "lsqr", "eigen"))
        if self.covariance_estimator is not None:
            refuse_both(self.shrinkage)
            return PlugInNormal(self.covariance_estimator, tied=True)
        return MultivariateNormal(tied=1.0, shrinkage=sklearn_shrinkage(self.shrinkage), bias=self.bias)

    def _priors(self) -> Priors:
        if self.priors is None or isinstance(self.priors, str | dict):
            return Priors(self.priors)
        given = np.asarray(self.priors, dtype=np.float64)
        total = float(given.sum())
        if total > 0 and abs(total - 1) > 1e-5:
            warnings.warn("The priors do not sum to 1. Renormalizing", UserWarning, stacklevel=4)
            given = given / total
        return Priors(given)

    def _install(self, model: Any, source: Source | None) -> None:
        most = min(len(model.classes) - 1, len(model.schema))
        if self.n_components is not None and self.n_components > most:
            raise ValueError(
                f"n_components cannot be larger than min(n_features, n_classes - 1) = {most}, "
                f"found {self.n_components}"
            )
        super()._install(model, source)
        self._n_features_out = most if self.n_components is None else self.n_components

    @property
    def covariance_(self) -> Floats:
        """Covariance within classes, (n_features, n_features); zero in columns that were left out."""
        columns, distribution = self._kept()
        d = self.n_features_in_
        if distribution is None:
            return np.zeros((d, d))
        return self._embedded(distribution.covariance[0], columns, axes=2)

    def _linear(self) -> tuple[Floats, Floats]:
        columns, distribution = self._kept()
        K = len(self.classes_)
        if distribution is None:
            return np.zeros((K, self.n_features_in_)), self.model_.log_prior
        form = distribution.quadratic().shifted(self.model_.log_prior).linear_form()
        intercept = form.intercept - form.coef @ form.centre
        return self._embedded(form.coef, columns), intercept

    @property
    def coef_(self) -> Floats:
        """Weights of the linear scores; with two classes those of the log odds."""
        coef = self._linear()[0]
        return coef[1:] - coef[:1] if len(self.classes_) == 2 else coef

    @property
    def intercept_(self) -> Floats:
        """Intercepts of the linear scores; with two classes that of the log odds."""
        intercept = self._linear()[1]
        return intercept[1:] - intercept[:1] if len(self.classes_) == 2 else intercept

    @property
    def xbar_(self) -> Floats:
        """Mean of the class means, weighted by the priors."""
        return np.asarray(self.priors_ @ self.means_)

    def _directions(self) -> tuple[Floats, Floats]:
        """Directions (n_features, r) that make Σ the identity, and the variance between classes on them."""
        columns, distribution = self._kept()
        if distribution is None:
            return np.zeros((self.n_features_in_, 0)), np.zeros(0)
        white, _ = distribution._whiteners[0]
        apart = distribution.location - distribution.location.average(self.priors_)
        centred = np.sqrt(self.priors_)[:, None] * (apart @ white)
        _, size, rotation = np.linalg.svd(centred, full_matrices=False)
        rank = int((size > 1e-10 * max(size[0], 1e-300)).sum())
        rank = min(rank, len(self.classes_) - 1)
        directions = white @ rotation[:rank].T
        sign = np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(rank)])
        return self._embedded((directions * sign).T, columns).T, size[:rank] ** 2

    @property
    def scalings_(self) -> Floats:
        """Directions of `transform`, in the order of the variance between classes."""
        return self._directions()[0]

    @property
    def explained_variance_ratio_(self) -> Floats:
        """Share of the variance between classes along each direction."""
        spread = self._directions()[1]
        return np.asarray((spread / spread.sum() if spread.sum() > 0 else spread)[: self._n_features_out])

    def transform(self, X: Any) -> Floats:
        """Coordinates in which the classes are spherical and furthest apart, (n_samples, n_components)."""
        check_is_fitted(self)
        data: LocalDataset = self._dataset(X)
        directions, xbar = self.scalings_[:, : self._n_features_out], self.xbar_
        every = tuple(range(self.n_features_in_))
        return data.map(lambda chunk: np.asarray((chunk.values(every) - xbar) @ directions))


def refuse_both(shrinkage: Any) -> None:
    """Two ways to estimate a covariance at once."""
    if shrinkage is not None and shrinkage != 0:
        raise ValueError(
            "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set."
        )


class QuadraticDiscriminantAnalysis(GaussianEstimator):
    """Quadratic discriminant analysis with scikit-learn's interface: a covariance for each class.

    Parameters
    ----------
    solver : {"svd", "eigen"}, default="svd"
        Accepted for compatibility; every solver gives the same answer.
    shrinkage : "auto", float or None, default=None
        As in scikit-learn: Ledoit-Wolf, or an amount on the raw scale; with any solver.
    priors : array-like of shape (n_classes,), default=None
        Class priors; None takes the class frequencies.
    reg_param : float, default=0.0
        As in scikit-learn: (1−reg_param)·Σ + reg_param·I in the units of the data.
    store_covariance : bool, default=False
        Accepted for compatibility; `covariance_` is always there.
    tol : float, default=1e-4
        Accepted for compatibility; what the data do not determine is repaired by a stated rule.
    covariance_estimator : object, default=None
        An estimator with `fit` and `covariance_`, used for each class instead.
    bias : bool, default=True
        Divide by N (maximum likelihood, as scikit-learn); False by N − 1 (as R's MASS).

    Attributes
    ----------
    covariance_ : list of ndarray of shape (n_features, n_features)
        Class covariances.
    means_ : ndarray of shape (n_classes, n_features)
        Class means.
    priors_ : ndarray of shape (n_classes,)
        Class priors.
    rotations_, scalings_ : list of ndarray
        Principal axes of each class and the variances along them.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.

    Examples
    --------
    >>> from posterior import QuadraticDiscriminantAnalysis
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> model = QuadraticDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]])
    array([1])

    """

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        bias: bool = True,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.bias = bias

    def _family(self) -> Family[Any]:
        refuse_solver(self.solver, ("svd", "eigen"))
        if not 0 <= self.reg_param <= 1:
            raise ValueError(f"reg_param must lie between 0 and 1, found {self.reg_param!r}")
        if self.covariance_estimator is not None:
            refuse_both(self.shrinkage)
            return PlugInNormal(self.covariance_estimator, tied=False)
        shrink = RawIdentity(self.reg_param) if self.reg_param > 0 else sklearn_shrinkage(self.shrinkage)
        return MultivariateNormal(tied=0.0, shrinkage=shrink, bias=self.bias)

    @property
    def covariance_(self) -> list[Floats]:
        """Class covariances; zero in columns that were left out."""
        columns, distribution = self._kept()
        d = self.n_features_in_
        if distribution is None:
            return [np.zeros((d, d)) for _ in self.classes_]
        return [self._embedded(c, columns, axes=2) for c in distribution.covariance]

    def _axes(self) -> list[tuple[AnyArray, AnyArray]]:
        columns, distribution = self._kept()
        if distribution is None:
            return [(np.zeros(0), np.zeros((self.n_features_in_, 0))) for _ in self.classes_]
        pairs = [np.linalg.eigh(c) for c in distribution.covariance]
        return [(s[::-1], self._embedded(r[:, ::-1].T, columns).T) for s, r in pairs]

    @property
    def rotations_(self) -> list[Floats]:
        """Principal axes of each class, the widest first."""
        return [rotation for _, rotation in self._axes()]

    @property
    def scalings_(self) -> list[Floats]:
        """Variances along the principal axes."""
        return [scaling for scaling, _ in self._axes()]
