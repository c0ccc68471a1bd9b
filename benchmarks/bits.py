"""The same bits on any number of threads, from two threads of the user's at once, and after a fork."""

import hashlib
import multiprocessing
import queue
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import posterior
from benchmarks import data
from benchmarks.plan import Plan, heading
from benchmarks.tasks import TASKS, Task, plain_bayes

ROWS = 100_000
NAMES = (
    "GaussianNB", "LDA", "QDA", "BernoulliNB", "CategoricalNB", "MultinomialNB", "mixed columns",
    "MultinomialNB, text", "logistic", "softmax",
)  # fmt: skip
GAPPY = Task("NaiveBayes, 5 % missing", plain_bayes, data.with_gaps(0.05))
THREADS = (1, 2, 8)
WAIT = 120  # seconds for a forked child


def fingerprint(task: Task, table: tuple[Any, np.ndarray]) -> str:
    """A digest of the probabilities and their logs after a fit: it depends on every bit of the model."""
    X, y = table
    model = task.ours().fit(X, y)
    digest = hashlib.sha256(np.ascontiguousarray(model.predict_proba(X)).tobytes())
    digest.update(np.ascontiguousarray(model.predict_log_proba(X)).tobytes())
    return digest.hexdigest()


def _child(answers: Any, task: Task, table: tuple[Any, np.ndarray]) -> None:
    answers.put(fingerprint(task, table))


def forked(task: Task, table: tuple[Any, np.ndarray]) -> str:
    """The fingerprint found by a forked child, or why there is none."""
    if "fork" not in multiprocessing.get_all_start_methods():
        return "no fork here"
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_child, args=(answers, task, table))
    child.start()
    try:
        return str(answers.get(timeout=WAIT))
    except queue.Empty:
        return "no answer"
    finally:
        child.terminate()
        child.join()


def on_threads(n: int, task: Task, table: tuple[Any, np.ndarray]) -> str:
    """The fingerprint with so many threads."""
    with posterior.threads(n):
        return fingerprint(task, table)


def check(plan: Plan) -> None:
    """All of it, for each task; any difference fails the run."""
    n = ROWS // 10 if plan.quick else ROWS
    heading(f"The same bits ({n:,} rows; threads 1, 2, 8; two fits at once; after a fork)")
    tasks = plan.tasks(*NAMES)[:: 3 if plan.quick else 1] + ([] if plan.only or plan.quick else [GAPPY])
    tables = {task.name: task.draw(task.rows(n), task.columns, task.classes) for task in tasks}
    for task in tasks:
        table = tables[task.name]
        found = {f"{k} threads": on_threads(k, task, table) for k in THREADS}
        other = tasks[tasks.index(task) - 1]
        with ThreadPoolExecutor(3) as pool:
            jobs = [pool.submit(fingerprint, task, table) for _ in range(2)]
            jobs.append(pool.submit(fingerprint, other, tables[other.name]))  # another model meanwhile
            found["two at once"] = ", ".join(sorted({job.result() for job in jobs[:2]}))
        after = forked(task, table)
        if after != "no fork here":
            found["after a fork"] = after
        first = found["1 threads"]
        different = [what for what, digest in found.items() if digest != first]
        if different:
            plan.fail(f"{task.name}: other bits with {', '.join(different)}")
        row = {"task": task.name, "n": len(table[1]), "same": not different, "checked": list(found)}
        plan.results.setdefault("bits", []).append(row)
        print(
            f"{task.name:<26}{'the same' if not different else 'DIFFERENT: ' + ', '.join(different)}",
            flush=True,
        )


assert set(NAMES) <= set(TASKS)
