"""Probabilities you can act on, from a table of data."""

from posterior import datasets, families, math
from posterior.engines import threads
from posterior.estimators import (
    BernoulliNB,
    CategoricalNB,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    GenerativeClassifier,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)

LDA = LinearDiscriminantAnalysis
QDA = QuadraticDiscriminantAnalysis

__version__ = "0.1.0"

__all__ = [
    "LDA",
    "QDA",
    "BernoulliNB",
    "CategoricalNB",
    "GaussianDiscriminantAnalysis",
    "GaussianNB",
    "GenerativeClassifier",
    "LinearDiscriminantAnalysis",
    "MultinomialNB",
    "NaiveBayes",
    "QuadraticDiscriminantAnalysis",
    "datasets",
    "families",
    "math",
    "threads",
]
