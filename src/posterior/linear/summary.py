"""The summary of a fit: a table of coefficients with standard errors and tests, and goodness of fit."""

import html
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from posterior._text import Printed, aligned, first_true, name_text
from posterior._types import AnyArray, Floats
from posterior.bayes import LEVELS
from posterior.linear.goodness_of_fit import goodness_of_fit
from posterior.linear.inference import Estimates, Kind, estimates
from posterior.linear.losses import Loss
from posterior.linear.objective import Objective
from posterior.linear.ridge_errors import ridge_estimates
from posterior.linear.separation import Separation
from posterior.schema.decode import frame_of

INTERCEPT = "(intercept)"
# Columns of names; all others are numbers.
INDEX = ("class", "term")
COUNTS = ("n", "coefficients", "df")
ERRORS = {
    "model": "standard errors from the model",
    "sandwich": "sandwich standard errors (HC0)",
    "HC1": "sandwich standard errors (HC1)",
}


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Printed):
    """Coefficients with their standard errors, tests and intervals, and how well the model fits.

    `columns` holds the table as arrays, `frame` as a pandas frame indexed by term (and by class, where there
    are more than two). `figures` has the weight of the rows, log-likelihoods, deviances and criteria.
    `covariance` is that of the coefficients in the order of the table, NaN where a column is aliased:
    `aliased` says which columns are, and of which others they are combinations (none: they are constant).
    A `standardised` coefficient is that of the column divided by its standard deviation. Under a ridge the
    errors and intervals are those of the posterior, given the `prior` that it stands for, and `P(sign)` is
    the probability that the coefficient has the sign it has.
    """

    title: str
    columns: Mapping[str, AnyArray]
    figures: Mapping[str, float]
    covariance: Floats
    aliased: Mapping[str, tuple[str, ...]]
    kind: Kind = "model"
    level: float = 0.95
    prior: str = ""

    def impossible(self) -> str:
        """What no summary is, in words: a column has a number, or a name, for each coefficient."""
        n = len(self.covariance)
        words = [values for name, values in self.columns.items() if name in INDEX]
        kinds = {name: object if name in INDEX else np.float64 for name in self.columns}
        return first_true(
            {
                "a summary of nothing": "term" not in self.columns or self.covariance.shape != (n, n),
                "figures that cannot be printed": not all(name.isprintable() for name in self.figures),
                "a summary of other coefficients": any(v.shape != (n,) for v in self.columns.values()),
                "a summary without numbers": any(v.dtype != kinds[k] for k, v in self.columns.items()),
                "a summary of what is neither a term nor a class": not all(
                    isinstance(value, (*LEVELS, np.generic)) for values in words for value in values
                ),
            }
        )

    @property
    def frame(self) -> Any:
        """The table as a pandas frame."""
        index = [name for name in INDEX if name in self.columns]
        return frame_of(self.columns, index)

    def __str__(self) -> str:
        lines = aligned(table_cells(self.columns, self.aliased), left=1 + ("class" in self.columns))
        return "\n".join([self.title, "", *lines, "", *self.notes])

    def _repr_html_(self) -> str:
        head, *body = table_cells(self.columns, self.aliased)
        left = 1 + ("class" in self.columns)

        def line(row: Sequence[str]) -> str:
            cells = [f"<th>{html.escape(cell)}</th>" for cell in row[:left]]
            cells += [f'<td style="text-align: right">{html.escape(cell)}</td>' for cell in row[left:]]
            return "<tr>" + "".join(cells) + "</tr>"

        top = "<tr>" + "".join(f"<th>{html.escape(cell)}</th>" for cell in head) + "</tr>"
        notes = "<br>".join(html.escape(note) for note in self.notes)
        return (
            f"<table><caption>{html.escape(self.title)}</caption><thead>{top}</thead>"
            f"<tbody>{''.join(map(line, body))}</tbody></table><p>{notes}</p>"
        )

    @property
    def notes(self) -> list[str]:
        """What is said beneath the table: where the errors come from, and how well the model fits."""
        figures = [f"{name} {_figure(name, value)}" for name, value in self.figures.items()]
        notes = [f"{ERRORS[self.kind]}; {100 * self.level:g} % confidence intervals"]
        if self.prior:
            notes = [f"posterior standard deviations and {100 * self.level:g} % intervals, {self.prior}"]
        notes += ["; ".join(some) for some in (figures[:5], figures[5:9], figures[9:])]
        if self.aliased:
            reasons = [
                f"{name_text(term)} ({'depends on ' + ', '.join(map(name_text, of)) if of else 'constant'})"
                for term, of in self.aliased.items()
            ]
            notes.append("aliased: " + ", ".join(reasons))
        return notes


