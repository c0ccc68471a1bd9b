"""How much the recommended model needs each column, on rows held out."""

from posterior.comparison import ColumnImportance, Importance
from posterior.plot.importance import ImportanceDisplay
from posterior.report.blocks import AnyCell, Details, Figure, Head, Name, Number, PageBlock, PageTable, Text
from posterior.report.figures import WIDTH, canvas, inline_svg
from posterior.report.subject import Subject
from posterior.report.words import count, cut, figure, printable, sentence_of

LINES = 100
HOW = {
    "left out": "The column is left out exactly: this is what the model says given all others.",
    "shuffled": "The column is shuffled among the rows, five times, so that it says nothing of the class.",
}


def the_importance(subject: Subject) -> list[PageBlock]:
    """How much more rows held out lose if the recommended model is not told a column, with intervals."""
    found = subject.importance
    if found is None or not found.columns:
        return []
    blocks: list[PageBlock] = [_picture(subject, found)]
    if found.unused:
        blocks.append(
            Text(f"Not used by {subject.chosen.title}: {sentence_of(found.unused, 10)}.", aside=True)
        )
    if found.untried:
        more = count(len(found.untried), "column")
        blocks.append(Text(f"{more} more were not tried; they differ least between the classes.", aside=True))
    return [*blocks, Details("The numbers", [_numbers(found)])]


def _picture(subject: Subject, found: Importance) -> Figure:
    display = ImportanceDisplay.from_importance(found)
    with canvas(WIDTH, 0.9 + 0.23 * len(display.shown)) as ax:
        display.plot(ax)
        ax.set_title("", loc="left")
        ax.locator_params(axis="x", nbins=4)  # small rises are long numbers
        ax.set_xlabel(ax.get_xlabel(), loc="right")  # beside long names there is not room for all of it
        svg = inline_svg(ax.figure, "importance")
    first = found.columns[0]
    most = f"{cut(printable(first.name))} ({_told(first)})"
    return Figure(svg, f"Importance of columns; most important: {most}", _words(subject, found), beside=True)


def _words(subject: Subject, found: Importance) -> str:
    unit = " in nats" if found.measure == "log loss" else ""
    words = (
        f"How much the {found.measure}{unit} of {subject.chosen.title} rises on rows held out if it is not "
        f"told a column; with all columns it is {figure(found.loss)}. {HOW[found.method]} Intervals of 95 % "
        "are over rows; a filled mark is one above zero. A column that says what others say too may look "
        "unimportant."
    )
    if found.together:
        names = sentence_of([" and ".join(map(str, group.columns)) for group in found.together[:3]], 3)
        words += f" Strongly correlated columns are tried together too (squares): {names}."
    shown = len(ImportanceDisplay.from_importance(found).shown) - len(found.together)
    if shown < len(found.columns):
        words += f" The {shown} most important of {count(len(found.columns))} columns are drawn."
    if found.n_rows < subject.comparison.n_rows:
        words += f" From {count(found.n_rows)} of {count(subject.comparison.n_rows, 'row')}."
    return words


def _told(column: ColumnImportance) -> str:
    low, high = column.interval
    return f"{figure(column.value)}, 95 % interval {figure(low)} to {figure(high)}"


def _numbers(found: Importance) -> PageTable:
    rows: list[list[AnyCell]] = []
    for column in (*found.columns[:LINES], *found.together):
        low, high = map(figure, column.interval)
        rows.append([Name(printable(column.name)), Number(figure(column.value)), Number(f"{low} to {high}")])
    heads = (Head("without"), Head(f"rise of the {found.measure}", "number"), Head("95 % interval", "number"))
    more = f", the first {LINES} of {count(len(found.columns))}" if len(found.columns) > LINES else ""
    return PageTable(f"Importance on rows held out, the most important first{more}", heads, rows)
