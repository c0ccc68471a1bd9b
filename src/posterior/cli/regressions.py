"""Regressions on the command line: compared, and fitted into a file."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

import posterior
from posterior._plain import plain
from posterior._text import readable
from posterior._types import BEST
from posterior.cli.console import CommandConsole
from posterior.cli.tables import by_reason, columns_data, number, show_columns, table_of, with_error

if TYPE_CHECKING:  # models are imported when a table is read
    from posterior.comparison.regression import NumberTable, RegressionComparison, RegressionResult

FIGURES = (
    *("name", "title", "about", "log_score", "log_score_se", "r_squared", "absolute_error"),
    *("absolute_error_se", "root_mean_squared_error", "coverage", "interval_width", "fit_seconds"),
)


LOG_SCORE = (
    "log score: minus the log of the density that a model gave to the true number, on average; lower is "
    "better, by 0.69 where it gave twice as much"
)


def refuse_for_numbers(**given: Any) -> None:
    """Refuse options that only classes have."""
    option = next((name for name, value in given.items() if value is not None), None)
    if option is not None:
        flag = "--" + option.replace("_", "-")
        raise ValueError(
            f"{flag} is for classes, and the target is a number; leave it out, or pass --classes"
        )


def compare_numbers(
    console: CommandConsole, table: "NumberTable", models: Sequence[str] | None, **settings: Any
) -> "RegressionComparison":
    """Compare regressions, and show them unless JSON is asked for."""
    posterior.comparison.regression.regressions_named(models)
    if not console.as_json:
        show_numbers(console, table)
    with console.progress() as told:
        comparison = posterior.comparison.RegressionComparison.of(
            table, None, models=models, progress=told, **settings
        )
    if not console.as_json:
        show(console, comparison)
    return comparison


def show_numbers(console: CommandConsole, table: "NumberTable") -> None:
    """What was inferred about a table, before anything is done with it."""
    held = posterior.comparison.regression.described_numbers(table.y)
    console.tell(Text(f"{len(table):,} rows; {table.target}: {held}"))
    show_columns(console, table.rows)


def show(console: CommandConsole, comparison: "RegressionComparison") -> None:
    """The regressions, the best first, and what it means."""
    heads = [
        "model",
        "log score ↓",
        "R²",
        "absolute error",
        "RMSE",
        "in 90 % interval",
        "width",
    ]
    rows = [
        [
            Text(r.title, style="bold" if r is comparison.recommended else ""),
            with_error(r.log_score, r.log_score_se),
            number(r.r_squared),
            r.absolute_error_text,
            readable(r.root_mean_squared_error, 4),
            f"{100 * r.coverage:.1f} %",
            readable(r.interval_width, 4),
        ]
        for r in comparison.results
    ]
    console.say(Text(comparison.folds, style="dim"))
    console.say(table_of(heads, rows))
    console.tell(Text(LOG_SCORE, style="dim"))
    for reason, names in by_reason(comparison.left_out).items():
        console.tell(Text(f"not tried: {', '.join(names)} ({reason})", style="dim"))
    for note in comparison.notes:
        console.note(note)
    console.say(Text.assemble("\n", (comparison.recommendation, "bold")))


def numbers_data(table: "NumberTable", comparison: "RegressionComparison") -> dict[str, Any]:
    """The comparison for a script."""
    return {
        "rows": len(table),
        "target": table.target,
        "rows_without_number": table.dropped,
        "columns": columns_data(table.rows),
        "results": [{name: getattr(result, name) for name in FIGURES} for result in comparison.results],
        "recommended": comparison.recommended.name,
        "recommendation": comparison.recommendation,
        "ties": [result.name for result in comparison.ties],
        "left_out": comparison.left_out,
        "notes": list(comparison.notes),
        "folds": comparison.folds,
        "seed": comparison.seed,
    }


def fit_numbers(
    console: CommandConsole,
    table: "NumberTable",
    name: str,
    output: str,
    card: Mapping[str, Any],
    **settings: Any,
) -> dict[str, Any]:
    """Fit the best regression, or one by its name, into a file; return what is written beside it."""
    known = [each for each in posterior.comparison.REGRESSIONS if each != "mean"]
    if name not in (BEST, *known):
        raise ValueError(
            f"--model {name}: the target is a number; choose {BEST} (of a comparison), {', '.join(known)}, "
            "or pass --classes"
        )
    comparison = compare_numbers(console, table, None if name == BEST else [name], **settings)
    best = comparison.recommended
    if best.name == "mean":
        raise ValueError(
            f"nothing beats the mean of all rows; name a regression (--model {', '.join(known)})"
        )
    console.tell(Text(f"fitting {best.title} …", style="dim"))
    fitted = posterior.comparison.regression.fitted_to(best.estimator, table.design, table.y)
    about = {
        "model": best.name,
        "title": best.title,
        "approach": "regression",
        "target": table.target,
        "rows": len(table),
        "columns": list(table.schema.inputs),
        **card,
        "held_out": held_out_numbers(best),
    }
    posterior.persistence.save(fitted, output, about=plain(about))
    return about


def held_out_numbers(result: "RegressionResult") -> dict[str, Any]:
    """How well a regression does on rows it had not seen, as it is kept beside the model."""
    return {
        "absolute error": result.absolute_error,
        "R²": result.r_squared,
        "log score": result.log_score,
        "coverage": result.coverage,
    }
