"""What the package shows, and what importing it costs."""

import ast
import importlib
import importlib.util
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import posterior
from posterior.cli.app import COMMANDS

HEAVY = ("numpy", "scipy", "sklearn", "numba", "narwhals", "pandas", "pyarrow", "matplotlib", "jinja2")
PUBLIC = [module.name for module in pkgutil.iter_modules(posterior.__path__) if module.name[0] != "_"]


def in_a_new_process(code, **environment):
    return subprocess.run(  # noqa: S603 -- our own line
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("name", posterior.__all__)
def test_every_public_name_is_there(name):
    assert getattr(posterior, name) is not None
    assert name in dir(posterior)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'compere'"):
        posterior.compere  # noqa: B018 -- asking is the point


def test_every_public_module_is_reachable_and_says_what_is_public_in_it():
    assert set(PUBLIC) <= set(posterior.__all__)
    for name in PUBLIC:
        module = posterior.__getattr__(name)  # as if nothing else had imported it yet
        assert module.__name__ == f"posterior.{name}"
        assert all(hasattr(module, public) for public in module.__all__)


def test_importing_the_package_imports_nothing_heavy():
    heavy = (*HEAVY, "typer", "rich")
    assert all(importlib.util.find_spec(name) for name in heavy)  # else this would prove nothing
    done = in_a_new_process(
        f"import sys, posterior; print([name for name in {heavy!r} if name in sys.modules])"
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_the_estimators_need_none_of_the_extras():
    extras = ("matplotlib", "jinja2", "typer")  # scikit-learn itself brings rich
    code = (
        f"import sys; from posterior import LDA; print([name for name in {extras!r} if name in sys.modules])"
    )
    assert in_a_new_process(code).stdout.strip() == "[]"


def test_a_star_import_takes_what_the_installed_packages_allow_and_the_rest_says_what_to_install():
    absent = ("sqlglot", "pyarrow", "matplotlib", "jinja2", "typer", "pandas", "polars", "duckdb")
    done = in_a_new_process(
        f"import sys; sys.modules |= dict.fromkeys({absent!r})\n"
        "from posterior import *\nimport posterior\n"
        "print(LDA.__name__, 'sql' in globals(), 'to_sql' in globals(), 'to_sql' in dir(posterior))\n"
        "try:\n    posterior.scan\nexcept ModuleNotFoundError as error:\n    print(error)\n"
        "posterior.sql"
    )
    names, scan = done.stdout.splitlines()
    assert names == "LinearDiscriminantAnalysis False False True"
    assert "pip install 'posterior[arrow]'" in scan
    assert "pip install 'posterior[sql]'" in done.stderr


@pytest.mark.parametrize("asked", ["--version", "--help"])
def test_the_command_answers_without_importing_anything_heavy(asked):
    code = (
        "import sys\nfrom posterior.cli import main\n"
        f"try:\n    main([{asked!r}])\nfinally:\n"
        f"    print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = in_a_new_process(code)
    assert done.returncode == 0
    assert done.stdout.startswith("posterior 0." if asked == "--version" else "Usage: posterior")
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("name", COMMANDS)
def test_what_the_list_of_commands_says_is_how_the_help_of_each_begins(name):
    command = getattr(importlib.import_module(f"posterior.cli.{name}"), name)
    assert command.__doc__.splitlines()[0] == COMMANDS[name]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("posterior fit --mod", "--model"),
        pytest.param("posterior co", "compare", marks=pytest.mark.long),
        pytest.param("posterior --vers", "--version", marks=pytest.mark.long),
    ],
)
def test_a_shell_completes_commands_and_their_options(typed, expected):
    place = str(len(typed.split()) - 1)
    done = in_a_new_process(
        "from posterior.cli import main; main()",
        _POSTERIOR_COMPLETE="complete_bash",
        COMP_WORDS=typed,
        COMP_CWORD=place,
    )
    assert done.stdout.split() == [expected]


@pytest.mark.parametrize("absent", ["typer", "rich", "pyarrow"])
def test_the_command_says_which_package_it_lacks(absent):
    code = (
        f"import sys; sys.modules[{absent!r}] = None\n"
        "from posterior.cli import main\n"
        "main(['compare', 'penguins'])"
    )
    done = in_a_new_process(code)
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1].startswith("posterior: ")
    assert "posterior[cli]" in done.stderr
    assert "Traceback" not in done.stderr


def test_one_module_imports_what_is_private_of_scikit_learn():
    found = set()
    for path in Path(posterior.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "sklearn":
                names = [*node.module.split("."), *(alias.name for alias in node.names)]
            elif isinstance(node, ast.Import):
                names = [
                    part for alias in node.names for part in alias.name.split(".") if "sklearn" in alias.name
                ]
            else:
                continue
            if any(name.startswith("_") for name in names):
                found.add(path.name)
    assert found == {"_sklearn.py"}
