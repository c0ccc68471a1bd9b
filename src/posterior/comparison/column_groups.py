"""The columns of a user's table, each with what it is read as, and those that say nearly the same."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from posterior._types import Floats
from posterior.schema import LabelledTable

# Columns that are tried, and correlations from which columns are tried together too.
MOST_COLUMNS, CORRELATED = 300, 0.9
# Rows by which columns are chosen and correlations are found.
MOST_ROWS = 5_000
# Columns that are read at once.
AT_ONCE = 256


class ColumnGroup(NamedTuple):
    """Columns of a table as it is read, by name and place, under the name of what they are together."""

    name: str
    columns: tuple[str, ...]
    places: tuple[int, ...]


class ColumnGroups(NamedTuple):
    """Columns to be tried one by one, those to be tried together, and those that are not."""

    tried: tuple[ColumnGroup, ...]
    together: tuple[ColumnGroup, ...]
    unused: tuple[str, ...]
    untried: tuple[str, ...]


def column_groups(table: LabelledTable, used: Sequence[str]) -> ColumnGroups:
    """The columns of the user's table of which a model uses a part.

    A date that is read as several columns is one. Of very many columns those are tried that differ most
    between the classes, by the ratio of their spread between to that within classes.

    >>> X = np.array([[1.0, 2.0, 5.0], [2.0, 4.1, 1.0], [3.0, 6.0, 2.0]])
    >>> table = LabelledTable.of(X, np.array([0, 1, 1]))
    >>> found = column_groups(table, ["x0", "x1"])
    >>> [group.name for group in found.tried], found.together[0].name, found.unused
    (['x0', 'x1'], 'x0, x1 together', ('x2',))
    """
    schema = table.schema
    read_as: dict[int, list[int]] = {}
    for j, place in enumerate(schema.places):
        read_as.setdefault(place, []).append(j)
    wanted, unused, groups = set(used), [], []
    for place, columns in read_as.items():
        names = tuple(schema.names[j] for j in columns)
        if wanted.isdisjoint(names):
            unused.append(schema.inputs[place])
        else:
            groups.append(ColumnGroup(schema.inputs[place], names, tuple(columns)))
    untried: list[str] = []
    if len(groups) > MOST_COLUMNS:
        order = np.argsort(-_separation(table, groups), kind="stable")
        untried = [groups[g].name for g in np.sort(order[MOST_COLUMNS:]).tolist()]
        groups = [groups[g] for g in np.sort(order[:MOST_COLUMNS]).tolist()]
    return ColumnGroups(tuple(groups), tuple(_together(table, groups)), tuple(unused), tuple(untried))


def _some_rows(table: LabelledTable) -> LabelledTable:
    return table.part(np.arange(0, len(table), -(-len(table) // MOST_ROWS)))


def _numbers(table: LabelledTable, places: Sequence[int]) -> Floats:
    """Columns of numbers, (n, d), with the mean in the place of gaps."""
    values = table.values(places)
    with np.errstate(invalid="ignore", over="ignore"):
        there = ~np.isnan(values)
        mean = np.where(there, values, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    return np.where(there, values, mean)


def _separation(table: LabelledTable, groups: Sequence[ColumnGroup]) -> Floats:
    """The spread between the class means over that within classes; of several columns the largest."""
    some = _some_rows(table)
    counts = np.bincount(some.codes, minlength=len(some.classes))
    is_class = (some.codes[:, None] == np.arange(len(counts))).astype(np.float64)
    found = np.full(len(some.schema), np.inf)  # of a text, which says more than any number of it
    numbers = [j for group in groups for j in group.places if some.schema.columns[j].kind != "text"]
    for start in range(0, len(numbers), AT_ONCE):
        places = numbers[start : start + AT_ONCE]
        values = _numbers(some, places)
        values = values - values.mean(axis=0)
        between = ((is_class.T @ values) ** 2 / np.maximum(counts, 1)[:, None]).sum(axis=0)
        within = (values**2).sum(axis=0) - between
        with np.errstate(divide="ignore", invalid="ignore"):
            found[places] = np.nan_to_num(between / within, nan=0.0, posinf=np.inf)
    return np.array([found[list(group.places)].max() for group in groups])


def _together(table: LabelledTable, groups: Sequence[ColumnGroup]) -> list[ColumnGroup]:
    """Columns of numbers that are correlated, as far as one is with the next."""
    single = [
        g for g in groups if len(g.places) == 1 and table.schema.columns[g.places[0]].kind == "continuous"
    ]
    if len(single) < 2:
        return []
    values = _numbers(_some_rows(table), [g.places[0] for g in single])
    linked = (np.abs(_correlations(values)) >= CORRELATED).astype(np.int64)
    number = connected_components(linked, directed=False)[1]
    found = []
    for k in np.flatnonzero(np.bincount(number) > 1).tolist():
        members = [single[i] for i in np.flatnonzero(number == k).tolist()]
        names = [group.name for group in members]
        told = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        places = tuple(group.places[0] for group in members)
        found.append(ColumnGroup(f"{told} together", tuple(names), places))
    return found


def _correlations(values: Floats) -> Floats:
    """Correlations (d, d); 0 of a column that does not vary."""
    centred = values - values.mean(axis=0)
    largest = np.abs(centred).max(axis=0)
    centred = centred / np.where(largest > 0, largest, 1.0)
    norm = np.sqrt((centred**2).sum(axis=0))
    centred = centred / np.where(norm > 0, norm, 1.0)
    return np.asarray(centred.T @ centred)
