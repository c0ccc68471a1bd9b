"""The coefficients of any model whose scores are linear, with standard errors where there are any."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from posterior._text import aligned
from posterior._types import AnyArray, Floats
from posterior.estimators import LeastSquaresClassifier, LinearRegression, LogisticRegression
from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.linear import LinearEstimator
from posterior.estimators.penalty import PenaltySetting
from posterior.linear.summary import INTERCEPT, Summary, table_cells, title_of

PENALISED = (
    "the fit is penalised: coefficients are pulled towards 0 by an amount that no standard error knows of"
)
GENERATIVE = (
    "they follow from the priors, the means and the covariance, whose standard errors are not worked out"
)
DISCRIMINANT = "least squares of class indicators has no likelihood to tell standard errors from"
SEPARATED = "classes are separated, so that no finite estimate exists"
CHANGED = "coef_ or intercept_ was changed after the fit"


@dataclass(frozen=True, eq=False)
class Coefficients:
    """What each term is multiplied by, as columns; the other columns are there where there are errors.

    `why_no_errors` says why there are no standard errors, and is empty where there are. `figures` say how
    well the model fits; `aliased` are terms that depend on others, and on which.
    """

    title: str
    columns: Mapping[str, AnyArray]
    figures: Mapping[str, float] = field(default_factory=dict)
    aliased: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    why_no_errors: str = ""

    @classmethod
    def of_summary(cls, summary: Summary) -> "Coefficients":
        """Those of a summary, with all that it says."""
        return cls(summary.title, summary.columns, summary.figures, summary.aliased, tuple(summary.notes))

    def lines(self, most: int | None = None) -> list[str]:
        """The table as text, of many terms the first."""
        head, *body = table_cells(self.columns, self.aliased)
        shown = aligned([head, *body[:most]], left=1 + ("class" in self.columns))
        rest = [f"… ({len(body) - len(body[:most])} more)"] if len(body) > len(body[:most]) else []
        why = [f"no standard errors: {self.why_no_errors}"] if self.why_no_errors else []
        return [self.title, "", *shown, *rest, "", *self.notes, *why]


def coefficients_of(model: Any) -> Coefficients | None:
    """The coefficients of a fitted model; None where its scores are not linear in the columns.

    With more than two classes they are log odds against the first class, as in `summary`.

    >>> from posterior import LDA
    >>> model = LDA().fit([[-1.0], [1.0], [2.0], [4.0]], ["a", "a", "b", "b"])
    >>> coefficients_of(model).columns["coef"].round(3)
    array([-4.5,  3. ])
    """
    if isinstance(model, GenerativeEstimator):
        return _generative(model)
    if isinstance(model, LogisticRegression | LinearRegression):
        return _summarized(model)
    if isinstance(model, LeastSquaresClassifier):
        coef, intercept = model._coefficients
        terms, levels = _with_intercept(model.terms_, coef, intercept if model.fit_intercept else None)
        columns = _columns(model.classes_.tolist(), terms, levels)
        return Coefficients("predicted indicator of each class", columns, why_no_errors=DISCRIMINANT)
    return None


def _generative(model: GenerativeEstimator) -> Coefficients | None:
    try:
        form = model.linear_form()
    except ValueError:  # not Gaussian, or with a covariance for each class
        return None
    pairs = [form.pair(k, 0) for k in range(1, len(model.classes_))]
    terms, values = _with_intercept(
        form.columns, np.array([w for w, _ in pairs]), np.array([level for _, level in pairs])
    )
    return _log_odds(model.classes_.tolist(), terms, values, None, GENERATIVE)


def _summarized(model: Any) -> Coefficients:
    """Those of the summary, or without one the coefficients alone and the reason."""
    why = _why_no_errors(model)
    if not why:
        try:
            return Coefficients.of_summary(model.summary())
        except ValueError as error:
            why = str(error)
    coef, intercept = model._coefficients
    classes = model.classes_.tolist() if isinstance(model, LogisticRegression) else []
    if len(classes) > 2:
        coef, intercept = coef[1:] - coef[0], intercept[1:] - intercept[0]
    terms, values = _with_intercept(model.terms_, coef, intercept if model.fit_intercept else None)
    name = getattr(model, "target_name_", None)
    if classes:
        return _log_odds(classes, terms, values, name, why)
    return Coefficients(title_of((), name), _columns((), terms, values), why_no_errors=why)


def _why_no_errors(model: Any) -> str:
    """The reason that is known without the rows; empty where a summary may be there."""
    if is_changed(model):
        return CHANGED
    if _is_penalised(model):
        return PENALISED
    return SEPARATED if hasattr(model, "fit_") and model.fit_.separation is not None else ""


def is_changed(model: LinearEstimator) -> bool:
    """Whether a user has changed the coefficients since they were fitted."""
    return model._current is not model.model_


def _is_penalised(model: Any) -> bool:
    if isinstance(model, LinearRegression):
        return model.penalty is not None and model.alpha != 0
    return PenaltySetting.read(model.penalty, model.C, model.l1_ratio).kind == "net"


def _with_intercept(
    terms: Sequence[str], coef: Floats, intercept: Floats | None
) -> tuple[tuple[str, ...], Floats]:
    if intercept is None:
        return tuple(terms), coef
    return (INTERCEPT, *terms), np.column_stack([intercept, coef])


def _log_odds(
    classes: Sequence[Any], terms: Sequence[str], values: Floats, target_name: str | None, why: str
) -> Coefficients:
    columns = _columns(classes[1:] if len(classes) > 2 else (), terms, values)
    with np.errstate(over="ignore"):
        columns["odds ratio"] = np.exp(columns["coef"])
    return Coefficients(title_of(classes, target_name), columns, why_no_errors=why)


def _columns(classes: Sequence[Any], terms: Sequence[str], values: Floats) -> dict[str, AnyArray]:
    """The table as arrays, a block of terms for each of the classes, if any."""
    names = np.array(terms, dtype=object)
    table: dict[str, AnyArray] = {}
    if classes:
        table["class"] = np.repeat(np.fromiter(classes, dtype=object, count=len(classes)), len(names))
    return table | {"term": np.tile(names, len(values)), "coef": values.ravel()}
