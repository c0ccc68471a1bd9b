"""The scikit-learn face: thin presets of one composition."""

from posterior.estimators.discriminant import (
    GaussianDiscriminantAnalysis,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from posterior.estimators.generative import GenerativeClassifier
from posterior.estimators.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "GaussianDiscriminantAnalysis",
    "GaussianNB",
    "GenerativeClassifier",
    "LinearDiscriminantAnalysis",
    "MultinomialNB",
    "NaiveBayes",
    "QuadraticDiscriminantAnalysis",
]
