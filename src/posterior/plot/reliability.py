"""Whether probabilities mean what they say, as a picture."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from posterior._types import Bools, Floats
from posterior.decision import (
    CalibrationError,
    CalibrationTest,
    ReliabilityCurve,
    calibration_error,
    calibration_test,
    reliability_curve,
)
from posterior.decision.bins import Events
from posterior.decision.posteriors import class_names
from posterior.decision.reliability import TOP, Bins
from posterior.decision.scores import scored_rows
from posterior.plot.captions import label, p_words, write_title
from posterior.plot.display import PosteriorDisplay, drawing, read_posteriors
from posterior.plot.style import COLOURS, FAINT, HEIGHT, INK, WIDTH, colours_of, markers_of

HISTOGRAM_BINS = 20
# Curves that can be told apart in one picture.
MOST_CURVES = len(COLOURS)


@dataclass(eq=False)
class ReliabilityDisplay(PosteriorDisplay):
    """Reliability diagram: observed frequencies against predicted probabilities, with the number of rows.

    A point is a bin of `reliability_curve`, with Wilson's interval of the frequency; it is filled where it
    lies outside the range of calibrated posteriors, which is shaded where there is one curve. The title has
    the calibration error, what calibrated posteriors would have and how rare one as large would be, and
    what the test by temperature scaling says (`calibration_error` and `calibration_test`, with their own
    settings: their numbers are those of every other place).

    `curves` holds what is drawn: how often the most probable class is right ("top label"), or each class
    against the others, of two classes only the second; of many the eight that are furthest off.

    >>> import matplotlib.pyplot as plt
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(500)
    >>> y = (rng.random(500) < p).astype(int)
    >>> display = ReliabilityDisplay.from_predictions(y, np.stack([1 - p, p], axis=1)).plot()
    >>> print(display.ax_.get_title(loc="left"))
    Calibration error 0.043, 0.053 if calibrated (p = 0.82)
    Temperature 0.98 would fit best (p = 0.87)
    >>> plt.close(display.figure_)
    """

    curve: ReliabilityCurve
    error: CalibrationError
    test: CalibrationTest
    kind: Literal["top", "classwise"]
    histograms: Mapping[Any, Floats]

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        posterior: Any,
        *,
        classes: Any = None,
        kind: Literal["top", "classwise"] | None = None,
        n_bins: int = 10,
        strategy: str | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """The picture for true classes y and posteriors, or their logs, (n, K).

        `classes` names the columns; without it y holds codes 0 … K−1. `kind` is "top" or "classwise"; None
        takes the second for two classes and the first for more. `n_bins` and `strategy` are those of
        `reliability_curve`; bins are of equal width, and where there are several curves of equal weight,
        which leaves fewer points that chance has moved.
        """
        logs = read_posteriors(posterior)
        kind = kind or ("classwise" if logs.shape[1] <= 2 else "top")
        strategy = strategy or ("quantile" if kind == "classwise" and logs.shape[1] > 2 else "uniform")
        shared = {"classes": classes, "sample_weight": sample_weight}
        error = calibration_error(y, logs, kind=kind, **shared)
        curve = reliability_curve(y, logs, n_bins=n_bins, strategy=strategy, **shared)
        rows = scored_rows(y, logs, **shared)
        events = (Events.of_top if kind == "top" else Events.of_classes)(*rows)
        names = [TOP] if kind == "top" else class_names(classes, logs.shape[1])
        histograms = {
            name: np.histogram(np.minimum(p, 1.0), HISTOGRAM_BINS, (0.0, 1.0), weights=events.weight)[0]
            for name, p in zip(names, events.probability.T, strict=True)
        }
        return cls(curve, error, calibration_test(y, logs, **shared), kind, histograms)

    @property
    def curves(self) -> dict[Any, Bins]:
        """The curves that are drawn."""
        if self.kind == "top":
            return {TOP: self.curve.top}
        names = list(self.curve.by_class)
        if len(names) == 2:
            names = names[1:]
        worst = sorted(names, key=lambda name: -self.error.by_class[name])[:MOST_CURVES]
        return {name: self.curve.by_class[name] for name in names if name in worst}

    def plot(self, ax: Any = None) -> Self:
        """Draw the curves, and below them how many rows have which probability (`histogram_ax_`)."""
        curves, size = self.curves, (WIDTH, 1.15 * HEIGHT)
        with drawing(ax, nrows=2, sharex=True, height_ratios=(5, 1), figsize=size) as axes:
            above, below = axes if ax is None else (ax, ax.inset_axes((0.0, -0.27, 1.0, 0.2), sharex=ax))
            above.plot([0, 1], [0, 1], color=FAINT, linewidth=1, zorder=1)
            looks = zip(curves, colours_of([*curves]), markers_of([*curves]), strict=True)
            for name, colour, marker in looks:
                if len(curves) == 1:
                    _draw_range(above, curves[name])
                _draw_curve(above, curves[name], colour, marker, label(name))
                _draw_histogram(below, self.histograms[name], colour, filled=len(curves) == 1)
            self._write_axes(above, below)
            self._write_legend(above)
        self.histogram_ax_ = below
        return self._drawn_on(above)

    def _write_axes(self, above: Any, below: Any) -> None:
        above.set(xlim=(-0.01, 1.01), ylim=(-0.02, 1.02), ylabel="observed frequency")
        above.tick_params(labelbottom=False)
        write_title(above, *self._title())
        of = "the likeliest class" if self.kind == "top" else "the class"
        if self.kind == "classwise" and len(self.curves) == 1:
            of = label(next(iter(self.curves)))
        below.set(xlabel=f"predicted probability of {of}", ylabel="rows", ylim=(0, None))
        below.spines[["top", "right"]].set_visible(False)

    def _write_legend(self, axes: Any) -> None:
        handles, names = axes.get_legend_handles_labels()
        if len(self.curves) == 1:
            names[-1] = f"observed, {100 * self.curve.confidence:g} % interval"
        if any(_outside(bins).any() for bins in self.curves.values()):
            handles += axes.plot([], [], color=INK, marker="o", linestyle="")
            names.append("outside the range" if len(self.curves) == 1 else "not as if calibrated")
        some = f"{len(self.curves)} of {len(self.curve.by_class)} classes" if self._left_out else None
        axes.legend(handles, names, loc="best", title=some, alignment="left")

    @property
    def _left_out(self) -> bool:
        return self.kind == "classwise" and 2 < len(self.curves) < len(self.curve.by_class)

    def _title(self) -> tuple[str, str]:
        error, test = self.error, self.test
        first = (
            f"Calibration error {error.value:.3f}, {error.expected_if_calibrated:.3f} if calibrated "
            f"({p_words(error.p_value)})"
        )
        return first, f"Temperature {test.temperature:.2g} would fit best ({p_words(test.p_value)})"


RANGE = "range if calibrated"


def _outside(bins: Bins) -> Bools:
    """Which frequencies are not what calibrated posteriors would show, (bins,)."""
    return np.asarray((bins.observed < bins.band_low) | (bins.observed > bins.band_high))


def _draw_range(axes: Any, bins: Bins) -> None:
    axes.fill_between(
        bins.predicted, bins.band_low, bins.band_high, color=FAINT, alpha=0.35, linewidth=0, label=RANGE
    )


def _draw_curve(axes: Any, bins: Bins, colour: str, marker: str, name: str) -> None:
    """Points joined by a line, their intervals, and filled markers where they are out of range."""
    axes.vlines(bins.predicted, bins.low, bins.high, color=colour, linewidth=1, alpha=0.7, zorder=2)
    axes.plot(
        bins.predicted,
        bins.observed,
        color=colour,
        marker=marker,
        markerfacecolor="white",
        linewidth=1.2,
        zorder=3,
        label=name,
    )
    out = _outside(bins)
    axes.plot(bins.predicted[out], bins.observed[out], color=colour, marker=marker, linestyle="", zorder=4)


def _draw_histogram(axes: Any, counts: Floats, colour: str, *, filled: bool) -> None:
    edges = np.linspace(0.0, 1.0, len(counts) + 1)
    axes.stairs(counts, edges, color=INK if filled else colour, fill=filled, alpha=0.5 if filled else 1.0)
