"""How much a model needs each column, as a picture."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from posterior.comparison.importance import ColumnImportance, Importance
from posterior.plot.captions import label, write_title
from posterior.plot.display import Display, drawing
from posterior.plot.style import COLOURS, FAINT, WIDTH

# Columns that a picture has room for.
MOST_COLUMNS = 20


@dataclass(eq=False)
class ImportanceDisplay(Display):
    """Column importance: increase of the held-out loss without each column, with 95 % intervals.

    A marker is filled if its interval is above zero. Groups of columns that say nearly the same come last, as
    squares.

    >>> import matplotlib.pyplot as plt
    >>> from posterior.datasets import load_penguins
    >>> penguins = load_penguins()
    >>> display = ImportanceDisplay.from_importance(Importance.of(penguins.X, penguins.y, "lda")).plot()
    >>> [tick.get_text() for tick in display.ax_.get_yticklabels()]
    ['bill_length_mm', 'bill_depth_mm', 'body_mass_g', 'year', 'flipper_length_mm']
    >>> plt.close(display.figure_)
    """

    importance: Importance
    max_columns: int = MOST_COLUMNS

    @classmethod
    def from_importance(cls, importance: Importance, *, max_columns: int = MOST_COLUMNS) -> Self:
        """The picture of the most important columns."""
        return cls(importance, max_columns)

    @property
    def shown(self) -> tuple[ColumnImportance, ...]:
        """The columns that are drawn, and the groups that they are in."""
        columns = self.importance.columns[: self.max_columns]
        return (*columns, *self.importance.together[: self.max_columns - len(columns) + 3])

    def plot(self, ax: Any = None) -> Self:
        """Draw a line for each column."""
        found, shown = self.importance, self.shown
        with drawing(ax, figsize=(WIDTH, 1.2 + 0.25 * len(shown))) as axes:
            axes.axvline(0.0, color=FAINT, linewidth=1, zorder=1)
            for row, column in enumerate(shown):
                self._draw(axes, row, column)
            axes.set_yticks(np.arange(len(shown)), [label(column.name) for column in shown])
            axes.set_ylim(len(shown) - 0.4, -0.6)
            axes.set_xlabel(f"rise of the {found.measure} without the column")
            write_title(axes, f"{label(found.model)}: {found.measure} {found.loss:.3g} with all columns")
        return self._drawn_on(axes)

    def _draw(self, axes: Any, row: int, column: ColumnImportance) -> None:
        low, high = column.interval
        colour = COLOURS[0]
        axes.plot([low, high], [row, row], color=colour, linewidth=1.5)
        inside = {} if low > 0 else {"markerfacecolor": "white"}
        marker = "s" if column in self.importance.together else "o"
        axes.plot([column.value], [row], color=colour, marker=marker, linestyle="", **inside)
