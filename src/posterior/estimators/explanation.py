"""Why a row got its class: log odds by feature."""

from dataclasses import dataclass

import numpy as np

from posterior._types import AnyArray, Floats


@dataclass(frozen=True, eq=False)
class Contributions:
    """Log odds of class `of` against class `against`, split by feature, one line of `values` a row.

    The columns of `values` follow `terms`: the prior, then (with Gaussian blocks) the baseline, their log
    odds at the centre of the class means, then the features. They add up to `total`.

    >>> from posterior import GaussianNB
    >>> model = GaussianNB().fit([[1.0, 7.0], [2.0, 8.0], [3.0, 7.0], [4.0, 8.0]], ["a", "a", "b", "b"])
    >>> print(model.contributions([[1.5, 7.5]]))
    log odds of a against b: +8.00
      prior  +0.00
      x0     +8.00
      x1     +0.00
    """

    terms: tuple[str, ...]
    values: Floats
    total: Floats
    of: AnyArray
    against: AnyArray

    def __str__(self) -> str:
        blocks = []
        for row, of, against, total in zip(self.values, self.of, self.against, self.total, strict=True):
            width = max(len(t) for t in self.terms)
            lines = [f"log odds of {of} against {against}: {total:+.2f}"]
            lead = 1 + (self.terms[1:2] == ("baseline",))
            order = [*range(lead), *(lead + np.argsort(-np.abs(row[lead:]), kind="stable"))]
            lines += [f"  {self.terms[j]:<{width}}  {row[j]:+.2f}" for j in order]
            blocks.append("\n".join(lines))
        return "\n\n".join(blocks)


def log_odds(terms: Floats, of: AnyArray, against: AnyArray) -> Floats:
    """Differences of the terms of two classes in each row; (n, T, K) terms and class codes to (n, T)."""
    rows = np.arange(len(terms))
    with np.errstate(invalid="ignore"):
        odds = terms[rows, :, of] - terms[rows, :, against]
    return np.nan_to_num(odds, nan=0.0, posinf=np.inf, neginf=-np.inf)
