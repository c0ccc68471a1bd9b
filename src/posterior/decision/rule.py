"""All rules in one, in a fixed order: outliers first, then costs or rejecting."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.decision.cheapest import expected
from posterior.decision.cost_table import Costs, refuse_other_rows
from posterior.decision.costs import decisions
from posterior.decision.reject import PricedRejectRule, RejectRule


@dataclass(frozen=True, eq=False)
class DecisionRule:
    """What is done with a row, from its log posterior; everything here is checked already.

    An outlying row is called so; of the others those that `reject` holds too unsure are rejected, and the
    rest get the action of least expected cost. Without `costs` the actions are the classes.

    >>> from posterior.decision.reject import Threshold
    >>> rule = DecisionRule(("ill", "well"), reject=Threshold(0.9), reject_label="ask")
    >>> [rule.labels[code] for code in rule.codes(np.log([[0.95, 0.05], [0.6, 0.4]]))]
    ['ill', 'ask']
    """

    classes: tuple[Any, ...]
    costs: Costs | None = None
    reject: RejectRule | None = None
    reject_label: Any = "reject"
    outlier_label: Any = "outlier"
    finds_outliers: bool = False

    def __post_init__(self) -> None:
        costs, k = self.costs, len(self.classes)
        if costs is not None and costs.actions is None and costs.n_actions != k:
            raise ValueError(
                f"costs has {costs.n_actions} columns for {k} classes, so that its actions are not the "
                "classes; name them: pass a data frame, or {class: {action: cost}}"
            )
        for name, label, used in (
            ("reject_label", self.reject_label, self.reject is not None),
            ("outlier_label", self.outlier_label, self.finds_outliers),
        ):
            if used and label in self.classes:
                raise ValueError(
                    f"{name}={label!r} is one of the classes {list(self.classes)}; choose another label, or "
                    "nobody can tell the two apart"
                )

    @property
    def actions(self) -> tuple[Any, ...]:
        """The actions that have a cost, by column."""
        named = None if self.costs is None else self.costs.actions
        return self.classes if named is None else named

    @property
    def labels(self) -> tuple[Any, ...]:
        """Everything that may be answered: the actions, then rejecting, then being an outlier."""
        extra = (self.reject_label,) * (self.reject is not None) + (self.outlier_label,) * self.finds_outliers
        return (*self.actions, *extra)

    def priced(self) -> Costs:
        """The costs with a column for everything in `labels`."""
        if self.costs is None:
            raise ValueError("there are no costs to add to")
        table = Costs(self.costs.matrix)
        extra = len(self.labels) - len(self.actions)
        if not extra:
            return table
        if not isinstance(self.reject, PricedRejectRule):
            raise ValueError(
                "rows that get no answer have no cost, and so the others have no average with them; say what "
                'one costs by reject={"cost": …}, which prices outliers as well, or look at '
                "posterior.decision.risk_coverage_curve"
            )
        for _ in range(extra):
            table = table.with_action(self.reject.cost)
        return table

    def codes(self, log_posterior: Floats, outlying: Bools | None = None) -> Ints:
        """Positions in `labels`, (n,)."""
        chosen = decisions(log_posterior, self.costs, self.reject)
        if outlying is not None:
            chosen[outlying] = len(self.labels) - 1
        return chosen

    def expected_cost(self, log_posterior: Floats) -> Floats:
        """Expected cost of each action for each row, (n, A); zero-one costs where none were given."""
        matrix = 1.0 - np.eye(len(self.classes)) if self.costs is None else self.costs.matrix
        refuse_other_rows(matrix, len(log_posterior))
        return expected(log_posterior, matrix)


def as_labels(labels: tuple[Any, ...], classes: AnyArray) -> AnyArray:
    """Labels as an array of the type of the classes where they fit it, and of objects where they do not.

    >>> as_labels((1, 2, -1), np.array([1, 2], dtype=np.uint8)).dtype
    dtype('int16')
    """
    kind, extra = classes.dtype.kind, labels[len(classes) :]
    if labels[: len(classes)] == tuple(classes.tolist()):
        if not extra:
            return classes
        if kind in "iuf" and all(isinstance(label, int | float | np.number) for label in extra):
            smallest = (np.min_scalar_type(label) for label in extra)
            return np.array(labels, dtype=np.result_type(classes.dtype, *smallest))
    if kind == "U" and all(isinstance(label, str) for label in labels):
        return np.array(labels)
    mixed = np.empty(len(labels), dtype=object)
    mixed[:] = labels
    return mixed
