"""Decision regions of a classifier in a plane: who wins where, how surely, and the boundary between."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.comparison.sampling import rows_to_show
from posterior.estimators.target import read_labels
from posterior.math import log_softmax
from posterior.plot.best_plane import best_pair
from posterior.plot.boundary import Piece, Window, analytic_boundary, grid_boundary
from posterior.plot.captions import (
    CLASS_LETTERS,
    class_handles,
    class_patches,
    label,
    legend_below,
    write_title,
)
from posterior.plot.cut import At, axis_columns, section_of
from posterior.plot.display import Display, drawing
from posterior.plot.ellipses import CONTENTS, Ellipse, class_ellipses
from posterior.plot.rows import continuous_columns, name_of, table_read_by
from posterior.plot.section import Section
from posterior.plot.style import FAINT, HEIGHT, INK, WIDTH, colours_of, markers_of, pyplot
from posterior.schema import LabelledTable
from posterior.schema.classes import known_codes

# Points drawn, and a few more of rare classes: many hide the regions, and make files that no page can hold.
MOST_POINTS = 2000
# Of more classes only those that win somewhere have ellipses.
MOST_ELLIPSES = 6
# Without rows: how many are drawn from the model, and the share of a class that is within the window.
EXPECTED_ROWS = 2000
NEARLY_ALL = 0.998
# How strong the colour of a class is where all are equally probable, where one is certain, and where
# there is no posterior.
PALEST, DEEPEST, PLAIN = 0.06, 0.5, 0.28
# Of rows that go unanswered, and of outliers: how they are hatched, and how dark they are.
HATCHES = ("///", "...")
UNANSWERED = 0.12


@dataclass(eq=False)
class DecisionRegionDisplay(Display):
    """Decision regions of two features, paler where the posterior is smaller, with exact boundaries.

    `scores` (len(ys), len(xs), K) are log posteriors, or where `proper` is false any scores whose largest
    wins. `pieces` are the parts of the boundary, each between two classes: `boundary_` says whether they are
    "analytic", drawn from the equations of lines and conics, or from the "grid". On them no third class is
    larger. `ellipses` hold 50 % and 95 % of the rows of a class under the model, where classes are Gaussian.
    `others` says what became of the other columns of the model. Of a `DecisionClassifier` the regions are
    those of what it does: `decided` (len(ys), len(xs)) are positions in `answers`, of which the first
    `n_actions` are actions; rows that go unanswered, and outliers, are hatched. The points are the rows of
    the table that have both coordinates, of many about 2000, and at least 50 of each class, or all that it
    has.

    >>> from posterior import QDA
    >>> from posterior.datasets import load_penguins
    >>> penguins = load_penguins()
    >>> bills = penguins.X[["bill_length_mm", "bill_depth_mm"]]
    >>> display = DecisionRegionDisplay.from_estimator(QDA().fit(bills, penguins.y), bills, penguins.y)
    >>> display.boundary_, sorted({(piece.first, piece.second) for piece in display.pieces})
    ('analytic', [(0, 1), (0, 2), (1, 2)])
    >>> display.plot().ax_.get_xlabel()
    'bill_length_mm'
    >>> pyplot().close(display.figure_)
    """

    xs: Floats
    ys: Floats
    scores: Floats
    classes: AnyArray
    pieces: Sequence[Piece] = ()
    boundary_: Literal["analytic", "grid"] = "grid"
    ellipses: Sequence[Ellipse] = ()
    points: Floats = field(default_factory=lambda: np.empty((0, 2)))
    codes: Ints | None = None
    names: tuple[str, str] = ("x", "y")
    model: str = ""
    others: str = ""
    proper: bool = True
    answers: tuple[Any, ...] = ()
    n_actions: int = 0
    decided: Ints | None = None

    line_width: ClassVar[float] = 1.6

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        features: Any = None,
        grid_resolution: int = 200,
        at: At = "auto",
    ) -> Self:
        """The regions of a fitted classifier in two continuous columns of a table, and the rows of it.

        `features` names the two; by default the only two, or with y those that tell the classes apart best
        (`best_plane`), else the first two. The other columns are integrated out by a generative model, and
        held at their median or commonest category by any other; `at="median"` holds them always, and a
        mapping such as `{"sex": "male"}` holds the columns that it names at the values that it gives.
        Without X a generative model is drawn where it expects rows, and no points are.
        """
        rows = table_read_by(estimator, _expected_rows(estimator, y) if X is None else X, y)
        columns = _plane(estimator, rows, features)
        section = section_of(estimator, columns, at, rows)
        points, there = _points(rows, columns)
        window = Window.around(points[there] if X is not None else _expected_points(section, points[there]))
        of = rows.codes[there] if rows.is_labelled else np.zeros(len(there), np.int64)
        shown = there[:0] if X is None else there[rows_to_show(of, MOST_POINTS)]
        xs, ys = window.axes(_checked_resolution(grid_resolution))
        grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
        scores = section.log_posterior(grid) if section.proper else section.score(grid)
        best, form = np.unique(scores.argmax(axis=1)).tolist(), section.quadratic
        scores = scores.reshape(len(ys), len(xs), -1)
        done = section.decisions
        decided = None if done is None else done.codes(grid).reshape(len(ys), len(xs))
        if form is not None:
            pieces = analytic_boundary(form, window, best)
        elif done is None or decided is None:
            pieces = grid_boundary(xs, ys, scores)
        else:
            pieces = grid_boundary(xs, ys, np.eye(len(done.labels))[decided])
        return cls(
            xs,
            ys,
            scores,
            section.classes,
            pieces,
            "grid" if form is None else "analytic",
            _ellipses(section, best),
            points[shown],
            rows.codes[shown] if rows.is_labelled else None,
            (section.columns[0], section.columns[1]),
            name_of(estimator),
            section.told if done is None else section.others,
            section.proper,
            () if done is None else done.labels,
            0 if done is None else done.n_actions,
            decided,
        )

    @classmethod
    def from_predictions(
        cls,
        xx: Any,
        yy: Any,
        log_proba: Any,
        classes: Any,
        *,
        names: tuple[str, str] = ("x", "y"),
        points: Any = None,
        y: Any = None,
    ) -> Self:
        """The regions for log posteriors (or scores) on an even grid.

        `xx` and `yy` are the coordinates along the axes, or those of `numpy.meshgrid`; `log_proba` has shape
        (len(ys), len(xs), K), or (len(ys)·len(xs), K) with x running first. `points` (n, 2) are drawn, in
        the colours of their classes `y`.
        """
        xs, ys = _axis(xx, 0, "xx"), _axis(yy, 1, "yy")
        labels, found = np.asarray(classes), np.asarray(log_proba, dtype=np.float64)
        if found.size != len(xs) * len(ys) * len(labels) or found.shape[-1] != len(labels):
            raise ValueError(
                f"log_proba has shape {found.shape}; expected ({len(ys)}, {len(xs)}, {len(labels)}): a score "
                "for every point of the grid and every class"
            )
        scores = found.reshape(len(ys), len(xs), len(labels))
        if np.isnan(scores).any():
            raise ValueError("log_proba contains NaN; every point of the grid needs a score for every class")
        dots = np.empty((0, 2)) if points is None else np.asarray(points, dtype=np.float64)
        codes = None if y is None else known_codes(read_labels(y, len(dots), cls.__name__), labels)
        proper = bool(np.allclose(np.exp(log_softmax(scores)), np.exp(np.minimum(scores, 1.0)), atol=1e-6))
        return cls(
            xs,
            ys,
            scores,
            labels,
            grid_boundary(xs, ys, scores),
            points=dots,
            codes=codes,
            names=names,
            proper=proper,
        )

    @property
    def winners(self) -> Ints:
        """Code of the best class at every point of the grid, (len(ys), len(xs))."""
        return np.asarray(self.scores.argmax(axis=-1))

    def plot(self, ax: Any = None) -> Self:
        """Draw the regions, the points, the ellipses and the boundary."""
        legend_rows = 1 + (len(self.classes) + 1) // 3
        with drawing(ax, figsize=(WIDTH, HEIGHT + 0.2 * legend_rows)) as axes:
            extent = (*self.xs[[0, -1]].tolist(), *self.ys[[0, -1]].tolist())
            axes.imshow(
                self._shades(),
                origin="lower",
                extent=extent,
                aspect="auto",
                interpolation="bilinear" if self.decided is None else "nearest",
                zorder=0,
            )
            self._hatch(axes)
            self._draw_points(axes)
            for k, content, points in self.ellipses:
                style = "-" if content == min(CONTENTS) else (0, (4, 2))
                axes.plot(
                    *points.T, color=colours_of(self.classes)[k], linestyle=style, linewidth=1.5, zorder=3
                )
            for piece in self.pieces:
                axes.plot(*piece.points.T, color=INK, linewidth=self.line_width, zorder=4)
            axes.set(
                xlim=extent[:2],
                ylim=extent[2:],
                xlabel=label(self.names[0], 60),
                ylabel=label(self.names[1], 40),
            )
            self._write(axes)
        return self._drawn_on(axes)

    def _shades(self) -> Floats:
        """Colours (len(ys), len(xs), 3): that of the best class, mixed with white where it is less sure."""
        colour = np.array([_rgb(c) for c in colours_of(self.classes)])[self.winners]
        if self.decided is not None:
            colour = np.array([_rgb(c) for c in self._answer_colours])[self.decided]
        strength = np.full(self.winners.shape, PLAIN)
        if self.proper:
            least = 1 / len(self.classes)
            sure = (np.exp(log_softmax(self.scores).max(axis=-1)) - least) / (1 - least)
            strength = PALEST + (DEEPEST - PALEST) * np.clip(sure, 0.0, 1.0)
        if self.decided is not None:
            strength = np.where(self.decided < self.n_actions, strength, UNANSWERED)
        return np.asarray(1 - strength[..., None] * (1 - colour))

    @property
    def _answer_colours(self) -> list[str]:
        """Colours of the answers: those of the classes they are, others for other actions, grey for none."""
        classes = self.classes.tolist()
        new = iter(colours_of(range(len(classes) + len(self.answers)))[len(classes) :])
        found = [
            colours_of(classes)[classes.index(a)] if a in classes else next(new)
            for a in self.answers[: self.n_actions]
        ]
        return found + [INK] * (len(self.answers) - self.n_actions)

    def _hatch(self, axes: Any) -> None:
        """Hatch where rows go unanswered, or are outliers."""
        for k, hatch in zip(range(self.n_actions, len(self.answers)), HATCHES, strict=False):
            if self.decided is not None and (self.decided == k).any():
                there = (self.decided == k).astype(np.float64)
                axes.contourf(
                    self.xs, self.ys, there, levels=[0.5, 1.5], colors="none", hatches=[hatch], zorder=1
                )

    def _draw_points(self, axes: Any) -> None:
        look: dict[str, Any] = {"s": 15, "linewidths": 0.4, "edgecolors": "white", "zorder": 2}
        if self.codes is None:
            axes.scatter(*self.points.T, color=INK, **look | {"s": 9})
            return
        for k, (colour, marker) in enumerate(
            zip(colours_of(self.classes), markers_of(self.classes), strict=True)
        ):
            axes.scatter(*self.points[self.codes == k].T, color=colour, marker=marker, **look)

    def _write(self, axes: Any) -> None:
        write_title(axes, self.model, self.others.replace("$", r"\$"))
        handles = class_handles(self.classes) + self._answer_handles()
        if self.ellipses:
            contents = " and ".join(f"{100 * content:g} %" for content in CONTENTS)
            handles.append(_ring(f"{contents} of each class"))
        if self.proper:
            handles.append(pyplot().Rectangle((0, 0), 1, 1, color=FAINT, label="deeper colour: surer"))
        legend_below(axes, handles)

    def _answer_handles(self) -> list[Any]:
        """A legend entry for each answer that is no class."""
        looks = zip(self.answers, self._answer_colours, strict=True)
        found = []
        for k, (answer, colour) in enumerate(looks):
            if k < self.n_actions and answer not in self.classes.tolist():
                found += class_patches([answer], [colour])
            elif k >= self.n_actions:
                words, hatch = label(str(answer), CLASS_LETTERS), HATCHES[k - self.n_actions]
                patch = pyplot().Rectangle((0, 0), 1, 1, label=words, hatch=hatch)
                patch.set(facecolor=FAINT, edgecolor=INK)
                found.append(patch)
        return found


def _plane(estimator: Any, rows: LabelledTable, features: Any) -> tuple[int, ...]:
    """Positions of the two columns to show."""
    if features is not None:
        columns = axis_columns(estimator, rows.schema, features)
        if len(columns) != 2:
            raise ValueError(f"a plane has two columns, and features={features!r} names {len(columns)}")
        return columns
    columns = continuous_columns(estimator, rows.schema)
    if len(columns) < 2:
        raise ValueError(
            f"a plane needs two continuous columns, and this {name_of(estimator)} uses {len(columns)}; a "
            "DensityDisplay shows one, a ClassPanelDisplay columns of any kind"
        )
    return best_pair(rows, columns, rows.codes) if len(columns) > 2 and rows.is_labelled else columns[:2]


def _ellipses(section: Section, best: Sequence[int]) -> list[Ellipse]:
    """The ellipses of Gaussian classes; of many classes only those of the ones that win somewhere."""
    if section.log_density is None or section.quadratic is None:
        return []
    few = len(section.classes) <= MOST_ELLIPSES
    return [e for e in class_ellipses(section.quadratic) if few or e.class_index in best]


def _expected_rows(estimator: Any, y: Any) -> Any:
    """Rows of a generative model's own, where there are none to show."""
    if y is not None or not hasattr(estimator, "sample"):
        raise ValueError(
            f"pass X: the rows that have the classes y, or between which {name_of(estimator)} is to be drawn"
        )
    return estimator.sample(EXPECTED_ROWS, random_state=0)[0]


