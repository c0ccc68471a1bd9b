"""The bars that were set, as constants, and whether a run reaches them.

Ratios are scikit-learn's time over ours in the same run, on 1,000,000 × 20 float64 with ten classes and two
cores; "× of" figures are our time over another.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from benchmarks.measure import MIB

Results = dict[str, Any]
ARRAYS = ("C order", "Fortran order", "float32")


@dataclass(frozen=True)
class Bar:
    """A figure that must be at least, or at most, so much."""

    name: str
    figure: Callable[[Results], float | None]
    least: float | None = None
    most: float | None = None
    unit: str = "×"

    def asked(self) -> str:
        """The bar in words."""
        sign, value = ("≥", self.least) if self.least is not None else ("≤", self.most)
        return f"{sign} {value:g} {self.unit}".rstrip()

    def judge(self, results: Results) -> dict[str, Any]:
        """The figure of a run, and whether it reaches the bar; None where the run did not measure it."""
        figure = self.figure(results)
        reached = None
        if figure is not None:
            reached = figure >= self.least if self.least is not None else figure <= (self.most or 0.0)
        return {
            "bar": self.name,
            "asked": self.asked(),
            "figure": figure,
            "unit": self.unit,
            "reached": reached,
        }


def _least(values: Iterable[float]) -> float | None:
    return min(values, default=None)


def _most(values: Iterable[float]) -> float | None:
    return max(values, default=None)


def against(task: str, part: str, label: str | None = None) -> Callable[[Results], float | None]:
    """The ratio to scikit-learn, the least of its ways unless one is named."""

    def figure(results: Results) -> float | None:
        rows = [r for r in results.get("races", []) if r["task"] == task and r["rival"] == "scikit-learn"]
        return _least(r[f"{part}_ratio"] for r in rows if label is None or r["label"] == label)

    return figure


def of_layout(layout: str, part: str) -> Callable[[Results], float | None]:
    """Our time from a layout over that from C order, the worst of the tasks."""
    return lambda results: _most(
        r[f"{part}_to_c"] for r in results.get("layouts", []) if r["layout"] == layout and f"{part}_to_c" in r
    )


def of_missing(what: str, part: str) -> Callable[[Results], float | None]:
    """Our time with gaps over that without."""
    return lambda results: _most(
        r[f"{part}_times"] for r in results.get("missing", []) if r["what"].startswith(what)
    )


def of_wide(task: str, key: str) -> Callable[[Results], float | None]:
    """A figure of the table with many columns."""
    return lambda results: _least(r[key] for r in results.get("wide", []) if r["task"] == task)


def of_many(part: str) -> Callable[[Results], float | None]:
    """The least ratio to scikit-learn with many classes, columns or categories."""
    return lambda results: _least(r[f"{part}_ratio"] for r in results.get("many", []))


def count(section: str, bad: Callable[[dict[str, Any]], bool]) -> Callable[[Results], float | None]:
    """How many rows of a section are bad."""
    return lambda results: sum(map(bad, results[section])) if section in results else None


def _iris(results: Results) -> float | None:
    return _most(r["times"] for r in results.get("iris", []))


def _import(results: Results) -> float | None:
    return results["import"]["times"] if "import" in results else None


def _first_use(results: Results) -> float | None:
    return _most(r["extra_s"] for r in results.get("first use", []))


def _memory(part: str) -> Callable[[Results], float | None]:
    """MiB beyond table, model and output, the worst of the tasks on arrays."""
    return lambda results: _most(
        max(r["found"]["ours"][f"{part}_rss"], r["found"]["ours"][f"{part}_traced"]) / MIB
        for r in results.get("memory", [])
        if r["layout"] in ARRAYS and r["task"] != SPARSE
    )


def _sparse(results: Results) -> float | None:
    """Memory of a sparse logistic fit over that of its table and coefficients."""
    rows = [r for r in results.get("memory", []) if r["task"] == SPARSE]
    return _most(1 + r["found"]["ours"]["fit_rss"] / (r["table"] + r["found"]["ours"]["model"]) for r in rows)


SPARSE = "logistic, sparse"
LONG, NEWTON = "lbfgs, max_iter=1000", "newton-cholesky"

BARS = [
    Bar("GaussianNB fit", against("GaussianNB", "fit"), least=20),
    Bar("GaussianNB predict_proba", against("GaussianNB", "predict"), least=20),
    Bar("LDA fit against svd", against("LDA", "fit", "svd"), least=20),
    Bar("LDA fit against lsqr", against("LDA", "fit", "lsqr"), least=8),
    Bar("LDA predict_proba", against("LDA", "predict"), least=3),
    Bar("QDA fit against svd", against("QDA", "fit", "svd"), least=10),
    Bar("QDA fit against eigen", against("QDA", "fit", "eigen"), least=5),
    Bar("QDA predict_proba", against("QDA", "predict"), least=6),
    Bar("CategoricalNB fit", against("CategoricalNB", "fit"), least=30),
    Bar("CategoricalNB predict_proba", against("CategoricalNB", "predict"), least=8),
    Bar("BernoulliNB fit", against("BernoulliNB", "fit"), least=25),
    Bar("BernoulliNB predict_proba", against("BernoulliNB", "predict"), least=5),
    Bar("logistic fit against lbfgs", against("logistic", "fit", "lbfgs"), least=2.5),
    Bar("softmax fit against lbfgs", against("softmax", "fit", "lbfgs"), least=5),
    Bar("hard logistic fit against lbfgs, max_iter=1000", against("logistic, hard", "fit", LONG), least=20),
    Bar("hard softmax fit against lbfgs, max_iter=1000", against("softmax, hard", "fit", LONG), least=20),
    Bar("hard logistic fit against newton-cholesky", against("logistic, hard", "fit", NEWTON), least=1.5),
    Bar("hard softmax fit against newton-cholesky", against("softmax, hard", "fit", NEWTON), least=10),
    Bar("fit from pandas, of that from C order", of_layout("pandas", "fit"), most=1.5),
    Bar("predict_proba from pandas, of that from C order", of_layout("pandas", "predict"), most=1.5),
    Bar("fit from polars, of that from C order", of_layout("polars", "fit"), most=1.5),
    Bar("predict_proba from polars, of that from C order", of_layout("polars", "predict"), most=1.5),
    Bar("NaiveBayes fit with 5 % missing, of that without", of_missing("NaiveBayes", "fit"), most=2),
    Bar("NaiveBayes predict_proba with 5 % missing", of_missing("NaiveBayes", "predict"), most=2),
    Bar("QDA by EM, of one fit of the full table", of_missing("QDA by EM", "fit"), most=100),
    Bar("iris, fit + predict_proba, of scikit-learn's", _iris, most=1.5),
    Bar("import of LogisticRegression, of scikit-learn's", _import, most=1.3),
    Bar("first use of compiled code in a second process", _first_use, most=0.5, unit="s"),
    Bar("200 columns, LDA fit against lsqr", of_wide("LDA", "fit_ratio"), least=2.5),
    Bar("200 columns, QDA fit against eigen", of_wide("QDA", "fit_ratio"), least=2.5),
    Bar("200 columns, LDA sums, of the rate of a matrix product", of_wide("LDA", "share"), least=0.5),
    Bar("200 columns, QDA sums, of the rate of a matrix product", of_wide("QDA", "share"), least=0.5),
    Bar("many classes, columns, categories: fit", of_many("fit"), least=1),
    Bar("many classes, columns, categories: predict_proba", of_many("predict"), least=1),
    Bar("kernels slower than their reference", count("kernels", lambda r: r["slower"]), most=0, unit=""),
    Bar("tasks with other bits on other threads", count("bits", lambda r: not r["same"]), most=0, unit=""),
    Bar("memory of fit beyond the statistics", _memory("fit"), most=64, unit="MiB"),
    Bar("memory of predict_proba beyond the output", _memory("predict"), most=64, unit="MiB"),
    Bar("memory of a sparse logistic fit, of table and coefficients", _sparse, most=1.5),
]


def judged(results: Results) -> list[dict[str, Any]]:
    """All bars."""
    return [bar.judge(results) for bar in BARS]


def line(verdict: dict[str, Any]) -> str:
    """A bar as a line."""
    figure = verdict["figure"]
    shown = "not measured" if figure is None else f"{figure:.3g} {verdict['unit']}".rstrip()
    state = {True: "reached", False: "MISSED", None: ""}[verdict["reached"]]
    return f"{verdict['bar']:<60}{verdict['asked']:>10}{shown:>16}  {state}"
