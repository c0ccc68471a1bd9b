"""Clocks and memory meters."""

import ctypes
import gc
import resource
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

MIB = 2**20
# After a product, threads of BLAS wait for the next one in a busy loop: for some hundredths of a second they
# take a core from whoever is next, but not from BLAS itself.
SETTLING = 0.1


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What `work` gives, and the seconds it took."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def settle() -> None:
    """Collect the garbage of others, and wait, with this core awake, until their threads have given up."""
    gc.collect()
    end = time.perf_counter() + SETTLING
    while time.perf_counter() < end:
        pass


def settled(work: Callable[[], Any]) -> float:
    """The seconds of `work` where nothing that others left behind is in the way."""
    settle()
    return timed(work)[1]


def traced(work: Callable[[], Any]) -> tuple[Any, int]:
    """What `work` gives, and the high-water mark of Python's and NumPy's allocations, in bytes."""
    gc.collect()
    tracemalloc.start()
    try:
        result = work()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def resident(field: str) -> int:
    """Resident memory of this process in bytes, now (VmRSS) or at its peak (VmHWM)."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    line = next(line for line in status.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def resident_growth(work: Callable[[], Any]) -> tuple[Any, int]:
    """What `work` gives, and by how many bytes resident memory rose at its highest.

    The kernel keeps the high-water mark; where it cannot be set back, an earlier peak hides a lower one.
    """
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts afresh
    except (OSError, AttributeError):
        pass
    before = resident("VmRSS")
    result = work()
    return result, resident("VmHWM") - before


def exponent(sizes: Sequence[float], seconds: Sequence[float], least: float = 0.0) -> float | None:
    """The power of n with which time grows: the slope of log time over log n, for sizes from `least` on.

    >>> exponent([10, 100, 1000], [0.2, 2.0, 20.0])
    1.0
    """
    pairs = [(n, t) for n, t in zip(sizes, seconds, strict=True) if n >= least and t > 0]
    if len({n for n, _ in pairs}) < 2:
        return None
    n, t = np.log(np.array(pairs)).T
    return round(float(np.polyfit(n, t, 1)[0]), 4)
