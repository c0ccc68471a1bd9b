"""What answering fewer rows buys: the average cost among the rows answered, by their share."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior._text import Printed
from posterior._types import AnyArray, Floats
from posterior.decision.cost_table import costs_of_rows
from posterior.decision.costs import decide, incurred
from posterior.decision.posteriors import row_weights
from posterior.decision.reject import least_expected_cost
from posterior.decision.scores import of_each_row
from posterior.schema.decode import table_of


@dataclass(frozen=True, eq=False, repr=False)
class RiskCoverage(Printed):
    """Risk against coverage (El-Yaniv & Wiener 2010), rows with the smallest expected cost first.

    `coverage` is the share of rows answered, `risk` the average cost among them, and `threshold` the
    rejection cost that answers just these: the largest of their least expected costs. Rows that are
    equally sure enter together. `least_area` is that of the best order there is.

    >>> curve = risk_coverage_curve([0, 1], np.log([[0.9, 0.1], [0.6, 0.4]]))
    >>> curve.coverage, curve.risk, curve.threshold.round(3), curve.area
    (array([0.5, 1. ]), array([0. , 0.5]), array([0.1, 0.4]), 0.25)
    """

    coverage: Floats
    risk: Floats
    threshold: Floats
    least_area: float

    @property
    def area(self) -> float:
        """The area under the curve: the mean over all coverages c of the risk when at least c is answered.

        The curve is a step function, Σ_j (c_j − c_(j−1))·risk_j: where no two rows are equally sure, the
        mean of the n risks (Geifman, Uziel & El-Yaniv 2019). A rule that cannot tell rows apart has the
        risk of answering all.
        """
        return float((np.diff(self.coverage, prepend=0.0) * self.risk).sum())

    @property
    def excess(self) -> float:
        """The area less that of the best order, in which rows that cost more come later.

        That one is integrated over c and not summed, so that repeating the rows changes nothing; with an
        error rate e it is e + (1 − e)·ln(1 − e) (Geifman, Uziel & El-Yaniv 2019).
        """
        return self.area - self.least_area

    def at(self, coverage: Any) -> Any:
        """The risk when at least this share of the rows is answered, for one share or an array of them."""
        share: AnyArray = np.asarray(coverage, dtype=np.float64)
        outside = ~((share > 0) & (share <= 1))
        if outside.any():
            raise ValueError(f"a coverage must be above 0 and at most 1, found {share[outside].flat[0]:g}")
        return self.risk[np.searchsorted(self.coverage, share)]

    def frame(self) -> Any:
        """The curve as a pandas frame, one row for each point."""
        columns = {"coverage": self.coverage, "risk": self.risk, "threshold": self.threshold}
        return table_of(columns, "pandas")

    def __str__(self) -> str:
        shares = (1.0, 0.9, 0.5)
        risks = ", ".join(f"{self.at(share):.4g} answering {100 * share:g} %" for share in shares)
        return f"risk {risks}; area {self.area:.4g}, {self.excess:.4g} above the best order"


def risk_coverage_curve(
    y: Any, log_posterior: Any, costs: Any = None, *, classes: Any = None, sample_weight: Any = None
) -> RiskCoverage:
    """Average cost of the answered rows against the share of rows answered (coverage).

    A row is the surer the less its cheapest action is expected to cost; without costs, the likelier its
    likeliest class, and the risk is the error rate.

    >>> curve = risk_coverage_curve([0, 0, 1, 0], np.log([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]]))
    >>> curve.coverage, curve.risk, curve.area
    (array([0.25, 0.5 , 0.75, 1.  ]), array([0.  , 0.  , 0.  , 0.25]), 0.0625)
    """
    logs, codes = of_each_row(y, log_posterior, classes)
    if not len(logs):
        raise ValueError("there are no rows, and so no curve; pass at least one")
    weight = row_weights(sample_weight, len(logs))
    table = costs_of_rows(logs, costs, classes)
    given = None if costs is None else table
    cost = incurred(table, codes, decide(logs, given))
    counts = weight > 0
    return _curve(least_expected_cost(logs, given)[counts], cost[counts], weight[counts])


def _curve(risk: Floats, cost: Floats, weight: Floats) -> RiskCoverage:
    order = np.argsort(risk, kind="stable")
    risk, rows, spent = risk[order], np.cumsum(weight[order]), np.cumsum((weight * cost)[order])
    last = np.flatnonzero(np.append(risk[1:] != risk[:-1], True))
    return RiskCoverage(
        rows[last] / rows[-1], spent[last] / rows[last], risk[last], _least_area(cost, weight)
    )


def _least_area(cost: Floats, weight: Floats) -> float:
    """∫ over c of the average of the cheapest share c of the rows, whose costs rise by steps."""
    price, where = np.unique(cost, return_inverse=True)
    share = np.bincount(where, weight) / weight.sum()
    end = np.cumsum(share)
    begin, spent = end - share, np.cumsum(share * price)
    # From b to e, where the price is q and the total at b is t: ∫ (t + q·(c − b))/c dc.
    before = spent - share * price - price * begin
    later = np.arange(len(price)) > 0
    logs = np.zeros(len(price))
    logs[later] = np.log(end[later] / begin[later])
    return float((before * logs + share * price).sum())
