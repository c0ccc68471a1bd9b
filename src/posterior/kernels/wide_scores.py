"""Linear scores of many classes and columns: a product of matrices, and the answers that follow."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior._types import AnyArray, Bools, Floats
from posterior.kernels.choice import compiled
from posterior.kernels.layouts import NumberTable, in_rows
from posterior.kernels.memory import in_double, scratch
from posterior.kernels.normalizing import NO_PLACES
from posterior.kernels.row_scores import ANSWERS, NONE_ODD, Answer, AnswersOfParts

# Multiply–adds that count as much as a cell where rows are cut into chunks, and few rows told from many.
# Chunks of 128 rows × 1,000 columns × 1,000 classes are as fast as larger ones. And there are several for a
# thread: where BLAS's own threads, after somebody else's product, still keep a core busy, which they do for
# a tenth of a second, the thread on the other core takes more of them.
PRODUCTS = 256


@dataclass(frozen=True, eq=False)
class WideScores:
    """Scores (x − pivot − remainder)·coef + level, of coefficients (d, K); without a pivot those of x.

    They are written where the answers will be, by one product for each chunk of rows, and turned into
    answers there: no other pass goes over them, and no other memory is touched.
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
        level = self.level + log_prior
        if kernel is None or not np.isfinite(level).all():
            return None
        odd, what = np.empty(len(table), np.bool_), ANSWERS[answer]
        with np.errstate(over="ignore", invalid="ignore"):
            rows = self._about_the_pivot(in_rows(table, "rows"))
            if answer == "best":
                scores = scratch("scores", len(rows), len(level))
                np.matmul(rows, self.coef, out=scores)
                count = kernel.finish_rows(scores, level, log_prior, what, out, odd)
            else:
                with in_double(out) as scores:
                    np.matmul(rows, self.coef, out=scores)
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

    def _about_the_pivot(self, rows: Floats) -> Floats:
        if self.pivot is None or self.remainder is None:
            return rows
        centred = np.subtract(rows, self.pivot, out=scratch("centred", *rows.shape))
        return np.subtract(centred, self.remainder, out=centred)
