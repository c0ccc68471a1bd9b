"""When not to answer: rules that reject a row, as one more action."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from numbers import Real
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from posterior._types import Bools, Floats, Ints
from posterior.decision.cheapest import expected, probabilities
from posterior.decision.cost_table import costs_of_rows
from posterior.decision.posteriors import checked, likeliest, row_weights

SAME = 1e-15  # costs this close are equal: exp(ln 0.05) is not quite 0.05
CLOSE = 1e-12  # the same row, scored alone or among others, may differ by so much


@runtime_checkable
class RejectRule(Protocol):
    """A rule that says for each row whether it is rejected (not answered).

    A rule may have more than this: `learnt_from` (`LearntRejectRule`), a number `cost`, which is what a
    rejected row costs (`PricedRejectRule`), and `uses_risk = False` where it looks at log posteriors only:
    the risk may then be an empty array.

    >>> import numpy as np
    >>> class TooClose:                       # reject where the two likeliest classes are nearly as likely
    ...     def rejects(self, log_posterior, risk):
    ...         best = np.sort(log_posterior, axis=1)
    ...         return best[:, -1] - best[:, -2] < np.log(2)
    >>> isinstance(TooClose(), RejectRule)
    True
    >>> TooClose().rejects(np.log([[0.9, 0.1], [0.6, 0.4]]), np.array([0.1, 0.4]))
    array([False,  True])
    """

    def rejects(self, log_posterior: Floats, risk: Floats) -> Bools:
        """Whether each row is rejected, from its log posteriors (n, K) and its least expected cost (n,)."""


@dataclass(frozen=True, eq=False)
class HeldOutDecisions:
    """Held-out rows with their posteriors and expected costs, from which a reject rule is learnt.

    `log_posterior` (n, K) is calibrated and under the class frequencies in use, `y` (n,) are class codes,
    `risk` (n,) least expected costs, `weight` (n,) row weights or None. `new_weight` is the largest weight
    that a new row may have; it is 1 unless class frequencies have changed.

    >>> import numpy as np
    >>> logs = np.log([[0.9, 0.1], [0.7, 0.3], [0.6, 0.4], [0.55, 0.45]])
    >>> rows = HeldOutDecisions(logs, y=np.array([0, 0, 1, 0]), risk=np.array([0.1, 0.3, 0.4, 0.45]))
    >>> Coverage(0.5).learnt_from(rows).rejects(logs, rows.risk)
    array([False, False, False,  True])
    """

    log_posterior: Floats
    y: Ints
    risk: Floats
    weight: Floats | None = None
    new_weight: float = 1.0


@runtime_checkable
class LearntRejectRule(RejectRule, Protocol):
    """A reject rule that is learnt from held-out rows; messages call it by its `name`.

    >>> isinstance(Coverage(0.9), LearntRejectRule), isinstance(Threshold(0.9), LearntRejectRule)
    (True, False)
    """

    def learnt_from(self, rows: HeldOutDecisions) -> RejectRule:
        """The rule to be used for new rows."""


@runtime_checkable
class PricedRejectRule(RejectRule, Protocol):
    """A rule that says what a rejected row costs."""

    @property
    def cost(self) -> float:
        """Cost of rejecting a row."""


@runtime_checkable
class RankedRejectRule(RejectRule, Protocol):
    """A rule that answers the rows of least expected cost, and so is a point of a risk–coverage curve."""

    def risk_limit(self, coverage: Floats, risk: Floats, costly: bool) -> float | None:
        """The largest risk that is answered, where `coverage` rows are if it is `risk`; None where none is.

        Both rise. `costly` says that costs were given; without, the risk is that of a wrong class.
        """


@dataclass(frozen=True)
class Threshold:
    """Reject rule: reject a row whose largest posterior is below θ (Chow 1970).

    With zero-one costs the same as a rejection cost of 1 − θ.

    >>> Threshold(0.9).rejects(np.log([[0.95, 0.05], [0.6, 0.4]]), np.array([0.05, 0.4]))
    array([False,  True])
    """

    theta: float
    uses_risk: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _require_share("threshold", self.theta)

    def rejects(self, log_posterior: Floats, risk: Floats) -> Bools:
        """Whether each row is rejected, (n,)."""
        least = np.log(self.theta)
        rejected = np.ones(len(log_posterior), dtype=np.bool_)
        for column in log_posterior.T:  # much faster than the maximum of short rows
            rejected &= column < least
        return rejected

    def risk_limit(self, coverage: Floats, risk: Floats, costly: bool) -> float | None:
        """1 − θ, if the risk is that of a wrong class."""
        return None if costly else 1.0 - self.theta

    def __str__(self) -> str:
        return f"the largest posterior is below {self.theta:g}"


@dataclass(frozen=True)
class RejectionCost:
    """Reject rule: reject a row if rejecting costs less than the cheapest action is expected to cost.

    Where rejecting costs more in one class than in another, it is an action like the others: give the
    costs a column for it, and no rule.

    >>> RejectionCost(0.1).rejects(np.log([[0.95, 0.05], [0.6, 0.4]]), np.array([0.05, 0.4]))
    array([False,  True])
    """

    cost: float

    def __post_init__(self) -> None:
        _require_number("cost", self.cost)

    @property
    def limit(self) -> float:
        """The largest expected cost at which a row is answered."""
        return self.cost + SAME * abs(self.cost)

    def rejects(self, log_posterior: Floats, risk: Floats) -> Bools:
        """Whether each row is rejected, (n,)."""
        return np.asarray(risk > self.limit)

    def risk_limit(self, coverage: Floats, risk: Floats, costly: bool) -> float | None:
        """The cost of rejecting."""
        return self.cost

    def __str__(self) -> str:
        return f"every action is expected to cost more than {self.cost:.3g}"


@dataclass(frozen=True)
class Limit:
    """Reject a row whose cheapest action is expected to cost more than a limit, which is not what it costs.

    >>> Limit(0.1).rejects(np.log([[0.95, 0.05], [0.6, 0.4]]), np.array([0.05, 0.4]))
    array([False,  True])
    """

    risk: float

    @property
    def limit(self) -> float:
        """The largest expected cost at which a row is answered."""
        return self.risk + CLOSE * abs(self.risk)

    def rejects(self, log_posterior: Floats, risk: Floats) -> Bools:
        """Whether each row is rejected, (n,)."""
        return np.asarray(risk > self.limit)

    def __str__(self) -> str:
        return f"every action is expected to cost more than {self.risk:.3g}"


@dataclass(frozen=True)
class Coverage:
    """Reject rule: answer a given share of the rows, those with the smallest expected cost.

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

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return f"a coverage of {self.share:g}"

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

    def risk_limit(self, coverage: Floats, risk: Floats, costly: bool) -> float | None:
        """The risk at which the share is reached."""
        return float(risk[np.searchsorted(coverage, self.share)])

    def learnt_from(self, rows: HeldOutDecisions) -> Limit:
        """The limit that `calibrated` sets on these rows."""
        return self.calibrated(rows.risk, rows.weight, rows.new_weight)

    def _exact(self) -> Fraction:
        """The share as it is written: 0.07 of 100 rows are 7, though the float is a little more."""
        return Fraction(repr(float(self.share)))


