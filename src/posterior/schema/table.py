"""The schema of a table: what each column is, learnt once and applied to every table that follows."""

import html
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from posterior._text import aligned, name_text
from posterior._types import AnyArray
from posterior.schema.columns import Alike, Column
from posterior.schema.decode import decode_table
from posterior.schema.encode import Encoded, encode_table
from posterior.schema.infer import columns_of_part, infer_columns, with_only, with_reasons
from posterior.schema.kinds import RULE, Kind
from posterior.schema.merge import merged_column, merged_readings, recoded
from posterior.schema.readings import ColumnReading
from posterior.schema.reread import reread
from posterior.schema.select import resolve
from posterior.schema.sources import FrameSource, Source

H = TypeVar("H", bound=Hashable)
HEADER = ("column", "kind", "levels", "why")


@dataclass(frozen=True)
class Schema:
    """The columns of a table, their kinds and categories.

    `single` says that all cells were numbers of single precision, in which coefficients are shown then.

    >>> from posterior.schema import read_table
    >>> schema = Schema.infer(read_table([[1.5, "a"], [None, "b"]]))
    >>> schema.kinds
    ('continuous', 'categorical')
    >>> schema.encode(read_table([["7", "b"]]))
    Traceback (most recent call last):
    ValueError: column 'x0' is read as continuous: numbers were expected, found strings such as '7'; ...
    """

    columns: Sequence[Column]
    named: bool = False
    container: str = "numpy"
    labels: tuple[Any, ...] | None = None
    readings: tuple[ColumnReading, ...] = ()
    single: bool = field(default=False, compare=False)

    @classmethod
    def infer(cls, source: Source, kinds: Any = None, only: Collection[int] | None = None) -> Self:
        """Decide the kind of every column.

        Floats, integers and decimals are continuous, true/false is binary, strings and categories are
        categorical. Strings are text if they have three words or more on average and either more than
        20 distinct values or more distinct values than half of the rows. A sparse table is binary if
        its dtype is bool, counts if all stored values are non-negative integers, else continuous.
        `kinds` overrides this: a dict (or list of pairs) from a column, or a selection of columns as
        `resolve` takes it, to a kind; later entries override earlier ones. Columns at other positions
        than `only` are ignored: nobody reads their cells, whatever they hold.

        Strings that are numbers in disguise (1.234,50; $12; 7 %) are read as numbers where nearly all cells
        of the column are of one form, and dates as numbers for year, month, weekday and hour, each a column
        of its own such as signup[month]; the schema keeps in `readings` how.
        """
        source, kinds, only = reread(source, kinds, only)
        columns = with_reasons(infer_columns(source, kinds, only), source.readings)
        return cls(
            columns, source.names is not None, source.container, source.labels, source.readings, source.single
        )

    @classmethod
    def of(cls, source: Source, kinds: Any = None, only: Collection[int] | None = None) -> Self:
        """The schema of a table, inferred once however often it is asked for; arguments as in `infer`.

        Some rows of a table are read as the whole table is, with the categories that they hold.

        >>> from posterior.schema import read_table
        >>> table = read_table([[1.5, "a"], [None, "b"], [2.5, "b"]])
        >>> Schema.of(table.take(np.array([1, 2]))).columns[1].categories
        ('b',)
        """
        key = _key(kinds, only)
        if key is not None and key in source.known:
            found: Self = source.known[key]
            return found
        whole = source.known.get(_key(kinds, None)) if source.container != "sparse" else None
        if source.whole is not None:
            schema = cls.of(source.whole, kinds, only)
            schema = replace(schema, columns=columns_of_part(schema.columns, schema.read(source)))
        elif only is not None and whole is not None:
            used = only if source.readings else {j for j, place in enumerate(whole.places) if place in only}
            schema = replace(whole, columns=with_only(whole.columns, used))
        else:
            schema = cls.infer(source, kinds, only)
        if key is not None:
            source.known[key] = schema
        return schema

    def __getstate__(self) -> dict[str, Any]:
        # Without what was cached, so that asking for the names changes no pickle and no hash.
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The column names; x0, x1, … where the table had none."""
        if isinstance(self.columns, Alike):
            return tuple(f"x{j}" for j in range(len(self)))
        return tuple(column.name for column in self.columns)

    @cached_property
    def places(self) -> Sequence[int]:
        """The place in the user's table of the column that each column is read from."""
        outputs = {reading.place: len(reading.outputs) for reading in self.readings}
        if not outputs:
            return range(len(self))
        return [place for place in range(self.n_inputs) for _ in range(outputs.get(place, 1))]

    @property
    def n_inputs(self) -> int:
        """The number of columns of the user's table."""
        return len(self) - sum(len(reading.outputs) - 1 for reading in self.readings)

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The names of the columns of the user's table, of which some may be read as none or several."""
        if not self.readings:
            return self.names
        names: dict[int, str] = dict(zip(self.places, self.names, strict=True))
        names.update({reading.place: reading.name for reading in self.readings})
        return tuple(names[place] for place in range(self.n_inputs))

    def sizes_of(self, columns: Sequence[int]) -> list[int]:
        """How many categories some columns have, 0 for numbers."""
        if isinstance(self.columns, Alike):
            return [self.columns.example.size] * len(columns)
        return [self.columns[j].size for j in columns]

    def names_of(self, columns: Sequence[int]) -> "Sequence[str]":
        """The names of some columns, each made when it is asked for."""
        return NamesOf(self, columns)

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds, in the order of the columns."""
        if isinstance(self.columns, Alike):
            return (self.columns.example.kind,) * len(self)
        return tuple(column.kind for column in self.columns)

    @cached_property
    def hinted(self) -> frozenset[int]:
        """The columns of which there is something that a user may want to change."""
        if isinstance(self.columns, Alike):
            return frozenset()
        return frozenset(j for j, column in enumerate(self.columns) if column.hint)

    def are_single(self, columns: Sequence[int]) -> bool:
        """Whether all cells of some columns were numbers of single precision."""
        return self.single or all(self.columns[j].single for j in columns)

    @cached_property
    def with_categories(self) -> frozenset[int]:
        """The columns that have categories."""
        if isinstance(self.columns, Alike):
            return frozenset(() if self.columns.example.categories is None else range(len(self)))
        return frozenset(j for j, column in enumerate(self.columns) if column.categories is not None)

    def places_by(
        self, key: Callable[[Column], H], among: Sequence[int] | None = None
    ) -> dict[H, Sequence[int]]:
        """The columns, or some of them, in groups by something that is not their name."""
        among = range(len(self)) if among is None else among
        if isinstance(self.columns, Alike):
            return {key(self.columns.example): among} if len(among) else {}
        groups: dict[H, list[int]] = {}
        for j in among:
            groups.setdefault(key(self.columns[j]), []).append(j)
        return dict(groups)

    def input_of(self, column: int) -> str:
        """The column of the user's table that a column is read from, as signup[month] is from signup."""
        return self.inputs[self.places[column]]

    @property
    def gone(self) -> list[ColumnReading]:
        """The readings of columns that are left out."""
        return [reading for reading in self.readings if not reading.outputs]

    @property
    def remarks(self) -> list[tuple[str, str]]:
        """What a user may want to change, by column: those that were left out, then those that are there."""
        gone = [(reading.name, reading.hint) for reading in self.gone]
        return [*gone, *((self.input_of(j), self.columns[j].hint) for j in sorted(self.hinted))]

    @property
    def sentences(self) -> list[str]:
        """The remarks as sentences."""
        return [f"column {name!r}: {hint}" for name, hint in self.remarks]

    def __len__(self) -> int:
        return len(self.columns)

    def align(self, source: Source, *, who: str = "this model") -> Source:
        """Return the source with its columns in the schema's order.

        Two data frames are matched by their names, or by labels that are no strings, and columns that
        are ignored may be absent; arrays are matched by position.
        """
        if source.readings != self.readings:
            source = source.read_with(())  # as the user holds it, whatever it was read for
        expected, found = (self.inputs, source.names) if self.named else (self.labels, source.labels)
        if isinstance(source, FrameSource) and expected is not None and found is not None:
            if found == expected or source.readings:
                return self.read(source)
            if self.needed <= set(found) <= set(expected):
                return self.read(source.arranged(expected))
            if self.readings and set(found) == set(self.names):  # dates as the columns that they are read as
                return source.arranged(self.names)
            raise ValueError(_names_message(expected, found, self.needed))
        if source.n_columns not in (self.n_inputs, len(self)):
            raise ValueError(
                f"X has {source.n_columns} features, but {who} is expecting {self.n_inputs} features as "
                "input. Pass the columns of the training table."
            )
        return self.read(source)

    @property
    def needed(self) -> set[Any]:
        """What the user's table calls the columns that must be there: all but those that nobody reads."""
        labels = self.inputs if self.named or self.labels is None else self.labels
        return {labels[place] for place, c in zip(self.places, self.columns, strict=True) if not c.ignored}

    def read(self, source: Source) -> Source:
        """Return an aligned source whose columns are read as those of training were."""
        as_read = not self.readings or source.readings == self.readings
        if as_read or (self.named and source.names is not None and source.names != self.inputs):
            return source
        return source.read_with(self.readings)

    def encode(self, source: Source) -> Encoded:
        """Return the rows of an aligned source, ready to be read chunk by chunk."""
        encoded = encode_table(self.columns, self.read(source))
        return replace(encoded, single=True) if self.single and source.single else encoded

    def decode(self, columns: Sequence[AnyArray]) -> Any:
        """Return values and codes, one array per column, as a table like the training table."""
        return decode_table(self.columns, self.container, columns)

    def union(self, other: "Schema") -> "Schema":
        """Return the schema of both tables' rows together: same names and kinds, all categories of either."""
        single = self.single and other.single
        if isinstance(self.columns, Alike) and self.columns == other.columns:
            return self if self.single == single else replace(self, single=single)
        if isinstance(self.columns, Alike) and isinstance(other.columns, Alike) and self.names == other.names:
            first = merged_column(self.columns[0], other.columns[0])
            return replace(self, columns=self.columns.merged(first), single=single)
        mine, theirs = self.names, other.names
        if mine == theirs and self.labels is not None and other.labels is not None:
            mine, theirs = self.labels, other.labels
        if mine != theirs:
            raise ValueError(
                "the two tables have different columns; pass the same columns in the same order.\n"
                + _names_message(mine, theirs, set(mine))
            )
        columns = tuple(merged_column(a, b) for a, b in zip(self.columns, other.columns, strict=True))
        readings = merged_readings(self.readings, other.readings)
        return replace(self, columns=columns, readings=readings, single=single)

    def recoding(self, into: "Schema") -> tuple[NDArray[np.int64] | None, ...]:
        """Return per column the new code of each old code; None for columns without categories.

        A binary column with categories always has two codes, so its recoding has length two.
        """
        if isinstance(self.columns, Alike) and isinstance(into.columns, Alike):
            return (None,) * len(self)
        return tuple(recoded(old, new) for old, new in zip(self.columns, into.columns, strict=True))

    def resolve(self, selection: Any, source: Source | None = None) -> tuple[int, ...]:
        """Return the positions of the selected columns.

        A selection is a name, a position, a list of those, a slice, a compiled regular expression,
        a boolean mask, a callable that gets the user's table and returns names, a narwhals selector, or
        a polars one where the table is a polars frame.
        """
        if self.readings:
            selection = self._as_read(selection)
        return resolve(selection, self.names, None if source is None else self.read(source))

    def _as_read(self, selection: Any) -> Any:
        """Return a selection with the names of what columns are read as, such as dates, in their place."""
        if isinstance(selection, list | tuple):
            return [
                one
                for each in selection
                for one in ([each] if not isinstance(each, str) else self._as_read(each))
            ]
        if not isinstance(selection, str) or selection in self.names:
            return [selection] if isinstance(selection, str) else selection
        found = [list(reading.outputs) for reading in self.readings if reading.name == selection]
        return found[0] if found else [selection]

    def _lines(self) -> list[tuple[str, str, str, str]]:
        return [(c.name, c.kind, c.described_levels(), c.reason) for c in self.columns]

    def __str__(self) -> str:
        rows = [HEADER, *((name_text(name), *rest) for name, *rest in self._lines())]
        return "\n".join([*aligned(rows, left=len(HEADER)), RULE])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{title}</th>" for title in HEADER)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>"
            for line in self._lines()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{html.escape(RULE)}</p>"


