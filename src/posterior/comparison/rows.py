"""A table with the class of each row, read once, from which experiments take rows and change cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.linear import LinearEstimator
from posterior.estimators.target import encode_labels, read_labels, refuse_one_class
from posterior.schema import Encoded, Kind, Schema, Source, read_table
from posterior.schema.columns import Alike

WORDS_OF_A_TEXT = 3


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """The rows of a table, their labels, and what the columns are.

    `codes` number the sorted `classes`. `kinds` are what must be declared so that a part of the table is read
    as the whole is: few rows of short strings would look like texts.

    >>> rows = LabelledRows.of([[1.0, "a"], [2.0, "b"], [4.0, "a"]], ["yes", "no", "yes"])
    >>> rows.codes, rows.where("continuous"), rows.take([2])
    (array([1, 0, 1]), (0,), (array([[4.0, 'a']], dtype=object), array(['yes'], dtype='<U3')))
    """

    source: Source
    labels: AnyArray
    classes: AnyArray
    codes: Ints
    schema: Schema
    kinds: tuple[tuple[int, Kind], ...] = ()

    @classmethod
    def of(cls, X: Any, y: Any, kinds: Any = None, who: str = "this experiment") -> Self:
        """Read a table and its class column; two classes at least."""
        source = read_table(X)
        labels = read_labels(y, source.n_rows, who)
        classes, codes = encode_labels(labels)
        refuse_one_class(classes)
        schema = Schema.of(source, kinds)
        return cls(source, labels, classes, codes, schema, tuple(_to_declare(schema)))

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def is_sparse(self) -> bool:
        """Whether the table is a sparse matrix, whose cells are left as they are."""
        return self.schema.container == "sparse"

    @property
    def X(self) -> Any:  # noqa: N802 -- as everywhere
        """The table as the user holds it."""
        return self.source.native

    def table_for(self, estimator: Any) -> Source | Any:
        """The table as an estimator takes it: as it was read, which only ours do, or as the user holds it."""
        return self.source if takes_sources(estimator) else self.X

    def take(self, rows: Any) -> tuple[Any, AnyArray]:
        """Some rows as a table of the same kind, and their labels."""
        part = self.part(rows)
        return part.X, part.labels

    def part(self, rows: Any) -> Self:
        """Some rows, which may lack some of the classes, read as the whole table is."""
        chosen = np.arange(len(self))[rows]
        return replace(
            self, source=self.source.take(chosen), labels=self.labels[chosen], codes=self.codes[chosen]
        )

    def fitted(self, estimator: Any) -> Any:
        """The estimator, after it has learnt these rows."""
        return estimator.fit(self.table_for(estimator), self.labels)

    def where(self, *kinds: Kind) -> tuple[int, ...]:
        """The positions of the columns of these kinds that have a value."""
        columns = enumerate(self.schema.columns)
        return tuple(j for j, column in columns if column.kind in kinds and not column.empty)

    def values(self, columns: Sequence[int]) -> Floats:
        """Columns of numbers, (n, d), NaN where there is no value."""
        return np.array(self._encoded.values(slice(0, len(self)), tuple(columns)))

    def with_codes(self, codes: Ints) -> Self:
        """The same rows in other classes."""
        return replace(self, codes=codes, labels=self.classes[codes])

    def with_values(self, values: Mapping[int, AnyArray]) -> Self:
        """The same rows with other numbers in some columns."""
        arrays = [values.get(j, self._array(j)) for j in range(len(self.schema))]
        return replace(self, source=read_table(self.schema.decode(arrays)))

    @cached_property
    def _encoded(self) -> Encoded:
        return self.schema.encode(self.schema.align(self.source))

    def _array(self, j: int) -> AnyArray:
        column, every = self.schema.columns[j], slice(0, len(self))
        if column.kind == "text":
            return self._encoded.texts(every, j)
        if column.kind in ("binary", "categorical"):
            return self._encoded.codes(every, (j,)).array[:, 0]
        return self._encoded.values(every, (j,))[:, 0]


def takes_sources(estimator: Any) -> bool:
    """Whether an estimator takes a table that was read already, as those of this package do.

    A class that was derived from one elsewhere may do more with a table, and gets the user's own.
    """
    ours = isinstance(estimator, GenerativeEstimator | LinearEstimator)
    return ours and type(estimator).__module__.startswith("posterior.")


def _to_declare(schema: Schema) -> list[tuple[int, Kind]]:
    """Kinds that were declared, and those of strings that could be read otherwise in a part of the table."""
    if isinstance(schema.columns, Alike) and not schema.columns.example.declared:
        return []
    return [
        (j, column.kind)
        for j, column in enumerate(schema.columns)
        if column.declared
        or column.kind == "text"
        or any(len(str(level).split()) >= WORDS_OF_A_TEXT for level in column.categories or ())
    ]
