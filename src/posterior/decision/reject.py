"""When not to answer: rules that reject a row, as one more action."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from numbers import Real
from typing import Any, Protocol, runtime_checkable

import numpy as np

from posterior._types import Bools, Floats
from posterior.decision.cheapest import expected, probabilities
from posterior.decision.cost_table import costs_of_rows
from posterior.decision.posteriors import checked, row_weights

SAME = 1e-15  # costs this close are equal: exp(ln 0.05) is not quite 0.05
CLOSE = 1e-12  # the same row, scored alone or among others, may differ by so much


@runtime_checkable
class Rule(Protocol):
    """What says of each row whether it is too unsure to be answered."""

    def rejects(self, log_posterior: Floats, risk: Floats) -> Bools:
        """Whether each row is rejected, from its log posteriors (n, K) and its least expected cost (n,)."""


@dataclass(frozen=True)
class Threshold:
    """Reject a row whose largest posterior is below θ (Chow 1970).

    With zero-one costs the same as a rejection cost of 1 − θ.

    >>> Threshold(0.9).rejects(np.log([[0.95, 0.05], [0.6, 0.4]]), np.array([0.05, 0.4]))
    array([False,  True])
    """

    theta: float

    def __post_init__(self) -> None:
        _require_share("threshold", self.theta)

    def rejects(self, log_posterior: Floats, risk: Floats) -> Bools:
        """Whether each row is rejected, (n,)."""
        return np.asarray(log_posterior.max(axis=1) < np.log(self.theta))

    def __str__(self) -> str:
        return f"the largest posterior is below {self.theta:g}"


@dataclass(frozen=True)
class RejectionCost:
    """Reject a row when that costs less than the cheapest action is expected to; answer it when equal.

    Where rejecting costs more in one class than in another, it is an action like the others: give the
    costs a column for it, and no rule.

    >>> RejectionCost(0.1).rejects(np.log([[0.95, 0.05], [0.6, 0.4]]), np.array([0.05, 0.4]))
    array([False,  True])
    """

    cost: float

    def __post_init__(self) -> None:
        _require_number("cost", self.cost)

    def rejects(self, log_posterior: Floats, risk: Floats) -> Bools:
        """Whether each row is rejected, (n,)."""
        return np.asarray(risk > self.cost + SAME * abs(self.cost))

    def __str__(self) -> str:
        return f"every action is expected to cost more than {self.cost:.3g}"


@dataclass(frozen=True)
class Limit:
    """Reject a row whose cheapest action is expected to cost more than a limit, which is not what it costs.

    >>> Limit(0.1).rejects(np.log([[0.95, 0.05], [0.6, 0.4]]), np.array([0.05, 0.4]))
    array([False,  True])
    """

    risk: float

    def rejects(self, log_posterior: Floats, risk: Floats) -> Bools:
        """Whether each row is rejected, (n,)."""
        return np.asarray(risk > self.risk + CLOSE * abs(self.risk))

    def __str__(self) -> str:
        return f"every action is expected to cost more than {self.risk:.3g}"


@dataclass(frozen=True)
class Coverage:
    """Answer a share of the rows, those of least expected cost, and reject the others.

    Of the n rows at hand at least ⌈share·n⌉ are answered, and more where others cost the same as the last
    of these. That depends on the company a row is in; `calibrated` gives a rule that does not.

    >>> Coverage(0.5).rejects(np.log([[0.95, 0.05], [0.6, 0.4]]), np.array([0.05, 0.4]))
    array([False,  True])
    """

    share: float

    def __post_init__(self) -> None:
        _require_share("coverage", self.share)

    def rejects(self, log_posterior: Floats, risk: Floats) -> Bools:
        """Whether each row is rejected, (n,)."""
        if not len(risk):
            return np.zeros(0, dtype=np.bool_)
        last = ceil(self._exact() * len(risk)) - 1
        return np.asarray(risk > np.partition(risk, last)[last])

    def __str__(self) -> str:
        return f"the row is not among the surest {100 * self.share:g} %"

    def calibrated(self, held_out_risk: Any, weight: Any = None, own_weight: float = 1.0) -> Limit:
        """The limit on the expected cost that answers a new row with a probability of at least the share.

        It is the ⌈(n + 1)·share⌉-th smallest of the least expected costs of n rows that the model has not
        seen: the new row is as likely to have one rank among them as another (Vovk, Gammerman & Shafer 2005).
        With fewer than share / (1 − share) rows it is infinite, and every row is answered. Where rows have
        weights because classes will be met more or less often, `own_weight` is the largest that a new row may
        have (Tibshirani et al. 2019).

        >>> Coverage(0.5).calibrated([0.3, 0.1, 0.2])
        Limit(risk=0.2)
        >>> Coverage(0.9).calibrated([0.3, 0.1, 0.2])
        Limit(risk=inf)
        """
        risk = np.asarray(held_out_risk, dtype=np.float64)
        if risk.ndim != 1 or not len(risk) or np.isnan(risk).any():
            raise ValueError(
                f"held-out risks are one number for each of at least one row, found {np.isnan(risk).sum()} "
                f"NaN in an array of shape {risk.shape}"
            )
        order = np.argsort(risk, kind="stable")
        rows = np.cumsum(row_weights(weight, len(risk))[order])
        needed = float(self._exact() * (Fraction(rows[-1]) + Fraction(own_weight)))
        last = int(np.searchsorted(rows, needed))
        return Limit(float(risk[order[last]]) if last < len(risk) else np.inf)

    def _exact(self) -> Fraction:
        """The share as it is written: 0.07 of 100 rows are 7, though the float is a little more."""
        return Fraction(repr(float(self.share)))


RULES: dict[str, type[Threshold] | type[RejectionCost] | type[Coverage]] = {
    "threshold": Threshold,
    "cost": RejectionCost,
    "coverage": Coverage,
}


def read_reject(reject: Any) -> Rule | None:
    """The rule that a user wrote as {"threshold": θ}, {"cost": c} or {"coverage": share}, or is one already.

    >>> read_reject({"coverage": 0.9})
    Coverage(share=0.9)
    """
    if reject is None or (isinstance(reject, Rule) and not isinstance(reject, type)):
        return reject
    if not isinstance(reject, Mapping):
        raise TypeError(
            f"reject must be None, a mapping with one of the keys {list(RULES)}, or a rule with a method "
            f'`rejects`, found {reject!r}; for example {{"threshold": 0.9}}'
        )
    if len(reject) != 1 or next(iter(reject)) not in RULES:
        raise ValueError(
            f"reject must have exactly one of the keys {list(RULES)}, found {list(reject)}; "
            'for example {"threshold": 0.9}'
        )
    (kind, value), *_ = reject.items()
    return RULES[kind](value)


def least_expected_cost(log_posterior: Any, costs: Any = None, *, classes: Any = None) -> Floats:
    """Expected cost of the cheapest action for each row, (n,): the risk of answering it.

    Without costs the probability that the likeliest class is wrong, the sum of those of the others.

    >>> least_expected_cost(np.log([[0.9, 0.1], [0.5, 0.5]])).round(3)
    array([0.1, 0.5])
    """
    logs = checked(log_posterior)
    if costs is not None:
        return np.asarray(expected(logs, costs_of_rows(logs, costs, classes).matrix).min(axis=1))
    others = probabilities(logs)
    others[np.arange(len(logs)), logs.argmax(axis=1)] = 0.0
    return np.asarray(np.sort(others, axis=1).sum(axis=1))  # the same whatever the order of the classes


def _require_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or np.isnan(float(value)):
        raise ValueError(f"reject: {name} must be a number, found {value!r}")


def _require_share(name: str, value: Any) -> None:
    _require_number(name, value)
    if not 0 < value <= 1:
        raise ValueError(f"reject: {name} must be above 0 and at most 1, found {value!r}")
