"""What a kind of file is, as people have them, and how such files are written."""

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

N = 24
NOISE = [(7 * i) % 11 + 0.5 for i in range(N)]


@dataclass(frozen=True)
class EverydayFile:
    """A kind of file: `read_as` gives the first cells of columns, `says` is a part of what is said.

    `options` are those that change it, and `then` a part of what is said with them. `target` is the column to
    predict, where the kind of file is about that.
    """

    kind: str
    name: str
    write: Callable[[Path], Any]
    cells: str
    says: str
    options: str = ""
    then: str = ""
    read_as: dict[str, str] = field(default_factory=dict)
    target: str = ""
    refused: bool = False

    def arguments(self, options: Sequence[str] = ()) -> list[str]:
        """The command that says how the file is read."""
        name = self.name
        if options and options[0].startswith("#"):
            name, options = name + options[0], options[1:]
        if not self.target:
            return ["data", name, *options]
        fast = ["--models", "mean" if self.says.startswith("looks like a number") else "majority"]
        fast = [] if options == ["--regression"] else fast
        return ["compare", name, "-t", self.target, *fast, "--folds", "2", "--repeats", "1", *options]


def lines(head: str, cells: Iterable[Any], mark: str = ",", n: int = N) -> str:
    """A table in text: a column of some cells, over and over, and one of numbers."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=mark, lineterminator="\n")
    known = list(cells)
    writer.writerows([[head, "v"], *([known[i % len(known)], NOISE[i % N]] for i in range(n))])
    return out.getvalue()


def text(content: str, encoding: str = "utf-8") -> Callable[[Path], Any]:
    """A file of text."""
    return lambda path: path.write_bytes(content.encode(encoding))


def column(head: str, *cells: Any, mark: str = ",", n: int = N) -> Callable[[Path], Any]:
    """A file with a column of some cells, over and over, and one of numbers."""
    return text(lines(head, cells, mark, n))


def classes(head: str, cells: Sequence[Any], n: int = 60) -> Callable[[Path], Any]:
    """A file with a number, and a column to predict."""
    rows = [f"{(37 * i) % 61},{cells[i % len(cells)]}" for i in range(n)]
    return text("\n".join([f"x,{head}", *rows]) + "\n")


def packed(content: str, name: str) -> Callable[[Path], Any]:
    """An archive that holds one file."""

    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, content)

    return write


def json_text(value: Any) -> Callable[[Path], Any]:
    """A JSON document."""
    return text(json.dumps(value))


def json_lines(*rows: dict[str, Any]) -> Callable[[Path], Any]:
    """An object in every line, over and over."""
    return text("\n".join(json.dumps(rows[i % len(rows)]) for i in range(N)))


def columnar(path: Path) -> None:
    """A Parquet or Arrow file of dates, decimals and categories."""
    import datetime
    from decimal import Decimal

    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet as pq

    days = [datetime.date(2024, 1, 5) + datetime.timedelta(37 * i) for i in range(N)]
    table = pa.table(
        {
            "day": days,
            "price": [Decimal(f"{i}.25") for i in range(N)],
            "city": pa.array([("Rome", "Oslo", "Bonn")[i % 3] for i in range(N)]).dictionary_encode(),
        }
    )
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        pa.feather.write_feather(table, path)


def sheets(path: Path) -> None:
    """A workbook of two sheets, the first with a title above its header."""
    import datetime

    import xlsxwriter

    with xlsxwriter.Workbook(path) as book:
        day = book.add_format({"num_format": "dd.mm.yyyy"})
        sheet = book.add_worksheet("sales")
        sheet.write(0, 0, "Sales of 2024")
        sheet.write_row(2, 0, ["day", "shop", "sum"])
        for i in range(N):
            sheet.write_datetime(3 + i, 0, datetime.datetime(2024, 1, 5) + datetime.timedelta(37 * i), day)
            sheet.write_row(3 + i, 1, [("Rome", "Oslo")[i % 2], NOISE[i]])
        book.add_worksheet("notes").write_row(0, 0, ["nothing", "here"])


def database(path: Path) -> None:
    """An SQLite or DuckDB file of two tables."""
    statements = [
        "CREATE TABLE orders (amount DOUBLE, country VARCHAR)",
        *(f"INSERT INTO orders VALUES ({NOISE[i]}, '{('DE', 'FR')[i % 2]}')" for i in range(N)),  # noqa: S608
        "CREATE TABLE customers (name VARCHAR)",
    ]
    if path.suffix == ".db":
        import sqlite3

        connection: Any = sqlite3.connect(path)
    else:
        import duckdb

        connection = duckdb.connect(str(path))
    for statement in statements:
        connection.execute(statement)
    if path.suffix == ".db":
        connection.commit()
    connection.close()
