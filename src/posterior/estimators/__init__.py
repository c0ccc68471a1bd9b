"""The scikit-learn face: thin presets of one composition."""

from posterior.estimators.additive import AdditiveClassifier
from posterior.estimators.calibration import CalibratedClassifier
from posterior.estimators.decision import DecisionClassifier
from posterior.estimators.dependence import OneDependence, TreeAugmented
from posterior.estimators.discrete import BernoulliNB, CategoricalNB, MultinomialNB
from posterior.estimators.discriminant import GaussianDiscriminantAnalysis
from posterior.estimators.fusion import FusionClassifier
from posterior.estimators.generative import GenerativeClassifier
from posterior.estimators.lda import LinearDiscriminantAnalysis
from posterior.estimators.least_squares import LeastSquaresClassifier
from posterior.estimators.logistic import LogisticRegression, SoftmaxRegression
from posterior.estimators.naive_bayes import GaussianNB, NaiveBayes
from posterior.estimators.outliers import OutlierRule
from posterior.estimators.pool import PoolClassifier
from posterior.estimators.qda import QuadraticDiscriminantAnalysis
from posterior.estimators.regression import LinearRegression

__all__ = [
    "AdditiveClassifier",
    "BernoulliNB",
    "CalibratedClassifier",
    "CategoricalNB",
    "DecisionClassifier",
    "FusionClassifier",
    "GaussianDiscriminantAnalysis",
    "GaussianNB",
    "GenerativeClassifier",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LinearRegression",
    "LogisticRegression",
    "MultinomialNB",
    "NaiveBayes",
    "OneDependence",
    "OutlierRule",
    "PoolClassifier",
    "QuadraticDiscriminantAnalysis",
    "SoftmaxRegression",
    "TreeAugmented",
]
