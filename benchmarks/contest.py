"""A fair race: the same arrays, answers compared first, then alternating runs and their medians.

Every run makes a new estimator, fits it, and asks it for probabilities once, so that nothing is carried over
from one run to the next and every output is a fresh array.
"""

import statistics
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measure import settle, timed
from benchmarks.rivals import Entry, Rival
from benchmarks.tasks import Task

SLOW = 10.0  # a single run above it is repeated once only,
VERY_SLOW = 60.0  # and above this not at all; its first run then counts
BRIEF = 0.01  # below it a median of five is mostly noise
REPEATS_OF_BRIEF = 15
LOOSER = 100  # logs of small probabilities may differ by so much more than probabilities, relatively
HIGHER = 1e-10  # by how much our objective may lie above a rival's, relatively: rounding
CLOSE = 1e-6  # as near to the optimum as this counts as reaching it


class DisagreementError(Exception):
    """Two answers to the same question differ by more than they may."""


def largest_difference(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference of two tables of probabilities; infinite where they cannot be compared."""
    if a.shape != b.shape:
        return float("inf")
    worst = 0.0
    for start in range(0, len(a), 100_000):
        gap = np.abs(a[start : start + 100_000] - b[start : start + 100_000]).max(initial=0.0)
        if np.isnan(gap):
            return float("inf")
        worst = max(worst, float(gap))
    return worst


LOGS_FROM = -700.0  # below it a rival's logs may be those of probabilities rounded to zero
LOG_ROWS = 1_000


def log_difference(ours: Any, theirs: Any, X: Any) -> float | None:
    """The largest difference of log probabilities on some rows, relative to their size; None without any.

    Probabilities near 0 and 1 agree however they were found; their logs do not.
    """
    if not (hasattr(ours, "predict_log_proba") and hasattr(theirs, "predict_log_proba")):
        return None
    some = X[:LOG_ROWS]
    a, b = (np.asarray(model.predict_log_proba(some)) for model in (ours, theirs))
    comparable = a > LOGS_FROM
    return float((np.abs(a - b) / (1 + np.abs(a)))[comparable].max(initial=0.0))


def agree(who: str, a: np.ndarray, b: np.ndarray, tolerance: float) -> float:
    """The largest difference, or a DisagreementError where it exceeds `tolerance`."""
    gap = largest_difference(a, b)
    if not gap <= tolerance:
        raise DisagreementError(f"{who}: probabilities differ by {gap:.1e}, more than {tolerance:.0e}")
    return gap


def objective(model: Any, X: Any, y: np.ndarray) -> float:
    """Mean loss plus penalty (C = 1) of a fitted logistic regression, by our own reckoning."""
    scores = np.asarray(X @ model.coef_.T) + model.intercept_
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    top = scores.max(axis=1, keepdims=True)
    logs = scores - top - np.log(np.exp(scores - top).sum(axis=1, keepdims=True))
    return float(-logs[np.arange(len(y)), y].mean() + 0.5 * (model.coef_**2).sum() / len(y))


def not_higher(who: str, ours: float, theirs: float) -> float:
    """How far their objective lies above ours, relatively; an error where ours is the higher one."""
    if not ours <= theirs * (1 + HIGHER):
        raise DisagreementError(f"{who}: our objective {ours:.15g} is above theirs, {theirs:.15g}")
    return (theirs - ours) / ours


@dataclass
class Runs:
    """Seconds of one contender."""

    fit: list[float] = field(default_factory=list)
    predict: list[float] = field(default_factory=list)

    def row(self, prefix: str = "") -> dict[str, Any]:
        """Medians, and how many runs they are of."""
        return {
            f"{prefix}fit_s": statistics.median(self.fit),
            f"{prefix}predict_s": statistics.median(self.predict),
            f"{prefix}runs": len(self.fit),
        }


@dataclass
class Contender:
    """Somebody who fits and predicts, and the times it took."""

    name: str
    make: Callable[[], Any]
    table: tuple[Any, np.ndarray]
    entry: Entry | None = None  # None is us
    runs: Runs = field(default_factory=Runs)
    wanted: int = 0
    found: dict[str, Any] = field(default_factory=dict)

    def once(self) -> tuple[Any, Any, float, float]:
        """A new estimator fitted, its probabilities, and the two times. We may not warn; rivals may."""
        X, y = self.table
        with warnings.catch_warnings():
            warnings.simplefilter("error" if self.entry is None else "ignore")
            estimator = self.make()
            model, fit = timed(lambda: estimator.fit(X, y))
            shares, predict = timed(lambda: model.predict_proba(X))
        return model, shares, fit, predict

    def warm_up(self, repeats: int) -> tuple[Any, np.ndarray]:
        """The first run, which counts only where further ones would take too long."""
        model, shares, fit, predict = self.once()
        took = fit + predict
        if took > SLOW:
            self.runs = Runs([fit], [predict])
        self.wanted = repeats if took <= SLOW else 2 if took <= VERY_SLOW else 1
        if took < BRIEF and repeats > 1:
            self.wanted = max(repeats, REPEATS_OF_BRIEF)
        return model, np.asarray(shares)


def alternate(contenders: Iterable[Contender]) -> None:
    """Run them by turns until each has as many runs as it wants; the threads of none wait beside another."""
    waiting = list(contenders)
    while waiting := [c for c in waiting if len(c.runs.fit) < c.wanted]:
        for contender in waiting:
            settle()
            _, shares, fit, predict = contender.once()
            del shares  # its memory is free before the next one starts
            contender.runs.fit.append(fit)
            contender.runs.predict.append(predict)


def compare(who: str, contender: Contender, ours: tuple[Any, np.ndarray], repeats: int) -> None:
    """Run a rival once and hold its answers to ours, a model and its probabilities; keep what was found."""
    model, shares = ours
    theirs, answer = contender.warm_up(repeats)
    entry = contender.entry
    if entry is None or not entry.answers:
        return
    contender.found["difference"] = largest_difference(shares, answer)
    if entry.tolerance is None:
        own, other = (objective(m, *contender.table) for m in (model, theirs))
        contender.found["above"] = not_higher(who, own, other)
    else:
        contender.found["tolerance"] = entry.tolerance
        agree(who, shares, answer, entry.tolerance)
        logs = log_difference(model, theirs, contender.table[0])
        if logs is not None and not logs <= LOOSER * entry.tolerance:
            raise DisagreementError(f"{who}: log probabilities differ by {logs:.1e}, relatively")


def _settings_key(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(settings.items()))


@dataclass
class Outcome:
    """Rows of results, one for each way of each rival; what went wrong, and which rivals could not do it."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def race(task: Task, table: tuple[Any, np.ndarray], rivals: Iterable[Rival], repeats: int) -> Outcome:
    """Hold every way of every rival to our answers, then time them.

    Rivals that need other settings of ours run against those, in a race of their own.
    """
    X, y = table
    groups: dict[str, list[tuple[Rival, Entry]]] = {}
    for rival in rivals:
        for entry in rival.on(task.name, len(y)):
            groups.setdefault(_settings_key(entry.ours), []).append((rival, entry))
    outcome = Outcome()
    for settings, entries in groups.items():
        ours = Contender("ours", partial(task.ours, **entries[0][1].ours), table)
        try:
            answer = ours.warm_up(repeats)
        except Exception as problem:
            outcome.failures.append(f"{task.name}: ours stopped with {problem!r}")
            continue
        others = []
        for rival, entry in entries:
            contender = Contender(rival.name, entry.make, table, entry)
            if admitted(
                f"{task.name} against {rival.name} {entry.label}".rstrip(),
                contender,
                answer,
                repeats,
                outcome,
            ):
                others.append(contender)
        del answer
        alternate([ours, *others])
        outcome.rows += [result(task, settings, ours, other) for other in others]
    for row in outcome.rows:
        row.update(n=len(y), d=int(X.shape[1]), K=len(np.unique(y)))
    return outcome


def admitted(
    who: str, contender: Contender, ours: tuple[Any, np.ndarray], repeats: int, outcome: Outcome
) -> bool:
    """Whether a rival gives an answer, and the same as ours; if not, the outcome says so."""
    try:
        compare(who, contender, ours, repeats)
    except DisagreementError as problem:
        outcome.failures.append(str(problem))
    except Exception as problem:
        outcome.notes.append(f"{who}: the rival stopped with {problem!r}")
    else:
        return True
    return False


def result(task: Task, settings: str, ours: Contender, other: Contender) -> dict[str, Any]:
    """A rival's times beside ours."""
    row = {"task": task.name, "rival": other.name, "label": other.entry.label if other.entry else ""}
    row |= {"settings": settings, **ours.runs.row("ours_"), **other.runs.row(), **other.found}
    row["fit_ratio"] = row["fit_s"] / row["ours_fit_s"]
    row["predict_ratio"] = row["predict_s"] / row["ours_predict_s"]
    return row
