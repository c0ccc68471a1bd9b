"""What a user hands over to be compared: the table, the class of each row, and how rows belong together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from posterior._plain import written
from posterior._text import counted, listed
from posterior._types import AnyArray, Bools, Ints
from posterior.estimators.members import take
from posterior.estimators.target import labelled_table
from posterior.notices import DataWarning, warn
from posterior.schema import LabelledTable, Schema, Source, read_table
from posterior.schema.cells import Numbers, factorize
from posterior.schema.readings.base import the_way_out
from posterior.schema.reread import find_reading
from posterior.schema.select import resolve
from posterior.schema.sources import FrameSource, names_of

# A class column of decimal numbers has no more of them than this, or than a tenth of its rows.
MANY_CLASSES = 50


def compared_table(
    X: Any, y: Any, *, groups: Any = None, time: Any = None, kinds: Any = None
) -> LabelledTable:
    """The rows that have a class, where they stand in the table, and their groups and times.

    The class column, groups and time may be columns of the table, by name; then they are no features.

    >>> table = compared_table([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "a", "b"], groups=[7, 7, 8, 9])
    >>> table.positions, table.groups, table.dropped
    (array([0, 1, 2, 3]), array([0, 0, 1, 2]), 0)
    """
    if isinstance(X, LabelledTable):
        return X
    return labelled_rows(GivenRows.read(X, y, groups=groups, time=time, kinds=kinds))


def labelled_rows(given: "GivenRows") -> LabelledTable:
    """The rows of a table that have a class; how many have none is told."""
    known = np.flatnonzero(~given.y.gaps)
    n_rows = len(given.y.gaps)
    if not len(known):
        raise ValueError(f"none of the {counted(n_rows, 'row')} has a class; check the class column")
    labels = given.y.some(known).values
    _refuse_measurements(labels, f"y={given.target!r}" if given.target else "y")
    table = labelled_table(given.table_of(known), labels, who="compare", kinds=given.kinds).reread()
    ranks = given.ranks_of(known)
    table = replace(table, positions=known, dropped=n_rows - len(known), target=given.target, **ranks)
    if sentence := without_class(table):
        warn(sentence, DataWarning)
    return table


def without_class(table: LabelledTable) -> str:
    """How many rows were left out since they have no class; nothing if none was."""
    n_rows = len(table) + table.dropped
    return f"rows without a class, left out: {table.dropped} of {n_rows}" if table.dropped else ""


@dataclass(frozen=True, eq=False)
class GivenRows:
    """A table without what is no feature: the column to predict, and those by which rows belong together.

    `target` is what the table calls the column to predict, where it is one of its columns; `kinds` are what
    was declared of the others.
    """

    source: Source
    y: "GivenColumn"
    asides: "dict[str, GivenColumn]"
    target: str = ""
    kinds: Any = None

    @classmethod
    def read(cls, X: Any, y: Any, *, groups: Any = None, time: Any = None, kinds: Any = None) -> "GivenRows":
        """Take the columns that are named out of the table, and read the one to predict as a column is read.

        Numbers in disguise become numbers, and spellings of one class are merged, which is told; a column
        that is declared categorical, or has a type of categories, is taken as it is written.
        """
        source = read_table(X)
        asides = {"y": y, "groups": groups, "time": time}
        named = {what: given for what, given in asides.items() if isinstance(given, str)}
        _refuse_the_class_column(named)
        columns = {what: _named_column(source, name, what) for what, name in named.items()}
        read = {
            what: GivenColumn.read(columns.get(what, given), source.n_rows, what)
            for what, given in asides.items()
            if given is not None or what == "y"
        }
        target, found = named.get("y", ""), read.pop("y")
        declared = kinds.get(target) if isinstance(kinds, Mapping) else None
        if declared not in {None, "categorical"}:
            raise ValueError(
                f'{target!r} is the column to predict, declared "{declared}"; declare it "categorical", to '
                "take each cell as it is written, or not at all"
            )
        if declared is not None:
            kinds = {name: kind for name, kind in kinds.items() if name != target} or None
            found = found.as_classes()
        else:
            found = found.as_read(target)
        return cls(_without(source, list(named.values())), found, read, target, kinds)

    def table_of(self, known: Ints) -> Source:
        """The features of some rows."""
        return self.source if len(known) == self.source.n_rows else read_table(self.source.take(known).native)

    def ranks_of(self, known: Ints) -> dict[str, Any]:
        """The groups and times of some rows, where they have them."""
        return {what: column.some(known).codes(what) for what, column in self.asides.items()}


@dataclass(frozen=True, eq=False)
class GivenColumn:
    """The values of a column, None or NaN where there is none, and which those are."""

    values: AnyArray
    gaps: Bools
    series: Any = None

    @classmethod
    def read(cls, given: Any, n_rows: int, what: str) -> "GivenColumn":
        """Read what a user gave for each row."""
        if given is None:
            raise ValueError(f"{what} is None; pass the class of each row, or the name of the class column")
        series = nw.from_native(given, series_only=True, pass_through=True)
        values: AnyArray
        if isinstance(series, nw.Series):
            gaps = series.is_null().to_numpy().astype(np.bool_)
            values = series.to_numpy()
            if values.dtype.kind == "f":
                gaps = gaps | np.isnan(values)
        else:
            series, values = None, _array(given)
            gaps = _gaps(values)
        if values.ndim == 2 and values.shape[1] == 1:
            values, gaps = values[:, 0], gaps[:, 0]
        if values.shape != (n_rows,):
            raise ValueError(
                f"{what} has shape {values.shape} for {counted(n_rows, 'row')}; pass one value for each row, "
                "or the name of a column"
            )
        return cls(values, gaps, series)

    def as_read(self, name: str) -> "GivenColumn":
        """The same values as a column is read: numbers in disguise as numbers, spellings merged."""
        if self.values.dtype.kind in "biufcmM":
            return self
        cells = [None if gap else value for value, gap in zip(self.values.tolist(), self.gaps, strict=True)]
        has_type = self.series is not None and self.series.dtype in (nw.Categorical, nw.Enum)
        if has_type or not all(cell is None or isinstance(cell, str) for cell in cells):
            return self
        labels = factorize(cells, "string")
        reading = find_reading(name, labels)
        if reading is None or len(reading.outputs) != 1:  # a date, of which no single column is made
            return self
        (read,) = reading.read(labels)
        how = reading.reasons[0].removeprefix("strings, ")
        way_out = the_way_out(name, "categorical") if name else "a Series of dtype category in its place"
        warn(f"{name or 'y'!r} is read as {how}; {way_out} takes each cell as it is written", DataWarning)
        values = read.floats() if isinstance(read, Numbers) else read.objects()
        return GivenColumn(values, _gaps(values))

    def as_classes(self) -> "GivenColumn":
        """The same values as names of classes: numbers with a fraction as they are written."""
        known = self.values[~self.gaps]
        if known.dtype.kind != "f" or bool((known == np.round(known)).all()):
            return self
        cells = zip(self.values.tolist(), self.gaps.tolist(), strict=True)
        return GivenColumn(
            np.array([None if gap else written(v) for v, gap in cells], dtype=object), self.gaps
        )

    def some(self, rows: Ints) -> "GivenColumn":
        """Some of the rows; whole numbers stay whole where those with gaps go."""
        if len(rows) == len(self.gaps):
            return self
        if self.series is not None:
            part = self.series[rows.tolist()]
            return GivenColumn(part.to_numpy(), self.gaps[rows], part)
        values = self.values[rows]
        if values.dtype.kind == "O" and not any(isinstance(v, str) for v in values.tolist()):
            values = np.array(values.tolist())
        return GivenColumn(values, self.gaps[rows])

    def codes(self, what: str) -> Ints:
        """The rank of each value among the distinct ones."""
        if self.gaps.any():
            raise ValueError(
                f"{what}: {self.gaps.sum()} of {len(self.gaps)} rows have no value, first row "
                f"{int(self.gaps.argmax())}; leave those rows out, or give each a value of its own"
            )
        try:
            return np.unique(self.values, return_inverse=True)[1].reshape(-1).astype(np.int64)
        except TypeError as error:
            raise ValueError(
                f"{what} holds values that have no common order ({error}); use one type"
            ) from error


def _refuse_the_class_column(named: Mapping[str, str]) -> None:
    for what in ("groups", "time"):
        if what in named and named[what] == named.get("y"):
            raise ValueError(
                f"{what}={named[what]!r} is the class column itself, so that no class could be learnt from "
                "other rows; name another column"
            )


def too_many(n_values: int, n_rows: int) -> bool:
    """Whether a column has more different numbers than classes would.

    >>> too_many(60, 300), too_many(60, 1000)
    (True, False)
    """
    return n_values > max(MANY_CLASSES, n_rows // 10)


def _refuse_measurements(labels: AnyArray, what: str) -> None:
    """Refuse a column of measurements as a column of classes; whole numbers are read as a user's classes."""
    if labels.dtype.kind != "f":
        return
    n_values = len(np.unique(labels))
    if too_many(n_values, len(labels)):
        raise ValueError(
            f"{what} holds {n_values:,} different numbers, where classes were expected: to predict the "
            "number, use posterior.comparison.RegressionComparison; else choose another column, put the "
            "numbers into groups first, or pass them as strings if each is a class"
        )


