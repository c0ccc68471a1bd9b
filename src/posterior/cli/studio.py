"""`posterior studio`: a page where priors, costs, rejecting and outliers of a model can be moved."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer
from rich.text import Text

import posterior
from posterior import files
from posterior._plain import written
from posterior._text import listed
from posterior._types import BEST
from posterior.cli.console import CommandConsole
from posterior.cli.decision_options import DecisionOptions
from posterior.cli.fit import class_counts, refuse_model
from posterior.cli.grouped import grouped
from posterior.cli.labelled import read_labelled
from posterior.cli.model_files import Opened, open_model
from posterior.cli.options import FILE, ColumnOptions, FileOptions, MaxRows, OutputOptions, Seed, Target
from posterior.cli.outputs import refuse_output
from posterior.cli.tables import show_reading
from posterior.schema.readings.spellings import known_spelling
from posterior.studio.content import Subject
from posterior.studio.making import GIVEN, TRAINING, subject_of
from posterior.studio.page import page_of
from posterior.studio.state import page_settings


@grouped
def studio(
    source: Annotated[
        str,
        typer.Argument(metavar="DATA_OR_MODEL", show_default=False, help=f"A model file, or a table: {FILE}"),
    ],
    reading: FileOptions,
    columns: ColumnOptions,
    decision: DecisionOptions,
    talk: OutputOptions,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where the page is written.")
    ] = "studio.html",
    rows: Annotated[
        str | None,
        typer.Option("--rows", metavar="DATA", help="Rows with their classes that a model file judges."),
    ] = None,
    no_rows: Annotated[
        bool, typer.Option("--no-rows", help="Keep averages of rows with like posteriors, and no row.")
    ] = False,
    target: Target = None,
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="NAME", help=f"{BEST} (of a comparison), {{models}}.")
    ] = BEST,
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="The heading of the page.")] = "",
    max_rows: MaxRows = 100_000,
    seed: Seed = 0,
) -> None:
    """Write a page where priors, costs and thresholds can be moved.

    One HTML file that holds held-out posteriors, needs no network, and shows the command of every setting.
    Decision options say where it begins.
    """
    console = CommandConsole(talk)
    refuse_output(output, source, *([rows] if rows else []), *decision.files)
    with console.noticing():
        if _is_model(source):
            _refuse_for_models(target, model, columns)
            subject = _of_model(open_model(source), source, rows, reading, decision, keep=not no_rows)
        else:
            if rows is not None:
                raise ValueError(
                    f"--rows {rows}: {source} is a table, whose own rows are shown; --rows goes with a model"
                )
            subject = _of_table(
                console,
                source,
                target,
                model,
                reading,
                columns,
                decision,
                (max_rows or None, seed),
                not no_rows,
            )
        page = page_of(subject, title=title or None, seed=seed)
        with files.writing(output) as out:
            out.write(page.encode("utf-8"))
    _told(console, subject, output, len(page.encode("utf-8")))


def _told(console: CommandConsole, subject: Subject, output: str, size: int) -> None:
    n = len(subject.rows.y)
    if console.as_json:
        console.data({"file": output, "bytes": size, "rows": n, "averaged": subject.rows.averaged})
        return
    what = f"{n:,} averages of rows" if subject.rows.averaged else f"{n:,} rows"
    console.say(Text(f"{what} in {output} ({size:,} bytes): open it in a browser"))


def _is_model(path: str) -> bool:
    """Whether a path is a file that begins as model files do, or is called as one."""
    if files.is_bundled(path) or path == "-":
        return False
    where = Path(path).expanduser()
    if not where.is_file():
        return where.suffix == ".posterior"
    with where.open("rb") as file:
        return where.suffix == ".posterior" or file.read(12)[8:10] == b'{"'


def _refuse_for_models(target: str | None, model: str, columns: ColumnOptions) -> None:
    given: dict[str, Any] = {"--target": target, "--model": None if model == BEST else model}
    given |= {"--kind": columns.kind, "--drop": columns.drop}
    if found := [option for option, value in given.items() if value]:
        raise ValueError(f"{listed(found)}: a model file has its columns and its class already; leave it out")


def _of_table(  # the options of the command, and what they were read from
    console: CommandConsole,
    source: str,
    target: str | None,
    model: str,
    reading: FileOptions,
    columns: ColumnOptions,
    decision: DecisionOptions,
    drawn: tuple[int | None, int],
    keep: bool,
) -> Subject:
    refuse_model(model, regressions=False)
    max_rows, seed = drawn
    table = read_labelled(source, target, reading, columns)
    settings = decision.settings(table.classes.tolist())
    page_settings(settings, table.classes)  # refused before anything is fitted
    if not console.as_json:
        show_reading(console, table)
    chosen: Any = model
    if model == BEST:
        with console.progress() as told:
            found = posterior.comparison.Comparison.of(
                table, None, seed=seed, max_rows=max_rows, progress=told
            ).recommended
        model, chosen = found.name, found.estimator
    console.tell(Text(f"{posterior.comparison.MODELS[model].title} on rows held out …", style="dim"))
    return subject_of(
        table,
        None,
        chosen,
        rows=keep,
        seed=seed,
        decision=settings,
        names={"data": source, "target": str(table.target or ""), "name": model},
    )


def _of_model(
    opened: Opened,
    path: str,
    rows: str | None,
    reading: FileOptions,
    decision: DecisionOptions,
    *,
    keep: bool,
) -> Subject:
    if not hasattr(opened.model, "classes_") or not hasattr(opened.model, "predict_log_proba"):
        raise ValueError(
            f"{path} holds {type(opened.model).__name__}, which gives no posteriors of classes to decide by"
        )
    names = {"model": path, "target": opened.about.target}
    labels = opened.model.classes_.tolist()
    settings = decision.settings(labels)
    if rows is None:
        return subject_of(opened.model, None, rows=False, decision=settings, names=names)
    X, y = _rows_of(opened, rows, reading)
    subject = subject_of(X, y, opened.model, rows=keep, decision=settings, names={**names, "rows": rows})
    counts = dict(zip(map(str, labels), np.bincount(subject.rows.y, minlength=len(labels)), strict=True))
    if keep and subject.table is not None:
        counts = class_counts(subject.table)
    return Subject(**{**vars(subject), "origin": _origin(counts, opened.about.classes)})


def _origin(counts: Mapping[str, Any], trained: Mapping[str, int]) -> str:
    return TRAINING if trained and dict(counts) == dict(trained) else GIVEN


def _rows_of(opened: Opened, path: str, reading: FileOptions) -> tuple[pa.Table, list[Any]]:
    """The rows of a file that have a class which the model knows, and these classes."""
    table = pa.concat_tables(opened.batches(path, reading))
    target = opened.about.target
    if target not in table.column_names:
        raise ValueError(
            f"{path} has no column {target!r}, the class of each row: a studio page shows what settings "
            f"would have done to rows of known class; it has {listed(table.column_names, 12)}"
        )
    place = {written(label): label for label in opened.model.classes_.tolist()}
    cells = table[target].to_pylist()
    labels = [
        None if cell is None else place.get(known_spelling(written(cell), place) or "") for cell in cells
    ]
    known = [i for i, label in enumerate(labels) if label is not None]
    if not known:
        raise ValueError(f"{path} has no row of a class that the model knows: {listed(list(place))}")
    some = table.take(known)
    return opened.columns_of(some, path), [labels[i] for i in known]
