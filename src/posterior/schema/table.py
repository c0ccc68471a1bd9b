"""The schema of a table: what each column is, learnt once and applied to every table that follows."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from posterior._types import AnyArray
from posterior.schema.columns import Column
from posterior.schema.decode import decode_table
from posterior.schema.encode import Encoded, encode_table
from posterior.schema.infer import infer_columns
from posterior.schema.kinds import RULE, Kind
from posterior.schema.merge import merged_column, recoded
from posterior.schema.select import resolve
from posterior.schema.sources import Source

HEADER = ("column", "kind", "levels", "why")


@dataclass(frozen=True)
class Schema:
    """The columns of a table, their kinds and categories.

    >>> from posterior.schema import read_table
    >>> schema = Schema.infer(read_table([[1.5, "a"], [None, "b"]]))
    >>> schema.kinds
    ('continuous', 'categorical')
    >>> schema.encode(read_table([["7", "b"]]))
    Traceback (most recent call last):
    ValueError: column 'x0' (continuous): numbers were expected, found strings such as '7'; ...
    """

    columns: tuple[Column, ...]
    named: bool = False
    container: str = "numpy"

    @classmethod
    def infer(cls, source: Source, kinds: Any = None) -> Self:
        """Decide the kind of every column.

        Floats, integers and decimals are continuous, true/false is binary, strings and categories are
        categorical. Strings are text if they have three words or more on average and either more than
        20 distinct values or more distinct values than half of the rows. A sparse table is binary if
        its dtype is bool, counts if all stored values are non-negative integers, else continuous.
        `kinds` overrides this: a dict (or list of pairs) from a column, or a selection of columns as
        `resolve` takes it, to a kind; later entries override earlier ones.
        """
        return cls(infer_columns(source, kinds), source.names is not None, source.container)

    @property
    def names(self) -> tuple[str, ...]:
        """The column names; x0, x1, … where the table had none."""
        return tuple(column.name for column in self.columns)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds, in the order of the columns."""
        return tuple(column.kind for column in self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def align(self, source: Source, *, who: str = "this model") -> Source:
        """Return the source with its columns in the schema's order, matched by name where both have names."""
        if self.named and source.names is not None:
            if source.names == self.names:
                return source
            position = {name: j for j, name in enumerate(source.names)}
            if position.keys() != set(self.names):
                raise ValueError(_names_message(self.names, source.names))
            return source.take([position[name] for name in self.names])
        if source.n_columns != len(self):
            raise ValueError(
                f"X has {source.n_columns} features, but {who} is expecting {len(self)} features as input. "
                "Pass the columns of the training table."
            )
        return source

    def encode(self, source: Source) -> Encoded:
        """Return the rows of an aligned source, ready to be read chunk by chunk."""
        return encode_table(self.columns, source)

    def decode(self, columns: Sequence[AnyArray]) -> Any:
        """Return values and codes, one array per column, as a table like the training table."""
        return decode_table(self.columns, self.container, columns)

    def union(self, other: "Schema") -> "Schema":
        """Return the schema of both tables' rows together: same names and kinds, all categories of either."""
        if self.names != other.names:
            raise ValueError(
                "the two tables have different columns; pass the same columns in the same order.\n"
                + _names_message(self.names, other.names)
            )
        columns = tuple(merged_column(a, b) for a, b in zip(self.columns, other.columns, strict=True))
        return Schema(columns, self.named, self.container)

    def recoding(self, into: "Schema") -> tuple[NDArray[np.int64] | None, ...]:
        """Return per column the new code of each old code; None for columns without categories.

        A binary column with categories always has two codes, so its recoding has length two.
        """
        return tuple(recoded(old, new) for old, new in zip(self.columns, into.columns, strict=True))

    def resolve(self, selection: Any, source: Source | None = None) -> tuple[int, ...]:
        """Return the positions of the selected columns.

        A selection is a name, a position, a list of those, a slice, a compiled regular expression,
        a boolean mask, a callable that gets the user's table and returns names, or a narwhals selector.
        """
        return resolve(selection, self.names, source)

    def _lines(self) -> list[tuple[str, str, str, str]]:
        return [(c.name, c.kind, c.described_levels(), c.reason) for c in self.columns]

    def __str__(self) -> str:
        rows = [HEADER, *((_one_line(name), *rest) for name, *rest in self._lines())]
        widths = [max(len(row[k]) for row in rows) for k in range(len(HEADER))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, RULE])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{title}</th>" for title in HEADER)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>"
            for line in self._lines()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{html.escape(RULE)}</p>"


def _one_line(name: str) -> str:
    return name if name.isprintable() else repr(name)


def _names_message(expected: tuple[str, ...], found: tuple[str, ...]) -> str:
    def bulleted(names: set[str]) -> str:
        ordered = sorted(names)
        return "".join(f"- {name}\n" for name in [*ordered[:5], *(["..."] if len(ordered) > 5 else [])])

    message = "The feature names should match those that were passed during fit.\n"
    new, gone = set(found) - set(expected), set(expected) - set(found)
    if new:
        message += "Feature names unseen at fit time:\n" + bulleted(new)
    if gone:
        message += "Feature names seen at fit time, yet now missing:\n" + bulleted(gone)
    return message + "Pass the columns of the training table, in any order; drop or rename the others."
