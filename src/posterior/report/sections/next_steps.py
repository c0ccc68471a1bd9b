"""What to do next: commands to type, and advice that follows from what was found."""

import shlex
from collections.abc import Callable, Iterator

import numpy as np

from posterior.report.actions import costs_as_typed
from posterior.report.blocks import Bullets, Commands, PageBlock
from posterior.report.subject import Subject
from posterior.report.words import figure, percent, printable, sentence_of

MODEL, COSTS = "model.posterior", "COSTS.csv"
# Rows of a class below which little can be said of it.
FEW_ROWS = 30
MANY_GAPS = 0.5


def next_steps(subject: Subject) -> list[PageBlock]:
    """What the findings suggest, and commands for this table and this model."""
    advice = [found for look in ADVICE for found in look(subject)]
    commands = [(printable(shlex.join(["posterior", *line])), words) for words, line in _commands(subject)]
    return [*([Bullets(advice)] if advice else []), Commands(commands)]


def _commands(subject: Subject) -> Iterator[tuple[str, list[str]]]:
    """What each command is for, and its words."""
    data = subject.source if subject.source not in ("", "-") else "DATA"
    declared = (column for column in subject.comparison.schema.columns if column.declared)
    kinds = [part for column in declared for part in ("--kind", f"{column.name}={column.kind}")]
    settings = ["--target", subject.target or "COL", "--model", subject.chosen.name, *kinds, *subject.options]
    if subject.calibration is not None and subject.calibration.is_off:
        settings += ["--calibration", "temperature"]
    fit, predict = ["fit", data, *settings, "-o", MODEL], ["predict", MODEL, "NEW_DATA", "-o", "out.csv"]
    yield "Learn from all rows, and keep the model in a file that is safe to open:", fit
    if subject.comparison.costs is not None and subject.chosen.log_proba is not None:
        costs = costs_as_typed(subject.comparison)
        predict += ["--costs", costs or COSTS]
        which = "" if costs else f" ({COSTS}: the costs that the models were compared by)"
        yield f"Posteriors for new rows, and the action of least expected cost{which}:", predict
    else:
        yield "Posteriors for new rows:", predict
    if subject.chosen.log_proba is not None:
        yield "The same, rows less than 90 % sure left to a person:", [*predict, "--reject", "threshold=0.9"]
    yield "What the model has learnt:", ["inspect", MODEL]
    yield "Why a row gets its answer:", ["explain", MODEL, data, "--row", "0"]


Advice = Iterator[tuple[str, str]]


def _no_better(subject: Subject) -> Advice:
    if subject.chosen.approach == "baseline":
        yield (
            "No model is better than the baseline",
            "the columns may say little about the classes, or there are too few rows to tell.",
        )


def _ties(subject: Subject) -> Advice:
    others = [r for r in subject.comparison.ties if r.name != subject.chosen.name]
    if others:
        yield (
            f"{sentence_of([r.title for r in others])} did as well",
            "within noise, so other reasons may decide: fewer parameters, speed, what you can explain.",
        )


def _calibration(subject: Subject) -> Advice:
    test = subject.calibration
    if test is None:
        return
    if test.is_off:
        yield (
            f"The posteriors {test.fault}",
            f"scaling them would take the log loss from {figure(test.log_loss)} to "
            f"{figure(test.log_loss - test.gain)}; the first command below does so.",
        )
    elif not subject.comparison.leaks:
        yield (
            "The posteriors can be taken at their word",
            "as far as held-out rows tell. Act on them: give costs, or leave unsure rows to a person.",
        )


def _small_classes(subject: Subject) -> Advice:
    small = np.flatnonzero(subject.class_counts < FEW_ROWS).tolist()
    if small:
        told = sentence_of([f"{subject.classes[k]} ({subject.class_counts[k]})" for k in small])
        yield (
            "Few rows",
            f"of {told}: what is said of so small a class is uncertain; collect more of its rows.",
        )


def _imbalance(subject: Subject) -> Advice:
    share = subject.class_counts.max() / subject.class_counts.sum()
    if share > 0.9:
        most = subject.classes[int(subject.class_counts.argmax())]
        yield (
            f"{percent(float(share))} of the rows are {most}",
            "accuracy says little here. Look at the log loss, and say by --costs what an error is worth.",
        )


def _gaps(subject: Subject) -> Advice:
    shares = subject.gaps.by_column / subject.comparison.n_rows
    names = [subject.comparison.schema.columns[j].name for j in np.flatnonzero(shares > MANY_GAPS).tolist()]
    if names:
        yield (
            f"Mostly empty: {sentence_of(names)}",
            "gaps are left out of the sums, not filled in; so empty a column may not be worth its cost.",
        )


def _notes(subject: Subject) -> Advice:
    """What the comparison noticed: columns like identifiers, separated classes, repeated columns."""
    for note in subject.comparison.notes:
        yield "Noticed", printable(note)


def _leaks(subject: Subject) -> Advice:
    names = [leak.column for leak in subject.comparison.leaks]
    if names:
        yield (
            f"Find out when {sentence_of(names)} {'is' if len(names) == 1 else 'are'} known",
            "before anything here is used. What is known only after the class cannot help to predict it, and "
            "posteriors that rest on it cannot be taken at their word.",
        )


ADVICE: tuple[Callable[[Subject], Advice], ...] = (
    _leaks,
    _no_better,
    _ties,
    _calibration,
    _small_classes,
    _imbalance,
    _gaps,
    _notes,
)
