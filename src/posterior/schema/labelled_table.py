"""A table with the class of each row: the form in which rows to learn from are handed on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.schema.classes import encode_labels, known_codes
from posterior.schema.columns import Alike
from posterior.schema.encode import Encoded
from posterior.schema.kinds import Kind
from posterior.schema.opening import READ, read_table, rows_of
from posterior.schema.sources import Source
from posterior.schema.table import Schema

EVERY = slice(None)
WORDS_OF_A_TEXT = 3


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """A table, the classes of its rows, and what else is known of them: weights, groups, time.

    `X` is the table as the user holds it or, read already, a source; it is read when a column is asked for.
    `codes` number the sorted `classes`, −1 where the class is not known; `groups` and `time` are ranks.
    `kinds` are what was declared of the columns, or their schema. `positions` are the places of the rows in
    a table that has `dropped` others besides, and `target` is what it calls the class column.

    >>> table = LabelledTable.of([[1.0, "a"], [2.0, "b"], [4.0, "a"]], np.array(["yes", "no", "yes"]))
    >>> table.codes, table.where("continuous"), table.part([2]).labels
    (array([1, 0, 1]), (0,), array(['yes'], dtype='<U3'))
    """

    X: Any
    classes: AnyArray
    codes: Ints
    weight: Floats | None = None
    groups: Ints | None = None
    time: Ints | None = None
    kinds: Any = None
    positions: Ints | None = None
    dropped: int = 0
    target: str = ""

    @classmethod
    def of(
        cls, X: Any, labels: AnyArray, weight: Floats | None = None, *, classes: Any = None, kinds: Any = None
    ) -> Self:
        """A table and its checked labels; `classes` may name some that no row has."""
        return cls(X, *encode_labels(labels, classes), weight, kinds=kinds)

    @classmethod
    def unlabelled(cls, X: Any, kinds: Any = None) -> Self:
        """A table whose classes are not known."""
        return cls(X, np.zeros(0), np.full(read_table(X).n_rows, -1), kinds=kinds)

    @property
    def is_labelled(self) -> bool:
        """Whether the classes are known."""
        return len(self.classes) > 0

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def source(self) -> Source:
        """The columns of the table."""
        return read_table(self.X)

    @cached_property
    def schema(self) -> Schema:
        """What the columns are."""
        return self.kinds if isinstance(self.kinds, Schema) else Schema.of(self.source, self.kinds)

    def reread(self) -> Self:
        """The same rows in a table of columns as they are read, so that nobody has to read them again."""
        schema = self.schema
        if not schema.readings:
            return self
        declared = [(j, column.kind) for j, column in enumerate(schema.columns) if column.declared]
        return replace(self, X=schema.read(self.source), kinds=declared or None)

    @property
    def native(self) -> Any:
        """The table as the user holds it."""
        return self.X.native if isinstance(self.X, READ) else self.X

    @property
    def labels(self) -> AnyArray:
        """The class of each row."""
        return np.asarray(self.classes[self.codes])

    @property
    def places(self) -> Ints:
        """Where the rows stand in the table that they were taken from."""
        return np.arange(len(self)) if self.positions is None else self.positions

    @property
    def is_sparse(self) -> bool:
        """Whether the table is a sparse matrix, whose cells are left as they are."""
        return self.schema.container == "sparse"

    # -- other rows, classes and cells ------------------------------------------------------------

    def part(self, rows: Any) -> Self:
        """Some rows, which may lack some of the classes; columns that were read stay as they were read."""
        chosen = np.arange(len(self))[rows]
        of_rows: dict[str, Any] = {
            name: None if (values := getattr(self, name)) is None else values[chosen]
            for name in ("weight", "groups", "time", "positions")
        }
        return replace(self, X=rows_of(self.X, chosen), codes=self.codes[chosen], **of_rows)

    def present(self) -> Self:
        """The same rows with no other classes than theirs."""
        seen = np.bincount(self.codes, minlength=len(self.classes)) > 0
        if seen.all():
            return self
        return replace(self, classes=self.classes[seen], codes=(np.cumsum(seen) - 1)[self.codes])

    def among(self, classes: AnyArray) -> Self:
        """The same rows with these sorted classes; a row of another class is refused."""
        if classes.dtype == self.classes.dtype and np.array_equal(classes, self.classes):
            return self
        return replace(self, classes=classes, codes=known_codes(self.labels, classes))

    def with_codes(self, codes: Ints) -> Self:
        """The same rows in other classes."""
        return replace(self, codes=codes)

    def with_values(self, values: Mapping[int, AnyArray]) -> Self:
        """The same rows with other numbers in some columns."""
        arrays = [values.get(j, self._array(j)) for j in range(len(self.schema))]
        return replace(self, X=read_table(self.schema.decode(arrays)))

    # -- columns ----------------------------------------------------------------------------------

    def where(self, *kinds: Kind) -> tuple[int, ...]:
        """The positions of the columns of these kinds that have a value."""
        columns = enumerate(self.schema.columns)
        return tuple(j for j, column in columns if column.kind in kinds and not column.empty)

    @cached_property
    def pinned(self) -> dict[int, Kind]:
        """Kinds to declare so that few rows are read as all are: short strings could look like texts."""
        columns = self.schema.columns
        if isinstance(columns, Alike) and not columns.example.declared:
            return {}
        return {
            j: column.kind
            for j, column in enumerate(columns)
            if column.declared
            or column.kind == "text"
            or any(len(str(level).split()) >= WORDS_OF_A_TEXT for level in column.categories or ())
        }

    @cached_property
    def encoded(self) -> Encoded:
        """The cells as the schema reads them."""
        return self.schema.encode(self.schema.align(self.source))

    def values(self, columns: Sequence[int]) -> Floats:
        """Columns of numbers, (n, d), NaN where there is no value; categories are their codes."""
        return self.encoded.values(EVERY, tuple(columns))

    def levels(self, j: int) -> AnyArray:
        """Codes of a column of categories, (n,): −1 for a gap, and for a category that is not known."""
        codes = self.encoded.codes(EVERY, (j,)).array[:, 0]
        return np.where(codes < self.schema.columns[j].size, codes, -1)

    def texts(self, j: int) -> list[str | None]:
        """The texts of a column."""
        return list(self.encoded.texts(EVERY, j).tolist())

    def _array(self, j: int) -> AnyArray:
        kind = self.schema.columns[j].kind
        if kind == "text":
            return self.encoded.texts(EVERY, j)
        if kind in ("binary", "categorical"):
            return self.encoded.codes(EVERY, (j,)).array[:, 0]
        return self.values((j,))[:, 0]
