"""Tables that commands scan where they lie: patterns, folders, several files, large Parquet files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

import posterior
from posterior._loading import load_module
from posterior._text import counted, listed
from posterior._types import Progress
from posterior.cli.closing import when_it_ends
from posterior.cli.console import CommandConsole
from posterior.cli.grouped import words_of
from posterior.cli.options import FILE, ColumnOptions, FileOptions, known_column, listed_columns
from posterior.cli.tables import show_reading

if TYPE_CHECKING:  # models and engines are imported when a table is read
    from posterior.comparison.scanned import DrawnScan

# Bytes of a Parquet file beyond which it is scanned unless the user says otherwise.
LARGE = 10**9
# Clusters that read files: the module that connects to one, and what ends the connection.
CLUSTERS = {"dask": ("posterior.engines.dask", "close"), "spark": ("posterior.engines.spark", "stop")}
ENGINES = ("memory", "arrow", *CLUSTERS)
WILD = "*?["
HOW = "--engine memory reads one file as a whole"

DataFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA...",
        show_default=False,
        help=f"{FILE} Several files, a pattern such as 'data/*.parquet' or a folder are scanned.",
    ),
]
EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="Who reads rows: memory (one file as a whole), arrow (scans files), dask, spark; by the files "
        "if not given.",
    ),
]
ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Dask's scheduler (tcp://host:8786) or Spark's master (spark://host:7077); as they are "
        "configured, else this machine, if not given.",
    ),
]
Weight = Annotated[
    str | None,
    typer.Option("--weight", metavar="COL", help="The column of row weights, of files that are scanned."),
]


def open_elsewhere(
    console: CommandConsole,
    data: Sequence[str],
    engine: str | None,
    reading: FileOptions,
    *,
    cluster: str | None = None,
    large: int | None = LARGE,
) -> Any:
    """The engine that scans some files; None where they are one file that is read into memory.

    A Parquet file of more than `large` bytes is scanned too.
    """
    if engine is not None and engine not in ENGINES:
        raise ValueError(f"--engine {engine}: choose one of {', '.join(ENGINES)}")
    if cluster is not None and engine not in CLUSTERS:
        raise ValueError(f"--cluster {cluster}: whose is it? Pass --engine dask or --engine spark too")
    several, why = _several(data), _reason(data, large)
    if engine == "memory" and several:
        raise ValueError(f"--engine memory reads one file as a whole, found {several}; name one file")
    if engine == "memory" or (engine is None and not why):
        return None
    given = words_of(reading)
    if given:
        raise ValueError(
            f"{given[0]} is for one file that is read into memory, and {listed(data, 2)} would be scanned; "
            "leave it out, or pass --engine memory"
        )
    source = data[0] if len(data) == 1 else list(data)
    client = _connected(engine, cluster) if engine in CLUSTERS else "arrow"
    opened = posterior.scan(source, engine=client).engine
    if engine is None:
        console.note(f"{why} scanned, not read into memory ({HOW})")
    return opened


def _connected(engine: str, address: str | None) -> Any:
    """A client of a cluster, which is closed when the command ends."""
    module, close = CLUSTERS[engine]
    client = load_module(module).connected(address)
    when_it_ends(getattr(client, close))
    return client


def _several(data: Sequence[str]) -> str:
    """What more than one file is, in words; empty for one file."""
    if len(data) > 1:
        return counted(len(data), "file")
    if "://" in data[0] and load_module("posterior.engines.stores").is_address(data[0]):
        return f"the address {data[0]}"
    path = Path(data[0]).expanduser()
    if path.is_dir():
        return f"the folder {data[0]}"
    wild = any(sign in data[0] for sign in WILD) and not path.exists()
    return f"the pattern {data[0]}" if wild else ""


def _reason(data: Sequence[str], large: int | None) -> str:
    """Why files are scanned, as the beginning of a sentence; empty where they are not."""
    if several := _several(data):
        return f"{several} is"
    path = Path(data[0]).expanduser()
    if large is None or path.suffix.lower() not in (".parquet", ".pq") or not path.is_file():
        return ""
    return f"{data[0]}, of more than {large:,} bytes, is" if path.stat().st_size > large else ""


def scan_of(engine: Any, target: str | None, columns: ColumnOptions, weight: str | None) -> Any:
    """The scan of an engine, its columns checked as those of a file are."""
    names = engine.schema.names
    if target is None:
        raise ValueError(f"which column holds the classes? Pass --target COL; {listed_columns(names)}")
    known_column(target, names, "--target")
    if weight is not None:
        known_column(weight, names, "--weight")
    left_out = {known_column(name, names, "--drop") for name in columns.drop or ()}
    kinds = {name: kind for name, kind in (columns.kinds(names) or {}).items() if name not in left_out}
    if target in left_out or kinds.pop(target, "categorical") != "categorical":
        raise ValueError(
            f"{target!r} is the class column (--target), and cannot be in --drop, nor in --kind unless "
            "as categorical"
        )
    kept = [name for name in names if name not in {target, weight, *left_out}]
    if not kept:
        raise ValueError(f"there is no column beside {target!r} to learn from")
    return posterior.scan(engine, target, weight=weight, columns=kept, kinds=kinds or None, unlabelled="drop")


def refuse_weight(weight: str | None, engine: Any) -> None:
    """Refuse weights of rows that are read into memory."""
    if weight is not None and engine is None:
        raise ValueError(f"--weight {weight}: rows have weights where files are scanned; pass --engine arrow")


def refuse_numbers(scan: Any, as_numbers: bool | None) -> None:
    """Refuse a target that is a number to predict, which only rows in memory are compared by."""
    found = scan.survey.levels[scan.target].counts
    values = None if found is None else np.array(list(found))
    many = values is None or posterior.comparison.regression.looks_like_numbers(values)
    if as_numbers or (as_numbers is None and many):
        raise ValueError(
            f"--target {scan.target}: holds numbers to predict, and files that are scanned are classified; "
            "fit LinearRegression() to posterior.scan(…) in Python, pass --engine memory with one file, or "
            "--classes to take each number as a class"
        )


def drawn_of(
    console: CommandConsole,
    scan: Any,
    max_rows: int | None,
    *,
    as_numbers: bool | None = None,
    groups: str | None = None,
    time: str | None = None,
) -> "DrawnScan":
    """Rows drawn from a scan, to look at and to compare models on; what they are is shown."""
    for option, name in (("--groups", groups), ("--time", time)):
        if name is not None:
            known_column(name, scan.names, option)
    refuse_numbers(scan, as_numbers)
    drawn = posterior.comparison.scanned.DrawnScan.of(scan, None, max_rows, groups=groups, time=time)
    if not console.as_json:
        console.tell(f"{scan.n_rows:,} rows in {listed(list(scan.engine.paths), 2)}; drawn from them:")
        show_reading(console, drawn.table)
        for note in drawn.notes:
            console.note(note)
    return drawn


def class_counts(scan: Any) -> dict[str, int]:
    """How many rows each class of a scan has."""
    counts = scan.survey.levels[scan.target].counts
    return {str(label): int(counts[label]) for label in scan.classes.tolist()}


def watched(rows: Any, engine: str | None, progress: Progress) -> Any:
    """A scan whose readings by this process are shown; rows in memory or on a cluster as they are."""
    return rows if engine in CLUSTERS or not hasattr(rows, "watched") else rows.watched(progress)
