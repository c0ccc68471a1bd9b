"""Linear regression behind scikit-learn's interface: mean or median of a number given the columns."""

from functools import cache
from typing import Any, Literal, Self, Unpack, overload

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from posterior._text import first_true
from posterior._types import Floats
from posterior.engines import ScannedTable
from posterior.estimators.callbacks import with_callbacks
from posterior.estimators.contributions import NumberContributions
from posterior.estimators.criteria import InformationCriteria
from posterior.estimators.linear_settings import LinearFit, best_degree, chosen_strength, fold_rows
from posterior.estimators.parameters import (
    Auto,
    Degree,
    Kinds,
    Missing,
    Numbers,
    RandomState,
    TableLike,
    Weights,
)
from posterior.estimators.penalty import is_number
from posterior.estimators.precision import in_double, shown
from posterior.estimators.scanned_prediction import ScoresNumbers, Writing, scores_scans
from posterior.estimators.target import counted, read_numbers, read_weights, scanned_table
from posterior.estimators.training_rows import (
    RowsElsewhere,
    TrainingRows,
    refuse_one_reading,
    settled_by_sample,
    taken_over,
)
from posterior.linear import (
    ElasticNet,
    GaussianLoss,
    LaplaceLoss,
    LinearModel,
    Loss,
    Problem,
    Scan,
    Solver,
    solve,
    with_settings,
)
from posterior.linear.inference import Kind as CovarianceKind
from posterior.linear.losses import Noise
from posterior.linear.summary import Summary
from posterior.schema import read_table
from posterior.stats.base import LARGEST_VALUE

NOISES: dict[str, Loss] = {"normal": GaussianLoss(), "laplace": LaplaceLoss()}
PENALTIES = (None, "l2", "l1", "elasticnet")

# Noise below this share of the largest target is rounding: the rows are fitted exactly.
ROUNDING = 16 * float(np.finfo(np.float64).eps)


