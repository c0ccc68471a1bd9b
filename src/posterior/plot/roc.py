"""How well one class is found at how many false alarms, as a picture."""

from dataclasses import dataclass
from typing import Any, Self

from posterior.decision.detection import DetectionCurve, detection_curve
from posterior.decision.posteriors import class_names
from posterior.plot.captions import label, write_title
from posterior.plot.display import PosteriorDisplay, drawing, read_posteriors
from posterior.plot.style import COLOURS, FAINT


@dataclass(eq=False)
class DetectionDisplay(PosteriorDisplay):
    """A curve of rows that are called positive, with the point of a threshold that may be marked."""

    curve: DetectionCurve
    positive: str
    threshold: float | None = None

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        posterior: Any,
        *,
        classes: Any = None,
        positive: Any = None,
        threshold: float | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """The picture for true classes y and posteriors, or their logs, (n, K).

        `positive` is the class that is looked for, the second of two unless told otherwise. `threshold` marks
        the point where rows whose posterior of it is above are called so.
        """
        logs = read_posteriors(posterior)
        curve = detection_curve(y, logs, classes=classes, positive=positive, sample_weight=sample_weight)
        names = class_names(classes, logs.shape[1])
        return cls(curve, str(names[1] if positive is None else positive), threshold)

    @property
    def marked(self) -> int | None:
        """The point of the curve at the threshold."""
        return None if self.threshold is None else self.curve.at(self.threshold)


class RocDisplay(DetectionDisplay):
    """ROC curve: true positive rate against false positive rate of one class.

    The line is the ROC curve: every threshold on the posterior of `positive` is a point of it. On the
    diagonal rows are called so at random. The title has the area under it with a standard error (DeLong,
    DeLong & Clarke-Pearson 1988); the point of a `threshold` is marked.

    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> p = np.array([[0.9, 0.1], [0.6, 0.4], [0.65, 0.35], [0.2, 0.8]])
    >>> display = RocDisplay.from_predictions([0, 0, 1, 1], p, threshold=0.5).plot()
    >>> display.curve.area, display.marked, display.curve.recall[display.marked]
    (0.75, 1, np.float64(0.5))
    >>> plt.close(display.figure_)
    """

    def plot(self, ax: Any = None, *, color: Any = COLOURS[0]) -> Self:
        """Draw the curve, and the point that is marked."""
        curve = self.curve
        with drawing(ax) as axes:
            axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1, zorder=1)
            axes.plot(curve.false_alarms, curve.recall, color=color)
            if self.marked is not None:
                point = [curve.false_alarms[self.marked]], [curve.recall[self.marked]]
                axes.plot(
                    *point, color=COLOURS[5], marker="D", linestyle="", markeredgecolor="white", zorder=4
                )
            room = (-0.01, 1.01)
            axes.set(
                xlim=room,
                ylim=room,
                xlabel=f"share of the others taken for {label(self.positive)}",
                ylabel=f"share of {label(self.positive)} found",
            )
            write_title(axes, f"Area {curve.area:.3f} ± {curve.area_error:.3f}")
        return self._drawn_on(axes)
