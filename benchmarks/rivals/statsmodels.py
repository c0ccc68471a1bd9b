"""statsmodels: logistic regression by maximum likelihood, without a penalty."""

from typing import Any, Self

import numpy as np
import statsmodels.api as sm

from benchmarks.rivals import Entry


class Logit:
    """Two classes, as its users write it."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        self.result = sm.Logit(y, sm.add_constant(X)).fit(disp=0)
        return self

    def predict_proba(self, X: np.ndarray) -> Any:
        second = self.result.predict(sm.add_constant(X))
        return np.column_stack([1 - second, second])


class MultinomialLogit:
    """Several classes; slow, for it builds the Hessian block by block."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        self.result = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0, method="newton")
        return self

    def predict_proba(self, X: np.ndarray) -> Any:
        return self.result.predict(sm.add_constant(X))


ENTRIES = [
    Entry("logistic, no penalty", Logit, tolerance=1e-6),
    Entry("softmax, no penalty", MultinomialLogit, tolerance=1e-6),
]
