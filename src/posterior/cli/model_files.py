"""Model files as commands open them: the model, what is known of it, and the rows it is to look at."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import pyarrow as pa

from posterior import files
from posterior._text import listed, readable
from posterior.cli.options import FileOptions
from posterior.cli.tables import accuracy_words, number, with_error
from posterior.persistence import ModelFileError, describe, load
from posterior.schema import Column, Schema
from posterior.workflow import columns_read, needed_columns, schema_of

# What is told of rows held out: of classes, or of numbers.
HELD_OUT = (
    {"before", "log loss", "log loss error", "accuracy", "Brier score"},
    {"absolute error", "R²", "log score", "coverage"},
)


@dataclass(frozen=True)
class About:
    """What `posterior fit` wrote beside a model; each part is as it should be, or not there."""

    title: str = ""
    target: str = ""
    rows: int = 0
    columns: list[Any] = field(default_factory=list)
    classes: dict[str, Any] = field(default_factory=dict)
    date: str = ""
    note: str = ""
    reading: dict[str, Any] = field(default_factory=dict)
    held_out: dict[str, Any] = field(default_factory=dict)
    coefficients: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, found: dict[str, Any], path: str) -> "About":
        """Read it from a file, which anybody may have written."""
        parts = {}
        for part in fields(cls):
            value = found.get(part.name)
            if value is None:
                continue
            default = getattr(cls(), part.name)
            if not isinstance(value, type(default)) or not _fits(part.name, value):
                raise ModelFileError(f"{path}: what it says of its {part.name} makes no sense; fit it again")
            parts[part.name] = value
        return cls(**parts)


def _fits(name: str, value: Any) -> bool:
    if name == "reading":
        return set(value) <= set(FileOptions().options())
    if name == "classes":
        return all(type(count) is int and count >= 0 for count in value.values())
    if name == "held_out":
        return not value or any(set(value) >= known for known in HELD_OUT)
    if name == "coefficients":
        return not value or (isinstance(value.get("text"), str) and isinstance(value.get("how"), str))
    return True


@dataclass(frozen=True, eq=False)
class Opened:
    """A model, the facts that were written beside it, and how the rows of training were read."""

    model: Any
    about: About
    header: dict[str, Any]

    @property
    def schema(self) -> Schema:
        """The columns of training."""
        return schema_of(self.model)

    @cached_property
    def _needed(self) -> set[str]:
        return needed_columns(self.model)

    def batches(self, path: str, reading: FileOptions, rows: int = 65_536) -> Iterator[pa.Table]:
        """The rows of a file, read as those of training were unless the user says otherwise."""
        # A sum below the rows of training says nothing of what is below others.
        options = {**self.about.reading, "foot": 0, **_given(reading)}
        types = {name: _type(column) for name, column in columns_read(self.model).items()}
        # What is read from strings comes as it is written, and what is a number already as that.
        types |= {reading.name: "own" for reading in self.schema.readings}
        return files.batches(path, **options, types=types, rows=rows)

    def columns_of(self, table: pa.Table, path: str) -> pa.Table:
        """The columns of training: gaps where one is absent that the model does not look at."""
        found = set(table.column_names)
        absent = [name for name in self.schema.inputs if name not in found]
        if lacking := [name for name in absent if name in self._needed]:
            raise ValueError(
                f"{path} has no column {listed(lacking)}, which the model was fitted with; "
                f"it has {listed(table.column_names, 12)}"
            )
        gaps = pa.nulls(len(table))
        return pa.table({name: gaps if name in absent else table[name] for name in self.schema.inputs})


def held_out_words(found: Mapping[str, Any], classes: Mapping[str, int]) -> str:
    """How well a model does on rows it had not seen, in words; nothing where none were held out.

    `classes` are how many rows of training each class has.
    """
    if not found:
        return ""
    if "absolute error" in found:
        error, inside = readable(found["absolute error"]), f"{100 * found['coverage']:.0f} %"
        return (
            f"on rows held out: absolute error {error}, R² {number(found['R²'])}, log score "
            f"{number(found['log score'])} (lower is better), {inside} in their 90 % intervals"
        )
    loss = with_error(found["log loss"], found["log loss error"])
    right, brier = accuracy_words(found["accuracy"], classes), f"Brier score {number(found['Brier score'])}"
    how = f"{found['before']}settings chosen with all rows"
    return f"on rows held out ({how}): log loss {loss}, {right}, {brier}"


def open_model(path: str) -> Opened:
    """Open a model file; nothing in it is run."""
    model, header = load(path), describe(path)
    return Opened(model, About.of(header["about"], path), header)


def _given(reading: FileOptions) -> dict[str, Any]:
    """The options that differ from their defaults."""
    usual = FileOptions().options()
    return {name: value for name, value in reading.options().items() if value != usual[name]}


def _type(column: Column) -> str:
    if column.kind in {"continuous", "count"}:
        return "number"
    levels = column.levels
    if levels is None or any(isinstance(level, str) for level in levels):
        return "text"
    return "boolean" if all(isinstance(level, bool) for level in levels) else "number"
