"""The leaderboard: what each model would lose, or cost, on rows it has not seen, with intervals."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from posterior._text import rate_text
from posterior.comparison import Comparison, Result
from posterior.comparison.printing import seconds
from posterior.comparison.recommendation import Ranking
from posterior.report.blocks import (
    AnyCell,
    Bullets,
    Cell,
    Details,
    Head,
    Interval,
    Number,
    PageBlock,
    PageTable,
    Text,
)
from posterior.report.scale import Scale
from posterior.report.subject import Subject
from posterior.report.words import DASH, count, cut, figure, percent, printable, rate, sentence_of

Z = 1.96  # of 95 % intervals
CAPTION = "Models by {} on held-out rows, the best first; ± is the standard error, lines are 95 % intervals"
TIES = (
    " A tie is a model whose {}, compared row by row, differ from the best one's by no more than noise. "
    "All models stumble over the same hard rows: a difference can be certain although the intervals overlap."
)


class Measure(NamedTuple):
    """A figure of a result: the attribute it is, how it is headed, what it means, how it is written."""

    name: str
    head: str
    meaning: str
    written: Callable[[Any], str] = figure


def whole(number: float | None) -> str:
    """A number of things, or a dash."""
    return DASH if number is None else count(number)


LOSS = "mean of −ln p(true class): 0 is perfect"
COST = "mean cost of the action that is expected to cost least"
# A page has room for these, …
MEASURES = (
    Measure("log_loss", "log loss", LOSS),
    Measure(
        "calibration_error",
        "calib. error",
        "how far stated probabilities are from observed frequencies",
        rate,
    ),
    Measure(
        "roc_auc", "AUC", "probability that a row of one class is ranked above one of the other", rate_text
    ),
)
# … and these unfold.
MORE = (
    Measure("brier", "Brier", "mean squared distance of the posteriors from the truth; 0 is perfect", rate),
    Measure("n_parameters", "parameters", "free parameters", whole),
    Measure("fit_seconds", "fit", "time to learn from all rows", seconds),
    Measure("predict_seconds", "predict", "time to predict all rows", seconds),
)


def leaderboard(subject: Subject) -> list[PageBlock]:
    """All models, the best first, then those that were not tried and why."""
    comparison, ranking = subject.comparison, subject.comparison.ranking
    scale = _scale(ranking, comparison.shown)
    measures = [m for m in _measures(comparison) if any(_has(r, m) for r in comparison.shown)]
    heads = [
        Head("model"),
        Head(ranking.measure, "number", COST if ranking.by_cost else LOSS),
        Head("log scale" if scale.logarithmic else "", "chart", ticks=scale.ticks),
        Head("accuracy", "number", "share of rows whose most probable class is the true one"),
        *_heads(measures),
    ]
    rows = [_row(comparison, result, scale, measures) for result in comparison.shown]
    best = [result.name for result in comparison.results].index(comparison.recommended.name)
    ties = TIES.format("costs" if ranking.by_cost else "losses")
    told = f"Every number is about rows that the model had not seen: {comparison.folds}."
    blocks: list[PageBlock] = [Text(told + (ties if comparison.ties else ""))]
    blocks.append(PageTable(CAPTION.format(ranking.measure), heads, rows, frozenset({best})))
    blocks.append(Details("Brier score, parameters and times", [_more(comparison, best)]))
    if comparison.left_out:
        blocks += [Text("Not tried:"), Bullets(_reasons(comparison.left_out))]
    if comparison.pruned:
        behind = [(each.title, printable(each.reason)) for each in comparison.pruned]
        blocks += [
            Text("Not tried further, since a part of the rows shows them clearly behind:"),
            Bullets(behind),
        ]
    return blocks


def _heads(measures: Sequence[Measure]) -> list[Head]:
    return [Head(m.head, "number", m.meaning) for m in measures]


def _more(comparison: Comparison, best: int) -> PageTable:
    """What the leaderboard has no room for."""
    rows: list[list[AnyCell]] = [[Cell(r.title), *_numbers(r, MORE)] for r in comparison.shown]
    return PageTable(
        "The same models, in the same order", [Head("model"), *_heads(MORE)], rows, frozenset({best})
    )


def _numbers(result: Result, measures: Sequence[Measure]) -> list[AnyCell]:
    return [Number(m.written(getattr(result, m.name))) for m in measures]


def _reasons(left_out: dict[str, str]) -> list[tuple[str, str]]:
    """Models by the reason for which they were left out.

    >>> _reasons({"lda": "no number", "naive": "no column", "qda": "no number"})
    [('lda and qda', 'no number'), ('naive', 'no column')]
    """
    names: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        names.setdefault(reason, []).append(name)
    return [(sentence_of(some, len(some)), printable(reason)) for reason, some in names.items()]


def _measures(comparison: Comparison) -> list[Measure]:
    told = f"{cut(printable(comparison.positive), 16)} found at {100 * comparison.false_alarms:g} %"
    recall = Measure("recall_at", told, "its recall where this share of the other class is lost", percent)
    return [*MEASURES[comparison.costs is None :], recall]


def _has(result: Result, measure: Measure) -> bool:
    return measure.written(getattr(result, measure.name)) != DASH


def _row(comparison: Comparison, result: Result, scale: Scale, measures: list[Measure]) -> list[AnyCell]:
    ranking, best = comparison.ranking, comparison.recommended
    tied = {result.name for result in comparison.ties}
    is_best = result.name == best.name
    tags = [("recommended", "recommended")] if is_best else [("tie", "tie")] * (result.name in tied)
    chart: AnyCell = Cell("no posteriors")
    mean, first = ranking.mean(result), ranking.mean(best)
    if mean is not None and first is not None:
        low, at, high = (scale.place(end) for end in _interval(*mean))
        chart = Interval(low, at, high, mark=scale.place(first.value), best=is_best)
    return [
        Cell(result.title, [*tags, (result.approach, result.approach)], printable(result.about)),
        Number(DASH) if mean is None else Number(figure(mean.value), _margin(mean.error)),
        chart,
        Number(percent(result.accuracy), _margin(result.accuracy_se, 100, 1)),
        *_numbers(result, measures),
    ]


def _margin(error: float | None, times: float = 1.0, digits: int = 3) -> str:
    return "" if error is None else figure(times * error, digits)


def _interval(loss: float, error: float) -> tuple[float, float, float]:
    """A loss between the ends of its interval; an infinite loss has none.

    >>> _interval(0.5, 0.1), _interval(float("inf"), float("nan"))
    ((0.304, 0.5, 0.696), (inf, inf, inf))
    """
    margin = Z * error if math.isfinite(error) else 0.0
    return loss - margin, loss, loss + margin


def _scale(ranking: Ranking, results: Sequence[Result]) -> Scale:
    """The scale of all intervals; one that reaches down to zero does not stretch it."""
    ends: list[float] = []
    for mean in map(ranking.mean, results):
        if mean is not None:
            low, at, high = _interval(*mean)
            ends += [max(low, 0.5 * at) if at > 0 else low, high]
    return Scale.of(ends)
