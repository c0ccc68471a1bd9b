"""Margins: by how much the score of a row's own class exceeds that of another, in passes over the rows.

Rows of weight 0 do not count. A table is never copied: a pass keeps counts, extremes and a few rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from posterior import kernels
from posterior._linalg import EPSILON, FAR_APART
from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.linear.design import Matrix
from posterior.linear.loss_sums import LinearScores
from posterior.linear.objective import Objective
from posterior.linear.scan import RowBlock, Scan
from posterior.stats.base import FieldSums

TILE = 4096
TILE_CELLS = 1 << 20
# What linear programming leaves of a margin that is zero, as a share of the sizes that make it up.
VAGUE = 1e-12


def tiles(block: RowBlock, shift: Floats | None) -> Iterator[tuple[Matrix, AnyArray, Floats]]:
    """Rows that count, less `shift`, with targets and weights; sparse rows are filled only where shifted."""
    block = block.counted()
    X, y, w = block.matrix, block.target, block.weights
    if kernels.is_sparse(X) and shift is None:
        yield X, y, w
        return
    size = max(1, min(TILE, TILE_CELLS // max(X.shape[1], 1)))
    for at in range(0, len(y), size):
        rows = slice(at, at + size)
        part = _dense(X[rows])
        yield part if shift is None else part - shift, y[rows], w[rows]


def class_scores(line: LinearScores, X: Matrix, n_classes: int) -> Floats:
    """The scores of all classes, (K, m), of rows from which the line's shift was taken."""
    scores = line.scores(X)
    return scores if len(scores) == n_classes else np.vstack([np.zeros((1, scores.shape[1])), scores])


def _dense(X: Matrix) -> Floats:
    return np.asarray(X.toarray() if kernels.is_sparse(X) else X)


@dataclass(frozen=True, eq=False)
class ClassRanges(FieldSums, low=np.minimum, high=np.maximum):
    """How many rows a class has, (K,), and its smallest and largest value in every column, (K, d)."""

    rows: Ints
    low: Floats
    high: Floats


