"""Coefficients as a picture: what matters most, in which direction, and how surely."""

import re
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior._types import AnyArray, Bools, Floats
from posterior.estimators.device import host_array
from posterior.kernels import is_sparse
from posterior.linear.basis import column_moments
from posterior.linear.scan import Scan
from posterior.linear.summary import INTERCEPT, Summary
from posterior.plot.captions import label, write_title
from posterior.plot.display import Display, drawing
from posterior.plot.rows import table_read_by
from posterior.plot.style import COLOURS, FAINT, MARKERS, WIDTH

# Classes and terms that one picture can hold.
MOST_CLASSES = len(COLOURS)
MOST_TERMS = 15


@dataclass(frozen=True, eq=False)
class DrawnCoefficients:
    """Coefficients (R, p) of terms for one or more classes, with the ends of intervals or why there are none.

    Where they are those of a posterior, `why` is the prior. `of` is None, or the R classes whose scores these
    are, each against `against`.
    """

    terms: tuple[str, ...]
    value: Floats
    low: Floats | None
    high: Floats | None
    why: str
    of: tuple[Any, ...]
    against: Any

    def times(self, spread: Floats) -> "DrawnCoefficients":
        """The same for a table whose columns are divided by these numbers."""
        ends = [None if end is None else end * spread for end in (self.low, self.high)]
        return DrawnCoefficients(
            self.terms, self.value * spread, ends[0], ends[1], self.why, self.of, self.against
        )


