"""Gaps filled in by expectation and maximisation, block by block in the same readings of the data.

Dempster, Laird & Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm. The class of
every row is known and blocks are independent given the class, so each block has its own gaps to fill; all
of them are filled in one reading an iteration.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from posterior._tasks import State, Tasks
from posterior._types import Floats
from posterior.dataset import Chunk, Rows, read
from posterior.families import Distribution, Expected, GapFillingFamily
from posterior.generative.notes import Note, held_note, refusal, unfinished_note
from posterior.generative.plan import Block, Plan, planned
from posterior.generative.statistics import ClassStatistics

# Copies of a chunk's cells that the expectations need at once; chunks are smaller by this factor.
COPIES = 8


@dataclass(frozen=True, eq=False)
class Filled:
    """Expected statistics of the blocks with gaps, and the log-likelihood after each iteration."""

    blocks: Mapping[int, Expected[Any]]
    path: Floats
    log_likelihood: float
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class _Expectations:
    """Expected statistics of several blocks; they add up block by block."""

    blocks: tuple[Expected[Any], ...]

    def __add__(self, other: "_Expectations") -> "_Expectations":
        return _Expectations(tuple(a + b for a, b in zip(self.blocks, other.blocks, strict=True)))

    @property
    def log_likelihood(self) -> float:
        return sum([block.log_likelihood for block in self.blocks])


@dataclass(frozen=True, eq=False)
class _Point:
    """Distributions of the blocks with gaps, what is to be expected under them, and their log-likelihood.

    Where rows are so few that the likelihood may have no maximum, `height` counts a prior as well.
    """

    given: list[Distribution]
    expected: _Expectations
    height: float


@dataclass(frozen=True, eq=False)
class _Gaps:
    """The blocks with gaps: which columns of the table each describes, and by which family."""

    columns: tuple[tuple[int, ...], ...]
    families: list[GapFillingFamily[Any]]
    rows: Rows
    anchors: list[Any] = field(default_factory=list)

    def read(
        self, families: list[GapFillingFamily[Any]], given: list[Distribution], *, first: bool = False
    ) -> _Expectations:
        """What is to be expected of the rows, in one reading."""

        def expected(chunk: Chunk) -> _Expectations:
            y, weight = chunk.y, chunk.weight
            blocks = []
            for family, columns, g in zip(families, self.columns, given, strict=True):
                cells = read(chunk, family.reads, columns)
                blocks.append(family.expect(cells, y, weight, g, first=first))
            return _Expectations(tuple(blocks))

        return self.rows.reduce(expected, dense=COPIES * sum(map(len, self.columns)))

    def point(self, given: list[Distribution], expected: _Expectations) -> _Point:
        """Distributions with what they expect."""
        prior = sum([a.height(g) for a, g in zip(self.anchors, given, strict=True)])
        return _Point(given, expected, expected.log_likelihood + prior)

    def at(self, given: list[Distribution]) -> _Point:
        """One reading of the rows for the likeliest model."""
        return self.point(given, self.read(self.likeliest, given))

    @cached_property
    def likeliest(self) -> list[GapFillingFamily[Any]]:
        """The families by maximum likelihood."""
        return [family.likeliest for family in self.families]

    def estimated(self, families: list[GapFillingFamily[Any]], point: _Point) -> list[Distribution]:
        """The distributions that fit what was expected."""
        parts = zip(families, self.anchors, point.expected.blocks, strict=True)
        return [f.estimate(anchor.added(e.statistics)) for f, anchor, e in parts]

    def settled(self, point: _Point) -> tuple[_Point, _Point]:
        """What is to be expected at a point, and where the families themselves are that fit it."""
        if self.families != self.likeliest:  # they may ask for moments that the likeliest do without
            point = self.point(point.given, self.read(self.families, point.given))
        return point, self.at(self.estimated(self.families, point))

    def expectations(self, top: _Point, end: _Point) -> list[Expected[Any]]:
        """Expected statistics of the blocks, with the log-likelihood of what is estimated from them."""
        parts = zip(self.anchors, top.expected.blocks, end.expected.blocks, strict=True)
        return [Expected(anchor.added(e.statistics), last.log_likelihood) for anchor, e, last in parts]

    def climb(
        self,
        here: _Point,
        tolerance: float,
        most: int,
        told: Tasks,
        shown: Callable[[_Point], State | None],
    ) -> tuple[_Point, list[float], bool]:
        """The top, the log-likelihood on the way there, and whether it was reached in `most` readings.

        Between two steps of EM a leap follows them further along their line (Varadhan & Roland 2008,
        Simple and globally convergent methods for accelerating the convergence of any EM algorithm); one
        that would lose height is not taken.
        """
        families = self.likeliest
        path = [here.height]
        while len(path) <= most and not told.stopped:
            told.begin(shown(here))
            step = self.at(self.estimated(families, here))
            rises = step.height > here.height
            told.end(shown(step if rises else here))
            if not rises:
                return here, path, True
            path.append(step.height)
            if step.height - here.height <= tolerance or len(path) > most or told.stopped:
                return step, path, step.height - here.height <= tolerance
            told.begin(shown(step))
            next_step = self.estimated(families, step)
            lines = zip(families, here.given, step.given, next_step, strict=True)
            leap = self.at([f.leap(*steps) for f, *steps in lines])
            here = leap if leap.height > step.height else self.at(next_step)
            rises = here.height > step.height
            told.end(shown(here if rises else step))
            if not rises:
                return step, path, True
            path.append(here.height)
        return here, path, False


def spared(
    plans: Sequence[Plan], blocks: Sequence[Block], statistics: ClassStatistics, rows: Rows
) -> list[Plan]:
    """The plans without the rules that rows with gaps break, which complete rows alone did not show."""
    open_plans = [i for i, sums in enumerate(statistics.blocks) if sums.has_gaps and plans[i].rules]

    def broken(chunk: Chunk) -> _Counts:
        return _Counts(tuple(np.array([r.broken(chunk).sum() for r in plans[i].rules]) for i in open_plans))

    out = list(plans)
    if open_plans:
        counts = rows.reduce(broken, dense=max(len(blocks[i].columns) for i in open_plans)).arrays
        for i, count in zip(open_plans, counts, strict=True):
            columns = {r.column for r, n in zip(plans[i].rules, count.tolist(), strict=True) if n}
            if columns:
                out[i] = planned(
                    blocks[i], statistics.blocks[i], {blocks[i].columns.index(j) for j in columns}
                )
    return out


@dataclass(frozen=True)
class _Counts:
    arrays: tuple[Floats, ...]

    def __add__(self, other: "_Counts") -> "_Counts":
        return _Counts(tuple(a + b for a, b in zip(self.arrays, other.arrays, strict=True)))


def filled_in(
    blocks: Sequence[Block],
    plans: Sequence[Plan],
    statistics: ClassStatistics,
    rows: Rows,
    model: Callable[[Filled], Any] | None = None,
) -> Filled:
    """Iterate until the log-likelihood gains less than the family's tolerance for a row.

    The iterations are by maximum likelihood, whatever the family's shrinkage: so each of them raises the
    log-likelihood. Ties and shrinkage are applied once, to what the likeliest model expects. `model` makes
    the model of what is filled in, for those who watch the iterations.
    """
    open_plans = {i: p for i, p in enumerate(plans) if statistics.blocks[i].has_gaps and p.keep}
    if not open_plans:
        return Filled({}, np.zeros(1), 0.0)
    columns = tuple(tuple(blocks[i].columns[j] for j in plan.keep) for i, plan in open_plans.items())
    families = [cast("GapFillingFamily[Any]", plan.family) for plan in open_plans.values()]
    parts = [plan.part(statistics.blocks[i]) for i, plan in open_plans.items()]
    start = [f.likeliest.start(part) for f, part in zip(families, parts, strict=True)]
    gaps = _Gaps(columns, families, rows)
    first = gaps.read(families, start, first=True)
    anchors = [f.anchor(p, e.statistics) for f, p, e in zip(families, parts, first.blocks, strict=True)]
    gaps = replace(gaps, anchors=anchors)
    tolerance = min(f.tol for f in families) * float(statistics.weight.sum())
    most = max(f.max_iter for f in families)

    def filled(point: _Point) -> tuple[Filled, _Point]:
        top, end = gaps.settled(point)
        found = dict(zip(open_plans, gaps.expectations(top, end), strict=True))
        return Filled(found, np.array([end.height]), end.expected.log_likelihood), end

    def shown(point: _Point) -> State | None:
        return None if model is None else lambda: model(filled(point)[0])

    told = Tasks("iteration", most)
    top, path, reached = gaps.climb(gaps.point(start, first), tolerance, most, told, shown)
    found, end = filled(top)
    if reached and families == gaps.likeliest:  # one iteration more, which may lose a digit to rounding
        path = [height for height in path if height <= end.height]
    if reached and (not path or end.height >= path[-1]):
        path.append(end.height)
    unfinished = not reached and not told.stopped
    notes = [unfinished_note(most, path[-1] - path[-2], tolerance)] if unfinished else []
    notes += _held(gaps, statistics)
    return replace(found, path=np.array(path), notes=tuple(notes))


def _held(gaps: _Gaps, statistics: ClassStatistics) -> list[Note]:
    """The notes on classes with so few rows that a prior holds them, or an error where none may be."""
    notes = []
    for family, anchor, where in zip(gaps.families, gaps.anchors, gaps.columns, strict=True):
        labels = statistics.classes[anchor.rows > 0].tolist()
        if labels:
            notes.append(held_note(labels, [statistics.schema.names[j] for j in where]))
            if family.refuses:
                raise ValueError(refusal(notes[-1]))
    return notes
