"""Decision regions in the two columns that tell the classes apart best."""

import numpy as np

from posterior.comparison import MODELS, NotForThisTableError, model_for
from posterior.plot.best_plane import best_pair
from posterior.plot.ellipses import CONTENTS
from posterior.plot.regions import MOST_POINTS, DecisionRegionDisplay
from posterior.plot.style import COLOURS
from posterior.report.blocks import Figure, PageBlock
from posterior.report.figures import canvas, inline_svg
from posterior.report.subject import Subject
from posterior.report.words import count, cut, printable
from posterior.schema import LabelledTable

# Columns among which the best two are looked for.
MOST_COLUMNS = 12


def the_best_plane(subject: Subject) -> list[PageBlock]:
    """A model of the recommended kind in the best two continuous columns; nothing where there are none."""
    schema, cells = subject.comparison.schema, subject.rows
    columns = [
        j for j in subject.ranked_columns if schema.columns[j].kind == "continuous" and _varies(cells, j)
    ]
    columns = columns[:MOST_COLUMNS]
    # Of an estimator that was given nobody knows what it is in other columns.
    model = subject.best(lambda r: r.approach not in ("baseline", "pool") and r.name in MODELS)
    if len(columns) < 2 or model is None:
        return []
    pair = best_pair(cells, tuple(sorted(columns)), cells.codes)
    points = cells.values(pair)
    name = MODELS[model.name].in_a_plane or model.name
    try:
        unfitted = model_for(name, points, subject.rows.labels)
    except NotForThisTableError:
        return []
    fitted = unfitted.fit(points, subject.rows.labels)
    names = [printable(schema.columns[j].name) for j in pair]
    with canvas(height=3.9) as ax:
        display = DecisionRegionDisplay.from_estimator(fitted, points, subject.rows.labels)
        display.names = (names[0], names[1])
        if len(subject.classes) > len(COLOURS):
            display.ellipses = ()
        display.plot(ax)
        ax.set_title("", loc="left")
        ax.get_legend().remove()
        svg = inline_svg(ax.figure, "plane")
    told = " and ".join(map(cut, names))
    drawn = len(display.points)
    some = f" {count(drawn)} of {count(len(points))} rows are drawn." if len(points) > MOST_POINTS else ""
    again = ""
    if len(subject.classes) > len(COLOURS):
        again = f" Beyond {len(COLOURS)} classes a colour is used again, with another mark."
    title = MODELS[name].title
    words = (
        f"Here {title} was fitted to nothing but {told}, the two continuous columns that together tell the "
        "classes apart best; the recommended model knows more. Colours are the most probable class, deeper "
        f"where it is surer.{again}{_ellipses(display)}{some}"
    )
    return [
        Figure(
            svg,
            f"Decision regions of {title} in the plane of {told}",
            words,
            beside=True,
            legend=list(enumerate(subject.classes)),
        )
    ]


def _ellipses(display: DecisionRegionDisplay) -> str:
    if not display.ellipses:
        return ""
    contents = " and ".join(f"{100 * content:g} %" for content in CONTENTS)
    return f" Ellipses hold {contents} of a class under the model."


def _varies(cells: LabelledTable, j: int) -> bool:
    values = cells.values((j,))
    return bool(np.nanmin(values) < np.nanmax(values))
