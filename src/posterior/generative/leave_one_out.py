"""Every training row scored as if it had not been seen: exact leave-one-out, without refitting the model.

Densities and priors follow in closed form from the statistics of all rows, with one row subtracted. Rows for
which a formula would lose its digits, such as one of only two rows of a class, are left out literally.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from posterior._blas import one_blas_thread
from posterior._types import Bools, Floats, Ints
from posterior.bayes import log_normalized, with_prior
from posterior.dataset import Chunk, Dataset, Selection
from posterior.families import Family, LeftOut, NoClosedFormError
from posterior.families.left_out.parts import loses_digits
from posterior.generative.model import FittedBlock, GenerativeModel
from posterior.generative.plan import NOTHING, Block, Plan
from posterior.generative.spec import GenerativeSpec, Sums
from posterior.generative.statistics import ClassStatistics
from posterior.stats import Statistics

Score = Callable[[Any, Ints, Floats | None], LeftOut]

INSTEAD = "use k_fold_log_proba, which fits the model without each part of the rows in turn"


def left_out_log_posterior(
    model: GenerativeModel, dataset: Dataset, most_refits: int | None = None
) -> Floats:
    """Log posterior of each training row without that row, (n, K).

    `dataset` holds the training rows with their classes and weights, each row a fold of its own: `fold` is
    its number. The schema, the columns left out and settings chosen by cross-validation stay as fitted. A
    class whose only row is left out is not there. More than `most_refits` rows that a formula is too delicate
    for, where that is a number, are refused.
    """
    spec, statistics = _known(model, dataset)
    scores = [
        (part, weight, _score(model, part, sums))
        for block, whole in zip(model.blocks, statistics.blocks, strict=True)
        if block.columns
        for part, weight, sums in _equally_weighted(model, block, whole)
    ]
    n_classes, dense = model.n_classes, sum(block.dense for block, _, _ in scores)
    alone = dataset.reduce(lambda chunk: np.bincount(chunk.y, minlength=n_classes), dense=dense) == 1

    def posterior(chunk: Chunk) -> Floats:
        y, weight = chunk.y, chunk.weight
        log_density = np.zeros((chunk.n_rows, n_classes))
        delicate = np.zeros(chunk.n_rows, dtype=np.bool_)
        if weight is not None:
            delicate = loses_digits(statistics.weight[y] - weight, statistics.weight[y])
        for block, factor, score in scores:
            part = score(block.read(chunk), y, weight)
            log_density += part.log_density if factor == 1.0 else factor * part.log_density
            delicate |= part.delicate
        log_density[delicate] = 0.0
        log_prior = spec.priors.log_prior_without(statistics.weight, model.classes, y, weight, alone)
        out = log_normalized(with_prior(log_density, log_prior))
        out[delicate] = np.nan
        return out

    out = dataset.map(posterior, dense=dense)
    rows = np.flatnonzero(np.isnan(out[:, 0]))
    if most_refits is not None and len(rows) > most_refits:
        raise NoClosedFormError(
            f"{len(rows)} rows could only be left out by fitting again, for a formula would lose its digits "
            f"(some covariance is hardly determined), which is many times the work; {INSTEAD}"
        )
    if len(rows):
        out[rows] = _Refits(model, spec, dataset).log_posterior(rows, alone)
    return out


def refuse_other_rows(model: GenerativeModel, dataset: Dataset) -> None:
    """Raise the error of rows that are not those of training, as far as two columns of each block tell."""
    statistics = model.statistics
    if statistics is None or statistics.has_gaps:
        return
    looks: list[tuple[tuple[int, ...], Family[Any], Statistics]] = []
    for block, sums in zip(model.blocks, statistics.blocks, strict=True):
        if block.plan is None or not block.columns or block.reads == "texts" or sums.unread:
            continue
        places = sorted({0, len(block.columns) - 1})
        columns = tuple(block.columns[j] for j in places)
        looks.append((columns, block.plan.family.marginal(places), block.plan.part(sums).marginal(places)))
    spec = GenerativeSpec(tuple(Block(columns, family, NOTHING, NOTHING) for columns, family, _ in looks))
    found = spec.summarize(dataset, model.classes)
    for (columns, _, expected), again in zip(looks, found.blocks, strict=True):
        if not expected.resembles(again):
            names = ", ".join(repr(model.schema.names[j]) for j in columns)
            raise ValueError(
                f"these are not the training rows: the sums by class of column {names} differ from those of "
                "training; pass the rows and classes that were given to fit, in any order"
            )


def _known(model: GenerativeModel, dataset: Dataset) -> tuple[GenerativeSpec, ClassStatistics]:
    """The composition and the statistics of a model; refused where a row cannot be taken out of them."""
    if model.spec is None:
        raise NoClosedFormError(
            "a model built from given distributions has no training rows to leave out; use fit, or "
            "k_fold_log_proba of an estimator that learns from rows"
        )
    for block in model.spec.blocks:
        if type(block.family).leave_one_out is Family.leave_one_out:
            raise _refusal(model, block.columns, type(block.family).__name__)
    statistics = model.statistics
    if statistics is None and model.path is None:  # a vocabulary was learnt, and the sums were not kept
        statistics = model.spec.summarize(dataset, model.classes)
    if statistics is None or statistics.has_gaps:
        raise NoClosedFormError(
            "gaps in a joint Gaussian block were filled in by EM, in which every row has a say: leaving one "
            f"out has no closed form; {INSTEAD}"
        )
    return model.spec, statistics


def _equally_weighted(
    model: GenerativeModel, block: FittedBlock, sums: Statistics
) -> list[tuple[FittedBlock, float, Statistics]]:
    """Parts of a block whose columns have one weight, with it and with their statistics; none of weight 0."""
    weight = model.weight_of(block)
    if (weight == weight[0]).all():
        return [(block, float(weight[0]), sums)] if weight[0] > 0 else []
    if block.plan is None or block.distribution is None:
        raise ValueError("a block of given distributions has no training rows to leave out")
    parts = []
    for j in np.flatnonzero(weight > 0).tolist():
        place = block.plan.keep[j]
        plan = Plan((0,), block.plan.family.marginal([j]))
        alone = FittedBlock((block.columns[j],), block.distribution.marginal([j]), (), block.reads, plan)
        parts.append((alone, float(weight[j]), sums.marginal([place])))
    return parts


def _score(model: GenerativeModel, block: FittedBlock, statistics: Statistics) -> Score:
    """The function that scores the rows of a block without themselves."""
    if block.plan is None:
        raise ValueError("a block of given distributions has no training rows to leave out")
    try:
        return block.plan.family.leave_one_out(block.plan.part(statistics), block.distribution)
    except NoClosedFormError as error:
        raise _refusal(model, block.columns, str(error)) from error


def _refusal(model: GenerativeModel, columns: tuple[int, ...], reason: str) -> NoClosedFormError:
    names = ", ".join(repr(model.schema.names[j]) for j in columns)
    return NoClosedFormError(f"column {names}: leaving a row out has no closed form ({reason}); {INSTEAD}")


class _Refits:
    """The model fitted again without one row: the same columns by the same families."""

    def __init__(self, model: GenerativeModel, spec: GenerativeSpec, dataset: Dataset) -> None:
        kept = [(b.columns, b.plan.family) for b in model.blocks if b.columns and b.plan is not None]
        self.spec = GenerativeSpec(
            tuple(Block(c, family, NOTHING, NOTHING) for c, family in kept),
            spec.priors,
            weights=spec.weights,
        )
        self.model, self.dataset = model, dataset

    def log_posterior(self, rows: Ints, alone: Bools) -> Floats:
        """Log posteriors (m, K) of some rows; the rows of the other classes are summed once a class."""
        y = self.dataset.map(lambda chunk: chunk.y, dense=0)[rows]
        out = np.empty((len(rows), self.model.n_classes))
        for k in np.unique(y).tolist():
            others = self._others(k)
            for place in np.flatnonzero(y == k).tolist():
                out[place] = self._row(int(rows[place]), k, others, bool(alone[k]))
        return out

    def _summed(self, keep: Callable[[Chunk], Bools]) -> Sums:
        spec, schema, n_classes = self.spec, self.dataset.schema, self.model.n_classes
        chosen = Selection(self.dataset, keep)
        return chosen.reduce(lambda chunk: spec.sums(chunk, schema, n_classes), dense=spec.dense)

    def _others(self, k: int) -> Sums:
        return self._summed(lambda chunk: chunk.y != k)

    def _row(self, i: int, k: int, others: Sums, alone: bool) -> Floats:
        """Log posterior (K,) of row `i` of class `k`."""
        sums = others + self._summed(lambda chunk: (chunk.y == k) & (chunk.fold != i))
        try:
            with one_blas_thread:
                refit = self.spec.estimate(
                    self.spec.statistics(sums, self.dataset.schema, self.model.classes)
                )
        except ValueError as error:
            raise ValueError(f"without row {i}, of class {self.model.classes[k]!s}: {error}") from error
        log_prior = refit.log_prior.copy()
        if alone:
            log_prior[k] = -np.inf
        if np.isneginf(log_prior).all():
            log_prior = self.model.log_prior

        def score(chunk: Chunk) -> Floats:
            return np.asarray(refit.chunk_log_posterior(chunk, log_prior).sum(axis=0))

        return Selection(self.dataset, lambda chunk: chunk.fold == i).reduce(score, dense=self.spec.dense)
