"""Scores of rows held out, from sums of folds where they add up, else by refitting."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.base import clone

from posterior._types import Floats, Ints
from posterior.comparison.experiments import GrowingFit
from posterior.comparison.fixed_candidates import FixedCandidate
from posterior.comparison.folds import Folds
from posterior.comparison.rows import LabelledRows
from posterior.engines import threads
from posterior.engines.local import n_threads
from posterior.estimators.base import GenerativeEstimator

P = TypeVar("P")
Tick = Callable[[], None]

# Fits to fewer rows than this spend their time where threads wait for each other.
SERIAL_ROWS = 5_000


class HeldOutScores(NamedTuple):
    """Scores (n, K) of every class, higher for likelier ones, and whether they are log posteriors."""

    scores: Floats
    are_logs: bool


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Rows in folds, and the scores of estimators on the rows held out."""

    rows: LabelledRows
    folds: Folds

    def units(self, estimator: Any) -> int:
        """How many steps of work a repeat is."""
        return 1 if self._adds_up(estimator) else self.folds.n_folds

    def _adds_up(self, estimator: Any) -> bool:
        """Whether sums of folds give the model of all others.

        With texts they would, but for words that only the row itself has: those are to be passed over, as
        they will be in prediction. Settings that choose themselves need two folds to choose by.
        """
        generative = isinstance(estimator, GenerativeEstimator) and not self.rows.where("text")
        return generative and not self.folds.forward and self.folds.n_folds > 2

    def held_out(self, estimator: Any, repeat: int, tick: Tick) -> HeldOutScores:
        """What models that have not seen them say of the rows of one repeat; NaN for rows never predicted."""
        if self._adds_up(estimator):
            table = self.rows.table_for(estimator)
            logs = estimator.k_fold_log_proba(table, self.rows.labels, cv=self.folds.numbers[repeat])
            tick()
            return HeldOutScores(logs, are_logs=True)
        out = np.full((len(self.rows), len(self.rows.classes)), np.nan)
        parts = self.folds.parts(repeat)
        for (_, predicted), scores in zip(parts, self._each(estimator, parts), strict=True):
            out[predicted] = scores
            tick()
        return HeldOutScores(out, are_logs=hasattr(estimator, "predict_log_proba"))

    def _each(self, estimator: Any, parts: list[tuple[Ints, Ints]]) -> Iterator[Floats]:
        """Scores of the rows of each part."""
        if self.folds.forward and isinstance(estimator, GenerativeEstimator):
            # The sums of what came before are kept, where they add up.
            order = np.argsort(self.folds.numbers[0], kind="stable")
            growing = GrowingFit(FixedCandidate("", "", "generative", estimator), self.rows, order)
            for learnt, predicted in parts:
                yield self._scores(lambda learnt: growing.up_to(len(learnt)), learnt, predicted)
            return

        def fitted(learnt: Ints) -> Any:
            return self.rows.part(learnt).fitted(clone(estimator))

        def work(part: tuple[Ints, Ints]) -> Floats:
            return self._scores(fitted, *part)

        workers = min(n_threads(), len(parts)) if len(self.rows) > SERIAL_ROWS else 1
        yield from map(work, parts) if workers == 1 else _side_by_side(work, parts, workers)

    def _scores(self, fitted: Callable[[Ints], Any], learnt: Ints, predicted: Ints) -> Floats:
        """Scores of some rows by the model of others; a class that these lack is impossible."""
        out = np.full((len(predicted), len(self.rows.classes)), -np.inf)
        seen = np.unique(self.rows.codes[learnt])
        if len(seen) == 1:
            out[:, seen] = 0.0
            return out
        model = fitted(learnt)
        X = self.rows.part(predicted).table_for(model)
        out[:, np.searchsorted(self.rows.classes, model.classes_)] = class_scores(model, X)
        return out


def _side_by_side(work: Callable[[P], Floats], parts: list[P], workers: int) -> Iterator[Floats]:
    """Results in the order of the parts; each worker has one thread to itself."""

    def alone(part: P) -> Floats:
        with threads(1):
            return work(part)

    pool = ThreadPoolExecutor(workers)
    try:
        yield from pool.map(alone, parts)
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C, say


def class_scores(model: Any, X: Any) -> Floats:
    """Log posteriors of a fitted classifier, or the scores of a discriminant, one for each class."""
    if hasattr(model, "predict_log_proba"):
        return np.asarray(model.predict_log_proba(X))
    scores = np.asarray(model.decision_function(X))
    return np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores
