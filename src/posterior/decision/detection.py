"""How well scores find one class among others: ROC, and precision against recall."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from posterior._text import Printed
from posterior._types import Bools, Floats
from posterior.decision.posteriors import class_names
from posterior.decision.scores import scored_rows


@dataclass(frozen=True, eq=False, repr=False)
class DetectionCurve(Printed):
    """True and false positives as the threshold on the score falls: ROC, precision and recall.

    At `threshold[i]` all rows of that score or a higher one are called positive: the share `recall[i]` of the
    positive rows, which is the rate of true positives, the share `false_alarms[i]` of the others, and a share
    `precision[i]` of those called positive is so. The first point calls none so, and its precision is that of
    the second. Rows of equal score enter together.

    >>> curve = detection_curve([0, 0, 1, 1], np.log([[0.9, 0.1], [0.6, 0.4], [0.65, 0.35], [0.2, 0.8]]))
    >>> curve.recall, curve.false_alarms
    (array([0. , 0.5, 0.5, 1. , 1. ]), array([0. , 0. , 0.5, 0.5, 1. ]))
    >>> print(curve)
    area under the ROC curve 0.75 ± 0.35, average precision 0.833 (0.5 at random)
    """

    threshold: Floats
    recall: Floats
    false_alarms: Floats
    precision: Floats
    area_error: float

    @property
    def area(self) -> float:
        """The area under the ROC curve: how often a positive row scores above another, half of ties."""
        return float((np.diff(self.false_alarms) * (self.recall[1:] + self.recall[:-1]) / 2).sum())

    @property
    def average_precision(self) -> float:
        """The precision at each recall, averaged over the positive rows: Σ (r_i − r_(i−1))·precision_i."""
        return float((np.diff(self.recall) * self.precision[1:]).sum())

    @property
    def share(self) -> float:
        """The share of positive rows: the precision of calling all rows so."""
        return float(self.precision[-1])

    def area_interval(self, level: float = 0.95) -> tuple[float, float]:
        """An interval of the area by its standard error (DeLong, DeLong & Clarke-Pearson 1988)."""
        room = float(ndtri((1 + level) / 2)) * self.area_error
        return max(0.0, self.area - room), min(1.0, self.area + room)

    def at(self, threshold: float) -> int:
        """The point of the curve where rows above a threshold are called positive.

        A score at the threshold itself is not above it.
        """
        return int(np.searchsorted(-self.threshold, -threshold, side="left")) - 1

    def __str__(self) -> str:
        return (
            f"area under the ROC curve {self.area:.3g} ± {self.area_error:.2g}, average precision "
            f"{self.average_precision:.3g} ({self.share:.3g} at random)"
        )


def detection_curve(
    y: Any, log_posterior: Any, *, classes: Any = None, positive: Any = None, sample_weight: Any = None
) -> DetectionCurve:
    """ROC, precision and recall of one class by its posterior, which is the threshold of the curve.

    `positive` is the class that is looked for, the second of two unless told otherwise. Rows are ordered by
    the log odds, in which posteriors that round to 1 still differ.

    >>> log_posterior = np.log([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    >>> detection_curve(["a", "a", "b"], log_posterior, classes=["a", "b"]).threshold
    array([inf, 0.8, 0.6, 0.1])
    """
    logs, codes, weight = scored_rows(y, log_posterior, classes, sample_weight)
    names = class_names(classes, logs.shape[1])
    k = _code(names, positive)
    others = np.delete(logs, k, axis=1)
    with np.errstate(invalid="ignore"):
        odds = logs[:, k] - np.logaddexp.reduce(others, axis=1)
    sought = codes == k
    if sought.all() or not sought.any():
        raise ValueError(
            f"{'all' if sought.any() else 'none'} of the rows are of class {names[k]!r}, so that nothing can "
            "be told apart; pass rows of both kinds"
        )
    return _curve(odds, np.exp(logs)[:, k], sought, weight)


def _code(names: list[Any], positive: Any) -> int:
    if positive is None:
        if len(names) != 2:
            raise ValueError(f"there are {len(names)} classes; pass the one that is looked for as positive=")
        return 1
    if positive not in names:
        raise ValueError(f"positive={positive!r} is not one of the classes {names}")
    return names.index(positive)


def _curve(score: Floats, threshold: Floats, positive: Bools, weight: Floats) -> DetectionCurve:
    order = np.argsort(-score, kind="stable")
    score, weight, found = score[order], weight[order], positive[order]
    last = np.flatnonzero(np.append(score[1:] != score[:-1], True))
    hits = np.append(0.0, np.cumsum(weight * found)[last])
    alarms = np.append(0.0, np.cumsum(weight * ~found)[last])
    precision = hits[1:] / (hits[1:] + alarms[1:])
    return DetectionCurve(
        np.append(np.inf, threshold[order][last]),
        hits / hits[-1],
        alarms / alarms[-1],
        np.append(precision[0], precision),
        _area_error(hits, alarms),
    )


def _area_error(hits: Floats, alarms: Floats) -> float:
    """The standard error of the area, from how each row stands among the rows of the other kind.

    Weights are repetitions: n rows of one kind are as many as they weigh.
    """
    own, other = np.diff(hits), np.diff(alarms)
    above = 1 - (alarms[1:] + alarms[:-1]) / (2 * alarms[-1])  # of the others, those below a positive row
    below = (hits[1:] + hits[:-1]) / (2 * hits[-1])  # of the positive rows, those above another
    return float(np.sqrt(_variance(above, own) + _variance(below, other)))


def _variance(values: Floats, weight: Floats) -> float:
    """The variance of a mean of rows; NaN of a single one."""
    total = float(weight.sum())
    mean = float(weight @ values) / total
    return float(weight @ (values - mean) ** 2) / (total * (total - 1)) if total > 1 else float("nan")
