"""What was found of one model."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from posterior._types import Floats, Ints
from posterior.comparison.candidates import Approach
from posterior.comparison.held_out import HeldOutScores
from posterior.comparison.measures import Marking, averaged


@dataclass(frozen=True, eq=False)
class Result:
    """A model's measures on rows that it had not seen, and what it took.

    `name` is what asks for it, `about` what it is on this table, `columns` those that it reads. By row:
    `log_proba` (n, K) and `predicted` (n,), class codes, are those of the first repeat; `losses` and
    `row_costs` (n,) are means over all repeats. `log_loss` is in nats, `brier` summed over the classes,
    `calibration_error` that of the likeliest class in 15 bins, `roc_auc` that of pairs of rows in one fold,
    for more than two classes the mean of each against the others, `recall_at` the share of the class sought
    that is found. `estimator` is unfitted, with the settings that were chosen. A discriminant has no
    probabilities, and None for what needs them.

    >>> from posterior.comparison import Comparison
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> best = Comparison.of(X, y, models=["majority", "lda"], repeats=1).results[0]
    >>> best.name, round(best.log_loss, 2), round(best.accuracy, 2)
    ('lda', 0.05, 0.98)
    """

    name: str
    title: str
    approach: Approach
    about: str
    columns: tuple[str, ...]
    log_proba: Floats | None = field(repr=False)
    predicted: Ints = field(repr=False)
    losses: Floats | None = field(repr=False)
    row_costs: Floats | None = field(repr=False)
    log_loss: float | None
    log_loss_se: float | None
    accuracy: float
    accuracy_se: float
    brier: float | None
    calibration_error: float | None
    average_cost: float | None
    average_cost_se: float | None
    roc_auc: float | None
    recall_at: float | None
    n_parameters: int | None
    fit_seconds: float
    predict_seconds: float
    estimator: Any = field(repr=False)

    @classmethod
    def of(cls, found: Sequence[HeldOutScores], marking: Marking, **about: Any) -> "Result":
        """The result of held-out scores, one for each repeat."""
        losses = _by_row([marking.losses(f) for f in found])
        costs = _by_row([marking.costs_of(f) for f in found])
        right = marking.mean(np.mean([marking.right(f) for f in found], axis=0))
        log_loss = marking.mean(losses, marking.knowable) if losses is not None else None
        cost = marking.mean(costs) if costs is not None else None
        return cls(
            log_proba=found[0].scores if found[0].are_logs else None,
            predicted=found[0].scores.argmax(axis=1),
            losses=losses,
            row_costs=costs,
            log_loss=None if log_loss is None else log_loss.value,
            log_loss_se=None if log_loss is None else log_loss.error,
            accuracy=right.value,
            accuracy_se=right.error,
            brier=averaged([marking.brier(f) for f in found]),
            calibration_error=averaged([marking.calibration_error(f) for f in found]),
            average_cost=None if cost is None else cost.value,
            average_cost_se=None if cost is None else cost.error,
            roc_auc=averaged([marking.roc_auc(f, repeat) for repeat, f in enumerate(found)]),
            recall_at=averaged([marking.recall(f) for f in found]),
            **about,
        )


def _by_row(repeats: Sequence[Floats | None]) -> Floats | None:
    """The mean over repeats for each row; None where a repeat has none."""
    known = [terms for terms in repeats if terms is not None]
    return np.asarray(np.mean(known, axis=0)) if len(known) == len(repeats) else None
