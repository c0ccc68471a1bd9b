"""mixed-naive-bayes: normal and categorical columns together."""

from typing import Any, Self

import numpy as np
from mixed_naive_bayes import MixedNB

from benchmarks.data import categorical_columns
from benchmarks.rivals import Entry

MOST_ROWS = 2_000_000  # ten million take more than 24 GiB


class Mixed:
    """Told which columns are categories, and to smooth as we do."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        codes = list(categorical_columns(X.shape[1]))
        self.model = MixedNB(categorical_features=codes, alpha=1.0, var_smoothing=0.0).fit(X, y)
        return self

    def predict_proba(self, X: np.ndarray) -> Any:
        return self.model.predict_proba(X)


ENTRIES = [
    Entry("mixed columns", Mixed, most_rows=MOST_ROWS),
    Entry("GaussianNB", lambda: MixedNB(var_smoothing=0.0), most_rows=MOST_ROWS),
]
