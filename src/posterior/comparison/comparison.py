"""Every sensible model of a table, on rows it has not seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Self

from posterior._types import AnyArray, Bools, DataFrame, Ints, Progress
from posterior.comparison.advice import advice, drawn_rows, overtaking, unknowable_rows
from posterior.comparison.candidates import Candidate, candidates_for, candidates_named
from posterior.comparison.choosing import NotForThisTableError
from posterior.comparison.evaluation import Evaluation, results_of
from posterior.comparison.facts import TableFacts
from posterior.comparison.folds import deal
from posterior.comparison.imbalance import RareRows, imbalance_words
from posterior.comparison.inputs import compared_table, without_class
from posterior.comparison.leaderboard import as_html, as_text, columns_of
from posterior.comparison.leaks import (
    Leak,
    caution_of,
    named_leaks,
    skill_of,
    strong_columns,
    without_columns,
)
from posterior.comparison.outside import REFERENCE, reference_choice
from posterior.comparison.pruning import Pruned, pruned
from posterior.comparison.recommendation import Ranking
from posterior.comparison.regression.table import described_numbers, looks_like_numbers
from posterior.comparison.result import Result
from posterior.comparison.sampling import MAX_ROWS, checked_max_rows, drawn, drawn_words, rows_to_compare
from posterior.comparison.scanned import DrawnScan
from posterior.comparison.setting import Setting, costs_of, costs_of_rows, share_of, sought_class
from posterior.decision import Costs
from posterior.engines import ScannedTable
from posterior.estimators.parameters import CostsLike, Kinds, Label, Labels, TableLike
from posterior.notices import overheard
from posterior.schema import Folds, LabelledTable, Schema
from posterior.schema.decode import table_of


@dataclass(frozen=True, eq=False)
class Comparison:
    """Compare models of a table by cross-validation, and recommend one of them.

    `rows` says where the n rows that were predicted stand in the table that was given: all of them, but for
    those without a class and, in time, the first part. `codes` and what the results hold by row are in that
    order, `knowable` marks those that count in the log loss, and `groups` are theirs, if any. `n_rows` is the
    number of rows with a class. `left_out` names the models that were not tried, with the reason; `notes` say
    what else is worth knowing. `leaks` are columns that tell the class almost alone, and may be known only
    after it is; `without_leaks` is the comparison without them. `reference` is the result of an outside
    model, gradient boosting, which is never recommended. `first_folds` are the folds of the first repeat;
    `dealt_rows` says where the rows that they deal out stand in the table. `pruned` are the models that a
    part of a large table showed to be clearly behind, and that were not tried further.

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
    leaks: tuple[Leak, ...] = ()
    without_leaks: "Comparison | None" = field(default=None, repr=False)
    positive_why: str = ""
    reference: Result | None = None
    first_folds: Folds | None = field(default=None, repr=False)
    dealt_rows: Ints | None = field(default=None, repr=False)
    pruned: tuple[Pruned, ...] = ()

    @classmethod
    def of(  # noqa: PLR0913  (each of these is a question that users ask)
        cls,
        X: TableLike,
        y: Labels | str | None = None,
        *,
        models: Sequence[Any] | Mapping[str, Any] | None = None,
        folds: int | None = None,
        repeats: int | None = None,
        groups: Labels | str | None = None,
        time: Labels | str | None = None,
        costs: CostsLike | None = None,
        kinds: Kinds | None = None,
        positive: Label | None = None,
        false_alarms: float = 0.005,
        seed: int = 0,
        reference: bool = True,
        max_rows: int | None = MAX_ROWS,
        progress: Progress | None = None,
    ) -> Self:
        """Try models on held-out rows.

        Parameters
        ----------
        X : array, sparse matrix, list or data frame of shape (n_samples, n_features), or scan
            Numbers, categories, texts and gaps as they are. Of a scan some rows are drawn, and places of
            rows are those among them.
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column that holds it; rows without one are left out. A
            scan names its class column.
        models : list of str and estimators, or mapping from names to estimators, default=None
            Some of `MODELS`, by name, and estimators of your own, or `{"my name": estimator}`. An estimator
            of scikit-learn gets the table as numbers: a category as its place in the sorted levels (0, 1, …),
            a gap as NaN. None is all of `MODELS` that suit the table.
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
            Of two classes the one that is looked for. If not given: the one called yes, true, 1, bad, spam
            or the like, else the rarer one; `positive_why` says which.
        false_alarms : float, default=0.005
            The share of the other class that may be taken for it.
        seed : int, default=0
            How rows are dealt out.
        reference : bool, default=True
            Whether gradient boosting by scikit-learn is tried on the same rows where no `models` are named,
            as an outside reference that is never recommended; not where it would take longer than all else.
        max_rows : int or None, default=100_000
            Of a larger table so many rows are drawn, by class, or more where a class is rare; a note says
            whether all rows could recommend another model. None takes all.
        progress : callable, default=None
            Called as `progress(done, total, what)` after each step.

        """
        most, wanted = checked_max_rows(max_rows), candidates_named(models)
        if isinstance(X, ScannedTable):
            drawn_scan = DrawnScan.of(X, y, most, groups=groups, time=time, kinds=kinds)
            return cls.of(
                drawn_scan.table,
                models=models,
                folds=folds,
                repeats=repeats,
                costs=costs,
                positive=positive,
                false_alarms=false_alarms,
                seed=seed,
                reference=reference,
                max_rows=None,
                progress=progress,
            ).of_scan(drawn_scan)
        with overheard() as heard:
            table = compared_table(X, y, groups=groups, time=time, kinds=kinds)
        chosen = rows_to_compare(table.codes, most, table.groups)
        some = table if chosen is None else drawn(table, chosen)
        dealt = deal(some.codes, folds=folds, repeats=repeats, groups=some.groups, time=some.time, seed=seed)
        priced = costs_of(costs, table)
        setting = Setting(
            wanted,
            models is not None,
            dealt,
            priced if priced is None or chosen is None else costs_of_rows(priced, chosen),
            sought_class(positive, table),
            share_of(false_alarms),
            seed,
            reference and models is None,
        )
        told = filter(None, [without_class(table)])  # also of rows that were read before
        said = [*dict.fromkeys([*told, *heard]), *_looks_like_numbers(table)]
        comparison = cls._of_table(some, setting, progress, said)
        comparison = comparison._with_leaks(some, setting, progress)._advised()
        if chosen is None:
            return comparison
        return replace(comparison._drawn_from(len(table), len(some), dealt[0]), schema=table.schema)

    @classmethod
    def _of_table(
        cls, table: LabelledTable, setting: Setting, progress: Progress | None, said: Sequence[str] = ()
    ) -> Self:
        dealt, priced = setting.dealt, setting.costs
        facts = TableFacts(table)
        evaluation = Evaluation.of(
            facts,
            dealt,
            priced,
            None if setting.positive is None else setting.positive.code,
            setting.false_alarms,
        )
        marking = evaluation.marking
        candidates, left_out = candidates_for(setting.models, facts)
        behind: list[Pruned] = []
        if not setting.named and priced is None and not dealt[0].forward:
            candidates, behind = pruned(candidates, table)
        if setting.reference:
            n_fits = 1 + sum(once.n_models for once in dealt)
            outside = Candidate(
                REFERENCE, "gradient boosting", "reference", "", partial(reference_choice, n_fits=n_fits)
            )
            try:
                candidates.append((outside, outside.choice(facts)))
            except NotForThisTableError as error:
                left_out[outside.title] = str(error)
        found = results_of(candidates, evaluation, left_out, progress)
        reference = next((result for result in found if result.approach == REFERENCE), None)
        found = [result for result in found if result is not reference]
        ranking = Ranking.of(
            found, marking.codes, marking.knowable, by_cost=priced is not None, groups=marking.groups
        )
        return cls(
            results=ranking.results,
            schema=table.schema,
            classes=table.classes,
            codes=marking.codes,
            rows=table.places[evaluation.scored],
            knowable=marking.knowable,
            groups=marking.groups,
            n_rows=len(table),
            folds=dealt[0].words,
            left_out=left_out,
            pruned=tuple(behind),
            costs=marking.costs,
            positive=None if setting.positive is None else table.classes.tolist()[setting.positive.code],
            positive_why="" if setting.positive is None else setting.positive.why,
            false_alarms=marking.false_alarms,
            seed=setting.seed,
            notes=(
                *said,
                *unknowable_rows(table.classes, table.codes[evaluation.unknowable]),
                *table.schema.sentences,
                *(
                    f"{', '.join(titles)}: {text}"
                    for text, titles in evaluation.notes.items()
                    if text not in table.schema.sentences
                ),
            ),
            reference=reference,
            first_folds=dealt[0],
            dealt_rows=table.places,
        )

    def _with_leaks(self, table: LabelledTable, setting: Setting, progress: Progress | None) -> Self:
        """The same comparison with the columns that tell the class almost alone, and what is left without."""
        if self.recommended.log_loss is None:
            return self
        strong = strong_columns(table, setting.dealt[0])

        def skill_without() -> float:
            best = [model for model in setting.models if model.name == self.recommended.name]
            some = replace(setting, models=best, named=True, dealt=setting.dealt[:1], reference=False)
            found = self._without(table, strong, some, None)
            return 0.0 if found is None else skill_of(found.recommended.log_loss, self.codes)

        leaks = named_leaks(strong, skill_without)
        others = replace(setting, reference=False)
        rest = self._without(table, leaks, others, progress) if leaks else None
        return replace(self, leaks=leaks, without_leaks=None if rest is None else rest._advised())

    @classmethod
    def _without(
        cls, table: LabelledTable, leaks: Sequence[Leak], setting: Setting, progress: Progress | None
    ) -> Self | None:
        """The comparison without some columns; None where no model applies to those that are left."""
        rest = without_columns(table, [leak.column for leak in leaks])
        try:
            return None if rest is None else cls._of_table(rest, setting, progress)
        except ValueError:
            return None

    def _advised(self) -> Self:
        told = advice(self.recommended, self.codes, self.knowable, leaks=bool(self.leaks))
        return replace(self, notes=(*self.notes, *told))

    def _drawn_from(self, n_rows: int, n: int, folds: Folds) -> Self:
        """The same comparison of a table of which n rows were drawn."""
        others = overtaking(self.ranking, n - n // folds.n_folds)
        note = drawn_rows(self.recommended, others, n, n_rows)
        return replace(
            self, n_rows=n_rows, folds=self.folds + drawn_words(n, n_rows), notes=(*self.notes, note)
        )

    def of_scan(self, scan: DrawnScan) -> Self:
        """The same comparison, told of the scan whose drawn rows were compared."""
        n, folds = self.n_rows, self.first_folds
        found = replace(self, notes=(*scan.notes, *self.notes))
        return found if n == scan.n_rows or folds is None else found._drawn_from(scan.n_rows, n, folds)

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

    @property
    def imbalance(self) -> str:
        """What accuracy hides where one class has nearly all rows; empty where none has."""
        best = self.recommended
        rare = RareRows.of(self.codes, best.predicted, self.classes)
        return imbalance_words(rare, best.title, by_cost=self.costs is not None)

    @property
    def caution(self) -> str:
        """The columns that tell the class almost alone, and what to do about them; empty where none does."""
        return caution_of(self.leaks)

    @property
    def verdict(self) -> str:
        """Which model to use and why; where columns tell the class almost alone, with and without them."""
        told = self.ranking.sentence()
        if self.reference is not None:
            told = f"{told} {self.ranking.against(self.reference)}".rstrip()
        told = f"{told} {self.ranking.pooled()}".rstrip()
        if not self.leaks:
            return told
        which = "it" if len(self.leaks) == 1 else "them"
        rest = self.without_leaks
        other = "no model applies." if rest is None else rest.verdict
        return f"With {which}: {told} Without {which}: {other}"

    @property
    def recommendation(self) -> str:
        """What to be careful of, which model to use, and why."""
        return f"{self.caution} {self.verdict}".lstrip()

    @property
    def frame(self) -> DataFrame:
        """The results as a data frame of the kind that was compared, a row for each model, the best first."""
        return table_of(self._columns, self.schema.container)

    @property
    def _columns(self) -> dict[str, list[Any]]:
        best = {result.name for result in (self.recommended, *self.ties)}
        return columns_of(self.shown, best)

    @property
    def shown(self) -> tuple[Result, ...]:
        """The results, the best first, and the outside reference last, if there is one."""
        return self.results if self.reference is None else (*self.results, self.reference)

    def __str__(self) -> str:
        told = [f"not tried: {name} ({reason})" for name, reason in self.left_out.items()]
        told += [f"not tried further: {each.name} ({each.reason})" for each in self.pruned]
        told += [f"note: {note}" for note in self.notes]
        above = [self.caution, ""] if self.leaks else []
        below = [self.imbalance] if self.imbalance else []
        return "\n".join([*above, self.folds, *as_text(self._columns), *told, "", *below, self.verdict])

    def _repr_html_(self) -> str:
        above = f"{self.caution} {self.folds}".lstrip()
        return as_html(self._columns, above, self.verdict)


def compare(X: TableLike, y: Labels | str | None = None, **settings: Any) -> DataFrame:
    """Compare models by cross-validation; a data frame, best model first (`Comparison.of(X, y, …).frame`).

    >>> from sklearn.datasets import load_iris
    >>> frame = compare(*load_iris(return_X_y=True), models=["naive-bayes", "lda"])
    >>> frame[["model", "log_loss", "tie"]].round(3)
             model  log_loss    tie
    0          lda     0.050   True
    1  naive-bayes     0.119  False
    """
    return Comparison.of(X, y, **settings).frame


def _looks_like_numbers(table: LabelledTable) -> list[str]:
    if not looks_like_numbers(table.classes):
        return []
    return [
        f"the classes look like a number to predict ({described_numbers(table.classes)}): "
        "RegressionComparison (on the command line --regression) does that"
    ]
