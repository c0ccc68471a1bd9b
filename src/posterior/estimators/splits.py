"""Which rows are held out together: what scikit-learn users pass as `cv`, read into fold numbers."""

import operator
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from posterior._types import AnyArray, Floats, Ints
from posterior.schema import Folds

EXPECTED = "a number of folds, a splitter such as StratifiedKFold(5), or an array with a fold for each row"


def read_folds(cv: Any, y: Ints, weight: Floats | None = None) -> Folds:
    """The fold of each row, by what a user passes as `cv`.

    A number of folds deals out the rows of each class in shuffled order, always the same. Rows of weight
    zero, which no model learns from, do not change how the others are dealt out.
    """
    if isinstance(cv, Folds):
        return cv
    if hasattr(cv, "split") and not isinstance(cv, str):
        return _from_splitter(cv, y)
    if names_rows(cv):
        pairs = isinstance(cv, list | tuple) and all(isinstance(p, list | tuple) and len(p) == 2 for p in cv)
        return _from_parts(cv, len(y), "[(train, test), …]") if pairs else _from_labels(cv, len(y))
    if isinstance(cv, bool) or not hasattr(cv, "__index__") or operator.index(cv) < 2:
        raise ValueError(f"cv must be {EXPECTED}, found {cv!r}; a number of folds must be at least 2")
    counts = np.ones(len(y), dtype=np.bool_) if weight is None else weight > 0
    dealt, numbers = _stratified(operator.index(cv), y[counts]), np.empty(len(y), dtype=np.int64)
    numbers[counts] = dealt.numbers
    numbers[~counts] = np.arange((~counts).sum()) % dealt.n_folds
    return Folds(numbers, dealt.n_folds)


def names_rows(cv: Any) -> bool:
    """Whether `cv` says of each row in which fold it is, by fold numbers or lists of rows."""
    return isinstance(cv, np.ndarray | list | tuple | Folds) or (hasattr(cv, "__array__") and np.ndim(cv) > 0)


def leaves_one_out(cv: Any) -> bool:
    """Whether `cv` asks for each row to be left out in turn."""
    return isinstance(cv, str) and cv == "loo"


def _stratified(n_folds: int, y: Ints) -> Folds:
    """Fold numbers by class; no more folds than the largest class has rows, if it has two.

    As many folds as rows, or more, are one row each.
    """
    if len(y) < 2:
        raise ValueError("cross-validation needs two rows or more that count, found 1")
    if n_folds >= len(y):
        return Folds(np.arange(len(y)), len(y))
    largest = int(np.bincount(y).max())
    if largest == 1:
        return _from_splitter(KFold(min(n_folds, len(y)), shuffle=True, random_state=0), y)
    splitter = StratifiedKFold(min(n_folds, largest), shuffle=True, random_state=0)
    with warnings.catch_warnings():
        # Classes with fewer rows than folds are fine: they are absent from some folds.
        warnings.simplefilter("ignore", UserWarning)
        return _from_splitter(splitter, y)


def _from_splitter(splitter: Any, y: Ints) -> Folds:
    """The folds of a splitter."""
    try:
        parts = list(splitter.split(np.zeros((len(y), 1)), y))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"cv={splitter!r} does not split these rows: {error}; pass an array with a fold for each row "
            "(for groups, the group of each row)"
        ) from error
    return _from_parts(parts, len(y), repr(splitter))


def _from_parts(parts: Sequence[Any], n: int, who: str) -> Folds:
    """The held-out part that each row is in; every row must be in one, and in one only."""
    folds, times = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for fold, (train, test) in enumerate(parts):
        folds[test] = fold
        times[test] += 1
        learnt = np.zeros(n, dtype=np.bool_)
        learnt[train] = True
        learnt[test] = True
        if not learnt.all():
            raise ValueError(
                f"cv={who} leaves rows out of training that it does not hold out; every fold must be "
                "trained on all other folds: use KFold, StratifiedKFold or an array with a fold for each row"
            )
    if (times != 1).any():
        raise ValueError(
            f"cv={who} holds out {(times == 0).sum()} of {n} rows never and {(times > 1).sum()} more than "
            "once; each row must be held out exactly once: use KFold, StratifiedKFold or an array with a "
            "fold for each row"
        )
    return Folds(folds, len(parts))


def _from_labels(cv: Any, n_rows: int) -> Folds:
    """Fold numbers, or other labels of folds, one for each row."""
    try:
        labels: AnyArray = np.asarray(cv)
    except ValueError:
        labels = np.zeros(0)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"cv must be {EXPECTED}; found an array of shape {labels.shape} for {n_rows} rows: "
            "pass one fold number for each row"
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("cv holds NaN or infinite fold numbers; every row must be in a fold")
    found, folds = np.unique(labels, return_inverse=True)
    if len(found) < 2:
        raise ValueError(f"cv puts every row in one fold, {found.tolist()}; two folds or more are needed")
    return Folds(folds.reshape(-1).astype(np.int64), len(found))
