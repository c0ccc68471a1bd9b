"""The recommended model on rows it had not seen: is it calibrated, when is it sure, what does it mix up."""

import numpy as np

from posterior._types import Floats
from posterior.decision import confusion_table
from posterior.plot.coverage import RiskCoverageDisplay
from posterior.plot.reliability import ReliabilityDisplay
from posterior.report.blocks import AnyCell, Block, Figure, Figures, Head, Name, Number, Table, Text, Tinted
from posterior.report.figures import canvas, inline_svg
from posterior.report.subject import Subject
from posterior.report.words import count, cut, figure, percent

# Classes of a confusion matrix that one can still read; of more, the pairs that are mixed up.
MOST_CLASSES = 25
PAIRS = 12
SHARES = {1.0: "answering all rows", 0.9: "answering the surest 90 %", 0.5: "answering the surest half"}


def the_chosen_model(subject: Subject) -> list[Block]:
    """Reliability, risk against coverage and confusion, from held-out predictions."""
    chosen = subject.chosen
    words = f"How {chosen.title} does on rows that it had not seen."
    if chosen.log_proba is None:
        words += " It gives no posteriors, so nothing can be said about calibration or about being unsure."
    blocks: list[Block] = [Text(words)]
    if chosen.log_proba is not None:
        blocks.append(Figures([_reliability(subject), _coverage(subject)]))
    counts = confusion_table(subject.comparison.codes, chosen.predicted, classes=len(subject.classes)).counts
    blocks.append(_matrix(subject, counts) if len(counts) <= MOST_CLASSES else _pairs(subject, counts))
    return blocks


def _reliability(subject: Subject) -> Figure:
    comparison = subject.comparison
    labels = comparison.classes[comparison.codes]
    with canvas(height=4.1) as ax:
        display = ReliabilityDisplay.from_predictions(
            labels, subject.chosen.log_proba, classes=comparison.classes
        ).plot(ax)
        ax.set_title("", loc="left")
        svg = inline_svg(ax.figure, "reliability")
    error, said = display.error, str(display.test)
    words = (
        "Stated probabilities against observed frequencies; on the line they mean what they say. "
        f"Calibration error {figure(error.value)}, where calibrated posteriors would have "
        f"{figure(error.expected_if_calibrated)} on average. {said[:1].upper() + said[1:]}."
    )
    return Figure(svg, f"Reliability diagram: {said}", words)


def _coverage(subject: Subject) -> Figure:
    comparison = subject.comparison
    labels = comparison.classes[comparison.codes]
    with canvas(height=4.1) as ax:
        display = RiskCoverageDisplay.from_predictions(
            labels, subject.chosen.log_proba, classes=comparison.classes, costs=comparison.costs
        ).plot(ax)
        ax.set_title("", loc="left")
        svg = inline_svg(ax.figure, "coverage")
    risk, written = ("error rate", percent) if comparison.costs is None else ("average cost", figure)
    told = ", ".join(f"{written(float(display.curve.at(share)))} {which}" for share, which in SHARES.items())
    words = f"What it buys to leave the least certain rows to a person: {risk} {told}."
    return Figure(svg, f"Risk against coverage: {risk} {told}", words)


def _matrix(subject: Subject, counts: Floats) -> Table:
    """Counts by true and predicted class, tinted by the share of the true class."""
    totals = counts.sum(axis=1)
    rows: list[list[AnyCell]] = []
    for k, name in enumerate(subject.classes):
        shares = counts[k] / max(totals[k], 1.0)
        cells = [Tinted(count(counts[k, j]), float(shares[j]), j == k) for j in range(len(counts))]
        rows.append([Name(name), *cells, Number(percent(float(shares[k])))])
    heads = [
        Head("true class"),
        *(Head(cut(name, 24), "number", name) for name in subject.classes),
        Head("found", "number", "recall"),
    ]
    return Table("True class (rows) against predicted class (columns)", heads, rows)


def _pairs(subject: Subject, counts: Floats) -> Table:
    """The most frequent confusions of many classes."""
    totals = counts.sum(axis=1)
    wrong = counts * (1 - np.eye(len(counts)))
    order = np.argsort(-wrong, axis=None, kind="stable")[:PAIRS]
    rows: list[list[AnyCell]] = []
    for k, j in zip(*np.unravel_index(order, wrong.shape), strict=True):
        if wrong[k, j]:
            share = percent(float(wrong[k, j] / totals[k]))
            rows.append(
                [
                    Name(subject.classes[k]),
                    Name(subject.classes[j]),
                    Number(count(wrong[k, j])),
                    Number(share),
                ]
            )
    heads = [Head("true class"), Head("taken for"), Head("rows", "number"), Head("of the class", "number")]
    return Table(f"Most frequent confusions among {len(counts)} classes", heads, rows)
