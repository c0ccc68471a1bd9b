"""What a studio page holds: rows with their posteriors, the model, odd rows, names and notes."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from posterior._plain import written
from posterior._text import printable
from posterior._types import AnyArray, Floats
from posterior._version import __version__
from posterior.estimators import DecisionClassifier
from posterior.estimators.held_out import HeldOutRows
from posterior.estimators.state import RefusedError
from posterior.studio.families import numbers
from posterior.studio.held_rows import MOST_ROWS, PageRows, drawn_rows
from posterior.studio.outlying import outlier_data
from posterior.studio.terms import page_model

# Rows that can be picked and changed, and the cells of theirs that a page holds at most.
MOST_SHOWN = 1000
MOST_CELLS = 100_000


@dataclass(frozen=True, eq=False)
class Subject:
    """What a page is about: a fitted classifier, rows with their log posteriors, and what they are called.

    `table` are the rows as the classifier takes them, None where only averages of rows are shown. `origin`
    says where the posteriors come from, in a sentence. `settings` are where the page begins.

    >>> from posterior.datasets import load_voters
    >>> from posterior.studio import subject_of
    >>> voters = load_voters()
    >>> subject_of(voters.X, voters.y).rows.log_posterior.shape == (len(voters.y), 3)
    True
    """

    fitted: DecisionClassifier
    rows: HeldOutRows
    observed: Floats
    table: Any = None
    origin: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


def content(subject: Subject, seed: int = 0) -> dict[str, Any]:
    """The data of a page, ready for JSON."""
    fitted, classes = subject.fitted, subject.fitted.classes_
    rows = PageRows.of(subject.rows, seed)
    shown = _shown(subject, rows, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to say of these rows was said when they were read
        odd = {"why": "without rows nothing is known of how odd one is"}
        picked = None
        if subject.table is not None:
            odd = outlier_data(fitted, subject.table.part(rows.places).native)
            picked = subject.table.part(rows.places[shown]).native
        model, cells = page_model(fitted, picked)
    return {
        "version": __version__,
        "names": dict(subject.names),
        "classes": [printable(written(label)) for label in classes.tolist()],
        "written": [written(label) for label in classes.tolist()],
        "literals": [repr(label) for label in classes.tolist()],
        "old": _old_priors(fitted),
        "observed": numbers(subject.observed),
        "rows": rows.as_json(),
        "outliers": odd,
        "shown": {"rows": shown.tolist(), **cells},
        "model": model,
        "notes": _notes(subject, rows),
        "settings": dict(subject.settings),
        "labels": [printable(written(label)) for label in (fitted.reject_label, fitted.outlier_label)],
    }


def _shown(subject: Subject, rows: PageRows, seed: int) -> AnyArray:
    if subject.table is None:
        return np.zeros(0, dtype=np.int64)
    width = max(len(subject.table.schema.columns), 1)
    return drawn_rows(rows.codes, max(1, min(MOST_SHOWN, MOST_CELLS // width)), seed)


def _old_priors(fitted: DecisionClassifier) -> Any:
    """The class frequencies in the posteriors; None where nobody knows them."""
    try:
        return numbers(np.asarray(fitted._learnt.priors_after(fitted.calibration)))
    except (RefusedError, ValueError):
        return None


def _notes(subject: Subject, rows: PageRows) -> list[str]:
    n, all_rows = len(rows.codes), len(subject.rows.y)
    notes = [subject.origin] if subject.origin else []
    if subject.rows.averaged:
        notes.append(
            f"No row is in this page: {n:,} averages of rows of a class with like posteriors stand for them."
        )
    elif n < all_rows:
        notes.append(
            f"{n:,} of {all_rows:,} rows were drawn (at most {MOST_ROWS:,} are kept), class by class; each "
            "counts for those that it stands for."
        )
    notes.append(
        "Log posteriors are rounded to a thousandth of a nat: posteriors are within 0.00025 of the model's."
    )
    if not subject.rows.averaged:
        notes.append(
            "This page holds posteriors and classes of single rows, and cells of some: share it as you would "
            "share the table. posterior studio --no-rows keeps averages only."
        )
    return notes
