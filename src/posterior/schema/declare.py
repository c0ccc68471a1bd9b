"""Columns of a kind that was asked for: what their cells must be, and the error if they are not."""

from collections.abc import Callable
from typing import Any

from posterior._text import listed
from posterior.schema.cells import Cells, Labels, Numbers, time_message
from posterior.schema.columns import Column
from posterior.schema.kinds import Kind, refuse_infinite_level


def with_categories(name: str, kind: Kind, labels: Labels, reason: str, declared: bool = False) -> Column:
    """Return a column whose categories are those of the labels."""
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
        single=labels.single,
    )


def declared_categorical(name: str, cells: Cells) -> Column:
    """Return a column whose values are categories, whatever they are."""
    labels = cells.only_levels()
    refuse_infinite_level(name, labels.levels)
    return with_categories(name, "categorical", labels, "declared", declared=True)


def _declared_binary(name: str, cells: Cells) -> Column:
    if isinstance(cells, Numbers) and cells.first_outside("binary") is None:
        return Column(name, "binary", "declared", declared=True, storage=cells.storage)
    labels = cells.labels()
    if len(labels.levels) > 2:
        raise ValueError(
            f"column {name!r} is read as binary, but has {len(labels.levels)} values: "
            f'{listed(labels.distinct())}; declare it "categorical", or recode it to two values'
        )
    return with_categories(name, "binary", labels, "declared", declared=True)


def _declared_count(name: str, cells: Cells) -> Column:
    numbers = as_numbers(name, cells, "count", _another_kind(name))
    wrong = numbers.first_outside("count")
    if wrong is not None:
        raise ValueError(count_message(name, *wrong))
    return Column(name, "count", "declared", declared=True, storage=numbers.storage)


def _declared_continuous(name: str, cells: Cells) -> Column:
    numbers = as_numbers(name, cells, "continuous", _another_kind(name))
    return Column(name, "continuous", "declared", declared=True, storage=numbers.storage)


def _declared_text(name: str, cells: Cells) -> Column:
    return Column(name, "text", "declared", declared=True, storage=as_texts(name, cells).storage)


DECLARED: dict[Kind, Callable[[str, Cells], Column]] = {
    "continuous": _declared_continuous,
    "binary": _declared_binary,
    "categorical": declared_categorical,
    "count": _declared_count,
    "text": _declared_text,
}


def _another_kind(name: str) -> str:
    return f'or declare them categories, kinds={{{name!r}: "categorical"}}, with a model that takes kinds'


def as_numbers(name: str, cells: Cells, kind: Kind, remedy: str) -> Numbers:
    """Return a column's numbers, or refuse its strings: convert them to numbers, `remedy`."""
    if cells.storage == "time":
        raise ValueError(time_message(name, "date"))
    numbers = cells if isinstance(cells, Numbers) else cells.numbers()
    if numbers is None and isinstance(cells, Labels):
        raise ValueError(
            f"column {name!r} is read as {kind}: numbers were expected, "
            f"found strings such as {cells.example()}; convert them to numbers, {remedy}"
        )
    assert numbers is not None  # noqa: S101 -- for the type checker
    return numbers


def as_texts(name: str, cells: Cells) -> Labels:
    """Return a column's strings, or refuse its numbers; gaps alone are neither."""
    if cells.is_empty():
        return cells.labels()
    if isinstance(cells, Numbers) or not cells.are_strings:
        raise ValueError(
            f"column {name!r} is read as text: strings were expected, found {cells.storage} values; "
            "convert them to strings, or declare another kind"
        )
    return cells


def count_message(name: str, row: int, value: Any) -> str:
    """Return the message that refuses a negative or infinite count."""
    return (
        f"column {name!r} holds counts, but row {row} is {value!r}; counts are finite numbers of at least 0: "
        'correct the value, make it missing (NaN), or declare the column "continuous"'
    )
