"""What a command opened and closes when it ends, however it ends."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any

_at_end: ContextVar[ExitStack | None] = ContextVar("posterior_at_end", default=None)


@contextmanager
def one_command() -> Iterator[None]:
    """What runs in here is one command."""
    with ExitStack() as stack:
        token = _at_end.set(stack)
        try:
            yield
        finally:
            _at_end.reset(token)


def when_it_ends(close: Callable[[], Any]) -> None:
    """Close something when the command ends; at once, last opened first, also after an error."""
    stack = _at_end.get()
    if stack is not None:
        stack.callback(close)
