"""What every linear estimator shares: tables in, a design, a solver by its name, and what it reports."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from posterior import kernels
from posterior._blas import one_blas_thread
from posterior._text import first_true
from posterior._types import AnyArray, Floats, FloatType
from posterior.bayes import impossible_classes
from posterior.engines import LocalDataset
from posterior.estimators.callbacks import shown_on_the_way, was_stopped
from posterior.estimators.device import host_array, is_device_array
from posterior.estimators.precision import answer_type
from posterior.estimators.state import RefusedError
from posterior.estimators.table_estimator import TableEstimator, columns_of, unseen_rows
from posterior.estimators.training_rows import TrainingRows
from posterior.linear import (
    Certificate,
    Design,
    Fit,
    LinearModel,
    Objective,
    Scan,
    Solution,
    Solver,
    solver_named,
)
from posterior.linear.inference import Kind as CovarianceKind
from posterior.linear.penalty_strength import StrengthChoice
from posterior.linear.solvers.base import Halfway
from posterior.linear.summary import Summary, summarize
from posterior.notices import CountedRows, DataWarning, UnseenCategoryWarning, warn
from posterior.schema import Schema, Source, read_table
from posterior.schema.select import resolve
from posterior.schema.sources import names_of
from posterior.stats.base import LARGEST_COEF


class LinearEstimator(TableEstimator):
    """A model that multiplies the columns of a table by coefficients.

    A subclass says what is learnt of the rows (`fit`) and what is made of the scores.
    """

    design_: Design
    fit_: Fit
    model_: LinearModel
    coef_: Any
    intercept_: Any
    target_name_: str | None

    # -- tables -----------------------------------------------------------------------------------

    def _learning(self, rows: TrainingRows, *, reference: bool, degree: int | None = None) -> Scan:
        """The rows of a training table as numbers, with what these rows teach about means and gaps."""
        columns, source = getattr(self, "columns", None), rows.source
        only = None if columns is None else resolve(columns, names_of(source), source)
        kinds = getattr(self, "kinds", None)
        schema = Schema.of(source, rows.kinds if kinds is None else kinds, only)
        degree = getattr(self, "degree", 1) if degree is None else degree
        if degree not in (1, 2):
            raise ValueError(
                f'degree must be 1 or 2, found {degree!r} ("auto" is for fit); for other terms put a '
                "transformer before this estimator, such as scikit-learn's PolynomialFeatures or "
                "SplineTransformer"
            )
        missing: Any = getattr(self, "missing", "error")
        if missing not in ("error", "indicator"):
            raise ValueError(f'missing must be "error" or "indicator", found {missing!r}')
        return rows.scan(schema, Design.of(schema, reference=reference, missing=missing), degree)

    def _reading(self, X: Any, *, scored: bool = False) -> Scan:
        """The rows of a new table, read as in training.

        Gaps of rows that are `scored` are refused by their scores, which are no numbers, and not before.
        """
        if not hasattr(self, "model_"):
            check_is_fitted(self)  # which says so, and takes longer than a few rows
        source = read_table(X)
        return self._more(source, _no_target(source.n_rows), None, scored=scored)

    def _more(self, source: Source, target: AnyArray, weight: Floats | None, *, scored: bool = False) -> Scan:
        data = self._encoded(source)
        dataset = LocalDataset(self.design_.schema, data, target, weight)
        _report_unseen(data.unseen | self.design_.unseen(dataset))
        if self.design_.fill is None:
            if not (scored and self.design_.as_it_is):
                self.design_.refuse_gaps(dataset)
        else:
            told = self.design_.new_gaps(dataset)
            if told is not None:
                warn(told, DataWarning)
        return Scan.of(dataset, self.design_)

    def _answer_type(self, scan: Scan) -> FloatType:
        """The precision in which rows that were read as new ones are answered."""
        rows: Any = scan.dataset
        return answer_type(rows.data)

    @property
    def _current(self) -> LinearModel:
        """The model that `coef_` and `intercept_` stand for, which a user may have changed."""
        return self.model_.with_coef(*self._coefficients)

    @property
    def _coefficients(self) -> tuple[AnyArray, AnyArray]:
        """`coef_` and `intercept_` as dense arrays of NumPy, one row and one number for each score."""
        coef = self.coef_.toarray() if kernels.is_sparse(self.coef_) else host_array(self.coef_)
        return np.atleast_2d(coef), np.atleast_1d(host_array(self.intercept_))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    # -- learning ---------------------------------------------------------------------------------

    def _solver(self) -> Solver | None:
        """The solver that was asked for; None where the problem shall choose."""
        return solver_named(
            self.solver, tol=self.tol, max_iter=self.max_iter, seed=seed_of(self.random_state)
        )

    def _install(self, design: Design, model: LinearModel, **fitted: Any) -> None:
        """Take over a finished model; the only place where fitted attributes are set."""
        self._install_fitted(design.schema, design_=design, model_=model, **fitted)

    def _shown_on_the_way(self, design: Design, fitted: Callable[[Fit], dict[str, Any]]) -> None:
        """Let callbacks see what a solver would end with if it stopped at one of its steps."""

        def attributes(state: Halfway) -> dict[str, Any]:
            found = fitted(Fit.halfway(state))
            return columns_of(design.schema) | {"design_": design, "model_": found["fit_"].model} | found

        shown_on_the_way(attributes)

    def _restored(self) -> str:
        """Set what follows from the attributes in a model file; what is impossible about them, in words."""
        self.__dict__.update(columns_of(self.design_.schema))
        return ""

    def _impossible_coefficients(self, n_scores: int) -> str:
        """What no coefficients of so many scores are, both those that are used and those shown."""
        model, fit = self.model_, vars(self).get("fit_")
        shown = self.coef_ if self.coef_.ndim == 2 else self.coef_[None]
        shape = (n_scores, self.design_.n_features)
        wrong = first_true(
            {
                "other coefficients than columns or classes": model.coef.shape != shape,
                "two different sets of coefficients": shown.shape != shape,
                "other intercepts than classes": np.size(self.intercept_) != n_scores,
                "a fit of other coefficients": fit is not None and fit.model.coef.shape != shape,
            }
        )
        if wrong:  # before a sparse array of any shape is made dense
            return wrong
        numbers = shown.toarray() if kernels.is_sparse(shown) else shown
        finite = all((np.abs(a) <= LARGEST_COEF).all() for a in (numbers, self.intercept_, model.intercept))
        return "" if finite else "a coefficient that is not finite"

    def _impossible_classifier(self, classes: AnyArray, n_scores: int) -> str:
        """What no coefficients of a classifier with so many scores are."""
        return (
            impossible_classes(classes)
            or first_true(
                {
                    "one class only": len(classes) < 2,
                    "coefficients of no classes": self.intercept_.ndim != 1 or self.coef_.ndim != 2,
                }
            )
            or self._impossible_coefficients(n_scores)
        )

    def _report(self, fit: Fit) -> None:
        """Say what a person would want to know about a fit."""
        objective = fit.objective
        told = [] if objective is None else odd_columns(self.design_.schema, objective.scan.n_rows)
        if objective is not None and objective.penalty.free:
            told += redundancy(self.terms_, objective)
        if told:
            warn(DataWarning(*told), DataWarning)
        if not fit.solution.converged and fit.separation is None and not was_stopped():
            remedy = "Use a larger max_iter or a larger tol"
            solver = self._solver()
            if solver is not None and solver.coordinates == "user":
                remedy = 'Bring the columns to one scale (StandardScaler), or use solver="auto"'
            elif self.solver != "auto":
                remedy += ', or solver="auto"'
            if objective is not None and objective.bulk is not None:
                remedy = "Some cells are more than 1000 times as far out as the others: check them, or " + (
                    remedy[0].lower() + remedy[1:]
                )
            gap = fit.solution.certificate or "how far above the minimum is not known"
            warn(
                f"{type(self).__name__} stopped after {fit.solution.iterations} steps before the optimum: "
                f"relative gradient {fit.solution.gradient:.1e}; {gap}. {remedy}.",
                ConvergenceWarning,
            )

    def _report_edge(self, name: str, value: float, choice: StrengthChoice | None, l1_ratio: float) -> None:
        """Say that the chosen strength is the last that was tried; there is no stronger lasso to try."""
        if choice is None or not choice.at_edge or (l1_ratio > 0 and choice.best == choice.strengths[0]):
            return
        warn(
            f'{name}="auto" ended at {value:.1g}, the last that was tried: another beyond may predict '
            "left-out rows better; see choice_",
            DataWarning,
        )

    # -- what can be read off ---------------------------------------------------------------------

    @property
    def best_params_(self) -> dict[str, Any]:
        """The values chosen for the settings that were "auto", by name."""
        names = [name for name in ("degree", "C", "alpha") if getattr(self, name, None) == "auto"]
        if not names:
            raise RefusedError('no setting was "auto", so that nothing was chosen')
        return {name: getattr(self, f"{name}_") for name in names}

    @property
    def terms_(self) -> tuple[str, ...]:
        """The term of each coefficient: `age`, `state[CA]`, `age[missing]`, `age^2`, `age:income`.

        Numbers come first, then levels of categories, marks of gaps, squares and products.

        >>> from posterior import LogisticRegression
        >>> rows = [["CA", 30.0], ["NY", 50.0], ["CA", 40.0], ["TX", 60.0]]
        >>> LogisticRegression(degree=2).fit(rows, [0, 1, 0, 1]).terms_
        ('x1', 'x0[CA]', 'x0[NY]', 'x0[TX]', 'x1^2')
        """
        return self.design_.names

    @property
    def schema_(self) -> Schema:
        """How each column was read, and why; print it."""
        return self.design_.schema

    @property
    def solution_(self) -> Solution:
        """How the optimum was reached: steps, certificate, path."""
        return self._solved().solution

    @property
    def converged_(self) -> bool:
        """Whether the optimum was reached."""
        return self._solved().solution.converged

    @property
    def certificate_(self) -> Certificate | None:
        """How far from the optimum the objective can be at most; None where there is no optimum."""
        return self._solved().solution.certificate

    def _solved(self) -> Fit:
        """What a solver did, where one did it."""
        if hasattr(self, "model_") and not hasattr(self, "fit_"):
            raise RefusedError(
                f"this {type(self).__name__} was not fitted by a solver that can tell how it got there; "
                "fit of LogisticRegression and LinearRegression can"
            )
        return self.fit_

    def _summarized(self, covariance: CovarianceKind, level: float, labels: Sequence[Any] = ()) -> Summary:
        """The summary of the fit, where it reached an optimum or there is a reason that none exists.

        It is remembered, so that a copy or a file of the model, which has no rows, can hand it out.
        """
        fit = self._solved()
        if fit.separation is None and not fit.solution.converged:
            raise ValueError(
                "standard errors are those of an optimum, which the solver did not reach; use "
                'solver="auto", or a larger max_iter'
            )
        told = fit.remembered(covariance, level) if self._current is self.model_ else None
        if told is not None:
            return told
        with one_blas_thread:
            summary = summarize(
                fit.checked(),
                fit.solution.theta,
                labels=labels,
                target_name=self.target_name_,
                covariance=covariance,
                level=level,
                separation=fit.separation,
            )
        self.fit_ = fit.remembering(summary)
        return summary

    def __getstate__(self) -> dict[str, Any]:
        # A copy or a file of a model has no business with the rows it was fitted to.
        state: dict[str, Any] = dict(super().__getstate__())  # which is the model's own
        if "fit_" in state:
            state["fit_"] = state["fit_"].without_rows()
        there = {name: value for name, value in state.items() if is_device_array(value)}
        return state | {name: host_array(value) for name, value in there.items()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = getattr(self, "degree", 1) == 1
        tags.input_tags.allow_nan = getattr(self, "missing", "error") == "indicator"
        return tags


def odd_columns(schema: Schema, n_rows: int) -> list[str]:
    """What a person would want to know about the columns before anything is learnt from them."""
    told = schema.sentences
    many = (c for c in schema.columns if c.kind == "categorical" and not c.declared)
    told += [
        f"column {c.name!r} has {c.size} categories in {n_rows} rows, like an identifier: leave it out, or "
        f'declare it (kinds={{{c.name!r}: "categorical"}})'
        for c in many
        if c.size > max(20, n_rows // 2)
    ]
    return told


def redundancy(terms: tuple[str, ...], objective: Objective) -> list[str]:
    """Which columns say nothing new, so that many coefficients fit equally well."""
    told = []
    for fact in objective.basis.facts:
        of = ", ".join(repr(terms[i]) for i in fact.of)
        name = repr(terms[fact.column])
        told.append(f"{name} is constant" if not of else f"{name} is a linear combination of {of}")
    scan = objective.scan
    if scan.n_rows <= scan.n_features:
        told = [f"there are {scan.n_rows} rows and {scan.n_features} columns"]
    if not told:
        return []
    shown = "; ".join(told[:5]) + (f"; … ({len(told)} in all)" if len(told) > 5 else "")
    return [
        f"{shown}: the coefficients are not unique, and the shortest are taken (predictions are the same for "
        "all); leave the column out, or use a penalty"
    ]


def seed_of(random_state: Any) -> int:
    """The seed that scikit-learn's `random_state` stands for; None is 0."""
    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return int(random_state.randint(2**31 - 1))


@lru_cache(maxsize=16)  # to make one takes a fifteenth of the time of a prediction of a few rows
def _no_target(n_rows: int) -> AnyArray:
    """A zero for each row, which takes no memory."""
    return np.broadcast_to(np.int64(0), n_rows)


def _report_unseen(unseen: dict[str, dict[Any, int]]) -> None:
    told = tuple(unseen_rows(name, counts) for name, counts in unseen.items())
    if told:
        warn(CountedRows(told, end=": it adds nothing to the score"), UnseenCategoryWarning)
