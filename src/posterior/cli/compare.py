"""`posterior compare`: every sensible model of a table, on rows it has not seen."""

from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

import posterior
from posterior._text import listed, rate_text
from posterior.cli.console import CommandConsole
from posterior.cli.decision_options import COSTS, is_file, label_of, read_costs
from posterior.cli.grouped import grouped, words_of
from posterior.cli.labelled import AsNumbers, read_either
from posterior.cli.options import ColumnOptions, FileOptions, MaxRows, OutputOptions, Seed, Target
from posterior.cli.outputs import refuse_output
from posterior.cli.regressions import compare_numbers, numbers_data, refuse_for_numbers
from posterior.cli.scanning import (
    ClusterAddress,
    DataFiles,
    EngineName,
    Weight,
    drawn_of,
    open_elsewhere,
    refuse_weight,
    scan_of,
)
from posterior.cli.tables import by_reason, number, schema_data, show_reading, table_of, with_error
from posterior.schema import LabelledTable

if TYPE_CHECKING:
    from posterior.comparison import Comparison, Result


@grouped
def compare(
    data: DataFiles,
    reading: FileOptions,
    columns: ColumnOptions,
    talk: OutputOptions,
    target: Target = None,
    models: Annotated[
        str | None,
        typer.Option("--models", metavar="A,B,…", help="Which models, or module:Class; all if not given."),
    ] = None,
    folds: Annotated[
        int | None, typer.Option("--folds", min=2, help="How many parts; chosen by the rows if not given.")
    ] = None,
    repeats: Annotated[
        int | None, typer.Option("--repeats", min=1, help="How often rows are dealt out anew.")
    ] = None,
    groups: Annotated[
        str | None, typer.Option("--groups", metavar="COL", help="Rows with the same value stay together.")
    ] = None,
    time: Annotated[
        str | None, typer.Option("--time", metavar="COL", help="Later rows are predicted from earlier ones.")
    ] = None,
    costs: Annotated[str | None, typer.Option("--costs", metavar="TEXT|FILE", help=COSTS)] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            "--positive",
            metavar="CLASS",
            help="Which of two classes is looked for; yes, bad, 1 or the like, else the rarer.",
        ),
    ] = None,
    false_alarms: Annotated[
        float,
        typer.Option(
            "--false-alarms", min=0, max=1, help="Share of the other class that may be lost to find it."
        ),
    ] = 0.005,
    report: Annotated[
        str | None, typer.Option("--report", metavar="FILE", help="Write a report, an HTML file to look at.")
    ] = None,
    engine: EngineName = None,
    cluster: ClusterAddress = None,
    weight: Weight = None,
    regression: AsNumbers = None,
    reference: Annotated[
        bool,
        typer.Option("--reference/--no-reference", help="Gradient boosting beside ours, to compare with."),
    ] = True,
    max_rows: MaxRows = 100_000,
    seed: Seed = 0,
) -> None:
    """Compare every sensible model of a table.

    By cross-validation, on the table as it is: numbers, categories, text, gaps. One model is recommended.
    Where the target is a number, regressions are compared.
    """
    console = CommandConsole(talk)
    chosen = None if models is None else [name.strip() for name in models.split(",")]
    elsewhere, drawn = open_elsewhere(console, data, engine, reading, cluster=cluster), None
    if report is not None:
        inputs = data if elsewhere is None else elsewhere.paths
        refuse_output(report, *inputs, *([costs] if costs is not None and is_file(costs) else []))
    refuse_weight(weight, elsewhere)
    with console.noticing():
        table: Any
        if elsewhere is None:
            table = read_either(
                console, data[0], target, reading, columns, as_numbers=regression, groups=groups, time=time
            )
        else:
            scan, most = scan_of(elsewhere, target, columns, weight), max_rows or None
            drawn = drawn_of(console, scan, most, as_numbers=regression, groups=groups, time=time)
            table, max_rows = drawn.table, 0
        if isinstance(table, posterior.comparison.regression.NumberTable):
            refuse_for_numbers(costs=costs, positive=positive, report=report)
            dealt = {"folds": folds, "repeats": repeats, "max_rows": max_rows or None, "seed": seed}
            numbers = compare_numbers(console, table, chosen, **dealt)
            console.data(numbers_data(table, numbers))
            return
        classes = table.classes.tolist()
        if not talk.json and drawn is None:
            show_reading(console, table)
        with console.progress() as told:
            comparison = posterior.comparison.Comparison.of(
                table,
                None,
                models=None if chosen is None else [_model(name) for name in chosen],
                folds=folds,
                repeats=repeats,
                costs=None if costs is None else read_costs(costs, classes),
                positive=None if positive is None else label_of(positive, classes, "--positive"),
                false_alarms=false_alarms,
                seed=seed,
                reference=reference,
                max_rows=max_rows or None,
                progress=told,
            )
        found = comparison if drawn is None else comparison.of_scan(drawn)
        if not talk.json:
            show(console, found)
        options, source = [*words_of(reading), *words_of(columns)], listed(data, 2) if drawn else data[0]
        where = None if report is None else write(console, comparison, table, source, report, options)
    comparison = found
    if talk.json:
        console.data({**schema_data(table), **comparison_data(comparison), "report": where})
    elif where is not None:
        console.say(Text.assemble(("report: ", "bold"), where))


def _model(name: str) -> Any:
    """A name of ours as it is; an estimator of `module:Class`, with its settings as they come."""
    module, colon, kind = name.partition(":")
    if not colon:
        return name
    try:
        return getattr(import_module(module), kind)()
    except (ImportError, AttributeError, TypeError) as error:
        raise ValueError(
            f"--models {name}: {error}; give it as module:Class, a class that needs no settings"
        ) from error


