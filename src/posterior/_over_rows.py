"""Simple passes over one number a row, shared out among the threads of the pool.

NumPy lets go of the interpreter's lock in them. By one thread they would take longer than sixteen threads
take for the rest of a fit.
"""

from collections.abc import Callable

import numpy as np

from posterior._pool import each
from posterior._types import AnyArray, Ints

# Rows of a part. It depends on nothing, so that sums have the same bits whatever the number of threads.
# Between parts threads wait for each other in Python, for longer than a pass over 100,000 numbers takes.
PART = 1 << 19
# Places from which on it is worth asking whether they are the values themselves.
MANY = 1 << 13


def each_part(work: Callable[[slice], None], n: int) -> None:
    """Do some work on every part of n rows.

    >>> out = np.zeros(3)
    >>> each_part(lambda part: out.__setitem__(part, 1.0), 3)
    >>> out
    array([1., 1., 1.])
    """
    each(lambda i: work(slice(i * PART, min((i + 1) * PART, n))), -(-n // PART))


def least_and_most(numbers: AnyArray) -> tuple[float, float]:
    """The smallest and the largest of some numbers; NaN where one is.

    >>> least_and_most(np.array([3, 1, 2]))
    (1.0, 3.0)
    """
    found = np.empty((-(-len(numbers) // PART), 2))

    def look(part: slice) -> None:
        some = numbers[part]
        found[part.start // PART] = some.min(), some.max()

    each_part(look, len(numbers))
    return float(found[:, 0].min()), float(found[:, 1].max())


def taken(values: AnyArray, places: Ints) -> AnyArray:
    """The values at some places, which are there; the places themselves where these are the values.

    >>> taken(np.array(["no", "yes"]), np.array([1, 0, 1]))
    array(['yes', 'no', 'yes'], dtype='<U3')
    """
    if len(places) < MANY:
        return np.asarray(values[places])
    if values.dtype == places.dtype and np.array_equal(values, np.arange(len(values))):
        return places
    # "clip" looks at no place before it writes and needs no copy of `out`, and nothing is to be clipped.
    if len(places) <= PART:
        return np.take(values, places, mode="clip")
    found = np.empty(len(places), values.dtype)

    def take(part: slice) -> None:
        np.take(values, places[part], out=found[part], mode="clip")

    each_part(take, len(places))
    return found
