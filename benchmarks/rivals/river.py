"""River: learns from one row at a time, a row being a dictionary; so it is asked for few rows."""

from typing import Any, Self

import numpy as np
from river import naive_bayes

from benchmarks.rivals import Entry

MOST_ROWS = 5_000


class OneByOne:
    """Rows are made into dictionaries inside the timing, for that is what it takes them as."""

    def __init__(self, model: Any) -> None:
        self.model = model

    @staticmethod
    def _rows(X: np.ndarray) -> list[dict[int, float]]:
        return [dict(enumerate(row)) for row in X.tolist()]

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        self.classes = np.unique(y).tolist()
        for row, label in zip(self._rows(X), y.tolist(), strict=True):
            self.model.learn_one(row, label)
        return self

    def predict_proba(self, X: np.ndarray) -> Any:
        found = [self.model.predict_proba_one(row) for row in self._rows(X)]
        return np.array([[shares.get(label, 0.0) for label in self.classes] for shares in found])


# It updates means and variances row by row, and its logs hold a small constant.
ENTRIES = [
    Entry("GaussianNB", lambda: OneByOne(naive_bayes.GaussianNB()), tolerance=1e-3, most_rows=MOST_ROWS),
    Entry("BernoulliNB", lambda: OneByOne(naive_bayes.BernoulliNB()), tolerance=1e-3, most_rows=MOST_ROWS),
]
