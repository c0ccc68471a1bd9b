"""Scores of rows by classifiers that were not trained with these rows."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar

import numpy as np
from sklearn.base import clone

from posterior._text import first_true
from posterior._types import Floats, Ints
from posterior.decision.averaging import NUMBERS, averages, near_cells
from posterior.engines import threads
from posterior.estimators._sklearn import check_method_params
from posterior.estimators.classifiers import is_frozen, log_posterior_of
from posterior.estimators.splits import read_folds
from posterior.estimators.state import own_copy
from posterior.estimators.table_estimator import fit_table, rows_for
from posterior.math import log_softmax, sum_to_one
from posterior.notices import DataWarning, warn
from posterior.schema import Folds, LabelledTable

FOLDS = 5  # where rows must be held out and nobody said how
# Fits to fewer rows than this spend their time where threads wait for each other.
SERIAL_ROWS = 5_000

P = TypeVar("P")
Tick = Callable[[], None]


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Log posteriors (n, K) of rows that the classifier was not trained with, class codes and weights.

    Where they are `averaged`, each stands for several rows (`summarized`).
    """

    log_posterior: Annotated[Floats, "n K log"]
    y: Annotated[Ints, "n code"]
    weight: Annotated[Floats | None, "n >=0"]
    averaged: bool = False

    def misfit(self, n_classes: int) -> str:
        """What no held-out rows of so many classes are, in words; empty if nothing is wrong."""
        if not len(self.y) or self.log_posterior.shape[1] != n_classes:
            return "rows held out of other classes"
        return first_true(
            {
                "a row of a class that is not there": self.y.max() >= n_classes,
                "posteriors that do not sum to one": not sum_to_one(np.exp(self.log_posterior)),
                "rows of no weight": self.weight is not None and not self.weight.any(),
            }
        )

    def summarized(self) -> "HeldOutRows":
        """Averages of rows of a class with like posteriors, weighted by how many these are: for a model file.

        Some thousands of numbers stand for any number of rows. Quantiles of held-out rows are met to within
        the weight of one average; what is fitted to them changes by the spread of logs within one.
        """
        if self.averaged:
            return self
        n_classes = self.log_posterior.shape[1]
        weight = np.ones(len(self.y)) if self.weight is None else self.weight
        parts = []
        for k in np.unique(self.y).tolist():
            rows = np.flatnonzero(self.y == k)
            share = len(rows) / len(self.y)
            cells = near_cells(self.log_posterior[rows], max(2, int(share * NUMBERS / (n_classes + 2))))
            logs, total = averages(self.log_posterior[rows], weight[rows], cells)
            alone = np.bincount(cells) == 1  # no average: told to one digit only
            logs[alone] = np.round(logs[alone], 1)
            some = total > 0
            parts.append((log_softmax(logs[some]), np.full(int(some.sum()), k), total[some]))
        log_posterior, y, total = (np.concatenate(part) for part in zip(*parts, strict=True))
        return HeldOutRows(log_posterior, y, total, averaged=True)

    def every(self, step: int) -> "HeldOutRows":
        """Each `step`-th of the rows."""
        weight = None if self.weight is None else self.weight[::step]
        return replace(self, log_posterior=self.log_posterior[::step], y=self.y[::step], weight=weight)


def hold_out(
    estimator: Any, model: Any, table: LabelledTable, fit_params: Mapping[str, Any], cv: Any, *, needed: bool
) -> HeldOutRows | None:
    """Rows that the classifier has not seen, by the folds of `cv`; all rows where it is frozen.

    Without `cv` nothing is held out unless it is `needed`; then there are five folds. Where it is not
    needed and fails, a warning says why there are no such rows.
    """
    if is_frozen(estimator):
        logs = log_posterior_of(model, rows_for(model, table))
        return HeldOutRows(logs, table.codes.copy(), own_copy(table.weight))
    if cv is None and not needed:
        return None
    folds = read_folds(FOLDS if cv is None else cv, table.codes)
    try:
        logs = held_out_scores(estimator, table, folds, fit_params)
    except (ValueError, IndexError) as error:
        if needed:
            raise
        warn(
            f"whether the posteriors are calibrated could not be checked, because no rows could be held out "
            f"({error}); cv=None asks for no check",
            DataWarning,
        )
        return None
    return HeldOutRows(logs, table.codes.copy(), own_copy(table.weight))


