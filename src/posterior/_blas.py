"""BLAS held to one thread, where results must have the same bits whatever the machine."""

import os
import sys
import threading
from typing import Any

import threadpoolctl
from threadpoolctl import ThreadpoolController


class _OneBlasThread:
    """Holds BLAS to one thread while any fit is running; the setting is global, so entries are counted."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._libraries: list[Any] = []
        self._modules = 0
        self._before: list[int] = []

    def __enter__(self) -> None:
        with self._lock:
            if self._depth == 0:
                if self._modules != len(sys.modules):  # a module may have brought another library
                    self._libraries = ThreadpoolController().select(user_api="blas").lib_controllers
                    self._modules = len(sys.modules)
                # One by one: threadpoolctl's limiter has each library say all it knows of itself, which took
                # a quarter of the time of a prediction of a hundred rows.
                self._before = [library.num_threads for library in self._libraries]
                self._set([1] * len(self._libraries))
            self._depth += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._set(self._before)
                _take_control()

    def _set(self, limits: list[int]) -> None:
        _take_control()
        for library, n in zip(self._libraries, limits, strict=True):
            library.set_num_threads(n)


def _take_control() -> None:
    """Let this thread set the limits, which threadpoolctl leaves to the thread that did so first."""
    clear = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:  # since 3.7
        clear(force=True)


one_blas_thread = _OneBlasThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=one_blas_thread._reset)
