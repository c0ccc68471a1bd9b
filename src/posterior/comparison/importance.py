"""How much a model needs each column: what rows held out lose if it is not told it."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import clone

from posterior._text import aligned, name_text
from posterior._types import DataFrame, Floats, Ints
from posterior.comparison.candidates import candidates_named
from posterior.comparison.column_groups import column_groups
from posterior.comparison.facts import TableFacts
from posterior.comparison.folds import deal
from posterior.comparison.inputs import compared_table
from posterior.comparison.model_names import estimator_for
from posterior.comparison.printing import loss_text
from posterior.comparison.removal import ColumnRemoval, RowLosses, shuffles
from posterior.estimators.parameters import Kinds, Labels, TableLike
from posterior.estimators.table_estimator import fit_table
from posterior.schema import Folds, LabelledTable
from posterior.schema.decode import table_of

Measure = Literal["log loss", "error rate"]

# Rows that are predicted without each column, and cells that may be read for it in all.
MOST_ROWS, FEWEST_ROWS, MOST_CELLS = 5_000, 500, 2 * 10**8
# Of a class that is rare in a sample so many rows are taken, if there are so many.
FEW_OF_A_CLASS = 50
# Models that are fitted, each to the rows outside a fold; of large folds two are enough.
MOST_MODELS, FEWEST_MODELS = 10, 2
N_SHUFFLES = 5
# A normal deviate: 95 % lie within.
NORMAL = 1.959964


@dataclass(frozen=True)
class ColumnImportance:
    """How much more rows held out lose if the model is not told a column: the mean and its standard error.

    `columns` are what the column is read as: itself, or the parts of a date. A value below zero is a column
    that misleads the model, or noise.

    >>> low, high = ColumnImportance("age", ("age",), 0.1, 0.02).interval
    >>> round(low, 3), round(high, 3)
    (0.061, 0.139)
    """

    name: str
    columns: tuple[str, ...]
    value: float
    error: float

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of 95 %."""
        return self.value - NORMAL * self.error, self.value + NORMAL * self.error


