"""Class-conditional panels: what each class holds in every column, of any kind."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.estimators.classifiers import classes_of
from posterior.plot.captions import class_patches, label
from posterior.plot.column_ranking import gains
from posterior.plot.display import Display
from posterior.plot.layout import drawing_grid
from posterior.plot.marginals import LevelPanel, NumberPanel, Panel, panel_of
from posterior.plot.rows import columns_used, distributions_of, name_of, table_read_by
from posterior.plot.style import COLOURS, INK, WIDTH, colours_of, pyplot
from posterior.plot.word_ranking import WordPanel
from posterior.schema import LabelledTable

# Columns that are ranked by what they tell; of more the first.
MOST_RANKED = 500
# Classes that a panel has room for; of more the commonest.
MOST_CLASSES = len(COLOURS)
PANEL_HEIGHT = 1.75
MISSING = "(missing)"


@dataclass(eq=False)
class ClassPanelDisplay(Display):
    """A panel for each column with its distribution in each class, most informative column first.

    Numbers are histograms, categories bars of their shares in each class, gaps a level apart; over them
    stands what a generative model says, lines and strokes. A column of texts shows the words with the largest
    log odds for a class against the others. `panels` holds what is drawn, and `shown` the codes of the
    classes, at most the eight commonest.

    >>> from posterior import NaiveBayes
    >>> from posterior.datasets import load_penguins
    >>> X, y = load_penguins().X, load_penguins().y
    >>> display = ClassPanelDisplay.from_estimator(NaiveBayes().fit(X, y), X, y)
    >>> [panel.name for panel in display.panels][:3]
    ['flipper_length_mm', 'bill_length_mm', 'island']
    """

    panels: Sequence[Panel]
    classes: AnyArray
    shown: Ints
    model: str = ""
    n_left_out: int = 0

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, features: Any = None, max_features: int = 12
    ) -> Self:
        """The panels of a fitted classifier for the rows of a table and their classes.

        `features` chooses columns, in their order; by default the `max_features` that tell most of the class
        on rows held out.
        """
        rows = table_read_by(estimator, X, y)
        if not rows.is_labelled:
            raise ValueError("panels compare classes: pass y, the class of each row")
        classes, codes = classes_of(estimator), rows.codes
        joint, used = _shared_counts(estimator), columns_used(estimator, rows.schema)
        if features is None:
            alone = [j for j in used if j not in {k for panel_columns, _ in joint for k in panel_columns}]
            chosen = ranked(rows, codes, alone[:MOST_RANKED])[: max(max_features - len(joint), 0)]
            left_out = len(alone) - len(chosen)
        else:
            chosen, joint, left_out = list(rows.schema.resolve(features)), [], 0
        panels: list[Panel] = [_counted(rows, columns, logs) for columns, logs in joint]
        panels += [panel_of(estimator, rows, codes, len(classes), j) for j in chosen]
        if not panels:
            raise ValueError(
                f"there is no column to show: features={features!r}, max_features={max_features}"
            )
        shown = np.sort(np.argsort(-np.bincount(codes, minlength=len(classes)), kind="stable")[:MOST_CLASSES])
        return cls(panels, classes, shown, name_of(estimator), left_out)

    def plot(self, ax: Any = None) -> Self:
        """Draw the panels in rows of three; all axes are in `axes_`.

        `ax` may be one, whose place is divided, or as many as there are panels.
        """
        n = len(self.panels)
        across = n if n < 3 else 2 if n == 4 else 3
        down = -(-n // across)
        size = (WIDTH, PANEL_HEIGHT * down * (1.5 if across < 3 else 1.0) + 0.8)
        with drawing_grid(ax, down, across, figsize=size) as axes:
            for place, panel in zip(axes.flat, self.panels, strict=False):
                _draw(place, panel, self.shown, colours_of(self.classes))
                place.set_title(label(panel.name, 26 if across == 3 else 40), fontsize=9.5, loc="left")
                place.tick_params(labelsize=8)
            for place in axes.flat[n:]:
                place.set_axis_off()
            self._write(axes[0, 0], own_figure=ax is None)
        self.axes_ = axes.ravel()[:n]
        return self._drawn_on(self.axes_[0])

    def _write(self, first: Any, *, own_figure: bool) -> None:
        """Title and legend of the whole; on axes that were given only a small legend in the first."""
        handles = class_patches(
            [self.classes[k] for k in self.shown], [colours_of(self.classes)[k] for k in self.shown]
        )
        if any(getattr(panel, "model", None) is not None for panel in self.panels):
            handles.append(
                pyplot().Line2D([], [], color=INK, linewidth=1.4, label="lines: model, bars: rows")
            )
        if not own_figure:
            first.legend(handles=handles, fontsize=7, frameon=False)
            return
        some = f", the most telling {len(self.panels)} columns" if self.n_left_out else ""
        some += (
            f", {len(self.shown)} of {len(self.classes)} classes"
            if len(self.shown) < len(self.classes)
            else ""
        )
        first.figure.suptitle(f"{self.model}: what each class holds{some}", x=0.01, ha="left", fontsize=10.5)
        first.figure.legend(
            handles=handles, loc="outside lower left", ncols=min(4, len(handles)), frameon=False
        )


def ranked(rows: LabelledTable, codes: Ints, columns: Sequence[int]) -> list[int]:
    """Columns in the order of what they tell of the class on rows held out, the most telling first."""
    told = dict(zip(columns, gains(rows, codes, columns), strict=True))
    return sorted(columns, key=lambda j: -told[j])


def _shared_counts(estimator: Any) -> list[tuple[tuple[int, ...], Floats]]:
    """Columns that share one total, such as counts of words, with their log shares: none stands alone."""
    every = [(block.columns, d.log_shares) for block, d in distributions_of(estimator) or ()]
    return [(columns, logs) for columns, logs in every if logs is not None]


def _counted(rows: LabelledTable, columns: tuple[int, ...], log_shares: Floats) -> WordPanel:
    """Counts of several things as words: which column speaks for which class."""
    names = rows.schema.names_of(columns)
    classes = np.arange(len(log_shares))
    return WordPanel.of(f"counts of {len(columns)} columns", names, log_shares, classes)


# -- drawing --------------------------------------------------------------------------------------


def _draw(axes: Any, panel: Panel, shown: Ints, colours: Sequence[str]) -> None:
    if isinstance(panel, NumberPanel):
        _draw_numbers(axes, panel, shown, colours)
    elif isinstance(panel, LevelPanel):
        _draw_levels(axes, panel, shown, colours)
    else:
        _draw_words(axes, panel, colours)


def _draw_numbers(axes: Any, panel: NumberPanel, shown: Ints, colours: Sequence[str]) -> None:
    for k in shown.tolist():
        axes.stairs(panel.rows[k], panel.edges, fill=True, color=colours[k], alpha=0.25)
        if panel.model is None:
            axes.stairs(panel.rows[k], panel.edges, color=colours[k], linewidth=1.2)
        else:
            axes.plot(panel.x, panel.model[k], color=colours[k], linewidth=1.4)
    highest = panel.rows.max()
    by_model = 0.0 if panel.model is None else float(panel.model.max())
    # A class that hardly varies has a density that would hide all others.
    top = 1.06 * max(highest, min(by_model, 2 * highest)) or 1.0
    axes.set(xlim=panel.edges[[0, -1]], ylim=(0, top), yticks=[])
    axes.locator_params(axis="x", nbins=3, integer=panel.whole)
    if panel.gaps.any():
        most = 100 * panel.gaps.max()
        words = f"up to {most:.0f} % missing" if most >= 1 else "< 1 % missing"
        axes.text(0.99, 0.98, words, transform=axes.transAxes, ha="right", va="top", fontsize=7, color=INK)


def _draw_levels(axes: Any, panel: LevelPanel, shown: Ints, colours: Sequence[str]) -> None:
    """Bars side by side in each level, and the gaps below them, apart and hatched."""
    places, thick = np.arange(len(panel.levels), dtype=np.float64), 0.8 / len(shown)
    gap = len(panel.levels) + 0.3
    for i, k in enumerate(shown.tolist()):
        off = (i - (len(shown) - 1) / 2) * thick
        axes.barh(places + off, panel.rows[k], thick, color=colours[k], alpha=0.65)
        if panel.model is not None:
            low = places + off - thick / 2
            axes.vlines(panel.model[k], low, low + thick, color=INK, linewidth=1.4)
        if panel.gaps.any():
            axes.barh(
                [gap + off],
                panel.gaps[[k]],
                thick,
                color=colours[k],
                alpha=0.65,
                hatch="////",
                edgecolor="white",
            )
    names = [label(level, 14) for level in panel.levels]
    if panel.gaps.any():
        places, names = np.append(places, gap), [*names, MISSING]
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xlim(0, None)
    axes.locator_params(axis="x", nbins=3)
    axes.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.3g} %")


def _draw_words(axes: Any, panel: WordPanel, colours: Sequence[str]) -> None:
    places = np.arange(len(panel.words))
    axes.barh(places, panel.log_odds, 0.75, color=[colours[k] for k in panel.owner], alpha=0.8)
    axes.set_yticks(places, [label(word, 16) for word in panel.words])
    axes.invert_yaxis()
    axes.set_xlabel("log odds", fontsize=8)
    if not panel.words:
        axes.text(0.5, 0.5, "no words", transform=axes.transAxes, ha="center", color=INK)
