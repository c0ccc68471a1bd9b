"""The regressions that are tried on a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from posterior._text import counted, listed
from posterior._types import Floats
from posterior.comparison.given import named_estimators
from posterior.comparison.regression.table import NumberTable
from posterior.estimators import LinearRegression
from posterior.schema import Source

# Strengths of a ridge in units of the number of rows, and of a lasso in standard deviations of the numbers.
RIDGE = tuple(10.0 ** np.arange(1.0, -5.0, -1.0))
LASSO = tuple(10.0 ** np.arange(-0.5, -4.5, -0.5))


@dataclass(frozen=True)
class FittedNumbers:
    """What a fitted regression says of rows: the middle of their numbers, and the spread about it."""

    middle: Floats
    scale: float
    noise: str


class MeanModel(BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """The mean of the numbers and their spread, whatever the row: what a regression must beat."""

    def fit(self, _: Any, y: Floats) -> "MeanModel":
        """Learn the mean."""
        self.mean, self.noise_scale_ = float(y.mean()), float(y.std())
        return self

    def predict(self, X: Source) -> Floats:
        """The mean for every row."""
        return np.full(X.n_rows, self.mean)


@dataclass(frozen=True)
class Regression:
    """A way to predict numbers: its name, what it is called, its noise, and its estimators for a table.

    A penalised one has an estimator for each strength, the strongest first, to choose from by held-out rows.
    """

    name: str
    title: str
    noise: str
    estimators: Callable[[NumberTable], tuple[Any, ...]]
    given: bool = False

    def about(self, table: NumberTable, estimator: Any) -> str:
        """What it is on a table."""
        if not isinstance(estimator, LinearRegression):
            return "whatever the row"
        told = counted(len(table.linear.used), "column")
        left_out = f"; left out: {'; '.join(table.linear.left_out)}" if table.linear.left_out else ""
        if self.given:
            return f"an estimator that was given, {told}"
        chosen = (
            "" if estimator.penalty is None else f"; alpha = {estimator.alpha:.3g} chosen by held-out rows"
        )
        return f"{told}{chosen}{left_out}"

    def said(self, fitted: Any, X: Source) -> FittedNumbers:
        """What a fitted estimator says of rows."""
        return FittedNumbers(fitted.predict(X), fitted.noise_scale_, self.noise)


def _linear(table: NumberTable, **settings: Any) -> LinearRegression:
    missing: Any = "indicator" if table.has_gaps else "error"
    return LinearRegression(missing=missing, kinds=table.kinds, **settings)


def _ridge(table: NumberTable) -> tuple[Any, ...]:
    strengths = [float(each) * len(table) for each in RIDGE]
    return tuple(_linear(table, penalty="l2", alpha=alpha, standardize=True) for alpha in strengths)


def _lasso(table: NumberTable) -> tuple[Any, ...]:
    strengths = [float(each) * float(table.y.std()) for each in LASSO]
    return tuple(_linear(table, penalty="l1", alpha=alpha, standardize=True) for alpha in strengths)


REGRESSIONS: dict[str, Regression] = {
    each.name: each
    for each in (
        Regression("mean", "mean", "normal", lambda _: (MeanModel(),)),
        Regression("linear", "linear", "normal", lambda table: (_linear(table),)),
        Regression(
            "laplace", "linear, Laplace noise", "laplace", lambda table: (_linear(table, noise="laplace"),)
        ),
        Regression("ridge", "ridge", "normal", _ridge),
        Regression("lasso", "lasso", "normal", _lasso),
    )
}


def regressions_named(models: Sequence[Any] | Mapping[str, Any] | None) -> list[Regression]:
    """The regressions that are named, each once: ours by name, and estimators; all of ours for None.

    >>> [each.name for each in regressions_named(["mean", LinearRegression()])]
    ['mean', 'LinearRegression']
    >>> [each.name for each in regressions_named({"squares": LinearRegression(degree=2)})]
    ['squares']
    """
    if models is None:
        return list(REGRESSIONS.values())
    if isinstance(models, Mapping):
        return [_given(name, estimator) for name, estimator in named_estimators(models).items()]
    wanted = [models] if isinstance(models, str) else list(models)
    unknown = [name for name in wanted if isinstance(name, str) and name not in REGRESSIONS]
    if unknown or not wanted:
        raise ValueError(
            f"there is no regression {listed(unknown) or 'to try'}; choose from {', '.join(REGRESSIONS)}, or "
            "pass a LinearRegression"
        )
    found: dict[str, Regression] = {}
    for each in wanted:
        if isinstance(each, str):
            found[each] = REGRESSIONS[each]
            continue
        name = type(each).__name__
        if alike := sum(other.partition(" ")[0] == name for other in found):
            name = f"{name} {alike + 1}"
        found[name] = _given(name, each)
    return list(found.values())


def _given(name: str, estimator: Any) -> Regression:
    """An estimator as one of the regressions, if it says how its noise is distributed."""
    if not isinstance(estimator, LinearRegression) or estimator.noise not in ("normal", "laplace"):
        raise ValueError(
            f"models: {name} is {estimator!r}, which does not say how far numbers lie from what it predicts; "
            'pass LinearRegression with noise="normal" or "laplace"'
        )
    return Regression(name, name, estimator.noise, lambda _: (estimator,), given=True)
