"""What the library tells a user without stopping: the warning categories, and how a warning is issued."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = [
    "CalibrationWarning",
    "DataWarning",
    "OutsideSupportWarning",
    "PosteriorWarning",
    "SeparationWarning",
    "UnseenCategoryWarning",
    "overheard",
    "sentences_of",
    "warn",
]

# Packages whose lines are not the user's: this one, and those through which it may be called.
NOT_THE_USER = {"posterior", "sklearn", "joblib"}


class PosteriorWarning(UserWarning):
    """The parent of every warning that this library issues."""


class CalibrationWarning(PosteriorWarning):
    """Posteriors that rows held out say are not calibrated: too sure, or not sure enough."""


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
    """Values met in prediction that no class can have, such as a negative waiting time, with their counts."""


class SeparationWarning(PosteriorWarning):
    """Classes that a linear score tells apart without error: no finite maximum-likelihood estimate exists."""


class UnseenCategoryWarning(PosteriorWarning):
    """Categories met in prediction that training had not seen, with their counts and treatment."""


def sentences_of(message: object) -> tuple[str, ...]:
    """The things that a warning says, one by one.

    >>> sentences_of(UserWarning("one thing; in two parts"))
    ('one thing; in two parts',)
    """
    return message.sentences if isinstance(message, DataWarning) else (str(message),)


def warn(message: str | Warning, category: type[Warning]) -> None:
    """Issue a warning that points at the user's line: the first frame outside this package.

    Frames of scikit-learn and joblib are passed over too, so that what a pipeline calls points at the line
    that called the pipeline. (Python 3.12 has `skip_file_prefixes` for this; we support 3.11.)
    """
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
    """Give a list of what is warned of meanwhile, for those who keep notes; the warnings are issued after."""
    sentences: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield sentences
    for warning in caught:
        sentences += sentences_of(warning.message)
        warn(warning.message, warning.category)


def _package_of(namespace: dict[str, object]) -> str:
    return str(namespace.get("__name__", "")).partition(".")[0]
