"""Fresh processes, and what is done to them; what they do is in first_fit.py."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

PROGRAM = Path(__file__).with_name("first_fit.py")
PATIENCE = 600  # seconds after which a process hangs


@dataclass(frozen=True)
class Case:
    """What a process does, with which model and how many threads; when it is interrupted, if it is."""

    deed: str
    model: str = "LDA"
    n_threads: int = 1
    after: float | None = None

    def run(self, **environment: str) -> str:
        """The last line that it says."""
        command = [sys.executable, str(PROGRAM), self.deed, self.model, str(self.n_threads)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        work = subprocess.Popen(command, **pipes, text=True, env=os.environ | environment)  # noqa: S603 -- our own
        try:
            assert work.stdout.readline() == "ready\n", work.communicate(timeout=PATIENCE)[1]
            if self.after is not None:
                time.sleep(self.after)
                work.send_signal(signal.SIGINT)
            out, err = work.communicate("\n", timeout=PATIENCE)
        finally:
            work.kill()
            work.wait()
        assert work.returncode == 0, f"{self}: {err or work.returncode}"
        return out.splitlines()[-1]
