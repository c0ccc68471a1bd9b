"""How models are compared: which, on which folds, and what counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from posterior._text import listed
from posterior._types import AnyArray
from posterior.decision import Costs
from posterior.decision.cost_table import read_costs, refuse_other_rows
from posterior.schema import Folds, LabelledTable


@dataclass(frozen=True, eq=False)
class Setting:
    """How models are compared: which, on which folds, and what counts."""

    models: Sequence[str] | None
    dealt: tuple[Folds, ...]
    costs: Costs | None
    positive: int | None
    false_alarms: float
    seed: int


def position_of(given: Any, classes: AnyArray) -> int | None:
    """The code of the class that is looked for, where there are two."""
    labels = classes.tolist()
    if given is not None and given not in labels:
        raise ValueError(f"positive={given!r} is not a class; the classes are {listed(labels)}")
    if len(labels) != 2:
        return None
    return 1 if given is None else labels.index(given)


def share_of(false_alarms: Any) -> float:
    """The share of the other class that may be taken for it, checked."""
    number = isinstance(false_alarms, int | float) and not isinstance(false_alarms, bool)
    if not number or not 0 <= false_alarms <= 1:
        raise ValueError(f"false_alarms must be a share between 0 and 1, found {false_alarms!r}")
    return float(false_alarms)


def costs_of(costs: Any, table: LabelledTable) -> Costs | None:
    """Costs of the rows that have a class."""
    if costs is None:
        return None
    priced = read_costs(costs, len(table.classes), table.classes)
    refuse_other_rows(priced.matrix, len(table) + table.dropped)
    return costs_of_rows(priced, table.places)


def costs_of_rows(costs: Costs, rows: Any) -> Costs:
    """The costs of some rows, where each has its own."""
    return costs if costs.matrix.ndim == 2 else Costs(costs.matrix[rows], costs.actions)
