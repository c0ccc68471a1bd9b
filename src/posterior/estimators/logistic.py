"""Logistic and softmax regression behind scikit-learn's interface."""

import warnings
from collections.abc import Mapping
from functools import cache
from inspect import cleandoc
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from posterior._blas import one_blas_thread
from posterior._text import first_true
from posterior._types import AnyArray, Floats
from posterior.bayes import impossible_priors
from posterior.engines import ScannedTable
from posterior.estimators.callbacks import with_callbacks
from posterior.estimators.criteria import InformationCriteria
from posterior.estimators.device import explained_memory, is_device_array, show_there, training_of
from posterior.estimators.device_regression import RowsOnDevice, refuse_other_solvers
from posterior.estimators.linear import seed_of
from posterior.estimators.linear_probabilities import LinearProbabilities
from posterior.estimators.linear_settings import LinearFit, best_degree, chosen_strength, fold_rows
from posterior.estimators.parameters import (
    Auto,
    Degree,
    Kinds,
    Labels,
    Missing,
    RandomState,
    TableLike,
    Weights,
)
from posterior.estimators.penalty import PenaltySetting
from posterior.estimators.precision import in_double, shown
from posterior.estimators.scanned_parts import added_batches
from posterior.estimators.state import RefusedError, install
from posterior.estimators.target import labelled_table, refuse_wild_weights, scanned_table
from posterior.estimators.training_rows import (
    RowsElsewhere,
    TrainingRows,
    refuse_one_reading,
    settled_by_sample,
    taken_over,
)
from posterior.linear import (
    SGD,
    Design,
    IncrementalSolver,
    LinearModel,
    Scan,
    SoftmaxLoss,
    Solver,
    solve,
    with_settings,
)
from posterior.linear.incremental import IncrementalFit
from posterior.linear.inference import Kind as CovarianceKind
from posterior.linear.leave_one_out import leave_one_out_log_proba
from posterior.linear.separation import Separation
from posterior.linear.summary import Summary
from posterior.notices import PosteriorWarning, SeparationWarning, warn
from posterior.schema import LabelledTable
from posterior.schema.classes import refuse_one_class
from posterior.schema.select import ColumnSelection


