"""pomegranate: Bayes classifiers of normal distributions, on PyTorch."""

from typing import Any, Self

import numpy as np
import torch
from pomegranate.bayes_classifier import BayesClassifier
from pomegranate.distributions import Normal

from benchmarks.rivals import Entry


class Bayes:
    """A normal distribution for each class, with a diagonal or a full covariance."""

    def __init__(self, covariance: str) -> None:
        self.covariance = covariance

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        n_classes = int(y.max()) + 1
        self.model = BayesClassifier([Normal(covariance_type=self.covariance) for _ in range(n_classes)])
        self.model.fit(torch.from_numpy(X).float(), torch.from_numpy(y))
        return self

    def predict_proba(self, X: np.ndarray) -> Any:
        return self.model.predict_proba(torch.from_numpy(X).float()).numpy()


# It works in single precision, and with raw second moments.
ENTRIES = [
    Entry("GaussianNB", lambda: Bayes("diag"), tolerance=1e-4),
    Entry("QDA", lambda: Bayes("full"), tolerance=1e-4),
]
