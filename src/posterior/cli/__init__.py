"""The command `posterior`: compare, fit, predict, inspect, explain, curve, data."""

import sys
from collections.abc import Sequence

from posterior.cli.stopping import USER_ERROR

NEEDED = ("typer", "rich", "pyarrow")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code: 0, 2 for a user's mistake, 130 after Ctrl-C."""
    try:
        from posterior.cli.app import run  # noqa: PLC0415 -- its packages are an extra
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in NEEDED:
            raise
        print(
            f"posterior: the command line needs {error.name}, which is not installed; "
            "run `pip install 'posterior[cli]'`",
            file=sys.stderr,
        )
        sys.exit(USER_ERROR)
    sys.exit(run(arguments))
