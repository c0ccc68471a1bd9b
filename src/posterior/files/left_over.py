"""Half-written files of killed processes: known by their names, and removed once nobody writes them.

A process holds a lock on what it writes, which the system lifts when the process ends, however it ends.
"""

import os
import re
import secrets
import time
from contextlib import suppress
from pathlib import Path

try:
    from fcntl import LOCK_EX, LOCK_NB, flock

    HAS_LOCKS = True
except ImportError:  # a system without such locks, where nothing is removed
    HAS_LOCKS = False

PART = ".part"
DIGITS = 16
EARLIER = "[a-z0-9_]{8}"  # what stands in names of earlier versions
LONGEST = 50  # letters of a name that are repeated in another, of up to four bytes each
# A file that is younger may be one that its process has made and not locked yet.
YOUNG = 60.0


def part_name(place: Path) -> str:
    """Return a new name under which a file is written; two are never the same."""
    return f"{_prefix(place)}{secrets.token_hex(DIGITS // 2)}{PART}"


def lock(descriptor: int) -> bool:
    """Lock a file until it is closed; return whether nobody else has."""
    if not HAS_LOCKS:
        return False
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
    except OSError:  # locked, or on a file system that knows no locks
        return False
    return True


def remove_left_over(place: Path) -> None:
    """Remove what processes that are no more have left of a file of this name."""
    ours = re.compile(re.escape(_prefix(place)) + f"(?:[0-9a-f]{{{DIGITS}}}|{EARLIER})" + re.escape(PART))
    with suppress(OSError), os.scandir(place.parent) as entries:
        for entry in entries:
            if ours.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_unless_written(entry.path)


def _prefix(place: Path) -> str:
    # A name may be as long as the system allows, and the name of a part is longer.
    return f".{place.name[:LONGEST]}.posterior-"


def _remove_unless_written(path: str) -> None:
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDWR)
        try:
            old = time.time() - os.fstat(descriptor).st_mtime > YOUNG
            if old and lock(descriptor):
                Path(path).unlink()
        finally:
            os.close(descriptor)
