"""Commands killed at random times: the file is the old one or the new one, whole, and the next run works.

POSTERIOR_KILLS says how many (60 unless given), POSTERIOR_KILLS_SEED when.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from posterior import load
from posterior.files import read

pytestmark = pytest.mark.long

KILLS = int(os.environ.get("POSTERIOR_KILLS", "60"))
SEED = int(os.environ.get("POSTERIOR_KILLS_SEED", "0"))
COMMAND = [sys.executable, "-m", "posterior"]
ROWS = 300_000


def write_rows(path, rows):
    values = np.random.default_rng(0).normal(size=rows)
    Path(path).write_text("x,k\n" + "".join(f"{v:.3f},{'ab'[int(v > 0)]}\n" for v in values))


def killed_after(arguments, seconds):
    """Run a command and kill it; return whether it had ended by itself."""
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([*COMMAND, *arguments], **silent) as work:  # noqa: S603
        try:
            work.wait(seconds)
        except subprocess.TimeoutExpired:
            work.kill()
            return False
    return True


@pytest.mark.parametrize("what", ["predict", "fit"])
def test_a_killed_command_leaves_a_whole_file(tmp_path, monkeypatch, what):
    monkeypatch.chdir(tmp_path)
    write_rows("small.csv", 200)
    write_rows("large.csv", ROWS)
    fit = ["fit", "large.csv", "-t", "k", "-m", "lda", "-o", "m", "-q"]
    predict = ["predict", "m", "large.csv", "-o", "out.csv", "-q"]
    assert killed_after(["fit", "small.csv", *fit[2:]], 600)
    assert killed_after(["predict", "m", "small.csv", *predict[3:]], 600)
    rng, ended = np.random.default_rng(SEED), 0
    longest = 4.0
    for i in range(KILLS // 2):
        seconds = float(rng.uniform(1.0, longest))
        done = killed_after(predict if what == "predict" else fit, seconds)
        ended += done
        # Killed too late or too early teaches nothing: go where it is still at work.
        longest *= 0.9 if done else 1.05
        case = f"kill {i} of {what} after {seconds:.3f} s, POSTERIOR_KILLS_SEED={SEED}"
        assert read("out.csv").num_rows in {200, ROWS}, case
        assert load("m").classes_.tolist() == ["a", "b"], case
    assert ended < KILLS // 2
    for path in tmp_path.glob(".*.part"):
        os.utime(path, (0, 0))
    assert killed_after(fit, 600)
    assert killed_after(predict, 600)
    assert read("out.csv").num_rows == ROWS
    assert sorted(path.name for path in tmp_path.iterdir()) == ["large.csv", "m", "out.csv", "small.csv"]
