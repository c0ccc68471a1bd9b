"""LDA and logistic regression side by side: one form of boundary, estimated in two ways."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from posterior._text import aligned
from posterior._types import AnyArray, DataFrame, Floats, Ints
from posterior.comparison.experiments import margin, spread
from posterior.comparison.printing import loss_text
from posterior.estimators import LinearDiscriminantAnalysis, LogisticRegression
from posterior.estimators.held_out import held_out_scores
from posterior.estimators.parameters import Kinds, Label, Labels, TableLike
from posterior.estimators.splits import read_folds
from posterior.estimators.target import labelled_table
from posterior.linear.summary import INTERCEPT
from posterior.notices import PosteriorWarning
from posterior.schema import LabelledTable
from posterior.schema.classes import refuse_one_class
from posterior.schema.decode import table_of

FOLDS = 10


@dataclass(frozen=True, eq=False)
class Pair:
    """Log odds of class `of` against class `against`, w0 + w·x, by both: w0 first, then a weight a column.

    `error` are the standard errors of logistic regression. `spread` is the covariance of the columns within
    classes: lengths and angles are measured in its units, so that they do not depend on how columns are
    scaled, or mixed. `agreement` is the share of the rows of these two classes on which both say the same.
    """

    of: Any
    against: Any
    lda: Floats
    logistic: Floats
    error: Floats
    spread: Floats
    agreement: float

    @property
    def lda_standardised(self) -> Floats:
        """Weights of LDA for columns divided by their standard deviation within classes, (d,)."""
        return np.asarray(self.lda[1:] * np.sqrt(np.diagonal(self.spread)))

    @property
    def logistic_standardised(self) -> Floats:
        """Weights of logistic regression for columns so divided, (d,)."""
        return np.asarray(self.logistic[1:] * np.sqrt(np.diagonal(self.spread)))

    @property
    def angle(self) -> float:
        """The angle between the boundaries in degrees; its cosine is the correlation of the scores."""
        both = self._product(self.lda, self.logistic)
        cosine = both / np.sqrt(
            self._product(self.lda, self.lda) * self._product(self.logistic, self.logistic)
        )
        return float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))

    @property
    def steepness(self) -> float:
        """How much faster the log odds of logistic regression change across the boundary than LDA's."""
        ratio = self._product(self.logistic, self.logistic) / self._product(self.lda, self.lda)
        return float(np.sqrt(ratio))

    def _product(self, a: Floats, b: Floats) -> float:
        return float(a[1:] @ self.spread @ b[1:])


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Both models of a table: coefficients for each pair of classes, and how well they predict.

    `lda` and `logistic` are fitted to `rows`, the complete rows of the `columns` that are numbers and say
    something of their own; `left_out` says which others there are. `lda_losses` and `logistic_losses` are the
    log losses of each row, by models of the other folds, the same for both.
    """

    columns: tuple[str, ...]
    rows: Ints
    lda: Any
    logistic: Any
    pairs: tuple[Pair, ...]
    lda_losses: Floats
    logistic_losses: Floats
    agreement: float
    left_out: tuple[str, ...] = ()
    container: str = "numpy"

    @property
    def frame(self) -> DataFrame:
        """A data frame with a row for each pair of classes and each column."""
        d = len(self.columns) + 1
        nothing = np.array([np.nan])
        columns: dict[str, Any] = {
            "of": np.repeat(np.array([pair.of for pair in self.pairs]), d),
            "against": np.repeat(np.array([pair.against for pair in self.pairs]), d),
            "term": [INTERCEPT, *self.columns] * len(self.pairs),
            "lda": np.concatenate([pair.lda for pair in self.pairs]),
            "logistic": np.concatenate([pair.logistic for pair in self.pairs]),
            "logistic_error": np.concatenate([pair.error for pair in self.pairs]),
        }
        for name in ("lda_standardised", "logistic_standardised"):
            columns[name] = np.concatenate([np.r_[nothing, getattr(pair, name)] for pair in self.pairs])
        return table_of(columns, self.container)

    @cached_property
    def log_loss(self) -> tuple[float, float]:
        """Mean log loss on rows held out, of LDA and of logistic regression."""
        return float(self.lda_losses.mean()), float(self.logistic_losses.mean())

    @property
    def difference(self) -> tuple[float, float]:
        """Log loss of LDA less that of logistic regression, and its standard error, paired by rows."""
        mean, error = spread(self.lda_losses - self.logistic_losses)
        return float(mean), float(error)

    def __str__(self) -> str:
        mean, error = self.difference
        better = "logistic" if mean > 0 else "LDA"
        sure = f"{better} is better" if abs(mean) > margin(error, len(self.rows)) else "no more than chance"
        firth = self.logistic.penalty == "firth"
        rule = "Firth's penalty, for classes are separated" if firth else "no penalty"
        return "\n".join(
            [
                f"LDA and logistic regression ({rule}) on {len(self.rows):,} rows",
                *(line for pair in self.pairs for line in ("", *self._lines(pair))),
                "",
                f"log loss held out ({FOLDS} folds): LDA {loss_text(self.log_loss[0])}, logistic "
                f"{loss_text(self.log_loss[1])}, difference {loss_text(mean)} ± {loss_text(error)}: {sure}",
                f"same class on {100 * self.agreement:.1f} % of the rows",
                *self.left_out,
            ]
        )

    def _lines(self, pair: Pair) -> list[str]:
        head = ["", "LDA", "logistic", "std err", "LDA, standardised", "logistic, standardised"]
        nothing = [np.nan]
        numbers = [pair.lda, pair.logistic, pair.error]
        numbers += [np.r_[nothing, pair.lda_standardised], np.r_[nothing, pair.logistic_standardised]]
        names = [INTERCEPT, *self.columns]
        body = [[name, *map(_number, row)] for name, row in zip(names, np.transpose(numbers), strict=True)]
        return [
            f"log odds of {pair.of} against {pair.against}",
            *aligned([head, *body]),
            f"boundaries at {pair.angle:.1f}°, logistic {pair.steepness:.2f} times as steep, "
            f"same side for {100 * pair.agreement:.1f} % of the rows of both classes",
        ]


def side_by_side(
    X: TableLike, y: Labels, *, kinds: Kinds | None = None, classes: Label | Labels | None = None
) -> SideBySide:
    """Compare LDA and logistic regression on one table: coefficients, boundaries, predictions and losses.

    Both have log odds that are linear in the columns. LDA finds them from class means and one covariance,
    logistic regression from the classes given the rows (by maximum likelihood, or Firth's penalty where
    classes are separated); they differ where the classes are not Gaussian with one covariance.

    Parameters
    ----------
    X : array, list or data frame of shape (n_samples, n_features)
        Columns of numbers are used, and rows without a gap in them.
    y : array-like of shape (n_samples,)
        The class of each row.
    kinds : mapping, default=None
        Kinds of columns that differ from what would be inferred.
    classes : label or sequence of labels, default=None
        Which pairs to show: None all, one label that class against each other, several those of them.

    Returns
    -------
    both : SideBySide
        Coefficients, angles and losses; print it.

    Examples
    --------
    >>> from posterior.datasets import load_pokemon
    >>> table = load_pokemon(backend="pandas").frame.query("number < 400 and type_1 in ['Normal', 'Water']")
    >>> print(side_by_side(table[["defense", "sp_def"]], table["type_1"]))
    LDA and logistic regression (no penalty) on 140 rows
    <BLANKLINE>
    log odds of Water against Normal
                      LDA  logistic   std err  LDA, standardised  logistic, standardised
    (intercept)    -1.805    -1.861    0.5833
    defense       0.02563   0.02870  0.008948             0.6768                  0.7578
    sp_def       0.005951  0.004034  0.007581             0.1646                  0.1116
    boundaries at 4.3°, logistic 1.07 times as steep, same side for 97.9 % of the rows of both classes
    <BLANKLINE>
    log loss held out (10 folds): LDA 0.629, logistic 0.631, difference -0.001 ± 0.003: no more than chance
    same class on 97.9 % of the rows

    """
    table = labelled_table(X, y, who="side_by_side", kinds=kinds)
    used = table.where("continuous", "count")
    if not used or table.is_sparse:
        raise ValueError(
            "LDA needs columns of numbers in a table that is not sparse, and there are none; declare them "
            '(kinds={"column": "continuous"}), or make dense'
        )
    values = table.values(used)
    rows = np.flatnonzero(~np.isnan(values).any(axis=1))
    complete = table.part(rows).present()
    refuse_one_class(complete.classes)
    y = complete.labels
    kept = _independent_columns(values[rows], y)
    values = np.ascontiguousarray(values[rows][:, kept])
    complete = replace(complete, X=values)
    lda, logistic = _quietly(LinearDiscriminantAnalysis(), values, y), _fitted_logistic(values, y)
    both = lda.predict_log_proba(values), logistic.predict_log_proba(values)
    return SideBySide(
        columns=tuple(table.schema.names[used[k]] for k in kept),
        rows=rows,
        lda=lda,
        logistic=logistic,
        pairs=tuple(
            _pair(lda, logistic, both, complete.codes, *pair) for pair in _pairs(classes, complete.classes)
        ),
        **_held_out(logistic, complete),
        agreement=float((both[0].argmax(axis=1) == both[1].argmax(axis=1)).mean()),
        left_out=tuple(_left_out(table, used, kept, len(rows))),
        container=table.schema.container,
    )


def _pairs(classes: Any, labels: AnyArray) -> list[tuple[int, int]]:
    """Codes of the classes to compare, the later against the earlier, or all against one."""
    found = labels.tolist()
    if classes is None:
        return [(b, a) for a, b in combinations(range(len(found)), 2)]
    several = isinstance(classes, Iterable) and not isinstance(classes, str)
    asked = list(classes) if several else [classes]
    unknown = [label for label in asked if label not in found]
    if unknown or not asked:
        raise ValueError(f"classes names {unknown or 'none'}; the classes with complete rows are {found}")
    codes = sorted({found.index(label) for label in asked})
    if len(codes) == 1:
        return [(k, codes[0]) for k in range(len(found)) if k != codes[0]]
    return [(b, a) for a, b in combinations(codes, 2)]


def _quietly(estimator: Any, X: Floats, y: AnyArray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PosteriorWarning)  # what was left out is told in `left_out`
        return estimator.fit(X, y)


def _independent_columns(X: Floats, y: AnyArray) -> list[int]:
    """The columns that are not constant and no combination of others."""
    if not np.ptp(X, axis=0).any():
        raise ValueError("every column of numbers is constant in the rows without a gap; pass others")
    names = _quietly(LinearDiscriminantAnalysis(), X, y).linear_form().columns
    return [int(name.removeprefix("x")) for name in names]  # an array's columns are called x0, x1, …


def _fitted_logistic(X: Floats, y: AnyArray) -> LogisticRegression:
    """Logistic regression by maximum likelihood, or with Firth's penalty where there is no maximum."""
    model: LogisticRegression = _quietly(LogisticRegression(C=np.inf), X, y)
    if model.separation_ is not None:
        model = _quietly(LogisticRegression("firth"), X, y)
    return model


