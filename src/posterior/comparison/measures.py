"""How good held-out posteriors and scores are: means over rows, with standard errors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from posterior._types import Bools, Floats, Ints
from posterior.comparison.held_out import HeldOutScores
from posterior.decision import Costs, brier_terms, calibration_error, decide, log_loss_terms
from posterior.decision.costs import incurred


class Mean(NamedTuple):
    """A mean over rows and its standard error."""

    value: float
    error: float

    @classmethod
    def of(cls, terms: Floats) -> "Mean":
        """The mean of the terms of rows; infinite where one is.

        >>> Mean.of(np.array([1.0, 3.0]))
        Mean(value=2.0, error=1.0)
        """
        with np.errstate(invalid="ignore"):
            value = float(terms.mean())
            error = float(terms.std(ddof=1) / np.sqrt(len(terms))) if len(terms) > 1 else float("nan")
        return cls(value, error)


def clustered(terms: Floats, groups: Ints | None) -> Floats:
    """The terms of rows as one for each group, whose mean and standard error are those of the rows.

    Rows of one group, such as the visits of a patient, are alike, and a mean over rows is as uncertain as its
    groups make it (Liang & Zeger, 1986): the mean, and the sum of a group's deviations from it as its own.

    >>> Mean.of(clustered(np.array([1.0, 1.0, 3.0, 3.0]), np.array([0, 0, 1, 1])))
    Mean(value=2.0, error=1.0)
    """
    if groups is None or not np.isfinite(terms).all() or not len(terms):
        return terms
    codes = np.unique(groups, return_inverse=True)[1].reshape(-1)
    mean, n_groups = float(terms.mean()), int(codes.max()) + 1
    return np.asarray(mean + n_groups / len(terms) * np.bincount(codes, terms - mean, n_groups))


# So many standard errors are noise.
NOISE = 2.0


def exceeds_noise(differences: Floats) -> bool:
    """Whether the mean of differences between rows is more than two standard errors above zero.

    Differences are lopsided where a model is very wrong in a few rows, which then are most of the standard
    error too; Hall's (1992, On the removal of skewness by transformation, JRSS B 54) allows for that.

    >>> exceeds_noise(np.array([1.0, -1.0, 2.0, 0.0])), exceeds_noise(np.array([1.0, 2.0, 3.0, 2.0]))
    (False, True)
    """
    n = len(differences)
    if not np.isfinite(differences).all():
        return bool((differences == np.inf).any())
    mean, spread = float(differences.mean()), float(differences.std(ddof=1)) if n > 1 else 0.0
    if not spread > 0:
        return mean > 0 and n > 1
    skewness, t = float((((differences - mean) / spread) ** 3).mean()), mean / spread
    evened = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / (6 * n)
    return bool(evened * n**0.5 > NOISE)


@dataclass(frozen=True, eq=False)
class Marking:
    """What rows are marked by: their classes, which count in the log loss, costs, and the class sought.

    `costs` are None where none were given; `positive` is the code of the class sought, where there are two;
    `folds` are those of the rows in each repeat, (R, n), None where one model predicts all rows; `groups`
    are those of the rows, where rows belong together.
    """

    codes: Ints
    knowable: Bools
    costs: Costs | None = None
    positive: int | None = None
    false_alarms: float = 0.005
    folds: Ints | None = None
    groups: Ints | None = None

    def mean(self, terms: Floats, rows: Bools | None = None) -> Mean:
        """The mean over rows, or over some of them, with its standard error; rows of a group are alike."""
        some = slice(None) if rows is None else rows
        return Mean.of(clustered(terms[some], None if self.groups is None else self.groups[some]))

    def losses(self, found: HeldOutScores) -> Floats | None:
        """Minus the log posterior of the true class of each row, (n,)."""
        return log_loss_terms(self.codes, found.scores) if found.are_logs else None

    def costs_of(self, found: HeldOutScores) -> Floats | None:
        """What the action of least expected cost did cost in each row, (n,).

        A discriminant, which expects nothing, acts by the class that it names where actions are classes.
        """
        if self.costs is None:
            return None
        if found.are_logs:
            return incurred(self.costs, self.codes, decide(found.scores, self.costs))
        if self.costs.n_actions != found.scores.shape[1]:
            return None
        return incurred(self.costs, self.codes, found.scores.argmax(axis=1))

    def right(self, found: HeldOutScores) -> Floats:
        """1 where the likeliest class is the true one, else 0, (n,)."""
        return np.asarray(found.scores.argmax(axis=1) == self.codes, dtype=np.float64)

    def brier(self, found: HeldOutScores) -> float | None:
        """Brier's score, summed over the classes."""
        return float(brier_terms(self.codes, found.scores).mean()) if found.are_logs else None

    def calibration_error(self, found: HeldOutScores) -> float | None:
        """The expected calibration error of the likeliest class, in 15 bins."""
        if not found.are_logs:
            return None
        return calibration_error(self.codes, found.scores, n_simulations=0).value

    def roc_auc(self, found: HeldOutScores, repeat: int = 0) -> float | None:
        """The area under the ROC curve; for more than two classes the mean of each against the others."""
        n_classes = found.scores.shape[1]
        fold = None if self.folds is None else self.folds[repeat]
        if n_classes == 2:
            return area_under_roc(log_odds(found.scores, 1), self.codes == 1, fold)
        areas = [area_under_roc(found.scores[:, k], self.codes == k, fold) for k in range(n_classes)]
        known = [area for area in areas if area is not None]
        return float(np.mean(known)) if known else None

    def recall(self, found: HeldOutScores) -> float | None:
        """The share of the class sought that is found while at most `false_alarms` of the other is lost."""
        if self.positive is None:
            return None
        return recall_at(
            log_odds(found.scores, self.positive), self.codes == self.positive, self.false_alarms
        )


