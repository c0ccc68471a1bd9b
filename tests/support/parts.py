"""The law that parts of a table add up, for tables of any columns."""

from typing import Any

import numpy as np

from posterior import NaiveBayes


def assert_parts_add_up(frame: Any, y: Any, other: Any = None) -> None:
    """Models of two parts of a table, one after the other or added, are that of the whole.

    `other` is the same table in other cells, of which the second part is taken.
    """
    rest, half = frame if other is None else other, len(y) // 2
    whole = NaiveBayes(tied=False, weights=1.0).fit(frame, y).predict_proba(frame)
    parts = (
        NaiveBayes(tied=False, weights=1.0)
        .partial_fit(frame[:half], y[:half])
        .partial_fit(rest[half:], y[half:])
    )
    np.testing.assert_allclose(parts.predict_proba(frame), whole, rtol=1e-9)
    added = NaiveBayes(tied=False, weights=1.0).fit(frame[:half], y[:half]) + NaiveBayes(
        tied=False, weights=1.0
    ).fit(rest[half:], y[half:])
    np.testing.assert_allclose(added.predict_proba(frame), whole, rtol=1e-9)
