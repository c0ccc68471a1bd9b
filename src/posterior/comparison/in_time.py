"""Which of several estimators to take for each part in time, by what came before it."""

from typing import Any, NamedTuple

import numpy as np

from posterior._types import Bools, Floats, Ints
from posterior.comparison.choosing import (
    FEWEST_ROWS,
    EstimatorChoice,
    best_of,
    rows_to_choose_by,
    settled,
)
from posterior.comparison.held_out import CrossValidation, HeldOutScores
from posterior.decision import log_loss_terms
from posterior.estimators.held_out import Tick

# A choice takes so many predicted rows; before there are as many, the default is taken.
FEWEST_PREDICTED = 30
BY_DEFAULT = "by default, with too few rows before to choose by"


class InTime(NamedTuple):
    """What is said of the parts, the estimator that the next part would get, and how it was come by."""

    found: HeldOutScores
    estimator: Any
    how: str


def in_time(validation: CrossValidation, choice: EstimatorChoice, knowable: Bools, tick: Tick) -> InTime:
    """Predict each part in time by an estimator that no later row had a say in."""
    n = len(validation.table)
    if rows_to_choose_by(choice, n) == n:
        return _chosen_anew(validation, choice, knowable, tick)
    return _chosen_once(validation, choice, tick)


def _chosen_anew(validation: CrossValidation, choice: EstimatorChoice, knowable: Bools, tick: Tick) -> InTime:
    """Each part by what has the least loss, added up over the parts before it (Dawid 1984, JRSS A 147)."""
    said = [validation.held_out(estimator, 0, tick) for estimator in choice.estimators]
    codes, part, scored = validation.table.codes, validation.folds.numbers, validation.folds.predicted
    losses = np.zeros((len(said), len(codes)))
    losses[:, scored] = [log_loss_terms(codes[scored], found.scores[scored]) for found in said]
    scores = said[choice.default].scores.copy()
    parts = np.unique(part[scored]).tolist()
    for f in parts:
        best = best_before(losses, knowable & (part < f), choice.default)
        scores[part == f] = said[choice.default if best is None else best].scores[part == f]
    last = best_before(losses, knowable, choice.default)
    chosen = choice.estimators[choice.default if last is None else last]
    how = BY_DEFAULT if last is None else "chosen by the parts before, anew for each"
    return InTime(HeldOutScores(scores, are_logs=True), chosen, how)


def best_before(losses: Floats, earlier: Bools, default: int) -> int | None:
    """Which has the smallest loss over earlier rows, the default of equals; None where these are too few."""
    if earlier.sum() < FEWEST_PREDICTED:
        return None
    best = best_of(losses, earlier)
    equal = losses[default, earlier].sum() <= losses[best, earlier].sum()
    return default if equal else best


def _chosen_once(validation: CrossValidation, choice: EstimatorChoice, tick: Tick) -> InTime:
    """All parts by what does best in folds of the first rows that are enough; those among them by default."""
    table, default = validation.table, choice.estimators[choice.default]
    parts = validation.folds.parts()
    enough = [k for k, (learnt, _) in enumerate(parts) if _is_enough(table.codes[learnt])]
    if not enough:
        return InTime(validation.held_out(default, 0, tick), default, BY_DEFAULT)
    chosen = settled(choice, table.part(parts[enough[0]][0]))
    scores = validation.held_out(chosen, 0, tick).scores
    if enough[0] > 0:
        early = np.concatenate([predicted for _, predicted in parts[: enough[0]]])
        scores[early] = validation.held_out(default, 0, lambda: None).scores[early]
    return InTime(HeldOutScores(scores, are_logs=True), chosen, "chosen by held-out rows of the first parts")


def _is_enough(codes: Ints) -> bool:
    """Whether rows are many, and two classes have two each, so that folds can tell them apart."""
    counts = np.sort(np.bincount(codes, minlength=2))
    return len(codes) >= FEWEST_ROWS and bool(counts[-2] > 1)
