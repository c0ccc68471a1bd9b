"""Linear scores of many classes and columns: a product of matrices, and the answers that follow."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from posterior._types import AnyArray, Bools, Floats
from posterior.kernels.choice import compiled
from posterior.kernels.layouts import NumberTable, in_rows
from posterior.kernels.memory import in_double, scratch
from posterior.kernels.normalizing import NO_PLACES
from posterior.kernels.row_scores import (
    ANSWERS,
    NONE_ODD,
    Answer,
    AnswersOfParts,
    RowScores,
    row_linear_scores,
)

# Multiply–adds that count as much as a cell where rows are cut into chunks, and few rows told from many.
# Chunks of 128 rows × 1,000 columns × 1,000 classes are as fast as larger ones. And there are several for a
# thread: where BLAS's own threads, after somebody else's product, still keep a core busy, which they do for
# a tenth of a second, the thread on the other core takes more of them.
PRODUCTS = 256
# Classes whose coefficients lie side by side.
PANEL = 8
# Coefficients (columns × classes) up to which scores are sums in registers, row by row.
MOST_COEFFICIENTS = 1 << 15


@dataclass(frozen=True, eq=False)
class WideScores:
    """Scores (x − pivot − remainder)·coef + level, of coefficients (d, K); without a pivot those of x.

    They are written where the answers will be, a chunk of rows at a time, and turned into answers there.
    """

    coef: Floats
    level: Floats
    pivot: Floats | None = None
    remainder: Floats | None = None

    @property
    def cells(self) -> int:
        """As many cells as the scores of a row count for."""
        d, n_classes = self.coef.shape
        return int(max(d, n_classes, d * n_classes // PRODUCTS))

    def may_answer(self, n_rows: int) -> bool:
        """Whether rows are so many that compiled code is worth its wait."""
        return self._kernel(n_rows) is not None

    def _kernel(self, n_rows: int) -> Any:
        return compiled("wide_rows", self.cells * n_rows)

    def answer(self, table: NumberTable, log_prior: Floats, out: AnyArray, answer: Answer) -> Bools | None:
        """Write what is asked for of every row; which rows are odd and have no answer yet.

        None where nothing was written: rows are few, or a class has no finite level.
        """
        kernel = self._kernel(len(table))
        product = compiled("wide_products", self.cells * len(table))
        level = self.level + log_prior
        if kernel is None or not np.isfinite(level).all():
            return None
        odd, what = np.empty(len(table), np.bool_), ANSWERS[answer]
        rows = in_rows(table, "rows"), *self._centre, self._panels
        if answer == "best":
            scores = scratch("scores", len(table), len(level))
            product.wide_scores(*rows, scores)
            count = kernel.finish_rows(scores, level, log_prior, what, out, odd)
        else:
            with in_double(out) as scores:
                product.wide_scores(*rows, scores)
                count = kernel.finish_rows(scores, level, log_prior, what, NO_PLACES, odd)
        return odd if count else NONE_ODD

    def answer_with_gaps(
        self, table: NumberTable, log_prior: Floats, out: AnyArray, answer: Answer
    ) -> Bools | None:
        """None: products of matrices leave out no cell."""
        return None

    def answers_of_parts(
        self, table: NumberTable, log_prior: Floats, out: AnyArray, answer: Answer, size: int
    ) -> AnswersOfParts | None:
        """None: threads take a chunk each, with a product of its own."""
        return None

    @cached_property
    def _centre(self) -> tuple[Floats, Floats]:
        nothing = np.zeros(len(self.coef))
        return (
            nothing if self.pivot is None else self.pivot,
            nothing if self.remainder is None else self.remainder,
        )

    @cached_property
    def _panels(self) -> Floats:
        """The coefficients of eight classes side by side, with zeros for classes that there are not."""
        d, n_classes = self.coef.shape
        out = np.zeros((-(-n_classes // PANEL), d, PANEL))
        for p, panel in enumerate(out):
            some = self.coef[:, PANEL * p : PANEL * (p + 1)]
            panel[:, : some.shape[1]] = some
        return out


def linear_scores(coef: Floats, level: Floats, pivot: Floats, remainder: Floats) -> RowScores | WideScores:
    """Scores (x − pivot − remainder)·coef + level, of coefficients (d, K), in the way that is fastest."""
    if coef.size > MOST_COEFFICIENTS:
        return WideScores(np.ascontiguousarray(coef), level, pivot, remainder)
    return row_linear_scores(coef, level, pivot, remainder)
