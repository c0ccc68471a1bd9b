"""Run a server for as long as another process lives, then end it and remove its folder.

    python guarded.py FOLDER USER COMMAND …        (USER "" for oneself)

Standard input is the other process: it closes when that ends in any way, kill -9 included.
"""

import shutil
import signal
import subprocess
import sys

PATIENCE = 10  # seconds for the server to end by itself


def main(folder: str, user: str, *command: str) -> int:
    """Wait for the end of the input, or of the server; the server's exit status."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who waits decides
    try:
        server = subprocess.Popen(command, cwd=folder, user=user or None, stdin=subprocess.DEVNULL)  # noqa: S603 -- our own
        try:
            sys.stdin.buffer.read()
            server.send_signal(signal.SIGINT)  # PostgreSQL's fast shutdown
            server.wait(PATIENCE)
        finally:
            server.kill()
            server.wait()
        return server.returncode
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
