"""Which kind a column is: by its type, or as the user declared it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from posterior._text import listed
from posterior._types import Bools
from posterior.schema.cells import Cells, Labels, Numbers, Test, mixture_message, outside, time_message
from posterior.schema.columns import Alike, Column
from posterior.schema.declare import DECLARED, count_message, declared_categorical, with_categories
from posterior.schema.hints import string_hint
from posterior.schema.kinds import KINDS, Declared, Kind, check_kind
from posterior.schema.readings import ColumnReading
from posterior.schema.remarks import is_constant, remark_on_numbers
from posterior.schema.select import resolve_each
from posterior.schema.sources import STORAGE, ArraySource, Source, SparseSource, names_of

WORDS_OF_A_TEXT = 3
LEVELS_OF_A_TEXT = 20
SOME_LEVELS = 1024
# Strings name the rows if there are so many rows, and different strings for such a share of them.
ROWS_OF_NAMES, SHARE_OF_NAMES = 20, 0.9


def infer_columns(source: Source, kinds: Any = None, only: Collection[int] | None = None) -> Sequence[Column]:
    """Return a column description for each column of a table; those not in `only` are not read."""
    alike = _alike(source, kinds) if only is None else None
    if alike is not None:
        return Alike(alike, source.n_columns)
    names = names_of(source)
    used = np.full(len(names), only is None)
    used[list(() if only is None else only)] = True
    declared = {j: _as_read(kind) for j, kind in declared_kinds(kinds, names, source).items() if used[j]}
    if isinstance(source, SparseSource):
        return _infer_sparse(source, names, declared, used)
    fitting = _already_fitting(source, declared)
    in_place = isinstance(source, ArraySource) and source.block is not None
    if isinstance(source, ArraySource):
        source.survey([j for j, kind in declared.items() if kind == "categorical"])
    remarks = source.names is not None
    return tuple(
        ignored_column(name)
        if not used[j]
        else fitting[j]
        if j in fitting
        else infer_column(name, source.column(j), declared.get(j), scan=not in_place, remarks=remarks)
        for j, name in enumerate(names)
    )


def _alike(source: Source, kinds: Any) -> Column | None:
    """Return what all columns of an array or a sparse table are, where that is plain to see."""
    declared = _one_kind(kinds)
    if kinds is not None and declared not in {"continuous", "count", "binary"}:
        return None
    if isinstance(source, SparseSource):
        return _sparse_column(source, declared, np.ones(source.n_columns, dtype=np.bool_))
    if not isinstance(source, ArraySource) or source.block is None or declared in {"count", "binary"}:
        return None
    return infer_column("", source.column(0), declared, scan=False)


def _one_kind(kinds: Any) -> Kind | None:
    """Return the kind that was declared for all columns at once, if one was."""
    if not isinstance(kinds, list) or len(kinds) != 1:
        return None
    ((selection, kind),) = kinds
    return _as_read(check_kind(kind)) if isinstance(selection, slice) and selection == slice(None) else None


def _as_read(declared: Declared) -> Kind:
    """Return the kind of a column that was read as it was declared."""
    return next((kind for kind in KINDS if kind == declared), "continuous")


def ignored_column(name: str) -> Column:
    """Return the description of a column that nobody reads."""
    return Column(name, "continuous", "not used", ignored=True)


def declared_kinds(kinds: Any, names: tuple[str, ...], source: Source) -> dict[int, Declared]:
    """Return the kinds the user declared, by position; later entries override earlier ones."""
    if kinds is None:
        return {}
    try:
        pairs = list(kinds.items()) if isinstance(kinds, Mapping) else [(key, kind) for key, kind in kinds]
    except (TypeError, ValueError):
        raise TypeError(
            f'kinds must be a dict such as {{"age": "count"}} or a list of pairs, not {listed([kinds])}'
        ) from None
    found = resolve_each([selection for selection, _ in pairs], names, source)
    return {j: check_kind(kind) for (_, kind), where in zip(pairs, found, strict=True) for j in where}


def infer_column(
    name: str, cells: Cells, declared: Kind | None = None, *, scan: bool = True, remarks: bool = False
) -> Column:
    """Return the description of one column from its cells.

    `scan` looks whether numbers have any value, `remarks` whether a user would want to know more of them.
    """
    column = _by_type(name, cells) if declared is None else DECLARED[declared](name, cells)
    if remarks and declared is None and isinstance(cells, Numbers):
        same = ", the same in all rows" if is_constant(cells) else ""
        column = replace(column, hint=remark_on_numbers(name, cells), reason=column.reason + same)
    if isinstance(cells, Numbers) and cells.array.dtype == np.float32:
        column = replace(column, single=True)
    return _without_value(column) if scan and cells.is_empty() else column


def _without_value(column: Column) -> Column:
    return replace(column, empty=True, reason=column.reason if column.declared else "no value at all")


def columns_of_part(columns: Sequence[Column], part: Source) -> Sequence[Column]:
    """Return the columns of some rows of a table, which are of the kinds that the whole table shows.

    Their categories are those that these rows hold, unless the dtype lists them.
    """
    if isinstance(columns, Alike):
        return columns
    return tuple(_column_of_part(column, part, j) for j, column in enumerate(columns))


def _column_of_part(column: Column, part: Source, j: int) -> Column:
    if column.ignored or column.levels_fixed:
        return column
    if column.categories is None:
        in_place = isinstance(part, SparseSource) or (
            isinstance(part, ArraySource) and part.block is not None
        )
        return column if in_place or not part.column(j).is_empty() else _without_value(column)
    cells = part.column(j)
    held = set(cells.only_levels().levels)
    column = replace(column, categories=tuple(level for level in column.categories if level in held))
    return _without_value(column) if cells.is_empty() else column


def with_reasons(columns: Sequence[Column], readings: Sequence[ColumnReading]) -> Sequence[Column]:
    """Return the columns with what readings say of those that they give."""
    if not readings:
        return columns
    told = {
        name: (reason, reading.hint if k == 0 else "")
        for reading in readings
        for k, (name, reason) in enumerate(zip(reading.outputs, reading.reasons, strict=True))
    }
    return tuple(
        replace(
            column,
            reason=f"declared, {told[column.name][0]}" if column.declared else told[column.name][0],
            hint=told[column.name][1],
        )
        if column.name in told and not column.ignored and not column.empty
        else column
        for column in columns
    )


def with_only(columns: Sequence[Column], only: Collection[int]) -> tuple[Column, ...]:
    """Return the columns, of which those not in `only` are not read."""
    return tuple(column if j in only else ignored_column(column.name) for j, column in enumerate(columns))


def _by_type(name: str, cells: Cells) -> Column:
    if isinstance(cells, Numbers):
        if cells.storage == "boolean":
            return Column(name, "binary", "true/false values", storage="boolean")
        return Column(name, "continuous", f"{cells.storage} values", storage=cells.storage)
    if cells.storage == "empty":
        return with_categories(name, "categorical", cells, "no value at all")
    if cells.storage == "time":
        raise ValueError(time_message(name, "date"))
    if cells.storage == "mixed":
        raise TypeError(mixture_message(name, cells))
    counted = _counted(len(cells.levels))
    if cells.storage != "string":
        origin = "categories of the dtype" if cells.fixed else "category dtype"
        return with_categories(name, "categorical", cells, f"{origin}, {counted}")
    if is_text(cells):
        return Column(name, "text", "strings of several words", storage="string")
    column = with_categories(name, "categorical", cells, f"strings, {counted}")
    hint = string_hint(name, cells)
    rows = int(cells.counts().sum())
    nearly = rows >= ROWS_OF_NAMES and len(cells.levels) > SHARE_OF_NAMES * rows
    reason = hint.reason or (", one for nearly every row" if nearly else "")
    return replace(column, hint=hint.sentence, reason=column.reason + reason)


def _counted(n: int) -> str:
    return "1 category" if n == 1 else f"{n} categories"


def is_text(labels: Labels) -> bool:
    """Return whether strings read as texts: three words or more on average, and hardly a value twice."""
    counts = labels.counts()
    rows = int(counts.sum())
    if not (len(labels.levels) > LEVELS_OF_A_TEXT or 2 * len(labels.levels) > rows):
        return False
    words = 0
    for start in range(
        0, len(labels.levels), SOME_LEVELS
    ):  # texts have enough words long before the last one
        some = [len(level.split()) for level in labels.levels[start : start + SOME_LEVELS]]
        words += int(np.array(some) @ counts[start : start + SOME_LEVELS])
        if words >= WORDS_OF_A_TEXT * rows:
            return True
    return words >= WORDS_OF_A_TEXT * rows


def _already_fitting(source: Source, declared: dict[int, Kind]) -> dict[int, Column]:
    """Return the columns of an array that hold 0/1 or counts, as was declared."""
    if not isinstance(source, ArraySource) or source.block is None:
        return {}
    tests: tuple[Test, ...] = ("binary", "count")
    return {
        j: Column(f"x{j}", test, "declared", declared=True, storage=source.column(j).storage)
        for test in tests
        for j in source.holding(test, [j for j, kind in declared.items() if kind == test])
    }


def _infer_sparse(
    source: SparseSource, names: tuple[str, ...], declared: dict[int, Kind], used: Bools
) -> tuple[Column, ...]:
    _check_texts(names, declared)
    kinds: tuple[Kind, ...] = ("continuous", "binary", "count")
    known = {}
    for kind in kinds:
        asked = np.zeros(source.n_columns, dtype=np.bool_)
        asked[[j for j, found in declared.items() if found == kind]] = True
        known[kind] = _sparse_column(source, kind, asked)
    rest = used.copy()
    rest[list(declared)] = False
    other = _sparse_column(source, None, used) if rest.any() else known["continuous"]
    return tuple(
        ignored_column(name)
        if not used[j]
        else replace(other, name=name)
        if j not in declared
        else declared_categorical(name, source.column(j))
        if declared[j] == "categorical"
        else replace(known[declared[j]], name=name)
        for j, name in enumerate(names)
    )


def _sparse_column(source: SparseSource, declared: Kind | None, asked: Bools) -> Column:
    """Return what the columns asked about are, of a kind that was declared or by what they hold."""
    dtype = source.matrix.dtype
    storage = STORAGE[dtype.kind]
    if declared is not None:
        _check_sparse(source, declared, asked)
        return Column("", declared, "declared", declared=True, storage=storage)
    if dtype.kind == "b":
        return Column("", "binary", "sparse true/false", storage=storage)
    if _holds_counts(source, asked):
        return Column("", "count", "sparse, non-negative integers", storage=storage)
    return Column("", "continuous", "sparse numbers", storage=storage)


def _holds_counts(source: SparseSource, used: Bools) -> bool:
    """Return whether the columns that are used hold whole numbers, none negative."""
    if source.largest_count >= 0:
        return True
    for _, part in source.parts():
        stored = part.data if used.all() else part.data[used[part.indices]]
        if outside(stored, "count").any() or (stored.dtype.kind == "f" and (stored % 1 > 0).any()):
            return False
    return True


def _check_sparse(source: SparseSource, kind: Kind, asked: Bools) -> None:
    """Refuse what is no 0/1, or no count, in columns that were declared so."""
    if kind == "continuous":
        return
    wrong = source.first(partial(outside, test="count" if kind == "count" else "binary"), asked)
    if wrong is None:
        return
    row, column, value = wrong
    if kind == "count":
        raise ValueError(count_message(f"x{column}", row, value))
    raise ValueError(
        f"column 'x{column}' of a sparse table is read as binary, but row {row} is {value!r}; "
        "a sparse binary column holds 0 and 1: recode it, or declare another kind"
    )


def _check_texts(names: tuple[str, ...], declared: dict[int, Kind]) -> None:
    for j, kind in declared.items():
        if kind == "text":
            raise ValueError(
                f"column {names[j]!r} is read as text: strings were expected, found sparse numbers"
            )
