"""Candidates with one estimator each, for learning curves and experiments of robustness."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, TypeAlias

from sklearn.base import clone

from posterior.comparison.given import named_estimators, told_kinds
from posterior.estimators import (
    AdditiveClassifier,
    GenerativeClassifier,
    LeastSquaresClassifier,
    LogisticRegression,
    NaiveBayes,
)
from posterior.families import MultivariateNormal
from posterior.schema import Kind, LabelledTable

Approach: TypeAlias = Literal["generative", "discriminative", "discriminant", "other"]

MOST_TOGETHER = 200  # continuous columns: a covariance of more, at every size, takes longer than all the rest


@dataclass(frozen=True, eq=False)
class FixedCandidate:
    """A compared model with one estimator, whatever the table: its name, title and approach."""

    name: str
    title: str
    approach: Approach
    estimator: Any

    def fresh(self) -> Any:
        """An estimator that has learnt nothing yet."""
        return clone(self.estimator)


CandidatesAndReasons: TypeAlias = tuple[tuple[FixedCandidate, ...], dict[str, str]]


def candidates_of(models: Any, rows: LabelledTable) -> tuple[FixedCandidate, ...]:
    """The candidates that a user named: a mapping from names to estimators.

    An estimator that takes `kinds` and was given none reads the columns as the whole table shows them.

    >>> import numpy as np
    >>> rows = LabelledTable.of([[0.0], [1.0], [2.0]], np.array(["a", "b", "b"]))
    >>> [(c.name, c.approach) for c in candidates_of({"naive": NaiveBayes()}, rows)]
    [('naive', 'generative')]
    """
    return tuple(
        FixedCandidate(
            name, name, getattr(estimator, "approach", "other"), told_kinds(estimator, _declared(rows))
        )
        for name, estimator in named_estimators(models).items()
    )


def chosen(
    models: Any, rows: LabelledTable, default: Callable[[LabelledTable], CandidatesAndReasons]
) -> CandidatesAndReasons:
    """The models that a user named, or else the default ones and those left out with the reason."""
    return default(rows) if models is None else (candidates_of(models, rows), {})


def learning_curve_candidates(rows: LabelledTable) -> CandidatesAndReasons:
    """Models of one form that differ in how they are estimated, and those left out with the reason.

    Naive Bayes with variances tied over the classes, LDA and logistic (softmax) regression all have log odds
    that are linear in the columns, one term for each category: p(row | class) is fitted by the first two,
    p(class | row) by the last (Ng & Jordan, 2002), by maximum likelihood and with a ridge. Columns that are
    not continuous are independent given the class in LDA too.
    """
    title = "tied naive Bayes" if rows.where("continuous") else "naive Bayes"
    found = [_naive("tied-naive-bayes", title, rows, tied=True)]
    left_out = _too_few_or_many(rows)
    if not left_out:
        found.append(_gaussian("lda", "LDA", rows, tied=1.0))
    if rows.where("text"):
        left_out |= dict.fromkeys(("logistic", "ridge-logistic"), _no_text(rows))
    else:
        found += _logistic_pair(rows)
    return tuple(found), left_out


def robustness_candidates(rows: LabelledTable) -> CandidatesAndReasons:
    """The models of `Robustness`, each beside its remedies, and those left out with the reason.

    LDA is QDA with one covariance; naive Bayes is QDA with diagonal ones, and tied is both.
    """
    left_out = _too_few_or_many(rows)
    found = []
    if not left_out:
        found += [_gaussian("qda", "QDA", rows, tied=0.0), _gaussian("lda", "LDA", rows, tied=1.0)]
    else:
        left_out["qda"] = left_out["lda"]
    found.append(_naive("naive-bayes", "naive Bayes", rows, tied=False))
    if rows.where("continuous"):
        found.append(_naive("tied-naive-bayes", "tied naive Bayes", rows, tied=True))
    if rows.where("text"):
        left_out |= dict.fromkeys(("logistic", "ridge-logistic", "least-squares"), _no_text(rows))
        return tuple(found), left_out
    found += _logistic_pair(rows)
    squares = LeastSquaresClassifier(missing="indicator", kinds=_declared(rows))
    found.append(FixedCandidate("least-squares", "least squares", "discriminant", squares))
    return tuple(found), left_out


def pairs_to_compare(candidates: tuple[FixedCandidate, ...]) -> tuple[tuple[str, str], ...]:
    """The pairs worth comparing: those that learn in different ways, or all where none do."""
    pairs = list(combinations(candidates, 2))
    differ = [(a, b) for a, b in pairs if a.approach != b.approach or a.approach == "other"]
    return tuple((a.name, b.name) for a, b in differ or pairs)


def n_parameters_of(model: Any) -> float:
    """The number of free parameters of a fitted model; NaN where that is not known.

    A linear model has one for each term but one level of each category, times the classes but one; curves
    are worth what their penalties leave of them.
    """
    if hasattr(model, "design_") and not isinstance(model, AdditiveClassifier):
        spare = sum(len(factor.seen) == len(factor.levels) > 0 for factor in model.design_.factors)
        return float((len(model.classes_) - 1) * (len(model.terms_) - spare + 1))
    return float(getattr(model, "n_parameters_", "nan"))


def _declared(rows: LabelledTable) -> list[tuple[Any, Kind]] | None:
    return list(rows.pinned.items()) or None


def _naive(name: str, title: str, rows: LabelledTable, *, tied: bool) -> FixedCandidate:
    estimator = NaiveBayes(tied=tied, weights=1.0, kinds=_declared(rows))
    return FixedCandidate(name, title, "generative", estimator)


def _gaussian(name: str, title: str, rows: LabelledTable, *, tied: float) -> FixedCandidate:
    block = list(rows.where("continuous"))
    composed = GenerativeClassifier(
        [(block, MultivariateNormal(tied=tied))], remainder="auto", kinds=_declared(rows)
    )
    return FixedCandidate(name, title, "generative", composed)


def _logistic_pair(rows: LabelledTable) -> list[FixedCandidate]:
    """Logistic regression by maximum likelihood, and with a ridge in units of the columns' deviations.

    The first has a penalty too weak to show, unless classes are separated and there is no maximum.
    """
    title = "logistic" if len(rows.classes) == 2 else "softmax"
    settings: dict[str, Any] = {"missing": "indicator", "standardize": True, "warm_start": True}
    settings["kinds"] = _declared(rows)
    likely, ridge = LogisticRegression(C=1e6, **settings), LogisticRegression(C=1.0, **settings)
    return [
        FixedCandidate("logistic", title, "discriminative", likely),
        FixedCandidate("ridge-logistic", f"ridge {title}", "discriminative", ridge),
    ]


def _too_few_or_many(rows: LabelledTable) -> dict[str, str]:
    """Why LDA is left out, where it is."""
    d = len(rows.where("continuous"))
    if rows.is_sparse:
        return {"lda": "the table is sparse, and a covariance would fill it"}
    if d < 2:
        return {"lda": f"it is naive Bayes where fewer than two columns are continuous, and {d} are"}
    if d > MOST_TOGETHER:
        return {"lda": f"{d} continuous columns are more than the {MOST_TOGETHER} of a covariance tried here"}
    return {}


def _no_text(rows: LabelledTable) -> str:
    names = ", ".join(repr(rows.schema.names[j]) for j in rows.where("text"))
    return f"column {names} is text, which has no coefficients"
