"""What would be done with held-out rows: the likeliest class, or the action of least expected cost."""

from dataclasses import dataclass

import numpy as np

from posterior._types import Bools, Floats
from posterior.comparison import Comparison
from posterior.decision import Costs, confusion_table, decide
from posterior.decision.costs import incurred
from posterior.report.words import printable

# Signs between the parts of costs on the command line.
SIGNS = ",:="


@dataclass(frozen=True, eq=False)
class Outcomes:
    """How many rows of each class got each action, (K, A), of the model that is recommended.

    `right` marks the actions that cost least in a class; `costs` (K,) is the mean cost of its rows, NaN
    for a class without rows, and None where no costs were given.
    """

    actions: list[str]
    counts: Floats
    right: Bools
    costs: Floats | None = None

    @classmethod
    def of(cls, comparison: Comparison) -> "Outcomes":
        """Those of the first repeat.

        A discriminant, which expects nothing, acts by the class that it names where actions are classes.
        """
        chosen, codes, K = comparison.recommended, comparison.codes, len(comparison.classes)
        costs, done = comparison.costs, chosen.predicted
        if costs is None or (chosen.log_proba is None and costs.n_actions != K):
            counts = confusion_table(codes, done, classes=K).counts
            return cls([printable(name) for name in comparison.classes.tolist()], counts, np.eye(K) > 0)
        if chosen.log_proba is not None:
            done = decide(chosen.log_proba, costs)
        rows, spent = np.bincount(codes, minlength=K), np.bincount(codes, incurred(costs, codes, done), K)
        table = costs.matrix if costs.matrix.ndim == 2 else costs.matrix.mean(axis=0)
        return cls(
            [printable(name) for name in _names(costs, comparison)],
            confusion_table(codes, done, classes=K, actions=costs.n_actions).counts,
            table == table.min(axis=1, keepdims=True),
            np.where(rows > 0, spent / np.maximum(rows, 1), np.nan),
        )


def _names(costs: Costs, comparison: Comparison) -> list[object]:
    if costs.actions is not None:
        return list(costs.actions)
    classes: list[object] = comparison.classes.tolist()
    return classes if costs.n_actions == len(classes) else [f"action {j}" for j in range(costs.n_actions)]


def costs_as_typed(comparison: Comparison) -> str | None:
    """Costs as the command line reads them, "truth:action=cost,…"; None where these cannot be written so.

    Every class is an action there, a mistake costs 1 if nothing else is said, and the right answer 0.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> costs = {0: {0: 0, 1: 1, 2: 1}, 1: {0: 5, 1: 0, 2: 0.5}, 2: {0: 1, 1: 1, 2: 0}}
    >>> costs_as_typed(Comparison.of(X, y, models=["lda"], costs=costs, repeats=1))
    '1:0=5,1:2=0.5'
    """
    costs, classes = comparison.costs, comparison.classes.tolist()
    if costs is None or costs.matrix.ndim == 3:
        return None
    actions = _names(costs, comparison)
    words = [str(name) for name in (*classes, *actions)]
    plain = all(w and w.isprintable() and w == w.strip() and not set(w) & set(SIGNS) for w in words)
    if (
        not plain
        or not set(classes) <= set(actions)
        or (costs.actions is None and len(actions) != len(classes))
    ):
        return None
    told = {
        f"{truth}:{action}={_number(cost)}": action in classes and cost == float(action != truth)
        for truth, row in zip(classes, costs.matrix.tolist(), strict=True)
        for action, cost in zip(actions, row, strict=True)
    }
    return ",".join([text for text, usual in told.items() if not usual] or told)


def _number(value: float) -> str:
    return repr(value).removesuffix(".0")
