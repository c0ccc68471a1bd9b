"""Compare a self-tuned Gaussian discriminant analysis with LDA, QDA and the diagonal one on real tables.

`python -m benchmarks.tuning [--data FOLDER]` prints a markdown table of log losses of rows held out by ten
folds, with their standard errors. In each fold the tuned one chooses its settings from the other nine.
FOLDER may hold german_credit.csv, adult_train.csv and house_votes_84.csv of the UCI repository, with a
header line; what is absent is left out.
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets

from posterior import LDA, QDA, GaussianDiscriminantAnalysis
from posterior.datasets import load_penguins, load_pokemon
from posterior.notices import DataWarning

MODELS = {
    "LDA": LDA(),
    "QDA": QDA(),
    "diagonal": GaussianDiscriminantAnalysis(shape="diagonal"),
    "tuned": GaussianDiscriminantAnalysis(tied="auto", shrinkage="auto"),
}
STATS = ["hp", "attack", "defense", "sp_atk", "sp_def", "speed"]
SIZES = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
ADULT_ROWS = 10_000


def bundled() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Tables that come with scikit-learn and with this package."""
    for name in ("iris", "wine", "breast_cancer", "digits"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name, X, y
    penguins = load_penguins("pandas").frame.dropna(subset=SIZES)
    yield "penguins, sizes", penguins[SIZES].to_numpy(float), penguins["species"].to_numpy()
    pokemon = load_pokemon("pandas").frame
    two = pokemon[pokemon["type_1"].isin(["Water", "Normal"])]
    yield "Pokémon, Water or Normal", two[STATS].to_numpy(float), two["type_1"].to_numpy()


def in_folder(folder: Path) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Tables of the UCI repository, where they are."""
    for name, file, target, rows in [
        ("German credit, numbers", "german_credit.csv", "class", None),
        (f"Adult, numbers, {ADULT_ROWS:,} rows", "adult_train.csv", "income", ADULT_ROWS),
    ]:
        if (folder / file).exists():
            frame = pd.read_csv(folder / file, nrows=rows)
            numbers = frame.drop(columns=target).select_dtypes("number")
            yield name, numbers.to_numpy(float), frame[target].to_numpy()
    if (folder / "house_votes_84.csv").exists():
        votes = pd.read_csv(folder / "house_votes_84.csv", na_values="?").dropna()
        yield "house votes, 0 or 1", (votes.iloc[:, 1:] == "y").to_numpy(float), votes["party"].to_numpy()


def held_out(model, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Mean and standard error of −ln p(true class) over ten folds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        logs = model.k_fold_log_proba(X, y, cv=10)
    losses = -logs[np.arange(len(y)), np.unique(y, return_inverse=True)[1]]
    return float(losses.mean()), float(losses.std() / np.sqrt(len(y)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, help="a folder with further tables")
    folder = parser.parse_args().data
    print(f"| table | rows | columns | classes | {' | '.join(MODELS)} | tuned within one SE of the best |")
    print("|---|---|---|---|" + "---|" * (len(MODELS) + 1))
    for name, X, y in [*bundled(), *(in_folder(folder) if folder else ())]:
        found = {label: held_out(model, X, y) for label, model in MODELS.items()}
        best = min(found, key=lambda label: found[label][0])
        cells = [
            f"**{loss:.3f}** ± {error:.3f}" if label == best else f"{loss:.3f} ± {error:.3f}"
            for label, (loss, error) in found.items()
        ]
        within = found["tuned"][0] <= sum(found[best])
        print(
            f"| {name} | {len(X):,} | {X.shape[1]} | {len(np.unique(y))} | {' | '.join(cells)} "
            f"| {'yes' if within else 'no'} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
