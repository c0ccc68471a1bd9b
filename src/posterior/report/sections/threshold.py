"""Of two classes: what every threshold on the posterior finds, and what it costs."""

from posterior.comparison import Comparison
from posterior.plot.cost import CostThresholdDisplay
from posterior.plot.precision_recall import PrecisionRecallDisplay
from posterior.plot.roc import DetectionDisplay, RocDisplay
from posterior.report.blocks import Figure, Figures, PageBlock, Text
from posterior.report.figures import canvas, inline_svg
from posterior.report.subject import Subject
from posterior.report.words import cut, figure, percent, printable, rate

# Inches; names of classes are in the words, not on the axes, where long ones would be cut off.
WIDTH, HEIGHT = 3.7, 3.1


def the_threshold(subject: Subject) -> list[PageBlock]:
    """ROC, precision against recall, and cost against the threshold, of two classes."""
    comparison = subject.comparison
    if comparison.positive is None or subject.chosen.log_proba is None:
        return []
    cost, why_not = _cost_display(comparison, subject)
    threshold = None if cost is None else cost.bayes
    sought = cut(printable(comparison.positive))
    words = f"Every threshold on the posterior of {sought}, on rows held out."
    if threshold is not None:
        implied = "the costs imply" if comparison.costs is not None else "mistakes of equal cost imply"
        words += f" Marked is {figure(threshold)}, the threshold that {implied}."
    drawn = [_roc(subject, sought, threshold), _precision(subject, sought, threshold)]
    drawn += [] if cost is None else [_cost(cost, comparison)]
    blocks: list[PageBlock] = [Text(words), Figures(drawn, small=len(drawn) == 3)]
    return [*blocks, Text(why_not, aside=True)] if why_not else blocks


def _cost_display(comparison: Comparison, subject: Subject) -> tuple[CostThresholdDisplay | None, str]:
    """Cost against threshold, or why there is none: costs of each row, or of more than two actions."""
    try:
        return (
            CostThresholdDisplay.from_predictions(
                comparison.classes[comparison.codes],
                subject.chosen.log_proba,
                costs=comparison.costs,
                classes=comparison.classes,
                positive=comparison.positive,
            ),
            "",
        )
    except ValueError as error:
        return None, f"No threshold is marked: {error}."


def _display(subject: Subject, kind: type[DetectionDisplay], threshold: float | None) -> DetectionDisplay:
    comparison = subject.comparison
    return kind.from_predictions(
        comparison.classes[comparison.codes],
        subject.chosen.log_proba,
        classes=comparison.classes,
        positive=comparison.positive,
        threshold=threshold,
    )


def _roc(subject: Subject, sought: str, threshold: float | None) -> Figure:
    display, area = _display(subject, RocDisplay, threshold), subject.chosen.roc_auc
    curve = display.curve
    with canvas(WIDTH, HEIGHT) as ax:
        display.plot(ax).ax_.set_title("", loc="left")
        ax.set(xlabel="false alarms: share of the others", ylabel="found: share of the class")
        svg = inline_svg(ax.figure, "roc")
    # Rows of one group are alike, and more uncertain than this.
    low, high = curve.area_interval()
    between = "" if subject.comparison.groups is not None else f", 95 % interval {rate(low)} to {rate(high)}"
    told = f"Area under the curve {rate(curve.area)}{between}"
    if area is not None and rate(area) != rate(curve.area):
        told += f" ({rate(area)} by pairs of rows in one fold, as in the table of models)"
    told += "; 0.5 is chance."
    if display.marked is not None:
        found, alarms = curve.recall[display.marked], curve.false_alarms[display.marked]
        told += f" At the mark {percent(found)} of {sought} are found, with {percent(alarms)} of the others."
    return Figure(svg, f"ROC curve. {told}", f"ROC: found against false alarms. {told}")


def _precision(subject: Subject, sought: str, threshold: float | None) -> Figure:
    display = _display(subject, PrecisionRecallDisplay, threshold)
    curve = display.curve
    with canvas(WIDTH, HEIGHT) as ax:
        display.plot(ax).ax_.set_title("", loc="left")
        ax.set(xlabel="recall: share of the class found", ylabel="precision: share that is right")
        svg = inline_svg(ax.figure, "precision")
    told = f"Average precision {rate(curve.average_precision)}, where {rate(curve.share)} is chance."
    if display.marked is not None and display.marked > 0:
        right = curve.precision[display.marked]
        told += f" At the mark {percent(right)} of the rows taken for {sought} are so."
    return Figure(svg, f"Precision against recall. {told}", f"Precision against recall. {told}")


def _cost(display: CostThresholdDisplay, comparison: Comparison) -> Figure:
    with canvas(WIDTH, HEIGHT) as ax:
        display.plot(ax)
        ax.get_legend().remove()  # the caption says it
        ax.set_xlabel("threshold on the posterior")  # of the class that the words above name
        svg = inline_svg(ax.figure, "cost")
    low, high = display.best
    what = "Average cost" if comparison.costs is not None else "Error rate (a mistake costs 1)"
    least, where = figure(display.cost.min()), figure(low)
    where += "" if figure(high) == where else f" to {figure(high)}"
    told = (
        f"{what} {figure(display.bayes_cost)} at the mark; the best on these rows, {least} at {where}, "
        "was chosen after the event and promises too much."
    )
    return Figure(svg, f"Cost against threshold. {told}", f"Cost against the threshold. {told}")
