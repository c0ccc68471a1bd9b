"""The threads of this process: how many work, and a pool of them that is kept from one fit to the next."""

import operator
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, cached_property

from posterior._blas import one_blas_thread

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
    """The number of threads in use: what `threads` set, else the cores that this process may use.

    These are the cores that it may run on, or fewer where a container has a quota or OMP_NUM_THREADS is set,
    as joblib, Dask and Spark do in their workers. A thread of the pool works alone: one that waited for
    others of the pool could wait for itself.

    >>> with threads(3):
    ...     n_threads()
    3
    """
    if _inside.pool:
        return 1
    chosen = _threads.get()
    if chosen is not None:
        return chosen
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _quota(), _openmp_limit(cores))


@cache
def _quota() -> int:
    """The cores of this process by the quota of its container, rounded up; read once."""
    from joblib import cpu_count  # noqa: PLC0415  (not before a fit: starting should take no longer)

    return int(cpu_count())


def _openmp_limit(cores: int) -> int:
    """What OMP_NUM_THREADS allows ("4,2": 4, the outermost); all cores where it is not set, or no number."""
    first = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return max(1, int(first)) if first.isdecimal() else cores


class _Inside(threading.local):
    """Whether the current thread is one of the pool."""

    pool = False


_inside = _Inside()
_pools: dict[int, ThreadPoolExecutor] = {}
_making = threading.Lock()


def pool(n: int) -> ThreadPoolExecutor:
    """The pool of n threads, started when it is first asked for; to start sixteen takes a millisecond."""
    with _making:
        if n not in _pools:
            made: list[ThreadPoolExecutor] = []
            # By a thread of its own, which no Ctrl-C reaches: one that came while a thread of the pool began
            # would leave it unknown to the pool, and the process waiting for it at its end.
            maker = threading.Thread(target=lambda: made.append(_started(n)), name="posterior-pool")
            maker.start()
            maker.join()
            _pools[n] = made[0]
        return _pools[n]


def _started(n: int) -> ThreadPoolExecutor:
    """A pool all of whose threads run already, or as many as the system allows."""

    def enter() -> None:
        _inside.pool = True

    found = ThreadPoolExecutor(n, thread_name_prefix="posterior", initializer=enter)
    all_there = threading.Barrier(n)  # each thread waits for the others, so that none takes two
    try:
        for _ in range(n):
            found.submit(all_there.wait)
    except RuntimeError:  # no more threads can be started
        all_there.abort()
    return found


def _forget() -> None:
    """In a process that was forked there are no threads yet."""
    global _making  # noqa: PLW0603  (somebody may have held it at the fork)
    _making = threading.Lock()
    _inside.pool = False
    _pools.clear()
    _renew_locks()


def _renew_locks() -> None:
    """Free cached properties of locks that threads held at the fork.

    Before 3.12 Python has one for all objects of a class, held while the property is worked out.
    """
    ours = (module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "posterior")
    classes = {found for module in ours for found in vars(module).values() if isinstance(found, type)}
    for found in classes:
        for attribute in vars(found).values():
            if isinstance(attribute, cached_property) and hasattr(attribute, "lock"):
                attribute.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


class _Pieces:
    """Pieces of work that several threads take one by one, and the errors that came of them."""

    def __init__(self, work: Callable[[int], None], n: int) -> None:
        self.work, self.left = work, iter(range(n))
        self.errors: dict[int, BaseException] = {}

    def run(self) -> None:
        """Take pieces while there are any, and no error."""
        for i in self.left:
            if self.errors:
                return
            try:
                self.work(i)
            except BaseException as error:
                self.errors[i] = error


def each(work: Callable[[int], None], n: int) -> None:
    """Do all of n pieces of work, about in order; of several errors that of the first piece is raised.

    The calling thread does its share, and all of it where the pool is busy.

    >>> squares = [0] * 4
    >>> each(lambda i: squares.__setitem__(i, i * i), 4)
    >>> squares
    [0, 1, 4, 9]
    """
    if not n:
        return
    most = n_threads()
    workers = min(most, n)
    with one_blas_thread:
        if workers <= 1:
            for i in range(n):
                work(i)
            return
        pieces = _Pieces(work, n)
        # Of the pool for any amount of work: one for each amount would leave thousands of threads behind.
        others = [pool(most).submit(pieces.run) for _ in range(workers - 1)]
        try:
            with threads(1):
                pieces.run()
        except BaseException as interrupt:
            pieces.errors[-1] = interrupt  # such as Ctrl-C between two pieces
        for other in others:
            if not other.cancel():
                other.result()
    if pieces.errors:
        first = pieces.errors[min(pieces.errors)]
        pieces.errors.clear()
        try:
            raise first
        finally:
            del first  # an error that this frame held would hold itself, and with it the rows of the work
