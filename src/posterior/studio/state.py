"""Where a page begins: priors, costs, rejecting and outliers as the page's script keeps them."""

from collections.abc import Mapping
from typing import Any

from posterior._types import AnyArray
from posterior.bayes import given_priors
from posterior.decision.cost_table import read_costs
from posterior.decision.outliers import refuse_rate
from posterior.decision.reject import Coverage, RejectionCost, Threshold, read_reject
from posterior.studio.families import numbers


def page_settings(decision: Mapping[str, Any], classes: AnyArray) -> dict[str, Any]:
    """Settings of a decision, checked, as plain data; those that a page cannot move are refused.

    >>> import numpy as np
    >>> page_settings({"reject": {"threshold": 0.9}, "priors": [0.2, 0.8]}, np.array(["a", "b"]))
    {'priors': [0.2, 0.8], 'reject': ['threshold', 0.9]}
    """
    found: dict[str, Any] = {}
    priors, costs, reject, outliers = (decision.get(k) for k in ("priors", "costs", "reject", "outliers"))
    if priors is not None and not (isinstance(priors, str) and priors == "observed"):
        found["priors"] = numbers(given_priors(priors, classes))
    if costs is not None:
        table = read_costs(costs, len(classes), classes.tolist())
        same = table.actions is None or list(table.actions) == classes.tolist()
        if table.matrix.shape != (len(classes), len(classes)) or not same:
            raise ValueError(
                "costs in a studio page are those of the classes: one row and one column for each, and no "
                "other action; leave costs out, or name the classes only"
            )
        found["costs"] = numbers(table.matrix)
    if reject is not None:
        found["reject"] = _reject(reject)
    if outliers is not None:
        found["outliers"] = refuse_rate(outliers, "outliers")
    return found


def _reject(reject: Any) -> list[Any]:
    rule = read_reject(reject)
    if isinstance(rule, Threshold):
        return ["threshold", float(rule.theta)]
    if isinstance(rule, RejectionCost):
        return ["cost", float(rule.cost)]
    if isinstance(rule, Coverage):
        return ["coverage", float(rule.share)]
    raise ValueError(f"a studio page rejects by threshold, cost or coverage, found {reject!r}")
