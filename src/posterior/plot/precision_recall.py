"""How many of the rows called positive are so, against the share that is found, as a picture."""

from typing import Any, Self

from posterior.plot.captions import label, write_title
from posterior.plot.display import drawing
from posterior.plot.roc import DetectionDisplay
from posterior.plot.style import COLOURS, FAINT


class PrecisionRecallDisplay(DetectionDisplay):
    """Precision against recall of one class, over all thresholds.

    Where a class is rare, this tells more than the ROC curve: a few false alarms among very many rows are
    many beside the few that were sought. The level line is the share of the class, which is the precision of
    calling rows so at random. The curve is a step function, since between two thresholds there is nothing.

    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> p = np.array([[0.9, 0.1], [0.6, 0.4], [0.65, 0.35], [0.2, 0.8]])
    >>> display = PrecisionRecallDisplay.from_predictions([0, 0, 1, 1], p).plot()
    >>> round(display.curve.average_precision, 3), display.curve.share
    (0.833, 0.5)
    >>> plt.close(display.figure_)
    """

    def plot(self, ax: Any = None, *, color: Any = COLOURS[0]) -> Self:
        """Draw the curve, and the point that is marked."""
        curve = self.curve
        with drawing(ax) as axes:
            axes.axhline(curve.share, color=FAINT, linewidth=1, zorder=1)
            axes.plot(curve.recall, curve.precision, drawstyle="steps-pre", color=color)
            if self.marked is not None:
                point = [curve.recall[self.marked]], [curve.precision[self.marked]]
                axes.plot(
                    *point, color=COLOURS[5], marker="D", linestyle="", markeredgecolor="white", zorder=4
                )
            axes.set(
                xlim=(-0.01, 1.01),
                ylim=(0.0, 1.02),
                xlabel=f"recall: share of {label(self.positive)} found",
                ylabel="precision: share right of those named",
            )
            write_title(axes, f"Average precision {curve.average_precision:.3f}, {curve.share:.3g} at random")
        return self._drawn_on(axes)
