"""The leaderboard of a comparison as a picture: log loss with its uncertainty, and who is tied."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from posterior.comparison.comparison import Comparison
from posterior.comparison.result import Result
from posterior.plot.captions import label, legend_below, write_title
from posterior.plot.display import Display, drawing
from posterior.plot.style import COLOURS, FAINT, INK, WIDTH

LOOKS = {
    "generative": {"color": COLOURS[0], "marker": "o"},
    "discriminative": {"color": COLOURS[5], "marker": "s"},
    "baseline": {"color": INK, "marker": "D"},
    "discriminant": {"color": COLOURS[2], "marker": "^"},
    "pool": {"color": COLOURS[4], "marker": "P"},
    "other": {"color": COLOURS[3], "marker": "v"},
    "reference": {"color": INK, "marker": "x"},
}
# Losses that differ by more than so many times are shown on a logarithmic axis.
WIDE = 8.0
ERRORS = 1.96  # standard errors to either side


@dataclass(eq=False)
class ComparisonDisplay(Display):
    """Held-out log losses of several models, best first, with 95 % intervals; those that are tied are shaded.

    Whether two models are tied is said by the comparison, from the differences row by row: their intervals
    are of no help there, because both models find the same rows hard. A model without probabilities has no
    log loss, and only its accuracy is given.

    >>> import matplotlib.pyplot as plt
    >>> from types import SimpleNamespace as Result
    >>> lda = Result(title="LDA", approach="generative", log_loss=0.21, log_loss_se=0.02, accuracy=0.93)
    >>> majority = Result(title="majority", approach="baseline", log_loss=1.1, log_loss_se=0.01, accuracy=0.4)
    >>> found = Result(results=(lda, majority), ties=(), recommended=lda, recommendation="LDA is best.")
    >>> display = ComparisonDisplay.from_comparison(found).plot()
    >>> [tick.get_text() for tick in display.ax_.get_yticklabels()]
    ['LDA', 'majority']
    >>> plt.close(display.figure_)
    """

    comparison: Comparison

    @classmethod
    def from_comparison(cls, comparison: Comparison) -> Self:
        """The picture for a comparison."""
        return cls(comparison)

    def plot(self, ax: Any = None) -> Self:
        """Draw a line for each model; the one recommended is in bold type."""
        results = self.comparison.results
        with drawing(ax, figsize=(WIDTH, 1.7 + 0.27 * len(results))) as axes:
            self._shade(axes)
            for row, result in enumerate(results):
                self._draw(axes, row, result)
            self._scale(axes)
            axes.set_ylim(len(results) - 0.4, -0.6)
            axes.set_yticks(range(len(results)), [label(result.title, 32) for result in results])
            for tick, result in zip(axes.get_yticklabels(), results, strict=True):
                tick.set_fontweight("bold" if result is self.comparison.recommended else "normal")
            axes.set(xlabel="log loss on rows held out, 95 % interval")
            write_title(axes, label(self.comparison.recommendation, 300))
            self._write_legend(axes)
        return self._drawn_on(axes)

    def _shade(self, axes: Any) -> None:
        if not self.comparison.ties:
            return
        best = (self.comparison.recommended, *self.comparison.ties)
        for row, result in enumerate(self.comparison.results):
            if any(result is tied for tied in best):
                axes.axhspan(row - 0.5, row + 0.5, color=FAINT, alpha=0.3, linewidth=0, gid="tie")

    def _draw(self, axes: Any, row: int, result: Result) -> None:
        looks, words = LOOKS[result.approach], f"accuracy {result.accuracy:.3f}"
        if result.log_loss is None or result.log_loss_se is None or not np.isfinite(result.log_loss):
            words = f"{'no' if result.log_loss is None else 'infinite'} log loss; {words}"
        else:
            ends = result.log_loss + ERRORS * result.log_loss_se * np.array([-1.0, 1.0])
            axes.plot(
                np.maximum(ends, 1e-3 * result.log_loss), [row, row], color=looks["color"], linewidth=1.5
            )
            axes.plot([result.log_loss], [row], linestyle="", **looks)
        across = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points"}
        axes.annotate(words, (1.0, row), (4, 0), va="center", fontsize=8, color=INK, **across)

    def _scale(self, axes: Any) -> None:
        losses = [r.log_loss for r in self.comparison.results if r.log_loss is not None]
        seen = [loss for loss in losses if np.isfinite(loss) and loss > 0]
        if seen and max(seen) > WIDE * min(seen):
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter("{x:g}")

    def _write_legend(self, axes: Any) -> None:
        used = [how for how in LOOKS if any(r.approach == how for r in self.comparison.results)]
        handles = [axes.plot([], [], linestyle="", label=how, **LOOKS[how])[0] for how in used]
        if any(patch.get_gid() == "tie" for patch in axes.patches):
            handles.append(axes.fill_between([], [], color=FAINT, alpha=0.3, label="tied with the best"))
        legend_below(axes, handles)
