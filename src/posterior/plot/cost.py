"""What a threshold costs, as a picture: that which the costs imply beside that which these rows like best."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from posterior._types import Floats
from posterior.decision import Costs, RejectionCost, decide, least_expected_cost
from posterior.decision.cost_table import read_costs
from posterior.decision.costs import incurred
from posterior.decision.posteriors import class_names
from posterior.decision.scores import scored_rows
from posterior.plot.captions import label
from posterior.plot.display import PosteriorDisplay, drawing, read_posteriors
from posterior.plot.style import COLOURS, INK


@dataclass(frozen=True)
class Words:
    """What a threshold is one of, and what happens on either side of it."""

    axis: str
    above: str
    below: str


@dataclass(eq=False)
class CostThresholdDisplay(PosteriorDisplay):
    """Average cost of decisions by a threshold on the posterior, against the threshold.

    Of two classes, one action is taken where the posterior of `positive` is above the threshold and the
    other elsewhere. Costs imply the threshold `bayes` of least expected cost, with which posteriors that
    are calibrated need no tuning (Elkan 2001): c_fp / (c_fp + c_fn), with what a false alarm and a miss
    cost more than the right action. Beside it stands the threshold that is cheapest on the rows at hand;
    chosen after the event, it promises too much. Level lines are what taking one action always would cost.

    With `rejection`, and any number of classes, the threshold is on the least expected cost above which a
    row is rejected; that of Chow (1970) is what rejecting costs.

    The curve is a step function: from `threshold[i]` to the next the rows cost `cost[i]` on average.

    >>> import matplotlib.pyplot as plt
    >>> p = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]])
    >>> display = CostThresholdDisplay.from_predictions([0, 1, 1, 0], p, costs=[[0, 1], [5, 0]]).plot()
    >>> round(display.bayes, 4), display.bayes_cost, display.cost.min()
    (0.1667, 0.25, np.float64(0.25))
    >>> display.threshold, display.cost
    (array([0. , 0.1, 0.2, 0.6, 0.7]), array([0.5 , 0.25, 1.5 , 1.25, 2.5 ]))
    >>> plt.close(display.figure_)
    """

    threshold: Floats
    cost: Floats
    bayes: float
    words: Words

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        posterior: Any,
        *,
        costs: Any = None,
        classes: Any = None,
        positive: Any = None,
        rejection: float | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """The picture for true classes y and posteriors, or their logs, (n, K).

        `costs` are one matrix, (classes, actions), as `read_costs` reads it; None is zero-one. `positive`
        is the class whose posterior has the threshold, the second unless told otherwise. `rejection` is
        what leaving a row unanswered costs, where that is asked for.
        """
        logs, codes, weight = scored_rows(y, read_posteriors(posterior), classes, sample_weight)
        names = class_names(classes, logs.shape[1])
        table = read_costs(costs, len(names), classes)
        if table.matrix.ndim == 3:
            raise ValueError("costs of each row imply a threshold for each row; pass one matrix for all")
        if rejection is not None:
            rejection = RejectionCost(rejection).cost  # which refuses what is no number
            spent = incurred(table, codes, decide(logs, table))
            risk = least_expected_cost(logs, None if costs is None else table)
            curve = _swept(risk, np.full(len(codes), rejection), spent, weight)
            return cls(*curve, rejection, REJECTING)
        split = Split.of(table, names, positive)
        actions = np.array([split.on, split.off])[:, None].repeat(len(codes), axis=1)
        on, off = (incurred(table, codes, action) for action in actions)
        threshold, cost = _swept(np.exp(logs)[:, split.positive], on, off, weight)
        threshold[0] = 0.0
        return cls(threshold, cost, split.threshold, split.words)

    @property
    def bayes_cost(self) -> float:
        """The average cost at the threshold that the costs imply."""
        return float(self.cost[np.searchsorted(self.threshold, self.bayes, side="right") - 1])

    @property
    def best(self) -> tuple[float, float]:
        """The thresholds that are cheapest on these rows: from the first number to below the second."""
        i = int(self.cost.argmin())
        return float(self._edges[i]), float(self._edges[i + 1])

    @property
    def _edges(self) -> Floats:
        """Where the steps begin, and where the last one ends: within reach of what is to be seen."""
        low, high = self.threshold[1], self.threshold[-1]
        if self.words is not REJECTING:
            return np.append(self.threshold, 1.0)
        room = 0.05 * max(high - low, abs(high), 1e-12)
        first, last = min(low, self.bayes) - room, max(high, self.bayes) + room
        return np.concatenate([[first], self.threshold[1:], [last]])

    def plot(self, ax: Any = None) -> Self:
        """Draw the cost against the threshold, with the two thresholds and the two levels marked."""
        with drawing(ax) as axes:
            steps = np.append(self.cost, self.cost[-1])
            axes.plot(self._edges, steps, drawstyle="steps-post", color=COLOURS[0])
            self._draw_levels(axes)
            why = "what rejecting costs" if self.words is REJECTING else "implied by the costs"
            _mark(axes, self.bayes, self.bayes_cost, why, color=COLOURS[5], marker="D")
            best = float(np.mean(self.best)), float(self.cost.min())
            _mark(axes, *best, "best on these rows", color=COLOURS[2], marker="v")
            axes.axvline(self.bayes, color=COLOURS[5], linestyle=":", linewidth=1.2, zorder=1)
            axes.set(xlim=(self._edges[0], self._edges[-1]), xlabel=self.words.axis, ylabel="average cost")
            axes.margins(y=0.12)
            axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, frameon=False)
        return self._drawn_on(axes)

    def _draw_levels(self, axes: Any) -> None:
        levels = ((self.cost[0], self.words.above), (self.cost[-1], self.words.below))
        for level, words in levels:
            lower = level == min(self.cost[0], self.cost[-1]) < max(self.cost[0], self.cost[-1])
            axes.axhline(level, color=INK, linestyle="--", linewidth=0.8, zorder=1)
            axes.annotate(
                f"{words}: {level:.3g}",
                (0.99, level),
                (0, -2 if lower else 2),  # the two may be close to each other
                xycoords=axes.get_yaxis_transform(),
                textcoords="offset points",
                ha="right",
                va="top" if lower else "bottom",
                fontsize=8,
                color=INK,
            )


REJECTING = Words("reject a row that is expected to cost more than", "reject every row", "answer every row")


def _mark(axes: Any, threshold: float, cost: float, why: str, **looks: Any) -> None:
    words = f"{why}, {threshold:.3g}: average cost {cost:.3g}"
    axes.plot([threshold], [cost], linestyle="", markeredgecolor="white", zorder=4, label=words, **looks)


@dataclass(frozen=True)
class Split:
    """Two actions by a threshold on the posterior of one of two classes: `on` above it, `off` below."""

    positive: int
    on: int
    off: int
    threshold: float
    words: Words

    @classmethod
    def of(cls, costs: Costs, names: list[Any], positive: Any = None) -> "Split":
        """The split that costs imply, or why they imply none."""
        _refuse_more_than_two(costs, names)
        if positive is not None and positive not in names:
            raise ValueError(f"positive={positive!r} is not one of the classes {names}")
        k = 1 if positive is None else names.index(positive)
        miss_less_alarm = costs.matrix[k] - costs.matrix[1 - k]
        on, off = int(miss_less_alarm.argmin()), int(miss_less_alarm.argmax())
        alarm = float(costs.matrix[1 - k, on] - costs.matrix[1 - k, off])
        miss = float(costs.matrix[k, off] - costs.matrix[k, on])
        if min(alarm, miss) < 0 or alarm + miss <= 0:
            raise ValueError(
                f"with the costs {costs.matrix.tolist()} one action is never the dearer one, whatever the "
                "class, and so there is nothing to decide; rows are true classes and columns actions"
            )
        called = [label(name) for name in (names if costs.actions is None else costs.actions)]
        axis = f"threshold on the posterior of {label(names[k])}: {called[on]} above, {called[off]} below"
        words = Words(axis, f"always {called[on]}", f"always {called[off]}")
        return cls(k, on, off, alarm / (alarm + miss), words)


def _refuse_more_than_two(costs: Costs, names: list[Any]) -> None:
    if len(names) != 2 or costs.n_actions != 2:
        raise ValueError(
            f"a threshold on a posterior is for two classes and two actions, found {len(names)} classes and "
            f"{costs.n_actions} actions; pass rejection=c, what leaving a row unanswered costs, for the "
            "average cost against the threshold for rejecting"
        )


def _swept(score: Floats, above: Floats, below: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Steps of the average cost, as rows with scores above a threshold cost one thing and the others another.

    From `threshold[i]`, which is −∞ for the first, to below the next the average is `cost[i]`.
    """
    order = np.argsort(score, kind="stable")
    score, change = score[order], (weight * (below - above))[order]
    last = np.flatnonzero(np.append(score[1:] != score[:-1], True))
    start = float(weight @ above)
    cost = np.append(start, start + np.cumsum(change)[last]) / weight.sum()
    return np.append(-np.inf, score[last]), cost
