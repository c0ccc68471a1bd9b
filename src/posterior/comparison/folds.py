"""Which rows are predicted together from which others: stratified and repeated, by groups, or in time."""

import operator
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from posterior._types import Ints
from posterior.comparison.nested import checked_repeats
from posterior.schema import Folds

# Ten folds twice up to this many rows, ten folds once up to the second number, then five.
SMALL, LARGE = 1_000, 10_000
FEW_FOLDS, MANY_FOLDS, REPEATS = 5, 10, 2


def deal(
    codes: Ints,
    *,
    folds: Any = None,
    repeats: Any = None,
    groups: Ints | None = None,
    time: Ints | None = None,
    seed: int = 0,
    evenly: str = "stratified",
) -> tuple[Folds, ...]:
    """Deal out rows of known classes, once for every repeat.

    By default in shuffled order, class by class: ten folds twice for up to 1,000 rows, ten folds once
    for up to 10,000, and five for more. With groups no group is in two folds; in time each fold is predicted
    from the rows before it, and the first part is only learnt from. `evenly` is what it is called that every
    fold has its share of each class.

    >>> deal(np.array([0, 1] * 10), folds=5, repeats=2)[0].words
    '5 folds, stratified, dealt out 2 times'
    """
    n = len(codes)
    largest = int(np.bincount(codes).max())
    if largest < 2:
        raise ValueError(
            f"each of {n} rows has a class of its own, so that none can be predicted from others; a class "
            "column has a few values, each in many rows"
        )
    if groups is not None and time is not None:
        raise ValueError("groups and time were both given; rows are kept together or in order, not both")
    n_folds = (MANY_FOLDS if n <= LARGE else FEW_FOLDS) if folds is None else _checked_folds(folds, n)
    if time is not None:
        if repeats not in (None, 1):
            raise ValueError(
                f"rows in time have one order, so that nothing is repeated; found repeats={repeats!r}"
            )
        return (_in_time(time, n_folds),)
    n_repeats = (REPEATS if n <= SMALL else 1) if repeats is None else checked_repeats(repeats)
    seeds = [int(s) for s in np.random.SeedSequence(seed).generate_state(n_repeats)]
    if groups is not None:
        return _by_group(codes, groups, min(n_folds, largest), seeds)
    if n_folds >= n:
        return (Folds(np.arange(n), n, "each row by the model of all others"),)
    n_folds = min(n_folds, largest)
    words = f"{n_folds} folds, {evenly}{_times(n_repeats)}"
    splitters = [StratifiedKFold(n_folds, shuffle=True, random_state=s) for s in seeds]
    return tuple(Folds(_numbers(splitter, codes), n_folds, words) for splitter in splitters)


def _checked_folds(folds: Any, n_rows: int) -> int:
    whole = hasattr(folds, "__index__") and not isinstance(folds, bool)
    if not whole or not 2 <= operator.index(folds) <= n_rows:
        raise ValueError(
            f"folds must be a whole number from 2 to the number of rows, {n_rows:,}, found {folds!r}"
        )
    return operator.index(folds)


def _times(n_repeats: int) -> str:
    return "" if n_repeats == 1 else f", dealt out {n_repeats} times"


def _by_group(codes: Ints, groups: Ints, n_folds: int, seeds: list[int]) -> tuple[Folds, ...]:
    n_groups = int(groups.max()) + 1
    if n_groups < 2:
        raise ValueError("groups: every row is in one group; two or more are needed to hold one out")
    if n_groups <= n_folds:  # there is one way to deal them out
        n_folds, seeds = n_groups, seeds[:1]
    splitters = [StratifiedGroupKFold(n_folds, shuffle=True, random_state=s) for s in seeds]
    numbers = [_numbers(splitter, codes, groups) for splitter in splitters]
    n_folds = max(int(found.max()) for found in numbers) + 1
    words = f"{n_folds} folds of {n_groups:,} groups, none in two{_times(len(seeds))}"
    return tuple(Folds(found, n_folds, words) for found in numbers)


def _numbers(splitter: Any, codes: Ints, groups: Ints | None = None) -> Ints:
    out = np.empty(len(codes), dtype=np.int64)
    with warnings.catch_warnings():
        # Classes with fewer rows than folds are fine: they are absent from some folds.
        warnings.simplefilter("ignore", UserWarning)
        for fold, (_, held_out) in enumerate(splitter.split(np.zeros((len(codes), 1)), codes, groups)):
            out[held_out] = fold
    return np.unique(out, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _in_time(time: Ints, n_folds: int) -> Folds:
    """Parts of about the same number of rows in the order of time; rows of one time stay together."""
    n_times = int(time.max()) + 1
    if n_times < 2:
        raise ValueError("time: every row has the same time; two or more are needed to predict later rows")
    n_folds = min(n_folds, n_times - 1)
    counts = np.bincount(time)
    middle = np.cumsum(counts) - counts / 2
    part = (middle * (n_folds + 1) // len(time)).astype(np.int64)
    if part[0] == part[-1]:  # nearly all rows are of one time
        part[1:] += 1
    numbers = np.unique(part, return_inverse=True)[1].reshape(-1)[time]
    n_models = int(numbers.max())
    parts = "1 part" if n_models == 1 else f"{n_models} parts"
    words = f"{parts} in time, each predicted from the rows before it"
    return Folds(numbers, n_models + 1, words, forward=True)
