"""Evaluates candidates: scores of held-out rows, a fit to all rows with its times, and its warnings."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from posterior._types import Bools, Progress
from posterior.comparison.advice import nothing_knowable
from posterior.comparison.candidates import Candidate
from posterior.comparison.choosing import (
    EstimatorChoice,
    NotForThisTableError,
    along,
    best_of,
    by_other_folds,
    rows_to_choose_by,
    settled,
)
from posterior.comparison.facts import TableFacts
from posterior.comparison.fixed_candidates import n_parameters_of
from posterior.comparison.held_out import CrossValidation, HeldOutScores, class_scores
from posterior.comparison.in_time import in_time
from posterior.comparison.measures import Marking
from posterior.comparison.pooled import Pooling, Tried, usable
from posterior.comparison.result import Result
from posterior.comparison.setting import costs_of_rows
from posterior.decision import Costs
from posterior.estimators.table_estimator import fit_table, rows_for
from posterior.families import NoClosedFormError
from posterior.notices import sentences_of
from posterior.schema import Folds

# A pool of one model whose weight is so close to one is that model.
ALONE = 0.05


@dataclass
class Counter:
    """Steps of work done, told to a user who wants to know."""

    total: int
    progress: Progress | None = None
    done: int = 0
    what: str = ""

    def tick(self) -> None:
        """One more step is done."""
        self.done = min(self.done + 1, self.total)
        if self.progress is not None:
            self.progress(self.done, self.total, self.what)

    def up_to(self, done: int) -> None:
        """Steps that need not be done count as done."""
        if self.done < done:
            self.done = done - 1
            self.tick()


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The rows, folds and measures by which all candidates are evaluated alike; `notes` are their warnings.

    `scored` are the rows that are predicted, `knowable` those of them whose class was met in training.
    """

    table: TableFacts
    validation: CrossValidation
    marking: Marking
    scored: Bools
    knowable: Bools
    notes: dict[str, list[str]] = field(default_factory=dict)
    tried: list[Tried] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        table: TableFacts,
        dealt: tuple[Folds, ...],
        costs: Costs | None = None,
        positive: int | None = None,
        false_alarms: float = 0.005,
    ) -> "Evaluation":
        """The rows of a table in folds; `costs` are of all rows, `positive` is the class sought, its code."""
        rows, scored = table.rows, dealt[0].predicted
        unknowable = np.any([once.unknowable(rows.codes) for once in dealt], axis=0)
        if unknowable[scored].all():
            raise ValueError(nothing_knowable(in_time=dealt[0].forward))
        marking = Marking(
            rows.codes[scored],
            ~unknowable[scored],
            None if costs is None else costs_of_rows(costs, scored),
            positive,
            false_alarms,
            np.stack([once.numbers[scored] for once in dealt]),
            None if rows.groups is None else rows.groups[scored],
        )
        return cls(table, CrossValidation(rows, dealt), marking, scored, scored & ~unknowable)

    @property
    def unknowable(self) -> Bools:
        """The predicted rows whose class was not met in training."""
        return self.scored & ~self.knowable

    def units(self, choice: EstimatorChoice) -> int:
        """How many steps of work a choice is."""
        if not choice.estimators:  # a pool of what was tried
            return 1
        tried = len(choice.estimators) if self._chooses_anew(choice) else 1
        return len(self.validation.repeats) * self.validation.units(choice.estimators[0]) * tried + 1

    def _chooses_anew(self, choice: EstimatorChoice) -> bool:
        """Whether an estimator is chosen for every fold: by the others, or in time by those before it."""
        few = rows_to_choose_by(choice, self.table.n_rows) == self.table.n_rows
        return len(choice.estimators) > 1 and few

    def result(self, candidate: Candidate, choice: EstimatorChoice, counter: Counter) -> Result:
        """The result of a candidate; its warnings become notes."""
        counter.what = candidate.title
        if not choice.estimators:
            return self._pooled(candidate, counter)
        if choice.otherwise is not None and self.table.rows.groups is not None:
            return self._evaluated(candidate, _by_folds(choice), counter)  # which hold out whole groups
        try:
            return self._evaluated(candidate, choice, counter)
        except NoClosedFormError:
            if choice.otherwise is None:
                raise
            return self._evaluated(candidate, _by_folds(choice), counter)

    def _evaluated(self, candidate: Candidate, choice: EstimatorChoice, counter: Counter) -> Result:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is worth saying, the fit to all rows says
            found, estimator, how = self._held_out(choice, counter)
        fitted, fit_seconds = self._fitted(candidate, estimator)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = time.perf_counter()
            class_scores(fitted, rows_for(fitted, self.table.rows))
            predict_seconds = time.perf_counter() - start
        counter.tick()
        n_parameters = n_parameters_of(fitted)
        result = Result.of(
            self._marked(found),
            self.marking,
            name=candidate.name,
            title=candidate.title,
            approach=candidate.approach,
            about=_about(choice, fitted, how),
            columns=self.table.names(choice.columns),
            n_parameters=None if np.isnan(n_parameters) else int(n_parameters),
            fit_seconds=fit_seconds,
            predict_seconds=predict_seconds,
            estimator=clone(estimator),
        )
        if (tried := Tried.of(result, found, fitted, self.table.rows)) is not None:
            self.tried.append(tried)
        return result

    def _marked(self, found: Sequence[HeldOutScores]) -> list[HeldOutScores]:
        """The scores of the rows that are predicted."""
        return [HeldOutScores(f.scores[self.scored], f.are_logs) for f in found]

    def _pooled(self, candidate: Candidate, counter: Counter) -> Result:
        """The result of a pool of the models that were tried."""
        tried = usable(self.tried, self.table.rows.codes, self.knowable)
        if len(tried) < 2:
            raise NotForThisTableError("it takes two models or more with probabilities")
        pooling = Pooling(tuple(tried), self.validation, self.knowable)
        weights = pooling.weights()
        if (weights > 0).sum() == 1 and abs(weights.sum() - 1) < ALONE:
            raise NotForThisTableError(f"{pooling.names[int(weights.argmax())]} has all the weight")
        found = pooling.held_out()
        counter.tick()
        return Result.of(
            self._marked(found),
            self.marking,
            name=candidate.name,
            title=candidate.title,
            approach=candidate.approach,
            **pooling.about(weights),
        )

    def _held_out(self, choice: EstimatorChoice, counter: Counter) -> tuple[list[HeldOutScores], Any, str]:
        """What the model says of held-out rows in each repeat, the estimator to fit to all, how chosen."""
        how, folds = f"chosen by {choice.chosen_by}", self.validation.folds
        repeats = range(len(self.validation.repeats))
        if len(choice.estimators) == 1:
            (estimator,) = choice.estimators
            return [self.validation.held_out(estimator, r, counter.tick) for r in repeats], estimator, how
        if folds.forward:
            forward = in_time(self.validation, choice, self.knowable, counter.tick)
            return [forward.found], forward.estimator, forward.how
        if not self._chooses_anew(choice):
            estimator = settled(choice, self.table.rows)
            return [self.validation.held_out(estimator, r, counter.tick) for r in repeats], estimator, how
        found, estimators = [], choice.estimators
        chosen = estimators[0]
        for r in repeats:
            losses, said = along(self.validation, estimators, r, self.knowable, counter.tick)
            found.append(by_other_folds(losses, said, self.validation.repeats[r].numbers, self.knowable))
            best = best_of(losses, self.knowable)
            chosen = estimators[best]
            estimators = estimators[max(best - 1, 0) : best + 2]  # the next repeat looks no further
        return found, chosen, how

    def _fitted(self, candidate: Candidate, estimator: Any) -> tuple[Any, float]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fresh = clone(estimator)
            if self.table.rows.groups is not None and "cv" in fresh.get_params(deep=False):
                fresh.set_params(cv=self.validation.folds.numbers)  # which hold out whole groups
            start = time.perf_counter()
            fitted = fit_table(fresh, self.table.rows)
            seconds = time.perf_counter() - start
        for sentence in (each for warning in caught for each in sentences_of(warning.message)):
            said = self.notes.setdefault(sentence, [])
            if candidate.title not in said:
                said.append(candidate.title)
        return fitted, seconds


