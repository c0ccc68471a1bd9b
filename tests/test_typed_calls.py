"""A type checker refuses wrong settings and takes what users pass; nearly no public parameter is Any."""

import os
import re
import subprocess
import sys

from places import REPOSITORY

CALLS = REPOSITORY / "tests" / "support" / "typed_calls.py"


def test_mypy_refuses_the_calls_that_are_wrong_and_no_other():
    # With the configuration of the package, and so from the cache that checking it has left.
    mypy = subprocess.run(  # noqa: S603 -- our own program
        [sys.executable, "-m", "mypy", str(CALLS.relative_to(REPOSITORY))],
        cwd=REPOSITORY,
        env=os.environ | {"MYPYPATH": "src"},
        capture_output=True,
        text=True,
        check=False,
    )
    found = {int(line) for line in re.findall(r"typed_calls\.py:(\d+): error", mypy.stdout)}
    lines = CALLS.read_text(encoding="utf-8").splitlines()
    expected = {number for number, line in enumerate(lines, start=1) if line.endswith("# refused")}
    assert len(expected) > 20, "the file lost its marks"
    assert found == expected, mypy.stdout + mypy.stderr


def test_at_most_one_public_parameter_in_ten_is_any():
    counted = subprocess.run(  # noqa: S603 -- our own program
        [sys.executable, str(REPOSITORY / "scripts" / "typed_parameters.py"), "--list"],
        env=os.environ | {"PYTHONPATH": str(REPOSITORY / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    untyped, of_all = map(int, re.findall(r"^(\d+) of (\d+) public", counted.stdout, flags=re.MULTILINE)[0])
    assert of_all > 300, "the script no longer finds the public parameters"
    assert untyped <= of_all / 10, counted.stdout
