"""True classes against what was done, with columns for rejecting and for outliers where there are any."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior._text import Printed, aligned
from posterior._types import Floats
from posterior.decision.cost_table import read_costs
from posterior.decision.costs import action_codes
from posterior.decision.posteriors import class_codes, class_names, row_weights, same_rows
from posterior.schema.decode import frame_of

TRUE_CLASS = "true class"


@dataclass(frozen=True, eq=False, repr=False)
class ConfusionTable(Printed):
    """How many rows of each class got each action, (K, A); weights count as repetitions.

    >>> names = {"classes": ["ill", "well"], "actions": ["well", "ask"]}
    >>> table = confusion_table(["ill", "well"], ["ask", "well"], **names)
    >>> table.counts.tolist(), table.average_cost([[9, 2], [0, 2]])
    ([[0.0, 1.0], [1.0, 0.0]], 1.0)
    """

    counts: Floats
    classes: tuple[Any, ...]
    actions: tuple[Any, ...]

    def average_cost(self, costs: Any) -> float:
        """Mean cost of the rows of the table.

        Costs that name their actions need one for every action that was taken; an array has a column for
        each action of the table, rejecting included.
        """
        table = read_costs(costs, len(self.classes), self.classes)
        if table.matrix.ndim == 3:
            raise ValueError(
                "the table does not know which row had which costs; pass one matrix (classes, actions), or "
                "see posterior.decision.average_cost for costs of each row"
            )
        if not self.counts.any():
            raise ValueError("the table counts no rows, and so has no average cost")
        taken = np.flatnonzero(self.counts.any(axis=0)).tolist()
        if table.actions is None:
            if table.n_actions != len(self.actions):
                raise ValueError(
                    f"costs have {table.n_actions} columns, expected {len(self.actions)}, one for each of "
                    f"{list(self.actions)}; rejecting needs a cost too"
                )
            columns = taken
        else:
            free = [self.actions[j] for j in taken if self.actions[j] not in table.actions]
            if free:
                raise ValueError(
                    f"costs have no column for {free}, which rows of the table got; they are those of "
                    f"{list(table.actions)}: see Costs.with_action"
                )
            columns = [table.actions.index(self.actions[j]) for j in taken]
        spent = self.counts[:, taken] * table.matrix[:, columns]
        return float(spent.sum() / self.counts.sum())

    def frame(self) -> Any:
        """The table as a pandas frame, indexed by the true class."""
        names = np.empty(len(self.classes), dtype=object)
        names[:] = self.classes
        columns = {action: self.counts[:, j] for j, action in enumerate(self.actions)}
        return frame_of({TRUE_CLASS: names, **columns}, [TRUE_CLASS])

    def __str__(self) -> str:
        head = [TRUE_CLASS, *map(str, self.actions)]
        body = [
            [str(name), *(f"{count:.10g}" for count in row)]
            for name, row in zip(self.classes, self.counts, strict=True)
        ]
        return "\n".join(aligned([head, *body]))


def confusion_table(
    y: Any, action: Any, *, classes: Any, actions: Any = None, sample_weight: Any = None
) -> ConfusionTable:
    """Count the rows by true class and action.

    `classes` names the classes, and y holds their labels; or it is their number, and y holds positions.
    `actions` does the same for what was done, and has an entry for rejecting (the last position of
    `decide`) if there is one; without it the actions are the classes.

    >>> done = ["ill", "well", "ask", "well"]
    >>> print(confusion_table(["ill", "ill", "ill", "well"], done, classes=["ill", "well"],
    ...                       actions=["ill", "well", "ask"]))
    true class  ill  well  ask
    ill           1     1    1
    well          0     1    0
    >>> confusion_table([0, 0, 1], [0, 2, 1], classes=2, actions=3).counts
    array([[1., 0., 1.],
           [0., 1., 0.]])
    """
    n_classes, labels = _size(classes, "classes")
    n_actions, names = (n_classes, labels) if actions is None else _size(actions, "actions")
    codes = class_codes(y, n_classes, labels)
    hint = "pass every action in actions=…, rejecting too"
    done = action_codes(action, names, n_actions, hint)
    same_rows(len(codes), action=done)
    weight = row_weights(sample_weight, len(codes))
    counts = np.bincount(codes * n_actions + done, weight, n_classes * n_actions)
    return ConfusionTable(
        counts.reshape(n_classes, n_actions).astype(np.float64),
        tuple(class_names(labels, n_classes)),
        tuple(range(n_actions) if names is None else names),
    )


def _size(given: Any, what: str) -> tuple[int, list[Any] | None]:
    """How many there are, and their names if they have any."""
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        if given < 1:
            raise ValueError(f"{what} must be at least 1 in number, found {given}")
        return int(given), None
    if isinstance(given, str) or not hasattr(given, "__len__"):
        raise TypeError(f"{what} must be a list of names, or how many there are, found {given!r}")
    names = given.tolist() if isinstance(given, np.ndarray) else list(given)
    if not names or len(set(names)) != len(names):
        raise ValueError(f"{what} must be different names, at least one, found {names}")
    return len(names), names
