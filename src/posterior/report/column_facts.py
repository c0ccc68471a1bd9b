"""What a column holds: how many values, the smallest, middle and largest number, frequent categories."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.schema import LabelledTable

FREQUENT = 3  # categories that are named


@dataclass(frozen=True)
class ColumnFacts:
    """Figures of one column: of numbers `low`, `median` and `high`, of all else `frequent` values."""

    distinct: int
    low: float | None = None
    median: float | None = None
    high: float | None = None
    frequent: tuple[tuple[Any, int], ...] = ()

    @classmethod
    def of(cls, rows: LabelledTable, j: int) -> "ColumnFacts":
        """Those of a column of any kind.

        >>> table = LabelledTable.of([[1.0, "a"], [5.0, "b"], [None, "b"], [3.0, None]], np.arange(4) % 2)
        >>> ColumnFacts.of(table, 0)
        ColumnFacts(distinct=3, low=1.0, median=3.0, high=5.0, frequent=())
        >>> ColumnFacts.of(table, 1)
        ColumnFacts(distinct=2, low=None, median=None, high=None, frequent=(('b', 2), ('a', 1)))
        """
        column = rows.schema.columns[j]
        if column.kind == "text":
            texts = Counter(text for text in rows.texts(j) if text is not None)
            return cls(
                len(texts), frequent=tuple(pair for pair in texts.most_common(FREQUENT) if pair[1] > 1)
            )
        if column.levels is not None:
            codes = np.asarray(rows.levels(j))
            counts = np.bincount(codes[codes >= 0], minlength=len(column.levels))
            order = np.argsort(-counts, kind="stable")[:FREQUENT].tolist()
            named = tuple((column.levels[k], int(counts[k])) for k in order if counts[k])
            return cls(int(np.count_nonzero(counts)), frequent=named)
        values = rows.values((j,))[:, 0]
        values = values[~np.isnan(values)]
        if not len(values):
            return cls(0)
        return cls(len(np.unique(values)), float(values.min()), float(np.median(values)), float(values.max()))
