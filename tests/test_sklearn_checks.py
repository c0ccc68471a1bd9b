"""scikit-learn's own contract checks over every estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from posterior import (
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

ESTIMATORS = [
    NaiveBayes(),
    NaiveBayes(tied=True),
    GenerativeClassifier(),
    GaussianNB(),
    BernoulliNB(),
    MultinomialNB(),
    CategoricalNB(),
    GaussianDiscriminantAnalysis(),
    GaussianDiscriminantAnalysis(tied=0.5, shrinkage="oas"),
    GaussianDiscriminantAnalysis(tied=1.0, shape="diagonal", shrinkage="ledoit-wolf"),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(shrinkage="auto"),
    QuadraticDiscriminantAnalysis(),
]


def expected_failures(estimator):
    if estimator.__sklearn_tags__().input_tags.allow_nan:
        return {}
    return {"check_estimators_nan_inf": "gaps are integrated out in prediction; only training refuses them"}


@pytest.mark.filterwarnings("ignore::posterior.notices.PosteriorWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_estimator_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)
