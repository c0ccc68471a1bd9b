"""Cross-validation from fold statistics: one reading sums each fold, and no model is fitted to rows twice.

Statistics of disjoint rows add up, so those of all folds but one are the sum of the folds before it and
of the folds after it. Nothing is ever subtracted: no digit is lost where a fold holds nearly all of a class.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from posterior._blas import one_blas_thread
from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.dataset import Chunk, Dataset, ReadOnce, Rows, Selection, SomeRows
from posterior.generative.model import GenerativeModel
from posterior.generative.spec import GenerativeSpec, Sums
from posterior.generative.statistics import ClassStatistics

Score: TypeAlias = Callable[[Chunk], Floats]


@dataclass(frozen=True)
class _ByFold:
    """The sums of some rows, fold by fold; they add up fold by fold."""

    parts: Mapping[int, Sums]

    def __add__(self, other: "_ByFold") -> "_ByFold":
        both = dict(self.parts)
        for fold, sums in other.parts.items():
            both[fold] = both[fold] + sums if fold in both else sums
        return _ByFold(both)


@dataclass(frozen=True, eq=False)
class TrainingPart:
    """All rows that count and are not in one of the folds: their statistics, and the rows themselves."""

    fold: int
    statistics: ClassStatistics
    rows: Rows

    def seen_only(self, log_prior: Floats) -> Floats:
        """Priors without the classes that these rows lack."""
        seen = np.where(self.statistics.weight > 0, log_prior, -np.inf)
        if np.isneginf(seen).all():
            raise ValueError(
                f"outside of fold {self.fold} every class with a row has prior zero; "
                "give it a positive prior, or use fewer folds"
            )
        return seen


def rows_by_fold(fold: Ints) -> Iterator[tuple[int, Ints]]:
    """Each fold that occurs, with the numbers of its rows."""
    order = np.argsort(fold, kind="stable")
    found, starts = np.unique(fold[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, starts[1:]), strict=True)


def training_parts(
    spec: GenerativeSpec, rows: Rows, classes: AnyArray, n_folds: int
) -> Iterator[TrainingPart]:
    """What there is to learn from outside of each fold, after one reading of the rows."""
    schema = rows.schema

    def sums(chunk: Chunk) -> _ByFold:
        once = ReadOnce(chunk)
        weight = chunk.weight
        parts = {}
        for fold, found in rows_by_fold(chunk.fold):
            kept = found if weight is None else found[weight[found] > 0]
            if len(kept):
                parts[fold] = spec.sums(SomeRows(once, kept), schema, len(classes))
        return _ByFold(parts)

    found = rows.reduce(sums, dense=spec.dense).parts
    for fold, part in enumerate(_all_but_one([found.get(f) for f in range(n_folds)])):
        if part is None:
            raise ValueError(
                f"every row that counts is in fold {fold}: nothing is left to learn from; "
                "spread the rows over two folds or more"
            )
        statistics = spec.statistics(part, schema, classes)
        yield TrainingPart(fold, statistics, Selection(rows, _outside_of(fold)))


def _all_but_one(parts: Sequence[Sums | None]) -> Iterator[Sums | None]:
    """The sum of all other parts, for each part; None where there is none."""
    after: list[Sums | None] = [None]
    for part in reversed(parts[1:]):
        after.append(_sum(part, after[-1]))
    before: Sums | None = None
    for part in parts:
        yield _sum(before, after.pop())
        before = _sum(before, part)


def _sum(a: Sums | None, b: Sums | None) -> Sums | None:
    return a if b is None else b if a is None else a + b


def _outside_of(fold: int) -> Callable[[Chunk], Bools]:
    def keep(chunk: Chunk) -> Bools:
        other: Bools = chunk.fold != fold
        return other if chunk.weight is None else other & (chunk.weight > 0)

    return keep


def held_out_score(
    rows: Rows,
    parts: Iterable[TrainingPart],
    learn: Callable[[TrainingPart], Score],
    n_scores: int,
    dense: int,
) -> Score:
    """What gives the scores (n, `n_scores`) of a chunk, each row by what was learnt outside of its fold.

    Where all rows are one chunk, what a part teaches is forgotten once the rows of its fold are scored: the
    parameters of wide tables are as large as the rows.
    """

    def score(chunk: Chunk, learnt: Iterable[tuple[int, Score]]) -> Floats:
        once, out = ReadOnce(chunk), np.full((chunk.n_rows, n_scores), np.nan)
        found = dict(rows_by_fold(chunk.fold))
        for fold, score_fold in learnt:
            if fold in found:
                out[found[fold]] = score_fold(SomeRows(once, found[fold]))
            del score_fold  # before the next part is learnt
        return out

    one_by_one = ((part.fold, learn(part)) for part in parts)
    if len(rows.reduce(lambda chunk: [chunk], dense=dense)) == 1:
        return lambda chunk: score(chunk, one_by_one)
    together = list(one_by_one)
    return lambda chunk: score(chunk, together)


def estimated(spec: GenerativeSpec, part: TrainingPart) -> GenerativeModel:
    """The model of a training part, in which a class that the part lacks is impossible."""
    with one_blas_thread:
        model = spec.finished(part.statistics, part.rows)
    return replace(model, log_prior=part.seen_only(model.log_prior))


def held_out_log_posterior(dataset: Dataset, models: Sequence[GenerativeModel]) -> Floats:
    """Log posteriors (n, K), each row by the model of its fold, in one reading."""

    def scores(chunk: Chunk) -> Floats:
        once = ReadOnce(chunk)
        out = np.empty((chunk.n_rows, models[0].n_classes))
        for fold, rows in rows_by_fold(chunk.fold):
            out[rows] = models[fold].chunk_log_posterior(SomeRows(once, rows))
        return out

    dense = sum(block.dense for block in models[0].blocks)
    return dataset.map(scores, dense=dense)
