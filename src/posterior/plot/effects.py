"""What each column adds to the log odds of a fitted classifier, as a picture."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from posterior._types import Floats, Ints
from posterior.estimators.classifiers import classes_of, log_posterior_of
from posterior.estimators.contributions import class_code
from posterior.estimators.table_estimator import rows_for
from posterior.plot.captions import label, write_title
from posterior.plot.display import Display
from posterior.plot.layout import drawing_grid
from posterior.plot.rows import table_read_by
from posterior.plot.style import COLOURS, FAINT, INK, MARKERS
from posterior.schema import LabelledTable
from posterior.schema.recombine import recombined

# Rows over which effects are averaged, values of a column of numbers, and levels that are drawn.
MOST_ROWS, VALUES, MOST_LEVELS = 200, 25, 8
# Columns and classes that a picture has room for, and columns of panels side by side.
MOST_COLUMNS, MOST_CLASSES, ACROSS = 9, 8, 3
# Numbers of so few values are drawn with a marker at each.
FEW_VALUES = 8
# The share of the rows that a curve leaves out at either end.
TAIL = 0.01
# Bars of a histogram, and how much of a panel the highest takes.
BARS, HISTOGRAM = 20, 0.18


@dataclass(frozen=True, eq=False)
class ColumnEffect:
    """What the values of a column add to the log odds (V, C) of C classes; 0 is what rows have on average.

    `values` are numbers, or the `levels` by place; `missing` (C,) is what a gap adds, where there are gaps,
    and `unshown` is how many levels are not there. `deciles` say where the rows are, and so do the `counts`
    of rows between `edges`. `error` (V, C) are standard errors, of models that tell them.
    """

    name: str
    values: Floats
    log_odds: Floats
    levels: tuple[str, ...] | None = None
    deciles: Floats | None = None
    missing: Floats | None = None
    unshown: int = 0
    edges: Floats | None = None
    counts: Floats | None = None
    error: Floats | None = None


@dataclass(eq=False)
class EffectDisplay(Display):
    """Partial effects: what each value of a column adds to the log odds, averaged over the other columns.

    That is the mean over rows of the log odds with the value in the place of theirs (partial dependence,
    Friedman 2001, Annals of Statistics 29), less the mean with their own. Where log odds are a sum over the
    columns, as in naive Bayes, LDA and logistic regression, it is the column's part of the sum, exactly.

    Of two classes the log odds are those of `positive`, the second unless told otherwise; of more there is a
    line for each, against the mean of all log posteriors. Bands are two standard errors wide on either side,
    for models that tell them, as `AdditiveClassifier` does.

    >>> import matplotlib.pyplot as plt
    >>> from posterior import LogisticRegression
    >>> X, y = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]], ["no", "no", "yes", "no", "yes", "yes"]
    >>> model = LogisticRegression(C=1.0).fit(X, y)
    >>> display = EffectDisplay.from_estimator(model, X).plot()
    >>> (effect,) = display.effects
    >>> bool(np.allclose(effect.log_odds[:, 0], model.coef_[0, 0] * (effect.values - 3.5)))
    True
    >>> plt.close(display.figure_)
    """

    effects: tuple[ColumnEffect, ...]
    classes: tuple[Any, ...]
    codes: tuple[int, ...]
    scale: tuple[float, float] | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        columns: Sequence[str] | None = None,
        *,
        positive: Any = None,
        seed: int = 0,
    ) -> Self:
        """The picture for a fitted classifier, ours or not, and rows of a table.

        `columns` are the names of those to draw, the first nine that are no texts if not given.
        """
        table, labels = table_read_by(estimator, X), classes_of(estimator)
        K = len(labels)
        sought = 1 if positive is None else class_code(labels, positive)
        codes = (sought,) if K == 2 else tuple(range(min(K, MOST_CLASSES)))
        trial = _Trial(estimator, table, codes, _some(len(table), seed))
        effects = tuple(trial.effect(j) for j in _places(table, columns))
        return cls(effects, tuple(labels[list(codes)].tolist()), codes)

    def plot(self, ax: Any = None) -> Self:
        """Draw a panel for each column, with one scale for all log odds."""
        across = min(ACROSS, max(len(self.effects), 1))
        down = max(1, -(-len(self.effects) // across))
        with drawing_grid(ax, down, across, figsize=(3.2 * across, 2.3 * down)) as grid:
            for axes, effect in zip(grid.ravel(), self.effects, strict=False):
                self._draw(axes, effect)
            for axes in grid.ravel()[len(self.effects) :]:
                axes.set_axis_off()
        return self._drawn_on(grid.ravel()[0])

    @property
    def limits(self) -> tuple[float, float]:
        """The ends of the axis of log odds: `scale`, or those of all panels with some room."""
        if self.scale is not None:
            return self.scale
        found = [e.log_odds for e in self.effects if e.log_odds.size]
        found += [
            e.log_odds + side * e.error for e in self.effects if e.error is not None for side in (-2, 2)
        ]
        found = [values for values in found if values.size and np.isfinite(values).all()]
        low = min((float(values.min()) for values in found), default=0.0)
        high = max((float(values.max()) for values in found), default=0.0)
        room = 0.06 * (high - low) or 0.5
        return low - room, high + room

    def _draw(self, axes: Any, effect: ColumnEffect) -> None:
        draw = _draw_numbers if effect.levels is None else _draw_levels
        draw(axes, effect, self.codes)
        limit, write = (
            (axes.set_ylim, axes.set_ylabel) if effect.levels is None else (axes.set_xlim, axes.set_xlabel)
        )
        limit(*self.limits)
        write("log odds")
        write_title(axes, label(effect.name))


def _draw_numbers(axes: Any, effect: ColumnEffect, codes: Sequence[int]) -> None:
    axes.axhline(0.0, color=FAINT, linewidth=1, zorder=1)
    for c, k in enumerate(codes):
        marker = MARKERS[k % len(MARKERS)] if len(effect.values) <= FEW_VALUES else ""
        colour, middle = COLOURS[k % len(COLOURS)], effect.log_odds[:, c]
        axes.plot(effect.values, middle, color=colour, marker=marker)
        if effect.error is not None:
            band = 2 * effect.error[:, c]
            axes.fill_between(effect.values, middle - band, middle + band, color=colour, alpha=0.18, lw=0)
    _draw_histogram(axes, effect)
    axes.locator_params(axis="x", nbins=5)  # large numbers are long
    if effect.deciles is not None:
        at = np.zeros(len(effect.deciles))
        along = axes.get_xaxis_transform()
        axes.plot(
            effect.deciles, at, "|", color=INK, markersize=9, transform=along, clip_on=False, gid="deciles"
        )


def _draw_histogram(axes: Any, effect: ColumnEffect) -> None:
    """The numbers of rows, low at the bottom of the panel."""
    if effect.edges is None or effect.counts is None:
        return
    height = HISTOGRAM * effect.counts / max(float(effect.counts.max()), 1.0)
    along = axes.get_xaxis_transform()
    widths = np.diff(effect.edges)
    axes.bar(
        effect.edges[:-1], height, widths, align="edge", color=FAINT, transform=along, zorder=0, gid="rows"
    )


def _draw_levels(axes: Any, effect: ColumnEffect, codes: Sequence[int]) -> None:
    axes.axvline(0.0, color=FAINT, linewidth=1, zorder=1)
    rows = np.arange(len(effect.values))
    for c, k in enumerate(codes):
        colour = COLOURS[k % len(COLOURS)]
        if len(codes) == 1:
            axes.hlines(rows, 0.0, effect.log_odds[:, c], color=colour, linewidth=1.5)
        if effect.error is not None:
            band = 2 * effect.error[:, c]
            axes.errorbar(effect.log_odds[:, c], rows, xerr=band, color=colour, linestyle="", linewidth=1)
        axes.plot(effect.log_odds[:, c], rows, marker=MARKERS[k % len(MARKERS)], color=colour, linestyle="")
    axes.set_yticks(rows, [label(level, 20) for level in effect.levels or ()])
    axes.set_ylim(len(rows) - 0.4, -0.6)


# -- what is drawn --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Trial:
    """A fitted classifier, a table, the classes whose log odds are asked for, and rows to average over."""

    estimator: Any
    table: LabelledTable
    codes: tuple[int, ...]
    rows: Ints

    def effect(self, j: int) -> ColumnEffect:
        """The effect of a column."""
        return self._of_levels(j) if self.table.schema.columns[j].size else self._of_numbers(j)

    def _of_numbers(self, j: int) -> ColumnEffect:
        cells = self.table.values((j,))[:, 0]
        there = ~np.isnan(cells)
        name, gap = self.table.schema.names[j], np.flatnonzero(~there)[:1]
        if not there.any():
            return ColumnEffect(name, np.empty(0), np.empty((0, len(self.codes))))
        values, donors = _spread_out(cells)
        odds = self._log_odds(j, np.append(donors, gap)) - self._own
        deciles = np.quantile(cells[there], np.arange(1, 10) / 10)
        missing = odds[-1] if len(gap) else None
        within = cells[there & (cells >= values[0]) & (cells <= values[-1])]
        counts, edges = np.histogram(within, BARS) if len(values) > FEW_VALUES else (None, None)
        return ColumnEffect(
            name,
            values,
            odds[: len(values)],
            deciles=deciles,
            missing=missing,
            edges=edges,
            counts=counts,
            error=self._errors(j, donors),
        )

    def _of_levels(self, j: int) -> ColumnEffect:
        column, cells = self.table.schema.columns[j], self.table.levels(j)
        counts = np.bincount(cells[cells >= 0], minlength=column.size)
        common = np.sort(np.argsort(-counts, kind="stable")[: min(MOST_LEVELS, int((counts > 0).sum()))])
        gap = np.flatnonzero(cells < 0)[:1]
        if not len(common):
            return ColumnEffect(column.name, np.empty(0), np.empty((0, len(self.codes))), ())
        donors = np.array([int(np.argmax(cells == code)) for code in common.tolist()])
        odds = self._log_odds(j, np.append(donors, gap)) - self._own
        missing = odds[-1] if len(gap) else None
        levels = tuple(str((column.levels or ())[code]) for code in common.tolist())
        return ColumnEffect(
            column.name,
            np.arange(len(common), dtype=np.float64),
            odds[: len(common)],
            levels,
            missing=missing,
            unshown=int((counts > 0).sum()) - len(common),
            error=self._errors(j, donors),
        )

    def _errors(self, j: int, donors: Ints) -> Floats | None:
        """Standard errors (V, C) of a column's effects, if the classifier knows them."""
        told = getattr(self.estimator, "effect_errors", None)
        if told is None:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = told(rows_for(self.estimator, self.table.part(donors)))
        place = self.estimator.schema_.names.index(self.table.schema.names[j])
        errors = found[:, place][:, [0] if found.shape[2] == 1 else list(self.codes)]
        return None if np.isnan(errors).any() else np.asarray(errors)

    @cached_property
    def _own(self) -> Floats:
        """The mean log odds (C,) of the rows as they are."""
        return np.asarray(self._odds_of(self.table.part(self.rows)).mean(axis=0))

    def _log_odds(self, j: int, donors: Ints) -> Floats:
        """The mean log odds (V, C) of the rows with the cell of each donor in a column."""
        V, m = len(donors), len(self.rows)
        # The donors stand behind the rows, so that these can have their cells.
        some = self.table.part(np.concatenate([np.tile(self.rows, V), donors]))
        given = np.concatenate([np.repeat(V * m + np.arange(V), m), V * m + np.arange(V)])
        odds = self._odds_of(replace(some, X=recombined(some.source, [j], given)))
        return np.asarray(odds[: V * m].reshape(V, m, -1).mean(axis=1))

    def _odds_of(self, table: LabelledTable) -> Floats:
        """The log odds of each row, (n, C)."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is odd about rows is said where they are predicted
            logs = log_posterior_of(self.estimator, rows_for(self.estimator, table))
        # A posterior of zero counts as half a row, so that a mean can be taken.
        logs = np.where(np.isneginf(logs), -np.log(2.0 * len(self.table)), logs)
        if logs.shape[1] == 2:
            (k,) = self.codes
            return np.asarray((logs[:, k] - logs[:, 1 - k])[:, None])
        return np.asarray((logs - logs.mean(axis=1, keepdims=True))[:, list(self.codes)])


def _spread_out(cells: Floats) -> tuple[Floats, Ints]:
    """Values of a column that are spread out evenly, in order, and a row that has each."""
    order = np.argsort(cells, kind="stable")[: int((~np.isnan(cells)).sum())]
    known = cells[order]
    low, high = np.quantile(known, [TAIL, 1 - TAIL])
    wanted = np.linspace(low, high, VALUES)
    after = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    before = np.maximum(after - 1, 0)
    places = np.where(wanted - known[before] < known[after] - wanted, before, after)
    values, first = np.unique(known[places], return_index=True)
    return values, order[places[first]]


def _some(n: int, seed: int) -> Ints:
    return np.sort(np.random.default_rng(seed).permutation(n)[:MOST_ROWS])


def _places(table: LabelledTable, columns: Sequence[str] | None) -> list[int]:
    schema = table.schema
    usable = {schema.names[j]: j for j in table.where("continuous", "binary", "categorical", "count")}
    if columns is None:
        return list(usable.values())[:MOST_COLUMNS]
    unknown: list[str] = [name for name in columns if name not in usable]
    if unknown:
        raise ValueError(
            f"column {unknown[0]!r} is a text, is empty or is not there; choose among {list(usable)[:10]}"
        )
    return [usable[name] for name in columns]
