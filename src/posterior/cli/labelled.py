"""The rows of a file with their classes, or with a number each, as commands that learn take them."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import pyarrow as pa
import typer

import posterior
from posterior import datasets, files
from posterior.cli.console import CommandConsole
from posterior.cli.options import ColumnOptions, FileOptions, known_column, listed_columns
from posterior.notices import DataWarning, warn
from posterior.schema import LabelledTable
from posterior.schema.cells import Numbers

if TYPE_CHECKING:  # models are imported when a table is read
    from posterior.comparison.regression import NumberTable

AsNumbers = Annotated[
    bool | None,
    typer.Option(
        "--regression/--classes",
        help="Predict the target as a number, or as a class; by what it holds if not given.",
    ),
]


@dataclass(frozen=True, eq=False)
class Parts:
    """The columns of a file: to learn from, to predict, and by which rows belong together."""

    X: Any
    cells: Any
    target: str
    kinds: Any
    together: dict[str, Any]

    def labelled(self) -> LabelledTable:
        """The rows with their classes."""
        found = posterior.comparison.inputs.compared_table(
            self.X, self.cells, kinds=self.kinds, **self.together
        )
        return replace(found, target=self.target)

    def numbered(self) -> "NumberTable":
        """The rows with the number of each."""
        return posterior.comparison.regression.number_table(
            self.X, self.cells, kinds=self.kinds, **self.together
        ).called(self.target)

    @property
    def holds_numbers(self) -> bool:
        """Whether the target looks like a number to predict rather than a class."""
        return _is_numeric(self.cells) and posterior.comparison.regression.looks_like_numbers(
            _values(self.cells)
        )


def read_labelled(
    path: str, target: str | None, reading: FileOptions, columns: ColumnOptions, **aside: str | None
) -> LabelledTable:
    """Read a file and take its class column out; `aside` are columns that say which rows belong together."""
    parts = _read(path, target, reading, columns, as_written=False, **aside)
    _refuse_numbers(parts.target, parts.cells)
    return parts.labelled()


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
    parts = _read(path, target, reading, columns, as_written=as_numbers is False, **aside)
    if as_numbers is None and parts.holds_numbers:
        held = posterior.comparison.regression.described_numbers(_values(parts.cells))
        console.note(
            f"{parts.target!r} looks like a number to predict ({held}): "
            "regressions are fitted; --classes takes each number as a class"
        )
        return parts.numbered()
    if as_numbers:
        if not _is_numeric(parts.cells):
            shown = parts.cells.drop_null()[0].as_py()
            raise ValueError(f"--regression: {parts.target!r} holds no numbers, but {shown!r} for one")
        return parts.numbered()
    return parts.labelled()


def _read(
    path: str,
    target: str | None,
    reading: FileOptions,
    columns: ColumnOptions,
    *,
    as_written: bool,
    **aside: str | None,
) -> Parts:
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
    if classes.null_count == len(table):
        raise ValueError(f"--target {target}: every cell is missing; {listed_columns(names)}")
    X = table.drop_columns([*dict.fromkeys([target, *extra.values(), *(left_out - {target})])])
    if not X.num_columns:
        raise ValueError(f"there is no column beside {target!r} to learn from")
    kinds = {name: kind for name, kind in (kinds or {}).items() if name in X.column_names} or None
    together = {option: table[name] for option, name in extra.items()}
    return Parts(X, classes if as_written else _as_read(target, classes), target, kinds, together)


def _as_read(target: str, cells: Any) -> Any:
    """The cells of the target as a column is read: numbers in disguise as numbers, spellings merged."""
    table = LabelledTable.unlabelled(pa.table({target: cells}))
    reading = next(iter(table.schema.readings), None)
    if reading is None or len(reading.outputs) != 1:  # a date, of which no single column is made
        return cells
    (read,) = reading.read(table.source.column(0))
    values = read.floats() if isinstance(read, Numbers) else read.objects()
    how = reading.reasons[0].removeprefix("strings, ")
    warn(f"{target!r} is read as {how}; --classes takes each cell as it is written", DataWarning)
    return pa.chunked_array([pa.array(values, from_pandas=True)])


def _is_numeric(cells: Any) -> bool:
    return bool(pa.types.is_floating(cells.type) or pa.types.is_integer(cells.type))


def _values(cells: Any) -> Any:
    return cells.drop_null().to_numpy()


def _refuse_numbers(target: str, cells: Any) -> None:
    """Refuse a column of measurements as a column of classes."""
    if not _is_numeric(cells):
        return
    distinct = cells.unique().drop_null()
    if posterior.comparison.inputs.too_many(len(distinct), len(cells)):
        raise ValueError(
            f"--target {target}: holds {len(distinct)} different numbers, where classes were expected: it "
            "looks like a number to predict, as `posterior compare` and `posterior fit` do; choose another "
            "column, or put the numbers into groups first"
        )
