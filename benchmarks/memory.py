"""Memory that `fit` and `predict_proba` take beyond the table, the model and the output.

Each figure is of a process of its own: `python -m benchmarks.memory TASK LAYOUT ROWS` prints them as JSON.
Two meters: tracemalloc, which sees what Python and NumPy allocate, and the growth of resident memory at its
highest (VmHWM, set back before each step), which sees everything but counts whole pages and thread stacks.
"""

import json
import pickle
import sys
import warnings
from functools import partial
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.children import ask
from benchmarks.measure import MIB, resident_growth, timed, traced
from benchmarks.plan import Plan, heading
from benchmarks.rivals import load
from benchmarks.tasks import TASKS, Task, plain_bayes

MOST = 64 * MIB
CASES = [(name, "C order") for name in TASKS if "hard" not in name and "penalty" not in name]
CASES += [("GaussianNB", layout) for layout in data.LAYOUTS if layout != "C order"]
CASES += [("LDA", "pandas"), ("NaiveBayes, 5 % missing", "C order"), ("logistic, sparse", "C order")]

MORE = {
    "NaiveBayes, 5 % missing": Task("NaiveBayes, 5 % missing", plain_bayes, data.with_gaps(0.05)),
    "logistic, sparse": Task(
        "logistic, sparse", TASKS["logistic"].ours, data.links, columns=20_000, classes=2, share=0.2
    ),
}


def extra(make: Any, X: Any, y: np.ndarray) -> dict[str, float]:
    """Bytes beyond the model and the output, by both meters, the larger transient of each step."""
    model, fit_rss = resident_growth(lambda: make().fit(X, y))
    held = len(pickle.dumps(model))
    shares, predict_rss = resident_growth(lambda: model.predict_proba(X))
    out = np.asarray(shares).nbytes
    del shares
    _, fit_traced = traced(lambda: make().fit(X, y))
    _, predict_traced = traced(lambda: model.predict_proba(X))
    return {
        "model": held,
        "output": out,
        "fit_rss": fit_rss - held,
        "fit_traced": fit_traced - held,
        "predict_rss": predict_rss - out,
        "predict_traced": predict_traced - out,
    }


def _once(make: Any, X: Any, y: np.ndarray) -> Any:
    return make().fit(X, y).predict_proba(X)


def measured(name: str, layout: str, rows: int) -> dict[str, Any]:
    """The figures of one case, ours and scikit-learn's, in this process."""
    warnings.simplefilter("ignore")
    task = TASKS.get(name) or MORE[name]
    n = task.rows(rows)
    X, y = task.draw(n, task.columns, task.classes)
    if layout != "C order":
        X = data.LAYOUTS[layout](X)
    (rival, *_), _ = load(["scikit-learn"])
    ways = {"ours": task.ours, **{f"scikit-learn {e.label}".rstrip(): e.make for e in rival.on(name, n)}}
    found = {}
    for who, make in ways.items():
        _, took = timed(partial(_once, make, X, y))
        # Modules, compiled code and threads are there now, and do not count.
        if took < 20:
            found[who] = extra(make, X, y)
    return {
        "task": name,
        "layout": layout,
        "n": n,
        "d": X.shape[1],
        "K": task.classes,
        "table": data.nbytes(X),
    } | {"found": found}


def marks(plan: Plan) -> None:
    """High-water marks of all tasks, and whether ours keep to 64 MiB."""
    heading(f"Memory beyond table, model and output, MiB: resident / traced ({plan.rows:,} rows)")
    print(f"{'':<40}{'table':>8}{'fit':>16}{'predict_proba':>18}")
    names = [task.name for task in plan.tasks()]
    cases = [(n, layout) for n, layout in CASES if n in names or (n in MORE and not plan.only)]
    for name, layout in cases[: 1 if plan.quick else None]:
        try:
            row = ask("-m", "benchmarks.memory", name, layout, str(plan.rows))
        except RuntimeError as problem:
            plan.fail(str(problem))
            continue
        ours = row["found"]["ours"]
        row["fit_within"] = max(ours["fit_rss"], ours["fit_traced"]) <= MOST
        row["predict_within"] = max(ours["predict_rss"], ours["predict_traced"]) <= MOST
        plan.results.setdefault("memory", []).append(row)
        for who, found in row["found"].items():
            print(_line(row, who, found), flush=True)


def _line(row: dict[str, Any], who: str, found: dict[str, float]) -> str:
    first = f"{row['task']}, {row['layout']}" if who == "ours" else f"    {who}"
    text = f"{first:<40}{row['table'] / MIB:>8.0f}"
    for part in ("fit", "predict"):
        text += f"{found[f'{part}_rss'] / MIB:>9.0f} /{found[f'{part}_traced'] / MIB:>6.0f}"
        text += " !" if who == "ours" and not row[f"{part}_within"] else "  "
    return text


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