class LogisticRegression(LinearProbabilities, InformationCriteria):
    """Logistic and softmax regression by (penalised) maximum likelihood, for two classes or more.

    p(class k | x) ∝ exp(x·w_k + b_k). For two classes there is one vector of coefficients, for more one a
    class, and they sum to zero over the classes. Takes the place of scikit-learn's class of the same name:
    the objective, C Σ loss + penalty, is the same, and its optimum is reached, whatever the scales of the
    columns.

    Parameters
    ----------
    penalty : {"auto", "l2", "l1", "elasticnet", "firth", None}, default="auto"
        "auto" uses `C` and `l1_ratio` as scikit-learn 1.9 does: no penalty if `C` is infinite, else an
        elastic net with that `l1_ratio`, ridge by default. "firth" is Jeffreys' prior (Firth, 1993), finite
        on any data.
    C : float or "auto", default=1.0
        Inverse strength of the penalty. "auto" chooses it by approximate leave-one-out (ridge) or ten folds
        (lasso, elastic net); `choice_` has the losses.
    l1_ratio : float, default=0.0
        The lasso's share of the penalty: 0 is ridge, 1 the lasso.
    dual, intercept_scaling, n_jobs, verbose
        Accepted for compatibility with scikit-learn; they have no effect.
    tol : float, default=None
        The solver stops when the norm of the gradient, relative to that at zero coefficients, is below it;
        None is the default of the solver, 1e-8.
    fit_intercept : bool, default=True
        Whether the scores have an intercept, which is never penalised.
    class_weight : dict or "balanced", default=None
        Weights of the classes, multiplied with those of the rows.
    random_state : int, default=None
        The seed of SGD; nothing else is random.
    solver : str or solver, default="auto"
        "auto" chooses by the number of coefficients and the penalty; "newton" (or "irls"), "lbfgs", "gd",
        "sgd", scikit-learn's names, or an object such as `posterior.linear.Newton(path=True)`.
    max_iter : int, default=None
        Maximum number of steps; None is the default of the solver.
    warm_start : bool, default=False
        Whether `fit` starts from the last solution.
    missing : {"error", "indicator"}, default="error"
        Raise an error for missing values, or replace them by the training mean and add an indicator column.
    degree : {1, 2, "auto"}, default=1
        2 adds squares and products of the centred numeric columns; "auto" chooses by the loss on left-out
        rows (`degree_`).
    kinds : dict, default=None
        Kinds of columns that differ from what would be inferred: `{"zip": "categorical"}`.
    columns : selection of columns, default=None
        Which columns to learn from, by name, position, pattern or selector; the others are not read, and may
        be absent in prediction. None is all.
    standardize : bool, default=False
        Whether the penalty acts on the coefficients of standardised columns, so that it does not depend on
        units; `coef_` stays in the units of the table. Columns of 0 and 1 (categories, true and false) are
        not standardised.

    Attributes
    ----------
    coef_, intercept_ : ndarrays of shape (1 or n_classes, n_terms) and (1 or n_classes,)
        Coefficients of the terms, and intercepts.
    terms_ : tuple of str
        The term of each coefficient: `age`, `state[CA]`, `age[missing]`, `age^2`, `age:income`.
    classes_, priors_ : ndarray of shape (n_classes,)
        Class labels, sorted, and their frequencies in training.
    n_iter_ : ndarray of shape (1,)
        Steps of the solver; `solution_`, `converged_` and `certificate_` say how it got there.
    C_, degree_ : float and int
        The strength and the degree that were used; `choice_` and `degree_losses_` say what else was tried.
    converged_, certificate_ : bool, Certificate or None
        Whether the optimum was reached, and an upper bound on how far the objective is above it.
    log_likelihood_, aic_, bic_ : float
        Log-likelihood of the training rows, Σ ln p(class | row), without the penalty, and Akaike's and
        Schwarz's criteria.
    n_parameters_ : float
        Number of free coefficients; under a penalty the effective number, the trace of H(H + P)⁻¹.
    separation_ : Separation or None
        The separation of the classes, if no finite maximum-likelihood estimate exists.
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
    >>> from sklearn.datasets import load_iris
    >>> from posterior import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)
    >>> model.score(X, y)
    0.9733333333333334
    >>> model.converged_
    True

    """

    approach = "discriminative"

    def __init__(
        self,
        penalty: Literal["auto", "l2", "l1", "elasticnet", "firth", "deprecated"] | None = "auto",
        *,
        C: float | Auto = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        random_state: RandomState | None = None,
        solver: str | Solver = "auto",
        max_iter: int | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        missing: Missing = "error",
        degree: Degree | Auto = 1,
        kinds: Kinds | None = None,
        columns: ColumnSelection | None = None,
        standardize: bool = False,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.missing = missing
        self.degree = degree
        self.kinds = kinds
        self.columns = columns
        self.standardize = standardize

    stream_: IncrementalFit

    # -- learning ---------------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: TableLike, y: Labels | None = None, sample_weight: Weights | None = None) -> Self:
        """Learn from a table and its class column.

        Parameters
        ----------
        X : array, sparse matrix, list or data frame of shape (n_samples, n_features)
            Numbers and categories; gaps where `missing="indicator"`.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight 2 is the row twice, weight 0 the row not at all.

        Returns
        -------
        self : object
            The fitted estimator.

        """
        if isinstance(X, ScannedTable):
            return self._fit_scan(scanned_table(X, y, sample_weight, type(self).__name__))
        if is_device_array(X):
            return self._fit_device(X, y, sample_weight)
        table = labelled_table(X, y, sample_weight, type(self).__name__)
        rows = TrainingRows.of(table, self._class_weighted(table))
        return self._fit_rows(rows, table.classes, getattr(y, "name", None))

    def _fit_scan(self, table: Any) -> Self:
        """Learn from rows where they live; settings that are "auto" are chosen by a sample of them."""
        refuse_one_class(table.classes)
        refuse_one_reading(table, type(self).__name__, ", or use partial_fit")
        chosen = self._warm(settled_by_sample(self, table, classes=True))
        by_class = (
            None
            if chosen.class_weight is None
            else chosen._weights_by_class(table.classes, table.class_weights)
        )
        rows = RowsElsewhere.scanned(table, class_weight=by_class)
        taken_over(self, chosen._fit_rows(rows, table.classes, table.target))
        return self

    def _fit_device(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Learn from rows on a device; settings that are "auto" are chosen by a sample of them."""
        with explained_memory():
            table = training_of(X, y, sample_weight, type(self).__name__, any_classes=False)
            chosen = self._warm(settled_by_sample(self, table, classes=True))
            refuse_other_solvers(chosen._solver())
            rows = RowsOnDevice.of(table)
            if chosen.class_weight is not None:
                rows = rows.weighted(chosen._weights_by_class(table.classes, rows.class_weights))
            chosen._fit_rows(rows, table.classes, None)
            show_there(chosen, table.table.library, ("coef_", "intercept_", "n_iter_", "priors_"))
            taken_over(self, chosen)
        return self

    def _fit_rows(self, rows: TrainingRows, classes: AnyArray, name: Any) -> Self:
        """Learn from rows, wherever they are, of these classes; `name` is that of the target."""
        setting = PenaltySetting.read(self.penalty, self.C, self.l1_ratio)
        total = rows.total
        loss, firth = SoftmaxLoss(len(classes)), setting.kind == "firth"
        folds = cache(lambda: fold_rows(*rows.strata))

        def fitted(learnt: LinearFit) -> dict[str, Any]:
            return {
                **self._exposed(classes, learnt.shown.model, learnt.design),
                "fit_": learnt.shown,
                "n_iter_": np.array([learnt.fit.solution.iterations], dtype=np.int32),
                "target_name_": name if isinstance(name, str) else None,
                "weight_": total,
                "priors_": rows.class_weights / total,
            }

        def learn(degree: int) -> LinearFit:
            net = setting.kind == "net"
            scan = self._learning(rows, reference=not net, degree=degree)
            design, scaled = scan.design, None
            if self.standardize and net:  # nothing else depends on the units of the columns
                scan, scaled = rows.scaled(scan)
            problem = rows.problem(scan, loss, setting.net(total), bool(self.fit_intercept), jeffreys=firth)
            solver = self._solver() or with_settings(problem.solver(), tol=self.tol, max_iter=self.max_iter)
            self._shown_on_the_way(design, lambda fit: fitted(LinearFit(degree, design, fit, scaled)))
            if setting.strength is None:
                choice, fit = chosen_strength(problem, solver, total, setting.l1_ratio, folds)
                return LinearFit(degree, design, fit, scaled, choice=choice)
            start = self._start(scan, classes)
            start = start if start is None or scaled is None else scaled.scaled(start)
            fit = solve(problem, solver, start).labelled(classes.tolist())
            return LinearFit(degree, design, fit, scaled, problem, solver)

        learnt, chosen = best_degree(self.degree, learn, folds)
        fit, choice = learnt.fit, learnt.choice
        best = self.C if choice is None else 1.0 / choice.best
        self._install(learnt.design, learnt.shown.model, **fitted(learnt), **chosen, choice_=choice, C_=best)
        self._report(fit)
        self._report_edge("C", self.C_, choice, setting.l1_ratio)
        if fit.separation is not None:
            warn(fit.separation.message(classes.tolist()), SeparationWarning)
        return self

    def partial_fit(
        self,
        X: TableLike,
        y: Labels | None = None,
        classes: Labels | None = None,
        sample_weight: Weights | None = None,
    ) -> Self:
        """Learn from more rows by stochastic gradient descent, one pass over them; a scan by batches.

        The settings are those of `solver` where that learns from parts of a table, as `SGD` does. The penalty
        counts as if the rows seen so far were all; columns, categories and means are those of the first call.
        After `fit` it goes on from there.

        Parameters
        ----------
        X : array, sparse matrix, list or data frame of shape (n_samples, n_features), or scan
            More rows of the same columns.
        y : array-like of shape (n_samples,)
            The class of each row; a scan names its class column.
        classes : array-like, default=None
            All classes that may appear; needed in the first call unless its rows show them all.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : object
            The updated estimator.

        """
        setting = PenaltySetting.read(self.penalty, self.C, self.l1_ratio)
        if self.standardize and setting.kind == "net":
            raise ValueError(
                "standardize=True needs the spread of all rows, which partial_fit does not know; bring the "
                "columns to one scale first, or use fit"
            )
        if setting.kind == "firth" or setting.l1_ratio > 0 or setting.strength is None:
            raise ValueError(
                "partial_fit learns by stochastic gradient descent, which needs a smooth penalty of a given "
                f"strength; found penalty={self.penalty!r}, C={self.C!r}, l1_ratio={self.l1_ratio!r}"
            )
        known = hasattr(self, "model_")
        if isinstance(X, ScannedTable):
            table = scanned_table(X, y, sample_weight, type(self).__name__)
            if classes is None and not known and table.rereads:
                classes = table.classes
            taken_over(self, added_batches(self, table, classes))
            return self
        asked = None if classes is None else np.asarray(classes)
        if known and asked is not None and not np.array_equal(np.unique(asked), self.classes_):
            raise ValueError(
                f"classes={asked.tolist()} are not those of the first call, {self.classes_.tolist()}; a new "
                "class needs a new fit"
            )
        wanted = self.classes_ if known else classes
        table = labelled_table(X, y, sample_weight, type(self).__name__, classes=wanted)
        found, weight = table.classes, self._class_weighted(table, parts=True)
        if known:
            scan, stream = self._more(table.source, table.codes, weight), self._stream()
        else:
            scan = self._learning(TrainingRows.of(table, weight), reference=setting.kind != "net")
            stream = IncrementalFit.empty(SoftmaxLoss(len(found)), scan.n_features, bool(self.fit_intercept))
        solver = self._solver()
        if not isinstance(solver, IncrementalSolver):
            solver = SGD(seed=seed_of(self.random_state))
        stream = stream.updated(solver, scan.collected(), setting.strength)
        self._install(
            scan.design, stream.model, **self._exposed(found, stream.model, scan.design), stream_=stream
        )
        return self

    def _exposed(self, classes: AnyArray, model: LinearModel, design: Design) -> dict[str, Any]:
        """What scikit-learn's users look for in a linear classifier."""
        coef, intercept = model.coef.copy(), model.intercept
        if self.solver != "liblinear":  # which works in double precision
            coef, intercept = shown(coef, design.schema), shown(intercept, design.schema)
        return {"classes_": classes, "coef_": coef, "intercept_": intercept}

    def _restored(self) -> str:
        """Set what follows from the attributes in a model file: one score for two classes, else one each."""
        n_classes, stream = len(self.classes_), vars(self).get("stream_")
        weight = vars(self).get("weight_", 0.0)
        return (
            super()._restored()
            or self._impossible_classifier(self.classes_, 1 if n_classes == 2 else n_classes)
            or impossible_priors(vars(self).get("priors_"), n_classes)
            or first_true(
                {
                    "rows of no weight": stream is None and not 0 < weight < np.inf,
                    "a stream of other classes or columns": stream is not None
                    and (stream.loss.n_classes, stream.n_features) != (n_classes, self.design_.n_features),
                }
            )
        )

    def _stream(self) -> IncrementalFit:
        """Where the last partial_fit stopped, or the coefficients that fit found."""
        if hasattr(self, "stream_"):
            return self.stream_
        loss = SoftmaxLoss(len(self.classes_))
        return IncrementalFit.after(loss, self.model_, bool(self.fit_intercept), self.weight_)

    def _class_weighted(self, table: LabelledTable, parts: bool = False) -> Floats | None:
        weight = table.weight
        if self.class_weight is None:
            return weight
        if parts and self.class_weight == "balanced":
            raise ValueError(
                'class_weight="balanced" needs the numbers of all rows, which partial_fit does not know; '
                "pass the weights as a dict"
            )
        labels = table.labels
        counts = np.bincount(table.codes, weight, len(table.classes)).astype(np.float64)
        by_class = self._weights_by_class(table.classes, counts)
        extra = by_class[table.codes]
        with np.errstate(over="ignore"):
            both = np.asarray(extra if weight is None else extra * weight, dtype=np.float64)
        refuse_wild_weights(both, labels)
        return both

    def _weights_by_class(self, classes: AnyArray, counts: Floats) -> Floats:
        """What `class_weight` says of each class, whose rows weigh so much."""
        if self.class_weight == "balanced":
            by_class = counts.sum() / (len(counts) * counts)
        else:
            by_class = compute_class_weight(self.class_weight, classes=classes, y=classes)
        if not (np.isfinite(by_class).all() and (by_class >= 0).all()):
            raise ValueError(
                f"class_weight={self.class_weight!r}: weights must be finite and not negative; leave out a "
                "class by leaving out its rows"
            )
        return np.asarray(by_class, dtype=np.float64)

    def _warm(self, chosen: Self) -> Self:
        """A copy that is to be fitted in our place, with our last solution where that is to be its start."""
        if self.warm_start and hasattr(self, "model_"):
            install(chosen, **{name: vars(self)[name] for name in ("model_", "design_", "classes_")})
        return chosen

    def _start(self, scan: Scan, classes: AnyArray) -> LinearModel | None:
        """The last solution, where it is asked for and is one of the same columns and classes."""
        if not self.warm_start or not hasattr(self, "model_"):
            return None
        same = scan.design.names == self.terms_ and np.array_equal(classes, self.classes_)
        return self.model_ if same else None

    # -- what can be read off ---------------------------------------------------------------------

    def leave_one_out_log_proba(
        self, X: TableLike, y: Labels | None = None, sample_weight: Weights | None = None
    ) -> Floats:
        """Log probabilities of each row under the model of these rows without it, (n_samples, n_classes).

        Approximate: one Newton step from the fit on all rows (Rad & Maleki, 2020), and a refit of the few
        rows that move far. The estimator itself is not changed.
        """
        if isinstance(X, ScannedTable):
            labelled_table(X, y, who=f"leave_one_out_log_proba of {type(self).__name__}")  # which refuses it
        fitted = clone(self).set_params(solver="auto", tol=None, max_iter=None)  # it starts from an optimum
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PosteriorWarning)
            fitted.fit(X, y, sample_weight)
        if fitted.fit_.separation is not None:
            raise ValueError(
                "leaving out a row needs an optimum to start from, and there is none: "
                + fitted.fit_.separation.message(fitted.classes_.tolist())
            )
        with one_blas_thread:
            log_proba = leave_one_out_log_proba(fitted.fit_.checked(), fitted.solution_.theta)
        if sample_weight is None or np.all(np.asarray(sample_weight)):
            return log_proba
        with in_double():
            out: Floats = fitted.predict_log_proba(X)  # a row of weight zero is left out anyway
        out[np.flatnonzero(np.asarray(sample_weight))] = log_proba
        return out

    def summary(self, covariance: CovarianceKind = "model", level: float = 0.95) -> Summary:
        """Coefficients with standard errors, tests, intervals and odds ratios, and how well the model fits.

        For a model without a penalty, or with Firth's; `covariance="sandwich"` does not trust the model. Of a
        ridge it tells standard deviations and intervals of the posterior, the coefficients having the normal
        prior that the ridge stands for, N(0, C), and no tests.
        """
        check_is_fitted(self)
        if not hasattr(self, "fit_"):
            raise ValueError("a model learnt by partial_fit has no standard errors; use fit")
        if self.class_weight is not None:
            raise ValueError(
                f"there are no standard errors with class_weight={self.class_weight!r}, which makes up rows "
                "that nobody saw; fit without it, or give numbers of repetitions as sample_weight"
            )
        return self._summarized(covariance, level, self.classes_.tolist())

    @property
    def log_likelihood_(self) -> float:
        """Log-likelihood of the training rows, Σ w ln p(class | row), without the penalty."""
        if self.class_weight is not None:
            raise RefusedError(
                "class_weight makes up rows that nobody saw, which have no likelihood; fit without it, or "
                "give numbers of repetitions as sample_weight"
            )
        point = self._solved().solution.point
        return float(-point.loss * point.weight)

    @property
    def separation_(self) -> Separation | None:
        """The separation of the classes, if no finite maximum-likelihood estimate exists."""
        return self._solved().separation

    def sparsify(self) -> Self:
        """Turn `coef_` into a sparse matrix, as scikit-learn does; predictions are the same."""
        check_is_fitted(self)
        self.coef_ = sparse.csr_array(self._coefficients[0])
        return self

    def densify(self) -> Self:
        """Turn `coef_` back into an array."""
        check_is_fitted(self)
        self.coef_ = shown(self._current.coef, self.schema_)
        return self


class SoftmaxRegression(LogisticRegression):
    """The same class as `LogisticRegression`, under its name for more than two classes."""


if LogisticRegression.__doc__ and SoftmaxRegression.__doc__:  # python -OO has no docstrings
    _, _, told = cleandoc(LogisticRegression.__doc__).partition("Parameters\n")
    SoftmaxRegression.__doc__ += "\n\nParameters\n" + told.replace("LogisticReg", "SoftmaxReg")
