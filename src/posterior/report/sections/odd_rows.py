"""Odd rows: those that no class explains, and those that every model gets wrong."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from posterior._types import Floats, Ints
from posterior.estimators import OutlierRule
from posterior.estimators.odd_features import OddFeatures
from posterior.report.blocks import AnyCell, Block, Cell, Head, Name, Number, Table, Text
from posterior.report.subject import Subject
from posterior.report.words import count, cut, figure, percent, printable
from posterior.schema.cells import Labels

FOLDS = 5
ROWS = 10
FEATURES = 3
WORTH_A_WORD = -0.5  # nats
# Columns of a row that are quoted, and letters of them.
QUOTED, LETTERS = 4, 120
COLUMNS = 20  # that are looked at for these
LEAD = (
    "Slips of the pen and wrong labels end up here; so do rows of a new kind. Rows are counted from 0, as by "
    "the command that explains a row."
)


def odd_rows(subject: Subject) -> list[Block]:
    """Two short lists of rows that are worth a look."""
    return [Text(LEAD), *_unlikely(subject), *_hardest(subject)]


# -- rows that are unlikely under every class -----------------------------------------------------


class Odd(NamedTuple):
    """A row, its log density under a model that has not seen it, its likeliest class, and what is odd."""

    row: int
    log_density: float
    like: int
    why: str


def _unlikely(subject: Subject) -> list[Block]:
    model = subject.best(lambda result: result.approach == "generative")
    if model is None:
        return []
    folds = [_fold(subject, model.estimator, held) for held in _held_out(subject)]
    typical = float(np.median(np.concatenate([scores for scores, _ in folds])))
    found = sorted((odd for _, some in folds for odd in some), key=lambda odd: odd.log_density)[:ROWS]
    rows: list[list[AnyCell]] = [
        [
            Cell(str(subject.positions[odd.row])),
            Name(subject.classes[subject.rows.codes[odd.row]]),
            Name(subject.classes[odd.like]),
            Number(figure(odd.log_density, 1)),
            Cell(odd.why),
        ]
        for odd in found
    ]
    heads = (
        Head("row"),
        Head("class"),
        Head("most like"),
        Head("log p(row)", "number"),
        Head("what is odd, and what it costs in nats", "prose"),
    )
    caption = (
        f"The least likely rows, by {model.title} that had not seen them; log p(row) of the median row is "
        f"{figure(typical, 1)}"
    )
    return [Table(caption, heads, rows)]


def _held_out(subject: Subject) -> list[Ints]:
    """The rows in a few parts, each with rows of every class as far as there are any."""
    codes = subject.rows.codes
    order = np.argsort(np.random.default_rng(subject.comparison.seed).random(len(codes)))
    order = order[np.argsort(codes[order], kind="stable")]
    n_folds = min(FOLDS, len(order) // 2)
    return [np.sort(order[start::n_folds]) for start in range(n_folds)]


def _fold(subject: Subject, estimator: Any, held: Ints) -> tuple[Floats, list[Odd]]:
    """Log densities of rows that were held out, and the oddest of them with the reasons."""
    rest = np.setdiff1d(np.arange(len(subject.rows.labels)), held)
    X, y = subject.rows.take(held)
    model = clone(estimator).fit(*subject.rows.take(rest))
    known = np.isin(y, model.classes_)
    rule = OutlierRule(FrozenEstimator(model)).fit(*subject.rows.take(held[known]))
    scores = np.asarray(model.score_samples(X))
    oddest = np.argsort(scores, kind="stable")[:ROWS]
    told = rule.odd_features(subject.rows.take(held[oddest])[0], n_features=FEATURES)
    like = np.searchsorted(subject.comparison.classes, told.classes)
    return scores, [
        Odd(int(held[i]), float(scores[i]), int(like[place]), _why(subject, told, place, int(held[i])))
        for place, i in enumerate(oddest.tolist())
    ]


def _why(subject: Subject, told: OddFeatures, place: int, row: int) -> str:
    """The oddest features of a row in words, with what each costs."""
    names = list(subject.comparison.schema.names)
    ranked = told.ranked(place).tolist()
    parts = []
    for j in [j for j in ranked if told.values[place, j] <= WORTH_A_WORD] or ranked[:1]:
        name, cost = told.names[j], figure(float(told.values[place, j]), 1)
        found = told.typical.said(j, int(told.class_codes[place]), float(told.cells[place, j]))
        if not found and name in names:  # a text, of which nothing is usual
            found = f"“{cut(_cell(subject, row, names.index(name)), LETTERS)}”"
        parts.append(f"{cut(printable(name), 40)} {printable(found)}".rstrip() + f" ({cost})")
    return "; ".join(parts)


# -- rows that are hard for every model -----------------------------------------------------------


def _hardest(subject: Subject) -> list[Block]:
    """Rows that all models get wrong, the surest errors of the recommended one first."""
    comparison, chosen = subject.comparison, subject.chosen
    models = [result for result in comparison.results if result.approach != "baseline"]
    wrong = np.sum([result.predicted != comparison.codes for result in models], axis=0)
    everywhere = int((wrong == len(models)).sum()) if models else 0
    if not models or not wrong.any():
        return []
    rows = np.arange(len(wrong))
    belief = wrong if chosen.log_proba is None else chosen.log_proba[rows, comparison.codes]
    order = np.lexsort((rows, belief, -wrong))[:ROWS]
    lines = [_hard(subject, int(i), int(wrong[i]), len(models)) for i in order if wrong[i]]
    heads = [
        Head("row"),
        Head("class"),
        Head("taken for"),
        Head("wrong in", "number"),
        Head("how it looks", "prose"),
    ]
    if chosen.log_proba is not None:
        heads.insert(3, Head("p(class)", "number", f"what {chosen.title} gave to the true class"))
    told = "No row is wrong in every model; these are wrong in most"
    if everywhere:
        share = percent(everywhere / len(wrong))
        told = f"{count(everywhere, 'row')} ({share}) wrong in every model; the surest errors first"
    return [Table(told, heads, lines)]


def _hard(subject: Subject, i: int, wrong: int, models: int) -> list[AnyCell]:
    """The line of the i-th row that was predicted."""
    comparison, chosen = subject.comparison, subject.chosen
    code, position = comparison.codes[i], comparison.rows[i]
    line: list[AnyCell] = [
        Cell(str(position)),
        Name(subject.classes[code]),
        Name(subject.classes[chosen.predicted[i]]),
    ]
    if chosen.log_proba is not None:
        line.append(Number(f"{np.exp(chosen.log_proba[i, code]):.2g}"))
    row = int(np.searchsorted(subject.positions, position))
    return [*line, Number(f"{wrong} of {models}"), Cell(_looks(subject, row))]


def _looks(subject: Subject, row: int) -> str:
    """The texts of a row, or a few cells of the columns that tell most."""
    columns = subject.comparison.schema.columns
    texts = [cell for j in subject.rows.where("text") if (cell := _cell(subject, row, j))]
    cells = {j: _cell(subject, row, j) for j in subject.telling[:COLUMNS]}
    told = [f"{cut(printable(columns[j].name), 30)} {cell}" for j, cell in cells.items() if cell]
    return cut(", ".join([*texts, *told[:QUOTED]]), LETTERS)


def _cell(subject: Subject, row: int, j: int) -> str:
    cells = subject.table.column(j)
    if isinstance(cells, Labels):
        return printable(cells.levels[cells.codes[row]]) if cells.codes[row] >= 0 else ""
    value = cells.floats(slice(row, row + 1))[0]
    return "" if np.isnan(value) else f"{value:g}"
