"""What the library tells a user without stopping: the warning categories, and how a warning is issued."""

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TypeAlias

__all__ = [
    "CalibrationWarning",
    "CountedRows",
    "DataWarning",
    "OutsideSupportWarning",
    "PosteriorWarning",
    "RowCount",
    "SeparationWarning",
    "UnseenCategoryWarning",
    "gathered",
    "overheard",
    "sentences_of",
    "warn",
    "warn_once",
]

# Packages whose lines are not the user's: this one, and those through which it may be called.
NOT_THE_USER = {"posterior", "sklearn", "joblib"}


class PosteriorWarning(UserWarning):
    """The parent of every warning that this library issues.

    >>> import warnings
    >>> issubclass(SeparationWarning, PosteriorWarning)
    True
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", PosteriorWarning)  # every warning of ours is an error here
    """


class CalibrationWarning(PosteriorWarning):
    """Posteriors that rows held out say are not calibrated: too sure, or not sure enough.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", CalibrationWarning)      # silence this category, and no other
    """


class DataWarning(PosteriorWarning):
    """Something in the training table that a person would want to know, with what was done about it.

    One warning may say several things; `sentences` are these, one by one.

    >>> DataWarning("'id' is left out", "'zip' holds codes").sentences
    ("'id' is left out", "'zip' holds codes")
    """

    def __init__(self, *sentences: str) -> None:
        super().__init__("; ".join(sentences))
        self.sentences = sentences


class OutsideSupportWarning(PosteriorWarning):
    """Values met in prediction that no class can have, such as a negative waiting time, with their counts.

    >>> import warnings
    >>> from posterior import NaiveBayes
    >>> from posterior.families import Exponential
    >>> model = NaiveBayes(families={0: Exponential()}).fit([[1.0], [2.5], [6.0], [8.5]], [0, 0, 1, 1])
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     _ = model.predict([[-1.0]])
    >>> told[0].category.__name__
    'OutsideSupportWarning'
    """


class SeparationWarning(PosteriorWarning):
    """Classes that a linear score tells apart without error: no finite maximum-likelihood estimate exists.

    >>> import warnings
    >>> from posterior import LogisticRegression
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     _ = LogisticRegression(C=float("inf")).fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> told[0].category.__name__
    'SeparationWarning'
    """


class UnseenCategoryWarning(PosteriorWarning):
    """Categories met in prediction that training had not seen, with their counts and treatment.

    >>> import warnings
    >>> from posterior import CategoricalNB
    >>> model = CategoricalNB().fit([["CA"], ["NY"], ["CA"]], [0, 1, 0])
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     _ = model.predict([["ZZ"]])
    >>> told[0].category.__name__
    'UnseenCategoryWarning'
    """


# Examples of cells that a sentence names.
SHOWN = 3


@dataclass(frozen=True)
class RowCount:
    """A sentence with a number of rows in it, and a few examples of their cells.

    >>> print(RowCount("column 'state': ", 3, " rows with a new category", ("'ZZ'", "'YY'")))
    column 'state': 3 rows with a new category ('ZZ', 'YY')
    """

    before: str
    rows: int
    after: str
    examples: tuple[str, ...] = ()
    end: str = ""

    @property
    def kind(self) -> tuple[str, str, str]:
        """What it says but for the number."""
        return self.before, self.after, self.end

    def __add__(self, other: "RowCount") -> "RowCount":
        examples = tuple(dict.fromkeys((*self.examples, *other.examples)))[: SHOWN + 1]
        return replace(self, rows=self.rows + other.rows, examples=examples)

    def __str__(self) -> str:
        shown = ", ".join(self.examples[:SHOWN]) + (", …" if len(self.examples) > SHOWN else "")
        return f"{self.before}{self.rows}{self.after}" + (f" ({shown})" if shown else "") + self.end


