"""Modules that are imported when they are first needed: whole, whatever happens meanwhile.

Ctrl-C is raised in the main thread, and an import that it cuts short leaves packages half-made: numba never
works again in such a process. So a thread of its own imports. The main thread only waits; where that is
interrupted, the import goes on to its end, and whoever needs the module next waits for the rest.
"""

import os
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from types import FrameType
from typing import Any, TypeVar, cast

T = TypeVar("T")

# One import at a time: two that meet in a circle of modules would see each other's half-made ones.
_importing = threading.RLock()
_loaded: dict[str, Any] = {}


def load_module(name: str) -> Any:
    """The module of that name, imported whole or not at all.

    >>> load_module("posterior.math").softmax.__name__
    'softmax'
    """
    found = _loaded.get(name)
    if found is not None and sys.modules.get(name) is found:
        return found
    if _is_importing_ours():
        return import_module(name)
    _loaded[name] = found = to_its_end(lambda: import_module(name), f"import {name}")
    return found


def to_its_end(work: Callable[[], T], name: str) -> T:
    """What `work` returns, done by a thread of that name, out of the reach of Ctrl-C, one work at a time.

    >>> to_its_end(lambda: 2 + 2, "add")
    4
    """
    if isinstance(threading.current_thread(), _Work) or _is_importing_ours():
        return work()
    thread = _Work(work, name)
    thread.start()
    thread.join()
    if thread.error is not None:
        raise thread.error
    return cast("T", thread.found)


def _is_importing_ours() -> bool:
    """Whether this thread is importing a module of ours, for which another thread would have to wait."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "_find_and_load" and frame.f_locals["name"].startswith("posterior."):
            return True
        frame = frame.f_back
    return False


class _Work(threading.Thread):
    """Does one work; no daemon, since Python must not end in the middle of compiled code."""

    def __init__(self, work: Callable[[], Any], name: str) -> None:
        super().__init__(name=name, daemon=False)
        self.work = work
        self.found: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            with _importing:
                self.found = self.work()
        except BaseException as error:
            self.error = error


if hasattr(os, "register_at_fork"):  # a child of half an import would wait for the other half for ever
    os.register_at_fork(
        before=_importing.acquire, after_in_parent=_importing.release, after_in_child=_importing.release
    )