def summarize(
    objective: Objective,
    theta: Floats,
    *,
    labels: Sequence[Any] = (),
    target_name: str | None = None,
    covariance: Kind = "model",
    level: float = 0.95,
    separation: Separation | None = None,
) -> Summary:
    """The summary of a fit without a penalty, with Firth's or with a ridge, at its optimum θ.

    `labels` are the classes in the order of their codes; a regression has none. `separation` says why there
    is no optimum, where there is none.

    >>> from posterior.engines import LocalDataset
    >>> from posterior.linear.basis import Basis
    >>> from posterior.linear.design import Design
    >>> from posterior.linear.losses import GaussianLoss
    >>> from posterior.linear.penalties import ElasticNet
    >>> from posterior.linear.scan import Scan
    >>> from posterior.linear.solvers.newton import Newton
    >>> from posterior.schema import Schema, read_table
    >>> table = read_table([[0.5], [1.5], [2.5], [3.5]])
    >>> schema = Schema.infer(table)
    >>> rows = LocalDataset(schema, schema.encode(table), np.array([1.0, 3.0, 4.0, 8.0]))
    >>> scan = Scan.of(rows, Design.of(schema))
    >>> line = Objective(scan, GaussianLoss(), ElasticNet(), Basis.plain(1))
    >>> print(summarize(line, Newton().minimize(line).theta, target_name="yield"))
    yield: expected value
    <BLANKLINE>
                    coef  std err      t      p  ci low  ci high  standardised
    (intercept)  -0.4000   0.9721  -0.41  0.721  -4.583    3.783
    x0             2.200   0.4243   5.19  0.035  0.3745    4.025         2.460
    <BLANKLINE>
    standard errors from the model; 95 % confidence intervals
    n 4; coefficients 2; df 2; AIC 12.16; BIC 10.93
    log-likelihood -4.08; null log-likelihood -9.42; residual deviance 1.80; null deviance 26.00
    R2 0.9308; adjusted R2 0.8962; sigma 0.9487
    """
    if separation is not None:
        raise ValueError(
            f"there are no standard errors: {separation.message(_classes(labels, len(separation.rows)))} "
            'Of the penalties penalty="firth" alone has standard errors'
        )
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} is no probability of a confidence interval; use one such as 0.95")
    loss, prior = objective.loss, ""
    if objective.penalty.smooth and not objective.penalty.free and covariance == "model":
        found, prior = ridge_estimates(objective, theta)
    else:
        found = estimates(objective, theta, covariance)
    classes = _classes(labels, loss.n_classes) if loss.n_classes else ()
    names = objective.scan.design.names
    facts = sorted(found.facts, key=lambda fact: fact.column)
    return Summary(
        title=title_of(classes, target_name),
        columns=_index(objective, classes) | _tested(found, level, loss, ridge=bool(prior)),
        figures=goodness_of_fit(objective, found),
        covariance=found.covariance,
        aliased={names[fact.column]: tuple(names[j] for j in fact.of) for fact in facts},
        kind=covariance,
        level=level,
        prior=prior,
    )


