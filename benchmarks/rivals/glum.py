"""glum: generalised linear models; a binomial one with our penalty is logistic regression."""

from typing import Any, Self

import numpy as np
from glum import GeneralizedLinearRegressor

from benchmarks.rivals import Entry


class Binomial:
    """Its mean loss plus alpha/2 |w|² is our objective where alpha = 1/(n C), C = 1."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        self.model = GeneralizedLinearRegressor(family="binomial", alpha=1 / len(y), l1_ratio=0)
        self.model.fit(X, y)
        self.coef_, self.intercept_ = self.model.coef_[None], np.atleast_1d(self.model.intercept_)
        return self

    def predict_proba(self, X: np.ndarray) -> Any:
        second = self.model.predict(X)
        return np.column_stack([1 - second, second])


ENTRIES = [
    Entry("logistic", Binomial, "IRLS", tolerance=None),
    Entry("logistic, hard", Binomial, "IRLS", tolerance=None),
]
