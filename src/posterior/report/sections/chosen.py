"""The recommended model on rows it had not seen: is it calibrated, when is it sure, what does it mix up."""

import numpy as np

from posterior.decision import calibration_error
from posterior.plot.coverage import RiskCoverageDisplay
from posterior.plot.reliability import ReliabilityDisplay
from posterior.report.actions import Outcomes
from posterior.report.blocks import (
    AnyCell,
    Figure,
    Figures,
    Head,
    Name,
    Number,
    PageBlock,
    PageTable,
    Text,
    Tinted,
)
from posterior.report.figures import canvas, inline_svg
from posterior.report.subject import Subject
from posterior.report.words import count, cut, figure, percent

# Classes of a confusion matrix that one can still read; of more, the pairs that are mixed up.
MOST_CLASSES = 25
PAIRS = 12
SHARES = {1.0: "answering all rows", 0.9: "answering the surest 90 %", 0.5: "answering the surest half"}


def the_chosen_model(subject: Subject) -> list[PageBlock]:
    """Reliability, risk against coverage and confusion, from held-out predictions."""
    chosen = subject.chosen
    words = f"How {chosen.title} does on rows that it had not seen."
    if chosen.log_proba is None:
        words += " It gives no posteriors, so nothing can be said about calibration or about being unsure."
    if subject.repeated:
        words += " All that follows is of the first repeat; the figures above are means over all repeats."
    blocks: list[PageBlock] = [Text(words)]
    if chosen.log_proba is not None:
        blocks.append(Figures([_reliability(subject), _coverage(subject)]))
    outcomes = Outcomes.of(subject.comparison)
    few = max(outcomes.counts.shape) <= MOST_CLASSES
    blocks.append(_matrix(subject, outcomes) if few else _pairs(subject, outcomes))
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
    # That of the likeliest class, as everywhere else; of two classes the picture draws the second.
    error, said = calibration_error(comparison.codes, subject.chosen.log_proba), str(display.test)
    mean, drawn = figure(subject.chosen.calibration_error), figure(error.value)
    drawn = "" if drawn == mean else f" ({drawn} in the repeat that is drawn)"
    words = (
        "Stated probabilities against observed frequencies; on the line they mean what they say. "
        f"Calibration error {mean}{drawn}, where calibrated posteriors would have "
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


def _matrix(subject: Subject, outcomes: Outcomes) -> PageTable:
    """Counts by true class and what was done, tinted by the share of the true class."""
    counts, right = outcomes.counts, outcomes.right
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    rows: list[list[AnyCell]] = []
    for k, name in enumerate(subject.classes):
        cells = [
            Tinted(count(counts[k, j]), float(shares[k, j]), bool(right[k, j]))
            for j in range(len(outcomes.actions))
        ]
        rows.append([Name(name), *cells, *_told(outcomes, k)])
    heads = [Head("true class"), *(Head(cut(name, 24), "number", name) for name in outcomes.actions)]
    if outcomes.costs is None:
        heads += [
            Head("recall", "number", "share of the class that is found"),
            Head("precision", "number", "share that is right of the rows taken for the class"),
        ]
        return PageTable("True class (rows) against predicted class (columns)", heads, rows)
    heads.append(Head("average cost", "number", "what its rows cost on average"))
    return PageTable(f"True class (rows) against {_done(subject)} (columns)", heads, rows)


def _told(outcomes: Outcomes, k: int) -> list[AnyCell]:
    """What is told of a class beside its counts: recall and precision, or what its rows cost."""
    if outcomes.costs is not None:
        return [Number(figure(float(outcomes.costs[k])))]
    counts = outcomes.counts
    right, rows, named = counts[k, k], counts[k].sum(), counts[:, k].sum()
    return [Number(percent(right / total if total else None)) for total in (rows, named)]


def _done(subject: Subject) -> str:
    """What is done where there are costs."""
    named = subject.chosen.log_proba is None
    return "the class that is named" if named else "the action of least expected cost"


def _pairs(subject: Subject, outcomes: Outcomes) -> PageTable:
    """The most frequent confusions of many classes."""
    totals, wrong = outcomes.counts.sum(axis=1), np.where(outcomes.right, 0.0, outcomes.counts)
    order = np.argsort(-wrong, axis=None, kind="stable")[:PAIRS]
    rows: list[list[AnyCell]] = [
        [
            Name(subject.classes[k]),
            Name(outcomes.actions[j]),
            Number(count(wrong[k, j])),
            Number(percent(float(wrong[k, j] / totals[k]))),
        ]
        for k, j in zip(*np.unravel_index(order, wrong.shape), strict=True)
        if wrong[k, j]
    ]
    got = "taken for" if outcomes.costs is None else _done(subject)
    heads = [Head("true class"), Head(got), Head("rows", "number"), Head("of the class", "number")]
    return PageTable(f"Most frequent confusions among {len(wrong)} classes", heads, rows)
