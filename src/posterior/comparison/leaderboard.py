"""A comparison as a table: columns for a data frame, lines of text, and HTML."""

import html
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from posterior._text import aligned, rate_text
from posterior.comparison.printing import loss_text
from posterior.comparison.result import Result

MEASURES = (
    "approach", "log_loss", "log_loss_se", "accuracy", "accuracy_se", "brier", "calibration_error",
    "average_cost", "average_cost_se", "roc_auc", "recall_at", "n_parameters", "fit_seconds",
    "predict_seconds",
)  # fmt: skip


def columns_of(results: Sequence[Result], best: Collection[str]) -> dict[str, list[Any]]:
    """Columns with an entry for each result, without those that none has; `tie` marks the best."""
    columns: dict[str, list[Any]] = {"model": [r.name for r in results]}
    columns |= {name: [getattr(r, name) for r in results] for name in MEASURES}
    columns["tie"] = [r.name in best for r in results]
    return {name: values for name, values in columns.items() if any(v is not None for v in values)}


def as_text(columns: Mapping[str, Sequence[Any]]) -> list[str]:
    """Lines of a table."""
    return aligned(_cells(columns), left=2)


def as_html(columns: Mapping[str, Sequence[Any]], above: str, below: str) -> str:
    """An HTML table between two paragraphs."""
    heads, *rows = [[html.escape(cell) for cell in row] for row in _cells(columns)]
    head = "".join(f"<th>{cell}</th>" for cell in heads)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<p>{html.escape(above)}</p>{table}<p>{html.escape(below)}</p>"


def _cells(columns: Mapping[str, Sequence[Any]]) -> list[list[str]]:
    heads = [name.replace("_", " ") for name in columns]
    told = [[_cell(value, name) for value in values] for name, values in columns.items()]
    return [heads, *(list(row) for row in zip(*told, strict=True))]


def _cell(value: Any, column: str) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "=" if value else ""
    if isinstance(value, float):
        return rate_text(value) if column == "accuracy" else loss_text(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
