"""The action that is expected to cost least, and what actions did cost."""

from typing import Any

import numpy as np

from posterior._types import Floats, Ints
from posterior.decision.cheapest import cheapest, expected
from posterior.decision.cost_table import Costs, costs_of_rows, read_costs, refuse_other_rows
from posterior.decision.posteriors import (
    checked,
    class_codes,
    class_names,
    likeliest,
    row_weights,
    same_rows,
)
from posterior.decision.reject import RejectRule, error_probability, least_expected_cost, read_reject

__all__ = [
    "Costs",
    "action_codes",
    "action_names",
    "average_cost",
    "decide",
    "expected_cost",
    "incurred",
    "least_expected_cost",
    "read_costs",
]


def expected_cost(log_posterior: Any, costs: Any, *, classes: Any = None) -> Floats:
    """Expected cost of each action for each row, Σ_k p(k | row)·cost(k, action), (n, A).

    >>> expected_cost(np.log([[0.9, 0.1]]), [[0, 1], [5, 0]]).round(3)
    array([[0.5, 0.9]])
    """
    logs = checked(log_posterior)
    return expected(logs, costs_of_rows(logs, costs, classes).matrix)


def decide(log_posterior: Any, costs: Any = None, *, reject: Any = None, classes: Any = None) -> Ints:
    """Index of the action with the smallest expected cost for each row, (n,); the first of equals.

    Without costs the likeliest class, which zero-one costs give as well. Actions are equal when the costs
    and log posteriors given make them so, to the last digit. `reject` is a rule (`read_reject`), and
    rejecting one more action: its position is the number of actions.

    Parameters
    ----------
    log_posterior : array of shape (n, K)
        Log posteriors.
    costs : array of shape (K, A) or (n, K, A), mapping, data frame or Costs, default=None
        Costs by true class and action, see `read_costs`.
    reject : mapping or rule, default=None
        {"threshold": θ}, {"cost": c} or {"coverage": share}, see `posterior.decision.reject`.
    classes : array of shape (K,), default=None
        Names of the classes, in the order of the columns.

    >>> log_posterior = np.log([[0.9, 0.1], [0.99, 0.01]])
    >>> decide(log_posterior), decide(log_posterior, [[0, 1], [50, 0]])
    (array([0, 0]), array([1, 0]))
    >>> decide(log_posterior, reject={"threshold": 0.95})
    array([2, 0])

    """
    logs, rule = checked(log_posterior), read_reject(reject)
    table = None if costs is None else costs_of_rows(logs, costs, classes)
    return decisions(logs, table, rule)


def decisions(logs: Floats, costs: Costs | None, reject: RejectRule | None) -> Ints:
    """What `decide` gives, from log posteriors, costs and a rule that are checked already."""
    needs_risk = reject is not None and getattr(reject, "uses_risk", True)
    risk = np.zeros(0)
    if costs is not None:
        refuse_other_rows(costs.matrix, len(logs))
        action, risk = cheapest(logs, costs.matrix)
    else:
        action = likeliest(logs)
        if needs_risk:
            risk = error_probability(logs, action)
    if reject is not None:
        n_actions = logs.shape[1] if costs is None else costs.n_actions
        np.copyto(action, n_actions, where=np.asarray(reject.rejects(logs, risk), dtype=np.bool_))
    return action


def average_cost(
    y: Any,
    action: Any,
    costs: Any,
    *,
    classes: Any = None,
    actions: Any = None,
    sample_weight: Any = None,
) -> float:
    """Average cost of the actions taken, given the true classes.

    With `classes`, y holds labels of these and `action` labels of the actions: those that the costs name,
    or `actions`, or else the classes. Without, both are positions. Rejecting is an action like the others
    and needs a column of costs: an array with one more column, or `Costs.with_action`.

    >>> average_cost([0, 0, 1], [0, 1, 0], [[0, 1], [5, 0]])
    2.0
    >>> average_cost(["good", "bad"], ["bad", "bad"], [[0, 1], [5, 0]], classes=["good", "bad"])
    0.5
    """
    labels = np.asarray(y)
    n_classes = _n_classes(costs, classes)
    table = read_costs(costs, n_classes, classes)
    codes = class_codes(labels, n_classes, classes)
    hint = "what is done must have a column of costs, rejecting too: see Costs.with_action"
    done = action_codes(action, action_names(table, classes, actions), table.n_actions, hint)
    same_rows(len(codes), action=done)
    if not len(codes):
        raise ValueError("there are no rows, and so no average cost; pass at least one")
    return float(np.average(incurred(table, codes, done), weights=row_weights(sample_weight, len(codes))))


def incurred(costs: Costs, codes: Ints, action: Ints) -> Floats:
    """Cost of the action taken in each row, (n,), from positions of true classes and of actions."""
    if costs.matrix.ndim == 2:
        return np.asarray(costs.matrix[codes, action])
    refuse_other_rows(costs.matrix, len(codes))
    return np.asarray(costs.matrix[np.arange(len(codes)), codes, action])


def action_codes(action: Any, names: list[Any] | None, n_actions: int, hint: str) -> Ints:
    """Positions of actions: of labels among `names`, or codes 0 … A−1 where there are none."""
    # numpy makes strings of the labels [0, "reject"].
    given = np.asarray(action, dtype=object if names and isinstance(action, list | tuple) else None)
    if given.ndim != 1:
        raise ValueError(f"action holds one action for each row, found an array of shape {given.shape}")
    if names is None:
        inside = (given >= 0) & (given < n_actions) if given.dtype.kind in "iu" else np.zeros(1, np.bool_)
        if inside.all():
            return given.astype(np.int64)
    where = {name: j for j, name in enumerate(names or range(n_actions))}
    values = given.tolist()
    unknown = list(dict.fromkeys(repr(v) for v in values if v not in where))
    if unknown or names is None:
        known = f"positions from 0 to {n_actions - 1}" if names is None else f"some of {names}"
        raise ValueError(f"action holds {', '.join(unknown[:3]) or given.dtype}, expected {known}; {hint}")
    return np.array([where[v] for v in values], dtype=np.int64)


def action_names(costs: Costs, classes: Any, actions: Any) -> list[Any] | None:
    """What the actions are called: as the costs say, by `actions`, or as the classes; None: by position."""
    if actions is not None:
        named = class_names(actions, len(actions))
        if costs.actions is not None and named != list(costs.actions):
            raise ValueError(f"the costs are those of {list(costs.actions)}, found actions={named}")
        if len(named) != costs.n_actions:
            raise ValueError(
                f"actions must name {costs.n_actions} different actions, one for each column, found {named}"
            )
        return named
    if classes is None:
        return None
    if costs.actions is None and costs.n_actions != len(classes):
        raise ValueError(
            f"the costs have {costs.n_actions} actions for {len(classes)} classes, and the actions have no "
            "names; pass actions=…, one for each column"
        )
    return class_names(classes, len(classes)) if costs.actions is None else list(costs.actions)


def _n_classes(costs: Any, classes: Any) -> int:
    if classes is not None:
        return len(classes)
    if costs is None:
        raise ValueError("without costs, pass classes=model.classes_, from which zero-one costs are made")
    array = costs.matrix if isinstance(costs, Costs) else costs
    if isinstance(array, np.ndarray | list | tuple) and np.ndim(array) in {2, 3}:
        return int(np.shape(array)[-2])
    return len(array) if hasattr(array, "__len__") else 0  # no costs, as `read_costs` will say
