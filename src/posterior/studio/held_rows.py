"""The rows of a studio page: log posteriors, rounded and drawn, with their classes and weights."""

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.estimators.held_out import HeldOutRows
from posterior.math import log_softmax

# A page holds at most so many rows, and at most so many log posteriors.
MOST_ROWS = 100_000
MOST_NUMBERS = 2_000_000
# Of a class that is rare so many rows are drawn, or all that it has.
LEAST_OF_CLASS = 500
# Log posteriors are kept relative to the largest of their row, in thousandths of a nat, as 16-bit integers.
STEPS = 1000
IMPOSSIBLE, LOWEST = -32768, -32767


@dataclass(frozen=True, eq=False)
class PageRows:
    """Rounded log posteriors (n, K) of rows, their class codes, weights, and places in the table.

    `thousandths` are 1000 (ln p_k − max ln p), rounded: a log odds is within 0.001 of the model's, and so a
    posterior within 0.00025. Smaller posteriors than e⁻³² of the largest are kept as e⁻³²; zeros stay zeros.
    """

    thousandths: AnyArray
    codes: Ints
    weight: Floats
    places: Ints

    @classmethod
    def of(cls, rows: HeldOutRows, seed: int = 0) -> "PageRows":
        """Round the rows held out; of too many those that are drawn, class by class, with weights."""
        n, n_classes = rows.log_posterior.shape
        weight = np.ones(n) if rows.weight is None else rows.weight
        known = np.flatnonzero(
            ~np.isnan(rows.log_posterior).any(axis=1)
        )  # folds of time predict no first part
        most = min(MOST_ROWS, MOST_NUMBERS // n_classes)
        chosen = known[drawn_rows(rows.y[known], most, seed)]
        codes = rows.y[chosen]
        stands_for = _ratio(
            np.bincount(rows.y[known], weight[known], n_classes),
            np.bincount(codes, weight[chosen], n_classes),
        )
        return cls(rounded(rows.log_posterior[chosen]), codes, weight[chosen] * stands_for[codes], chosen)

    @property
    def log_posterior(self) -> Floats:
        """The log posteriors as the page reads them back: rounded, and summing to one again.

        >>> rows = PageRows(rounded(np.log([[0.9, 0.1]])), np.array([0]), np.ones(1), np.array([0]))
        >>> np.exp(rows.log_posterior).round(4)
        array([[0.9, 0.1]])
        """
        relative = np.where(self.thousandths == IMPOSSIBLE, -np.inf, self.thousandths / STEPS)
        return log_softmax(relative)

    def as_json(self) -> dict[str, Any]:
        """The rows as a page holds them."""
        even = bool((self.weight == 1).all())
        return {
            "n": len(self.codes),
            "logs": packed(self.thousandths, "<i2"),
            "codes": packed(self.codes, "<u2"),
            "weight": None if even else packed(self.weight, "<f8"),
        }


def rounded(log_posterior: Floats) -> AnyArray:
    """Log posteriors relative to the largest of their row, in thousandths of a nat, (n, K) 16-bit integers.

    >>> rounded(np.array([[np.log(0.5)] * 2, [0.0, -np.inf]])).tolist()
    [[0, 0], [0, -32768]]
    """
    with np.errstate(divide="ignore"):
        relative = log_posterior - log_posterior.max(axis=1, keepdims=True)
    steps = np.maximum(np.round(STEPS * relative), LOWEST)
    return np.where(np.isneginf(relative), IMPOSSIBLE, steps).astype(np.int16)


def drawn_rows(codes: Ints, most: int, seed: int = 0) -> Ints:
    """At most so many rows, of every class in proportion, but of a rare one `LEAST_OF_CLASS` or all.

    >>> np.bincount(codes := np.repeat([0, 1], [9000, 100])).tolist()
    [9000, 100]
    >>> np.bincount(codes[drawn_rows(codes, 1000)]).tolist()
    [900, 100]
    """
    if len(codes) <= most:
        return np.arange(len(codes))
    counts = np.bincount(codes)
    least = min(LEAST_OF_CLASS, most // len(counts))
    wanted = np.minimum(counts, np.maximum(counts * most // len(codes), least))
    largest = int(wanted.argmax())
    wanted[largest] = min(int(wanted[largest] + most - wanted.sum()), int(counts[largest]))
    rng = np.random.default_rng(seed)
    parts = [rng.permutation(np.flatnonzero(codes == k))[: wanted[k]] for k in range(len(counts))]
    return np.sort(np.concatenate(parts))


def packed(values: AnyArray, kind: str) -> str:
    """Numbers as base64 of their little-endian bytes, row after row."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode("ascii")


def _ratio(whole: AnyArray, part: AnyArray) -> Floats:
    return np.divide(whole, part, out=np.ones(len(whole)), where=part > 0)