def read_from(schema: Schema, name: str) -> str:
    """The column of the user's table that a column is, or is a part of, as `signup[month]` is of `signup`."""
    if name in schema.inputs:
        return name
    return next((given for given in schema.inputs if name.startswith(f"{given}[")), name)


def _array(given: Any) -> AnyArray:
    if isinstance(given, list | tuple):
        mixed = len({isinstance(v, str) for v in given}) > 1 or any(v is None for v in given)
        return np.array(given, dtype=object if mixed else None)
    return np.asarray(given)


def _gaps(values: AnyArray) -> Bools:
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind in "mM":
        return np.asarray(np.isnat(values))
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=np.bool_)
    none = np.asarray(values == None, dtype=np.bool_)  # noqa: E711  (cell by cell)
    return none | np.asarray(values != values, dtype=np.bool_)  # noqa: PLR0124  (NaN is not itself)


def _named_column(source: Source, name: str, what: str) -> Any:
    """A column of the table by its name."""
    if not isinstance(source, FrameSource) or source.names is None:
        raise ValueError(
            f"{what}={name!r} names a column, and the table has no column names; pass the values, one for "
            "each row"
        )
    (place,) = resolve(name, names_of(source), source)
    return source.frame[source.labels[place]].to_native()


def _without(source: Source, names: Sequence[str]) -> Source:
    """The table without some columns."""
    if not names:
        return source
    gone = {j for name in names for j in resolve(name, names_of(source), source)}
    kept = [j for j in range(source.n_columns) if j not in gone]
    if not kept:
        raise ValueError(f"no column is left to learn from besides {listed(names)}; pass a table with more")
    return read_table(take(source, kept))