def _pair(
    lda: Any, logistic: Any, log_posteriors: tuple[Floats, Floats], codes: Ints, of: int, against: int
) -> Pair:
    weights, level = lda.linear_form().pair(of, against)
    theirs, error = _contrast(logistic, of, against)
    rows = (codes == of) | (codes == against)
    one, two = (logs[rows, of] > logs[rows, against] for logs in log_posteriors)
    labels = lda.classes_.tolist()
    return Pair(
        of=labels[of],
        against=labels[against],
        lda=np.concatenate([[level], weights]),
        logistic=theirs,
        error=error,
        spread=lda.covariance_,
        agreement=float((one == two).mean()),
    )


def _contrast(model: LogisticRegression, of: int, against: int) -> tuple[Floats, Floats]:
    """Log odds of two classes by logistic regression, and their standard errors."""
    table = np.column_stack([model.intercept_, model.coef_])
    table = np.vstack([np.zeros_like(table), table]) if len(table) == 1 else table
    p, covariance = table.shape[1], model.summary().covariance
    # The summary holds every class against the first: d/dβ of β_of − β_against is 1 and −1.
    sides = [(k - 1, sign) for k, sign in ((of, 1.0), (against, -1.0)) if k]
    variance = sum(
        s * t * np.diagonal(covariance[a * p : (a + 1) * p, b * p : (b + 1) * p])
        for a, s in sides
        for b, t in sides
    )
    return table[of] - table[against], np.sqrt(variance)


def _held_out(logistic: LogisticRegression, table: LabelledTable) -> dict[str, Floats]:
    """Log losses of each row by both models of the other folds."""
    folds, rows = read_folds(FOLDS, table.codes), np.arange(len(table))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PosteriorWarning)
        models = {"lda_losses": LinearDiscriminantAnalysis(), "logistic_losses": logistic}
        logs = {name: held_out_scores(model, table, folds) for name, model in models.items()}
    return {name: 0.0 - found[rows, table.codes] for name, found in logs.items()}


def _left_out(table: LabelledTable, used: tuple[int, ...], kept: list[int], n: int) -> Iterable[str]:
    names = table.schema.names
    others = [names[j] for j in range(len(names)) if j not in used]
    spare = [names[j] for k, j in enumerate(used) if k not in kept]
    if others:
        yield "left out, not numbers: " + ", ".join(others)
    if spare:
        yield "left out, constant or a combination of the others: " + ", ".join(spare)
    if n < len(table):
        yield f"left out, rows with a gap: {len(table) - n:,} of {len(table):,}"


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:#.4g}".removesuffix(".")
