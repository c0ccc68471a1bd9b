"""Probabilities you can act on, from a table of data."""

from posterior import datasets, families, linear, math
from posterior.engines import threads
from posterior.estimators import (
    BernoulliNB,
    CategoricalNB,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    GenerativeClassifier,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    MultinomialNB,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    SoftmaxRegression,
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
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LinearRegression",
    "LogisticRegression",
    "MultinomialNB",
    "NaiveBayes",
    "QuadraticDiscriminantAnalysis",
    "SoftmaxRegression",
    "datasets",
    "families",
    "linear",
    "math",
    "threads",
]