@dataclass(frozen=True, eq=False)
class Importance:
    """How much more rows held out lose without each column, the most important first.

    A generative model integrates a column out, so that its posterior given all others is exact (`method` is
    "left out"); for any other model the column's values are shuffled among the rows (`method` is "shuffled";
    Breiman 2001, Machine Learning 45), several times. A date is one column, whatever it is read as.
    `together` are groups of strongly correlated columns without all of them: one at a time each may look
    useless, since the others say the same.

    The `measure` is the log loss in nats, or the error rate where a model has no posteriors or gives a true
    class a posterior of zero; `loss` is that of the rows as they are. Standard errors are over `n_rows` rows
    that `n_models` models had not seen, these models being what they are. `unused` columns are not read by
    the model, and lose nothing; `untried` ones are more than are tried, and differ least between the classes.

    >>> from posterior.datasets import load_penguins
    >>> penguins = load_penguins()
    >>> print(Importance.of(penguins.X, penguins.y, "lda"))
    log loss of LDA 0.034 on 344 rows held out; each left out:
    column               rise    95 % interval
    bill_length_mm      0.305   0.253 to 0.357
    bill_depth_mm       0.045   0.022 to 0.069
    body_mass_g         0.009  -0.005 to 0.022
    year               -0.002  -0.009 to 0.006
    flipper_length_mm  -0.006  -0.014 to 0.003
    not used: island, sex
    """

    columns: tuple[ColumnImportance, ...]
    together: tuple[ColumnImportance, ...]
    unused: tuple[str, ...]
    untried: tuple[str, ...]
    model: str
    method: Literal["left out", "shuffled"]
    measure: Measure
    loss: float
    n_rows: int
    n_models: int
    seed: int
    container: str = field(default="numpy", repr=False)

    @classmethod
    def of(  # noqa: PLR0913 -- each of these is a question that users ask
        cls,
        X: TableLike,
        y: Labels | str,
        model: Any,
        *,
        folds: int | None = None,
        groups: Labels | str | None = None,
        time: Labels | str | None = None,
        kinds: Kinds | None = None,
        n_shuffles: int = N_SHUFFLES,
        seed: int = 0,
    ) -> Self:
        """Hold out rows of a table, and predict them without each column.

        Parameters
        ----------
        X : array, sparse matrix, list or data frame of shape (n_samples, n_features)
            Numbers, categories, texts and gaps as they are.
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column that holds it.
        model : str or estimator
            One of `MODELS` by name, or an unfitted estimator such as `comparison.recommended.estimator`.
        folds, groups, time, kinds : default=None
            As in `Comparison.of`.
        n_shuffles : int, default=5
            How often a column is shuffled, for models that cannot leave it out exactly.
        seed : int, default=0
            How rows are dealt out, sampled and shuffled.

        """
        table = compared_table(X, y, groups=groups, time=time, kinds=kinds)
        (dealt, *_) = deal(table.codes, folds=folds, groups=table.groups, time=table.time, seed=seed)
        (candidate,) = candidates_named([model])
        facts = TableFacts(table)
        used = facts.names(candidate.suited(facts).columns)
        estimator = estimator_for(candidate, facts)
        return cls.of_table(
            table, estimator, dealt, used=used, title=candidate.title, n_shuffles=n_shuffles, seed=seed
        )

    @classmethod
    def of_table(
        cls,
        table: LabelledTable,
        estimator: Any,
        folds: Folds,
        *,
        used: Sequence[str],
        title: str = "",
        n_shuffles: int = N_SHUFFLES,
        seed: int = 0,
    ) -> Self:
        """The same for rows in folds, and an estimator that reads the columns `used`."""
        if n_shuffles < 1:
            raise ValueError(f"n_shuffles must be at least 1, found {n_shuffles}")
        found = column_groups(table, used)
        work = (len(found.tried) + len(found.together)) * len(table.schema) * n_shuffles
        most = int(np.clip(MOST_CELLS // max(work, 1), FEWEST_ROWS, MOST_ROWS))
        trials = list(_trials(table, estimator, _few(folds, most), most, n_shuffles, seed))
        if not trials:
            raise ValueError("no row could be held out whose class is among the others; more rows are needed")
        tried = [*found.tried, *found.together]
        losses = _Losses.of(trials, [group.places for group in tried])
        told = [ColumnImportance(group.name, group.columns, *losses.rise(g)) for g, group in enumerate(tried)]
        ranked = sorted(told[: len(found.tried)], key=lambda column: -column.value)
        return cls(
            columns=tuple(ranked),
            together=tuple(told[len(found.tried) :]),
            unused=found.unused,
            untried=found.untried,
            model=title,
            method="left out" if trials[0].removal.exact else "shuffled",
            measure=losses.measure,
            loss=losses.mean,
            n_rows=len(losses.weight),
            n_models=len(trials),
            seed=seed,
            container=table.schema.container,
        )

    @property
    def frame(self) -> DataFrame:
        """The columns as a data frame of the kind that was given, the most important first."""
        listed = [*self.columns, *self.together]
        columns: dict[str, Any] = {
            "column": [column.name for column in listed],
            "importance": [column.value for column in listed],
            "se": [column.error for column in listed],
            "low": [column.interval[0] for column in listed],
            "high": [column.interval[1] for column in listed],
        }
        return table_of(columns, self.container)

    def __str__(self) -> str:
        how = "each left out" if self.method == "left out" else "each shuffled"
        head = (
            f"{self.measure} of {self.model} {loss_text(self.loss)} on {self.n_rows:,} rows held out; {how}:"
        )
        rows = [("column", "rise", "95 % interval")]
        for column in (*self.columns, *self.together):
            low, high = map(loss_text, column.interval)
            rows.append((name_text(column.name), loss_text(column.value), f"{low} to {high}"))
        told = [f"not used: {', '.join(map(name_text, self.unused))}"] if self.unused else []
        told += [f"not tried: {len(self.untried):,} columns"] if self.untried else []
        return "\n".join([head, *aligned(rows, left=1), *told])


# -- rows held out --------------------------------------------------------------------------------


class _Trial(NamedTuple):
    """Rows that a model has not seen, how many rows each stands for, and their groups."""

    removal: ColumnRemoval
    weight: Floats
    groups: Ints | None


def _few(folds: Folds, most_rows: int) -> list[tuple[Ints, Ints]]:
    """Rows to learn from and rows to predict, of no more folds than it takes to have the rows."""
    if folds.n_models > MOST_MODELS:
        if folds.forward:  # the latest, which are predicted from most rows
            parts = folds.parts()[-MOST_MODELS:]
        else:
            parts = Folds(folds.numbers % MOST_MODELS, MOST_MODELS).parts()
    else:
        parts = folds.parts()
    sizes = np.cumsum([len(predicted) for _, predicted in parts])
    return parts[: max(int(np.searchsorted(sizes, most_rows)) + 1, FEWEST_MODELS)]


def _trials(
    table: LabelledTable,
    estimator: Any,
    parts: Sequence[tuple[Ints, Ints]],
    most_rows: int,
    n_shuffles: int,
    seed: int,
) -> Iterator[_Trial]:
    for f, (learnt, predicted) in enumerate(parts):
        rng, seen = np.random.default_rng([seed, f]), np.unique(table.codes[learnt])
        known = predicted[np.isin(table.codes[predicted], seen)]
        if len(seen) < 2 or not len(known):
            continue
        rows, weight = _sampled(table.codes[known], -(-most_rows // len(parts)), rng)
        held_out = table.part(known[rows])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit to all rows has said it
            model = fit_table(clone(estimator), table.part(learnt))
        removal = ColumnRemoval(model, held_out, shuffles(weight, n_shuffles, rng))
        yield _Trial(removal, weight, held_out.groups)


def _sampled(codes: Ints, n: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """So many rows, of rare classes more than in proportion, and how many rows each stands for."""
    if len(codes) <= n:
        return np.arange(len(codes)), np.ones(len(codes))
    counts = np.bincount(codes)
    wanted = np.minimum(counts, np.maximum(np.rint(n * counts / len(codes)), FEW_OF_A_CLASS)).astype(int)
    drawn = [rng.permutation(np.flatnonzero(codes == k))[: wanted[k]] for k in np.flatnonzero(counts)]
    rows = np.sort(np.concatenate(drawn))
    return rows, (counts / np.maximum(wanted, 1))[codes[rows]]


# -- losses ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Losses:
    """Losses of the rows of all trials as they are, and trial by trial without each group of columns."""

    trials: Sequence[_Trial]
    whole: Sequence[RowLosses]
    without: Sequence[Sequence[RowLosses]]

    @classmethod
    def of(cls, trials: Sequence[_Trial], groups: Sequence[Sequence[int]]) -> "_Losses":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = [trial.removal.whole() for trial in trials]
            return cls(trials, whole, [list(trial.removal.without(groups)) for trial in trials])

    @cached_property
    def measure(self) -> Measure:
        """The log loss where all are finite."""
        every = [*self.whole, *(found for each in self.without for found in each)]
        return "log loss" if all(np.isfinite(found.log_loss).all() for found in every) else "error rate"

    @cached_property
    def weight(self) -> Floats:
        """How many rows each stands for."""
        return np.concatenate([trial.weight for trial in self.trials])

    @property
    def mean(self) -> float:
        """The mean loss of the rows as they are."""
        terms = np.concatenate([self._terms(found)[0] for found in self.whole])
        return float(np.average(terms, weights=self.weight))

    def _terms(self, found: RowLosses) -> Floats:
        return found.log_loss if self.measure == "log loss" else found.error_rate

    def rise(self, g: int) -> tuple[float, float]:
        """The mean rise without a group of columns, and its standard error over rows.

        Where columns are shuffled, a row is in the mean by what it loses and by what others lose with its
        cells; its influence on the mean is the sum of both.
        """
        rises, given = [], []
        for trial, whole, without in zip(self.trials, self.whole, self.without, strict=True):
            more = self._terms(without[g]) - self._terms(whole)
            rises.append(more.mean(axis=0))
            given.append(_given(trial, more))
        rise, weight = np.concatenate(rises), self.weight
        mean = float(np.average(rise, weights=weight))
        influence = (weight * (rise - mean) + np.concatenate(given)) / weight.sum()
        if self.trials[0].groups is not None:
            groups = np.concatenate([trial.groups for trial in self.trials if trial.groups is not None])
            influence = np.bincount(np.unique(groups, return_inverse=True)[1].reshape(-1), influence)
        n = len(influence)
        return mean, float(np.sqrt((influence**2).sum() * n / (n - 1))) if n > 1 else float("nan")


def _given(trial: _Trial, more: Floats) -> Floats:
    """How much more others lose with each row's cells than with those of their other donors, (n,)."""
    R, n = more.shape
    if R < 2:
        return np.zeros(n)
    excess = trial.weight * (more - more.mean(axis=0)) / (R - 1)
    return np.asarray(np.bincount(trial.removal.donors.ravel(), excess.ravel(), n), dtype=np.float64)