def log_odds(scores: Floats, k: int) -> Floats:
    """Score of one of two classes less that of the other, (n,)."""
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(scores[:, k] - scores[:, 1 - k], nan=0.0, posinf=np.inf, neginf=-np.inf)


def area_under_roc(scores: Floats, positive: Bools, fold: Ints | None = None) -> float | None:
    """The probability that a positive row scores above a negative one, half of ties (Hanley & McNeil 1982).

    With folds, of pairs of rows in one fold: these are scored by one model, and scores of different models
    have no common scale. Those of the class frequencies are lowest where a class is held out most, so that
    ranks over all folds would put them below 1/2 (Parker, Günter & Bedo 2007, BMC Bioinformatics 8). It is
    the mean over folds, each by its number of pairs. None where no fold has rows of both kinds.

    >>> area_under_roc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    0.75
    >>> scores, positive = np.array([0.4, 0.4, 0.4, 0.3, 0.3]), np.array([False, False, True, True, False])
    >>> area_under_roc(scores, positive, fold=np.array([0, 0, 0, 1, 1]))
    0.5
    """
    above, pairs = 0.0, 0
    for f in [None] if fold is None else np.unique(fold).tolist():
        rows = slice(None) if f is None else fold == f
        own = positive[rows]
        n_positive = int(own.sum())
        n_pairs = n_positive * (len(own) - n_positive)
        if n_pairs:
            above += float(rankdata(scores[rows])[own].sum()) - n_positive * (n_positive + 1) / 2
            pairs += n_pairs
    return above / pairs if pairs else None


def recall_at(scores: Floats, positive: Bools, false_alarms: float) -> float | None:
    """The share of positive rows above the lowest threshold that few enough negative rows exceed.

    At most a share `false_alarms` of the negative rows, rounded down to whole rows, lies above it.

    >>> recall_at(np.array([5.0, 4.0, 3.0, 2.0, 1.0]), np.array([True, False, True, False, False]), 0.34)
    1.0
    >>> recall_at(np.array([5.0, 4.0, 3.0, 2.0, 1.0]), np.array([True, False, True, False, False]), 0.0)
    0.5
    """
    if positive.all() or not positive.any():
        return None
    others = np.sort(scores[~positive])[::-1]
    # 0.34 · 50 is a little more than 17 or a little less, by rounding.
    allowed = int(false_alarms * len(others) + 1e-9)
    if allowed >= len(others):
        return 1.0
    return float((scores[positive] > others[allowed]).mean())


def averaged(values: Sequence[float | None]) -> float | None:
    """The mean of a measure over repeats, None where a repeat has none."""
    return (
        None
        if any(v is None for v in values)
        else float(np.mean([float(v) for v in values if v is not None]))
    )
