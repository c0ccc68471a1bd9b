"""On what and with what a run was made."""

import datetime
import os
import platform
import resource
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import threadpoolctl

import posterior
from posterior.engines.local import n_threads

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "polars", "narwhals")


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if "model name" in line]
        if names:
            return names[0]
    return platform.processor() or platform.machine()


def _memory_gib() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (ValueError, OSError, AttributeError):
        return None


def _busy_seconds() -> float | None:
    """Seconds that all cores have worked since the machine started, for whomever."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return None
    user, nice, system, _idle, _wait, irq, soft_irq, *_ = map(int, stat.read_text().split()[1:9])
    return (user + nice + system + irq + soft_irq) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    """Seconds that this process and its children have worked."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


class Company:
    """How much others work on the machine: beside them, ratios mean little.

    Who waits for his own threads at every step, as a multi-threaded matrix product does, suffers most.
    """

    MOST = 0.1  # cores

    def __init__(self) -> None:
        self.clock, self.busy, self.own = time.perf_counter(), _busy_seconds(), _own_seconds()

    def cores(self) -> float | None:
        """Cores that others kept busy since this began, on average."""
        now = _busy_seconds()
        if self.busy is None or now is None:
            return None
        others = (now - self.busy) - (_own_seconds() - self.own)
        return max(others, 0.0) / max(time.perf_counter() - self.clock, 1e-9)


def describe(rivals: dict[str, str]) -> dict[str, Any]:
    """Machine, versions and date; nothing that names the machine."""
    blas = sorted({f"{i['internal_api']} {i.get('version')}" for i in threadpoolctl.threadpool_info()})
    versions = {name: metadata.version(name) for name in PACKAGES} | rivals
    return {
        "machine": {
            "processor": _processor(),
            "cores": n_threads(),
            "memory_gib": _memory_gib(),
            "system": platform.system(),
            "libraries": blas,
        },
        "versions": {"posterior": posterior.__version__, "python": platform.python_version(), **versions},
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }
