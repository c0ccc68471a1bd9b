"""Modules that are imported when they are first needed: whole, whatever happens meanwhile.

Ctrl-C is raised in the main thread, and an import that it cuts short leaves packages half-made: numba never
works again in such a process. So a thread of its own imports. The main thread only waits; where that is
interrupted, the import goes on to its end, and whoever needs the module next waits for the rest.
"""

import os
import sys
import threading
from importlib import import_module
from types import FrameType
from typing import Any

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
    work = _Import(name)
    work.start()
    work.join()
    if work.error is not None:
        raise work.error
    return _loaded[name]


def _is_importing_ours() -> bool:
    """Whether this thread is importing a module of ours, for which another thread would have to wait."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "_find_and_load" and frame.f_locals["name"].startswith("posterior."):
            return True
        frame = frame.f_back
    return False


class _Import(threading.Thread):
    """Imports one module; no daemon, since Python must not end in the middle of compiled code."""

    def __init__(self, module: str) -> None:
        super().__init__(name=f"import {module}", daemon=False)
        self.module = module
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            with _importing:
                _loaded[self.module] = import_module(self.module)
        except BaseException as error:
            self.error = error


if hasattr(os, "register_at_fork"):  # a child of half an import would wait for the other half for ever
    os.register_at_fork(
        before=_importing.acquire, after_in_parent=_importing.release, after_in_child=_importing.release
    )
