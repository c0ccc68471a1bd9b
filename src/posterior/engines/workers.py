"""How many threads work, and work on pieces by them with results in the order of the pieces."""

import operator
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from posterior._blas import one_blas_thread

T = TypeVar("T")
P = TypeVar("P")

_threads: ContextVar[int | None] = ContextVar("posterior_threads", default=None)


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Use `n` threads inside the block. Results do not depend on it, to the bit.

    >>> with threads(2):
    ...     n_threads()
    2
    """
    n = operator.index(n)
    if n < 1:
        raise ValueError(f"the number of threads must be at least 1, found {n}")
    token = _threads.set(n)
    try:
        yield
    finally:
        _threads.reset(token)


def n_threads() -> int:
    """The number of threads in use: what `threads` set, else the cores this process may run on.

    >>> from posterior import threads
    >>> with threads(3):
    ...     n_threads()
    3
    """
    chosen = _threads.get()
    if chosen is not None:
        return chosen
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(work: Callable[[P], T], pieces: Iterable[P], ahead: int = 2) -> Generator[T, None, None]:
    """Results in the order of the pieces, which are asked for one by one.

    Only a few wait at any time, `ahead` for each thread. A piece is worked on by one thread.
    """
    workers = n_threads()
    with one_blas_thread:
        if workers == 1:
            yield from map(work, pieces)
            return

        def alone(piece: P) -> T:
            with threads(1):
                return work(piece)

        with ThreadPoolExecutor(workers) as pool:
            waiting: deque[Future[T]] = deque()
            try:
                for piece in pieces:
                    waiting.append(pool.submit(alone, piece))
                    if len(waiting) > ahead * workers:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for each in waiting:
                    each.cancel()
