"""Linear discriminant analysis under scikit-learn's name and with its attributes."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Unpack
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from posterior import kernels
from posterior._types import Bools, Floats
from posterior.dataset import Chunk
from posterior.engines import LocalDataset
from posterior.estimators.device import DeviceTable, affine, explained_memory, is_device_array
from posterior.estimators.discriminant import (
    GaussianEstimator,
    refuse_both,
    refuse_solver,
    sklearn_shrinkage,
)
from posterior.estimators.parameters import Auto, ClassPriors, CovarianceEstimator, TableLike
from posterior.estimators.precision import LARGEST_SINGLE, shown
from posterior.estimators.presets import renormalized
from posterior.estimators.scanned_prediction import Writing, scores_scans
from posterior.families import Family, MultivariateNormal
from posterior.families.mending import OnSingular
from posterior.families.plug_in import PlugInNormal
from posterior.generative import GenerativeModel, Priors


class LinearForm(NamedTuple):
    """Scores (x − xbar)·coef + level of some columns, also as compiled code reads them."""

    columns: tuple[int, ...]
    xbar: Floats
    coef: Floats
    level: Floats
    scores: kernels.RowScores | kernels.WideScores

    @property
    def dense(self) -> int:
        """Cells of a row while it is scored; more where its scores are a large product."""
        return max(len(self.columns), self.scores.cells)


@dataclass(frozen=True, eq=False)
class LinearAnswers:
    """Writes linear scores of the rows of a chunk, or of many chunks by several threads."""

    model: GenerativeModel
    form: LinearForm
    two: bool

    def __call__(self, chunk: Chunk, out: Floats) -> None:
        """Write the scores of a chunk."""
        form = self.form
        if not form.columns:  # all rows are alike
            out[:] = form.level
            return
        odd = form.scores.answer(chunk.table(form.columns), np.zeros(len(form.level)), out, "scores")
        if odd is None or len(odd):
            self.settle(chunk, out, odd)

    def of_parts(self, chunk: Chunk, size: int, out: Floats) -> kernels.AnswersOfParts | None:
        """What writes the scores of every `size` rows, if compiled code does it."""
        form = self.form
        if not form.columns or not chunk.is_in_place(form.columns):
            return None
        even = np.zeros(len(form.level))
        return form.scores.answers_of_parts(chunk.table(form.columns), even, out, "scores", size)

    def settle(self, chunk: Chunk, out: Floats, _: Bools | None) -> None:
        """Write the scores of a chunk in steps; rows with gaps get log posteriors."""
        form, values = self.form, chunk.values(self.form.columns)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = np.asarray((values - form.xbar) @ form.coef.T + form.level)
        gaps = np.isnan(values).any(axis=1)
        if not np.isfinite(scores[~gaps]).all():
            self.model.refuse_overflow(chunk)
        if gaps.any():
            logs = self.model.chunk_log_posterior(chunk)[gaps]
            scores[gaps] = logs[:, 1:] - logs[:, :1] if self.two else logs
        with np.errstate(over="ignore"):
            out[:] = scores


# Worked out once a model, which takes longer than to score a hundred rows by it.
_forms: WeakKeyDictionary[GenerativeModel, LinearForm] = WeakKeyDictionary()


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GaussianEstimator):
    """Linear discriminant analysis with scikit-learn's interface: one covariance for all classes.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        Accepted for compatibility; every solver gives the same answer.
    shrinkage : "auto", float or None, default=None
        As in scikit-learn: Ledoit-Wolf by class, or an amount on the raw scale; with any solver.
    priors : array-like of shape (n_classes,), default=None
        Class priors; None uses the class frequencies in training. Given priors do not re-weight the
        covariance.
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
    on_singular : {"shrink", "pool", "error"}, default="shrink"
        What becomes of a covariance for which there are too few rows: blended with its diagonal, or with
        "error" refused.

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
        solver: Literal["svd", "lsqr", "eigen"] = "svd",
        shrinkage: float | Auto | None = None,
        priors: ClassPriors | None = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: CovarianceEstimator | None = None,
        *,
        bias: bool = True,
        on_singular: OnSingular = "shrink",
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.bias = bias
        self.on_singular = on_singular

    def _family(self) -> Family[Any]:
        refuse_solver(self.solver, ("svd", "lsqr", "eigen"))
        if self.n_components is not None and self.n_components < 1:
            raise ValueError(f"n_components must be at least 1, found {self.n_components}")
        if self.covariance_estimator is not None:
            refuse_both(self.shrinkage)
            refuse_both(not self.bias, "bias=False")
            return PlugInNormal(self.covariance_estimator, tied=True)
        shrink = sklearn_shrinkage(self.shrinkage)
        return MultivariateNormal(tied=1.0, shrinkage=shrink, bias=self.bias, on_singular=self.on_singular)

    def _priors(self) -> Priors:
        return Priors(None if self.priors is None else renormalized(self.priors))

    def _accept(self, model: GenerativeModel) -> None:
        most = min(len(model.classes) - 1, len(model.schema))
        if self.n_components is not None and self.n_components > most:
            raise ValueError(
                "n_components cannot be larger than min(n_features, n_classes - 1): it must lie between "
                f"1 and {most}, found {self.n_components}"
            )

    @property
    def _n_features_out(self) -> int:
        """Number of directions that `transform` gives: those along which the class means differ."""
        rank = int(self.scalings_.shape[1])
        return rank if self.n_components is None else min(rank, self.n_components)

    @property
    def covariance_(self) -> Floats:
        """Covariance within classes, (n_features, n_features); zero in columns that were left out."""
        columns, distribution = self._kept()
        d = len(self.schema_)
        if distribution is None:
            return np.zeros((d, d))
        return self._embedded(distribution.covariance[0], columns, axes=2)

    def _linear(self) -> tuple[Floats, Floats]:
        """Coefficients of every class, and the scores at `xbar_`, about which the scores are written."""
        columns, distribution = self._kept()
        if distribution is None:
            return np.zeros((len(self.classes_), len(self.schema_))), self.model_.log_prior
        white, _ = distribution._whiteners[0]
        apart = (distribution.location - distribution.location.average(self._class_priors())) @ white
        return self._embedded(apart @ white.T, columns), self.model_.log_prior - 0.5 * (apart**2).sum(axis=1)

    @scores_scans
    def decision_function(self, X: TableLike, **writing: Unpack[Writing]) -> Floats:
        """Linear scores, `X @ coef_.T + intercept_`: log posteriors up to a term that all classes share.

        With two classes the log odds of the second against the first, shape (n_samples,). A row with gaps
        gets log posteriors.
        """
        data = self._dataset(X)
        dtype, two = self._answer_type(data), len(self.classes_) == 2
        if self.model_ not in _forms:
            _forms[self.model_] = self._linear_form()
        form = _forms[self.model_]
        answers: Floats = np.asarray(np.empty((data.n_rows, len(form.level)), dtype))
        found = data.fill(LinearAnswers(self.model_, form, two), answers, dense=form.dense)
        return found[:, 0] if two else found

    def _linear_form(self) -> "LinearForm":
        """The linear scores of rows; with two classes their difference."""
        coef, level = self._linear()
        if len(self.classes_) == 2:
            coef, level = coef[1:] - coef[:1], level[1:] - level[:1]
        columns = tuple(self._kept()[0])
        xbar, coef = self._xbar()[list(columns)], coef[:, list(columns)]
        exact = np.zeros(len(xbar))
        return LinearForm(columns, xbar, coef, level, kernels.linear_scores(coef.T, level, xbar, exact))

    def _device_decision(self, table: DeviceTable) -> Any:
        """Linear scores of rows on a device."""
        if len(self.classes_) == 2:
            return super()._device_decision(table)
        coef, level = self._linear()
        columns = self._kept()[0]
        return affine(self._device_rows(table), columns, self.xbar_[columns], coef[:, columns].T, level)

    @property
    def coef_(self) -> Floats:
        """Weights of the linear scores; with two classes those of the log odds."""
        coef = self._linear()[0]
        return shown(coef[1:] - coef[:1] if len(self.classes_) == 2 else coef, self.schema_)

    @property
    def intercept_(self) -> Floats:
        """Intercepts of the linear scores; with two classes that of the log odds."""
        coef, level = self._linear()
        intercept = level - coef @ self._xbar()
        return shown(intercept[1:] - intercept[:1] if len(self.classes_) == 2 else intercept, self.schema_)

    @property
    def xbar_(self) -> Floats:
        """Mean of the class means, weighted by the priors."""
        return shown(self._xbar(), self.schema_)

    def _xbar(self) -> Floats:
        return np.asarray(self._class_priors() @ self._means())

    def _class_priors(self) -> Floats:
        return np.exp(self.model_.log_prior)

    @property
    def priors_(self) -> Floats:
        """Class priors, in the order of `classes_`."""
        return shown(self._class_priors(), self.schema_)

    def _directions(self) -> tuple[Floats, Floats]:
        """Directions (n_features, r) that make Σ the identity, and their share of what classes differ by."""
        columns, distribution = self._kept()
        if distribution is None:
            return np.zeros((len(self.schema_), 0)), np.zeros(0)
        white, _ = distribution._whiteners[0]
        apart = distribution.location - distribution.location.average(self._class_priors())
        centred = np.sqrt(self._class_priors())[:, None] * (apart @ white)
        _, size, rotation = np.linalg.svd(centred, full_matrices=False)
        rank = int((size > 1e-10 * max(size[0], 1e-300)).sum())
        rank = min(rank, len(self.classes_) - 1)
        directions = white @ rotation[:rank].T
        sign = np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(rank)])
        share = (size[:rank] / max(size[0], 1e-300)) ** 2  # relative first: the square itself may overflow
        return self._embedded((directions * sign).T, columns).T, share / max(share.sum(), 1.0)

    @property
    def scalings_(self) -> Floats:
        """Directions of `transform`, in the order of the variance between classes."""
        return shown(self._directions()[0], self.schema_)

    @property
    def explained_variance_ratio_(self) -> Floats:
        """Share of the variance between classes along each direction."""
        return shown(self._directions()[1][: self._n_features_out], self.schema_)

    def transform(self, X: TableLike) -> Floats:
        """Coordinates in which the classes are spherical and furthest apart, (n_samples, n_components).

        A row with gaps gets the coordinates to be expected of it, given the values that are there.
        """
        check_is_fitted(self)
        if is_device_array(X):
            with explained_memory():
                return self._device_transform(DeviceTable(X))  # type: ignore[no-any-return]  # an array there
        data: LocalDataset = self._dataset(X)
        columns, distribution = self._kept()
        if distribution is None:
            return np.zeros((data.n_rows, 0), self._answer_type(data))
        directions = self._directions()[0][columns, : self._n_features_out]
        xbar, dtype = self._xbar()[columns], self._answer_type(data)

        def coordinates(chunk: Chunk) -> Floats:
            values = chunk.values(tuple(columns))
            if kernels.has_missing(values):
                values = distribution.filled(values, np.exp(self.model_.chunk_log_posterior(chunk)))
            with np.errstate(over="ignore", invalid="ignore"):
                found = np.asarray((values - xbar) @ directions)
            if not np.isfinite(found).all():
                self.model_.refuse_overflow(chunk)
            return found

        found = data.map(coordinates, dense=len(columns))
        fits = (np.abs(found) <= LARGEST_SINGLE).all()
        return found.astype(dtype, copy=False) if fits else found

    def _device_transform(self, table: DeviceTable) -> Any:
        """The coordinates of rows on a device."""
        columns = self._kept()[0]
        directions = self.scalings_[columns, : self._n_features_out]
        level = np.zeros(directions.shape[1])
        return affine(self._device_rows(table), columns, self.xbar_[columns], directions, level)