def adds_up(estimator: Any) -> bool:
    """Whether sums over rows give the model of an estimator, so that folds need no fits of their own."""
    return hasattr(estimator, "k_fold_log_proba")


def held_out_scores(
    estimator: Any,
    table: LabelledTable,
    folds: Folds,
    fit_params: Mapping[str, Any] | None = None,
    *,
    score: Callable[[Any, Any], Floats] = log_posterior_of,
    refit: bool = False,
    one_class: bool = False,
    workers: int = 1,
    tick: Tick = lambda: None,
) -> Floats:
    """Log posteriors of each row by a clone of the classifier that has not seen it, (n, K).

    A class that the rows of training lack gets −inf, a row that no model predicts NaN. Our generative models
    need one reading for all folds, unless they are to be `refit`; others are fitted once for each, by several
    `workers` side by side. With `one_class`, training rows of a single class predict it, and are not refused.
    `score` gives what a fitted model says of rows, if not log posteriors.
    """
    params = dict(fit_params or {})
    if adds_up(estimator) and not refit and not folds.forward and set(params) <= {"sample_weight"}:
        weight = params.get("sample_weight")
        logs: Floats = estimator.k_fold_log_proba(rows_for(estimator, table), table.labels, folds, weight)
        tick()
        return logs
    out = np.full((len(table), len(table.classes)), np.nan)
    growing = GrowingFit(estimator, table, np.argsort(folds.numbers, kind="stable"))
    grows = folds.forward and growing.adds_up
    workers = 1 if grows else workers  # one model, which all parts in turn add to

    def fitted(learnt: Ints) -> Any:
        if grows:
            return growing.up_to(len(learnt))
        own = check_method_params(table.codes, params, indices=learnt)
        return fit_table(clone(estimator), table.part(learnt), **own)

    def scores(part: tuple[Ints, Ints]) -> Floats:
        learnt, predicted = part
        found, seen = np.full((len(predicted), len(table.classes)), -np.inf), np.unique(table.codes[learnt])
        if one_class and len(seen) == 1:
            found[:, seen] = 0.0
            return found
        model = fitted(learnt)
        columns = np.searchsorted(table.classes, model.classes_)
        found[:, columns] = score(model, rows_for(model, table.part(predicted)))
        return found

    parts = folds.parts()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the fit to all rows has said it already
        for (_, predicted), found in zip(parts, _each(scores, parts, workers), strict=True):
            out[predicted] = found
            tick()
    return out


def _each(work: Callable[[P], Floats], parts: list[P], workers: int) -> Iterator[Floats]:
    """Results in the order of the parts; several workers have one thread each to themselves."""
    if min(workers, len(parts)) < 2:
        yield from map(work, parts)
        return

    def alone(part: P) -> Floats:
        with threads(1):
            return work(part)

    pool = ThreadPoolExecutor(min(workers, len(parts)))
    try:
        yield from pool.map(alone, parts)
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C, say


class GrowingFit:
    """A model of longer and longer beginnings of a list of rows.

    A generative model learns only the rows that are new, because its sums add up; where they do not (gaps
    filled in by EM, settings chosen by cross-validation) it is fitted anew, as any other model is.
    """

    def __init__(self, estimator: Any, table: LabelledTable, order: Ints) -> None:
        self.model, self.table, self.order = clone(estimator), table, order
        self.n_seen = 0
        self.adds_up = adds_up(estimator) and not getattr(estimator, "_first_part_chooses", False)

    def up_to(self, n: int) -> Any:
        """The model of the first n rows; n may only grow."""
        if self.adds_up:
            try:
                new = self.table.part(self.order[self.n_seen : n])
                self.model.partial_fit(rows_for(self.model, new), new.labels)
            except ValueError:
                self.adds_up = False
        if not self.adds_up:
            if adds_up(self.model):
                self.model = clone(self.model)
            fit_table(self.model, self.table.part(self.order[:n]))
        self.n_seen = n
        return self.model