# The rules that users write as {key: number}; `register_reject_rule` adds one.
REJECT_RULES: dict[str, Callable[[Any], RejectRule]] = {
    "threshold": Threshold,
    "cost": RejectionCost,
    "coverage": Coverage,
}


def register_reject_rule(key: str, rule: Callable[[Any], RejectRule]) -> None:
    """Register a reject rule under a key, for `reject={key: number}` and `--reject key=number`.

    `rule(number)` gives the rule, or raises a `ValueError` that says what is wrong with the number: a class
    with `rejects`, such as a dataclass with one field. To be saved in model files, it must be a dataclass.

    >>> register_reject_rule("threshold", Threshold)  # the same again is allowed
    >>> register_reject_rule("threshold", RejectionCost)
    Traceback (most recent call last):
    ...
    ValueError: there is a reject rule 'threshold' already, Threshold; choose another key
    """
    if not isinstance(key, str) or not key.isidentifier():
        raise ValueError(f"the key of a reject rule must be a name such as 'my_rule', found {key!r}")
    if not callable(rule) or (isinstance(rule, type) and not hasattr(rule, "rejects")):
        raise TypeError(f"a reject rule must be a class with a method `rejects`, found {rule!r}")
    if REJECT_RULES.setdefault(key, rule) is not rule:
        known = getattr(REJECT_RULES[key], "__name__", REJECT_RULES[key])
        raise ValueError(f"there is a reject rule {key!r} already, {known}; choose another key")


def read_reject(reject: Any) -> RejectRule | None:
    """The rule that a user wrote as {"threshold": θ}, {"cost": c} or {"coverage": share}, or is one already.

    >>> read_reject({"coverage": 0.9})
    Coverage(share=0.9)
    """
    if reject is None or (isinstance(reject, RejectRule) and not isinstance(reject, type)):
        return reject
    if not isinstance(reject, Mapping):
        raise TypeError(
            f"reject must be None, a mapping with one of the keys {list(REJECT_RULES)}, or a rule with a "
            f'method `rejects`, found {reject!r}; for example {{"threshold": 0.9}}'
        )
    if len(reject) != 1 or next(iter(reject)) not in REJECT_RULES:
        raise ValueError(
            f"reject must have exactly one of the keys {list(REJECT_RULES)}, found {list(reject)}; "
            'for example {"threshold": 0.9}'
        )
    (kind, value), *_ = reject.items()
    return REJECT_RULES[kind](value)


def least_expected_cost(log_posterior: Any, costs: Any = None, *, classes: Any = None) -> Floats:
    """Expected cost of the cheapest action for each row, (n,): the risk of answering it.

    Without costs the probability that the likeliest class is wrong, the sum of those of the others.

    >>> least_expected_cost(np.log([[0.9, 0.1], [0.5, 0.5]])).round(3)
    array([0.1, 0.5])
    """
    logs = checked(log_posterior)
    if costs is None:
        return error_probability(logs, likeliest(logs))
    return np.asarray(expected(logs, costs_of_rows(logs, costs, classes).matrix).min(axis=1))


def error_probability(logs: Floats, best: Ints) -> Floats:
    """The probability that the likeliest class is wrong, (n,): the sum of the posteriors of the others."""
    others = probabilities(logs)
    others[np.arange(len(logs)), best] = 0.0
    if others.shape[1] > 3:  # the sum of two is the same in any order
        others.sort(axis=1)
        return np.asarray(others.sum(axis=1))
    return np.asarray(others @ np.ones(others.shape[1]))


def _require_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or np.isnan(float(value)):
        raise ValueError(f"reject: {name} must be a number, found {value!r}")


def _require_share(name: str, value: Any) -> None:
    _require_number(name, value)
    if not 0 < value <= 1:
        raise ValueError(f"reject: {name} must be above 0 and at most 1, found {value!r}")
