"""How models are compared: which, on which folds, and what counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from posterior._text import listed
from posterior.comparison.candidates import Candidate
from posterior.decision import Costs
from posterior.decision.cost_table import read_costs, refuse_other_rows
from posterior.schema import Folds, LabelledTable

# Of two classes the one that is called so is looked for, whatever the other is called; and yes, not no.
SOUGHT = {
    *("abnormal", "anomaly", "attack", "bad", "churn", "churned", "dead", "deceased", "default", "defaulted"),
    *("defect", "defective", "died", "disease", "failed", "failure", "fraud", "ill", "malignant", "pos"),
    *("positive", "reject", "rejected", "sick", "spam"),
}
YES = {"yes": "no", "y": "n", "true": "false", "1": "0", "1.0": "0.0", "+": "-", "t": "f"}


class Sought(NamedTuple):
    """The code of the class that is looked for, and why it is that one."""

    code: int
    why: str


@dataclass(frozen=True, eq=False)
class Setting:
    """How models are compared: which (`named` by a user, or all of ours), on which folds, and what counts."""

    models: Sequence[Candidate]
    named: bool
    dealt: tuple[Folds, ...]
    costs: Costs | None
    positive: Sought | None
    false_alarms: float
    seed: int
    reference: bool = False


def sought_class(given: Any, table: LabelledTable) -> Sought | None:
    """Which of two classes is looked for: that given, by its name, else the rarer; None where not two.

    >>> loans = LabelledTable.of([[1.0], [2.0], [3.0]], np.array(["bad", "bad", "good"]))
    >>> sought_class(None, loans), sought_class("good", loans).code
    (Sought(code=0, why='by its name'), 1)
    """
    labels = table.classes.tolist()
    if given is not None and given not in labels:
        raise ValueError(f"positive={given!r} is not a class; the classes are {listed(labels)}")
    if len(labels) != 2:
        return None
    if given is not None:
        return Sought(labels.index(given), "as asked")
    words = [str(label).strip().casefold() for label in labels]
    named = [k for k in (0, 1) if words[k] in SOUGHT or YES.get(words[k]) == words[1 - k]]
    if len(named) == 1:
        return Sought(named[0], "by its name")
    first, second = np.bincount(table.codes, minlength=2).tolist()
    return Sought(1, "the second") if first == second else Sought(int(second < first), "the rarer one")


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
