"""Scores of rows held out of a comparison."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from posterior._types import Floats
from posterior.engines import n_threads
from posterior.estimators.held_out import SERIAL_ROWS, Tick, adds_up, held_out_scores
from posterior.estimators.precision import in_double
from posterior.schema import Folds, LabelledTable


class HeldOutScores(NamedTuple):
    """Scores (n, K) of every class, higher for likelier ones, and whether they are log posteriors."""

    scores: Floats
    are_logs: bool


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Rows in folds, once for every repeat, and the scores of estimators on the rows held out."""

    table: LabelledTable
    repeats: tuple[Folds, ...]

    @property
    def folds(self) -> Folds:
        """The folds of the first repeat."""
        return self.repeats[0]

    def units(self, estimator: Any) -> int:
        """How many steps of work a repeat is."""
        sums = adds_up(estimator) and not self._refit and not self.folds.forward
        return 1 if sums else self.folds.n_models

    @property
    def _refit(self) -> bool:
        """Whether generative models are fitted to folds too, though sums of folds would do.

        With texts words that only the row itself has are to be passed over, as they will be in prediction.
        Settings that choose themselves need two folds to choose by.
        """
        return bool(self.table.where("text")) or self.folds.n_models <= 2

    def held_out(self, estimator: Any, repeat: int, tick: Tick) -> HeldOutScores:
        """What models that have not seen them say of the rows of one repeat; NaN for rows never predicted."""
        workers = n_threads() if len(self.table) > SERIAL_ROWS else 1
        scores = held_out_scores(
            estimator,
            self.table,
            self.repeats[repeat],
            score=class_scores,
            refit=self._refit,
            one_class=True,
            workers=workers,
            tick=tick,
        )
        return HeldOutScores(scores, are_logs=hasattr(estimator, "predict_log_proba"))


def class_scores(model: Any, X: Any) -> Floats:
    """Log posteriors of a fitted classifier, or the scores of a discriminant, one for each class."""
    with in_double():
        if hasattr(model, "predict_log_proba"):
            return np.asarray(model.predict_log_proba(X))
        scores = np.asarray(model.decision_function(X))
    return np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores
