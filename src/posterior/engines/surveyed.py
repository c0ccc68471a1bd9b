"""The columns of a table that is elsewhere, as a schema is inferred from them: a few rows, and all levels."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from posterior._types import AnyArray
from posterior.engines.survey import Levels
from posterior.schema.cells import Cells, Labels, Numbers, Test, outside
from posterior.schema.kinds import Storage
from posterior.schema.sources import FrameSource

# Rows that stand for all of them where the kind of a column of strings is decided.
SHOWN_ROWS = 10_000
Ask = Callable[[str], Levels]


class SurveyedSource(FrameSource):
    """A few rows of a table, whose columns know the levels that all its rows have.

    `known` are the levels of columns of strings; `ask` reads the table for those of a column of numbers, if
    somebody takes them for categories.
    """

    def __init__(self, frame: Any, labels: tuple[str, ...], known: Mapping[str, Levels], ask: Ask) -> None:
        super().__init__(frame, labels)
        self._levels, self._ask = known, ask

    def _cells(self, position: int) -> Cells:
        cells, name = super()._cells(position), self.labels[position]
        if name in self._levels:
            return labels_of(cells, self._levels[name])
        if isinstance(cells, Numbers):
            return NumbersElsewhere(cells.storage, cells.array, cells.missing, name=name, ask=self._ask)
        return cells


def labels_of(cells: Cells, levels: Levels) -> Cells:
    """A column of labels in which every level of the table has a share of the rows like that in the table."""
    if not isinstance(cells, Labels) or not levels.counts:
        return cells
    names = tuple(sorted(levels.counts))
    counts = np.array([levels.counts[name] for name in names], dtype=np.float64)
    total = counts.sum() + levels.n_missing
    shown = np.maximum(1, np.round(counts * min(1.0, SHOWN_ROWS / total))).astype(np.int64)
    missing = int(np.ceil(levels.n_missing * min(1.0, SHOWN_ROWS / total)))
    codes = np.repeat(np.arange(-1, len(names), dtype=np.int32), [missing, *shown.tolist()])
    storage: Storage = "category" if cells.storage == "category" else "string"
    return Labels(storage, codes, names, fixed=False, ordered=False)


@dataclass(frozen=True)
class NumbersElsewhere(Numbers):
    """Some numbers of a column; all its different values are looked up where somebody asks for them."""

    name: str = ""
    ask: Ask | None = field(default=None, compare=False, repr=False)

    def _values(self) -> AnyArray:
        assert self.ask is not None  # noqa: S101 -- for the type checker
        found = self.ask(self.name).counts
        if found is None:
            raise ValueError(
                f"column {self.name!r} has too many different values to be categories; leave its kind to be "
                "numbers, or leave it out"
            )
        values = np.array(sorted(found), dtype=np.float64 if self.storage == "float" else None)
        return values if len(values) else np.zeros(0)

    def labels(self) -> Labels:
        """All values that the table has; the rows are not here."""
        return self.only_levels()

    def only_levels(self) -> Labels:
        """All values that the table has."""
        values = self._values()
        levels = values.astype(self.array.dtype) if len(values) else values
        return self._labels(levels, np.full(1, -1, dtype=np.int32))

    def is_empty(self) -> bool:
        """Whether no cell of the table has a value; it is read where these few rows have none."""
        if not super().is_empty():
            return False
        assert self.ask is not None  # noqa: S101 -- for the type checker
        counts = self.ask(self.name).counts
        return counts is not None and not counts

    def first_outside(self, test: Test) -> tuple[int, Any] | None:
        """The first of all values that is outside; None of their rows is known."""
        if super().first_outside(test) is not None or test == "count":
            return super().first_outside(test)
        values = self._values()
        wrong = outside(values, test)
        return (0, values[wrong.argmax()].item()) if wrong.any() else None
