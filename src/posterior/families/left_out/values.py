"""Rows left out of a table of distinct values: what is left depends on class, value and weight only."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from posterior._types import Floats, Ints
from posterior.families.base import LeftOut, NoClosedFormError
from posterior.families.left_out.parts import loses_digits
from posterior.stats import ValueTable

# Products of distinct rows and distinct values that are worked on at a time.
CELLS = 1_000_000
# Of more distinct values every row would cost as much as a fit.
MOST_DISTINCT = 2000


@dataclass(frozen=True, eq=False)
class ValuesWithout:
    """Distinct values (V,) with weights (K, V), of which each of m rows is left out in turn.

    The rows are of the classes `own` (m,), have the values at `place` and weigh `gone`.
    """

    x: Floats
    table: Floats
    own: Ints
    place: Ints
    gone: Floats

    @property
    def left(self) -> Floats:
        """The values that were left out, (m,)."""
        return self.x[self.place]

    def of_class(self, k: int) -> Floats:
        """The weights of class `k` without each row, (m, V)."""
        return self._less(self.table[k], np.where(self.own == k, self.gone, 0.0))

    @cached_property
    def everyone(self) -> Floats:
        """The weights of all classes together without each row, (m, V)."""
        return self._less(self.table.sum(axis=0), self.gone)

    def _less(self, weight: Floats, gone: Floats) -> Floats:
        """Weights without each row, 0 where only rounding is left."""
        left = np.tile(weight, (len(self.place), 1))
        before = weight[self.place]
        after = before - gone
        left[np.arange(len(self.place)), self.place] = np.where(after > 1e-12 * before, after, 0.0)
        return left


def without_each(
    statistics: ValueTable, terms: Callable[[ValuesWithout], Floats]
) -> Callable[[Floats, Ints, Floats | None], LeftOut]:
    """A function that scores each row by `terms` (m, K) of the weights that are left without it."""
    if max(map(len, statistics.values), default=0) > MOST_DISTINCT:
        raise NoClosedFormError(f"a column has more than {MOST_DISTINCT} distinct values")
    if statistics.step.any():
        raise NoClosedFormError("a column is kept on a grid, which may be another one without the row")

    def left_out(block: Floats, y: Ints, weight: Floats | None) -> LeftOut:
        out = np.zeros((len(y), statistics.n_classes))
        delicate = np.zeros(len(y), dtype=np.bool_)
        gone = np.ones(len(y)) if weight is None else weight
        for j, (x, table) in enumerate(zip(statistics.values, statistics.tables, strict=True)):
            there = np.flatnonzero(~np.isnan(block[:, j]))
            rows = np.stack([y[there], statistics.place(j, block[there, j]), gone[there]], axis=1)
            distinct, which = np.unique(rows, axis=0, return_inverse=True)
            own, place = distinct[:, 0].astype(np.int64), distinct[:, 1].astype(np.int64)
            before = table[own, place]
            lost = loses_digits(before - distinct[:, 2], before)
            # Nothing is left of the column: the model is another one.
            lost |= table.sum() - distinct[:, 2] <= 1e-12 * table.sum()
            size = max(1, CELLS // len(x))
            found = [
                terms(ValuesWithout(x, table, own[part], place[part], distinct[part, 2]))
                for start in range(0, len(distinct), size)
                for part in (slice(start, start + size),)
            ]
            out[there] += np.concatenate([np.zeros((0, len(table))), *found])[which.reshape(-1)]
            delicate[there] |= lost[which.reshape(-1)]
        return LeftOut(out, delicate)

    return left_out