def _by_folds(choice: EstimatorChoice) -> EstimatorChoice:
    """The choice that is tuned by folds instead of by leaving out one row at a time."""
    return replace(choice, estimators=(choice.otherwise,), chosen_by="folds", otherwise=None)


def _about(choice: EstimatorChoice, fitted: Any, how: str) -> str:
    """What a model is, with the settings that were chosen."""
    tuning = getattr(getattr(fitted, "model_", None), "tuning", None)
    chosen = {} if tuning is None else tuning.choice
    if len(choice.estimators) > 1:
        tried = [estimator.get_params(deep=False) for estimator in choice.estimators]
        apart = [name for name in tried[0] if len({repr(one[name]) for one in tried}) > 1]
        chosen = {name: getattr(fitted, name) for name in apart}
    settings = ", ".join(f"{name} = {_plain(value)}" for name, value in chosen.items())
    return f"{choice.about}; {settings} {how}" if settings else choice.about


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def results_of(
    candidates: Sequence[tuple[Candidate, EstimatorChoice]],
    evaluation: Evaluation,
    left_out: dict[str, str],
    progress: Progress | None = None,
) -> list[Result]:
    """The result of each candidate; one that fails is left out with the reason."""
    counter = Counter(sum(evaluation.units(choice) for _, choice in candidates), progress)
    results = []
    for candidate, choice in candidates:
        end = counter.done + evaluation.units(choice)
        try:
            results.append(evaluation.result(candidate, choice, counter))
        except NotForThisTableError as error:
            left_out[candidate.name] = str(error)
        except (ValueError, np.linalg.LinAlgError) as error:
            left_out[candidate.name] = f"it failed: {error}"
        counter.up_to(end)
    if not results:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise ValueError(f"no model could be tried on this table: {reasons}")
    return results
