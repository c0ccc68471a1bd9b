"""Steps that experiments share: quiet fits, scores of rows held out, means with standard errors."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy import special

from posterior._text import shortened
from posterior._types import Floats
from posterior.comparison.fixed_candidates import FixedCandidate
from posterior.estimators.precision import in_double
from posterior.estimators.table_estimator import rows_for
from posterior.schema import LabelledTable

T = TypeVar("T")


class Scores(NamedTuple):
    """Mean log loss, NaN for a model without probabilities, and share of rows put in the wrong class."""

    log_loss: float = float("nan")
    error_rate: float = float("nan")


def scores_of(model: Any, table: LabelledTable) -> Scores:
    """How a fitted model does on rows of known class; a class that it has not seen has posterior zero."""
    X, codes, classes = rows_for(model, table), table.codes, table.classes
    if not hasattr(model, "predict_log_proba"):
        return Scores(error_rate=float((np.searchsorted(classes, model.predict(X)) != codes).mean()))
    logs = np.full((len(codes), len(classes)), -np.inf)
    with in_double():
        logs[:, np.searchsorted(classes, model.classes_)] = model.predict_log_proba(X)
    # 0 − x, so that a loss of nothing is 0 and not −0.
    loss = 0.0 - logs[np.arange(len(codes)), codes]
    return Scores(float(loss.mean()), float((logs.argmax(axis=1) != codes).mean()))


@dataclass
class CollectedWarnings:
    """What models warned of, or failed by, counted instead of printed.

    >>> notices = CollectedWarnings()
    >>> for n in (10, 20):
    ...     notices.quietly("logistic", f"{n} rows", lambda: warnings.warn("odd"), None)
    >>> notices.told
    ('logistic: UserWarning in 2 fits, first with 10 rows: odd',)
    """

    found: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def quietly(self, name: str, what: str, attempt: Callable[[], T], otherwise: T) -> T:
        """What an attempt gives, its warnings collected; where it fails by a ValueError, `otherwise`."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = attempt()
            except (ValueError, np.linalg.LinAlgError) as error:
                result = otherwise
                self._add(name, "ValueError", f"{what}: {error}")
        for category, message in {w.category.__name__: w.message for w in reversed(caught)}.items():
            self._add(name, category, f"{what}: {message}")
        return result

    def refuse_failure(self, candidate: FixedCandidate, results: Floats) -> None:
        """Raise the error of a model of which every fit failed."""
        if np.isnan(results).all():
            reasons = self.found.get((candidate.name, "ValueError"), ["no reason given"])
            raise ValueError(f"{candidate.title} failed in every fit; with {reasons[0]}")

    def _add(self, name: str, category: str, message: str) -> None:
        self.found.setdefault((name, category), []).append(message)

    @property
    def told(self) -> tuple[str, ...]:
        """One line for each model and kind of warning."""
        return tuple(
            f"{name}: {category} in {len(said)} fit{'s' * (len(said) > 1)}, first with "
            + shortened(said[0], 160)
            for (name, category), said in self.found.items()
        )


def margin(error: Any, n: int) -> Any:
    """How far a mean of n samples may be off by chance: half of Student's 95 % interval.

    >>> [round(float(margin(1.0, n)), 2) for n in (2, 5, 10, 1000)]
    [12.71, 2.78, 2.26, 1.96]
    """
    return error * special.stdtrit(n - 1, 0.975) if n > 1 else error * np.nan


def spread(samples: Floats) -> tuple[Floats, Floats]:
    """Mean and standard error over the last axis; NaN for the error of one sample or of infinite ones."""
    n = samples.shape[-1]
    with np.errstate(invalid="ignore"):
        mean = samples.mean(axis=-1)
        squares = ((samples - mean[..., None]) ** 2).sum(axis=-1)
    if n == 1:
        return mean, np.full(mean.shape, np.nan)
    error = np.sqrt(squares / (n * (n - 1)))
    return mean, np.where(np.isfinite(error), error, np.nan)
