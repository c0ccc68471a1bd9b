"""Fitted attributes, which an estimator gets all at once or not at all."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from posterior._types import AnyArray

A = TypeVar("A", bound=AnyArray)

# Attributes that not every fit sets: those of an earlier fit must not stay beside those of a later one.
SOMETIMES = frozenset({"classes_", "n_features_in_", "feature_names_in_", "fit_", "stream_", "priors_"})


class RefusedError(AttributeError, ValueError):
    """An attribute that a fitted model cannot have, with the reason; `hasattr` says False."""


def install(estimator: Any, **fitted: Any) -> None:
    """Give an estimator the attributes of a finished fit, in one step.

    Ctrl-C comes before the assignment of `__dict__` or after it, and leaves the earlier fit or the new one.

    >>> class Estimator:
    ...     classes_, C = "ab", 1.0
    >>> estimator = Estimator()
    >>> install(estimator, classes_="abc", n_features_in_=2)
    >>> install(estimator, classes_="xy")
    >>> vars(estimator)
    {'classes_': 'xy'}
    """
    kept = {name: value for name, value in vars(estimator).items() if name not in SOMETIMES}
    estimator.__dict__ = kept | fitted


def own_copy(array: A | None) -> A | None:
    """A copy to keep of what may be the user's own array, which may change after the fit.

    >>> own_copy(None) is None
    True
    """
    return None if array is None else array.copy()


def named_columns(n: int, names: Sequence[str] | None) -> dict[str, Any]:
    """What scikit-learn asks an estimator to know of the columns: how many, and names if they have any.

    >>> named_columns(2, None)
    {'n_features_in_': 2}
    """
    known: dict[str, Any] = {"n_features_in_": n}
    return known if names is None else known | {"feature_names_in_": np.asarray(names, dtype=object)}
