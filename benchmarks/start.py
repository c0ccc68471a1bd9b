"""What is paid before the first answer: the import, a table of iris's size, and compiled code from its cache.

`python -m benchmarks.start TASK` prints, as JSON, what the first use of a task costs in a new process.
"""

import json
import statistics
import sys
from typing import Any

from sklearn.datasets import load_iris

from benchmarks.children import ask
from benchmarks.contest import Contender, Outcome, admitted
from benchmarks.measure import timed
from benchmarks.plan import Plan, heading, told
from benchmarks.tasks import TASKS

IMPORT = (
    "import sys, time, json; start = time.perf_counter(); {}; "
    "print(json.dumps([time.perf_counter() - start, 'numba' in sys.modules]))"
)
COMPILED_ROWS = 200_000
SMALL = ("GaussianNB", "LDA", "QDA", "BernoulliNB", "logistic")
FIRST = (
    "GaussianNB",
    "LDA",
    "QDA",
    "BernoulliNB",
    "CategoricalNB",
    "mixed columns",
    "MultinomialNB, text",
    "softmax",
)


def imports(plan: Plan) -> None:
    """Importing one class of ours against the same of scikit-learn, by turns in new processes.

    A class, since `import posterior` imports nothing before a name is asked for.
    """
    ours, theirs = [], []
    for _ in range(3 if plan.quick else plan.repeats + 1):
        took, numba = ask("-c", IMPORT.format("from posterior import LogisticRegression"))
        if numba:
            plan.fail("importing LogisticRegression imports numba")
        ours.append(took)
        theirs.append(ask("-c", IMPORT.format("from sklearn.linear_model import LogisticRegression"))[0])
    a, b = statistics.median(ours[1:]), statistics.median(theirs[1:])
    plan.results["import"] = {"ours_s": a, "sklearn_s": b, "times": a / b, "numba": False}
    print(f"import of LogisticRegression {told(a)}, {a / b:.2f} × scikit-learn's ({told(b)})", flush=True)


def iris(plan: Plan) -> None:
    """Fit and predict_proba of 150 rows, by turns with scikit-learn."""
    X, y = load_iris(return_X_y=True)
    (learn, *_) = plan.rival("scikit-learn")
    for task in plan.tasks(*SMALL):
        entry = learn.on(task.name, 1)[0]
        pair = Contender("ours", task.ours, (X, y)), Contender(learn.name, entry.make, (X, y), entry)
        outcome = Outcome()
        there = admitted(f"{task.name} on iris", pair[1], pair[0].warm_up(1), 1, outcome)
        plan.take(outcome)
        if not there:
            continue
        totals: tuple[list[float], list[float]] = ([], [])
        for _ in range(10 if plan.quick else 300):
            for contender, times in zip(pair, totals, strict=True):
                times.append(sum(contender.once()[2:]))
        a, b = map(statistics.median, totals)
        who = f"{learn.name} {entry.label}".rstrip()
        row = {"task": task.name, "who": who, "ours_s": a, "theirs_s": b, "times": a / b}
        plan.results.setdefault("iris", []).append(row)
        print(f"iris, {task.name:<12} {told(a)}, {a / b:.2f} × {who} ({told(b)})", flush=True)


def first_use(name: str, rows: int) -> dict[str, Any]:
    """Seconds by which the first fit and prediction in this process exceed the second."""
    task = TASKS[name]
    table = task.draw(task.rows(rows), task.columns, task.classes)
    before = "numba" in sys.modules

    def work() -> Any:
        return task.ours().fit(*table).predict_proba(table[0])

    (_, first), (_, second) = timed(work), timed(work)
    return {"extra": first - second, "before": before, "after": "numba" in sys.modules}


def compiled(plan: Plan) -> None:
    """The first use of compiled kernels in a second process, numba's own import and all."""
    for task in plan.tasks(*FIRST):
        ask("-m", "benchmarks.start", task.name, str(COMPILED_ROWS))  # whatever is not cached is compiled now
        runs = [
            ask("-m", "benchmarks.start", task.name, str(COMPILED_ROWS))
            for _ in range(1 if plan.quick else 3)
        ]
        extra = statistics.median(run["extra"] for run in runs)
        row = {"task": task.name, "extra_s": extra, "compiled": runs[0]["after"]}
        plan.results.setdefault("first use", []).append(row)
        kind = "compiled" if row["compiled"] else "numba not needed"
        print(f"first use in a second process, {task.name:<20} {told(max(extra, 0))} ({kind})", flush=True)


def waits(plan: Plan) -> None:
    """All three."""
    heading("Before the first answer")
    imports(plan)
    iris(plan)
    if not plan.quick:
        compiled(plan)


if __name__ == "__main__":
    print(json.dumps(first_use(sys.argv[1], int(sys.argv[2]))))