def _key(kinds: Any, only: Collection[int] | None) -> Any:
    """What a schema was asked for by: kinds of columns by name or position; None for other selections."""
    columns = None if only is None else frozenset(only)
    if kinds is None:
        return (), columns
    pairs = tuple(kinds.items()) if isinstance(kinds, Mapping) else kinds
    if not isinstance(pairs, list | tuple):
        return None
    plain = all(
        isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(part, str | int) for part in pair)
        for pair in pairs
    )
    return (tuple(pairs), columns) if plain else None


class NamesOf(Sequence[str]):
    """The names of some columns of a schema."""

    def __init__(self, schema: Schema, columns: Sequence[int]) -> None:
        self._schema, self._columns = schema, columns

    def __len__(self) -> int:
        return len(self._columns)

    @overload
    def __getitem__(self, position: int) -> str: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[str, ...]: ...
    def __getitem__(self, position: int | slice) -> str | tuple[str, ...]:
        if isinstance(position, slice):
            return tuple(self._schema.columns[j].name for j in self._columns[position])
        return self._schema.columns[self._columns[position]].name


def _names_message(expected: Sequence[Any], found: Sequence[Any], needed: set[Any]) -> str:
    def bulleted(names: set[Any]) -> str:
        ordered = sorted(names, key=str)
        return "".join(f"- {name}\n" for name in [*ordered[:5], *(["..."] if len(ordered) > 5 else [])])

    message = "The feature names should match those that were passed during fit.\n"
    new, gone = set(found) - set(expected), needed - set(found)
    if new:
        message += "Feature names unseen at fit time:\n" + bulleted(new)
    if gone:
        message += "Feature names seen at fit time, yet now missing:\n" + bulleted(gone)
    return message + "Pass the columns of the training table, in any order; drop or rename the others."
