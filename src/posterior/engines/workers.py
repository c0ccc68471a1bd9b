"""Work on pieces by several threads, with results in the order of the pieces."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, wait
from typing import TypeVar

from posterior._blas import one_blas_thread
from posterior._pool import n_threads, pool, threads

__all__ = ["in_order", "n_threads", "threads"]

T = TypeVar("T")
P = TypeVar("P")


def in_order(work: Callable[[P], T], pieces: Iterable[P], ahead: int = 2) -> Generator[T, None, None]:
    """Results in the order of the pieces, which are asked for one by one.

    Only a few wait at any time, `ahead` for each thread. A piece is worked on by one thread.
    """
    workers = n_threads()
    if workers == 1:
        yield from map(held(work), pieces)
        return
    waiting: deque[Future[T]] = deque()
    try:
        for piece in pieces:
            waiting.append(pool(workers).submit(held(work), piece))
            if len(waiting) > ahead * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        wait([each for each in waiting if not each.cancel()])


def held(work: Callable[[P], T]) -> Callable[[P], T]:
    """Work while which BLAS has one thread.

    Not around all pieces: whoever takes results may fail and keep the generator, in a traceback say, and BLAS
    would be held until that is gone.
    """

    def alone(piece: P) -> T:
        with one_blas_thread:
            return work(piece)

    return alone
