"""What the package shows, and what importing it costs."""

import importlib.util
import subprocess
import sys

import pytest

import posterior


@pytest.mark.parametrize("name", posterior.__all__)
def test_every_public_name_is_there(name):
    assert getattr(posterior, name) is not None
    assert name in dir(posterior)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'compere'"):
        posterior.compere  # noqa: B018 -- asking is the point


def test_importing_brings_nothing_that_only_the_front_door_needs():
    extras = ("matplotlib", "jinja2", "typer")  # scikit-learn itself brings rich
    assert all(importlib.util.find_spec(name) for name in extras)  # else this would prove nothing
    code = f"import sys, posterior; print([name for name in {extras!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 -- our own line
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("absent", ["typer", "rich", "pyarrow"])
def test_the_command_says_which_package_it_lacks(absent):
    code = (
        f"import sys; sys.modules[{absent!r}] = None\n"
        "from posterior.cli import main\n"
        "main(['compare', 'penguins'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603 -- our own line
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1].startswith("posterior: ")
    assert "posterior[cli]" in done.stderr
    assert "Traceback" not in done.stderr
