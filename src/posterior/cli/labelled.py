"""The rows of a file with their classes, as commands that learn take them."""

from dataclasses import replace
from typing import Any

import pyarrow as pa

import posterior
from posterior import datasets, files
from posterior.cli.options import ColumnOptions, FileOptions, known_column, listed_columns
from posterior.schema import LabelledTable


def read_labelled(
    path: str, target: str | None, reading: FileOptions, columns: ColumnOptions, **aside: str | None
) -> LabelledTable:
    """Read a file and take its class column out; `aside` are columns that say which rows belong together."""
    table = reading.table(path)
    names = table.column_names
    bundled = datasets.describe(path) if files.is_bundled(path) else None
    target = files.default_target(path) if target is None else target
    if target is None:
        raise ValueError(f"which column holds the classes? Pass --target COL; {listed_columns(names)}")
    known_column(target, names, "--target")
    kinds = columns.kinds(names)
    for option, given in {"groups": aside.get("groups"), "time": aside.get("time")}.items():
        if given == target:
            raise ValueError(f"--{option} {given}: this is the class column; name another, or leave it out")
    if target in (columns.drop or ()) or target in (kinds or {}):
        raise ValueError(f"{target!r} is the class column (--target), and cannot be in --drop or --kind too")
    extra = {
        option: known_column(name, names, f"--{option}") for option, name in aside.items() if name is not None
    }
    left_out = {known_column(name, names, "--drop") for name in columns.drop or ()}
    left_out |= set(bundled.identifiers if bundled else ()) - set(kinds or ())
    classes = table[target]
    _refuse_numbers(target, classes)
    if classes.null_count == len(table):
        raise ValueError(f"--target {target}: every cell is missing; {listed_columns(names)}")
    X = table.drop_columns([*dict.fromkeys([target, *extra.values(), *(left_out - {target})])])
    if not X.num_columns:
        raise ValueError(f"there is no column beside {target!r} to learn from")
    kinds = {name: kind for name, kind in (kinds or {}).items() if name in X.column_names} or None
    together = {option: table[name] for option, name in extra.items()}
    found = posterior.comparison.inputs.compared_table(X, classes, kinds=kinds, **together)
    return replace(found, target=target)


def _refuse_numbers(target: str, cells: Any) -> None:
    """Refuse a column of measurements as a column of classes."""
    if not (pa.types.is_floating(cells.type) or pa.types.is_integer(cells.type)):
        return
    distinct = cells.unique().drop_null()
    if posterior.comparison.inputs.too_many(len(distinct), len(cells)):
        raise ValueError(
            f"--target {target}: holds {len(distinct)} different numbers, where classes were expected; "
            "choose another column, or put the numbers into groups first"
        )
