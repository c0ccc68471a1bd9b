"""Parts of the rows that several threads take one after the other, each the next that nobody has."""

from collections.abc import Callable

from posterior._types import Ints


def take_parts(taken: Ints, n: int, work: Callable[[], object]) -> None:
    """Let this thread work until all of n parts are taken, `taken` being a counter of them.

    Where it fails, as by Ctrl-C, the other threads take no more parts: whoever waits for them would wait for
    all the rows that are left.
    """
    try:
        while taken[0] < n:
            work()
    except BaseException:
        taken[0] = n
        raise