def _ranges(block: RowBlock, n_classes: int) -> ClassRanges:
    d = block.matrix.shape[1]
    rows = np.zeros(n_classes, dtype=np.int64)
    low, high = np.full((n_classes, d), np.inf), np.full((n_classes, d), -np.inf)
    for X, y, _ in tiles(block, None):
        for k in np.unique(y):
            own = X[y == k]
            rows[k] += own.shape[0]
            low[k] = np.minimum(low[k], _dense(own.min(axis=0)).reshape(d))
            high[k] = np.maximum(high[k], _dense(own.max(axis=0)).reshape(d))
    return ClassRanges(rows, low, high)


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """The rows that count, every column that matters brought to [−1, 1].

    With an intercept u = (x − centre)/scale, the middle and half the width of a column's range; without one
    the centre is 0. `kept` are the columns that vary and do not merely combine others.
    """

    scan: Scan
    n_classes: int
    intercept: bool
    ranges: ClassRanges
    centre: Floats
    scale: Floats
    size: Floats
    kept: Ints

    @classmethod
    def of(cls, objective: Objective) -> "ScaledRows":
        """The rows of an objective whose loss is the softmax."""
        loss = objective.loss
        if not loss.n_classes:
            raise ValueError(f"separation is a matter of classes; expected a softmax loss, found {loss!r}")
        ranges = objective.scan.fold(lambda block: _ranges(block, loss.n_classes))
        low, high = ranges.low.min(axis=0), ranges.high.max(axis=0)
        size = np.maximum(np.abs(low), np.abs(high))
        centre = low / 2 + high / 2 if objective.basis.intercept else np.zeros_like(low)
        scale = high / 2 - low / 2 if objective.basis.intercept else size
        gone = [fact.column for fact in objective.basis.facts]
        kept = np.setdiff1d(np.flatnonzero(scale > 0), gone)
        return cls(
            objective.scan, loss.n_classes, objective.basis.intercept, ranges, centre, scale, size, kept
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Free scores by scaled columns, the level being the last where there is an intercept."""
        return self.n_classes - 1, len(self.kept) + self.intercept

    @property
    def shift(self) -> Floats | None:
        """What is taken off the rows of a pass; sparse rows stay as they are unless they are far from 0."""
        far = bool((np.abs(self.centre) > FAR_APART * self.scale)[self.kept].any())
        return self.centre if far or not self.scan.sparse else None

    # -- directions -------------------------------------------------------------------------------

    def line(self, coef: Floats, level: Floats) -> LinearScores:
        """Scores (x − centre)·coef + level of the classes but the first."""
        shift = self.shift
        return LinearScores(coef, level - coef @ self.centre if shift is None else level, shift)

    def direction(self, scaled: Floats) -> LinearScores:
        """The line of coefficients on the scaled columns, (R, kept + level)."""
        b = scaled.reshape(self.shape)
        q = len(self.kept)
        coef = np.zeros((len(b), len(self.centre)))
        coef[:, self.kept] = b[:, :q] / self.scale[self.kept]
        return self.line(coef, b[:, q] if self.intercept else np.zeros(len(b)))

    def slack(self, line: LinearScores) -> float:
        """Margins up to this are zero: rounding of the data and of the arithmetic can make them."""
        size = np.abs(line.coef)
        level = np.abs(line.offset)
        rounding = 8 * EPSILON * (size @ self.size + level)
        return float((VAGUE * (size @ self.scale + level) + rounding).max(initial=0.0))

    def strict(self, line: LinearScores) -> float:
        """Margins above this are positive beyond doubt."""
        return 10 * self.slack(line)

    # -- passes over the rows ---------------------------------------------------------------------

    def margins(self, line: LinearScores, X: Matrix, y: AnyArray) -> Floats:
        """The own score less that of every class, (K, m)."""
        scores = class_scores(line, X, self.n_classes)
        return np.asarray(scores[y, np.arange(len(y))] - scores)

    def undecided(self, settled: Sequence[LinearScores], X: Matrix, y: AnyArray) -> Bools:
        """Pairs (other class, row) that none of the directions has told apart, (K, m)."""
        pairs: Bools = np.arange(self.n_classes)[:, None] != y
        for line in settled:
            pairs &= self.margins(line, X, y) <= self.strict(line)
        return pairs

    def total(self, settled: Sequence[LinearScores]) -> Floats:
        """The sum of the undecided pairs' margins, a linear function of a direction, (R, kept + level)."""

        def work(block: RowBlock) -> Floats:
            total = np.zeros((self.n_classes, len(self.centre) + 1))
            for X, y, _ in tiles(block, self.shift):
                pairs = self.undecided(settled, X, y)
                pull = -pairs.astype(np.float64)
                pull[y, np.arange(len(y))] = pairs.sum(axis=0)
                total[:, :-1] += np.asarray((X.T @ pull.T).T)
                total[:, -1] += pull.sum(axis=1)
            return total[1:]

        total = self.scan.fold(work)
        pull, level = total[:, :-1], total[:, -1:]
        if self.shift is None:
            pull = pull - level * self.centre
        pull = pull[:, self.kept] / self.scale[self.kept]
        return np.hstack([pull, level]) if self.intercept else pull

    def smallest_margins(
        self, line: LinearScores, settled: Sequence[LinearScores], room: int, *, by_size: bool = False
    ) -> "SmallestMargins":
        """Extremes of the undecided pairs' margins, and the `room` pairs whose margins are smallest.

        `by_size` keeps those whose margins are largest, whatever their sign.
        """

        def work(block: RowBlock) -> SmallestMargins:
            found = SmallestMargins.nothing(len(self.kept), room)
            for X, y, _ in tiles(block, self.shift):
                other, row = np.nonzero(self.undecided(settled, X, y))
                m = self.margins(line, X, y)[other, row]
                key = -np.abs(m) if by_size else m
                first = _smallest(key, room)
                ends = float(m.min(initial=np.inf)), float(m.max(initial=-np.inf))
                at = row[first]
                found += SmallestMargins(*ends, room, key[first], self._scaled(X[at]), y[at], other[first])
            return found

        return self.scan.fold(work)

    def _scaled(self, X: Matrix) -> Floats:
        """Rows as they came from a pass, on the scaled columns.

        They are rounded to what the data are good for: a linear program whose numbers are equal but for
        rounding has bases that are singular but for rounding.
        """
        rows = _dense(X)[:, self.kept]
        if self.shift is None:
            rows = rows - self.centre[self.kept]
        scale = self.scale[self.kept]
        grid = np.exp2(np.floor(np.log2(8 * EPSILON * self.size[self.kept] / scale)))
        return np.asarray(np.round(rows / scale / grid) * grid)

    def count_separated(self, settled: Sequence[LinearScores]) -> "SeparatedRows":
        """How many rows the directions tell apart from other classes."""

        def work(block: RowBlock) -> SeparatedRows:
            apart, rows = np.zeros((self.n_classes, self.n_classes), dtype=np.int64), 0
            for X, y, _ in tiles(block, self.shift):
                done = ~self.undecided(settled, X, y)
                done[y, np.arange(len(y))] = False
                rows += int(done.any(axis=0).sum())
                for k in np.unique(y):
                    apart[k] += done[:, y == k].sum(axis=1)
            return SeparatedRows(apart, rows)

        return self.scan.fold(work)


@dataclass(frozen=True, eq=False)
class SeparatedRows(FieldSums):
    """How many rows of each class are told apart from each other, (K, K), and how many from any other."""

    apart: Ints
    rows: int


@dataclass(frozen=True, eq=False)
class SmallestMargins:
    """The smallest and the largest margin, and up to `room` pairs: their keys, scaled rows and classes."""

    smallest: float
    largest: float
    room: int
    key: Floats
    rows: Floats
    own: Ints
    other: Ints

    @classmethod
    def nothing(cls, n_columns: int, room: int) -> "SmallestMargins":
        """No pair at all."""
        none = np.zeros(0, dtype=np.int64)
        return cls(np.inf, -np.inf, room, np.zeros(0), np.zeros((0, n_columns)), none, none)

    def __add__(self, other: "SmallestMargins") -> "SmallestMargins":
        key = np.concatenate([self.key, other.key])
        first = _smallest(key, self.room)
        return SmallestMargins(
            min(self.smallest, other.smallest),
            max(self.largest, other.largest),
            self.room,
            key[first],
            np.vstack([self.rows, other.rows])[first],
            np.concatenate([self.own, other.own])[first],
            np.concatenate([self.other, other.other])[first],
        )

    def matrix(self, n_classes: int, intercept: bool) -> Floats:
        """The pairs' margins as linear functions: a row of R·(kept + level) numbers for each pair."""
        rows = np.hstack([self.rows, np.ones((len(self.rows), 1))]) if intercept else self.rows
        out = np.zeros((len(rows), n_classes, rows.shape[1]))
        at = np.arange(len(rows))
        out[at, self.own] += rows
        out[at, self.other] -= rows
        return out[:, 1:].reshape(len(rows), -1)


def _smallest(key: Floats, room: int) -> Ints:
    return np.argpartition(key, room)[:room] if len(key) > room else np.arange(len(key))
