"""A pool of the models that were compared: their held-out posteriors, weighted by those of other folds."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from posterior._types import Bools, Floats, Ints
from posterior.comparison.held_out import CrossValidation, HeldOutScores
from posterior.comparison.in_time import FEWEST_PREDICTED
from posterior.comparison.result import Result
from posterior.comparison.sampling import sample_rows
from posterior.decision import fuse, log_loss_terms, pool_weights, shift_priors
from posterior.estimators import PoolClassifier
from posterior.estimators.classifiers import training_priors
from posterior.estimators.members import log_of
from posterior.estimators.state import RefusedError
from posterior.schema import Folds, LabelledTable

# Few numbers are learnt, and from no more rows than this; for no more parts of the rows than this.
MOST_ROWS, MOST_PARTS = 5_000, 10
# A model that was tried may be a member unless it says nothing of a row, or no probabilities.
NO_MEMBERS = ("baseline", "discriminant", "reference", "pool")


@dataclass(frozen=True, eq=False)
class Tried:
    """A model that was tried: its result, and for each repeat its log posteriors of all rows held out.

    `priors` are the class priors in them; None are the class frequencies of the rows learnt from.
    """

    result: Result
    found: tuple[Floats, ...]
    priors: Floats | None

    @classmethod
    def of(
        cls, result: Result, found: Sequence[HeldOutScores], fitted: Any, table: LabelledTable
    ) -> "Tried | None":
        """What a pool needs of a model; None of one that cannot be a member."""
        if result.approach in NO_MEMBERS or result.log_loss is None or not np.isfinite(result.log_loss):
            return None
        try:
            priors = training_priors(fitted, table.labels, classes=table.classes)
        except RefusedError:
            return None
        observed = np.allclose(priors, _shares(table), rtol=1e-9, atol=0)
        return cls(result, tuple(each.scores for each in found), None if observed else priors)


@dataclass(frozen=True, eq=False)
class Pooling:
    """The models that were tried on a table, under common priors, and the rows that count."""

    tried: tuple[Tried, ...]
    validation: CrossValidation
    knowable: Bools

    @property
    def names(self) -> list[str]:
        """What the models are called."""
        return [each.result.name for each in self.tried]

    def held_out(self) -> list[HeldOutScores]:
        """Log posteriors of each repeat: every part of the rows by weights of the other parts.

        In time by those of the parts before; with too few rows before, all models have the same weight.
        """
        return [self._of_repeat(r, folds) for r, folds in enumerate(self.validation.repeats)]

    def _of_repeat(self, r: int, folds: Folds) -> HeldOutScores:
        logs, priors = self._under_common_priors(r, folds), _shares(self.validation.table)
        out = np.full_like(logs[0], np.nan)
        parts = folds.numbers if folds.forward else folds.numbers % MOST_PARTS
        for part in np.unique(parts[folds.predicted]).tolist():
            rows = np.flatnonzero(parts == part)
            learnt = self.knowable & ((parts < part) if folds.forward else (parts != part))
            weights = self._learnt([logs], np.flatnonzero(learnt))
            out[rows] = fuse([each[rows] for each in logs], log_of(priors), weights=weights)
        table = self.validation.table
        return HeldOutScores(_shifted(out, table, folds, priors, back=True), are_logs=True)

    def weights(self) -> Floats:
        """The weights that all rows choose."""
        logs = [self._under_common_priors(r, folds) for r, folds in enumerate(self.validation.repeats)]
        return self._learnt(logs, np.flatnonzero(self.knowable))

    def _under_common_priors(self, r: int, folds: Folds) -> list[Floats]:
        """Log posteriors of each model in one repeat, brought to the class frequencies of all rows."""
        table = self.validation.table
        common = _shares(table)
        found = []
        for each in self.tried:
            if each.priors is None:
                found.append(_shifted(each.found[r].copy(), table, folds, common))
            else:
                some = each.found[r].copy()
                some[folds.predicted] = shift_priors(some[folds.predicted], each.priors, common)
                found.append(some)
        return found

    def _learnt(self, repeats: Sequence[list[Floats]], rows: Ints) -> Floats:
        codes = self.validation.table.codes
        if len(rows) < FEWEST_PREDICTED:
            return np.full(len(self.tried), 1 / len(self.tried))
        if len(rows) > MOST_ROWS:
            rows = rows[sample_rows(codes[rows], MOST_ROWS)]
        logs = [np.concatenate(each) for each in zip(*([m[rows] for m in r] for r in repeats), strict=True)]
        y, weight = np.tile(codes[rows], len(repeats)), np.full(len(rows) * len(repeats), 1 / len(repeats))
        prior = log_of(_shares(self.validation.table))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return pool_weights(logs, y, prior, sample_weight=weight)

    def estimator(self, weights: Floats) -> PoolClassifier:
        """The pool with these members and weights, not fitted."""
        chosen = {each.result.name: w for each, w in zip(self.tried, weights.tolist(), strict=True) if w > 0}
        members = [
            (each.result.name, clone(each.result.estimator))
            for each in self.tried
            if each.result.name in chosen
        ]
        return PoolClassifier(members, weights=chosen)

    def about(self, weights: Floats) -> dict[str, Any]:
        """What a result of the pool says of it besides its measures: what its members take, together."""
        pairs = zip(self.tried, weights.tolist(), strict=True)
        kept = sorted([(each.result, w) for each, w in pairs if w > 0], key=lambda pair: -pair[1])
        results = [result for result, _ in kept]
        used = {name for result in results for name in result.columns}
        counts = [result.n_parameters for result in results]
        return {
            "about": " + ".join(f"{w:.2g} · {result.title}" for result, w in kept),
            "columns": tuple(name for name in self.validation.table.schema.names if name in used),
            "n_parameters": None if None in counts else sum(n or 0 for n in counts) + len(counts),
            "fit_seconds": sum(result.fit_seconds for result in results),
            "predict_seconds": sum(result.predict_seconds for result in results),
            "estimator": self.estimator(weights),
        }


def usable(tried: Sequence[Tried], codes: Ints, knowable: Bools) -> list[Tried]:
    """The models that call no class of a held-out row impossible, in any repeat."""
    return [
        each
        for each in tried
        if all(np.isfinite(log_loss_terms(codes[knowable], found[knowable])).all() for found in each.found)
    ]


def _shares(table: LabelledTable, rows: Any = slice(None)) -> Floats:
    """The class frequencies of some rows."""
    counts = np.bincount(table.codes[rows], minlength=len(table.classes))
    return np.asarray(counts / counts.sum())


def _shifted(
    logs: Floats, table: LabelledTable, folds: Folds, common: Floats, *, back: bool = False
) -> Floats:
    """Log posteriors by folds, brought from the class frequencies learnt from to common ones, or back."""
    for learnt, predicted in folds.parts():
        own = _shares(table, learnt)
        new = np.where(own > 0, common, 0.0)
        new /= new.sum()
        old, wanted = (new, own) if back else (own, new)
        logs[predicted] = shift_priors(logs[predicted], old, wanted)
    return logs
