"""What answering fewer rows buys, as a picture."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from posterior.decision import RiskCoverage, risk_coverage_curve
from posterior.decision.reject import CLOSE, RankedRejectRule, read_reject
from posterior.plot.captions import label, write_title
from posterior.plot.display import PosteriorDisplay, drawing, read_posteriors
from posterior.plot.style import COLOURS, FAINT, INK

# Of the surest few rows a single error is a high risk; the scale of the picture is not theirs.
FEW = 0.1


@dataclass(eq=False)
class RiskCoverageDisplay(PosteriorDisplay):
    """Risk (error rate or average cost of the answered rows) against coverage (the share answered).

    A step of the line is a point of `risk_coverage_curve`; the level line is what leaving rows unanswered
    at random would give. A chosen way of rejecting is marked: the share it answers, the risk among these,
    and the posterior, or the expected cost, from which a row is answered.

    >>> import matplotlib.pyplot as plt
    >>> p = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]])
    >>> display = RiskCoverageDisplay.from_predictions([0, 0, 1, 0], p, reject={"coverage": 0.75}).plot()
    >>> display.marked, display.curve.area
    (2, 0.0625)
    >>> plt.close(display.figure_)
    """

    curve: RiskCoverage
    costly: bool = False
    marked: int | None = None
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        posterior: Any,
        *,
        costs: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
        reject: Any = None,
        name: str | None = None,
    ) -> Self:
        """The picture for true classes y and posteriors, or their logs, (n, K).

        `costs` and `classes` are those of `risk_coverage_curve`. `reject` is the rule to mark: a
        {"coverage": share}, a {"cost": c}, or without costs a {"threshold": θ}. `name` says whose curve it
        is, where several are drawn on one `ax`.
        """
        logs = read_posteriors(posterior)
        curve = risk_coverage_curve(y, logs, costs, classes=classes, sample_weight=sample_weight)
        marked = None if reject is None else _place(curve, reject, costly=costs is not None)
        return cls(curve, costs is not None, marked, name)

    def plot(self, ax: Any = None, *, color: Any = COLOURS[0]) -> Self:
        """Draw the curve, and the point that is marked."""
        curve = self.curve
        with drawing(ax) as axes:
            highest = axes.get_ylim()[1] if axes.lines else 0.0  # of other curves
            axes.axhline(curve.risk[-1], color=FAINT, linewidth=1, zorder=1)
            coverage, risk = np.append(0.0, curve.coverage), np.append(curve.risk[0], curve.risk)
            axes.plot(coverage, risk, drawstyle="steps-pre", color=color, label=self._legend)
            if self.marked is not None:
                self._mark(axes, self.marked, color)
            self._write_axes(axes, highest)
        return self._drawn_on(axes)

    def _mark(self, axes: Any, j: int, colour: Any) -> None:
        share, risk = self.curve.coverage[j], self.curve.risk[j]
        axes.plot([share, share], [0.0, risk], color=colour, linestyle=":", linewidth=1.2)
        axes.plot([share], [risk], color=colour, marker="o")

    def _write_axes(self, axes: Any, highest: float) -> None:
        risk = self.curve.risk
        low, high = min(0.0, float(risk.min())), float(risk[self.curve.coverage >= FEW].max())
        axes.set(
            xlim=(0, 1),
            ylim=(1.1 * low, max(high + 0.2 * (high - low), highest) or 1.0),
            xlabel="share of rows answered, the surest first",
            ylabel=f"{self._what} among these",
        )
        if self.name is not None:
            axes.legend(loc="upper left", frameon=False)
            return
        write_title(axes, *self._title)
        axes.annotate(
            "leaving out rows at random",
            (0.5, risk[-1]),
            (0, 3),
            textcoords="offset points",
            color=INK,
            fontsize=8,
        )

    @property
    def _title(self) -> tuple[str, ...]:
        curve = self.curve
        all_, half = curve.risk[-1], curve.at(0.5)
        title = f"{self._what.capitalize()} {all_:.3g} answering all, {half:.3g} answering half"
        if self.marked is None:
            return (title,)
        share, risk, threshold = (a[self.marked] for a in (curve.coverage, curve.risk, curve.threshold))
        limit = f"expected cost ≤ {threshold:.3g}" if self.costly else f"posterior ≥ {1 - threshold:.3g}"
        return title, f"Marked: {risk:.3g} answering {100 * share:.3g} % ({limit})"

    @property
    def _what(self) -> str:
        return "average cost" if self.costly else "error rate"

    @property
    def _legend(self) -> str | None:
        return None if self.name is None else f"{label(self.name)} (area {self.curve.area:.3g})"


def _place(curve: RiskCoverage, reject: Any, *, costly: bool) -> int:
    """The point of the curve where a rule for rejecting stands."""
    rule = read_reject(reject)
    limit = (
        rule.risk_limit(curve.coverage, curve.threshold, costly)
        if isinstance(rule, RankedRejectRule)
        else None
    )
    if limit is None:
        raise ValueError(
            f"reject={reject!r} is no point of this curve, on which rows come in the order of their expected "
            'cost; pass {"coverage": share} or {"cost": c}'
        )
    j = int(np.searchsorted(curve.threshold, limit + CLOSE, side="right")) - 1
    if j < 0:
        raise ValueError(
            f"reject={reject!r} answers no row: the surest is expected to cost {curve.threshold[0]:.3g}; "
            "reject fewer"
        )
    return j
