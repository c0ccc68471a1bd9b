"""The column to learn of a table that is elsewhere: classes as codes, or numbers."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from posterior._text import listed
from posterior._types import AnyArray, Floats
from posterior.engines.survey import plain


@dataclass(frozen=True, eq=False)
class Target:
    """A column to learn: its classes, sorted, or None where it holds numbers; weights of classes, if any."""

    name: str
    classes: AnyArray | None = None
    class_weight: Floats | None = None

    def read(self, column: Any) -> AnyArray:
        """The codes of classes, or the numbers, of the rows of a batch."""
        if self.classes is None:
            return read_numbers(column, self.name)
        column = plain(column)
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        known = pa.array(self.classes.tolist(), type=column.type)
        codes = pc.index_in(column, value_set=known)
        if codes.null_count:
            new = pc.unique(column.filter(pc.is_null(codes))).to_pylist()
            raise ValueError(
                f"column {self.name!r} holds {listed(new, 3)}, which is none of the classes found before: "
                "the rows have changed since; scan them again"
            )
        return np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.int64)


def read_numbers(column: Any, name: str) -> AnyArray:
    """Numbers to predict, finite."""
    numbers = np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    bad = ~np.isfinite(numbers)
    if bad.any():
        raise ValueError(f"column {name!r}, which is to be predicted, holds {numbers[bad.argmax()]}")
    return numbers


def sorted_classes(found: Iterable[Any], name: str) -> AnyArray:
    """The classes of a column as an array, sorted; labels of several types are refused."""
    labels = list(found)
    kinds = {type(label) for label in labels}
    if len(kinds) > 1:
        raise ValueError(f"column {name!r} mixes {listed(sorted(kind.__name__ for kind in kinds))}")
    return np.unique(np.array(labels))
