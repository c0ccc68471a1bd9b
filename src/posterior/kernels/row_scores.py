"""Scores of rows that are linear or quadratic in their cells, and the answers that follow."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Literal

import numpy as np

from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.kernels.choice import FROM_CELLS, compiled
from posterior.kernels.layouts import NumberTable, SeparateColumns, in_precision_of, in_rows
from posterior.kernels.memory import MATRIX_CLASSES

Answer = Literal["scores", "posteriors", "log posteriors", "best"]
KINDS = {"linear": 0, "normal": 1, "quadratic": 2}
# What a cell stands for: itself; 1 or 0, above a threshold or not; itself if it is not negative, or a count.
Meaning = Literal["number", "on or off", "amount", "count"]
MEANINGS: dict[Meaning, int] = {"number": 0, "on or off": 1, "amount": 2, "count": 3}
ANSWERS: dict[Answer, int] = {"scores": 0, "posteriors": 1, "log posteriors": 2, "best": 3}
# Coordinates of a quadratic form that are worked out at a time.
COORDINATES = 4
# Columns that are read at a time.
SQUARE = 8
# Columns of a row that are in a register where one score is worked out.
REGISTER = 4
# Size of the score of a pivot up to which rows are scored without taking it off: 4e-15 of log odds.
NEAR = 16.0
# Columns up to which quadratic forms are worked out in registers; wider ones are products of matrices.
WIDEST_QUADRATIC = 48
# Largest product of √d and the noise, in units of rounding, for which arithmetic is in single precision: log
# posteriors of rows at usual distances are off by 1e-5 at most, and by 1e-6 as a rule.
MOST_NOISE = 256.0
LARGEST_SINGLE = float(np.finfo(np.float32).max)
NO_FACTORS = np.empty(0, np.float32)
# How much may be taken off the sums of a row whose cells are all missing: 1e-12 of a log posterior is lost at
# most. In single precision it would be more than all the rest.
MOST_ABSENT = 4096.0
# How much may be taken off the level of a row whose features are all on, which is rounded for each of them.
MOST_OFF = 512.0
NONE_ABSENT = np.empty((0, 0))
# Columns up to which a tile of 64 rows stays in the second cache of a core, however many classes read it.
MOST_DISCRETE = 256
# Rows that a thread takes at a time, and how often before Python may act on Ctrl-C.
PIECE_ROWS, PIECES_AT_ONCE = 2_048, 64
# Numbers to be worked out for which another thread is begun: it takes as long to begin as a quarter of them.
THREAD_NUMBERS = 1 << 20
# An exponential and what goes with it, a class of two or one of many, in such numbers.
SHARE_NUMBERS = 8


@dataclass(frozen=True, eq=False)
class RowScores:
    """Scores of rows about a centre, pivot + remainder (d,), as compiled code reads them.

    `factors` are those of classes in pairs, or of a class after the other where the scores are quadratic;
    `level` (K,) is added to linear scores, and half of the sums of squares is taken off it. `noise` says how
    far rounding of the cells is carried, in standard deviations: infinite where only doubles will do. Where
    columns are independent, `absent` (d, K) is added to the sums for a cell that is missing, which is read
    as 0; so is a cell that its `meaning` does not allow. Cells that are "on or off" are on above the
    `threshold`.
    """

    kind: Literal["linear", "normal", "quadratic"]
    pivot: Floats
    remainder: Floats
    factors: Floats
    level: Floats
    noise: float = np.inf
    absent: Floats | None = None
    meaning: Meaning = "number"
    threshold: float = 0.0
    # What a row takes while it is scored beside its own cells: nothing that counts.
    cells: ClassVar[int] = 0

    @cached_property
    def _centre(self) -> Floats:
        """Pivot and remainder, with zeros to as many columns as are read at a time."""
        d = len(self.pivot)
        centre = np.zeros((2, max(d, SQUARE)))
        centre[:, :d] = self.pivot, self.remainder
        return centre

    @cached_property
    def _single_factors(self) -> AnyArray:
        noisy = np.sqrt(len(self.pivot)) * self.noise > MOST_NOISE
        if noisy or np.abs(self.factors).max() > LARGEST_SINGLE:  # as of columns that hardly vary at all
            return NO_FACTORS
        return self.factors.astype(np.float32)

    @cached_property
    def _one_line(self) -> "OneLine | None":
        """The only linear score, or the second of two less the first; None where there are more."""
        if self.kind != "linear" or self.meaning != "number" or len(self.level) > 2:
            return None
        first, second = self.factors[2:].reshape(-1, 2).T
        return OneLine.about(self.pivot, self.remainder, first if len(self.level) == 1 else second - first)

    def may_answer(self, n_rows: int) -> bool:
        """Whether `answer` has any use for so many rows, which need not be read before."""
        return self._one_line is not None or self._kernel(n_rows) is not None

    def _kernel(self, n_rows: int) -> Any:
        """Compiled code, or None where rows are so few that it is not worth its wait."""
        return compiled("row_scores", n_rows * len(self.pivot), n_rows)

    def answer(self, table: NumberTable, log_prior: Floats, out: AnyArray, answer: Answer) -> Bools | None:
        """Write what is asked for of every row; which rows are odd and have no answer yet.

        None where nothing was written: compiled code is not worth its wait, and scores are more than one.
        """
        if self._kernel(len(table)) is None:
            return self._answer_by_one_line(table, self.level + log_prior, out, answer)
        parts = self._parts_within_reach(table, log_prior, out, answer)
        if parts is None:
            return self._answer_by_one_line(table, self.level + log_prior, out, answer)
        parts.run()
        return parts.odd_of(0)

    def answer_with_gaps(
        self, table: NumberTable, log_prior: Floats, out: AnyArray, answer: Answer
    ) -> Bools | None:
        """What `answer` does in double precision, which leaves out missing cells; None if it is the same."""
        if not self._leaves_out_gaps or out.dtype != np.float32 or not len(self._single_factors):
            return None
        parts = self._parts_within_reach(table, log_prior, out, answer, in_double=True)
        if parts is None:
            return None
        parts.run()
        return parts.odd_of(0)

    def _parts_within_reach(
        self, table: NumberTable, log_prior: Floats, out: AnyArray, answer: Answer, *, in_double: bool = False
    ) -> "AnswersOfParts | None":
        """What writes the answers of all rows, which are copied where compiled code does not reach them."""
        threshold = in_precision_of(table, self.threshold)  # of the copy it may be another
        scores = self if threshold == self.threshold else replace(self, threshold=threshold)
        reached = _within_reach(table)
        return scores.answers_of_parts(reached, log_prior, out, answer, len(table), in_double=in_double)

    @cached_property
    def _leaves_out_gaps(self) -> bool:
        """Whether rows with missing cells are answered, if arithmetic is in double precision."""
        return self.absent is not None and bool(np.abs(self.absent).max(axis=1).sum() <= MOST_ABSENT)

    def _answer_by_one_line(
        self, table: NumberTable, level: Floats, out: AnyArray, answer: Answer
    ) -> Bools | None:
        """What `answer` does of few rows, by NumPy; None where there is more than one score."""
        line = self._one_line
        if line is None or (answer == "scores") != (len(level) == 1) or not np.isfinite(level).all():
            return None
        if isinstance(table, SeparateColumns) or table.dtype != np.float64:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            score = line.scores(table) + (level[-1] - (level[0] if len(level) == 2 else 0.0))
            all_finite = np.isfinite(score.sum())  # which nothing else survives
            write_one_score(score, out, answer)
        odd = NONE_ODD if all_finite else ~np.isfinite(score)
        return odd if odd.any() else NONE_ODD

    def answers_of_parts(
        self,
        table: NumberTable,
        log_prior: Floats,
        out: AnyArray,
        answer: Answer,
        size: int,
        *,
        in_double: bool = False,
    ) -> "AnswersOfParts | None":
        """What `answer` writes of every `size` rows, by several threads; None too where this takes a copy.

        Arithmetic may be wanted `in_double` precision whatever the answers are in.
        """
        kernel = self._kernel(size)
        level = self.level + log_prior
        if kernel is None or _within_reach(table) is not table or not np.isfinite(level).all():
            return None  # not finite: a class that no row can be of
        factors = self.factors
        if out.dtype == np.float32 and len(self._single_factors) and not in_double:
            factors = self._single_factors
        # Written to by compiled code where a row is odd; memory of zeros that nobody touches costs nothing.
        odd = np.zeros(len(table), dtype=np.bool_)
        source, line = (*_source(table), len(table)), self._one_line
        if line is not None and (answer == "scores") == (len(level) == 1):
            fast = compiled("two_classes", size * table.shape[1], size).answer_two_classes(out)
            apart = float(level[-1] - (level[0] if len(level) == 2 else 0.0)) - line.shift
            arguments: tuple[Any, ...] = (*source, line.pivot, line.factors, apart, ANSWERS[answer], out, odd)
            work = table.shape[1] + SHARE_NUMBERS * (2 if out.ndim == 2 and out.shape[1] == 2 else 1)
            return AnswersOfParts(fast, arguments, table, odd, size, work)
        limit = 2.0 * len(self.pivot) + 16.0
        gaps = self.absent if factors is self.factors and self._leaves_out_gaps else None
        arguments = (
            KINDS[self.kind],
            MEANINGS[self.meaning],
            in_precision_of(table, self.threshold),
            *source,
            *self._centre,
            factors,
            level,
            NONE_ABSENT if gaps is None else gaps,
            limit,
            ANSWERS[answer],
            out,
            odd,
        )
        work = factors.size + SHARE_NUMBERS * len(level)
        return AnswersOfParts(kernel.answer_rows(factors, out), arguments, table, odd, size, work)


@dataclass(frozen=True, eq=False)
class OneLine:
    """The score Σ (x − pivot)·factor − shift, as compiled code reads it: with the last four columns again."""

    pivot: Floats
    factors: Floats
    shift: float

    @classmethod
    def about(cls, pivot: Floats, remainder: Floats, factors: Floats) -> "OneLine":
        """The line about pivot + remainder; the factors of columns that come again are 0.

        The remainder is less than the last digit of the pivot: what it adds is worked out once, and nothing
        is lost by taking it off the sum instead of every cell.
        """
        d = len(factors)
        # The last four of the columns, or all of fewer and then zeros.
        again = np.arange(max(d - REGISTER, 0), max(d, REGISTER))
        last_pivot, last = (np.pad(a, (0, max(REGISTER - d, 0)))[-REGISTER:] for a in (pivot, factors))
        last = np.where(again < d // REGISTER * REGISTER, 0.0, last)
        return cls(
            np.concatenate([pivot, last_pivot]), np.concatenate([factors, last]), float(remainder @ factors)
        )

    def scores(self, rows: Floats) -> Floats:
        """The scores of rows, by NumPy."""
        factors, pivot, at_zero = self._plain
        return np.asarray((rows if pivot is None else rows - pivot) @ factors - at_zero)

    @cached_property
    def _plain(self) -> tuple[Floats, Floats | None, float]:
        """Factors, pivot and shift; no pivot where it is so near to 0 that no digit is lost without it."""
        d = len(self.factors) - REGISTER
        pivot, factors = self.pivot[:d], self.factors[:d]
        if np.abs(pivot * factors).sum() > NEAR:
            return factors, pivot, self.shift
        return factors, None, self.shift + float(pivot @ factors)


def write_one_score(score: Floats, out: AnyArray, answer: Answer) -> None:
    """Write what a score says of two classes, the second of which it stands for; or the score itself."""
    if answer == "scores":
        out[:, 0] = score
    elif answer == "best":
        np.greater(score, 0.0, out=out, casting="unsafe")
    elif answer == "posteriors":
        small = np.exp(-np.abs(score))
        large = 1.0 / (1.0 + small)
        small *= large
        out[:, 1] = np.where(score > 0.0, large, small)
        out[:, 0] = np.where(score > 0.0, small, large)
    else:
        apart = np.abs(score)
        likelier = -np.log1p(np.exp(-apart))
        out[:, 1] = np.where(score > 0.0, likelier, likelier - apart)
        out[:, 0] = np.where(score > 0.0, likelier - apart, likelier)


class AnswersOfParts:
    """Answers to every `size` rows, which several threads write: each of them runs once.

    `work` says how many numbers are worked out for a row: threads are begun where there is enough to do.
    """

    def __init__(
        self, kernel: Any, arguments: tuple[Any, ...], table: NumberTable, odd: Bools, size: int, work: int
    ) -> None:
        self._kernel, self._arguments = kernel, arguments
        self._table = table  # which must live as long as its addresses are read from
        self._odd, self._size, self._work = odd, size, work
        # Threads take less than a part at a time, so that they end at about the same time.
        self._counts = np.zeros(-(-len(odd) // PIECE_ROWS), np.int64)
        self._counter = np.zeros(1, np.int64)

    def run(self, workers: int = 1) -> None:
        """Answer all rows by up to so many threads."""
        workers = min(workers, max(1, self._work * len(self._odd) // THREAD_NUMBERS))
        arguments = *self._arguments, self._counter, PIECES_AT_ONCE, PIECE_ROWS, self._counts
        share_out = compiled("team", FROM_CELLS).share_out
        share_out(self._kernel, self._counter, len(self._counts), lambda: arguments, workers)

    def odd_parts(self) -> list[int]:
        """The parts in which a row is odd."""
        first = np.flatnonzero(self._counts) * PIECE_ROWS
        last = np.minimum(first + PIECE_ROWS, len(self._odd)) - 1
        ends = zip((first // self._size).tolist(), (last // self._size).tolist(), strict=True)
        parts = sorted({part for begin, end in ends for part in range(begin, end + 1)})
        return [part for part in parts if self.odd_of(part).any()]

    def odd_of(self, part: int) -> Bools:
        """Which rows of a part are odd; empty where none is."""
        first, last = part * self._size, min((part + 1) * self._size, len(self._odd))
        if not self._counts[first // PIECE_ROWS : -(-last // PIECE_ROWS)].any():
            return NONE_ODD
        return self._odd[first:last]


NONE_ODD = np.empty(0, dtype=np.bool_)


def row_linear_scores(
    coef: Floats, level: Floats, pivot: Floats, remainder: Floats, absent: Floats | None = None
) -> RowScores:
    """Scores (x − c)·coef + level, of coefficients (d, K); `absent` is added for a cell that is missing."""
    return RowScores("linear", pivot, remainder, _in_pairs(coef[:, :, None]), level, absent=absent)


def discrete_scores(
    coef: Floats,
    level: Floats,
    meaning: Meaning,
    threshold: float = 0.0,
    absent: Floats | None = None,
) -> RowScores | None:
    """Scores Σ x·coef + level, of coefficients (K, d) and what cells mean; None where products are faster.

    None, too, where a coefficient is infinite, or where digits are lost because features that are on take
    back much of the level. `absent` (K, d) is added for a cell that is missing.
    """
    (n_classes, d), finite = coef.shape, np.isfinite(coef).all() and np.isfinite(level).all()
    if not finite or n_classes > MATRIX_CLASSES or d > MOST_DISCRETE:
        return None
    if meaning == "on or off" and absent is not None and np.abs(absent).max(axis=0).sum() > MOST_OFF:
        return None
    missing = None if absent is None else np.ascontiguousarray(absent.T)
    scores = row_linear_scores(coef.T, level, np.zeros(d), np.zeros(d), missing)
    return replace(scores, meaning=meaning, threshold=threshold)


def normal_scores(
    scale: Floats, shift: Floats, levels: Floats, pivot: Floats, remainder: Floats
) -> RowScores:
    """Scores Σ levels − ½ (x·scale − shift)² over cells that are there; levels, scales, shifts are (K, d)."""
    noise = float(np.sqrt(((1.0 + np.abs(shift)) ** 2).sum(axis=1).max()))
    factors = _in_pairs(np.stack([scale.T, -shift.T], axis=2))
    absent = np.ascontiguousarray((2.0 * levels - shift**2).T)
    return RowScores("normal", pivot, remainder, factors, levels.sum(axis=1), noise, absent)


def quadratic_scores(
    whiteners: Iterable[Floats], means: Floats, sd: Floats, level: Floats, pivot: Floats, remainder: Floats
) -> RowScores:
    """Scores level − ½ |(x − c)W_k − m_k|², W_k upper triangular; `sd` (K, d) are standard deviations."""
    parts, noise = [], 0.0
    d = means.shape[1]
    for white, mean, spread in zip(whiteners, means, sd, strict=True):
        factor = np.concatenate([-mean[None], white])  # (d + 1, d)
        for first in range(0, d, COORDINATES):
            last = min(first + COORDINATES, d)
            four = np.zeros((last + 1, COORDINATES))
            four[:, : last - first] = factor[: last + 1, first:last]
            parts.append(four.ravel())
        carried = spread @ np.abs(white) + np.abs(mean)
        noise = max(noise, float(np.sqrt((carried**2).sum())))
    return RowScores("quadratic", pivot, remainder, np.concatenate(parts), level, noise)


def _in_pairs(factors: Floats) -> Floats:
    """Factors (d, K, m) of two classes at a time, after a zero for each at which their sums begin."""
    d, n_classes, m = factors.shape
    padded = np.zeros((d, n_classes + n_classes % 2, m))
    padded[:, :n_classes] = factors
    n_pairs = padded.shape[1] // 2
    pairs = padded.reshape(d, n_pairs, 2 * m).transpose(1, 0, 2).reshape(n_pairs, d * 2 * m)
    return np.concatenate([np.zeros((len(pairs), 2)), pairs], axis=1).ravel()


def _within_reach(table: NumberTable) -> NumberTable:
    """The table where compiled code reads it as it lies, by rows or by columns, else a copy."""
    if isinstance(table, SeparateColumns):
        return table
    one_way = _lies_by_rows(table) or table.strides[0] == table.itemsize
    return table if one_way and table.dtype in (np.float64, np.float32) else in_rows(table, "rows")


def _lies_by_rows(array: AnyArray) -> bool:
    return bool(array.strides[1] == array.itemsize and array.strides[0] >= 0)


def _source(table: NumberTable) -> tuple[Ints, int, int, bool, bool]:
    """Where columns begin after a first address, bytes from row to row, if by rows, if single."""
    if isinstance(table, SeparateColumns):
        size = table.dtype.itemsize
        return table.addresses, size * table.start, size, False, table.dtype == np.float32
    first = table.__array_interface__["data"][0]
    down, across = table.strides
    return _places(table.shape[1], across), first, down, _lies_by_rows(table), table.dtype == np.float32


@lru_cache(maxsize=64)  # the step of columns is that of the number of rows, of which a service sees many
def _places(n_columns: int, step: int) -> Ints:
    return step * np.arange(n_columns, dtype=np.int64)
