"""wnb: naive Bayes with a distribution for each column."""

from typing import Any, Self

import numpy as np
from wnb import Distribution, GeneralNB

from benchmarks.data import categorical_columns
from benchmarks.rivals import Entry

MOST_ROWS = 5_000  # half a millisecond a row


class General:
    """Told the distribution of each column; unsmoothed, for its formula of smoothing is another."""

    def __init__(self, *, mixed: bool) -> None:
        self.mixed = mixed

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        d = X.shape[1]
        normal = categorical_columns(d).start if self.mixed else d
        kinds = [Distribution.NORMAL] * normal + [Distribution.CATEGORICAL] * (d - normal)
        self.model = GeneralNB(distributions=kinds, alpha=0.0, var_smoothing=0.0).fit(X, y)
        return self

    def predict_proba(self, X: np.ndarray) -> Any:
        return self.model.predict_proba(X)


ENTRIES = [
    Entry("mixed columns", lambda: General(mixed=True), ours={"alpha": 0.0}, most_rows=MOST_ROWS, slow=True),
    Entry("GaussianNB", lambda: General(mixed=False), most_rows=MOST_ROWS, slow=True),
]
