"""Why a row got its class: log odds by feature."""

from dataclasses import dataclass

import numpy as np

from posterior._types import AnyArray, Floats


@dataclass(frozen=True, eq=False)
class Contributions:
    """Log odds of class `of` against class `against`, split by feature, one line of `values` a row.

    The columns of `values` follow `terms`; the first is the prior (with what belongs to no feature).
    They add up to `total`, the log odds of the two classes.
    """

    terms: tuple[str, ...]
    values: Floats
    of: AnyArray
    against: AnyArray

    @property
    def total(self) -> Floats:
        """Log odds of the two classes, the sum of all terms."""
        return np.asarray(self.values.sum(axis=1))

    def __str__(self) -> str:
        blocks = []
        for row, of, against, total in zip(self.values, self.of, self.against, self.total, strict=True):
            width = max(len(t) for t in self.terms)
            lines = [f"log odds of {of} against {against}: {total:+.2f}"]
            order = [0, *(1 + np.argsort(-np.abs(row[1:]), kind="stable"))]
            lines += [f"  {self.terms[j]:<{width}}  {row[j]:+.2f}" for j in order]
            blocks.append("\n".join(lines))
        return "\n\n".join(blocks)


def log_odds(names: tuple[str, ...], terms: Floats, of: AnyArray, against: AnyArray) -> Floats:
    """Differences of the terms of two classes in each row; (n, T, K) terms and class codes to (n, T)."""
    rows = np.arange(len(terms))
    with np.errstate(invalid="ignore"):
        odds = terms[rows, :, of] - terms[rows, :, against]
    return np.nan_to_num(odds, nan=0.0, posinf=np.inf, neginf=-np.inf)