@dataclass(frozen=True)
class CountedRows:
    """What is said of some rows of a table by column; parts of the table add up.

    >>> part = CountedRows((RowCount("column 'x': ", 2, " rows below zero"),), end=": left out")
    >>> print(part + part)
    column 'x': 4 rows below zero: left out
    """

    counts: tuple[RowCount, ...]
    start: str = ""
    joint: str = "; "
    end: str = ""

    @property
    def kind(self) -> tuple[str, str, str]:
        """What it says but for the columns."""
        return self.start, self.joint, self.end

    def __add__(self, other: "CountedRows") -> "CountedRows":
        both: dict[tuple[str, str, str], RowCount] = {}
        for count in (*self.counts, *other.counts):
            both[count.kind] = both[count.kind] + count if count.kind in both else count
        return replace(self, counts=tuple(both.values()))

    def __str__(self) -> str:
        return self.start + self.joint.join(map(str, self.counts)) + self.end


def sentences_of(message: object) -> tuple[str, ...]:
    """The things that a warning says, one by one.

    >>> sentences_of(UserWarning("one thing; in two parts"))
    ('one thing; in two parts',)
    """
    return message.sentences if isinstance(message, DataWarning) else (str(message),)


Message: TypeAlias = str | Warning | CountedRows
Notice: TypeAlias = tuple[Message, type[Warning]]

_gathered: ContextVar[list[Notice] | None] = ContextVar("posterior_gathered", default=None)


@contextmanager
def gathered() -> Iterator[list[Notice]]:
    """Give a list of what this thread warns of meanwhile, which is not issued.

    `warnings.catch_warnings` changes the filters of all threads; this is for work by several.

    >>> with gathered() as notices:
    ...     warn("the table is empty", DataWarning)
    >>> notices[0][0]
    'the table is empty'
    """
    notices: list[Notice] = []
    token = _gathered.set(notices)
    try:
        yield notices
    finally:
        _gathered.reset(token)


def warn_once(notices: Iterable[Notice]) -> None:
    """Issue what was gathered over parts of a table: numbers of rows are added up, and all else said once.

    >>> with gathered() as told:
    ...     warn_once([("column 'age' is constant", DataWarning)] * 2)
    >>> len(told)
    1
    """
    whole: dict[tuple[object, ...], Notice] = {}
    for message, category in notices:
        counted = isinstance(message, CountedRows)
        key = (category, message.kind) if isinstance(message, CountedRows) else (category, str(message))
        if key not in whole:
            whole[key] = message, category
        elif counted:
            whole[key] = whole[key][0] + message, category  # type: ignore[operator]  # of one kind
    for message, category in whole.values():
        warn(message, category)


def warn(message: Message, category: type[Warning]) -> None:
    """Issue a warning that points at the user's line: the first frame outside this package.

    Frames of scikit-learn and joblib are passed over too, so that what a pipeline calls points at the line
    that called the pipeline. (Python 3.12 has `skip_file_prefixes` for this; we support 3.11.)

    >>> with gathered() as told:
    ...     warn("column 'age' is constant", DataWarning)
    >>> told
    [("column 'age' is constant", <class 'posterior.notices.DataWarning'>)]
    """
    notices = _gathered.get()
    if notices is not None:
        notices.append((message, category))
        return
    if isinstance(message, CountedRows):
        message = str(message)
    frame = sys._getframe(1)
    while frame.f_back is not None and _package_of(frame.f_globals) in NOT_THE_USER:
        frame = frame.f_back
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=frame.f_globals.get("__name__", "<unknown>"),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


@contextmanager
def overheard() -> Iterator[list[str]]:
    """Give a list of what is warned of meanwhile, for those who keep notes; the warnings are issued after.

    >>> import warnings
    >>> with gathered(), overheard() as sentences:
    ...     warnings.warn("column 'age' is constant", DataWarning)
    >>> sentences
    ["column 'age' is constant"]
    """
    sentences: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield sentences
    for warning in caught:
        sentences += sentences_of(warning.message)
        warn(warning.message, warning.category)


def _package_of(namespace: dict[str, object]) -> str:
    return str(namespace.get("__name__", "")).partition(".")[0]
