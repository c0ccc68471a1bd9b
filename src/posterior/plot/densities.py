"""One feature: the class densities, the posterior, and the points at which the decision changes."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.forms import decision_points
from posterior.math import log_softmax
from posterior.plot.captions import class_handles, label, legend_below, write_title
from posterior.plot.cut import At, axis_columns, section_of
from posterior.plot.display import Display
from posterior.plot.layout import drawing_grid
from posterior.plot.rows import continuous_columns, name_of, schema_of, table_read_by
from posterior.plot.section import Score, Section
from posterior.plot.style import HEIGHT, INK, WIDTH, colours_of
from posterior.schema import LabelledTable

# Points of a curve; halvings that find a decision point between two of them; decision points with a number.
CURVE_POINTS = 801
HALVINGS = 60
MOST_NUMBERS = 6
# Fewer rows are drawn one by one.
ROWS_OF_A_HISTOGRAM = 50
# Standard deviations on either side of a class that are shown where there are no rows to go by.
REACH = 4.0


@dataclass(eq=False)
class DensityDisplay(Display):
    """Class densities of one feature times the priors, and under them the posterior, with decision points.

    At `decision_points_` the most probable class changes, and `winners_` are its codes from left to right.
    Of Gaussians they are the roots of quadratics, all that there are; of other models they are found by
    halving between the x. A model that is not generative has no densities (`log_density` is None), and the
    rows stand for them. `values` and `codes` are the rows, drawn as histograms.

    >>> from posterior import QDA
    >>> model = QDA().fit([[-3.0], [-1.0], [1.0], [3.0], [-0.5], [0.5]], ["wide"] * 4 + ["thin"] * 2)
    >>> display = DensityDisplay.from_estimator(model)
    >>> display.decision_points_.round(3), display.classes[display.winners_]
    (array([-0.651,  0.651]), array(['wide', 'thin', 'wide'], dtype='<U4'))
    """

    x: Floats
    log_proba: Floats
    classes: AnyArray
    decision_points_: Floats
    winners_: Ints
    log_density: Floats | None = None
    log_prior: Floats | None = None
    values: Floats | None = None
    codes: Ints | None = None
    feature: str = "x"
    model: str = ""
    others: str = ""

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, feature: Any = None, at: At = "auto"
    ) -> Self:
        """The picture of one continuous column of a fitted classifier.

        `feature` names the column; it may be left out where there is only one. A generative model of more
        columns integrates the others out, unless `at` holds them, as in `DecisionRegionDisplay`; any other
        needs X, at whose median they are held. With X and y the rows are drawn too.
        """
        rows = None if X is None else table_read_by(estimator, X, y)
        column = _column(estimator, rows, feature)
        section = section_of(estimator, (column,), at, rows)
        if not section.proper:
            raise ValueError(
                f"{name_of(estimator)} has no posterior to show; a DecisionRegionDisplay needs none"
            )
        if section.log_density is None and (rows is None or not rows.is_labelled):
            raise ValueError(
                f"{name_of(estimator)} has no densities: pass X and y, whose rows stand for them"
            )
        values = None if rows is None else rows.values((column,))[:, 0]
        x = _range(estimator, section, column, values)
        log_proba = section.log_posterior(x[:, None])
        if section.quadratic is None:
            points, winners = _changes(section.log_posterior, x, log_proba.argmax(axis=1))
        else:
            points, winners = decision_points(section.quadratic)
        return cls(
            x,
            log_proba,
            section.classes,
            points,
            winners,
            None if section.log_density is None else section.log_density(x[:, None]),
            section.log_prior,
            values,
            rows.codes if rows is not None and rows.is_labelled else None,
            section.columns[0],
            name_of(estimator),
            section.told,
        )

    @classmethod
    def from_predictions(
        cls, x: Any, log_density: Any, log_prior: Any, classes: Any, *, feature: str = "x"
    ) -> Self:
        """The picture for log densities (m, K) at rising x (m,) and log priors (K,).

        Decision points are interpolated between the x.
        """
        along, density = np.asarray(x, dtype=np.float64), np.asarray(log_density, dtype=np.float64)
        prior, labels = np.asarray(log_prior, dtype=np.float64), np.asarray(classes)
        if density.shape != (len(along), len(labels)) or prior.shape != labels.shape:
            raise ValueError(
                f"log_density has shape {density.shape} and log_prior {prior.shape}; expected "
                f"({len(along)}, {len(labels)}) and ({len(labels)},): every x and every class"
            )
        if len(along) < 2 or not (np.diff(along) > 0).all() or np.isnan(density).any():
            raise ValueError("x must be two or more rising numbers, and log_density must not contain NaN")
        log_proba = log_softmax(density + prior, axis=1)
        points, winners = _interpolated(along, density + prior)
        return cls(along, log_proba, labels, points, winners, density, prior, feature=feature)

    def plot(self, ax: Any = None) -> Self:
        """Draw densities above and posteriors below; both axes are in `axes_`.

        `ax` may be one, whose place is divided, or two.
        """
        size = (WIDTH, 1.2 * HEIGHT)
        with drawing_grid(ax, 2, 1, sharex=True, height_ratios=(3, 2), figsize=size) as axes:
            above, below = axes[:, 0]
            self._draw_rows(above)
            for k, colour in enumerate(colours_of(self.classes)):
                if self.log_density is not None and self.log_prior is not None:
                    above.plot(self.x, np.exp(self.log_density[:, k] + self.log_prior[k]), color=colour)
                below.plot(self.x, np.exp(self.log_proba[:, k]), color=colour)
            self._draw_decisions(above, below)
            words = "density of the rows" if self.log_density is None else "density × prior"
            above.set(ylim=(0, None), ylabel=words)
            above.tick_params(labelbottom=False)
            below.set(
                xlim=self.x[[0, -1]], ylim=(-0.06, 1.02), ylabel="posterior", xlabel=label(self.feature, 60)
            )
            write_title(above, self.model, self.others.replace("$", r"\$"))
            legend_below(below, class_handles(self.classes, lines=True))
        self.axes_ = np.array([above, below], dtype=object)
        return self._drawn_on(above)

    def _draw_rows(self, axes: Any) -> None:
        """Histograms of the classes, weighted like the densities; of a few rows one tick each."""
        if self.values is None or self.codes is None:
            return
        there = ~np.isnan(self.values)
        values, codes = self.values[there], self.codes[there]
        share = np.bincount(codes, minlength=len(self.classes)) / max(len(codes), 1)
        weight = share if self.log_prior is None else np.exp(self.log_prior)
        edges = np.linspace(values.min(), values.max(), 1 + int(np.clip(np.sqrt(len(values)), 10, 40)))
        for k, colour in enumerate(colours_of(self.classes)):
            own = values[codes == k]
            if len(values) < ROWS_OF_A_HISTOGRAM and self.log_density is not None:
                axes.plot(own, np.zeros(len(own)), "|", color=colour, markersize=14, clip_on=False)
            elif len(own):
                height = np.histogram(own, edges)[0] / len(own) / np.diff(edges) * weight[k]
                axes.stairs(height, edges, fill=True, color=colour, alpha=0.22)

    def _draw_decisions(self, above: Any, below: Any) -> None:
        """Lines at the decision points with their numbers, and a strip that says who wins between them."""
        colours, (low, high) = colours_of(self.classes), self.x[[0, -1]]
        for (left, right), k in zip(
            pairwise([-np.inf, *self.decision_points_, np.inf]), self.winners_, strict=True
        ):
            if right > low and left < high:
                below.fill_between(
                    [max(left, low), min(right, high)], -0.06, -0.02, color=colours[k], linewidth=0
                )
        inside = [point for point in self.decision_points_ if low < point < high]
        for point in inside:
            for axes in (above, below):
                axes.axvline(point, color=INK, linewidth=1, linestyle=(0, (3, 2)))
        near = np.diff(inside) < 0.12 * (high - low)
        for i, point in enumerate(inside[:MOST_NUMBERS]):
            side = "right" if near[i : i + 1].any() else "left" if near[max(i - 1, 0) : i].any() else "center"
            below.text(point, 1.03, f"{point:.4g}", ha=side, va="bottom", fontsize=8.5, color=INK)


def _column(estimator: Any, rows: LabelledTable | None, feature: Any) -> int:
    schema = schema_of(estimator) or (None if rows is None else rows.schema)
    if schema is None:
        raise ValueError(f"pass X: what columns {name_of(estimator)} has is not known without")
    chosen = (
        continuous_columns(estimator, schema) if feature is None else axis_columns(estimator, schema, feature)
    )
    if len(chosen) != 1:
        told = (
            f"features are {[schema.names[j] for j in chosen]}" if chosen else "there is no continuous column"
        )
        raise ValueError(f"name one feature, as in feature='age': {told}")
    return chosen[0]


def _range(estimator: Any, section: Section, column: int, values: Floats | None) -> Floats:
    """Where to draw: about the rows, or where the model expects them; only where some class is possible."""
    if values is None and section.quadratic is not None:
        form = section.quadratic
        variance = -0.5 / form.quadratic[:, 0, 0]
        mean, reach = form.centre[0] + variance * form.linear[:, 0], REACH * np.sqrt(variance)
        return np.linspace((mean - reach).min(), (mean + reach).max(), CURVE_POINTS)
    if values is None:
        drawn, _ = estimator.sample(2000, random_state=0)
        values = np.quantile(table_read_by(estimator, drawn).values((column,))[:, 0], [0.001, 0.999])
    if np.isnan(values).all():
        raise ValueError(f"no row of X has a value in {section.columns[0]!r}; choose another feature")
    low, high = np.nanmin(values), np.nanmax(values)
    room = 0.08 * (high - low) or max(0.1 * abs(high), 1.0)
    x = np.linspace(low - room, high + room, CURVE_POINTS)
    possible = np.isfinite(section.score(x[:, None])).any(axis=1)
    return np.asarray(x[possible] if possible.any() else x)


def _changes(log_posterior: Score, x: Floats, winners: Ints) -> tuple[Floats, Ints]:
    """Where the best class changes along x, found by halving, and the winners in between."""
    points, found = list[float](), [int(winners[0])]
    for i in np.flatnonzero(np.diff(winners)).tolist():
        left, right = float(x[i]), float(x[i + 1])
        while found[-1] != winners[i + 1]:  # a third class may win in between
            low, high = left, right
            for _ in range(HALVINGS):
                middle = (low + high) / 2
                same = log_posterior(np.array([[middle]])).argmax() == found[-1]
                low, high = (middle, high) if same else (low, middle)
            points.append((low + high) / 2)
            found.append(int(log_posterior(np.array([[high]])).argmax()))
            left = high
    return np.array(points), np.array(found, dtype=np.int64)


def _interpolated(x: Floats, scores: Floats) -> tuple[Floats, Ints]:
    """Where the best class changes, by straight lines between the scores."""
    best = scores.argmax(axis=1)
    changes = np.flatnonzero(np.diff(best))
    a, b = best[changes], best[changes + 1]
    before, after = (scores[i, a] - scores[i, b] for i in (changes, changes + 1))
    with np.errstate(invalid="ignore"):
        share = before / (before - after)
    share = np.where(np.isfinite(share), share, 0.5)  # between impossible and possible
    points = x[changes] + share * (x[changes + 1] - x[changes])
    return np.asarray(points), np.append(best[:1], b)
