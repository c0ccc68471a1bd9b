"""Coefficients of a linear model with intervals: what matters most, in which direction, and how surely."""

from dataclasses import replace
from typing import Any

import numpy as np

from posterior.comparison.sampling import rows_to_show
from posterior.estimators import LogisticRegression
from posterior.estimators.members import take
from posterior.linear.separation import Separation
from posterior.plot.coefficients import MOST_CLASSES, MOST_TERMS, CoefficientDisplay
from posterior.report.blocks import AnyCell, Details, Figure, Head, Name, Number, PageBlock, PageTable, Text
from posterior.report.figures import WIDTH, canvas, inline_svg
from posterior.report.subject import Subject
from posterior.report.words import count, cut, figure, printable

# Beyond these, standard errors take longer than a reader would wait.
MOST_ROWS, MOST_COEFFICIENTS = 20_000, 400
LINES = 100
LETTERS = 40


def coefficients(subject: Subject) -> list[PageBlock]:
    """Of a logistic regression by maximum likelihood, or by Firth's where the classes are separated."""
    result = subject.best(lambda result: result.name == "logistic")
    if result is None:
        return []
    names = {name: j for j, name in enumerate(subject.comparison.schema.names)}
    columns = [names[name] for name in result.columns]
    many = _expected(subject, columns)
    if many > MOST_COEFFICIENTS:
        return [Text(f"There would be {count(many)} coefficients, too many to look at.", aside=True)]
    model, how = _fitted(subject, columns)
    display = CoefficientDisplay.from_estimator(model)
    words = (
        "What a standard deviation more of a column adds to the log odds, other columns being equal"
        f"{_against(subject)}. {how}{_other_model(subject)} {_intervals(display)}"
    )
    if len(model.terms_) > MOST_TERMS:
        words += f" The {MOST_TERMS} largest of {count(len(model.terms_))} terms are drawn."
    others = len(subject.classes) - 1
    if others > MOST_CLASSES:
        words += f" Drawn are the first {MOST_CLASSES} of these {count(others)} classes."
    return [_picture(subject, display, words), Details("The numbers", [_numbers(subject, display)])]


def _other_model(subject: Subject) -> str:
    """That these are not the coefficients of the recommended model, where it is another."""
    if subject.chosen.name == "logistic":
        return ""
    return f" The recommended model is another, {subject.chosen.title}; this one has standard errors."


def _picture(subject: Subject, display: CoefficientDisplay, words: str) -> Figure:
    drawn = list(enumerate(subject.classes))[1 : MOST_CLASSES + 1]
    terms = min(MOST_TERMS, len(display.largest))
    with canvas(WIDTH, 0.8 + 0.2 * terms * (1 + 0.3 * (len(drawn) - 1))) as ax:
        display.plot(ax)
        ax.set_title("", loc="left")
        ax.set_xlabel(ax.get_xlabel(), loc="right")  # beside long names there is not room for all of it
        if ax.get_legend() is not None:
            ax.get_legend().remove()  # the page writes its own
        svg = inline_svg(ax.figure, "coefficients")
    label = "Standardised coefficients with intervals; the table that follows has the numbers"
    return Figure(svg, label, words, beside=True, legend=drawn if len(subject.classes) > 2 else ())


def _expected(subject: Subject, columns: list[int]) -> int:
    """How many coefficients there will be: of numbers, levels but one, and gaps, for every class but one."""
    schema, gaps = subject.comparison.schema, subject.gaps.by_column
    terms = sum(max(schema.columns[j].size - 1, 1) + bool(gaps[j]) for j in columns)
    return terms * (len(subject.classes) - 1)


def _fitted(subject: Subject, columns: list[int]) -> tuple[Any, str]:
    """A fit that has standard errors, and how it was made."""
    rows, pinned = subject.rows.part(rows_to_show(subject.rows.codes, MOST_ROWS)), subject.rows.pinned
    table, labels = take(rows.source, columns), rows.labels
    kinds = [(i, pinned[j]) for i, j in enumerate(columns) if j in pinned] or None
    model = LogisticRegression(C=np.inf, missing="indicator", kinds=kinds).fit(table, labels)
    how = "By maximum likelihood, without a penalty."
    if model.separation_ is not None:
        how = _separated(model.separation_)
        model = LogisticRegression("firth", missing="indicator", kinds=kinds).fit(table, labels)
    some = f" From {count(len(labels))} of the rows." if len(labels) < len(subject.rows) else ""
    return model, how + some


def _separated(found: Separation) -> str:
    """What separation was found, in its own words, and what it means; long names are cut."""
    columns = tuple(cut(printable(name), LETTERS) for name in found.columns)
    labels = tuple(cut(printable(k), LETTERS) if isinstance(k, str) else k for k in found.labels)
    told = str(replace(found, columns=columns, labels=labels))
    what = "a linear score tells all of them" if found.complete else "what these have there tells them"
    return (
        f"There is {told} ({found.n_rows:,} of {found.rows.sum():,} rows): {what} from another class without "
        "exception, and such coefficients have no finite estimate by maximum likelihood. Firth's penalty "
        "keeps them finite."
    )


def _intervals(display: CoefficientDisplay) -> str:
    if display.coefficients.low is not None:
        return "A filled mark is a coefficient whose 95 % interval leaves out zero."
    return display.coefficients.why.capitalize() + "."


def _against(subject: Subject) -> str:
    first, *others = subject.classes
    return f": of {others[0]} against {first}" if len(others) == 1 else f", of each class against {first}"


def _numbers(subject: Subject, display: CoefficientDisplay) -> PageTable:
    found = display.coefficients
    rows: list[list[AnyCell]] = []
    for j in display.largest[:LINES]:
        for r, name in enumerate(subject.classes[1:]):
            value = found.value[r, j]
            interval = "–"
            if found.low is not None and found.high is not None:
                interval = f"{figure(found.low[r, j], 2)} to {figure(found.high[r, j], 2)}"
            with np.errstate(over="ignore"):
                odds = np.exp(value)
            line: list[AnyCell] = [Name(printable(found.terms[j])), Name(name), Number(figure(value, 2))]
            rows.append([*line, Number(interval), Number(f"{odds:.3g}")])
    heads = (
        Head("term"),
        Head("class"),
        Head("log odds per standard deviation", "number"),
        Head("95 % interval", "number"),
        Head("odds ratio", "number"),
    )
    return PageTable("Standardised coefficients, the largest first", heads, rows)
