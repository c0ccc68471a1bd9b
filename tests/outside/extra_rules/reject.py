"""Rules for rejecting: a margin between the two likeliest classes, and an error rate among the answered."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np


@dataclass(frozen=True)
class Margin:
    """Reject a row whose two likeliest classes are closer than `least`."""

    least: float
    uses_risk: ClassVar[bool] = False

    def __post_init__(self):
        if not 0 <= self.least <= 1:
            raise ValueError(f"a margin lies between 0 and 1, found {self.least!r}")

    def rejects(self, log_posterior, risk):
        first, second = np.sort(np.exp(log_posterior), axis=1).T[[-1, -2]]
        return first - second < self.least

    def __str__(self):
        return f"the two likeliest classes are closer than {self.least:g}"


@dataclass(frozen=True)
class ErrorRate:
    """Reject as few rows as leave at most this error rate among the held-out rows that are answered."""

    most: float

    def rejects(self, log_posterior, risk):
        raise TypeError("must be learnt from held-out rows first")

    def learnt_from(self, rows):
        order = np.argsort(rows.risk, kind="stable")
        weight = np.ones(len(order)) if rows.weight is None else rows.weight[order]
        wrong = rows.log_posterior.argmax(axis=1)[order] != rows.y[order]
        rate = np.cumsum(weight * wrong) / np.cumsum(weight)
        within = np.flatnonzero(rate <= self.most)
        return RiskBelow(float(rows.risk[order[within[-1]]]) if len(within) else -np.inf)

    def risk_limit(self, coverage, risk, costly):
        """Where it stands on a risk–coverage curve: nowhere, since it is not known before it is learnt."""


@dataclass(frozen=True)
class RiskBelow:
    """Answer rows up to a risk."""

    most: float

    def rejects(self, log_posterior, risk):
        return risk > self.most

    def risk_limit(self, coverage, risk, costly):
        return self.most

    def __str__(self):
        return f"the risk is above {self.most:.3g}"
