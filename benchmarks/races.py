"""Every task against every rival, at the size of the bars, in other shapes, and from other tables."""

from dataclasses import replace
from typing import Any

from benchmarks import data
from benchmarks.contest import CLOSE, Contender, Outcome, admitted, alternate, race, result
from benchmarks.plan import Plan, heading, told
from benchmarks.rivals import LIMIT, Entry
from benchmarks.tasks import Task

# Rows as a share of those asked for, columns, classes.
SHAPES = [(1.0, 2, 2), (1.0, 20, 2), (0.2, 100, 10), (0.02, 500, 10), (0.1, 20, 100)]
SHAPED = ("GaussianNB", "LDA", "QDA", "BernoulliNB", "CategoricalNB")
LAID_OUT = ("GaussianNB", "LDA", "QDA", "BernoulliNB")
SLOW = ("softmax, hard", "softmax, no penalty", "BernoulliNB, text")  # not in a quick run
FEW = 1_000  # rows for rivals that go through them one by one
SINGLE = 2e-2  # scikit-learn computes in single precision what it is given so

HEAD = (
    f"{'':<22}{'against':<34}{'rows':>10}{'fit':>9}{'ours':>10}{'theirs':>10}{'predict':>10}{'ours':>10}{'theirs':>10}"
    f"{'differ':>9}{'runs':>6}"
)


def line(row: dict[str, Any]) -> str:
    """A result as a line of the table; ratios above 1 mean that we are faster."""
    who = " ".join(filter(None, [row["rival"], row["label"]]))
    if row["settings"]:
        who += f" ({row['settings']})"
    text = f"{row['task']:<22}{who:<34}{row['n']:>10,}"
    text += f"{row['fit_ratio']:>7.2f} ×{told(row['ours_fit_s']):>10}{told(row['fit_s']):>10}"
    text += f"{row['predict_ratio']:>8.2f} ×{told(row['ours_predict_s']):>10}{told(row['predict_s']):>10}"
    gap = row.get("difference")
    text += f"{'' if gap is None else format(gap, '.0e'):>9}{row['runs']:>6}"
    above = row.get("above")
    if above is not None:
        text += "  reaches the optimum" if above < CLOSE else f"  stops {above:.1e} above ours"
    return text


def _put(plan: Plan, section: str, outcome: Outcome) -> None:
    for row in outcome.rows:
        plan.results.setdefault(section, []).append(row)
        if row["rival"] != LIMIT or section == "races":
            print(line(row), flush=True)
    plan.take(outcome)


def main_table(plan: Plan) -> None:
    """All tasks against all rivals."""
    heading(f"Ratios to rivals, {plan.rows:,} rows × 20 columns (above 1: we are faster)")
    print(HEAD)
    for task in plan.tasks():
        if plan.quick and task.name in SLOW:
            continue
        table = task.draw(task.rows(plan.rows), task.columns, task.classes)
        _put(plan, "races", race(task, table, plan.rivals, plan.repeats))
        small = [rival for rival in plan.rivals if _only_small(rival, task.name, len(table[1]))]
        if small:
            few = task.draw(FEW, task.columns, task.classes)
            _put(plan, "races", race(task, few, small, plan.repeats))


def _only_small(rival: Any, task: str, rows: int) -> bool:
    """Whether a rival does the task, but not with so many rows."""
    return not rival.on(task, rows) and bool(rival.on(task, FEW))


def shapes(plan: Plan) -> None:
    """Few and many columns and classes, against scikit-learn."""
    heading("Other shapes")
    for share, d, K in SHAPES:
        n = max(int(share * plan.rows), 20 * K, 2 * d * K)
        print(f"{n:,} × {d}, K={K}\n{HEAD}")
        for task in plan.tasks(*SHAPED):
            table = task.draw(n, d, K)
            _put(plan, "shapes", race(task, table, plan.rival("scikit-learn"), plan.repeats))


def layouts(plan: Plan) -> None:
    """The same table in Fortran order, as data frames and in single precision, all in one round of turns."""
    heading(f"From other kinds of tables, {plan.rows:,} × 20, K=10")
    for task in plan.tasks(*LAID_OUT[: 1 if plan.quick else None]):
        X, y = task.draw(plan.rows, 20, 10)
        rival, entry = _reference(plan, task)
        pairs, outcome = [], Outcome()
        for layout, convert in data.LAYOUTS.items():
            table = convert(X), y
            ours = Contender("ours", task.ours, table)
            answer = ours.warm_up(plan.repeats)
            held = replace(entry, tolerance=SINGLE) if layout == "float32" else entry
            other = Contender(rival, entry.make, table, held)
            if admitted(f"{task.name} from {layout}", other, answer, plan.repeats, outcome):
                pairs.append((layout, ours, other))
        plan.take(outcome)
        alternate([contender for _, *pair in pairs for contender in pair])
        first = next((ours.runs.row() for layout, ours, _ in pairs if layout == "C order"), None)
        print(HEAD)
        for layout, ours, other in pairs:
            row = result(task, "", ours, other) | {"layout": layout, "n": len(y), "d": 20, "K": 10}
            text = f"{line(row)}  {layout}"
            if first:
                row["fit_to_c"] = row["ours_fit_s"] / first["fit_s"]
                row["predict_to_c"] = row["ours_predict_s"] / first["predict_s"]
                text += f": ours {row['fit_to_c']:.2f} / {row['predict_to_c']:.2f} of C order"
            plan.results.setdefault("layouts", []).append(row)
            print(text, flush=True)


def _reference(plan: Plan, task: Task) -> tuple[str, Entry]:
    """scikit-learn's fastest way to do a task: lsqr, eigen, or the only one."""
    rival = plan.rival("scikit-learn")[0]
    return rival.name, rival.on(task.name, 1)[-1]
