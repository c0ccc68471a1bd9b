"""Arrays as compiled code takes them, and memory that a thread uses again and again.

Fresh memory costs more than most of what kernels do with it.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from posterior._types import AnyArray, Floats, Ints

# A buffer of more cells than this is not kept.
LARGEST = 1 << 20
CACHE_LINE = 64
NO_WEIGHTS = np.empty(0)
# For more classes, a product of matrices, or a line of all of them, is faster than blocks of a few classes.
MATRIX_CLASSES = 64


class _Shared:
    """The memory of an array, as NumPy asks for it; the array lives as long as anyone uses it."""

    def __init__(self, array: AnyArray) -> None:
        self._array = array
        interface: Any = dict(array.__array_interface__)
        self.__array_interface__ = interface | {"data": (interface["data"][0], False)}


def writable(array: AnyArray) -> AnyArray:
    """The array, or the same memory without its ban on writing; nobody may write to it all the same.

    Data frames and memory maps are often read-only, and the types of compiled code do not tell what it
    only reads from what it writes.

    >>> numbers = np.arange(3.0)
    >>> numbers.flags.writeable = False
    >>> writable(numbers).flags.writeable, np.shares_memory(writable(numbers), numbers)
    (True, True)
    """
    return array if array.flags.writeable else np.asarray(_Shared(array))


def codes_of(y: Ints) -> Ints:
    """Class codes side by side."""
    return writable(np.ascontiguousarray(y, dtype=np.int64))


def weights_of(weight: Floats | None) -> Floats:
    """Weights side by side; none at all where all are 1."""
    return NO_WEIGHTS if weight is None else writable(np.ascontiguousarray(weight, dtype=np.float64))


class _Buffers(threading.local):
    def __init__(self) -> None:
        self.by_use: dict[str, Floats] = {}


_buffers = _Buffers()


def scratch(use: str, *shape: int) -> Floats:
    """An array in C order with anything in it, this thread's own until it asks for the same use again.

    >>> scratch("example", 2, 3).shape
    (2, 3)
    """
    size = prod(shape)
    if size > LARGEST:
        return _on_a_line(size).reshape(shape)
    kept = _buffers.by_use.get(use)
    if kept is None or kept.size < size:
        kept = _buffers.by_use[use] = _on_a_line(size)
    return kept[:size].reshape(shape)


def team_memory(use: int, n: int, size: int) -> Floats:
    """Memory with anything in it, a line of at least `size` bytes for each of n threads that this one begins.

    It is this thread's until it asks for the same use again.

    >>> team_memory(0, 3, 80).shape
    (3, 16)
    """
    cells = -(-size // CACHE_LINE) * (CACHE_LINE // 8)
    if cells > LARGEST:
        return _on_a_line(n * cells).reshape(n, cells)
    name = f"team {use}"
    kept = _buffers.by_use.get(name)
    if kept is None or kept.size < n * cells:
        kept = _buffers.by_use[name] = _on_a_line(n * cells)
    return kept[: n * cells].reshape(n, cells)


def _on_a_line(size: int) -> Floats:
    """Memory that begins where a line of the cache does, which a wide register then never reaches across."""
    room = np.empty(size + CACHE_LINE // 8)
    skip = -room.__array_interface__["data"][0] % CACHE_LINE // 8
    return room[skip : skip + size]


@contextmanager
def in_double(out: AnyArray) -> Iterator[Floats]:
    """Let the block write `out` in double precision: itself, or a buffer that is rounded to it afterwards."""
    if out.dtype == np.float64:
        yield out
        return
    numbers = scratch("answers", *out.shape)
    yield numbers
    with np.errstate(over="ignore"):  # beyond the range of single precision a log posterior is −inf
        out[...] = numbers
