"""Which kind a column is: by its type, or as the user declared it."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from posterior.schema.cells import Cells, Labels, Numbers, Test, mixture_message, outside
from posterior.schema.columns import Column
from posterior.schema.kinds import Kind, check_kind, listed, refuse_infinite_level
from posterior.schema.select import resolve
from posterior.schema.sources import STORAGE, ArraySource, Source, SparseSource, labels_of

WORDS_OF_A_TEXT = 3
LEVELS_OF_A_TEXT = 20


def infer_columns(source: Source, kinds: Any = None) -> tuple[Column, ...]:
    """Return a column description for each column of a table."""
    names = labels_of(source)
    declared = declared_kinds(kinds, names, source)
    if isinstance(source, SparseSource):
        return _infer_sparse(source, names, declared)
    fitting = _already_fitting(source, declared)
    return tuple(
        fitting[j] if j in fitting else infer_column(name, source.column(j), declared.get(j))
        for j, name in enumerate(names)
    )


def declared_kinds(kinds: Any, names: tuple[str, ...], source: Source) -> dict[int, Kind]:
    """Return the kinds the user declared, by position; later entries override earlier ones."""
    if kinds is None:
        return {}
    try:
        pairs = list(kinds.items()) if isinstance(kinds, Mapping) else [(key, kind) for key, kind in kinds]
    except (TypeError, ValueError):
        raise TypeError(
            f'kinds must be a dict such as {{"age": "count"}} or a list of pairs, not {listed([kinds])}'
        ) from None
    return {
        position: check_kind(kind)
        for selection, kind in pairs
        for position in resolve(selection, names, source)
    }


def infer_column(name: str, cells: Cells, declared: Kind | None = None) -> Column:
    """Return the description of one column from its cells."""
    if declared is not None:
        return DECLARED[declared](name, cells)
    if isinstance(cells, Numbers):
        if cells.storage == "boolean":
            return Column(name, "binary", "true/false values", storage="boolean")
        return Column(name, "continuous", f"{cells.storage} values", storage=cells.storage)
    if cells.storage == "empty":
        return Column(name, "categorical", "no value at all", (), empty=True, storage="empty")
    if cells.storage == "mixed":
        raise TypeError(mixture_message(name, cells))
    if cells.storage == "string" and is_text(cells):
        return Column(name, "text", "strings of several words", storage="string")
    origin = (
        "strings"
        if cells.storage == "string"
        else "categories of the dtype"
        if cells.fixed
        else "category dtype"
    )
    return _with_categories(name, "categorical", cells, f"{origin}, {_counted(len(cells.levels))}")


def _counted(n: int) -> str:
    return "1 category" if n == 1 else f"{n} categories"


def is_text(labels: Labels) -> bool:
    """Return whether strings read as texts: three words or more on average, and hardly a value twice."""
    counts = labels.counts()
    rows = int(counts.sum())
    if not (len(labels.levels) > LEVELS_OF_A_TEXT or 2 * len(labels.levels) > rows):
        return False
    words = np.array([len(level.split()) for level in labels.levels])
    return bool(words @ counts >= WORDS_OF_A_TEXT * rows)


def _with_categories(name: str, kind: Kind, labels: Labels, reason: str, declared: bool = False) -> Column:
    return Column(
        name,
        kind,
        reason,
        categories=labels.distinct(),
        declared=declared,
        levels_fixed=labels.fixed,
        ordered=labels.ordered,
        empty=labels.storage == "empty",
        storage=labels.storage,
    )


def _declared_categorical(name: str, cells: Cells) -> Column:
    labels = cells.labels()
    refuse_infinite_level(name, labels.levels)
    return _with_categories(name, "categorical", labels, "declared", declared=True)


def _declared_binary(name: str, cells: Cells) -> Column:
    if isinstance(cells, Numbers) and cells.first_outside("binary") is None:
        return Column(name, "binary", "declared", declared=True, storage=cells.storage)
    labels = cells.labels()
    if len(labels.levels) > 2:
        raise ValueError(
            f"column {name!r} is declared binary, but has {len(labels.levels)} values: "
            f'{listed(labels.distinct())}; declare it "categorical", or recode it to two values'
        )
    return _with_categories(name, "binary", labels, "declared", declared=True)


def _declared_count(name: str, cells: Cells) -> Column:
    numbers = as_numbers(name, cells, "declared count")
    wrong = numbers.first_outside("count")
    if wrong is not None:
        raise ValueError(count_message(name, *wrong))
    return Column(name, "count", "declared", declared=True, storage=numbers.storage)


def _declared_continuous(name: str, cells: Cells) -> Column:
    numbers = as_numbers(name, cells, "declared continuous")
    return Column(name, "continuous", "declared", declared=True, storage=numbers.storage)


def _declared_text(name: str, cells: Cells) -> Column:
    return Column(name, "text", "declared", declared=True, storage=as_texts(name, cells).storage)


DECLARED: dict[Kind, Callable[[str, Cells], Column]] = {
    "continuous": _declared_continuous,
    "binary": _declared_binary,
    "categorical": _declared_categorical,
    "count": _declared_count,
    "text": _declared_text,
}


def as_numbers(name: str, cells: Cells, expected: str) -> Numbers:
    """Return a column's numbers, or refuse its strings."""
    numbers = cells if isinstance(cells, Numbers) else cells.numbers()
    if numbers is None and isinstance(cells, Labels):
        raise ValueError(
            f"column {name!r} ({expected}): numbers were expected, found strings such as {cells.example()}; "
            "convert them to numbers first (missing values may be None or NaN)"
        )
    assert numbers is not None  # noqa: S101 -- for the type checker
    return numbers