@dataclass(eq=False)
class CoefficientDisplay(Display):
    """Coefficients of a linear model, largest first, with confidence intervals where there are any.

    Standardised, a coefficient is that of its column divided by the standard deviation: sizes can be
    compared. Where `summary` gives them there are intervals, and a marker is filled if its interval leaves
    out zero; penalised models and LDA have none, and the title says so. With more than two classes each
    is held against the first.

    >>> import matplotlib.pyplot as plt
    >>> from posterior import LogisticRegression
    >>> X, y = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]], ["no", "no", "yes", "no", "yes", "yes"]
    >>> display = CoefficientDisplay.from_estimator(LogisticRegression(C=np.inf).fit(X, y)).plot()
    >>> print(display.ax_.get_title(loc="left"))
    Log odds of yes against no
    95 % confidence intervals
    >>> display.coefficients.value.round(3)
    array([[2.073]])
    >>> plt.close(display.figure_)
    """

    coefficients: DrawnCoefficients
    standardised: bool
    log_odds: bool
    level: float

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, *, standardised: bool = True, level: float = 0.95
    ) -> Self:
        """The picture for a fitted linear model: logistic or linear regression, LDA, or any with `coef_`.

        `X` is only needed to standardise the coefficients of a model that does not know how its columns
        vary: one that was loaded from a file, or is not ours.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "coef_"):
            raise TypeError(
                f"{type(estimator).__name__} has no coefficients (no coef_); pass a linear model, such as "
                "LogisticRegression or LDA"
            )
        found, spread = _coefficients(estimator, level)
        if standardised:
            found = found.times(_spread(estimator, X) if spread is None else spread)
        return cls(found, standardised, hasattr(estimator, "predict_log_proba"), level)

    @property
    def largest(self) -> list[int]:
        """Terms by the size of their largest coefficient, aliased ones left out."""
        size = np.abs(self.coefficients.value).max(axis=0)
        order = np.argsort(-size, kind="stable")
        return [int(j) for j in order if np.isfinite(size[j])]

    def plot(self, ax: Any = None, *, odds_ratios: bool = False, most: int = MOST_TERMS) -> Self:
        """Draw the `most` largest coefficients, or the odds ratios that they are the logs of."""
        if odds_ratios and not self.log_odds:
            raise ValueError("only coefficients of log odds are logs of odds ratios; pass odds_ratios=False")
        terms = self.largest[:most]
        classes = min(len(self.coefficients.value), MOST_CLASSES)
        height = 1.3 + 0.2 * len(terms) * (1 + 0.3 * (classes - 1))
        with drawing(ax, figsize=(WIDTH, height)) as axes:
            axes.axvline(1.0 if odds_ratios else 0.0, color=FAINT, linewidth=1, zorder=1)
            for row in range(classes):
                self._draw_class(axes, row, classes, terms, exp=odds_ratios)
            names = [label(self.coefficients.terms[j], 32) for j in terms]
            axes.set_yticks(np.arange(len(terms)), names)
            axes.set_ylim(len(terms) - 0.4, -0.6)
            if odds_ratios:
                axes.set_xscale("log")
                axes.xaxis.set_major_formatter("{x:g}")
            axes.set(xlabel=self._axis(odds_ratios))
            write_title(axes, *self._title(len(terms)))
            if classes > 1:
                axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        return self._drawn_on(axes)

    def _draw_class(self, axes: Any, row: int, rows: int, terms: list[int], *, exp: bool) -> None:
        found = self.coefficients
        first = len(found.value) > 1  # the first class, to which others are held, has a colour too
        looks = {"color": COLOURS[(row + first) % len(COLOURS)]}
        at = np.arange(len(terms)) + (0.7 * (row + 0.5) / rows - 0.35)
        value = found.value[row, terms]
        low = np.zeros(len(terms)) if found.low is None else found.low[row, terms]
        high = value if found.high is None else found.high[row, terms]
        if exp:
            with np.errstate(over="ignore"):
                value, low, high = np.exp(value), np.exp(low), np.exp(high)
        axes.hlines(at, low, high, linewidth=1.2, **looks)
        sure = _sure(found, row)[terms]
        name = label(found.of[row], 16) if len(found.value) > 1 else None
        marker = MARKERS[(row + first) % len(MARKERS)]
        axes.plot(value, at, marker=marker, markerfacecolor="white", linestyle="", **looks)
        axes.plot(value[sure], at[sure], marker=marker, linestyle="", label=name, **looks)

    def _axis(self, odds_ratios: bool) -> str:
        what = "odds ratio" if odds_ratios else "log odds" if self.log_odds else "coefficient"
        return f"{what} per {'standard deviation' if self.standardised else 'unit of the column'}"

    def _title(self, shown: int) -> tuple[str, str]:
        found = self.coefficients
        title = "Log odds" if self.log_odds else "Scores" if found.of else "Coefficients"
        if found.of:
            of = label(found.of[0]) if len(found.of) == 1 else "each class"
            title += f" of {of} against {label(found.against)}"
        under = [found.why]
        if found.low is not None:
            level, prior = f"{100 * self.level:g} %", label(found.why, 80)
            under = [f"{level} posterior intervals, {prior}" if prior else f"{level} confidence intervals"]
        if shown < len(found.terms):
            under.append(f"the largest {shown} of {len(found.terms)} terms")
        if len(found.value) > MOST_CLASSES:
            under.append(f"{MOST_CLASSES} of {len(found.value)} classes")
        return title, "; ".join(under)


def _sure(found: DrawnCoefficients, row: int) -> Bools:
    """Which coefficients have an interval that leaves out zero; without intervals all that are not zero."""
    if found.low is None or found.high is None:
        return np.asarray(found.value[row] != 0)
    return np.asarray((found.low[row] > 0) | (found.high[row] < 0))


def _coefficients(estimator: Any, level: float) -> tuple[DrawnCoefficients, Floats | None]:
    """Coefficients without the intercept, and the spread of the columns where a summary knows it."""
    why = "no intervals: this model has no standard errors"
    if hasattr(estimator, "summary"):
        try:
            return _summarized(estimator, estimator.summary(level=level))
        except ValueError as error:
            why = f"no intervals: {_clause(error)}"
    coef = estimator.coef_.toarray() if is_sparse(estimator.coef_) else host_array(estimator.coef_)
    coef = np.atleast_2d(coef).astype(np.float64)
    classes = _classes(estimator)
    if classes and len(coef) == len(classes):
        coef = coef[1:] - coef[:1]
    if classes and len(coef) != len(classes) - 1:
        raise ValueError(
            f"coef_ has {len(coef)} rows for {len(classes)} classes; expected one for each, or one for two"
        )
    against = classes[0] if classes else None
    return DrawnCoefficients(
        _terms(estimator, coef.shape[1]), coef, None, None, why, classes[1:], against
    ), None


def _summarized(estimator: Any, summary: Summary) -> tuple[DrawnCoefficients, Floats]:
    columns, classes = summary.columns, _classes(estimator)
    use = columns["term"] != INTERCEPT
    rows = max(len(classes) - 1, 1)

    def read(name: str) -> Floats:
        return np.asarray(columns[name][use], dtype=np.float64).reshape(rows, -1)

    terms = tuple(columns["term"][use][: int(use.sum()) // rows])
    against = classes[0] if classes else None
    found = DrawnCoefficients(
        terms, read("coef"), read("ci low"), read("ci high"), summary.prior, classes[1:], against
    )
    best = np.abs(found.value).argmax(axis=0), np.arange(len(terms))  # of classes, that which rounds least
    with np.errstate(invalid="ignore"):
        return found, np.asarray(read("standardised")[best] / found.value[best])


def _classes(estimator: Any) -> tuple[Any, ...]:
    return tuple(np.asarray(estimator.classes_).tolist()) if hasattr(estimator, "classes_") else ()


def _clause(error: ValueError) -> str:
    """What an error says first."""
    said = str(error).removeprefix("there are no standard errors: ")
    return label(re.split(r"[:;,(]", said)[0].strip(), 80)


def _terms(estimator: Any, size: int) -> tuple[str, ...]:
    if hasattr(estimator, "terms_"):
        return tuple(estimator.terms_)
    names = getattr(estimator, "feature_names_in_", None)
    return tuple(f"x{j}" for j in range(size)) if names is None else tuple(map(str, names))


def _spread(estimator: Any, X: Any) -> Floats:
    """The standard deviation of what each coefficient multiplies, (p,)."""
    if hasattr(estimator, "design_"):
        kept = getattr(estimator, "fit_", None)
        if X is not None:
            seen = column_moments(estimator._reading(X))
        elif kept is not None and kept.objective is not None and kept.objective.scan.reads_rows:
            # Not the scan itself, whose columns may have been brought to one scale for the penalty's sake.
            seen = column_moments(Scan.of(kept.objective.scan.dataset, estimator.design_))
        else:
            raise ValueError(_UNKNOWN)
        return np.asarray(np.sqrt(seen.scatter[0] / seen.weight[0]))
    if X is not None:
        values = table_read_by(estimator, X).values(tuple(range(np.shape(estimator.coef_)[-1])))
        return np.asarray(np.nanstd(values, axis=0))
    if hasattr(estimator, "xbar_") and hasattr(estimator, "covariance_"):
        apart: AnyArray = estimator.means_ - estimator.xbar_
        return np.asarray(np.sqrt(np.diagonal(estimator.covariance_) + estimator.priors_ @ apart**2))
    raise ValueError(_UNKNOWN)


_UNKNOWN = (
    "this model does not know how its columns vary; pass X, the table whose standard deviations are to be "
    "taken, or standardised=False"
)
