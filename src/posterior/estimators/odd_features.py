"""Which features make a row odd: the log density that each costs, against a typical row of the class."""

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from posterior._text import first_true
from posterior._types import AnyArray, Floats, Ints
from posterior.dataset import Chunk
from posterior.engines import LocalDataset
from posterior.generative import GenerativeModel
from posterior.schema import Column
from posterior.schema.decode import table_of

# The range of numbers that is called usual in a class.
USUAL = (0.05, 0.95)
NUMBERS = ("continuous", "count")
# Terms of rows, features and classes that an average is taken over, at most.
MOST_CELLS = 1 << 24


@dataclass(frozen=True, eq=False)
class TypicalRows:
    """What known rows look like: by feature and class, the mean term of the log density and the usual range.

    `term` is (F, K); `low` and `high` are (F, K), NaN where a feature is no number.
    """

    names: tuple[str, ...]
    columns: tuple[Column, ...]
    classes: Annotated[AnyArray, "K any"]
    term: Annotated[Floats, "F K number"]
    low: Annotated[Floats, "F K any"]
    high: Annotated[Floats, "F K any"]

    @classmethod
    def of(
        cls, model: GenerativeModel, data: LocalDataset, y: Ints | None, weight: Floats | None
    ) -> "TypicalRows":
        """Averages over known rows, over some of very many; `y` None takes the most probable classes."""
        y = model.best(data) if y is None else y
        step = -(-data.n_rows * len(model.schema) * model.n_classes // MOST_CELLS)
        some = replace(data, y=y).every(step)
        codes, known = y[::step], (np.ones(len(y)) if weight is None else weight)[::step]
        names, terms = model.own_terms(some)
        positions = feature_positions(model)
        low, high = np.full((2, len(names), model.n_classes), np.nan)
        cells = read_cells(model, some)
        numeric = np.flatnonzero([model.schema.kinds[p] in NUMBERS for p in positions])
        for k in np.unique(codes):
            rows = np.flatnonzero(codes == k)
            low[numeric, k], high[numeric, k] = usual_range(cells[np.ix_(rows, numeric)], known[rows])
        columns = tuple(model.schema.columns[p] for p in positions)
        return cls(names, columns, model.classes, _means(terms, codes, known, model.n_classes), low, high)

    def misfit(self, model: GenerativeModel) -> str:
        """What are no typical rows of a model, in words; empty if nothing is wrong."""
        names = tuple(model.schema.names[j] for j in feature_positions(model))
        shape = (len(names), model.n_classes)
        return first_true(
            {
                "typical rows of other columns": self.names != names,
                "typical rows of others": self.term.shape != shape or len(self.columns) != len(names),
                "typical rows of other classes": not np.array_equal(self.classes, model.classes),
            }
        )

    def oddness(self, model: GenerativeModel, data: LocalDataset, y: Ints) -> Floats:
        """What each feature adds to the log density under class `y`, less what is typical; 0 if missing."""
        _, terms = model.own_terms(replace(data, y=y))
        return np.where(np.isnan(terms), 0.0, terms - self.term.T[y])

    def said(self, j: int, k: int, cell: float) -> str:
        """A cell in words, with what is usual in the class."""
        column = self.columns[j]
        if column.levels is not None:
            known = not np.isnan(cell) and cell < len(column.levels)
            return repr(column.levels[int(cell)]) if known else "not seen in training"
        if column.kind not in NUMBERS:
            return ""
        low, high = self.low[j, k], self.high[j, k]
        return _number(cell) + (f" (usually {_number(low)} to {_number(high)})" if low <= high else "")


@dataclass(frozen=True, eq=False)
class OddFeatures:
    """What each feature of a row costs, in nats of log density, against a typical row of its class.

    `values` (n, F) is what the feature adds to ln p(row | class), in the most probable class of the row,
    less its average over known rows of that class: −3 makes the row e³ times rarer than a typical one. The
    values of a row add up to how much its log density is below that of such a row with the same cells. The
    features of a Gaussian block share its squared distance d² as (x−μ)_j [Σ⁻¹(x−μ)]_j. A missing cell
    costs nothing. `cells` are the numbers in the table, or the positions of categories.

    >>> from posterior import GaussianNB
    >>> from posterior.estimators.outliers import OutlierRule
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> rule = OutlierRule(GaussianNB()).fit(X, y)
    >>> odd = rule.odd_features(X.iloc[:1].assign(**{"petal width (cm)": 1.0}), n_features=1)
    >>> odd.names[int(odd.values[0].argmin())]
    'petal width (cm)'
    """

    typical: TypicalRows
    values: Floats
    cells: Floats
    class_codes: Ints
    p_values: Floats
    log_density: Floats
    threshold: float | None
    n_features: int

    @property
    def names(self) -> tuple[str, ...]:
        """The features, in the order of the columns of `values`."""
        return self.typical.names

    @property
    def classes(self) -> AnyArray:
        """The most probable class of each row."""
        return np.asarray(self.typical.classes[self.class_codes])

    def ranked(self, row: int) -> Ints:
        """The features that make a row odd, the oddest first, as far as there are any."""
        order = np.argsort(self.values[row], kind="stable")[: self.n_features]
        return np.asarray(order[self.values[row, order] < 0])

    def frame(self) -> Any:
        """A data frame with a line for each row and each of its oddest features."""
        pairs = [(i, int(j)) for i in range(len(self.values)) for j in self.ranked(i)]
        rows, features = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return table_of(
            {
                "row": rows,
                "p_value": self.p_values[rows],
                "class": self.classes[rows],
                "feature": [self.names[j] for j in features],
                "nats": self.values[rows, features],
                "found": [self._said(i, j) for i, j in pairs],
            },
            "pandas",
        )

    def _said(self, row: int, j: int) -> str:
        return self.typical.said(j, int(self.class_codes[row]), float(self.cells[row, j]))

    def in_lines(self) -> list[str]:
        """The oddest features of each row, a line for each of them."""
        told = []
        for i in range(len(self.values)):
            order = self.ranked(i).tolist()
            costs = [_signed(self.values[i, j]) for j in order]
            wide = max((len(self.names[j]) for j in order), default=0)
            long = max(map(len, costs), default=0)
            lines = [
                f"{self.names[j]:<{wide}}  {cost:>{long}}  {self._said(i, j)}".rstrip()
                for j, cost in zip(order, costs, strict=True)
            ]
            told.append("\n".join(lines))
        return told

    def __str__(self) -> str:
        blocks = []
        against = "" if self.threshold is None else f" (threshold {_signed(self.threshold)})"
        rows = zip(self.p_values, self.log_density, self.classes, self.in_lines(), strict=True)
        for i, (p, log_density, label, lines) in enumerate(rows):
            head = f"row {i}: p = {p:.2g}, log p(row) = {_signed(log_density)}{against}, most like {label}"
            blocks.append("\n  ".join([head, *lines.splitlines()]))
        return "\n\n".join(blocks)


def feature_positions(model: GenerativeModel) -> list[int]:
    """The columns of the table that the features of `GenerativeModel.own_terms` are."""
    return [j for b, _ in model.distributions for j in b.columns] + [r.column for r in model.rules]


def read_cells(model: GenerativeModel, data: LocalDataset) -> Floats:
    """The cells of the features, (n, F), as numbers or codes; NaN for none, and for texts."""
    blocks = [b for b, _ in model.distributions]
    ruled = tuple(rule.column for rule in model.rules)

    def cells(chunk: Chunk) -> Floats:
        parts: list[Any] = [np.zeros((chunk.n_rows, 0))]
        for block in blocks:
            if block.reads == "texts":
                parts.append(np.full((chunk.n_rows, len(block.columns)), np.nan))
            elif block.reads == "codes":
                codes = chunk.codes(block.columns).array
                parts.append(np.where(codes < 0, np.nan, codes))
            else:
                parts.append(chunk.values(block.columns))
        return np.concatenate([*parts, *([chunk.values(ruled)] if ruled else [])], axis=1)

    return data.map(cells, dense=len(feature_positions(model)))


def _means(terms: Floats, y: Ints, weight: Floats, n_classes: int) -> Floats:
    """Weighted means (F, K) of the terms by class, over cells that are there and possible.

    A class that shows no such cell takes the mean over all; 0 where there is none at all.
    """
    possible = np.isfinite(terms)
    member = (y[:, None] == np.arange(n_classes)) * weight[:, None]
    total, count = np.where(possible, terms, 0.0).T @ member, possible.T @ member
    overall = total.sum(axis=1) / np.where((n := count.sum(axis=1)) > 0, n, 1.0)
    return np.asarray(np.where(count > 0, total / np.where(count > 0, count, 1.0), overall[:, None]))


def usual_range(cells: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """The weighted quantiles between which 90 % of the cells of each column lie; NaN where there are none."""
    order = np.argsort(cells, axis=0, kind="stable")  # NaN come last
    ranked = np.take_along_axis(cells, order, axis=0)
    below = np.where(np.isnan(ranked), 0.0, weight[order]).cumsum(axis=0)
    columns = np.arange(cells.shape[1])
    low, high = (ranked[(below >= q * below[-1]).argmax(axis=0), columns] for q in USUAL)
    there = below[-1] > 0
    return np.where(there, _rounded(low), np.nan), np.where(there, _rounded(high), np.nan)


def _rounded(numbers: Floats) -> Floats:
    """Four significant digits: a range that is usual, and the cell of no row."""
    return np.array([float(f"{number:.4g}") for number in numbers.tolist()])


def _signed(number: float) -> str:
    return f"{number:.1f}".replace("-", "−").replace("inf", "∞")


def _number(x: float) -> str:
    return f"{x:,g}" if abs(x) >= 10_000 else f"{x:g}"
