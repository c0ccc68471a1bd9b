"""Run the tests on the lowest and on the newest versions that the project claims to support.

    python scripts/test_versions.py                        # every interpreter that can be found
    python scripts/test_versions.py --required --core      # the lowest, and the newest on the newest Python
    python scripts/test_versions.py 3.11:lowest 3.13:newest
    python scripts/test_versions.py 3.13:newest -- -k persistence

A pair is a Python and how its packages are chosen: `lowest` installs the oldest release of each direct
dependency that `pyproject.toml` allows, `newest` what pip would install today. Neither reads
`constraints.txt`. Environments are made anew, by uv, in `.versions/`.

Interpreters are looked for on the PATH, among pyenv's, among those that uv can fetch and, for root on Debian,
in Debian's unstable release (`scripts/debian_python.sh`). One that cannot be had is left out with a line
that says so, unless it was asked for.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENTS = ROOT / ".versions"
LOWEST_PYTHON = "3.11"
NEWER_PYTHONS = ("3.14", "3.13", "3.12")
RESOLUTIONS = {"lowest": "lowest-direct", "newest": "highest"}
# What depends most on the libraries underneath; all of the suite is run where `--core` is not given.
CORE = (
    *("persistence/test_round_trip", "persistence/test_model_files", "persistence/test_hints"),
    *("schema/test_inferring", "schema/test_columns", "schema/test_encode", "files/test_reading"),
    *(
        "laws/test_tables_in",
        "schema/test_date_readings",
        "laws/test_sklearn_checks",
        "laws/test_models",
        "laws/test_probabilities",
    ),
    *("estimators/test_logistic", "estimators/test_linear_regression", "estimators/test_callbacks"),
    *("linear/test_laws", "families/test_laws", "families/test_gaps", "kernels/test_compiled_gaussian"),
    *("cli/test_commands", "comparison/test_candidates"),
)


def main(arguments: list[str]) -> int:
    """Test the pairs asked for and print a line for each; 1 if one failed or could not be had."""
    split = arguments.index("--") if "--" in arguments else len(arguments)
    asked, pytest_options = arguments[:split], arguments[split + 1 :]
    if "--core" in asked:
        asked.remove("--core")
        pytest_options += [f"tests/{name}.py" for name in CORE]
        pytest_options += ["tests/reference", "README.md", "docs/quick-start.md"]
    ENVIRONMENTS.mkdir(exist_ok=True)
    pairs = (
        _found(newest_only=bool(asked)) if asked in ([], ["--required"]) else [_pair(each) for each in asked]
    )
    results = {pair: _tested(*pair, pytest_options) for pair in pairs}
    for (version, choice), result in results.items():
        print(f"Python {version}, {choice} versions: {result}")
    return int(any(result != "passed" for result in results.values()))


def _pair(text: str) -> tuple[str, str]:
    version, _, choice = text.partition(":")
    if choice not in RESOLUTIONS:
        sys.exit(f"expected VERSION:lowest or VERSION:newest, such as 3.13:newest; found {text!r}")
    return version, choice


def _found(*, newest_only: bool) -> list[tuple[str, str]]:
    pairs = [(LOWEST_PYTHON, "lowest")]
    for version in NEWER_PYTHONS:
        if _interpreter(version) is None:
            print(f"Python {version} could not be had and is left out")
            continue
        pairs.append((version, "newest"))
        if newest_only:
            break
    if len(pairs) == 1:
        sys.exit(f"no Python of {', '.join(NEWER_PYTHONS)} could be had; install one, such as with pyenv")
    return pairs


def _tested(version: str, choice: str, pytest_options: list[str]) -> str:
    python = _interpreter(version)
    if python is None:
        return "could not be had"
    environment = ENVIRONMENTS / f"{version}-{choice}"
    inside = str(environment / "bin" / "python")
    install = [_uv(), "pip", "install", "--quiet", "--python", inside, "--resolution", RESOLUTIONS[choice]]
    print(f"--- Python {version}, {choice} versions", flush=True)
    made = _run(_uv(), "venv", "--quiet", "--clear", "--python", python, str(environment))
    if made.returncode or _run(*install, "--group", "dev", "--editable", str(ROOT)).returncode:
        return "could not be installed"
    _run(_uv(), "pip", "list", "--python", inside)
    # Its own cache of compiled kernels: those of another numba would be thrown away on each side.
    variables = os.environ | {"NUMBA_CACHE_DIR": str(environment / "kernels")}
    tests = ["-m", "pytest", "-n", "auto", "-q", "-m", "not long and not spark", "-p", "no:cacheprovider"]
    tests += pytest_options
    if choice == "lowest":  # old releases use what newer ones of their own dependencies deprecate
        tests += ["-W", "ignore::DeprecationWarning"]
    return "failed" if _run(inside, *tests, cwd=ROOT, env=variables).returncode else "passed"


def _interpreter(version: str) -> str | None:
    """The path of an interpreter of this version that runs, or None."""
    return next((path for path in _candidates(version) if _runs(path, version)), None)


def _candidates(version: str) -> Iterator[str]:
    name = f"python{version}"
    yield from (str(Path(folder) / name) for folder in os.environ.get("PATH", "").split(os.pathsep))
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from (str(each / "bin" / "python") for each in sorted((pyenv / "versions").glob(f"{version}.*")))
    debian = ENVIRONMENTS / f"debian-{version}"
    yield str(debian / "usr" / "bin" / name)
    if _run(_uv(), "python", "install", "--quiet", version, capture_output=True).returncode == 0:
        yield _run(_uv(), "python", "find", version, capture_output=True, text=True).stdout.strip()
    if shutil.which("apt-get") and os.geteuid() == 0:
        _run(str(ROOT / "scripts" / "debian_python.sh"), version, str(debian))
        yield str(debian / "usr" / "bin" / name)


def _runs(path: str, version: str) -> bool:
    program = "import sys; print('%d.%d' % sys.version_info[:2])"
    if not os.access(path, os.X_OK):
        return False
    answer = _run(path, "-c", program, capture_output=True, text=True)
    return answer.returncode == 0 and answer.stdout.strip() == version


def _uv() -> str:
    beside = Path(sys.executable).with_name("uv")
    path = str(beside) if beside.exists() else shutil.which("uv")
    return path or sys.exit("uv is needed: `make test-versions` installs it, or pip install uv")


def _run(*command: str, **options: Any) -> Any:
    return subprocess.run(command, check=False, **options)  # noqa: S603  (names written here, paths found here)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
