"""BLAS held to one thread, where results must have the same bits whatever the machine."""

import os
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
        self._controller: ThreadpoolController | None = None
        self._limiter: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._depth == 0:
                self._controller = self._controller or ThreadpoolController()
                _take_control()
                self._limiter = self._controller.limit(limits=1, user_api="blas")
            self._depth += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                _take_control()
                self._limiter.restore_original_limits()
                _take_control()


def _take_control() -> None:
    """Let this thread set the limits, which threadpoolctl leaves to the thread that did so first."""
    clear = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:  # since 3.7
        clear(force=True)


one_blas_thread = _OneBlasThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=one_blas_thread._reset)