def show(console: CommandConsole, comparison: "Comparison") -> None:
    """The leaderboard, what it means, and what was not tried."""
    if comparison.caution and not console.err.quiet:
        console.say(Text(comparison.caution + "\n", style="bold yellow"))
    heads, rows = leaderboard(comparison, console.out.width)
    console.say(Text(comparison.folds, style="dim"))
    console.say(table_of(heads, rows, left=2))
    if console.err.quiet:
        console.say(Text(comparison.recommendation))
        return
    if "recall" in heads:
        share = f"{100 * comparison.false_alarms:g} %"
        chosen = (
            "" if comparison.positive_why == "as asked" else f" ({comparison.positive_why}; or --positive)"
        )
        told = f"recall: {comparison.positive}{chosen} found where {share} of the others are lost"
        console.tell(Text(told, style="dim"))
    for reason, names in by_reason(comparison.left_out).items():
        console.tell(Text(f"not tried: {', '.join(names)} ({reason})", style="dim"))
    for each in comparison.pruned:
        console.tell(Text(f"not tried further: {each.title} ({each.reason})", style="dim"))
    for note in comparison.notes:
        console.note(note)
    if comparison.imbalance:
        console.say(Text.assemble("\n", (comparison.imbalance, "bold yellow")))
    console.say(Text.assemble("\n", (comparison.verdict, "bold")))


def leaderboard(comparison: "Comparison", width: int) -> tuple[list[str], list[list[Any]]]:
    """Heads and rows of the table of results, without columns that no model has or that are too many."""
    seconds = posterior.comparison.printing.seconds
    best = {result.name for result in (comparison.recommended, *comparison.ties)}
    ways: list[tuple[str, Any]] = [
        ("model", lambda r: Text(r.title, style="bold" if r.name == comparison.recommended.name else "")),
        ("", lambda r: r.approach),
        ("log loss", lambda r: with_error(r.log_loss, r.log_loss_se)),
        ("ties", lambda r: "=" if r.name in best and comparison.ties else ""),
        ("accuracy", lambda r: rate_text(r.accuracy)),
        ("Brier", lambda r: number(r.brier)),
        ("calib.", lambda r: number(r.calibration_error)),
        ("AUC", lambda r: number(r.roc_auc)),
        ("recall", lambda r: number(r.recall_at)),
        ("cost", lambda r: number(r.average_cost)),
        ("params", lambda r: "–" if r.n_parameters is None else f"{r.n_parameters:,}"),
        ("fit", lambda r: seconds(r.fit_seconds)),
        ("predict", lambda r: seconds(r.predict_seconds)),
    ]
    cells = [(head, [show(result) for result in comparison.shown]) for head, show in ways]
    kept = [(head, column) for head, column in cells if any(str(cell) not in {"–", ""} for cell in column)]
    kept = fitting(kept, width)
    return [head for head, _ in kept], [
        list(row) for row in zip(*(column for _, column in kept), strict=True)
    ]


# What a narrow window does without, the first first; --json and the report have all.
LEAST = ("predict", "fit", "Brier", "params", "calib.", "AUC", "ties")
GAP = 3  # characters between columns


def fitting(columns: list[tuple[str, list[Any]]], width: int) -> list[tuple[str, list[Any]]]:
    """The columns of a table that a line of so many characters has room for.

    >>> fitting([("model", ["lda"]), ("fit", ["3 ms"])], 12)
    [('model', ['lda'])]
    """

    def needed(columns: list[tuple[str, list[Any]]]) -> int:
        return sum(GAP + max(len(str(cell)) for cell in (head, *cells)) for head, cells in columns)

    for least in LEAST:
        if needed(columns) > width:
            columns = [column for column in columns if column[0] != least]
    return columns


FIGURES = (
    *("name", "title", "approach", "about", "columns"),
    *("log_loss", "log_loss_se", "accuracy", "accuracy_se", "brier", "calibration_error"),
    *("average_cost", "roc_auc", "recall_at", "n_parameters", "fit_seconds", "predict_seconds"),
)


def comparison_data(comparison: "Comparison") -> dict[str, Any]:
    """The comparison for a script."""
    return {
        "results": [figures(result) for result in comparison.results],
        "reference": None if comparison.reference is None else figures(comparison.reference),
        "recommended": comparison.recommended.name,
        "recommendation": comparison.recommendation,
        "ties": [result.name for result in comparison.ties],
        "left_out": comparison.left_out,
        "pruned": [asdict(each) | {"reason": each.reason} for each in comparison.pruned],
        "notes": list(comparison.notes),
        "caution": comparison.caution,
        "imbalance": comparison.imbalance,
        "leaks": [asdict(leak) for leak in comparison.leaks],
        "without_leaks": None
        if comparison.without_leaks is None
        else comparison_data(comparison.without_leaks),
        "folds": comparison.folds,
        "seed": comparison.seed,
        "positive": comparison.positive,
        "positive_why": comparison.positive_why,
        "false_alarms": comparison.false_alarms,
    }


def figures(result: "Result") -> dict[str, Any]:
    """One model's figures."""
    return {name: getattr(result, name) for name in FIGURES}


def write(
    console: CommandConsole,
    comparison: "Comparison",
    table: LabelledTable,
    source: str,
    path: str,
    options: Sequence[str],
) -> str:
    """Write the report and return where it is."""
    with console.progress() as told:
        written = posterior.report.write_report(
            comparison,
            table,
            None,
            path,
            source=source,
            target=table.target,
            options=options,
            progress=told,
        )
    return str(Path(written).resolve())
