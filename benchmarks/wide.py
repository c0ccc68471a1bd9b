"""Many columns: LDA and QDA against scikit-learn's fastest solvers, and the scatter's rate of arithmetic."""

import statistics

import numpy as np

from benchmarks import data
from benchmarks.contest import race
from benchmarks.measure import settled
from benchmarks.plan import Plan, heading, told
from benchmarks.races import HEAD, line
from benchmarks.rivals import Rival
from benchmarks.tasks import Task
from posterior.engines import LocalDataset
from posterior.schema import Schema, read_table

COLUMNS, CLASSES = 200, 5
FASTEST = ("lsqr", "eigen")
SIDE = 2_000


def rates(task: Task, table: tuple[np.ndarray, np.ndarray], repeats: int) -> tuple[float, float]:
    """Operations a second of summing up the rows, counted as n·d·(d+1), and of a matrix product, by turns.

    Both have all cores: the sums as threads of ours, the product as threads of BLAS.
    """
    X, y = table
    model = task.ours().fit(X, y)
    source = read_table(X)
    schema = Schema.infer(source)
    rows = LocalDataset(schema, schema.encode(source), y)
    spec, classes = model.model_.spec, model.classes_
    a, b = np.random.default_rng(0).normal(size=(2, SIDE, SIDE))
    pairs = [
        (settled(lambda: spec.summarize(rows, classes)), settled(lambda: a @ b)) for _ in range(repeats + 1)
    ]
    sums, products = (statistics.median(times) for times in zip(*pairs[1:], strict=True))
    return X.shape[0] * X.shape[1] * (X.shape[1] + 1) / sums, 2 * SIDE**3 / products


def columns(plan: Plan) -> None:
    """A table of 200 columns and five classes."""
    n = plan.rows // 10
    heading(f"Many columns, {n:,} × {COLUMNS}, K={CLASSES}")
    print(HEAD)
    table = data.numbers(n, COLUMNS, CLASSES)
    (learn, *_) = plan.rival("scikit-learn")
    fastest = Rival(learn.name, learn.version, tuple(e for e in learn.entries if e.label in FASTEST))
    for task in plan.tasks("LDA", "QDA"):
        outcome = race(task, table, [fastest], plan.repeats)
        plan.take(outcome)
        for row in outcome.rows:
            print(line(row), flush=True)
        rate, product = rates(task, table, plan.repeats)
        for row in outcome.rows:
            row.update(scatter_rate=rate, product_rate=product, share=rate / product)
        plan.results.setdefault("wide", []).extend(outcome.rows)
        print(
            f"  its sums: {rate / 1e9:.1f} of {product / 1e9:.1f} GFLOP/s of a matrix product, "
            f"{rate / product:.0%} ({told(n * COLUMNS * (COLUMNS + 1) / rate)})",
            flush=True,
        )