class LinearRegression(ScoresNumbers, RegressorMixin, InformationCriteria):
    """Linear regression by (penalised) maximum likelihood, with normal or Laplace noise.

    y = x·w + b + noise. With normal noise the score is the conditional mean, and least squares the maximum of
    the likelihood, reached in one Newton step; the precision of the noise, one over its variance, comes with
    it. With Laplace noise the score is the conditional median, and the sum of absolute deviations is
    minimised, in which an outlier counts by its side alone. Takes the place of scikit-learn's class of the
    same name and, with a penalty, of Ridge, Lasso and ElasticNet, whose scaling of `alpha` it keeps.

    Parameters
    ----------
    noise : {"normal", "laplace"} or loss, default="normal"
        The distribution of the noise, or a loss of your own (`posterior.linear.Loss`, one score), which is
        minimised instead; what it declares decides which methods are available.
    fit_intercept : bool, default=True
        Whether the score has an intercept, which is never penalised.
    penalty : {None, "l2", "l1", "elasticnet"}, default=None
        "l2" minimises Σ r² + alpha ‖w‖², as Ridge does; "l1" and "elasticnet" minimise ½ mean r² +
        alpha (l1_ratio ‖w‖₁ + ½ (1 − l1_ratio) ‖w‖²), as Lasso and ElasticNet do. With normal noise only.
    alpha : float or "auto", default=1.0
        The strength of the penalty. "auto" chooses it by exact leave-one-out ("l2") or ten folds ("l1",
        "elasticnet"); `choice_` has the losses.
    l1_ratio : float, default=0.5
        The lasso's share of an elastic net.
    standardize : bool, default=False
        Whether the penalty acts on the coefficients of standardised columns; `coef_` stays in the units of
        the table. Without a penalty it has no effect.
    solver : str or solver, default="auto"
        "auto" chooses by the noise, the number of columns and the penalty; else a name such as "lbfgs", or an
        object such as `posterior.linear.Newton(path=True)`. Laplace noise has a solver of its own.
    tol : float, default=None
        The relative gradient, or with Laplace noise the relative gap, at which a solver stops; None is the
        solver's own.
    max_iter : int, default=None
        Maximum number of steps; None is the default of the solver.
    missing : {"error", "indicator"}, default="error"
        Raise an error for missing values, or replace them by the training mean and add an indicator column.
    degree : {1, 2, "auto"}, default=1
        2 adds squares and products of the centred numeric columns; "auto" chooses by the loss on left-out
        rows (`degree_`).
    kinds : dict, default=None
        Kinds of columns that differ from what would be inferred: `{"zip": "categorical"}`.
    random_state : int, default=None
        The seed of SGD; nothing else is random.
    copy_X, n_jobs
        Accepted for compatibility with scikit-learn; they have no effect.
    positive : bool, default=False
        Not supported; True raises an error.

    Attributes
    ----------
    coef_, intercept_ : array of shape (n_terms,) and float
        What multiplies the columns named by `terms_`, and the score where all are zero.
    noise_scale_ : float
        Standard deviation of normal noise, or mean absolute size of Laplace noise, by maximum likelihood; NaN
        for a loss that declares no noise.
    n_iter_ : int
        Steps of the solver.
    alpha_, degree_ : float and int
        The strength and the degree that were used; `choice_` and `degree_losses_` say what else was tried.
    terms_ : tuple of str
        The term of each coefficient: `age`, `state[CA]`, `age[missing]`, `age^2`, `age:income`.
    converged_, certificate_ : bool, Certificate or None
        Whether the optimum was reached, and an upper bound on how far the objective is above it.
    log_likelihood_, aic_, bic_ : float
        Log-likelihood of the training rows, Σ ln p(y | row), and Akaike's and Schwarz's criteria.
    n_parameters_ : float
        Number of free coefficients; under a penalty the effective number, the trace of H(H + P)⁻¹.
    noise_precision_ : float
        One over the variance of the noise.
    choice_, degree_losses_ : object or None, dict or None
        The candidates and their losses, if a setting was "auto".
    best_params_ : dict
        The values chosen for the settings that were "auto", by name.
    solution_, fit_ : Solution, Fit
        How the optimum was reached: steps, certificate, path; and the problem that was solved.
    model_, design_ : LinearModel, Design
        The scores as a function, and which numbers are made of a row.
    schema_, n_features_in_ : Schema, int
        How each column was read, and their number.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where the table had any.
    target_name_, weight_ : str or None, float
        Name of what is predicted, where the table told, and the weight of all rows.

    Examples
    --------
    >>> from posterior import LinearRegression
    >>> X, y = [[1.0], [2.0], [3.0], [4.0], [5.0]], [1.1, 2.0, 2.9, 4.0, 50.0]
    >>> LinearRegression().fit(X, y).coef_.round(2)
    array([9.98])
    >>> model = LinearRegression(noise="laplace").fit(X, y)
    >>> model.coef_.round(2), model.converged_
    (array([1.]), True)
    >>> model.predict_distribution([[6.0]]).median()
    array([6.])

    """

    noise_scale_: float
    weight_: float

    def __init__(
        self,
        *,
        noise: Literal["normal", "laplace"] | Loss = "normal",
        fit_intercept: bool = True,
        penalty: Literal["l2", "l1", "elasticnet"] | None = None,
        alpha: float | Auto = 1.0,
        l1_ratio: float = 0.5,
        standardize: bool = False,
        solver: str | Solver = "auto",
        tol: float | None = None,
        max_iter: int | None = None,
        missing: Missing = "error",
        degree: Degree | Auto = 1,
        kinds: Kinds | None = None,
        random_state: RandomState | None = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
        positive: bool = False,
    ) -> None:
        self.noise = noise
        self.fit_intercept = fit_intercept
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.standardize = standardize
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.missing = missing
        self.degree = degree
        self.kinds = kinds
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.positive = positive

    # -- learning ---------------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: TableLike, y: Numbers | None = None, sample_weight: Weights | None = None) -> Self:
        """Learn from a table and the column to predict.

        Parameters
        ----------
        X : array, sparse matrix, list or data frame of shape (n_samples, n_features)
            Numbers and categories; gaps where `missing="indicator"`.
        y : array-like of shape (n_samples,)
            The number of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight 2 is the row twice, weight 0 the row not at all.

        Returns
        -------
        self : object
            The fitted estimator.

        """
        self._check_settings()
        if isinstance(X, ScannedTable):
            return self._fit_scan(scanned_table(X, y, sample_weight, type(self).__name__))
        source = read_table(X)
        numbers = read_numbers(y, source.n_rows, type(self).__name__)
        source, target, weight = counted(source, numbers, read_weights(sample_weight, numbers, classes=False))
        return self._fit_rows(TrainingRows(source, target, weight), getattr(y, "name", None))

    def _fit_scan(self, table: Any) -> Self:
        """Learn from rows where they live; settings that are "auto" are chosen by a sample of them."""
        refuse_one_reading(table, type(self).__name__)
        if self._loss.kinked:
            raise ValueError(
                f"noise={self.noise!r} is fitted by a solver that holds all rows; fit to a sample: "
                "X, y, weight = scan.sample(100_000)"
            )
        rows = RowsElsewhere.scanned(table, classes=False)
        taken_over(self, settled_by_sample(self, table, classes=False)._fit_rows(rows, table.target))
        return self

    def _fit_rows(self, rows: TrainingRows, name: Any) -> Self:
        """Learn from rows, wherever they are; `name` is that of the target."""
        total, (mean, largest), noise = rows.total, rows.mean_target(), self._loss.noise
        folds = cache(lambda: fold_rows(*rows.strata))

        def fitted(learnt: LinearFit) -> dict[str, Any]:
            scale = float("nan") if noise is None else noise.scale(learnt.fit.solution.point.loss)
            return {
                "fit_": learnt.shown,
                "coef_": shown(learnt.shown.model.coef[0].copy(), learnt.design.schema),
                "intercept_": float(learnt.shown.model.intercept[0]),
                "n_iter_": learnt.fit.solution.iterations,
                "weight_": total,
                "target_name_": None if name is None else str(name),
                "noise_scale_": 0.0 if scale <= ROUNDING * largest else scale,
            }

        def learn(degree: int) -> LinearFit:
            scan = self._learning(rows, reference=self.penalty is None, degree=degree)
            design, scaled = scan.design, None
            if self.standardize and self.penalty is not None:  # else no units of the columns matter
                scan, scaled = rows.scaled(scan)
            problem = Problem(scan, self._loss, self._net(total), bool(self.fit_intercept))
            solver = self._chosen(problem)
            self._shown_on_the_way(design, lambda fit: fitted(LinearFit(degree, design, fit, scaled)))
            if self._is_open:
                choice, fit = chosen_strength(problem, solver, total, self._l1_share, folds)
                return LinearFit(degree, design, fit, scaled, choice=choice)
            fit = solve(problem, solver, self._mean(scan, mean))
            return LinearFit(degree, design, fit, scaled, problem, solver)

        learnt, chosen = best_degree(self.degree, learn, folds)
        choice = learnt.choice
        best: Any = self.alpha
        if choice is not None:
            best = choice.best if self.penalty == "l2" else choice.best / total
        self._install(
            learnt.design, learnt.shown.model, **fitted(learnt), **chosen, choice_=choice, alpha_=best
        )
        self._report(learnt.fit)
        self._report_edge("alpha", best, choice, self._l1_share)
        return self

    @property
    def _is_open(self) -> bool:
        """Whether the strength of the penalty is to be chosen."""
        return self.penalty is not None and isinstance(self.alpha, str)

    @property
    def _l1_share(self) -> float:
        """The lasso's share of the penalty."""
        return {None: 0.0, "l2": 0.0, "l1": 1.0}.get(self.penalty, self.l1_ratio)

    def _restored(self) -> str:
        """Set what follows from the attributes in a model file: one score, and noise of some size."""
        known, scale = self._loss.noise is not None, self.noise_scale_
        if self.coef_.ndim != 1:
            return "coefficients of several scores"
        return (
            super()._restored()
            or self._impossible_coefficients(1)
            or first_true(
                {
                    "noise of no size": not (0 <= scale <= LARGEST_VALUE if known else np.isnan(scale)),
                    "rows of no weight": not 0 < self.weight_ < np.inf,
                }
            )
        )

    def _check_settings(self) -> None:
        """Refuse settings that do not go together."""
        loss = self._loss
        if loss.n_scores != 1 or loss.n_classes:
            raise ValueError(f"a regression needs a loss of one score for a number, found {loss!r}")
        if self.penalty not in PENALTIES:
            raise ValueError(f"penalty={self.penalty!r} is not known; choose one of {PENALTIES}")
        if self.positive:
            raise ValueError(
                "positive=True asks for coefficients that are not negative, which is not offered; use "
                "scikit-learn's LinearRegression(positive=True)"
            )
        number = not isinstance(self.alpha, str) and is_number(self.alpha) and 0 <= self.alpha < np.inf
        if self.penalty is not None and not (number or self.alpha == "auto"):
            raise ValueError(f'alpha must be a number that is not negative, found {self.alpha!r}, or "auto"')
        if self.penalty is None and self.alpha == "auto":
            raise ValueError(
                'alpha="auto" chooses the strength of a penalty, and there is none; pass penalty="l2", '
                '"l1" or "elasticnet"'
            )
        if self.penalty == "elasticnet" and not (is_number(self.l1_ratio) and 0 <= self.l1_ratio <= 1):
            raise ValueError(
                f"l1_ratio must be a number from 0 (ridge) to 1 (lasso), found {self.l1_ratio!r}"
            )
        if loss.kinked and self.penalty is not None:
            raise ValueError(
                f"penalty={self.penalty!r} goes with normal noise: least absolute deviations are solved as a "
                "linear program, to a proven gap, and a penalty would need another method; use penalty=None, "
                'or noise="normal"'
            )

    @property
    def _loss(self) -> Loss:
        """The loss that `noise` stands for."""
        if isinstance(self.noise, Loss):
            return self.noise
        if not isinstance(self.noise, str) or self.noise not in NOISES:
            raise ValueError(
                f"noise={self.noise!r} is not known; choose one of {tuple(NOISES)}, or pass a loss object"
            )
        return NOISES[self.noise]

    def _net(self, total: float) -> ElasticNet:
        """The penalty in units of the mean loss, by scikit-learn's conventions."""
        if self.penalty is None:
            return ElasticNet()
        share = self._l1_share
        if isinstance(self.alpha, str):  # one to be chosen
            return ElasticNet(share / total, (1.0 - share) / total)
        if self.penalty == "l2":
            return ElasticNet(l2=self.alpha / total)
        return ElasticNet(self.alpha * share, self.alpha * (1.0 - share))

    def _chosen(self, problem: Problem) -> Solver:
        solver = self._solver()
        if solver is None:
            return with_settings(problem.solver(), tol=self.tol, max_iter=self.max_iter)
        if solver.kinked_losses != self._loss.kinked:
            raise ValueError(
                f"solver={self.solver!r} does not go with noise={self.noise!r}: least absolute deviations "
                'have kinks everywhere and a solver of their own, LeastAbsolute; use solver="auto"'
            )
        return solver

    def _mean(self, scan: Scan, mean: float) -> LinearModel | None:
        """The model without coefficients: a start from which an offset of the target costs no digits."""
        if not self.fit_intercept:
            return None
        d = scan.n_features
        return LinearModel(np.zeros((1, d)), np.array([mean]), np.zeros(d))

    # -- prediction -------------------------------------------------------------------------------

    @overload
    def predict(
        self, X: TableLike, return_std: Literal[False] = False, **writing: Unpack[Writing]
    ) -> Floats: ...
    @overload
    def predict(
        self, X: TableLike, return_std: Literal[True], **writing: Unpack[Writing]
    ) -> tuple[Floats, Floats]: ...
    @scores_scans
    def predict(self, X: TableLike, return_std: bool = False, **writing: Unpack[Writing]) -> Any:
        """The mean of each row's number, which for Laplace noise is also its median.

        With `return_std` also the standard deviation of the noise, the same for every row: maximum likelihood
        takes the coefficients as known.
        """
        scan = self._reading(X, scored=True)
        score = self._current.read(scan, self._answer_type(scan))[:, 0]
        if not return_std:
            return score
        return score, np.full(len(score), 1.0 / np.sqrt(self.noise_precision_), score.dtype)

    def predict_distribution(self, X: TableLike) -> Any:
        """What each row's number may be: a frozen distribution of `scipy.stats`, one entry a row.

        It has `pdf`, `cdf`, `interval`, `rvs` and so on.
        """
        noise = self._noise
        with in_double():
            score = self.predict(X)
        if self.noise_scale_ == 0:
            raise ValueError(
                "every training row is fitted exactly, so that there is no noise to tell the distribution "
                "of; use more rows or fewer columns"
            )
        return noise.distribution(score, self.noise_scale_)

    def contributions(self, X: TableLike) -> NumberContributions:
        """Predicted numbers by column of the table, adding up to what `predict` says.

        The baseline is the number predicted at the means of training (at zero for solvers that do not centre
        the columns). A column adds Σ coef·(x − mean) over its levels, its gaps and its square; a product of
        two columns is a term of its own, "a:b".

        >>> from posterior.datasets import load_penguins
        >>> penguins = load_penguins().frame.dropna()
        >>> X, y = penguins[["bill_depth_mm", "sex"]], penguins["body_mass_g"]
        >>> print(LinearRegression().fit(X, y).contributions(X[:1]))
        predicted: 4303.54
          baseline       +4207.06
          sex            +556.012
          bill_depth_mm  -459.531

        """
        scan, model = self._reading(X), self._current
        names, terms = model.score_terms(scan)
        return NumberContributions(names, terms[:, :, 0], model.read(scan)[:, 0])

    # -- what can be read off ---------------------------------------------------------------------

    @property
    def noise_precision_(self) -> float:
        """One over the variance of the noise: W/Σ w r² if it is normal, 1/2b² if Laplace of scale b."""
        variance = self._noise.variance(self.noise_scale_)
        return float("inf") if variance == 0 else 1.0 / variance

    @property
    def log_likelihood_(self) -> float:
        """Log-likelihood of the training rows, Σ w ln p(y | x), with the noise that makes it largest."""
        noise = self._noise
        if self.noise_scale_ == 0:
            return float("inf")
        return noise.log_likelihood(self.noise_scale_, self.weight_)

    @property
    def _noise(self) -> Noise:
        """The distribution of the numbers about their scores, if the loss has one."""
        noise = self._loss.noise
        if noise is None:
            raise ValueError(
                f"{type(self._loss).__name__} declares no distribution of the noise (`noise`), so that only "
                'predictions can be asked for; declare one, or use noise="normal"'
            )
        return noise

    def summary(self, covariance: CovarianceKind = "model", level: float = 0.95) -> Summary:
        """Coefficients with standard errors, tests and intervals, and how well the model fits.

        For normal noise without a penalty; `covariance="sandwich"` does not trust its variance to be the same
        for all rows. Of a ridge it tells standard deviations and intervals of the posterior, the coefficients
        having the normal prior that the ridge stands for, and no tests.
        """
        check_is_fitted(self)
        if self.noise_scale_ == 0:
            raise ValueError(
                "every training row is fitted exactly, so that there is no noise to reckon standard errors "
                "from; use more rows or fewer columns"
            )
        return self._summarized(covariance, level)
