"""scikit-learn's own tests pass with our classes in the place of theirs; the few that do not say why."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parents[1] / "support"
SOURCE = Path(__file__).parents[2] / "src"


def outcomes(tests, tmp_path, chosen=""):
    """What became of scikit-learn's tests of a module, run by themselves."""
    written = tmp_path / "outcomes"
    paths = [str(SUPPORT), str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "OUTCOMES": str(written), "PYTHONPATH": os.pathsep.join(paths)}
    options = ["-q", "-p", "swapped_in", "-p", "no:cacheprovider", "-c", os.devnull, "-W", "ignore"]
    command = [sys.executable, "-m", "pytest", *options, "--rootdir", str(tmp_path), "-k", chosen]
    ran = subprocess.run(  # noqa: S603
        [*command, "--pyargs", tests],
        check=False,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ran.returncode in (0, 1), ran.stdout[-2000:] + ran.stderr[-2000:]
    return [json.loads(line) for line in written.read_text().splitlines()]


def failed(found):
    return {line["test"].partition("[")[0] for line in found if line["outcome"] == "failed"}


@pytest.mark.long
def test_all_tests_of_callbacks_pass(tmp_path):
    found = outcomes("sklearn.callback.tests", tmp_path)
    assert sum(line["outcome"] == "passed" for line in found) > 140
    assert failed(found) == set(), found
