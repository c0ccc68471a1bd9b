"""Every sensible model of a table, on rows it has not seen."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from posterior._text import listed
from posterior._types import AnyArray, Bools, DataFrame, Ints, Progress
from posterior.comparison.advice import advice
from posterior.comparison.candidates import Candidate, candidates_for
from posterior.comparison.choosing import EstimatorChoice
from posterior.comparison.evaluation import Counter, Evaluation
from posterior.comparison.facts import TableFacts
from posterior.comparison.folds import deal
from posterior.comparison.held_out import CrossValidation
from posterior.comparison.inputs import compared_table
from posterior.comparison.leaderboard import as_html, as_text, columns_of
from posterior.comparison.measures import Marking
from posterior.comparison.recommendation import Ranking
from posterior.comparison.result import Result
from posterior.decision import Costs
from posterior.decision.cost_table import read_costs, refuse_other_rows
from posterior.estimators.parameters import CostsLike, Kinds, Label, Labels, TableLike
from posterior.schema import LabelledTable, Schema
from posterior.schema.decode import table_of


@dataclass(frozen=True, eq=False)
class Comparison:
    """Models of a table by cross-validation, the best first, and which of them to use.

    `rows` says where the n rows that were predicted stand in the table that was given: all of them, but for
    those without a class and, in time, the first part. `codes` and what the results hold by row are in that
    order, `knowable` marks those that count in the log loss, and `groups` are theirs, if any. `n_rows` is the
    number of rows with a class. `left_out` names the models that were not tried, with the reason; `notes` say
    what else is worth knowing.

    >>> from posterior.datasets import load_penguins
    >>> penguins = load_penguins()
    >>> comparison = Comparison.of(penguins.X, penguins.y, models=["majority", "naive-bayes", "lda"])
    >>> [result.name for result in comparison.results]
    ['lda', 'naive-bayes', 'majority']
    >>> comparison.recommendation
    'Use lda (5 continuous columns; 2 of other kinds not used): log loss 0.034 ± 0.011, ...'
    """

    results: tuple[Result, ...]
    schema: Schema
    classes: AnyArray
    codes: Ints = field(repr=False)
    rows: Ints = field(repr=False)
    knowable: Bools = field(repr=False)
    groups: Ints | None = field(repr=False)
    n_rows: int
    folds: str
    left_out: dict[str, str]
    costs: Costs | None
    positive: Label | None
    false_alarms: float
    seed: int
    notes: tuple[str, ...] = ()

    @classmethod
    def of(  # noqa: PLR0913  (each of these is a question that users ask)
        cls,
        X: TableLike,
        y: Labels | str | None,
        *,
        models: Sequence[str] | None = None,
        folds: int | None = None,
        repeats: int | None = None,
        groups: Labels | str | None = None,
        time: Labels | str | None = None,
        costs: CostsLike | None = None,
        kinds: Kinds | None = None,
        positive: Label | None = None,
        false_alarms: float = 0.005,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> Self:
        """Try models on held-out rows.

        Parameters
        ----------
        X : array, sparse matrix, list or data frame of shape (n_samples, n_features)
            Numbers, categories, texts and gaps as they are.
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column that holds it; rows without one are left out.
        models : list of str, default=None
            Some of `MODELS`, by name; None is all that suit the table.
        folds, repeats : int, default=None
            How many parts the rows are dealt out in, and how often: by default 10 and 2 for up to 1,000
            rows, 10 and 1 for up to 10,000, and 5 and 1 for more.
        groups : array-like of shape (n_samples,) or str, default=None
            Rows of one group are held out together, such as those of one patient.
        time : array-like of shape (n_samples,) or str, default=None
            Each part is predicted from the rows before it, and the first part is only learnt from.
        costs : mapping, array, data frame or Costs, default=None
            What actions cost in each class (see `posterior.decision.Costs`): results then go by the average
            cost of the actions that are expected to cost least.
        kinds : mapping, default=None
            Kinds of columns that differ from what would be inferred.
        positive : label, default=None
            Of two classes the one that is looked for; the second if not given.
        false_alarms : float, default=0.005
            The share of the other class that may be taken for it.
        seed : int, default=0
            How rows are dealt out.
        progress : callable, default=None
            Called as `progress(done, total, what)` after each step.

        """
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            table = compared_table(X, y, groups=groups, time=time, kinds=kinds)
        dealt = deal(
            table.codes, folds=folds, repeats=repeats, groups=table.groups, time=table.time, seed=seed
        )
        validation, scored = CrossValidation(table, dealt), dealt[0].predicted
        unknowable = np.any([once.unknowable(table.codes) for once in dealt], axis=0)
        if unknowable[scored].all():
            raise ValueError(_nothing_knowable(in_time=dealt[0].forward))
        sought = _positive(positive, table.classes)
        priced = _costs(costs, table)
        marking = Marking(
            table.codes[scored],
            ~unknowable[scored],
            None if priced is None else _some_costs(priced, scored),
            sought,
            _share(false_alarms),
            np.stack([once.numbers[scored] for once in dealt]),
            None if table.groups is None else table.groups[scored],
        )
        facts = TableFacts(table)
        candidates, left_out = candidates_for(models, facts)
        evaluation = Evaluation(facts, validation, marking, scored, scored & ~unknowable)
        found = _results(candidates, evaluation, left_out, progress)
        ranking = Ranking.of(
            found, marking.codes, marking.knowable, by_cost=priced is not None, groups=marking.groups
        )
        return cls(
            results=ranking.results,
            schema=table.schema,
            classes=table.classes,
            codes=marking.codes,
            rows=table.places[scored],
            knowable=marking.knowable,
            groups=marking.groups,
            n_rows=len(table),
            folds=dealt[0].words,
            left_out=left_out,
            costs=marking.costs,
            positive=None if sought is None else table.classes.tolist()[sought],
            false_alarms=marking.false_alarms,
            seed=seed,
            notes=(
                *_dropped(table),
                *(str(warning.message) for warning in caught),
                *_unknowable(table.classes, table.codes[unknowable]),
                *(f"{', '.join(titles)}: {text}" for text, titles in evaluation.notes.items()),
                *advice(ranking.best, marking.codes, marking.knowable),
            ),
        )

    @cached_property
    def ranking(self) -> Ranking:
        """The order of the results, and the differences between them."""
        return Ranking(self.results, self.codes, self.knowable, self.costs is not None, self.groups)

    @property
    def recommended(self) -> Result:
        """The best result."""
        return self.results[0]

    @cached_property
    def ties(self) -> tuple[Result, ...]:
        """The other results that are behind the best by no more than two standard errors of that."""
        return self.ranking.ties()

    @cached_property
    def recommendation(self) -> str:
        """Which model to use and why, in one sentence."""
        return self.ranking.sentence()

    @property
    def frame(self) -> DataFrame:
        """The results as a data frame of the kind that was compared, a row for each model, the best first."""
        return table_of(self._columns, self.schema.container)

    @property
    def _columns(self) -> dict[str, list[Any]]:
        best = {result.name for result in (self.recommended, *self.ties)}
        return columns_of(self.results, best)

    def __str__(self) -> str:
        told = [f"not tried: {name} ({reason})" for name, reason in self.left_out.items()]
        told += [f"note: {note}" for note in self.notes]
        return "\n".join([self.folds, *as_text(self._columns), *told, "", self.recommendation])

    def _repr_html_(self) -> str:
        return as_html(self._columns, self.folds, self.recommendation)


def compare(X: TableLike, y: Labels | str, **settings: Any) -> DataFrame:
    """Models of a table by cross-validation as a data frame, the best first: `Comparison.of(X, y, …).frame`.

    >>> from sklearn.datasets import load_iris
    >>> frame = compare(*load_iris(return_X_y=True), models=["naive-bayes", "lda"])
    >>> frame[["model", "log_loss", "tie"]].round(3)
             model  log_loss    tie
    0          lda     0.050   True
    1  naive-bayes     0.139  False
    """
    return Comparison.of(X, y, **settings).frame


def _results(
    candidates: Sequence[tuple[Candidate, EstimatorChoice]],
    evaluation: Evaluation,
    left_out: dict[str, str],
    progress: Progress | None,
) -> list[Result]:
    """The result of each candidate; one that fails is left out with the reason."""
    counter = Counter(sum(evaluation.units(choice) for _, choice in candidates), progress)
    results = []
    for candidate, choice in candidates:
        end = counter.done + evaluation.units(choice)
        try:
            results.append(evaluation.result(candidate, choice, counter))
        except (ValueError, np.linalg.LinAlgError) as error:
            left_out[candidate.name] = f"it failed: {error}"
        counter.up_to(end)
    if not results:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise ValueError(f"no model could be tried on this table: {reasons}")
    return results


def _positive(given: Any, classes: AnyArray) -> int | None:
    labels = classes.tolist()
    if given is not None and given not in labels:
        raise ValueError(f"positive={given!r} is not a class; the classes are {listed(labels)}")
    if len(labels) != 2:
        return None
    return 1 if given is None else labels.index(given)


def _share(false_alarms: Any) -> float:
    number = isinstance(false_alarms, int | float) and not isinstance(false_alarms, bool)
    if not number or not 0 <= false_alarms <= 1:
        raise ValueError(f"false_alarms must be a share between 0 and 1, found {false_alarms!r}")
    return float(false_alarms)


def _dropped(table: LabelledTable) -> list[str]:
    n_rows = len(table) + table.dropped
    return [f"rows without a class, left out: {table.dropped} of {n_rows}"] if table.dropped else []


def _costs(costs: Any, table: LabelledTable) -> Costs | None:
    """Costs of the rows that have a class."""
    if costs is None:
        return None
    priced = read_costs(costs, len(table.classes), table.classes)
    refuse_other_rows(priced.matrix, len(table) + table.dropped)
    return _some_costs(priced, table.places)


def _some_costs(costs: Costs, rows: Any) -> Costs:
    return costs if costs.matrix.ndim == 2 else Costs(costs.matrix[rows], costs.actions)


def _nothing_knowable(*, in_time: bool) -> str:
    what, remedy = (
        ("the time order leaves", "compare without time, or pass times at which classes occur again")
        if in_time
        else ("the groups leave", "compare without groups, or pass groups of which several share a class")
    )
    return (
        f"{what} no row whose class occurs in the rows that it is predicted from, so that no model can be "
        f"measured; {remedy}"
    )


def _unknowable(classes: AnyArray, codes: Ints) -> list[str]:
    if not len(codes):
        return []
    names = [
        f"{label!r} ({n})"
        for label, n in zip(classes.tolist(), np.bincount(codes).tolist(), strict=False)
        if n
    ]
    return [
        f"rows whose class is in none of the rows that they are predicted from: {', '.join(names)}; no model "
        "could know it, so that the log loss leaves them out, which would be infinite; the other measures "
        "count them as they are"
    ]
