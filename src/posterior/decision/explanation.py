"""A decision in words: what was believed, what it would cost, what was done."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior._text import Printed
from posterior._types import Floats

FEW = 6  # classes or actions shown, the likeliest or cheapest first


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Printed):
    """Why one row got its decision, step by step.

    >>> print(Explanation(
    ...     "ask", ("ill", "well"), posterior=np.array([0.6, 0.4]), as_trained=np.array([0.6, 0.4]),
    ...     actions=("ill", "well"), costs=np.array([0.4, 0.6]),
    ...     rejected="the largest posterior is below 0.9"))
    ask
      posterior: ill 0.6, well 0.4
      expected cost: ill 0.4, well 0.6
      rejected: the largest posterior is below 0.9
    """

    answer: Any
    classes: tuple[Any, ...]
    posterior: Floats
    as_trained: Floats
    actions: tuple[Any, ...]
    costs: Floats
    new: Floats | None = None
    p_value: float | None = None
    alpha: float | None = None
    odd: str = ""
    rejected: str = ""
    because: str = ""

    def __str__(self) -> str:
        lines = [
            f"{self.answer}",
            f"  posterior: {values_listed(self.classes, self.posterior, -self.posterior)}",
        ]
        if not np.allclose(self.as_trained, self.posterior, rtol=1e-9, atol=0):
            lines.append(
                f"    before it was adjusted: {values_listed(self.classes, self.as_trained, -self.posterior)}"
            )
        if self.new is not None:
            lines.append(
                f"    class frequencies assumed: {values_listed(self.classes, self.new, -self.posterior)}"
            )
        if self.because:
            lines += [f"    {line}" for line in self.because.splitlines()]
        if self.p_value is not None:
            lines.append("  " + self._oddness())
            lines += [f"    {line}" for line in self.odd.splitlines()]
        if not self.is_outlier:
            lines.append(f"  expected cost: {values_listed(self.actions, self.costs, self.costs)}")
        if self.rejected and not self.is_outlier:
            lines.append(f"  rejected: {self.rejected}")
        return "\n".join(lines)

    @property
    def is_outlier(self) -> bool:
        """Whether the row was set apart before its costs were asked for."""
        return self.p_value is not None and self.alpha is not None and self.p_value <= self.alpha

    def _oddness(self) -> str:
        verdict = "outlier" if self.is_outlier else "no outlier"
        return f"{verdict}: p = {self.p_value:.2g}, and outliers are rows at or below {self.alpha:g}"


def values_listed(names: Sequence[Any], values: Floats, order: Floats) -> str:
    """Names with their values in the order of other numbers, the first few of them."""
    ranked = np.argsort(order, kind="stable")
    shown = ", ".join(f"{names[j]} {values[j]:.3g}" for j in ranked[:FEW])
    return shown + (f", and {len(ranked) - FEW} more" if len(ranked) > FEW else "")
