"""What each class holds in the columns that tell most about it."""

from dataclasses import replace
from typing import Any

from sklearn.base import clone

from posterior.estimators.table_estimator import fit_table, rows_for
from posterior.plot.panels import MOST_RANKED, ClassPanelDisplay
from posterior.plot.word_ranking import WordPanel
from posterior.report.blocks import Figure, Figures, Legend, PageBlock, Text
from posterior.report.figures import canvas, inline_svg
from posterior.report.subject import Subject
from posterior.report.words import count, cut, printable

MOST_PANELS = 12
NAIVE = ("naive-bayes", "weighted-naive-bayes")
# Inches.
WIDTH, HEIGHT = 3.3, 2.1


def densities(subject: Subject) -> list[PageBlock]:
    """A panel for each column by itself: the rows, and what naive Bayes makes of them."""
    model = subject.best(lambda result: result.name in NAIVE) or subject.chosen
    rows = subject.rows
    fitted = fit_table(clone(model.estimator), rows)
    display = ClassPanelDisplay.from_estimator(
        fitted, rows_for(fitted, rows), rows.labels, max_features=MOST_PANELS
    )
    figures = [_panel(display, j) for j in range(len(display.panels))]
    classes = [(int(k), subject.classes[k]) for k in display.shown]
    words = _how_telling(subject)
    if not all(isinstance(panel, WordPanel) for panel in display.panels):
        words += (
            f" Areas and bars are the rows of a class, lines and strokes what {model.title} makes of them: "
            "where the two differ, the model is wrong about the column."
        )
    if any(isinstance(panel, WordPanel) for panel in display.panels):
        words += " Of a text, the words that speak most for each class, by their log odds against the others."
    some = []
    if len(display.panels) < len(model.columns):
        some.append(f"{len(display.panels)} of {len(model.columns):,} columns")
    if len(classes) < len(subject.classes):
        some.append(f"the {len(classes)} commonest of {len(subject.classes):,} classes")
    words += f" Shown are {' and '.join(some)}." if some else ""
    return [Text(words), Legend(classes), Figures(figures, small=True)]


def _how_telling(subject: Subject) -> str:
    """How many columns tell something of the class by themselves, and how that was found out."""
    telling = subject.telling
    looked, told = len(telling.columns), int(telling.told.sum())
    how = (
        "on rows held out, and by more than the luckiest column gained in 95 of 100 shuffles of the rows, "
        "so that "
        "the number of columns is allowed for"
    )
    most = f" The first {count(looked)} columns were looked at." if looked == MOST_RANKED else ""
    if not told:
        which = "The column" if looked == 1 else f"None of {count(looked, 'column')}"
        not_ = " does not tell" if looked == 1 else " tells"
        return f"{which}{not_} anything of the class by itself that luck would not: {how}.{most}"
    which = f"{count(told)} of {count(looked, 'column')} {'tells' if told == 1 else 'tell'}"
    return f"Each column by itself, the most telling first. {which} something of the class: {how}.{most}"


def _panel(display: Any, j: int) -> Figure:
    panel = display.panels[j]
    with canvas(WIDTH, HEIGHT) as ax:
        drawn = replace(display, panels=[panel]).plot(ax)
        for axes in drawn.figure_.axes:
            if axes.get_legend() is not None:
                axes.get_legend().remove()
            axes.set_title("", loc="left")
        svg = inline_svg(drawn.figure_, f"panel-{j}")
    name = cut(printable(panel.name))
    return Figure(svg, f"What the classes hold in {name}", name)
