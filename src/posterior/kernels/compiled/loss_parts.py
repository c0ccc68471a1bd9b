"""Sums of a loss over parts of the rows, which several threads share out among themselves."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from posterior._types import AnyArray, Floats
from posterior.kernels.compiled.merging import add_lines
from posterior.kernels.compiled.row_tiles import parts, places_of
from posterior.kernels.compiled.team import share_out
from posterior.kernels.memory import codes_of, weights_of

# Rows that a call takes at most, if they are of several parts: between two calls Python may act on Ctrl-C.
MOST_ROWS = 1 << 16


class LossParts(ABC):
    """Sums of a loss of scores coef (x − shift) + offset over every `size` rows of a table, 0 for all."""

    # The kernel that adds up, and what is added up, each with an axis for the parts in front.
    _kernel: Any
    _sums: tuple[Floats, ...]

    def __init__(
        self,
        table: Any,
        target: AnyArray,
        weight: Floats | None,
        shift: Floats | None,
        coef: Floats,
        offset: Floats,
        n_classes: int = 2,
        size: int = 0,
    ) -> None:
        self.coef, self.offset, self.n_classes = coef, offset, n_classes
        self._table, self._y, self._w = table, codes_of(target), weights_of(weight)
        self._base = np.zeros(table.shape[1]) if shift is None else shift
        self._size = size or max(len(target), 1)
        self.n = max(1, -(-len(target) // self._size))
        self._places, self._counter = places_of(table), np.zeros(1, np.int64)

    @property
    def in_place(self) -> bool:
        """Whether compiled code reads the table where it lies."""
        return self._places is not None

    def run(self, workers: int) -> None:
        """Sum up all parts by so many threads."""
        if self._places is None:
            raise ValueError("these rows are summed up in copies, by `of_all`")
        self._run(self._places, self._y, self._w, workers)

    def _run(self, places: tuple[Any, ...], y: AnyArray, w: Floats, workers: int) -> None:
        rows, shared = (*places, y, w, self._base), (self._counter, MOST_ROWS // self._size or 1, self._size)
        share_out(self._kernel, self._counter, self.n, lambda: self._arguments(rows, shared), workers)

    @abstractmethod
    def _arguments(self, rows: tuple[Any, ...], shared: tuple[Any, ...]) -> tuple[Any, ...]:
        """Those of a call of the kernel, with memory of this thread."""

    def total(self) -> tuple[float, Floats, Floats, Floats | None]:
        """The sums of all parts, added up in the order of `added`."""
        add_lines(*self._sums)
        self._sums = tuple(each[:1] for each in self._sums)
        self.n = 1
        value, pull, level, paired = self.whole()
        return float(value[0]), pull[0], level[0], None if paired is None else np.ascontiguousarray(paired[0])

    @abstractmethod
    def whole(self) -> tuple[Floats, Floats, Floats, Floats | None]:
        """Losses, derivatives by coefficients and by offsets, and second ones, of every part."""

    def of_all(self) -> tuple[float, Floats, Floats, Floats | None]:
        """The sums of all rows, where these are one part."""
        for some, places, _ in parts(self._table):
            self._counter[0] = 0
            self._run(places, self._y[some], self._w[some], 1)
        return self.total()
