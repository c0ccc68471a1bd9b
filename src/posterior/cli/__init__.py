"""The command `posterior`: compare, fit, predict, inspect, explain, curve, data."""

import os
import signal
import sys
from collections.abc import Sequence

from posterior.cli.errors import INTERRUPTED, USER_ERROR, lacking

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code: 0, 2 for a user's mistake, 130 after Ctrl-C.

    >>> import subprocess
    >>> print(subprocess.check_output([sys.executable, "-m", "posterior", "--version"], text=True))
    posterior ...
    """
    _open_streams()
    for stop in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(stop, _leave)
    try:
        from posterior.cli.app import run  # noqa: PLC0415 -- its packages are an extra
    except ModuleNotFoundError as error:
        lack = lacking(error)
        if lack is error:
            raise
        print(f"posterior: {lack}", file=sys.stderr)
        sys.exit(USER_ERROR)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    try:
        code = run(arguments)
    except BaseException:
        # An interruption may come out of foreign code as something else.
        if not _stopped_by:
            raise
        code = INTERRUPTED
    sys.exit(128 + _stopped_by[0] if _stopped_by else code)


_stopped_by: list[int] = []


def _leave(number: int, _: object) -> None:
    """Stop as after Ctrl-C, so that nothing half-written stays."""
    _stopped_by.append(number)
    raise KeyboardInterrupt


def _open_streams() -> None:
    """Whoever closed standard output or error (`>&-`) does not want to hear of it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 -- open as long as the program runs
