"""Contributions: the log odds of two classes, by feature."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior._types import AnyArray, Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Contributions:
    """Log odds of class `of` against class `against`, split by feature, one line of `values` a row.

    The columns of `values` follow `terms`. A generative model has the prior, then (with Gaussian blocks) the
    baseline, their log odds at the centre of the class means, then the features; a linear one the baseline,
    its log odds at the centre of training, then the features. They add up to `total`. `there` (n, T) says
    which terms a row has, where some are words of other rows; None where all rows have all.

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
    there: Bools | None = None

    @classmethod
    def between(
        cls,
        names: Sequence[str],
        terms: Floats,
        log_posterior: Floats,
        classes: AnyArray,
        of: Any,
        against: Any,
    ) -> "Contributions":
        """Of terms (n, T, K) that add up to log posteriors (but for a term of the row), those of two classes.

        By default each row's most probable class against its runner-up; with one class given, the best other.
        """
        if len(classes) < 2:
            raise ValueError(f"contributions compare two classes; so far there is only {classes.tolist()}")
        ranked, rows = np.argsort(-log_posterior, axis=1, kind="stable"), np.arange(len(terms))
        second = None if against is None else np.full(len(rows), class_code(classes, against))
        if of is not None:
            first = np.full(len(rows), class_code(classes, of))
        else:
            first = ranked[:, 0] if second is None else _best_other(ranked, second)
        second = _best_other(ranked, first) if second is None else second
        with np.errstate(invalid="ignore"):
            total = log_posterior[rows, first] - log_posterior[rows, second]
        total[np.isnan(total)] = 0.0  # both classes are impossible
        return cls(tuple(names), log_odds(terms, first, second), total, classes[first], classes[second])

    def __str__(self) -> str:
        blocks, lead = [], 1 + (self.terms[1:2] == ("baseline",))
        there = np.ones(self.values.shape, dtype=np.bool_) if self.there is None else self.there
        for i, (row, of, against, total) in enumerate(
            zip(self.values, self.of, self.against, self.total, strict=True)
        ):
            lines = [f"log odds of {of} against {against}: {total:+.2f}"]
            ranked = lead + np.argsort(-np.abs(row[lead:]), kind="stable")
            order = [*range(lead), *ranked[there[i, ranked]].tolist()]
            width = max(len(self.terms[j]) for j in order)
            lines += [f"  {self.terms[j]:<{width}}  {row[j]:+.2f}" for j in order]
            blocks.append("\n".join(lines))
        return "\n\n".join(blocks)


@dataclass(frozen=True, eq=False)
class NumberContributions:
    """Predicted numbers split by feature, one line of `values` a row, which add up to `total`.

    The columns of `values` follow `terms`: the baseline, which is the number predicted at the centre of
    training, then what each feature adds to it.

    >>> from posterior import LinearRegression
    >>> print(LinearRegression().fit([[1.0], [2.0], [4.0]], [10.0, 20.0, 40.0]).contributions([[3.0]]))
    predicted: 30
      baseline  +23.3333
      x0        +6.66667
    """

    terms: tuple[str, ...]
    values: Floats
    total: Floats

    def __str__(self) -> str:
        width = max(map(len, self.terms))
        blocks = []
        for row, total in zip(self.values, self.total, strict=True):
            order = [0, *(1 + np.argsort(-np.abs(row[1:]), kind="stable"))]
            lines = [f"  {self.terms[j]:<{width}}  {row[j]:+.6g}" for j in order]
            blocks.append("\n".join([f"predicted: {total:.6g}", *lines]))
        return "\n\n".join(blocks)


def class_code(classes: AnyArray, label: Any) -> int:
    """The position of a class; a label that is none is refused."""
    labels = classes.tolist()
    if label not in labels:
        raise ValueError(f"{label!r} is not a class; the classes are {labels}")
    return int(labels.index(label))


def _best_other(ranked: Ints, than: Ints) -> Ints:
    """The best class of each row other than a given one."""
    return np.where(ranked[:, 0] == than, ranked[:, 1], ranked[:, 0])


def log_odds(terms: Floats, of: AnyArray, against: AnyArray) -> Floats:
    """Differences of the terms of two classes in each row; (n, T, K) terms and class codes to (n, T)."""
    rows = np.arange(len(terms))
    with np.errstate(invalid="ignore"):
        odds = terms[rows, :, of] - terms[rows, :, against]
    return np.nan_to_num(odds, nan=0.0, posinf=np.inf, neginf=-np.inf)
