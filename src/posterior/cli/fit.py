"""`posterior fit`: one model of a table, into a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.text import Text

import posterior
from posterior._plain import plain
from posterior._text import listed
from posterior._types import BEST
from posterior.cli.compare import show
from posterior.cli.console import CommandConsole
from posterior.cli.grouped import grouped
from posterior.cli.labelled import AsNumbers, read_either
from posterior.cli.model_files import held_out_words
from posterior.cli.options import ColumnOptions, FileOptions, MaxRows, OutputOptions, Seed, Target
from posterior.cli.outputs import refuse_output
from posterior.cli.regressions import fit_numbers, refuse_for_numbers
from posterior.cli.scanning import (
    ClusterAddress,
    DataFiles,
    EngineName,
    Weight,
    drawn_of,
    open_elsewhere,
    refuse_weight,
    scan_of,
    watched,
)
from posterior.cli.scanning import class_counts as scanned_counts
from posterior.cli.tables import show_reading
from posterior.schema import LabelledTable

if TYPE_CHECKING:
    from posterior.comparison import Result
    from posterior.comparison.scanned import DrawnScan


@grouped
def fit(
    data: DataFiles,
    reading: FileOptions,
    columns: ColumnOptions,
    talk: OutputOptions,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where the model is written.")
    ],
    target: Target = None,
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="NAME", help=f"{BEST} (of a comparison), {{models}}.")
    ] = BEST,
    calibration: Annotated[
        str | None,
        typer.Option("--calibration", metavar="HOW", help="Scale the posteriors: temperature or vector."),
    ] = None,
    keep: Annotated[
        str,
        typer.Option(
            "--keep",
            metavar="WHAT",
            help="summary: averages of held-out rows; rows: the scores and classes of each.",
        ),
    ] = "summary",
    date: Annotated[
        str, typer.Option("--date", metavar="DAY", help="Written into the file: when the table is from.")
    ] = "",
    note: Annotated[
        str, typer.Option("--note", metavar="TEXT", help="Written into the file, such as what it is for.")
    ] = "",
    engine: EngineName = None,
    cluster: ClusterAddress = None,
    weight: Weight = None,
    regression: AsNumbers = None,
    max_rows: MaxRows = 100_000,
    seed: Seed = 0,
) -> None:
    """Fit a model to a table, into a file.

    The file holds numbers and names and no program: it is safe to open.
    """
    console = CommandConsole(talk)
    refuse_model(model)
    if keep not in ("summary", "rows"):
        raise ValueError(f"--keep {keep}: choose summary, or rows")
    elsewhere = open_elsewhere(console, data, engine, reading, cluster=cluster)
    refuse_output(output, *(data if elsewhere is None else elsewhere.paths))
    refuse_weight(weight, elsewhere)
    scan, drawn = None, None
    with console.noticing():
        as_numbers = True if regression is None and model in posterior.comparison.REGRESSIONS else regression
        table: Any
        if elsewhere is None:
            table = read_either(console, data[0], target, reading, columns, as_numbers=as_numbers)
        else:
            scan = scan_of(elsewhere, target, columns, weight)
            drawn = drawn_of(console, scan, max_rows or None, as_numbers=as_numbers)
            table = drawn.table
        if isinstance(table, posterior.comparison.regression.NumberTable):
            refuse_for_numbers(calibration=calibration)
            card = {"date": date, "note": note, "reading": reading.options()}
            dealt = {"max_rows": max_rows or None, "seed": seed}
            told(console, fit_numbers(console, table, model, output, card, **dealt), output)
            return
        refuse_model(model, regressions=False)
        if not talk.json and drawn is None:
            show_reading(console, table)
        if model != BEST and (leaks := posterior.comparison.leaks.certain_leaks(table)):
            console.note(posterior.comparison.leaks.caution_of(leaks))
        best = _best(console, table, seed, max_rows or None, drawn) if model == BEST else None
        name = model if best is None else best.name
        candidate = posterior.comparison.MODELS[name]
        if unused := posterior.comparison.unused_by(name, table, None):
            console.note(
                f"{candidate.title} does not use {listed(unused)}, which it cannot describe; naive-bayes "
                "uses columns of every kind"
            )
        console.tell(Text(f"fitting {candidate.title} …", style="dim"))
        chosen = name if best is None else best.estimator
        rows = table if scan is None else scan
        with console.progress() as progress:
            fitted = posterior.workflow.train(
                watched(rows, engine, progress), None, chosen, calibration=calibration, seed=seed
            )
        about: dict[str, Any] = {
            "model": name,
            "title": candidate.title,
            "approach": candidate.approach,
            "target": table.target,
            "rows": len(table) if scan is None else scan.n_rows,
            "columns": list(table.schema.inputs),
            "classes": class_counts(table) if scan is None else scanned_counts(scan),
            "date": date,
            "note": note,
            "reading": reading.options(),
            "held_out": held_out(fitted),
            "coefficients": posterior.workflow.coefficient_table(fitted, rows, None),
        }
        posterior.persistence.save(
            fitted, output, about=plain(about), keep="rows" if keep == "rows" else "summary"
        )
    told(console, about, output)


def told(console: CommandConsole, about: Mapping[str, Any], output: str) -> None:
    """Say what was written, and what to do with it."""
    size = Path(output).stat().st_size
    if console.as_json:
        console.data({**about, "file": output, "bytes": size})
        return
    console.say(
        Text.assemble((about["title"], "bold"), f" of {about['rows']:,} rows in {output} ({size:,} bytes)")
    )
    if about["held_out"]:
        console.say(Text(held_out_words(about["held_out"], about.get("classes", {}))))
    console.tell(
        Text(f"next: posterior inspect {output}; posterior predict {output} DATA -o OUT", style="dim")
    )


def refuse_model(name: str, *, regressions: bool = True) -> None:
    """Refuse a model that there is not, before anything is read; or a regression, where there are classes."""
    if name != BEST and name not in {
        *posterior.comparison.MODELS,
        *(posterior.comparison.REGRESSIONS if regressions else ()),
    }:
        known = ", ".join(posterior.comparison.MODELS)
        raise ValueError(f"--model {name}: there is no such model; choose {BEST} (of a comparison), {known}")


def class_counts(table: LabelledTable) -> dict[str, int]:
    """How many rows each class has."""
    counts = np.bincount(table.codes, minlength=len(table.classes)).tolist()
    return dict(zip(map(str, table.classes.tolist()), counts, strict=True))


def held_out(model: Any) -> dict[str, Any]:
    """How well the model does on rows it had not seen, where any were held out; before any scaling."""
    learnt = getattr(model, "learnt_", None)
    if learnt is None or learnt.held_out is None:
        return {}
    rows = learnt.held_out
    losses = posterior.decision.log_loss_terms(rows.y, rows.log_posterior)
    right = rows.log_posterior.argmax(axis=1) == rows.y
    with np.errstate(invalid="ignore"):
        error = float(losses.std(ddof=1) / len(losses) ** 0.5)
    return {
        "before": "before calibration, " if model.calibration else "",
        "log loss": float(losses.mean()),
        "log loss error": error,
        "accuracy": float(right.mean()),
        "Brier score": float(posterior.decision.brier_score(rows.y, rows.log_posterior)),
    }


def _best(
    console: CommandConsole,
    table: LabelledTable,
    seed: int,
    max_rows: int | None,
    drawn: "DrawnScan | None" = None,
) -> "Result":
    """The model that a comparison recommends; rows that were `drawn` are compared as they are."""
    most = max_rows if drawn is None else None
    with console.progress() as told:
        comparison = posterior.comparison.Comparison.of(table, None, seed=seed, max_rows=most, progress=told)
    comparison = comparison if drawn is None else comparison.of_scan(drawn)
    if not console.as_json:
        show(console, comparison)
    if comparison.leaks:
        options = posterior.comparison.leaks.drop_options(comparison.leaks)
        console.note(f"the model is fitted with the columns that tell the class; {options} leaves them out")
    return comparison.recommended
