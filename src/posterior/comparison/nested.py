"""Rows to learn from in an order whose every beginning is stratified, and rows held out."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from posterior._types import Ints

SEEN_FIRST = 2  # rows of each class that come before all others: a variance needs two
LEAST = 10
MOST_REPEATS = 10_000  # whoever asks for more has made a mistake


def nested_split(codes: Ints, test_size: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Rows to learn from, in order, and rows to test on.

    Both are random and stratified: a beginning of any length holds every class in proportion, to within a
    row, but for the first rows, two of each class (or as many as there are). A class with few rows keeps two
    for training.

    >>> codes = np.repeat([0, 1], [90, 10])
    >>> order, test = nested_split(codes, 0.3, np.random.default_rng(0))
    >>> np.bincount(codes[test]), np.bincount(codes[order[:4]]), np.bincount(codes[order[:40]])
    (array([27,  3]), array([2, 2]), array([36,  4]))
    """
    places, rows, held_out = [], [], []
    for k in range(int(codes.max()) + 1):
        mine = rng.permutation(np.flatnonzero(codes == k))
        n_test = max(0, min(round(test_size * len(mine)), len(mine) - SEEN_FIRST))
        held_out.append(mine[:n_test])
        rows.append(mine[n_test:])
        n = len(rows[-1])
        place = (np.arange(n) + rng.random()) / n if n else np.zeros(0)
        place[:SEEN_FIRST] = -1.0
        places.append(place)
    order, test = np.concatenate(rows), np.concatenate(held_out)
    if not len(test):
        raise ValueError(
            f"no row is left to test on: of {len(codes)} rows in {len(rows)} classes {SEEN_FIRST} each are "
            f"learnt from, and test_size={test_size} comes to none; pass more rows, or a larger test_size"
        )
    first = rng.random(len(order))  # the order of rows in the same place
    return order[np.lexsort((first, np.concatenate(places)))], test


def checked_share(test_size: Any) -> float:
    """The share of rows to test on."""
    if isinstance(test_size, bool) or not isinstance(test_size, int | float) or not 0 < test_size < 1:
        raise ValueError(f"test_size must be a share of the rows between 0 and 1, found {test_size!r}")
    return float(test_size)


def checked_repeats(repeats: Any) -> int:
    """How often an experiment is repeated; standard errors need two repeats."""
    whole = isinstance(repeats, int | np.integer) and not isinstance(repeats, bool)
    if not whole or not 1 <= repeats <= MOST_REPEATS:
        raise ValueError(f"repeats must be a whole number from 1 to {MOST_REPEATS:,}, found {repeats!r}")
    return int(repeats)


def checked_sizes(sizes: Any, n_train: int, n_classes: int) -> tuple[int, ...]:
    """How many rows to learn from, in order; None doubles them, from a few to all.

    >>> checked_sizes(None, 240, 3)
    (10, 19, 36, 67, 127, 240)
    """
    least = min(n_train, SEEN_FIRST * n_classes)
    if sizes is None:
        low = min(n_train, max(LEAST, least))
        steps = round(float(np.log2(n_train / low)))
        return tuple(sorted({round(size) for size in np.geomspace(low, n_train, steps + 1).tolist()}))
    given = _whole(sizes)
    bad = [size for size in given if not least <= size <= n_train]
    if bad or not given:
        raise ValueError(
            f"sizes must lie between {least} ({SEEN_FIRST} rows of each of {n_classes} classes) and "
            f"{n_train} (the rows that are not held out), found {bad or 'none'}"
        )
    if any(a >= b for a, b in pairwise(given)):
        raise ValueError(f"sizes must grow, found {list(given)}")
    return given


def _whole(sizes: Any) -> tuple[int, ...]:
    given: Sequence[Any] = np.asarray(sizes).ravel().tolist()
    if any(isinstance(size, bool | str) or size != int(size) for size in given):
        raise ValueError(f"sizes must be whole numbers of rows, found {given}")
    return tuple(int(size) for size in given)