def _expected_points(section: Section, drawn: Floats) -> Floats:
    """Points about which to draw: ellipses that hold nearly all of a class, or most of the rows drawn."""
    if section.log_density is not None and section.quadratic is not None:
        ellipses = class_ellipses(section.quadratic, [NEARLY_ALL])
        if ellipses:
            return np.vstack([ellipse.points for ellipse in ellipses])
    return np.quantile(drawn, [1 - NEARLY_ALL, NEARLY_ALL], axis=0)


def _points(rows: LabelledTable, columns: tuple[int, ...]) -> tuple[Floats, Ints]:
    """All points, and which rows have both coordinates."""
    points = rows.values(columns)
    there = np.flatnonzero(~np.isnan(points).any(axis=1))
    if not len(there):
        names = " and ".join(repr(rows.schema.names[j]) for j in columns)
        raise ValueError(f"no row of X has a value in both {names}; choose other features")
    return points, there


def _checked_resolution(resolution: int) -> int:
    if not resolution >= 2:
        raise ValueError(f"grid_resolution must be at least 2 points a side, found {resolution!r}")
    return resolution


def _axis(coordinates: Any, axis: int, name: str) -> Floats:
    """Evenly spaced coordinates along an axis, from those of a grid."""
    given = np.asarray(coordinates, dtype=np.float64)
    along = given if given.ndim == 1 else given[0] if axis == 0 else given[:, 0]
    steps = np.diff(along)
    if not len(steps) or not (steps > 0).all() or np.ptp(steps) > 1e-6 * steps.mean():
        raise ValueError(f"{name} must be two or more evenly spaced, rising coordinates, found {along[:5]}…")
    return along


def _rgb(colour: str) -> tuple[float, ...]:
    return tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))


def _ring(words: str) -> Any:
    """The legend entry of an ellipse."""
    return pyplot().Line2D(
        [], [], color=INK, marker="o", markersize=8, markerfacecolor="none", linestyle="", label=words
    )
