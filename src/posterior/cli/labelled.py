"""The rows of a file with their classes, or with a number each, as commands that learn take them."""

from typing import TYPE_CHECKING, Annotated

import typer

import posterior
from posterior import datasets, files
from posterior.cli.console import CommandConsole
from posterior.cli.options import ColumnOptions, FileOptions, known_column, listed_columns
from posterior.schema import LabelledTable

if TYPE_CHECKING:  # models are imported when a table is read
    from posterior.comparison.inputs import GivenRows
    from posterior.comparison.regression import NumberTable

NUMERIC = "fiu"

AsNumbers = Annotated[
    bool | None,
    typer.Option(
        "--regression/--classes",
        help="Predict the target as a number, or as a class; by what it holds if not given.",
    ),
]


def read_labelled(
    path: str, target: str | None, reading: FileOptions, columns: ColumnOptions, **aside: str | None
) -> LabelledTable:
    """Read a file and take its class column out; `aside` are columns that say which rows belong together."""
    given = _read(path, target, reading, columns, as_written=False, **aside)
    _refuse_numbers(given)
    return posterior.comparison.inputs.labelled_rows(given)


def read_either(
    console: CommandConsole,
    path: str,
    target: str | None,
    reading: FileOptions,
    columns: ColumnOptions,
    *,
    as_numbers: bool | None,
    **aside: str | None,
) -> "LabelledTable | NumberTable":
    """Read a file whose target is a class or a number: as the user says, else as it looks, and say so."""
    given = _read(path, target, reading, columns, as_written=as_numbers is False, **aside)
    comparison, known = posterior.comparison, given.y.values[~given.y.gaps]
    if as_numbers is None and comparison.regression.looks_like_numbers(known):
        held = comparison.regression.described_numbers(known)
        console.note(
            f"{given.target!r} looks like a number to predict ({held}): "
            "regressions are fitted; --classes takes each number as a class"
        )
        return comparison.regression.numbered_rows(given)
    if as_numbers:
        if known.dtype.kind not in NUMERIC:
            raise ValueError(f"--regression: {given.target!r} holds no numbers, but {known[0]!r} for one")
        return comparison.regression.numbered_rows(given)
    return comparison.inputs.labelled_rows(given)


def _read(
    path: str,
    target: str | None,
    reading: FileOptions,
    columns: ColumnOptions,
    *,
    as_written: bool,
    **aside: str | None,
) -> "GivenRows":
    """The rows of a file, and its columns that are no features."""
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
    if target in (columns.drop or ()) or (kinds or {}).get(target, "categorical") != "categorical":
        raise ValueError(
            f"{target!r} is the class column (--target), and cannot be in --drop, nor in --kind unless "
            "as categorical"
        )
    extra = {
        option: known_column(name, names, f"--{option}") for option, name in aside.items() if name is not None
    }
    left_out = {known_column(name, names, "--drop") for name in columns.drop or ()}
    left_out |= set(bundled.identifiers if bundled else ()) - set(kinds or ())
    if table[target].null_count == len(table):
        raise ValueError(f"--target {target}: every cell is missing; {listed_columns(names)}")
    X = table.drop_columns(sorted(left_out - {target, *extra.values()}))
    if set(X.column_names) <= {target, *extra.values()}:
        raise ValueError(f"there is no column beside {target!r} to learn from")
    no_features = {*left_out, *extra.values()}
    declared = {name: kind for name, kind in (kinds or {}).items() if name not in no_features}
    if as_written:
        declared[target] = "categorical"
    return posterior.comparison.inputs.GivenRows.read(X, target, kinds=declared or None, **extra)


def _refuse_numbers(given: "GivenRows") -> None:
    """Refuse a number to predict as a column of classes: by what `compare` and `fit` take for one."""
    known = given.y.values[~given.y.gaps]
    regression = posterior.comparison.regression
    if not regression.looks_like_numbers(known):
        return
    held = regression.described_numbers(known)
    raise ValueError(
        f"--target {given.target}: looks like a number to predict, as `posterior compare` and `fit` do "
        f"({held}), and classes were expected; --kind {given.target}=categorical takes each number as one"
    )
