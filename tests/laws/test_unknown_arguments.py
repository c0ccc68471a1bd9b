"""Methods that score rows take the arguments that they have, and no others in silence."""

from inspect import signature

import numpy as np
import pytest

from posterior import (
    LDA,
    QDA,
    BernoulliNB,
    CalibratedClassifier,
    DecisionClassifier,
    GaussianNB,
    LinearRegression,
    LogisticRegression,
    MultinomialNB,
    NaiveBayes,
    OutlierRule,
)
from posterior.estimators.scanned_prediction import NAMES

Y = np.arange(200) % 2
X = np.abs(np.random.default_rng(0).normal(size=(200, 2)) + Y[:, None]).round(1)
MODELS = [
    GaussianNB(),
    BernoulliNB(binarize=1.0),
    MultinomialNB(),
    NaiveBayes(),
    LDA(),
    QDA(),
    LogisticRegression(),
    DecisionClassifier(GaussianNB()),
    CalibratedClassifier(GaussianNB()),
    OutlierRule(GaussianNB()),
    LinearRegression(),
]


@pytest.fixture(params=MODELS, ids=lambda model: type(model).__name__)
def fitted(request):
    return request.param.fit(X, Y.astype(float) if isinstance(request.param, LinearRegression) else Y)


def test_an_argument_that_a_method_does_not_have_is_refused(fitted):
    methods = [name for name in NAMES if hasattr(fitted, name)]
    assert methods
    for name in methods:
        method = getattr(fitted, name)
        with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'prior'"):
            method(X, prior=[0.5, 0.5])
        if "priors" not in signature(method).parameters:
            with pytest.raises(TypeError, match="unexpected keyword argument 'priors'"):
                method(X, priors=[0.5, 0.5])
        method(X=X)  # by its name, as scikit-learn's tools may pass it
