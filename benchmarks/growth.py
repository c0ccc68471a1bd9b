"""Time against the number of rows, with the exponents of growth and a plot."""

from pathlib import Path
from typing import Any

import matplotlib as mpl

from benchmarks.contest import race
from benchmarks.measure import exponent
from benchmarks.plan import Plan, heading, told
from benchmarks.rivals import LIMIT

TASKS = ("GaussianNB", "LDA", "QDA", "BernoulliNB", "CategoricalNB", "logistic")
QUICK = ("GaussianNB", "LDA", "logistic")
FAR = ("GaussianNB", "LDA", "BernoulliNB")  # cheap enough, in time and memory, for ten times more rows
UPPER = 100_000  # exponents are those of sizes from here on, where fixed costs no longer count
PATIENCE = 30.0  # seconds that a rival may be expected to take for one size


def sizes(plan: Plan, task: str) -> list[int]:
    """Powers of ten up to the rows asked for, and one more for cheap tasks."""
    most = plan.rows * (10 if task in FAR and not plan.quick else 1)
    return [10**k for k in range(3, 10) if 10**k <= most]


def series(plan: Plan) -> None:
    """Each task at growing sizes; a rival that would take too long at the next one stays behind."""
    heading("Growth with the number of rows (20 columns)")
    for task in plan.tasks(*(QUICK if plan.quick else TASKS)):
        behind = {rival.name for rival in plan.rivals} - {"scikit-learn", LIMIT} if plan.quick else set()
        for n in sizes(plan, task.name):
            table = task.draw(n, task.columns, task.classes)
            there = [rival for rival in plan.rivals if rival.name not in behind]
            outcome = race(task, table, there, plan.repeats)
            plan.take(outcome)
            for row in outcome.rows:
                plan.results.setdefault("growth", []).append(row)
                if 10 * (row["fit_s"] + row["predict_s"]) * row["runs"] > PATIENCE * plan.repeats:
                    behind.add(row["rival"])
            _say(task.name, n, outcome.rows)
    plan.results["exponents"] = exponents(plan.results.get("growth", []))
    for row in plan.results["exponents"]:
        powers = f"fit n^{_power(row['fit'])}, predict n^{_power(row['predict'])}"
        print(f"{row['task']:<15}{row['who']:<30} {powers}")


def _power(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}"


def _say(task: str, n: int, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    parts = [f"ours {told(rows[0]['ours_fit_s'])} + {told(rows[0]['ours_predict_s'])}"]
    parts += [f"{who(row)} {told(row['fit_s'])} + {told(row['predict_s'])}" for row in rows]
    print(f"{task:<15}{n:>11,}  {'; '.join(parts)}", flush=True)


def who(row: dict[str, Any]) -> str:
    """A rival and its way."""
    return " ".join(filter(None, [row["rival"], row["label"]]))


def curves(rows: list[dict[str, Any]], task: str) -> dict[str, list[tuple[int, float, float]]]:
    """(rows, seconds to fit, seconds to predict) by contender; ours where settings are the usual ones."""
    found: dict[str, list[tuple[int, float, float]]] = {"ours": []}
    for row in (r for r in rows if r["task"] == task):
        if not row["settings"] and row["n"] not in [n for n, *_ in found["ours"]]:
            found["ours"].append((row["n"], row["ours_fit_s"], row["ours_predict_s"]))
        found.setdefault(who(row), []).append((row["n"], row["fit_s"], row["predict_s"]))
    return found


def exponents(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With which power of n each contender's times grow."""
    found = []
    for task in dict.fromkeys(row["task"] for row in rows):
        for name, points in curves(rows, task).items():
            n, fit, predict = zip(*points, strict=True) if points else ((), (), ())
            least = UPPER if sum(size >= UPPER for size in n) > 1 else 0
            powers = {"fit": exponent(n, fit, least), "predict": exponent(n, predict, least)}
            found.append({"task": task, "who": name, **powers})
    return found


def plot(rows: list[dict[str, Any]], file: Path) -> None:
    """Time against rows, both logarithmic: one column a task, fitting above and predicting below."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415  (after the backend is chosen)

    tasks = list(dict.fromkeys(row["task"] for row in rows))
    if not tasks:
        return
    names = list(dict.fromkeys(["ours", *(who(row) for row in rows)]))
    colours = {name: f"C{i % 10}" for i, name in enumerate(n for n in names if n not in ("ours", LIMIT))}
    style = {"ours": {"color": "black", "lw": 2.2}, LIMIT: {"color": "grey", "ls": ":"}}
    figure, axes = plt.subplots(
        2, len(tasks), figsize=(2.7 * len(tasks) + 1, 6), sharex=True, sharey=True, squeeze=False
    )
    lines: dict[str, Any] = {}
    for column, task in enumerate(tasks):
        for name, points in curves(rows, task).items():
            for part in (0, 1):
                (lines[name],) = axes[part, column].loglog(
                    [p[0] for p in points],
                    [p[1 + part] for p in points],
                    marker="o",
                    ms=3,
                    **style.get(name, {"color": colours.get(name, "C0")}),
                )
        axes[0, column].set_title(task)
        axes[1, column].set_xlabel("rows")
    axes[0, 0].set_ylabel("fit, seconds")
    axes[1, 0].set_ylabel("predict_proba, seconds")
    figure.legend(lines.values(), lines.keys(), loc="lower center", ncols=min(len(lines), 6), frameon=False)
    figure.tight_layout(rect=(0, 0.09, 1, 1))
    figure.savefig(file, dpi=80)
    plt.close(figure)
