"""Learning curves as a picture: who needs less data, who wins in the end, and where they cross."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from posterior._types import Floats
from posterior.comparison.crossover import Crossover
from posterior.comparison.learning_curve import Curve, LearningCurve, Metric
from posterior.estimators.classifiers import bare
from posterior.plot.captions import label, legend_below, write_title
from posterior.plot.display import Display, drawing
from posterior.plot.style import HEIGHT, INK, LINES, WIDTH, colours_of, markers_of

# How a model learns is seen by its line.
STYLES = {"generative": LINES[0], "discriminative": LINES[1]}
WORDS = {"log_loss": "log loss", "error_rate": "error rate"}
# Losses that differ by more than so many times are shown on a logarithmic axis.
WIDE = 8.0


@dataclass(eq=False)
class LearningCurveDisplay(Display):
    """Learning curves: held-out losses against the number of training rows, with standard errors.

    Lines are whole for generative models, which learn p(row | class), and broken for discriminative ones,
    which learn p(class | row); bands are one standard error either way. Where one of a pair of models of
    the same form overtakes the other for good, there is a mark with a number, and the title
    says how many rows that takes (Ng & Jordan 2002).

    >>> import matplotlib.pyplot as plt
    >>> from posterior import LDA, LogisticRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {"LDA": LDA(), "softmax": LogisticRegression()}
    >>> display = LearningCurveDisplay.from_estimator(models, X, y, sizes=[15, 90], repeats=3).plot()
    >>> [line.get_linestyle() for line in display.lines_.values()]
    ['-', '--']
    >>> plt.close(display.figure_)
    """

    curve: LearningCurve
    metric: Metric = "log_loss"

    @classmethod
    def from_curve(cls, curve: LearningCurve, *, metric: Metric | None = None) -> Self:
        """The picture for curves that have been measured; of log loss where all models have one."""
        if metric is None:
            has_all = not any(np.isnan(c.log_loss).all() for c in curve.curves)
            metric = "log_loss" if has_all else "error_rate"
        curve.curves[0].repeated(metric)  # which refuses a metric that is none
        return cls(curve, metric)

    @classmethod
    def from_estimator(
        cls, estimators: Any, X: Any, y: Any, *, metric: Metric | None = None, **settings: Any
    ) -> Self:
        """Measure the curves of one estimator, or of several by name; settings are `LearningCurve.of`'s."""
        if not isinstance(estimators, Mapping):
            estimators = {type(bare(estimators)).__name__: estimators}
        return cls.from_curve(LearningCurve.of(X, y, models=estimators, **settings), metric=metric)

    @property
    def crossovers(self) -> tuple[Crossover, ...]:
        """Where one model of a pair overtakes the other, the earliest first."""
        found = (self.curve.crossover(*pair, self.metric) for pair in self.curve.pairs)
        return tuple(sorted((crossing for crossing in found if crossing), key=lambda c: c.rows))

    def plot(self, ax: Any = None) -> Self:
        """Draw the curves; `lines_` holds the line of each by its name."""
        curves = self.curve.curves
        with drawing(ax, figsize=(WIDTH, 1.15 * HEIGHT)) as axes:
            looks = zip(curves, colours_of(curves), markers_of(curves), strict=True)
            self.lines_ = {c.name: self._draw(axes, c, colour, mark) for c, colour, mark in looks}
            self._scale(axes)
            for number, crossing in enumerate(self.crossovers, start=1):
                self._mark(axes, number, crossing)
            axes.set(xlabel="rows learnt from", ylabel=f"{WORDS[self.metric]} on rows held out")
            legend_below(axes, list(self.lines_.values()), columns=2)
            write_title(axes, *self._findings())
        return self._drawn_on(axes)

    def _draw(self, axes: Any, curve: Curve, colour: str, marker: str) -> Any:
        mean, error = self._loss(curve), getattr(curve, f"{self.metric}_se")
        with np.errstate(invalid="ignore"):
            low, high = mean - error, mean + error
        axes.fill_between(curve.sizes, low, high, color=colour, alpha=0.18, linewidth=0)
        style = STYLES.get(curve.approach, ":")
        name = f"{label(curve.title, 32)} ({curve.approach})"
        looks = {"color": colour, "marker": marker, "markersize": 4, "linestyle": style, "label": name}
        return axes.plot(curve.sizes, mean, **looks)[0]

    def _scale(self, axes: Any) -> None:
        """Rows on a logarithmic axis, ticks at the sizes; losses too where they differ by far."""
        sizes = self.curve.sizes
        axes.set_xscale("log")
        axes.set_xticks(sizes, [f"{n:,}" for n in sizes])
        axes.minorticks_off()
        losses = np.concatenate([self._loss(curve) for curve in self.curve.curves])
        seen = losses[np.isfinite(losses) & (losses > 0)]
        if len(seen) and seen.max() > WIDE * seen.min():
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:g}")

    def _findings(self) -> list[str]:
        """A line for each crossing."""
        if not self.crossovers:
            return ["No generative and discriminative model cross"] if self.curve.pairs else []
        title = {curve.name: label(curve.title, 32) for curve in self.curve.curves}
        return [
            f"{number}: from about {c.rows:,.0f} rows {title[c.late]} is ahead of {title[c.early]}"
            + ("" if c.is_clear else " (may be chance)")
            for number, c in enumerate(self.crossovers, start=1)
        ]

    def _mark(self, axes: Any, number: int, crossing: Crossover) -> None:
        curve = self.curve[crossing.early]
        loss = float(np.interp(np.log(crossing.rows), np.log(curve.sizes), self._loss(curve)))
        axes.axvline(crossing.rows, color=INK, linestyle=":", linewidth=1, zorder=1)
        if np.isfinite(loss):
            axes.plot([crossing.rows], [loss], marker="o", markersize=9, color=INK, markerfacecolor="none")
        axes.annotate(
            f"{number}",
            (crossing.rows, 1.0),
            (3, -1 - 10 * (number - 1)),  # below each other, for crossings can be close
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            va="top",
            fontsize=8,
            color=INK,
        )

    def _loss(self, curve: Curve) -> Floats:
        return np.asarray(getattr(curve, self.metric))
