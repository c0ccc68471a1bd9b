"""The main job on the bundled penguins: a table with strings and gaps in, probabilities out."""

import warnings

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from posterior import GaussianDiscriminantAnalysis, GenerativeClassifier, NaiveBayes
from posterior.datasets import load_penguins
from posterior.families import Categorical, MultivariateNormal

SIZES = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


def compare(X, y):
    """Ten-fold accuracy and log loss of three compositions on the same folds."""
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    measured = X[SIZES].notna().all(axis=1)
    block = [(SIZES, MultivariateNormal(tied=1)), (["island", "sex"], Categorical())]
    models = [
        ("naive Bayes, all 344 rows with their gaps", NaiveBayes(), X, y),
        ("a Gaussian block and two categories*", GenerativeClassifier(block), X[measured], y[measured]),
        (
            "quadratic discriminant, sizes alone*",
            GaussianDiscriminantAnalysis(),
            X.loc[measured, SIZES],
            y[measured],
        ),
    ]
    print(f"{'ten-fold cross-validation':<44}{'accuracy':>9}{'log loss':>10}{'parameters':>12}")
    for name, model, table, classes in models:
        proba = cross_val_predict(model, table, classes, cv=folds, method="predict_proba")
        right = (np.unique(classes)[proba.argmax(axis=1)] == classes).mean()
        size = model.fit(table, classes).n_parameters_
        print(f"{name:<44}{right:>9.3f}{log_loss(classes, proba):>10.3f}{size:>12}")
    print("* on the 342 measured penguins\n")


def plain(row):
    """The values of a row that are there, as a person would write them."""
    return ", ".join(f"{name} {value}" for name, value in row.dropna().items())


def main():
    """Read the table, compare, and look at one penguin closely."""
    penguins = load_penguins(backend="pandas")
    X, y = penguins.X, penguins.y
    model = NaiveBayes(kinds={"year": "categorical"}).fit(X, y)
    print("How the table was read\n")
    print(model.schema_, "\n")
    compare(X, y)

    proba = model.predict_proba(X)
    row = int(proba.max(axis=1).argmin())
    print(f"The least certain penguin is number {row}: {plain(X.iloc[row])}")
    print("  " + ", ".join(f"{c} {p:.2f}" for c, p in zip(model.classes_, proba[row], strict=True)))
    print(model.contributions(X.iloc[[row]]), "\n")
    even = model.predict_proba(X.iloc[[row]], priors="uniform")[0]
    print("With even priors: " + ", ".join(f"{c} {p:.2f}" for c, p in zip(model.classes_, even, strict=True)))
    odd = int(model.score_samples(X).argmin())
    print(f"The oddest penguin by p(row) is number {odd}: {plain(X.iloc[odd])}")


if __name__ == "__main__":
    warnings.simplefilter("error")
    main()
