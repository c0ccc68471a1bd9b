"""What each action costs in each class, read from what a user wrote and checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior._types import Floats
from posterior.decision.posteriors import class_names
from posterior.schema.labelled import labelled_matrix


@dataclass(frozen=True, eq=False)
class Costs:
    """Costs of A actions in K classes: a matrix (K, A), or one for each row, (n, K, A).

    `actions` names the columns, and is None where they are known by position. A gain is a negative cost.

    >>> Costs(np.array([[0.0, 1.0], [5.0, 0.0]]), ("lend", "refuse")).with_action(0.5, "refer").actions
    ('lend', 'refuse', 'refer')
    """

    matrix: Floats
    actions: tuple[Any, ...] | None = None

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return int(self.matrix.shape[-1])

    def with_action(self, cost: Any, name: Any = None) -> "Costs":
        """The costs with one more action, which costs one number in all classes, or one in each (K,)."""
        if (self.actions is None) != (name is None):
            known = "by position" if self.actions is None else f"by name, {list(self.actions)}"
            raise ValueError(f"the actions are known {known}, found the name {name!r} for another")
        if self.actions is not None and name in self.actions:
            raise ValueError(f"there is an action {name!r} already; choose another name")
        shape = self.matrix.shape[:-1]
        column = np.asarray(cost, dtype=np.float64)
        if column.shape not in {(), shape[-1:]} or not np.isfinite(column).all():
            raise ValueError(
                f"an action costs one finite number, or {shape[-1]}, one in each class: {cost!r}"
            )
        matrix = np.concatenate([self.matrix, np.broadcast_to(column, shape)[..., None]], axis=-1)
        return Costs(matrix, None if self.actions is None else (*self.actions, name))


def read_costs(costs: Any, n_classes: int, classes: Any = None) -> Costs:
    """Costs as a user writes them, checked, with the classes in the order of the columns of log posteriors.

    An array (K, A), rows true classes and columns actions, or (n, K, A), a matrix for each row; or, with
    the names of the classes, {class: {action: cost}} or a data frame with a row for each class (its index,
    or a column "class"). None is zero-one: an action for each class, and any wrong one costs 1.

    >>> loan = {"bad": {"lend": 5, "refuse": 0}, "good": {"lend": 0, "refuse": 1}}
    >>> read_costs(loan, 2, classes=["good", "bad"])
    Costs(matrix=array([[0., 1.],
           [5., 0.]]), actions=('lend', 'refuse'))
    """
    names = class_names(classes, n_classes)
    if costs is None:
        return Costs(1.0 - np.eye(n_classes))
    if isinstance(costs, Costs):
        matrix, actions = costs.matrix, costs.actions
    elif isinstance(costs, np.ndarray | list | tuple):
        matrix, actions = np.asarray(costs), None
    elif isinstance(costs, Mapping):
        matrix, actions = _from_mapping(costs, names)
    else:
        rows, columns, table = labelled_matrix(costs)
        _refuse_rows(rows, columns, names)
        matrix, actions = table[[rows.index(name) for name in names]], tuple(columns)
    return Costs(_checked_costs(matrix, names, actions), actions)


def costs_of_rows(logs: Floats, costs: Any, classes: Any = None) -> Costs:
    """Checked costs that fit these log posteriors."""
    table = read_costs(costs, logs.shape[1], classes)
    refuse_other_rows(table.matrix, len(logs))
    return table


def refuse_other_rows(matrix: Floats, n_rows: int) -> None:
    """Refuse matrices for each row that are not as many as the rows."""
    if matrix.ndim == 3 and len(matrix) != n_rows:
        raise ValueError(f"costs hold {len(matrix)} matrices for {n_rows} rows; pass one for each row")


def _from_mapping(costs: Mapping[Any, Any], names: list[Any]) -> tuple[Floats, tuple[Any, ...]]:
    inner = [row for row in costs.values() if isinstance(row, Mapping)]
    if len(inner) != len(costs):
        found = next(row for row in costs.values() if not isinstance(row, Mapping))
        raise ValueError(
            f"costs must be a mapping of mappings, {{class: {{action: cost}}}}, found {found!r} for class "
            f"{next(name for name, row in costs.items() if row is found)!r}"
        )
    _refuse_rows(list(costs), list(dict.fromkeys(name for row in inner for name in row)), names)
    actions = tuple(costs[names[0]])
    for name in names:
        absent = [a for a in actions if a not in costs[name]]
        more = [a for a in costs[name] if a not in actions]
        if absent or more:
            raise ValueError(
                f"every class needs a cost for every action: class {name!r} has none for {absent}"
                if absent
                else f"every class needs a cost for every action: class {names[0]!r} has none for {more}"
            )
    return np.array([[costs[name][a] for a in actions] for name in names]), actions


def _refuse_rows(rows: list[Any], actions: list[Any], names: list[Any]) -> None:
    absent = [name for name in names if name not in rows]
    unknown = [row for row in rows if row not in names]
    if not absent and not unknown:
        return
    raise ValueError(
        f"costs must have one row for each class: missing {absent}, not a class {unknown}; "
        f"the classes are {names}{_what_is_wrong(rows, actions, names)}"
    )


def _what_is_wrong(rows: list[Any], actions: list[Any], names: list[Any]) -> str:
    """A guess at why the rows of labelled costs are not the classes."""
    if rows == list(range(len(rows))) and len(rows) == len(names):
        return "; name the rows: set the classes as the index of the table"
    if names == list(range(len(names))):
        return (
            "; if the classes have names, pass classes=model.classes_ (where scikit-learn has numbered them, "
            "as cross_val_predict does for probabilities, pass an array in the order of the sorted classes)"
        )
    if set(actions) == set(names) and (set(rows) >= set(names) or not set(rows) & set(names)):
        return (
            "; rows are true classes and columns are actions: transpose the table if yours is the other way"
        )
    return ""


def _checked_costs(matrix: Any, names: list[Any], actions: tuple[Any, ...] | None) -> Floats:
    array = np.asarray(matrix)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"costs must be numbers, found {array.dtype} values")
    if array.ndim not in {2, 3} or array.shape[-1] < 1:
        raise ValueError(
            "costs must have shape (classes, actions), or (rows, classes, actions) for costs of each row; "
            f"found {array.shape}"
        )
    if array.shape[-2] != len(names):
        raise ValueError(
            f"costs have {array.shape[-2]} rows, expected {len(names)}, one for each true class of {names}"
        )
    finite = np.isfinite(array)
    if not finite.all():
        *row, k, a = np.argwhere(~finite)[0].tolist()
        where = f" (row {row[0]})" if row else ""
        raise ValueError(
            f"costs must be finite: action {a if actions is None else actions[a]!r} in class {names[k]!r} "
            f"costs {array[*row, k, a]}{where}; for an action that must never be taken, give a large cost"
        )
    if actions is not None and (len(actions) != array.shape[-1] or len(set(actions)) != len(actions)):
        raise ValueError(
            f"actions must name the {array.shape[-1]} columns of the costs, each once, found {list(actions)}"
        )
    return array.astype(np.float64, copy=False)
