"""Single precision in and out: which answers are given in it, and what is shown in it.

As in scikit-learn, whose answers have the type that NumPy gives to a product of coefficients and rows: a
model of a table in single precision answers in it for a table in single precision, and in double for any
other. Models are kept in double precision.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from posterior._types import AnyArray, FloatType
from posterior.schema import Encoded, Schema

LARGEST_SINGLE = float(np.finfo(np.float32).max)

_in_double: ContextVar[bool] = ContextVar("posterior_in_double", default=False)


@contextmanager
def in_double() -> Iterator[None]:
    """Let all models answer in double precision inside the block: for whoever computes with the answers.

    >>> from posterior import GaussianNB
    >>> X = np.array([[-2.0], [-1.0], [1.0], [3.0]], dtype=np.float32)
    >>> model = GaussianNB().fit(X, [0, 0, 1, 1])
    >>> model.predict_proba(X).dtype
    dtype('float32')
    >>> with in_double():
    ...     model.predict_proba(X).dtype
    dtype('float64')
    """
    token = _in_double.set(True)
    try:
        yield
    finally:
        _in_double.reset(token)


def answer_type(rows: Encoded) -> FloatType:
    """The type of the answers to rows that were read as a model was taught to read them."""
    return np.float32 if rows.single and not _in_double.get() else np.float64


def shown(numbers: Any, schema: Schema) -> AnyArray:
    """Parameters in the precision of the table, as scikit-learn shows them, if they are not too large."""
    if schema.single and (np.abs(numbers) <= LARGEST_SINGLE).all():
        numbers = numbers.astype(np.float32)
    return np.asarray(numbers)
