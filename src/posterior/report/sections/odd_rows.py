"""Odd rows: those that no class explains, and those that the best model gets wrong."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from posterior._types import Floats, Ints
from posterior.comparison import Result
from posterior.estimators import OutlierRule
from posterior.estimators.odd_features import OddFeatures
from posterior.estimators.precision import in_double
from posterior.estimators.table_estimator import fit_table, rows_for
from posterior.report.blocks import AnyCell, Cell, Head, Name, Number, PageBlock, PageTable, Text
from posterior.report.subject import Subject
from posterior.report.words import count, cut, figure, percent, printable
from posterior.schema.cells import Labels

FOLDS = 5
ROWS = 10
FEATURES = 3
# Nats that a feature outside its usual range must cost to be listed, and any other.
WORTH_A_WORD, CLEARLY = -0.5, -2.0
# Columns of a row that are quoted, and letters of them.
QUOTED, LETTERS = 4, 120
COLUMNS = 20  # that are looked at for these
LEAD = (
    "Slips of the pen and wrong labels end up here; so do rows of a new kind. Rows are counted from 0, as by "
    "the command that explains a row."
)
USUAL = (
    " What is usual are the middle 90 % of the class that a row is most like; a number among them can still "
    "be odd beside the rest of its row."
)
WORD = re.compile(r"\w\w+")
LONG = " for the length of their texts"


def odd_rows(subject: Subject) -> list[PageBlock]:
    """Two short lists of rows that are worth a look."""
    usual = USUAL if subject.rows.where("continuous", "count") else ""
    return [Text(LEAD + usual), *_unlikely(subject), *_hardest(subject)]


# -- rows that are unlikely under every class -----------------------------------------------------


class Odd(NamedTuple):
    """A row, its log density under a model that has not seen it, its likeliest class, and what is odd."""

    row: int
    log_density: float
    like: int
    why: str


def _unlikely(subject: Subject) -> list[PageBlock]:
    model = subject.best(lambda result: result.approach == "generative")
    if model is None:
        return []
    texts = [j for j in subject.rows.where("text") if subject.comparison.schema.names[j] in model.columns]
    words = _words(subject, texts) if texts else np.ones(len(subject.rows.codes))
    folds = [_fold(subject, model.estimator, held, words) for held in _held_out(subject)]
    typical = float(np.median(np.concatenate([scores for scores, _ in folds])))
    found = sorted((odd for _, some in folds for odd in some), key=lambda odd: odd.log_density)[:ROWS]
    rows: list[list[AnyCell]] = [
        [
            Cell(str(subject.rows.places[odd.row])),
            Name(subject.classes[subject.rows.codes[odd.row]]),
            Name(subject.classes[odd.like]),
            Number(figure(odd.log_density, 1)),
            Cell(_quoted(subject, odd, texts)),
        ]
        for odd in found
    ]
    measure = "log p(row) per word" if texts else "log p(row)"
    heads = (
        Head("row"),
        Head("class"),
        Head("most like"),
        Head(measure, "number"),
        Head("how it reads" if texts else "what is odd, and what it costs in nats", "prose"),
    )
    caption = (
        f"The least likely rows{LONG if texts else ''}, by {model.title} that had not seen them; {measure} "
        f"of the median row is {figure(typical, 1)}"
    )
    return [PageTable(caption, heads, rows)]


def _words(subject: Subject, texts: Sequence[int]) -> Floats:
    """How many words the texts of each row have, (n,); 1 where there is none."""
    words = np.zeros(len(subject.rows.codes))
    for j in texts:
        cells = subject.rows.source.column(j)
        if isinstance(cells, Labels):
            lengths = np.array([*(len(WORD.findall(str(level))) for level in cells.levels), 0])
            words += lengths[cells.codes]  # a gap is the last
    return np.maximum(words, 1.0)


def _held_out(subject: Subject) -> list[Ints]:
    """The rows in a few parts, each with rows of every class as far as there are any."""
    codes = subject.rows.codes
    order = np.argsort(np.random.default_rng(subject.comparison.seed).random(len(codes)))
    order = order[np.argsort(codes[order], kind="stable")]
    n_folds = min(FOLDS, len(order) // 2)
    return [np.sort(order[start::n_folds]) for start in range(n_folds)]


def _fold(subject: Subject, estimator: Any, held: Ints, words: Floats) -> tuple[Floats, list[Odd]]:
    """Log densities per word of rows that were held out, and the oddest of them with the reasons."""
    rows = subject.rows
    seen = rows.part(np.setdiff1d(np.arange(len(rows)), held))
    model = fit_table(clone(estimator), seen)
    # What is usual is so among the rows that were learnt from, of which the odd ones are none.
    rule = OutlierRule(FrozenEstimator(model)).fit(seen.native, seen.labels)
    with in_double():
        scores = np.asarray(model.score_samples(rows_for(model, rows.part(held)))) / words[held]
    oddest = np.argsort(scores, kind="stable")[:ROWS]
    told = rule.odd_features(rows.part(held[oddest]).native, n_features=FEATURES)
    like = np.searchsorted(subject.comparison.classes, told.classes)
    return scores, [
        Odd(int(held[i]), float(scores[i]), int(like[place]), _why(told, place))
        for place, i in enumerate(oddest.tolist())
    ]


def _why(told: OddFeatures, place: int) -> str:
    """The oddest features of a row in words, with what each costs; of texts nothing is usual."""
    typical, k, parts = told.typical, int(told.class_codes[place]), []
    for j in told.ranked(place).tolist():
        cost, cell = float(told.values[place, j]), float(told.cells[place, j])
        low, high = typical.low[j, k], typical.high[j, k]
        if typical.columns[j].kind == "text" or cost > (
            WORTH_A_WORD if cell < low or cell > high else CLEARLY
        ):
            continue
        found = typical.said(j, k, cell)
        if low <= cell <= high:
            found = found.replace("(usually ", "(within the usual ")
        parts.append(
            f"{cut(printable(told.names[j]), 40)} {printable(found)}".rstrip() + f" ({figure(cost, 1)})"
        )
    return "; ".join(parts)


def _quoted(subject: Subject, odd: Odd, texts: Sequence[int]) -> str:
    """What is odd about a row, after the beginning of its texts."""
    cells = [cut(cell, LETTERS) for j in texts if (cell := _cell(subject, odd.row, j))]
    return "; ".join([*(f"“{cell}”" for cell in cells), *filter(None, [odd.why])]) or "no column by itself"


# -- rows that the best model gets wrong ----------------------------------------------------------


def _hardest(subject: Subject) -> list[PageBlock]:
    """Rows that the best model gets wrong, those whose class it held least possible first."""
    comparison = subject.comparison
    models = [result for result in comparison.results if result.approach != "baseline"]
    if not models:
        return []
    best, missed = models[0], np.array([result.predicted != comparison.codes for result in models])
    rows = np.flatnonzero(missed[0])
    if not len(rows):
        return []
    belief = np.zeros(len(rows)) if best.log_proba is None else best.log_proba[rows, comparison.codes[rows]]
    wrong = missed.sum(axis=0)
    order = rows[np.lexsort((rows, -wrong[rows], belief))][:ROWS]
    heads = [Head("row"), Head("class"), Head("taken for")]
    if best.log_proba is not None:
        heads.append(Head("p(class)", "number", f"what {best.title} gave to the true class"))
    if len(models) > 1:
        heads.append(Head("wrong in", "number", "how many of the models get it wrong"))
    heads.append(Head("how it looks", "prose"))
    share = percent(len(rows) / len(wrong))
    told = f"{count(len(rows), 'row')} ({share}) for which {best.title} finds another class likelier"
    told += ", the surest errors first" if best.log_proba is not None else ""
    told += f"; wrong in every model: {count(int(missed.all(axis=0).sum()))}" if len(models) > 1 else ""
    shown = len(models) if len(models) > 1 else 0
    return [PageTable(told, heads, [_hard(subject, best, int(i), int(wrong[i]), shown) for i in order])]


def _hard(subject: Subject, best: Result, i: int, wrong: int, models: int) -> list[AnyCell]:
    """The line of the i-th row that was predicted."""
    comparison = subject.comparison
    code, position = comparison.codes[i], comparison.rows[i]
    line: list[AnyCell] = [
        Cell(str(position)),
        Name(subject.classes[code]),
        Name(subject.classes[best.predicted[i]]),
    ]
    if best.log_proba is not None:
        line.append(Number(f"{np.exp(best.log_proba[i, code]):.2g}"))
    if models:
        line.append(Number(f"{wrong} of {models}"))
    row = int(np.searchsorted(subject.rows.places, position))
    return [*line, Cell(_looks(subject, row))]


def _looks(subject: Subject, row: int) -> str:
    """The texts of a row, or a few cells of the columns that tell most."""
    columns = subject.comparison.schema.columns
    texts = [cell for j in subject.rows.where("text") if (cell := _cell(subject, row, j))]
    cells = {j: _cell(subject, row, j) for j in subject.ranked_columns[:COLUMNS]}
    told = [f"{cut(printable(columns[j].name), 30)} {cell}" for j, cell in cells.items() if cell]
    return cut(", ".join([*texts, *told[:QUOTED]]), LETTERS)


def _cell(subject: Subject, row: int, j: int) -> str:
    cells = subject.rows.source.column(j)
    if isinstance(cells, Labels):
        return printable(cells.levels[cells.codes[row]]) if cells.codes[row] >= 0 else ""
    value = cells.floats(slice(row, row + 1))[0]
    return "" if np.isnan(value) else f"{value:g}"
