"""scikit-learn's own contract checks over every estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from posterior import (
    AdditiveClassifier,
    BernoulliNB,
    CategoricalNB,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    GenerativeClassifier,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    MultinomialNB,
    NaiveBayes,
    OneDependence,
    QuadraticDiscriminantAnalysis,
    TreeAugmented,
)

ESTIMATORS = [
    NaiveBayes(),
    NaiveBayes(tied=True),
    GenerativeClassifier(),
    OneDependence(),
    TreeAugmented(),
    GaussianNB(),
    BernoulliNB(),
    MultinomialNB(),
    CategoricalNB(),
    GaussianDiscriminantAnalysis(),
    GaussianDiscriminantAnalysis(tied=0.5, shrinkage="oas", on_singular="pool"),
    GaussianDiscriminantAnalysis(tied=1.0, shape="diagonal", shrinkage="ledoit-wolf"),
    GaussianDiscriminantAnalysis(tied="auto", cv=3),
    NaiveBayes(alpha="auto", tied="auto", cv=3),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(shrinkage="auto"),
    QuadraticDiscriminantAnalysis(),
    LogisticRegression(),
    LogisticRegression(C=float("inf")),
    LogisticRegression(penalty="firth"),
    LogisticRegression(l1_ratio=1.0),
    LogisticRegression(C="auto"),
    LogisticRegression(solver="lbfgs"),
    LogisticRegression(missing="indicator", degree=2),
    LeastSquaresClassifier(),
    AdditiveClassifier(),
]


CALL_PARTIAL_FIT = (
    "check_fit_score_takes_y",
    "check_n_features_in_after_fitting",
    "check_estimators_partial_fit_n_features",
)


WEIGHTED = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


def expected_failures(estimator):
    if getattr(estimator, "C", None) == "auto":
        copies = dict.fromkeys(WEIGHTED, "C is chosen leaving out rows, and a row goes with its whole weight")
        parts = dict.fromkeys(CALL_PARTIAL_FIT, "C is chosen from all rows: partial_fit refuses it")
        return copies | parts
    if getattr(estimator, "tied", None) == "auto" and not isinstance(estimator, NaiveBayes):
        return dict.fromkeys(
            CALL_PARTIAL_FIT, "settings that are 'auto' need all rows: partial_fit refuses them"
        )
    if getattr(estimator, "penalty", None) == "firth" or getattr(estimator, "l1_ratio", 0) > 0:
        return dict.fromkeys(
            CALL_PARTIAL_FIT, "partial_fit is SGD, which needs a smooth penalty, and says so"
        )
    return {}


@pytest.mark.filterwarnings("ignore::posterior.notices.PosteriorWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_estimator_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)
