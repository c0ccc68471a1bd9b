"""Each estimator with reference kernels and with compiled ones: none may be slower than what it replaces."""

import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks import data
from benchmarks.contest import Contender
from benchmarks.plan import Plan, heading, told
from benchmarks.tasks import TASKS, Task, plain_bayes
from posterior import QDA
from posterior.kernels import choice

GAPPY = Task("NaiveBayes, 5 % missing", plain_bayes, data.with_gaps(0.05))
EM = Task("QDA by EM, 5 % missing", QDA, data.with_gaps(0.05), columns=5, classes=3)
NAMES = (
    "GaussianNB", "LDA", "QDA", "BernoulliNB", "CategoricalNB", "MultinomialNB", "mixed columns",
    "MultinomialNB, text", "BernoulliNB, text", "logistic", "softmax",
)  # fmt: skip
# The usual columns and classes at these rows, and a few other shapes at some.
ROWS = (100, 1_000, 10_000, 100_000, 1_000_000)
SHAPES = ((10_000, 2, 2), (100_000, 2, 2), (2_000, 200, 5), (20_000, 200, 5), (100_000, 20, 50))
SHAPED = ("GaussianNB", "LDA", "QDA", "BernoulliNB", "CategoricalNB")
NOISE = 1.05  # slower than this, twice in a row, counts as slower
DEAR = 3.0  # seconds of one run, above which fewer repeats do


@contextmanager
def spied() -> Iterator[set[str]]:
    """The names of the compiled modules that are asked for inside the block."""
    seen: set[str] = set()
    original = choice.load_module

    def noted(name: str) -> Any:
        seen.add(name.rpartition(".")[2])
        return original(name)

    choice.load_module = noted
    try:
        yield seen
    finally:
        choice.load_module = original


def taken(task: Task, table: Any) -> dict[str, list[str]]:
    """Which compiled modules a fit and a prediction take by themselves."""
    X, y = table
    with choice.using("auto"):
        with spied() as fit:
            model = task.ours().fit(X, y)
        with spied() as predict:
            model.predict_proba(X)
    return {"fit": sorted(fit), "predict": sorted(predict)}


def medians(task: Task, table: Any, repeats: int) -> dict[str, dict[str, float]]:
    """Seconds of a fit and a prediction with either kind of kernels, by turns."""
    modes = ("reference", "compiled")
    times: dict[str, list[tuple[float, float]]] = {mode: [] for mode in modes}
    contender = Contender("ours", task.ours, table)
    for turn in range(repeats + 1):
        for mode in modes:
            with choice.using(mode):
                _, shares, fit, predict = contender.once()
            del shares
            if turn:  # the first is a warm-up
                times[mode].append((fit, predict))
            elif fit + predict > DEAR:
                repeats = min(repeats, 3)
    return {
        mode: {"fit": statistics.median(f for f, _ in runs), "predict": statistics.median(p for _, p in runs)}
        for mode, runs in times.items()
    }


def compare(plan: Plan, task: Task, n: int, d: int, K: int) -> None:
    """One shape, with a second look where compiled code seems slower though it is what would be taken."""
    table = task.draw(n, d, K)
    repeats = max(plan.repeats, 5 if n > 10_000 else 15)
    auto = taken(task, table)
    found = medians(task, table, repeats)
    for part in ("fit", "predict"):
        reference, compiled = found["reference"][part], found["compiled"][part]
        slower = bool(auto[part]) and compiled > NOISE * reference
        if slower:
            again = medians(task, table, 2 * repeats)
            reference, compiled = again["reference"][part], again["compiled"][part]
            slower = compiled > NOISE * reference
        row = {"task": task.name, "part": part, "n": n, "d": d, "K": K, "slower": slower, "auto": auto[part]}
        row |= {"reference_s": reference, "compiled_s": compiled, "ratio": reference / compiled}
        plan.results.setdefault("kernels", []).append(row)
        takes = f"compiled ({', '.join(auto[part])})" if auto[part] else "reference"
        print(
            f"{task.name:<24}{part:<8}{n:>10,} × {d:<6} K={K:<4}{told(reference):>10}{told(compiled):>10}"
            f"{reference / compiled:>8.2f} ×  {takes}{'  SLOWER' if slower else ''}",
            flush=True,
        )


def cases(plan: Plan) -> Iterator[tuple[Task, int, int, int]]:
    """Tasks and shapes to compare at."""
    tasks = plan.tasks(*NAMES)[:: 2 if plan.quick else 1] + ([] if plan.only or plan.quick else [GAPPY, EM])
    rows = (1_000, 10_000) if plan.quick else ROWS
    for task in tasks:
        for n in rows:
            size = task.rows(n)
            if task is TASKS["QDA"] and size < 2 * task.columns * task.classes:
                continue  # classes with fewer rows than columns are shrunk, of which a fit warns
            if n <= plan.rows and not (task in (EM, TASKS["softmax"]) and size > 100_000):
                yield task, size, task.columns, task.classes
        if not plan.quick and task.name in SHAPED:
            for n, d, K in SHAPES:
                yield task, n, d, K


def both(plan: Plan) -> None:
    """All cases."""
    heading("Reference kernels and compiled ones, and which is taken")
    print(f"{'':<57}{'reference':>10}{'compiled':>10}{'ratio':>10}")
    for task, n, d, K in cases(plan):
        try:
            compare(plan, task, n, d, K)
        except ImportError as problem:
            plan.fail(f"{task.name}: compiled kernels are not there ({problem})")
