"""Which of several estimators to take, by rows that they have not seen."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from posterior._types import Bools, Floats, Ints
from posterior.comparison.folds import deal
from posterior.comparison.held_out import CrossValidation, HeldOutScores
from posterior.comparison.sampling import sample_rows
from posterior.decision import log_loss_terms
from posterior.estimators.held_out import Tick
from posterior.estimators.table_estimator import fit_table
from posterior.families import NoClosedFormError
from posterior.schema import LabelledTable

# With more rows than this the choice is made once, from so many of them: one number that thousands of rows
# have chosen no longer flatters the loss of any.
MOST_ROWS, FEWEST_ROWS = 5_000, 500
# What a fit may cost while a choice is made, in rows times coefficients squared.
WORK = 2 * 10**8
FOLDS = 5
# After so many estimators in a row that are worse than the best, no other is tried.
PATIENCE = 2


class NotForThisTableError(ValueError):
    """A candidate that does not apply to a table, with the reason.

    >>> raise NotForThisTableError("no column is text")
    Traceback (most recent call last):
        ...
    posterior.comparison.choosing.NotForThisTableError: no column is text
    """


@dataclass(frozen=True, eq=False)
class EstimatorChoice:
    """The estimators of a candidate for one table, to choose from by held-out rows.

    `columns` are those that they read, `about` says what they are. Most candidates have one estimator; a
    penalised one has one for each strength, the strongest first, and `size` says how many coefficients each
    solves for; `default` is the place of the one to take where there is too little to choose by. `chosen_by`
    says by what settings are chosen that are. `otherwise` takes the estimator's place where leaving rows out
    has no closed form. `taken` is the estimator that was settled on already, if any was.

    >>> from posterior import LDA
    >>> EstimatorChoice((LDA(),), (0, 1), "two columns").about
    'two columns'
    """

    estimators: tuple[Any, ...]
    columns: tuple[int, ...]
    about: str
    chosen_by: str = ""
    otherwise: Any = None
    size: int = 0
    default: int = 0
    taken: Any = None


def rows_to_choose_by(choice: EstimatorChoice, n_rows: int) -> int:
    """How many rows a choice is made from; where that is all of them, it is made anew for every fold."""
    most = int(np.clip(WORK // max(choice.size, 1) ** 2, FEWEST_ROWS, MOST_ROWS))
    return min(n_rows, most)


def settled(choice: EstimatorChoice, table: LabelledTable) -> Any:
    """The one estimator to take: of several, that which does best in five folds of some of the rows.

    Where rows belong together, whole groups are taken and held out.
    """
    if choice.taken is not None:
        return choice.taken
    if choice.otherwise is not None:
        return _that_fits(choice, table)
    if len(choice.estimators) == 1:
        return choice.estimators[0]
    n = rows_to_choose_by(choice, len(table))
    some = table if n == len(table) else table.part(sample_rows(table.codes, n, table.groups))
    folds = deal(some.codes, folds=min(FOLDS, len(some)), repeats=1, groups=some.groups)
    knowable = ~folds[0].unknowable(some.codes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is worth saying, the fit to all rows says
        losses, _ = along(CrossValidation(some, folds), choice.estimators, 0, knowable, lambda: None)
    return choice.estimators[best_of(losses, knowable)]


def _that_fits(choice: EstimatorChoice, table: LabelledTable) -> Any:
    (estimator,) = choice.estimators
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fit_table(clone(estimator), table)
        except NoClosedFormError:
            return choice.otherwise
    return estimator


def along(
    validation: CrossValidation, estimators: Sequence[Any], repeat: int, knowable: Bools, tick: Tick
) -> tuple[Floats, list[HeldOutScores]]:
    """Losses (E, n) of the rows under each estimator, and what each says, until they only get worse."""
    losses: list[Floats] = []
    found: list[HeldOutScores] = []
    for estimator in estimators:
        found.append(validation.held_out(estimator, repeat, tick))
        losses.append(log_loss_terms(validation.table.codes, found[-1].scores))
        if len(losses) - 1 - best_of(np.stack(losses), knowable) >= PATIENCE:
            break
    return np.stack(losses), found


def best_of(losses: Floats, rows: Bools) -> int:
    """Which has the smallest mean over some rows; the first of equals, and where there is no row."""
    return int(np.argmin(losses[:, rows].sum(axis=1)))


def by_other_folds(
    losses: Floats, found: Sequence[HeldOutScores], fold: Ints, knowable: Bools
) -> HeldOutScores:
    """Each fold by the estimator that does best on the rows of all other folds."""
    scores = np.empty_like(found[0].scores)
    for f in np.unique(fold):
        scores[fold == f] = found[best_of(losses, knowable & (fold != f))].scores[fold == f]
    return HeldOutScores(scores, are_logs=True)