def _classes(labels: Sequence[Any], n_classes: int) -> tuple[Any, ...]:
    """The labels of the classes, or else their codes."""
    classes = tuple(labels) or tuple(range(n_classes))
    if len(classes) != n_classes:
        raise ValueError(f"found {len(classes)} labels for {n_classes} classes; pass one for each")
    return classes


def _index(objective: Objective, classes: tuple[Any, ...]) -> dict[str, AnyArray]:
    """The terms, and where there are several scores the classes they are of, block by block."""
    terms = np.array([*[INTERCEPT] * objective.basis.intercept, *objective.scan.design.names], dtype=object)
    if len(classes) <= 2:
        return {"term": terms}
    of = np.fromiter(classes[1:], dtype=object, count=len(classes) - 1)
    return {"class": np.repeat(of, len(terms)), "term": np.tile(terms, len(of))}


def title_of(classes: Sequence[Any], target_name: str | None = None) -> str:
    """What coefficients are of: log odds of classes against the first, or an expected value."""
    of = "expected value"
    if len(classes) == 2:
        of = f"log odds of {name_text(classes[1])} against {name_text(classes[0])}"
    elif classes:
        of = f"log odds of each class against {name_text(classes[0])}"
    return of if target_name is None else f"{name_text(target_name)}: {of}"


def _tested(found: Estimates, level: float, loss: Loss, *, ridge: bool) -> dict[str, Floats]:
    """Coefficients, errors, tests and intervals: z and odds ratios, or t of the degrees of freedom left.

    Of a ridge there are no tests, but the probability of the sign.
    """
    coef, error = found.coef, found.error
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = coef / error
        odds = np.exp(coef)
    if not loss.estimates_dispersion:
        tail, width = special.ndtr(-np.abs(ratio)), float(special.ndtri(0.5 + level / 2))
    else:
        tail = special.stdtr(found.df, -np.abs(ratio))
        width = float(special.stdtrit(found.df, 0.5 + level / 2))
    columns = {
        "coef": coef,
        "std err": error,
        **(
            {"P(sign)": 1 - tail}
            if ridge
            else {"t" if loss.estimates_dispersion else "z": ratio, "p": 2 * tail}
        ),
        "ci low": coef - width * error,
        "ci high": coef + width * error,
        "odds ratio": odds,
        "standardised": coef * found.spread,
    }
    return {
        name: values.ravel() for name, values in columns.items() if loss.n_classes or name != "odds ratio"
    }


# -- how it is printed ----------------------------------------------------------------------------


def table_cells(columns: Mapping[str, AnyArray], aliased: Collection[str] = ()) -> list[list[str]]:
    """A table of coefficients as text, its head first; a class is named where its block begins."""
    names = list(columns)
    rows = [["" if name in INDEX else name for name in names]]
    before = None
    for values in zip(*columns.values(), strict=True):
        row = dict(zip(names, values, strict=True))
        cells = [name_text(row["term"])]
        if "class" in row:
            cells.insert(0, "" if row["class"] == before else name_text(row["class"]))
            before = row["class"]
        if row["term"] in aliased:
            rows.append(cells + ["aliased"] + [""] * (len(names) - len(cells) - 1))
        else:
            rows.append(cells + [number_text(row[name], name) for name in names[len(cells) :]])
    return rows


def number_text(value: float, name: str = "") -> str:
    """A number with four digits, or as the column of this name has it; nothing for NaN."""
    if np.isnan(value):
        return ""
    if name == "p":
        return "<0.001" if value < 0.001 else f"{value:.3f}"
    if name == "P(sign)":
        return ">0.999" if value > 0.999 else f"{value:.3f}"
    if name in {"z", "t"} and abs(value) < 1e5:
        return f"{value:.2f}"
    return f"{value:#.4g}".removesuffix(".")


def _figure(name: str, value: float) -> str:
    """Counts as they are, shares with four digits, and the rest with two behind the point."""
    if name in COUNTS and float(value).is_integer():
        return f"{value:.0f}"
    return f"{value:.4g}" if "R2" in name or name == "sigma" else f"{value:.2f}"
