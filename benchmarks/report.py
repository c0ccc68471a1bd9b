"""The results of a run as a file, and what such a file must hold."""

import json
import math
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "results"
REQUIRED = {
    "machine",
    "others_cores",
    "versions",
    "date",
    "rows",
    "repeats",
    "quick",
    "results",
    "bars",
    "failures",
    "notes",
}
RACE_KEYS = {
    "task", "rival", "label", "settings", "n", "d", "K", "ours_fit_s", "ours_predict_s", "ours_runs",
    "fit_s", "predict_s", "runs", "fit_ratio", "predict_ratio",
}  # fmt: skip
MANY_KEYS = (RACE_KEYS - {"settings", "ours_runs", "runs"}) | {"table", "scored", "memory"}
RACED = ("races", "shapes", "layouts", "growth", "wide")


def rounded(value: Any) -> Any:
    """Four digits of every float: enough to read, and a small file."""
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(inner) for inner in value]
    if isinstance(value, float):
        return float(f"{value:.4g}") if math.isfinite(value) else None
    return value


def check(document: dict[str, Any]) -> None:
    """A ValueError where the document lacks something that its readers need."""
    absent = REQUIRED - set(document)
    if absent:
        raise ValueError(f"the results lack {', '.join(sorted(absent))}")
    for section, keys in {**dict.fromkeys(RACED, RACE_KEYS), "many": MANY_KEYS}.items():
        for row in document["results"].get(section, []):
            if not set(row) >= keys:
                raise ValueError(f"a row of {section!r} lacks {', '.join(sorted(keys - set(row)))}")
    for verdict in document["bars"]:
        if set(verdict) != {"bar", "asked", "figure", "unit", "reached"}:
            raise ValueError(f"a bar has the keys {sorted(verdict)}")


def write(document: dict[str, Any], file: Path) -> None:
    """Write the results, one row a line."""
    document = rounded(document)
    check(document)
    file.parent.mkdir(parents=True, exist_ok=True)
    sections = []
    for name, rows in document["results"].items():
        body = json.dumps(rows, ensure_ascii=False)
        if isinstance(rows, list):
            body = "[\n   " + ",\n   ".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n  ]"
        sections.append(f"  {json.dumps(name)}: {body}")
    rest = {key: value for key, value in document.items() if key != "results"}
    lines = [f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in rest.items()]
    lines.append(' "results": {\n' + ",\n".join(sections) + "\n }")
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def updated(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Results with newer ones in place of those of the same sections and tasks.

    >>> old, new = {"results": {"races": [{"task": "LDA", "n": 1}, {"task": "QDA"}]}}, {"notes": []}
    >>> updated(old, new | {"results": {"races": [{"task": "LDA", "n": 2}]}})["results"]
    {'races': [{'task': 'QDA'}, {'task': 'LDA', 'n': 2}]}
    """
    results = dict(old["results"])
    for section, rows in new["results"].items():
        kept = []
        if isinstance(rows, list):
            again = {row.get("task", row.get("what")) for row in rows}
            kept = [row for row in results.get(section, []) if row.get("task", row.get("what")) not in again]
        results[section] = [*kept, *rows] if isinstance(rows, list) else rows
    return old | new | {"results": results}


def read(file: Path) -> dict[str, Any]:
    """Results that were written, checked."""
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    check(document)
    return document