def as_texts(name: str, cells: Cells) -> Labels:
    """Return a column's strings, or refuse its numbers."""
    if isinstance(cells, Numbers) or not all(isinstance(level, str) for level in cells.levels):
        raise ValueError(
            f"column {name!r} (text): strings were expected, found {cells.storage} values; "
            "convert them to strings, or declare another kind"
        )
    return cells


def count_message(name: str, row: int, value: Any) -> str:
    """Return the message that refuses a negative or infinite count."""
    return (
        f"column {name!r} holds counts, but row {row} is {value!r}; counts are finite numbers of at least 0: "
        'correct the value, make it missing (NaN), or declare the column "continuous"'
    )


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
    source: SparseSource, names: tuple[str, ...], declared: dict[int, Kind]
) -> tuple[Column, ...]:
    stored = source.matrix.data
    kind: Kind = "continuous"
    reason = "sparse numbers"
    if stored.dtype.kind == "b":
        kind, reason = "binary", "sparse true/false"
    elif not (outside(stored, "count").any() or (stored % 1 > 0).any()):
        kind, reason = "count", "sparse, non-negative integers"
    storage = STORAGE[stored.dtype.kind]
    _check_sparse(source, names, declared)
    return tuple(
        Column(name, kind, reason, storage=storage)
        if j not in declared
        else _declared_categorical(name, source.column(j))
        if declared[j] == "categorical"
        else Column(name, declared[j], "declared", declared=True, storage=storage)
        for j, name in enumerate(names)
    )


def _check_sparse(source: SparseSource, names: tuple[str, ...], declared: dict[int, Kind]) -> None:
    stored, column = source.matrix.data, source.matrix.indices
    tests: tuple[Test, ...] = ("binary", "count")
    for test in tests:
        asked = np.zeros(source.n_columns, dtype=np.bool_)
        asked[[j for j, kind in declared.items() if kind == test]] = True
        wrong = np.flatnonzero(outside(stored, test) & asked[column])
        if not len(wrong):
            continue
        first = int(wrong[0])
        row = int(np.searchsorted(source.matrix.indptr, first, side="right")) - 1
        name, value = names[column[first]], stored[first].item()
        if test == "count":
            raise ValueError(count_message(name, row, value))
        raise ValueError(
            f"column {name!r} of a sparse table is declared binary, but row {row} is {value!r}; "
            "a sparse binary column holds 0 and 1: recode it, or declare another kind"
        )
    for j, kind in declared.items():
        if kind == "text":
            raise ValueError(f"column {names[j]!r} (text): strings were expected, found sparse numbers")
