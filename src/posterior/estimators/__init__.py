"""The scikit-learn face: thin presets of one composition."""

from posterior.estimators.discrete import BernoulliNB, CategoricalNB, MultinomialNB
from posterior.estimators.discriminant import GaussianDiscriminantAnalysis
from posterior.estimators.generative import GenerativeClassifier
from posterior.estimators.lda import LinearDiscriminantAnalysis
from posterior.estimators.naive_bayes import GaussianNB, NaiveBayes
from posterior.estimators.qda import QuadraticDiscriminantAnalysis

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
