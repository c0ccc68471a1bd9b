"""What log losses by row say: a summary small enough to keep, and the tables of docs/how-good.md."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.readme import table

SUMMARY = Path(__file__).parent / "results" / "quality.json"
PAGE = Path(__file__).parents[1] / "docs" / "how-good.md"
TREES = (
    "random forest",
    "gradient boosting",
    "random forest, calibrated",
    "gradient boosting, calibrated",
)
OURS = "recommended"
# A difference is clear beyond so many standard errors of it.
CLEAR = 2.0
DRAWS = 10_000

RowLosses = Mapping[str, Mapping[str, Sequence[float]]]


def summarized(
    losses: RowLosses, models: Sequence[str], shapes: Mapping[str, Sequence[int]]
) -> dict[str, Any]:
    """Means by table and model, and standard errors of the differences between models, row by row.

    Only models that were tried on every table, and only tables that were tried with all of these.
    """
    names = [name for name in models if any(name in found for found in losses.values())]
    tables = [t for t in losses if all(name in losses[t] for name in names)]
    if not tables:
        raise SystemExit("no table has losses of every model; run the others first (--update)")
    out: dict[str, Any] = {"models": names, "tables": {}}
    for t in tables:
        rows = np.array([losses[t][name] for name in names])
        n = rows.shape[1]
        differences = rows[:, None] - rows[None]
        out["tables"][t] = {
            "rows": n,
            "columns": shapes.get(t, (0, 0))[0],
            "classes": shapes.get(t, (0, 0))[1],
            "losses": np.round(rows.mean(axis=1), 4).tolist(),
            "errors": np.round(differences.std(axis=2, ddof=1) / n**0.5, 5).tolist(),
        }
    return out


def clearly_behind(summary: Mapping[str, Any], name: str, other: str) -> list[str]:
    """The tables on which a model's losses are more than two standard errors above another's."""
    i, j = summary["models"].index(name), summary["models"].index(other)
    return [
        t
        for t, found in summary["tables"].items()
        if found["losses"][i] - found["losses"][j] > CLEAR * found["errors"][i][j]
    ]


def interval(values: np.ndarray) -> tuple[float, float]:
    """95 % of means of as many tables drawn with replacement."""
    rng = np.random.default_rng(0)
    means = values[rng.integers(0, len(values), (DRAWS, len(values)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975]).tolist()
    return low, high


def standings(summary: Mapping[str, Any]) -> list[list[str]]:
    """Of every model: mean log loss, regret and rank with intervals, and where it is clearly behind trees."""
    losses = np.array([found["losses"] for found in summary["tables"].values()])  # tables, models
    regret = losses - losses.min(axis=1, keepdims=True)
    rank = 1 + (losses[:, :, None] > losses[:, None, :]).sum(axis=2) + 0.0
    rank += ((losses[:, :, None] == losses[:, None, :]).sum(axis=2) - 1) / 2
    rows = []
    for i in np.argsort(regret.mean(axis=0), kind="stable").tolist():
        name = summary["models"][i]
        behind = [
            "–" if other == name else str(len(clearly_behind(summary, name, other)))
            for other in _rivals(summary)
        ]
        rows.append(
            [
                name,
                f"{losses[:, i].mean():.3f}",
                _with_interval(regret[:, i], 3),
                _with_interval(rank[:, i], 1),
                *behind,
            ]
        )
    return rows


def _rivals(summary: Mapping[str, Any]) -> list[str]:
    return [name for name in (OURS, *TREES) if name in summary["models"]]


def _with_interval(values: np.ndarray, digits: int) -> str:
    low, high = interval(values)
    # No line is broken inside an interval.
    return f"{values.mean():.{digits}f} ({low:.{digits}f}\u00a0to\u00a0{high:.{digits}f})"


def markdown(summary: Mapping[str, Any]) -> dict[str, str]:
    """The parts of the page that the figures make, by their names."""
    n, rivals = len(summary["tables"]), _rivals(summary)
    heads = ["model", "mean log loss", "mean regret", "mean rank", *(f"clearly behind {r}" for r in rivals)]
    shown = [name for name in (OURS, "scikit-learn logistic", *TREES) if name in summary["models"]]
    places = [summary["models"].index(name) for name in shown]
    by_table = [
        [
            t,
            f"{f['rows']:,}",
            str(f["columns"]),
            str(f["classes"]),
            *(_marked(f["losses"], i) for i in places),
        ]
        for t, f in summary["tables"].items()
    ]
    return {
        "standings": f"{n} tables, {len(summary['models'])} models.\n\n{table(heads, standings(summary))}",
        "tables": table(["table", "rows", "columns", "classes", *shown], by_table),
        "trees": _where_trees_win(summary),
    }


def _marked(losses: Sequence[float], i: int) -> str:
    return f"**{losses[i]:.3f}**" if losses[i] == min(losses) else f"{losses[i]:.3f}"


def _where_trees_win(summary: Mapping[str, Any]) -> str:
    """The tables on which trees are clearly ahead of the recommended model, and by how much."""
    if OURS not in summary["models"]:
        return "The recommended model was not tried."
    ours, lines = summary["models"].index(OURS), []
    for other in (name for name in TREES if name in summary["models"]):
        i = summary["models"].index(other)
        where = clearly_behind(summary, OURS, other)
        gaps = {t: summary["tables"][t]["losses"][ours] - summary["tables"][t]["losses"][i] for t in where}
        told = ", ".join(f"{t} ({gap:.3f})" for t, gap in sorted(gaps.items(), key=lambda pair: -pair[1]))
        named = f", {told}" if told else ""
        behind = len(clearly_behind(summary, other, OURS))
        lines.append(f"* {other}: clearly ahead on {len(where)} of them{named}; clearly behind on {behind}.")
    n = len(summary["tables"])
    return "\n".join([f"Of {n} tables, beside the recommended model:", "", *lines])


def filled(page: str, summary: Mapping[str, Any]) -> str:
    """The page with its parts made anew, each between `<!-- name -->` and `<!-- /name -->`."""
    for name, text in markdown(summary).items():
        start, end = f"<!-- {name} -->\n", f"\n<!-- /{name} -->"
        before, found, rest = page.partition(start)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise SystemExit(f"the page has no part between {start.strip()} and {end.strip()}")
        page = f"{before}{start}{text}{end}{after}"
    return page


def write(summary: Mapping[str, Any]) -> None:
    """Keep the summary, and put its tables into the page."""
    SUMMARY.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), summary), encoding="utf-8")
