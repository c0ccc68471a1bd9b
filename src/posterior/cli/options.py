"""Options that commands share: how a file is read, what is said, what is decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from posterior import files
from posterior._text import did_you_mean, listed

if TYPE_CHECKING:  # the schema is imported when a table is read
    from posterior.schema import Kind

FILE = (
    "CSV, TSV, JSON lines, Parquet or Arrow, packed or not; Excel, SQLite or DuckDB (FILE#TABLE where there "
    "are several); - for standard input; or a bundled name."
)

Data = Annotated[str, typer.Argument(metavar="DATA", show_default=False, help=FILE)]
ModelFile = Annotated[
    str, typer.Argument(metavar="FILE", show_default=False, help="A model file that `posterior fit` wrote.")
]
Target = Annotated[str | None, typer.Option("--target", "-t", metavar="COL", help="The class column.")]
MaxRows = Annotated[
    int,
    typer.Option("--max-rows", min=0, help="Models are compared on so many rows of a larger table; 0: all."),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Everything random follows from it.")]


@dataclass(frozen=True)
class FileOptions:
    """How a table is read, and which of its columns are what."""

    missing: Annotated[
        list[str] | None,
        typer.Option(
            "--missing", metavar="TEXT", help='A cell that means a gap, such as "?"; may be repeated.'
        ),
    ] = None
    no_header: Annotated[bool, typer.Option("--no-header", help="The first line holds data, not names.")] = (
        False
    )
    names: Annotated[
        str | None,
        typer.Option("--names", metavar="A,B,…", help="Names of the columns, separated by commas."),
    ] = None
    quote: Annotated[str, typer.Option("--quote", metavar="CHAR", help="The quoting character, or none.")] = (
        '"'
    )
    delimiter: Annotated[
        str | None,
        typer.Option("--delimiter", metavar="CHAR", help="What separates cells; found out if not given."),
    ] = None
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="csv, tsv, jsonl, parquet, arrow, excel, sqlite, duckdb; found out if not given.",
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            "--encoding", metavar="NAME", help="Of text that is not UTF-8, such as cp1252 (Windows)."
        ),
    ] = None

    skip: Annotated[
        int | None,
        typer.Option("--skip", min=0, metavar="N", help="Lines above the header; found out if not given."),
    ] = None
    foot: Annotated[
        int, typer.Option("--foot", min=0, metavar="N", help="Rows below the table, such as a sum: left out.")
    ] = 0
    only_missing: Annotated[
        bool, typer.Option("--only-missing", help='Only what --missing names is a gap: "NA" is Namibia.')
    ] = False
    decimal: Annotated[str, typer.Option("--decimal", metavar="CHAR", help="The decimal mark: . or ,")] = "."

    def options(self) -> dict[str, Any]:
        """What `posterior.files.read` is called with."""
        return {
            "missing": tuple(self.missing or ()),
            "usual_missing": not self.only_missing,
            "header": not self.no_header,
            "names": None if self.names is None else tuple(self.names.split(",")),
            "quote": None if self.quote.lower() == "none" else self.quote,
            "delimiter": self.delimiter,
            "decimal": self.decimal,
            "format": self.format,
            "encoding": self.encoding,
            "skip": self.skip,
            "foot": self.foot,
        }

    def table(self, path: str) -> Any:
        """The whole table."""
        return files.read(path, **self.options())


@dataclass(frozen=True)
class ColumnOptions:
    """Which columns take part, and as what."""

    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="COL=KIND",
            help="What a column is: continuous, binary, categorical, count, text; or how it is written: "
            "date, day-first, month-first, decimal-comma, decimal-point.",
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        typer.Option("--drop", metavar="COL", help="A column to leave out; may be repeated."),
    ] = None

    def kinds(self, names: Sequence[str]) -> "dict[str, Kind] | None":
        """The kinds that were declared, by column."""
        declared: dict[str, Any] = {}  # the schema refuses kinds that there are not
        for entry in self.kind or ():
            name, equals, kind = entry.rpartition("=")
            if not equals or not name:
                raise ValueError(f"--kind {entry}: expected COL=KIND, such as --kind year=categorical")
            known_column(name.partition("[")[0] if name not in names else name, names, "--kind")
            declared[name] = kind
        return declared or None


@dataclass(frozen=True)
class OutputOptions:
    """How much is said, and in what form."""

    json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts, and nothing else.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say only what was asked for.")] = False


def known_column(name: str, names: Sequence[str], option: str) -> str:
    """A column's name, or the error that suggests others."""
    if name in names:
        return name
    hint = did_you_mean(name, names, 1)
    raise ValueError(
        f"{option}: there is no column {name!r}; {hint}{' ' if hint else ''}{listed_columns(names)}"
    )


def listed_columns(names: Sequence[str]) -> str:
    """The columns of a table, for a message.

    >>> listed_columns(["a", "b"])
    "the columns are 'a', 'b'"
    """
    return f"the columns are {listed(names, 12)}"
